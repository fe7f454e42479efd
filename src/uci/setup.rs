//! The position on the board: `position` lines, and moves from text.

use std::fmt;

use shakmaty::{CastlingMode, Color, Move, Rank, Role, uci::UciMove};

use super::{command::PositionCommand, format::move_text};
use crate::chess::{
    fen::FenError,
    position::{Game, Position, START_FEN},
};

/// The game so far, and the text it came from.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    game: Game,
    /// What `game` was made from; `None` if from something else than a
    /// `position` line.
    source: Option<(CastlingMode, PositionCommand)>,
}

/// Why a move was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveError {
    /// No move notation.
    Unreadable {
        /// As given.
        text: String,
    },
    /// Not legal in the position.
    Illegal {
        /// As given.
        text: String,
        /// Why not.
        reason: String,
    },
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MoveError::Unreadable { text } => {
                write!(f, "'{text}' is no move: expected one like e2e4 or e7e8q")
            }
            MoveError::Illegal { text, reason } => write!(f, "illegal move '{text}': {reason}"),
        }
    }
}

impl std::error::Error for MoveError {}

/// Why a `position` line was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// The FEN.
    Fen(FenError),
    /// A move.
    Move {
        /// Its place in the list, from 1.
        number: usize,
        /// What is wrong with it.
        error: MoveError,
        /// Where it was to be played.
        fen: String,
    },
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::Fen(error) => write!(f, "{error}"),
            SetupError::Move { number, error, fen } => {
                write!(f, "{error} (move {number} of the line, in '{fen}')")
            }
        }
    }
}

impl std::error::Error for SetupError {}

impl From<Game> for Setup {
    fn from(game: Game) -> Setup {
        Setup { game, source: None }
    }
}

impl Setup {
    /// The game.
    #[must_use]
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// Sets up what a `position` line says. If it only adds moves to the last
    /// one, only those are played, so that long games stay cheap. Returns what of
    /// the FEN was dropped, in words.
    ///
    /// # Errors
    ///
    /// If the FEN or a move cannot be used; nothing has changed then.
    pub fn apply(
        &mut self,
        command: PositionCommand,
        mode: CastlingMode,
    ) -> Result<Vec<String>, SetupError> {
        let extends = |(old_mode, old): &&(CastlingMode, PositionCommand)| {
            *old_mode == mode && old.fen == command.fen && command.moves.starts_with(&old.moves)
        };
        let mut remarks = Vec::new();
        let (mut game, played) = match self.source.as_ref().filter(extends) {
            Some((_, old)) => (self.game.clone(), old.moves.len()),
            None => {
                let position = match &command.fen {
                    Some(fen) => {
                        let read = Position::from_fen_with_remarks(fen, mode);
                        let (position, dropped) = read.map_err(SetupError::Fen)?;
                        remarks = dropped;
                        position
                    }
                    None => start(mode)?,
                };
                (Game::from(position), 0)
            }
        };
        for (text, number) in command.moves.iter().zip(1..).skip(played) {
            play(&mut game, text).map_err(|error| SetupError::Move {
                number,
                error,
                fen: game.position().fen(),
            })?;
        }
        *self = Setup { game, source: Some((mode, command)) };
        Ok(remarks)
    }
}

/// The start position; with Chess960's castling notation if so wanted.
fn start(mode: CastlingMode) -> Result<Position, SetupError> {
    match mode {
        CastlingMode::Standard => Ok(Position::default()),
        CastlingMode::Chess960 => Position::from_fen(START_FEN, mode).map_err(SetupError::Fen),
    }
}

/// Plays a move given as text. `0000` passes, where passing is possible: GUIs
/// send it when a person asks for the threat.
fn play(game: &mut Game, text: &str) -> Result<(), MoveError> {
    if text != "0000" {
        game.play(read_move(game.position(), text)?);
        return Ok(());
    }
    let position = game.position();
    let passed = if position.is_check() { None } else { position.play_null() };
    *game = Game::from(passed.ok_or_else(|| MoveError::Illegal {
        text: text.to_owned(),
        reason: "no passing in check".to_owned(),
    })?);
    Ok(())
}

