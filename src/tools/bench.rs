//! The benchmark: searches a fixed set of positions to a fixed depth.
//!
//! On one thread the node count is the same on every machine, so it identifies the behaviour of the
//! search. Commits that change this number state the new one as `Bench: N`.

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;

use super::{hash_size, say, thread_count};
use crate::{
    chess::{
        notation::move_text,
        position::{Game, Position},
        score::mate_distance,
    },
    engine::{Engine, Job, MemoryError, Settings, threads},
    eval::{default_network, nnue::Network},
    play::{limits::Limits, report::Silent, signals::Signals},
    search::root::RootSearch,
};

/// The positions: a FEN and an id on each line.
const POSITIONS: &str = include_str!("../../epd/bench.epd");

/// Search a fixed set of positions and count the nodes
///
/// On one thread the number of nodes is the same on every machine, so it identifies the behaviour
/// of the search. Commits that change this number state the new one as `Bench: N`. The last line is
/// `N nodes M nps`, which OpenBench reads.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  lancet bench
  lancet bench 14 2 256       depth 14, 2 threads, 256 MiB
  lancet bench --root mtdf    another search algorithm at the root

Exit status:
  0  when all positions were searched
  1  if there was not enough memory, or no thread could be started
  2  if the command line was wrong")]
pub struct Args {
    /// Depth in plies
    #[arg(default_value_t = Args::default().depth, value_parser = super::depth)]
    pub depth: u32,
    /// Search threads; with more than one, the node count varies
    #[arg(default_value_t = Args::default().threads, value_parser = thread_count)]
    pub threads: usize,
    /// Hash table size, in MiB
    #[arg(default_value_t = Args::default().hash, value_parser = hash_size)]
    pub hash: usize,
    /// Search algorithm at the root
    #[arg(long, value_name = "ALGORITHM", default_value_t = Args::default().root, value_enum)]
    pub root: RootSearch,
}

impl Default for Args {
    fn default() -> Args {
        // At this depth, the benchmark takes a few seconds.
        Args { depth: 12, threads: 1, hash: 16, root: RootSearch::Aspiration }
    }
}

/// Returns the positions and their ids.
pub(super) fn positions() -> Vec<(Position, &'static str)> {
    let position = |line: &'static str| {
        let (fen, id) = line.split_once(" id ").unwrap_or((line, ""));
        let id = id.trim_matches(|c| c == '"' || c == ';');
        Some((Position::from_fen(fen).ok()?, id))
    };
    POSITIONS.lines().filter_map(position).collect()
}

/// Runs the benchmark with this network, or with material and piece-square tables if it is `None`.
///
/// Passes each line of the report to `line`. The last one is `N nodes M nps`, and no other line
/// contains those words, because OpenBench searches for them. Returns the number of nodes, or
/// `None` if `signals` stopped the run.
///
/// # Errors
///
/// If there is not enough memory for the table.
pub(crate) fn bench(
    args: &Args,
    network: Option<Arc<Network>>,
    signals: &Arc<Signals>,
    line: &dyn Fn(&str),
) -> Result<Option<u64>, MemoryError> {
    let &Args { threads, hash, root, .. } = args;
    let settings = Settings { hash, threads, root_search: root, ..Settings::default() };
    let mut engine = Engine::new(settings)?;
    engine.set_network(network);
    let positions = positions();
    let count = positions.len();
    let (mut nodes, mut time) = (0, Duration::ZERO);
    for (number, (position, id)) in positions.into_iter().enumerate() {
        let mode = position.mode();
        let job = Job {
            game: Game::from(position),
            limits: Limits { depth: Some(args.depth), ..Limits::default() },
            signals: Arc::clone(signals),
        };
        engine.new_game();
        engine.prepare(&|| !signals.is_stopped())?;
        let start = Instant::now();
        let outcome = engine.go(&job, &Silent);
        time += start.elapsed();
        nodes += outcome.info.nodes;
        if signals.is_stopped() {
            return Ok(None);
        }
        let best = outcome.best.map_or_else(String::new, |m| move_text(m, mode));
        let score = match mate_distance(outcome.info.score) {
            Some(moves) => format!("mate {moves}"),
            None => format!("{:+.2}", f64::from(outcome.info.score) / 100.0),
        };
        line(&format!("{:>2}/{count} {best:<5} {score:>8}  {id}", number + 1));
    }
    let nps = u128::from(nodes) * 1_000_000 / time.as_micros().max(1);
    line(&format!("{nodes} nodes {nps} nps"));
    Ok(Some(nodes))
}

/// Runs the command `lancet bench`.
///
/// # Errors
///
/// If there is not enough memory, or a thread cannot be started.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let signals = Arc::new(Signals::new(false));
    let network = Some(default_network());
    threads::run("bench", || bench(args, network, &signals, &|text| say(text)))
        .context("cannot start the benchmark's thread")??;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::HashSet};

    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn the_positions_are_varied_and_different() {
        let positions = positions();
        assert!((40..=50).contains(&positions.len()));
        assert_eq!(positions.len(), POSITIONS.lines().count());
        let keys: HashSet<u64> = positions.iter().map(|(position, _)| position.key()).collect();
        assert_eq!(keys.len(), positions.len());
        assert!(
            positions
                .iter()
                .all(|(position, id)| { !id.is_empty() && !position.legal_moves().is_empty() })
        );
        let any = |test: fn(&Position) -> bool| positions.iter().any(|(p, _)| test(p));
        assert!(any(Position::is_check));
        assert!(any(|p| p.halfmoves() > 80));
        assert!(any(|p| p.board().occupied().count() == 3));
        assert!(any(|p| p.legal_moves().iter().any(|m| m.is_promotion())));
        assert!(any(|p| p.mode().is_chess960()));
    }

    #[test]
    fn the_count_is_reproducible_and_comes_last() {
        let run = || {
            let lines = RefCell::new(Vec::new());
            let signals = Arc::new(Signals::new(false));
            let args = Args { depth: 4, ..Args::default() };
            let nodes =
                bench(&args, None, &signals, &|line| lines.borrow_mut().push(line.to_owned()));
            (nodes.unwrap().unwrap(), lines.into_inner())
        };
        let (nodes, lines) = run();
        assert_eq!(run().0, nodes);
        let (last, others) = lines.split_last().unwrap();
        let words: Vec<&str> = last.split(' ').collect();
        assert_eq!(words[0], nodes.to_string());
        assert!(matches!(words[..], [_, "nodes", _, "nps"]));
        assert!(others.iter().all(|line| !line.contains("nodes") && !line.contains("nps")));
    }

    /// Every algorithm at the root searches a different tree.
    #[test]
    fn root_drivers() {
        let count = |&root: &RootSearch| {
            let args = Args { depth: 6, root, ..Args::default() };
            let signals = Arc::new(Signals::new(false));
            bench(&args, None, &signals, &|_| ()).unwrap().unwrap()
        };
        let counts: HashSet<u64> = RootSearch::value_variants().iter().map(count).collect();
        assert_eq!(counts.len(), 4);
    }

    #[test]
    fn a_stopped_benchmark_prints_no_count() {
        let signals = Arc::new(Signals::new(false));
        signals.stop();
        let result = bench(&Args::default(), None, &signals, &|line| panic!("{line}"));
        assert_eq!(result, Ok(None));
    }
}
