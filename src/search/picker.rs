//! Staged move picker: returns the legal moves, most promising first. It does not prune.
//!
//! ```text
//!     [ TT move    | good captures | quiets | bad captures ]
//!       from the     tested by SEE   scored   those that fail
//!       table        when reached             the SEE test
//! ```
//!
//! The moves of a stage are generated and scored only when it is reached, because one of the first
//! moves often causes a cutoff.

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Move, MoveList, Role, attacks};
use wide::i32x16;

use crate::{
    chess::{
        movegen::{Generator, Sink, is_tactical},
        see, sliders,
        threats::{attacked_from, pawn_attacks},
    },
    search::{
        history::{Context, Histories, Previous, QuietRows},
        params as p,
    },
};

/// Capacity for the moves of one position, in whole chunks. The maximum in a game is 218 moves. 32
/// men of any kind can have 271 and perhaps more, but fewer than 448: at most eight sliders, one
/// from each direction, reach an empty or capturable square, and every additional knight takes the
/// place of a slider.
const CAPACITY: usize = 448;
/// Mask of the bits of a key (see [`Batch`]) that hold the move's index. The index counts down, so
/// that the first of several moves with equal scores has the greatest key.
const PLACES: i32 = (1 << PLACE_BITS) - 1;
const PLACE_BITS: u32 = 9;

/// Number of keys that are compared at once.
const CHUNK: usize = i32x16::LANES as usize;

/// A list of moves that returns the best first.
///
/// A move's key contains its score and its index in one word, so that the best move has the
/// greatest key. Of moves with equal scores, the earlier one comes first.
#[derive(Default)]
struct Batch {
    moves: MoveList,
    /// The key of each move, padded with [`TAKEN`] to a full chunk.
    keys: ArrayVec<i32, CAPACITY>,
}

/// The key of a move that was returned already or is not wanted.
const TAKEN: i32 = i32::MIN;

impl Batch {
    /// Adds a move. Its score must fit in 22 bits plus a sign bit.
    #[inline(always)]
    fn push(&mut self, m: Move, score: i32) {
        self.keys.push(score << PLACE_BITS | (PLACES - self.moves.len() as i32));
        self.moves.push(m);
    }

    /// Pads the last chunk, after all moves were added.
    #[inline(always)]
    fn pad(&mut self) {
        let whole = self.keys.len().next_multiple_of(CHUNK);
        self.keys.extend(std::iter::repeat_n(TAKEN, whole - self.keys.len()));
    }

    /// Removes and returns the best remaining move, except `searched`, with its score.
    #[inline(always)]
    fn take_best(&mut self, searched: Option<Move>) -> Option<(Move, i32)> {
        loop {
            // A vector type, because the compiler sometimes produces much slower code from plain
            // arrays.
            let chunks = self.keys.as_chunks::<CHUNK>().0.iter();
            let best = chunks.fold(i32x16::splat(TAKEN), |best, &chunk| best.max(chunk.into()));
            let best = best.reduce_max();
            if best == TAKEN {
                return None;
            }
            let place = (PLACES - (best & PLACES)) as usize;
            self.keys[place] = TAKEN;
            let m = self.moves[place];
            if Some(m) != searched {
                return Some((m, best >> PLACE_BITS));
            }
        }
    }

    /// Keeps only the remaining moves that are `wanted`.
    fn retain(&mut self, wanted: impl Fn(Move) -> bool) {
        for (key, &m) in self.keys.iter_mut().zip(&self.moves) {
            if !wanted(m) {
                *key = TAKEN;
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    TtMove,
    MakeTactical,
    GoodTactical,
    MakeQuiets,
    Quiets,
    BadTactical,
}

/// The quiet moves that the picker returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    All,
    Checks,
    None,
}

/// A node's moves, best first.
pub(crate) struct Picker<'a> {
    generator: &'a Generator<'a>,
    previous: Previous,
    tactical: Batch,
    quiets: Batch,
    /// Bad captures, kept for the end.
    bad: MoveList,
    /// Number of bad captures returned so far.
    next_bad: usize,
    tt_move: Option<Move>,
    stage: Stage,
    wanted: Wanted,
}

impl<'a> Picker<'a> {
    /// Creates a picker for all legal moves, beginning with the TT move `first`, which must be
    /// legal. The moves `previous` index the histories of quiet moves.
    pub fn new(generator: &'a Generator<'a>, previous: Previous, first: Option<Move>) -> Self {
        Picker {
            generator,
            previous,
            tactical: Batch::default(),
            quiets: Batch::default(),
            bad: MoveList::new(),
            next_bad: 0,
            tt_move: first,
            stage: Stage::TtMove,
            wanted: Wanted::All,
        }
    }

