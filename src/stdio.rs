//! Lines for the terminal from commands other than the UCI loop. Nothing here
//! knows what they say.

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
