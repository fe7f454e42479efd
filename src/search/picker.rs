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
    chess::{movegen::Checks, position::Position, see},
    search::history::{Context, Histories},
};

/// The most legal moves a chess position can have is 218.
const CAPACITY: usize = 256;

/// A score and an index into the move list in one word, so that finding the
/// best move is finding the greatest number. Among equals the earlier move of
/// the list wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Scored(i32);

impl Scored {
    /// `score` must fit 23 bits and a sign.
    const fn new(index: usize, score: i32) -> Scored {
        Scored(score << 8 | (255 - index as i32))
    }

    const fn index(self) -> usize {
        (255 - (self.0 & 255)) as usize
    }

    const fn score(self) -> i32 {
        self.0 >> 8
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
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
pub struct Picker<'a> {
    list: &'a MoveList,
    tactical: ArrayVec<Scored, CAPACITY>,
    quiets: ArrayVec<Scored, CAPACITY>,
    /// Losing captures, put aside at the front of `tactical`.
    bad: usize,
    next: usize,
    table_move: Option<Move>,
    stage: Stage,
    want_quiets: bool,
    only_checks: bool,
}

impl<'a> Picker<'a> {
    /// All of `list`, which must be legal, beginning with `first`, the table's
    /// move, which must be one of them.
    #[must_use]
    pub fn new(list: &'a MoveList, first: Option<Move>) -> Picker<'a> {
        Picker {
            list,
            tactical: ArrayVec::new(),
            quiets: ArrayVec::new(),
            bad: 0,
            next: 0,
            table_move: first,
            stage: Stage::Table,
            want_quiets: true,
            only_checks: false,
        }
    }

    /// All of `list` but the table's move, which has been searched already.
    #[must_use]
    pub fn without(list: &'a MoveList, searched: Option<Move>) -> Picker<'a> {
        Picker { stage: Stage::ScoreTactical, ..Picker::new(list, searched) }
    }

    /// Only the tactical moves of `list`.
    #[must_use]
    pub fn tactical(list: &'a MoveList, first: Option<Move>) -> Picker<'a> {
        let first = first.filter(|&m| is_tactical(m));
        Picker { want_quiets: false, ..Picker::new(list, first) }
    }

    /// The quiet moves that are left are not wanted.
    pub fn skip_quiets(&mut self) {
        self.quiets.truncate(self.next_quiet());
        self.want_quiets = false;
    }

    /// Of the quiet moves that are left only those that give check are wanted.
    pub fn only_checks(&mut self, checks: Option<Checks>) {
        let (Some(checks), false) = (checks, self.only_checks) else { return };
        self.only_checks = true;
        let (list, mut place, next) = (self.list, 0, self.next_quiet());
        self.quiets.retain(|scored| {
            place += 1;
            place <= next || checks.given_by(list[scored.index()])
        });
    }

    /// How many quiet moves have been handed out.
    fn next_quiet(&self) -> usize {
        if self.stage == Stage::Quiets { self.next } else { 0 }
    }

    /// Are the moves handed out now captures that lose material?
    #[must_use]
    pub fn is_bad_tactical(&self) -> bool {
        self.stage == Stage::BadTactical
    }

    /// The next move and, for a quiet move that is not the table's, its
    /// history; `None` at the end.
    pub fn next(
        &mut self,
        position: &Position,
        histories: &Histories,
        context: &Context,
    ) -> Option<(Move, i32)> {
        if self.stage == Stage::Table {
            self.stage = Stage::ScoreTactical;
            if let Some(m) = self.table_move {
                return Some((m, 0));
            }
        }
        if self.stage == Stage::ScoreTactical {
            self.split(position, histories);
            self.stage = Stage::GoodTactical;
        }
        if self.stage == Stage::GoodTactical {
            while self.next < self.tactical.len() {
                let scored = take_best(&mut self.tactical, self.next);
                self.next += 1;
                let m = self.list[scored.index()];
                // A good record forgives a small loss.
                if see::see_ge(position, m, -scored.score() / 64) {
                    return Some((m, 0));
                }
                self.tactical[self.bad] = scored;
                self.bad += 1;
            }
            self.stage = Stage::ScoreQuiets;
        }
        if self.stage == Stage::ScoreQuiets {
            if self.want_quiets {
                let rows = histories.quiets(position, context);
                for scored in &mut self.quiets {
                    let index = scored.index();
                    *scored = Scored::new(index, rows.score(self.list[index]));
                }
            }
            self.next = 0;
            self.stage = Stage::Quiets;
        }
        if self.stage == Stage::Quiets {
            if self.want_quiets && self.next < self.quiets.len() {
                let scored = take_best(&mut self.quiets, self.next);
                self.next += 1;
                return Some((self.list[scored.index()], scored.score()));
            }
            self.next = 0;
            self.stage = Stage::BadTactical;
        }
        if self.next == self.bad {
            return None;
        }
        self.next += 1;
        Some((self.list[self.tactical[self.next - 1].index()], 0))
    }

    /// Tells tactical moves from quiet ones, and scores the former: most
    /// valuable victim first, history decides among equals.
    fn split(&mut self, position: &Position, histories: &Histories) {
        for (index, &m) in self.list.iter().enumerate() {
            if is_tactical(m) {
                let score = 16 * value_gained(m) + histories.capture(position, m) / 2;
                self.tactical.push(Scored::new(index, score));
            } else if self.want_quiets {
                self.quiets.push(Scored::new(index, 0));
            }
        }
        // The table's move has been handed out: one list holds it, once.
        if let Some(first) = self.table_move {
            let tactical = is_tactical(first);
            let moves = if tactical { &mut self.tactical } else { &mut self.quiets };
            if let Some(place) = moves.iter().position(|scored| self.list[scored.index()] == first)
            {
                moves.swap_remove(place);
            }
        }
    }
}

/// One step of selection sort over `[next..]`.
fn take_best(moves: &mut [Scored], next: usize) -> Scored {
    // Two simple passes (the greatest value, then its place) beat one that
    // keeps track of both.
    let rest = &mut moves[next..];
    let best = rest.iter().copied().max().unwrap_or(Scored(0));
    if let Some(place) = rest.iter().position(|&scored| scored == best) {
        rest.swap(0, place);
    }
    best
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
        std::iter::from_fn(|| picker.next(position, &histories, &context)).map(|(m, _)| m).collect()
    }

    #[test]
    fn every_move_once_whatever_comes_first() {
        let position = Position::from_fen(KIWIPETE, CastlingMode::Standard).unwrap();
        let list = position.legal_moves();
        for &first in &list {
            let picked = all(Picker::new(&list, Some(first)), &position);
            assert_eq!(picked[0], first);
            assert_eq!(picked.len(), list.len());
            assert!(list.iter().all(|m| picked.contains(m)));
            assert_eq!(all(Picker::without(&list, Some(first)), &position), picked[1..]);
        }
    }

    #[test]
    fn good_captures_then_quiets_then_bad_captures() {
        let position = Position::from_fen(KIWIPETE, CastlingMode::Standard).unwrap();
        let list = position.legal_moves();
        let picked = all(Picker::new(&list, None), &position);
        let first_quiet = picked.iter().position(|&m| !is_tactical(m)).unwrap();
        let last_quiet = picked.iter().rposition(|&m| !is_tactical(m)).unwrap();
        assert!(picked[..first_quiet].iter().all(|&m| see::see_ge(&position, m, -200)));
        assert!(picked[first_quiet..=last_quiet].iter().all(|&m| !is_tactical(m)));
        assert!(picked[last_quiet + 1..].iter().all(|&m| !see::see_ge(&position, m, 0)));
        let tactical = all(Picker::tactical(&list, None), &position);
        assert_eq!(tactical.len(), list.iter().filter(|&&m| is_tactical(m)).count());
    }
}
