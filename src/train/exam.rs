//! Exams: test sets that measure the error of evaluations. No network is trained on their
//! positions. The scores come from long searches, by Lancet or by another engine.

use std::{ops::RangeInclusive, path::Path};

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use shakmaty::Color;

use super::{
    format::{self, GameResult},
    sample::Sample,
};
use lancet::{
    chess::{
        position::Position,
        score::{EVALUATION_LIMIT, Score},
    },
    eval::{
        self,
        nnue::{Network, features},
        psqt,
        wdl::sigmoid,
    },
};

/// Advantage, in centipawns of an exam, that multiplies the odds of winning by e.
const SCALE: f64 = 250.0;
/// Advantage, in centipawns of an evaluation, that multiplies the odds of winning by e at a scale
/// of 1.
const CANDIDATE_SCALE: f64 = 400.0;

/// Number of classes of piece counts, in exams and in statistics of games.
pub(crate) const CLASSES: usize = 8;

/// Positions with their scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Exam {
    fens: Vec<String>,
    samples: Vec<Sample>,
}

/// Errors and rank correlation of an evaluation on an exam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grade {
    /// Root mean square error in winning probability. The evaluation is first multiplied by the
    /// scale that makes the error smallest, which differs between eight ranges of piece counts.
    pub error: f64,
    /// The error with the same scale for all positions.
    pub one_scale: f64,
    /// That scale. At 1, 400 centipawns of the evaluation equal 250 centipawns of the exam.
    pub scale: f64,
    /// Spearman's rank correlation.
    pub correlation: f64,
}

/// The columns that are read from a file of `lancet epd --csv`.
#[derive(Deserialize)]
struct ScoredPosition {
    engine: Option<String>,
    fen: String,
    cp: Option<Score>,
}

impl Exam {
    /// Reads a file that `lancet epd --csv` wrote for one engine. Positions without a score in
    /// centipawns, such as mates, are left out.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, it has the scores of several engines, a row or its FEN is
    /// invalid, or no position has a score in centipawns.
    pub fn read(path: &Path) -> anyhow::Result<Exam> {
        Exam::parse(&format::read(path)?).with_context(|| path.display().to_string())
    }

    fn parse(bytes: &[u8]) -> anyhow::Result<Exam> {
        const SCORES: RangeInclusive<Score> = -EVALUATION_LIMIT..=EVALUATION_LIMIT;
        let mut exam = Exam { fens: Vec::new(), samples: Vec::new() };
        let mut first = None;
        for (row, line) in csv::Reader::from_reader(bytes).deserialize().zip(2..) {
            let ScoredPosition { engine, fen, cp } = row?;
            let first = first.get_or_insert_with(|| engine.clone());
            ensure!(
                *first == engine,
                "line {line}: engine '{}', but the first row has '{}'; expected one engine \
                 (`lancet epd --engines-only` leaves out Lancet)",
                engine.unwrap_or_default(),
                first.as_deref().unwrap_or_default()
            );
            let Some(score) = cp.filter(|score| SCORES.contains(score)) else { continue };
            let position = Position::from_fen(&fen).with_context(|| format!("line {line}"))?;
            exam.samples.push(Sample::new(position.chess(), score, GameResult::Draw));
            exam.fens.push(fen);
        }
        ensure!(!exam.samples.is_empty(), "no position with a score in centipawns");
        Ok(exam)
    }

    /// Returns the positions, each with its score for the side to move.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Returns the static evaluation of each position, in centipawns for the side to move. A
    /// network's scores are multiplied by the search's weight for material. Without a network, the
    /// scores come from material and piece-square tables.
    pub fn evaluate(&self, network: Option<&Network>) -> Vec<f64> {
        let evaluate = |sample: &Sample| {
            let board = sample.board();
            let score = match network {
                Some(network) => eval::weighted(network.evaluate(&board, Color::White), &board),
                None => psqt::evaluate_board(&board, Color::White),
            };
            f64::from(score)
        };
        self.samples.iter().map(evaluate).collect()
    }

    /// Returns the part of this exam whose positions are also in `answers`, and the scores there.
    pub fn shared_with(&self, answers: &Exam) -> (Exam, Vec<f64>) {
        let scores: std::collections::HashMap<&str, f32> = answers
            .fens
            .iter()
            .map(String::as_str)
            .zip(answers.samples.iter().map(Sample::score))
            .collect();
        let mut shared = Exam { fens: Vec::new(), samples: Vec::new() };
        let mut found = Vec::new();
        for (fen, sample) in self.fens.iter().zip(&self.samples) {
            if let Some(&score) = scores.get(fen.as_str()) {
                shared.fens.push(fen.clone());
                shared.samples.push(*sample);
                found.push(f64::from(score));
            }
        }
        (shared, found)
    }

