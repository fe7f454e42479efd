//! Detection of upcoming repetitions: whether the side to move can reach an earlier position with
//! one move. This needs no move generation, because each reversible move changes the key by its own
//! XOR difference.
//!
//! Source: M. van Kervinck, 2013, see <https://www.chessprogramming.org/Repetitions> ("upcoming
//! repetitions"). He uses cuckoo hashing; this table uses linear probing.

use std::sync::LazyLock;

use shakmaty::{
    Bitboard, Color, Role, Square, attacks,
    zobrist::{Zobrist64, ZobristValue},
};

use super::position::Position;

/// Slots of the table: a power of two, and at least twice the 3,668 moves.
const SLOTS: usize = 8192;

/// The moves of all pieces except pawns on an empty board, by the difference that they make to the
/// key. A move and its reverse are one entry.
static MOVES: LazyLock<Box<[Reversible; SLOTS]>> = LazyLock::new(|| {
    let mut moves = Box::new([Reversible::NONE; SLOTS]);
    for color in Color::ALL {
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King] {
            let piece = role.of(color);
            for from in Square::ALL {
                let targets = attacks::attacks(from, piece, Bitboard::EMPTY);
                for to in targets.into_iter().filter(|&to| to > from) {
                    let standing = |square| Zobrist64::zobrist_for_piece(square, piece).0;
                    let difference = standing(from) ^ standing(to) ^ turn();
                    let slot = slots(difference).find(|&slot| moves[slot].difference == 0);
                    moves[slot.unwrap_or(0)] = Reversible { difference, from, to };
                }
            }
        }
    }
    moves
});

#[derive(Clone, Copy)]
struct Reversible {
    difference: u64,
    from: Square,
    to: Square,
}

impl Reversible {
    const NONE: Reversible = Reversible { difference: 0, from: Square::A1, to: Square::A1 };
}

/// Returns the slots to probe for a difference, in order. The caller stops at the first empty slot.
fn slots(difference: u64) -> impl Iterator<Item = usize> {
    (0..SLOTS).map(move |step| (difference as usize + step) % SLOTS)
}

/// Returns the XOR difference between the keys of a position with White and with Black to move.
fn turn() -> u64 {
    Zobrist64::zobrist_for_white_turn().0
}

/// Returns whether the side to move can reach an earlier position with one move. `keys` are the
/// keys of the earlier positions, oldest first, without null moves between them.
pub fn can_repeat(position: &Position, keys: &[u64]) -> bool {
    // Our move can only lead to a position with the opponent to move, so only positions an odd
    // number of plies ago matter. `changed` is the difference that the opponent's moves have made
    // to the key since such a position. If it is 0, they cancel out. Then only our own moves
    // separate the positions, and one move may undo them.
    let mut changed = 0;
    let mut last = position.key();
    let halfmoves = position.halfmoves() as usize;
    for (back, &before) in (1..=halfmoves).zip(keys.iter().rev()) {
        if back % 2 == 1 {
            changed ^= last ^ before ^ turn();
            if changed == 0
                && back > 1
                && is_one_move(position.key() ^ before, position.board().occupied())
            {
                return true;
            }
        }
        last = before;
    }
    false
}

/// Returns whether a reversible move makes this difference between the keys of two positions.
/// `occupied` is the occupancy of one of them.
fn is_one_move(difference: u64, occupied: Bitboard) -> bool {
    slots(difference)
        .map(|slot| MOVES[slot])
        .take_while(|found| found.difference != 0)
        .find(|found| found.difference == difference)
        .is_some_and(|found| (attacks::between(found.from, found.to) & occupied).is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::Index};

    use super::*;

    #[test]
    fn all_moves_of_pieces_are_there() {
        let moves = MOVES.iter().filter(|found| found.difference != 0);
        assert_eq!(moves.count(), 3668);
    }

    proptest! {
        /// Random walks with few pieces, which often repeat positions. The result must match that
        /// of trying all legal moves.
        #[test]
        fn repetitions_are_those_that_a_move_makes(
            sparse: bool,
            walk in prop::collection::vec(any::<Index>(), 0..120),
        ) {
            let fen = if sparse { "k7/8/8/8/8/8/8/KN6 w - - 0 1" } else { "4k2r/8/8/8/8/8/8/R3K3 w Qk - 0 1" };
            let mut position = Position::from_fen(fen).unwrap();
            let mut keys = Vec::new();
            let mut met = 0;
            for index in walk {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let since = keys.len() - keys.len().min(position.halfmoves() as usize);
                let expected = moves.iter().any(|&m| {
                    keys[since..].contains(&position.play(m).key())
                });
                prop_assert_eq!(can_repeat(&position, &keys), expected);
                met += usize::from(expected);
                keys.push(position.key());
                position = position.play(moves[index.index(moves.len().min(3))]);
            }
            prop_assert!(keys.len() < 100 || met > 0);
        }
    }
}
