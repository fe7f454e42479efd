//! A dialogue with the built binary, with a deadline for every answer.

use std::{
    io::{BufRead, BufReader, Write},
    iter,
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
    /// All input and output so far, for the report of a failure.
    transcript: Vec<String>,
    /// Instructions to repeat the dialogue.
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

    /// Starts the program from a shell, after `limits` such as `ulimit -v 1000000`.
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

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes as they are, without adding a line end.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.log(&format!("> {}", String::from_utf8_lossy(bytes).trim_end()));
        if let Err(error) = self.input.as_mut().unwrap().write_all(bytes) {
            self.fail(&format!("cannot write to the program: {error}"));
        }
    }

    /// Sets the instructions to repeat the dialogue, which failures print.
    pub fn set_recipe(&mut self, recipe: String) {
        self.recipe = recipe;
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Records the beginning of a line. Keeps the last few hundred lines.
    fn log(&mut self, line: &str) {
        if self.transcript.len() >= 600 {
            self.transcript.drain(..300);
        }
        self.transcript.push(line.chars().take(400).collect());
    }

    /// Ends the test with a report.
    pub fn fail(&self, what: &str) -> ! {
        let skip = self.transcript.len().saturating_sub(60);
        let lines = self.transcript[skip..].join("\n");
        panic!("{what} {}; the last lines were:\n{lines}", self.recipe);
    }

    /// Returns the next line, if there is one already.
    pub fn poll(&mut self) -> Option<String> {
        let line = self.output.try_recv().ok()?;
        self.log(&line);
        Some(line)
    }

    /// Waits for the next line.
    pub fn line(&mut self, what: &str) -> String {
        self.line_before(Instant::now() + DEADLINE, what)
    }

    fn line_before(&mut self, deadline: Instant, what: &str) -> String {
        self.next(deadline, what)
            .unwrap_or_else(|| self.fail(&format!("the program ended without '{what}'")))
    }

    /// Waits for the next line. Returns `None` if the program has ended.
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

    /// Returns the lines up to the first that starts with `start`. There is one deadline for all
    /// lines, since an infinite search may go on printing.
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

    /// Sends a line. Returns the answer up to the line that starts with `start`.
    pub fn ask(&mut self, line: &str, start: &str) -> Vec<String> {
        self.send(line);
        self.until(start)
    }

    /// Sends a `go`. Returns its lines and the move.
    pub fn go(&mut self, line: &str) -> (Vec<String>, String) {
        let lines = self.ask(line, "bestmove ");
        let m = lines.last().unwrap().split(' ').nth(1).unwrap().to_owned();
        (lines, m)
    }

    /// Sends `isready`. Returns the lines before `readyok`.
    pub fn drain(&mut self) -> Vec<String> {
        let mut lines = self.ask("isready", "readyok");
        lines.pop();
        lines
    }

    /// Closes the program's input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Returns the lines up to the program's end, and its exit status.
    pub fn rest(&mut self) -> (Vec<String>, ExitStatus) {
        let deadline = Instant::now() + DEADLINE;
        let lines = iter::from_fn(|| self.next(deadline, "end of the program")).collect();
        (lines, self.child.ended())
    }

    /// Sends `quit`. The program must end without an error. Returns its last lines.
    pub fn quit(mut self) -> Vec<String> {
        self.send("quit");
        let (lines, status) = self.rest();
        assert!(status.success(), "{status}: {lines:?}");
        lines
    }
}
