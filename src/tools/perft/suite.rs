//! Perft suites: files of positions with expected counts.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use shakmaty::CastlingMode;

use super::{Layers, Through, on_threads, speed};
use crate::{
    chess::{
        lines::{self, Line, LineError},
        position::Position,
    },
    system::sync::{lock, unpoisoned},
    tools::{complain, options::Shard, say},
};

/// A position of a suite and what it expects.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Line number in its file, from 1.
    pub line: usize,
    /// The position as the file writes it.
    pub fen: String,
    /// The position.
    pub position: Position,
    /// Depth in plies and expected number of paths, as listed.
    pub counts: Vec<(u32, u64)>,
}

/// Reads a line such as `FEN ;D1 20 ;D2 400`.
///
/// # Errors
///
/// If the position is unusable, or a count is not of the form `;Dn count`.
pub fn parse(line: &Line, mode: CastlingMode) -> Result<Entry, LineError> {
    let mut parts = line.text.split(';');
    let fen = parts.next().unwrap_or_default();
    let position =
        Position::from_fen(fen, mode).map_err(|error| line.error(error.at(), error.to_string()))?;
    let mut offset = fen.len();
    let mut counts = Vec::new();
    for part in parts {
        offset += 1;
        let words: Vec<&str> = part.split_whitespace().collect();
        match words[..] {
            [] => {}
            [depth, nodes] => {
                let depth = depth.strip_prefix(['D', 'd']).and_then(|n| n.parse().ok());
                match (depth, nodes.parse()) {
                    (Some(depth), Ok(nodes)) if depth <= 64 => counts.push((depth, nodes)),
                    _ => return Err(line.error(offset, not_a_count(part))),
                }
            }
            _ => return Err(line.error(offset, not_a_count(part))),
        }
        offset += part.len();
    }
    if counts.is_empty() {
        return Err(line.error(line.text.len(), "expected counts like ';D1 20'".to_owned()));
    }
    Ok(Entry { line: line.number, fen: fen.trim().to_owned(), position, counts })
}

fn not_a_count(part: &str) -> String {
    format!("'{}' is not a count: expected 'Dn nodes' with n from 0 to 64", part.trim())
}

/// A count that came out wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the entry.
    pub entry: usize,
    /// In plies.
    pub depth: u32,
    /// What the suite says.
    pub expected: u64,
    /// What was counted, or which layer failed.
    pub got: Result<u64, super::Fault>,
}

/// What running entries came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Counts made.
    pub counts: usize,
    /// Nodes counted.
    pub nodes: u64,
    /// Counts above the node budget.
    pub skipped: usize,
    /// Wrong counts, in the order of the entries.
    pub mismatches: Vec<Mismatch>,
}

/// Makes every count of `entries` that expects at most `budget` nodes, several
/// entries at a time. `progress` is told the nodes of each count and any
/// mismatch as they are found, from any thread.
pub fn check(
    entries: &[Entry],
    budget: u64,
    threads: usize,
    through: Through,
    progress: &(dyn Fn(u64, Option<&Mismatch>) + Sync),
) -> Outcome {
    let layers = Layers::default();
    let next = AtomicUsize::new(0);
    let outcome = Mutex::new(Outcome::default());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(entry) = entries.get(index) else { break };
            for &(depth, expected) in &entry.counts {
                let mut done = Outcome::default();
                if expected > budget {
                    done.skipped = 1;
                } else {
                    let got = layers.count(&entry.position, depth, through);
                    done.counts = 1;
                    done.nodes = got.as_ref().copied().unwrap_or_default();
                    if got != Ok(expected) {
                        done.mismatches.push(Mismatch { entry: index, depth, expected, got });
                    }
                    progress(expected, done.mismatches.first());
                }
                let mut all = lock(&outcome);
                all.counts += done.counts;
                all.nodes += done.nodes;
                all.skipped += done.skipped;
                all.mismatches.append(&mut done.mismatches);
            }
        }
    };
    on_threads(threads, work);
    let mut outcome = unpoisoned(outcome.into_inner());
    outcome.mismatches.sort_by_key(|mismatch| (mismatch.entry, mismatch.depth));
    outcome
}

/// Files read for a run.
struct Suites {
    files: Vec<(PathBuf, Vec<Entry>)>,
    broken: usize,
}

/// Reads what a shard has of the suites.
fn load(paths: &[PathBuf], shard: Shard, mode: CastlingMode) -> Suites {
    let mut suites = Suites { files: Vec::new(), broken: 0 };
    let mut index = 0..;
    for path in paths {
        let lines = match lines::read(path) {
            Ok(lines) => lines,
            Err(error) => {
                complain(format_args!("{}: {error}", path.display()));
                suites.broken += 1;
                continue;
            }
        };
        if lines.is_empty() {
            complain(format_args!("{}: no positions", path.display()));
            suites.broken += 1;
            continue;
        }
        let mut entries = Vec::new();
        for line in
            lines.iter().zip(&mut index).filter_map(|(line, i)| shard.has(i).then_some(line))
        {
            match parse(line, mode) {
                Ok(entry) => entries.push(entry),
                Err(error) => {
                    complain(format_args!("{}:{error}", path.display()));
                    suites.broken += 1;
                }
            }
        }
        // Of a short suite a shard may have nothing.
        if !entries.is_empty() {
            suites.files.push((path.clone(), entries));
        }
    }
    suites
}

