//! From bytes to a [`Command`]: decoding, tokens, exact ranges, and errors that
//! name the token. Knows no position and changes nothing.
//!
//! vampirc-uci reads the lines it reads correctly (the commands without
//! numbers, moves or values). `go`, `position` and `setoption` are read here:
//! its grammar panics on or silently cuts some of their numbers, and loses
//! combinations of limits.

use std::{fmt, ops::RangeInclusive, path::PathBuf, time::Duration};

use vampirc_uci::UciMessage;

use crate::engine::{DEPTH_RANGE, HASH_RANGE, THREADS_RANGE};

/// One line from the GUI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Identify yourself and list the options.
    Uci,
    /// Say more (or less) about what is going on.
    Debug(bool),
    /// Answer `readyok`.
    IsReady,
    /// Set an option.
    SetOption {
        /// As given; single spaces between words.
        name: String,
        /// Everything after `value`, trimmed; `None` without `value`.
        value: Option<String>,
    },
    /// Accepted for the protocol's sake: Lancet is free.
    Register,
    /// The next position belongs to another game.
    NewGame,
    /// Set up a position.
    Position(PositionCommand),
    /// Search.
    Go(GoCommand),
    /// Count legal move paths below each move.
    Perft(u32),
    /// End the search.
    Stop,
    /// The expected move was played.
    PonderHit,
    /// End the program.
    Quit,
    /// Show the board.
    Display,
    /// Show the static evaluation.
    Eval,
    /// Show the position as FEN.
    Fen,
    /// Mirror the board and swap the colours.
    Flip,
    /// Run the benchmark.
    Bench(BenchCommand),
    /// Make openings for OpenBench.
    GenFens(GenFensCommand),
    /// Tell which build this is.
    Compiler,
    /// List the commands, or explain one.
    Help(Option<&'static str>),
    /// List the search parameters for OpenBench's SPSA.
    #[cfg(feature = "tune")]
    Spsa,
}

/// `position startpos|fen ... [moves ...]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionCommand {
    /// The FEN, single spaces between its fields; `None` for the start position.
    pub fen: Option<String>,
    /// Moves as given.
    pub moves: Vec<String>,
}

/// `go ...`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoCommand {
    /// Only these root moves, as given.
    pub searchmoves: Vec<String>,
    /// On the opponent's time.
    pub ponder: bool,
    /// Until `stop`.
    pub infinite: bool,
    /// White's clock.
    pub wtime: Option<Duration>,
    /// Black's clock.
    pub btime: Option<Duration>,
    /// White's increment.
    pub winc: Option<Duration>,
    /// Black's increment.
    pub binc: Option<Duration>,
    /// Moves to the next time control.
    pub movestogo: Option<u32>,
    /// Plies.
    pub depth: Option<u32>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Mate in this many moves.
    pub mate: Option<u32>,
    /// Exact time.
    pub movetime: Option<Duration>,
    /// What could not be used; the search goes on without it.
    pub complaints: Vec<CommandError>,
}

impl GoCommand {
    /// Does the search end without a `stop`?
    #[must_use]
    pub const fn ends_by_itself(&self) -> bool {
        let limited = self.wtime.is_some()
            || self.btime.is_some()
            || self.winc.is_some()
            || self.binc.is_some()
            || self.depth.is_some()
            || self.nodes.is_some()
            || self.mate.is_some()
            || self.movetime.is_some();
        limited && !self.infinite && !self.ponder
    }
}

/// `bench [depth] [threads] [hash]`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BenchCommand {
    /// Plies.
    pub depth: Option<u32>,
    /// Search threads.
    pub threads: Option<usize>,
    /// Table size in MiB.
    pub hash: Option<usize>,
}

