//! A run over a suite of positions: every cell on every position, the comparison with the
//! reference, and the sums. [`output`](super::output) prints the results.

use std::{
    cmp::{Ordering, Reverse},
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

use rayon::prelude::*;
use serde::Serialize;

use super::{
    cell::{Cell, name},
    chess::{Board, Leaf},
    connect_four::ConnectFour,
    delay::ScoreDelay,
    game::{Game, GameName},
    nim::Nim,
    node::{Cost, Oracle},
    root::End,
    run::{Conditions, Iterations, attains, reference, replay, run},
    tictactoe::TicTacToe,
    yardstick::{geometric_mean, knuth_moore, means},
};
use lancet::{
    chess::{
        epd::{Record, parse},
        lines::{Line, LineError},
        notation::counted,
        position::Position,
        score::{Score, is_mate},
    },
    eval::nnue::Network,
    system::stdio::plain,
};

/// A position of a suite.
#[derive(Clone, Debug)]
pub struct Item<P = Position> {
    /// The EPD's `id` in a form that is safe for a terminal, the number of the line, or the moves
    /// that led to the position.
    pub id: String,
    /// The position.
    pub position: P,
}

/// Reads the positions of EPD or FEN lines. Uses only the operation `id`.
///
/// # Errors
///
/// If a line cannot be used. The error names the first such line.
pub fn read(lines: &[Line]) -> Result<Vec<Item>, LineError> {
    let item = |record: Record| Item { id: plain(&record.id), position: record.position };
    lines.iter().map(|line| parse(line).map(item)).collect()
}

/// Returns all positions of a game after `plies` moves, each once.
fn positions_after<G: Game>(start: G, plies: u32) -> Vec<Item<G>> {
    let mut items = vec![Item { id: String::new(), position: start }];
    for _ in 0..plies {
        let mut seen = HashSet::new();
        let children = items.iter().flat_map(|Item { id, position }| {
            position.moves().into_iter().map(move |m| Item {
                id: format!("{id} {}", position.move_text(m)).trim_start().to_owned(),
                position: position.make(m),
            })
        });
        items = children.filter(|item| seen.insert(item.position.key())).collect();
    }
    items
}

/// The positions to search.
#[derive(Clone, Copy, Debug)]
pub enum Suite<'a> {
    /// Chess positions.
    Chess(&'a [Item]),
    /// All positions of another game after the first move or two.
    Other(GameName),
}

/// The cells to compare, and how to run them.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The cells to compare.
    pub cells: Vec<Cell>,
    /// The conditions that they share.
    pub conditions: Conditions<'a>,
    /// How nodes at depth zero are evaluated.
    pub leaf: Leaf,
    /// The network for [`Leaf::Network`].
    pub network: Option<Arc<Network>>,
    /// The maximum depth of [exhaustive](Cell::is_exhaustive) cells.
    pub exhaustive_depth: u32,
    /// Whether to measure the replayed tree, which doubles the work.
    pub replay: bool,
}

impl<'a> Job<'a> {
    /// Creates a job with static leaves and without replayed trees.
    pub fn new(cells: Vec<Cell>, conditions: Conditions<'a>) -> Job<'a> {
        let leaf = Leaf::Static;
        Job { cells, conditions, leaf, network: None, exhaustive_depth: 3, replay: false }
    }

    /// Returns the conditions of a cell. Exhaustive cells are searched less deeply.
    fn conditions_of(&self, cell: &Cell) -> Conditions<'a> {
        let most = if cell.is_exhaustive() { self.exhaustive_depth } else { u32::MAX };
        Conditions { depth: self.conditions.depth.min(most), ..self.conditions }
    }
}

