//! `lancet-lab`: arguments, files and exit; no search and no formatting.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    fmt,
    io::{self, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use clap::{CommandFactory as _, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    cell::Axes,
    chess::Leaf,
    delay::ScoreDelay,
    explain::{self, ExplainArgs},
    interior::Interior,
    manual,
    node::{Ordering, Selectivity},
    output, plot, report,
    root::Root,
    run::{Conditions, FirstGuess},
    suite::{self, Job, Report},
    table::{Entries, Replacement, TableMode},
};
use lancet::{
    chess::{lines, notation::counted},
    eval::{default_network, nnue::Network},
    system::{
        arguments, files, program,
        stdio::{complain, note},
    },
};

/// Every algorithm of the alpha-beta family, side by side on the same positions.
///
/// Without axis flags: every interior under the root drivers that it is made for, and
/// every other axis varied by itself. With axis flags: the product of what they name,
/// other axes at pvs, asp-gradual, 50, exact, two-bounds, two-level, 65536, none.
#[derive(Parser, Debug)]
#[command(
    version = lancet::VERSION,
    after_long_help = manual::LANCET_LAB,
    args_conflicts_with_subcommands = true,
    verbatim_doc_comment
)]
pub struct Args {
    #[command(subcommand)]
    topic: Option<Topic>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Subcommand, Debug)]
enum Topic {
    /// Show what an algorithm does: pseudocode, source, a worked example.
    #[command(after_long_help = manual::EXPLAIN)]
    Explain(ExplainArgs),
    /// Run all experiments and write them down as a page: DIR/lab.html.
    #[command(after_long_help = manual::REPORT)]
    Report(ReportArgs),
    /// Write shell completions and manual pages below a directory, for packagers
    #[command(hide = true)]
    Generate {
        /// The directory; it is made if it is missing
        directory: PathBuf,
    },
}

#[derive(clap::Args, Debug)]
struct ReportArgs {
    /// Where the page goes; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Search depth, in plies
    #[arg(short, long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=8))]
    depth: u32,
    /// Use only the first N positions
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Positions searched at the same time
    #[arg(long, value_name = "N", value_parser = thread_count)]
    threads: Option<usize>,
}

/// The positions of `lancet bench`.
const BENCH_POSITIONS: &str = include_str!("../../epd/bench.epd");
/// Positions with short mates.
const MATES: &str = include_str!("../../epd/mates20.epd");

#[derive(clap::Args, Debug)]
struct RunArgs {
    /// Positions, as EPD or FEN lines [default: those of `lancet bench`]
    file: Option<PathBuf>,
    /// Search depth, in plies
    #[arg(short, long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: u32,
    /// Use only the first N positions
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Algorithms inside the tree
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Axes")]
    interior: Vec<Interior>,
    /// Root drivers
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Axes")]
    root: Vec<Root>,
    /// Aspiration: half the width of the first window, in centipawns
    #[arg(long, value_delimiter = ',', help_heading = "Axes",
          value_parser = clap::value_parser!(i32).range(1..=30_000))]
    window: Vec<i32>,
    /// Which table entries may answer
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Axes")]
    table: Vec<TableMode>,
    /// What a table entry holds
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Axes")]
    entries: Vec<Entries>,
    /// Which entry stays in a full place of the table
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Axes")]
    replacement: Vec<Replacement>,
    /// Table sizes, in entries
    #[arg(long, value_delimiter = ',', help_heading = "Axes", value_parser = parse_size)]
    size: Vec<usize>,
    /// What happens to scores on their way out of a node
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Axes")]
    delay: Vec<ScoreDelay>,
    /// Try every value of the axes not named (thousands of cells)
    #[arg(long, help_heading = "Axes")]
    all: bool,
    /// How to value positions at depth zero
    #[arg(long, value_enum, default_value_t = Leaf::Static)]
    leaf: Leaf,
    /// A network file for `--leaf network`, instead of the built-in one
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// Move ordering
    #[arg(long, value_enum, default_value_t = Ordering::Table)]
    ordering: Ordering,
    /// What to leave out, as playing programs do; scores are then not checked
    #[arg(long, value_enum, value_delimiter = ',')]
    select: Vec<Selectivity>,
    /// Start each depth from scratch, and count only the last
    #[arg(long)]
    no_deepening: bool,
    /// The first guess of aspiration and MTD(f)
    #[arg(long, value_enum, default_value_t)]
    guess: FirstGuess,
    /// MTD(f): searches after which it is stopped
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    max_passes: u32,
    /// Maximum depth of minimax and stop-at-win
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=64))]
    minimax_depth: u32,
    /// Do not measure the replayed tree; halves the time
    #[arg(long)]
    no_replay: bool,
    /// Positions searched at the same time; use 1 to compare seconds
    #[arg(long, value_name = "N", value_parser = thread_count)]
    threads: Option<usize>,
    /// Print one CSV line per cell instead of the table
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print everything as JSON instead of the table
    #[arg(long)]
    json: bool,
    /// Also draw nodes against depth, and bars over the replayed tree
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// A number of threads.
fn thread_count(text: &str) -> Result<usize, String> {
    arguments::number_in(text, &(1..=1024))
}

