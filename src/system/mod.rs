//! What the engine needs of the system: files that are whole or not there, memory,
//! random numbers, standard streams, locks. No chess here.

pub mod files;
pub mod memory;
pub mod pages;
pub mod random;
pub mod stdio;
pub mod sync;
