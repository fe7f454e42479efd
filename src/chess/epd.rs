//! Extended Position Description: parses a line into a position and its operations. The tool `epd`
//! compares the engine's moves with the solutions.

use std::{collections::HashSet, num::NonZeroU32};

use shakmaty::Move;

use super::{
    fen::{self, MAX_CLOCK},
    lines::{Line, LineError},
    notation::{self, MoveError, counted},
    position::Position,
};

/// The solution of a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// `bm`: the best moves, each of which is a solution.
    pub best: Vec<Move>,
    /// `am`: the moves to avoid.
    pub avoid: Vec<Move>,
    /// `dm N` or `bm #N`: mate in N moves; negative if the side to move is mated.
    pub mate: Option<i32>,
    /// Moves that earn points, in the order of the line.
    pub points: Vec<(Move, u32)>,
}

/// A position of a suite, with its solution and operations.
#[derive(Clone, Debug)]
pub struct Record {
    /// Line number in its file, from 1.
    pub line: usize,
    /// The line as written, without surrounding whitespace.
    pub text: String,
    /// `id`, or `line N` without one.
    pub id: String,
    /// The position, with the halfmove clock from `hmvc` and the move number from `fmvn`, if given.
    pub position: Position,
    /// The solution.
    pub goal: Goal,
    /// The operations, in the order of the line. If an opcode is repeated, only the first is kept.
    pub operations: Vec<Operation>,
}

/// An opcode with its operands. Operands that are strings have no quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The opcode, such as `bm`.
    pub opcode: String,
    /// The operands, such as `Nf3` and `Nf6`.
    pub operands: Vec<String>,
}

impl Record {
    /// Returns the first operand of the operation `opcode`, if it exists and is a number.
    pub fn number(&self, opcode: &str) -> Option<i64> {
        self.operations.iter().find(|op| op.opcode == opcode)?.operands.first()?.parse().ok()
    }
}

/// Opcodes that indicate a missing `;` if they are found instead of a move.
const KNOWN: [&str; 21] = [
    "id", "bm", "am", "dm", "ce", "acd", "acn", "acs", "pv", "hmvc", "fmvn", "c0", "c1", "c2",
    "c3", "c4", "c5", "c6", "c7", "c8", "c9",
];

/// Operations that may be given only once and whose strings must be closed, because the position,
/// its name and its solution depend on them. Other operations are read leniently.
const NEEDED: [&str; 6] = ["id", "bm", "am", "dm", "hmvc", "fmvn"];

/// A part of the line, and its fault.
type Fault<'a> = (&'a str, String);

/// Parses a line: the four position fields, optionally the halfmove clock and the move number of a
/// FEN, then operations. Each operation ends with `;`, which is optional after the last one.
///
/// # Errors
///
/// If the line cannot be used. The error gives the place in the line and the reason.
pub fn parse(line: &Line) -> Result<Record, LineError> {
    read(line).map_err(|(part, reason)| {
        let offset = part.as_ptr() as usize - line.text.as_ptr() as usize;
        line.error(offset, reason)
    })
}

fn read(line: &Line) -> Result<Record, Fault<'_>> {
    let text = line.text.as_str();
    let (mut setup, end) =
        fen::read_epd(text).map_err(|error| (&text[error.at..], error.reason))?;
    let operations = read_operations(&text[end..])?;
    setup.halfmoves = read_clock(&operations, "hmvc", 0)?.unwrap_or(setup.halfmoves);
    let number = read_clock(&operations, "fmvn", 1)?.and_then(NonZeroU32::new);
    setup.fullmoves = number.unwrap_or(setup.fullmoves);
    let text = text.trim();
    let position = Position::from_setup(setup)
        .map_err(|error| (text, format!("illegal position: {error}")))?;
    if position.legal_moves().is_empty() {
        return Err((text, "the game is over: there are no legal moves".to_owned()));
    }
    let goal = read_goal(&position, &operations)?;
    let id = find(&operations, "id").map(|id| id.operands.join(" "));
    Ok(Record {
        line: line.number,
        text: text.to_owned(),
        id: id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("line {}", line.number)),
        position,
        goal,
        operations: operations.into_iter().map(Operation::from).collect(),
    })
}

/// An operation, as parts of the line.
struct RawOperation<'a> {
    opcode: &'a str,
    operands: Vec<&'a str>,
}

