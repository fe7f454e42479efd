//! Examples of the algorithms: on small trees, shown step by step, and on games, with counts. No
//! results are stored: each time, the functions that the lab compares search the examples again.

use std::collections::HashMap;

use anyhow::Context as _;
use clap::{Parser, ValueEnum as _};
use serde::Serialize;

use super::{
    cell::{self, Axes},
    chess::{Board, Leaf},
    connect_four::ConnectFour,
    delay::ScoreDelay,
    game::{Game, GameName},
    nim::Nim,
    node::{Cost, Oracle, Ordering, Search, Selectivity, Step},
    output::label,
    root::{End, Guess},
    run::{Conditions, FirstGuess, drive, replay, run},
    table::{Table, TableMode},
    tictactoe::TicTacToe,
    tree::{At, Shape, Tree},
};
use lancet::{
    chess::{
        position::Position,
        score::{Bounds, INFINITE, MATE, Score, Window},
    },
    eval::default_network,
};

/// A tree or game, and the search to run on it.
#[derive(Debug)]
pub struct Example {
    /// The tree in the notation of [`tree`](super::tree), or the name of a game.
    tree: String,
    /// The caption.
    caption: String,
    /// The options, as written.
    search: String,
    options: Options,
}

/// How an example is searched, as command-line options.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Options {
    /// The first guess
    #[arg(long, default_value_t = 0)]
    guess: Score,
    /// Depth in plies, if not the whole tree
    #[arg(long)]
    depth: Option<u32>,
    /// Search by iterative deepening
    #[arg(long)]
    deepening: bool,
    #[arg(long, value_enum, default_value_t = Ordering::None)]
    ordering: Ordering,
    #[arg(long, value_enum)]
    select: Vec<Selectivity>,
    /// How leaves are evaluated in chess
    #[arg(long, value_enum, default_value_t = Leaf::Static)]
    leaf: Leaf,
    /// Also count the replayed tree
    #[arg(long)]
    replay: bool,
    #[command(flatten)]
    axes: Axes,
}

impl Example {
    /// Reads an example whose first backtick was removed: "TREE\` by \`OPTIONS\`: CAPTION".
    ///
    /// # Errors
    ///
    /// If the text has another form or unknown options.
    pub fn read(text: &str) -> anyhow::Result<Example> {
        let text = text.replace("\n  ", " ");
        let (tree, rest) = text.split_once("` by `").context("an example without a search")?;
        let (options, caption) = rest.split_once("`: ").context("an example without a caption")?;
        let (search, caption) = (options.to_owned(), caption.trim().to_owned());
        let options = Options::try_parse_from(options.split(' '))?;
        Ok(Example { tree: tree.to_owned(), caption, search, options })
    }

    /// Returns whether the example is on a tree, not on a game.
    pub fn has_tree(&self) -> bool {
        self.tree.contains('(')
    }

    /// Returns the caption.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// Returns the options and the tree or game, for people.
    pub fn search(&self) -> String {
        format!("{} on {}", self.search, self.tree)
    }

    /// Returns the caption and the steps or counts of the search.
    ///
    /// # Errors
    ///
    /// If the tree cannot be read.
    pub fn text(&self) -> anyhow::Result<String> {
        let work = if self.has_tree() { self.film(None, None)?.text() } else { self.counts() };
        let kind = if self.has_tree() { "Example" } else { "Counts" };
        Ok(format!("\n{kind} ({}): {}\n\n{work}", self.search(), self.caption))
    }

    /// Searches the example's tree, or `tree`, and returns every step with its window or value.
    ///
    /// # Errors
    ///
    /// If the tree cannot be read.
    pub fn film(&self, tree: Option<&str>, guess: Option<Score>) -> anyhow::Result<Film> {
        let tree = Tree::parse(tree.unwrap_or(&self.tree))?;
        let root = tree.root();
        let cell = self.options.axes.cells()[0];
        let mode = if self.options.axes.table.is_empty() { TableMode::Off } else { cell.table };
        let from_max = cell.delay == ScoreDelay::None;
        let mut scribe = Scribe { lines: Vec::new(), passes: 0, open: Vec::new(), from_max };
        let found = {
            let watcher = |p: &At<'_>, ply, step| scribe.write(p, ply, step);
            let table = Table::new(cell.size, mode, cell.entries, cell.replacement);
            let mut search = Search::<At<'_>>::new(cell.delay, Ordering::None, table);
            search.watcher = Some(Box::new(watcher));
            let depth = self.options.depth.unwrap_or_else(|| tree.depth());
            let score = guess.unwrap_or(self.options.guess);
            drive(&mut search, &root, &cell, depth, Guess { score, width: 2, max_passes: 12 })
        };
        let score = if from_max && !root.max_to_move() { -found.score } else { found.score };
        let best = found.best.map_or_else(|| "none".to_owned(), |m| root.make(m).name().to_owned());
        let stuck = if found.end == End::Converged { "" } else { ", not converged" };
        let seen = if from_max { "MAX's" } else { "the mover's" };
        let Cost { passes, interior, leaves, researches, cutoffs, .. } = found.cost;
        let known = if mode == TableMode::Off {
            String::new()
        } else {
            format!(", settled by the table {cutoffs}")
        };
        let result = format!(
            "result {}{stuck}, best move {best}; passes {passes}, interior nodes {interior}, leaves \
             {leaves}, re-searches {researches}{known}\n(windows and values from {seen} point of \
             view)",
            show(score),
        );
        Ok(Film { lines: scribe.lines, result, tree: tree.shape() })
    }

