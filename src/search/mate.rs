//! Proof of a mate, for `go mate N`: every move of both sides is looked at and
//! nothing is pruned, so that a quiet key move or an underpromotion cannot be
//! overlooked. Iterative deepening by moves: the mate found is the shortest.
//!
//! The proof search takes turns with the ordinary search, whose strength long
//! forced lines are.

use std::cmp::Reverse;

use shakmaty::{Move, MoveList};

use super::{Stopped, Worker, table_key};
use crate::chess::{
    movegen::{Generator, is_tactical},
    position::{PackedMove, Position},
    score::{MATE, Score},
    see,
};

/// Entries of the table, 16 bytes each: 4 MiB.
const SLOTS: usize = 1 << 18;

/// Nodes that the proof search may use before the ordinary search begins.
const HEAD_START: u64 = 30_000;

/// Mates of up to this many moves are mostly proved in a second.
const SHORT: u32 = 5;

/// Nodes of the proof search, which are cheap, for one of the ordinary search:
/// for short mates, and for others. Of long ones the ordinary search finds more by
/// itself; quiet key moves of problems are what it may overlook.
const SHARE: [u64; 2] = [4, 1];

/// What is known of a position whose side to move wants to mate.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    /// The move that mates in `mates_in`.
    best: PackedMove,
    /// Moves in which a mate is proved; 0 if none is.
    mates_in: u8,
    /// Moves in which there is none.
    holds_for: u8,
}

/// The state of a proof search that is continued between iterations.
pub(super) struct MateSearch {
    slots: Vec<Slot>,
    /// Positions that have stood on the board twice: a third time is a draw.
    twice: Vec<u64>,
    /// The reply that last held, by ply.
    killers: Vec<PackedMove>,
    /// Length of mate to be tried next, in moves.
    moves: u32,
    /// Longest mate that is wanted, in moves.
    wanted: u32,
    /// Nodes used so far.
    spent: u64,
    /// The worker's node count at which to give up for now.
    stop_at: u64,
}

/// A proved mate by, or of, the side to move.
pub(super) struct Mate {
    /// The line, to the mate; not empty.
    pub(super) line: Vec<Move>,
}

impl Mate {
    /// The score for the side to move at its beginning. Scores of mates count
    /// the winner's moves.
    pub(super) fn score(&self) -> Score {
        let plies = self.line.len() as Score;
        if plies % 2 == 1 { MATE - (plies + 1) / 2 } else { plies / 2 - MATE }
    }
}

impl MateSearch {
    /// A search for a mate in at most `wanted` moves. `keys` are the game's.
    pub(super) fn new(wanted: u32, keys: &[u64]) -> MateSearch {
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        let twice = sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        let wanted = wanted.min(super::MAX_PLY as u32 / 2 - 1);
        MateSearch {
            slots: vec![Slot::default(); SLOTS],
            twice: twice.collect(),
            killers: vec![PackedMove::NONE; 2 * wanted as usize + 2],
            moves: 1,
            wanted,
            spent: 0,
            stop_at: 0,
        }
    }

    /// Is it proved that neither side mates in the moves wanted?
    pub(super) const fn is_refuted(&self) -> bool {
        self.moves > self.wanted
    }

    /// Nodes used so far.
    pub(super) const fn spent(&self) -> u64 {
        self.spent
    }

    fn slot(&mut self, key: u64) -> &mut Slot {
        let slot = &mut self.slots[key as usize % SLOTS];
        if slot.key != key {
            *slot = Slot { key, ..Slot::default() };
        }
        slot
    }

    /// Drawn by rule, so that nobody mates any more. The position is not mate.
    fn is_draw(&self, position: &Position) -> bool {
        position.halfmoves() >= 100
            || position.is_insufficient_material()
            || self.twice.contains(&position.key())
    }
}

