//! The engine: owns the table and the search threads, runs one search at a
//! time. Knows no text: `uci` and `tools` speak to people.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use shakmaty::{Move, Position as _};

use crate::{
    chess::{
        position::{Game, Position},
        score::{DRAW, MATE, is_decisive},
    },
    eval::{self, Evaluator, nnue::Network},
    play::{
        book::Book,
        clock::Budget,
        report::{Bound, Info, Limits, LiveOptions, Outcome, Reporter, Signals},
        strength::{self, Handicap},
        syzygy::{self, Confirming, Prober, Tablebases, Value},
    },
    search::{
        self, Memory, Shared, Worker,
        root::Verdict,
        tt::{Table, file::LoadError},
    },
    system::{memory, pages, random::mix},
};

pub use crate::search::RootSearch;

/// Stack of a search thread, in bytes: `MAX_PLY` nodes of a few kilobytes each.
pub const STACK_SIZE: usize = 16 << 20;

/// What a search thread takes, in bytes: histories, lines, accumulators, the
/// touched part of its stack.
const THREAD_MEMORY: usize = 6 << 20;

/// With less time than this for a move the first thread searches alone: on a
/// busy machine waiting for the others can take longer than is left (8 of 24
/// games at 0.5+0.005 with 2 threads were lost by 1 to 3 ms, beside two other
/// processes on 2 cores).
const SHARED_FROM: Duration = Duration::from_millis(60);

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

/// Table sizes in MiB that [`Engine::set_hash`] accepts.
pub const HASH_RANGE: std::ops::RangeInclusive<usize> = 1..=1 << 20;
/// Thread counts that [`Engine::set_threads`] accepts.
pub const THREADS_RANGE: std::ops::RangeInclusive<usize> = 1..=1024;
/// Depths that a search can have, in plies.
#[allow(clippy::cast_possible_truncation)] // MAX_PLY is a few hundred
pub const DEPTH_RANGE: std::ops::RangeInclusive<u32> = 1..=search::MAX_PLY as u32 - 1;

/// Moves from the book unless said otherwise: all it has.
pub const BOOK_DEPTH: u32 = 255;

/// The settings that hold over searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Table size in MiB.
    pub hash: usize,
    /// Search threads.
    pub threads: usize,
    /// Kept back from every clock for transmission.
    pub move_overhead: Duration,
    /// The GUI may let us think on the opponent's time.
    pub ponder: bool,
    /// The root driver.
    pub root_search: RootSearch,
    /// Play like a player of the rating `elo`.
    pub limit_strength: bool,
    /// The rating, within [`strength::ELO_RANGE`].
    pub elo: u32,
    /// Where the table is saved to and loaded from.
    pub hash_file: Option<PathBuf>,
    /// Keep what the table holds when a new game begins.
    pub never_clear_hash: bool,
    /// Play from the opening book, if there is one.
    pub own_book: bool,
    /// Moves of a game that may come from the book.
    pub book_depth: u32,
    /// When to ask the endgame tables.
    pub syzygy: syzygy::Settings,
    /// Prune, reduce, extend and search captures at the leaves. Off for tests
    /// only: the search is then plain full-width alpha-beta.
    pub selective: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            hash: 16,
            threads: 1,
            move_overhead: Duration::from_millis(10),
            ponder: false,
            root_search: RootSearch::default(),
            limit_strength: false,
            elo: strength::DEFAULT_ELO,
            hash_file: None,
            never_clear_hash: false,
            own_book: false,
            book_depth: BOOK_DEPTH,
            syzygy: syzygy::Settings::default(),
            selective: true,
        }
    }
}

