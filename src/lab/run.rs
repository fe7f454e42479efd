//! One cell on one position: deepening, the root driver over a [`Search`],
//! and the replay that knows every best move. Any game.

use std::time::Instant;

use clap::ValueEnum;

use super::{
    cell::Cell,
    delay::{ScoreDelay, inverse},
    game::Game,
    interior::Interior,
    node::{Cost, Oracle, Ordering, Search, Selectivity},
    root::{End, Guess, Root},
    table::{Table, TableMode},
};
use lancet::chess::score::{Score, Window};

/// The first guess of aspiration and MTD(f). Bisection and the full window need no guess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FirstGuess {
    /// The score of the previous depth; at depth 1, or without iterative
    /// deepening, the static evaluation.
    #[default]
    Previous,
    /// The static evaluation of the root.
    Static,
    /// Zero.
    Zero,
}

/// What is the same for all cells that are compared.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// Plies.
    pub depth: u32,
    /// With iterative deepening depth `d` starts from the table and the score
    /// of `d - 1`, and the cost is that of all iterations. Without, every depth
    /// starts from nothing, and the cost is that of the last.
    pub iterative: bool,
    /// Move ordering.
    pub ordering: Ordering,
    /// What is left out; nothing, if values are to be compared.
    pub selectivity: &'a [Selectivity],
    /// Where aspiration and MTD(f) begin.
    pub guess: FirstGuess,
    /// MTD(f): searches after which it is stopped.
    pub max_passes: u32,
}

impl Conditions<'static> {
    /// The usual conditions of a search to `depth` plies.
    pub const fn new(depth: u32) -> Conditions<'static> {
        Conditions {
            depth,
            iterative: true,
            ordering: Ordering::Table,
            selectivity: &[],
            guess: FirstGuess::Previous,
            max_passes: 200,
        }
    }
}

/// What a cell found at one depth.
#[derive(Clone, Debug)]
pub struct Depth<M> {
    /// The root's score.
    pub score: Score,
    /// A move with that score, if the game is not over.
    pub best: Option<M>,
    /// Whether MTD(f) converged.
    pub end: End,
    /// Cost of this depth.
    pub cost: Cost,
}

/// The searches of a cell to depths 1, 2, ... in order.
pub struct Iterations<M> {
    /// What was found; at least one.
    pub depths: Vec<Depth<M>>,
    /// Does each search start from what those before it have left?
    iterative: bool,
    /// The best moves of all nodes that the last search knew or learned.
    oracle: Oracle<M>,
}

impl<M> Iterations<M> {
    /// The last search.
    pub fn last(&self) -> &Depth<M> {
        &self.depths[self.depths.len() - 1]
    }

    /// The cost that counts: all iterations, or the only one.
    pub fn cost(&self) -> Cost {
        let mut sum = Cost::default();
        let skip = if self.iterative { 0 } else { self.depths.len() - 1 };
        self.depths[skip..].iter().for_each(|depth| sum.add(&depth.cost));
        sum
    }
}

/// Searches `root` to depths 1, 2, ... with a cell's choices.
pub fn run<G: Game>(
    root: &G,
    cell: &Cell,
    conditions: Conditions<'_>,
    oracle: Oracle<G::Move>,
) -> Iterations<G::Move> {
    let fresh = |oracle| {
        let table = Table::new(cell.size, cell.table, cell.entries, cell.replacement);
        let mut search =
            Search::new(cell.delay, conditions.ordering, table).selecting(conditions.selectivity);
        search.oracle = oracle;
        search
    };
    let mut search = fresh(oracle);
    let mut depths: Vec<Depth<G::Move>> = Vec::new();
    for depth in 1..=conditions.depth {
        if !conditions.iterative && depth > 1 {
            search = fresh(search.oracle);
        }
        let last = depths.last().filter(|_| conditions.iterative).map(|d| d.score);
        let score = match conditions.guess {
            FirstGuess::Previous => last.unwrap_or_else(|| root.evaluate()),
            FirstGuess::Static => root.evaluate(),
            FirstGuess::Zero => 0,
        };
        let guess = Guess { score, width: cell.window, max_passes: conditions.max_passes };
        depths.push(drive(&mut search, root, cell, depth, guess));
    }
    Iterations { depths, iterative: conditions.iterative, oracle: search.oracle }
}

/// One depth: the root driver chooses windows, the search answers.
pub(super) fn drive<G: Game>(
    search: &mut Search<'_, G>,
    root: &G,
    cell: &Cell,
    depth: u32,
    guess: Guess,
) -> Depth<G::Move> {
    search.cost = Cost::default();
    search.root_depth = depth;
    let mut best = None;
    let whole_lines = search.selects(Selectivity::WholeLines);
    let start = Instant::now();
    let mut pass = |window: Window| {
        search.cost.passes += 1;
        search.cost.null_passes += u64::from(window.is_null());
        let score = search.score(cell.interior, root, depth, window);
        // A failure low knows no best move; the last success stands.
        if score > window.alpha {
            best = search.best;
        }
        score
    };
    let mut driven = cell.root.drive(guess, &mut pass);
    if whole_lines && cell.root.is_null_only() {
        let around = Guess { score: driven.score, width: 1, ..guess };
        driven.score = Root::AspGradual.drive(around, &mut pass).score;
    }
    search.cost.seconds = start.elapsed().as_secs_f64();
    let cost = std::mem::take(&mut search.cost);
    Depth { score: driven.score, best, end: driven.end, cost }
}

/// The replayed tree: the same search again, from nothing, but with the best
/// or refuting move of every node of `first` known beforehand.
pub fn replay<G: Game>(
    root: &G,
    cell: &Cell,
    conditions: Conditions<'_>,
    first: Iterations<G::Move>,
) -> Iterations<G::Move> {
    let oracle = match first.oracle {
        Oracle::Listening(known) => Oracle::Speaking(known),
        other => other,
    };
    run(root, cell, conditions, oracle)
}

/// The cell that says what is true: fail-soft, full window, no table, and of a score
/// delay that is wrong the one that it is meant to be.
pub(super) const fn reference(cell: &Cell) -> Cell {
    Cell {
        interior: Interior::FailSoft,
        root: Root::Full,
        table: TableMode::Off,
        delay: cell.delay.meant(),
        ..Cell::ADVICE
    }
}

/// Is the move's own score at least the root's, which is `score`? Settled by one
/// null-window search to `depth` plies, without a table.
pub fn attains<G: Game>(root: &G, m: G::Move, delay: ScoreDelay, depth: u32, score: Score) -> bool {
    let mut search = Search::new(delay, Ordering::Captures, Table::off());
    search.root_depth = depth;
    let shift = delay.at(|| root.evaluate());
    // The least score inside the root that comes out as `score`.
    let inner = inverse(|s| shift.score(s), Window::null(score - 1)).beta;
    let child = Window::null(inner - 1).flip();
    -search.score(Interior::FailSoft, &root.make(m), depth - 1, child) >= inner
}
