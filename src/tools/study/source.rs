//! Reads the position or game to study that the command line names.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use shakmaty::Move;

use super::file::Played;
use crate::{
    chess::{
        notation,
        pgn::{Variation, read::Games},
        position::Position,
    },
    system::input::Input,
    tools::{analyse::annotate, complain},
};

/// A start position, and the moves of a game from there.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The start position.
    pub(super) start: Position,
    /// The game.
    pub(super) played: Played,
}

/// Reads game `number` of a file, counted from 1.
///
/// # Errors
///
/// If the file has no such game or the game cannot be used.
pub(super) fn game(path: &Path, number: usize) -> anyhow::Result<Source> {
    let read = || {
        let mut games = Games::new(Input::open(path)?);
        for _ in 1..number {
            games.next_game()?;
        }
        let game = games.next_game()?.with_context(|| {
            let least = notation::counted(number, "game");
            format!("expected a study, or a PGN file with at least {least}")
        })?;
        anyhow::Ok((game, games.warning()))
    };
    let (game, warning) = read().with_context(|| path.display().to_string())?;
    if let Some(warning) = warning {
        complain(format_args!("{}:{warning}", path.display()));
    }
    let broken = |error| anyhow!("{}:{error}", path.display());
    let mut game = game.map_err(broken)?;
    let (start, moves) = annotate::replay(&game).map_err(broken)?;
    game.set_tag("Result", game.result());
    let mut annotated = game.main;
    annotate::tidy(&mut annotated, &start);
    if annotated.lead.is_empty() && annotated.moves.iter().all(|node| node.items.is_empty()) {
        annotated = Variation::default();
    }
    let moves: Option<Vec<Move>> = moves.into_iter().collect();
    let moves = moves
        .with_context(|| format!("{}: a game with null moves cannot be studied", path.display()))?;
    Ok(Source { start, played: Played { tags: game.tags, moves, annotated } })
}

/// Reads a position and moves from there, in the form of [`notation::read_line`].
///
/// # Errors
///
/// If the position or a move cannot be read.
pub(super) fn position(words: &[String]) -> anyhow::Result<Source> {
    let (start, moves) = notation::read_line(&words.join(" "))?;
    Ok(Source { start, played: Played { moves, ..Played::default() } })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let games =
            "[White \"A\"]\n\n1. e4 *\n\n[Result \"1/2\"]\n\n1. d4 d5 1/2-1/2\n\n1. c4 -- *\n";
        std::fs::write(&path, games).unwrap();
        for (number, index, expected) in [(1, 1, "*"), (2, 0, "1/2-1/2")] {
            let played = game(&path, number).unwrap().played;
            assert_eq!(played.tags[index], ("Result".to_owned(), expected.to_owned()));
            assert_eq!(played.moves.len(), number);
        }
        assert!(game(&path, 3).unwrap_err().to_string().contains("null moves"));
        assert!(format!("{:#}", game(&path, 4).unwrap_err()).ends_with("with at least 4 games"));
    }
}