/// Table, search threads and settings.
#[derive(Debug)]
pub struct Engine {
    settings: Settings,
    live: Arc<LiveOptions>,
    /// Which errors a weaker player makes in this game.
    seed: u64,
    /// The table holds what the weaker player thinks.
    limited: bool,
    table: Table,
    /// What the table holds is to be forgotten before the next search.
    stale: bool,
    /// What evaluates; material and piece-square tables without one.
    network: Option<Arc<Network>>,
    book: Option<Book>,
    tablebases: Option<Tablebases>,
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
    pub fn with_live(settings: Settings, live: Arc<LiveOptions>) -> Result<Engine, MemoryError> {
        let table =
            Table::new(settings.hash).ok_or(MemoryError::Hash { mib: settings.hash, kept: 0 })?;
        let mut engine = Engine {
            limited: settings.limit_strength,
            settings,
            live,
            seed: rand::random(),
            table,
            stale: true,
            network: Some(eval::default_network()),
            book: None,
            tablebases: None,
            memories: Vec::new(),
        };
        engine.set_threads(engine.settings.threads)?;
        Ok(engine)
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

    /// Resizes the table to `mib` MiB when it is [prepared](Engine::prepare) next;
    /// its contents are lost then.
    pub fn set_hash(&mut self, mib: usize) {
        self.settings.hash = mib;
    }

    /// Does the table have the size that was set? If not, it is still to come.
    #[must_use]
    pub fn is_resized(&self) -> bool {
        self.table.mib() == self.settings.hash
    }

    /// Makes the table what the settings say, on all search threads: of the right
    /// size, its memory there, empty if a new game has begun. [`Engine::go`] does so,
    /// too, but then on the clock. `go_on` is asked many times a second whether to.
    ///
    /// # Errors
    ///
    /// If there is not enough memory; the old size then stays, empty.
    pub fn prepare(&mut self, go_on: &(dyn Fn() -> bool + Sync)) -> Result<(), MemoryError> {
        let resized = if self.is_resized() { Ok(()) } else { self.resize() };
        if std::mem::take(&mut self.stale) {
            self.table.clear(self.settings.threads, go_on);
        }
        resized
    }

    /// Frees the old table before it asks for the new one: there may not be room for
    /// both.
    fn resize(&mut self) -> Result<(), MemoryError> {
        let (old, mib) = (self.table.mib(), self.settings.hash);
        let mut result = Err(MemoryError::Hash { mib, kept: old });
        self.settings.hash = old;
        if let Some(smallest) = Table::new(1) {
            self.table = smallest;
            self.stale = true;
            if let Some(table) = Table::new(mib) {
                self.table = table;
                result = Ok(());
            } else if let Some(table) = Table::new(old) {
                self.table = table;
            }
            self.settings.hash = self.table.mib();
        }
        result
    }

    /// Says where the table is saved to and loaded from.
    pub fn set_hash_file(&mut self, path: Option<PathBuf>) {
        self.settings.hash_file = path;
    }

    /// Keeps the table's contents over games, or not.
    pub fn set_never_clear_hash(&mut self, on: bool) {
        self.settings.never_clear_hash = on;
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
        self.stale = false;
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
            evaluation = mix(mix(evaluation ^ self.seed) ^ u64::from(self.settings.elo));
        }
        evaluation
    }

