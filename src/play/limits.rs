//! What a search is asked, as data: its limits, and the options that may change meanwhile.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize},
    time::Duration,
};

use shakmaty::Move;

use crate::chess::score::{Score, mate_distance};

/// When a search has to end. Limits combine: whichever is reached first stops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Iterations, in plies.
    pub depth: Option<u32>,
    /// Nodes over all threads; on one thread exact.
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration starts (self-play).
    pub soft_nodes: Option<u64>,
    /// Stop when a mate in at most this many moves is proved, for either side.
    pub mate: Option<u32>,
    /// Exact time for this move.
    pub movetime: Option<Duration>,
    /// The clock of the side to move.
    pub clock: Option<Clock>,
    /// No bestmove before `stop`.
    pub infinite: bool,
    /// No bestmove before `stop` or `ponderhit`; the clock starts at the hit.
    pub ponder: bool,
    /// Analysis, not a game: even a forced move is searched.
    pub analyse: bool,
    /// If not empty, only these root moves are searched.
    pub searchmoves: Vec<Move>,
}

impl Limits {
    /// Does the search end without a `stop` or a `ponderhit`?
    pub(crate) const fn ends_by_itself(&self) -> bool {
        let limited = self.clock.is_some()
            || self.depth.is_some()
            || self.nodes.is_some()
            || self.soft_nodes.is_some()
            || self.mate.is_some()
            || self.movetime.is_some();
        limited && !self.infinite && !self.ponder
    }

    /// Is this a mate that was asked for?
    pub(crate) fn is_wanted_mate(&self, score: Score) -> bool {
        self.mate
            .zip(mate_distance(score))
            .is_some_and(|(most, moves)| moves.unsigned_abs() <= most)
    }
}

/// A player's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Time left. Zero when the flag is about to fall or the GUI says so.
    pub time: Duration,
    /// Gained with every move.
    pub increment: Duration,
    /// Moves to the next time control; `None` for the rest of the game.
    pub moves_to_go: Option<u32>,
}

/// Options of a search that may change while it runs.
#[derive(Debug)]
pub struct LiveOptions {
    /// Root lines to report, from 1.
    pub multi_pv: AtomicUsize,
    /// Report the line being searched, now and then.
    pub show_current_line: AtomicBool,
    /// Report after every iteration what is wrong with the other moves.
    pub show_refutations: AtomicBool,
}

impl Default for LiveOptions {
    /// One line, and nothing beside it.
    fn default() -> LiveOptions {
        LiveOptions {
            multi_pv: AtomicUsize::new(1),
            show_current_line: AtomicBool::new(false),
            show_refutations: AtomicBool::new(false),
        }
    }
}
