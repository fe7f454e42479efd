//! A dialogue with the built binary, with a deadline on every answer.
#![allow(dead_code)] // every test program needs its own part of it

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// Longest wait for an answer, on a loaded machine. No test waits this long
/// when all is well.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// A running `lancet`.
pub struct Lancet {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    /// Everything said so far, for the report when something fails.
    transcript: Vec<String>,
}

impl Lancet {
    /// Starts the program without arguments.
    pub fn start() -> Lancet {
        Lancet::with(&[])
    }

    /// Starts the program with arguments.
    pub fn with(arguments: &[&str]) -> Lancet {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lancet"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
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
        Lancet { child, input, output, transcript: Vec::new() }
    }

    /// Says a line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Says anything.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.transcript.push(format!("> {}", String::from_utf8_lossy(bytes).trim_end()));
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn fail(&self, what: &str) -> ! {
        let skip = self.transcript.len().saturating_sub(60);
        panic!("{what}; the last lines were:\n{}", self.transcript[skip..].join("\n"));
    }

    /// The next line, or `None` if the program has ended.
    fn next(&mut self, what: &str) -> Option<String> {
        match self.output.recv_timeout(DEADLINE) {
            Ok(line) => {
                self.transcript.push(line.clone());
                Some(line)
            }
            Err(RecvTimeoutError::Timeout) => self.fail(&format!("no {what} in time")),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The lines up to and including the first that starts with `start`.
    pub fn until(&mut self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.next(start) {
                Some(line) => lines.push(line),
                None => self.fail(&format!("the program ended without '{start}'")),
            }
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
        let mut lines = Vec::new();
        while let Some(line) = self.next("end of the program") {
            lines.push(line);
        }
        let deadline = Instant::now() + DEADLINE;
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

impl Drop for Lancet {
    fn drop(&mut self) {
        // A failed test leaves no process behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
