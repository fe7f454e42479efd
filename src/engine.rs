//! The engine: owns the table and the search threads, runs one search at a
//! time. Knows no text: `uci` and `tools` speak to people.

use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use shakmaty::{Move, Position as _};

use crate::{
    chess::{
        movegen::Generator,
        position::{Game, Position},
        score::{DRAW, MATE},
    },
    eval::{self, Evaluator, nnue::Network},
    play::{
        book::Book,
        clock::{Budget, Lag},
        limits::{Limits, LiveOptions},
        report::{Bound, Info, Note, Outcome, Reporter},
        signals::Signals,
        strength::{self, Handicap},
        syzygy::{self, Confirming, Prober, Tablebases, Value},
    },
    search::{
        self, Memory, Shared,
        root::SearchResult,
        tt::{Entry, Table, file::LoadError},
    },
    system::{memory, pages, random::mix},
};

pub mod threads;

pub use crate::{play::memory::MemoryError, search::RootSearch};
pub use threads::STACK_SIZE;

/// What a search thread takes, in bytes: histories, lines, accumulators, the
/// touched part of its stack.
const THREAD_MEMORY: usize = 6 << 20;

/// With less time than this for a move the first thread searches alone: on a
/// busy machine waiting for the others can take longer than is left (8 of 24
/// games at 0.5+0.005 with 2 threads were lost by 1 to 3 ms, beside two other
/// processes on 2 cores).
const SHARED_FROM: Duration = Duration::from_millis(60);

/// Nodes after which `go mate` without another limit gives up, for every move of the
/// mate: some seconds.
const MATE_NODES: u64 = 10_000_000;

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
    pub fn new(game: Game, limits: Limits) -> Job {
        let signals = Arc::new(Signals::new(limits.ponder));
        Job { game, limits, signals }
    }
}

/// Table sizes in MiB that an engine can have.
pub(crate) const HASH_RANGE: std::ops::RangeInclusive<usize> = 1..=1 << 20;
/// Numbers of search threads that an engine can have.
pub(crate) const THREADS_RANGE: std::ops::RangeInclusive<usize> = 1..=1024;
/// Depths that a search can have, in plies.
#[allow(clippy::cast_possible_truncation)] // MAX_PLY is a few hundred
pub(crate) const DEPTH_RANGE: std::ops::RangeInclusive<u32> = 1..=search::MAX_PLY as u32 - 1;

/// Moves from the book unless said otherwise: all it has.
pub(crate) const BOOK_DEPTH: u32 = 255;

/// The settings that hold over searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Table size in MiB.
    pub hash: usize,
    /// Search threads.
    pub threads: usize,
    /// Kept back from every clock for transmission.
    pub move_overhead: Duration,
    /// Nodes that count as a millisecond of every clock; 0 if time itself counts.
    pub nodestime: u64,
    /// The GUI may let us think on the opponent's time.
    pub ponder: bool,
    /// The root driver.
    pub root_search: RootSearch,
    /// Play like a player of the rating `elo`.
    pub limit_strength: bool,
    /// The rating, within [`strength::ELO_RANGE`].
    pub elo: u32,
    /// Play at this level of [`strength::SKILL_RANGE`], unless `limit_strength` is on.
    pub skill_level: u32,
    /// Keep what the table holds when a new game begins.
    pub never_clear_hash: bool,
    /// Play from the opening book, if there is one.
    pub own_book: bool,
    /// Moves of a game that may come from the book.
    pub book_depth: u32,
    /// When to ask the endgame tables.
    pub syzygy: syzygy::ProbeOptions,
    /// Prune, reduce, extend and search captures at the leaves. Off for tests
    /// only: the search is then plain full-width alpha-beta.
    pub selective: bool,
}

impl Settings {
    /// The rating to play at; `None` at full strength.
    const fn rating(&self) -> Option<u32> {
        if self.limit_strength { Some(self.elo) } else { strength::skill_rating(self.skill_level) }
    }

    /// Is there memory for so many engines with these settings at once? The system promises
    /// each of their tables without counting the others.
    ///
    /// # Errors
    ///
    /// If there is not.
    pub fn check_memory(&self, engines: usize) -> Result<(), MemoryError> {
        let Settings { hash: mib, threads, .. } = *self;
        let each = mib.saturating_mul(1 << 20).saturating_add(threads * THREAD_MEMORY);
        let too_many = |free| engines.saturating_mul(each) as u64 > free;
        // A single table is measured when it is made.
        if engines > 1 && memory::available().is_some_and(too_many) {
            return Err(MemoryError::Engines { engines, mib });
        }
        Ok(())
    }
}

