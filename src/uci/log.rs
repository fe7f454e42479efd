//! The debug log. A separate thread writes it, so that a search never waits for the disk.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, Sender},
    thread::{self, JoinHandle},
};

use crate::system::files;

/// The error of a log that has ended because writing failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot log to '{}': {reason}; logging has stopped", .path.display())]
pub struct LogError {
    path: PathBuf,
    reason: io::Error,
}

/// An open log. Dropping it waits until all lines are in the file.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    /// `None` once the log has ended.
    lines: Option<Sender<String>>,
    writer: Option<JoinHandle<io::Result<()>>>,
}

impl Log {
    /// Opens a log that appends to the file `path`.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or is a pipe, or the thread cannot be started.
    pub fn open(path: &Path) -> io::Result<Log> {
        if files::is_pipe(path) {
            // Opening a pipe waits for a reader, and would block the whole program.
            return Err(io::Error::other("expected a file, found a pipe"));
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let (lines, queue) = mpsc::channel();
        let writer = thread::Builder::new().name("log".to_owned());
        let writer = Some(writer.spawn(move || write(file, &queue))?);
        Ok(Log { path: path.to_owned(), lines: Some(lines), writer })
    }

    /// Adds a line. `direction` is `<<` for output and `>>` for input.
    ///
    /// # Errors
    ///
    /// If an earlier line could not be written. The log should then be dropped.
    pub fn add(&mut self, direction: &str, text: &str) -> Result<(), LogError> {
        let line = format!("{} {direction} {text}\n", chrono::Utc::now().format("%T%.3f"));
        if self.lines.as_ref().is_some_and(|lines| lines.send(line).is_ok()) {
            return Ok(());
        }
        let reason = self.close().err().unwrap_or_else(|| io::Error::other("the log thread ended"));
        Err(LogError { path: self.path.clone(), reason })
    }

    /// Waits until all lines are written.
    fn close(&mut self) -> io::Result<()> {
        self.lines = None;
        let ended = self.writer.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| {
            ended.unwrap_or_else(|_| Err(io::Error::other("the log thread panicked")))
        })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // An error cannot be reported here.
        let _ = self.close();
    }
}

/// Writes queued lines until the sender is dropped.
fn write(mut file: File, queue: &Receiver<String>) -> io::Result<()> {
    while let Ok(mut text) = queue.recv() {
        text.extend(queue.try_iter());
        file.write_all(text.as_bytes())?;
    }
    Ok(())
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
