//! What a search reports, as data. `uci` and `tools` turn it into lines.

use std::{io, path::Path, time::Duration};

use shakmaty::Move;

use super::memory::MemoryError;
use crate::chess::score::Score;

// Older paths of these, which `train`, `epd` and `analyse` use.
pub use super::{limits::Limits, signals::Signals};

/// What a reported score says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The score itself.
    Exact,
    /// The true score is at least this (fail high).
    Lower,
    /// The true score is at most this (fail low).
    Upper,
}

/// One line of thought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Iteration, in plies.
    pub depth: u32,
    /// Deepest ply reached, quiescence included.
    pub seldepth: u32,
    /// Rank of this line among the reported root moves, from 1.
    pub multipv: usize,
    /// From the side to move's point of view.
    pub score: Score,
    /// Whether `score` is exact.
    pub bound: Bound,
    /// A draw for certain: by stalemate, for want of material, or by endgame tables.
    pub drawn: bool,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Table fill, in permille.
    pub hashfull: u32,
    /// Tablebase probes that hit.
    pub tbhits: u64,
    /// Since the start of the search.
    pub time: Duration,
    /// Legal moves from the root.
    pub pv: Vec<Move>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The move to play; `None` if there is no legal move.
    pub best: Option<Move>,
    /// The expected reply.
    pub ponder: Option<Move>,
    /// The last line of the move chosen (of multipv 1).
    pub info: Info,
}

/// What is not about moves, but a person or a log should know.
#[derive(Debug)]
pub enum Note<'a> {
    /// The table is smaller than was asked for; the search goes on with it.
    Memory(MemoryError),
    /// A search thread cannot be started; those before it search.
    Thread {
        /// Its number, from 1; thread 0 is always there.
        number: usize,
        /// Why not.
        error: &'a io::Error,
    },
    /// An endgame table cannot be used; the search goes on without it.
    Table {
        /// Its file, or where that would be.
        path: &'a Path,
        /// What is wrong with it.
        fault: TableFault<'a>,
    },
    /// How a search is going to be done. For those who want to know in detail.
    Plan {
        /// No new iteration after this time; `None` if it is to be used up.
        soft: Option<Duration>,
        /// The search is aborted at this time; `None` without a clock.
        hard: Option<Duration>,
        /// Root moves whose result the endgame tables know.
        known: usize,
        /// Root moves.
        moves: usize,
    },
    /// `go mate` has found none that is short enough.
    NoMate {
        /// Moves to the longest mate wanted.
        moves: u32,
        /// It is proved that neither side can force one.
        proved: bool,
    },
    /// Whose move is played. For those who want to know in detail.
    Decision {
        /// The thread that has found it.
        thread: usize,
        /// The last iteration completed, by thread.
        depths: &'a [u32],
    },
}

/// What is wrong with an endgame table.
#[derive(Clone, Copy, Debug)]
pub enum TableFault<'a> {
    /// There is no such file.
    Missing,
    /// The file cannot be read.
    Unreadable(&'a io::Error),
    /// The file is something else.
    Kind,
    /// The file's contents cannot be those of this table.
    Damaged,
}

/// Receives what a search has to say, on its first thread; faults of endgame tables are
/// noted by any. Every method may be called at any time between `go` and its outcome.
pub trait Reporter: Sync {
    /// Does anybody listen? If not, nothing need be put together for [`info`](Self::info).
    fn listens(&self) -> bool {
        true
    }
    /// A new or better line.
    fn info(&self, _info: &Info) {}
    /// The root move being searched; `number` counts from 1.
    fn current_move(&self, _depth: u32, _m: Move, _number: usize) {}
    /// The line that each thread searches; some may be empty.
    fn current_lines(&self, _lines: &[Vec<Move>]) {}
    /// A root move and the line that refutes it, as far as it is known.
    fn refutation(&self, _line: &[Move]) {}
    /// Anything else that a person or a log should know.
    fn note(&self, _note: &Note) {}
    /// The search is over, with this. Told once, and before the other threads have ended:
    /// on a busy machine they may take some time to.
    fn decided(&self, _outcome: &Outcome) {}
}

/// Says nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn listens(&self) -> bool {
        false
    }
}
