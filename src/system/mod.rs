//! What the engine needs of the system: files that are whole or not there, memory,
//! random numbers, standard streams, command lines, locks; which build and processor
//! this is; what a tunable constant is. No chess here.

pub mod arguments;
pub mod files;
pub mod input;
pub mod journal;
pub mod memory;
pub mod pages;
pub mod program;
pub mod random;
pub mod stdio;
pub mod sync;
pub mod tune;
pub mod version;
