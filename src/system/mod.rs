//! Services that do not know chess: atomic file writes, compressed input, journals, memory, a hash,
//! standard streams, command lines, locks, build information, and tunable constants.

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
