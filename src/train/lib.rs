//! Learning: self-play games, tools for such files, and the trainer.
//!
//! Plays through [`lancet::engine`] and takes its inputs from
//! [`lancet::eval::nnue`], so that trainer and player cannot disagree. Nothing
//! here is needed to play.
//!
//! Each command of the program `lancet-train` is `Args` and `run`: `train` in [`command`],
//! `datagen` in [`datagen`], `data` in [`data`], `average` in [`average`], `wdl` in [`wdl`],
//! `learn`, which joins the first two, in [`learn`].
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod average;
pub mod checkpoint;
pub mod command;
pub mod data;
pub mod datagen;
pub mod exam;
pub mod filter;
pub mod format;
pub mod layout;
pub mod learn;
pub mod loader;
#[doc(hidden)]
pub mod manual;
pub mod model;
pub mod optimiser;
pub mod plot;
pub mod sample;
pub mod schedule;
pub mod selfplay;
pub mod trainer;
pub mod wdl;

use std::{path::Path, sync::Arc};

use lancet::{
    eval::nnue::Network,
    play::report::Signals,
    system::{files, stdio::complain, version::VERSION},
};

pub use lancet::system::files::FileError;

/// Told to stop by Ctrl-C; the second one ends the program at once.
fn ctrl_c() -> Result<Arc<Signals>, ctrlc::Error> {
    let stop = Arc::new(Signals::default());
    let told = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if told.is_stopped() {
            std::process::exit(130);
        }
        told.stop();
    })?;
    Ok(stop)
}

/// The number of threads that was asked for, or that of the cores.
fn thread_count(asked: Option<u32>) -> u32 {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(|| u32::try_from(cores()).unwrap_or(1))
}

/// Says that `path` belongs to a directory which `does` something `with other options`.
fn other_options(path: &Path, does: &str, there: &str, asked: &str) -> FileError {
    let reason = format!(
        "this directory {does} with other options; choose another. There:\n{there}asked for:\n{asked}"
    );
    FileError::new(path, reason)
}

/// Says that what `path` stands for was begun by another build, which may play or
/// calculate in another way. Files that do not name theirs are older than this.
fn other_build(path: &Path, build: &str) {
    let build = if build.is_empty() { "an older build" } else { build };
    complain(format_args!("{}: begun by {build}, goes on with {VERSION}", path.display()));
}

/// Reads a network file.
///
/// # Errors
///
/// If it cannot be read or is not a network.
pub fn read_network(path: &Path) -> Result<Network, FileError> {
    let bytes = files::read(path, Network::LONGEST_FILE);
    let bytes = bytes.map_err(|error| FileError::new(path, error))?;
    Network::from_bytes(&bytes).map_err(|error| FileError::new(path, error))
}
