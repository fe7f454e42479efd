//! Files that are only ever added to, so that a kill loses at most the line being written:
//! JSON, each line behind its checksum. What the lines say is decided elsewhere.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
};

use serde::{Serialize, de::DeserializeOwned};

/// Longest line, in bytes: a study of a game of 10,000 moves has one of a hundredth of that.
const LONGEST_LINE: u64 = 16 << 20;

/// Why a line cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It is not there to its end, or its checksum is another.
    #[error("damaged")]
    Damaged,
    /// It says something else.
    #[error("not understood: {0}")]
    NotUnderstood(serde_json::Error),
}

/// Writes bytes at the end of a file, which is where it stands: all of them, or none.
///
/// # Errors
///
/// If they cannot be written.
pub fn append(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let end = file.stream_position()?;
    file.write_all(bytes).inspect_err(|_| {
        // A full disk may have taken half of it.
        let _ = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
    })
}

/// `CHECKSUM {...}` and the line's end.
///
/// # Errors
///
/// If there is no JSON for the value.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(value)?;
    Ok(format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes())))
}

/// What a line says.
///
/// # Errors
///
/// If the line is damaged, or says something else.
pub fn value<T: DeserializeOwned>(line: &[u8]) -> Result<T, JournalError> {
    let text = checked(line).ok_or(JournalError::Damaged)?;
    serde_json::from_str(text).map_err(JournalError::NotUnderstood)
}

/// The text after the checksum of a whole line, if that is its sum.
fn checked(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    let sum = u32::from_str_radix(sum, 16).ok()?;
    (sum == crc32fast::hash(text.as_bytes())).then_some(text)
}

/// Reads the lines of a file.
#[derive(Debug)]
pub struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    /// Bytes of all lines so far.
    length: u64,
}

impl Lines {
    /// Reads from where the file stands: its start.
    pub fn new(file: File) -> Lines {
        Lines { reader: BufReader::new(file), line: Vec::new(), length: 0 }
    }

    /// Returns the next line; `None` at the end, or at what a kill has left of a last line.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is longer than any line of a journal.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.line)? as u64;
        if self.line.ends_with(b"\n") {
            self.length += read;
            return Ok(Some(&self.line[..]));
        }
        if read == LONGEST_LINE {
            return Err(io::Error::other(format!("a line of more than {LONGEST_LINE} bytes")));
        }
        Ok(None)
    }

    /// Cuts off what a kill has left of a last line. Returns the file, which stands at its
    /// end.
    ///
    /// # Errors
    ///
    /// If it cannot be cut.
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
            append(&mut lines.end().unwrap(), b"e").unwrap();
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
