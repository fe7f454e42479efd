//! What a search is asked and what it reports, as data.
//!
//! No text is written here but that of errors: `uci` and `tools` turn the rest into
//! lines.

use std::{
    fmt, io,
    path::Path,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use shakmaty::Move;

use crate::{
    chess::score::{Score, mate_distance},
    system::sync::{lock, unpoisoned},
};

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
    #[must_use]
    pub const fn ends_by_itself(&self) -> bool {
        let limited = self.clock.is_some()
            || self.depth.is_some()
            || self.nodes.is_some()
            || self.soft_nodes.is_some()
            || self.mate.is_some()
            || self.movetime.is_some();
        limited && !self.infinite && !self.ponder
    }

    /// Is this a mate that was asked for?
    #[must_use]
    pub fn is_wanted_mate(&self, score: Score) -> bool {
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

/// The wires between whoever gave a `go` and the search that runs it. Made
/// anew for each `go`, by the side that receives the command, so that a stop
/// can never be lost.
///
/// The flags are read without a lock, in relaxed order: a search acts on
/// nothing else that the other side has written, so that there is nothing to
/// order; an atomic is seen by the other side in finite time, and soon on all
/// machines. They are *written* under the lock of `clock_start`, so that a
/// thread that looks at them and then sleeps cannot miss the change between
/// the two, and so that the start of the clock is there for whoever, under the
/// lock, asks how much of it has run. A search that sees the ponderhit before
/// the new start of the clock reads it only after the lock is free.
#[derive(Debug)]
pub struct Signals {
    stop: AtomicBool,
    pondering: AtomicBool,
    /// When the clock began to run for us: the start, or the ponderhit.
    clock_start: Mutex<Instant>,
    changed: Condvar,
}

impl Default for Signals {
    /// For what starts now, on one's own time.
    fn default() -> Signals {
        Signals::new(false)
    }
}

impl Signals {
    /// Fresh signals for a search that starts now.
    #[must_use]
    pub fn new(ponder: bool) -> Signals {
        Signals {
            stop: AtomicBool::new(false),
            pondering: AtomicBool::new(ponder),
            clock_start: Mutex::new(Instant::now()),
            changed: Condvar::new(),
        }
    }

    /// Ends the search as soon as possible.
    pub fn stop(&self) {
        let guard = lock(&self.clock_start);
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
        drop(guard);
    }

    /// The opponent played the expected move: the clock starts now.
    pub fn ponder_hit(&self) {
        let mut start = lock(&self.clock_start);
        if self.pondering.swap(false, Ordering::Relaxed) {
            *start = Instant::now();
        }
        self.changed.notify_all();
    }

    /// Has the search been told to stop?
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Is the search on the opponent's time?
    #[must_use]
    pub fn is_pondering(&self) -> bool {
        self.pondering.load(Ordering::Relaxed)
    }

    /// Time since the clock began to run for us.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        lock(&self.clock_start).elapsed()
    }

    /// Sleeps until told to stop, or, unless `infinite`, until the ponderhit.
    pub fn wait(&self, infinite: bool) {
        let mut guard = lock(&self.clock_start);
        while !self.is_stopped() && (infinite || self.is_pondering()) {
            guard = unpoisoned(self.changed.wait(guard));
        }
    }

    /// Sleeps until told to stop, or until the clock has run for `time`.
    pub fn wait_until(&self, time: Duration) {
        let mut guard = lock(&self.clock_start);
        while !self.is_stopped() && guard.elapsed() < time {
            let rest = time.saturating_sub(guard.elapsed());
            let waited = self.changed.wait_timeout(guard, rest);
            guard = unpoisoned(waited).0;
        }
    }
}

/// Options that may change while a search runs.
#[derive(Debug)]
pub struct LiveOptions {
    /// Root lines to report, from 1.
    pub multi_pv: AtomicUsize,
    /// Report winning chances with every score.
    pub show_wdl: AtomicBool,
    /// Report the line being searched, now and then.
    pub show_current_line: AtomicBool,
    /// Report after every iteration what is wrong with the other moves.
    pub show_refutations: AtomicBool,
    /// Report no more than the last lines of a search.
    pub minimal: AtomicBool,
    /// Say in a sentence what the best move does.
    pub explain: AtomicBool,
    /// Tell people what is going on.
    pub debug: AtomicBool,
}

impl LiveOptions {
    /// One line, and nothing beside it.
    #[must_use]
    pub const fn new() -> LiveOptions {
        LiveOptions {
            multi_pv: AtomicUsize::new(1),
            show_wdl: AtomicBool::new(false),
            show_current_line: AtomicBool::new(false),
            show_refutations: AtomicBool::new(false),
            minimal: AtomicBool::new(false),
            explain: AtomicBool::new(false),
            debug: AtomicBool::new(false),
        }
    }
}

impl Default for LiveOptions {
    fn default() -> LiveOptions {
        LiveOptions::new()
    }
}

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

/// There is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryError {
    /// For a table of this size.
    Hash {
        /// The size asked for, in MiB.
        mib: usize,
        /// The size there is, in MiB; 0 if there is no table.
        kept: usize,
    },
    /// For so many threads.
    Threads {
        /// The number asked for.
        threads: usize,
    },
    /// For so many engines at once.
    Engines {
        /// The number asked for.
        engines: usize,
        /// The size of the table of each, in MiB.
        mib: usize,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Hash { mib, kept } => {
                write!(f, "not enough memory for a hash table of {mib} MiB")?;
                if *kept > 0 { write!(f, ": it has {kept} MiB, empty") } else { Ok(()) }
            }
            MemoryError::Threads { threads } => {
                write!(f, "not enough memory for {threads} search threads")
            }
            MemoryError::Engines { engines, mib } => {
                write!(
                    f,
                    "not enough memory for {engines} engines, each with a hash table of {mib} MiB"
                )
            }
        }
    }
}

impl std::error::Error for MemoryError {}

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

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Whoever waits is woken, whichever comes first (see `tt::tests` for Miri).
    #[test]
    fn no_signal_is_lost() {
        const ROUNDS: usize = if cfg!(miri) { 10 } else { 2000 };
        for round in 0..ROUNDS {
            let infinite = round % 2 == 0;
            let created = Instant::now();
            let signals = Signals::new(true);
            thread::scope(|scope| {
                let waiter = scope.spawn(|| {
                    signals.wait(infinite);
                    (signals.is_stopped(), signals.is_pondering())
                });
                for _ in 0..round % 7 {
                    thread::yield_now();
                }
                let before = signals.elapsed();
                signals.ponder_hit();
                if infinite {
                    signals.stop();
                }
                let (stopped, pondering) = waiter.join().unwrap();
                assert!(!pondering && (stopped || !infinite));
                // What ran before the hit does not count.
                assert!(signals.elapsed() + before <= created.elapsed());
            });
        }
    }

    #[test]
    fn a_stop_ends_every_wait() {
        for infinite in [false, true] {
            let signals = Signals::new(true);
            thread::scope(|scope| {
                scope.spawn(|| signals.wait(infinite));
                scope.spawn(|| signals.wait_until(Duration::from_hours(1)));
                signals.stop();
            });
            assert!(signals.is_stopped() && signals.is_pondering());
        }
    }
}
