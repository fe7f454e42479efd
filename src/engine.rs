//! The engine: owns the transposition table and the search threads, and runs one search at a time.
//! It handles no text; `uci` and `tools` do.

use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use shakmaty::{Color, Move, Position as _};
use shakmaty_syzygy::Wdl;

use crate::{
    chess::{
        movegen::Generator,
        position::{Game, Position},
        score::{DRAW, MATE, Score},
    },
    eval::{self, Evaluator, nnue::Network},
    play::{
        book::Book,
        clock::{Budget, Lag},
        limits::{Limits, LiveOptions},
        report::{Info, Note, Outcome, Reporter},
        signals::Signals,
        strength::{self, Handicap},
        syzygy::{self, Confirming, Prober, Tablebases},
    },
    search::{
        self, Memory, Shared,
        root::SearchResult,
        tt::{Table, file::LoadError},
    },
    system::{memory, pages, random::mix},
};

pub mod threads;

pub use crate::{play::memory::MemoryError, search::RootSearch};
pub use threads::STACK_SIZE;

/// Memory of a search thread, in bytes: histories, PV table, accumulators and the used part of its
/// stack.
const THREAD_MEMORY: usize = 6 << 20;

/// Minimum hard limit of a search with more than one thread. With less time, the first thread
/// searches alone: on a busy machine, waiting for the others can take longer than the remaining
/// time. Before this rule, 8 of 24 games with 2 threads at 0.5 s + 0.005 s were lost on time, by 1
/// to 3 ms each (2 cores, on which two other processes ran).
const SHARED_FROM: Duration = Duration::from_millis(60);

/// Nodes that a `go mate` without any other limit may search, per move of the mate: `go mate 3` may
/// search three times as many. Ten million nodes take several seconds.
const MATE_NODES: u64 = 10_000_000;

/// A search to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The position and the game before it.
    pub game: Game,
    /// The limits of the search.
    pub limits: Limits,
    /// The signals sent to the search while it runs: stop and ponderhit.
    pub signals: Arc<Signals>,
}

impl Job {
    /// Returns a job with new signals.
    pub fn new(game: Game, limits: Limits) -> Job {
        let signals = Arc::new(Signals::new(limits.ponder));
        Job { game, limits, signals }
    }
}

/// The range of the UCI option Hash, in MiB.
pub(crate) const HASH_RANGE: std::ops::RangeInclusive<usize> = 1..=1 << 20;
/// The range of the UCI option Threads.
pub(crate) const THREADS_RANGE: std::ops::RangeInclusive<usize> = 1..=1024;
/// The range of search depths, in plies.
pub(crate) const DEPTH_RANGE: std::ops::RangeInclusive<u32> = 1..=search::MAX_PLY as u32 - 1;

/// The default and maximum of the UCI option BookDepth, in moves.
pub(crate) const BOOK_DEPTH: u32 = 255;

/// The settings that are kept between searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Table size, in MiB.
    pub hash: usize,
    /// Number of search threads.
    pub threads: usize,
    /// Time subtracted from the remaining time before each move is planned, for delays between the
    /// engine and the GUI.
    pub move_overhead: Duration,
    /// Number of nodes that count as one millisecond of thinking time; 0 measures real time.
    pub nodestime: u64,
    /// Whether the GUI may let the engine think on the opponent's time.
    pub ponder: bool,
    /// The search algorithm at the root.
    pub root_search: RootSearch,
    /// Whether to play like a person rated `elo`.
    pub limit_strength: bool,
    /// The rating, within [`strength::ELO_RANGE`].
    pub elo: u32,
    /// The skill level, within [`strength::SKILL_RANGE`]. It applies unless `limit_strength` is on.
    pub skill_level: u32,
    /// Whether to keep the table between games and to ignore Clear Hash. A change of the strength,
    /// the network, the fifty-move rule or the table size still clears it. So does a new game at
    /// limited strength.
    pub never_clear_hash: bool,
    /// Whether to play from the opening book, if there is one.
    pub own_book: bool,
    /// Last move number at which a move may come from the book.
    pub book_depth: u32,
    /// The conditions for tablebase probes.
    pub syzygy: syzygy::ProbeOptions,
    /// Whether the search is selective: pruning, reductions, extensions and quiescence search. Off
    /// only for tests, where the search is plain full-width alpha-beta.
    pub selective: bool,
    /// Whether static evaluations leave out the optimism and the damping by the halfmove clock. On
    /// only in self-play, where scores become labels.
    pub neutral: bool,
}

impl Settings {
    /// Returns the rating to play at; `None` at full strength.
    const fn rating(&self) -> Option<u32> {
        if self.limit_strength { Some(self.elo) } else { strength::skill_rating(self.skill_level) }
    }

