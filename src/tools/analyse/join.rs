//! Puts together the annotated games of several shards, in the order that one run
//! would have written them.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write as _},
    path::{Path, PathBuf},
};

use super::progress;
use crate::system::files::{self, NewFile, at};

/// Games as `pgn::write` writes them, as text: tags, a blank line, moves, a blank line.
struct Texts<R>(R);

impl<R: BufRead> Texts<R> {
    /// The next game; empty at the end.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut tags = false;
        loop {
            let begin = text.len();
            if self.0.read_until(b'\n', &mut text)? == 0 {
                return Ok(text);
            }
            let line = &text[begin..];
            match (line, tags) {
                // Without tags, a game is one paragraph.
                (b"\n" | b"\r\n", false) => return Ok(text),
                (b"\n" | b"\r\n", true) => tags = false,
                _ => tags |= begin == 0 && line.starts_with(b"["),
            }
        }
    }
}

/// Takes a game from each of `parts` in turn. Returns their number.
///
/// # Errors
///
/// If a file cannot be used, or the parts are not those of one run in their order: from
/// the first to the last none may have more games than the one before, nor differ by
/// more than one.
pub fn join(parts: &[PathBuf], out: &Path, force: bool) -> Result<usize, String> {
    if out.exists() && !force {
        return Err(progress::exists(out));
    }
    files::check_outputs([out], parts)?;
    let mut readers = Vec::new();
    for part in parts {
        if progress::path(part).exists() {
            return Err(format!("{}: the analysis is unfinished", part.display()));
        }
        readers.push((part, Texts(BufReader::new(File::open(part).map_err(at(part))?))));
    }
    let mut whole = NewFile::create(out).map_err(at(out))?;
    let mut games = 0;
    let mut ended: Option<&PathBuf> = None;
    // The round in which the first part ends is the last.
    while ended.is_none() {
        for (part, reader) in &mut readers {
            let game = reader.next().map_err(at(part))?;
            match (game.is_empty(), ended) {
                (true, _) => ended = ended.or(Some(part)),
                (false, Some(shorter)) => {
                    return Err(format!(
                        "{}: more games than in {}: expected the shards 1/N to N/N of one run, in order",
                        part.display(),
                        shorter.display()
                    ));
                }
                (false, None) => {
                    whole.write_all(&game).map_err(at(out))?;
                    games += 1;
                }
            }
        }
    }
    whole.commit().map_err(at(out))?;
    Ok(games)
}
