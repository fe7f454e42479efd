//! Files that are only ever added to, so that a kill loses at most the line being written:
//! JSON, each line behind its checksum. What the lines say is decided elsewhere.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom, Write as _},
};

use serde::{Serialize, de::DeserializeOwned};

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
/// If there is no JSON for the value, in words.
pub fn line(value: &impl Serialize) -> Result<String, String> {
    let text = serde_json::to_string(value).map_err(|error| error.to_string())?;
    Ok(format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes())))
}

/// What a line says.
///
/// # Errors
///
/// If the line is damaged, not there to its end, or says something else, in words.
pub fn value<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let text = checked(line).ok_or("damaged")?;
    serde_json::from_str(text).map_err(|error| format!("not understood: {error}"))
}

/// The text after the checksum of a whole line, if that is its sum.
fn checked(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    let sum = u32::from_str_radix(sum, 16).ok()?;
    (sum == crc32fast::hash(text.as_bytes())).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_or_nothing() {
        let said = ("\u{1b} \"a\"\n".to_owned(), vec![1.5, -0.1]);
        let written = line(&said).unwrap();
        assert_eq!(value(written.as_bytes()), Ok(said));
        assert_eq!(written.matches('\n').count(), 1);
        let read = |bytes: &[u8]| value::<(String, Vec<f64>)>(bytes);
        for end in 0..written.len() {
            assert_eq!(read(&written.as_bytes()[..end]).unwrap_err(), "damaged", "{end}");
        }
        for at in 0..written.len() {
            let mut damaged = written.clone().into_bytes();
            damaged[at] ^= 1;
            assert!(read(&damaged).is_err(), "{at}");
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