    /// Creates a picker for all legal moves but the TT move, which has been searched already.
    pub fn without(
        generator: &'a Generator<'a>,
        previous: Previous,
        searched: Option<Move>,
    ) -> Self {
        Picker { stage: Stage::MakeTactical, ..Picker::new(generator, previous, searched) }
    }

    /// Creates a picker for the tactical moves only.
    pub fn tactical(generator: &'a Generator<'a>, first: Option<Move>) -> Self {
        let first = first.filter(|&m| is_tactical(m));
        Picker { wanted: Wanted::None, ..Picker::new(generator, [None; 3], first) }
    }

    /// Skips the remaining quiet moves.
    pub fn skip_quiets(&mut self) {
        self.quiets.keys.clear();
        self.wanted = Wanted::None;
    }

    /// Skips the remaining quiet moves, except those that give check.
    pub fn only_checks(&mut self) {
        if self.wanted == Wanted::All {
            self.wanted = Wanted::Checks;
            if matches!(self.stage, Stage::Quiets | Stage::BadTactical) {
                let checks = self.generator.checks();
                self.quiets.retain(|m| checks.given_by(m));
            }
        }
    }

    /// Returns whether the last move returned is a bad capture: one whose exchange is worth less
    /// than its ordering score requires.
    pub fn is_bad_tactical(&self) -> bool {
        self.stage == Stage::BadTactical
    }

    /// Returns the next move, or `None` at the end. The number is the ordering score of a quiet
    /// move, or a lower bound of a good capture's static exchange evaluation in centipawns. It is 0
    /// for the TT move and for bad captures.
    pub fn next(&mut self, histories: &Histories) -> Option<(Move, i32)> {
        if self.stage == Stage::TtMove {
            self.stage = Stage::MakeTactical;
            if let Some(m) = self.tt_move {
                return Some((m, 0));
            }
        }
        if self.stage == Stage::MakeTactical {
            self.make_tactical(histories);
            self.stage = Stage::GoodTactical;
        }
        if self.stage == Stage::GoodTactical {
            while let Some((m, score)) = self.tactical.take_best(self.tt_move) {
                // A capture of a valuable piece or with a good history may lose a little. One with
                // a bad history must win something.
                let least = -score / p::good_capture();
                if see::see_ge(self.generator.position(), m, least) {
                    return Some((m, least));
                }
                self.bad.push(m);
            }
            self.stage = Stage::MakeQuiets;
        }
        if self.stage == Stage::MakeQuiets {
            self.make_quiets(histories);
            self.stage = Stage::Quiets;
        }
        if self.stage == Stage::Quiets {
            if let Some(next) = self.quiets.take_best(self.tt_move) {
                return Some(next);
            }
            self.stage = Stage::BadTactical;
        }
        let m = *self.bad.get(self.next_bad)?;
        self.next_bad += 1;
        Some((m, 0))
    }

    /// Generates the tactical moves. The score of each is the weighted value of the captured piece
    /// and of the promotion piece, plus the capture history.
    fn make_tactical(&mut self, histories: &Histories) {
        let Picker { generator, tactical, .. } = self;
        generator.tactical(|m: Move| {
            let gain = m.capture().map_or(0, see::value) + m.promotion().map_or(0, see::value);
            tactical.push(m, p::order_victim() * gain + histories.capture(generator.position(), m));
        });
        tactical.pad();
    }

    /// Generates and scores the quiet moves that are wanted.
    fn make_quiets(&mut self, histories: &Histories) {
        let Picker { generator, previous, quiets, wanted, .. } = self;
        if *wanted == Wanted::None {
            return;
        }
        let context = Context::new(generator, *previous);
        let rows = histories.quiets(generator.position(), &context);
        let (safety, offence) = (Safety::new(generator), Offence::new(generator));
        let scored = Scored { quiets, rows, safety, offence };
        if *wanted == Wanted::All {
            generator.quiets(scored);
        } else {
            generator.quiet_checks(scored);
        }
        quiets.pad();
    }
}

/// Scores quiet moves while they are generated.
struct Scored<'a> {
    quiets: &'a mut Batch,
    rows: QuietRows<'a>,
    safety: Safety,
    offence: Offence,
}

