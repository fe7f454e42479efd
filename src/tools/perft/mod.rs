//! Counting legal move paths: the count itself and its division over root moves,
//! through the rules or through the layers above them.
//!
//! Suites of expected counts are in [`suite`], the command in [`command`].

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use shakmaty::{Chess, Move, MoveList, Position as _};

use crate::{
    chess::{
        movegen::Generator,
        notation::move_text,
        position::{PackedMove, Position},
    },
    engine::threads,
    eval::{self, nnue::Accumulators},
    search::{history::Histories, picker::Picker},
    system::sync::{lock, unpoisoned},
    tools::complain,
};

pub mod command;
pub mod suite;

/// The layers a count goes through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Through {
    /// The rules alone; the moves of the last ply are not played.
    #[default]
    Rules,
    /// What the search plays on: visits every node, takes the moves from the
    /// picker, and compares incremental keys with keys from scratch.
    Search,
    /// The evaluation: visits every node, and compares the built-in network,
    /// its hidden layer updated, with the same network from scratch.
    Network,
}

/// A layer above the rules that disagrees with them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} in '{fen}'")]
pub struct Fault {
    /// Where.
    pub fen: String,
    /// What disagrees.
    pub what: &'static str,
}

/// The number of legal move paths of exactly `depth` plies, by the rules alone.
pub fn count(chess: &Chess, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => chess.legal_moves().len() as u64,
        _ => {
            let mut nodes = 0;
            for m in &chess.legal_moves() {
                let mut child = chess.clone();
                child.play_unchecked(*m);
                nodes += count(&child, depth - 1);
            }
            nodes
        }
    }
}

/// Counts through the layers above the rules.
#[derive(Default)]
pub struct Layers {
    /// Empty: the picker's order does not matter here.
    histories: Histories,
}

impl Layers {
    /// The same count as [`count`], through these layers.
    ///
    /// # Errors
    ///
    /// The first node at which a layer disagrees with the one below it.
    pub fn count(&self, position: &Position, depth: u32, through: Through) -> Result<u64, Fault> {
        match through {
            Through::Rules => Ok(count(position.chess(), depth)),
            Through::Search => self.count_picked(position, depth),
            Through::Network => {
                let mut accumulators = Accumulators::new(eval::default_network());
                count_evaluated(&mut accumulators, position, depth, 0)
            }
        }
    }

    fn count_picked(&self, position: &Position, depth: u32) -> Result<u64, Fault> {
        check(position)?;
        if depth == 0 {
            return Ok(1);
        }
        let mut nodes = 0;
        for m in self.picked(position)? {
            nodes += self.count_picked(&position.play(m), depth - 1)?;
        }
        Ok(nodes)
    }

    /// The moves of a position as the picker hands them out: each legal move
    /// once. Any of them may be the table's move.
    fn picked(&self, position: &Position) -> Result<MoveList, Fault> {
        let list = position.legal_moves();
        let mut moves = MoveList::new();
        let generator = Generator::new(position);
        if generator.any() == list.is_empty() {
            return Err(fault(position, "whether there is a legal move is not known"));
        }
        #[allow(clippy::cast_possible_truncation)] // any index will do
        let first = list.get(position.key() as usize % list.len().max(1)).copied();
        if first.is_some() && first.and_then(|m| generator.find(m.into())) != first {
            return Err(fault(position, "a legal move is taken for illegal"));
        }
        let mut picker = Picker::new(&generator, [None; 3], first);
        while let Some((m, _)) = picker.next(&self.histories) {
            if moves.try_push(m).is_err() {
                break;
            }
        }
        // Equal sums of squares: no move is missing for another one twice.
        let sum = |moves: &MoveList| -> u64 {
            moves.iter().map(|&m| u64::from(PackedMove::from(m).bits()).pow(2)).sum()
        };
        if moves.len() != list.len() || sum(&moves) != sum(&list) {
            return Err(fault(position, "the picker's moves are not the legal moves"));
        }
        Ok(moves)
    }
}