impl Default for Settings {
    /// Those of a fresh engine.
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
        }
    }
}

/// Table, search threads and settings.
///
/// ```
/// use lancet::{Engine, Game, Job, Limits, Settings, Silent, engine::threads};
///
/// let mut engine = Engine::new(Settings { hash: 64, ..Settings::default() })?;
/// let job = Job::new(Game::default(), Limits { depth: Some(6), ..Limits::default() });
/// // The first search begins with a table that is there and empty.
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
    /// Which errors a weaker player makes in this game.
    seed: u64,
    /// What is left of this game's clock in nodes, if nodes are its time.
    nodes_left: Option<u64>,
    /// What this game's clock loses beside the searches.
    lag: Lag,
    /// The table holds what the weaker player thinks.
    limited: bool,
    table: Table,
    /// What evaluates; material and piece-square tables without one.
    network: Option<Arc<Network>>,
    book: Option<Book>,
    /// Shared by the engines of one run.
    tablebases: Option<Arc<Tablebases>>,
    /// One per thread.
    memories: Vec<Memory>,
}

impl Engine {
    /// An engine with empty tables.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn new(settings: Settings) -> Result<Engine, MemoryError> {
        Engine::with_live(settings, Arc::default())
    }

    /// An engine with empty tables whose live options are shared already.
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
            limited: settings.rating().is_some(),
            settings: settings.clone(),
            live,
            seed: rand::random(),
            nodes_left: None,
            lag: Lag::default(),
            table,
            network: Some(eval::default_network()),
            book: None,
            tablebases: None,
            memories: Vec::new(),
        };
        engine.configure(settings)?;
        Ok(engine)
    }

    /// The current settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Options that may be changed during a search, from any thread.
    pub fn live(&self) -> Arc<LiveOptions> {
        Arc::clone(&self.live)
    }

    /// Changes the settings, and forgets whatever depends on those that differ: the results of
    /// another player or another fifty-move rule, and the nodes left on the clock. The table
    /// is resized, and emptied, when it is [prepared](Engine::prepare) next.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the search threads; nothing has changed then.
    pub fn configure(&mut self, settings: Settings) -> Result<(), MemoryError> {
        self.set_threads(settings.threads)?;
        let settings = Settings { threads: self.memories.len(), ..settings };
        let old = std::mem::replace(&mut self.settings, settings);
        let Settings { syzygy, nodestime, .. } = self.settings;
        let (before, now) = (old.rating(), self.settings.rating());
        if before.is_some() != now.is_some() {
            self.change_player(now.is_some());
        } else if before != now && self.limited {
            self.forget();
        }
        if old.syzygy.fifty_moves != syzygy.fifty_moves {
            self.table.forget();
        }
        if old.nodestime != nodestime {
            self.nodes_left = None;
        }
        Ok(())
    }

    /// Does the table have the size that was set? If not, it is still to come.
    pub(crate) fn is_resized(&self) -> bool {
        self.table.mib() == self.settings.hash
    }

    /// Makes the table what the settings say, on all search threads: of the right
    /// size, its memory there, empty if a new game has begun. [`Engine::go`] does so,
    /// too, but then on the clock. `go_on` is asked many times a second whether to.
    ///
    /// # Errors
    ///
    /// If there is not enough memory; the old size then stays, empty, or what there is.
    pub fn prepare(&mut self, go_on: &(dyn Fn() -> bool + Sync)) -> Result<(), MemoryError> {
        let resized = if self.is_resized() { Ok(()) } else { self.resize() };
        self.table.clear(self.settings.threads, go_on);
        resized
    }

    /// Frees the old table before it asks for the new one: there may not be room for
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

    /// Saves the table.
    ///
    /// # Errors
    ///
    /// If the file cannot be written; an old one then stays.
    pub fn save_hash(&mut self, path: &Path) -> io::Result<()> {
        self.prepare(&|| true).map_err(io::Error::other)?;
        self.table.save(path, self.evaluation())
    }

    /// Replaces the table by a saved one, with the size of that.
    ///
    /// # Errors
    ///
    /// If the file is not what was saved, or was saved with another evaluation;
    /// the old table then stays.
    pub fn load_hash(&mut self, path: &Path) -> Result<(), LoadError> {
        self.table = Table::load(path, self.evaluation())?;
        self.settings.hash = self.table.mib();
        Ok(())
    }

    /// Tells apart what the table's contents depend on: the network (its hash,
    /// or zero for material and piece-square tables), the fifty-move rule, and
    /// the weaker player with the errors of this game.
    fn evaluation(&self) -> u64 {
        let mut evaluation = self.network.as_deref().map_or(0, Network::hash);
        if !self.settings.syzygy.fifty_moves {
            evaluation = mix(evaluation);
        }
        if self.limited {
            let rating = self.settings.rating().unwrap_or_default();
            evaluation = mix(mix(evaluation ^ self.seed) ^ u64::from(rating));
        }
        evaluation
    }

    /// Makes the working space of so many search threads, at least one.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for it; nothing has changed then.
    fn set_threads(&mut self, threads: usize) -> Result<(), MemoryError> {
        let threads = threads.max(1);
        let new = threads.saturating_sub(self.memories.len());
        let bytes = new * THREAD_MEMORY;
        let too_many = |free| bytes as u64 > free;
        if !pages::is_available(bytes) || (new > 1 && memory::available().is_some_and(too_many)) {
            return Err(MemoryError::Threads { threads });
        }
        let network = &self.network;
        self.memories.resize_with(threads, || {
            let mut memory = Memory::default();
            memory.evaluator = Evaluator::new(network.clone());
            memory
        });
        Ok(())
    }

    /// The network in use, if there is one.
    pub const fn network(&self) -> Option<&Arc<Network>> {
        self.network.as_ref()
    }

    /// Evaluates by this network from now on; without one, by material and
    /// piece-square tables. The table is cleared, since it holds evaluations, and so are
    /// the histories, since they hold their errors.
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

    /// What the table knows of a position.
    pub fn probe(&self, position: &Position) -> Option<Entry> {
        self.table.probe(search::table_key(position))
    }

    /// Plays from this opening book from now on, if own books are switched on.
    pub(crate) fn set_book(&mut self, book: Option<Book>) {
        self.book = book;
    }

    /// Looks positions up in these endgame tables from now on.
    pub fn set_tablebases(&mut self, tablebases: Option<Arc<Tablebases>>) {
        self.tablebases = tablebases;
    }

    /// Says which errors a weaker player makes; otherwise chance does, anew for
    /// every game.
    pub fn set_seed(&mut self, seed: u64) {
        if std::mem::replace(&mut self.seed, seed) != seed && self.limited {
            self.forget();
        }
    }

    /// From now on the weaker player thinks, or not: one must not know what the
    /// other has found out.
    fn change_player(&mut self, limited: bool) {
        if std::mem::replace(&mut self.limited, limited) != limited {
            self.forget();
        }
    }

    /// Forgets what a player has found out, even if the table is otherwise never
    /// to be cleared.
    fn forget(&mut self) {
        self.table.forget();
        self.clear_histories();
    }

    /// The first thread's memory is kept; that of a thousand helpers would take
    /// seconds to write, before `isready` is answered.
    fn clear_histories(&mut self) {
        if let Some((first, helpers)) = self.memories.split_first_mut() {
            first.histories.clear();
            first.last_score = None;
            helpers.iter_mut().for_each(|helper| helper.histories.renew());
        }
    }

    /// Clears the table and the histories, so that the next search is as in a new game.
    /// Does nothing if the table is never to be cleared.
    pub(crate) fn clear_hash(&mut self) {
        if !self.settings.never_clear_hash {
            self.forget();
        }
    }

    /// A new game begins: forgets everything but a table that is never to be
    /// cleared. The weaker player of another game is another player.
    pub fn new_game(&mut self) {
        if !self.limited && !self.settings.never_clear_hash {
            self.table.forget();
        }
        self.set_seed(rand::random());
        self.nodes_left = None;
        self.lag = Lag::default();
        self.clear_histories();
    }

    /// Searches until a limit is reached or the job is stopped. Runs on the
    /// calling thread, which needs [`STACK_SIZE`], and on more, if so set.
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
            }
        }
        outcome
    }

    /// Who is to play, and for how long.
    fn terms(&mut self, Job { game, limits, .. }: &Job) -> Terms {
        let handicap = self.handicap(limits).map(|handicap| handicap.in_ending(game));
        let limit = |handicap: Handicap| handicap.limit(limits, game);
        let mut limits = handicap.map_or_else(|| limits.clone(), limit);
        if let Some(clock) = limits.clock {
            self.lag.see(clock);
        }
        self.count_clock_in_nodes(&mut limits);
        if let Limits { mate: Some(moves), depth: None, nodes: None, soft_nodes: None, .. } = limits
            && limits.clock.is_none()
            && limits.movetime.is_none()
            && !limits.infinite
        {
            limits.nodes = Some(MATE_NODES * u64::from(moves));
        }
        Terms { handicap, budget: self.budget(&limits), limits }
    }

    /// Where nodes are time, the clock of the first move of a game says how many there
    /// are, and from then on they are counted here: what the GUI's clock says has
    /// nothing to do with them.
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

    /// A table for this player, made in a part of the time for the move.
    fn make_ready(&mut self, job: &Job, terms: &Terms, reporter: &dyn Reporter) {
        self.change_player(terms.handicap.is_some());
        // Where nodes are time, making it takes none.
        let budget = terms.budget.filter(|_| self.settings.nodestime == 0);
        if let Err(error) = self.prepare(&|| is_there_time(job, budget)) {
            reporter.note(&Note::Memory(error));
        }
        self.table.new_search();
    }

    /// Asks the endgame tables about the root, has the threads search, and
    /// concludes from what they found. Returns that, and the time on the clock when it was
    /// told.
    fn search(
        &mut self,
        job: &Job,
        terms: Terms,
        mut root_moves: Vec<search::RootMove>,
        reporter: &dyn Reporter,
        start: Instant,
    ) -> (Outcome, Duration) {
        // A weaker player knows no endgame tables, and needs no help.
        let tablebases = self.tablebases.as_deref().filter(|_| terms.handicap.is_none());
        let (game, settings) = (&job.game, &self.settings);
        let syzygy = settings.syzygy;
        let prober = tablebases
            .and_then(|tables| ask_tablebases(tables, syzygy, game, &mut root_moves, reporter));
        let values: Vec<(Move, Value)> =
            root_moves.iter().filter_map(|rm| Some((rm.m, rm.known?.value))).collect();
        let known = values.len();
        let confirming = tablebases.map(|tables| Confirming {
            tables,
            settings: syzygy,
            game,
            values,
            reporter,
        });
        let reporter = confirming.as_ref().map_or(reporter, |confirming| confirming);
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
            nodes_per_ms: settings.nodestime,
            signals: &job.signals,
            root_moves,
            handicap: terms.handicap,
            prober,
            tbhits: AtomicU64::new(known as u64),
            live: &self.live,
            reporter,
            root_search: settings.root_search,
            selective: settings.selective,
            done: AtomicBool::new(false),
            nodes: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            lines: (0..threads).map(|_| Mutex::default()).collect(),
            start,
        };
        threads::search(&shared, &mut self.memories[..threads], game, |results| {
            let time = start.elapsed();
            wait_to_answer(&shared, &results[0], job);
            let outcome = conclude(&shared, results, time, confirming.as_ref(), game.position());
            reporter.decided(&outcome);
            (outcome, job.signals.elapsed())
        })
    }

    /// The weaker player, if one is to play. Analysis is done at full strength.
    fn handicap(&self, limits: &Limits) -> Option<Handicap> {
        let rating = self.settings.rating()?;
        let analysis = limits.analyse || limits.infinite;
        (!analysis).then(|| Handicap::new(rating, self.seed))
    }

    /// A move from the book, if this is a game and the book has one.
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
            ..no_search()
        };
        Some(Outcome { best: Some(m), ponder, info })
    }

    fn budget(&self, limits: &Limits) -> Option<Budget> {
        let overhead = self.settings.move_overhead;
        // Nodes that are time have none.
        let lag = if self.settings.nodestime == 0 { self.lag.kept() } else { Duration::ZERO };
        let clock = limits.clock.map(|clock| {
            let budget = Budget::new(clock, overhead + lag);
            if self.settings.ponder { budget.with_pondering() } else { budget }
        });
        let exact = limits.movetime.map(|time| Budget::exact(time, overhead));
        match (clock, exact) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// The conditions of a search.
struct Terms {
    /// The weaker player, if one is to play.
    handicap: Option<Handicap>,
    budget: Option<Budget>,
    /// Those asked for, and the weaker player's own.
    limits: Limits,
}

impl Terms {
    /// How many of `most` threads are to search.
    fn threads(&self, most: usize) -> usize {
        let hurry = self.budget.is_some_and(|budget| budget.hard < SHARED_FROM);
        if hurry || self.handicap.is_some() { 1 } else { most }
    }
}

/// May a table that nobody has asked for with `isready` still be made ready? Not
/// for more than a quarter of the time that the move is to take.
fn is_there_time(job: &Job, budget: Option<Budget>) -> bool {
    let signals = &job.signals;
    let plan = |budget: Budget| budget.soft.unwrap_or(budget.hard);
    let in_time = budget.is_none_or(|budget| signals.elapsed() < plan(budget) / 4);
    !signals.is_stopped() && (in_time || signals.is_pondering())
}

/// Has the endgame tables rank the root's moves. Returns how to ask them inside
/// the tree.
///
/// Where the way is known from here, or all moves draw, there is nothing to ask inside:
/// the search looks for mates, or for the drawn move that is hardest to meet.
fn ask_tablebases<'a>(
    tables: &'a Tablebases,
    settings: syzygy::ProbeOptions,
    game: &Game,
    root_moves: &mut [search::RootMove],
    reporter: &dyn Reporter,
) -> Option<Prober<'a>> {
    let prober = Prober::new(tables, settings);
    let moves: Vec<Move> = root_moves.iter().map(|rm| rm.m).collect();
    let Some(ranking) = tables.rank_moves(game, &moves, settings, reporter) else {
        return Some(prober);
    };
    for (rm, &known) in root_moves.iter_mut().zip(&ranking.known) {
        rm.known = Some(known);
    }
    let best = ranking.known.iter().map(|known| known.value).max();
    let drawn = best.is_some_and(|value| value.drawn_score().is_some());
    (!drawn && !ranking.distances).then_some(prober)
}

