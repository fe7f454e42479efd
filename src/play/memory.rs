//! Memory that the system does not grant.

/// There is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// For a table of this size.
    #[error("not enough memory for a hash table of {mib} MiB{}", remaining(.kept))]
    Hash {
        /// The size asked for, in MiB.
        mib: usize,
        /// The size there is, in MiB; 0 if there is no table.
        kept: usize,
    },
    /// For so many threads.
    #[error("not enough memory for {threads} search threads")]
    Threads {
        /// The number asked for.
        threads: usize,
    },
    /// For so many engines at once.
    #[error("not enough memory for {engines} engines, each with a hash table of {mib} MiB")]
    Engines {
        /// The number asked for.
        engines: usize,
        /// The size of the table of each, in MiB.
        mib: usize,
    },
}

/// The table that there is instead.
fn remaining(mib: &usize) -> String {
    if *mib > 0 { format!(": it has {mib} MiB, empty") } else { String::new() }
}
