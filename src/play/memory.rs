//! The error for a lack of memory.

/// The error returned when there is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Not enough for a transposition table of this size.
    #[error("not enough memory for a hash table of {mib} MiB{}", remaining(.kept))]
    Hash {
        /// The requested size, in MiB.
        mib: usize,
        /// The size of the table in use, in MiB; 0 if there is no table.
        kept: usize,
    },
    /// Not enough for this number of search threads.
    #[error("not enough memory for {threads} search threads")]
    Threads {
        /// The requested number.
        threads: usize,
    },
    /// Not enough for this number of engines at the same time.
    #[error("not enough memory for {engines} engines, each with a hash table of {mib} MiB")]
    Engines {
        /// The requested number.
        engines: usize,
        /// The size of each engine's table, in MiB.
        mib: usize,
    },
}

/// Describes the table that is used instead.
fn remaining(mib: &usize) -> String {
    if *mib > 0 { format!("; using an empty table of {mib} MiB") } else { String::new() }
}
