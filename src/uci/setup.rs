//! The game on the board, as set up by `position` commands.

use shakmaty::{CastlingMode, Move};
use vampirc_uci::{UciFen, UciMove};

use crate::chess::{
    fen::FenError,
    notation::{MoveError, read_move},
    position::{Game, Position, START_FEN},
};

/// The game so far, and the `position` command that it came from.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    game: Game,
    /// The first position of the game, or the position after its last null move.
    start: Position,
    /// The moves from there.
    moves: Vec<Move>,
    /// Moves taken back. The next one to replay is at the end.
    undone: Vec<Move>,
    /// The `position` command that `game` was made from; `None` if it was made differently.
    line: Option<PositionLine>,
}

/// A `position` command whose moves are all in its message.
#[derive(Clone, Debug)]
struct PositionLine {
    mode: Option<CastlingMode>,
    fen: Option<UciFen>,
    moves: Vec<UciMove>,
}

/// The reason why a `position` command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The FEN is wrong.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A move is wrong.
    #[error("{error} (move {number} after 'moves', in position '{fen}')")]
    Move {
        /// The place of the move in the list, from 1.
        number: usize,
        /// The error in the move.
        error: MoveError,
        /// The position before the move.
        fen: String,
    },
}

impl From<Game> for Setup {
    fn from(game: Game) -> Setup {
        let start = game.position().clone();
        Setup { game, start, ..Setup::default() }
    }
}

impl Setup {
    /// Returns the game.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// Returns the first position of the game, or the position after its last null move.
    pub(super) const fn start(&self) -> &Position {
        &self.start
    }

    /// Returns the moves from [`start`](Self::start). A null move sets a new start.
    pub(super) fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Plays a legal move.
    pub(super) fn play(&mut self, m: Move) {
        self.game.play(m);
        self.moves.push(m);
        self.undone.clear();
        self.line = None;
    }

    /// Takes up to `count` moves back. Returns their number.
    pub(super) fn undo(&mut self, count: usize) -> usize {
        let undone = self.moves.split_off(self.moves.len().saturating_sub(count));
        if !undone.is_empty() {
            self.undone.extend(undone.iter().rev());
            self.line = None;
            self.game = Game::from(self.start.clone());
            self.moves.iter().for_each(|&m| self.game.play(m));
        }
        undone.len()
    }

    /// Replays the last move that was taken back, if there is one.
    pub(super) fn redo(&mut self) -> Option<Move> {
        let m = self.undone.pop()?;
        self.line = None;
        self.game.play(m);
        self.moves.push(m);
        Some(m)
    }

    /// Sets up the position of a `position` command. `fen` is `None` for the start position. The
    /// moves of the message are played first, then those of its
    /// [extension](super::extension::Extension::moves), `beside`. If the command only adds moves to
    /// the previous command, only these are played, so that long games stay cheap. Castling rights
    /// that `mode` does not allow are dropped. If `mode` is `None`, the castling rights decide the
    /// mode. Returns remarks on the parts of the FEN that were dropped.
    ///
    /// # Errors
    ///
    /// If the FEN or a move is wrong. The game is then unchanged.
    pub fn apply(
        &mut self,
        fen: Option<UciFen>,
        moves: Vec<UciMove>,
        beside: &[String],
        mode: Option<CastlingMode>,
    ) -> Result<Vec<String>, SetupError> {
        let extends = |old: &&PositionLine| {
            old.mode == mode && old.fen == fen && moves.starts_with(&old.moves)
        };
        let mut remarks = Vec::new();
        let (mut new, played) = match self.line.as_ref().filter(extends) {
            Some(old) => (self.clone(), old.moves.len()),
            None => {
                let text = fen.as_ref().map_or(START_FEN, UciFen::as_str);
                let (position, dropped) = Position::from_fen_with_remarks(text, mode)?;
                remarks = dropped;
                (Setup::from(Game::from(position)), 0)
            }
        };
        let failed = |at: &Setup, number, error| {
            let fen = at.game.position().fen();
            SetupError::Move { number, error, fen }
        };
        let texts = moves[played..].iter().map(UciMove::to_string).chain(beside.iter().cloned());
        for (text, number) in texts.zip(played + 1..) {
            new.play_text(&text).map_err(|error| failed(&new, number, error))?;
        }
        new.line = beside.is_empty().then_some(PositionLine { mode, fen, moves });
        *self = new;
        Ok(remarks)
    }

