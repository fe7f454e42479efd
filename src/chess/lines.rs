//! Text files of one position per line: decoding, line numbers, comments.
//!
//! What a line means is decided by its readers: [`fen`](super::fen) and the tools.

use std::{
    io::{self, BufRead},
    path::Path,
};

use crate::system::files;

/// Longest file, in bytes: the largest collections of openings have 200 MB.
const LONGEST_FILE: u64 = 512 << 20;

/// Longest part of a line that is read at once, in bytes.
const LONGEST_LINE: usize = 16 << 20;

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
        let column = self.text.char_indices().take_while(|&(at, _)| at < offset).count() + 1;
        LineError { line: self.number, column, reason }
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
pub fn split(mut bytes: &[u8]) -> Result<Vec<Line>, TextError> {
    if is_utf16(bytes) {
        return Err(TextError::Utf16);
    }
    let mut lines = Vec::new();
    for number in 1.. {
        let line = read_line(&mut bytes)?;
        if line.is_empty() {
            break;
        }
        let text = decode(line.trim_ascii_end());
        let body = text.trim_start();
        let comment = ["#", "%", ";", "//"].iter().any(|mark| body.starts_with(mark));
        if !body.is_empty() && !comment {
            lines.push(Line { number, text });
        }
    }
    Ok(lines)
}

/// Reads a line with its end: LF, CR LF or CR; it is empty at the end of the stream. Very long
/// ones come in parts. What only other programs need is left out: byte order marks, which are
/// in the middle of files that were joined, and control characters (a form feed, the end of a
/// file of DOS).
///
/// # Errors
///
/// If the stream cannot be read.
pub(super) fn read_line(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if line.ends_with(b"\r") {
            let paired = usize::from(bytes.starts_with(b"\n"));
            line.extend_from_slice(&bytes[..paired]);
            input.consume(paired);
            break;
        }
        let end = bytes.iter().position(|&byte| matches!(byte, b'\n' | b'\r'));
        let length = end.map_or(bytes.len(), |end| end + 1);
        line.extend_from_slice(&bytes[..length]);
        input.consume(length);
        if length == 0 || line.ends_with(b"\n") || line.len() > LONGEST_LINE {
            break;
        }
    }
    if line.starts_with(b"\xef\xbb\xbf") {
        line.drain(..3);
    }
    for byte in &mut line {
        if byte.is_ascii_control() && !matches!(*byte, b'\t' | b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    Ok(line)
}

/// UTF-8, or else Latin-1, which older files use in names.
pub(super) fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
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
        let line = Line { number: 1, text: "äb c".to_owned() };
        assert_eq!(line.error(4, String::new()).column, 4);
    }
}