    /// Checks that there is enough memory for this number of engines with these settings at the
    /// same time. Allocating the tables would not show a shortage, because the system provides the
    /// memory only when it is first used.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn check_memory(&self, engines: usize) -> Result<(), MemoryError> {
        let Settings { hash: mib, threads, .. } = *self;
        let each = mib.saturating_mul(1 << 20).saturating_add(threads * THREAD_MEMORY);
        let too_many = |free| engines.saturating_mul(each) as u64 > free;
        // The memory for a single table is checked when it is allocated.
        if engines > 1 && memory::available().is_some_and(too_many) {
            return Err(MemoryError::Engines { engines, mib });
        }
        Ok(())
    }
}

impl Default for Settings {
    /// Returns the settings of a new engine.
    fn default() -> Settings {
        Settings {
            hash: 16,
            threads: 1,
            move_overhead: Duration::from_millis(10),
            nodestime: 0,
            ponder: false,
            root_search: RootSearch::Aspiration,
            limit_strength: false,
            elo: strength::DEFAULT_ELO,
            skill_level: *strength::SKILL_RANGE.end(),
            never_clear_hash: false,
            own_book: false,
            book_depth: BOOK_DEPTH,
            syzygy: syzygy::ProbeOptions::default(),
            selective: true,
            neutral: false,
        }
    }
}

/// A chess engine: table, search threads and settings.
///
/// ```
/// use lancet::{Engine, Game, Job, Limits, Settings, Silent, engine::threads};
///
/// let mut engine = Engine::new(Settings { hash: 64, ..Settings::default() })?;
/// let job = Job::new(Game::default(), Limits { depth: Some(6), ..Limits::default() });
/// // Allocates and clears the table, so that the search does not have to.
/// engine.prepare(&|| true)?;
/// let outcome = threads::run("search", || engine.go(&job, &Silent))?;
/// assert_eq!(outcome.info.depth, 6);
/// assert_eq!(outcome.best, outcome.info.pv.first().copied());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    settings: Settings,
    live: Arc<LiveOptions>,
    /// The seed for the errors of limited strength in this game.
    seed: u64,
    /// Remaining nodes of this game's clock, with `nodestime`.
    nodes_left: Option<u64>,
    /// The lag of this game's clock.
    lag: Lag,
    /// Move number, side to move and score of the last search on a clock, except searches that were
    /// stopped while pondering. `None` in a new game.
    last: Option<(u32, Color, Score)>,
    /// The player of limited strength whose results the table holds; `None` at full strength.
    player: Option<Handicap>,
    table: Table,
    /// The network that evaluates; without one, material and piece-square tables.
    network: Option<Arc<Network>>,
    book: Option<Book>,
    /// The tablebases. The engines of one run share them.
    tablebases: Option<Arc<Tablebases>>,
    /// Working memory, one per thread.
    memories: Vec<Memory>,
}