/// `genfens N seed S book FILE|None`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenFensCommand {
    /// How many openings.
    pub count: usize,
    /// The same seed gives the same openings.
    pub seed: u64,
    /// Positions to start from, one FEN or EPD per line.
    pub book: Option<PathBuf>,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// No word of the line is a command.
    Unknown {
        /// The first word.
        token: String,
    },
    /// Something has to follow.
    Missing {
        /// The command or keyword.
        after: &'static str,
        /// What has to follow it.
        expected: &'static str,
    },
    /// Something else has to stand here.
    Unexpected {
        /// The command or keyword.
        after: &'static str,
        /// What was found.
        token: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A number outside its range.
    OutOfRange {
        /// The keyword.
        after: &'static str,
        /// What was found.
        token: String,
        /// The smallest number possible.
        min: u64,
        /// The largest number possible.
        max: u64,
        /// The nearest end, if that is used; else the command is refused.
        used: Option<u64>,
    },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Unknown { token } => {
                write!(f, "unknown command '{token}': 'help' lists the commands")
            }
            CommandError::Missing { after, expected } => {
                write!(f, "nothing follows '{after}': expected {expected}")
            }
            CommandError::Unexpected { after, token, expected } => {
                write!(f, "'{token}' after '{after}': expected {expected}")
            }
            CommandError::OutOfRange { after, token, min, max, used } => {
                write!(f, "'{token}' after '{after}' is not in {min}..{max}")?;
                used.map_or(Ok(()), |used| write!(f, ": using {used}"))
            }
        }
    }
}

impl std::error::Error for CommandError {}

/// The commands: name, arguments, one line of help.
pub const COMMANDS: &[(&str, &str, &str)] = &[
    ("uci", "", "name, author and options, then 'uciok'"),
    ("debug", "[on | off]", "say more about what is going on"),
    ("isready", "", "answers 'readyok', at once if a search goes on, else after earlier commands"),
    ("setoption", "name <name> [value <value>]", "set an option; 'uci' lists them"),
    ("register", "later | name <name> code <code>", "accepted; Lancet is free"),
    ("ucinewgame", "", "forget everything about earlier games"),
    ("position", "startpos | fen <fen> [moves <move>...]", "set up a position and play moves"),
    (
        "go",
        "[searchmoves <move>...] [ponder] [wtime|btime|winc|binc <ms>] [movestogo <n>] [depth <plies>] \
         [nodes <n>] [mate <moves>] [movetime <ms>] [infinite] | perft <plies>",
        "search; whichever limit is reached first ends it",
    ),
    ("stop", "", "end the search and print its best move"),
    ("ponderhit", "", "the expected move was played: go on, on its own clock"),
    ("quit", "", "end the program, as the end of input does"),
    ("d", "", "show the board, FEN, key and checkers"),
    ("eval", "", "show the static evaluation: what every piece contributes, and its terms"),
    ("fen", "", "show the position as FEN"),
    ("flip", "", "mirror the board and swap the colours"),
    ("bench", "[depth] [threads] [hash]", "search a fixed set of positions and count"),
    (
        "genfens",
        "<n> seed <s> book <file> | None",
        "balanced openings for OpenBench, one 'info string genfens <fen>' each",
    ),
    ("perft", "<plies>", "count legal move paths below each move"),
    ("compiler", "", "which build this is: compiler, target, instructions, network"),
    ("help", "[command]", "this list, or what a command takes"),
    #[cfg(feature = "tune")]
    ("spsa", "", "the search parameters: name, int, value, min, max, c_end, r_end"),
];

/// The words of a line, and where they are.
#[derive(Clone)]
struct Tokens<'a> {
    line: &'a str,
    rest: std::iter::Peekable<std::str::SplitWhitespace<'a>>,
}

impl<'a> Tokens<'a> {
    fn new(line: &'a str) -> Tokens<'a> {
        Tokens { line, rest: line.split_whitespace().peekable() }
    }

    fn peek(&mut self) -> Option<&'a str> {
        self.rest.peek().copied()
    }

    /// The next word, if it is `keyword` in any case.
    fn accept(&mut self, keyword: &str) -> Option<&'a str> {
        self.rest.next_if(|token| token.eq_ignore_ascii_case(keyword))
    }

    /// The next word, or the error that nothing follows `after`.
    fn expect(
        &mut self,
        after: &'static str,
        expected: &'static str,
    ) -> Result<&'a str, CommandError> {
        self.next().ok_or(CommandError::Missing { after, expected })
    }

    /// The error that something still follows `after`.
    fn expect_end(&mut self, after: &'static str) -> Result<(), CommandError> {
        let Some(token) = self.next() else { return Ok(()) };
        let (token, expected) = (token.to_owned(), "the end of the line");
        Err(CommandError::Unexpected { after, token, expected })
    }

    /// Everything behind `token`, which must be a word of this line, trimmed.
    fn behind(&self, token: &'a str) -> &'a str {
        let end = token.as_ptr().addr() - self.line.as_ptr().addr() + token.len();
        self.line.get(end..).unwrap_or_default().trim()
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.rest.next()
    }
}