/// A table size: 2 to 2^28 entries.
fn parse_size(text: &str) -> Result<usize, String> {
    let range = 2..=1 << 28;
    let size = text.parse().ok().filter(|size| range.contains(size));
    size.ok_or_else(|| "expected a number of entries from 2 to 268435456".to_owned())
}

/// Why `lancet-lab` failed.
#[derive(Debug)]
enum LabError {
    /// Something given cannot be used.
    Input(String),
    /// A sound cell lied.
    Truth(String),
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (LabError::Input(text) | LabError::Truth(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for LabError {}

/// `lancet-lab`. Exit status: 1 if a sound cell did not say the truth, 2 for
/// unusable input.
pub fn run(args: &Args) -> ExitCode {
    let out = &mut io::stdout().lock();
    let done = match &args.topic {
        Some(Topic::Explain(args)) => {
            let text = explain::text(args).map_err(LabError::Input);
            text.and_then(|text| shown(out.write_all(text.as_bytes())))
        }
        Some(Topic::Report(args)) => run_report(args, out),
        Some(Topic::Generate { directory }) => {
            return program::generate(directory, Args::command());
        }
        None => run_lab(&args.run, out),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(status(&error))
        }
    }
}

fn status(error: &LabError) -> u8 {
    match error {
        LabError::Truth(_) => 1,
        LabError::Input(_) => 2,
    }
}

/// The positions of a text that is part of the program.
fn built_in(text: &str, limit: Option<usize>) -> Result<Vec<suite::Item>, LabError> {
    let bad = |error: &dyn fmt::Display| LabError::Input(format!("built-in positions: {error}"));
    let lines = lines::split(text.as_bytes()).map_err(|error| bad(&error))?;
    let mut items = suite::read(&lines).map_err(|error| bad(&error))?;
    items.truncate(limit.unwrap_or(usize::MAX).max(1));
    Ok(items)
}

fn run_report(args: &ReportArgs, out: &mut dyn Write) -> Result<(), LabError> {
    let scope = report::Scope {
        depth: args.depth,
        suite: (built_in(BENCH_POSITIONS, args.limit)?, "those of lancet bench".to_owned()),
        mates: built_in(MATES, args.limit)?,
    };
    let unwritable = |error: io::Error| {
        LabError::Input(format!("cannot write to {}: {error}", args.out.display()))
    };
    std::fs::create_dir_all(&args.out).map_err(unwritable)?;
    let tell = |title: &str| {
        if io::stderr().is_terminal() {
            note(title);
        }
    };
    let page = pool(args.threads)?.install(|| report::page(&scope, &tell));
    let path = args.out.join("lab.html");
    files::replace(&path, page.map_err(LabError::Truth)?.as_bytes()).map_err(unwritable)?;
    shown(writeln!(out, "{}", path.display()))
}

/// Whoever read it may have seen enough (`lancet-lab | head`).
fn shown(written: io::Result<()>) -> Result<(), LabError> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| LabError::Input(format!("cannot write: {error}"))),
    }
}

/// Threads with a stack for deep searches.
fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool, LabError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .stack_size(16 << 20)
        .build()
        .map_err(|error| LabError::Input(format!("cannot start threads: {error}")))
}

