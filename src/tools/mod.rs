//! Command-line tools that use the engine and the rules.
//!
//! Each command `lancet NAME` has a struct `Args` and a function `run`. They are in NAME.rs, or in
//! NAME/command.rs if NAME is a folder. Chess knowledge that the engine needs is not kept here.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod analyse;
pub mod bench;
pub mod doctor;
pub mod epd;
pub mod explain;
pub(crate) mod genfens;
pub mod interrupt;
mod options;
mod page;
pub mod perft;
mod positions;
pub mod study;

use std::{
    ffi::OsStr,
    io,
    ops::RangeBounds,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use comfy_table::{Cell, CellAlignment, Table, presets::ASCII_MARKDOWN};

pub use crate::system::stdio::{complain, say};
use crate::{
    chess::pgn::Game,
    engine::{Engine, MemoryError, Settings, threads},
    system::{
        arguments::number_in,
        sync::{lock, unpoisoned},
    },
};

/// Maximum number of letters of a player's name in file names.
const LONGEST_NAME: usize = 30;

/// Returns the engine settings of a tool, with a table of `hash` MiB.
fn settings(hash: usize, threads: usize) -> Settings {
    // The engine runs in this process, so no time is lost in transmission.
    Settings { hash, threads, move_overhead: Duration::ZERO, ..Settings::default() }
}

/// Creates one engine for each job, all with `hash` MiB and `threads` threads.
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

/// Processes `count` items in parallel. Each worker runs in its own search thread, and takes the
/// next item when it is free.
///
/// Returns the results in the order of the items. A result is `None` if `work` returned `None`,
/// which also ends that worker, or if no worker took the item.
///
/// # Errors
///
/// If no thread can be started.
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

/// Formats a table in Markdown. The columns in `numbers` are aligned to the right.
fn table(
    header: &[&str],
    numbers: impl RangeBounds<usize>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(header);
    for row in rows {
        table.add_row(row.into_iter().enumerate().map(|(column, text)| {
            let is_number = numbers.contains(&column);
            let side = if is_number { CellAlignment::Right } else { CellAlignment::Left };
            Cell::new(text).set_alignment(side)
        }));
    }
    table.to_string()
}

/// Returns the names of White and Black, `?` for an unknown player.
pub(crate) fn players(game: &Game) -> [String; 2] {
    ["White", "Black"].map(|tag| game.tag(tag).unwrap_or("?").to_owned())
}

/// Returns a title such as `White - Black (1-0)`.
fn title(game: &Game) -> String {
    let names = players(game).join(" - ");
    match game.result().as_str() {
        "*" => names,
        result => format!("{names} ({result})"),
    }
}

/// Returns the family names for a file name, such as `Short-Timman`. Only letters and digits are
/// kept.
fn players_in_path(game: &Game) -> String {
    let families = players(game).map(|name| -> String {
        let family = name.split(',').next().unwrap_or_default();
        family.chars().filter(|c| c.is_alphanumeric()).take(LONGEST_NAME).collect()
    });
    families.join("-")
}

/// Returns the path of a file derived from a file of games. `ending` replaces `.pgn`, `.gz`,
/// `.zst`, `.pgn.gz` or `.pgn.zst`. It is appended to any other name, because the part after the
/// last dot may distinguish two files.
fn beside(games: &Path, ending: &str) -> PathBuf {
    let mut name = games.to_owned();
    for known in [&["gz", "zst"][..], &["pgn"]] {
        let ends_so =
            |extension: &OsStr| known.iter().any(|known| extension.eq_ignore_ascii_case(known));
        if name.extension().is_some_and(ends_so) {
            name.set_extension("");
        }
    }
    let mut name = name.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    games.with_file_name(name)
}

/// Prints the names of the files that a command has written, if any.
fn say_written<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) {
    let paths: Vec<String> = paths.into_iter().map(|path| path.display().to_string()).collect();
    if !paths.is_empty() {
        say(format_args!("\nWrote {}", paths.join(", ")));
    }
}

/// Reports why the command line, or a file that it names, cannot be used. Returns the exit status.
fn unusable(error: &anyhow::Error) -> ExitCode {
    complain(format_args!("{error:#}"));
    ExitCode::from(2)
}

/// Parses a number of threads for clap.
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