impl From<RawOperation<'_>> for Operation {
    fn from(RawOperation { opcode, operands }: RawOperation<'_>) -> Operation {
        let operands = operands.into_iter().map(str::to_owned).collect();
        Operation { opcode: opcode.to_owned(), operands }
    }
}

fn read_operations(mut rest: &str) -> Result<Vec<RawOperation<'_>>, Fault<'_>> {
    let mut operations: Vec<RawOperation> = Vec::new();
    let mut names = HashSet::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
        if rest.is_empty() || rest.starts_with('#') || rest.starts_with("//") {
            return Ok(operations);
        }
        let (opcode, operands) = split_at(rest, |c| c.is_whitespace() || c == ';' || c == '"');
        // matetrack and other programs write "PV:".
        let name = opcode.strip_suffix(':').unwrap_or(opcode);
        let fine = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !fine {
            let word = if opcode.is_empty() { &rest[..1] } else { opcode };
            let expected = "expected a letter, then letters, digits or '_'";
            return Err((word, format!("'{word}' is not an opcode: {expected}")));
        }
        let repeated = !names.insert(name);
        if repeated && NEEDED.contains(&name) {
            return Err((name, format!("{name} is given twice")));
        }
        let mut operation = RawOperation { opcode: name, operands: Vec::new() };
        rest = read_operands(operands, &mut operation)?;
        // If an opcode is repeated, the first one counts.
        if !repeated {
            operations.push(operation);
        }
    }
}

/// Reads operands up to a `;` or the end, and returns the rest.
fn read_operands<'a>(
    mut rest: &'a str,
    operation: &mut RawOperation<'a>,
) -> Result<&'a str, Fault<'a>> {
    loop {
        let word = rest.trim_start();
        if word.is_empty() || word.starts_with(';') {
            return Ok(word);
        }
        // A string starts after whitespace or as the first operand. A quote directly after another
        // string belongs to an ordinary word.
        let begins = word.len() < rest.len() || operation.operands.is_empty();
        let operand;
        if begins && let Some(string) = word.strip_prefix('"') {
            let closed = string.find('"');
            if closed.is_none() && NEEDED.contains(&operation.opcode) {
                return Err((word, "the string has no closing '\"'".to_owned()));
            }
            // An unclosed string ends at the next ';'.
            let end = closed.or_else(|| string.find(';')).unwrap_or(string.len());
            (operand, rest) = string.split_at(end);
            rest = rest.strip_prefix('"').unwrap_or(rest);
        } else {
            (operand, rest) = split_at(word, |c| c.is_whitespace() || c == ';');
        }
        operation.operands.push(operand);
    }
}

/// Splits a text before the first character for which `end` is true.
fn split_at(text: &str, end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(end).unwrap_or(text.len()))
}

fn find<'a, 'b>(operations: &'b [RawOperation<'a>], opcode: &str) -> Option<&'b RawOperation<'a>> {
    operations.iter().find(|op| op.opcode == opcode)
}

/// Returns the number of `hmvc` or `fmvn`, if the operation exists.
fn read_clock<'a>(
    operations: &[RawOperation<'a>],
    opcode: &str,
    least: u32,
) -> Result<Option<u32>, Fault<'a>> {
    let Some(operation) = find(operations, opcode) else { return Ok(None) };
    let expected = format!("a whole number from {least} to {MAX_CLOCK}");
    let text = first_operand(operation, &expected)?;
    let number = text.parse::<u32>().ok().filter(|number| (least..=MAX_CLOCK).contains(number));
    number.map(Some).ok_or_else(|| bad_number(opcode, text, &expected))
}

fn first_operand<'a>(operation: &RawOperation<'a>, expected: &str) -> Result<&'a str, Fault<'a>> {
    let opcode = operation.opcode;
    operation
        .operands
        .first()
        .copied()
        .ok_or_else(|| (opcode, format!("{opcode} needs {expected}")))
}

fn bad_number<'a>(opcode: &str, text: &'a str, expected: &str) -> Fault<'a> {
    (text, format!("{opcode} '{text}': expected {expected}"))
}