/// The result of a cell on a position.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The position.
    pub id: String,
    /// The root's score at the last depth.
    pub score: Score,
    /// The best move, in chess in UCI notation; empty if the cell has none.
    pub best: String,
    /// The cost of the search.
    pub cost: Cost,
    /// Nodes of each depth.
    pub nodes_by_depth: Vec<u64>,
    /// Nodes of the replayed tree, if measured.
    pub replayed: Option<u64>,
    /// Nodes of the last depth relative to the Knuth-Moore estimate.
    pub knuth_moore_ratio: f64,
    /// Depths at which the root driver did not converge, and why.
    pub unconverged: Vec<(u32, End)>,
    /// How a mate at the last depth compares with the reference's, if either finds one.
    pub mate: Option<Mate>,
    /// The differences from the reference.
    pub differences: Vec<Difference>,
}

/// How a cell's mate compares with the reference's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mate {
    /// The reference's mate, at the same distance.
    Found,
    /// A mate at another distance.
    WrongDistance,
    /// A mate where the reference has none, or has a mate by the other side.
    False,
    /// No mate where the reference has one.
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

/// A difference from the reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Difference {
    /// The score differs.
    Score {
        /// Depth in plies.
        depth: u32,
        /// The cell's score.
        found: Score,
        /// The reference's score.
        truth: Score,
    },
    /// The best move is missing or not worth the score.
    Move {
        /// Depth in plies.
        depth: u32,
        /// The move; empty if the cell has none.
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

/// The results of a cell on the whole suite.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// The cell.
    pub cell: Cell,
    /// Depth in plies.
    pub depth: u32,
    /// Sums over the suite.
    pub total: Cost,
    /// Geometric mean of the nodes per position.
    pub mean_nodes: f64,
    /// Nodes of all replayed trees, if measured.
    pub replayed: Option<u64>,
    /// Geometric mean of the nodes relative to replayed nodes, if measured.
    pub replay_ratio: Option<f64>,
    /// Geometric mean of the last depth's nodes relative to the Knuth-Moore estimate.
    pub knuth_moore_ratio: f64,
    /// Nodes by depth, summed over the suite.
    pub nodes_by_depth: Vec<u64>,
    /// Effective branching factors: nodes of depths 2, 3, ... relative to those of the depth
    /// before.
    pub branching: Vec<f64>,
    /// Positions with a [`Difference`].
    pub different: usize,
    /// Positions on which the root driver did not converge.
    pub unconverged: usize,
    /// The results on each position.
    pub outcomes: Vec<Outcome>,
}

impl Measurement {
    /// Compares by depth, the deepest first, and then by the size of the trees.
    pub fn cmp_cost(&self, other: &Measurement) -> Ordering {
        other.depth.cmp(&self.depth).then(self.mean_nodes.total_cmp(&other.mean_nodes))
    }

    /// Returns the number of positions with this kind of result on a mate.
    pub fn mates(&self, kind: Mate) -> usize {
        self.outcomes.iter().filter(|o| o.mate == Some(kind)).count()
    }

    /// Returns all differences from the reference.
    fn wrong_results(&self) -> impl Iterator<Item = WrongResult> {
        self.outcomes.iter().flat_map(|outcome| {
            outcome.differences.iter().map(|difference| WrongResult {
                cell: self.cell,
                id: outcome.id.clone(),
                difference: difference.clone(),
            })
        })
    }
}

/// A difference between a sound cell and the reference.
#[derive(Clone, Debug, Serialize)]
pub struct WrongResult {
    /// The cell.
    pub cell: Cell,
    /// The position.
    pub id: String,
    /// The difference.
    pub difference: Difference,
}

impl fmt::Display for WrongResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: [{}] {}", self.id, self.cell, self.difference)
    }
}

/// The error if sound cells differ from the reference. Holds the number of differences and the
/// first few of them.
#[derive(Debug, thiserror::Error)]
#[error("sound cells differ from the reference ({count}):{first}")]
pub struct TruthError {
    count: String,
    first: String,
}

/// A finished comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Number of positions.
    pub positions: usize,
    /// Depth in plies.
    pub depth: u32,
    /// Leaf evaluation.
    pub leaf: String,
    /// Move ordering.
    pub ordering: String,
    /// The selective techniques.
    pub selectivity: Vec<String>,
    /// Whether scores were compared with the reference. Searches with null moves or reductions have
    /// no reference.
    pub checked: bool,
    /// Whether the search used iterative deepening.
    pub iterative: bool,
    /// One row for each cell.
    pub rows: Vec<Measurement>,
    /// Differences of sound cells from the reference. Must be empty.
    pub failures: Vec<WrongResult>,
}