    /// Plays a move given as text. `0000` is a null move, which is legal unless the king is in
    /// check. GUIs send it when a person asks for the threat.
    fn play_text(&mut self, text: &str) -> Result<(), MoveError> {
        let position = self.game.position();
        if text != "0000" {
            self.play(read_move(position, text)?);
            return Ok(());
        }
        let passed = position.play_null().ok_or_else(|| MoveError::Illegal {
            text: text.to_owned(),
            reason: "a null move is not possible in check".to_owned(),
        })?;
        *self = Setup::from(Game::from(passed));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use CastlingMode::Standard;
    use vampirc_uci::UciMessage;

    use super::*;
    use crate::uci::command::{self, Command};

    /// Applies a `position` command to `setup`.
    fn apply(setup: &mut Setup, fen: Option<&str>, moves: &[&str]) -> Result<(), SetupError> {
        let start = fen.map_or("startpos".to_owned(), |fen| format!("fen {fen}"));
        let line = format!("position {start} moves {}", moves.join(" "));
        match command::parse(line.as_bytes()).unwrap() {
            Some(Command::Message(UciMessage::Position { fen, moves, .. }, extension)) => {
                setup.apply(fen, moves, &extension.moves, Some(Standard)).map(drop)
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn extending_a_line_equals_setting_it_up() {
        let moves = ["g1f3", "g8f6", "f3g1", "f6g8", "e2e4", "e7e5", "0000", "g8f6"];
        let mut extended = Setup::default();
        for length in 0..=moves.len() {
            apply(&mut extended, None, &moves[..length]).unwrap();
            let mut fresh = Setup::default();
            apply(&mut fresh, None, &moves[..length]).unwrap();
            assert_eq!(extended.game().keys(), fresh.game().keys());
            assert_eq!(extended.game().position().fen(), fresh.game().position().fen());
        }
        // Fewer moves, and another start position.
        apply(&mut extended, None, &["g1f3"]).unwrap();
        assert_eq!(extended.game().keys().len(), 1);
        apply(&mut extended, Some("8/8/8/8/8/4k3/8/4K2R w K -"), &["e1g1"]).unwrap();
        assert_eq!(extended.game().position().fen(), "8/8/8/8/8/4k3/8/5RK1 b - - 1 1");
    }

    #[test]
    fn moves_are_taken_back_and_played_again() {
        let mut setup = Setup::default();
        apply(&mut setup, None, &["e2e4", "e7e5", "g1f3"]).unwrap();
        let fens: Vec<String> = (0..4)
            .map(|_| {
                let fen = setup.game().position().fen();
                setup.undo(1);
                fen
            })
            .collect();
        assert_eq!((setup.undo(1), setup.moves().len()), (0, 0));
        for fen in fens.iter().rev() {
            assert_eq!(setup.game().position().fen(), *fen);
            setup.redo();
        }
        assert_eq!(setup.redo(), None);
        assert_eq!((setup.undo(2), setup.game().position().fen()), (2, fens[2].clone()));
        assert_eq!((setup.undo(9), setup.game().position().fen()), (1, fens[3].clone()));
        while setup.redo().is_some() {}
        assert_eq!(setup.game().position().fen(), fens[0]);
        // A new move discards the undone moves and the line that could be extended.
        setup.undo(1);
        setup.play(read_move(setup.game().position(), "b1c3").unwrap());
        assert_eq!((setup.redo(), setup.moves().len()), (None, 3));
        apply(&mut setup, None, &["e2e4", "e7e5", "g1f3", "b8c6"]).unwrap();
        assert_eq!(setup.moves().len(), 4);
    }

    #[test]
    fn a_bad_line_changes_nothing_and_names_the_token() {
        let mut setup = Setup::default();
        apply(&mut setup, None, &["e2e4", "e7e5"]).unwrap();
        let before = setup.game().position().fen();
        for (fen, moves, message) in [
            (
                None,
                &["e2e4", "e7e5", "e1e3"][..],
                "illegal move 'e1e3': no White piece can make this move (move 3 after 'moves'",
            ),
            (
                None,
                &["e2e4", "e2e4"][..],
                "illegal move 'e2e4': there is no piece on e2 (move 2 after 'moves'",
            ),
            (
                None,
                &["e7e5"][..],
                "illegal move 'e7e5': the piece on e7 is Black's, but White is to move",
            ),
            (None, &["xyz"][..], "'xyz' is not a move: expected one like e2e4 or e7e8q (move 1"),
            (None, &["e2e4q"][..], "illegal move 'e2e4q': not a promotion"),
            (
                None,
                &["e2e4", "f7f6", "d1h5", "0000"][..],
                "illegal move '0000': a null move is not possible in check",
            ),
            (None, &["e2e4", "f7f6", "d1h5", "a7a6"][..], "illegal move 'a7a6': Black is in check"),
            (
                Some("8/P6k/8/8/8/8/8/K7 w - - 0 1"),
                &["a7a8"][..],
                "illegal move 'a7a8': expected a promotion piece, as in a7a8q",
            ),
            (Some("8/8/8/8/8/8/8/K7 w - - 0 1"), &[][..], "illegal position"),
            (
                Some("8/8/8/8/8/8/8/K6z w - - 0 1"),
                &[][..],
                "unreadable FEN '8/8/8/8/8/8/8/K6z w - - 0 1': '8/8/8/8/8/8/8/K6z' is not a board: 'z' is neither",
            ),
        ] {
            let error = apply(&mut setup, fen, moves).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
            assert_eq!(setup.game().position().fen(), before);
        }
        apply(&mut setup, None, &["e2e4", "e7e5", "g1f3"]).unwrap();
    }
}