fn run_lab(args: &RunArgs, out: &mut dyn Write) -> Result<(), LabError> {
    let inputs: Vec<PathBuf> = args.file.iter().chain(&args.network).cloned().collect();
    files::check_outputs(args.svg.as_deref(), &inputs).map_err(LabError::Input)?;
    let (file, lines) = match &args.file {
        Some(path) => (path.display().to_string(), lines::read(path)),
        None => ("the bench positions".to_owned(), lines::split(BENCH_POSITIONS.as_bytes())),
    };
    let lines = lines.map_err(|error| LabError::Input(format!("cannot read {file}: {error}")))?;
    let mut items =
        suite::read(&lines).map_err(|error| LabError::Input(format!("{file}:{error}")))?;
    items.truncate(args.limit.unwrap_or(usize::MAX));
    if items.is_empty() {
        return Err(LabError::Input(format!("{file}: expected at least one position")));
    }
    let job = job(args)?;
    let progress = progress((items.len() * job.cells.len()) as u64);
    let report =
        pool(args.threads)?.install(|| suite::run_suite(&items, &job, &|| progress.inc(1)));
    progress.finish_and_clear();

    shown(if args.csv {
        output::csv(&report, &mut *out)
    } else if args.json {
        output::json(&report, &mut *out)
    } else {
        output::people(&report, &mut *out)
    })?;
    if let Some(path) = &args.svg {
        let picture = plot::svg(&report).map_err(LabError::Input)?;
        files::replace(path, picture.as_bytes()).map_err(|error| {
            LabError::Input(format!("cannot write {}: {error}", path.display()))
        })?;
    }
    verdict(&report)
}

fn job(args: &RunArgs) -> Result<Job, LabError> {
    let axes = Axes {
        interior: args.interior.clone(),
        root: args.root.clone(),
        window: args.window.clone(),
        table: args.table.clone(),
        entries: args.entries.clone(),
        replacement: args.replacement.clone(),
        size: args.size.clone(),
        delay: args.delay.clone(),
    };
    let network = match &args.network {
        Some(_) if args.leaf != Leaf::Network => {
            let text = "--network is for '--leaf network' only";
            return Err(LabError::Input(text.to_owned()));
        }
        None if args.leaf != Leaf::Network => None,
        Some(path) => {
            let network =
                Network::load(path).map_err(|error| LabError::Input(error.to_string()))?;
            Some(Arc::new(network))
        }
        None => Some(default_network()),
    };
    Ok(Job {
        cells: axes.cells(args.all),
        conditions: Conditions {
            depth: args.depth,
            iterative: !args.no_deepening,
            ordering: args.ordering,
            selectivity: args.select.clone(),
            guess: args.guess,
            max_passes: args.max_passes,
        },
        leaf: args.leaf,
        network,
        exhaustive_depth: args.minimax_depth,
        replay: !args.no_replay,
    })
}

/// On a terminal, to the error stream.
fn progress(length: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cells, {eta} left");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A sound cell that lied fails the run.
fn verdict(report: &Report) -> Result<(), LabError> {
    const SHOWN: usize = 20;
    if report.failures.is_empty() {
        return Ok(());
    }
    let mut text = format!("the truth check failed {}:", counted(report.failures.len(), "time"));
    for failure in report.failures.iter().take(SHOWN) {
        text.push_str(&format!("\n  {failure}"));
    }
    Err(LabError::Truth(text))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        cell::Cell,
        suite::{Difference, Failure},
    };

    /// The run fails loudly, naming position and cell, if a sound cell lies.
    #[test]
    fn a_lie_fails_the_run() {
        let position = suite::Item { id: "WAC.001".to_owned(), position: Default::default() };
        let cells = vec![Cell::ADVICE];
        let conditions = Conditions {
            depth: 1,
            iterative: true,
            ordering: Ordering::Table,
            selectivity: Vec::new(),
            guess: FirstGuess::Previous,
            max_passes: 50,
        };
        let job = Job {
            cells,
            conditions,
            leaf: Leaf::Static,
            network: None,
            exhaustive_depth: 1,
            replay: false,
        };
        let mut report = suite::run_suite(&[position], &job, &|| ());
        assert!(verdict(&report).is_ok());
        let difference = Difference::Score { depth: 3, found: 5, truth: 7 };
        report.failures.push(Failure { cell: Cell::ADVICE, id: "WAC.001".to_owned(), difference });
        let error = verdict(&report).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the truth check failed 1 time:\n  WAC.001: [pvs asp-gradual 50 exact two-bounds two-level \
             65536 none] depth 3: score 5, reference 7"
        );
        assert_eq!(status(&error), 1);
        assert_eq!(status(&LabError::Input(String::new())), 2);
    }
}
