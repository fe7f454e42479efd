//! Checks fastchess logs: compares each line of Lancet with the commands before it. Reads line by
//! line, since logs may be large.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::{self, BufRead},
};

use lancet::uci::{
    UciMessage,
    command::{self, Command},
    setup::Setup,
};
use shakmaty::CastlingMode;

use super::{checker::Checker, tables::winner};

/// Maximum number of faults that are kept as text.
const SHOWN: usize = 50;

/// The results of checking a log.
#[derive(Debug, Default)]
pub struct Findings {
    /// Number of games.
    pub games: usize,
    /// Number of searches that Lancet answered.
    pub searches: usize,
    /// Number of lines checked.
    pub lines: usize,
    /// Number of false lines.
    pub faults: usize,
    /// The first faults, each with its line number.
    pub shown: Vec<String>,
    /// The runner's complaints and Lancet's remarks, each with the number of times it occurred.
    pub remarks: BTreeMap<String, usize>,
}

impl Findings {
    fn fault(&mut self, number: usize, fault: &str) {
        self.faults += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(format!("line {number}: {fault}"));
        }
    }

    fn remark(&mut self, text: &str) {
        *self.remarks.entry(text.to_owned()).or_default() += 1;
    }
}

/// A line between the runner and an engine.
struct Message<'a> {
    /// The runner's thread and the engine's name.
    engine: (&'a str, &'a str),
    to_engine: bool,
    text: &'a str,
}

impl Message<'_> {
    /// Parses a line of fastchess such as `[Engine] [22:48:32.609397] <  139976931137216>  A --->
    /// bestmove e2e4`.
    fn read(line: &str) -> Option<Message<'_>> {
        let (_, rest) = line.strip_prefix("[Engine] [")?.split_once("] <")?;
        let (thread, rest) = rest.split_once("> ")?;
        let (from, to) = (rest.find(" ---> "), rest.find(" <--- "));
        let to_engine = to.is_some_and(|to| from.is_none_or(|from| to < from));
        let (name, text) = rest.split_at(if to_engine { to } else { from }?);
        Some(Message { engine: (thread.trim(), name.trim()), to_engine, text: &text[6..] })
    }

    /// Returns the engine whose standard error or abnormal end the line reports.
    fn complainer(&self) -> Option<&str> {
        let name = self.engine.1.strip_prefix("<stderr> ")?;
        (self.text != "Process exited normally with status 0").then_some(name)
    }
}

/// The state of an engine, as its runner knows it.
#[derive(Default)]
pub struct Engine {
    setup: Setup,
    chess960: bool,
    /// The engine has tablebases, so they can check its scores.
    tables: bool,
    /// Whether UCI_LimitStrength is on. At limited strength the engine uses no tablebases.
    limited: bool,
    /// Whether Skill Level limits the strength.
    unskilled: bool,
    /// Whether an option has changed how the engine probes the tablebases.
    probes_otherwise: bool,
    search: Option<Checker>,
}

impl Engine {
    /// Handles an option.
    fn set(&mut self, name: &str, value: &str) {
        let on = value.eq_ignore_ascii_case("true");
        match name.to_ascii_lowercase().as_str() {
            "uci_chess960" => self.chess960 = on,
            "syzygypath" => self.tables = !value.is_empty() && value != "<empty>",
            "uci_limitstrength" => self.limited = on,
            "skill level" => self.unskilled = value != "20",
            "syzygyprobelimit" | "syzygyprobedepth" | "syzygy50moverule" => {
                self.probes_otherwise = true;
            }
            _ => {}
        }
    }

    /// Handles a line of the runner.
    pub fn asked(&mut self, text: &str) -> Result<(), String> {
        let command = command::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        let Some(Command::Message(message, extension)) = command else { return Ok(()) };
        match message {
            UciMessage::Uci => {
                let unanswered = self.search.is_some();
                *self = Engine::default();
                return if unanswered { Err("no bestmove".to_owned()) } else { Ok(()) };
            }
            UciMessage::SetOption { name, value } => {
                self.set(&name, value.as_deref().unwrap_or_default());
            }
            UciMessage::Position { fen, moves, .. } => {
                let mode = Some(CastlingMode::from_chess960(self.chess960));
                let applied = self.setup.apply(fen, moves, &extension.moves, mode);
                return applied.map(drop).map_err(|error| error.to_string());
            }
            UciMessage::Go { .. } => {
                let game = self.setup.game();
                let mode =
                    if self.chess960 { CastlingMode::Chess960 } else { game.position().mode() };
                let checker = Checker::new(game, mode);
                let untold = self.limited || self.unskilled || self.probes_otherwise;
                let checker = match (self.tables, untold) {
                    (true, false) => checker.with_tables(winner),
                    (tables, _) => checker.with_spoilt_wins(tables),
                };
                if self.search.replace(checker).is_some() {
                    return Err("no bestmove before another go".to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks a line of Lancet.
    pub fn said(&mut self, text: &str, findings: &mut Findings) -> Result<(), String> {
        if let Some(text) = text.strip_prefix("info string ") {
            findings.remark(&format!("info string {text}"));
        } else if text.starts_with("info ") || text.starts_with("bestmove") {
            findings.lines += 1;
            let Some(checker) = &mut self.search else {
                return Err(format!("'{text}' without a search"));
            };
            let verdict = checker.line(text);
            if checker.is_answered() {
                findings.searches += 1;
                self.search = None;
            }
            let fen = || self.setup.game().position().fen();
            return verdict.map_err(|fault| format!("{fault}; the position was {}", fen()));
        }
        Ok(())
    }
}

/// Reads a log of fastchess, as written with `-log file=NAME level=trace engine=true`.
///
/// # Errors
///
/// If the log cannot be read to its end.
pub fn read(mut log: impl BufRead) -> io::Result<Findings> {
    let mut findings = Findings::default();
    let mut engines: HashMap<(String, String), Engine> = HashMap::new();
    let mut lancets = BTreeSet::new();
    let mut bytes = Vec::new();
    let mut number = 0;
    while log.read_until(b'\n', &mut bytes)? > 0 {
        number += 1;
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        if let Some(message) = Message::read(line) {
            let (thread, name) = message.engine;
            if !message.to_engine && message.text.starts_with("id name Lancet") {
                lancets.insert(name.to_owned());
            }
            let key = || (thread.to_owned(), name.to_owned());
            let verdict = if message.complainer().is_some_and(|name| lancets.contains(name)) {
                Err(message.text.to_owned())
            } else if !lancets.contains(name) {
                Ok(())
            } else if message.to_engine {
                engines.entry(key()).or_default().asked(message.text)
            } else {
                engines.entry(key()).or_default().said(message.text, &mut findings)
            };
            if let Err(fault) = verdict {
                findings.fault(number, &format!("{name}: {fault}"));
            }
        } else if line.starts_with("[TRACE") {
            findings.games +=
                usize::from(line.contains(" --- Game ") && line.ends_with(" starting"));
        } else if let Some((label @ ("[WARN  ]" | "[ERR   ]" | "[FATAL ]"), text)) =
            line.split_at_checked(8)
        {
            let text = text.split_once(" --- ").map_or(text, |(_, text)| text);
            findings.remark(&format!("{label} {text}"));
        }
        bytes.clear();
    }
    for ((_, name), engine) in engines {
        if engine.search.is_some() {
            findings.fault(number, &format!("{name}: no bestmove"));
        }
    }
    Ok(findings)
}
