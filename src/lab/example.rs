//! Examples of [`topics`](super::topics) at work: on small trees, step by step, and
//! on tic-tac-toe, counted. They are not written down but searched, by the same
//! functions.

use std::{cell::RefCell, fmt::Write as _, rc::Rc};

use clap::ValueEnum;

use super::{
    cell::{self, Cell},
    delay::ScoreDelay,
    game::Game,
    interior::Interior,
    node::{Oracle, Ordering, Search, Selectivity, Step},
    root::{End, Root},
    run::{Conditions, FirstGuess, drive, replay, run},
    table::{Entries, Replacement, Table, TableMode},
    tictactoe::TicTacToe,
    tree::{At, Tree},
};
use lancet::chess::score::{Bounds, INFINITE, MATE, Score, Window};

/// An example on an explicit tree.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What to watch for.
    pub caption: &'static str,
    /// In the notation of [`tree`](super::tree).
    pub tree: &'static str,
    /// The algorithm inside.
    pub interior: Interior,
    /// The root driver.
    pub root: Root,
    /// What scores suffer.
    pub delay: ScoreDelay,
    /// The first guess.
    pub guess: Score,
    /// Plies; zero for the whole tree.
    pub depth: u32,
}

impl Example {
    /// Every window and every value of the search, on this tree.
    pub(super) fn work_through(&self, tree: &Tree) -> String {
        let scribe = Rc::new(RefCell::new(Scribe {
            text: String::new(),
            passes: 0,
            open: Vec::new(),
            from_max: self.delay == ScoreDelay::None,
        }));
        let pen = Rc::clone(&scribe);
        let mut search = Search::new(self.delay, Ordering::None, Table::off())
            .watched(Box::new(move |p: &At, ply, step| pen.borrow_mut().write(p, ply, step)));
        let cell = Cell {
            interior: self.interior,
            root: self.root,
            window: 2,
            table: TableMode::Off,
            delay: self.delay,
            ..Cell::ADVICE
        };
        let conditions = conditions(if self.depth > 0 { self.depth } else { tree.depth() });
        let root = tree.root();
        let found = drive(&mut search, &root, &cell, &conditions, conditions.depth, self.guess);
        let (from_max, mut text) = {
            let scribe = scribe.borrow();
            (scribe.from_max, scribe.text.clone())
        };
        let score = if from_max && !root.max_to_move() { -found.score } else { found.score };
        let best = found.best.map_or_else(|| "none".to_owned(), |m| root.make(m).name().to_owned());
        let stuck = if found.end == End::Converged { "" } else { ", not converged" };
        let _ = writeln!(
            text,
            "    result {}{stuck}, best move {best}; passes {}, inner nodes {}, leaves {}, re-searches {}",
            show(score),
            found.cost.passes,
            found.cost.interior,
            found.cost.leaves,
            found.cost.researches,
        );
        let seen = if from_max { "MAX's" } else { "the mover's" };
        let _ = writeln!(text, "    (windows and values from {seen} point of view)");
        text
    }
}

/// A score as people write it.
fn show(score: Score) -> String {
    match score {
        score if score >= INFINITE => "+inf".to_owned(),
        score if score <= -INFINITE => "-inf".to_owned(),
        MATE => "WIN".to_owned(),
        score if score == -MATE => "LOSS".to_owned(),
        score => score.to_string(),
    }
}

/// Writes down what a search does on a tree, one line per step. Windows and
/// values are MAX's; with a delay, which is relative to the mover, the mover's.
struct Scribe {
    text: String,
    passes: u32,
    /// The window and the moves looked at, for every node being searched.
    open: Vec<(String, Vec<u64>)>,
    from_max: bool,
}

impl Scribe {
    fn window(&self, p: &At, window: Window) -> String {
        let seen = if self.from_max && !p.max_to_move() { window.flip() } else { window };
        format!("({}, {})", show(seen.alpha), show(seen.beta))
    }

    fn value(&self, p: &At, bounds: Bounds) -> String {
        let seen = if self.from_max && !p.max_to_move() { bounds.flip() } else { bounds };
        match seen {
            Bounds { lower, upper } if lower == upper => show(lower),
            Bounds { lower, upper } if lower <= -INFINITE => format!("at most {}", show(upper)),
            Bounds { lower, upper } if upper >= INFINITE => format!("at least {}", show(lower)),
            Bounds { lower, upper } => format!("{} to {}", show(lower), show(upper)),
        }
    }

    fn line(&mut self, ply: u32, text: &str) {
        let _ = writeln!(self.text, "    {}{text}", "|  ".repeat(ply as usize));
    }

    fn write(&mut self, p: &At, ply: u32, step: Step) {
        let name = p.name();
        match step {
            Step::Enter(interior, window) => {
                let window = self.window(p, window);
                if let Some((_, looked)) = self.open.last_mut() {
                    looked.push(p.key());
                }
                if p.moves().is_empty() {
                    return;
                }
                let side = if p.max_to_move() { "MAX" } else { "MIN" };
                if ply == 0 {
                    self.passes += 1;
                    let _ = write!(self.text, "    pass {}:", self.passes);
                    let _ = writeln!(self.text, " {name} {side}, window {window}");
                } else {
                    let by = cell::name(interior);
                    self.line(ply, &format!("{name} {side}, window {window}, by {by}"));
                }
                self.open.push((window, Vec::new()));
            }
            Step::Shifted(window) => {
                let window = self.window(p, window);
                if self.open.last().is_some_and(|(outer, _)| *outer != window) {
                    self.line(ply + 1, &format!("window of the moves {window}"));
                }
            }
            Step::Leaf(bounds) | Step::Table(bounds) => {
                if let Some((_, looked)) = self.open.last_mut() {
                    looked.push(p.key());
                }
                let value = self.value(p, bounds);
                let note = if name == value { String::new() } else { format!(" = {value}") };
                self.line(ply, &format!("{name}{note}"));
            }
            Step::Leave(bounds) => {
                let (_, looked) = self.open.pop().unwrap_or_default();
                let children = p.moves().into_iter().map(|m| p.make(m));
                for child in children.filter(|child| !looked.contains(&child.key())) {
                    self.line(ply + 1, &format!("{} not looked at", child.name()));
                }
                self.line(ply, &format!("{name} is {}", self.value(p, bounds)));
            }
        }
    }
}

