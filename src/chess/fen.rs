//! Parses FEN, as in UCI and PGN, and the position at the start of an EPD line. The result is a
//! `Setup`. [`position`](super::position) checks whether the position is legal.
//!
//! FEN and EPD are sections 16.1 and 16.2 of the PGN standard (S. J. Edwards, 1994). Castling
//! rights may also be those of X-FEN or Shredder-FEN.

use shakmaty::{PositionErrorKinds, Setup, fen::Fen};

/// The largest halfmove clock and move number that a FEN may have. With the 75-move rule, no game
/// is longer. A halfmove clock of 100 or more is accepted, because the game continues if nobody
/// claims the draw.
pub(super) const MAX_CLOCK: u32 = 9999;

/// The error for a FEN that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct FenError {
    /// Byte offset of the fault in the text. For a missing field, this is the end of the last field
    /// that is present. For an illegal position, it is 0.
    pub at: usize,
    /// The fault, and what was expected.
    pub reason: String,
}

/// The error for an illegal position: the rules that it breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", broken_rules(.0))]
pub struct IllegalPosition(pub PositionErrorKinds);

fn broken_rules(kinds: &PositionErrorKinds) -> String {
    let rules = [
        (PositionErrorKinds::EMPTY_BOARD, "empty board"),
        (PositionErrorKinds::MISSING_KING, "missing king"),
        (PositionErrorKinds::TOO_MANY_KINGS, "too many kings"),
        (PositionErrorKinds::PAWNS_ON_BACKRANK, "pawns on the first or last rank"),
        (PositionErrorKinds::OPPOSITE_CHECK, "the side not to move is in check"),
        (PositionErrorKinds::TOO_MUCH_MATERIAL, "more than 32 pieces"),
    ];
    let broken = rules.iter().filter(|(kind, _)| kinds.contains(*kind));
    broken.map(|&(_, words)| words).collect::<Vec<_>>().join(", ")
}

/// The fields of a FEN: name, name with its article, and format.
const FIELDS: [(&str, &str, &str); 6] = [
    ("board", "a board", "eight ranks of pieces and numbers, with slashes between them"),
    ("side to move", "a side to move", "'w' or 'b'"),
    ("castling rights", "a set of castling rights", "letters such as KQkq or HAha, or '-'"),
    ("en passant square", "an en passant square", "a square such as e3, or '-'"),
    ("halfmove clock", "a halfmove clock", "a whole number from 0 to 9999"),
    ("move number", "a move number", "a whole number from 0 to 9999"),
];
/// The number of fields that an EPD line must have.
const EPD_FIELDS: usize = 4;

/// A field and its byte offset in the text.
type Field<'a> = (usize, &'a str);

/// Returns the fields of a FEN. They are separated by whitespace, or by underscores, as some
/// programs write them.
pub(super) fn fields(text: &str) -> impl Iterator<Item = Field<'_>> {
    text.split(|c: char| c.is_whitespace() || c == '_')
        .filter(|field| !field.is_empty())
        .map(|field| (field.as_ptr() as usize - text.as_ptr() as usize, field))
}

/// Parses a FEN. Fields that are missing at the end default to `w - - 0 1`.
///
/// # Errors
///
/// If a field cannot be parsed. The error is that of the first such field.
pub(super) fn read(text: &str) -> Result<Setup, FenError> {
    read_fields(&fields(text).collect::<Vec<_>>())
}

/// Parses the position at the start of an EPD line: board, side to move, castling rights and en
/// passant square. Halfmove clock and move number may follow, as in a FEN. Returns the position and
/// the byte offset of its end.
///
/// # Errors
///
/// If a field is missing or cannot be parsed. Wrong fields are reported before missing ones.
pub fn read_epd(line: &str) -> Result<(Setup, usize), FenError> {
    // A ';' may follow the position without whitespace.
    let text = line.split(';').next().unwrap_or_default();
    let is_number = |(_, field): &Field| field.bytes().all(|byte| byte.is_ascii_digit());
    let mut fields = fields(text);
    let mut found: Vec<Field> = fields.by_ref().take(EPD_FIELDS).collect();
    found.extend(fields.take(FIELDS.len() - EPD_FIELDS).take_while(is_number));
    let setup = read_fields(&found)?;
    if found.len() < EPD_FIELDS {
        let reason = format!("the line ends before the {}", FIELDS[found.len()].0);
        return Err(FenError { at: text.trim_end().len(), reason });
    }
    Ok((setup, found.last().map_or(0, |(at, field)| at + field.len())))
}

fn read_fields(fields: &[Field]) -> Result<Setup, FenError> {
    let parse = |count: usize| {
        let fields: Vec<&str> = fields[..count].iter().map(|(_, field)| *field).collect();
        fields.join(" ").parse::<Fen>()
    };
    let wrong = |index: usize| wrong_field(fields, index);
    let fen = parse(fields.len()).map_err(|_| {
        // The first field that makes the FEN unreadable is the wrong one.
        wrong((0..fields.len()).find(|&index| parse(index + 1).is_err()).unwrap_or(0))
    })?;
    let setup = fen.into_setup();
    if setup.pockets.is_some() {
        Err(wrong(0)) // Crazyhouse
    } else if setup.remaining_checks.is_some() {
        Err(wrong(fields.iter().position(|(_, field)| field.contains('+')).unwrap_or(4))) // Three-check
    } else if setup.halfmoves > MAX_CLOCK {
        Err(wrong(4))
    } else if u32::from(setup.fullmoves) > MAX_CLOCK {
        Err(wrong(5))
    } else {
        Ok(setup)
    }
}