    /// Changes the number of search threads (at least one).
    ///
    /// # Errors
    ///
    /// If there is not enough memory for them; nothing has changed then.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), MemoryError> {
        let threads = threads.max(1);
        let new = threads.saturating_sub(self.memories.len());
        let bytes = new * THREAD_MEMORY;
        let too_many = |free| bytes as u64 > free;
        if !pages::is_available(bytes) || (new > 1 && memory::available().is_some_and(too_many)) {
            return Err(MemoryError::Threads { threads });
        }
        self.settings.threads = threads;
        let network = &self.network;
        self.memories.resize_with(threads, || {
            let mut memory = Memory::default();
            memory.evaluator = Evaluator::new(network.clone());
            memory
        });
        Ok(())
    }

    /// The network in use, if there is one.
    #[must_use]
    pub const fn network(&self) -> Option<&Arc<Network>> {
        self.network.as_ref()
    }

    /// Evaluates by this network from now on; without one, by material and
    /// piece-square tables. The table is cleared: it holds evaluations.
    pub fn set_network(&mut self, network: Option<Arc<Network>>) {
        for memory in &mut self.memories {
            memory.evaluator = Evaluator::new(network.clone());
        }
        self.network = network;
        self.stale = true;
    }

    /// Plays from this opening book from now on, if own books are switched on.
    pub fn set_book(&mut self, book: Option<Book>) {
        self.book = book;
    }

    /// Switches the opening book on or off.
    pub fn set_own_book(&mut self, on: bool) {
        self.settings.own_book = on;
    }

    /// Changes how many moves of a game may come from the book.
    pub fn set_book_depth(&mut self, moves: u32) {
        self.settings.book_depth = moves;
    }

    /// Looks positions up in these endgame tables from now on.
    pub fn set_tablebases(&mut self, tablebases: Option<Tablebases>) {
        self.tablebases = tablebases;
    }

    /// Changes when and how the endgame tables are asked. If other results
    /// count as won, the table is cleared.
    pub fn set_syzygy(&mut self, settings: syzygy::Settings) {
        let old = std::mem::replace(&mut self.settings.syzygy, settings);
        self.stale |= old.fifty_moves != settings.fifty_moves;
    }

    /// Changes the time kept back from every clock.
    pub fn set_move_overhead(&mut self, overhead: Duration) {
        self.settings.move_overhead = overhead;
    }

    /// Says whether the GUI may let us think on the opponent's time.
    pub fn set_ponder(&mut self, ponder: bool) {
        self.settings.ponder = ponder;
    }

    /// Plays like a weaker player, or at full strength.
    pub fn set_limit_strength(&mut self, on: bool) {
        self.settings.limit_strength = on;
        self.change_player(on);
    }

    /// Changes the rating of the weaker player.
    pub fn set_elo(&mut self, elo: u32) {
        if std::mem::replace(&mut self.settings.elo, elo) != elo && self.limited {
            self.forget();
        }
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
        self.stale = true;
        self.clear_histories();
    }

    /// The first thread's memory is kept; that of a thousand helpers would take
    /// seconds to write, before `isready` is answered.
    fn clear_histories(&mut self) {
        if let Some((first, helpers)) = self.memories.split_first_mut() {
            first.histories.clear();
            helpers.iter_mut().for_each(|helper| helper.histories.renew());
        }
    }

    /// Changes the root driver.
    pub fn set_root_search(&mut self, root_search: RootSearch) {
        self.settings.root_search = root_search;
    }

    /// Forgets the transposition table only, unless that is never to be done.
    pub fn clear_hash(&mut self) {
        self.stale |= !self.settings.never_clear_hash;
    }

    /// A new game begins: forgets everything but a table that is never to be
    /// cleared. The weaker player of another game is another player.
    pub fn new_game(&mut self) {
        if !self.limited {
            self.clear_hash();
        }
        self.set_seed(rand::random());
        self.clear_histories();
    }

    /// Searches until a limit is reached or the job is stopped. Runs on the
    /// calling thread, which needs [`STACK_SIZE`], and on more, if so set.
    pub fn go(&mut self, job: &Job, reporter: &dyn Reporter) -> Outcome {
        let start = Instant::now();
        let handicap = self.handicap(&job.limits);
        self.change_player(handicap.is_some());
        let budget = self.budget(&job.limits);
        if let Err(error) = self.prepare(&|| is_there_time(job, budget)) {
            reporter.message(&error.to_string());
        }
        self.table.new_search();
        let root = job.game.position();
        let mut root_moves = search::root::moves(root, &job.limits.searchmoves);
        if root_moves.is_empty() {
            let outcome = no_moves(root);
            reporter.info(&outcome.info);
            job.signals.wait(job.limits.infinite);
            return outcome;
        }
        if let Some(outcome) = self.book_move(job) {
            reporter.info(&outcome.info);
            job.signals.wait(false);
            return outcome;
        }
        let limits = handicap.map_or_else(|| job.limits.clone(), |h| h.limit(&job.limits));
        // A weaker player knows no tables, and needs no help.
        let tablebases = self.tablebases.as_ref().filter(|_| handicap.is_none());
        let prober = tablebases.and_then(|tables| {
            ask_tablebases(tables, self.settings.syzygy, &job.game, &mut root_moves, reporter)
        });
        let values: Vec<(Move, Value)> =
            root_moves.iter().filter_map(|rm| Some((rm.m, rm.known?.value))).collect();
        let ranked = values.len();
        let confirming = tablebases.map(|tables| {
            let (game, settings) = (&job.game, self.settings.syzygy);
            Confirming { tables, settings, game, values, reporter }
        });
        let reporter = confirming.as_ref().map_or(reporter, |confirming| confirming);
        self.explain(reporter, || {
            let time = match budget {
                Some(Budget { soft: Some(soft), hard }) => {
                    format!("{soft:.1?}, at most {hard:.1?}")
                }
                Some(Budget { soft: None, hard }) => format!("{hard:.1?}"),
                None => "no limit".to_owned(),
            };
            format!("time: {time}; {ranked} of {} moves known from tables", root_moves.len())
        });
        let hurry = budget.is_some_and(|budget| budget.hard < SHARED_FROM);
        let threads = if handicap.is_some() || hurry { 1 } else { self.memories.len() };
        let shared = Shared {
            table: &self.table,
            limits: &limits,
            budget,
            signals: &job.signals,
            root_moves,
            handicap,
            prober,
            tbhits: AtomicU64::new(ranked as u64),
            live: &self.live,
            reporter,
            root_search: self.settings.root_search,
            selective: self.settings.selective,
            done: AtomicBool::new(false),
            nodes: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            lines: (0..threads).map(|_| Mutex::default()).collect(),
            start,
        };
        let verdicts = run_threads(&shared, &mut self.memories[..threads], job);
        job.signals.wait(job.limits.infinite);
        if let (Some(handicap), Some(budget)) = (handicap, budget)
            && verdicts[0].moves.len() > 1
        {
            let Verdict { moves, stability, .. } = &verdicts[0];
            let time = handicap.thinking_time(budget, &job.game, moves[0].m, stability);
            job.signals.wait_until(time);
        }

        let chosen = vote(&verdicts);
        let mut info = Info {
            nodes: shared.total_nodes(),
            hashfull: self.table.hashfull(),
            tbhits: shared.tbhits.load(Ordering::Relaxed),
            time: start.elapsed(),
            ..verdicts[chosen].info()
        };
        if chosen != 0 {
            // The helper may be an iteration behind what was reported last.
            info.depth = info.depth.max(verdicts[0].reported);
            reporter.info(&info);
        }
        if let Some(confirming) = &confirming {
            confirming.confirm(&mut info);
        }
        self.explain(reporter, || {
            let depths: Vec<u32> = verdicts.iter().map(|verdict| verdict.depth).collect();
            format!("thread {chosen} decides; depths completed by thread: {depths:?}")
        });
        let best = info.pv.first().copied();
        let ponder = info.pv.get(1).copied().or_else(|| self.expected_reply(root, best?));
        Outcome { best, ponder, info }
    }

    /// The weaker player, if one is to play. Analysis is done at full strength.
    fn handicap(&self, limits: &Limits) -> Option<Handicap> {
        let Settings { limit_strength, elo, .. } = self.settings;
        (limit_strength && !limits.analyse).then(|| Handicap::new(elo, self.seed))
    }

    /// With `debug on`, tells a person what happens.
    fn explain(&self, reporter: &dyn Reporter, text: impl FnOnce() -> String) {
        if self.live.debug.load(Ordering::Relaxed) {
            reporter.message(&text());
        }
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
        let clock = limits.clock.map(|clock| {
            let budget = Budget::new(clock, overhead);
            if self.settings.ponder { budget.with_pondering() } else { budget }
        });
        let exact = limits.movetime.map(|time| Budget::exact(time, overhead));
        match (clock, exact) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The table's answer to `m`, to ponder on.
    fn expected_reply(&self, root: &Position, m: Move) -> Option<Move> {
        let child = root.play(m);
        let entry = self.table.probe(search::table_key(&child))?;
        entry.best.find_in(&child.legal_moves())
    }
}

