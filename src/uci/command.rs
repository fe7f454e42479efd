//! Parses a line into a [`Command`]: decodes the bytes, splits them into words, checks ranges, and
//! returns errors that name the wrong word. The parser does not know the position.
//!
//! Protocol commands become vampirc-uci's messages. Lancet does not use vampirc-uci's parser,
//! because it panics on some numbers, truncates others, and skips unexpected words with everything
//! after them. An [`Extension`] beside the message holds the parts of a command that the message
//! cannot hold. [`extension`](super::extension) lists these parts.

use std::{ops::RangeInclusive, path::PathBuf};

use vampirc_uci::{Duration, UciFen, UciMessage, UciSearchControl, UciTimeControl};

use super::{error::CommandError, extension::Extension, moves};
use crate::{
    chess::lines,
    engine::{DEPTH_RANGE, HASH_RANGE, THREADS_RANGE},
    tools::perft,
};

/// One parsed line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A command of the protocol.
    Message(UciMessage, Extension),
    /// Count the leaf nodes below each move, to this depth in plies.
    Perft(u32),
    /// Show the board.
    Display,
    /// Show the static evaluation.
    Eval,
    /// Show the position as FEN.
    Fen,
    /// Mirror the board and swap the colours.
    Mirror,
    /// `bench [depth] [threads] [hash]`: run the benchmark.
    Bench([Option<usize>; 3]),
    /// `genfens <n> seed <seed> book (<file> | None)`: generate openings for OpenBench. Each line
    /// of the book is a FEN or EPD to start from.
    GenFens { count: usize, seed: u64, book: Option<PathBuf> },
    /// `speedtest [threads] [hash] [seconds]`: measure nodes per second.
    SpeedTest([Option<usize>; 3]),
    /// Show details of the build.
    Compiler,
    /// Wait until all earlier commands have ended.
    Wait,
    /// List the commands, or explain one.
    Help(Option<&'static str>),
    /// List the tunable constants for OpenBench's SPSA.
    #[cfg(feature = "tune")]
    Spsa,
}

/// The commands: name, arguments and one line of help.
pub(super) const COMMANDS: &[(&str, &str, &str)] = &[
    ("uci", "", "switch to UCI output, and print name, author, options and 'uciok'"),
    ("debug", "[on | off]", "also report positions, options, limits and time planning"),
    (
        "isready",
        "",
        "answer 'readyok', at once during a search, otherwise (also after 'stop') after all \
         earlier commands",
    ),
    (
        "setoption",
        "name <name> [value <value>]",
        "set an option; 'help setoption' explains them all",
    ),
    ("register", "later | name <name> code <code>", "accepted and ignored, because Lancet is free"),
    ("ucinewgame", "", "start a new game: clear the histories and, by default, the hash table"),
    ("position", "(startpos | fen <fen>) [moves <move>...]", "set up a position and play moves"),
    (
        "go",
        "[searchmoves <move>...] [ponder] [wtime <ms>] [btime <ms>] [winc <ms>] [binc <ms>] \
         [movestogo <n>] [depth <plies>] [nodes <n>] [mate <moves>] [movetime <ms>] [infinite] \
         | perft <plies>",
        "search until the first limit is reached, or until 'stop' if there is none; 'go perft' \
         counts leaf nodes instead",
    ),
    ("stop", "", "end the current task; a search then prints its best move"),
    (
        "ponderhit",
        "",
        "continue the search on Lancet's clock: the opponent played the expected move",
    ),
    ("wait", "", "for scripts: wait until all earlier commands have ended"),
    ("quit", "", "stop everything and end the program"),
    ("d", "", "show the board, FEN, key and checkers"),
    ("eval", "", "show the static evaluation, its terms and the contribution of each piece"),
    ("fen", "", "show the position as FEN"),
    ("mirror", "", "mirror the board and swap the colours"),
    (
        "bench",
        "[depth] [threads] [hash]",
        "search a fixed set of positions and count nodes (depth in plies, hash in MiB)",
    ),
    (
        "speedtest",
        "[threads] [hash] [seconds]",
        "measure nodes per second by number of threads (hash in MiB); 'lancet doctor' measures \
         more",
    ),
    (
        "genfens",
        "<n> seed <s> book (<file> | None)",
        "generate balanced openings for OpenBench, each as 'info string genfens <fen>'",
    ),
    ("perft", "<plies>", "count the leaf nodes below each move"),
    ("compiler", "", "show the compiler, target, instruction set and network of this build"),
    ("help", "[command]", "list the commands, or explain one"),
    #[cfg(feature = "tune")]
    ("spsa", "", "list the tunable constants: name, int, value, min, max, c_end, r_end"),
];