impl Engine {
    /// Creates an engine with an empty table.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn new(settings: Settings) -> Result<Engine, MemoryError> {
        Engine::with_live(settings, Arc::default())
    }

    /// Creates an engine with an empty table and these live options.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub(crate) fn with_live(
        settings: Settings,
        live: Arc<LiveOptions>,
    ) -> Result<Engine, MemoryError> {
        let table =
            Table::new(settings.hash).ok_or(MemoryError::Hash { mib: settings.hash, kept: 0 })?;
        let mut engine = Engine {
            player: None,
            settings: settings.clone(),
            live,
            seed: rand::random(),
            nodes_left: None,
            lag: Lag::default(),
            last: None,
            table,
            network: Some(eval::default_network()),
            book: None,
            tablebases: None,
            memories: Vec::new(),
        };
        engine.configure(settings)?;
        engine.player = engine.weak_player();
        Ok(engine)
    }

    /// Returns the current settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the options that any thread may change during a search.
    pub fn live(&self) -> Arc<LiveOptions> {
        Arc::clone(&self.live)
    }

    /// Changes the settings. Clears the table if the strength or the fifty-move rule changes, the
    /// histories if the strength changes, and the remaining nodes of the clock if `nodestime`
    /// changes. The next [`Engine::prepare`] resizes and zeroes the table.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the search threads. The settings then stay the same.
    pub fn configure(&mut self, settings: Settings) -> Result<(), MemoryError> {
        self.set_threads(settings.threads)?;
        let (threads, hash) = (self.memories.len(), settings.hash.max(1));
        let settings = Settings { threads, hash, ..settings };
        let old = std::mem::replace(&mut self.settings, settings);
        let Settings { syzygy, nodestime, .. } = self.settings;
        if old.rating() != self.settings.rating() {
            self.change_player(self.weak_player());
        }
        if old.syzygy.fifty_moves != syzygy.fifty_moves {
            self.table.forget();
        }
        if old.nodestime != nodestime {
            self.nodes_left = None;
        }
        Ok(())
    }

    /// Returns whether the table has the size of the settings. If not, [`Engine::prepare`] will
    /// resize it.
    pub(crate) fn has_wanted_size(&self) -> bool {
        self.table.mib() == self.settings.hash
    }

    /// Resizes the table if necessary, allocates its memory, and clears it if its contents are no
    /// longer valid, for example in a new game. It uses as many threads as a search. [`Engine::go`]
    /// also does this work, but then it costs time on the clock. `go_on` is called many times a
    /// second. If it returns false, the work stops, and the next call of this function continues
    /// it.
    ///
    /// # Errors
    ///
    /// If there is not enough memory. The table is then empty. It keeps its old size if that can
    /// still be allocated, and has 1 MiB otherwise. (If not even 1 MiB can be allocated, the old
    /// table stays as it was.)
    pub fn prepare(&mut self, go_on: &(dyn Fn() -> bool + Sync)) -> Result<(), MemoryError> {
        let resized = if self.has_wanted_size() { Ok(()) } else { self.resize() };
        self.table.clear(self.settings.threads, go_on);
        resized
    }

    /// Resizes the table. The old table is freed first because there may not be enough memory for
    /// both.
    fn resize(&mut self) -> Result<(), MemoryError> {
        let (old, mib) = (self.table.mib(), self.settings.hash);
        if let Some(smallest) = Table::new(1) {
            self.table = smallest;
            if let Some(table) = Table::new(mib).or_else(|| Table::new(old)) {
                self.table = table;
            }
        }
        let kept = self.table.mib();
        self.settings.hash = kept;
        if kept == mib { Ok(()) } else { Err(MemoryError::Hash { mib, kept }) }
    }

    /// Saves the table to a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, if it exists and is not a saved table, or if there is not
    /// enough memory. An existing file then stays unchanged.
    pub fn save_hash(&mut self, path: &Path) -> io::Result<()> {
        self.prepare(&|| true).map_err(io::Error::other)?;
        self.table.save(path, self.fingerprint())
    }

    /// Replaces the table with a saved one, and sets the table size to that of the saved one.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is damaged, if its format version differs, if it was saved
    /// with another evaluation (network, fifty-move rule or player of limited strength), or if
    /// there is not enough memory. The old table is then kept.
    pub fn load_hash(&mut self, path: &Path) -> Result<(), LoadError> {
        self.table = Table::load(path, self.fingerprint())?;
        self.settings.hash = self.table.mib();
        Ok(())
    }

    /// Returns a hash of the settings that a saved table must share with the engine that loads it:
    /// the network (0 for material and piece-square tables), the fifty-move rule and, at limited
    /// strength, the player.
    fn fingerprint(&self) -> u64 {
        let mut hash = self.network.as_deref().map_or(0, Network::hash);
        if !self.settings.syzygy.fifty_moves {
            hash = mix(hash);
        }
        self.player.map_or(hash, |player| mix(hash ^ player.fingerprint()))
    }

    /// Allocates the working memory of this number of search threads, at least one.
    ///
    /// # Errors
    ///
    /// If there is not enough memory. The number of threads then stays the same.
    fn set_threads(&mut self, threads: usize) -> Result<(), MemoryError> {
        let threads = threads.max(1);
        let new = threads.saturating_sub(self.memories.len());
        let bytes = new * THREAD_MEMORY;
        let too_many = |free| bytes as u64 > free;
        if !pages::is_available(bytes) || (new > 1 && memory::available().is_some_and(too_many)) {
            return Err(MemoryError::Threads { threads });
        }
        let network = &self.network;
        self.memories.resize_with(threads, || Memory::new(network.clone()));
        Ok(())
    }

    /// Returns the network in use, if there is one.
    pub const fn network(&self) -> Option<&Arc<Network>> {
        self.network.as_ref()
    }

    /// Sets the network; without one, the engine evaluates by material and piece-square tables. If
    /// the network differs, the table and the histories are cleared, because they hold evaluations
    /// and corrections of the old one.
    pub fn set_network(&mut self, network: Option<Arc<Network>>) {
        let hash = |network: &Option<Arc<Network>>| network.as_deref().map(Network::hash);
        if hash(&network) == hash(&self.network) {
            return;
        }
        for memory in &mut self.memories {
            memory.evaluator = Evaluator::new(network.clone());
        }
        self.network = network;
        self.clear_histories();
        self.table.forget();
    }

    /// Sets the opening book. It is used while `own_book` is on.
    pub(crate) fn set_book(&mut self, book: Option<Book>) {
        self.book = book;
    }

    /// Sets the tablebases.
    pub fn set_tablebases(&mut self, tablebases: Option<Arc<Tablebases>>) {
        self.tablebases = tablebases;
    }

    /// Sets the seed for the errors of limited strength. [`Engine::new_game`] sets a random one.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
        if self.player.is_some() {
            self.change_player(self.weak_player());
        }
    }

    /// Changes the player. A change clears the table and the histories, so that no player sees
    /// another's results.
    fn change_player(&mut self, player: Option<Handicap>) {
        if std::mem::replace(&mut self.player, player) != player {
            self.clear_hash();
        }
    }

    /// Returns the player of limited strength that the settings ask for.
    fn weak_player(&self) -> Option<Handicap> {
        self.settings.rating().map(|rating| Handicap::new(rating, self.seed))
    }

    /// Clears the table and the histories, even with `never_clear_hash`, so that earlier searches
    /// no longer influence the next one. The clock's statistics and the seed are kept.
    pub(crate) fn clear_hash(&mut self) {
        self.table.forget();
        self.clear_histories();
    }

    /// Clears the histories and forgets the score of the last move. Zeroes the histories of the
    /// first thread and reallocates the others: zeroing those of a thousand threads would take
    /// seconds and delay the answer to `isready`.
    fn clear_histories(&mut self) {
        self.last = None;
        if let Some((first, helpers)) = self.memories.split_first_mut() {
            first.histories.clear();
            helpers.iter_mut().for_each(|helper| helper.histories.renew());
        }
    }

    /// Starts a new game. Clears the table, unless `never_clear_hash` is on, and everything else
    /// that belongs to a game. Limited strength gets a new seed, and its table is always cleared.
    pub fn new_game(&mut self) {
        if self.player.is_some() || !self.settings.never_clear_hash {
            self.table.forget();
        }
        self.seed = rand::random();
        self.player = self.player.and_then(|_| self.weak_player());
        self.nodes_left = None;
        self.lag = Lag::default();
        self.clear_histories();
    }

    /// Searches until a limit is reached or the job is stopped. The search runs on the calling
    /// thread, which needs a stack of [`STACK_SIZE`], and on the helper threads.
    pub fn go(&mut self, job: &Job, reporter: &dyn Reporter) -> Outcome {
        let start = Instant::now();
        let terms = self.terms(job);
        self.make_ready(job, &terms, reporter);
        let root_moves = search::root::moves(job.game.position(), &terms.limits.searchmoves);
        let known = if root_moves.is_empty() {
            Some(no_moves(job.game.position()))
        } else {
            self.book_move(job)
        };
        if let Some(outcome) = known {
            reporter.info(&outcome.info);
            job.signals.wait(job.limits.infinite);
            reporter.decided(&outcome);
            return outcome;
        }
        let (outcome, took) = self.search(job, terms, root_moves, reporter, start);
        if let Some(clock) = job.limits.clock {
            let spent = outcome.info.nodes;
            self.nodes_left = self.nodes_left.map(|left| left.saturating_sub(spent));
            if !job.signals.is_pondering() {
                self.lag.moved(clock, took);
                let (number, turn) = turn(job.game.position());
                self.last = Some((number, turn, outcome.info.score));
            }
        }
        outcome
    }

    /// Determines the strength, the limits and the time for a search.
    fn terms(&mut self, Job { game, limits, .. }: &Job) -> Terms {
        // Analysis runs at full strength.
        let player = self.weak_player().filter(|_| !limits.analyse && !limits.infinite);
        let handicap = player.map(|player| player.in_ending(game));
        let limit = |handicap: Handicap| handicap.limit(limits, game);
        let mut limits = handicap.map_or_else(|| limits.clone(), limit);
        if let Some(clock) = limits.clock {
            self.lag.see(clock, self.last_score(game.position()).is_some());
        }
        self.count_clock_in_nodes(&mut limits);
        if let Limits {
            mate: Some(moves),
            depth: None,
            nodes: None,
            soft_nodes: None,
            clock: None,
            movetime: None,
            infinite: false,
            ..
        } = limits
        {
            limits.nodes = Some(MATE_NODES * u64::from(moves));
        }
        let budget = if limits.infinite { None } else { self.budget(&limits) };
        Terms { handicap, budget, limits }
    }

    /// With `nodestime`, replaces the time on the clock with the time that the remaining nodes
    /// represent. The clock at the first move of a game gives their number. After that the engine
    /// subtracts the nodes that it searches and adds those of the increment, because the GUI's
    /// clock measures real time.
    fn count_clock_in_nodes(&mut self, limits: &mut Limits) {
        let (rate, Some(clock)) = (self.settings.nodestime, &mut limits.clock) else { return };
        let nodes = |time: Duration| rate.saturating_mul(time.as_millis() as u64);
        let left = match self.nodes_left {
            None => nodes(clock.time),
            Some(left) => left.saturating_add(nodes(clock.increment)),
        };
        if let Some(millis) = left.checked_div(rate) {
            self.nodes_left = Some(left);
            clock.time = Duration::from_millis(millis);
        }
    }

    /// Prepares the table for this search, within a part of the time for the move.
    fn make_ready(&mut self, job: &Job, terms: &Terms, reporter: &dyn Reporter) {
        self.change_player(terms.handicap);
        // With `nodestime`, the time spent on preparing the table does not count.
        let budget = terms.budget.filter(|_| self.settings.nodestime == 0);
        if let Err(error) = self.prepare(&|| is_there_time(job, budget)) {
            reporter.note(&Note::Memory(error));
        }
        self.table.new_search();
    }

    /// Probes the tablebases at the root, searches on all threads and chooses the move. Returns the
    /// outcome, and how long the clock had run when it was reported.
    fn search(
        &mut self,
        job: &Job,
        terms: Terms,
        mut root_moves: Vec<search::RootMove>,
        reporter: &dyn Reporter,
        start: Instant,
    ) -> (Outcome, Duration) {
        // Limited strength uses no tablebases.
        let tablebases = self.tablebases.as_deref().filter(|_| terms.handicap.is_none());
        let (game, settings) = (&job.game, &self.settings);
        let prober = tablebases.map(|tables| Prober::new(tables, settings.syzygy));
        let in_tree =
            prober.filter(|prober| ask_tablebases(prober, game, &mut root_moves, reporter));
        let values: Vec<(Move, Wdl)> =
            root_moves.iter().filter_map(|rm| Some((rm.m, rm.known?.value))).collect();
        let known = values.len();
        let confirming = prober.map(|prober| Confirming { prober, game, values, reporter });
        reporter.note(&Note::Plan {
            soft: terms.budget.and_then(|budget| budget.soft),
            hard: terms.budget.map(|budget| budget.hard),
            known,
            moves: root_moves.len(),
        });

        let threads = terms.threads(self.memories.len());
        let shared = Shared {
            table: &self.table,
            limits: &terms.limits,
            budget: terms.budget,
            last_score: self.last_score(game.position()).filter(|_| terms.handicap.is_none()),
            nodes_per_ms: settings.nodestime,
            signals: &job.signals,
            root_moves,
            handicap: terms.handicap,
            prober: in_tree,
            confirming,
            tbhits: AtomicU64::new(known as u64),
            live: &self.live,
            reporter,
            root_search: settings.root_search,
            selective: settings.selective,
            neutral: settings.neutral,
            done: AtomicBool::new(false),
            nodes: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            lines: (0..threads).map(|_| Mutex::default()).collect(),
            start,
        };
        threads::search(&shared, &mut self.memories[..threads], game, |results| {
            let time = start.elapsed();
            wait_to_answer(&shared, &results[0], job);
            let outcome = conclude(&shared, results, time, game.position());
            reporter.decided(&outcome);
            (outcome, job.signals.elapsed())
        })
    }

    /// Returns the score of the same side's previous move, if it was searched on a clock.
    fn last_score(&self, position: &Position) -> Option<Score> {
        let (number, turn) = turn(position);
        let follows =
            |&(before, side, _): &(u32, Color, Score)| before + 1 == number && side == turn;
        self.last.filter(follows).map(|(_, _, score)| score)
    }

    /// Returns a move from the book, if there is one. Infinite searches, analysis, `go mate` and
    /// searches of given moves do not use the book.
    fn book_move(&mut self, job: &Job) -> Option<Outcome> {
        let Settings { own_book, book_depth, .. } = self.settings;
        let limits = &job.limits;
        let game = !limits.infinite
            && !limits.analyse
            && limits.mate.is_none()
            && limits.searchmoves.is_empty();
        let root = job.game.position();
        if !own_book || !game || u32::from(root.chess().fullmoves()) > book_depth {
            return None;
        }
        let book = self.book.as_ref()?;
        let m = book.choose(root, &mut rand::rng())?;
        let ponder = book.best(&root.play(m));
        let info = Info {
            depth: 1,
            seldepth: 1,
            score: self.memories.first_mut()?.evaluator.evaluate(root, 0),
            pv: std::iter::once(m).chain(ponder).collect(),
            ..Info::EMPTY
        };
        Some(Outcome { best: Some(m), ponder, info })
    }

    fn budget(&self, limits: &Limits) -> Option<Budget> {
        let overhead = self.settings.move_overhead;
        // With `nodestime` there is no lag.
        let lag = if self.settings.nodestime == 0 { self.lag.kept() } else { Duration::ZERO };
        let clock = limits.clock.map(|clock| {
            let budget = Budget::new(clock, overhead + lag);
            if self.settings.ponder { budget.with_pondering() } else { budget }
        });
        let exact = limits.movetime.map(|time| Budget::exact(time, overhead));
        [clock, exact].into_iter().flatten().reduce(Budget::min)
    }
}

