//! The reports of a search, as data. `uci` and `tools` turn them into text.

use std::{io, path::Path, time::Duration};

use shakmaty::Move;

use super::memory::MemoryError;
use crate::chess::score::{DRAW, Score};

/// The kind of a reported score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The score is exact.
    Exact,
    /// The true score is at least this (fail high).
    Lower,
    /// The true score is at most this (fail low).
    Upper,
}

/// Information about one principal variation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Depth of the iteration, in plies.
    pub depth: u32,
    /// Deepest ply reached, including the quiescence search.
    pub seldepth: u32,
    /// Rank of this line among the reported root moves, from 1.
    pub multipv: usize,
    /// Score from the side to move's point of view.
    pub score: Score,
    /// Whether `score` is exact or a bound.
    pub bound: Bound,
    /// Whether the result is certainly a draw: by stalemate, by insufficient material, by the
    /// tablebases, or because the opponent can claim a draw after the first move.
    pub drawn: bool,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Share of the transposition table that this search has filled, in permille.
    pub hashfull: u32,
    /// Number of successful tablebase probes.
    pub tbhits: u64,
    /// Time since the start of the search.
    pub time: Duration,
    /// Principal variation, as legal moves from the root.
    pub pv: Vec<Move>,
}

impl Info {
    /// The information to report if nothing was searched.
    pub(crate) const EMPTY: Info = Info {
        depth: 0,
        seldepth: 0,
        multipv: 1,
        score: DRAW,
        bound: Bound::Exact,
        drawn: false,
        nodes: 0,
        hashfull: 0,
        tbhits: 0,
        time: Duration::ZERO,
        pv: Vec::new(),
    };
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The move to play; `None` if there is no legal move.
    pub best: Option<Move>,
    /// The expected reply.
    pub ponder: Option<Move>,
    /// Information about the chosen move (multipv 1). `depth` is the last completed iteration. If a
    /// helper's move is chosen, `depth` is at least the last reported iteration. A line of a later
    /// iteration, which was stopped, may have been reported.
    pub info: Info,
}

/// Information for the user or a log that is not about a line of moves.
#[derive(Debug)]
pub enum Note<'a> {
    /// There was not enough memory for a table of the requested size. The search continues with a
    /// table of the old size, or of 1 MiB.
    Memory(MemoryError),
    /// A search thread cannot be started. The threads already started continue.
    Thread {
        /// Index of the thread, from 0. It is never 0, because the first thread always exists.
        number: usize,
        /// The system's error.
        error: &'a io::Error,
    },
    /// A tablebase file cannot be used. The search continues without it.
    Table {
        /// Path of the file, or only its name if it is missing.
        path: &'a Path,
        /// Its fault.
        fault: TableFault<'a>,
    },
    /// The plan for a search, for debugging.
    Plan {
        /// Time after which no new iteration starts, before scaling by `Stability::scale`. `None`
        /// if the search uses the whole time, or if time does not limit it.
        soft: Option<Duration>,
        /// Time at which the search is stopped; `None` if time does not limit it.
        hard: Option<Duration>,
        /// Number of root moves with a known tablebase result.
        known: usize,
        /// Number of root moves.
        moves: usize,
    },
    /// `go mate` has found no mate that is short enough.
    NoMate {
        /// The limit of `go mate`, in moves.
        moves: u32,
        /// Whether it is proved that neither side can force such a mate.
        proved: bool,
    },
    /// The choice between the threads' moves, for debugging.
    Decision {
        /// Index of the thread whose move is played, from 0.
        thread: usize,
        /// Depth of the last completed iteration, for each thread whose result came in time, in the
        /// order of the threads.
        depths: &'a [u32],
    },
}

/// A fault of a tablebase file.
#[derive(Clone, Copy, Debug)]
pub enum TableFault<'a> {
    /// The file does not exist.
    Missing,
    /// The file cannot be read.
    Unreadable(&'a io::Error),
    /// The file is not a Syzygy table of this kind.
    Kind,
    /// The file is damaged.
    Damaged,
}

/// Receives the reports of a search. They come from its first thread; notes on tablebase files can
/// come from any thread. Every method may be called at any time between `go` and its outcome.
pub trait Reporter: Sync {
    /// Returns whether the reporter uses [`info`](Self::info). If not, the search need not assemble
    /// it.
    fn listens(&self) -> bool {
        true
    }
    /// Reports a new or better principal variation.
    fn info(&self, _info: &Info) {}
    /// Reports the root move that is searched next; `number` counts from 1.
    fn current_move(&self, _depth: u32, _m: Move, _number: usize) {}
    /// Reports the line that each thread is searching. A line may be empty.
    fn current_lines(&self, _lines: &[Vec<Move>]) {}
    /// Reports a root move and its refutation, as far as it is known.
    fn refutation(&self, _line: &[Move]) {}
    /// Reports other information for the user or a log.
    fn note(&self, _note: &Note) {}
    /// Reports the result of the search. Called once, before the other threads have ended, because
    /// their end can take some time on a busy machine.
    fn decided(&self, _outcome: &Outcome) {}
}

/// A reporter that discards all reports.
#[derive(Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn listens(&self) -> bool {
        false
    }
}