/// The legal move that `text` stands for. Castling is read as the king's own
/// move (e1g1) and as king takes rook (e1h1) in every mode; the promotion piece
/// in any case, also as `e7e8=Q`.
///
/// # Errors
///
/// If it is no move, or not a legal one.
pub fn read_move(position: &Position, text: &str) -> Result<Move, MoveError> {
    let plain = text.replacen('=', "", 1).to_ascii_lowercase();
    let Ok(uci) = UciMove::from_ascii(plain.as_bytes()) else {
        return Err(MoveError::Unreadable { text: text.to_owned() });
    };
    if let Ok(m) = uci.to_move(position.chess()) {
        return Ok(m);
    }
    // Chess960 castling written as the king's own move.
    let castling = |m: &&Move| m.is_castle() && move_text(**m, CastlingMode::Standard) == plain;
    if let Some(&m) = position.legal_moves().iter().find(castling) {
        return Ok(m);
    }
    Err(MoveError::Illegal { text: text.to_owned(), reason: reason(position, uci) })
}

/// Why `uci` is not legal.
fn reason(position: &Position, uci: UciMove) -> String {
    let UciMove::Normal { from, to, promotion } = uci else {
        return "there is no such move in chess".to_owned();
    };
    let name = |color| if color == Color::White { "White" } else { "Black" };
    let us = position.turn();
    let Some(piece) = position.board().piece_at(from) else {
        return format!("there is no piece on {from}");
    };
    if piece.color != us {
        return format!("the piece on {from} is {}'s, and {} is to move", name(!us), name(us));
    }
    let promotes = piece.role == Role::Pawn && matches!(to.rank(), Rank::First | Rank::Eighth);
    if promotes && promotion.is_none() {
        return format!("the pawn must become something, as in {from}{to}q");
    }
    if !promotes && promotion.is_some() {
        return "nothing becomes another piece here".to_owned();
    }
    if position.is_check() {
        return format!("{}'s king is in check, and this is no way out", name(us));
    }
    format!("{} cannot move like this", name(us))
}

#[cfg(test)]
mod tests {
    use super::*;
    use CastlingMode::{Chess960, Standard};

    fn line(fen: Option<&str>, moves: &[&str]) -> PositionCommand {
        PositionCommand {
            fen: fen.map(str::to_owned),
            moves: moves.iter().map(|&m| m.to_owned()).collect(),
        }
    }

    fn position(fen: &str, mode: CastlingMode) -> Position {
        Position::from_fen(fen, mode).unwrap()
    }

    #[test]
    fn extending_a_line_equals_setting_it_up() {
        let moves = ["g1f3", "g8f6", "f3g1", "f6g8", "e2e4", "e7e5", "0000", "g8f6"];
        let mut extended = Setup::default();
        for length in 0..=moves.len() {
            extended.apply(line(None, &moves[..length]), Standard).unwrap();
            let mut fresh = Setup::default();
            fresh.apply(line(None, &moves[..length]), Standard).unwrap();
            assert_eq!(extended.game().keys(), fresh.game().keys());
            assert_eq!(extended.game().position().fen(), fresh.game().position().fen());
        }
        // Shorter, other, and other start.
        extended.apply(line(None, &["g1f3"]), Standard).unwrap();
        assert_eq!(extended.game().keys().len(), 1);
        extended.apply(line(Some("8/8/8/8/8/4k3/8/4K2R w K -"), &["e1g1"]), Standard).unwrap();
        assert_eq!(extended.game().position().fen(), "8/8/8/8/8/4k3/8/5RK1 b - - 1 1");
    }

