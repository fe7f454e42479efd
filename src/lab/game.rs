//! What the algorithms ask of a game, and the answer they give about a node.
//!
//! No game and no algorithm lives here.

use std::{fmt::Debug, hash::Hash};

use clap::ValueEnum;
use lancet::chess::score::{Bounds, Score, Window};

/// A two-player game of perfect information, as a position in it.
///
/// Values are from the point of view of the side to move, and depend on the
/// position alone: whatever the path to it, the value of a position at a depth
/// is one number. (That is why repetitions and the fifty-move count are not
/// terminal in the lab's chess: see [`chess`](super::chess).)
pub trait Game: Clone + Sync {
    /// A move; cheap to copy.
    type Move: Copy + Eq + Hash + Debug + Send;

    /// The legal moves, in the game's own fixed order.
    fn moves(&self) -> Vec<Self::Move>;

    /// The position after a legal move.
    #[must_use]
    fn make(&self, m: Self::Move) -> Self;

    /// The value of a finished game, given the legal moves. Must be `Some` if
    /// there are none.
    fn terminal(&self, moves: &[Self::Move]) -> Option<Score>;

    /// The static evaluation: the leaf value of a search without quiescence,
    /// the first guess of a root driver, and `CurEval` of Muller 2007.
    fn evaluate(&self) -> Score;

    /// Equal for equal positions, and practically only for those.
    fn key(&self) -> u64;

    /// Is MAX to move? Only the maximin form (Scout) asks.
    fn max_to_move(&self) -> bool;

    /// A move as people write it.
    fn move_text(&self, m: Self::Move) -> String {
        format!("{m:?}")
    }

    /// Greater for moves to try first, zero for all others: captures in chess.
    fn gain(&self, _m: Self::Move) -> i32 {
        0
    }

    /// The position after passing, where a move would hardly be worse than that: for
    /// null-move pruning. In chess, out of check and with pieces left.
    fn pass(&self) -> Option<Self> {
        None
    }

    /// What depth zero is worth, as far as the window needs to know; `visited`
    /// grows by the positions looked at below this one.
    fn leaf(&self, _window: Window, _visited: &mut u64) -> Bounds {
        Bounds::exact(self.evaluate())
    }

    /// Is a leaf expensive enough to store in the table (Scout notes)?
    fn leaf_is_expensive(&self) -> bool {
        false
    }
}

/// The lab's games besides chess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum GameName {
    /// Tic-tac-toe, searched to its end.
    TicTacToe,
    /// Connect Four on five columns and four rows.
    ConnectFour,
    /// Nim with heaps of 3, 4 and 5, searched to its end: wins and losses only.
    Nim,
}

impl GameName {
    /// The depth of a search, if none is asked for.
    pub const fn depth(self) -> u32 {
        match self {
            GameName::TicTacToe => 9,
            GameName::ConnectFour => 8,
            GameName::Nim => 12,
        }
    }
}

/// What a node returns: bounds on its value, and the move that attains the
/// lower one. A node that fails low has no best move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeResult<M> {
    /// The node's value, as far as it is known.
    pub bounds: Bounds,
    /// The move whose value is at least `bounds.lower`.
    pub best: Option<M>,
}
