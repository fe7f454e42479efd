//! Extended Position Description: a line of text to a position and its
//! operations, or an error that says where and why.
//!
//! Answers are graded elsewhere.

use std::{collections::HashSet, num::NonZeroU32};

use shakmaty::Move;

use super::{
    fen::{self, MAX_CLOCK},
    lines::{self, Line, LineError},
    notation::{self, MoveError, counted},
    position::Position,
};

/// What solves a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// `bm`: playing any of these is right.
    pub best: Vec<Move>,
    /// `am`: playing any of these is wrong.
    pub avoid: Vec<Move>,
    /// `dm N` or `bm #N`: mate in N moves, negative if the side to move is mated.
    pub mate: Option<i32>,
    /// Moves that earn points, in the order of the line.
    pub points: Vec<(Move, u32)>,
}

/// A position of a suite with what its line says about it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Line number in its file, from 1.
    pub line: usize,
    /// The line as written, without surrounding blanks.
    pub text: String,
    /// `id`, or `line N` without one.
    pub id: String,
    /// The position, with the clocks of `hmvc` and `fmvn`.
    pub position: Position,
    /// What solves it.
    pub goal: Goal,
    /// Every operation in the order of the line: opcode and operands.
    pub operations: Vec<Operation>,
}

/// An opcode with its operands, strings without their quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Such as `bm`.
    pub opcode: String,
    /// Such as `Nf3` and `Nf6`.
    pub operands: Vec<String>,
}

impl Record {
    /// The operands of an operation.
    pub fn operands(&self, opcode: &str) -> Option<&[String]> {
        self.operations.iter().find(|op| op.opcode == opcode).map(|op| op.operands.as_slice())
    }

    /// The number that is the only operand of an operation.
    pub fn number(&self, opcode: &str) -> Option<i64> {
        self.operands(opcode)?.first()?.parse().ok()
    }
}

/// Opcodes that often follow another operation.
const KNOWN: [&str; 21] = [
    "id", "bm", "am", "dm", "ce", "acd", "acn", "acs", "pv", "hmvc", "fmvn", "c0", "c1", "c2",
    "c3", "c4", "c5", "c6", "c7", "c8", "c9",
];

/// Opcodes that must be right: the position, its name and what solves it depend on them.
/// What the others say is passed on as it is.
const NEEDED: [&str; 6] = ["id", "bm", "am", "dm", "hmvc", "fmvn"];

/// A byte offset in the line and what is wrong there.
type Fault = (usize, String);

/// Reads a line: the four position fields, optionally the two clocks of a FEN,
/// then operations, each ended by `;` (the last one need not be).
///
/// # Errors
///
/// [`LineError`] says where and why the line is unusable.
pub fn parse(line: &Line) -> Result<Record, LineError> {
    read(line).map_err(|(offset, reason)| line.error(offset, reason))
}

fn read(line: &Line) -> Result<Record, Fault> {
    let text = line.text.as_str();
    let start = text.len() - text.trim_start().len();
    let (mut setup, end) = fen::read_epd(text).map_err(|error| (error.at, error.reason))?;
    let operations = read_operations(text, end)?;
    setup.halfmoves = read_clock(&operations, "hmvc", 0)?.unwrap_or(setup.halfmoves);
    let number = read_clock(&operations, "fmvn", 1)?.and_then(NonZeroU32::new);
    setup.fullmoves = number.unwrap_or(setup.fullmoves);
    let position = Position::from_setup(setup)
        .map_err(|error| (start, format!("illegal position: {error}")))?;
    if position.legal_moves().is_empty() {
        return Err((start, "the game is over: no legal move".to_owned()));
    }
    let goal = read_goal(&position, &operations)?;
    let operations: Vec<Operation> = operations
        .into_iter()
        .map(|raw| Operation {
            opcode: raw.opcode.to_owned(),
            operands: raw.operands.iter().map(|&(_, text)| text.to_owned()).collect(),
        })
        .collect();
    let id = operations.iter().find(|op| op.opcode == "id").map(|op| op.operands.join(" "));
    Ok(Record {
        line: line.number,
        text: text.trim().to_owned(),
        id: id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("line {}", line.number)),
        position,
        goal,
        operations,
    })
}

/// An operation with byte offsets into the line.
struct RawOperation<'a> {
    at: usize,
    opcode: &'a str,
    operands: Vec<(usize, &'a str)>,
}