/// Returns the number of the next move and the side that makes it.
fn turn(position: &Position) -> (u32, Color) {
    (position.chess().fullmoves().into(), position.turn())
}

/// The conditions of a search.
struct Terms {
    /// The handicap of limited strength, if it applies.
    handicap: Option<Handicap>,
    budget: Option<Budget>,
    /// The limits of the job, tightened by those of limited strength.
    limits: Limits,
}

impl Terms {
    /// Returns the number of threads to search with, at most `most`.
    fn threads(&self, most: usize) -> usize {
        let hurry = self.budget.is_some_and(|budget| budget.hard < SHARED_FROM);
        if hurry || self.handicap.is_some() { 1 } else { most }
    }
}

/// Returns whether the preparation of the table may continue. It may take a quarter of the planned
/// time for the move. This matters if the GUI has not sent `isready` before, or if `make_ready` has
/// just cleared the table because the player changed.
fn is_there_time(job: &Job, budget: Option<Budget>) -> bool {
    let signals = &job.signals;
    let plan = |budget: Budget| budget.soft.unwrap_or(budget.hard);
    let in_time = budget.is_none_or(|budget| signals.elapsed() < plan(budget) / 4);
    !signals.is_stopped() && (in_time || signals.is_pondering())
}

/// Ranks the root moves by the tablebases. Returns whether the search may also probe the tablebases
/// in the tree.
///
/// It may not if DTZ tables have ranked the root moves, or if the best move draws. In both cases,
/// the search looks for mates, or for the draw that is hardest to hold for the opponent.
fn ask_tablebases(
    prober: &Prober,
    game: &Game,
    root_moves: &mut [search::RootMove],
    reporter: &dyn Reporter,
) -> bool {
    let moves: Vec<Move> = root_moves.iter().map(|rm| rm.m).collect();
    let Some(ranking) = prober.rank_moves(game, &moves, reporter) else { return true };
    for (rm, &known) in root_moves.iter_mut().zip(&ranking.known) {
        rm.known = Some(known);
    }
    let best = ranking.known.iter().map(|known| known.value).max();
    let drawn = best.is_some_and(|value| syzygy::drawn_score(value).is_some());
    !drawn && !ranking.distances
}

