//! A run over a suite of chess positions: every cell on every position, the
//! truth check, and the sums. Says nothing to anybody: see
//! [`output`](super::output).

use std::{collections::HashMap, fmt, sync::Arc};

use clap::ValueEnum;
use rayon::prelude::*;
use serde::Serialize;
use shakmaty::Move;

use super::{
    cell::{Cell, name},
    chess::{Board, Leaf},
    delay::ScoreDelay,
    game::Game as _,
    node::{Cost, Oracle},
    root::End,
    run::{Conditions, Run, attains, reference, replay, run},
    yardstick::{geometric_mean, knuth_moore, means},
};
use lancet::{
    chess::{
        epd::{Reason, Record, parse},
        lines::{Line, LineError},
        notation::move_text,
        position::Position,
        score::{Score, is_mate},
    },
    eval::nnue::Network,
    system::stdio::plain,
};

/// A position of a suite.
#[derive(Clone, Debug)]
pub struct Item {
    /// The EPD's `id` as a terminal may have it, or the number of the line.
    pub id: String,
    /// The position.
    pub position: Position,
}

/// Takes the positions of EPD or FEN lines; of the operations only `id` matters
/// here.
///
/// # Errors
///
/// The first line that cannot be used.
pub fn read(lines: &[Line]) -> Result<Vec<Item>, LineError<Reason>> {
    let item = |record: Record| Item { id: plain(&record.id), position: record.position };
    lines.iter().map(|line| parse(line).map(item)).collect()
}

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// The cells to compare.
    pub cells: Vec<Cell>,
    /// What they share.
    pub conditions: Conditions,
    /// The value of depth zero.
    pub leaf: Leaf,
    /// For [`Leaf::Network`].
    pub network: Option<Arc<Network>>,
    /// The depth of cells that look at everything.
    pub exhaustive_depth: u32,
    /// Measure the replayed tree? (It doubles the work.)
    pub replay: bool,
}

impl Job {
    /// The depth to which a cell is searched.
    pub fn depth_of(&self, cell: &Cell) -> u32 {
        if cell.is_exhaustive() {
            self.conditions.depth.min(self.exhaustive_depth)
        } else {
            self.conditions.depth
        }
    }
}

/// A cell on a position.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The position.
    pub id: String,
    /// The root's score at the last depth.
    pub score: Score,
    /// The best move in UCI notation; empty if the game is over.
    pub best: String,
    /// What the search cost.
    pub cost: Cost,
    /// Nodes of each depth.
    pub nodes_by_depth: Vec<u64>,
    /// Nodes of the replayed tree, if measured.
    pub replayed: Option<u64>,
    /// Nodes of the last depth over the Knuth-Moore bound.
    pub knuth_moore_ratio: f64,
    /// Depths at which MTD(f) did not converge, and why.
    pub unconverged: Vec<(u32, End)>,
    /// What it says of a mate at the last depth, if it or the reference sees one.
    pub mate: Option<Mate>,
    /// What differs from the truth.
    pub differences: Vec<Difference>,
}

/// What a cell makes of a mate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mate {
    /// The reference's, at the same distance.
    Found,
    /// A mate, but sooner or later than it is.
    WrongDistance,
    /// A mate where there is none.
    False,
    /// None where there is one.
    Missed,
}

impl Mate {
    fn of(found: Score, truth: Score) -> Option<Mate> {
        match (is_mate(found), is_mate(truth)) {
            (false, false) => None,
            (false, true) => Some(Mate::Missed),
            (true, true) if found == truth => Some(Mate::Found),
            (true, true) if found.signum() == truth.signum() => Some(Mate::WrongDistance),
            _ => Some(Mate::False),
        }
    }
}