fn read_operations(text: &str, from: usize) -> Result<Vec<RawOperation<'_>>, Fault> {
    let mut operations: Vec<RawOperation> = Vec::new();
    let mut names = HashSet::new();
    let mut at = from;
    loop {
        at += span(&text[at..], |c| c.is_whitespace() || c == ';');
        let rest = &text[at..];
        if rest.is_empty() || rest.starts_with('#') || rest.starts_with("//") {
            return Ok(operations);
        }
        let length = span(rest, |c| !c.is_whitespace() && c != ';' && c != '"');
        let opcode = &rest[..length];
        // matetrack and others write "PV:".
        let name = opcode.strip_suffix(':').unwrap_or(opcode);
        let fine = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !fine {
            let word = &rest[..length.max(1)];
            let expected = "expected a letter, then letters or digits";
            return Err((at, format!("'{word}' is not an opcode: {expected}")));
        }
        let repeated = !names.insert(name);
        if repeated && NEEDED.contains(&name) {
            return Err((at, format!("{name} is given twice")));
        }
        let mut operation = RawOperation { at, opcode: name, operands: Vec::new() };
        at = read_operands(text, at + length, &mut operation)?;
        // The first one counts.
        if !repeated {
            operations.push(operation);
        }
    }
}

/// Reads operands up to a `;` or the end; where that is.
fn read_operands<'a>(
    text: &'a str,
    from: usize,
    operation: &mut RawOperation<'a>,
) -> Result<usize, Fault> {
    let operands = &mut operation.operands;
    let mut at = from;
    loop {
        let blank = span(&text[at..], char::is_whitespace);
        at += blank;
        let rest = &text[at..];
        if rest.is_empty() || rest.starts_with(';') {
            return Ok(at);
        }
        // A quote behind a word or a string is one too many, and begins nothing.
        let begins = blank > 0 || operands.is_empty();
        if begins && let Some(string) = rest.strip_prefix('"') {
            let closed = string.find('"');
            if closed.is_none() && NEEDED.contains(&operation.opcode) {
                return Err((at, "the string is not closed by a '\"'".to_owned()));
            }
            // A quote too many in a comment ends with it.
            let end = closed.or_else(|| string.find(';')).unwrap_or(string.len());
            operands.push((at + 1, &string[..end]));
            at += 1 + end + usize::from(closed.is_some());
        } else {
            let length = span(rest, |c| !c.is_whitespace() && c != ';');
            operands.push((at, &rest[..length]));
            at += length;
        }
    }
}

/// The length in bytes of the characters at the start for which `wanted` holds.
fn span(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    text.find(|c| !wanted(c)).unwrap_or(text.len())
}

fn find<'a, 'b>(operations: &'b [RawOperation<'a>], opcode: &str) -> Option<&'b RawOperation<'a>> {
    operations.iter().find(|op| op.opcode == opcode)
}

/// The number of moves of `hmvc` or `fmvn`, if it is there.
fn read_clock(operations: &[RawOperation], opcode: &str, least: u32) -> Result<Option<u32>, Fault> {
    let Some(operation) = find(operations, opcode) else { return Ok(None) };
    let expected = format!("a whole number from {least} to {MAX_CLOCK}");
    let (at, text) = only_operand(operation, &expected)?;
    match text.parse() {
        Ok(number) if (least..=MAX_CLOCK).contains(&number) => Ok(Some(number)),
        _ => Err(bad_number(at, opcode, text, &expected)),
    }
}

fn only_operand<'a>(
    operation: &RawOperation<'a>,
    expected: &str,
) -> Result<(usize, &'a str), Fault> {
    let missing = || (operation.at, format!("{} needs {expected}", operation.opcode));
    operation.operands.first().copied().ok_or_else(missing)
}

fn bad_number(at: usize, opcode: &str, text: &str, expected: &str) -> Fault {
    (at, format!("{opcode} '{text}': expected {expected}"))
}

