//! Text files of one position per line: decoding, line numbers, comments.
//!
//! What a line means is decided elsewhere.

use std::{fmt, fs, io, path::Path};

/// Why a file cannot be read as lines of text.
#[derive(Debug)]
pub enum FileError {
    /// The system refused.
    Io(io::Error),
    /// The file is in an encoding that chess tools do not write.
    Utf16,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io(error) => write!(f, "{error}"),
            FileError::Utf16 => f.write_str("the file is UTF-16 text; save it as UTF-8"),
        }
    }
}

impl std::error::Error for FileError {}

/// A line that says something: neither blank nor a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counted from 1, blank lines and comments included.
    pub number: usize,
    /// Without its line end. Leading blanks are kept, so that columns are true.
    pub text: String,
}

/// The lines of a file. See [`split`].
///
/// # Errors
///
/// If the file cannot be read or is UTF-16.
pub fn read(path: &Path) -> Result<Vec<Line>, FileError> {
    split(&fs::read(path).map_err(FileError::Io)?)
}

/// The lines of a text: UTF-8 with or without byte order mark, any of the line
/// ends LF, CR LF and CR, last one optional. See [`decode`]. Lines starting with
/// `#`, `%`, `;` or `//` are comments.
///
/// # Errors
///
/// If the text is UTF-16.
pub fn split(bytes: &[u8]) -> Result<Vec<Line>, FileError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(FileError::Utf16);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = Vec::new();
    let mut number = 0;
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
        let (line, tail) = rest.split_at(end);
        rest = tail.strip_prefix(b"\r\n").or_else(|| tail.get(1..)).unwrap_or(&[]);
        number += 1;
        let text = decode(line);
        let body = text.trim_start();
        let comment = ["#", "%", ";", "//"].iter().any(|mark| body.starts_with(mark));
        if !body.is_empty() && !comment {
            lines.push(Line { number, text });
        }
    }
    Ok(lines)
}

/// UTF-8, or else Latin-1, which older files use in names.
#[must_use]
pub fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// The column of a byte offset: characters, counted from 1.
#[must_use]
pub fn column(text: &str, offset: usize) -> usize {
    text.char_indices().take_while(|&(at, _)| at < offset).count() + 1
}

/// The whitespace-separated words of a text with their byte offsets.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_ends_and_comments() {
        let text = b"\xef\xbb\xbfone\r\n\r\n# no\n  // no\n\ttwo\rG\xf6teborg";
        let lines = split(text).unwrap();
        let seen: Vec<_> = lines.iter().map(|line| (line.number, line.text.as_str())).collect();
        assert_eq!(seen, [(1, "one"), (5, "\ttwo"), (6, "Göteborg")]);
        assert!(matches!(split(b"\xff\xfeo\0"), Err(FileError::Utf16)));
        assert!(split(b"").unwrap().is_empty());
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(column("äb c", 4), 4);
        assert_eq!(words(" ab  c").collect::<Vec<_>>(), [(1, "ab"), (5, "c")]);
    }
}
