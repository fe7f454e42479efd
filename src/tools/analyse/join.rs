//! Joins the annotated games of several shards in the order in which a single run would have
//! written them.

use std::{
    fmt::Display,
    fs::File,
    io::{self, BufRead, BufReader, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};

use super::progress;
use crate::{
    chess::notation::counted,
    system::files::{self, NewFile},
};

/// Returns the last line of the file that a shard such as `2/3` writes. Programs that read PGN
/// ignore lines that begin with a percent sign.
pub(super) fn end(shard: impl Display, games: u64) -> String {
    format!("% end of shard {shard}, games: {games}\n")
}

/// Reads games as text, in the form that `pgn::write` writes: tags, a blank line, moves, a blank
/// line.
struct Texts<R>(R);

impl<R: BufRead> Texts<R> {
    /// Returns the next game, or everything from the last line of the shard on. Empty at the end of
    /// the file.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut tags = false;
        loop {
            let begin = text.len();
            if self.0.read_until(b'\n', &mut text)? == 0 {
                return Ok(text);
            }
            if begin == 0 && text.starts_with(b"%") {
                self.0.read_to_end(&mut text)?;
                return Ok(text);
            }
            let line = &text[begin..];
            match (line, tags) {
                // A game without tags is one paragraph.
                (b"\n" | b"\r\n", false) => return Ok(text),
                (b"\n" | b"\r\n", true) => tags = false,
                _ => tags |= begin == 0 && line.starts_with(b"["),
            }
        }
    }
}

/// Returns whether the text is a complete game, which ends with a result and a blank line.
fn is_whole(game: &[u8]) -> bool {
    let blank = game.ends_with(b"\n\n") || game.ends_with(b"\n\r\n");
    let last = game.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next();
    blank && matches!(last, Some(b"1-0" | b"0-1" | b"1/2-1/2" | b"*"))
}

/// Takes a game from each of `parts` in turn and writes it to `out`. Returns the number of games.
///
/// # Errors
///
/// If a file cannot be used, or the parts are not the complete shards of one run in order.
pub(super) fn join(parts: &[PathBuf], out: &Path, force: bool) -> anyhow::Result<usize> {
    let name = |path: &Path| path.display().to_string();
    files::check_outputs([out], parts, |_| force)?;
    let mut readers = Vec::new();
    for part in parts {
        ensure!(!progress::path(part).exists(), "{}: the analysis is unfinished", part.display());
        let file = File::open(part).with_context(|| name(part))?;
        readers.push((part, Texts(BufReader::new(file))));
    }
    let mut whole = NewFile::create(out).with_context(|| name(out))?;
    let (mut games, mut ended) = (0, 0);
    // Games are dealt out in turn, so when a part ends, all following parts must end too.
    while ended < parts.len() {
        let turn = games + ended;
        let (round, index) = (turn / parts.len(), turn % parts.len());
        let (part, reader) = &mut readers[index];
        let text = reader.next().with_context(|| name(part))?;
        let end = end(format_args!("{}/{}", index + 1, parts.len()), round as u64);
        let end = end.trim_ascii_end();
        if text.trim_ascii_end() == end.as_bytes() {
            ended += 1;
        } else if ended == 0 && is_whole(&text) {
            whole.write_all(&text).with_context(|| name(out))?;
            games += 1;
        } else {
            bail!(
                "{}: after {}: {}, expected {}'{end}'. The parts must be the shards \
                 1/N to N/N of one run, in this order",
                part.display(),
                counted(round, "game"),
                found(&text),
                if ended == 0 { "a game or " } else { "" },
            );
        }
    }
    whole.commit().with_context(|| name(out))?;
    Ok(games)
}

/// Describes the text that was found in place of the expected one.
fn found(text: &[u8]) -> String {
    match text {
        [] => "the file ends".to_owned(),
        [b'%', ..] => {
            let words = String::from_utf8_lossy(text);
            format!("found '{}'", words.split_whitespace().take(9).collect::<Vec<_>>().join(" "))
        }
        _ if is_whole(text) => "found another game".to_owned(),
        _ => "a game is cut off".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns the file of a shard, with a number for each game.
    fn part(shard: &str, games: &[u32]) -> String {
        let text = |game: &u32| format!("[Round \"{game}\"]\n\n1. e4 {{ {game} }} *\n\n");
        games.iter().map(text).collect::<String>() + &end(shard, games.len() as u64)
    }

    #[test]
    fn only_the_whole_parts_of_a_run_are_joined() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out.pgn");
        let join = |parts: &[&str]| {
            let path = |number: usize| dir.path().join(format!("part-{number}.pgn"));
            let paths: Vec<PathBuf> = (1..=parts.len()).map(path).collect();
            paths.iter().zip(parts).for_each(|(path, text)| fs::write(path, text).unwrap());
            let joined = join(&paths, &out, true)?;
            let order = fs::read_to_string(&out).unwrap();
            let rounds = order.split("[Round \"").skip(1).map(|rest| &rest[..1]);
            anyhow::Ok((joined, rounds.collect::<String>()))
        };
        let [a, b, c] = [("1/3", &[1, 4, 7][..]), ("2/3", &[2, 5]), ("3/3", &[3, 6])]
            .map(|(shard, games)| part(shard, games));
        assert_eq!(join(&[&a, &b, &c]).unwrap(), (7, "1234567".to_owned()));
        assert_eq!(join(&[&part("1/1", &[1, 2])]).unwrap(), (2, "12".to_owned()));
        assert_eq!(join(&[&part("1/2", &[]), &part("2/2", &[])]).unwrap(), (0, String::new()));
        let windows = [&a, &b, &c].map(|text| text.replace('\n', "\r\n"));
        assert_eq!(join(&windows.each_ref().map(String::as_str)).unwrap().0, 7);

        let old = fs::read(&out).unwrap();
        // A part that is cut off anywhere is refused, even between two games.
        for length in 0..b.len() - 1 {
            let error = join(&[&a, &b[..length], &c]).unwrap_err().to_string();
            assert!(error.contains("part-2.pgn: after "), "{length}: {error}");
        }
        let fewer = part("2/3", &[2]);
        let longer = part("1/3", &[1, 4, 7, 8]);
        let twice = c.clone() + &c;
        for parts in [
            &[&b, &a, &c][..],
            &[&a, &c, &b],
            &[&a, &a, &b, &c],
            &[&a, &b, &b],
            &[&a, &b],
            &[&a, &b, &c, &c],
            &[&a, &fewer, &c],
            &[&longer, &b, &c],
            &[&a, &b, &twice],
        ] {
            let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
            let error = join(&parts).unwrap_err().to_string();
            assert!(error.contains(", expected "), "{error}");
        }
        assert_eq!(fs::read(&out).unwrap(), old, "the old file stays");
    }
}