/// May a table that nobody has asked for with `isready` still be made ready? Not
/// for more than a quarter of the time for the move.
fn is_there_time(job: &Job, budget: Option<Budget>) -> bool {
    let signals = &job.signals;
    let in_time = budget.is_none_or(|budget| signals.elapsed() < budget.hard / 4);
    !signals.is_stopped() && (in_time || signals.is_pondering())
}

/// Has the endgame tables rank the root's moves. Returns how to ask them inside
/// the tree.
///
/// Where the way is known from here there is nothing to ask inside: the search
/// looks for mates, or for the drawn move that is hardest to meet.
fn ask_tablebases<'a>(
    tables: &'a Tablebases,
    settings: syzygy::Settings,
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
    let won = ranking.known.iter().any(|known| known.value == Value::Win);
    (won && !ranking.distances).then_some(prober)
}

/// Runs one worker per memory and returns their verdicts, in order.
fn run_threads(shared: &Shared, memories: &mut [Memory], job: &Job) -> Vec<Verdict> {
    let Some((first, others)) = memories.split_first_mut() else { return Vec::new() };
    // None begins before all are there: hundreds that search already leave their
    // starter no time, and their page faults keep it from mapping more stacks.
    let gate = &RwLock::new(());
    let closed = gate.write();
    std::thread::scope(|scope| {
        let mut helpers = Vec::with_capacity(others.len());
        for (memory, thread) in others.iter_mut().zip(1..) {
            let (arrival, arrived) = mpsc::channel::<()>();
            let run = move || {
                let worker = Worker::new(shared, memory, thread, &job.game);
                drop(arrival);
                drop(gate.read());
                worker.run()
            };
            let spawned = memory_to_spare().and_then(|()| {
                std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, run)
            });
            match spawned {
                Ok(handle) => {
                    // The next one is measured against what this one leaves.
                    let _ = arrived.recv();
                    helpers.push(handle);
                }
                Err(error) => {
                    shared
                        .reporter
                        .message(&format!("cannot start search thread {thread}: {error}"));
                    break;
                }
            }
        }
        drop(closed);
        let mut verdicts = vec![Worker::new(shared, first, 0, &job.game).run()];
        shared.done.store(true, Ordering::Relaxed);
        verdicts.extend(helpers.into_iter().filter_map(|helper| helper.join().ok()));
        verdicts
    })
}