/// Waits until the best move may be sent: until `stop` or `ponderhit` if the search requires it,
/// and at limited strength until the simulated player has thought long enough.
fn wait_to_answer(shared: &Shared, first: &SearchResult, job: &Job) {
    job.signals.wait(job.limits.infinite);
    if let (Some(handicap), Some(budget)) = (shared.handicap, shared.budget)
        && job.game.position().legal_moves().len() > 1
        && shared.nodes_per_ms == 0
    {
        let (m, stability) = (first.moves[0].m, &first.stability);
        job.signals.wait_until(handicap.thinking_time(budget, &job.game, m, stability));
    }
}

/// Chooses the move to play and the move to ponder on from the results of the threads. `time` is
/// the duration of the search. The last line reported at rank 1 is that of the move to play.
fn conclude(shared: &Shared, results: &[SearchResult], time: Duration, root: &Position) -> Outcome {
    // The first thread decides with MultiPV, or if it has found the mate that `go mate` wants.
    let first = shared.live.multi_pv.load(Ordering::Relaxed) > 1
        || shared.limits.is_wanted_mate(results[0].moves[0].score);
    let chosen = if first { 0 } else { threads::vote(results) };
    let mut info = Info {
        nodes: shared.total_nodes(),
        hashfull: shared.table.hashfull(),
        tbhits: shared.tbhits.load(Ordering::Relaxed),
        time,
        ..results[chosen].info()
    };
    if let Some(confirming) = &shared.confirming {
        confirming.confirm(&mut info);
    }
    if chosen != 0 {
        // The helper may have completed fewer iterations than were reported.
        info.depth = info.depth.max(results[0].reported);
        shared.reporter.info(&info);
    }
    if let Some(moves) = shared.limits.mate
        && !shared.limits.is_wanted_mate(info.score)
    {
        let proved = results.iter().any(|result| result.no_mate);
        shared.reporter.note(&Note::NoMate { moves, proved });
    }
    let depths: Vec<u32> = results.iter().map(|result| result.depth).collect();
    let thread = results[chosen].thread;
    shared.reporter.note(&Note::Decision { thread, depths: &depths });
    let best = info.pv.first().copied();
    let ponder = info.pv.get(1).copied().or_else(|| expected_reply(shared.table, root, best?));
    Outcome { best, ponder, info }
}

