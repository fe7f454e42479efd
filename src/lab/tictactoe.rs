//! Tic-tac-toe, a small game with wins, losses and ties. A search to depth 9 solves it.

use super::game::Game;
use lancet::chess::score::{DRAW, MATE, Score};

/// The eight lines, as sets of squares.
const LINES: [u16; 8] = [
    0b000_000_111,
    0b000_111_000,
    0b111_000_000,
    0b001_001_001,
    0b010_010_010,
    0b100_100_100,
    0b100_010_001,
    0b001_010_100,
];

/// A position. Squares are bits, 0 the top left, 8 the bottom right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TicTacToe {
    /// Squares of the side to move.
    own: u16,
    /// Squares of the side that moved last.
    other: u16,
}

fn has_line(squares: u16) -> bool {
    LINES.iter().any(|line| line & !squares == 0)
}

impl Game for TicTacToe {
    type Move = u8;

    fn moves(&self) -> Vec<u8> {
        if has_line(self.other) {
            return Vec::new();
        }
        (0..9).filter(|square| (self.own | self.other) >> square & 1 == 0).collect()
    }

    fn make(&self, square: u8) -> TicTacToe {
        TicTacToe { own: self.other, other: self.own | 1 << square }
    }

    fn terminal(&self, moves: &[u8]) -> Option<Score> {
        if has_line(self.other) { Some(-MATE) } else { moves.is_empty().then_some(DRAW) }
    }

    /// Returns the number of lines still open for the side to move minus those open for the other
    /// side.
    fn evaluate(&self) -> Score {
        let open = |against: u16| LINES.iter().filter(|&&line| line & against == 0).count();
        open(self.other) as Score - open(self.own) as Score
    }

    fn key(&self) -> u64 {
        u64::from(self.own) << 9 | u64::from(self.other)
    }

    /// Returns whether X, the side that began, is to move; X is MAX.
    fn max_to_move(&self) -> bool {
        self.own.count_ones() == self.other.count_ones()
    }
}
