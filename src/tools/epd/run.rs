//! Running positions: players answer, a watch follows their thinking, several
//! at a time, until done or interrupted.
//!
//! Nothing is printed here.

use std::{
    io,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use shakmaty::Move;

use super::score::{Answer, Found, Grade, Value};
use crate::{
    chess::{
        epd::{Goal, Record},
        notation::MoveError,
        position::Game,
        score::mate_distance,
    },
    engine::{Engine, Job, MemoryError, threads},
    play::report::{Bound, Info, Limits, Reporter, Signals},
    system::sync::{lock, unpoisoned},
    tools::interrupt::Interrupt,
};

/// How every position is searched.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Exact time for each position.
    pub movetime: Option<Duration>,
    /// Nodes for each position.
    pub nodes: Option<u64>,
    /// Iterations for each position, in plies.
    pub depth: Option<u32>,
    /// Stop when the mate of the position's goal is proved.
    pub mate: bool,
    /// Stop when the solution has stood for this many iterations.
    pub stop_early: Option<u32>,
    /// Table size of each player, in MiB.
    pub hash: usize,
    /// Search threads of each player.
    pub threads: usize,
    /// Lines to report.
    pub multi_pv: usize,
    /// Another engine that says nothing for longer is taken for dead.
    pub patience: Duration,
}

/// Searching time where nothing else is sure to end a search.
pub const DEFAULT_MOVETIME: Duration = Duration::from_secs(1);

impl Plan {
    /// The limits for a position.
    pub fn limits(&self, goal: &Goal) -> Limits {
        let mate = goal.mate.filter(|_| self.mate).map(i32::unsigned_abs);
        let endless = self.nodes.is_none() && self.depth.is_none();
        Limits {
            movetime: self.movetime.or(endless.then_some(DEFAULT_MOVETIME)),
            nodes: self.nodes,
            depth: self.depth,
            mate,
            ..Limits::default()
        }
    }
}

/// A line of thought of any engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thought {
    /// Iteration, in plies.
    pub depth: u32,
    /// Deepest ply reached.
    pub seldepth: u32,
    /// Rank among the reported lines, from 1.
    pub rank: usize,
    /// From the side to move's point of view.
    pub value: Value,
    /// Whether `value` is exact.
    pub bound: Bound,
    /// Nodes so far.
    pub nodes: u64,
    /// Since the start of the search.
    pub time: Duration,
    /// Legal moves from the root.
    pub pv: Vec<Move>,
}

impl From<&Info> for Thought {
    fn from(info: &Info) -> Thought {
        Thought {
            depth: info.depth,
            seldepth: info.seldepth,
            rank: info.multipv,
            value: mate_distance(info.score).map_or(Value::Centipawns(info.score), Value::Mate),
            bound: info.bound,
            nodes: info.nodes,
            time: info.time,
            pv: info.pv.clone(),
        }
    }
}

/// Follows the thinking about one position.
#[derive(Debug)]
pub struct Watch<'a> {
    goal: &'a Goal,
    stop_early: Option<u32>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The latest line of each rank.
    lines: Vec<Thought>,
    found: Option<Found>,
}

impl<'a> Watch<'a> {
    /// A watch for a goal that asks to stop when the solution has stood for
    /// `stop_early` iterations.
    pub fn new(goal: &'a Goal, stop_early: Option<u32>) -> Watch<'a> {
        Watch { goal, stop_early, seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }

    /// Takes note of a thought. True if the search may end here.
    pub fn note(&self, thought: Thought) -> bool {
        let mut seen = self.seen();
        let main = thought.rank == 1;
        // A failed-low line keeps an old move and says nothing new.
        if main && thought.bound != Bound::Upper && !self.goal.is_empty() {
            let answer = Answer {
                best: thought.pv.first().copied(),
                score: Some(thought.value),
                bound: thought.bound,
            };
            let now = Found { depth: thought.depth, time: thought.time, nodes: thought.nodes };
            seen.found = self.goal.is_met(&answer).then(|| seen.found.unwrap_or(now));
        }
        let stood = match (seen.found, self.stop_early) {
            (Some(found), Some(plies)) if main && thought.bound == Bound::Exact => {
                thought.depth.saturating_sub(found.depth) + 1 >= plies
            }
            _ => false,
        };
        match seen.lines.iter_mut().find(|line| line.rank == thought.rank) {
            Some(line) => *line = thought,
            None => seen.lines.push(thought),
        }
        stood
    }
}

/// How a player ended its search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The move it plays.
    pub best: Option<Move>,
    /// Nodes of the whole search.
    pub nodes: u64,
    /// Duration of the whole search.
    pub time: Duration,
}

/// Why a player gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The run was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// There is not enough memory for this engine.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A command line that is empty or has an open quote.
    #[error("expected a program with its arguments, quotes closed")]
    CommandLine,
    /// The program does not start.
    #[error("cannot start '{program}': {reason}")]
    Start {
        /// The first word of the command line.
        program: String,
        /// What the system says.
        reason: io::Error,
    },
    /// The engine does not say what it was asked for.
    #[error("no {0} in time")]
    Silent(&'static str),
    /// The engine goes on searching.
    #[error("no bestmove {} s after 'stop'", .0.as_secs())]
    Unstoppable(Duration),
    /// The engine has closed its pipes.
    #[error("the engine {how} (at '{during}')")]
    Died {
        /// How it ended, if it did.
        how: String,
        /// What it was told or asked for.
        during: String,
    },
    /// It plays what is no legal move.
    #[error("bestmove: {0}")]
    Move(MoveError),
    /// It has failed too often before.
    #[error("not asked after {} failures in a row", MAX_FAILURES)]
    GivenUp,
}

/// Failures in a row after which an engine is not started again.
pub const MAX_FAILURES: u32 = 3;

/// Something that answers positions: this engine or another one.
pub trait Player: Send {
    /// Searches a position from scratch, telling `watch` every thought.
    ///
    /// # Errors
    ///
    /// If there is no usable answer.
    fn answer(
        &mut self,
        record: &Record,
        plan: &Plan,
        watch: &Watch,
        interrupt: &Interrupt,
    ) -> Result<Ending, EngineError>;
}

/// This engine as a player.
#[derive(Debug)]
pub struct Lancet {
    engine: Engine,
}

impl Lancet {
    /// A player with this engine, which has the settings of the plan.
    pub fn new(engine: Engine, plan: &Plan) -> Lancet {
        engine.live().multi_pv.store(plan.multi_pv, Ordering::Relaxed);
        Lancet { engine }
    }
}

struct Listener<'a> {
    watch: &'a Watch<'a>,
    signals: &'a Signals,
}