/// Returns the best reply to `m` in the table, to ponder on.
fn expected_reply(table: &Table, root: &Position, m: Move) -> Option<Move> {
    let child = root.play(m);
    let entry = table.probe(search::table_key(&child))?;
    Generator::new(&child).find(entry.best)
}

/// Returns the outcome for a position without legal moves: mate or stalemate.
fn no_moves(root: &Position) -> Outcome {
    let drawn = !root.is_check();
    let score = if drawn { DRAW } else { -MATE };
    Outcome { best: None, ponder: None, info: Info { score, drawn, ..Info::EMPTY } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        play::{limits::Clock, report::Silent},
        system::sync::lock,
    };

    /// Records the notes in their debug form.
    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Reporter for Notes {
        fn note(&self, note: &Note) {
            lock(&self.0).push(format!("{note:?}"));
        }
    }

    #[test]
    fn only_the_same_sides_previous_move_is_remembered() {
        let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
        let second = Duration::from_secs(1);
        let clock = Clock { time: second, increment: second, moves_to_go: None };
        let go = |engine: &mut Engine, game: &Game, clock| {
            let limits = Limits { depth: Some(2), clock, ..Limits::default() };
            engine.go(&Job::new(game.clone(), limits), &Silent).info.score
        };
        let after = |moves: usize| {
            let mut game = Game::default();
            for _ in 0..moves {
                game.play(game.position().legal_moves()[0]);
            }
            game
        };
        let score = go(&mut engine, &after(0), Some(clock));
        let known = |engine: &Engine, moves| engine.last_score(after(moves).position());
        assert_eq!(
            [0, 1, 2, 3, 4].map(|moves| known(&engine, moves)),
            [None, None, Some(score), None, None]
        );
        // Searches without a clock are not moves of the game.
        go(&mut engine, &after(3), None);
        assert_eq!(known(&engine, 2), Some(score));
        engine.new_game();
        assert_eq!(known(&engine, 2), None);
    }

    #[test]
    fn plan_and_decision_are_told_without_text() {
        let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
        let notes = Notes::default();
        let limits = Limits { depth: Some(3), ..Limits::default() };
        let outcome = engine.go(&Job::new(Game::default(), limits), &notes);
        assert!(outcome.best.is_some());
        let told = [
            "Plan { soft: None, hard: None, known: 0, moves: 20 }",
            "Decision { thread: 0, depths: [3] }",
        ];
        assert_eq!(*lock(&notes.0), told);
    }

    /// A finished game is not searched, so no plan is reported.
    #[test]
    fn finished_games_are_not_searched() {
        let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
        for (fen, score) in
            [("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", -MATE), ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", DRAW)]
        {
            let game = Game::from(Position::from_fen(fen).unwrap());
            let notes = Notes::default();
            let outcome = engine.go(&Job::new(game, Limits::default()), &notes);
            assert_eq!((outcome.best, outcome.info.score), (None, score));
            assert!(lock(&notes.0).is_empty());
        }
    }

    #[test]
    fn settings_shape_the_plan() {
        let time = Duration::from_secs(60);
        let clock = Clock { time, increment: Duration::ZERO, moves_to_go: None };
        let limits = Limits { clock: Some(clock), ..Limits::default() };
        let plan = |settings: Settings| {
            Engine::new(Settings { hash: 1, ..settings }).unwrap().budget(&limits).unwrap()
        };
        let usual = plan(Settings::default());
        let pondering = plan(Settings { ponder: true, ..Settings::default() });
        assert!(pondering.soft > usual.soft && pondering.hard == usual.hard, "{pondering:?}");
        let move_overhead = Duration::from_secs(1);
        let slow = plan(Settings { move_overhead, ..Settings::default() });
        assert!(slow.soft < usual.soft && slow.hard < usual.hard, "{slow:?}");
    }

    /// A changed setting clears only data that depends on it.
    #[test]
    fn new_settings_forget_what_depends_on_them() {
        let default = Settings { hash: 1, ..Settings::default() };
        let known = |settings: Settings| {
            let mut engine = Engine::new(default.clone()).unwrap();
            let limits = Limits { depth: Some(3), ..Limits::default() };
            engine.go(&Job::new(Game::default(), limits), &Silent);
            engine.nodes_left = Some(9);
            engine.configure(settings).unwrap();
            engine.prepare(&|| true).unwrap();
            let start = search::table_key(&Position::default());
            (engine.table.probe(start).is_some(), engine.nodes_left.is_some())
        };
        let syzygy = syzygy::ProbeOptions { fifty_moves: false, ..Default::default() };
        for (settings, expected) in [
            (default.clone(), (true, true)),
            (Settings { elo: 1000, ponder: true, threads: 2, ..default.clone() }, (true, true)),
            (Settings { limit_strength: true, ..default.clone() }, (false, true)),
            (Settings { skill_level: 19, ..default.clone() }, (false, true)),
            (Settings { syzygy, ..default.clone() }, (false, true)),
            (Settings { nodestime: 100, ..default.clone() }, (true, false)),
            (Settings { hash: 2, ..default.clone() }, (false, true)),
        ] {
            assert_eq!(known(settings.clone()), expected, "{settings:?}");
        }
    }

    /// When a weak player enters an ending that it knows, its searches with errors and its searches
    /// without them do not share results.
    #[test]
    fn weak_players_search_known_endings_afresh() {
        let settings = Settings { hash: 1, limit_strength: true, elo: 800, ..Settings::default() };
        let game = |fen| Game::from(Position::from_fen(fen).unwrap());
        let known = game("8/8/8/3k4/8/8/8/KQ6 w - - 0 1");
        let other = game("8/8/8/3k4/2p5/8/8/KQ6 b - - 0 1");
        let search = |engine: &mut Engine, game: &Game| {
            let Outcome { best, info, .. } =
                engine.go(&Job::new(game.clone(), Limits::default()), &Silent);
            (best, info.score, info.nodes)
        };
        for [first, second] in [[&other, &known], [&known, &other]] {
            let new = || {
                let mut engine = Engine::new(settings.clone()).unwrap();
                engine.set_seed(5);
                engine
            };
            let (mut engine, mut fresh) = (new(), new());
            search(&mut engine, first);
            assert_eq!(search(&mut engine, second), search(&mut fresh, second));
        }
    }

    /// The move to ponder on may come from the table, if it is legal.
    #[test]
    fn the_table_has_a_move_to_ponder_on() {
        let root = Position::default();
        let m = root.legal_moves()[0];
        let child = root.play(m);
        let reply = child.legal_moves()[3];
        let table = Table::new(1).unwrap();
        let reply_after = |best| {
            let entry = search::tt::Entry { best, ..search::tt::Entry::EMPTY };
            table.store(search::table_key(&child), entry);
            expected_reply(&table, &root, m)
        };
        assert_eq!(expected_reply(&table, &root, m), None);
        assert_eq!(reply_after(reply.into()), Some(reply));
        // The other side's move is illegal here.
        assert_eq!(reply_after(m.into()), None);
    }

    /// The lag of the last move is kept back from the next one's time.
    #[test]
    fn lag_shortens_the_plan() {
        let clock = |time| Clock {
            time: Duration::from_millis(time),
            increment: Duration::ZERO,
            moves_to_go: None,
        };
        let plan = |later, time| {
            let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
            let mut game = Game::default();
            let limits =
                |time, depth| Limits { clock: Some(clock(time)), depth, ..Limits::default() };
            engine.go(&Job::new(game.clone(), limits(60_000, Some(1))), &Silent);
            for _ in 0..later {
                game.play(game.position().legal_moves()[0]);
            }
            engine.terms(&Job::new(game, limits(time, None))).budget.unwrap().hard
        };
        // Only the same side's next clock tells how long its move took.
        assert!(plan(2, 59_600) < plan(1, 59_600));
        assert_eq!(plan(1, 59_600), plan(3, 59_600));
    }

    /// `go infinite` searches until `stop`, even with `movetime`.
    #[test]
    fn infinite_searches_have_no_budget() {
        let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
        let movetime = Some(Duration::from_secs(1));
        for infinite in [false, true] {
            let limits = Limits { infinite, movetime, ..Limits::default() };
            let terms = engine.terms(&Job::new(Game::default(), limits));
            assert_eq!(terms.budget.is_none(), infinite);
        }
    }

    /// The system would grant each engine its table, but there is not enough for all.
    #[test]
    fn the_memory_of_all_engines_counts() {
        let settings = |hash| Settings { hash, ..Settings::default() };
        assert_eq!(settings(1).check_memory(2), Ok(()));
        assert_eq!(settings(1 << 20).check_memory(1), Ok(()), "checked when it is allocated");
        for engines in [1 << 20, usize::MAX] {
            let error = settings(64).check_memory(engines).unwrap_err();
            assert_eq!(error, MemoryError::Engines { engines, mib: 64 });
        }
    }

    /// With little time and at limited strength only one thread searches.
    #[test]
    fn helpers_need_time() {
        let threads = |hard, weak: bool| {
            let handicap = weak.then(|| Handicap::new(1500, 1));
            let budget = Some(Budget { soft: None, hard: Duration::from_millis(hard) });
            Terms { handicap, budget, limits: Limits::default() }.threads(8)
        };
        assert_eq!([threads(59, false), threads(60, false), threads(60, true)], [1, 8, 1]);
    }
}
