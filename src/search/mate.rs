//! Full-width mate search, for `go mate N`. It searches all moves of both sides without pruning, so
//! that it cannot overlook a quiet key move or an underpromotion. It deepens move by move, so the
//! mate that it finds is the shortest.
//!
//! The mate search alternates with the ordinary search, which is better at long forced lines.

use std::cmp::Reverse;

use shakmaty::{Move, MoveList};

use super::{CLAIMABLE_FROM, MAX_PLY, Result, Stopped, Worker};
use crate::{
    chess::{
        movegen::{Generator, is_checkmate, is_tactical},
        position::{PackedMove, Position},
        see,
    },
    system::random::mix,
};

/// Number of entries of the proof table. An entry has 16 bytes, so the table has 4 MiB.
const PROOFS: usize = 1 << 18;

/// Nodes that the mate search may use before the ordinary search begins.
const HEAD_START: u64 = 30_000;

/// Maximum length of a short mate, in moves. Short mates are usually proved within a second.
const SHORT: u32 = 5;

/// Nodes of the mate search for each node of the ordinary search: for short mates and for long
/// ones. A node of the mate search is cheap. For long mates the mate search gets a smaller share,
/// because the ordinary search finds more of them alone. The share is not 0, because the ordinary
/// search may overlook the quiet key moves of problems.
const SHARE: [u64; 2] = [4, 1];

/// Proof table entry for a position whose side to move tries to mate.
#[derive(Clone, Copy, Default)]
struct Proof {
    key: u64,
    /// The move that mates in `mates_in`.
    best: PackedMove,
    /// A mate in up to this many moves is proved; 0 if none is.
    mates_in: u8,
    /// There is no mate in up to this many moves.
    holds_for: u8,
}

/// A mate search, which continues between iterations of the ordinary search.
pub(super) struct MateSearch {
    proofs: Vec<Proof>,
    /// Keys of positions that have occurred twice. A third occurrence is a draw.
    twice: Vec<u64>,
    /// The last reply that avoided mate, by ply.
    killers: Vec<PackedMove>,
    /// Length of the mate to try next, in moves.
    moves: u32,
    /// Maximum length of the mate, in moves.
    wanted: u32,
    /// Nodes used so far.
    spent: u64,
}

impl MateSearch {
    /// Creates a search for a mate in at most `wanted` moves. `keys` are those of the game.
    pub(super) fn new(wanted: u32, keys: &[u64]) -> MateSearch {
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        let twice = sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        let wanted = wanted.min(MAX_PLY as u32 / 2 - 1);
        MateSearch {
            proofs: vec![Proof::default(); PROOFS],
            twice: twice.collect(),
            killers: vec![PackedMove::NONE; 2 * wanted as usize + 2],
            moves: 1,
            wanted,
            spent: 0,
        }
    }

    /// Returns whether it is proved that neither side can mate in the wanted number of moves.
    pub(super) const fn is_refuted(&self) -> bool {
        self.moves > self.wanted
    }

    /// Returns the nodes used so far.
    pub(super) const fn spent(&self) -> u64 {
        self.spent
    }

    /// Continues until a mate is proved, all wanted lengths are refuted, or the granted nodes are
    /// used up. Returns the moves of the mate. Either side may be the one that mates.
    pub(super) fn seek(&mut self, worker: &mut Worker) -> Option<Vec<Move>> {
        let (begin, root) = (worker.nodes, worker.root.clone());
        let share = SHARE[usize::from(self.wanted > SHORT)];
        let granted = HEAD_START + share * (begin - self.spent);
        let stop_at = begin + granted.saturating_sub(self.spent);
        worker.proving = true;
        let mut prover = Prover { worker, search: self, stop_at };
        let mut found = None;
        while !prover.search.is_refuted() && found.is_none() {
            match prover.mate_at_root(&root) {
                Ok(Some(line)) => found = Some(line),
                Ok(None) => prover.search.moves += 1,
                Err(Stopped) => {
                    // The whole search may have been stopped, so check the limits at once.
                    prover.worker.next_check = prover.worker.nodes;
                    break;
                }
            }
        }
        worker.proving = false;
        self.spent += worker.nodes - begin;
        found
    }
}

/// Returns the key for proofs about a mate in `moves` moves. It includes the halfmove clock if such
/// a mate might come too late for the fifty-move rule. Every longer mate then might too, so entries
/// without the clock are used only where the clock does not matter.
fn proof_key(position: &Position, moves: u32) -> u64 {
    let clock = position.halfmoves();
    let late = clock + 2 * moves > CLAIMABLE_FROM;
    position.key() ^ if late { mix(u64::from(clock) + 1) } else { 0 }
}

/// A running mate search.
struct Prover<'p, 'w> {
    /// Counts the nodes and checks the limits.
    worker: &'p mut Worker<'w>,
    search: &'p mut MateSearch,
    /// The worker's node count at which to pause.
    stop_at: u64,
}

impl Prover<'_, '_> {
    fn proof(&mut self, key: u64) -> &mut Proof {
        let proof = &mut self.search.proofs[key as usize % PROOFS];
        if proof.key != key {
            *proof = Proof { key, ..Proof::default() };
        }
        proof
    }

    /// Returns whether the position is drawn by rule. It must not be checkmate.
    fn is_draw(&self, position: &Position) -> bool {
        position.halfmoves() >= CLAIMABLE_FROM
            || position.is_insufficient_material()
            || self.search.twice.contains(&position.key())
    }

