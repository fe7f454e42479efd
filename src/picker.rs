//! Hands out one legal move list in a good order. Prunes nothing.
//!
//! ```text
//!     moves:  [ table move | good captures | quiets | bad captures ]
//!               no scoring   SEE tested      scored   those that lose
//!               at all       as they come    late     material
//! ```
//!
//! The list is generated once; each part is scored only when it is reached,
//! because most nodes are refuted by one of their first moves.

use arrayvec::ArrayVec;
use shakmaty::{Move, MoveList, Role};

use crate::{
    history::{Context, Histories},
    position::{PackedMove, Position},
    see,
};

/// The most legal moves a chess position can have is 218.
const CAPACITY: usize = 256;

#[derive(Clone, Copy)]
struct Scored {
    m: Move,
    score: i32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    Table,
    ScoreTactical,
    GoodTactical,
    ScoreQuiets,
    Quiets,
    BadTactical,
}

/// Captures and promotions to a queen: moves that change the material at once.
#[must_use]
pub fn is_tactical(m: Move) -> bool {
    m.is_capture() || m.promotion() == Some(Role::Queen)
}

/// A node's moves, best first.
pub struct Picker {
    /// `[next..tactical_end]` tactical moves, `[..quiet_end]` quiet ones;
    /// losing captures are collected in `bad`.
    moves: ArrayVec<Scored, CAPACITY>,
    bad: ArrayVec<Move, 128>,
    table_move: Option<Move>,
    next: usize,
    tactical_end: usize,
    next_bad: usize,
    stage: Stage,
    quiets: bool,
}

impl Picker {
    /// All of `list`, which must be legal, beginning with the table's move if
    /// it is among them.
    #[must_use]
    pub fn new(list: &MoveList, table_move: PackedMove) -> Picker {
        let table_move = if table_move.is_some() { table_move.find_in(list) } else { None };
        let mut picker = Picker {
            moves: ArrayVec::new(),
            bad: ArrayVec::new(),
            table_move,
            next: 0,
            tactical_end: 0,
            next_bad: 0,
            stage: Stage::Table,
            quiets: true,
        };
        // Tactical moves first, so that each part is one slice.
        for &m in list.iter().filter(|&&m| is_tactical(m)) {
            picker.push(m);
        }
        picker.tactical_end = picker.moves.len();
        for &m in list.iter().filter(|&&m| !is_tactical(m)) {
            picker.push(m);
        }
        picker
    }

    /// Only the tactical moves of `list`.
    #[must_use]
    pub fn tactical(list: &MoveList, table_move: PackedMove) -> Picker {
        let table_move = if table_move.is_some() { table_move.find_in(list) } else { None };
        let mut picker = Picker {
            moves: ArrayVec::new(),
            bad: ArrayVec::new(),
            table_move: table_move.filter(|&m| is_tactical(m)),
            next: 0,
            tactical_end: 0,
            next_bad: 0,
            stage: Stage::Table,
            quiets: false,
        };
        for &m in list.iter().filter(|&&m| is_tactical(m)) {
            picker.push(m);
        }
        picker.tactical_end = picker.moves.len();
        picker
    }

    fn push(&mut self, m: Move) {
        if Some(m) != self.table_move {
            self.moves.push(Scored { m, score: 0 });
        }
    }

    /// The quiet moves that are left are not wanted.
    pub fn skip_quiets(&mut self) {
        self.quiets = false;
    }

    /// Are the moves handed out now captures that lose material?
    #[must_use]
    pub fn is_bad_tactical(&self) -> bool {
        self.stage == Stage::BadTactical
    }

    /// The next move, or `None` at the end.
    pub fn next(
        &mut self,
        position: &Position,
        histories: &Histories,
        context: &Context,
    ) -> Option<Move> {
        if self.stage == Stage::Table {
            self.stage = Stage::ScoreTactical;
            if self.table_move.is_some() {
                return self.table_move;
            }
        }
        if self.stage == Stage::ScoreTactical {
            for scored in &mut self.moves[..self.tactical_end] {
                // Most valuable victim first, history decides among equals.
                scored.score =
                    16 * value_gained(scored.m) + histories.capture(position, scored.m) / 2;
            }
            self.stage = Stage::GoodTactical;
        }
        if self.stage == Stage::GoodTactical {
            while self.next < self.tactical_end {
                let Scored { m, score } = self.take_best(self.tactical_end);
                // A good record forgives a small loss.
                if see::see_ge(position, m, -score / 64) {
                    return Some(m);
                }
                self.bad.push(m);
            }
            self.stage = Stage::ScoreQuiets;
        }
        if self.stage == Stage::ScoreQuiets {
            if self.quiets {
                for scored in &mut self.moves[self.tactical_end..] {
                    scored.score = histories.quiet(position, context, scored.m);
                }
            }
            self.stage = Stage::Quiets;
        }
        if self.stage == Stage::Quiets {
            if self.quiets && self.next < self.moves.len() {
                return Some(self.take_best(self.moves.len()).m);
            }
            self.stage = Stage::BadTactical;
        }
        let m = self.bad.get(self.next_bad).copied();
        self.next_bad += 1;
        m
    }

    /// One step of selection sort over `[next..end]`.
    fn take_best(&mut self, end: usize) -> Scored {
        let mut best = self.next;
        for i in self.next + 1..end {
            if self.moves[i].score > self.moves[best].score {
                best = i;
            }
        }
        self.moves.swap(self.next, best);
        self.next += 1;
        self.moves[self.next - 1]
    }
}

/// Value of the captured piece and of the promotion, in centipawns.
fn value_gained(m: Move) -> i32 {
    m.capture().map_or(0, see::value) + m.promotion().map_or(0, see::value)
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    fn all(mut picker: Picker, position: &Position) -> Vec<Move> {
        let histories = Histories::default();
        let context = Context { threats: shakmaty::Bitboard::EMPTY, previous: [None; 3] };
        std::iter::from_fn(|| picker.next(position, &histories, &context)).collect()
    }

    #[test]
    fn every_move_once_whatever_the_table_says() {
        let position = Position::from_fen(KIWIPETE, CastlingMode::Standard).unwrap();
        let list = position.legal_moves();
        for bits in (0..u16::MAX).step_by(7).chain(list.iter().map(|&m| PackedMove::from(m).bits()))
        {
            let hint = PackedMove::from_bits(bits);
            let picked = all(Picker::new(&list, hint), &position);
            assert_eq!(picked.len(), list.len());
            assert!(list.iter().all(|m| picked.contains(m)));
            if let Some(m) = hint.find_in(&list) {
                assert_eq!(picked[0], m);
            }
        }
    }

    #[test]
    fn good_captures_then_quiets_then_bad_captures() {
        let position = Position::from_fen(KIWIPETE, CastlingMode::Standard).unwrap();
        let list = position.legal_moves();
        let picked = all(Picker::new(&list, PackedMove::NONE), &position);
        let first_quiet = picked.iter().position(|&m| !is_tactical(m)).unwrap();
        let last_quiet = picked.iter().rposition(|&m| !is_tactical(m)).unwrap();
        assert!(picked[..first_quiet].iter().all(|&m| see::see_ge(&position, m, -200)));
        assert!(picked[first_quiet..=last_quiet].iter().all(|&m| !is_tactical(m)));
        assert!(picked[last_quiet + 1..].iter().all(|&m| !see::see_ge(&position, m, 0)));
        let tactical = all(Picker::tactical(&list, PackedMove::NONE), &position);
        assert_eq!(tactical.len(), list.iter().filter(|&&m| is_tactical(m)).count());
    }
}
