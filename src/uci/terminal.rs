//! Parses what a person at a terminal can type besides protocol commands: moves, a FEN, and orders
//! such as `play` and `undo`. [`Dialogue`](super) carries them out.

use std::path::PathBuf;

use shakmaty::Color;

use super::{
    command::{COMMANDS, is_command},
    options,
};
use crate::{
    chess::{
        notation::{self, MoveError},
        position::Position,
    },
    play::strength::ELO_RANGE,
    system::arguments,
};

/// Maximum number of half-moves that one `undo` or `redo` handles.
const MAX_MOVES: usize = 10_000;

/// An order: a command beyond the protocol that a person types at a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Play these moves, in any notation.
    Moves(Vec<String>),
    /// Set up the board from this FEN.
    Fen(String),
    /// Take this number of half-moves back.
    Undo(usize),
    /// Replay this number of half-moves that were taken back.
    Redo(usize),
    /// List the legal moves.
    ListMoves,
    /// Show the board.
    Board,
    /// Flip the board.
    Flip,
    /// Start a new game.
    New,
    /// Resign the game.
    Resign,
    /// End the program.
    Exit,
    /// Let Lancet play this side from now on; `None` for the side to move.
    Play(Option<Color>),
    /// Let Lancet play neither side.
    StopPlaying,
    /// Play like a person of this rating, or at full strength.
    Level(Option<u32>),
    /// Show the best move.
    Hint,
    /// Save the game.
    Save(PathBuf),
    /// Load a game.
    Load(PathBuf),
    /// List all orders and commands, or explain an order.
    Help(Option<&'static str>),
}

/// The orders: name, arguments and one line of help.
pub const ORDERS: &[(&str, &str, &str)] = &[
    ("undo", "[half-moves]", "take back one or more half-moves; against Lancet, back to your turn"),
    ("redo", "[half-moves]", "replay one or more half-moves that were taken back"),
    ("moves", "", "list the legal moves"),
    ("board", "", "show the board"),
    ("flip", "", "flip the board, so that the other side is at the bottom"),
    ("new", "", "start a new game"),
    ("resign", "", "resign the game"),
    (
        "play",
        "[white | black | off]",
        "let Lancet play the side to move, the given side, or neither (off)",
    ),
    (
        "level",
        "<rating> | full",
        "let Lancet play like a person of this rating, or at full strength",
    ),
    ("hint", "", "show the best move at full strength, and why"),
    ("save", "<file.pgn>", "save the game as PGN"),
    ("load", "<file.pgn>", "load the first game of a PGN file; Lancet then plays neither side"),
    ("exit", "", "end the program"),
];

/// The error for wrong arguments of an order. It names the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{line}': expected {expected}")]
pub struct OrderError {
    /// The line as given.
    line: String,
    /// The forms that were expected.
    expected: String,
}

/// The help for moves and FENs, which precedes the list of the orders.
pub const MOVES: &str =
    "e4, e2e4   play one or more moves, in any notation; a FEN sets up the board";

/// Parses a line. Returns `None` if it is not an order. It may then be a command of the protocol.
///
/// # Errors
///
/// If the arguments of an order are wrong.
pub fn parse(line: &str, position: &Position) -> Result<Option<Order>, OrderError> {
    read(line, position).map_err(|expected| OrderError { line: line.trim().to_owned(), expected })
}

/// Like [`parse`], but the error is only the expected form.
fn read(line: &str, position: &Position) -> Result<Option<Order>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(&first) = words.first() else { return Ok(None) };
    let lower = line.to_ascii_lowercase();
    let lower: Vec<&str> = lower.split_whitespace().collect();
    let order = match (lower[0], &lower[1..]) {
        ("undo", rest) => Order::Undo(count(first, rest)?),
        ("redo", rest) => Order::Redo(count(first, rest)?),
        ("moves", []) => Order::ListMoves,
        ("board", []) => Order::Board,
        ("flip", []) => Order::Flip,
        ("new", []) => Order::New,
        ("resign", []) => Order::Resign,
        ("exit", []) => Order::Exit,
        ("hint", []) => Order::Hint,
        ("play", []) => Order::Play(None),
        ("play", ["white"]) => Order::Play(Some(Color::White)),
        ("play", ["black"]) => Order::Play(Some(Color::Black)),
        ("play", ["off"]) => Order::StopPlaying,
        ("level", ["full"]) => Order::Level(None),
        ("level", [text]) => Order::Level(Some(rating(text)?)),
        ("save", [_, ..]) => Order::Save(path(line, first)),
        ("load", [_, ..]) => Order::Load(path(line, first)),
        ("help", []) => Order::Help(None),
        ("help", [name]) if order(name).is_some() => Order::Help(order(name)),
        (name, _) => return other(name, line, &words, position),
    };
    Ok(Some(order))
}