/// Reads a line. Words before the first command are skipped, as the protocol
/// demands; `None` for a blank line.
///
/// # Errors
///
/// If no word is a command, or the command cannot be carried out as given.
/// Unusable parts of a `go` are in its [`complaints`](GoCommand::complaints)
/// instead: a `go` must always be answered.
pub fn parse(line: &[u8]) -> Result<Option<Command>, CommandError> {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_start_matches('\u{feff}');
    let mut tokens = Tokens::new(line);
    let Some(first) = tokens.peek() else { return Ok(None) };
    let Some(name) = tokens.find_map(command_name) else {
        return Err(CommandError::Unknown { token: first.to_owned() });
    };
    match name {
        "debug" => debug(&mut tokens),
        "setoption" => set_option(&mut tokens),
        "register" => Ok(Command::Register),
        "position" => position(&mut tokens),
        "go" => go(&mut tokens),
        "perft" => perft(&mut tokens),
        "bench" => bench(&mut tokens),
        "genfens" => gen_fens(&mut tokens),
        "d" => Ok(Command::Display),
        "eval" => Ok(Command::Eval),
        "fen" => Ok(Command::Fen),
        "flip" => Ok(Command::Flip),
        "compiler" => Ok(Command::Compiler),
        "help" => help(&mut tokens),
        #[cfg(feature = "tune")]
        "spsa" => Ok(Command::Spsa),
        plain => Ok(message(plain)),
    }
    .map(Some)
}

/// The command that a word names.
fn command_name(token: &str) -> Option<&'static str> {
    COMMANDS.iter().map(|&(name, ..)| name).find(|name| token.eq_ignore_ascii_case(name))
}

/// Has vampirc-uci read a line that it reads correctly.
fn message(line: &str) -> Command {
    match vampirc_uci::parse_one(line) {
        UciMessage::Uci => Command::Uci,
        UciMessage::Debug(on) => Command::Debug(on),
        UciMessage::IsReady => Command::IsReady,
        UciMessage::UciNewGame => Command::NewGame,
        UciMessage::Stop => Command::Stop,
        UciMessage::PonderHit => Command::PonderHit,
        UciMessage::Quit => Command::Quit,
        _ => Command::Register,
    }
}

fn debug(tokens: &mut Tokens) -> Result<Command, CommandError> {
    match tokens.next() {
        None => Ok(Command::Debug(true)),
        Some(token) if token.eq_ignore_ascii_case("on") => Ok(message("debug on")),
        Some(token) if token.eq_ignore_ascii_case("off") => Ok(message("debug off")),
        Some(token) => Err(CommandError::Unexpected {
            after: "debug",
            token: token.to_owned(),
            expected: "'on' or 'off'",
        }),
    }
}

fn set_option(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let expected = "'name <name> [value <value>]'";
    let token = tokens.expect("setoption", expected)?;
    if !token.eq_ignore_ascii_case("name") {
        let token = token.to_owned();
        return Err(CommandError::Unexpected { after: "setoption", token, expected });
    }
    let mut name = tokens.expect("name", "the name of an option")?.to_owned();
    while let Some(token) = tokens.next() {
        if token.eq_ignore_ascii_case("value") {
            let value = tokens.behind(token).to_owned();
            return Ok(Command::SetOption { name, value: Some(value) });
        }
        name.push(' ');
        name.push_str(token);
    }
    Ok(Command::SetOption { name, value: None })
}

fn position(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let expected = "'startpos' or 'fen <fen>'";
    let token = tokens.expect("position", expected)?;
    let fen = if token.eq_ignore_ascii_case("startpos") {
        None
    } else if token.eq_ignore_ascii_case("fen") {
        let mut fields = Vec::new();
        while let Some(token) = tokens.peek()
            && !token.eq_ignore_ascii_case("moves")
        {
            fields.push(token);
            tokens.next();
        }
        if fields.is_empty() {
            return Err(CommandError::Missing { after: "fen", expected: "a FEN" });
        }
        Some(fields.join(" "))
    } else {
        let token = token.to_owned();
        return Err(CommandError::Unexpected { after: "position", token, expected });
    };
    if tokens.accept("moves").is_none()
        && let Some(token) = tokens.next()
    {
        return Err(CommandError::Unexpected {
            after: "startpos",
            token: token.to_owned(),
            expected: "'moves' or the end of the line",
        });
    }
    let moves = tokens.map(str::to_owned).collect();
    Ok(Command::Position(PositionCommand { fen, moves }))
}

