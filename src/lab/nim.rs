//! Nim, a game with heaps of stones. A move takes any number of stones from one heap, and the
//! player who takes the last stone wins. The values are known without a search: the side to move
//! loses if and only if the bitwise XOR of the heap sizes is zero (Bouton 1901).

use super::game::Game;
use lancet::chess::score::{MATE, Score};

/// A position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nim {
    /// The number of stones in each heap.
    pub heaps: [u8; 3],
    /// Whether MAX is to move.
    pub max: bool,
}

impl Default for Nim {
    fn default() -> Nim {
        Nim { heaps: [3, 4, 5], max: true }
    }
}

impl Game for Nim {
    /// The heap, and the number of stones taken from it.
    type Move = (usize, u8);

    fn moves(&self) -> Vec<(usize, u8)> {
        let taken = |heap: usize| (1..=self.heaps[heap]).map(move |stones| (heap, stones));
        (0..self.heaps.len()).flat_map(taken).collect()
    }

    fn make(&self, (heap, stones): (usize, u8)) -> Nim {
        let mut next = Nim { max: !self.max, ..*self };
        next.heaps[heap] -= stones;
        next
    }

    fn terminal(&self, moves: &[(usize, u8)]) -> Option<Score> {
        moves.is_empty().then_some(-MATE)
    }

    /// Returns 0: Nim is searched to its end and needs no static evaluation.
    fn evaluate(&self) -> Score {
        0
    }

    fn key(&self) -> u64 {
        self.heaps.iter().fold(u64::from(self.max), |key, &heap| key << 8 | u64::from(heap))
    }

    fn max_to_move(&self) -> bool {
        self.max
    }

    fn move_text(&self, (heap, stones): (usize, u8)) -> String {
        format!("{}-{stones}", ["a", "b", "c"][heap])
    }
}
