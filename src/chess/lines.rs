//! Text files with one position per line: decoding, line numbers, comments.
//!
//! [`epd`](super::epd), the opening books and the tools parse the lines. The PGN reader uses only
//! the decoding and the splitting into lines.

use std::{
    io::{self, BufRead},
    path::Path,
};

use crate::system::files;

/// Maximum length of a file, in bytes. The largest collections of openings are about 200 MB.
const LONGEST_FILE: u64 = 512 << 20;

/// Maximum length of a line, in bytes. A longer line is returned in parts. A part may exceed this
/// by one read buffer.
const LONGEST_LINE: usize = 16 << 20;

/// The errors from reading lines of text.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is in an encoding that chess tools do not write.
    #[error("the file is UTF-16 text; save it as UTF-8")]
    Utf16,
}

/// A line that is neither blank nor a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Line number from 1, counting blank lines and comments.
    pub number: usize,
    /// The text without trailing whitespace. Leading whitespace is kept, so that columns are
    /// correct.
    pub text: String,
}

impl Line {
    /// Returns an error at a byte offset of the line.
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
    /// Column in characters, from 1.
    pub column: usize,
    /// The fault, and what was expected.
    pub reason: String,
}

/// Reads the lines of a file. See [`split`].
///
/// # Errors
///
/// If the file cannot be read, or is UTF-16.
pub fn read(path: &Path) -> Result<Vec<Line>, TextError> {
    split(&files::read(path, LONGEST_FILE)?)
}

/// Returns whether a text starts with a UTF-16 byte order mark.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// Splits a text into lines, without blank lines and comments. The text may be in UTF-8 or Latin-1
/// (see `decode`), with or without byte order marks, and with the line endings LF, CR LF or CR.
/// Lines that start with `#`, `%`, `;` or `//` are comments.
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

/// Reads a line with its line ending: LF, CR LF or CR. Returns an empty line at the end of the
/// stream, and very long lines in parts.
///
/// Removes a byte order mark at the start of the line. Concatenated files have such marks on later
/// lines too. Replaces control characters, such as form feeds and the end-of-file character of DOS,
/// with spaces.
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

/// Decodes UTF-8, or Latin-1 if the bytes are not UTF-8. Older files have names in Latin-1.
pub(crate) fn decode(bytes: &[u8]) -> String {
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