/// The keywords of `go`.
const GO_KEYWORDS: &[&str] = &[
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
    "perft",
];

/// Longest time, in milliseconds: about 31 years.
const MAX_TIME: u64 = 1_000_000_000_000;
/// Deepest perft, in plies.
const MAX_PERFT: u32 = 100;
/// Most openings that `genfens` makes.
const MAX_OPENINGS: u64 = 100_000_000;

fn go(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let mut go = GoCommand::default();
    while let Some(token) = tokens.next() {
        let keyword = GO_KEYWORDS.iter().copied().find(|k| token.eq_ignore_ascii_case(k));
        let Some(keyword) = keyword else {
            go.complaints.push(CommandError::Unexpected {
                after: "go",
                token: token.to_owned(),
                expected: "a limit ('help' lists them); skipped",
            });
            continue;
        };
        match keyword {
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "searchmoves" => {
                let before = go.searchmoves.len();
                while let Some(token) = tokens.peek()
                    && !GO_KEYWORDS.iter().any(|k| token.eq_ignore_ascii_case(k))
                {
                    go.searchmoves.push(token.to_owned());
                    tokens.next();
                }
                if go.searchmoves.len() == before {
                    let expected = "moves; skipped";
                    go.complaints.push(CommandError::Missing { after: "searchmoves", expected });
                }
            }
            "perft" => return perft(tokens),
            _ => go_number(&mut go, keyword, tokens),
        }
    }
    Ok(Command::Go(go))
}

/// Reads the number of a limit. What cannot be used becomes a complaint.
fn go_number(go: &mut GoCommand, keyword: &'static str, tokens: &mut Tokens) {
    let (min, max) = match keyword {
        "depth" => (u64::from(*DEPTH_RANGE.start()), u64::from(*DEPTH_RANGE.end())),
        "nodes" => (1, u64::MAX),
        "mate" => (1, u64::from(u32::MAX)),
        "movestogo" => (0, u64::from(u32::MAX)),
        _ => (0, MAX_TIME),
    };
    // An overdrawn clock is reported as negative: no complaint, just no time.
    let quiet_negative = matches!(keyword, "wtime" | "btime");
    let number = match number(keyword, tokens, min..=max) {
        Ok(number) => number,
        Err(error) => {
            let used = match &error {
                CommandError::OutOfRange { token, used, .. } => {
                    if !(quiet_negative && token.starts_with('-')) {
                        go.complaints.push(error.clone());
                    }
                    *used
                }
                _ => {
                    go.complaints.push(error);
                    None
                }
            };
            let Some(used) = used else { return };
            used
        }
    };
    let small = u32::try_from(number).unwrap_or(u32::MAX);
    let time = Duration::from_millis(number);
    match keyword {
        "depth" => go.depth = Some(small),
        "nodes" => go.nodes = Some(number),
        "mate" => go.mate = Some(small),
        // Zero means the rest of the game to those who send it.
        "movestogo" => go.movestogo = (small > 0).then_some(small),
        "movetime" => go.movetime = Some(time),
        "wtime" => go.wtime = Some(time),
        "btime" => go.btime = Some(time),
        "winc" => go.winc = Some(time),
        _ => go.binc = Some(time),
    }
}

/// Reads the number after `keyword`. The word is only consumed if it is a
/// number, so that `go depth infinite` still is infinite.
fn number(
    keyword: &'static str,
    tokens: &mut Tokens,
    range: RangeInclusive<u64>,
) -> Result<u64, CommandError> {
    let expected = "a whole number";
    let token = tokens.peek().ok_or(CommandError::Missing { after: keyword, expected })?;
    let digits = token.strip_prefix(['-', '+']).unwrap_or(token);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        if !GO_KEYWORDS.iter().any(|k| token.eq_ignore_ascii_case(k)) {
            tokens.next();
        }
        let token = token.to_owned();
        return Err(CommandError::Unexpected { after: keyword, token, expected });
    }
    tokens.next();
    // All digits: only too large a number can fail.
    let magnitude = digits.parse::<u64>();
    let value = match magnitude {
        Ok(0) => Some(0),
        Ok(_) if token.starts_with('-') => None,
        Ok(value) => Some(value),
        Err(_) => None,
    };
    if let Some(value) = value.filter(|value| range.contains(value)) {
        return Ok(value);
    }
    let (min, max) = range.into_inner();
    let low = token.starts_with('-') || value.is_some_and(|value| value < min);
    let used = Some(if low { min } else { max });
    Err(CommandError::OutOfRange { after: keyword, token: token.to_owned(), min, max, used })
}

