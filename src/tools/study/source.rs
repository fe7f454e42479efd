//! What is to be studied, from the command line: a position, a game of a file, lines of
//! moves.

use std::path::Path;

use shakmaty::{CastlingMode, Move};

use super::file::Played;
use crate::{
    chess::{
        notation,
        position::{Position, START_FEN},
    },
    system::input::Input,
    tools::analyse::{annotate, pgn::read::Games},
};

/// A start position, and the moves of a game from there.
#[derive(Clone, Debug)]
pub struct Source {
    /// The start position.
    pub start: Position,
    /// The game.
    pub played: Played,
}

/// The `number`-th game of a file, from 1.
///
/// # Errors
///
/// If there is none that can be used, in words.
pub fn game(path: &Path, number: usize) -> Result<Source, String> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut games = Games::new(Input::open(path).map_err(|error| at(&error))?);
    for _ in 1..number {
        games.next_game().map_err(|error| at(&error))?;
    }
    let game = games.next_game().map_err(|error| at(&error))?;
    let game = game.ok_or_else(|| at(&format_args!("there is no game {number}")))?;
    let broken = |error| format!("{}:{error}", path.display());
    let game = game.map_err(broken)?;
    let (start, moves) = annotate::replay(&game).map_err(broken)?;
    let moves: Option<Vec<Move>> = moves.into_iter().collect();
    let moves = moves.ok_or_else(|| at(&"a game with null moves cannot be studied"))?;
    let mut tags = game.tags.clone();
    if !tags.iter().any(|(tag, _)| tag == "Result") {
        tags.push(("Result".to_owned(), game.result()));
    }
    Ok(Source { start, played: Played { tags, moves } })
}

/// A FEN or `startpos`; then, after the word `moves`, moves from there.
///
/// # Errors
///
/// If it cannot be read, in words.
pub fn position(words: &[String]) -> Result<Source, String> {
    let text = words.join(" ");
    let (fen, moves) = text.split_once(" moves").unwrap_or((&text, ""));
    let fen = if fen.trim() == "startpos" { START_FEN } else { fen };
    let start =
        Position::from_fen(fen, CastlingMode::Standard).map_err(|error| error.to_string())?;
    let moves = line(&start, moves)?;
    Ok(Source { start, played: Played { tags: Vec::new(), moves } })
}

/// Moves from a position, in any notation, with or without numbers: `1. e4 e5 2.Nf3`.
///
/// # Errors
///
/// If one is not a legal move, in words.
pub fn line(start: &Position, text: &str) -> Result<Vec<Move>, String> {
    let mut position = start.clone();
    let mut moves = Vec::new();
    for word in text.split_whitespace() {
        let behind = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = behind.len() < word.len() && (behind.is_empty() || behind.starts_with('.'));
        let word = if numbered { behind } else { word }.trim_start_matches('.');
        if word.is_empty() {
            continue;
        }
        let m = notation::read_any_move(&position, word)
            .map_err(|error| format!("{error} (in '{}')", position.fen()))?;
        position = position.play(m);
        moves.push(m);
    }
    Ok(moves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_and_without_numbers() {
        let start = Position::default();
        let read = |text: &str| line(&start, text).map(|moves| notation::line(&start, &moves));
        for text in ["e4 e5 Nf3", "1. e4 e5 2. Nf3", "1.e4 1...e5 2.Nf3", "1. e4 1... e5 g1f3"] {
            assert_eq!(read(text).unwrap(), "1. e4 e5 2. Nf3");
        }
        assert_eq!(read("").unwrap(), "");
        assert_eq!(read("O-O").unwrap_err().split(':').next(), Some("illegal move 'O-O'"));
        assert!(read("1. e4 0-0").is_err() && read("1. e4 17").unwrap() == "1. e4");
    }

    #[test]
    fn positions_and_games() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let source = position(&words("startpos moves 1. e4 e5")).unwrap();
        assert_eq!(source.played.moves.len(), 2);
        let fen = "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1";
        assert_eq!(position(&words(fen)).unwrap().start.fen(), fen);
        assert!(position(&words("startpos moves e5")).is_err());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.pgn");
        std::fs::write(&path, "[White \"A\"]\n\n1. e4 *\n\n1. d4 d5 *\n\n1. c4 -- *\n").unwrap();
        let tags = game(&path, 1).unwrap().played.tags;
        assert_eq!(tags[1], ("Result".to_owned(), "*".to_owned()));
        assert_eq!(game(&path, 2).unwrap().played.moves.len(), 2);
        assert!(game(&path, 3).unwrap_err().contains("null moves"));
        assert!(game(&path, 4).unwrap_err().ends_with("there is no game 4"));
    }
}
