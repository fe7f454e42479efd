//! Command-line runners over the engine and the rules.
//!
//! No chess knowledge that the engine needs lives here.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod analyse;
pub mod bench;
pub mod epd;
pub mod explain;
pub mod lines;
pub mod perft;
pub mod wdl;

use std::{
    io::{self, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

/// Set when standard output has gone away (`lancet bench | head`): the rest
/// is not written, and that is no error.
static OUTPUT_GONE: AtomicBool = AtomicBool::new(false);

/// Writes a line to standard output.
pub(crate) fn say(line: impl std::fmt::Display) {
    if !OUTPUT_GONE.load(Ordering::Relaxed) && writeln!(io::stdout(), "{line}").is_err() {
        OUTPUT_GONE.store(true, Ordering::Relaxed);
    }
}

/// Writes a line to standard error, where complaints belong.
pub(crate) fn complain(line: impl std::fmt::Display) {
    // Nobody is left to be told when this fails.
    let _ = writeln!(io::stderr(), "lancet: {line}");
}

/// Reads a number of threads for clap.
fn thread_count(text: &str) -> Result<usize, String> {
    number_in(text, &crate::engine::THREADS_RANGE)
}

/// Reads a table size in MiB for clap.
fn hash_size(text: &str) -> Result<usize, String> {
    number_in(text, &crate::engine::HASH_RANGE)
}

fn number_in(text: &str, range: &std::ops::RangeInclusive<usize>) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| format!("expected a whole number from {} to {}", range.start(), range.end()))
}