/// Reads a number of a command that is refused when it is out of range.
fn number_or_refuse(
    keyword: &'static str,
    tokens: &mut Tokens,
    range: RangeInclusive<u64>,
) -> Result<u64, CommandError> {
    number(keyword, tokens, range).map_err(|mut error| {
        if let CommandError::OutOfRange { used, .. } = &mut error {
            *used = None;
        }
        error
    })
}

fn help(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let Some(token) = tokens.next() else { return Ok(Command::Help(None)) };
    let Some(name) = command_name(token) else {
        let (token, expected) = (token.to_owned(), "a command ('help' lists them)");
        return Err(CommandError::Unexpected { after: "help", token, expected });
    };
    tokens.expect_end("help <command>")?;
    Ok(Command::Help(Some(name)))
}

fn perft(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let depth = number_or_refuse("perft", tokens, 0..=u64::from(MAX_PERFT))?;
    tokens.expect_end("perft <plies>")?;
    Ok(Command::Perft(u32::try_from(depth).unwrap_or(MAX_PERFT)))
}

fn bench(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let mut bench = BenchCommand::default();
    if tokens.peek().is_some() {
        let range = u64::from(*DEPTH_RANGE.start())..=u64::from(*DEPTH_RANGE.end());
        bench.depth = u32::try_from(number_or_refuse("bench", tokens, range)?).ok();
    }
    if tokens.peek().is_some() {
        let range = *THREADS_RANGE.start() as u64..=*THREADS_RANGE.end() as u64;
        bench.threads = usize::try_from(number_or_refuse("bench <depth>", tokens, range)?).ok();
    }
    if tokens.peek().is_some() {
        let hash =
            number_or_refuse("bench <depth> <threads>", tokens, 1..=*HASH_RANGE.end() as u64)?;
        bench.hash = usize::try_from(hash).ok();
    }
    tokens.expect_end("bench <depth> <threads> <hash>")?;
    Ok(Command::Bench(bench))
}

/// What follows the book are an engine's own arguments; Lancet has none.
fn gen_fens(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let count = number_or_refuse("genfens", tokens, 1..=MAX_OPENINGS)?;
    keyword("genfens <n>", tokens, "seed", "'seed <s>'")?;
    let seed = number_or_refuse("seed", tokens, 0..=u64::MAX)?;
    keyword("seed <s>", tokens, "book", "'book <file>' or 'book None'")?;
    let book = tokens.expect("book", "a file or 'None'")?;
    let book = (!book.eq_ignore_ascii_case("none")).then(|| PathBuf::from(book));
    tokens.expect_end("book <file>")?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok(Command::GenFens(GenFensCommand { count, seed, book }))
}

