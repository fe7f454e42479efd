//! Reads files of games into samples in memory.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    exam::Exam,
    format::{GameFile, Record, Tally},
    sample::{Sample, merge_duplicates},
    schedule::{SCALES, Schedule, USUAL_SCALE},
};
use lancet::{
    eval::{nnue::checksum::fnv1a, wdl::sigmoid},
    system::stdio::note,
};

/// Record of a file of games that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFile {
    /// File name, without directories.
    file: String,
    /// Number of complete games.
    games: u64,
    /// Positions in these games.
    positions: u64,
    /// Positions kept after filtering.
    kept: u64,
    /// FNV-1a of all games, in hexadecimal.
    hash: String,
}

/// Training data, validation data and exam.
#[derive(Debug, Default)]
pub struct DataSet {
    /// Training positions, sorted by board.
    pub training: Vec<Sample>,
    /// Validation positions from other games, sorted by board.
    pub validation: Vec<Sample>,
    /// Files that were read.
    pub sources: Vec<DataFile>,
    /// Results of all games.
    pub tally: Tally,
    /// Number of training positions that merging removed.
    pub duplicates: usize,
    /// Positions on which no network is trained, to compare runs.
    pub exam: Option<Exam>,
}

/// Largest number of validation positions. More would hardly make the loss more precise.
const VALIDATION_SAMPLES: usize = 400_000;

#[derive(Default)]
struct Part {
    training: Vec<Sample>,
    validation: Vec<Sample>,
    positions: u64,
    tally: Tally,
}

impl Part {
    /// Adds a game to the training or validation data. The choice depends only on the bytes of the
    /// game, so that copies of a game are never in both.
    fn add(&mut self, frame: &[u8], game: &Record, schedule: &Schedule) {
        self.tally.add(game.result);
        self.positions += game.moves.len() as u64;
        let permille = (schedule.validation * 1000.0).round() as u64;
        let validate = fnv1a(frame) % 1000 < permille;
        let target = if validate { &mut self.validation } else { &mut self.training };
        game.visit(|visit| {
            if let Some(score) = schedule.filter.label(visit) {
                target.push(Sample::new(visit.chess, score, game.result));
            }
        });
    }
}

/// Returns the scale, in centipawns, of the logistic curve from scores to results that fits these
/// positions best (maximum likelihood, Newton's method). Scores are multiplied by the search's
/// weight for material.
pub fn fitted_scale(samples: &[Sample]) -> f64 {
    const ENOUGH: usize = 1_000_000;
    let pairs: Vec<(f64, f64)> = samples
        .iter()
        .step_by((samples.len() / ENOUGH).max(1))
        .map(|sample| {
            let score = sample.score() * sample.weight();
            (f64::from(score), f64::from(sample.result()))
        })
        .collect();
    let mut steepness = 1.0 / f64::from(USUAL_SCALE);
    for _ in 0..20 {
        let (mut slope, mut curvature) = (0.0, f64::MIN_POSITIVE);
        for &(score, result) in &pairs {
            let p = sigmoid(steepness * score);
            slope += (result - p) * score;
            curvature += p * (1.0 - p) * score * score;
        }
        // Keep the scale within the limits of the schedule, whatever the labels.
        steepness = (steepness + slope / curvature).clamp(1.0 / SCALES.end(), 1.0 / SCALES.start());
    }
    1.0 / steepness
}

impl DataSet {
    /// Reads files of games on all cores, with the filter and the validation share of the schedule.
    /// Prints a line for each file. Leaves out an incomplete last game.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or a game is bad. The error names the file and the game.
    pub fn read(paths: &[PathBuf], schedule: &Schedule) -> anyhow::Result<DataSet> {
        let mut data = DataSet::default();
        for path in paths {
            data.read_file(path, schedule)?;
        }
        data.duplicates = merge_duplicates(&mut data.training);
        merge_duplicates(&mut data.validation);
        let step = data.validation.len().div_ceil(VALIDATION_SAMPLES).max(1);
        data.validation = data.validation.into_iter().step_by(step).collect();
        Ok(data)
    }

    fn read_file(&mut self, path: &Path, schedule: &Schedule) -> anyhow::Result<()> {
        /// Number of games that a thread reads at a time.
        const CHUNK: usize = 1 << 12;
        let games = GameFile::read(path)?;
        if let Err(error) = games.check_end() {
            note(format_args!("{error}; ignoring the incomplete game"));
        }
        let parts: Vec<anyhow::Result<Part>> = (0..games.count().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let mut part = Part::default();
                for game in (chunk * CHUNK..games.count()).take(CHUNK) {
                    part.add(games.frame(game), &games.game(game)?, schedule);
                }
                Ok(part)
            })
            .collect();
        let parts = parts.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
        self.training.reserve_exact(parts.iter().map(|part| part.training.len()).sum());
        let (mut positions, mut kept) = (0, 0);
        for part in parts {
            kept += (part.training.len() + part.validation.len()) as u64;
            self.training.extend(part.training);
            self.validation.extend(part.validation);
            self.tally.merge(&part.tally);
            positions += part.positions;
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let count = games.count() as u64;
        note(format_args!("{file}: {count} games, {positions} positions, {kept} kept"));
        let hash = format!("{:016x}", fnv1a(games.whole()));
        self.sources.push(DataFile { file, games: count, positions, kept, hash });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::filter::Filter;
    use crate::format::GameResult;
    use lancet::chess::position::{Game, Position};

    /// Returns a game with these scores, from White's point of view, and arbitrary moves.
    fn game(scores: &[i16]) -> Record {
        let mut game = Game::default();
        let moves = scores.iter().map(|&score| {
            let m = game.position().legal_moves()[0];
            game.play(m);
            (m, score)
        });
        let moves = moves.collect();
        Record { start: Position::default(), result: GameResult::Draw, moves }
    }

    /// The fit finds the scale of the curve from which the results were drawn.
    #[test]
    fn the_scale_is_found() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let chess = Position::default().chess().clone();
        let weight = f64::from(Sample::new(&chess, 0, GameResult::Draw).weight());
        let samples: Vec<Sample> = (0..20_000)
            .map(|_| {
                let score: i32 = rng.random_range(-800..=800);
                let played = f64::from(score) * weight;
                let won = rng.random_bool(1.0 / (1.0 + (-played / 330.0).exp()));
                let result = if won { GameResult::WhiteWins } else { GameResult::BlackWins };
                Sample::new(&chess, score, result)
            })
            .collect();
        let scale = fitted_scale(&samples);
        assert!((315.0..345.0).contains(&scale), "{scale}");
        assert!(fitted_scale(&[]).is_finite());
        // A schedule with the fitted scale can be read again, even if the labels say nothing, or
        // small scores always win.
        let alike = |score| vec![Sample::new(&chess, score, GameResult::WhiteWins); 9];
        for samples in [Vec::new(), alike(0), alike(1), alike(-1)] {
            let scale = Some(fitted_scale(&samples) as f32);
            assert!(Schedule { scale, ..Schedule::default() }.check().is_ok(), "{scale:?}");
        }
    }

    #[test]
    fn a_share_of_the_games_is_for_validation() {
        let schedule = Schedule {
            validation: 0.5,
            filter: Filter { skip_plies: 0, ..Filter::default() },
            ..Schedule::default()
        };
        let mut part = Part::default();
        for score in 0..100 {
            let game = game(&[score]);
            part.add(&game.encode(), &game, &schedule);
        }
        let (training, validation) = (part.training.len(), part.validation.len());
        assert!(training > 20 && validation > 20, "{training} and {validation}");
        assert_eq!(training + validation, 100);
    }
}