impl Reporter for Listener<'_> {
    fn info(&self, info: &Info) {
        if self.watch.note(Thought::from(info)) {
            self.signals.stop();
        }
    }
}

impl Player for Lancet {
    fn answer(
        &mut self,
        record: &Record,
        plan: &Plan,
        watch: &Watch,
        interrupt: &Interrupt,
    ) -> Result<Ending, EngineError> {
        self.engine.new_game();
        // Clearing a large table is none of the search's time.
        self.engine.prepare(&|| !interrupt.is_raised())?;
        let job = Job::new(Game::from(record.position.clone()), plan.limits(&record.goal));
        interrupt.watch(&job.signals);
        let start = Instant::now();
        let outcome = self.engine.go(&job, &Listener { watch, signals: &job.signals });
        if interrupt.is_raised() {
            return Err(EngineError::Interrupted);
        }
        watch.note(Thought::from(&outcome.info));
        Ok(Ending { best: outcome.best, nodes: outcome.info.nodes, time: start.elapsed() })
    }
}

/// A position that was answered, or that an engine failed to answer.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// What it earned.
    pub grade: Grade,
    /// The move played.
    pub best: Option<Move>,
    /// The last line of each rank, best first.
    pub lines: Vec<Thought>,
    /// The rank of the best line that meets the goal, from 1.
    pub rank: Option<usize>,
    /// Why there is no answer.
    pub failure: Option<String>,
}

/// Lets a player answer one position; `None` if interrupted.
fn attempt(
    player: &mut dyn Player,
    record: &Record,
    plan: &Plan,
    interrupt: &Interrupt,
) -> Option<Attempt> {
    let goal = &record.goal;
    let watch = Watch::new(goal, plan.stop_early);
    let ended = player.answer(record, plan, &watch, interrupt);
    let Seen { mut lines, found } = unpoisoned(watch.seen.into_inner());
    lines.sort_by_key(|line| line.rank);
    let (ending, failure) = match ended {
        Ok(ending) => (ending, None),
        Err(EngineError::Interrupted) => return None,
        Err(failure) => {
            let none = Ending { best: None, nodes: 0, time: Duration::ZERO };
            (none, Some(failure.to_string()))
        }
    };
    let answers = |best, line: Option<&Thought>| Answer {
        best,
        score: line.map(|line| line.value),
        bound: line.map_or(Bound::Exact, |line| line.bound),
    };
    let solved = goal.is_met(&answers(ending.best, lines.first()));
    let last_depth = lines.first().map_or(0, |line| line.depth);
    let at_end = Found { depth: last_depth, time: ending.time, nodes: ending.nodes };
    let grade = Grade {
        solved: (!goal.is_empty()).then_some(solved),
        points: ending.best.map_or(0, |m| goal.points(m)),
        max_points: goal.max_points(),
        found: solved.then(|| found.unwrap_or(at_end)),
        nodes: ending.nodes,
        time: ending.time,
        failed: failure.is_some(),
    };
    let rank = lines
        .iter()
        .find(|line| goal.is_met(&answers(line.pv.first().copied(), Some(line))))
        .map(|line| line.rank);
    Some(Attempt { grade, best: ending.best, lines, rank, failure })
}

/// Lets the players answer all records, side by side. `done` is told every
/// attempt as it ends, from any thread. An entry of the result is `None` where
/// the run was interrupted before.
///
/// # Errors
///
/// If the system gives no thread.
pub fn run(
    players: &mut [Box<dyn Player>],
    records: &[Record],
    plan: &Plan,
    interrupt: &Interrupt,
    done: &(dyn Fn(usize, &Attempt) + Sync),
) -> io::Result<Vec<Option<Attempt>>> {
    let next = AtomicUsize::new(0);
    let attempts = Mutex::new(vec![None; records.len()]);
    let jobs = players.iter_mut().map(|player| {
        || {
            while !interrupt.is_raised() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(record) = records.get(index) else { break };
                let Some(attempt) = attempt(player.as_mut(), record, plan, interrupt) else {
                    break;
                };
                done(index, &attempt);
                lock(&attempts)[index] = Some(attempt);
            }
        }
    });
    threads::all("player", jobs)?;
    Ok(unpoisoned(attempts.into_inner()))
}
