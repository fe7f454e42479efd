//! Code shared by the tests: the built program, either in a [`dialogue`] or as a [`program`] that
//! runs to its end; [`chess`] for positions and searches; and checks of the answers. The tests of
//! `src/lab` and `src/train` include some of these files.

pub mod checker;
pub mod chess;
pub mod data;
pub mod desk;
pub mod dialogue;
pub mod feed;
pub mod log;
pub mod mutate;
pub mod pages;
pub mod program;
pub mod session;
pub mod shell;
pub mod tables;
pub mod targets;

pub use dialogue::Lancet;
pub use program::DEADLINE;
