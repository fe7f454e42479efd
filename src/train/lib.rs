//! Self-play, tools for files of games, and the trainer.
//!
//! Games are played with [`lancet::engine`], and the inputs of networks come from
//! [`lancet::eval::nnue`], so that the trainer and the engine cannot disagree. The engine does not
//! depend on this package.
//!
//! Each command of the program `lancet-train` has a module with `Args` and `run`. The modules have
//! the names of the commands, with two exceptions: `train` is in [`command`], and `learn`, which
//! combines `datagen` and `train`, is in [`learn::command`].
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod average;
mod checkpoint;
pub mod command;
mod curves;
pub mod data;
pub mod datagen;
mod exam;
pub mod filter;
pub mod format;
mod layout;
pub mod learn;
mod loader;
mod model;
mod optimiser;
mod plot;
pub mod sample;
pub mod schedule;
pub mod selfplay;
pub mod trainer;
pub mod wdl;

use std::{path::Path, sync::Arc};

use anyhow::{Context as _, anyhow};
use indicatif::ProgressBar;
use lancet::{
    play::signals::Signals,
    system::{
        files,
        stdio::{self, complain},
        version::VERSION,
    },
    tools::interrupt::Interrupt,
};

/// Returns signals on which Ctrl-C requests a stop. A second Ctrl-C ends the program at once.
fn stopped_by_ctrl_c() -> Arc<Signals> {
    let stop = Arc::default();
    Interrupt::by_ctrl_c("Ctrl-C will end the program at once").watch(&stop);
    stop
}

/// Returns the requested number of threads, by default the number of cores.
fn thread_count(asked: Option<u32>) -> u32 {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(|| u32::try_from(cores()).unwrap_or(1))
}

/// Returns the error for a directory that was made with other options. `does` completes the
/// sentence "this directory ... with other options". `there` are the options of the directory, and
/// `asked` those of the command.
fn other_options(does: &str, there: &str, asked: &str) -> anyhow::Error {
    anyhow!(
        "this directory {does} with other options; choose another directory. Options there:\n\
         {there}Requested options:\n{asked}"
    )
}

/// Reports that another build, which may play or calculate differently, began the work in `path`.
fn other_build(path: &Path, build: &str) {
    complain(format_args!("{}: begun by {build}, continued by {VERSION}", path.display()));
}

/// Returns a progress bar with a message on standard error, hidden if that is not a terminal.
fn progress_bar(length: u64) -> ProgressBar {
    stdio::progress_bar(Some(length), "{bar:30} {percent:>3}% {msg}")
}

/// Replaces a file atomically: after a crash it has either its old or its new contents.
fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    files::replace(path, bytes.as_ref()).with_context(|| path.display().to_string())
}
