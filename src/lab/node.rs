//! The search of one node, for any algorithm: end of the game, leaves, table, window shift, move
//! ordering and counting. The algorithms themselves are in [`interior`](super::interior), the root
//! drivers in [`root`](super::root).

use std::collections::HashMap;

use clap::ValueEnum;
use serde::Serialize;

use super::{
    delay::{ScoreDelay, Shift},
    game::{Game, NodeResult},
    interior::{Interior, Node},
    table::{Entries, Entry, Table},
};
use lancet::chess::score::{Bounds, Score, Window};

/// The order in which a node's moves are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Ordering {
    /// Moves as generated.
    None,
    /// Captures and promotions first, by most valuable victim and least valuable attacker
    /// (MVV-LVA).
    Captures,
    /// The hash move, then captures; without a table, the same as `captures`.
    Table,
}

/// A technique of playing programs. With null moves or reductions, scores are no longer those of
/// the whole tree, and may differ between searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Selectivity {
    /// Null-move pruning: if a search after a pass, to the node's depth minus 3, fails high, so
    /// does the node. Only in null windows, from depth 3, and if the evaluation is at least beta.
    NullMove,
    /// Late move reductions in PVS: from depth 3, quiet moves from the fourth on are first tested
    /// with a reduction of one ply.
    Reductions,
    /// Complete principal variations, as playing programs have them. The table gives no cutoffs in
    /// open windows, and root drivers that use only null windows end with an open-window search
    /// around the score. This skips no part of the tree.
    WholeLines,
}

/// The cost of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Nodes whose moves were searched, and nodes that a null move pruned.
    pub interior: u64,
    /// Nodes that were evaluated: those at depth zero, and finished games.
    pub leaves: u64,
    /// Interior nodes and leaves that were searched with a null window.
    pub null: u64,
    /// Positions that the quiescence search visited below depth zero.
    pub quiescence: u64,
    /// Re-searches of a move by Scout and PVS.
    pub researches: u64,
    /// Searches of the root.
    pub passes: u64,
    /// Searches of the root with a null window.
    pub null_passes: u64,
    /// Nodes for which the table had an entry of a permitted depth.
    pub hits: u64,
    /// Hits that settled the node without a search.
    pub cutoffs: u64,
    /// Cutoffs that an entry with only the bound of the newest search would not have given.
    pub second_bound: u64,
    /// Hits on entries that were stored at another distance from the root.
    pub across: u64,
    /// Bounds that a score delay turned into scores; 0 for a sound delay.
    pub turned: u64,
    /// Wall-clock time in seconds.
    pub seconds: f64,
    /// Nodes and their legal moves, by distance from the root.
    #[serde(skip)]
    pub branching: Vec<[u64; 2]>,
}

impl Cost {
    /// Returns the nodes of the tree: interior nodes and leaves. Table cutoffs and the nodes of the
    /// quiescence search are counted separately.
    pub const fn nodes(&self) -> u64 {
        self.interior + self.leaves
    }

    /// Adds another search's cost.
    pub fn add(&mut self, other: &Cost) {
        self.interior += other.interior;
        self.leaves += other.leaves;
        self.null += other.null;
        self.quiescence += other.quiescence;
        self.researches += other.researches;
        self.passes += other.passes;
        self.null_passes += other.null_passes;
        self.hits += other.hits;
        self.cutoffs += other.cutoffs;
        self.second_bound += other.second_bound;
        self.across += other.across;
        self.turned += other.turned;
        self.seconds += other.seconds;
        self.branching.resize(self.branching.len().max(other.branching.len()), [0; 2]);
        for (sum, more) in self.branching.iter_mut().zip(&other.branching) {
            *sum = [sum[0] + more[0], sum[1] + more[1]];
        }
    }
}

/// Best and refuting moves by position and depth.
type Moves<M> = HashMap<(u64, u32), M>;

/// The best or refuting moves of the nodes that have one, for the replayed tree.
#[derive(Clone, Debug)]
pub enum Oracle<M> {
    /// Moves are neither recorded nor used.
    Silent,
    /// Moves are recorded in a first search.
    Listening(Moves<M>),
    /// Moves are used in the replay of that search.
    Speaking(Moves<M>),
}

