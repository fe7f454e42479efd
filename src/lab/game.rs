//! The interface between the algorithms and a game, and the result of a node.

use std::{fmt::Debug, hash::Hash};

use clap::ValueEnum;
use lancet::chess::score::{Bounds, Score, Window};

/// A position of a two-player game of perfect information.
///
/// Values are from the point of view of the side to move. The value of a position at a depth
/// depends only on the position and not on the path to it. (Therefore repetitions and the
/// fifty-move rule do not end a game of the lab's chess: see [`chess`](super::chess).)
pub trait Game: Clone + Sync {
    /// A move; cheap to copy.
    type Move: Copy + Eq + Hash + Debug + Send;

    /// Returns the legal moves, in a fixed order.
    fn moves(&self) -> Vec<Self::Move>;

    /// Returns the position after a legal move.
    #[must_use]
    fn make(&self, m: Self::Move) -> Self;

    /// Returns the value of a finished game, given the legal moves. Must be `Some` if there are no
    /// legal moves.
    fn terminal(&self, moves: &[Self::Move]) -> Option<Score>;

    /// Returns the static evaluation. It is the leaf value of a search without quiescence, a first
    /// guess of a root driver, and `CurEval` of Muller 2007.
    fn evaluate(&self) -> Score;

    /// Returns a key. Equal positions have equal keys, and different positions almost always have
    /// different keys.
    fn key(&self) -> u64;

    /// Returns whether MAX is to move. Of the algorithms, only Scout (in maximin form) needs it.
    fn max_to_move(&self) -> bool;

    /// Returns the text of a move, for people.
    fn move_text(&self, m: Self::Move) -> String {
        format!("{m:?}")
    }

    /// Returns a number for move ordering: greater for moves to try first (captures in chess), zero
    /// for all others.
    fn gain(&self, _m: Self::Move) -> i32 {
        0
    }

    /// Returns the position after a pass, for null-move pruning, if the best move is probably no
    /// worse than a pass. In chess, the side to move must not be in check and must have pieces.
    fn pass(&self) -> Option<Self> {
        None
    }

    /// Returns bounds on the value at depth zero, tight enough to decide a search with this window.
    /// Adds the number of positions visited below this one to `visited`.
    fn leaf(&self, _window: Window, _visited: &mut u64) -> Bounds {
        Bounds::exact(self.evaluate())
    }

    /// Returns whether a leaf is expensive enough to store in the table (Scout notes).
    fn leaf_is_expensive(&self) -> bool {
        false
    }
}

/// The lab's games besides chess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum GameName {
    /// Tic-tac-toe, searched to the end of the game.
    TicTacToe,
    /// Connect Four on five columns and four rows.
    ConnectFour,
    /// Nim with heaps of 3, 4 and 5, searched to the end of the game; only wins and losses.
    Nim,
}

impl GameName {
    /// Returns the default depth of a search, in plies.
    pub const fn depth(self) -> u32 {
        match self {
            GameName::TicTacToe => 9,
            GameName::ConnectFour => 8,
            GameName::Nim => 12,
        }
    }
}

/// The result of a node: bounds on its value, and the move that attains the lower bound. A node
/// that fails low has no best move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeResult<M> {
    /// The bounds on the node's value.
    pub bounds: Bounds,
    /// The move whose value is at least `bounds.lower`.
    pub best: Option<M>,
}
