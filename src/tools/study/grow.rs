//! Growth: engines search where the tree says, side by side, until a limit is reached
//! or somebody interrupts.

use std::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
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
        report::{Note, Reporter},
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
pub struct Plan {
    /// The moves from the start to where growth begins.
    pub line: Vec<Move>,
    /// Nodes of a search, at least: one that is made again gets twice as many as the last,
    /// a new position half of what its parent had.
    pub step: u64,
    /// Nodes of all searches; searches that run when they are reached are shortened
    /// beforehand.
    pub nodes: Option<u64>,
    /// No search begins after this.
    pub until: Option<Instant>,
    /// Most pieces that there are endgame tables for.
    pub table_pieces: usize,
}

/// Why growth ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The limit was reached.
    Limit,
    /// All is decided: by mates, draws and endgame tables.
    Decided,
    /// Somebody interrupted it.
    Interrupted,
}

/// What the threads share.
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
pub fn grow(
    study: &mut Study,
    engines: &mut [Engine],
    plan: &Plan,
    interrupt: &Interrupt,
    tick: &(dyn Fn(&Study) + Sync),
) -> anyhow::Result<End> {
    let from = study.add_line(&plan.line, None)?;
    let before = study.nodes();
    let state = Mutex::new(State { study, before, given: 0, running: 0, ended: None });
    let changed = Condvar::new();
    thread::scope(|scope| {
        let (state, changed) = (&state, &changed);
        for engine in engines {
            let work = move || {
                while let Some(task) = next(state, changed, plan, from, interrupt) {
                    let found = search(engine, &task, plan, interrupt);
                    let mut state = lock(state);
                    give_back(&mut state, &task, found);
                    tick(state.study);
                    changed.notify_all();
                }
                changed.notify_all();
            };
            if let Err(error) = threads::spawn(scope, "study", work) {
                let error = anyhow::Error::new(error).context("cannot start a thread");
                lock(state).ended.get_or_insert(Err(error));
            }
        }
    });
    let state = unpoisoned(state.into_inner());
    state.study.sync()?;
    state.ended.unwrap_or(Ok(End::Decided))
}

/// Waits for a search to do; `None` at the end.
fn next(
    state: &Mutex<State>,
    changed: &Condvar,
    plan: &Plan,
    from: Id,
    interrupt: &Interrupt,
) -> Option<Task> {
    let mut state = lock(state);
    loop {
        if interrupt.is_raised() {
            state.ended.get_or_insert(Ok(End::Interrupted));
        } else if plan.until.is_some_and(|until| Instant::now() >= until)
            || plan.nodes.is_some_and(|nodes| state.given >= nodes)
        {
            state.ended.get_or_insert(Ok(End::Limit));
        }
        if state.ended.is_some() {
            return None;
        }
        match take(&mut state, plan, from) {
            Ok(Some(task)) => return Some(task),
            Ok(None) if state.running == 0 => state.ended = Some(Ok(End::Decided)),
            Ok(None) => state = unpoisoned(changed.wait_timeout(state, PATIENCE)).0,
            Err(error) => state.ended = Some(Err(error)),
        }
    }
}

/// The next search, if there is one; the tree grows until there is.
fn take(state: &mut State, plan: &Plan, from: Id) -> anyhow::Result<Option<Task>> {
    loop {
        let Some(step) = state.study.tree().next(from) else { return Ok(None) };
        if let Some(m) = step.open {
            state.study.add(step.at, m, None)?;
            continue;
        }
        state.study.tree_mut().set_busy(step.at, true);
        let tree = state.study.tree();
        let mut game = Game::from(tree.node(Tree::START).position.clone());
        plan.line.iter().chain(&step.path).for_each(|&m| game.play(m));
        let node = tree.node(step.at);
        let rest = node.position.legal_moves().into_iter().filter(|&m| node.edge(m).is_none());
        let moves = if node.edges.is_empty() { Vec::new() } else { rest.collect() };
        let left = plan.nodes.map_or(u64::MAX, |nodes| nodes - state.given);
        let most = (state.before + state.given) / LARGEST_SHARE;
        let most = most.clamp(plan.step, LARGEST_SEARCH.max(plan.step));
        let nodes = tree.effort(step.at).clamp(plan.step, most).min(left);
        if nodes >= LONG_SEARCH {
            state.study.sync()?;
        }
        state.given += nodes;
        state.running += 1;
        return Ok(Some(Task { at: step.at, game, moves, nodes }));
    }
}

/// Notes what was found; nothing, if the search was interrupted.
fn give_back(state: &mut State, task: &Task, found: Option<RestSearch>) {
    state.running -= 1;
    state.study.tree_mut().set_busy(task.at, false);
    if let Some(found) = found {
        // What was not needed is there for others.
        state.given -= task.nodes.saturating_sub(found.nodes);
        if let Err(error) = state.study.found(task.at, found) {
            state.ended.get_or_insert(Err(error));
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

/// Searches; `None` if interrupted.
fn search(
    engine: &mut Engine,
    task: &Task,
    plan: &Plan,
    interrupt: &Interrupt,
) -> Option<RestSearch> {
    let go = |engine: &mut Engine, nodes| {
        let limits = Limits {
            nodes: Some(nodes),
            analyse: true,
            searchmoves: task.moves.clone(),
            ..Limits::default()
        };
        let job = Job::new(task.game.clone(), limits);
        interrupt.watch(&job.signals);
        let known = Known::default();
        let outcome = engine.go(&job, &known);
        let line = match (outcome.info.pv.is_empty(), outcome.best) {
            (true, best) => best.into_iter().collect(),
            (false, _) => outcome.info.pv,
        };
        // A win whose distance no table tells has the search's score.
        let exact = outcome.info.drawn || is_decisive(outcome.info.score);
        let found = RestSearch {
            score: outcome.info.score,
            depth: outcome.info.depth,
            nodes: outcome.info.nodes,
            line,
            exact: known.0.into_inner() && exact,
        };
        (!interrupt.is_raised()).then_some(found)
    };
    let mut found = None;
    if may_be_known(task.game.position(), plan.table_pieces) {
        found = go(engine, task.nodes.min(TABLE_NODES)).filter(|found| found.exact);
    }
    let mut found = match found {
        Some(found) => found,
        None => go(engine, task.nodes)?,
    };
    if found.exact && !is_decisive(found.score) {
        // A win that the fifty-move rule spoils is none.
        found.score = DRAW;
    }
    Some(found)
}
