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
use indicatif::{ProgressBar, ProgressStyle};
use lancet::{
    play::signals::Signals,
    system::{files, stdio::complain, version::VERSION},
    tools::interrupt::Interrupt,
};

/// Signals that Ctrl-C stops; the second one ends the program at once.
fn stopped_by_ctrl_c() -> Arc<Signals> {
    let stop = Arc::default();
    Interrupt::by_ctrl_c("Ctrl-C will end the program at once").watch(&stop);
    stop
}

/// The number of threads that was asked for, or that of the cores.
fn thread_count(asked: Option<u32>) -> u32 {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(|| u32::try_from(cores()).unwrap_or(1))
}

/// Says that a directory `does` something with other options, those of `there`.
fn other_options(does: &str, there: &str, asked: &str) -> anyhow::Error {
    anyhow!(
        "this directory {does} with other options; choose another. There:\n{there}asked for:\n{asked}"
    )
}

/// Says that another build began what `path` belongs to: it may play or calculate in another
/// way. Old files do not name their build.
fn other_build(path: &Path, build: &str) {
    let build = if build.is_empty() { "an older build" } else { build };
    complain(format_args!("{}: begun by {build}, goes on with {VERSION}", path.display()));
}

/// A bar with a message on standard error; hidden where that is not a terminal.
fn progress_bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent:>3}% {msg}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Writes a file that is there whole or not at all.
fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    files::replace(path, bytes.as_ref()).with_context(|| path.display().to_string())
}