    /// Looks for a mate of the current length by either side, and returns its moves.
    fn mate_at_root(&mut self, root: &Position) -> Result<Option<Vec<Move>>> {
        let moves = self.search.moves;
        if self.attack(root, moves, 0)?.is_some() {
            return self.mating_line(root, moves).map(Some);
        }
        let replies = root.legal_moves();
        if !self.is_lost(root, &replies, moves, 0)? {
            return Ok(None);
        }
        let Some(m) = self.longest_reply(root, &replies, moves)? else { return Ok(None) };
        let mut line = vec![m];
        line.extend(self.mating_line(&root.play(m), moves)?);
        Ok(Some(line))
    }

    /// Returns the move by which the side to move mates in at most `moves` moves.
    ///
    /// # Errors
    ///
    /// [`Stopped`] if the search was stopped or the granted nodes are used up. The other functions
    /// of the prover return the same error.
    fn attack(&mut self, position: &Position, moves: u32, ply: usize) -> Result<Option<Move>> {
        if self.worker.nodes >= self.stop_at {
            return Err(Stopped);
        }
        let key = proof_key(position, moves);
        let proof = *self.proof(key);
        if proof.mates_in > 0
            && u32::from(proof.mates_in) <= moves
            && let Some(m) = Generator::new(position).find(proof.best)
        {
            return Ok(Some(m));
        }
        if u32::from(proof.holds_for) >= moves {
            return Ok(None);
        }
        let found = if moves == 1 {
            self.mate_in_one(position, ply)?
        } else {
            self.attack_all(position, moves, ply, proof.best)?
        };
        let proof = self.proof(key);
        if let Some(m) = found {
            proof.best = m.into();
            proof.mates_in = moves as u8;
        } else {
            proof.holds_for = moves as u8;
        }
        Ok(found)
    }

    /// Tries all moves: first the best known one, then checks, then the others. Within each group,
    /// moves that leave fewer replies come first.
    fn attack_all(
        &mut self,
        position: &Position,
        moves: u32,
        ply: usize,
        best: PackedMove,
    ) -> Result<Option<Move>> {
        let mut tries = Vec::new();
        for m in position.legal_moves() {
            self.worker.count_node(ply + 1)?;
            let child = position.play(m);
            let replies = child.legal_moves();
            if replies.is_empty() {
                if child.is_check() {
                    return Ok(Some(m));
                }
            } else if !self.is_draw(&child) {
                tries.push((PackedMove::from(m) != best, !child.is_check(), replies.len(), m));
            }
        }
        tries.sort_by_key(|&(not_best, quiet, replies, _)| (not_best, quiet, replies));
        for (.., m) in tries {
            let child = position.play(m);
            if self.is_lost(&child, &child.legal_moves(), moves - 1, ply + 1)? {
                return Ok(Some(m));
            }
        }
        Ok(None)
    }

    /// Returns whether every one of `replies` allows a mate in at most `moves` moves. Returns false
    /// if there are none.
    fn is_lost(
        &mut self,
        position: &Position,
        replies: &MoveList,
        moves: u32,
        ply: usize,
    ) -> Result<bool> {
        // A reply that avoided mate after another move often does so again.
        let killer = self.search.killers[ply].find_in(replies);
        if let Some(m) = killer {
            self.worker.count_node(ply + 1)?;
            let child = position.play(m);
            if self.is_draw(&child) || self.attack(&child, moves, ply + 1)?.is_none() {
                return Ok(false);
            }
        }
        // A reply that is known to avoid mate ends the search.
        let mut open = Vec::new();
        for &m in replies.iter().filter(|&&m| Some(m) != killer) {
            self.worker.count_node(ply + 1)?;
            let child = position.play(m);
            let holds_for = self.proof(proof_key(&child, moves)).holds_for;
            if u32::from(holds_for) >= moves || self.is_draw(&child) {
                return Ok(false);
            }
            let gain = if is_tactical(m) { m.capture().map_or(0, see::value) } else { -1 };
            open.push((Reverse(gain), m));
        }
        open.sort_by_key(|&(gain, _)| gain);
        for (_, m) in open {
            if self.attack(&position.play(m), moves, ply + 1)?.is_none() {
                self.search.killers[ply] = m.into();
                return Ok(false);
            }
        }
        Ok(!replies.is_empty())
    }

    /// Returns a reply after which the proved mate takes the full `moves` moves.
    fn longest_reply(
        &mut self,
        position: &Position,
        replies: &MoveList,
        moves: u32,
    ) -> Result<Option<Move>> {
        for &m in replies {
            if moves == 1 || self.attack(&position.play(m), moves - 1, 1)?.is_none() {
                return Ok(Some(m));
            }
        }
        Ok(None)
    }

    /// Returns the moves of a shortest mate, which takes `moves` moves.
    fn mating_line(&mut self, position: &Position, moves: u32) -> Result<Vec<Move>> {
        // Proofs may have been overwritten in the table: repeat them without a node limit.
        self.stop_at = u64::MAX;
        let mut position = position.clone();
        let mut line = Vec::new();
        for left in (1..=moves).rev() {
            let Some(m) = self.attack(&position, left, 0)? else { break };
            line.push(m);
            position = position.play(m);
            if left > 1 {
                let replies = position.legal_moves();
                let Some(m) = self.longest_reply(&position, &replies, left - 1)? else { break };
                line.push(m);
                position = position.play(m);
            }
        }
        Ok(line)
    }

    /// Returns a move that gives checkmate.
    fn mate_in_one(&mut self, position: &Position, ply: usize) -> Result<Option<Move>> {
        let generator = Generator::new(position);
        for m in position.legal_moves() {
            if generator.checks().given_by(m) || !matches!(m, Move::Normal { .. }) {
                self.worker.count_node(ply + 1)?;
                if is_checkmate(&position.play(m)) {
                    return Ok(Some(m));
                }
            }
        }
        Ok(None)
    }
}