fn read_goal<'a>(position: &Position, operations: &[RawOperation<'a>]) -> Result<Goal, Fault<'a>> {
    let mut goal = Goal { avoid: read_moves(position, operations, "am")?, ..Goal::default() };
    let mate_in = find(operations, "bm")
        .and_then(|op| op.operands.first())
        .and_then(|text| Some((text, text.strip_prefix('#')?)));
    if let Some((text, number)) = mate_in {
        goal.mate = Some(mate_distance("bm", text, number)?);
    } else {
        goal.best = read_moves(position, operations, "bm")?;
    }
    if let Some(operation) = find(operations, "dm") {
        let text = first_operand(operation, MATE_DISTANCE)?;
        goal.mate = Some(mate_distance("dm", text, text)?);
    }
    if let Some(m) = goal.best.iter().find(|m| goal.avoid.contains(m)) {
        let am = find(operations, "am").map_or("", |op| op.opcode);
        let san = notation::plain_san(position, *m);
        return Err((am, format!("{san} is both in bm and in am")));
    }
    goal.points = match read_point_list(position, operations)? {
        Some(points) => points,
        None => read_point_comment(position, operations)?,
    };
    Ok(goal)
}

const MATE_DISTANCE: &str = "a number of moves to mate, from -999 to 999 except 0";

fn mate_distance<'a>(opcode: &str, text: &'a str, number: &str) -> Result<i32, Fault<'a>> {
    let number =
        number.parse::<i32>().ok().filter(|moves| (1..=999).contains(&moves.unsigned_abs()));
    number.ok_or_else(|| bad_number(opcode, text, MATE_DISTANCE))
}

fn read_moves<'a>(
    position: &Position,
    operations: &[RawOperation<'a>],
    opcode: &str,
) -> Result<Vec<Move>, Fault<'a>> {
    let Some(operation) = find(operations, opcode) else { return Ok(Vec::new()) };
    first_operand(operation, "at least one move")?;
    operation.operands.iter().map(|text| read_move(position, opcode, text)).collect()
}

fn read_move<'a>(position: &Position, opcode: &str, text: &'a str) -> Result<Move, Fault<'a>> {
    notation::read_any_move(position, text).map_err(|error| match error {
        MoveError::Unreadable { .. } if KNOWN.contains(&text) => {
            (text, format!("{opcode}: '{text}' is not a move; is a ';' missing before it?"))
        }
        error => (text, format!("{opcode}: {error}")),
    })
}

/// Reads the points of the Strategic Test Suite: `c8 "10 4"; c9 "c4c5 e4d4";`. They need a `c9`,
/// and a `c8` with numbers only. Any other `c8` is an ordinary comment.
fn read_point_list<'a>(
    position: &Position,
    operations: &[RawOperation<'a>],
) -> Result<Option<Vec<(Move, u32)>>, Fault<'a>> {
    let (Some(points), Some(listed)) = (find(operations, "c8"), find(operations, "c9")) else {
        return Ok(None);
    };
    let words = |operation: &RawOperation<'a>| -> Vec<&'a str> {
        operation.operands.iter().flat_map(|operand| operand.split_whitespace()).collect()
    };
    let numbers: Option<Vec<u32>> = words(points).iter().map(|word| word.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else { return Ok(None) };
    let listed = words(listed);
    if numbers.len() != listed.len() {
        let (numbers, moves) = (counted(numbers.len(), "number"), counted(listed.len(), "move"));
        return Err((points.opcode, format!("c8 has {numbers}, but c9 has {moves}")));
    }
    let moves = listed.into_iter().map(|word| read_move(position, "c9", word));
    let points = moves.zip(numbers).map(|(m, points)| m.map(|m| (m, points)));
    points.collect::<Result<_, _>>().map(Some)
}

/// Reads points in the older form: `c0 "Nf3=10, e4=5";`. A `c0` whose first part is not a legal
/// move with a number is an ordinary comment.
fn read_point_comment<'a>(
    position: &Position,
    operations: &[RawOperation<'a>],
) -> Result<Vec<(Move, u32)>, Fault<'a>> {
    let Some(&text) = find(operations, "c0").and_then(|op| op.operands.first()) else {
        return Ok(Vec::new());
    };
    let mut points = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (name, value) = part.rsplit_once('=').unwrap_or((part, ""));
        match (read_move(position, "c0", name.trim_end()), value.trim().parse::<u32>()) {
            (Ok(m), Ok(value)) => points.push((m, value)),
            _ if points.is_empty() => return Ok(Vec::new()),
            (Err(fault), _) => return Err(fault),
            (_, Err(_)) => return Err(bad_number("c0", part, "'move=points'")),
        }
    }
    Ok(points)
}