/// Waits for what must come before the answer: `stop`, the ponderhit, and the time
/// that a weaker player takes.
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

/// The move to play and the one to ponder on, from what the threads found in `time`. What
/// is played has been reported last.
fn conclude(
    shared: &Shared,
    results: &[SearchResult],
    time: Duration,
    confirming: Option<&Confirming>,
    root: &Position,
) -> Outcome {
    // Several lines are those of the first thread, and so is a proof that was asked for.
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
    if chosen != 0 {
        // The helper may be an iteration behind what was reported last.
        info.depth = info.depth.max(results[0].reported);
        shared.reporter.info(&info);
    }
    if let Some(confirming) = confirming {
        confirming.confirm(&mut info);
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

/// The table's answer to `m`, to ponder on.
fn expected_reply(table: &Table, root: &Position, m: Move) -> Option<Move> {
    let child = root.play(m);
    let entry = table.probe(search::table_key(&child))?;
    Generator::new(&child).find(entry.best)
}

/// Mated or stalemated: there is nothing to search.
fn no_moves(root: &Position) -> Outcome {
    let drawn = !root.is_check();
    let score = if drawn { DRAW } else { -MATE };
    Outcome { best: None, ponder: None, info: Info { score, drawn, ..no_search() } }
}

/// What there is to tell without a search.
const fn no_search() -> Info {
    Info {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        play::{limits::Clock, report::Silent},
        system::sync::lock,
    };

    /// Notes what is said, as data.
    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Reporter for Notes {
        fn note(&self, note: &Note) {
            lock(&self.0).push(format!("{note:?}"));
        }
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

    /// Neither a finished game nor a book's move is a search: nothing is planned.
    #[test]
    fn what_needs_no_search_is_answered_at_once() {
        let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
        let mode = shakmaty::CastlingMode::Standard;
        for (fen, score) in
            [("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", -MATE), ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", DRAW)]
        {
            let game = Game::from(Position::from_fen(fen, mode).unwrap());
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

    /// Only what depends on a setting that differs is forgotten.
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
            (engine.probe(&Position::default()).is_some(), engine.nodes_left.is_some())
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

    /// Each engine would be granted its table, but not all of them.
    #[test]
    fn the_memory_of_all_engines_counts() {
        let settings = |hash| Settings { hash, ..Settings::default() };
        assert_eq!(settings(1).check_memory(2), Ok(()));
        assert_eq!(settings(1 << 20).check_memory(1), Ok(()), "left to the table");
        for engines in [1 << 20, usize::MAX] {
            let error = settings(64).check_memory(engines).unwrap_err();
            assert_eq!(error, MemoryError::Engines { engines, mib: 64 });
        }
    }

    /// In a hurry, and for a weaker player, one thread is enough.
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