    /// Grades evaluations in centipawns, one for each position of the exam.
    pub fn grade(&self, scores: &[f64]) -> Grade {
        let own: Vec<f64> = self.samples.iter().map(|sample| f64::from(sample.score())).collect();
        let truths = own.iter().map(|score| sigmoid(score / SCALE));
        let pairs: Vec<(f64, f64)> = scores.iter().copied().zip(truths).collect();
        let mut classes = vec![Vec::new(); CLASSES];
        for (sample, &pair) in self.samples.iter().zip(&pairs) {
            classes[features::output_bucket(sample.count(), CLASSES)].push(pair);
        }
        let mean = |sum: f64| (sum / pairs.len().max(1) as f64).sqrt();
        let (scale, squares) = best_scale(&pairs);
        Grade {
            error: mean(classes.iter().map(|pairs| best_scale(pairs).1).sum()),
            one_scale: mean(squares),
            scale,
            correlation: correlation(&ranks(&own), &ranks(scores)),
        }
    }
}

/// Returns the scale with the smallest sum of squared errors, and this sum, for pairs of a score in
/// centipawns and a winning probability.
fn best_scale(pairs: &[(f64, f64)]) -> (f64, f64) {
    let squares = |scale: f64| -> f64 {
        let square = |&(score, truth): &(f64, f64)| {
            (sigmoid(scale * score / CANDIDATE_SCALE) - truth).powi(2)
        };
        pairs.iter().map(square).sum()
    };
    // Ternary search finds the minimum. It assumes that the sum has only one. It searches the
    // logarithm of the scale, because the outputs of a network in training can be very small.
    let (mut low, mut high) = (0.02_f64.ln(), 100_f64.ln());
    for _ in 0..30 {
        let third = (high - low) / 3.0;
        if squares((low + third).exp()) < squares((high - third).exp()) {
            high -= third;
        } else {
            low += third;
        }
    }
    let scale = ((low + high) / 2.0).exp();
    (scale, squares(scale))
}

/// Returns the rank of each value. Equal values have the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = first as f64 + (group.len() as f64 - 1.0) / 2.0;
        group.iter().for_each(|&place| ranks[place] = mean);
        first += group.len();
    }
    ranks
}

/// Returns Pearson's correlation.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut both, mut own, mut other) = (0.0, 0.0, 0.0);
    for (&a, &b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        both += a * b;
        own += a * a;
        other += b * b;
    }
    both / (own * other).sqrt().max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exam(rows: &str) -> anyhow::Result<Exam> {
        Exam::parse(format!("id,cp,mate,fen\n{rows}").as_bytes())
    }

    const PAWN: &str = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    const QUEEN: &str = "4k3/8/8/8/8/8/8/3QK3 b - - 0 1";
    const LEVEL: &str = "4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1";

    fn three() -> Exam {
        exam(&format!("a,90,,{PAWN}\nb,-900,,{QUEEN}\nc,,3,{QUEEN}\nd,0,,{LEVEL}\n")).unwrap()
    }

    #[test]
    fn an_exam_is_read() {
        let scores: Vec<f32> = three().samples().iter().map(Sample::score).collect();
        assert_eq!(scores, [90.0, -900.0, 0.0], "the mate is left out");
        let error = format!("{:#}", exam("a,10,,4k3/8/8 w\n").unwrap_err());
        assert!(error.contains("line 2"), "{error}");
        assert!(exam("a,ten,,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n").is_err());
        assert!(format!("{:#}", exam("").unwrap_err()).contains("no position"));
    }

    #[test]
    fn exams_have_one_engine() {
        let row = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1";
        let csv = |engines: [&str; 2]| {
            format!("engine,fen,cp\n{},{row},10\n{},{row},20\n", engines[0], engines[1])
        };
        assert_eq!(Exam::parse(csv(["a", "a"]).as_bytes()).unwrap().samples().len(), 2);
        let error = Exam::parse(csv(["a", "b"]).as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("line 3: engine 'b', but the first row has 'a'"), "{error}");
    }

    /// Evaluations that differ from the exam only by a factor have no error.
    #[test]
    fn the_best_scale_is_found() {
        let exam = three();
        for factor in [0.5, 1.0, 3.0] {
            let grade = exam.grade(&[90.0 * factor, -900.0 * factor, 0.0]);
            assert!(grade.error < 1e-4, "{grade:?}");
            assert!((grade.scale - 1.6 / factor).abs() < 1e-3, "{grade:?}");
            assert!((grade.correlation - 1.0).abs() < 1e-9, "{grade:?}");
        }
        // The best scale may depend on the number of pieces.
        let (bare, full) = ("4k3/8/8/8/8/8/4P3/4K3", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
        let rows = [bare, full].map(|board| format!("a,90,,{board} w - - 0 1\n"));
        let grade = self::exam(&rows.concat()).unwrap().grade(&[30.0, 150.0]);
        assert!(grade.one_scale > 0.01 && grade.error < 1e-4, "{grade:?}");
        let wrong = exam.grade(&[-90.0, 900.0, 0.0]);
        assert!(wrong.error > 0.25 && wrong.correlation < -0.99, "{wrong:?}");
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
    }

    #[test]
    fn evaluations_and_answers_are_graded() {
        let exam = three();
        for network in [None, Some(&*eval::default_network())] {
            let grade = exam.grade(&exam.evaluate(network));
            assert!(grade.correlation > 0.9 && grade.error < 0.3, "{grade:?}");
        }
        let answers = self::exam(&format!("x,-700,,{QUEEN}\ny,30,,{PAWN}\n")).unwrap();
        let (shared, scores) = exam.shared_with(&answers);
        assert_eq!((shared.samples().len(), scores), (2, vec![30.0, -700.0]));
    }
}