/// Whether there is room for one more stack and its thread's own heap, with some
/// left. A stack may be refused, but a small allocation that fails aborts the
/// process: stacks must never take the last of the memory.
///
/// # Errors
///
/// Says that there is not enough memory.
fn memory_to_spare() -> io::Result<()> {
    if pages::is_available(8 * STACK_SIZE) {
        Ok(())
    } else {
        Err(io::ErrorKind::OutOfMemory.into())
    }
}

/// Which thread's move to play: each votes for its move with the depth it
/// reached and how much better its score is; a shorter mate wins outright.
fn vote(verdicts: &[Verdict]) -> usize {
    let best = |i: usize| &verdicts[i].moves[0];
    let worst = (0..verdicts.len()).map(|i| best(i).score).min().unwrap_or(0);
    let weight = |i: usize| {
        let score = i64::from((best(i).score - worst).clamp(0, 1000)) + 14;
        if best(i).bound == Bound::Exact { score * i64::from(verdicts[i].depth) } else { 0 }
    };
    let votes = |i: usize| -> i64 {
        (0..verdicts.len()).filter(|&j| best(j).m == best(i).m).map(weight).sum()
    };
    let mut chosen = 0;
    for i in 1..verdicts.len() {
        if best(i).bound != Bound::Exact {
            continue;
        }
        let better = if is_decisive(best(chosen).score) || is_decisive(best(i).score) {
            best(i).score > best(chosen).score
        } else {
            votes(i) > votes(chosen) || (votes(i) == votes(chosen) && weight(i) > weight(chosen))
        };
        if better {
            chosen = i;
        }
    }
    chosen
}

