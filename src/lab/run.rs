//! The run of one cell on one position of any game: iterative deepening, the root driver with a
//! [`Search`], and the replay with every best move known.

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
    /// The score of the previous depth; at depth 1, or without iterative deepening, the static
    /// evaluation.
    #[default]
    Previous,
    /// The static evaluation of the root.
    Static,
    /// Zero.
    Zero,
}

/// The conditions that all compared cells share.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// Depth in plies.
    pub depth: u32,
    /// Iterative deepening. With it, depth `d` starts with the table and the score of `d - 1`, and
    /// the cost is the sum of all iterations. Without it, every depth starts with an empty table,
    /// and the cost is that of the last.
    pub iterative: bool,
    /// Move ordering.
    pub ordering: Ordering,
    /// Selective techniques.
    pub selectivity: &'a [Selectivity],
    /// The first guess of aspiration and MTD(f).
    pub guess: FirstGuess,
    /// MTD(f), `mtdf-loop` and `asp-printed`: the number of searches after which the driver stops.
    /// MTD(f) then makes one more, with an open window.
    pub max_passes: u32,
}

impl Conditions<'static> {
    /// Returns the usual conditions of a search to `depth` plies.
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

impl Conditions<'_> {
    /// Returns whether scores are those of the whole tree: no null moves and no reductions.
    pub fn is_exact(&self) -> bool {
        self.selectivity.iter().all(|&what| what == Selectivity::WholeLines)
    }
}

/// The result of a cell at one depth.
#[derive(Clone, Debug)]
pub struct Depth<M> {
    /// The root's score.
    pub score: Score,
    /// A move with that score; `None` if the game is over or the search found no such move.
    pub best: Option<M>,
    /// How the root driver ended.
    pub end: End,
    /// The cost of this depth.
    pub cost: Cost,
}

/// The searches of a cell to depths 1, 2, ... in order.
pub struct Iterations<M> {
    /// The results by depth; at least one.
    pub depths: Vec<Depth<M>>,
    /// Whether each search starts with the table of the one before.
    iterative: bool,
    /// The best moves that the last search used or recorded.
    oracle: Oracle<M>,
}

impl<M> Iterations<M> {
    /// Returns the result of the last search.
    pub fn last(&self) -> &Depth<M> {
        &self.depths[self.depths.len() - 1]
    }

    /// Returns the cost of all iterations or, without iterative deepening, of the last search.
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
        let mut search = Search::new(cell.delay, conditions.ordering, table);
        (search.selectivity, search.oracle) = (conditions.selectivity, oracle);
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

/// Searches one depth: the root driver chooses the windows, and the search returns the scores.
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
        // A search that fails low has no best move, so the previous one is kept.
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

/// Searches the replayed tree: the same search with an empty table. At each node, it searches the
/// best or refuting move first, if `first` found one.
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

/// Returns the cell whose scores are the reference: fail-soft, full window and no table. If the
/// score delay is incorrect, the reference uses the correct one.
pub(super) const fn reference(cell: &Cell) -> Cell {
    Cell {
        interior: Interior::FailSoft,
        root: Root::Full,
        table: TableMode::Off,
        delay: cell.delay.meant(),
        ..Cell::ADVICE
    }
}

/// Returns whether the move's own score is at least the root's, `score`. One null-window search to
/// `depth` plies without a table decides it.
pub fn attains<G: Game>(root: &G, m: G::Move, delay: ScoreDelay, depth: u32, score: Score) -> bool {
    let mut search = Search::new(delay, Ordering::Captures, Table::off());
    search.root_depth = depth;
    let shift = delay.at(|| root.evaluate());
    // The least score inside the root that the delay turns into `score`.
    let inner = inverse(|s| shift.score(s), Window::null(score - 1)).beta;
    let child = Window::null(inner - 1).flip();
    -search.score(Interior::FailSoft, &root.make(m), depth - 1, child) >= inner
}