impl Report {
    /// Checks that no sound cell differs from the reference.
    ///
    /// # Errors
    ///
    /// [`TruthError`] names positions, cells and results.
    pub fn check(&self) -> Result<(), TruthError> {
        const SHOWN: usize = 20;
        if self.failures.is_empty() {
            return Ok(());
        }
        let first = self.failures.iter().take(SHOWN).map(|wrong| format!("\n  {wrong}"));
        Err(TruthError {
            count: counted(self.failures.len(), "difference"),
            first: first.collect(),
        })
    }
}

/// Runs every cell on every position, with positions in parallel. After each cell on each position,
/// calls `tick` with the total number of positions.
pub fn run_suite(suite: Suite<'_>, job: &Job<'_>, tick: &(dyn Fn(usize) + Sync)) -> Report {
    match suite {
        Suite::Chess(items) => {
            let network = job.network.as_deref();
            let board = |Item { id, position }: &Item| Item {
                id: id.clone(),
                position: Board::new(position.clone(), job.leaf, network),
            };
            run_items(&items.iter().map(board).collect::<Vec<_>>(), job, tick)
        }
        Suite::Other(GameName::ConnectFour) => {
            run_items(&positions_after(ConnectFour::default(), 1), job, tick)
        }
        Suite::Other(GameName::Nim) => run_items(&positions_after(Nim::default(), 1), job, tick),
        Suite::Other(GameName::TicTacToe) => {
            run_items(&positions_after(TicTacToe::default(), 2), job, tick)
        }
    }
}

fn run_items<G: Game>(suite: &[Item<G>], job: &Job<'_>, tick: &(dyn Fn(usize) + Sync)) -> Report {
    let examine = |item| -> Vec<Outcome> {
        let mut trial = Trial::new(item, job);
        job.cells.iter().map(|cell| trial.outcome(cell)).inspect(|_| tick(suite.len())).collect()
    };
    let by_position: Vec<Vec<Outcome>> = suite.par_iter().map(examine).collect();
    let row = |(i, &cell): (usize, &Cell)| {
        let outcomes = by_position.iter().map(|outcomes| outcomes[i].clone()).collect();
        summarize(cell, job.conditions_of(&cell).depth, outcomes)
    };
    let rows: Vec<Measurement> = job.cells.iter().enumerate().map(row).collect();
    let sound = rows.iter().filter(|row| row.cell.is_sound());
    let failures = sound.flat_map(|row| row.wrong_results()).collect();
    let conditions = &job.conditions;
    Report {
        positions: suite.len(),
        depth: conditions.depth,
        leaf: name(job.leaf),
        ordering: name(conditions.ordering),
        selectivity: conditions.selectivity.iter().map(|&what| name(what)).collect(),
        checked: conditions.is_exact(),
        iterative: conditions.iterative,
        rows,
        failures,
    }
}

/// A position on which the cells are run one after the other.
struct Trial<'a, G: Game> {
    item: &'a Item<G>,
    job: &'a Job<'a>,
    /// The results of the reference, by [`ScoreDelay::meant`].
    truths: HashMap<ScoreDelay, Iterations<G::Move>>,
    /// Whether a move is worth the root's score, kept for all cells.
    worth: HashMap<(ScoreDelay, u32, G::Move), bool>,
}