/// Mated or stalemated: there is nothing to search.
fn no_moves(root: &Position) -> Outcome {
    let score = if root.is_check() { -MATE } else { DRAW };
    Outcome { best: None, ponder: None, info: Info { score, ..no_search() } }
}

/// What there is to tell without a search.
const fn no_search() -> Info {
    Info {
        depth: 0,
        seldepth: 0,
        multipv: 1,
        score: DRAW,
        bound: Bound::Exact,
        nodes: 0,
        hashfull: 0,
        tbhits: 0,
        time: Duration::ZERO,
        pv: Vec::new(),
    }
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
}

impl std::fmt::Display for MemoryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MemoryError::Hash { mib, kept: 0 } => {
                write!(f, "not enough memory for a hash table of {mib} MiB")
            }
            MemoryError::Hash { mib, kept } => {
                write!(
                    f,
                    "not enough memory for a hash table of {mib} MiB: it has {kept} MiB, empty"
                )
            }
            MemoryError::Threads { threads } => {
                write!(f, "not enough memory for {threads} search threads")
            }
        }
    }
}

impl std::error::Error for MemoryError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// What threads found: depth, place of the best move in the start position's
    /// list, its score and what that says.
    fn elected(found: &[(u32, usize, i32, Bound)]) -> usize {
        let verdicts: Vec<Verdict> = found
            .iter()
            .map(|&(depth, place, score, bound)| {
                let mut moves = search::root::moves(&Position::default(), &[]);
                moves.swap(0, place);
                (moves[0].score, moves[0].bound) = (score, bound);
                Verdict { depth, reported: depth, moves, stability: Default::default() }
            })
            .collect();
        vote(&verdicts)
    }

    #[test]
    fn threads_vote() {
        use Bound::{Exact, Lower, Upper};
        // Depth, then score; the first thread keeps what is equal.
        assert_eq!(elected(&[(10, 0, 20, Exact)]), 0);
        assert_eq!(elected(&[(10, 0, 20, Exact), (10, 1, 20, Exact)]), 0);
        assert_eq!(elected(&[(10, 0, 20, Exact), (12, 1, 20, Exact)]), 1);
        assert_eq!(elected(&[(10, 0, 20, Exact), (10, 1, 30, Exact)]), 1);
        // Two that agree outvote a deeper one, and the deeper of them speaks.
        let three = [(13, 1, 20, Exact), (10, 2, 20, Exact), (11, 2, 20, Exact)];
        assert_eq!(elected(&three), 2);
        // A bound is no vote, and nothing to play by, however deep.
        assert_eq!(elected(&[(10, 0, 20, Exact), (30, 1, 400, Lower)]), 0);
        assert_eq!(elected(&[(10, 0, -20, Upper), (9, 1, -90, Exact)]), 1);
        assert_eq!(elected(&[(10, 0, -20, Upper), (9, 1, 90, Upper)]), 0);
        // The shorter mate, however few found it; anything before being mated.
        let mates = [(20, 0, MATE - 9, Exact), (20, 0, MATE - 9, Exact), (8, 1, MATE - 5, Exact)];
        assert_eq!(elected(&mates), 2);
        assert_eq!(elected(&[(9, 0, 8 - MATE, Exact), (8, 1, -500, Exact)]), 1);
        assert_eq!(elected(&[(9, 0, -500, Exact), (20, 1, 8 - MATE, Exact)]), 0);
    }
}
