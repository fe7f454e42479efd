//! The engine: owns the table and the search threads, runs one search at a
//! time. Knows no text: `uci` and `tools` speak to people.

use std::{sync::Arc, time::Duration};

use crate::{
    position::Game,
    report::{Bound, Info, Limits, LiveOptions, Outcome, Reporter, Signals},
};

/// One search to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// The position and the game before it.
    pub game: Game,
    /// When to end.
    pub limits: Limits,
    /// How to be stopped.
    pub signals: Arc<Signals>,
}

impl Job {
    /// A job with fresh signals.
    #[must_use]
    pub fn new(game: Game, limits: Limits) -> Job {
        let signals = Arc::new(Signals::new(limits.ponder));
        Job { game, limits, signals }
    }
}

/// How the root looks for the score of an iteration (UCI option `Root Search`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootSearch {
    /// A window around the last score, widened gradually.
    #[default]
    Aspiration,
    /// The full window, always.
    FullWindow,
    /// Binary search with null windows.
    Bisection,
    /// Null windows at the last returned score.
    MtdF,
}

/// Table sizes in MiB that [`Engine::set_hash`] accepts.
pub const HASH_RANGE: std::ops::RangeInclusive<usize> = 1..=1 << 20;
/// Thread counts that [`Engine::set_threads`] accepts.
pub const THREADS_RANGE: std::ops::RangeInclusive<usize> = 1..=1024;

/// The settings that hold over searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Table size in MiB.
    pub hash: usize,
    /// Search threads.
    pub threads: usize,
    /// Kept back from every clock for transmission.
    pub move_overhead: Duration,
    /// The root driver.
    pub root_search: RootSearch,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            hash: 16,
            threads: 1,
            move_overhead: Duration::from_millis(10),
            root_search: RootSearch::default(),
        }
    }
}

/// Table, search threads and settings.
#[derive(Debug)]
pub struct Engine {
    settings: Settings,
    live: Arc<LiveOptions>,
}

impl Engine {
    /// An engine with empty tables.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table.
    pub fn new(settings: Settings) -> Result<Engine, HashError> {
        Ok(Engine { settings, live: Arc::default() })
    }

    /// The current settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Options that may be changed during a search, from any thread.
    #[must_use]
    pub fn live(&self) -> Arc<LiveOptions> {
        Arc::clone(&self.live)
    }

    /// Resizes the table to `mib` MiB; its contents are lost.
    ///
    /// # Errors
    ///
    /// If there is not enough memory; the old table then stays.
    pub fn set_hash(&mut self, mib: usize) -> Result<(), HashError> {
        self.settings.hash = mib;
        Ok(())
    }

    /// Changes the number of search threads.
    pub fn set_threads(&mut self, threads: usize) {
        self.settings.threads = threads;
    }

    /// Changes the time kept back from every clock.
    pub fn set_move_overhead(&mut self, overhead: Duration) {
        self.settings.move_overhead = overhead;
    }

    /// Changes the root driver.
    pub fn set_root_search(&mut self, root_search: RootSearch) {
        self.settings.root_search = root_search;
    }

    /// Forgets the transposition table only.
    pub fn clear_hash(&mut self) {}

    /// Forgets everything: a new game begins.
    pub fn new_game(&mut self) {
        self.clear_hash();
    }

    /// Searches until a limit is reached or the job is stopped. Runs on the
    /// calling thread (and more, if so set); it needs about 4 MiB of stack.
    pub fn go(&mut self, job: &Job, _reporter: &dyn Reporter) -> Outcome {
        let moves = job.game.position().legal_moves();
        let info = Info {
            depth: 0,
            seldepth: 0,
            multipv: 1,
            score: 0,
            bound: Bound::Exact,
            nodes: 0,
            hashfull: 0,
            tbhits: 0,
            time: Duration::ZERO,
            pv: moves.first().copied().into_iter().collect(),
        };
        Outcome { best: moves.first().copied(), ponder: None, info }
    }
}

/// There is not enough memory for a table of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashError {
    /// The size asked for, in MiB.
    pub mib: usize,
}

impl std::fmt::Display for HashError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not enough memory for a hash table of {} MiB", self.mib)
    }
}

impl std::error::Error for HashError {}
