//! Files of games to samples in memory.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    FileError,
    filter::Filter,
    format::{self, FormatError, Record, Tally},
    sample::Sample,
};
use crate::eval::nnue::checksum::fnv1a;

/// What was read from a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name, without directories.
    pub file: String,
    /// Complete games.
    pub games: u64,
    /// Positions in them.
    pub positions: u64,
    /// Positions kept after filtering.
    pub kept: u64,
    /// FNV-1a of all games, in hexadecimal.
    pub hash: String,
}

/// All that is learned from and tested on.
#[derive(Debug, Default)]
pub struct DataSet {
    /// Positions to learn from, in file order.
    pub training: Vec<Sample>,
    /// Positions of other games, to test on.
    pub validation: Vec<Sample>,
    /// Where they come from.
    pub sources: Vec<Source>,
    /// Results of all games.
    pub tally: Tally,
}

#[derive(Default)]
struct Part {
    training: Vec<Sample>,
    validation: Vec<Sample>,
    positions: u64,
    kept: u64,
    tally: Tally,
}

impl Part {
    /// Adds a game. Whether it is for validation depends on its bytes alone,
    /// so that no game is on both sides, in whatever files and however often
    /// it occurs.
    fn add(
        &mut self,
        frame: &[u8],
        filter: &Filter,
        validation_permille: u64,
    ) -> Result<(), FormatError> {
        let game = Record::decode(frame)?;
        self.tally.add(game.result);
        self.positions += game.moves.len() as u64;
        let before = self.training.len() + self.validation.len();
        let validate = fnv1a(frame) % 1000 < validation_permille;
        let target = if validate { &mut self.validation } else { &mut self.training };
        game.visit(|visit| {
            if let Some(score) = filter.label(visit) {
                target.push(Sample::new(visit.chess, score, game.result));
            }
        });
        self.kept += (self.training.len() + self.validation.len() - before) as u64;
        Ok(())
    }
}

impl DataSet {
    /// Reads files of games on all cores. `validation` is the share of games,
    /// from 0 to 1, that are set apart. An incomplete last game is left out.
    ///
    /// # Errors
    ///
    /// Names the file, the game and what is wrong with it.
    pub fn read(
        paths: &[PathBuf],
        filter: &Filter,
        validation: f64,
        mut loaded: impl FnMut(&Source),
    ) -> Result<DataSet, FileError> {
        let permille = (validation * 1000.0).round() as u64;
        let mut data = DataSet::default();
        for path in paths {
            let source = data.read_file(path, filter, permille)?;
            loaded(&source);
            data.sources.push(source);
        }
        Ok(data)
    }

    fn read_file(
        &mut self,
        path: &Path,
        filter: &Filter,
        permille: u64,
    ) -> Result<Source, FileError> {
        let bytes = std::fs::read(path).map_err(|error| FileError::new(path, error))?;
        let (frames, length) = format::frames(&bytes);
        let parts: Vec<Result<Part, FileError>> = frames
            .par_chunks(1 << 12)
            .enumerate()
            .map(|(chunk, frames)| {
                let mut part = Part::default();
                for (frame, number) in frames.iter().zip((chunk << 12) + 1..) {
                    part.add(frame, filter, permille)
                        .map_err(|error| FileError::new(path, format!("game {number}: {error}")))?;
                }
                Ok(part)
            })
            .collect();
        let mut source = Source {
            file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            games: frames.len() as u64,
            positions: 0,
            kept: 0,
            hash: format!("{:016x}", fnv1a(&bytes[..length])),
        };
        for part in parts {
            let part = part?;
            self.training.extend(part.training);
            self.validation.extend(part.validation);
            self.tally.merge(&part.tally);
            source.positions += part.positions;
            source.kept += part.kept;
        }
        Ok(source)
    }
}
