//! Limited strength: higher ratings solve and win more, players win the endings that they know, and
//! searches at different strengths share no results. All games have seeds, so the results are the
//! same on every machine.

use lancet::{
    chess::{
        position::{Ending, Game, START_FEN},
        score::Score,
    },
    engine::{Engine, Settings},
    play::{limits::Limits, report::Outcome},
};
use shakmaty::{Color, Move};

use crate::common::chess::{self, search};

fn player(elo: u32) -> Engine {
    Engine::new(Settings { hash: 1, limit_strength: true, elo, ..Settings::default() }).unwrap()
}

/// Returns the engine's move.
fn choice(engine: &mut Engine, game: &Game) -> Move {
    search(engine, game, Limits::default()).best.unwrap()
}

/// Changes some settings.
fn set(engine: &mut Engine, change: impl FnOnce(&mut Settings)) {
    let mut settings = engine.settings().clone();
    change(&mut settings);
    engine.configure(settings).unwrap();
}

#[test]
fn better_players_see_more() {
    let suite = chess::suite(include_str!("../../epd/wac.epd"));
    assert!(suite.len() > 290);
    let solved: Vec<usize> = [500, 1100, 1700, 2300]
        .into_iter()
        .map(|elo| {
            let mut engine = player(elo);
            let mut solved = 0;
            for (record, seed) in suite.iter().step_by(2).zip(1..) {
                engine.new_game();
                engine.set_seed(seed);
                let m = choice(&mut engine, &Game::from(record.position.clone()));
                solved += usize::from(record.goal.best.contains(&m));
            }
            solved
        })
        .collect();
    assert!(solved.windows(2).all(|pair| pair[0] < pair[1]), "{solved:?}");
    assert!(solved[0] > 5, "even the weakest player solves some: {solved:?}");
}

/// Plays two games with colours reversed. Returns the half points of `engines[0]`.
fn two_games(engines: &mut [Engine; 2], start: &Game, seed: u64) -> u32 {
    let mut points = 0;
    for first in [Color::White, Color::Black] {
        for (engine, i) in engines.iter_mut().zip(0..) {
            engine.new_game();
            engine.set_seed(2 * seed + i);
        }
        let mut game = start.clone();
        points += loop {
            match game.ending() {
                Some(Ending::Checkmate) => {
                    break if game.position().turn() == first { 0 } else { 2 };
                }
                Some(Ending::Draw) => break 1,
                None => {}
            }
            let turn = usize::from(game.position().turn() != first);
            game.play(choice(&mut engines[turn], &game));
        };
    }
    points
}

#[test]
fn better_players_win() {
    let openings = ["e2e4 e7e5", "d2d4 d7d5", "c2c4 g8f6", "g1f3 d7d5", "e2e4 c7c5", "d2d4 g8f6"];
    for (strong, weak) in [(900, 500), (1400, 1000), (1900, 1500)] {
        let mut engines = [player(strong), player(weak)];
        let mut points = 0;
        for (opening, seed) in openings.iter().zip(1..) {
            let moves: Vec<&str> = opening.split(' ').collect();
            let game = chess::game(START_FEN, &moves);
            points += two_games(&mut engines, &game, seed);
        }
        let games = 2 * openings.len() as u32;
        assert!(points * 10 >= games * 2 * 6, "{strong} against {weak}: {points} of {}", 2 * games);
    }
}

/// Players win the endings that they know at their rating, against full strength.
#[test]
fn known_endings_are_won() {
    for (elo, fen) in [
        (800, "8/8/8/3k4/8/8/8/KQ6 w - - 0 1"),
        (800, "8/8/8/3k4/8/8/8/KRR5 w - - 0 1"),
        (800, "8/P6k/8/8/8/8/7K/8 w - - 0 1"),
        (1200, "8/8/8/3k4/8/8/8/KR6 w - - 0 1"),
        (1200, "8/8/8/3k4/8/p7/8/5KQ1 w - - 0 1"),
        (1700, "8/8/8/3k4/8/8/8/KBB5 w - - 0 1"),
        (2000, "8/8/8/3k4/8/8/8/KBN5 w - - 0 1"),
    ] {
        let mut player = player(elo);
        let mut defender = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
        player.set_seed(1);
        let mut game = chess::game(fen, &[]);
        let mut plies = 0;
        while game.ending().is_none() && plies < 100 {
            let m = if plies % 2 == 0 {
                choice(&mut player, &game)
            } else {
                search(&mut defender, &game, chess::nodes(1_000)).best.unwrap()
            };
            game.play(m);
            plies += 1;
        }
        assert_eq!(game.ending(), Some(Ending::Checkmate), "{elo} {fen}");
        assert!(game.position().turn().is_black(), "{elo} {fen}");
    }
}