/// An iterator over the words of a line that can also return the text after a word.
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

    /// Takes the next word.
    ///
    /// # Errors
    ///
    /// If `after` was the last word.
    fn expect(
        &mut self,
        after: &'static str,
        expected: &'static str,
    ) -> Result<&'a str, CommandError> {
        self.next().ok_or(CommandError::Missing { after, expected })
    }

    /// Takes the word `keyword`, which must follow `after`.
    ///
    /// # Errors
    ///
    /// If the next word is a different one, or there is none.
    fn keyword(
        &mut self,
        after: &'static str,
        keyword: &str,
        expected: &'static str,
    ) -> Result<(), CommandError> {
        let token = self.expect(after, expected)?;
        if token.eq_ignore_ascii_case(keyword) {
            Ok(())
        } else {
            Err(unexpected(after, token, expected))
        }
    }

    /// Checks that `after` was the last word.
    ///
    /// # Errors
    ///
    /// If there is another word.
    fn expect_end(&mut self, after: &'static str) -> Result<(), CommandError> {
        self.next().map_or(Ok(()), |token| Err(unexpected(after, token, "the end of the line")))
    }

    /// Returns the rest of the line after `token`, trimmed. `token` must be a word of this line.
    fn rest_after(&self, token: &'a str) -> &'a str {
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

fn unexpected(after: &'static str, token: &str, expected: &'static str) -> CommandError {
    CommandError::Unexpected { after, token: token.to_owned(), expected }
}

/// Parses a line. Skips words before the first command, as the protocol requires. Returns `None`
/// for a blank line.
///
/// # Errors
///
/// If no word is a command, or the arguments of the command are wrong. Wrong arguments of a search
/// are in its [`complaints`](Extension::complaints) instead, because a search must be answered. `go
/// perft` is not a search.
pub fn parse(line: &[u8]) -> Result<Option<Command>, CommandError> {
    let line = lines::decode(line);
    let line = line.trim_start_matches('\u{feff}');
    let mut tokens = Tokens::new(line);
    let Some(first) = tokens.peek() else { return Ok(None) };
    let command = match tokens.find_map(command_name).unwrap_or_default() {
        "uci" => message(UciMessage::Uci),
        "debug" => debug(&mut tokens)?,
        "isready" => message(UciMessage::IsReady),
        "setoption" => set_option(&mut tokens)?,
        "register" => message(UciMessage::register_later()),
        "ucinewgame" => message(UciMessage::UciNewGame),
        "position" => position(&mut tokens)?,
        "go" => go(&mut tokens)?,
        "stop" => message(UciMessage::Stop),
        "ponderhit" => message(UciMessage::PonderHit),
        "wait" => Command::Wait,
        "quit" => message(UciMessage::Quit),
        "perft" => perft(&mut tokens)?,
        "bench" => bench(&mut tokens)?,
        "speedtest" => speed_test(&mut tokens)?,
        "genfens" => gen_fens(&mut tokens)?,
        "d" => Command::Display,
        "eval" => Command::Eval,
        "fen" => Command::Fen,
        "mirror" => Command::Mirror,
        "compiler" => Command::Compiler,
        "help" => help(&mut tokens)?,
        #[cfg(feature = "tune")]
        "spsa" => Command::Spsa,
        _ => return Err(CommandError::Unknown { token: first.to_owned() }),
    };
    Ok(Some(command))
}

/// Returns whether a word is the name of a command.
pub(super) fn is_command(token: &str) -> bool {
    command_name(token).is_some()
}

/// Returns whether the first command in a line is `position`.
pub(super) fn is_position(line: &str) -> bool {
    line.split_whitespace().find_map(command_name) == Some("position")
}

/// Returns the command with this name, ignoring case.
fn command_name(token: &str) -> Option<&'static str> {
    COMMANDS.iter().map(|&(name, ..)| name).find(|name| token.eq_ignore_ascii_case(name))
}

/// Returns a message without an extension.
fn message(message: UciMessage) -> Command {
    Command::Message(message, Extension::default())
}

fn debug(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let on = match tokens.next() {
        None => true,
        Some(token) if token.eq_ignore_ascii_case("on") => true,
        Some(token) if token.eq_ignore_ascii_case("off") => false,
        Some(token) => return Err(unexpected("debug", token, "'on' or 'off'")),
    };
    Ok(message(UciMessage::Debug(on)))
}

fn set_option(tokens: &mut Tokens) -> Result<Command, CommandError> {
    tokens.keyword("setoption", "name", "'name <name> [value <value>]'")?;
    let mut name = tokens.expect("name", "the name of an option")?.to_owned();
    let mut value = String::new();
    while let Some(token) = tokens.next() {
        if token.eq_ignore_ascii_case("value") {
            value = tokens.rest_after(token).replace(['\r', '\n'], " ");
            break;
        }
        name.push(' ');
        name.push_str(token);
    }
    let value = (!value.is_empty()).then_some(value);
    Ok(message(UciMessage::SetOption { name, value }))
}

fn position(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let expected = "'startpos' or 'fen <fen>'";
    let token = tokens.expect("position", expected)?;
    let fen = if token.eq_ignore_ascii_case("startpos") {
        None
    } else if token.eq_ignore_ascii_case("fen") {
        let is_field = |token: &&str| !token.eq_ignore_ascii_case("moves");
        let fields: Vec<&str> = std::iter::from_fn(|| tokens.rest.next_if(is_field)).collect();
        if fields.is_empty() {
            return Err(CommandError::Missing { after: "fen", expected: "a FEN" });
        }
        Some(UciFen(fields.join(" ")))
    } else {
        return Err(unexpected("position", token, expected));
    };
    if let Some(token) = tokens.next()
        && !token.eq_ignore_ascii_case("moves")
    {
        return Err(unexpected("startpos", token, "'moves' or the end of the line"));
    }
    let mut moves = Vec::new();
    while let Some(m) = tokens.peek().and_then(moves::read) {
        moves.push(m);
        tokens.next();
    }
    let message = UciMessage::Position { startpos: fen.is_none(), fen, moves };
    let moves = tokens.map(str::to_owned).collect();
    Ok(Command::Message(message, Extension { moves, ..Extension::default() }))
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

/// Maximum time in milliseconds, almost 32 years.
const MAX_TIME: u64 = 999_999_999_999;
/// Maximum number of moves to a mate or to the next time control, the largest number that a message
/// can hold. No search finds mates of even half that length, and time management does not plan that
/// far ahead.
const MAX_MOVES: u64 = u8::MAX as u64;
const _: () = assert!(*DEPTH_RANGE.end() <= u8::MAX as u32);
/// Depths in plies.
const DEPTHS: RangeInclusive<u64> = *DEPTH_RANGE.start() as u64..=*DEPTH_RANGE.end() as u64;
/// Number of search threads.
const THREADS: RangeInclusive<u64> = *THREADS_RANGE.start() as u64..=*THREADS_RANGE.end() as u64;
/// Table sizes in MiB.
const HASHES: RangeInclusive<u64> = *HASH_RANGE.start() as u64..=*HASH_RANGE.end() as u64;
/// Depths of perft in plies.
const PERFT_DEPTHS: RangeInclusive<u64> =
    *perft::DEPTH_RANGE.start() as u64..=*perft::DEPTH_RANGE.end() as u64;
/// Maximum duration of a speed test in seconds.
const MAX_SPEED_TEST: u64 = 3600;
/// Maximum number of openings that `genfens` generates.
const MAX_OPENINGS: u64 = 100_000_000;

/// The arguments of a `go`. If a limit is repeated, the last one counts.
#[derive(Default)]
struct Go {
    /// The values of `wtime`, `btime`, `winc` and `binc`.
    times: [Option<Duration>; 4],
    moves_to_go: Option<u8>,
    movetime: Option<Duration>,
    ponder: bool,
    infinite: bool,
    search: UciSearchControl,
    extension: Extension,
}

fn go(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let mut go = Go::default();
    while let Some(token) = tokens.next() {
        match go_keyword(token) {
            Some("infinite") => go.infinite = true,
            Some("ponder") => go.ponder = true,
            Some("searchmoves") => go.read_moves(tokens),
            Some("perft") => return perft(tokens),
            Some(keyword) => go.read_number(keyword, tokens),
            None => {
                let error = unexpected("go", token, "a limit ('help go' lists them)");
                go.extension.complaints.push(error);
            }
        }
    }
    Ok(go.command())
}

fn go_keyword(token: &str) -> Option<&'static str> {
    GO_KEYWORDS.iter().copied().find(|keyword| token.eq_ignore_ascii_case(keyword))
}

impl Go {
    fn read_moves(&mut self, tokens: &mut Tokens) {
        let mut given = false;
        while let Some(token) = tokens.peek().filter(|token| go_keyword(token).is_none()) {
            given = true;
            match moves::read(token) {
                Some(m) => self.search.search_moves.push(m),
                None => self.extension.moves.push(token.to_owned()),
            }
            tokens.next();
        }
        if !given {
            let error = CommandError::Missing { after: "searchmoves", expected: "moves" };
            self.extension.complaints.push(error);
        }
    }

    /// Reads the number of a limit. A wrong number becomes a complaint.
    fn read_number(&mut self, keyword: &'static str, tokens: &mut Tokens) {
        let range = match keyword {
            "depth" => DEPTHS,
            "nodes" => 1..=u64::MAX,
            "mate" => 1..=MAX_MOVES,
            "movestogo" => 0..=MAX_MOVES,
            _ => 0..=MAX_TIME,
        };
        match number(keyword, tokens, range) {
            Ok(number) => self.set(keyword, number),
            Err(error) => {
                let nearest = error.nearest();
                if let Some(number) = nearest {
                    self.set(keyword, number);
                }
                // Some GUIs send a negative time after the flag has fallen. That is not an error.
                if nearest != Some(0) || !matches!(keyword, "wtime" | "btime") {
                    self.extension.complaints.push(error);
                }
            }
        }
    }

    /// Sets the limit of a keyword to a number within its range.
    fn set(&mut self, keyword: &str, number: u64) {
        let small = u8::try_from(number).ok();
        let time = Some(Duration::milliseconds(number.min(MAX_TIME) as i64));
        match keyword {
            "wtime" => self.times[0] = time,
            "btime" => self.times[1] = time,
            "winc" => self.times[2] = time,
            "binc" => self.times[3] = time,
            // GUIs that send zero mean the rest of the game.
            "movestogo" => self.moves_to_go = small.filter(|&moves| moves > 0),
            "depth" => self.search.depth = small,
            "mate" => self.search.mate = small,
            "nodes" => self.search.nodes = Some(number),
            _ => self.movetime = time,
        }
    }

    /// Builds the command. The message holds the first time control, the extension the others.
    fn command(mut self) -> Command {
        let [white_time, black_time, white_increment, black_increment] = self.times;
        let clock = UciTimeControl::TimeLeft {
            white_time,
            black_time,
            white_increment,
            black_increment,
            moves_to_go: self.moves_to_go,
        };
        let controls = [
            Some(clock).filter(|clock| *clock != UciTimeControl::time_left()),
            self.movetime.map(UciTimeControl::MoveTime),
            self.ponder.then_some(UciTimeControl::Ponder),
            self.infinite.then_some(UciTimeControl::Infinite),
        ];
        let mut controls = controls.into_iter().flatten();
        let time_control = controls.next();
        self.extension.controls = controls.collect();
        let search_control = (!self.search.is_empty()).then_some(self.search);
        Command::Message(UciMessage::Go { time_control, search_control }, self.extension)
    }
}

/// Reads the number after `keyword`. Does not consume a keyword of `go`, so that `go depth
/// infinite` is still infinite.
fn number(
    keyword: &'static str,
    tokens: &mut Tokens,
    range: RangeInclusive<u64>,
) -> Result<u64, CommandError> {
    let expected = "a whole number";
    let token = tokens.peek().ok_or(CommandError::Missing { after: keyword, expected })?;
    let digits = token.strip_prefix(['-', '+']).unwrap_or(token);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        if go_keyword(token).is_none() {
            tokens.next();
        }
        return Err(unexpected(keyword, token, expected));
    }
    tokens.next();
    let (min, max) = range.into_inner();
    // Apart from a sign, the word has only digits, so parsing fails only for numbers that are far
    // out of range.
    let far = if token.starts_with('-') { i128::MIN } else { i128::MAX };
    let number = token.parse().unwrap_or(far);
    let nearest = number.clamp(min.into(), max.into());
    if number == nearest {
        return Ok(nearest as u64);
    }
    let (token, nearest) = (token.to_owned(), nearest as u64);
    Err(CommandError::OutOfRange { after: keyword, token, min, max, nearest })
}

