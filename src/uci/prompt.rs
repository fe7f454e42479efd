//! The prompt: a line editor with history, and output that is printed above the line while it is
//! being edited.
//!
//! Output is queued, and one thread prints it, because the editor accepts text only while it reads
//! a line. Thus no other thread holds a lock while it waits for the terminal.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Write},
    sync::mpsc::{self, Receiver, Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

use rustyline::{Config, Editor, ExternalPrinter, error::ReadlineError, history::MemHistory};

use super::input::LineSource;

/// The prompt before the line.
const PROMPT: &str = "> ";
/// Maximum time to wait for queued output before a line is read. The printer may be blocked until
/// the editor reads a line, so there must be a limit.
const PATIENCE: Duration = Duration::from_millis(50);

/// A message to the printing thread.
enum Print {
    Text(String),
    /// Dropped when all earlier text has been printed.
    Mark(Sender<()>),
}

/// Reads lines from a person.
pub struct Prompt {
    editor: Editor<(), MemHistory>,
    print: Sender<Print>,
    /// Lines of a pasted text that have not been carried out yet.
    pasted: VecDeque<String>,
    /// Whether the lines now come from a program, so that no prompt is shown.
    plain: bool,
}

/// A writer that queues text for the printing thread.
pub struct Queue(Sender<Print>);

/// Opens the editor, a writer for output, and the thread that prints it. The thread ends when the
/// editor and the writer have been dropped.
///
/// # Errors
///
/// If the terminal does not support line editing, or the thread cannot be started.
pub fn open() -> rustyline::Result<(Prompt, Queue, JoinHandle<()>)> {
    // Without bracketed paste, the editor would lose the lines that are pasted after `uci`.
    let config = Config::builder().auto_add_history(true).bracketed_paste(true).build();
    let mut editor = Editor::with_history(config, MemHistory::new())?;
    let mut printer = editor.create_external_printer()?;
    let (print, queue) = mpsc::channel();
    let thread = thread::Builder::new().name("printer".to_owned()).spawn(move || {
        print_all(&queue, |text| {
            if printer.print(text.clone()).is_err() {
                // The editor no longer exists.
                print_directly(&text);
            }
        });
    })?;
    let prompt = Prompt { editor, print: print.clone(), pasted: VecDeque::new(), plain: false };
    Ok((prompt, Queue(print), thread))
}

fn print_all(queue: &Receiver<Print>, mut print: impl FnMut(String)) {
    for item in queue {
        match item {
            Print::Text(text) => print(text),
            Print::Mark(done) => drop(done),
        }
    }
}

fn print_directly(text: &str) {
    let mut out = io::stdout().lock();
    // Errors are ignored: if the terminal is gone, the text cannot be read anyway.
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
    fn next(&mut self, line: &mut Vec<u8>) -> bool {
        line.clear();
        if let Some(text) = self.pasted.pop_front() {
            line.extend_from_slice(text.as_bytes());
            return true;
        }
        if self.plain {
            return io::stdin().lock().next(line);
        }
        let (done, wait) = mpsc::channel::<()>();
        if self.print.send(Print::Mark(done)).is_ok() {
            let _ = wait.recv_timeout(PATIENCE);
        }
        match self.editor.readline(PROMPT) {
            Ok(text) => {
                let mut lines = text.lines();
                line.extend_from_slice(lines.next().unwrap_or_default().as_bytes());
                self.pasted.extend(lines.map(str::to_owned));
            }
            // Ctrl-C stops the current task, such as a search. Ctrl-D ends the input.
            Err(ReadlineError::Interrupted) => line.extend_from_slice(b"stop"),
            // The editor has discarded a line that is not UTF-8.
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {}
            Err(_) => return false,
        }
        true
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
        let (done, wait) = mpsc::channel::<()>();
        print.send(Print::Mark(done)).unwrap();
        assert!(wait.recv().is_err());
        drop((writer, print));
        assert_eq!(printer.join().unwrap(), ["one\n", "two\n"]);
    }
}
