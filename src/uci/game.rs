//! A person's game: its state besides the board, and its PGN.

use std::{collections::HashSet, path::PathBuf};

use shakmaty::{Color, KnownOutcome, Move, Outcome, san::SanPlus};

use super::setup::Setup;
use crate::{
    chess::{
        notation,
        pgn::{self, AnnotatedMove, Variation},
        position::Ending,
    },
    tools::analyse::annotate,
};

/// The state of a person's game, besides the board.
#[derive(Default)]
pub(super) struct PersonGame {
    /// The side that Lancet plays.
    pub(super) lancet: Option<Color>,
    /// The rating that `level` has set; `None` for full strength, or after `setoption` has changed
    /// the strength.
    pub(super) level: Option<u32>,
    /// Whether the board is flipped.
    pub(super) turned: bool,
    /// The side that resigned, and when: the key of the position, and the number of half-moves
    /// before it. `undo` takes the resignation back.
    pub(super) resigned: Option<(Color, u64, usize)>,
    /// The game that was loaded, and its moves.
    pub(super) loaded: Option<(pgn::Game, Vec<Move>)>,
    /// The files that this dialogue has saved games to.
    pub(super) saved: HashSet<PathBuf>,
}

impl PersonGame {
    /// Returns the side at the bottom of the board: the person's, unless the board is flipped.
    pub(super) fn below(&self) -> Color {
        let person = Color::from_white(self.lancet != Some(Color::White));
        if self.turned { !person } else { person }
    }

    /// Forgets the loaded game and the resignation, since another game is on the board.
    pub(super) fn forget(&mut self) {
        (self.loaded, self.resigned) = (None, None);
    }

    /// Returns the side that resigned, if the position and the number of moves are still the same.
    pub(super) fn resigned(&self, setup: &Setup) -> Option<Color> {
        let here = (setup.game().position().key(), setup.moves().len());
        self.resigned.filter(|&(_, key, moves)| (key, moves) == here).map(|(color, ..)| color)
    }

    /// Returns the game on the board as PGN. A loaded game keeps its tags and the annotations of
    /// its moves. It keeps a known result unless its moves have changed or a side has resigned.
    pub(super) fn text(&self, setup: &Setup) -> String {
        let today = chrono::Local::now().format("%Y.%m.%d").to_string();
        let tag = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let roster = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];
        let roster = roster.map(|name| tag((name, if name == "Date" { &today } else { "?" })));
        let new = || pgn::Game {
            line: 1,
            tags: roster.to_vec(),
            main: Variation::default(),
            outcome: None,
        };
        let (mut game, old) = self.loaded.clone().unwrap_or_else(|| (new(), Vec::new()));
        let decided = |winner| Outcome::Known(KnownOutcome::Decisive { winner });
        let resigned = self.resigned(setup);
        let outcome = match setup.game().ending() {
            Some(Ending::Checkmate) => Some(decided(!setup.game().position().turn())),
            Some(Ending::Draw) => Some(Outcome::Known(KnownOutcome::Draw)),
            None => resigned.map(|color| decided(!color)),
        };
        // A loaded game may have a result that the rules do not give: a player need not claim a
        // draw, and may lose on time.
        let keeps = matches!(game.outcome, Some(Outcome::Known(_)))
            && old == setup.moves()
            && resigned.is_none();
        if !keeps {
            game.outcome = outcome;
            game.set_tag("Result", outcome.map_or("*".to_owned(), |outcome| outcome.to_string()));
        }
        if let Some(color) = self.lancet {
            let name = notation::color_name(color);
            game.add_tag(name, "Lancet".to_owned());
            if let (Some("Lancet"), Some(level)) = (game.tag(name), self.level) {
                game.set_tag(&format!("{name}Elo"), level.to_string());
            }
        }
        let same = old.iter().zip(setup.moves()).take_while(|(old, new)| old == new).count();
        game.main.moves.truncate(same);
        let mut position = setup.start().chess().clone();
        for (number, &m) in setup.moves().iter().enumerate() {
            let san = SanPlus::from_move_and_play_unchecked(&mut position, m);
            if number >= same {
                game.main.moves.push(AnnotatedMove { san, line: 0, items: Vec::new() });
            }
        }
        game.set_start(setup.start());
        pgn::write::write(&game, annotate::ply(setup.start()))
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;
    use crate::chess::{
        pgn::read::Games,
        position::{Game, Position, START_FEN},
    };

