//! Growth: engines search where the tree says, side by side, until a limit is reached
//! or somebody interrupts.

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

/// Nodes for a position that endgame tables may know: enough to find a mate that is
/// near.
const TABLE_NODES: u64 = 10_000;
/// A search takes at most this share of all nodes so far, one in so many: no line eats up
/// the rest of the tree ...
const LARGEST_SHARE: u64 = 8;
/// ... and never more than this.
const LARGEST_SEARCH: u64 = 100_000_000;
/// Before a search of so many nodes, seconds at least, what was found is put on the disk:
/// it may be long until more is.
const LONG_SEARCH: u64 = 2_000_000;
/// An engine without work looks for some so often: others may find it.
const PATIENCE: Duration = Duration::from_millis(50);

/// Where to grow, and how much.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The moves from the start to where growth begins.
    pub(super) line: Vec<Move>,
    /// Nodes of a search, at least: one that is made again gets twice as many as the last,
    /// a new position half of what its parent had.
    pub(super) step: u64,
    /// Nodes of all searches; searches that run when they are reached are shortened
    /// beforehand.
    pub(super) nodes: Option<u64>,
    /// No search begins after this.
    pub(super) until: Option<Instant>,
    /// Most pieces that there are endgame tables for.
    pub(super) table_pieces: usize,
}

/// Why growth ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The limit was reached.
    Limit,
    /// All is decided: by mates, draws and endgame tables.
    Decided,
    /// Somebody interrupted it.
    Interrupted,
}

/// What the threads share.
struct Growth<'a> {
    plan: &'a Plan,
    /// Where it begins.
    from: Id,
    interrupt: &'a Interrupt,
    state: Mutex<State<'a>>,
    /// A search has ended.
    changed: Condvar,
}

struct State<'a> {
    study: &'a mut Study,
    /// Nodes of all searches before.
    before: u64,
    /// Nodes that have been given to searches since.
    given: u64,
    /// Searches that run.
    running: usize,
    ended: Option<anyhow::Result<End>>,
}

/// A search to do.
struct Task {
    at: Id,
    game: Game,
    /// If not empty, only these moves.
    moves: Vec<Move>,
    nodes: u64,
}

/// Grows a study. `tick` is told of it after every search, from any thread.
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
    let from = study.add_line(&plan.line, None)?;
    let before = study.nodes();
    let state = Mutex::new(State { study, before, given: 0, running: 0, ended: None });
    let growth = Growth { plan, from, interrupt, state, changed: Condvar::new() };
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
    /// Waits for a search to do; `None` at the end.
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
                match state.take(plan, self.from) {
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

    /// Searches; `None` if interrupted.
    fn search(&self, engine: &mut Engine, task: &Task) -> Option<RestSearch> {
        let mut known = None;
        if may_be_known(task.game.position(), self.plan.table_pieces) {
            known = self.go(engine, task, TABLE_NODES).filter(|found| found.exact);
        }
        known.or_else(|| self.go(engine, task, u64::MAX))
    }

    /// Searches with at most so many nodes; `None` if interrupted.
    fn go(&self, engine: &mut Engine, task: &Task, most: u64) -> Option<RestSearch> {
        let limits = Limits {
            nodes: Some(task.nodes.min(most)),
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
        // A win whose distance no table tells has the search's score.
        let exact = known.0.into_inner() && (info.drawn || is_won);
        // A win that the fifty-move rule spoils is none.
        let score = if exact && !is_won { DRAW } else { info.score };
        let found = RestSearch { score, depth, nodes, line, exact };
        (!self.interrupt.is_raised()).then_some(found)
    }
}

impl State<'_> {
    /// The next search, if there is one; the tree grows until there is.
    fn take(&mut self, plan: &Plan, from: Id) -> anyhow::Result<Option<Task>> {
        loop {
            let Some(step) = self.study.tree().next(from) else { return Ok(None) };
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

    /// Notes what was found; nothing, if the search was interrupted.
    fn give_back(&mut self, task: &Task, found: Option<RestSearch>) {
        self.running -= 1;
        self.study.tree_mut().set_busy(task.at, false);
        if let Some(found) = found {
            // What was not needed is there for others.
            self.given -= task.nodes.saturating_sub(found.nodes);
            if let Err(error) = self.study.found(task.at, found) {
                self.ended.get_or_insert(Err(error));
            }
        }
    }
}

/// Learns whether the endgame tables know all moves.
#[derive(Default)]
struct Known(AtomicBool);

impl Reporter for Known {
    fn note(&self, note: &Note) {
        if let Note::Plan { known, moves, .. } = note {
            self.0.store(*known > 0 && known == moves, Ordering::Relaxed);
        }
    }
}

/// May there be a table for this?
fn may_be_known(position: &Position, pieces: usize) -> bool {
    position.board().occupied().count() <= pieces
        && position.chess().castles().castling_rights().is_empty()
}
