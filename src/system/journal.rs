//! Append-only files of JSON lines. Each line begins with the checksum of its JSON. If the program
//! is killed, it loses at most the line being written.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
};

use serde::{Serialize, de::DeserializeOwned};

/// Maximum length of a line, in bytes. The longest line that Lancet writes has a studied game with
/// its annotations.
const LONGEST_LINE: u64 = 16 << 20;

/// The errors from reading a line.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The line is incomplete, or its checksum is wrong.
    #[error("damaged")]
    Damaged,
    /// The JSON is invalid, or is not of the expected type.
    #[error("unexpected contents: {0}")]
    NotUnderstood(serde_json::Error),
}

/// Appends bytes to a file whose position is at its end. If not all of them can be written, the
/// file keeps its old contents.
///
/// # Errors
///
/// If the bytes cannot be written, or are too long for [`Lines`] to read them again.
pub fn append(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    if bytes.len() as u64 > LONGEST_LINE {
        return Err(too_long());
    }
    let end = file.stream_position()?;
    file.write_all(bytes).inspect_err(|_| {
        // On a full disk, some of the bytes may have been written.
        let _ = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
    })
}

fn too_long() -> io::Error {
    io::Error::other(format!("a line is longer than {LONGEST_LINE} bytes"))
}

/// Returns the line for a value: `CHECKSUM {...}` and a line feed.
///
/// # Errors
///
/// If the value cannot be written as JSON.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(value)?;
    Ok(format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes())))
}

/// Parses a line.
///
/// # Errors
///
/// If the line is damaged, or its JSON is not of the type `T`.
pub fn value<T: DeserializeOwned>(line: &[u8]) -> Result<T, JournalError> {
    let text = checked(line).ok_or(JournalError::Damaged)?;
    serde_json::from_str(text).map_err(JournalError::NotUnderstood)
}

/// Returns whether a line looks like one of a journal. It may be damaged.
pub fn is_line(line: &[u8]) -> bool {
    line.get(..8).is_some_and(|sum| sum.iter().all(u8::is_ascii_hexdigit))
        && line[8..].starts_with(b" {")
}

/// Returns the text after the checksum, if the line is complete and the checksum is right.
fn checked(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    // Editors and version control may have converted the line ending.
    let line = line.strip_suffix('\r').unwrap_or(line);
    let (sum, text) = line.split_once(' ')?;
    let sum = u32::from_str_radix(sum, 16).ok()?;
    (sum == crc32fast::hash(text.as_bytes())).then_some(text)
}

/// Reads the lines of a file.
#[derive(Debug)]
pub struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    /// Total length of the complete lines read so far, in bytes.
    length: u64,
}

impl Lines {
    /// Reads lines from a file whose position is at its start.
    pub fn new(file: File) -> Lines {
        Lines { reader: BufReader::new(file), line: Vec::new(), length: 0 }
    }

    /// Returns the next line, or `None` at the end of the file or at an incomplete last line.
    ///
    /// # Errors
    ///
    /// If the line cannot be read, or is longer than 16 MiB.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.line)? as u64;
        if self.line.ends_with(b"\n") {
            self.length += read;
            return Ok(Some(&self.line[..]));
        }
        if read == LONGEST_LINE {
            return Err(too_long());
        }
        Ok(None)
    }

    /// Removes everything after the lines read so far. Returns the file, with its position at the
    /// end. Call this only after [`next_line`](Self::next_line) has returned `None`. Then only an
    /// incomplete last line is removed.
    ///
    /// # Errors
    ///
    /// If the file cannot be truncated.
    pub fn end(self) -> io::Result<File> {
        let mut file = self.reader.into_inner();
        file.set_len(self.length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_or_nothing() {
        let said = ("\u{1b} \"a\"\n".to_owned(), vec![1.5, -0.1]);
        let written = line(&said).unwrap();
        assert_eq!(value::<(String, Vec<f64>)>(written.as_bytes()).unwrap(), said);
        assert_eq!(written.matches('\n').count(), 1);
        let read = |bytes: &[u8]| value::<(String, Vec<f64>)>(bytes);
        for end in 0..written.len() {
            let error = read(&written.as_bytes()[..end]).unwrap_err();
            assert!(matches!(error, JournalError::Damaged), "{end}: {error}");
        }
        for at in 0..written.len() {
            let mut damaged = written.clone().into_bytes();
            damaged[at] ^= 1;
            assert!(read(&damaged).is_err(), "{at}");
        }
    }

    #[test]
    fn torn_lines_are_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        for (text, whole) in [("a\nbc\nd", &["a\n", "bc\n"][..]), ("a\n", &["a\n"]), ("a", &[])] {
            std::fs::write(&path, text).unwrap();
            let mut lines = Lines::new(File::options().read(true).write(true).open(&path).unwrap());
            for line in whole {
                assert_eq!(lines.next_line().unwrap(), Some(line.as_bytes()));
            }
            assert_eq!(lines.next_line().unwrap(), None);
            let mut file = lines.end().unwrap();
            append(&mut file, b"e").unwrap();
            append(&mut file, &vec![b'x'; LONGEST_LINE as usize + 1]).unwrap_err();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), whole.concat() + "e");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_takes_nothing() {
        let mut full = File::options().write(true).open("/dev/full").unwrap();
        assert_eq!(append(&mut full, b"a").unwrap_err().kind(), io::ErrorKind::StorageFull);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut file = File::create(&path).unwrap();
        append(&mut file, b"one ").unwrap();
        append(&mut file, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one two");
    }
}
