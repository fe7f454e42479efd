//! Lines to the GUI and to the debug log. Whole lines, one lock, flushed.

use std::{
    io::Write,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use vampirc_uci::UciMessage;

use super::{
    log::{Log, LogError},
    options::DialogueOptions,
};
use crate::system::sync::lock;

/// Where lines go, shared by all threads.
pub struct Output<W> {
    sinks: Mutex<Sinks<W>>,
    closed: AtomicBool,
    /// A person reads, not a program.
    person: AtomicBool,
    /// What the reader wants to be told, and how.
    pub options: DialogueOptions,
}

struct Sinks<W> {
    writer: W,
    log: Option<Log>,
}

impl<W> Sinks<W> {
    /// Logs a line, if there is a log. What cannot be logged ends the log, and not the game.
    ///
    /// # Errors
    ///
    /// If the log has ended.
    fn log(&mut self, direction: &str, text: &str) -> Result<(), LogError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        log.add(direction, text).inspect_err(|_| self.log = None)
    }
}

impl<W: Write> Output<W> {
    /// Lines go to `writer`, which a person or a program reads; there is no
    /// log.
    pub fn new(writer: W, person: bool) -> Output<W> {
        Output {
            sinks: Mutex::new(Sinks { writer, log: None }),
            closed: AtomicBool::new(false),
            person: AtomicBool::new(person),
            options: DialogueOptions::default(),
        }
    }

    /// Does a person read this?
    pub fn is_for_a_person(&self) -> bool {
        self.person.load(Ordering::Relaxed)
    }

    /// A program reads from now on.
    pub fn switch_to_protocol(&self) {
        self.person.store(false, Ordering::Relaxed);
    }

    /// Writes one line.
    pub fn line(&self, text: &str) {
        let mut sinks = lock(&self.sinks);
        if let Err(error) = sinks.log("<<", text) {
            drop(sinks);
            self.say(&error.to_string());
            sinks = lock(&self.sinks);
        }
        // One write call per line: a reader never sees half of one.
        let written = sinks.writer.write_all(format!("{text}\n").as_bytes());
        if written.and_then(|()| sinks.writer.flush()).is_err() {
            self.close();
        }
    }

    /// Writes a message.
    pub fn send(&self, message: &UciMessage) {
        self.line(&message.to_string());
    }

    /// Writes `info string <text>`, for a person without the first words.
    pub fn say(&self, text: &str) {
        if self.is_for_a_person() {
            self.line(&super::person::remark(text));
        } else {
            self.line(&super::format::string(text));
        }
    }

    /// Ends the dialogue.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Is the dialogue over, or has the other side gone away?
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Logs a line that came in.
    pub fn log_input(&self, line: &[u8]) {
        let mut sinks = lock(&self.sinks);
        if sinks.log.is_some()
            && let Err(error) = sinks.log(">>", String::from_utf8_lossy(line).trim_end())
        {
            drop(sinks);
            self.say(&error.to_string());
        }
    }

    /// Logs both directions to the end of the file `path` from now on; with
    /// `None`, or if it cannot be opened, no more.
    pub fn log_to(&self, path: Option<&Path>) {
        // The last lines of the old log are written while nobody waits for it.
        let old = lock(&self.sinks).log.take();
        drop(old);
        match path.map(Log::open).transpose() {
            Ok(log) => lock(&self.sinks).log = log,
            Err(error) => {
                let path = path.unwrap_or(Path::new(""));
                self.say(&format!("cannot log to '{}': {error}", path.display()));
            }
        }
    }
}
