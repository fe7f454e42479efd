//! Services that do not know chess: atomic file writes, memory, random numbers, standard streams,
//! command lines, locks, build and processor information, and tunable constants.

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