    /// Lancet reads saved games correctly, and Chess960 games have the tag that other programs
    /// need.
    #[test]
    fn saved_games_have_start_position_tags() {
        let shuffled = "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w HFhf - 0 1";
        for (fen, mode, tags) in [
            (START_FEN, CastlingMode::Standard, &[][..]),
            (shuffled, CastlingMode::Chess960, &["[SetUp \"1\"]", "[Variant \"Chess960\"]"]),
        ] {
            let start = Position::from_fen_in(fen, mode).unwrap();
            let m = start.legal_moves()[0];
            let mut setup = Setup::from(Game::from(start.clone()));
            setup.play(m);
            let text = PersonGame::default().text(&setup);
            assert!(tags.iter().all(|tag| text.contains(tag)), "{text}");
            assert_eq!(text.contains("Variant"), mode.is_chess960());
            let read = Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap();
            let (from, moves) = annotate::replay(&read).unwrap();
            assert_eq!((from.fen(), from.mode(), moves), (start.fen(), mode, vec![Some(m)]));
        }
    }

    /// Saving a loaded game adds missing tags and keeps the others.
    #[test]
    fn loaded_games_keep_tags_and_annotations() {
        let given = "[Event \"Club\"]\n[Date \"1999.01.02\"]\n[White \"Ann\"]\n[Black \"?\"]\n\
                     [Result \"1-0\"]\n[Annotator \"Bo\"]\n\n\
                     1. e4 { good } 1... e5 $6 2. Nf3 1-0\n\n";
        let load = |given: &str| {
            let game = Games::new(given.as_bytes()).next_game().unwrap().unwrap().unwrap();
            let (start, moves) = annotate::replay(&game).unwrap();
            let mut setup = Setup::from(Game::from(start));
            moves.into_iter().for_each(|m| setup.play(m.unwrap()));
            let loaded = Some((game, setup.moves().to_vec()));
            (PersonGame { loaded, ..PersonGame::default() }, setup)
        };
        // In the second game, nobody claimed the draw by repetition.
        let knights = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1-0\n\n";
        let repeated = given.replace("1. e4 { good } 1... e5 $6 2. Nf3 1-0\n\n", knights);
        for given in [given, &repeated] {
            let (person, setup) = load(given);
            assert_eq!(person.text(&setup), given);
        }
        let (person, setup) = load(&repeated.replace("1-0", "*"));
        assert!(person.text(&setup).ends_with(" Ng8 1/2-1/2\n\n"));
        let (mut person, mut setup) = load(given);
        // Lancet continues the game as Black from move two.
        (person.lancet, person.level) = (Some(Color::Black), Some(1500));
        setup.undo(1);
        setup.play(notation::read_any_move(setup.game().position(), "Nc3").unwrap());
        let text = person.text(&setup);
        for part in [
            "[Date \"1999.01.02\"]",
            "[White \"Ann\"]\n[Black \"Lancet\"]\n[Result \"*\"]",
            "[BlackElo \"1500\"]",
            "{ good } 1... e5 $6 2. Nc3 *\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
        person.resigned = Some((Color::White, setup.game().position().key(), 3));
        assert!(person.text(&setup).ends_with(" 2. Nc3 0-1\n\n"));
        setup.undo(1);
        assert!(person.text(&setup).ends_with(" e5 $6 *\n\n"));
        // A new game has a date, and at full strength no rating.
        let game = PersonGame { lancet: Some(Color::White), ..PersonGame::default() };
        let text = game.text(&Setup::default());
        assert!(text.contains("[White \"Lancet\"]\n[Black \"?\"]\n[Result \"*\"]"), "{text}");
        assert!(text.contains("[Date \"20") && !text.contains("Elo"), "{text}");
    }
}