/// Something that is not as the reference says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Difference {
    /// Another score.
    Score {
        /// Plies.
        depth: u32,
        /// What the cell says.
        found: Score,
        /// What the reference says.
        truth: Score,
    },
    /// The best move is missing or not worth the score.
    Move {
        /// Plies.
        depth: u32,
        /// The move in UCI notation; empty if the cell has none.
        best: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Score { depth, found, truth } => {
                write!(f, "depth {depth}: score {found}, reference {truth}")
            }
            Difference::Move { depth, best } if best.is_empty() => {
                write!(f, "depth {depth}: no best move")
            }
            Difference::Move { depth, best } => {
                write!(f, "depth {depth}: best move {best} is not worth the score")
            }
        }
    }
}

/// A cell over the whole suite.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The cell.
    pub cell: Cell,
    /// Plies searched.
    pub depth: u32,
    /// Sums over the suite.
    pub total: Cost,
    /// Geometric mean of the nodes per position.
    pub mean_nodes: f64,
    /// Nodes of all replayed trees, if measured.
    pub replayed: Option<u64>,
    /// Geometric mean of nodes over replayed nodes, if measured.
    pub replay_ratio: Option<f64>,
    /// Geometric mean of the last depth's nodes over the Knuth-Moore bound.
    pub knuth_moore_ratio: f64,
    /// Nodes by depth, over the suite.
    pub nodes_by_depth: Vec<u64>,
    /// Effective branching factors: nodes of depths 2, 3, ... over the nodes
    /// one depth less.
    pub branching: Vec<f64>,
    /// Positions with a [`Difference`].
    pub different: usize,
    /// Positions on which MTD(f) did not converge.
    pub unconverged: usize,
    /// The single positions.
    pub outcomes: Vec<Outcome>,
}

impl Row {
    /// Positions where the cell makes this of a mate.
    pub fn mates(&self, kind: Mate) -> usize {
        self.outcomes.iter().filter(|o| o.mate == Some(kind)).count()
    }
}

/// A sound cell that did not say the truth.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// The cell.
    pub cell: Cell,
    /// The position.
    pub id: String,
    /// What is wrong.
    pub difference: Difference,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: [{}] {}", self.id, self.cell, self.difference)
    }
}

/// A finished run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Number of positions.
    pub positions: usize,
    /// Plies.
    pub depth: u32,
    /// Leaf evaluation.
    pub leaf: String,
    /// Move ordering.
    pub ordering: String,
    /// What the searches leave out; then there is no truth to check.
    pub selectivity: Vec<String>,
    /// Iterative deepening?
    pub iterative: bool,
    /// One row per cell.
    pub rows: Vec<Row>,
    /// Sound cells that lied. Must be empty.
    pub failures: Vec<Failure>,
}

/// Runs every cell on every position, positions in parallel; `tick` is called
/// after each cell on each position.
pub fn run_suite(suite: &[Item], job: &Job, tick: &(dyn Fn() + Sync)) -> Report {
    let by_position: Vec<Vec<Outcome>> =
        suite.par_iter().map(|item| examine(item, job, tick)).collect();
    let rows: Vec<Row> = job
        .cells
        .iter()
        .enumerate()
        .map(|(i, &cell)| {
            let outcomes = by_position.iter().map(|outcomes| outcomes[i].clone()).collect();
            summarize(cell, job.depth_of(&cell), outcomes)
        })
        .collect();
    let failures = rows.iter().filter(|row| row.cell.is_sound()).flat_map(failures_of).collect();
    Report {
        positions: suite.len(),
        depth: job.conditions.depth,
        leaf: name(job.leaf),
        ordering: name(job.conditions.ordering),
        selectivity: job.conditions.selectivity.iter().map(|&what| name(what)).collect(),
        iterative: job.conditions.iterative,
        rows,
        failures,
    }
}

fn failures_of(row: &Row) -> impl Iterator<Item = Failure> + '_ {
    row.outcomes.iter().flat_map(|outcome| {
        outcome.differences.iter().map(|difference| Failure {
            cell: row.cell,
            id: outcome.id.clone(),
            difference: difference.clone(),
        })
    })
}