/// Runs what a shard has of suites and reports on standard output. Exit status: 1 for any mismatch,
/// otherwise 2 for any unreadable file or line.
pub fn run(
    paths: &[PathBuf],
    shard: Shard,
    budget: u64,
    threads: usize,
    mode: CastlingMode,
    through: Through,
) -> ExitCode {
    let suites = load(paths, shard, mode);
    let entries = suites.files.iter().flat_map(|(_, entries)| entries);
    let planned = entries.flat_map(|entry| &entry.counts).map(|&(_, nodes)| nodes);
    let bar = progress_bar(planned.filter(|&nodes| nodes <= budget).sum());
    let start = Instant::now();
    let (mut counts, mut nodes, mut skipped, mut mismatches) = (0, 0, 0, 0);
    for (path, entries) in &suites.files {
        bar.set_message(file_name(path));
        let begun = Instant::now();
        let outcome = check(entries, budget, threads, through, &|nodes, mismatch| {
            bar.inc(nodes);
            if let Some(mismatch) = mismatch {
                let line = describe(path, entries, mismatch);
                bar.suspend(|| say(line));
            }
        });
        let summary = summary(entries.len(), &outcome, begun.elapsed());
        bar.suspend(|| say(format_args!("{}: {summary}", path.display())));
        counts += outcome.counts;
        nodes += outcome.nodes;
        skipped += outcome.skipped;
        mismatches += outcome.mismatches.len();
    }
    bar.finish_and_clear();
    let time = start.elapsed();
    say(format_args!(
        "Total: {counts} counts, {} nodes in {:.2} s ({}), {skipped} above the node budget, \
         {} unreadable, {mismatches} wrong",
        HumanCount(nodes),
        time.as_secs_f64(),
        speed(nodes, time),
        suites.broken,
    ));
    match (mismatches, suites.broken) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    }
}

/// A bar over nodes on standard error; invisible when that is not a terminal.
fn progress_bar(nodes: u64) -> ProgressBar {
    let bar = ProgressBar::new(nodes);
    let template = "{elapsed_precise} [{bar:30}] {human_pos}/{human_len} nodes, \
                    {speed}, {eta} left, {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        let speed = |state: &ProgressState, text: &mut dyn fmt::Write| {
            // A missing figure is better than a stopped run.
            let _ = write!(text, "{:.1} Mnps", state.per_sec() / 1e6);
        };
        bar.set_style(style.with_key("speed", speed).progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn describe(path: &Path, entries: &[Entry], mismatch: &Mismatch) -> String {
    let (line, fen) =
        entries.get(mismatch.entry).map_or((0, ""), |entry| (entry.line, entry.fen.as_str()));
    let got = match &mismatch.got {
        Ok(nodes) => nodes.to_string(),
        Err(fault) => fault.to_string(),
    };
    format!(
        "{}:{line}: wrong count: {fen} depth {}: expected {}, got {got}",
        path.display(),
        mismatch.depth,
        mismatch.expected
    )
}

fn summary(positions: usize, outcome: &Outcome, time: Duration) -> String {
    format!(
        "{positions} positions, {} counts, {} nodes in {:.2} s ({}), {} wrong",
        outcome.counts,
        HumanCount(outcome.nodes),
        time.as_secs_f64(),
        speed(outcome.nodes, time),
        outcome.mismatches.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<Entry, LineError> {
        parse(&Line { number: 7, text: text.to_owned() }, CastlingMode::Standard)
    }

    #[test]
    fn lines_are_read() {
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let entry = line(&format!("{fen} ;D1 20 ; D2 400;d3 8902;")).unwrap();
        assert_eq!(entry.counts, [(1, 20), (2, 400), (3, 8902)]);
        assert_eq!(entry.fen, fen);
        let error = line(&format!("{fen} ;D1 20 ;D2 4OO")).unwrap_err();
        assert_eq!((error.line, error.column), (7, 66));
        assert!(error.reason.contains("'D2 4OO' is not a count"), "{error}");
        assert!(line(&format!("{fen} ;")).unwrap_err().reason.contains("expected counts"));
        assert!(line("8/8/8/8 w - - 0 1 ;D1 2").unwrap_err().to_string().starts_with("7:1: "));
    }

    #[test]
    fn wrong_counts_are_found() {
        let entries = [
            line("8/8/8/8/8/8/8/K1k5 w - - 0 1 ;D1 1 ;D2 3").unwrap(),
            line("8/8/8/8/8/8/8/K1k5 w - - 0 1 ;D1 2 ;D2 1000").unwrap(),
        ];
        for through in [Through::Rules, Through::Search, Through::Network] {
            let outcome = check(&entries, 999, 2, through, &|_, _| {});
            assert_eq!((outcome.counts, outcome.skipped), (3, 1));
            let wrong: Vec<_> =
                outcome.mismatches.iter().map(|m| (m.entry, m.depth, m.got.clone())).collect();
            assert_eq!(wrong, [(1, 1, Ok(1))]);
        }
    }
}