/// Reads the word that has to stand behind `after`.
fn keyword(
    after: &'static str,
    tokens: &mut Tokens,
    keyword: &str,
    expected: &'static str,
) -> Result<(), CommandError> {
    let token = tokens.expect(after, expected)?;
    if token.eq_ignore_ascii_case(keyword) {
        return Ok(());
    }
    Err(CommandError::Unexpected { after, token: token.to_owned(), expected })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn command(line: &str) -> Command {
        parse(line.as_bytes()).unwrap().unwrap()
    }

    fn go(line: &str) -> GoCommand {
        match command(line) {
            Command::Go(go) => go,
            other => panic!("{line}: {other:?}"),
        }
    }

    const fn ms(millis: u64) -> Option<Duration> {
        Some(Duration::from_millis(millis))
    }

    #[test]
    fn plain_commands_in_any_dress() {
        for (line, expected) in [
            ("uci", Command::Uci),
            ("\u{feff}uci\r\n", Command::Uci),
            (" \t UCI  now", Command::Uci),
            ("joho debug on", Command::Debug(true)),
            ("debug", Command::Debug(true)),
            ("debug Off", Command::Debug(false)),
            ("isready\r", Command::IsReady),
            ("register later", Command::Register),
            ("register name Some One code 4359874324", Command::Register),
            ("register", Command::Register),
            ("UciNewGame", Command::NewGame),
            ("STOP", Command::Stop),
            ("ponderhit", Command::PonderHit),
            ("quit\n", Command::Quit),
            ("d", Command::Display),
            ("perft 5", Command::Perft(5)),
            ("go perft 3", Command::Perft(3)),
            ("help", Command::Help(None)),
            ("help Go", Command::Help(Some("go"))),
        ] {
            assert_eq!(command(line), expected, "{line}");
        }
        assert_eq!(parse(b" \r\n"), Ok(None));
        assert_eq!(parse(b"\xff\xfe isready"), Ok(Some(Command::IsReady)));
    }

    /// Every command without arguments must mean itself to vampirc-uci.
    #[test]
    fn vampirc_reads_what_it_is_given() {
        for (name, expected) in [
            ("uci", Command::Uci),
            ("isready", Command::IsReady),
            ("ucinewgame", Command::NewGame),
            ("stop", Command::Stop),
            ("ponderhit", Command::PonderHit),
            ("quit", Command::Quit),
        ] {
            assert_eq!(message(name), expected);
        }
    }

    #[test]
    fn every_command_of_the_list_is_read() {
        for (name, ..) in COMMANDS {
            assert!(!matches!(parse(name.as_bytes()), Err(CommandError::Unknown { .. })), "{name}");
        }
    }

    #[test]
    fn set_option_keeps_the_value_whole() {
        for (line, name, value) in [
            ("setoption name Hash value 64", "Hash", Some("64")),
            ("setoption name  Clear   Hash", "Clear Hash", None),
            (
                "setoption name Debug Log File value C:\\my  logs\\a b.txt \r",
                "Debug Log File",
                Some("C:\\my  logs\\a b.txt"),
            ),
            ("setoption name SyzygyPath value", "SyzygyPath", Some("")),
            ("SetOption NAME hash VALUE 1", "hash", Some("1")),
            ("setoption name Style value value", "Style", Some("value")),
        ] {
            let expected =
                Command::SetOption { name: name.into(), value: value.map(str::to_owned) };
            assert_eq!(command(line), expected, "{line}");
        }
        for line in ["setoption", "setoption Hash value 3", "setoption name"] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn position_in_all_forms() {
        let position = |line| match command(line) {
            Command::Position(position) => (position.fen, position.moves),
            other => panic!("{other:?}"),
        };
        let moves = vec!["e2e4".to_owned(), "e7e5".to_owned()];
        assert_eq!(position("position startpos moves  e2e4\te7e5"), (None, moves.clone()));
        assert_eq!(position("position startpos"), (None, vec![]));
        assert_eq!(position("position startpos moves"), (None, vec![]));
        let fen = "nbrqknbr/pppppppp/8/8/3P4/8/PPP1PPPP/BBNQRKNR b HEhc -".to_owned();
        let line = format!("position  fen {fen}  moves e2e4 e7e5");
        let command = parse(line.as_bytes()).unwrap().unwrap();
        assert_eq!(command, Command::Position(PositionCommand { fen: Some(fen), moves }));
        for (line, complaint) in [
            ("position", "nothing follows 'position': expected 'startpos' or 'fen <fen>'"),
            ("position fen", "nothing follows 'fen': expected a FEN"),
            ("position fen moves e2e4", "nothing follows 'fen': expected a FEN"),
            ("position e2e4", "'e2e4' after 'position': expected 'startpos' or 'fen <fen>'"),
            (
                "position startpos e2e4",
                "'e2e4' after 'startpos': expected 'moves' or the end of the line",
            ),
        ] {
            assert_eq!(parse(line.as_bytes()).unwrap_err().to_string(), complaint);
        }
    }

    #[test]
    fn go_reads_every_limit_in_any_order() {
        let all = go("go infinite nodes 1000000000000 searchmoves e2e4 d2d4 wtime -7 btime 2000 \
             winc 30 binc 40 movestogo 300 ponder depth 200 mate 300 movetime 5000");
        let expected = GoCommand {
            searchmoves: vec!["e2e4".into(), "d2d4".into()],
            ponder: true,
            infinite: true,
            wtime: ms(0),
            btime: ms(2000),
            winc: ms(30),
            binc: ms(40),
            movestogo: Some(300),
            depth: Some(200),
            nodes: Some(1_000_000_000_000),
            mate: Some(300),
            movetime: ms(5000),
            complaints: vec![],
        };
        assert_eq!(all, expected);
        assert_eq!(go("go "), GoCommand::default());
        assert_eq!(go("go movestogo 0"), GoCommand::default());
        assert_eq!(go("go Depth +6").depth, Some(6));
    }

    #[test]
    fn go_survives_unusable_numbers() {
        for (line, depth, nodes, complaint) in [
            (
                "go depth 1000 nodes 5",
                Some(239),
                Some(5),
                "'1000' after 'depth' is not in 1..239: using 239",
            ),
            ("go depth 0", Some(1), None, "'0' after 'depth' is not in 1..239: using 1"),
            (
                "go nodes 99999999999999999999",
                None,
                Some(u64::MAX),
                "'99999999999999999999' after 'nodes' is not in 1..18446744073709551615: using 18446744073709551615",
            ),
            (
                "go nodes -3",
                None,
                Some(1),
                "'-3' after 'nodes' is not in 1..18446744073709551615: using 1",
            ),
            ("go depth x nodes 5", None, Some(5), "'x' after 'depth': expected a whole number"),
            ("go nodes 5 depth", None, Some(5), "nothing follows 'depth': expected a whole number"),
            ("go depth nodes 5", None, Some(5), "'nodes' after 'depth': expected a whole number"),
            (
                "go fast nodes 5",
                None,
                Some(5),
                "'fast' after 'go': expected a limit ('help' lists them); skipped",
            ),
            ("go depth 3.5 nodes 5", None, Some(5), "'3.5' after 'depth': expected a whole number"),
            (
                "go movetime -5",
                None,
                None,
                "'-5' after 'movetime' is not in 0..1000000000000: using 0",
            ),
            (
                "go nodes 5 searchmoves",
                None,
                Some(5),
                "nothing follows 'searchmoves': expected moves; skipped",
            ),
            (
                "go searchmoves nodes 5",
                None,
                Some(5),
                "nothing follows 'searchmoves': expected moves; skipped",
            ),
        ] {
            let go = go(line);
            assert_eq!((go.depth, go.nodes), (depth, nodes), "{line}");
            assert_eq!(go.complaints.len(), 1, "{line}");
            assert_eq!(go.complaints[0].to_string(), complaint);
        }
    }

    #[test]
    fn bench_arguments_have_ranges() {
        assert_eq!(
            command("bench 5 2 64"),
            Command::Bench(BenchCommand { depth: Some(5), threads: Some(2), hash: Some(64) })
        );
        assert_eq!(command("bench"), Command::Bench(BenchCommand::default()));
        for line in ["bench 0", "bench x", "bench 5 0", "bench 5 1 0", "perft", "perft -1"] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
        for (line, complaint) in [
            (
                "bench 1 1 1 1",
                "'1' after 'bench <depth> <threads> <hash>': expected the end of the line",
            ),
            ("perft 1 x", "'x' after 'perft <plies>': expected the end of the line"),
            ("help x", "'x' after 'help': expected a command ('help' lists them)"),
            ("help go x", "'x' after 'help <command>': expected the end of the line"),
        ] {
            assert_eq!(parse(line.as_bytes()).unwrap_err().to_string(), complaint);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line);
        }

        #[test]
        fn no_words_panic(words in prop::collection::vec(
            prop_oneof![
                prop::sample::select(GO_KEYWORDS).prop_map(str::to_owned),
                prop::sample::select(COMMANDS).prop_map(|(name, ..)| name.to_owned()),
                prop::sample::select(&["fen", "startpos", "moves", "name", "value", "e2e4", "0000", "-"][..])
                    .prop_map(str::to_owned),
                "[-+]?[0-9]{0,25}",
                any::<String>(),
            ], 0..20)) {
            if let Err(error) = parse(words.join(" ").as_bytes()) {
                prop_assert!(!error.to_string().is_empty());
            }
        }

        /// Numbers arrive as they are, or are said not to.
        #[test]
        fn nodes_are_exact(nodes in 1_u64..) {
            let go = go(&format!("go nodes {nodes} infinite"));
            prop_assert_eq!(go.nodes, Some(nodes));
            prop_assert!(go.complaints.is_empty());
        }
    }
}