/// Returns the error for a field: its text, and what was expected.
fn wrong_field(fields: &[Field], index: usize) -> FenError {
    let (at, token) = fields.get(index).copied().unwrap_or_default();
    let Some((_, what, expected)) = FIELDS.get(index) else {
        let reason = format!("'{token}' after the move number: expected the end of the FEN");
        return FenError { at, reason };
    };
    let (offset, hint) = (index == 0 && !token.is_empty())
        .then(|| wrong_board(token))
        .flatten()
        .unwrap_or_else(|| (0, format!("expected {expected}")));
    FenError { at: at + offset, reason: format!("'{token}' is not {what}: {hint}") }
}

/// Returns the first fault of a board, with its byte offset.
fn wrong_board(board: &str) -> Option<(usize, String)> {
    let mut start = 0;
    let ranks = board.split('/').count();
    for (rank, number) in board.split('/').zip((1..=8).rev()) {
        let mut squares = 0;
        for (at, piece) in rank.char_indices() {
            squares += match piece {
                '1'..='8' => piece.to_digit(10).unwrap_or_default(),
                '~' => 0, // a promoted piece
                _ if "PNBRQKpnbrqk".contains(piece) => 1,
                _ => return Some((start + at, format!("'{piece}' is neither a piece nor 1 to 8"))),
            };
        }
        if squares != 8 {
            return Some((start, format!("rank {number} has {squares} squares, expected 8")));
        }
        start += rank.len() + 1;
    }
    (ranks != 8).then(|| (0, format!("{ranks} ranks, expected 8")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

    #[test]
    fn wrong_fields_are_named() {
        for (rest, at, reason) in [
            ("/8 w KQkq - 0 1", 0, "/8' is not a board: 9 ranks, expected 8"),
            ("[Q] w KQkq - 0 1", 43, "[Q]' is not a board: '[' is neither a piece nor 1 to 8"),
            (" white KQkq - 0 1", 44, "'white' is not a side to move: expected 'w' or 'b'"),
            (
                " w KQxy - 0 1",
                46,
                "'KQxy' is not a set of castling rights: expected letters such as KQkq or HAha, or '-'",
            ),
            (
                " w KQkq e9 0 1",
                51,
                "'e9' is not an en passant square: expected a square such as e3",
            ),
            (
                " w KQkq - -1 1",
                53,
                "'-1' is not a halfmove clock: expected a whole number from 0 to 9999",
            ),
            (" w KQkq - 10000 1", 53, "'10000' is not a halfmove clock"),
            (" w KQkq - 99999999999 1", 53, "'99999999999' is not a halfmove clock"),
            (" w KQkq - 3+3 0 1", 53, "'3+3' is not a halfmove clock"),
            (
                " w KQkq - 0 1e3",
                55,
                "'1e3' is not a move number: expected a whole number from 0 to 9999",
            ),
            (" w KQkq - 0 4294967295", 55, "'4294967295' is not a move number"),
            (" w KQkq - 0 1 b", 57, "'b' after the move number: expected the end"),
            (" w KQkq - 0 1 +0+0", 57, "'+0+0' after the move number: expected the end"),
        ] {
            let error = read(&format!("{BOARD}{rest}")).unwrap_err();
            assert_eq!(error.at, at, "{error}");
            assert!(error.reason.contains(reason), "{error}");
        }
        for (board, at, reason) in [
            ("", 0, "'' is not a board: expected eight ranks of pieces and numbers"),
            ("8/8/8", 0, "3 ranks, expected 8"),
            ("8/8/8/8/8/44/8/9", 15, "'9' is neither a piece nor 1 to 8"),
            ("8/8/8/8/8/7/8/8", 10, "rank 3 has 7 squares, expected 8"),
            ("8/8/8/8/8/8/8/ppppppppp", 14, "rank 1 has 9 squares, expected 8"),
            ("8/8/8/8/8/8/8/7\u{e9}", 15, "'\u{e9}' is neither a piece nor 1 to 8"),
        ] {
            let error = read(board).unwrap_err();
            assert_eq!(error.at, at, "{error}");
            assert!(error.reason.contains(reason), "{error}");
        }
    }

    #[test]
    fn epd_positions_end_before_the_operations() {
        let ends = |rest: &str| {
            let line = format!("{BOARD} b KQ e3{rest}");
            let (setup, end) = read_epd(&line).unwrap();
            (line[end..].to_owned(), setup.halfmoves, u32::from(setup.fullmoves))
        };
        assert_eq!(ends(" bm Qf7; id \"a 1\";"), (" bm Qf7; id \"a 1\";".to_owned(), 0, 1));
        assert_eq!(ends(" 3 9 extra"), (" extra".to_owned(), 3, 9));
        assert_eq!(ends(" 3;bm Qf7"), (";bm Qf7".to_owned(), 3, 1));
        assert_eq!(ends(" 3 9;bm Qf7"), (";bm Qf7".to_owned(), 3, 9));
        assert_eq!(ends(""), (String::new(), 0, 1));

        let error = |line: &str| {
            let FenError { at, reason } = read_epd(line).unwrap_err();
            (at, reason)
        };
        assert_eq!(
            error(&format!("{BOARD} w - ")),
            (47, "the line ends before the en passant square".to_owned())
        );
        // Wrong fields are reported before missing ones.
        assert_eq!(error(" nonsense").0, 2);
        assert!(error(&format!("{BOARD} w - - 10000 1")).1.contains("is not a halfmove clock"));
    }
}