/// All cells on one position, in order, against the reference of their delay.
fn examine(item: &Item, job: &Job, tick: &(dyn Fn() + Sync)) -> Vec<Outcome> {
    let board = Board::new(item.position.clone(), job.leaf, job.network.as_deref());
    // A selective search has no other to agree with.
    let delays = ScoreDelay::value_variants().iter();
    let truths: HashMap<ScoreDelay, Run<Move>> = delays
        .filter(|_| job.conditions.selectivity.is_empty())
        .filter_map(|&delay| job.cells.iter().find(|cell| cell.delay == delay))
        .map(|cell| {
            let conditions = Conditions { iterative: false, ..job.conditions.clone() };
            let truth =
                run(&board, &reference(cell), &conditions, conditions.depth, Oracle::Silent);
            (cell.delay, truth)
        })
        .collect();
    let mut worth = Worth { board: &board, job, known: HashMap::new() };
    job.cells
        .iter()
        .map(|cell| {
            let outcome = compare(item, cell, job, truths.get(&cell.delay), &mut worth);
            tick();
            outcome
        })
        .collect()
}

/// Which moves are worth the root's score: asked once, not once a cell.
struct Worth<'a> {
    board: &'a Board<'a>,
    job: &'a Job,
    known: HashMap<(ScoreDelay, u32, Move), bool>,
}

impl Worth<'_> {
    fn attains(&mut self, cell: &Cell, depth: u32, m: Move, score: Score) -> bool {
        *self
            .known
            .entry((cell.delay, depth, m))
            .or_insert_with(|| attains(self.board, m, cell, &self.job.conditions, depth, score))
    }
}

/// One cell on one position.
fn compare(
    item: &Item,
    cell: &Cell,
    job: &Job,
    truth: Option<&Run<Move>>,
    worth: &mut Worth<'_>,
) -> Outcome {
    let depth = job.depth_of(cell);
    let board = worth.board;
    let oracle = if job.replay { Oracle::Listening(HashMap::default()) } else { Oracle::Silent };
    let first = run(board, cell, &job.conditions, depth, oracle);
    let uci = |m: Move| move_text(m, item.position.mode());

    let over = board.terminal(&board.moves()).is_some();
    let mut differences = Vec::new();
    for (ply, (found, truth)) in
        (1..).zip(first.depths.iter().zip(truth.iter().flat_map(|t| &t.depths)))
    {
        if found.score != truth.score {
            let (found, truth) = (found.score, truth.score);
            differences.push(Difference::Score { depth: ply, found, truth });
        } else if !found.best.map_or(over, |best| worth.attains(cell, ply, best, found.score)) {
            let best = found.best.map_or_else(String::new, uci);
            differences.push(Difference::Move { depth: ply, best });
        }
    }

    let last = depth as usize - 1;
    let measured = truth.unwrap_or(&first);
    let minimal = knuth_moore(&means(&measured.depths[last].cost.branching));
    let ends = (1..).zip(first.depths.iter().map(|d| d.end));
    let unconverged = ends.filter(|(_, end)| *end != End::Converged).collect();
    let mut outcome = Outcome {
        id: item.id.clone(),
        score: first.depths[last].score,
        best: first.depths[last].best.map_or_else(String::new, uci),
        cost: first.cost(&job.conditions),
        nodes_by_depth: first.depths.iter().map(|d| d.cost.nodes()).collect(),
        replayed: None,
        knuth_moore_ratio: first.depths[last].cost.nodes() as f64 / minimal,
        unconverged,
        mate: truth.and_then(|t| Mate::of(first.depths[last].score, t.depths[last].score)),
        differences,
    };
    if job.replay {
        let replayed = replay(board, cell, &job.conditions, depth, first);
        outcome.replayed = Some(replayed.cost(&job.conditions).nodes());
    }
    outcome
}

