//! The command `lancet perft`: one position, or suites of expected counts.

use std::{path::PathBuf, process::ExitCode, time::Instant};

use indicatif::HumanCount;
use shakmaty::CastlingMode;

use super::{Through, divide, speed, suite};
use crate::{
    chess::{notation::move_text, position::Position},
    system::arguments,
    tools::{self, complain, options::Shard, say},
};

/// Counts paths of legal moves, to test and time move generation.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Length of the paths, in plies
    #[arg(required_unless_present = "suite", value_parser = clap::value_parser!(u32).range(..=64))]
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
    /// Run every N-th line of the suites, from the K-th on, to share them between machines
    #[arg(long, value_name = "K/N", default_value_t = Shard::WHOLE, requires = "suite")]
    shard: Shard,
    /// Threads to count with
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = tools::thread_count)]
    threads: usize,
    /// Read castling rights as Chess960 even where they look standard
    #[arg(long)]
    chess960: bool,
    /// The layer of the engine to count through
    #[arg(long, value_enum, default_value_t)]
    through: Through,
}

/// Runs the command `lancet perft`. Exit status: 1 for a wrong count, 2 for unusable input.
///
/// # Errors
///
/// If a layer above the rules disagrees with them.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mode = CastlingMode::from_chess960(args.chess960);
    let Some(depth) = args.depth else {
        let budget = args.max_nodes.unwrap_or(u64::MAX);
        return Ok(suite::run(&args.suite, args.shard, budget, args.threads, mode, args.through));
    };
    let position = match args.fen.as_deref().map(|fen| Position::from_fen(fen, mode)) {
        None => Position::default(),
        Some(Ok(position)) => position,
        Some(Err(error)) => {
            complain(error);
            return Ok(ExitCode::from(2));
        }
    };
    let start = Instant::now();
    let counts = divide(&position, depth, args.threads, args.through)?;
    let time = start.elapsed();
    if args.divide {
        for (m, nodes) in &counts {
            say(format_args!("{}: {nodes}", move_text(*m, position.mode())));
        }
        say("");
    }
    let nodes = if depth == 0 { 1 } else { counts.iter().map(|&(_, nodes)| nodes).sum() };
    say(format_args!("Nodes searched: {nodes}"));
    say(format_args!(
        "{} nodes in {:.3} s, {}",
        HumanCount(nodes),
        time.as_secs_f64(),
        speed(nodes, time)
    ));
    Ok(ExitCode::SUCCESS)
}
