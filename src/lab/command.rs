//! `lancet-lab`: its arguments, files and exit status. Searching and formatting are elsewhere.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, anyhow, ensure};
use clap::{CommandFactory as _, Parser, Subcommand};

use super::{
    cell::Axes,
    chess::Leaf,
    explain::{self, ExplainArgs},
    game::GameName,
    manual,
    node::{Ordering, Selectivity},
    output, plot, report,
    run::{Conditions, FirstGuess},
    suite::{self, Item, Job, Suite, TruthError},
};
use lancet::{
    chess::lines::{self, Line, TextError},
    eval::{default_network, nnue::Network},
    system::{
        arguments, files, program,
        stdio::{self, note, say},
    },
};

/// Compare the algorithms of the alpha-beta family on the same positions
#[derive(Parser, Debug)]
#[command(
    version = lancet::VERSION,
    after_long_help = manual::LANCET_LAB,
    args_conflicts_with_subcommands = true
)]
pub struct Args {
    #[command(subcommand)]
    topic: Option<Topic>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Subcommand, Debug)]
enum Topic {
    /// Explain an algorithm with pseudocode, its source and a worked example
    #[command(after_long_help = manual::EXPLAIN)]
    Explain(ExplainArgs),
    /// Run all experiments and write a page with their results, DIR/lab.html
    #[command(after_long_help = manual::REPORT)]
    Report(ReportArgs),
    /// Write shell completions and manual pages to a directory, for packagers
    #[command(hide = true)]
    Generate {
        /// Directory; created if it does not exist
        directory: PathBuf,
    },
}

#[derive(clap::Args, Debug)]
struct ReportArgs {
    /// Directory for the page; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace the page if it exists
    #[arg(long)]
    force: bool,
    /// Search depth of most experiments, in plies
    #[arg(short, long, default_value_t = 4, value_parser = arguments::whole::<u32>(1..=8))]
    depth: u32,
    /// Use N positions, evenly spread over those of `lancet bench`. Experiments that search one ply
    /// deeper use a third as many
    #[arg(long, value_name = "N", default_value_t = 24,
          value_parser = arguments::whole::<usize>(1..))]
    limit: usize,
    /// Number of positions to search at the same time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<usize>(1..=1024))]
    threads: Option<usize>,
}

/// The positions of `lancet bench`.
const BENCH_POSITIONS: &str = include_str!("../../epd/bench.epd");
/// Positions with short mates.
const MATES: &str = include_str!("../../epd/mates20.epd");

#[derive(clap::Args, Debug)]
struct RunArgs {
    /// File of positions, as EPD or FEN lines [default: the positions of `lancet bench`]
    file: Option<PathBuf>,
    /// Search another game instead of chess, from all positions after its first move or two
    #[arg(long, value_enum, conflicts_with_all = ["file", "limit", "leaf"])]
    game: Option<GameName>,
    /// Search depth, in plies [default: 4 in chess, 9 in tic-tac-toe, 8 in Connect Four, 12 in Nim]
    #[arg(short, long, value_parser = arguments::whole::<u32>(1..=64))]
    depth: Option<u32>,
    /// Use only the first N positions
    #[arg(long, value_name = "N", value_parser = arguments::whole::<usize>(1..))]
    limit: Option<usize>,
    /// How to evaluate leaves at depth zero
    #[arg(long, value_enum, default_value_t = Leaf::Static)]
    leaf: Leaf,
    /// Network file for `--leaf network`, instead of the built-in network
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// Move ordering: which move of a node is searched first
    #[arg(long, value_enum, default_value_t = Ordering::Table)]
    ordering: Ordering,
    /// Selective techniques of playing programs, separated by commas; with null moves or
    /// reductions, scores are not compared
    #[arg(long, value_enum, value_delimiter = ',')]
    select: Vec<Selectivity>,
    /// Search without iterative deepening: start each depth from scratch, and count only the last
    #[arg(long)]
    no_deepening: bool,
    /// First guess of aspiration and MTD(f)
    #[arg(long, value_enum, default_value_t)]
    guess: FirstGuess,
    /// Stop MTD(f), mtdf-loop and asp-printed after this many searches of the root
    #[arg(long, default_value_t = 200, value_parser = arguments::whole::<u32>(1..))]
    max_passes: u32,
    /// Maximum depth of minimax and stop-at-win
    #[arg(long, default_value_t = 3, value_parser = arguments::whole::<u32>(1..=64))]
    minimax_depth: u32,
    /// Do not measure the replayed tree (see `lancet-lab explain replay`); halves the time
    #[arg(long)]
    no_replay: bool,
    /// Number of positions to search at the same time; use 1 to compare seconds [default: one for
    /// each processor]
    #[arg(long, value_name = "N", value_parser = arguments::whole::<usize>(1..=1024))]
    threads: Option<usize>,
    /// Print one CSV line per cell instead of the table
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print everything as JSON instead of the table
    #[arg(long)]
    json: bool,
    /// Also write an SVG picture of the nodes by depth, relative to the first search and to the
    /// replayed tree
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace the picture if it exists
    #[arg(long, requires = "svg")]
    force: bool,
    #[command(flatten)]
    axes: Axes,
}

