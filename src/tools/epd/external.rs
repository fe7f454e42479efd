//! Another UCI engine as a player: a child process that may be slow, silent,
//! wrong or dead without harming the run.

use std::{
    collections::HashSet,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use shakmaty::{CastlingMode, Move};

use super::{
    run::{Ending, EngineError, MAX_FAILURES, Plan, Player, Thought, Watch},
    score::Value,
};
use crate::{
    chess::{
        epd::Record,
        notation::{read_any_move, read_move},
        position::Position,
    },
    play::report::{Bound, Limits},
    tools::interrupt::Interrupt,
};

/// Positions in a row, answered at once, that tell an engine that ignores `go nodes`.
const SURE: u32 = 2;
/// A depth, in plies, that every engine accepts and hardly any search reaches.
const DEEP: u32 = 99;
/// How often a waiting player looks whether the run was interrupted.
const TICK: Duration = Duration::from_millis(50);
/// What an engine may take beyond its movetime before it is told to stop.
const GRACE: Duration = Duration::from_secs(1);

/// Lines of an engine that may wait to be read, and their length in bytes: the
/// rest stays with the engine.
const WAITING_LINES: usize = 256;
const LONGEST_LINE: u64 = 1 << 16;

/// Another engine, started when first needed and again after a crash.
#[derive(Debug)]
pub struct External {
    words: Vec<String>,
    process: Option<Process>,
    failures: u32,
}

impl External {
    /// A player behind a command line such as `"engine --uci"`, split like a
    /// shell does.
    ///
    /// # Errors
    ///
    /// If the command is empty or has an open quote.
    pub fn new(command: &str) -> Result<External, EngineError> {
        // A path on Windows is not to lose its backslashes.
        let command = if cfg!(windows) { &command.replace('\\', r"\\") } else { command };
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or(EngineError::CommandLine)?;
        Ok(External { words, process: None, failures: 0 })
    }

    /// Starts the engine; the name it gives itself.
    ///
    /// # Errors
    ///
    /// If it cannot be started or does not shake hands.
    pub fn start(&mut self, plan: &Plan, interrupt: &Interrupt) -> Result<String, EngineError> {
        let process = Process::start(&self.words, plan, interrupt)?;
        let name = process.name.clone().unwrap_or_else(|| self.words[0].clone());
        self.process = Some(process);
        Ok(name)
    }
}

impl Player for External {
    fn answer(
        &mut self,
        record: &Record,
        plan: &Plan,
        watch: &Watch,
        interrupt: &Interrupt,
    ) -> Result<Ending, EngineError> {
        if self.failures >= MAX_FAILURES {
            return Err(EngineError::GivenUp);
        }
        let process = match &mut self.process {
            Some(process) => process,
            None => {
                let started = Process::start(&self.words, plan, interrupt);
                self.process.insert(started.inspect_err(|_| self.failures += 1)?)
            }
        };
        let keeps_nodes = process.at_once < SURE;
        let ended = process.search(record, plan, watch, interrupt, keeps_nodes);
        match ended {
            Ok(_) => self.failures = 0,
            Err(_) => {
                self.failures += 1;
                self.process = None;
            }
        }
        ended
    }
}

/// A running engine.
#[derive(Debug)]
struct Process {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
    name: Option<String>,
    /// Names of its options in lower case.
    options: HashSet<String>,
    /// Positions in a row at which it answered `go nodes` at once.
    at_once: u32,
}

impl Process {
    /// Starts an engine and shakes hands with it.
    fn start(words: &[String], plan: &Plan, interrupt: &Interrupt) -> Result<Process, EngineError> {
        let mut process = Process::spawn(words)
            .map_err(|reason| EngineError::Start { program: words[0].clone(), reason })?;
        process.shake_hands(plan, interrupt)?;
        Ok(process)
    }

    fn spawn(words: &[String]) -> io::Result<Process> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Ctrl-C is for us; we end the engine ourselves.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
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
        Ok(Process { child, input, output, name: None, options: HashSet::new(), at_once: 0 })
    }

    fn shake_hands(&mut self, plan: &Plan, interrupt: &Interrupt) -> Result<(), EngineError> {
        self.send("uci")?;
        let deadline = Instant::now() + plan.patience;
        loop {
            let line = self.wait("uciok", deadline, interrupt)?;
            if line == "uciok" {
                break;
            }
            if let Some(name) = line.strip_prefix("id name ") {
                self.name = Some(name.trim().to_owned());
            }
            if let Some(option) = line.strip_prefix("option name ") {
                let name = option.split(" type ").next().unwrap_or(option);
                self.options.insert(name.trim().to_lowercase());
            }
        }
        self.set("Hash", plan.hash)?;
        self.set("Threads", plan.threads)?;
        if plan.multi_pv > 1 {
            self.set("MultiPV", plan.multi_pv)?;
        }
        self.ready(plan, interrupt)
    }

    /// Sets an option that the engine has.
    fn set(&mut self, name: &str, value: impl std::fmt::Display) -> Result<(), EngineError> {
        if self.options.contains(&name.to_lowercase()) {
            self.send(&format!("setoption name {name} value {value}"))?;
        }
        Ok(())
    }

    fn ready(&mut self, plan: &Plan, interrupt: &Interrupt) -> Result<(), EngineError> {
        self.send("isready")?;
        let deadline = Instant::now() + plan.patience;
        while self.wait("readyok", deadline, interrupt)? != "readyok" {}
        Ok(())
    }

    fn send(&mut self, line: &str) -> Result<(), EngineError> {
        let sent = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        sent.map_err(|_| self.died(line))
    }

    /// The next line while `what` is awaited until `deadline`.
    fn wait(
        &mut self,
        what: &'static str,
        deadline: Instant,
        interrupt: &Interrupt,
    ) -> Result<String, EngineError> {
        loop {
            let line = self.output.recv_timeout(TICK);
            if interrupt.is_raised() {
                return Err(EngineError::Interrupted);
            }
            // Whoever talks of other things is as good as silent.
            if Instant::now() >= deadline {
                return Err(EngineError::Silent(what));
            }
            match line {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(self.died(what)),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// The engine has closed its pipes: how did it end?
    fn died(&mut self, during: &str) -> EngineError {
        let deadline = Instant::now() + GRACE;
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => thread::sleep(TICK),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        let how =
            status.map_or("closed its output".to_owned(), |status| format!("ended, {status}"));
        EngineError::Died { how, during: during.to_owned() }
    }

    /// Searches a position; unless it `keeps_nodes`, without `go nodes`, stopping the
    /// engine ourselves.
    fn search(
        &mut self,
        record: &Record,
        plan: &Plan,
        watch: &Watch,
        interrupt: &Interrupt,
        keeps_nodes: bool,
    ) -> Result<Ending, EngineError> {
        let position = &record.position;
        let limits = plan.limits(&record.goal);
        let mut sent = limits.clone();
        let mut quiet = plan.patience;
        if !keeps_nodes && sent.nodes.take().is_some() {
            // Not `infinite`: engines that reach their last depth would wait.
            sent.depth = sent.depth.or(Some(DEEP));
            // Nor can it be waited for long: at 50,000 nodes a second, which
            // every engine surpasses, it has had its nodes by then.
            let enough = Duration::from_millis(limits.nodes.unwrap_or(0) / 50);
            quiet = quiet.min(GRACE + enough);
        }
        if let Some(time) = limits.movetime {
            // Some say nothing between iterations.
            quiet = quiet.max(time + GRACE);
        }
        self.set("UCI_Chess960", position.mode() == CastlingMode::Chess960)?;
        self.send("ucinewgame")?;
        self.ready(plan, interrupt)?;
        self.send(&format!("position fen {}", position.fen()))?;
        self.send(&go(&sent))?;
        let start = Instant::now();
        let mut progress = Progress::default();
        let mut last_word = start;
        let mut stopped: Option<Instant> = None;
        loop {
            let line = match self.output.recv_timeout(TICK) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return Err(self.died("bestmove")),
                Err(RecvTimeoutError::Timeout) => String::new(),
            };
            if interrupt.is_raised() {
                return Err(EngineError::Interrupted);
            }
            if let Some(answer) = line.strip_prefix("bestmove") {
                if keeps_nodes {
                    if stopped.is_none() && progress.is_too_little(&limits) {
                        // It answered at once: once more, stopping it ourselves.
                        self.at_once += 1;
                        return self.search(record, plan, watch, interrupt, false);
                    }
                    self.at_once = 0;
                }
                let best = read_best(position, answer)?;
                return Ok(Ending { best, nodes: progress.nodes, time: start.elapsed() });
            }
            let now = Instant::now();
            if line.starts_with("info ") {
                last_word = now;
            }
            let mut stop = limits.movetime.is_some_and(|time| now > start + time + GRACE)
                || now > last_word + quiet;
            if let Some(info) = line.strip_prefix("info ") {
                let info = read_info(position, info, start.elapsed());
                progress.add(&info);
                stop |= info.thought.is_some_and(|thought| watch.note(thought));
                stop |= progress.is_enough(&limits);
            }
            match stopped {
                Some(when) if now > when + plan.patience => {
                    return Err(EngineError::Unstoppable(plan.patience));
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

/// How far a search has come, for engines that know fewer limits than we do.
#[derive(Debug, Default)]
struct Progress {
    depth: u32,
    nodes: u64,
    mate: bool,
}

impl Progress {
    fn add(&mut self, info: &InfoLine) {
        self.nodes = self.nodes.max(info.nodes.unwrap_or(0));
        if let Some(thought) = &info.thought {
            self.depth = self.depth.max(thought.depth);
            self.mate = matches!(thought.value, Value::Mate(_));
        }
    }

    /// Is a limit behind us that the engine should have kept?
    fn is_enough(&self, limits: &Limits) -> bool {
        limits.nodes.is_some_and(|nodes| self.nodes >= nodes)
            || limits.depth.is_some_and(|depth| self.depth > depth)
    }

    /// Did the engine answer long before its node limit, and for no reason?
    /// Some read `go nodes` as a `go` without any limit and answer at once. Others keep
    /// it, but are stopped within an iteration and do not say how far they came.
    fn is_too_little(&self, limits: &Limits) -> bool {
        let only_nodes = limits.movetime.is_none() && limits.depth.is_none();
        only_nodes
            && limits.mate.is_none()
            && !self.mate
            && self.depth < 60
            && limits.nodes.is_some_and(|nodes| self.nodes < nodes / 50)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An engine in the middle of a search is asked, then ended.
        let _ = self.send_quietly("stop").and_then(|()| self.send_quietly("quit"));
        let deadline = Instant::now() + Duration::from_millis(500);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    fn send_quietly(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.input, "{line}")?;
        self.input.flush()
    }
}

fn go(limits: &Limits) -> String {
    let movetime = limits.movetime.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let mut line = "go".to_owned();
    for (word, number) in [
        ("depth", limits.depth.map(u64::from)),
        ("nodes", limits.nodes),
        ("mate", limits.mate.map(u64::from)),
        ("movetime", movetime),
    ] {
        if let Some(number) = number {
            line.push_str(&format!(" {word} {number}"));
        }
    }
    line
}

fn read_best(position: &Position, answer: &str) -> Result<Option<Move>, EngineError> {
    let word = answer.split_whitespace().next().unwrap_or_default();
    read_any_move(position, word).map(Some).map_err(EngineError::Move)
}

/// What an `info` line says, as far as it can be read.
struct InfoLine {
    thought: Option<Thought>,
    nodes: Option<u64>,
}

/// Reads the words after `info`. Lines without a score and a legal first move
/// are no thoughts; unknown words are skipped.
fn read_info(position: &Position, text: &str, elapsed: Duration) -> InfoLine {
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
                thought.time = number(words.next()).map_or(elapsed, Duration::from_millis);
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
    InfoLine { thought: useful.then_some(thought), nodes }
}

fn number<N: std::str::FromStr>(word: Option<&str>) -> Option<N> {
    word?.parse().ok()
}

/// The legal beginning of a variation.
fn read_pv<'a>(position: &Position, words: impl Iterator<Item = &'a str>) -> Vec<Move> {
    let mut position = position.clone();
    let mut pv = Vec::new();
    for word in words {
        let Ok(m) = read_move(&position, word) else { break };
        position = position.play(m);
        pv.push(m);
    }
    pv
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
        let thought = read_info(&position, line, elapsed).thought.unwrap();
        assert_eq!((thought.depth, thought.seldepth, thought.rank), (9, 14, 2));
        assert_eq!((thought.value, thought.bound), (Value::Centipawns(-31), Bound::Lower));
        assert_eq!((thought.nodes, thought.time), (1234, Duration::from_millis(12)));
        assert_eq!(thought.pv.len(), 2);

        let mate = read_info(&position, "score mate -3 pv a2a3", elapsed).thought.unwrap();
        assert_eq!((mate.value, mate.time), (Value::Mate(-3), elapsed));

        let numbers = read_info(&position, "nodes 99 nps 5", elapsed);
        assert_eq!((numbers.thought, numbers.nodes), (None, Some(99)));
        for useless in ["string score cp 1 pv e2e4", "score cp x pv e2e4", "score cp 1 pv e2e5"] {
            assert_eq!(read_info(&position, useless, elapsed).thought, None, "{useless}");
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
        assert_eq!(External::new("a 'b c' d").unwrap().words, ["a", "b c", "d"]);
        for command in ["  ", "a 'b"] {
            assert!(matches!(External::new(command), Err(EngineError::CommandLine)), "{command}");
        }
    }
}
