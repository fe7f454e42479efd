//! What the tests share: the built program, in a [`dialogue`] or as a [`program`]
//! run to its end; [`chess`], for positions and searches of them; and what judges
//! the answers. The tests of `src/lab` and `src/train` include single files of these.

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