fn read_goal(position: &Position, operations: &[RawOperation]) -> Result<Goal, Fault> {
    let mut goal = Goal { avoid: read_moves(position, operations, "am")?, ..Goal::default() };
    let mate_in = find(operations, "bm")
        .and_then(|op| op.operands.first())
        .filter(|(_, text)| text.starts_with('#'));
    if let Some(&(at, text)) = mate_in {
        goal.mate = Some(mate_distance("bm", at, text, &text[1..])?);
    } else {
        goal.best = read_moves(position, operations, "bm")?;
    }
    if let Some(operation) = find(operations, "dm") {
        let (at, text) = only_operand(operation, MATE_DISTANCE)?;
        goal.mate = Some(mate_distance("dm", at, text, text)?);
    }
    if let Some(m) = goal.best.iter().find(|m| goal.avoid.contains(m)) {
        let at = find(operations, "am").map_or(0, |op| op.at);
        let san = notation::plain_san(position, *m);
        return Err((at, format!("{san} is both in bm and in am")));
    }
    goal.points = match read_point_list(position, operations)? {
        Some(points) => points,
        None => read_point_comment(position, operations)?,
    };
    Ok(goal)
}

const MATE_DISTANCE: &str = "a number of moves to mate: not 0, from -999 to 999";

fn mate_distance(opcode: &str, at: usize, text: &str, number: &str) -> Result<i32, Fault> {
    match number.parse() {
        Ok(distance) if distance != 0 && (-999..=999).contains(&distance) => Ok(distance),
        _ => Err(bad_number(at, opcode, text, MATE_DISTANCE)),
    }
}

fn read_moves(
    position: &Position,
    operations: &[RawOperation],
    opcode: &str,
) -> Result<Vec<Move>, Fault> {
    let Some(operation) = find(operations, opcode) else { return Ok(Vec::new()) };
    only_operand(operation, "at least one move")?;
    operation.operands.iter().map(|&(at, text)| read_move(position, opcode, at, text)).collect()
}

fn read_move(position: &Position, opcode: &str, at: usize, text: &str) -> Result<Move, Fault> {
    notation::read_any_move(position, text).map_err(|error| match error {
        MoveError::Unreadable { .. } if KNOWN.contains(&text) => {
            (at, format!("{opcode}: '{text}' is not a move; is a ';' missing before it?"))
        }
        error => (at, format!("{opcode}: {error}")),
    })
}

/// Points of the Strategic Test Suite: `c8 "10 4"; c9 "c4c5 e4d4";`. Only a c8
/// of nothing but numbers beside a c9 is that; other comments may say anything.
fn read_point_list<'a>(
    position: &Position,
    operations: &[RawOperation<'a>],
) -> Result<Option<Vec<(Move, u32)>>, Fault> {
    let (Some(points), Some(listed)) = (find(operations, "c8"), find(operations, "c9")) else {
        return Ok(None);
    };
    let words = |operation: &RawOperation<'a>| -> Vec<(usize, &'a str)> {
        let words = |&(at, text): &(usize, &'a str)| {
            lines::words(text).map(move |(offset, word)| (at + offset, word))
        };
        operation.operands.iter().flat_map(words).collect()
    };
    let numbers: Option<Vec<u32>> = words(points).iter().map(|(_, w)| w.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else { return Ok(None) };
    let listed = words(listed);
    if numbers.len() != listed.len() {
        let (numbers, moves) = (counted(numbers.len(), "point"), counted(listed.len(), "move"));
        return Err((points.at, format!("{numbers} in c8 for {moves} in c9")));
    }
    let moves = listed.into_iter().map(|(at, word)| read_move(position, "c9", at, word));
    let points = moves.zip(numbers).map(|(m, points)| m.map(|m| (m, points)));
    points.collect::<Result<_, _>>().map(Some)
}

/// The older form: `c0 "Nf3=10, e4=5";`. A c0 whose first part is not a legal
/// move with a number is an ordinary comment.
fn read_point_comment(
    position: &Position,
    operations: &[RawOperation],
) -> Result<Vec<(Move, u32)>, Fault> {
    let Some(&(start, text)) = find(operations, "c0").and_then(|op| op.operands.first()) else {
        return Ok(Vec::new());
    };
    let mut points = Vec::new();
    let mut at = start;
    for part in text.split(',') {
        let blank = part.len() - part.trim_start().len();
        let entry = part.trim();
        let (name, value) = entry.rsplit_once('=').unwrap_or((entry, ""));
        match (read_move(position, "c0", at + blank, name), value.trim().parse::<u32>()) {
            (Ok(m), Ok(value)) => points.push((m, value)),
            _ if points.is_empty() => return Ok(Vec::new()),
            (Err(fault), _) => return Err(fault),
            (_, Err(_)) => {
                return Err(bad_number(at + blank, "c0", entry, "'move=points'"));
            }
        }
        at += part.len() + 1;
    }
    Ok(points)
}
