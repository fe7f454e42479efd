//! Text files of one position per line: decoding, line numbers, comments.
//!
//! What a line means is decided by its readers: [`fen`](super::fen) and the tools.

use std::{io, path::Path};

use crate::system::files;

/// Longest file, in bytes: the largest collections of openings have 200 MB.
const LONGEST_FILE: u64 = 512 << 20;

/// Why a file cannot be read as lines of text.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is in an encoding that chess tools do not write.
    #[error("the file is UTF-16 text; save it as UTF-8")]
    Utf16,
}

/// A line that says something: neither blank nor a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counted from 1, blank lines and comments included.
    pub number: usize,
    /// Without its line end. Leading blanks are kept, so that columns are true.
    pub text: String,
}

impl Line {
    /// What is wrong at a byte offset of the line.
    pub fn error(&self, offset: usize, reason: String) -> LineError {
        LineError { line: self.number, column: column(&self.text, offset), reason }
    }
}

/// A line that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {reason}")]
pub struct LineError {
    /// Line number, from 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong, and what was expected.
    pub reason: String,
}

/// The lines of a file. See [`split`].
///
/// # Errors
///
/// If the file cannot be read or is UTF-16.
pub fn read(path: &Path) -> Result<Vec<Line>, TextError> {
    split(&files::read(path, LONGEST_FILE)?)
}

/// What some programs write before UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Is this how UTF-16 text begins?
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// The lines of a text: UTF-8 with or without byte order marks, any of the line
/// ends LF, CR LF and CR, last one optional. See [`decode`]. Lines starting with
/// `#`, `%`, `;` or `//` are comments.
///
/// # Errors
///
/// If the text is UTF-16.
pub fn split(bytes: &[u8]) -> Result<Vec<Line>, TextError> {
    if is_utf16(bytes) {
        return Err(TextError::Utf16);
    }
    let mut lines = Vec::new();
    let mut number = 0;
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
        let (line, tail) = rest.split_at(end);
        rest = tail.strip_prefix(b"\r\n").or_else(|| tail.get(1..)).unwrap_or(&[]);
        number += 1;
        // Files that were joined have their marks in the middle.
        let text = decode(line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line));
        let body = text.trim_start();
        let comment = ["#", "%", ";", "//"].iter().any(|mark| body.starts_with(mark));
        if !body.is_empty() && !comment {
            lines.push(Line { number, text });
        }
    }
    Ok(lines)
}

/// UTF-8, or else Latin-1, which older files use in names.
pub(super) fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// The column of a byte offset: characters, counted from 1.
fn column(text: &str, offset: usize) -> usize {
    text.char_indices().take_while(|&(at, _)| at < offset).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_ends_and_comments() {
        let text = b"\xef\xbb\xbfone\r\n\r\n# no\n  // no\n\ttwo\r\xef\xbb\xbfG\xf6teborg";
        let lines = split(text).unwrap();
        let seen: Vec<_> = lines.iter().map(|line| (line.number, line.text.as_str())).collect();
        assert_eq!(seen, [(1, "one"), (5, "\ttwo"), (6, "Göteborg")]);
        assert!(matches!(split(b"\xff\xfeo\0"), Err(TextError::Utf16)));
        assert!(split(b"").unwrap().is_empty());
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(column("äb c", 4), 4);
    }
}
