//! The line that a person edits, with history, and lines that are printed above it
//! while it is being edited.
//!
//! Nobody waits for the terminal while a lock is held: what is to be printed is queued,
//! and one thread prints it. The editor takes a line only while it is asked for one.

use std::{
    io::{self, ErrorKind, Write},
    sync::mpsc::{self, Receiver, Sender, SyncSender},
    thread::{self, JoinHandle},
    time::Duration,
};

use rustyline::{Config, Editor, ExternalPrinter, error::ReadlineError, history::MemHistory};

use super::input::LineSource;

/// What stands before the line.
const PROMPT: &str = "> ";
/// How long the editor waits for what was queued before: it may have to be asked for a
/// line first.
const PATIENCE: Duration = Duration::from_millis(50);

/// For the thread that prints.
enum Print {
    Text(String),
    /// Say when all before has been printed.
    Mark(SyncSender<()>),
}

/// Reads lines from a person.
pub struct Prompt {
    editor: Editor<(), MemHistory>,
    print: Sender<Print>,
    /// A program listens: no more prompts.
    plain: bool,
}

/// Queues what is to be printed.
pub struct Queue(Sender<Print>);

/// The editor, where lines to print go, and the thread that prints them, which ends
/// when both others are gone.
///
/// # Errors
///
/// If the terminal cannot be used so.
pub fn open() -> rustyline::Result<(Prompt, Queue, JoinHandle<()>)> {
    // Lines that are pasted are lines, not one.
    let config = Config::builder().auto_add_history(true).bracketed_paste(false).build();
    let mut editor = Editor::with_history(config, MemHistory::new())?;
    let mut printer = editor.create_external_printer()?;
    let (print, queue) = mpsc::channel();
    let thread = thread::Builder::new().name("printer".to_owned()).spawn(move || {
        print_all(&queue, |text| {
            if printer.print(text.clone()).is_err() {
                // The editor is gone.
                print_directly(&text);
            }
        });
    })?;
    Ok((Prompt { editor, print: print.clone(), plain: false }, Queue(print), thread))
}

fn print_all(queue: &Receiver<Print>, mut print: impl FnMut(String)) {
    for item in queue {
        match item {
            Print::Text(text) => print(text),
            // Nobody waits any more if this fails.
            Print::Mark(done) => drop(done.try_send(())),
        }
    }
}

fn print_directly(text: &str) {
    let mut out = io::stdout().lock();
    // A terminal that is gone has no reader.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

impl Write for Queue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.0.send(Print::Text(text)).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LineSource for Prompt {
    fn next(&mut self, line: &mut Vec<u8>) -> Option<usize> {
        if self.plain {
            return io::stdin().lock().next(line);
        }
        let (done, wait) = mpsc::sync_channel(1);
        if self.print.send(Print::Mark(done)).is_ok() {
            let _ = wait.recv_timeout(PATIENCE);
        }
        line.clear();
        match self.editor.readline(PROMPT) {
            Ok(text) => line.extend_from_slice(text.as_bytes()),
            // What Ctrl-C ends is what is being done; Ctrl-D is the end of the input.
            Err(ReadlineError::Interrupted) => line.extend_from_slice(b"stop"),
            // A line that is not UTF-8, which the editor has thrown away.
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {}
            Err(_) => return None,
        }
        Some(line.len())
    }

    fn switch_to_protocol(&mut self) {
        self.plain = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_printed_in_order() {
        let (print, queue) = mpsc::channel();
        let mut writer = Queue(print.clone());
        let printer = thread::spawn(move || {
            let mut texts = Vec::new();
            print_all(&queue, |text| texts.push(text));
            texts
        });
        for line in ["one\n", "two\n"] {
            writer.write_all(line.as_bytes()).unwrap();
        }
        let (done, wait) = mpsc::sync_channel(1);
        print.send(Print::Mark(done)).unwrap();
        wait.recv().unwrap();
        drop((writer, print));
        assert_eq!(printer.join().unwrap(), ["one\n", "two\n"]);
    }
}
