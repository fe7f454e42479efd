//! Writes lines to the GUI and to the debug log. One lock keeps lines whole, and each line is
//! flushed.

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
use crate::{chess::lines, system::sync::lock};

/// The output of a dialogue, shared by all threads.
pub struct Output<W> {
    sinks: Mutex<Sinks<W>>,
    closed: AtomicBool,
    /// The reader is a person, not a program.
    person: AtomicBool,
    /// Options that select what is reported, and how.
    pub options: DialogueOptions,
}

struct Sinks<W> {
    writer: W,
    log: Option<Log>,
}

impl<W> Sinks<W> {
    /// Logs a line, if there is a log. An error ends the log, but the game goes on.
    ///
    /// # Errors
    ///
    /// If an earlier line could not be written.
    fn log(&mut self, direction: &str, text: &str) -> Result<(), LogError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        log.add(direction, text).inspect_err(|_| self.log = None)
    }
}

impl<W: Write> Output<W> {
    /// Creates an output to `writer`, without a log. `person` says whether a person reads it, or a
    /// program.
    pub fn new(writer: W, person: bool) -> Output<W> {
        Output {
            sinks: Mutex::new(Sinks { writer, log: None }),
            closed: AtomicBool::new(false),
            person: AtomicBool::new(person),
            options: DialogueOptions::default(),
        }
    }

    /// Returns whether the reader is a person.
    pub fn is_for_a_person(&self) -> bool {
        self.person.load(Ordering::Relaxed)
    }

    /// Switches to output for a program.
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
        // One write call for each line, so that the reader never sees a part of it.
        let written = sinks.writer.write_all(format!("{text}\n").as_bytes());
        if written.and_then(|()| sinks.writer.flush()).is_err() {
            self.close();
        }
    }

    /// Writes a message.
    pub fn send(&self, message: &UciMessage) {
        self.line(&message.to_string());
    }

    /// Writes `info string <text>`, or only the text if the reader is a person.
    pub fn say(&self, text: &str) {
        if self.is_for_a_person() {
            self.line(&super::person::remark(text));
        } else {
            self.line(&super::format::string(text));
        }
    }

    /// Ends the dialogue early: the output has failed, or the engine could not start.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Returns whether the output has failed or the engine could not start. `quit` does not count.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Logs an input line.
    pub fn log_input(&self, line: &[u8]) {
        let mut sinks = lock(&self.sinks);
        if sinks.log.is_some()
            && let Err(error) = sinks.log(">>", lines::decode(line).trim_end())
        {
            drop(sinks);
            self.say(&error.to_string());
        }
    }

    /// Appends input and output to the file `path` from now on. Logging stops if `path` is `None`
    /// or the file cannot be opened.
    pub fn log_to(&self, path: Option<&Path>) {
        // Dropping the old log may wait for the disk, so the lock is released first.
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