fn help(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let Some(token) = tokens.next() else { return Ok(Command::Help(None)) };
    let Some(name) = command_name(token) else {
        return Err(unexpected("help", token, "a command ('help' lists them)"));
    };
    tokens.expect_end("help <command>")?;
    Ok(Command::Help(Some(name)))
}

fn perft(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let depth = number("perft", tokens, PERFT_DEPTHS)?;
    tokens.expect_end("perft <plies>")?;
    Ok(Command::Perft(depth as u32))
}

/// Reads up to three optional numbers. Each argument is given by the text before it and its range.
/// `all` is the text of the complete command, for the error about extra words.
fn numbers(
    tokens: &mut Tokens,
    arguments: [(&'static str, RangeInclusive<u64>); 3],
    all: &'static str,
) -> Result<[Option<usize>; 3], CommandError> {
    let mut numbers = [None; 3];
    for ((before, range), place) in arguments.into_iter().zip(&mut numbers) {
        if tokens.peek().is_some() {
            *place = Some(number(before, tokens, range)? as usize);
        }
    }
    tokens.expect_end(all)?;
    Ok(numbers)
}

fn bench(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let arguments =
        [("bench", DEPTHS), ("bench <depth>", THREADS), ("bench <depth> <threads>", HASHES)];
    Ok(Command::Bench(numbers(tokens, arguments, "bench <depth> <threads> <hash>")?))
}

fn speed_test(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let arguments = [
        ("speedtest", THREADS),
        ("speedtest <threads>", HASHES),
        ("speedtest <threads> <hash>", 1..=MAX_SPEED_TEST),
    ];
    let numbers = numbers(tokens, arguments, "speedtest <threads> <hash> <seconds>")?;
    Ok(Command::SpeedTest(numbers))
}

/// Parses `genfens`. Some engines accept more arguments after the book; Lancet does not.
fn gen_fens(tokens: &mut Tokens) -> Result<Command, CommandError> {
    let count = number("genfens", tokens, 1..=MAX_OPENINGS)?;
    tokens.keyword("genfens <n>", "seed", "'seed <s>'")?;
    let seed = number("seed", tokens, 0..=u64::MAX)?;
    tokens.keyword("seed <s>", "book", "'book <file>' or 'book None'")?;
    let book = tokens.expect("book", "a file or 'None'")?;
    let book = (!book.eq_ignore_ascii_case("none")).then(|| PathBuf::from(book));
    tokens.expect_end("book <file>")?;
    Ok(Command::GenFens { count: count as usize, seed, book })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn command(line: &str) -> Command {
        parse(line.as_bytes()).unwrap().unwrap()
    }

    fn message(line: &str) -> (UciMessage, Extension) {
        match command(line) {
            Command::Message(message, extension) => (message, extension),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn commands_ignore_case_and_spacing() {
        for (line, expected) in [
            ("uci", UciMessage::Uci),
            ("\u{feff}uci\r\n", UciMessage::Uci),
            (" \t UCI  now", UciMessage::Uci),
            ("joho debug on", UciMessage::Debug(true)),
            ("debug", UciMessage::Debug(true)),
            ("debug Off", UciMessage::Debug(false)),
            ("isready\r", UciMessage::IsReady),
            ("register later", UciMessage::register_later()),
            ("register name Some One code 4359874324", UciMessage::register_later()),
            ("register", UciMessage::register_later()),
            ("UciNewGame", UciMessage::UciNewGame),
            ("STOP", UciMessage::Stop),
            ("ponderhit", UciMessage::PonderHit),
            ("quit\n", UciMessage::Quit),
        ] {
            assert_eq!(message(line), (expected, Extension::default()), "{line}");
        }
        for (line, expected) in [
            ("d", Command::Display),
            ("perft 5", Command::Perft(5)),
            ("go perft 3", Command::Perft(3)),
            ("help", Command::Help(None)),
            ("help Go", Command::Help(Some("go"))),
        ] {
            assert_eq!(command(line), expected, "{line}");
        }
        assert_eq!(parse(b" \r\n"), Ok(None));
        assert_eq!(parse(b"\xff\xfe isready"), Ok(Some(command("isready"))));
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
            ("setoption name SyzygyPath value", "SyzygyPath", None),
            ("SetOption NAME hash VALUE 1", "hash", Some("1")),
            ("setoption name Style value value", "Style", Some("value")),
            ("setoption name Values value 3", "Values", Some("3")),
        ] {
            let (name, value) = (name.to_owned(), value.map(str::to_owned));
            assert_eq!(message(line).0, UciMessage::SetOption { name, value }, "{line}");
        }
        for line in ["setoption", "setoption Hash value 3", "setoption name"] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn position_in_all_forms() {
        let text = |line| message(line).0.to_string();
        let moves = "position startpos moves e2e4 e7e5";
        assert_eq!(text("position startpos moves  e2e4\te7e5"), moves);
        assert_eq!(text("position startpos"), "position startpos");
        assert_eq!(text("position startpos moves"), "position startpos");
        let fen = "nbrqknbr/pppppppp/8/8/3P4/8/PPP1PPPP/BBNQRKNR b HEhc -";
        let line = format!("position  fen {fen}  moves e2e4 e7e5");
        assert_eq!(text(&line), format!("position fen {fen} moves e2e4 e7e5"));
        for (line, complaint) in [
            ("position", "missing argument after 'position': expected 'startpos' or 'fen <fen>'"),
            ("position fen", "missing argument after 'fen': expected a FEN"),
            ("position fen moves e2e4", "missing argument after 'fen': expected a FEN"),
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
    fn long_games_are_read_whole() {
        let words = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let line: Vec<&str> = words.into_iter().cycle().take(1000).collect();
        let line = format!("position startpos moves {}", line.join(" "));
        assert_eq!(message(&line).0.to_string(), line);
    }

    #[test]
    fn go_reads_every_limit_in_any_order() {
        let (message, extension) = message(
            "go infinite nodes 1000000000000 searchmoves e2e4 d2d4 wtime -7 btime 2000 \
             winc 30 binc 40 movestogo 200 ponder depth 200 mate 100 movetime 5000 a1a9",
        );
        let text = "go wtime 0 btime 2000 winc 30 binc 40 movestogo 200 depth 200 \
                    nodes 1000000000000 mate 100  searchmoves e2e4 d2d4 ";
        assert_eq!(message.to_string(), text);
        let expected = Extension {
            controls: vec![
                UciTimeControl::MoveTime(Duration::milliseconds(5000)),
                UciTimeControl::Ponder,
                UciTimeControl::Infinite,
            ],
            moves: vec![],
            complaints: extension.complaints.clone(),
        };
        assert_eq!(extension, expected);
        assert_eq!(extension.complaints.len(), 1);
        for (line, text) in [
            ("go ", "go "),
            ("go movestogo 0", "go "),
            ("go Depth +6", "go depth 6 "),
            ("go depth 5 depth 6", "go depth 6 "),
            ("go movestogo 5 wtime 1 movestogo 0", "go wtime 1 "),
            ("go nodes 9999999999999 nodes 7", "go nodes 7 "),
        ] {
            let message = super::tests::message(line);
            assert_eq!((message.0.to_string().as_str(), message.1), (text, Extension::default()));
        }
    }

    #[test]
    fn go_survives_unusable_numbers() {
        for (line, depth, nodes, complaint) in [
            (
                "go depth 1000 nodes 5",
                Some(239),
                Some(5),
                "'1000' after 'depth': expected a whole number from 1 to 239",
            ),
            (
                "go depth 0",
                Some(1),
                None,
                "'0' after 'depth': expected a whole number from 1 to 239",
            ),
            (
                "go nodes 99999999999999999999",
                None,
                Some(u64::MAX),
                "'99999999999999999999' after 'nodes': \
                 expected a whole number from 1 to 18446744073709551615",
            ),
            (
                "go nodes -3",
                None,
                Some(1),
                "'-3' after 'nodes': expected a whole number from 1 to 18446744073709551615",
            ),
            ("go depth x nodes 5", None, Some(5), "'x' after 'depth': expected a whole number"),
            (
                "go nodes 5 depth",
                None,
                Some(5),
                "missing argument after 'depth': expected a whole number",
            ),
            ("go depth nodes 5", None, Some(5), "'nodes' after 'depth': expected a whole number"),
            (
                "go fast nodes 5",
                None,
                Some(5),
                "'fast' after 'go': expected a limit ('help go' lists them)",
            ),
            ("go depth 3.5 nodes 5", None, Some(5), "'3.5' after 'depth': expected a whole number"),
            (
                "go movetime -5",
                None,
                None,
                "'-5' after 'movetime': expected a whole number from 0 to 999999999999",
            ),
            (
                "go nodes 5 searchmoves",
                None,
                Some(5),
                "missing argument after 'searchmoves': expected moves",
            ),
            (
                "go searchmoves nodes 5",
                None,
                Some(5),
                "missing argument after 'searchmoves': expected moves",
            ),
        ] {
            let (message, extension) = message(line);
            let UciMessage::Go { search_control, .. } = message else { panic!("{line}") };
            let search = search_control.unwrap_or_default();
            assert_eq!((search.depth, search.nodes), (depth, nodes), "{line}");
            assert_eq!(extension.complaints.len(), 1, "{line}");
            assert_eq!(extension.complaints[0].to_string(), complaint);
        }
    }

    #[test]
    fn bench_arguments_have_ranges() {
        assert_eq!(command("bench 5 2 64"), Command::Bench([Some(5), Some(2), Some(64)]));
        assert_eq!(command("bench"), Command::Bench([None; 3]));
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

        /// Node counts are read exactly.
        #[test]
        fn nodes_are_exact(nodes in 1_u64..) {
            let (message, extension) = message(&format!("go nodes {nodes} infinite"));
            prop_assert!(extension.complaints.is_empty());
            let UciMessage::Go { search_control, .. } = message else { panic!() };
            prop_assert_eq!(search_control.and_then(|search| search.nodes), Some(nodes));
        }

        /// Parsing the text of a message yields the same message.
        #[test]
        fn messages_survive_a_round_trip(words in prop::collection::vec(
            prop_oneof![
                prop::sample::select(GO_KEYWORDS).prop_map(str::to_owned),
                (0..300_u32).prop_map(|number| number.to_string()),
                "[a-h][1-8][a-h][1-8][qrbn]?",
            ], 0..20)) {
            for command in ["go", "position startpos moves", "position fen", "setoption name x value 1"] {
                let line = format!("{command} {}", words.join(" "));
                let Ok(Some(Command::Message(message, _))) = parse(line.as_bytes()) else { continue };
                let again = super::tests::message(&message.to_string());
                prop_assert_eq!(again, (message, Extension::default()), "{}", line);
            }
        }
    }
}
