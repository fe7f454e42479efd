//! Checkpoints of training runs, from which a run resumes exactly.
//!
//! The file consists of these fields, with numbers in little-endian order:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 8 | `LANCETC2` |
//! | 8 | length of the text |
//! | | text in TOML: state and run |
//! | 4 each | parameters, their moving average, and both moments, as floats |
//! | 4 | CRC-32 of all bytes before it |
//!
//! The file is replaced atomically, so that a kill leaves either the old file or the new one.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use bytemuck::{cast_slice, cast_slice_mut};
use serde::{Deserialize, Serialize};
use wide::f32x8;

use super::{
    other_build, replace,
    trainer::{State, Trainer, TrainingRun},
};
use lancet::system::files;

const MAGIC: &[u8; 8] = b"LANCETC2";
/// Largest size of a file, in bytes. The checkpoint of the largest network takes 256 MB, and the
/// text is short.
const LONGEST_FILE: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    state: State,
    run: TrainingRun,
}

/// Returns the path of the checkpoint of a network.
pub fn path(network: &Path) -> PathBuf {
    beside(network, "checkpoint")
}

/// Returns the path of the file of this kind beside a network: `a.toml` for `a.nnue`, and
/// `lancet-1.0.toml` for `lancet-1.0`.
pub fn beside(network: &Path, kind: &str) -> PathBuf {
    if network.extension().is_some_and(|extension| extension == "nnue") {
        return network.with_extension(kind);
    }
    let mut name = network.as_os_str().to_owned();
    name.push(".");
    name.push(kind);
    name.into()
}

/// Writes the state of a run.
///
/// # Errors
///
/// If the file cannot be written. The old file then remains.
pub fn save(path: &Path, trainer: &Trainer) -> anyhow::Result<()> {
    let Trainer { run, state, parameters, average, moments, .. } = trainer;
    let text = toml::to_string(&Text { state: state.clone(), run: run.clone() })?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
    let numbers = [parameters, average, &moments.first, &moments.second];
    for number in numbers.into_iter().flat_map(|vector| cast_slice::<f32x8, f32>(vector)) {
        bytes.extend(number.to_le_bytes());
    }
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    replace(path, bytes)
}

/// Resumes a run from its checkpoint.
///
/// # Errors
///
/// If the file cannot be read, is damaged, or belongs to another run.
pub fn load(path: &Path, trainer: &mut Trainer) -> anyhow::Result<()> {
    let (text, numbers, _) = read(path)?;
    let asked = TrainingRun { build: text.run.build.clone(), ..trainer.run.clone() };
    ensure!(text.run == asked, "{}: {}", path.display(), difference(&text.run, &asked));
    fill(trainer, &numbers);
    if text.run.build != trainer.run.build {
        other_build(path, &text.run.build);
    }
    trainer.state = text.state;
    Ok(())
}

/// Starts a run with the weights, their average and the optimiser's moments of another run of the
/// same shape. The run records the name and the checksum of the file.
///
/// # Errors
///
/// If the file cannot be read, is damaged, or belongs to a network of another shape.
pub fn begin_with(path: &Path, trainer: &mut Trainer) -> anyhow::Result<()> {
    let (text, numbers, sum) = read(path)?;
    let (theirs, ours) = (text.run.schedule.layout(), trainer.layout());
    let place = path.display();
    ensure!(theirs == ours, "{place}: the state of a network of {theirs}, expected {ours}");
    fill(trainer, &numbers);
    trainer.state.updates = text.state.updates;
    let name = path.file_name().unwrap_or_default().display();
    trainer.run.from = Some(format!("{name} (CRC-32 {sum:08x})"));
    Ok(())
}

