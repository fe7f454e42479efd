//! The command `lancet perft`: one position, or suites of expected counts.

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use indicatif::HumanCount;
use shakmaty::CastlingMode;

use super::{
    Counter, DEPTH_RANGE, Through,
    suite::{self, Outcome},
};
use crate::{
    chess::{
        notation::{counted, move_text},
        position::Position,
    },
    system::{arguments, stdio::progress_bar},
    tools::{
        self,
        options::Shard,
        positions::{self, Suite},
        say,
    },
};

/// Count the leaf nodes of the tree of legal moves, to test and time move generation
///
/// Without --suite, counts and times the leaf nodes below one position. With --suite, compares
/// every count with the expected one in the file. perft/README.md lists the suites.
///
/// --shard K/N runs every N-th line of all suites together, starting with line K, so that a job
/// runner can divide the work between machines.
#[derive(Debug, clap::Args)]
#[command(after_long_help = r#"Examples:
  lancet perft 6
  lancet perft 5 --divide --fen "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
  lancet perft --suite perft/*.epd --max-nodes 10000000 --through search
  lancet perft --suite perft/*.epd --max-nodes 1000000 --through network
  parallel lancet perft --suite perft/*.epd --shard {}/8 ::: $(seq 8)

Exit status:
  0  if every count is right
  1  if a count is wrong, a layer has a fault, or no thread could be started
  2  if a file, a line or the command line could not be used"#)]
pub struct Args {
    /// Depth, in plies
    #[arg(required_unless_present = "suite", value_parser = arguments::whole::<u32>(DEPTH_RANGE))]
    depth: Option<u32>,
    /// Position to count from [default: the start position]
    #[arg(long)]
    fen: Option<String>,
    /// Print the count below each root move
    #[arg(long)]
    divide: bool,
    /// Run suites of expected counts, with lines like `FEN ;D1 20 ;D2 400`
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["depth", "fen", "divide"])]
    suite: Vec<PathBuf>,
    /// Skip counts in a suite that are expected to exceed this many nodes
    #[arg(long, value_name = "N", requires = "suite", value_parser = arguments::count)]
    max_nodes: Option<u64>,
    /// Run every N-th line of the suites, starting with line K, to divide them between machines
    #[arg(long, value_name = "K/N", default_value_t = Shard::WHOLE, requires = "suite")]
    shard: Shard,
    /// Threads to count with
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = tools::thread_count)]
    threads: usize,
    /// Read castling rights as Chess960 even if they are also valid in standard chess
    #[arg(long)]
    chess960: bool,
    /// Layer of the engine that plays the moves
    #[arg(long, value_enum, default_value_t)]
    through: Through,
}

/// Runs the command `lancet perft`. Its help describes the exit status.
///
/// # Errors
///
/// If a layer above the rules has a fault, or no thread can be started.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mode = CastlingMode::from_chess960(args.chess960);
    let Some(depth) = args.depth else { return run_suites(args, mode) };
    let position = match args.fen.as_deref().map(|fen| Position::from_fen_in(fen, mode)) {
        None => Position::default(),
        Some(Ok(position)) => position,
        Some(Err(error)) => return Ok(tools::unusable(&error.into())),
    };
    let start = Instant::now();
    let counts = Counter::new(args.through).divide(&position, depth, args.threads)?;
    let time = start.elapsed();
    if args.divide {
        for (m, nodes) in &counts {
            say(format_args!("{}: {nodes}", move_text(*m, position.mode())));
        }
        say("");
    }
    let nodes = if depth == 0 { 1 } else { counts.iter().map(|&(_, nodes)| nodes).sum() };
    say(format_args!("Nodes searched: {nodes}\n{}", timed(nodes, time)));
    Ok(ExitCode::SUCCESS)
}

/// Formats nodes and speed for people: `9,322 nodes in 0.001 s, 9.3 Mnps`.
fn timed(nodes: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64().max(1e-9);
    let speed = nodes as f64 / seconds / 1e6;
    format!("{} nodes in {seconds:.3} s, {speed:.1} Mnps", HumanCount(nodes))
}

/// Runs the part of the suites that belongs to the shard. The exit status is 1 if any count is
/// wrong, otherwise 2 if any file or line is unreadable.
fn run_suites(args: &Args, mode: CastlingMode) -> anyhow::Result<ExitCode> {
    let budget = args.max_nodes.unwrap_or(u64::MAX);
    let (suites, mut unreadable) =
        positions::load(&args.suite, args.shard, |line| suite::parse(line, mode));
    unreadable += suites.iter().map(|suite| suite.broken.len()).sum::<usize>();
    let counts = suites.iter().flat_map(|suite| &suite.positions).flat_map(|case| &case.counts);
    let counts = counts.map(|&(_, nodes)| nodes).filter(|&nodes| nodes <= budget);
    let planned = counts.fold(0, u64::saturating_add);
    let template = "{elapsed_precise} [{bar:30}] {human_pos}/{human_len} nodes, {per_sec}, \
                    {eta} left, {msg}";
    let bar = progress_bar(Some(planned), template);
    let start = Instant::now();
    let mut total = Outcome::default();
    for Suite { path, positions, .. } in &suites {
        let path = path.display();
        bar.set_message(path.to_string());
        let begun = Instant::now();
        let progress = |nodes: u64, wrong: Option<&str>| {
            bar.inc(nodes);
            if let Some(wrong) = wrong {
                bar.suspend(|| say(format_args!("{path}:{wrong}")));
            }
        };
        let outcome = suite::check(positions, budget, args.threads, args.through, &progress)?;
        let Outcome { counts, nodes, skipped, wrong } = outcome;
        let timed = timed(nodes, begun.elapsed());
        bar.suspend(|| {
            say(format_args!(
                "{path}: {}, {}, {timed}, {} wrong",
                counted(positions.len(), "position"),
                counted(counts, "count"),
                wrong.len()
            ));
        });
        total.counts += counts;
        total.nodes += nodes;
        total.skipped += skipped;
        total.wrong.extend(wrong);
    }
    bar.finish_and_clear();
    let Outcome { counts, nodes, skipped, wrong } = total;
    say(format_args!(
        "Total: {}, {}, {skipped} above --max-nodes, {unreadable} unreadable, \
         {} wrong",
        counted(counts, "count"),
        timed(nodes, start.elapsed()),
        wrong.len(),
    ));
    Ok(match (wrong.len(), unreadable) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    })
}
