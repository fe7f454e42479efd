//! The limits of a search, and the options that may change while it runs.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize},
    time::Duration,
};

use shakmaty::Move;

use crate::chess::score::{Score, mate_distance};

/// The limits of a search. It ends when it reaches the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Depth of the last iteration, in plies.
    pub depth: Option<u32>,
    /// Nodes of all threads together. Exact on one thread.
    pub nodes: Option<u64>,
    /// Soft nodes: no new iteration starts after this many. For self-play.
    pub soft_nodes: Option<u64>,
    /// Longest mate to search for, in moves. The search stops when it has proved one for either
    /// side.
    pub mate: Option<u32>,
    /// Exact time for this move.
    pub movetime: Option<Duration>,
    /// The clock of the side to move.
    pub clock: Option<Clock>,
    /// Ignores the clock and `movetime`, and holds the best move back until `stop`.
    pub infinite: bool,
    /// Holds the best move back until `stop` or `ponderhit`. The clock starts at the ponderhit.
    pub ponder: bool,
    /// The search is for analysis, not for a game: it also searches a forced move, and uses neither
    /// the opening book nor limited strength.
    pub analyse: bool,
    /// The root moves to search; if empty, all of them.
    pub searchmoves: Vec<Move>,
}

impl Limits {
    /// Returns whether a limit other than `stop` and `ponderhit` ends the search.
    pub(crate) const fn is_limited(&self) -> bool {
        self.clock.is_some()
            || self.depth.is_some()
            || self.nodes.is_some()
            || self.soft_nodes.is_some()
            || self.mate.is_some()
            || self.movetime.is_some()
    }

    /// Returns whether `score` is a mate within the limit `mate`.
    pub(crate) fn is_wanted_mate(&self, score: Score) -> bool {
        self.mate
            .zip(mate_distance(score))
            .is_some_and(|(most, moves)| moves.unsigned_abs() <= most)
    }
}

/// A player's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Remaining time. It can be zero.
    pub time: Duration,
    /// Time added for every move.
    pub increment: Duration,
    /// Moves until the next time control; `None` if there is no further one.
    pub moves_to_go: Option<u32>,
}

/// Options of a search that may change while it runs.
#[derive(Debug)]
pub struct LiveOptions {
    /// Number of principal variations to report, at least 1.
    pub multi_pv: AtomicUsize,
    /// Reports the current line from time to time.
    pub show_current_line: AtomicBool,
    /// Reports the refutations of the other root moves after every iteration.
    pub show_refutations: AtomicBool,
}

impl Default for LiveOptions {
    /// Returns options that report only the best principal variation.
    fn default() -> LiveOptions {
        LiveOptions {
            multi_pv: AtomicUsize::new(1),
            show_current_line: AtomicBool::new(false),
            show_refutations: AtomicBool::new(false),
        }
    }
}
