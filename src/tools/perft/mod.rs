//! Perft: counts the leaf nodes of the tree of legal moves, in total or below each root move. It
//! can count with the rules alone or through the layers above them.
//!
//! [`suite`] reads and checks suites of expected counts, and [`command`] implements `lancet perft`.

use std::{iter, ops::RangeInclusive};

use shakmaty::{Move, MoveList, Position as _};

use crate::{
    chess::{
        movegen::Generator,
        notation::move_text,
        position::{PackedMove, Position},
    },
    eval::{self, nnue::Accumulators},
    search::{history::Histories, picker::Picker},
    tools::share,
};

pub mod command;
pub mod suite;

/// Depths to count to, in plies.
pub(crate) const DEPTH_RANGE: RangeInclusive<u32> = 0..=64;

/// The layers to count through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Through {
    /// The rules alone. The moves of the last ply are counted, but not played (bulk counting).
    #[default]
    Rules,
    /// The position and move picker of the search. At every node, compares the updated keys and
    /// checkers with those computed from scratch.
    Search,
    /// The evaluation. At every node, compares the output of the built-in network, updated move by
    /// move, with its output computed from scratch.
    Network,
}

/// A fault of a layer: its moves differ from the legal moves, or its updated values from those
/// computed from scratch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} in '{fen}'")]
struct Fault {
    /// The position where it occurs.
    fen: String,
    /// The disagreement.
    what: &'static str,
}

impl Fault {
    fn at(position: &Position, what: &'static str) -> Fault {
        Fault { fen: position.fen(), what }
    }
}

/// Counts leaf nodes with the moves of one of the layers.
struct Counter {
    through: Through,
    /// These stay empty, because the order of the picked moves does not matter here.
    histories: Histories,
}

impl Counter {
    fn new(through: Through) -> Counter {
        Counter { through, histories: Histories::default() }
    }

    /// Counts the leaf nodes at `depth` plies.
    ///
    /// # Errors
    ///
    /// If the layer disagrees with the one below it. The error names the first such position.
    fn count(&self, position: &Position, depth: u32) -> Result<u64, Fault> {
        match self.through {
            Through::Rules => Ok(shakmaty::perft(position.chess(), depth)),
            Through::Search => self.count_picked(position, depth),
            Through::Network => {
                let mut accumulators = Accumulators::new(eval::default_network());
                count_evaluated(&mut accumulators, position, depth, 0)
            }
        }
    }

    fn count_picked(&self, position: &Position, depth: u32) -> Result<u64, Fault> {
        if *position.keys() != position.keys_from_scratch() {
            let what = "the updated keys differ from those computed from scratch";
            return Err(Fault::at(position, what));
        }
        if position.checkers() != position.chess().checkers() {
            let what = "the updated checkers differ from those computed from scratch";
            return Err(Fault::at(position, what));
        }
        if depth == 0 {
            return Ok(1);
        }
        let moves = self.picked(position)?;
        moves.iter().map(|&m| self.count_picked(&position.play(m), depth - 1)).sum()
    }

    /// Returns the moves of a position from the picker, which must give each legal move once. Any
    /// legal move may be the TT move.
    fn picked(&self, position: &Position) -> Result<MoveList, Fault> {
        let list = position.legal_moves();
        let mut moves = MoveList::new();
        let generator = Generator::new(position);
        if generator.any() == list.is_empty() {
            return Err(Fault::at(position, "the generator's test for a legal move is wrong"));
        }
        // Choose an arbitrary move by the key.
        let first = list.get(position.key() as usize % list.len().max(1)).copied();
        if first.is_some() && first.and_then(|m| generator.find(m.into())) != first {
            return Err(Fault::at(position, "the generator rejects a legal move"));
        }
        let mut picker = Picker::new(&generator, [None; 3], first);
        while let Some((m, _)) = picker.next(&self.histories) {
            if moves.try_push(m).is_err() {
                break;
            }
        }
        // If a move is missing and another is given twice, the sums of squares differ.
        let sum = |moves: &MoveList| -> u64 {
            moves.iter().map(|&m| u64::from(PackedMove::from(m).bits()).pow(2)).sum()
        };
        if moves.len() != list.len() || sum(&moves) != sum(&list) {
            return Err(Fault::at(position, "the picker's moves differ from the legal moves"));
        }
        Ok(moves)
    }

    /// Counts the leaf nodes below each root move. Sorts the moves by their UCI notation. Each
    /// thread takes one reply to a root move at a time.
    ///
    /// # Errors
    ///
    /// If the layer disagrees with the one below it, or no thread can be started.
    fn divide(
        &self,
        position: &Position,
        depth: u32,
        threads: usize,
    ) -> anyhow::Result<Vec<(Move, u64)>> {
        let Some(below) = depth.checked_sub(1) else { return Ok(Vec::new()) };
        // The tasks start two plies below the root, so the nodes above them are checked here.
        self.count(position, depth.min(2))?;
        let mut roots = position.legal_moves().to_vec();
        roots.sort_by_cached_key(|&m| move_text(m, position.mode()));
        let tasks_below = |child: Position| match below {
            0 => vec![child],
            _ => child.legal_moves().iter().map(|&reply| child.play(reply)).collect(),
        };
        let mut tasks = Vec::new();
        for (root, &m) in roots.iter().enumerate() {
            tasks.extend(tasks_below(position.play(m)).into_iter().map(|task| (root, task)));
        }
        let counts = share(iter::repeat_n((), threads), tasks.len(), |_, index| {
            Some(self.count(&tasks[index].1, below.saturating_sub(1)))
        })?;
        let mut divided: Vec<(Move, u64)> = roots.into_iter().map(|m| (m, 0)).collect();
        for ((root, _), count) in tasks.iter().zip(counts.into_iter().flatten()) {
            divided[*root].1 += count?;
        }
        Ok(divided)
    }
}

/// Counts leaf nodes with one accumulator per ply, like the search.
fn count_evaluated(
    accumulators: &mut Accumulators,
    position: &Position,
    depth: u32,
    ply: usize,
) -> Result<u64, Fault> {
    let fresh = accumulators.network().evaluate(position.board(), position.turn());
    if accumulators.evaluate(position, ply) != fresh {
        let what = "the updated network output differs from the output computed from scratch";
        return Err(Fault::at(position, what));
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

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    #[test]
    fn division_adds_up() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let position = Position::from_fen(fen).unwrap();
        for through in [Through::Rules, Through::Search, Through::Network] {
            let counter = Counter::new(through);
            for (depth, nodes) in [(0, 0), (1, 48), (2, 2039), (3, 97_862)] {
                for threads in [1, 3] {
                    let counts = counter.divide(&position, depth, threads).unwrap();
                    assert_eq!(counts.iter().map(|&(_, nodes)| nodes).sum::<u64>(), nodes);
                }
            }
            let counts = counter.divide(&position, 2, 1).unwrap();
            let first = move_text(counts[0].0, CastlingMode::Standard);
            assert_eq!((first.as_str(), counts[0].1), ("a1b1", 43));
        }
    }
}
