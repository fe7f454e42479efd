//! Memory that the system does not grant.

use std::fmt;

/// There is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryError {
    /// For a table of this size.
    Hash {
        /// The size asked for, in MiB.
        mib: usize,
        /// The size there is, in MiB; 0 if there is no table.
        kept: usize,
    },
    /// For so many threads.
    Threads {
        /// The number asked for.
        threads: usize,
    },
    /// For so many engines at once.
    Engines {
        /// The number asked for.
        engines: usize,
        /// The size of the table of each, in MiB.
        mib: usize,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Hash { mib, kept } => {
                write!(f, "not enough memory for a hash table of {mib} MiB")?;
                if *kept > 0 { write!(f, ": it has {kept} MiB, empty") } else { Ok(()) }
            }
            MemoryError::Threads { threads } => {
                write!(f, "not enough memory for {threads} search threads")
            }
            MemoryError::Engines { engines, mib } => {
                write!(
                    f,
                    "not enough memory for {engines} engines, each with a hash table of {mib} MiB"
                )
            }
        }
    }
}

impl std::error::Error for MemoryError {}