/// Counts with a line of the cache for every ply, as the search has it.
fn count_evaluated(
    accumulators: &mut Accumulators,
    position: &Position,
    depth: u32,
    ply: usize,
) -> Result<u64, Fault> {
    let fresh = accumulators.network().evaluate(position.board(), position.turn());
    if accumulators.evaluate(position, ply) != fresh {
        return Err(fault(position, "the updated network differs from the network from scratch"));
    }
    if depth == 0 {
        return Ok(1);
    }
    let mut nodes = 0;
    for m in position.legal_moves() {
        nodes += count_evaluated(accumulators, &position.play(m), depth - 1, ply + 1)?;
    }
    Ok(nodes)
}

fn fault(position: &Position, what: &'static str) -> Fault {
    Fault { fen: position.fen(), what }
}

/// Do the incremental facts of a position equal those computed anew?
fn check(position: &Position) -> Result<(), Fault> {
    if *position.keys() != position.keys_from_scratch() {
        return Err(fault(position, "incremental keys differ from keys from scratch"));
    }
    if position.checkers() != position.chess().checkers() {
        return Err(fault(position, "cached checkers are wrong"));
    }
    Ok(())
}

/// The count below each root move, in the order of their UCI notation. Spreads
/// over `threads` threads by the moves of the first two plies.
///
/// # Errors
///
/// The first fault found, through other layers than the rules.
pub fn divide(
    position: &Position,
    depth: u32,
    threads: usize,
    through: Through,
) -> Result<Vec<(Move, u64)>, Fault> {
    let layers = Layers::default();
    let moves = |position: &Position| match through {
        Through::Rules | Through::Network => Ok(position.legal_moves()),
        Through::Search => check(position).and_then(|()| layers.picked(position)),
    };
    let Some(below) = depth.checked_sub(1) else { return Ok(Vec::new()) };
    let mut roots: Vec<Move> = moves(position)?.to_vec();
    roots.sort_by_cached_key(|&m| move_text(m, position.mode()));

    // One task per root move, or per reply where there is enough below it.
    let mut tasks = Vec::new();
    for (root, &m) in roots.iter().enumerate() {
        let child = position.play(m);
        if below < 2 {
            tasks.push((root, child, below));
            continue;
        }
        tasks.extend(moves(&child)?.iter().map(|&reply| (root, child.play(reply), below - 1)));
    }

    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let totals = Mutex::new(Ok(vec![0; roots.len()]));
    let work = || {
        let mut counts = vec![0; roots.len()];
        while let Some((root, child, below)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            match layers.count(child, *below, through) {
                Ok(nodes) => counts[*root] += nodes,
                Err(fault) => {
                    failed.store(true, Ordering::Relaxed);
                    *lock(&totals) = Err(fault);
                }
            }
        }
        if let Ok(totals) = lock(&totals).as_mut() {
            totals.iter_mut().zip(&counts).for_each(|(total, count)| *total += count);
        }
    };
    on_threads(threads, work);
    let totals = unpoisoned(totals.into_inner())?;
    Ok(roots.into_iter().zip(totals).collect())
}

/// Does work that any number of threads can share, on this one and as many more as the
/// system gives.
fn on_threads(threads: usize, work: impl Fn() + Copy + Send) {
    thread::scope(|scope| {
        for _ in 1..threads {
            if let Err(error) = threads::spawn(scope, "perft", work) {
                complain(format_args!("cannot start a thread: {error}"));
                break;
            }
        }
        work();
    });
}

/// Nodes per second for people: `231.4 Mnps`.
pub fn speed(nodes: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64().max(1e-9);
    #[allow(clippy::cast_precision_loss)] // a rounded figure
    let rate = nodes as f64 / seconds;
    format!("{:.1} Mnps", rate / 1e6)
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    #[test]
    fn division_adds_up() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        for (depth, nodes) in [(0, 0), (1, 48), (2, 2039), (3, 97_862)] {
            for threads in [1, 3] {
                for through in [Through::Rules, Through::Search, Through::Network] {
                    let counts = divide(&position, depth, threads, through).unwrap();
                    assert_eq!(counts.iter().map(|&(_, nodes)| nodes).sum::<u64>(), nodes);
                }
            }
        }
        assert_eq!(count(position.chess(), 0), 1);
        let counts = divide(&position, 2, 1, Through::Rules).unwrap();
        let first = move_text(counts[0].0, CastlingMode::Standard);
        assert_eq!((first.as_str(), counts[0].1), ("a1b1", 43));
    }
}
