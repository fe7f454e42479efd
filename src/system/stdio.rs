//! Lines for the terminal from commands other than the UCI loop. Nothing here
//! knows what they say.

use std::{
    io::{self, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

/// Set when standard output has gone away (`lancet bench | head`): the rest
/// is not written, and that is no error.
static OUTPUT_GONE: AtomicBool = AtomicBool::new(false);

/// Writes a line to standard output. Where that is a file that cannot take it
/// (the disk is full), the program ends: its results would be lost.
pub fn say(line: impl std::fmt::Display) {
    if !OUTPUT_GONE.load(Ordering::Relaxed) {
        check_output(writeln!(io::stdout(), "{line}"));
    }
}

/// Does the same for what was written to standard output by other means.
pub fn check_output(written: io::Result<()>) {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            OUTPUT_GONE.store(true, Ordering::Relaxed);
        }
        Err(error) => {
            complain(format_args!("cannot write to standard output: {error}"));
            std::process::exit(1);
        }
        Ok(()) => {}
    }
}

/// Writes a line to standard error, where complaints belong.
pub fn complain(line: impl std::fmt::Display) {
    note(format_args!("lancet: {line}"));
}

/// Writes a line about a long run's progress to standard error.
pub(crate) fn note(line: impl std::fmt::Display) {
    // Nobody is left to be told when this fails.
    let _ = writeln!(io::stderr(), "{line}");
}
