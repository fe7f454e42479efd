//! Runs the searches of the players and follows their analysis. It prints nothing.

use std::{
    io,
    sync::{Mutex, atomic::Ordering},
    time::{Duration, Instant},
};

use shakmaty::Move;

use super::score::{Attempt, Solution, Thought};
use crate::{
    chess::{epd::Record, notation::MoveError, position::Game},
    engine::{Engine, Job, MemoryError},
    play::{
        limits::Limits,
        report::{Bound, Info, Reporter},
        signals::Signals,
    },
    system::{
        arguments,
        sync::{lock, unpoisoned},
    },
    tools::{
        self,
        interrupt::Interrupt,
        options::{Effort, Tables, Workers},
        positions::Suite,
    },
};

/// Settings of the search of every position.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Plan {
    #[command(flatten)]
    pub effort: Effort,
    #[command(flatten)]
    pub workers: Workers,
    #[command(flatten)]
    pub tables: Tables,
    /// Search for the mate that the position asks for, and stop as soon as it is proven
    #[arg(long)]
    pub mate: bool,
    /// Stop once the solution has been the best move for this many iterations
    #[arg(long, value_name = "N", value_parser = tools::depth)]
    pub stop_early: Option<u32>,
    /// Hash table size for each job, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = tools::hash_size)]
    pub hash: usize,
    /// Number of principal variations for each position
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = arguments::whole::<u16>(1..=218))]
    pub multipv: u16,
    /// Give up on an external engine that has not answered for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = arguments::whole::<u64>(1..=86_400))]
    pub engine_timeout: u64,
}

/// Search time if none of --movetime, --nodes and --depth is given.
const DEFAULT_MOVETIME: Duration = Duration::from_secs(1);

/// A position for a player, and the player's analysis so far.
pub(super) struct Task<'a> {
    pub record: &'a Record,
    pub plan: &'a Plan,
    pub interrupt: &'a Interrupt,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The latest line of each rank.
    lines: Vec<Thought>,
    solution: Option<Solution>,
}