impl Sink for Scored<'_> {
    #[inline(always)]
    fn take(&mut self, m: Move) {
        let score = self.rows.score(m) + self.safety.score(m) + self.offence.score(m);
        self.quiets.push(m, score);
    }
}

/// For each role, the squares that a less valuable enemy piece attacks, and the bonus for leaving
/// them or malus for entering them, in units of a quiet move's history.
struct Safety([(Bitboard, i32); 6]);

impl Safety {
    fn new(generator: &Generator) -> Safety {
        let worth = |role| p::order_safety() * see::value(role) / 100;
        Safety(Role::ALL.map(|role| (generator.threats_to(role), worth(role))))
    }

    /// Returns the bonus if the move leaves such a square, minus the bonus if it enters one.
    #[inline(always)]
    fn score(&self, m: Move) -> i32 {
        // Castling gets no bonus.
        let Move::Normal { role, from, to, .. } = m else { return 0 };
        let (threats, worth) = self.0[role as usize - 1];
        let attacked = |square| i32::from(threats.contains(square));
        (attacked(from) - attacked(to)) * worth
    }
}

/// For each role, the safe squares from which it attacks a piece that it can win. Rooks and kings
/// have no targets. Those of the other roles are:
///
/// - pawns: any piece or pawn
/// - knights: rooks, queens and undefended bishops
/// - bishops: rooks
/// - queens: undefended bishops along ranks and files, and undefended rooks along diagonals,
///   because these cannot capture the queen
struct Offence([Bitboard; 6]);

impl Offence {
    fn new(generator: &Generator) -> Offence {
        let (board, us) = (generator.position().board(), generator.position().turn());
        let theirs = board.by_color(!us);
        let (occupied, safe) = (board.occupied(), !generator.threats());
        let straight = |square| sliders::rook_attacks(square, occupied);
        let diagonal = |square| sliders::bishop_attacks(square, occupied);
        let (rooks, loose_bishops) = (board.rooks(), board.bishops() & safe);
        let [west, east] = pawn_attacks(theirs, !us);
        // Attacks are symmetric: a piece of the same role on the target attacks the squares from
        // which it can be attacked.
        let big = board.rooks_and_queens() | loose_bishops;
        let knight = attacked_from(big & theirs, attacks::knight_attacks);
        let bishop = attacked_from(rooks & theirs, diagonal);
        let queen = attacked_from(loose_bishops & theirs, straight)
            | attacked_from(rooks & safe & theirs, diagonal);
        let none = Bitboard::EMPTY;
        Offence([west | east, knight, bishop, none, queen, none].map(|squares| squares & safe))
    }

