//! Files of games to samples in memory.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    exam::Exam,
    format::{GameFile, GameResult, Record, Tally},
    sample::{Sample, drop_duplicates},
    schedule::Schedule,
};
use lancet::{
    eval::{nnue::checksum::fnv1a, wdl::sigmoid},
    system::stdio::note,
};

/// Contents of a file of games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFile {
    /// Its name, without directories.
    file: String,
    /// Complete games.
    games: u64,
    /// Positions in them.
    positions: u64,
    /// Positions kept after filtering.
    kept: u64,
    /// FNV-1a of all games, in hexadecimal.
    hash: String,
}

/// All that is learned from and tested on.
#[derive(Debug, Default)]
pub struct DataSet {
    /// Positions to learn from, in file order.
    pub training: Vec<Sample>,
    /// Positions of other games, to validate on. None of those without a game: each is stored
    /// by itself, and may be like positions to learn from.
    pub validation: Vec<Sample>,
    /// Where they come from.
    pub sources: Vec<DataFile>,
    /// Results of all games.
    pub tally: Tally,
    /// Positions to learn from that were dropped, since they occur once more.
    pub duplicates: usize,
    /// Positions that no network learns from, to compare runs by.
    pub exam: Option<Exam>,
}

/// Positions to test on, at most: more tell no more.
const VALIDATION_SAMPLES: usize = 400_000;

#[derive(Default)]
struct Part {
    training: Vec<Sample>,
    validation: Vec<Sample>,
    positions: u64,
    kept: u64,
    tally: Tally,
}

impl Part {
    /// Adds a game. Whether it is for validation depends on its bytes alone, so that no game
    /// is on both sides, in whatever files and however often it occurs. Positions without a
    /// game are never for validation.
    fn add(&mut self, frame: &[u8], game: &Record, schedule: &Schedule) {
        self.tally.add(game.result);
        self.positions += game.moves.len() as u64;
        let before = self.training.len() + self.validation.len();
        let permille = (schedule.validation * 1000.0).round() as u64;
        let validate = game.result != GameResult::Unknown && fnv1a(frame) % 1000 < permille;
        let target = if validate { &mut self.validation } else { &mut self.training };
        game.visit(|visit| {
            if let Some(score) = schedule.filter.label(visit) {
                target.push(Sample::new(visit.chess, score, game.result));
            }
        });
        self.kept += (self.training.len() + self.validation.len() - before) as u64;
    }
}

/// The scale, in centipawns, of the logistic curve that fits the results of these
/// positions best by their scores, weighted as in play (maximum likelihood, Newton's
/// method).
pub fn fitted_scale(samples: &[Sample]) -> f64 {
    const ENOUGH: usize = 1_000_000;
    let pairs: Vec<(f64, f64)> = samples
        .iter()
        .step_by((samples.len() / ENOUGH).max(1))
        .filter_map(|sample| {
            let score = sample.score() * sample.weight();
            Some((f64::from(score), f64::from(sample.result()?)))
        })
        .collect();
    let mut steepness = 1.0 / 400.0;
    for _ in 0..20 {
        let (mut slope, mut curvature) = (0.0, f64::MIN_POSITIVE);
        for &(score, result) in &pairs {
            let p = sigmoid(steepness * score);
            slope += (result - p) * score;
            curvature += p * (1.0 - p) * score * score;
        }
        // Within what a scale can be, whatever the labels.
        steepness = (steepness + slope / curvature).clamp(1.0 / 4000.0, 1.0 / 40.0);
    }
    1.0 / steepness
}

impl DataSet {
    /// Reads files of games on all cores, as the schedule says, and tells of each. An
    /// incomplete last game is left out.
    ///
    /// # Errors
    ///
    /// Names the file, the game and what is wrong with it.
    pub fn read(paths: &[PathBuf], schedule: &Schedule) -> anyhow::Result<DataSet> {
        let mut data = DataSet::default();
        for path in paths {
            data.read_file(path, schedule)?;
        }
        data.duplicates = drop_duplicates(&mut data.training);
        drop_duplicates(&mut data.validation);
        let step = data.validation.len().div_ceil(VALIDATION_SAMPLES).max(1);
        data.validation = data.validation.into_iter().step_by(step).collect();
        Ok(data)
    }

    fn read_file(&mut self, path: &Path, schedule: &Schedule) -> anyhow::Result<()> {
        /// Games that a thread reads at a time.
        const CHUNK: usize = 1 << 12;
        let games = GameFile::read(path)?;
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
        let (mut positions, mut kept) = (0, 0);
        for part in parts {
            let part = part?;
            self.training.extend(part.training);
            self.validation.extend(part.validation);
            self.tally.merge(&part.tally);
            positions += part.positions;
            kept += part.kept;
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
    use lancet::chess::position::{Game, Position};

    /// A game with these scores, White's, and whatever moves.
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

    /// Results drawn by a curve are fitted by that curve.
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
    }

    /// Positions without a game are learned from, but only games are validated on.
    #[test]
    fn positions_without_a_game_are_not_for_validation() {
        let schedule = Schedule {
            validation: 0.5,
            filter: Filter { skip_plies: 0, ..Filter::default() },
            ..Schedule::default()
        };
        let mut parts = [Part::default(), Part::default()];
        for score in 0..100 {
            let played = game(&[score]);
            let alone = Record { result: GameResult::Unknown, ..game(&[score]) };
            for (part, game) in parts.iter_mut().zip([played, alone]) {
                part.add(&game.encode(), &game, &schedule);
            }
        }
        let [games, alone] = parts.map(|part| (part.training.len(), part.validation.len()));
        assert_eq!(alone, (100, 0));
        assert!(games.0 > 20 && games.1 > 20 && games.0 + games.1 == 100, "{games:?}");
    }
}