impl<'a, G: Game> Trial<'a, G> {
    fn new(item: &'a Item<G>, job: &'a Job<'a>) -> Trial<'a, G> {
        let mut truths = HashMap::new();
        // A search with null moves or reductions has no reference. The deepest cell of each score
        // delay comes first, because the others need no more than the reference of this cell.
        let cells = job.cells.iter().filter(|_| job.conditions.is_exact());
        let mut cells: Vec<&Cell> = cells.collect();
        cells.sort_by_key(|cell| Reverse(job.conditions_of(cell).depth));
        for cell in cells {
            let conditions = Conditions { iterative: false, ..job.conditions_of(cell) };
            let search = || run(&item.position, &reference(cell), conditions, Oracle::Silent);
            truths.entry(cell.delay.meant()).or_insert_with(search);
        }
        Trial { item, job, truths, worth: HashMap::new() }
    }

    /// Runs one cell and compares it with the reference for its score delay.
    fn outcome(&mut self, cell: &Cell) -> Outcome {
        let (job, board) = (self.job, &self.item.position);
        let conditions = job.conditions_of(cell);
        let replays = if job.replay { Oracle::Listening(HashMap::new()) } else { Oracle::Silent };
        let found = run(board, cell, conditions, replays);
        let delay = cell.delay.meant();
        let truth = self.truths.get(&delay);
        let uci = |m: Option<G::Move>| m.map_or_else(String::new, |m| board.move_text(m));

        let over = board.terminal(&board.moves()).is_some();
        let mut differences = Vec::new();
        let truths = truth.iter().flat_map(|truth| &truth.depths);
        for (depth, (found, truth)) in (1..).zip(found.depths.iter().zip(truths)) {
            let is_best = |m| {
                let asked = self.worth.entry((delay, depth, m));
                *asked.or_insert_with(|| attains(board, m, delay, depth, found.score))
            };
            if found.score != truth.score {
                let (found, truth) = (found.score, truth.score);
                differences.push(Difference::Score { depth, found, truth });
            } else if !found.best.map_or(over, is_best) {
                differences.push(Difference::Move { depth, best: uci(found.best) });
            }
        }

        // The reference may be deeper than the cell.
        let at = found.depths.len() - 1;
        let last = &found.depths[at];
        let branching = &truth.unwrap_or(&found).depths[at].cost.branching;
        let ends = (1..).zip(found.depths.iter().map(|depth| depth.end));
        Outcome {
            id: self.item.id.clone(),
            score: last.score,
            best: uci(last.best),
            cost: found.cost(),
            nodes_by_depth: found.depths.iter().map(|depth| depth.cost.nodes()).collect(),
            knuth_moore_ratio: last.cost.nodes() as f64 / knuth_moore(&means(branching)),
            unconverged: ends.filter(|(_, end)| *end != End::Converged).collect(),
            mate: truth.and_then(|truth| Mate::of(last.score, truth.depths[at].score)),
            differences,
            replayed: job.replay.then(|| replay(board, cell, conditions, found).cost().nodes()),
        }
    }
}

/// Computes sums and means over the suite.
fn summarize(cell: Cell, depth: u32, outcomes: Vec<Outcome>) -> Measurement {
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
    Measurement {
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
    use lancet::chess::lines::split;

    fn items(text: &str) -> Result<Vec<Item>, LineError> {
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

    /// Checks that a sound cell that differs from the reference fails the check, which names the
    /// position and the cell.
    #[test]
    fn lies_are_noticed() {
        let suite = items("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - id \"p\";").unwrap();
        let job = Job::new(vec![Cell::ADVICE], Conditions::new(2));
        let mut report = run_suite(Suite::Chess(&suite), &job, &|_| ());
        report.check().unwrap();

        let Item { id, position } = suite[0].clone();
        let board = Item { id, position: Board::new(position, Leaf::Static, None) };
        let mut trial = Trial::new(&board, &job);
        let truth = &mut trial.truths.get_mut(&ScoreDelay::None).unwrap().depths[1].score;
        *truth += 1;
        let truth = *truth;
        let outcome = trial.outcome(&Cell::ADVICE);
        report.failures.extend(summarize(Cell::ADVICE, 2, vec![outcome]).wrong_results());
        let error = report.check().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "sound cells differ from the reference (1 difference):\n  p: [pvs asp-gradual 50 exact \
                 two-bounds two-level 65536 none] depth 2: score {}, reference {truth}",
                truth - 1
            )
        );
        assert_eq!(crate::command::status(&error.into()), 1);
    }
}