    #[inline(always)]
    fn score(&self, m: Move) -> i32 {
        let Move::Normal { role, to, .. } = m else { return 0 };
        i32::from(self.0[role as usize - 1].contains(to)) * p::order_offence()
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;
    use shakmaty::Square;

    use super::*;
    use crate::chess::position::Position;

    const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    fn all(mut picker: Picker) -> Vec<Move> {
        let histories = Histories::default();
        std::iter::from_fn(|| picker.next(&histories)).map(|(m, _)| m).collect()
    }

    proptest! {
        /// Moves come best first, and of equal moves the earlier comes first.
        #[test]
        fn batches_are_in_order(
            scores in prop::collection::vec(prop_oneof![-3..=3, -4_194_303..=4_194_303], 0..=CAPACITY),
            searched in 0..CAPACITY,
        ) {
            let squares = |i: usize| [i % 64, i / 64].map(|i| Square::new(i as u32));
            let moves = (0..scores.len()).map(squares).map(|[from, to]| {
                Move::Normal { role: Role::Knight, from, capture: None, to, promotion: None }
            });
            let mut expected: Vec<(Move, i32)> = moves.zip(scores).collect();
            let mut batch = Batch::default();
            expected.iter().for_each(|&(m, score)| batch.push(m, score));
            batch.pad();
            let searched = expected.get(searched).map(|&(m, _)| m);
            expected.retain(|&(m, _)| Some(m) != searched);
            expected.sort_by_key(|&(_, score)| Reverse(score));
            let taken: Vec<_> = std::iter::from_fn(|| batch.take_best(searched)).collect();
            prop_assert_eq!(taken, expected);
        }
    }

    #[test]
    fn every_move_once_whatever_comes_first() {
        every_move_once(KIWIPETE);
        // 218 moves, the most in a game, and 271.
        every_move_once("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1");
        every_move_once("kBQQQQQQ/BR5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/QQQQQQQK w - - 0 1");
    }

    fn every_move_once(fen: &str) {
        let position = Position::from_fen(fen).unwrap();
        let generator = Generator::new(&position);
        let list = position.legal_moves();
        for &first in &list {
            let picked = all(Picker::new(&generator, [None; 3], Some(first)));
            assert_eq!(picked[0], first);
            assert_eq!(picked.len(), list.len());
            assert!(list.iter().all(|m| picked.contains(m)));
            assert_eq!(all(Picker::without(&generator, [None; 3], Some(first))), picked[1..]);
        }
    }

    /// Computes the attacks from the move's target, instead of from the attacked pieces.
    #[test]
    fn offence_matches_attacks_from_the_target() {
        let mut found = 0;
        for line in include_str!("../../epd/wac.epd").lines().filter(|line| !line.starts_with('#'))
        {
            let fen = line.split(' ').take(4).collect::<Vec<_>>().join(" ");
            let position = Position::from_fen(&fen).unwrap();
            let generator = Generator::new(&position);
            let offence = Offence::new(&generator);
            let (board, us) = (position.board(), position.turn());
            let safe = !generator.threats();
            let (rooks, loose) = (board.rooks(), board.bishops() & safe);
            for &m in &position.legal_moves() {
                let Move::Normal { role, to, .. } = m else { continue };
                let sees =
                    attacks::attacks(to, role.of(us), board.occupied()) & board.by_color(!us);
                let line = attacks::rook_attacks(to, board.occupied());
                let wins = match role {
                    Role::Pawn => sees,
                    Role::Knight => sees & (board.rooks_and_queens() | loose),
                    Role::Bishop => sees & rooks,
                    Role::Queen => sees & (loose & line | rooks & safe & !line),
                    Role::Rook | Role::King => Bitboard::EMPTY,
                };
                let good = wins.any() && safe.contains(to);
                assert_eq!(offence.score(m) > 0, good, "{fen} {m:?}");
                found += usize::from(good);
            }
        }
        assert!(found >= 100, "{found}");
    }

    #[test]
    fn good_captures_then_quiets_then_bad_captures() {
        let position = Position::from_fen(KIWIPETE).unwrap();
        let generator = Generator::new(&position);
        let picked = all(Picker::new(&generator, [None; 3], None));
        let first_quiet = picked.iter().position(|&m| !is_tactical(m)).unwrap();
        let last_quiet = picked.iter().rposition(|&m| !is_tactical(m)).unwrap();
        assert!(picked[..first_quiet].iter().all(|&m| see::see_ge(&position, m, -200)));
        assert!(picked[first_quiet..=last_quiet].iter().all(|&m| !is_tactical(m)));
        assert!(picked[last_quiet + 1..].iter().all(|&m| !see::see_ge(&position, m, 0)));
        let tactical = all(Picker::tactical(&generator, None));
        assert_eq!(tactical.len(), picked.iter().filter(|&&m| is_tactical(m)).count());
    }

    #[test]
    fn fewer_quiets_on_request() {
        let position = Position::from_fen(KIWIPETE).unwrap();
        let generator = Generator::new(&position);
        let histories = Histories::default();
        let whole = all(Picker::new(&generator, [None; 3], None));
        let quiets = whole.iter().filter(|&&m| !is_tactical(m)).count();
        let checks = |moves: &[Move]| {
            moves.iter().filter(|&&m| generator.checks().given_by(m) && !is_tactical(m)).count()
        };
        // Skip quiet moves after each number of moves.
        for after in 0..=whole.len() {
            for keep_checks in [false, true] {
                let mut picker = Picker::new(&generator, [None; 3], None);
                let mut picked: Vec<Move> =
                    (0..after).map_while(|_| picker.next(&histories)).map(|(m, _)| m).collect();
                assert_eq!(picked, whole[..after]);
                let before = picked.iter().filter(|&&m| !is_tactical(m)).count();
                let left = if keep_checks { checks(&whole[after..]) } else { 0 };
                if keep_checks {
                    picker.only_checks()
                } else {
                    picker.skip_quiets()
                }
                picked.extend(all(picker));
                assert_eq!(picked.len(), whole.len() - quiets + before + left);
            }
        }
    }
}
