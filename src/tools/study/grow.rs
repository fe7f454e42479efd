//! Growth: engines search the positions that the tree chooses, in parallel, until a limit or an
//! interrupt.

use std::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use shakmaty::{Move, Position as _};

use super::{
    file::Study,
    tree::{Id, RestSearch, Tree},
};
use crate::{
    chess::{
        position::{Game, Position},
        score::{DRAW, is_decisive},
    },
    engine::{Engine, Job, threads},
    play::{
        limits::Limits,
        report::{Note, Outcome, Reporter},
    },
    system::sync::{lock, unpoisoned},
    tools::interrupt::Interrupt,
};

/// Node limit for the first search of a position that tablebases may know. It is enough to find a
/// near mate.
const TABLE_NODES: u64 = 10_000;
/// A search gets at most this fraction (1/8) of all nodes so far, so that no line takes the nodes
/// of the others.
const LARGEST_SHARE: u64 = 8;
/// Maximum nodes of any search.
const LARGEST_SEARCH: u64 = 100_000_000;
/// Searches of at least this many nodes take seconds, so the results so far are written to the disk
/// before them.
const LONG_SEARCH: u64 = 2_000_000;
/// Interval at which an idle engine looks for work, which running searches may create.
const PATIENCE: Duration = Duration::from_millis(50);

/// The start and the limits of growth.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The moves from the start position to the position where growth begins.
    pub(super) line: Vec<Move>,
    /// The node of that position.
    pub(super) from: Id,
    /// Minimum nodes of a search. A repeated search gets twice as many nodes as the last one, a new
    /// position half of its parent's.
    pub(super) step: u64,
    /// Maximum number of nodes in this run. The last searches are shortened to stay within it.
    pub(super) nodes: Option<u64>,
    /// Time after which no search begins.
    pub(super) until: Option<Instant>,
    /// Maximum number of pieces in the tablebases.
    pub(super) table_pieces: usize,
}

/// The reason why growth ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A limit was reached.
    Limit,
    /// The result is decided by mates, draws or tablebases.
    Decided,
    /// The user interrupted it.
    Interrupted,
}

/// State that the threads share.
struct Growth<'a> {
    plan: &'a Plan,
    interrupt: &'a Interrupt,
    state: Mutex<State<'a>>,
    /// Signals that a search has ended.
    changed: Condvar,
}

struct State<'a> {
    study: &'a mut Study,
    /// Nodes of all searches of earlier runs.
    before: u64,
    /// Nodes granted to searches in this run.
    given: u64,
    /// Number of running searches.
    running: usize,
    ended: Option<anyhow::Result<End>>,
}

/// A search to do.
struct Task {
    at: Id,
    game: Game,
    /// The moves to search; empty for all.
    moves: Vec<Move>,
    nodes: u64,
}

/// Grows a study. Calls `tick` after every search, from any thread.
///
/// # Errors
///
/// If the file cannot be written, or no thread can be started.
pub(super) fn grow(
    study: &mut Study,
    engines: &mut [Engine],
    plan: &Plan,
    interrupt: &Interrupt,
    tick: &(dyn Fn(&Study) + Sync),
) -> anyhow::Result<End> {
    let before = study.nodes();
    let state = Mutex::new(State { study, before, given: 0, running: 0, ended: None });
    let growth = Growth { plan, interrupt, state, changed: Condvar::new() };
    let work = |engine: &mut Engine| {
        while let Some(task) = growth.next() {
            let found = growth.search(engine, &task);
            let mut state = lock(&growth.state);
            state.give_back(&task, found);
            tick(state.study);
            growth.changed.notify_all();
        }
        growth.changed.notify_all();
    };
    let work = &work;
    threads::all("study", engines.iter_mut().map(|engine| move || work(engine)))?;
    let state = unpoisoned(growth.state.into_inner());
    state.study.sync()?;
    state.ended.unwrap_or(Ok(End::Decided))
}

