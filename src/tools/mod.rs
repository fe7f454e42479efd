//! Command-line runners over the engine and the rules.
//!
//! The command `lancet NAME` is `Args` and `run`: in NAME.rs, or in
//! NAME/command.rs where NAME is a folder. No chess knowledge that the engine needs
//! lives here.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod analyse;
pub mod bench;
pub mod doctor;
pub mod epd;
pub mod explain;
pub(crate) mod genfens;
pub mod interrupt;
mod options;
pub mod perft;
mod positions;
pub mod study;

use std::{
    io,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;

pub use crate::system::stdio::{complain, say};
use crate::{
    engine::{Engine, MemoryError, Settings, threads},
    system::{
        arguments::number_in,
        sync::{lock, unpoisoned},
    },
};

/// An engine's settings by the options of a tool, `hash` in MiB.
fn settings(hash: usize, threads: usize) -> Settings {
    // Nothing is transmitted.
    Settings { hash, threads, move_overhead: Duration::ZERO, ..Settings::default() }
}

/// An engine for each of the jobs, all with `hash` MiB and `threads` threads.
///
/// # Errors
///
/// If there is not enough memory for all of them at once.
fn engines(jobs: usize, hash: usize, threads: usize) -> anyhow::Result<Vec<Engine>> {
    let settings = settings(hash, threads);
    let engines = || {
        settings.check_memory(jobs)?;
        (0..jobs).map(|_| Engine::new(settings.clone())).collect::<Result<_, MemoryError>>()
    };
    engines().with_context(|| format!("--jobs {jobs} --hash {hash}"))
}

/// Works on `count` items side by side: each worker has a thread that may search, and takes
/// the next item when it is free. Returns the results in the order of the items; `None`
/// where `work` returned `None`, which ends its worker, or no worker came.
///
/// # Errors
///
/// If the system gives no thread.
fn share<W: Send, R: Send>(
    workers: impl IntoIterator<Item = W>,
    count: usize,
    work: impl Fn(&mut W, usize) -> Option<R> + Sync,
) -> io::Result<Vec<Option<R>>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::from_iter((0..count).map(|_| None)));
    let (taken, done, work) = (&next, &results, &work);
    let jobs = workers.into_iter().map(|mut worker| {
        move || {
            loop {
                let index = taken.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    break;
                }
                let Some(result) = work(&mut worker, index) else { break };
                lock(done)[index] = Some(result);
            }
        }
    });
    threads::all("worker", jobs)?;
    Ok(unpoisoned(results.into_inner()))
}

/// Says why the command line, or a file that it names, cannot be used. Returns the exit
/// status.
fn unusable(error: &anyhow::Error) -> ExitCode {
    complain(format_args!("{error:#}"));
    ExitCode::from(2)
}

/// Reads a number of threads for clap.
fn thread_count(text: &str) -> Result<usize, String> {
    number_in(text, &crate::engine::THREADS_RANGE)
}

/// Reads a table size in MiB for clap.
fn hash_size(text: &str) -> Result<usize, String> {
    number_in(text, &crate::engine::HASH_RANGE)
}

/// Reads a depth in plies for clap.
fn depth(text: &str) -> Result<u32, String> {
    number_in(text, &crate::engine::DEPTH_RANGE)
}
