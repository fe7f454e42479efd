//! The debug log, written by a thread of its own: a search never waits for a disk.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, Sender},
    thread::{self, JoinHandle},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::system::files;

/// The log has ended, since it could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot log to '{}': {reason}; the log ends here", .path.display())]
pub struct LogError {
    path: PathBuf,
    reason: io::Error,
}

/// A log that is being written. When it is dropped, all lines are in the file.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    /// Nothing once the log has ended.
    lines: Option<Sender<String>>,
    writer: Option<JoinHandle<io::Result<()>>>,
}

impl Log {
    /// A log at the end of the file `path`.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or is a pipe, or the system gives no thread.
    pub fn open(path: &Path) -> io::Result<Log> {
        if files::is_pipe(path) {
            // Opening it would wait for a reader, and everybody for us.
            return Err(io::Error::other("a pipe, expected a file"));
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let (lines, queue) = mpsc::channel();
        let writer = thread::Builder::new().name("log".to_owned());
        let writer = Some(writer.spawn(move || write(file, &queue))?);
        Ok(Log { path: path.to_owned(), lines: Some(lines), writer })
    }

    /// Adds a line that went in this direction.
    ///
    /// # Errors
    ///
    /// If an earlier line could not be written: the log should be dropped.
    pub fn add(&mut self, direction: &str, text: &str) -> Result<(), LogError> {
        let line = format!("{} {direction} {text}\n", timestamp());
        if self.lines.as_ref().is_some_and(|lines| lines.send(line).is_ok()) {
            return Ok(());
        }
        let reason = self.close().err().unwrap_or_else(|| io::Error::other("its thread ended"));
        Err(LogError { path: self.path.clone(), reason })
    }

    /// Waits until all lines are written.
    fn close(&mut self) -> io::Result<()> {
        self.lines = None;
        let ended = self.writer.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| ended.unwrap_or_else(|_| Err(io::Error::other("it panicked"))))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // Whoever could be told has gone.
        let _ = self.close();
    }
}

/// Writes what is queued, until nobody queues any more.
fn write(mut file: File, queue: &Receiver<String>) -> io::Result<()> {
    while let Ok(mut text) = queue.recv() {
        text.extend(queue.try_iter());
        file.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Time of day, UTC, to the millisecond.
fn timestamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = now.as_secs() % 86_400;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{:03}", seconds % 60, now.subsec_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for round in 1..=2 {
            let mut log = Log::open(&path).unwrap();
            (0..1000).for_each(|number| log.add("<<", &number.to_string()).unwrap());
            drop(log);
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.lines().count(), 1000 * round);
            assert!(text.lines().next_back().unwrap().ends_with(" << 999"));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_ends_the_log() {
        let mut log = Log::open(Path::new("/dev/full")).unwrap();
        let error = loop {
            if let Err(error) = log.add("<<", "a") {
                break error.to_string();
            }
            thread::yield_now();
        };
        assert!(error.starts_with("cannot log to '/dev/full': No space left"), "{error}");
    }
}
