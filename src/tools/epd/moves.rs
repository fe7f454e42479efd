//! Moves as test suites write them: SAN with or without suffixes, UCI, and
//! long algebraic notation.

use std::fmt;

use shakmaty::{
    Move, Role,
    san::{San, SanError},
    uci::UciMove,
};

use crate::chess::position::Position;

/// Why a word is not a move of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveError {
    /// It does not look like a move in any notation.
    Unreadable,
    /// It reads as a move that is not legal here.
    Illegal,
    /// Several legal moves fit; all of them in SAN.
    Ambiguous(Vec<String>),
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MoveError::Unreadable => f.write_str("is not a move"),
            MoveError::Illegal => f.write_str("is not legal in this position"),
            MoveError::Ambiguous(fitting) => write!(f, "is ambiguous: {}", fitting.join(" or ")),
        }
    }
}

impl std::error::Error for MoveError {}

/// The legal move that `word` stands for.
///
/// Tried in turn: SAN (`Nbd7`, `exd8=Q#`, `O-O`, `0-0-0`), UCI (`e7e8q`,
/// `e1g1`, `e1h1`), long algebraic (`Ng1-f3`, `e5xd6`). Suffixes such as `+`,
/// `#`, `!?` and a trailing comma are ignored, a missing or superfluous `x` and a
/// missing `=` are forgiven.
///
/// # Errors
///
/// See [`MoveError`].
pub fn read(position: &Position, word: &str) -> Result<Move, MoveError> {
    let word = word.trim_end_matches(['!', '?', '+', '#', ',']);
    let chess = position.chess();
    let mut error = MoveError::Unreadable;

    let castling = word.replace(['0', 'o'], "O");
    let san = if castling.starts_with("O-O") { castling.as_str() } else { word };
    let san = San::from_ascii(with_equals_sign(san).as_bytes());
    if let Ok(san @ (San::Normal { .. } | San::Castle(_))) = san {
        match san.to_move(chess) {
            Ok(m) => return Ok(m),
            Err(SanError::AmbiguousSan) => {
                return Err(MoveError::Ambiguous(fitting(position, san)));
            }
            Err(SanError::IllegalSan) => error = MoveError::Illegal,
        }
        if let San::Normal { role, file, rank, capture, to, promotion } = san {
            let other = San::Normal { role, file, rank, capture: !capture, to, promotion };
            match other.to_move(chess) {
                Ok(m) => return Ok(m),
                Err(SanError::AmbiguousSan) => {
                    return Err(MoveError::Ambiguous(fitting(position, other)));
                }
                Err(SanError::IllegalSan) => {}
            }
        }
    }

    let (role, squares) = match word.chars().next().and_then(Role::from_char) {
        Some(role) if word.starts_with(char::is_uppercase) => (Some(role), &word[1..]),
        _ => (None, word),
    };
    let plain: String = squares.chars().filter(|c| !matches!(c, '-' | 'x' | '=')).collect();
    if let Ok(uci @ UciMove::Normal { from, .. }) = plain.to_ascii_lowercase().parse() {
        error = MoveError::Illegal;
        if role.is_none() || role == position.board().role_at(from) {
            return uci.to_move(chess).map_err(|_| MoveError::Illegal);
        }
    }
    Err(error)
}

/// `e8Q` as `e8=Q`.
fn with_equals_sign(word: &str) -> String {
    match word.char_indices().next_back() {
        Some((at, 'Q' | 'R' | 'B' | 'N')) if word[..at].ends_with(['1', '8']) => {
            format!("{}={}", &word[..at], &word[at..])
        }
        _ => word.to_owned(),
    }
}

fn fitting(position: &Position, san: San) -> Vec<String> {
    let moves = position.legal_moves();
    moves.iter().filter(|&&m| san.matches(m)).map(|&m| to_san(position, m)).collect()
}

/// A legal move in SAN, without suffix.
#[must_use]
pub fn to_san(position: &Position, m: Move) -> String {
    San::from_move(position.chess(), m).to_string()
}

/// A legal move in UCI notation; king takes rook for castling in Chess960.
#[must_use]
pub fn to_uci(position: &Position, m: Move) -> String {
    UciMove::from_move(m, position.mode()).to_string()
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    fn reads(fen: &str, words: &[&str]) {
        let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        let first = read(&position, words[0]).unwrap();
        for word in words {
            assert_eq!(read(&position, word), Ok(first), "{word}");
        }
    }

    #[test]
    fn every_notation() {
        reads(
            "r3k2r/8/8/8/8/5N2/8/R3K2R w KQkq - 0 1",
            &["O-O", "0-0", "O-O+", "o-o", "e1g1", "e1h1", "Ke1-g1", "Ke1g1"],
        );
        reads("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", &["O-O-O", "0-0-0!", "e8c8", "e8a8"]);
        reads("1k6/4P3/8/8/8/8/8/4K3 w - - 0 1", &["e8=Q+", "e8Q", "e7e8q", "e7-e8=Q", "e7e8Q"]);
        reads(
            "4k3/8/8/3pP3/8/5N2/8/4K3 w - d6 0 1",
            &["exd6", "exd6,", "e5d6", "e5xd6!?", "e5-d6"],
        );
        reads("4k3/8/8/8/8/5N2/8/4K3 w - - 0 1", &["Nd4", "Nf3d4", "Nf3-d4", "f3d4", "Nfd4??"]);
        reads("4k3/8/8/8/3p4/5N2/8/4K3 w - - 0 1", &["Nxd4", "Nd4", "Nf3xd4", "f3d4"]);
        // A bishop on the b file, not a pawn.
        reads("4k3/8/8/8/8/2p5/1B6/4K3 w - - 0 1", &["Bxc3", "b2c3", "Bb2xc3"]);
        // Chess960: king and rook change sides of each other.
        reads("4k3/8/8/8/8/8/8/1RK5 w B - 0 1", &["O-O-O", "c1b1", "0-0-0"]);
    }

    #[test]
    fn wrong_moves_say_why() {
        let fen = "4k3/8/8/8/8/1N3N2/8/4K3 w - - 0 1";
        let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        let ambiguous = MoveError::Ambiguous(vec!["Nbd4".to_owned(), "Nfd4".to_owned()]);
        assert_eq!(read(&position, "Nd4"), Err(ambiguous.clone()));
        assert_eq!(read(&position, "Nxd4"), Err(ambiguous));
        for word in ["Ke5", "O-O", "e1e3", "Bf3d4", "a1a2", "e4"] {
            assert_eq!(read(&position, word), Err(MoveError::Illegal), "{word}");
        }
        for word in ["", "id", "Nd9", "--", "é", "Né", "N", "+"] {
            assert_eq!(read(&position, word), Err(MoveError::Unreadable), "{word}");
        }
    }
}