    /// Returns a line of counts for every cell, for an example on a game.
    pub fn counts(&self) -> String {
        match GameName::from_str(&self.tree, false) {
            Ok(game) => match game {
                GameName::TicTacToe => self.count(&TicTacToe::default(), game.depth()),
                GameName::ConnectFour => self.count(&ConnectFour::default(), game.depth()),
                GameName::Nim => self.count(&Nim::default(), game.depth()),
            },
            Err(_) => {
                let network = default_network();
                let board = Board::new(Position::default(), self.options.leaf, Some(&*network));
                self.count(&board, 4)
            }
        }
    }

    /// Searches the start of a game with every cell, and returns the lines of counts.
    fn count<G: Game>(&self, start: &G, depth: u32) -> String {
        let Options { deepening, ordering, ref select, replay: replays, .. } = self.options;
        let depth = self.options.depth.unwrap_or(depth);
        let conditions = Conditions {
            iterative: deepening,
            ordering,
            selectivity: select,
            guess: FirstGuess::Static,
            max_passes: 12,
            ..Conditions::new(depth)
        };
        let mut text = format!("    (depth {depth})\n");
        for cell in &self.options.axes.cells() {
            let oracle = if replays { Oracle::Listening(HashMap::new()) } else { Oracle::Silent };
            let solved = run(start, cell, conditions, oracle);
            let (cost, last) = (solved.cost(), solved.last().cost.nodes());
            let nodes = cost.nodes();
            let score = show(solved.last().score);
            text += &format!("    {:<33} value {score:>3}   {nodes:>7} nodes", label(cell));
            if cell.table != TableMode::Off {
                text += &format!("   {:>5} cutoffs by the table", cost.cutoffs);
            }
            if deepening {
                text += &format!("   {last:>5} nodes of the last depth");
            }
            if replays {
                let again = replay(start, cell, conditions, solved).cost().nodes();
                text += &format!("   {again:>5} replayed: x{:.2}", nodes as f64 / again as f64);
            }
            text += "\n";
        }
        text
    }
}

/// The steps and the result of a search on a tree.
#[derive(Serialize)]
pub struct Film {
    /// The nodes, the root first.
    tree: Vec<Shape>,
    lines: Vec<Line>,
    result: String,
}

impl Film {
    /// Returns the text for a terminal, indented by depth.
    pub fn text(&self) -> String {
        let lines = self.lines.iter();
        let lines = lines.map(|l| format!("{}{}", "|  ".repeat(l.ply as usize), l.text));
        let all = lines.chain(self.result.lines().map(str::to_owned));
        all.map(|line| format!("    {line}\n")).collect()
    }
}

/// One step of a search.
#[derive(Serialize)]
struct Line {
    /// Number of the node in the tree.
    node: u64,
    ply: u32,
    /// The kind of the step: pass, enter, window, leaf, table, cut or leave.
    kind: &'static str,
    text: String,
}

/// Returns a score as text for people.
fn show(score: Score) -> String {
    match score {
        score if score >= INFINITE => "+inf".to_owned(),
        score if score <= -INFINITE => "-inf".to_owned(),
        MATE => "WIN".to_owned(),
        score if score == -MATE => "LOSS".to_owned(),
        score => score.to_string(),
    }
}

/// Records the steps of a search on a tree, one line each. Windows and values are from MAX's point
/// of view. With a score delay, which is relative to the side to move, they are from that side's.
struct Scribe {
    lines: Vec<Line>,
    passes: u32,
    /// The window and the searched moves of every node that is being searched.
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

    fn line(&mut self, p: &At, ply: u32, kind: &'static str, text: String) {
        self.lines.push(Line { node: p.key(), ply, kind, text });
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
                let text = format!("{name} {side}, window {window}");
                if ply == 0 {
                    self.passes += 1;
                    self.line(p, ply, "pass", format!("pass {}: {text}", self.passes));
                } else {
                    self.line(p, ply, "enter", format!("{text}, by {}", cell::name(interior)));
                }
                self.open.push((window, Vec::new()));
            }
            Step::Shifted(window) => {
                let window = self.window(p, window);
                if self.open.last().is_some_and(|(outer, _)| *outer != window) {
                    self.line(p, ply + 1, "window", format!("shifted window {window}"));
                }
            }
            Step::Leaf(bounds) => {
                let value = self.value(p, bounds);
                let note = if name == value { String::new() } else { format!(" = {value}") };
                self.line(p, ply, "leaf", format!("{name}{note}"));
                if !p.moves().is_empty() {
                    self.open.pop();
                }
            }
            Step::Table(bounds) => {
                let value = self.value(p, bounds);
                self.line(p, ply, "table", format!("{name} is {value} (from the table)"));
                self.open.pop();
            }
            Step::Leave(bounds) => {
                let (_, looked) = self.open.pop().unwrap_or_default();
                let children = p.moves().into_iter().map(|m| p.make(m));
                for child in children.filter(|child| !looked.contains(&child.key())) {
                    let text = format!("{} not looked at", child.name());
                    self.line(&child, ply + 1, "cut", text);
                }
                self.line(p, ply, "leave", format!("{name} is {}", self.value(p, bounds)));
            }
        }
    }
}
