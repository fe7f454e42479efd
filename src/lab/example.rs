//! Examples of algorithms at work: on small trees, step by step, and on tic-tac-toe,
//! counted. Their results are not written down but searched, by the functions that the
//! lab compares.

use std::{collections::HashMap, fmt::Write as _};

use anyhow::Context as _;
use clap::Parser;

use super::{
    cell::{self, Axes, Cell},
    delay::ScoreDelay,
    game::Game,
    node::{Oracle, Ordering, Search, Selectivity, Step},
    output::label,
    root::{End, Guess},
    run::{Conditions, FirstGuess, drive, replay, run},
    table::{Table, TableMode},
    tictactoe::TicTacToe,
    tree::{At, Tree},
};
use lancet::chess::score::{Bounds, INFINITE, MATE, Score, Window};

/// What an example on tic-tac-toe has for its tree.
const TIC_TAC_TOE: &str = "tic-tac-toe";

/// Something to search, and how.
#[derive(Debug)]
pub struct Example {
    /// In the notation of [`tree`](super::tree), or [`TIC_TAC_TOE`].
    tree: String,
    /// What to watch for.
    caption: String,
    options: Options,
}

/// How an example is searched, in the words of a command line.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Options {
    /// The first guess
    #[arg(long, default_value_t = 0)]
    guess: Score,
    /// Plies, if not the whole tree
    #[arg(long)]
    depth: Option<u32>,
    /// Depth 1 first, then 2, then 3
    #[arg(long)]
    deepening: bool,
    #[arg(long, value_enum, default_value_t = Ordering::None)]
    ordering: Ordering,
    #[arg(long, value_enum)]
    select: Vec<Selectivity>,
    /// Count the replayed tree, too
    #[arg(long)]
    replay: bool,
    #[command(flatten)]
    axes: Axes,
}

impl Example {
    /// Reads "TREE` by `OPTIONS`: CAPTION".
    ///
    /// # Errors
    ///
    /// If it has another form, or there are no such options.
    pub fn read(text: &str) -> anyhow::Result<Example> {
        let text = text.replace("\n  ", " ");
        let (tree, rest) = text.split_once("` by `").context("an example without a search")?;
        let (options, caption) = rest.split_once("`: ").context("an example without a caption")?;
        let options = Options::try_parse_from(options.split(' '))?;
        Ok(Example { tree: tree.to_owned(), caption: caption.trim().to_owned(), options })
    }

    /// Is it on a tree?
    pub fn has_tree(&self) -> bool {
        self.tree != TIC_TAC_TOE
    }

    /// The caption, and what the search does.
    ///
    /// # Errors
    ///
    /// If the tree cannot be read.
    pub fn text(&self) -> anyhow::Result<String> {
        let caption = &self.caption;
        if self.has_tree() {
            let worked = self.work_through(&self.tree, None)?;
            return Ok(format!("\nExample. {caption}\n\n    {}\n\n{worked}", self.tree));
        }
        let lines: String = self.options.axes.cells().iter().map(|cell| self.count(cell)).collect();
        Ok(format!("\nCounted on tic-tac-toe, to the end (depth 9). {caption}\n\n{lines}"))
    }

    /// Every window and every value of the search, on this tree.
    ///
    /// # Errors
    ///
    /// If the tree cannot be read.
    pub fn work_through(&self, tree: &str, guess: Option<Score>) -> anyhow::Result<String> {
        let tree = Tree::parse(tree)?;
        let root = tree.root();
        let cell = self.options.axes.cells()[0];
        let from_max = cell.delay == ScoreDelay::None;
        let mut scribe = Scribe { text: String::new(), passes: 0, open: Vec::new(), from_max };
        let found = {
            let watcher = |p: &At<'_>, ply, step| scribe.write(p, ply, step);
            let search = Search::<At<'_>>::new(cell.delay, Ordering::None, Table::off());
            let mut search = search.watched(Box::new(watcher));
            let depth = self.options.depth.unwrap_or_else(|| tree.depth());
            let score = guess.unwrap_or(self.options.guess);
            drive(&mut search, &root, &cell, depth, Guess { score, width: 2, max_passes: 12 })
        };
        let score = if from_max && !root.max_to_move() { -found.score } else { found.score };
        let best = found.best.map_or_else(|| "none".to_owned(), |m| root.make(m).name().to_owned());
        let stuck = if found.end == End::Converged { "" } else { ", not converged" };
        let seen = if from_max { "MAX's" } else { "the mover's" };
        let result = format!(
            "    result {}{stuck}, best move {best}; passes {}, inner nodes {}, leaves {}, \
             re-searches {}\n    (windows and values from {seen} point of view)\n",
            show(score),
            found.cost.passes,
            found.cost.interior,
            found.cost.leaves,
            found.cost.researches,
        );
        Ok(scribe.text + &result)
    }

    /// Tic-tac-toe, solved by a cell: one line.
    fn count(&self, cell: &Cell) -> String {
        let Options { deepening, ordering, ref select, replay: replays, .. } = self.options;
        let board = TicTacToe::default();
        let conditions = Conditions {
            iterative: deepening,
            ordering,
            selectivity: select,
            guess: FirstGuess::Static,
            max_passes: 12,
            ..Conditions::new(9)
        };
        let oracle = if replays { Oracle::Listening(HashMap::new()) } else { Oracle::Silent };
        let solved = run(&board, cell, conditions, oracle);
        let (cost, last) = (solved.cost(), solved.last().cost.nodes());
        let nodes = cost.nodes();
        let score = show(solved.last().score);
        let mut line = format!("    {:<30} value {score:>2}   {nodes:>7} nodes", label(cell));
        if cell.table != TableMode::Off {
            line += &format!("   {:>5} cut-offs by the table", cost.cutoffs);
        }
        if deepening {
            line += &format!("   {last:>5} nodes of the last depth");
        }
        if replays {
            let again = replay(&board, cell, conditions, solved).cost().nodes();
            line += &format!("   {again:>5} replayed: x{:.2}", nodes as f64 / again as f64);
        }
        line + "\n"
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
