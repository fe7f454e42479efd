//! What the tests share: the built program, in a [`dialogue`] or as a [`program`]
//! run to its end; [`chess`], for positions and searches of them; and what judges
//! the answers.

pub mod checker;
pub mod chess;
pub mod data;
pub mod dialogue;
pub mod log;
pub mod mutate;
pub mod program;
pub mod session;
pub mod tables;
pub mod targets;

pub use dialogue::{DEADLINE, Lancet};
