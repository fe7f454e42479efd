//! `lancet-train wdl`: fits the model of winning chances to games of Lancet against itself.
//! [`lancet::eval::wdl`] describes the model and its use.
//!
//! The fit maximises the likelihood of all results. The log-likelihood of an ordered logistic model
//! is concave in `alpha` and `beta`, so Fisher scoring finds the unique maximum (P. McCullagh,
//! "Regression Models for Ordinal Data", 1980).

use std::{ops::RangeInclusive, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, ensure};
use plotters::prelude::{RGBColor, SeriesLabelPosition};
use shakmaty::Position as _;

use super::{
    format::{GameFile, Record, Visit},
    plot::{self, Chart, Curve},
};
use lancet::{
    chess::score::Score,
    eval::{
        wdl::{self, MATERIAL, Model, TERMS, powers, sigmoid},
        weighted,
    },
    system::{files, stdio::say},
};

/// Scores are counted in classes of this width, in centipawns.
const WIDTH: Score = 10;
/// Larger scores, in centipawns, are left out: the curve is flat there, and the few games with an
/// unexpected result would dominate the fit.
const LARGEST: Score = 1000;
const CLASSES: usize = (2 * LARGEST / WIDTH + 1) as usize;
const MATERIALS: usize = (*MATERIAL.end() - *MATERIAL.start() + 1) as usize;
/// Number of parameters of the model.
const SIZE: usize = 2 * TERMS;
/// Largest number of steps of the fit.
const MAX_STEPS: u32 = 200;