/// Returns the order with this name, ignoring case.
fn order(name: &str) -> Option<&'static str> {
    ORDERS.iter().map(|(order, ..)| *order).find(|order| name.eq_ignore_ascii_case(order))
}

/// Returns the names of all orders and commands.
pub fn names() -> impl Iterator<Item = &'static str> {
    ORDERS.iter().chain(COMMANDS).map(|&(name, ..)| name)
}

/// Returns the error for a line that begins with a misspelt order or command. Returns `None` if the
/// line contains a command, or if no name is similar to its first word.
pub fn unknown(line: &str) -> Option<String> {
    let word = line.split_whitespace().next()?;
    let is_known = line.split_whitespace().any(is_command);
    let name = arguments::nearest(word, names()).filter(|_| !is_known)?;
    Some(format!("unknown command '{word}': did you mean '{name}'?"))
}

/// Joins command-line arguments into lines. An argument is a line or a word of one: `go depth 3`
/// may be one argument or three.
pub fn lines(arguments: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for argument in arguments {
        match lines.last_mut().filter(|line| goes_on(line, argument)) {
            Some(line) => *line = format!("{line} {argument}"),
            None => lines.push(argument.clone()),
        }
    }
    lines
}

/// Returns whether an argument belongs to the line before it.
fn goes_on(line: &str, argument: &str) -> bool {
    let last = line.rsplit(' ').next().unwrap_or_default();
    let option = line.strip_prefix("setoption name ");
    if option.is_some_and(|name| options::begins_a_name(&format!("{name} {argument}"))) {
        return true;
    }
    // The value or the book may itself be called `value` or `book`, so only the first such word of
    // the line expects a word after it.
    let ends_first = |words: &str| line.find(words) == Some(line.len().wrapping_sub(words.len()));
    let waits = line == "setoption name"
        || option.is_some() && ends_first(" value")
        || line.starts_with("genfens ") && ends_first(" book")
        || ["save", "load"].contains(&line)
        || line == "help" && !argument.contains(' ') && !["quit", "exit"].contains(&argument);
    // The first four fields of a FEN may look like commands: `d` may be a castling right.
    let fields = line.strip_prefix("position fen").map(|fields| fields.split_whitespace().count());
    match (last, argument) {
        _ if waits || fields.is_some_and(|fields| fields < 4) => true,
        ("position", "fen") | ("go", "perft") => true,
        (_, "moves") => line.starts_with("position"),
        _ => !argument.contains(' ') && !is_command(argument) && order(argument).is_none(),
    }
}

/// Parses lines that are not complete orders: an order with wrong arguments, a FEN, moves, or
/// anything else (`None`).
fn other(
    name: &str,
    line: &str,
    words: &[&str],
    position: &Position,
) -> Result<Option<Order>, String> {
    if let Some((name, arguments, _)) = ORDERS.iter().find(|(order, ..)| *order == name) {
        return Err(format!("'{}'", format!("{name} {arguments}").trim_end()));
    }
    if words[0].contains('/') {
        return Ok(Some(Order::Fen(line.trim().to_owned())));
    }
    if is_command(words[0]) {
        return Ok(None);
    }
    let moves: Vec<String> = words
        .iter()
        .map(|word| notation::without_number(word).to_owned())
        .filter(|word| !word.is_empty())
        .collect();
    let is_move = |word: &String| {
        !matches!(notation::read_any_move(position, word), Err(MoveError::Unreadable { .. }))
    };
    Ok(moves.first().is_some_and(is_move).then_some(Order::Moves(moves)))
}

/// Returns the number of half-moves after `name`, by default one.
fn count(name: &str, rest: &[&str]) -> Result<usize, String> {
    let number = match rest {
        [] => Some(1),
        [number] => number.parse().ok(),
        _ => None,
    };
    number
        .filter(|number| (1..=MAX_MOVES).contains(number))
        .ok_or_else(|| format!("'{name}' or '{name} <half-moves>', a number from 1 to {MAX_MOVES}"))
}

/// Parses the rating of `level`.
fn rating(text: &str) -> Result<u32, String> {
    arguments::number_in(text, &ELO_RANGE).map_err(|_| {
        let (least, most) = (ELO_RANGE.start(), ELO_RANGE.end());
        format!("'level <rating>', a rating from {least} to {most}, or 'level full'")
    })
}