fn conditions(depth: u32) -> Conditions {
    Conditions {
        depth,
        iterative: false,
        ordering: Ordering::None,
        selectivity: Vec::new(),
        guess: FirstGuess::Static,
        max_passes: 12,
    }
}

/// One line of a count: tic-tac-toe solved by a cell.
fn count(title: &str, cell: Cell) -> String {
    let board = TicTacToe::default();
    let mut search = Search::new(
        cell.delay,
        Ordering::None,
        Table::new(cell.size, cell.table, cell.entries, cell.replacement),
    );
    let found = drive(&mut search, &board, &cell, &conditions(9), 9, 0);
    let cost = found.cost;
    let cutoffs = format!("   {:>5} cut-offs by the table", cost.cutoffs);
    let cutoffs = if cell.table == TableMode::Off { "" } else { &cutoffs };
    format!("    {title:<28} value {:>2}   {:>7} nodes{cutoffs}\n", show(found.score), cost.nodes())
}

const BARE: Cell = Cell { root: Root::Full, table: TableMode::Off, ..Cell::ADVICE };

/// What a tie prunes.
pub(super) fn count_ties() -> String {
    let with = |interior| Cell { interior, ..BARE };
    count("minimax", with(Interior::Minimax))
        + &count("stop at a win", with(Interior::StopAtWin))
        + &count("a tie may be a win, too", with(Interior::FailSoft))
}

/// What a table saves.
pub(super) fn count_tables() -> String {
    let with = |table| Cell { interior: Interior::FailSoft, table, size: 1 << 14, ..BARE };
    count("no table", with(TableMode::Off)) + &count("exact depth", with(TableMode::Exact))
}

/// What the second bound saves, by root driver.
pub(super) fn count_entries() -> String {
    let mut text = String::new();
    for root in [Root::Full, Root::Bisection, Root::Mtdf] {
        for &entries in Entries::value_variants() {
            let table = TableMode::Exact;
            let cell = Cell { root, entries, table, size: 1 << 14, ..BARE };
            text += &count(&format!("{}, {}", cell::name(root), cell::name(entries)), cell);
        }
    }
    text
}

/// What reductions leave out.
pub(super) fn count_reductions() -> String {
    let nodes = |selectivity| {
        let cell = Cell { table: TableMode::Exact, size: 1 << 14, ..BARE };
        let conditions = Conditions { iterative: true, selectivity, ..conditions(9) };
        let run = run(&TicTacToe::default(), &cell, &conditions, 9, Oracle::Silent);
        run.cost(&conditions).nodes()
    };
    let (all, some) = (nodes(Vec::new()), nodes(vec![Selectivity::Reductions]));
    format!(
        "    pvs                          {all:>7} nodes\n    \
         pvs, reductions              {some:>7} nodes\n"
    )
}

/// Which entries are worth keeping when there is room for few.
pub(super) fn count_replacements() -> String {
    let with = |replacement| Cell {
        interior: Interior::FailSoft,
        table: TableMode::Exact,
        size: 128,
        replacement,
        ..BARE
    };
    Replacement::value_variants()
        .iter()
        .map(|&r| count(&format!("{}, 128 entries", cell::name(r)), with(r)))
        .collect()
}

/// What room is worth.
pub(super) fn count_sizes() -> String {
    let with = |size| Cell { table: TableMode::Exact, size, ..BARE };
    [64, 1024, 1 << 14].map(|size| count(&format!("{size} entries"), with(size))).concat()
}

/// All depths one after the other, beside the last alone.
pub(super) fn count_deepening() -> String {
    let cell = Cell { table: TableMode::Exact, size: 1 << 14, ..BARE };
    let nodes = |iterative| {
        let conditions = Conditions { iterative, ordering: Ordering::Table, ..conditions(9) };
        let run = run(&TicTacToe::default(), &cell, &conditions, 9, Oracle::Silent);
        (run.cost(&conditions).nodes(), run.depths.last().map_or(0, |d| d.cost.nodes()))
    };
    let ((all, last), (alone, _)) = (nodes(true), nodes(false));
    format!(
        "    depth 9 alone                {alone:>7} nodes\n    \
         depths 1 to 9                {all:>7} nodes, the last of them {last}\n"
    )
}

/// The replayed tree beside the first search.
pub(super) fn count_replay() -> String {
    let board = TicTacToe::default();
    let cell = Cell { interior: Interior::FailSoft, ..BARE };
    let conditions = conditions(9);
    let first = run(&board, &cell, &conditions, 9, Oracle::Listening(Default::default()));
    let nodes = first.cost(&conditions).nodes();
    let again = replay(&board, &cell, &conditions, 9, first).cost(&conditions).nodes();
    format!(
        "    first search {nodes} nodes, replayed {again}: x{:.2}\n",
        nodes as f64 / again as f64
    )
}