/// One step of a search, for a [`Watcher`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A node is entered with this window.
    Enter(Interior, Window),
    /// The node's moves are searched with this shifted window.
    Shifted(Window),
    /// The node is left with this result, because the game is over or the depth is zero.
    Leaf(Bounds),
    /// The node is left with this result, found in the table.
    Table(Bounds),
    /// The node is left with this result, after searching moves.
    Leave(Bounds),
}

/// A function that receives every step with its node and the distance from the root.
type Watcher<'a, G> = Box<dyn FnMut(&G, u32, Step) + 'a>;

/// The state of a search, without the position and the window.
pub struct Search<'a, G: Game> {
    /// The cost so far.
    pub cost: Cost,
    /// The best move of the node searched last.
    pub best: Option<G::Move>,
    /// The depth of the root, in plies.
    pub root_depth: u32,
    /// The score delay: how a node changes the score that it returns.
    pub delay: ScoreDelay,
    pub(super) oracle: Oracle<G::Move>,
    table: Table<G::Move>,
    ordering: Ordering,
    pub(super) selectivity: &'a [Selectivity],
    /// Whether the node that is entered next was reached by passing.
    passed: bool,
    pub(super) watcher: Option<Watcher<'a, G>>,
}

impl<'a, G: Game> Search<'a, G> {
    /// Creates a search that has not started.
    pub fn new(delay: ScoreDelay, ordering: Ordering, table: Table<G::Move>) -> Search<'a, G> {
        Search {
            cost: Cost::default(),
            best: None,
            root_depth: 0,
            oracle: Oracle::Silent,
            table,
            delay,
            ordering,
            selectivity: &[],
            passed: false,
            watcher: None,
        }
    }

    /// Returns whether the search uses this technique.
    pub(super) fn selects(&self, what: Selectivity) -> bool {
        self.selectivity.contains(&what)
    }

    /// Searches `p` with `interior` and returns the score for its side to move.
    pub fn score(&mut self, interior: Interior, p: &G, depth: u32, window: Window) -> Score {
        let bounds = self.node(interior, p, depth, window);
        // The result of a search always decides its window.
        bounds.cutoff(window).unwrap_or(bounds.lower)
    }

    /// Searches `p` to `depth` plies: does what every node needs, and calls `interior` to search
    /// the moves.
    pub fn node(&mut self, interior: Interior, p: &G, depth: u32, window: Window) -> Bounds {
        self.tell(p, depth, Step::Enter(interior, window));
        let ply = self.root_depth - depth;
        let in_table = depth > 0 || p.leaf_is_expensive();
        let mut hint = None;
        if in_table {
            let probe = self.table.probe(p.key(), depth);
            hint = probe.hint;
            if let Some(entry) = probe.found {
                self.cost.hits += 1;
                self.cost.across += u64::from(entry.ply != ply);
                let bounds = self.delay.from_table(entry.found.bounds, ply);
                let open = !window.is_null() && self.selects(Selectivity::WholeLines);
                if !open && self.table.settles(bounds, window) {
                    let newest = self.delay.from_table(entry.newest, ply);
                    self.cost.cutoffs += 1;
                    self.cost.second_bound += u64::from(newest.cutoff(window).is_none());
                    self.best = entry.found.best;
                    self.tell(p, depth, Step::Table(bounds));
                    return bounds;
                }
            }
        }

        // The shift of Muller 2007: every result is changed by a function, so the window is changed
        // by its inverse first.
        let shift = self.delay.at(|| p.evaluate());
        let inner = shift.window(window);
        self.cost.null += u64::from(window.is_null());
        let mut moves = p.moves();
        self.count_moves(depth, moves.len());
        if let Some(value) = p.terminal(&moves) {
            self.cost.leaves += 1;
            self.best = None;
            let bounds = shift.bounds(Bounds::exact(self.delay.terminal(value, ply)));
            self.tell(p, depth, Step::Leaf(bounds));
            return bounds;
        }

        if let Some(score) = self.null_move(interior, p, depth, inner) {
            self.cost.interior += 1;
            self.best = None;
            return shift.bounds(Bounds::at_least(score));
        }

        let before = self.cost.nodes() + self.cost.quiescence;
        let found = if depth == 0 {
            self.cost.leaves += 1;
            NodeResult { bounds: p.leaf(inner, &mut self.cost.quiescence), best: None }
        } else {
            self.cost.interior += 1;
            self.order(p, depth, &mut moves, hint);
            if inner != window {
                self.tell(p, depth, Step::Shifted(inner));
            }
            interior.search(self, &Node { position: p, moves: &moves, depth, window: inner })
        };
        if let (Oracle::Listening(known), Some(best)) = (&mut self.oracle, found.best) {
            known.insert((p.key(), depth), best);
        }
        let bounds = self.outside(shift, found.bounds, inner, window);
        let found = NodeResult { bounds, best: found.best };
        let leave = if depth == 0 { Step::Leaf } else { Step::Leave };
        self.tell(p, depth, leave(found.bounds));
        if in_table {
            let size = self.cost.nodes() + self.cost.quiescence - before;
            let kept = |kind: Entries| self.delay.to_table(kind.keep(found.bounds, window), ply);
            let newest = kept(Entries::OneBound);
            let found = NodeResult { bounds: kept(self.table.kind()), ..found };
            self.table.store(Entry { key: p.key(), depth, ply, found, size, newest });
        }
        self.best = found.best;
        found.bounds
    }

    /// Returns the score after a pass, if it fails high.
    fn null_move(
        &mut self,
        interior: Interior,
        p: &G,
        depth: u32,
        window: Window,
    ) -> Option<Score> {
        let passed = std::mem::take(&mut self.passed);
        if passed
            || depth < 3
            || !window.is_null()
            || !self.selects(Selectivity::NullMove)
            || p.evaluate() < window.beta
        {
            return None;
        }
        let child = p.pass()?;
        // The distance from the root is `root_depth` less the remaining depth.
        (self.passed, self.root_depth) = (true, self.root_depth - 2);
        let score = -self.score(interior, &child, depth - 3, window.flip());
        (self.passed, self.root_depth) = (false, self.root_depth + 2);
        (score >= window.beta).then_some(score)
    }

    /// Converts bounds that were found inside the node, with the window `inner`, to bounds outside
    /// it, where the window is `outer`. If a score delay does not shift the window as it shifts
    /// scores, the bounds may not decide the outer window. Then the parent takes the bound for a
    /// score, as a program would.
    fn outside(&mut self, shift: Shift, found: Bounds, inner: Window, outer: Window) -> Bounds {
        let bounds = shift.bounds(found);
        if bounds.cutoff(outer).is_some() {
            return bounds;
        }
        self.cost.turned += 1;
        let fails_low = found.upper <= inner.alpha;
        Bounds::exact(if fails_low { bounds.upper } else { bounds.lower })
    }

    /// Sorts the moves into search order.
    fn order(&self, p: &G, depth: u32, moves: &mut [G::Move], hint: Option<G::Move>) {
        if self.ordering != Ordering::None {
            moves.sort_by_cached_key(|&m| -p.gain(m));
        }
        let known = match &self.oracle {
            Oracle::Speaking(known) => known.get(&(p.key(), depth)).copied(),
            _ => None,
        };
        let hint = if self.ordering == Ordering::Table { hint } else { None };
        if let Some(first) = known.or(hint)
            && let Some(i) = moves.iter().position(|&m| m == first)
        {
            moves[..=i].rotate_right(1);
        }
    }

    fn count_moves(&mut self, depth: u32, moves: usize) {
        if depth > 0 {
            let ply = (self.root_depth - depth) as usize;
            let counts = &mut self.cost.branching;
            counts.resize(counts.len().max(ply + 1), [0; 2]);
            counts[ply][0] += 1;
            counts[ply][1] += moves as u64;
        }
    }

    fn tell(&mut self, p: &G, depth: u32, step: Step) {
        if let Some(watcher) = &mut self.watcher {
            watcher(p, self.root_depth - depth, step);
        }
    }
}