    #[test]
    fn a_bad_line_changes_nothing_and_names_the_token() {
        let mut setup = Setup::default();
        setup.apply(line(None, &["e2e4", "e7e5"]), Standard).unwrap();
        let before = setup.game().position().fen();
        for (fen, moves, message) in [
            (
                None,
                &["e2e4", "e7e5", "e1e3"][..],
                "illegal move 'e1e3': White cannot move like this (move 3 of the line",
            ),
            (
                None,
                &["e2e4", "e2e4"][..],
                "illegal move 'e2e4': there is no piece on e2 (move 2 of the line",
            ),
            (
                None,
                &["e7e5"][..],
                "illegal move 'e7e5': the piece on e7 is Black's, and White is to move",
            ),
            (None, &["xyz"][..], "'xyz' is no move: expected one like e2e4 or e7e8q (move 1"),
            (None, &["e2e4q"][..], "illegal move 'e2e4q': nothing becomes another piece here"),
            (
                None,
                &["e2e4", "f7f6", "d1h5", "0000"][..],
                "illegal move '0000': no passing in check",
            ),
            (
                None,
                &["e2e4", "f7f6", "d1h5", "a7a6"][..],
                "illegal move 'a7a6': Black's king is in check",
            ),
            (
                Some("8/P6k/8/8/8/8/8/K7 w - - 0 1"),
                &["a7a8"][..],
                "illegal move 'a7a8': the pawn must become something, as in a7a8q",
            ),
            (Some("8/8/8/8/8/8/8/K7 w - - 0 1"), &[][..], "illegal position"),
            (
                Some("8/8/8/8/8/8/8/K6z w - - 0 1"),
                &[][..],
                "unreadable FEN '8/8/8/8/8/8/8/K6z w - - 0 1': '8/8/8/8/8/8/8/K6z' is no board: expected",
            ),
        ] {
            let error = setup.apply(line(fen, moves), Standard).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
            assert_eq!(setup.game().position().fen(), before);
        }
        setup.apply(line(None, &["e2e4", "e7e5", "g1f3"]), Standard).unwrap();
    }

    #[test]
    fn castling_in_either_notation_and_mode() {
        let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        for mode in [Standard, Chess960] {
            let position = position(fen, mode);
            for (a, b) in [("e1g1", "e1h1"), ("e1c1", "E1A1")] {
                let m = read_move(&position, a).unwrap();
                assert!(m.is_castle());
                assert_eq!(read_move(&position, b), Ok(m));
            }
        }
        // The king is on d1: d1c1 is a king's move, b1 no castling square.
        let shuffled = position("1r1k3r/8/8/8/8/8/8/R2K3R w HAhb - 0 1", Chess960);
        assert!(!read_move(&shuffled, "d1c1").unwrap().is_castle());
        assert!(read_move(&shuffled, "d1a1").unwrap().is_castle());
        assert!(read_move(&shuffled, "d1g1").unwrap().is_castle());
        assert!(read_move(&shuffled, "d1b1").is_err());
        // King takes the rook beside it, not the other one's square.
        let beside = position("4k3/8/8/8/8/8/8/4KR2 w F - 0 1", Chess960);
        assert!(read_move(&beside, "e1f1").unwrap().is_castle());
        assert!(read_move(&beside, "e1g1").unwrap().is_castle());
    }

    #[test]
    fn promotions_however_written() {
        let position = position("8/P6k/8/8/8/8/8/K7 w - - 0 1", Standard);
        for text in ["a7a8q", "a7a8Q", "a7a8=Q", "A7A8=q"] {
            assert_eq!(read_move(&position, text).unwrap().promotion(), Some(Role::Queen));
        }
        assert_eq!(read_move(&position, "a7a8n").unwrap().promotion(), Some(Role::Knight));
        for text in ["a7a8k", "a7a8p", "Q@a8", "", "a7a8qq", "a7\u{fffd}8"] {
            assert!(read_move(&position, text).is_err(), "{text}");
        }
    }
}