/// Fit winning chances to the scores and results of games
///
/// Counts wins, draws and losses by score and material count, and fits the curves that UCI_ShowWDL
/// reports. The engine is built with the curves in src/eval/wdl/fitted.rs.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  lancet-train wdl games/*.vf
  lancet-train wdl games/*.vf --out src/eval/wdl/fitted.rs --svg src/eval/wdl/curve.svg --force --note \"5000 nodes a move\"")]
pub struct Args {
    /// Files of games, as `lancet-train datagen` writes them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the constants to this file
    #[arg(long, value_name = "FILE.rs")]
    out: Option<PathBuf>,
    /// Draw the curves and the counts to this file
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Replace the files of --out and --svg if they exist
    #[arg(long)]
    force: bool,
    /// Note for the file of constants: how the games were made
    #[arg(long, value_name = "TEXT", default_value = "self-play")]
    note: String,
}

/// Numbers of positions from which the side to move won, drew and lost, by material and score.
#[derive(Clone, Debug)]
struct Counts {
    /// Wins, draws and losses, by material and then by class of scores (`WIDTH`).
    cells: Vec<[u64; 3]>,
    /// Number of games counted.
    games: u64,
}

/// One cell of the counts, for the fit.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Middle of the class of scores, in centipawns.
    score: f64,
    material: u32,
    /// Wins, draws, losses.
    results: [f64; 3],
}

impl Default for Counts {
    fn default() -> Counts {
        Counts { cells: vec![[0; 3]; MATERIALS * CLASSES], games: 0 }
    }
}

impl Counts {
    /// Counts the positions of a game.
    fn add(&mut self, game: &Record) {
        self.games += 1;
        game.visit(|Visit { chess, score, .. }| {
            let material = wdl::material(chess.board());
            // Labels are in the units of the network, but the search shows weighted scores.
            let score = score.map(|score| weighted(score, chess.board()));
            if let Some(score) = score.filter(|score| score.abs() <= LARGEST)
                && MATERIAL.contains(&material)
            {
                let half_points = game.result.half_points(chess.turn());
                self.count(score, material, 2 - usize::from(half_points));
            }
        });
    }

    fn count(&mut self, score: Score, material: u32, result: usize) {
        let class = (score + LARGEST + WIDTH / 2).div_euclid(WIDTH) as usize;
        let row = (material - MATERIAL.start()) as usize;
        self.cells[row * CLASSES + class.min(CLASSES - 1)][result] += 1;
    }

    /// Returns the number of positions counted.
    fn positions(&self) -> u64 {
        self.cells.iter().flatten().sum()
    }

    fn cells(&self) -> Vec<Cell> {
        let filled = self.cells.iter().enumerate().filter(|(_, cell)| **cell != [0; 3]);
        filled
            .map(|(i, cell)| Cell {
                score: f64::from((i % CLASSES) as Score * WIDTH - LARGEST),
                material: MATERIAL.start() + (i / CLASSES) as u32,
                results: cell.map(|count| count as f64),
            })
            .collect()
    }
}

/// Log-likelihood per position. Its gradient and Fisher information are sums over all positions.
struct Likelihood {
    /// Logarithm of the likelihood, per position.
    log: f64,
    slope: [f64; SIZE],
    curvature: [[f64; SIZE]; SIZE],
}

impl Likelihood {
    /// Computes the likelihood. Returns `None` if a draw has no positive probability in some cell.
    /// Scores are in pawns here, so that all parameters have about the same size.
    fn new(cells: &[Cell], parameters: &[f64; SIZE]) -> Option<Likelihood> {
        let model = model(parameters);
        let mut sum = Likelihood { log: 0.0, slope: [0.0; SIZE], curvature: [[0.0; SIZE]; SIZE] };
        let mut total = 0.0;
        for cell in cells {
            let (alpha, beta) = model.at(cell.material);
            let (ahead, behind) = (beta * cell.score - alpha, -beta * cell.score - alpha);
            let (win, loss) = (sigmoid(ahead), sigmoid(behind));
            let (no_win, no_loss) = (sigmoid(-ahead), sigmoid(-behind));
            // The difference of the smaller numbers is more accurate.
            let draw = if cell.score > 0.0 { no_win - loss } else { no_loss - win };
            if draw <= 0.0 {
                return None;
            }
            let [wins, draws, losses] = cell.results;
            let count = wins + draws + losses;
            total += count;
            sum.log += wins * win.ln() + draws * draw.ln() + losses * loss.ln();
            let (up, down) = (win * no_win, loss * no_loss);
            let slopes =
                [wins * no_win - draws * up / draw, losses * no_loss - draws * down / draw];
            let cross = count * up * down / draw;
            let curvatures = [
                [count * (up * up / win + up * up / draw), cross],
                [cross, count * (down * down / loss + down * down / draw)],
            ];
            // Derivatives of the arguments of both logistic functions with respect to the
            // parameters.
            let powers = powers(cell.material);
            let score = cell.score / 100.0;
            let follows: [[f64; SIZE]; 2] = [1.0, -1.0].map(|sign| {
                std::array::from_fn(|i| {
                    if i < TERMS { -powers[i] } else { sign * score * powers[i - TERMS] }
                })
            });
            for i in 0..SIZE {
                for (a, slope) in slopes.iter().enumerate() {
                    sum.slope[i] += slope * follows[a][i];
                    for b in 0..2 {
                        for j in 0..SIZE {
                            sum.curvature[i][j] += curvatures[a][b] * follows[a][i] * follows[b][j];
                        }
                    }
                }
            }
        }
        sum.log /= total;
        Some(sum)
    }
}

/// Returns the model for these parameters: `alpha`, then `beta` per pawn.
fn model(parameters: &[f64; SIZE]) -> Model {
    let [a0, a1, a2, a3, b0, b1, b2, b3] = *parameters;
    Model { alpha: [a0, a1, a2, a3], beta: [b0, b1, b2, b3].map(|b| b / 100.0) }
}

/// A fitted model with its likelihood.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// The fitted model.
    model: Model,
    /// Natural logarithm of the likelihood, per position.
    log_likelihood: f64,
}

/// Fits the model.
///
/// # Errors
///
/// If there are too few games, or too few different ones, for a fit at every material count.
fn fit(counts: &Counts) -> anyhow::Result<Fit> {
    let cells = counts.cells();
    ensure!(!cells.is_empty(), "no positions to fit: no game has suitable scores");
    let mut parameters = [0.0; SIZE];
    // Start with curves on which half of the games are won at a score of two pawns.
    (parameters[0], parameters[TERMS]) = (2.0, 1.0);
    let mut here = Likelihood::new(&cells, &parameters).context("too few games")?;
    for _ in 0..MAX_STEPS {
        let step = solve(here.curvature, here.slope).context("too few games")?;
        let next = (0..30).find_map(|halvings| {
            let scale = 0.5_f64.powi(halvings);
            let tried = std::array::from_fn(|i| parameters[i] + scale * step[i]);
            let there = Likelihood::new(&cells, &tried)?;
            (there.log > here.log).then_some((tried, there))
        });
        let Some((better, there)) = next else { break };
        let gain = there.log - here.log;
        (parameters, here) = (better, there);
        if gain < 1e-12 {
            break;
        }
    }
    let model = model(&parameters);
    for material in MATERIAL {
        let (alpha, beta) = model.at(material);
        ensure!(
            alpha > 0.0 && beta > 0.0,
            "too few games: alpha or beta is not positive at material {material}"
        );
    }
    Ok(Fit { model, log_likelihood: here.log })
}

/// Solves a linear system by Gaussian elimination with partial pivoting; `None` if it is singular.
fn solve(mut matrix: [[f64; SIZE]; SIZE], mut right: [f64; SIZE]) -> Option<[f64; SIZE]> {
    for column in 0..SIZE {
        let pivot = (column..SIZE)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-9 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let (above, below) = matrix.split_at_mut(column + 1);
        let row = &above[column];
        for (other, i) in below.iter_mut().zip(column + 1..) {
            let factor = other[column] / row[column];
            for j in column..SIZE {
                other[j] -= factor * row[j];
            }
            right[i] -= factor * right[column];
        }
    }
    for i in (0..SIZE).rev() {
        let known: f64 = (i + 1..SIZE).map(|j| matrix[i][j] * right[j]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    Some(right)
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be used, or there are too few games.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let outputs = [&args.out, &args.svg].into_iter().flatten();
    files::check_outputs(outputs.map(PathBuf::as_path), &args.files, |_| args.force)?;
    let mut counts = Counts::default();
    for path in &args.files {
        // An incomplete last game is not an error, because the file may still be growing.
        let file = GameFile::read(path)?;
        for game in 0..file.count() {
            counts.add(&file.game(game)?);
        }
    }
    let fit = fit(&counts)?;
    report(&counts, &fit);
    if let Some(path) = &args.out {
        super::replace(path, source(&counts, &fit.model, &args.note))?;
    }
    if let Some(path) = &args.svg {
        super::replace(path, draw(&counts, &fit.model)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn report(counts: &Counts, fit: &Fit) {
    let total = counts
        .cells
        .iter()
        .fold([0; 3], |sum: [u64; 3], cell| std::array::from_fn(|i| sum[i] + cell[i]));
    let positions = counts.positions() as f64;
    let shares = total.map(|count| count as f64 / positions);
    let ignorant: f64 = shares.iter().filter(|&&p| p > 0.0).map(|p| p * p.ln()).sum();
    say(format_args!("{} games, {positions} positions", counts.games));
    say(format_args!(
        "log likelihood {:.5} per position ({ignorant:.5} without scores)",
        fit.log_likelihood
    ));
    say(
        "material  half of the games are won at  spread (b)   positions   predicted - counted score",
    );
    for class in MATERIAL_CLASSES {
        let (low, high) = class.into_inner();
        let cells: Vec<Cell> =
            counts.cells().into_iter().filter(|c| (low..=high).contains(&c.material)).collect();
        let (alpha, beta) = fit.model.at(u32::midpoint(low, high));
        let (mut seen, mut error) = (0.0, 0.0);
        for cell in &cells {
            let [wins, draws, losses] = cell.results;
            let (win, loss) = fit.model.win_and_loss(cell.score, cell.material);
            let count = wins + draws + losses;
            seen += count;
            // Half of the difference, because a win counts 1 and a loss 0.
            error += ((win - loss) * count - (wins - losses)) / 2.0 * cell.score.signum();
        }
        say(format_args!(
            "{low:>3}..{high:<3} {:>21.0} cp {:>18.0} cp {seen:>11} {:>12.4}",
            alpha / beta,
            1.0 / beta,
            error / seen.max(1.0)
        ));
    }
    say(format_args!("alpha {:?}, beta {:?}", fit.model.alpha, fit.model.beta));
}

/// Returns the constants as Rust source.
fn source(counts: &Counts, model: &Model, note: &str) -> String {
    let list = |terms: &[f64; TERMS]| terms.map(|c| format!("{c:.8}")).join(", ");
    let note: String = note.chars().filter(|c| !c.is_control()).collect();
    format!(
        "//! Curves of winning chances, written by `lancet-train wdl`.\n\
         //!\n\
         //! Fitted to {} positions of {} games ({note}).\n\
         \n\
         /// Coefficients of `alpha` in powers of material / 58, constant first.\n\
         pub const ALPHA: [f64; {TERMS}] = [{}];\n\
         \n\
         /// Coefficients of `beta` (1/centipawn), likewise.\n\
         pub const BETA: [f64; {TERMS}] = [{}];\n",
        counts.positions(),
        counts.games,
        list(&model.alpha),
        list(&model.beta),
    )
}

/// Classes of material counts in report and picture.
const MATERIAL_CLASSES: [RangeInclusive<u32>; 4] = [17..=28, 29..=45, 46..=62, 63..=78];

/// Draws two charts, the upper one of wins and the lower one of draws. Each has a curve of the
/// model and dots of the counts for each class of material.
fn draw(counts: &Counts, model: &Model) -> anyhow::Result<String> {
    let cells = counts.cells();
    let curves = |share: fn([f64; 3]) -> f64| {
        let curve = |(class, color): (RangeInclusive<u32>, RGBColor)| {
            let dots = dots(&cells, &class, model);
            let points = |results: fn(&Dot) -> [f64; 3]| {
                dots.iter().map(|dot| (dot.score, 100.0 * share(results(dot)))).collect()
            };
            Curve {
                name: format!("material {} to {}", class.start(), class.end()),
                color,
                line: points(|dot| dot.predicted),
                dots: points(|dot| dot.counted),
            }
        };
        MATERIAL_CLASSES.into_iter().zip(COLOURS).map(curve).collect()
    };
    let (x, legend) = ("score of the side to move (centipawns)", SeriesLabelPosition::UpperLeft);
    let chart = |title, curves| Chart { title, x, curves, legend: legend.clone() };
    plot::svg(&[
        chart("Games won (%), by score and material", curves(|[w, d, l]| w / (w + d + l))),
        chart("Games drawn (%)", curves(|[w, d, l]| d / (w + d + l))),
    ])
}

/// Largest score in the picture, for either side, in centipawns.
const SHOWN: Score = 800;
/// Width of the class of scores of a dot, in centipawns.
const DOT: Score = 50;
/// Smallest number of positions for a dot.
const FEWEST: f64 = 200.0;

const COLOURS: [RGBColor; 4] =
    [RGBColor(200, 30, 60), RGBColor(230, 140, 0), RGBColor(40, 150, 60), RGBColor(30, 90, 200)];

/// Counted and predicted results of the positions in a class of scores.
#[derive(Clone, Copy, Default)]
struct Dot {
    /// Mean score, in centipawns.
    score: f64,
    counted: [f64; 3],
    predicted: [f64; 3],
}

fn dots(cells: &[Cell], class: &RangeInclusive<u32>, model: &Model) -> Vec<Dot> {
    let mut dots = vec![Dot::default(); (2 * SHOWN / DOT + 1) as usize];
    for cell in cells.iter().filter(|cell| class.contains(&cell.material)) {
        let at = (cell.score as Score + SHOWN + DOT / 2).div_euclid(DOT) as usize;
        let Some(dot) = dots.get_mut(at) else { continue };
        let count: f64 = cell.results.iter().sum();
        let (win, loss) = model.win_and_loss(cell.score, cell.material);
        let shares = [win, 1.0 - win - loss, loss];
        dot.score += count * cell.score;
        dot.counted = std::array::from_fn(|i| dot.counted[i] + cell.results[i]);
        dot.predicted = std::array::from_fn(|i| dot.predicted[i] + count * shares[i]);
    }
    let count = |dot: &Dot| dot.counted.iter().sum::<f64>();
    dots.retain(|dot| count(dot) >= FEWEST);
    dots.iter_mut().for_each(|dot| dot.score /= count(dot));
    dots
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::format::GameResult;
    use lancet::chess::{notation::read_move, position::Position};

    const TRUTH: Model =
        Model { alpha: [1.5, 0.8, -0.3, 0.1], beta: [0.012, -0.004, 0.001, 0.0005] };

    /// Returns results drawn from a known model.
    fn counted(positions: u32) -> Counts {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut counts = Counts { games: 1, ..Counts::default() };
        for _ in 0..positions {
            let material = rng.random_range(MATERIAL);
            let score = rng.random_range(-60..=60) * WIDTH;
            let (win, loss) = TRUTH.win_and_loss(f64::from(score), material);
            let random: f64 = rng.random();
            let result = if random < win {
                0
            } else if random < 1.0 - loss {
                1
            } else {
                2
            };
            counts.count(score, material, result);
        }
        counts
    }

    /// Scores and results count from the side to move's point of view.
    #[test]
    fn games_count_for_the_side_to_move() {
        let start = Position::default();
        let first = read_move(&start, "e2e4").unwrap();
        let second = read_move(&start.play(first), "e7e5").unwrap();
        let mut counts = Counts::default();
        let moves = vec![(first, 50), (second, 50)];
        counts.add(&Record { start: start.clone(), result: GameResult::WhiteWins, moves });
        let shown = f64::from(weighted(50, start.board()));
        let found: Vec<_> = counts.cells().iter().map(|cell| (cell.score, cell.results)).collect();
        let [(loss, lost), (win, won)] = found[..] else { panic!("{found:?}") };
        assert_eq!((lost, won), ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]));
        assert!((win - shown).abs() <= 5.0 && (loss + shown).abs() <= 5.0, "{found:?} {shown}");
        assert_ne!(win, 50.0);
    }

    #[test]
    fn the_fit_finds_the_model_that_made_the_results() {
        let found = fit(&counted(400_000)).unwrap().model;
        for material in MATERIAL {
            for score in [-400.0, -100.0, 0.0, 50.0, 300.0] {
                let expected = TRUTH.win_and_loss(score, material);
                let (win, loss) = found.win_and_loss(score, material);
                assert!((win - expected.0).abs() < 0.02, "{material} {score}: {win} {expected:?}");
                assert!(
                    (loss - expected.1).abs() < 0.02,
                    "{material} {score}: {loss} {expected:?}"
                );
            }
        }
    }

    /// A step in any direction lowers the likelihood.
    #[test]
    fn the_fit_is_a_maximum() {
        let cells = counted(20_000).cells();
        let fit = fit(&counted(20_000)).unwrap();
        let mut parameters = [0.0; SIZE];
        parameters[..TERMS].copy_from_slice(&fit.model.alpha);
        parameters[TERMS..].copy_from_slice(&fit.model.beta.map(|b| 100.0 * b));
        for i in 0..SIZE {
            for step in [-0.01, 0.01] {
                let mut moved = parameters;
                moved[i] += step;
                let there = Likelihood::new(&cells, &moved).map_or(f64::MIN, |l| l.log);
                assert!(there < fit.log_likelihood, "{i} {step}");
            }
        }
    }

    #[test]
    fn too_few_games_are_an_error() {
        let error = |counts: &Counts| fit(counts).err().unwrap().to_string();
        let mut counts = Counts::default();
        assert!(error(&counts).starts_with("no positions to fit"));
        (0..100).for_each(|_| counts.count(0, 40, 1));
        assert!(error(&counts).starts_with("too few games"));
    }

    /// The current constants have the form that this command writes.
    #[test]
    fn current_constants_have_the_written_format() {
        let text = include_str!("../eval/wdl/fitted.rs");
        let written = source(&Counts::default(), &wdl::MODEL, "");
        let constants = |text: &str| text[text.find("/// Coefficients").unwrap()..].to_owned();
        assert_eq!(constants(text), constants(&written));
    }

    #[test]
    fn the_picture_has_all_curves() {
        let picture = draw(&counted(100_000), &TRUTH).unwrap();
        assert!(picture.starts_with("<svg") && picture.contains("</svg>"));
        assert_eq!(picture.matches("material 63 to 78").count(), 2);
        assert!(picture.matches("<circle").count() > 50);
        assert!(!picture.contains("NaN"));
    }
}