/// The same seed gives the same moves, whatever was searched before. Another seed gives other
/// moves.
#[test]
fn a_seed_is_a_player() {
    let game = Game::default();
    let mut engine = player(900);
    let mut moves = |seed| -> Move {
        engine.new_game();
        engine.set_seed(seed);
        choice(&mut engine, &game)
    };
    let all: Vec<Move> = (0..20).map(&mut moves).collect();
    assert_eq!(all, (0..20).map(&mut moves).collect::<Vec<_>>());
    assert!(all.iter().any(|m| *m != all[0]), "always {:?}", all[0]);
}

/// Results at limited strength never influence searches at full strength, at another rating or in
/// another game. This also holds with Never Clear Hash, and whether UCI_LimitStrength is turned off
/// or the search is an analysis.
#[test]
fn players_do_not_know_each_others_thoughts() {
    let game = Game::default();
    let think = |engine: &mut Engine, analyse: bool| -> (Option<Move>, Score, u64) {
        let limits = Limits { depth: Some(8), analyse, ..Limits::default() };
        let Outcome { best, info, .. } = search(engine, &game, limits);
        (best, info.score, info.nodes)
    };
    let settings = |limit_strength| Settings {
        hash: 1,
        limit_strength,
        elo: 1200,
        never_clear_hash: true,
        ..Settings::default()
    };
    let new = |limit_strength| {
        let mut engine = Engine::new(settings(limit_strength)).unwrap();
        engine.set_seed(7);
        engine
    };
    let full = think(&mut new(false), false);
    let weak = think(&mut new(true), false);
    assert_ne!(full, weak);
    // In analysis, a return to the root counts as a draw later than in a game.
    let analysis = think(&mut new(false), true);

    let mut engine = new(true);
    assert_eq!(think(&mut engine, false), weak);
    set(&mut engine, |settings| settings.limit_strength = false);
    assert_eq!(think(&mut engine, false), full);
    // The table is kept while the player stays the same.
    assert!(think(&mut engine, false).2 < full.2);
    set(&mut engine, |settings| settings.limit_strength = true);
    assert_eq!(think(&mut engine, false), weak);
    // Analysis is at full strength.
    assert_eq!(think(&mut engine, true), analysis);
    assert_eq!(think(&mut engine, false), weak);
    set(&mut engine, |settings| settings.elo = 1300);
    set(&mut engine, |settings| settings.elo = 1200);
    assert_eq!(think(&mut engine, false), weak);
    engine.new_game();
    engine.set_seed(7);
    assert_eq!(think(&mut engine, false), weak);
}

/// A saved table can only be loaded with the same strength, seed and rules.
#[test]
fn saved_tables_belong_to_a_player() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lancet.hash");
    let mut engine = player(1200);
    engine.set_seed(7);
    choice(&mut engine, &Game::default());
    engine.save_hash(&path).unwrap();
    engine.load_hash(&path).unwrap();
    let refused = |engine: &mut Engine| {
        let error = engine.load_hash(&path).unwrap_err().to_string();
        assert!(error.starts_with("saved with another network"), "{error}");
    };
    set(&mut engine, |settings| settings.elo = 1300);
    refused(&mut engine);
    set(&mut engine, |settings| settings.elo = 1200);
    engine.load_hash(&path).unwrap();
    engine.set_seed(8);
    refused(&mut engine);
    engine.set_seed(7);
    set(&mut engine, |settings| settings.limit_strength = false);
    refused(&mut engine);

    engine.save_hash(&path).unwrap();
    set(&mut engine, |settings| settings.syzygy.fifty_moves = false);
    refused(&mut engine);
    set(&mut engine, |settings| settings.syzygy.fifty_moves = true);
    engine.load_hash(&path).unwrap();
    set(&mut engine, |settings| settings.limit_strength = true);
    refused(&mut engine);
}
