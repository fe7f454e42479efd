//! Moves in UCI messages.

use shakmaty::{Role, Square, uci::UciMove as Notation};
use vampirc_uci::{UciMove, UciSquare};

/// Reads a move such as `e2e4`, `e7e8q` or `E7E8=Q`. Returns `None` for any other word.
pub fn read(word: &str) -> Option<UciMove> {
    let plain = word.replacen('=', "", 1).to_ascii_lowercase();
    message(Notation::from_ascii(plain.as_bytes()).ok()?)
}

/// Converts a move for a message. Returns `None` for null moves, drops and promotions to a pawn or
/// a king.
pub fn message(m: Notation) -> Option<UciMove> {
    let Notation::Normal { from, to, promotion } = m else { return None };
    let square = |square: Square| UciSquare {
        file: square.file().char(),
        rank: u8::from(square.rank()) + 1,
    };
    let promotion = match promotion {
        None => None,
        Some(Role::Pawn | Role::King) => return None,
        Some(role) => role.char().to_string().parse().ok(),
    };
    Some(UciMove { from: square(from), to: square(to), promotion })
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;
    use crate::chess::{
        notation::{MoveError, move_text, read_move},
        position::Position,
    };

    #[test]
    fn every_legal_move_is_the_same_again() {
        for (fen, mode) in [
            ("r3k2r/1P5p/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1", CastlingMode::Standard),
            (
                "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
                CastlingMode::Chess960,
            ),
        ] {
            let position = Position::from_fen_in(fen, mode).unwrap();
            for m in position.legal_moves() {
                let sent = message(Notation::from_move(m, mode)).unwrap();
                assert_eq!(sent.to_string(), move_text(m, mode));
                assert_eq!(read(&sent.to_string()), Some(sent));
                assert_eq!(read_move(&position, &sent.to_string()), Ok(m), "{sent}");
            }
        }
    }

    #[test]
    fn only_moves_are_read() {
        for (word, text) in [("E2E4", "e2e4"), ("a7a8=Q", "a7a8q"), ("a7b8N", "a7b8n")] {
            assert_eq!(read(word).unwrap().to_string(), text);
        }
        for word in ["", "0000", "e2", "e2e9", "i2e4", "a7a8k", "a7a8p", "Q@a8", "Nf3", "e2e4q1"] {
            assert_eq!(read(word), None, "{word}");
        }
        let nowhere = UciMove::from_to(UciSquare::default(), UciSquare::from('e', 9));
        let read = read_move(&Position::default(), &nowhere.to_string());
        assert!(matches!(read, Err(MoveError::Unreadable { .. })));
    }
}