/// Returns the path after the first word of a line, without quotes around it.
fn path(line: &str, first: &str) -> PathBuf {
    let text = line.trim_start()[first.len()..].trim();
    let bare = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    PathBuf::from(bare('"').or_else(|| bare('\'')).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_fens_and_orders_are_told_apart() {
        let parse = |line: &str| super::parse(line, &Position::default());
        let moves = |words: &[&str]| Order::Moves(words.iter().map(|&w| w.to_owned()).collect());
        for (line, order) in [
            ("e4", moves(&["e4"])),
            (" e2e4 ", moves(&["e2e4"])),
            ("1. e4 e5 2.Nf3", moves(&["e4", "e5", "Nf3"])),
            ("Nf6", moves(&["Nf6"])),
            ("O-O", moves(&["O-O"])),
            ("8/8/8/8/8/4k3/8/4K2R w K -", Order::Fen("8/8/8/8/8/4k3/8/4K2R w K -".to_owned())),
            ("undo", Order::Undo(1)),
            ("Undo 3", Order::Undo(3)),
            ("redo 2", Order::Redo(2)),
            ("nf3 E5", moves(&["nf3", "E5"])),
            ("moves", Order::ListMoves),
            ("Flip", Order::Flip),
            ("exit", Order::Exit),
            ("play", Order::Play(None)),
            ("play Black", Order::Play(Some(Color::Black))),
            ("play off", Order::StopPlaying),
            ("level 1500", Order::Level(Some(1500))),
            ("level full", Order::Level(None)),
            ("hint", Order::Hint),
            ("save a b.pgn ", Order::Save(PathBuf::from("a b.pgn"))),
            ("load X", Order::Load(PathBuf::from("X"))),
        ] {
            assert_eq!(parse(line), Ok(Some(order)), "{line}");
        }
        for line in ["", "d", "go depth 5", "uci", "eval", "position startpos", "xyzzy", "d e4"] {
            assert_eq!(parse(line), Ok(None), "{line}");
        }
        for (line, complaint) in [
            ("undo x", "expected 'undo' or 'undo <half-moves>', a number from 1 to 10000"),
            ("undo 1 2", "expected 'undo' or 'undo <half-moves>', a number from 1 to 10000"),
            ("redo 0", "expected 'redo' or 'redo <half-moves>', a number from 1 to 10000"),
            ("level", "expected 'level <rating> | full'"),
            ("level high", "expected 'level <rating>', a rating from 500 to 3000, or 'level full'"),
            ("level 499", "expected 'level <rating>', a rating from 500 to 3000, or 'level full'"),
            ("play red", "expected 'play [white | black | off]'"),
            ("save", "expected 'save <file.pgn>'"),
            ("hint please", "expected 'hint'"),
        ] {
            let complaint = format!("'{line}': {complaint}");
            assert_eq!(parse(line).unwrap_err().to_string(), complaint);
        }
    }

    #[test]
    fn arguments_are_lines_or_words_of_lines() {
        for (arguments, lines) in [
            ("go|depth|3", &["go depth 3"][..]),
            ("position startpos|go depth 3|quit", &["position startpos", "go depth 3", "quit"]),
            (
                "position|startpos|moves|e2e4|go|nodes|9|quit",
                &["position startpos moves e2e4", "go nodes 9", "quit"],
            ),
            (
                "position|fen|k7/8/8/8/8/8/8/K7 w - -|d",
                &["position fen k7/8/8/8/8/8/8/K7 w - -", "d"],
            ),
            (
                "position|fen|k7/8/8/8/8/8/8/K7|w|-|-|fen",
                &["position fen k7/8/8/8/8/8/8/K7 w - -", "fen"],
            ),
            (
                "position|fen|4k3/8/8/8/8/8/8/3RK3|w|D|-|d",
                &["position fen 4k3/8/8/8/8/8/8/3RK3 w D -", "d"],
            ),
            ("setoption|name|Save|Hash|perft|2", &["setoption name Save Hash", "perft 2"]),
            (
                "setoption|name|BookFile|value|book|go|depth|5",
                &["setoption name BookFile value book", "go depth 5"],
            ),
            (
                "setoption|name|Skill|Level|value|5|perft|2",
                &["setoption name Skill Level value 5", "perft 2"],
            ),
            (
                "setoption|name|Hash File|value|my table|go|perft|2",
                &["setoption name Hash File value my table", "go perft 2"],
            ),
            ("fen|quit", &["fen", "quit"]),
            ("flip|help|play|d", &["flip", "help play", "d"]),
            ("help|quit", &["help", "quit"]),
            ("go|infinite|quit", &["go infinite", "quit"]),
            ("e4|e5|play|white", &["e4 e5", "play white"]),
            ("uci|k7/8/8/8/8/8/8/K7 w - -", &["uci", "k7/8/8/8/8/8/8/K7 w - -"]),
        ] {
            let words: Vec<String> = arguments.split('|').map(str::to_owned).collect();
            assert_eq!(super::lines(&words), lines, "{arguments}");
        }
    }

    #[test]
    fn misspelt_orders_are_known() {
        for (line, name) in
            [("udno 2", "undo"), ("Savee x", "save"), ("positon startpos", "position")]
        {
            assert!(unknown(line).unwrap().ends_with(&format!("did you mean '{name}'?")), "{line}");
        }
        for line in ["", "xyzzy", "joho uci"] {
            assert_eq!(unknown(line), None, "{line}");
        }
    }
}
