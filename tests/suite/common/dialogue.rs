//! A dialogue with the built binary, with a deadline on every answer.

use std::{
    io::{BufRead, BufReader, Write},
    process::{ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Instant,
};

use super::program::{self, DEADLINE, Running};

/// A running `lancet`.
pub struct Lancet {
    child: Running,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    /// Everything said so far, for the report when something fails.
    transcript: Vec<String>,
    /// What to do to see the same again.
    recipe: String,
}

impl Lancet {
    /// Starts the program without arguments.
    pub fn start() -> Lancet {
        Lancet::with(&[])
    }

    /// Starts the program with arguments.
    pub fn with(arguments: &[&str]) -> Lancet {
        Lancet::spawn(&mut program::lancet(arguments))
    }

    /// Starts the program as the shell would after `limits`, such as
    /// `ulimit -v 1000000`.
    #[cfg(unix)]
    pub fn limited(limits: &str) -> Lancet {
        Lancet::spawn(&mut program::limited(limits, &[]))
    }

    fn spawn(command: &mut Command) -> Lancet {
        let mut child = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, output) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Lancet { child, input, output, transcript: Vec::new(), recipe: String::new() }
    }

    /// Says a line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Says anything.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.log(&format!("> {}", String::from_utf8_lossy(bytes).trim_end()));
        if let Err(error) = self.input.as_mut().unwrap().write_all(bytes) {
            self.fail(&format!("the program does not listen: {error}"));
        }
    }

    /// Says what to do to see the same again, if something fails.
    pub fn set_recipe(&mut self, recipe: String) {
        self.recipe = recipe;
    }

    /// The process, for those who look at it from outside.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Keeps the beginning of a line, and the last few hundred of them.
    fn log(&mut self, line: &str) {
        if self.transcript.len() >= 600 {
            self.transcript.drain(..300);
        }
        self.transcript.push(line.chars().take(400).collect());
    }

    /// Ends the test.
    pub fn fail(&self, what: &str) -> ! {
        let skip = self.transcript.len().saturating_sub(60);
        let lines = self.transcript[skip..].join("\n");
        panic!("{what} {}; the last lines were:\n{lines}", self.recipe);
    }

    /// A line that is there already.
    pub fn poll(&mut self) -> Option<String> {
        let line = self.output.try_recv().ok()?;
        self.log(&line);
        Some(line)
    }

    /// The next line.
    pub fn line(&mut self, what: &str) -> String {
        self.line_before(Instant::now() + DEADLINE, what)
    }

    fn line_before(&mut self, deadline: Instant, what: &str) -> String {
        self.next(deadline, what)
            .unwrap_or_else(|| self.fail(&format!("the program ended without '{what}'")))
    }

    /// The next line, or `None` if the program has ended.
    fn next(&mut self, deadline: Instant, what: &str) -> Option<String> {
        match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                self.log(&line);
                Some(line)
            }
            Err(RecvTimeoutError::Timeout) => self.fail(&format!("no {what} in time")),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The lines up to and including the first that starts with `start`. A search
    /// that is never to be answered goes on talking: the deadline is that of all.
    pub fn until(&mut self, start: &str) -> Vec<String> {
        let deadline = Instant::now() + DEADLINE;
        let mut lines = Vec::new();
        loop {
            lines.push(self.line_before(deadline, start));
            if lines.last().unwrap().starts_with(start) {
                return lines;
            }
        }
    }

    /// Says a line and returns the answer up to the line that starts with `start`.
    pub fn ask(&mut self, line: &str, start: &str) -> Vec<String> {
        self.send(line);
        self.until(start)
    }

    /// The answer to a `go`: its lines, and the move.
    pub fn go(&mut self, line: &str) -> (Vec<String>, String) {
        let lines = self.ask(line, "bestmove ");
        let m = lines.last().unwrap().split(' ').nth(1).unwrap().to_owned();
        (lines, m)
    }

    /// Whatever was said before `isready` is answered. Returns those lines
    /// without `readyok`.
    pub fn drain(&mut self) -> Vec<String> {
        let mut lines = self.ask("isready", "readyok");
        lines.pop();
        lines
    }

    /// Ends the input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The lines up to the program's end, and its exit status.
    pub fn rest(mut self) -> (Vec<String>, ExitStatus) {
        self.end()
    }

    /// As [`rest`](Lancet::rest), for those who cannot give the program away.
    pub fn end(&mut self) -> (Vec<String>, ExitStatus) {
        let deadline = Instant::now() + DEADLINE;
        let mut lines = Vec::new();
        while let Some(line) = self.next(deadline, "end of the program") {
            lines.push(line);
        }
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (lines, status);
            }
            // The output has ended: the program is about to.
            assert!(Instant::now() < deadline, "the program does not end");
            thread::yield_now();
        }
    }

    /// Says `quit`; the program must end well. Returns what it still had to say.
    pub fn quit(mut self) -> Vec<String> {
        self.send("quit");
        let (lines, status) = self.rest();
        assert!(status.success(), "{status}: {lines:?}");
        lines
    }
}