/// Returns whether the file starts with the magic number of a checkpoint.
pub fn is_checkpoint(path: &Path) -> bool {
    let mut start = [0; 8];
    let read = files::open_regular(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *MAGIC
}

/// Reads and checks a file. Returns its text, its numbers and its checksum.
fn read(path: &Path) -> anyhow::Result<(Text, Vec<f32>, u32)> {
    let bytes = files::read_regular(path, LONGEST_FILE).map_err(anyhow::Error::from);
    bytes.and_then(|bytes| parse(&bytes)).with_context(|| path.display().to_string())
}

fn parse(bytes: &[u8]) -> anyhow::Result<(Text, Vec<f32>, u32)> {
    let truncated = "truncated";
    let rest = bytes.strip_prefix(MAGIC).context("not a Lancet checkpoint")?;
    let (rest, sum) = rest.split_last_chunk::<4>().context(truncated)?;
    let found = crc32fast::hash(&bytes[..bytes.len() - sum.len()]);
    ensure!(found == u32::from_le_bytes(*sum), "truncated or damaged: the checksum is wrong");
    let (length, rest) = rest.split_first_chunk().context(truncated)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (text, rest) = rest.split_at_checked(length).context(truncated)?;
    let text: Text = toml::from_slice(text).context("cannot read the settings")?;
    text.run.schedule.check().context("cannot read the settings")?;
    let numbers: Vec<f32> =
        rest.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect();
    ensure!(numbers.len() == 4 * 8 * text.run.schedule.layout().len(), truncated);
    ensure!(numbers.iter().all(|number| number.is_finite()), "a number is not finite");
    Ok((text, numbers, found))
}

/// Replaces the parameters, average and moments of a trainer with the numbers of a file.
fn fill(trainer: &mut Trainer, numbers: &[f32]) {
    let Trainer { parameters, average, moments, .. } = trainer;
    let parts = numbers.chunks_exact(8 * parameters.len());
    let vectors = [parameters, average, &mut moments.first, &mut moments.second];
    for (vector, part) in vectors.into_iter().zip(parts) {
        cast_slice_mut::<f32x8, f32>(vector).copy_from_slice(part);
    }
    trainer.round();
}

/// Describes the first difference between the run of a checkpoint and the requested run.
fn difference(there: &TrainingRun, asked: &TrainingRun) -> String {
    let show = |run: &TrainingRun| toml::to_string(run).unwrap_or_default();
    let (there, asked) = (show(there), show(asked));
    // Returns the first line of `a` that `b` does not have. Settings without a value have no line.
    let only = |a: &str, b: &str| {
        let line = a.lines().find(|line| b.lines().all(|other| other != *line));
        line.map(|line| format!("'{line}'"))
    };
    match (only(&there, &asked), only(&asked, &there)) {
        (None, None) => "belongs to another run, with other data files or another order".to_owned(),
        (found, expected) => {
            let [found, expected] =
                [found, expected].map(|line| line.unwrap_or("no such setting".into()));
            format!("belongs to another run: found {found}, expected {expected}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::schedule::Schedule, *};

    /// An optional setting has a line only if it is set.
    #[test]
    fn the_setting_that_differs_is_named() {
        let run = |result_full, hidden| TrainingRun {
            lancet: "test".to_owned(),
            build: "test".to_owned(),
            threads: 1,
            from: None,
            schedule: Schedule { result_full, hidden, ..Schedule::default() },
            sources: Vec::new(),
        };
        let plain = run(None, 256);
        assert_eq!(
            difference(&run(Some(0.5), 256), &plain),
            "belongs to another run: found 'result_full = 0.5', expected no such setting"
        );
        assert_eq!(
            difference(&plain, &run(None, 512)),
            "belongs to another run: found 'hidden = 256', expected 'hidden = 512'"
        );
    }

    #[test]
    fn companions_keep_apart() {
        let toml = |name: &str| beside(Path::new(name), "toml").display().to_string();
        assert_eq!(toml("nets/a.nnue"), "nets/a.toml");
        assert_eq!(toml("lancet-1.0"), "lancet-1.0.toml");
        assert_ne!(toml("lancet-1.0"), toml("lancet-1.1"));
    }
}