/// Sums and means over the suite.
fn summarize(cell: Cell, depth: u32, outcomes: Vec<Outcome>) -> Row {
    let mut total = Cost::default();
    let mut nodes_by_depth = vec![0; depth as usize];
    for outcome in &outcomes {
        total.add(&outcome.cost);
        for (sum, nodes) in nodes_by_depth.iter_mut().zip(&outcome.nodes_by_depth) {
            *sum += nodes;
        }
    }
    let nodes = |o: &Outcome| o.cost.nodes() as f64;
    let ratios = outcomes.iter().map(|o| Some(nodes(o) / o.replayed?.max(1) as f64));
    Row {
        cell,
        depth,
        mean_nodes: geometric_mean(outcomes.iter().map(nodes)),
        replayed: outcomes.iter().map(|o| o.replayed).sum(),
        replay_ratio: ratios.collect::<Option<Vec<f64>>>().map(geometric_mean),
        knuth_moore_ratio: geometric_mean(outcomes.iter().map(|o| o.knuth_moore_ratio)),
        branching: nodes_by_depth.windows(2).map(|w| w[1] as f64 / w[0].max(1) as f64).collect(),
        nodes_by_depth,
        total,
        different: outcomes.iter().filter(|o| !o.differences.is_empty()).count(),
        unconverged: outcomes.iter().filter(|o| !o.unconverged.is_empty()).count(),
        outcomes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{node::Ordering, run::FirstGuess};
    use lancet::chess::lines::split;

    fn items(text: &str) -> Result<Vec<Item>, LineError<Reason>> {
        read(&split(text.as_bytes()).unwrap())
    }

    #[test]
    fn reads_epd_and_fen() {
        let text = "# comment\n\n8/8/8/8/8/4k3/4p3/4K3 b - - bm Kd3; id \"one\";\n\
                    8/8/8/8/8/4k3/4p3/4K3 b - - 5 60\n";
        let items = items(text).unwrap();
        assert_eq!(items[0].id, "one");
        assert_eq!((items[1].id.as_str(), items[1].position.halfmoves()), ("line 4", 5));
    }

    #[test]
    fn a_bad_line_is_named() {
        let error = items("8/8/8/8/8/4k3/4p3/4K3 b - -\nnonsense\n").unwrap_err().to_string();
        assert!(error.starts_with("2:2: 'nonsense' is not a board: "), "{error}");
    }

    /// A sound cell that says something else than the reference is a failure.
    #[test]
    fn lies_are_noticed() {
        let item = &items("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - id \"p\";").unwrap()[0];
        let conditions = Conditions {
            depth: 2,
            iterative: true,
            ordering: Ordering::Captures,
            selectivity: Vec::new(),
            guess: FirstGuess::Previous,
            max_passes: 50,
        };
        let job = Job {
            cells: vec![Cell::ADVICE],
            conditions: conditions.clone(),
            leaf: Leaf::Static,
            network: None,
            exhaustive_depth: 2,
            replay: false,
        };
        let board = Board::new(item.position.clone(), job.leaf, None);
        let truth = || run(&board, &reference(&Cell::ADVICE), &conditions, 2, Oracle::Silent);
        let failures = |truth: &Run<Move>| {
            let mut worth = Worth { board: &board, job: &job, known: HashMap::new() };
            let outcome = compare(item, &Cell::ADVICE, &job, Some(truth), &mut worth);
            let row = summarize(Cell::ADVICE, 2, vec![outcome]);
            failures_of(&row).map(|failure| failure.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(failures(&truth()), Vec::<String>::new());
        let mut other = truth();
        other.depths[1].score += 1;
        let score = other.depths[1].score;
        let cell = Cell::ADVICE;
        assert_eq!(
            failures(&other),
            [format!("p: [{cell}] depth 2: score {}, reference {score}", score - 1)]
        );
    }
}
