//! Connect Four on a board of five columns and four rows, which is small enough for a complete
//! search. With best play the game is a draw (<https://tromp.github.io/c4/c4.html>).

use super::game::Game;
use lancet::chess::score::{DRAW, MATE, Score};

const COLUMNS: u32 = 5;
const ROWS: u32 = 4;
/// Bit offsets from a square to its neighbours: up, right, and the two diagonals. The bit above
/// each column stays empty, so that no line wraps around into the next column.
const STEPS: [u32; 4] = [1, ROWS + 1, ROWS, ROWS + 2];

/// A position. Squares are bits, column by column from the bottom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectFour {
    /// Squares of the side to move.
    own: u32,
    /// Squares of the side that moved last.
    other: u32,
}

/// Returns, for each direction, the squares where a line of four within `squares` begins.
fn lines(squares: u32) -> impl Iterator<Item = u32> {
    STEPS
        .into_iter()
        .map(move |step| squares & squares >> step & squares >> (2 * step) & squares >> (3 * step))
}

const fn column(number: u32) -> u32 {
    ((1 << ROWS) - 1) << (number * (ROWS + 1))
}

impl Game for ConnectFour {
    /// A column, from 0.
    type Move = u8;

    fn moves(&self) -> Vec<u8> {
        if lines(self.other).any(|found| found != 0) {
            return Vec::new();
        }
        let taken = self.own | self.other;
        (0..COLUMNS).filter(|&n| taken & column(n) != column(n)).map(|n| n as u8).collect()
    }

    fn make(&self, number: u8) -> ConnectFour {
        let column = column(number.into());
        let taken = self.own | self.other;
        // Adding the lowest square's bit carries to the first empty square.
        let stone = (taken & column) + (column & column.wrapping_neg());
        ConnectFour { own: self.other, other: self.own | stone }
    }

    fn terminal(&self, moves: &[u8]) -> Option<Score> {
        if lines(self.other).any(|found| found != 0) {
            Some(-MATE)
        } else {
            moves.is_empty().then_some(DRAW)
        }
    }

    /// Returns the number of lines still open for the side to move minus those open for the other
    /// side.
    fn evaluate(&self) -> Score {
        let board = (0..COLUMNS).fold(0, |all, number| all | column(number));
        let open = |against: u32| lines(board & !against).map(u32::count_ones).sum::<u32>();
        open(self.other) as Score - open(self.own) as Score
    }

    fn key(&self) -> u64 {
        u64::from(self.own) << 32 | u64::from(self.other)
    }

    /// Returns whether the side that began is to move; it is MAX.
    fn max_to_move(&self) -> bool {
        self.own.count_ones() == self.other.count_ones()
    }

    fn move_text(&self, number: u8) -> String {
        (number + 1).to_string()
    }
}
