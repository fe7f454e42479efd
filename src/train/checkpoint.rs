//! A training run on disk, to be resumed exactly where it was.
//!
//! The file is `LANCETC2`, the length of a TOML text (8 bytes), the text (run
//! and state), the parameters, their running mean and both moments as floats, and the
//! CRC-32 of all that, little-endian. It is replaced as a whole, so that a kill leaves the old
//! one or the new.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use bytemuck::{cast_slice, cast_slice_mut};
use serde::{Deserialize, Serialize};
use wide::f32x8;

use super::{
    FileError,
    trainer::{Run, State, Trainer},
};
use lancet::system::files;

const MAGIC: &[u8; 8] = b"LANCETC2";
/// How files without a checksum began.
const OLD_MAGIC: &[u8; 8] = b"LANCETCK";
/// Longest file, in bytes: the largest network takes 200 MB, the text little.
const LONGEST_FILE: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    state: State,
    run: Run,
}

/// Where the checkpoint of a network is kept.
pub fn path(network: &Path) -> PathBuf {
    beside(network, "checkpoint")
}

/// The file of this kind that belongs to a network: `a.toml` to `a.nnue`, and
/// `lancet-1.0.toml` to `lancet-1.0`.
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
/// If the file cannot be written; an old one then stays.
pub fn save(path: &Path, trainer: &Trainer) -> Result<(), FileError> {
    let fail = |error: &dyn std::fmt::Display| FileError::new(path, error);
    let text = Text { state: trainer.state.clone(), run: trainer.run.clone() };
    let text = toml::to_string(&text).map_err(|error| fail(&error))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
    let Trainer { parameters, average, moments, .. } = trainer;
    let numbers = [parameters, average, &moments.first, &moments.second];
    for number in numbers.into_iter().flat_map(|vector| cast_slice::<f32x8, f32>(vector)) {
        bytes.extend(number.to_le_bytes());
    }
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    replace(path, &bytes)
}

/// Puts a trainer where the checkpoint was.
///
/// # Errors
///
/// If the file cannot be read, is damaged, or belongs to another run.
pub fn load(path: &Path, trainer: &mut Trainer) -> Result<(), FileError> {
    let (text, numbers) = read(path)?;
    let same = Run { build: text.run.build.clone(), ..trainer.run.clone() };
    if text.run != same {
        return Err(FileError::new(path, difference(&text.run, &same)));
    }
    put(path, &numbers, trainer)?;
    if text.run.build != trainer.run.build {
        super::other_build(path, &text.run.build);
    }
    trainer.state = text.state;
    Ok(())
}

/// Begins a run with the weights and the optimiser's memory that another run of the same
/// shape has ended with.
///
/// # Errors
///
/// If the file cannot be read, is damaged, or belongs to a network of another shape.
pub fn begin_with(path: &Path, trainer: &mut Trainer) -> Result<(), FileError> {
    let (text, numbers) = read(path)?;
    let (theirs, ours) = (text.run.schedule.layout(), trainer.layout());
    if theirs != ours {
        let reason = format!("trains a network of {theirs}, expected {ours}");
        return Err(FileError::new(path, reason));
    }
    put(path, &numbers, trainer)?;
    trainer.state.updates = text.state.updates;
    Ok(())
}

/// Whether this is a file that [`save`] has written.
pub fn is_one(path: &Path) -> bool {
    let mut start = [0; 8];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *MAGIC
}

/// The text and the numbers of a file.
fn read(path: &Path) -> Result<(Text, Vec<f32>), FileError> {
    let fail = |reason: &str| FileError::new(path, reason);
    let bytes = files::read_regular(path, LONGEST_FILE);
    let bytes = bytes.map_err(|error| FileError::new(path, error))?;
    if bytes.starts_with(OLD_MAGIC) {
        let reason = "written by an older version, without a checksum; delete it to begin again";
        return Err(fail(reason));
    }
    if !bytes.starts_with(MAGIC) {
        return Err(fail("not a checkpoint of Lancet"));
    }
    let (rest, sum) = bytes.split_last_chunk().ok_or_else(|| fail("truncated"))?;
    if crc32fast::hash(rest) != u32::from_le_bytes(*sum) {
        return Err(fail("truncated or damaged: the checksum is wrong"));
    }
    let rest = rest.strip_prefix(MAGIC).ok_or_else(|| fail("truncated"))?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(|| fail("truncated in its header"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let (text, rest) = rest.split_at_checked(length).ok_or_else(|| fail("truncated"))?;
    let text = std::str::from_utf8(text).map_err(|_| fail("its text is not UTF-8"))?;
    let text: Text = toml::from_str(text)
        .map_err(|error| FileError::new(path, format!("not understood: {error}")))?;
    let numbers = rest.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect();
    Ok((text, numbers))
}

/// Fills a trainer with the numbers of a file.
fn put(path: &Path, numbers: &[f32], trainer: &mut Trainer) -> Result<(), FileError> {
    let Trainer { parameters, average, moments, .. } = trainer;
    if numbers.len() != 4 * 8 * parameters.len() {
        return Err(FileError::new(path, "truncated in its numbers"));
    }
    let mut parts = numbers.chunks_exact(8 * parameters.len());
    for vector in [parameters, average, &mut moments.first, &mut moments.second] {
        let part = parts.next().unwrap_or_default();
        cast_slice_mut::<f32x8, f32>(vector).copy_from_slice(part);
    }
    trainer.round();
    Ok(())
}

/// Says what differs between the run of a checkpoint and the one asked for.
fn difference(there: &Run, asked: &Run) -> String {
    let show = |run: &Run| toml::to_string(run).unwrap_or_default();
    let (there, asked) = (show(there), show(asked));
    let lines = there.lines().zip(asked.lines()).find(|(a, b)| a != b);
    let (a, b) = lines.unwrap_or(("more or fewer data files", "these data files"));
    format!("belongs to another run: there '{a}', asked for '{b}'")
}

/// Removes a file that is not needed any more, if there is one.
///
/// # Errors
///
/// If it is there and cannot be removed.
pub fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::new(path, error))
        }
        _ => Ok(()),
    }
}

/// Writes a file that is there whole or not at all.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    files::replace(path, bytes).map_err(|error| FileError::new(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_keep_apart() {
        let toml = |name: &str| beside(Path::new(name), "toml").display().to_string();
        assert_eq!(toml("nets/a.nnue"), "nets/a.toml");
        assert_eq!(toml("lancet-1.0"), "lancet-1.0.toml");
        assert_ne!(toml("lancet-1.0"), toml("lancet-1.1"));
    }
}
