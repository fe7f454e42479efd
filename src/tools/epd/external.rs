//! Other UCI engines as players. The engine is a child process. The run continues if it is slow or
//! silent, gives invalid answers or dies.

use std::{
    collections::HashSet,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use shakmaty::{CastlingMode, Move};

use super::{
    run::{EngineError, MAX_FAILURES, Plan, Player, Reply, Task},
    score::{Thought, Value},
};
use crate::{
    chess::{
        notation::{read_any_move, read_move},
        position::Position,
    },
    play::{limits::Limits, report::Bound},
    tools::interrupt::Interrupt,
};

/// Number of immediate answers in a row that show that an engine ignores `go nodes`.
const SURE: u32 = 2;
/// A depth in plies that every engine accepts and that hardly any search reaches.
const DEEP: u32 = 99;
/// Interval at which a waiting player checks for an interrupt.
const TICK: Duration = Duration::from_millis(50);
/// Time by which an engine may exceed its movetime before it is sent `stop`, and time for a dying
/// engine to exit.
const GRACE: Duration = Duration::from_secs(1);

/// Maximum number of lines waiting to be read. Further output stays in the pipe.
const WAITING_LINES: usize = 256;
/// Maximum number of bytes in a line. Longer lines are split.
const LONGEST_LINE: u64 = 1 << 16;

/// Another engine. It is restarted after a crash.
pub(super) struct External {
    words: Vec<String>,
    process: Option<Process>,
    failures: u32,
}

impl External {
    /// Starts an engine with a command line such as `"engine --uci"`, which is split as in a shell.
    ///
    /// # Errors
    ///
    /// If the command is empty or has an unclosed quote, or if the engine cannot be started or does
    /// not complete the UCI handshake.
    pub(super) fn start(
        command: &str,
        plan: &Plan,
        interrupt: &Interrupt,
    ) -> Result<External, EngineError> {
        let words = split(command)?;
        let process = Process::start(&words, plan, interrupt)?;
        Ok(External { words, process: Some(process), failures: 0 })
    }

    /// Returns the name that the engine reports, or the program if it reports none.
    pub(super) fn name(&self) -> String {
        let name = self.process.as_ref().and_then(|process| process.name.clone());
        name.unwrap_or_else(|| self.words[0].clone())
    }
}

/// Splits a command line into words.
fn split(command: &str) -> Result<Vec<String>, EngineError> {
    // Keep the backslashes of Windows paths.
    let command = if cfg!(windows) { &command.replace('\\', r"\\") } else { command };
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.ok_or(EngineError::CommandLine)
}

impl Player for External {
    fn answer(&mut self, task: &Task) -> Result<Reply, EngineError> {
        if self.failures >= MAX_FAILURES {
            return Err(EngineError::GivenUp);
        }
        let process = match self.process.take() {
            Some(process) => Ok(process),
            None => Process::start(&self.words, task.plan, task.interrupt),
        };
        let reply = process.and_then(|mut process| {
            let reply = process.search(task, process.at_once < SURE)?;
            self.process = Some(process);
            Ok(reply)
        });
        self.failures = if reply.is_ok() { 0 } else { self.failures + 1 };
        reply
    }
}

/// A running engine.
struct Process {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
    /// Maximum time to wait for an answer, or for output during a search.
    patience: Duration,
    name: Option<String>,
    /// Names of its options in lower case.
    options: HashSet<String>,
    /// Number of positions in a row on which it answered `go nodes` immediately.
    at_once: u32,
}

impl Process {
    /// Starts an engine, completes the handshake and sets its options.
    fn start(words: &[String], plan: &Plan, interrupt: &Interrupt) -> Result<Process, EngineError> {
        let mut process = Process::spawn(words, Duration::from_secs(plan.engine_timeout))
            .map_err(|reason| EngineError::Start { program: words[0].clone(), reason })?;
        let (mut name, mut options) = (None, HashSet::new());
        process.ask("uci", "uciok", interrupt, |line| {
            if let Some(text) = line.strip_prefix("id name ") {
                name = Some(text.trim().to_owned());
            }
            if let Some(text) = line.strip_prefix("option name ") {
                let option = text.split(" type ").next().unwrap_or(text);
                options.insert(option.trim().to_lowercase());
            }
        })?;
        (process.name, process.options) = (name, options);
        process.set("Hash", plan.hash)?;
        process.set("Threads", plan.workers.threads)?;
        if plan.multipv > 1 {
            process.set("MultiPV", plan.multipv)?;
        }
        if let Some(paths) = &plan.tables.syzygy {
            process.set("SyzygyPath", paths)?;
        }
        process.ask("isready", "readyok", interrupt, |_| ())?;
        Ok(process)
    }

    fn spawn(words: &[String], patience: Duration) -> io::Result<Process> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // The engine must not receive Ctrl-C, because this program ends the engine itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(windows)] // CREATE_NEW_PROCESS_GROUP
        std::os::windows::process::CommandExt::creation_flags(&mut command, 0x200);
        let mut child = command.spawn()?;
        let (Some(input), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (sender, output) = mpsc::sync_channel(WAITING_LINES);
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while matches!((&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line), Ok(1..)) {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if sender.send(text).is_err() {
                    break;
                }
                line.clear();
            }
        });
        let (name, options) = (None, HashSet::new());
        Ok(Process { child, input, output, patience, name, options, at_once: 0 })
    }

    /// Sends a command and waits for `answer`. Calls `each` with the lines before it.
    fn ask(
        &mut self,
        command: &str,
        answer: &'static str,
        interrupt: &Interrupt,
        mut each: impl FnMut(&str),
    ) -> Result<(), EngineError> {
        self.send(command)?;
        let deadline = Instant::now() + self.patience;
        loop {
            let line = self.line(answer, interrupt)?;
            // Other output does not extend the deadline.
            if Instant::now() >= deadline {
                return Err(EngineError::Silent(answer));
            }
            if line == answer {
                return Ok(());
            }
            each(&line);
        }
    }

    /// Sets an option if the engine has it.
    fn set(&mut self, name: &str, value: impl std::fmt::Display) -> Result<(), EngineError> {
        if self.options.contains(&name.to_lowercase()) {
            self.send(&format!("setoption name {name} value {value}"))?;
        }
        Ok(())
    }

    fn send(&mut self, line: &str) -> Result<(), EngineError> {
        writeln!(self.input, "{line}").map_err(|_| self.died(line))
    }

    /// Returns the next line while `answer` is expected, or an empty line if there is none for a
    /// while.
    fn line(&mut self, answer: &str, interrupt: &Interrupt) -> Result<String, EngineError> {
        let line = self.output.recv_timeout(TICK);
        if interrupt.is_raised() {
            return Err(EngineError::Interrupted);
        }
        match line {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => Ok(String::new()),
            Err(RecvTimeoutError::Disconnected) => Err(self.died(answer)),
        }
    }

    /// Returns the error for an engine that has closed its pipes.
    fn died(&mut self, during: &str) -> EngineError {
        let status = self.ended(GRACE);
        let how =
            status.map_or("closed its output".to_owned(), |status| format!("exited ({status})"));
        EngineError::Died { how, during: during.to_owned() }
    }

    /// Returns the exit status of the process if it ends within `time`.
    fn ended(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + time;
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(10)),
                status => return status.ok().flatten(),
            }
        }
    }

    /// Searches a position. If `keeps_nodes` is false, leaves `nodes` out of `go`, and sends `stop`
    /// at the node limit instead.
    fn search(&mut self, task: &Task, keeps_nodes: bool) -> Result<Reply, EngineError> {
        let position = &task.record.position;
        let limits = task.limits();
        let mut sent = limits.clone();
        let mut quiet = self.patience;
        if !keeps_nodes && let Some(nodes) = sent.nodes.take() {
            // Send a depth instead of `infinite`: after `go infinite`, an engine that reaches its
            // maximum depth waits for `stop`.
            sent.depth = sent.depth.or(Some(DEEP));
            // A silent engine must be stopped too. By then it has searched the nodes, unless it
            // searches fewer than 50,000 nodes a second. Hardly any alpha-beta engine is so slow.
            quiet = quiet.min(GRACE + Duration::from_millis(nodes / 50));
        }
        if let Some(time) = limits.movetime {
            // Some engines print nothing between iterations.
            quiet = quiet.max(time + GRACE);
        }
        self.set("UCI_Chess960", position.mode() == CastlingMode::Chess960)?;
        self.send("ucinewgame")?;
        self.ask("isready", "readyok", task.interrupt, |_| ())?;
        self.send(&format!("position fen {}", position.fen()))?;
        self.send(&go(&sent))?;
        let start = Instant::now();
        let mut progress = Progress::default();
        let mut last_word = start;
        let mut stopped: Option<Instant> = None;
        loop {
            let line = self.line("bestmove", task.interrupt)?;
            if let Some(answer) = line.strip_prefix("bestmove") {
                if keeps_nodes {
                    if stopped.is_none() && progress.is_too_little(&limits) {
                        // The engine answered at once, so search again and stop it here.
                        self.at_once += 1;
                        return self.search(task, false);
                    }
                    self.at_once = 0;
                }
                let word = answer.split_whitespace().next().unwrap_or_default();
                let best = read_any_move(position, word).map_err(EngineError::Move)?;
                return Ok(Reply {
                    best: Some(best),
                    nodes: progress.nodes,
                    time: start.elapsed(),
                });
            }
            let now = Instant::now();
            let mut stop = false;
            if let Some(info) = line.strip_prefix("info ") {
                last_word = now;
                let (thought, nodes) = read_info(position, info, start.elapsed());
                progress.add(thought.as_ref(), nodes);
                stop = thought.is_some_and(|thought| task.note(thought))
                    || progress.is_enough(&limits);
            }
            stop |= limits.movetime.is_some_and(|time| now > start + time + GRACE)
                || now > last_word + quiet;
            match stopped {
                Some(when) if now > when + self.patience => {
                    return Err(EngineError::Unstoppable(self.patience));
                }
                None if stop => {
                    self.send("stop")?;
                    stopped = Some(now);
                }
                _ => {}
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Ask the engine to quit, even in the middle of a search. Kill it only if it does not.
        let _ = writeln!(self.input, "stop\nquit");
        if self.ended(Duration::from_millis(500)).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Progress of a search, for limits that the engine does not support.
#[derive(Debug, Default)]
struct Progress {
    depth: u32,
    nodes: u64,
    mate: bool,
}

impl Progress {
    fn add(&mut self, thought: Option<&Thought>, nodes: Option<u64>) {
        self.nodes = self.nodes.max(nodes.unwrap_or(0));
        if let Some(thought) = thought {
            self.depth = self.depth.max(thought.depth);
            self.mate = matches!(thought.value, Value::Mate(_));
        }
    }

    /// Returns whether the search has reached a limit that the engine should have obeyed.
    fn is_enough(&self, limits: &Limits) -> bool {
        limits.nodes.is_some_and(|nodes| self.nodes >= nodes)
            || limits.depth.is_some_and(|depth| self.depth > depth)
    }

    /// Returns whether the engine answered long before its node limit without a reason.
    ///
    /// Some engines read `go nodes` as `go` without a limit and answer at once. Others obey the
    /// limit, but stop within an iteration and do not report the nodes that they searched.
    fn is_too_little(&self, limits: &Limits) -> bool {
        let only_nodes = limits.movetime.is_none() && limits.depth.is_none();
        only_nodes
            && limits.mate.is_none()
            && !self.mate
            && self.depth < 60
            && limits.nodes.is_some_and(|nodes| self.nodes < nodes / 50)
    }
}

fn go(limits: &Limits) -> String {
    let mut line = "go".to_owned();
    for (word, number) in [
        ("depth", limits.depth.map(u64::from)),
        ("nodes", limits.nodes),
        ("mate", limits.mate.map(u64::from)),
        ("movetime", limits.movetime.map(|time| time.as_millis() as u64)),
    ] {
        if let Some(number) = number {
            line.push_str(&format!(" {word} {number}"));
        }
    }
    line
}

/// Parses the words after `info`. Returns the line of analysis and the nodes so far. The line is
/// `None` unless it has a score and a legal first move. Skips unknown words.
fn read_info(position: &Position, text: &str, elapsed: Duration) -> (Option<Thought>, Option<u64>) {
    let mut thought = Thought {
        depth: 0,
        seldepth: 0,
        rank: 1,
        value: Value::Centipawns(0),
        bound: Bound::Exact,
        nodes: 0,
        time: elapsed,
        pv: Vec::new(),
    };
    let mut nodes = None;
    let mut scored = false;
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "string" => break,
            "depth" => thought.depth = number(words.next()).unwrap_or(0),
            "seldepth" => thought.seldepth = number(words.next()).unwrap_or(0),
            "multipv" => thought.rank = number(words.next()).unwrap_or(1),
            "nodes" => nodes = number(words.next()),
            "time" => {
                let time = number(words.next()).map_or(elapsed, Duration::from_millis);
                thought.time = time.min(elapsed);
            }
            "cp" | "mate" => {
                if let Some(value) = number(words.next()) {
                    scored = true;
                    thought.value =
                        if word == "cp" { Value::Centipawns(value) } else { Value::Mate(value) };
                }
            }
            "lowerbound" => thought.bound = Bound::Lower,
            "upperbound" => thought.bound = Bound::Upper,
            "pv" => {
                thought.pv = read_pv(position, words);
                break;
            }
            _ => {}
        }
    }
    thought.nodes = nodes.unwrap_or(0);
    let useful = scored && !thought.pv.is_empty();
    (useful.then_some(thought), nodes)
}

fn number<N: std::str::FromStr>(word: Option<&str>) -> Option<N> {
    word?.parse().ok()
}

/// Reads the legal moves at the beginning of a PV.
fn read_pv<'a>(position: &Position, words: impl Iterator<Item = &'a str>) -> Vec<Move> {
    let mut position = position.clone();
    let read = |word: &str| {
        let m = read_move(&position, word).ok()?;
        position = position.play(m);
        Some(m)
    };
    words.map_while(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_lines() {
        let position = Position::default();
        let elapsed = Duration::from_millis(77);
        let line = "depth 9 seldepth 14 multipv 2 score cp -31 lowerbound nodes 1234 nps 5 \
                    hashfull 0 time 12 pv e2e4 e7e5 e1e8 g1f3";
        let thought = read_info(&position, line, elapsed).0.unwrap();
        assert_eq!((thought.depth, thought.seldepth, thought.rank), (9, 14, 2));
        assert_eq!((thought.value, thought.bound), (Value::Centipawns(-31), Bound::Lower));
        assert_eq!((thought.nodes, thought.time), (1234, Duration::from_millis(12)));
        assert_eq!(thought.pv.len(), 2);

        let mate = read_info(&position, "score mate -3 pv a2a3", elapsed).0.unwrap();
        assert_eq!((mate.value, mate.time), (Value::Mate(-3), elapsed));

        assert_eq!(read_info(&position, "nodes 99 nps 5", elapsed), (None, Some(99)));
        for useless in ["string score cp 1 pv e2e4", "score cp x pv e2e4", "score cp 1 pv e2e5"] {
            assert_eq!(read_info(&position, useless, elapsed).0, None, "{useless}");
        }
    }

    #[test]
    fn limits_become_go() {
        assert_eq!(
            go(&Limits { depth: Some(7), nodes: Some(9), ..Limits::default() }),
            "go depth 7 nodes 9"
        );
        let limits =
            Limits { mate: Some(3), movetime: Some(Duration::from_millis(5)), ..Limits::default() };
        assert_eq!(go(&limits), "go mate 3 movetime 5");
    }

    #[test]
    fn commands_are_split() {
        assert_eq!(split("a 'b c' d").unwrap(), ["a", "b c", "d"]);
        for command in ["  ", "a 'b"] {
            assert!(matches!(split(command), Err(EngineError::CommandLine)), "{command}");
        }
    }
}