impl<'a> Task<'a> {
    fn new(record: &'a Record, plan: &'a Plan, interrupt: &'a Interrupt) -> Task<'a> {
        Task { record, plan, interrupt, seen: Mutex::default() }
    }

    /// Returns the limits of the search.
    pub(super) fn limits(&self) -> Limits {
        let mate = self.record.goal.mate.filter(|_| self.plan.mate).map(i32::unsigned_abs);
        Limits { mate, analyse: false, ..self.plan.effort.limits(DEFAULT_MOVETIME) }
    }

    /// Adds a line of analysis. Returns whether the search may end here.
    pub(super) fn note(&self, thought: Thought) -> bool {
        let goal = &self.record.goal;
        let mut seen = lock(&self.seen);
        let main = thought.rank == 1;
        // A fail-low line repeats an old move and has no new information.
        if main && thought.bound != Bound::Upper && !goal.is_empty() {
            let Thought { depth, time, nodes, .. } = thought;
            let solved = goal.is_met(thought.pv.first().copied(), Some(&thought));
            let first = seen.solution.unwrap_or(Solution { depth, time, nodes });
            seen.solution = solved.then_some(first);
        }
        let stood = match (seen.solution, self.plan.stop_early) {
            (Some(solution), Some(plies)) if main && thought.bound == Bound::Exact => {
                thought.depth.saturating_sub(solution.depth) >= plies - 1
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

/// The result of a player's search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    /// The move that the player chose.
    pub best: Option<Move>,
    /// Nodes of the whole search.
    pub nodes: u64,
    /// Duration of the whole search.
    pub time: Duration,
}

/// Reasons why a player gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum EngineError {
    /// The run was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// There is not enough memory for this engine.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The command line is empty or has an unclosed quote.
    #[error("expected a program and its arguments, with balanced quotes")]
    CommandLine,
    /// The program does not start.
    #[error("cannot start '{program}': {reason}")]
    Start {
        /// The first word of the command line.
        program: String,
        /// The error of the system.
        reason: io::Error,
    },
    /// The engine did not send the expected answer.
    #[error("the engine did not send '{0}' in time")]
    Silent(&'static str),
    /// The engine did not stop searching.
    #[error("no bestmove {} s after 'stop'", .0.as_secs())]
    Unstoppable(Duration),
    /// The engine has closed its pipes.
    #[error("the engine {how}; the last command or expected answer was '{during}'")]
    Died {
        /// How it ended.
        how: String,
        /// The command that was sent, or the answer that was expected.
        during: String,
    },
    /// The engine chose an illegal move.
    #[error("bestmove: {0}")]
    Move(MoveError),
    /// The engine has failed too often.
    #[error("skipped after {} failures in a row", MAX_FAILURES)]
    GivenUp,
}

/// Number of failures in a row after which an engine is not restarted.
pub(super) const MAX_FAILURES: u32 = 3;

/// An engine that searches the positions of a suite: Lancet or another one.
pub(super) trait Player: Send {
    /// Searches a position from scratch, and adds every line of analysis to the task.
    ///
    /// # Errors
    ///
    /// If there is no usable answer.
    fn answer(&mut self, task: &Task) -> Result<Reply, EngineError>;
}

/// This engine with the settings of the plan.
impl Player for Engine {
    fn answer(&mut self, task: &Task) -> Result<Reply, EngineError> {
        self.new_game();
        // The time to clear a large table must not count as search time.
        self.prepare(&|| !task.interrupt.is_raised())?;
        let job = Job::new(Game::from(task.record.position.clone()), task.limits());
        task.interrupt.watch(&job.signals);
        let start = Instant::now();
        let outcome = self.go(&job, &Listener { task, signals: &job.signals });
        if task.interrupt.is_raised() {
            return Err(EngineError::Interrupted);
        }
        task.note(Thought::from(&outcome.info));
        Ok(Reply { best: outcome.best, nodes: outcome.info.nodes, time: start.elapsed() })
    }
}

struct Listener<'a> {
    task: &'a Task<'a>,
    signals: &'a Signals,
}

impl Reporter for Listener<'_> {
    fn info(&self, info: &Info) {
        if self.task.note(Thought::from(info)) {
            self.signals.stop();
        }
    }
}

/// A participating engine, with one player for each job.
pub(super) struct Contestant {
    /// Name in the tables.
    pub name: String,
    /// Command line; `None` for this engine.
    pub command: Option<String>,
    /// The players, one for each job.
    pub players: Vec<Box<dyn Player>>,
}

impl Contestant {
    /// Creates the players of this engine.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub(super) fn lancet(plan: &Plan) -> anyhow::Result<Contestant> {
        let Workers { threads, jobs } = plan.workers;
        let mut engines = tools::engines(jobs, plan.hash, threads)?;
        plan.tables.open_for(&mut engines);
        let player = |engine: Engine| -> Box<dyn Player> {
            engine.live().multi_pv.store(usize::from(plan.multipv), Ordering::Relaxed);
            Box::new(engine)
        };
        let players = engines.into_iter().map(player).collect();
        let name = format!("Lancet {}", env!("CARGO_PKG_VERSION"));
        Ok(Contestant { name, command: None, players })
    }
}

/// A suite of positions with their solutions.
pub(super) type EpdSuite = Suite<Record>;

/// A suite with the answers of all engines.
pub(super) struct SuiteResult {
    pub suite: EpdSuite,
    /// For each engine, an attempt at each position, or `None` if the run was interrupted before
    /// it.
    pub attempts: Vec<Vec<Option<Attempt>>>,
}

/// Lets a player search one position, and grades its move. Returns `None` if interrupted.
pub(super) fn attempt(
    player: &mut dyn Player,
    record: &Record,
    plan: &Plan,
    interrupt: &Interrupt,
) -> Option<Attempt> {
    if interrupt.is_raised() {
        return None;
    }
    let goal = &record.goal;
    let task = Task::new(record, plan, interrupt);
    let (reply, failure) = match player.answer(&task) {
        Ok(reply) => (reply, None),
        Err(EngineError::Interrupted) => return None,
        Err(error) => (Reply::default(), Some(error.to_string())),
    };
    let Seen { mut lines, solution } = unpoisoned(task.seen.into_inner());
    lines.sort_by_key(|line| line.rank);
    let Reply { best, nodes, time } = reply;
    let solved = goal.is_met(best, lines.first());
    let depth = lines.first().map_or(0, |line| line.depth);
    let meets = |line: &&Thought| goal.is_met(line.pv.first().copied(), Some(*line));
    Some(Attempt {
        solved: (!goal.is_empty()).then_some(solved),
        points: best.map_or(0, |m| goal.points(m)),
        max_points: goal.max_points(),
        best,
        solution: solved.then(|| solution.unwrap_or(Solution { depth, time, nodes })),
        nodes,
        time,
        rank: lines.iter().find(meets).map(|line| line.rank),
        lines,
        failure,
    })
}