impl Growth<'_> {
    /// Waits for the next search. Returns `None` at the end of growth.
    fn next(&self) -> Option<Task> {
        let plan = self.plan;
        let mut state = lock(&self.state);
        while state.ended.is_none() {
            let is_late = plan.until.is_some_and(|until| Instant::now() >= until);
            let end = if self.interrupt.is_raised() {
                Ok(End::Interrupted)
            } else if is_late || plan.nodes.is_some_and(|nodes| state.given >= nodes) {
                Ok(End::Limit)
            } else {
                match state.take(plan) {
                    Ok(Some(task)) => return Some(task),
                    Ok(None) if state.running > 0 => {
                        state = unpoisoned(self.changed.wait_timeout(state, PATIENCE)).0;
                        continue;
                    }
                    none => none.map(|_| End::Decided),
                }
            };
            state.ended = Some(end);
        }
        None
    }

    /// Searches a position. Returns `None` if interrupted.
    fn search(&self, engine: &mut Engine, task: &Task) -> Option<RestSearch> {
        let mut spent = 0;
        if may_be_known(task.game.position(), self.plan.table_pieces) {
            let found = self.go(engine, task, task.nodes.min(TABLE_NODES))?;
            if found.exact || found.nodes >= task.nodes {
                return Some(found);
            }
            spent = found.nodes;
        }
        let found = self.go(engine, task, task.nodes - spent)?;
        Some(RestSearch { nodes: spent + found.nodes, ..found })
    }

    /// Searches with at most this number of nodes. Returns `None` if interrupted.
    fn go(&self, engine: &mut Engine, task: &Task, nodes: u64) -> Option<RestSearch> {
        let limits = Limits {
            nodes: Some(nodes),
            analyse: true,
            searchmoves: task.moves.clone(),
            ..Limits::default()
        };
        let job = Job::new(task.game.clone(), limits);
        self.interrupt.watch(&job.signals);
        let known = Known::default();
        let Outcome { best, info, .. } = engine.go(&job, &known);
        let (depth, nodes) = (info.depth, info.nodes);
        let line = if info.pv.is_empty() { best.into_iter().collect() } else { info.pv };
        let is_won = is_decisive(info.score);
        // Without DTZ tables, even a known win has the score of the search, which may not be
        // decisive. Such a result is not exact.
        let exact = known.0.into_inner() && (info.drawn || is_won);
        // A win that the fifty-move rule prevents is a draw.
        let score = if exact && !is_won { DRAW } else { info.score };
        let found = RestSearch { score, depth, nodes, line, exact };
        (!self.interrupt.is_raised()).then_some(found)
    }
}

impl State<'_> {
    /// Returns the next search, if there is one. Adds nodes to the tree until a search is needed.
    fn take(&mut self, plan: &Plan) -> anyhow::Result<Option<Task>> {
        loop {
            let Some(step) = self.study.tree().next(plan.from) else { return Ok(None) };
            if let Some(m) = step.open {
                self.study.add(step.at, m, None)?;
                continue;
            }
            self.study.tree_mut().set_busy(step.at, true);
            let tree = self.study.tree();
            let mut game = Game::from(tree.node(Tree::START).position.clone());
            plan.line.iter().chain(&step.path).for_each(|&m| game.play(m));
            let node = tree.node(step.at);
            let rest = node.position.legal_moves().into_iter().filter(|&m| node.edge(m).is_none());
            let moves = if node.edges.is_empty() { Vec::new() } else { rest.collect() };
            let left = plan.nodes.map_or(u64::MAX, |nodes| nodes - self.given);
            let most = (self.before + self.given) / LARGEST_SHARE;
            let most = most.clamp(plan.step, LARGEST_SEARCH.max(plan.step));
            let nodes = tree.effort(step.at).clamp(plan.step, most).min(left);
            if nodes >= LONG_SEARCH {
                self.study.sync()?;
            }
            self.given += nodes;
            self.running += 1;
            return Ok(Some(Task { at: step.at, game, moves, nodes }));
        }
    }

    /// Adds the result of a search, unless it was interrupted.
    fn give_back(&mut self, task: &Task, found: Option<RestSearch>) {
        self.running -= 1;
        self.study.tree_mut().set_busy(task.at, false);
        if let Some(found) = found {
            // Return unused nodes for other searches.
            self.given -= task.nodes.saturating_sub(found.nodes);
            if let Err(error) = self.study.found(task.at, found) {
                // A write error matters more than another reason to end.
                if !matches!(self.ended, Some(Err(_))) {
                    self.ended = Some(Err(error));
                }
            }
        }
    }
}

/// Learns whether the tablebases know all moves of the root.
#[derive(Default)]
struct Known(AtomicBool);

impl Reporter for Known {
    fn note(&self, note: &Note) {
        if let Note::Plan { known, moves, .. } = note {
            self.0.store(*known > 0 && known == moves, Ordering::Relaxed);
        }
    }
}

/// Returns whether a tablebase may know this position.
fn may_be_known(position: &Position, pieces: usize) -> bool {
    position.board().occupied().count() <= pieces
        && position.chess().castles().castling_rights().is_empty()
}