impl Worker<'_> {
    /// Goes on looking for a mate until one is proved, there is none of the
    /// length wanted, or the nodes are used up.
    pub(super) fn seek_mate(&mut self, search: &mut MateSearch) -> Option<Mate> {
        let begin = self.nodes;
        let ordinary = begin - search.spent;
        let share = SHARE[usize::from(search.wanted > SHORT)];
        search.stop_at = begin + (HEAD_START + share * ordinary).saturating_sub(search.spent);
        let root = self.root.clone();
        let mut found = None;
        self.proving = true;
        while search.moves <= search.wanted && found.is_none() {
            match self.mate_at_root(search, &root) {
                Ok(Some(mate)) => found = Some(mate),
                Ok(None) => search.moves += 1,
                Err(Stopped) => {
                    // It may have been the search's end: ask again at once.
                    self.next_check = self.nodes;
                    break;
                }
            }
        }
        self.proving = false;
        search.spent += self.nodes - begin;
        found
    }

    /// A mate in `search.moves`, either way.
    fn mate_at_root(
        &mut self,
        search: &mut MateSearch,
        root: &Position,
    ) -> Result<Option<Mate>, Stopped> {
        let moves = search.moves;
        if self.attack(search, root, moves, 0)?.is_some() {
            let line = self.mating_line(search, root, moves)?;
            return Ok(Some(Mate { line }));
        }
        let replies = root.legal_moves();
        if !self.is_lost(search, root, &replies, moves, 0)? {
            return Ok(None);
        }
        let Some(m) = self.longest_reply(search, root, &replies, moves)? else { return Ok(None) };
        let mut line = vec![m];
        line.extend(self.mating_line(search, &root.play(m), moves)?);
        Ok(Some(Mate { line }))
    }

    /// The move by which the side to move mates in at most `moves` moves.
    /// [`Stopped`] says, here and below, that the nodes are used up, too.
    fn attack(
        &mut self,
        search: &mut MateSearch,
        position: &Position,
        moves: u32,
        ply: usize,
    ) -> Result<Option<Move>, Stopped> {
        if self.nodes >= search.stop_at {
            return Err(Stopped);
        }
        // The fifty-move clock decides whether there is time for the mate.
        let key = table_key(position);
        let slot = *search.slot(key);
        if slot.mates_in > 0
            && u32::from(slot.mates_in) <= moves
            && let Some(m) = Generator::new(position).find(slot.best)
        {
            return Ok(Some(m));
        }
        if u32::from(slot.holds_for) >= moves {
            return Ok(None);
        }
        let found = if moves == 1 {
            self.mate_in_one(position, ply)?
        } else {
            self.attack_all(search, position, moves, ply, slot.best)?
        };
        let slot = search.slot(key);
        if let Some(m) = found {
            slot.best = m.into();
            slot.mates_in = moves as u8;
        } else {
            slot.holds_for = moves as u8;
        }
        Ok(found)
    }

    /// Tries the checks first, and first what leaves the fewest replies.
    fn attack_all(
        &mut self,
        search: &mut MateSearch,
        position: &Position,
        moves: u32,
        ply: usize,
        best: PackedMove,
    ) -> Result<Option<Move>, Stopped> {
        let mut tries = Vec::new();
        for m in position.legal_moves() {
            self.count_node(ply + 1)?;
            let child = position.play(m);
            let replies = child.legal_moves();
            if replies.is_empty() {
                if child.is_check() {
                    return Ok(Some(m));
                }
            } else if !search.is_draw(&child) {
                tries.push((PackedMove::from(m) != best, !child.is_check(), replies.len(), m));
            }
        }
        tries.sort_by_key(|&(not_best, quiet, replies, _)| (not_best, quiet, replies));
        for (.., m) in tries {
            let child = position.play(m);
            let replies = child.legal_moves();
            if self.is_lost(search, &child, &replies, moves - 1, ply + 1)? {
                return Ok(Some(m));
            }
        }
        Ok(None)
    }

    /// Does every one of `replies` run into a mate in at most `moves`?
    fn is_lost(
        &mut self,
        search: &mut MateSearch,
        position: &Position,
        replies: &MoveList,
        moves: u32,
        ply: usize,
    ) -> Result<bool, Stopped> {
        // What held against another move often holds again.
        let killer = search.killers[ply].find_in(replies);
        if let Some(m) = killer {
            self.count_node(ply + 1)?;
            let child = position.play(m);
            if search.is_draw(&child) || self.attack(search, &child, moves, ply + 1)?.is_none() {
                return Ok(false);
            }
        }
        // What is known to hold ends the matter.
        let mut open = Vec::new();
        for &m in replies.iter().filter(|&&m| Some(m) != killer) {
            self.count_node(ply + 1)?;
            let child = position.play(m);
            let slot = *search.slot(table_key(&child));
            if u32::from(slot.holds_for) >= moves || search.is_draw(&child) {
                return Ok(false);
            }
            let gain = if is_tactical(m) { m.capture().map_or(0, see::value) } else { -1 };
            open.push((Reverse(gain), m));
        }
        open.sort_by_key(|&(gain, _)| gain);
        for (_, m) in open {
            let child = position.play(m);
            if self.attack(search, &child, moves, ply + 1)?.is_none() {
                search.killers[ply] = m.into();
                return Ok(false);
            }
        }
        Ok(!replies.is_empty())
    }

    /// The reply after which the proved mate takes all of `moves` moves.
    fn longest_reply(
        &mut self,
        search: &mut MateSearch,
        position: &Position,
        replies: &MoveList,
        moves: u32,
    ) -> Result<Option<Move>, Stopped> {
        for &m in replies {
            if moves == 1 || self.attack(search, &position.play(m), moves - 1, 1)?.is_none() {
                return Ok(Some(m));
            }
        }
        Ok(None)
    }

    /// The moves of a shortest mate, which takes `moves` moves.
    fn mating_line(
        &mut self,
        search: &mut MateSearch,
        position: &Position,
        moves: u32,
    ) -> Result<Vec<Move>, Stopped> {
        // What has been proved may be lost from the table: there is no hurry now.
        search.stop_at = u64::MAX;
        let mut position = position.clone();
        let mut line = Vec::new();
        for left in (1..=moves).rev() {
            let Some(m) = self.attack(search, &position, left, 0)? else { break };
            line.push(m);
            position = position.play(m);
            if left > 1 {
                let replies = position.legal_moves();
                let Some(m) = self.longest_reply(search, &position, &replies, left - 1)? else {
                    break;
                };
                line.push(m);
                position = position.play(m);
            }
        }
        Ok(line)
    }

    /// A move that mates at once.
    fn mate_in_one(&mut self, position: &Position, ply: usize) -> Result<Option<Move>, Stopped> {
        let generator = Generator::new(position);
        for m in position.legal_moves() {
            if generator.checks().given_by(m) || !matches!(m, Move::Normal { .. }) {
                self.count_node(ply + 1)?;
                let child = position.play(m);
                if child.is_check() && !Generator::new(&child).any() {
                    return Ok(Some(m));
                }
            }
        }
        Ok(None)
    }
}