/// Runs `lancet-lab`.
///
/// # Errors
///
/// If an argument or a file cannot be used, or a sound cell differs from the reference.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.topic {
        Some(Topic::Explain(args)) => say(explain::text(args)?.trim_end()),
        Some(Topic::Report(args)) => run_report(args)?,
        Some(Topic::Generate { directory }) => {
            return program::generate(directory, Args::command());
        }
        None => run_lab(&args.run)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the exit status after an error: 1 if a sound cell differs from the reference, 2 for
/// input that cannot be used.
pub fn status(error: &anyhow::Error) -> u8 {
    if error.is::<TruthError>() { 1 } else { 2 }
}

/// Returns the positions of a file or text, at most the first `limit`.
fn positions(
    name: &str,
    lines: Result<Vec<Line>, TextError>,
    limit: Option<usize>,
) -> anyhow::Result<Vec<Item>> {
    let lines = lines.with_context(|| format!("cannot read {name}"))?;
    let mut items = suite::read(&lines).map_err(|error| anyhow!("{name}:{error}"))?;
    items.truncate(limit.unwrap_or(usize::MAX));
    ensure!(!items.is_empty(), "{name}: expected at least one position");
    Ok(items)
}

/// Returns the positions of `lancet bench`.
fn bench_positions(limit: Option<usize>) -> anyhow::Result<Vec<Item>> {
    positions("the bench positions", lines::split(BENCH_POSITIONS.as_bytes()), limit)
}

/// Returns `count` of the items, evenly spread.
fn spread(items: &[Item], count: usize) -> Vec<Item> {
    let count = count.min(items.len());
    (0..count).map(|i| items[i * items.len() / count].clone()).collect()
}

/// Starts threads with a stack that is large enough for deep searches.
fn pool(threads: Option<usize>) -> anyhow::Result<rayon::ThreadPool> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    builder.stack_size(16 << 20).build().context("cannot start threads")
}

fn run_report(args: &ReportArgs) -> anyhow::Result<()> {
    let bench = bench_positions(None)?;
    let third = args.limit.min(bench.len()).div_ceil(3);
    let scope = report::Scope {
        depth: args.depth,
        suite: spread(&bench, args.limit),
        few: spread(&bench, third),
        mates: positions("the mates", lines::split(MATES.as_bytes()), Some(third))?,
    };
    let unwritable = || format!("cannot write {}", args.out.display());
    std::fs::create_dir_all(&args.out).with_context(unwritable)?;
    let path = args.out.join("lab.html");
    files::check_outputs([&*path], &[], |_| args.force)?;
    let tell = |title: &str| {
        if io::stderr().is_terminal() {
            note(title);
        }
    };
    let page = pool(args.threads)?.install(|| report::page(&scope, &tell))?;
    files::replace(&path, page.as_bytes()).with_context(unwritable)?;
    say(path.display());
    Ok(())
}

fn run_lab(args: &RunArgs) -> anyhow::Result<()> {
    let inputs: Vec<PathBuf> = args.file.iter().chain(&args.network).cloned().collect();
    files::check_outputs(args.svg.as_deref(), &inputs, |_| args.force)?;
    let items = match &args.file {
        _ if args.game.is_some() => Vec::new(),
        Some(path) => positions(&path.display().to_string(), lines::read(path), args.limit)?,
        None => bench_positions(args.limit)?,
    };
    let job = job(args)?;
    let suite = args.game.map_or(Suite::Chess(&items), Suite::Other);
    // The bar is shown on a terminal only.
    let progress = stdio::progress_bar(None, "{bar:40} {pos}/{len} cells, {eta} left");
    let tick = |positions| {
        progress.set_length((positions * job.cells.len()) as u64);
        progress.inc(1);
    };
    let report = pool(args.threads)?.install(|| suite::run_suite(suite, &job, &tick));
    progress.finish_and_clear();

    let text = if args.csv {
        output::csv(&report)?
    } else if args.json {
        serde_json::to_string_pretty(&report)?
    } else {
        output::people(&report)
    };
    say(text.trim_end());
    if let Some(path) = &args.svg {
        let picture = plot::svg(&report)?;
        files::replace(path, picture.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(report.check()?)
}

fn job(args: &RunArgs) -> anyhow::Result<Job<'_>> {
    let network = match &args.network {
        _ if args.leaf != Leaf::Network => {
            ensure!(args.network.is_none(), "--network needs '--leaf network'");
            None
        }
        Some(path) => Some(Arc::new(Network::load(path)?)),
        None => Some(default_network()),
    };
    Ok(Job {
        cells: args.axes.cells(),
        conditions: Conditions {
            depth: args.depth.unwrap_or_else(|| args.game.map_or(4, GameName::depth)),
            iterative: !args.no_deepening,
            ordering: args.ordering,
            selectivity: &args.select,
            guess: args.guess,
            max_passes: args.max_passes,
        },
        leaf: args.leaf,
        network,
        exhaustive_depth: args.minimax_depth,
        replay: !args.no_replay,
    })
}
