//! Compares the search with brute force and with the rules of chess, and its four root searches
//! with each other.

use std::time::Duration;

use crate::common::chess::{depth, game, nodes, position, search, suite};
use lancet::{
    chess::{
        epd::Record,
        notation::read_move,
        position::{Game, Position},
        score::{DRAW, Delay, INFINITE, MATE, Score, is_decisive, mate_distance},
    },
    engine::{Engine, RootSearch, Settings},
    eval::{default_network, weighted, with_bare_king},
    play::{
        limits::Limits,
        report::{Bound, Outcome},
    },
};
use rand::{Rng as _, SeedableRng as _, seq::IndexedRandom as _};
use rand_chacha::ChaCha8Rng;
use shakmaty::{Color, Move, uci::UciMove};

const DRIVERS: [RootSearch; 4] =
    [RootSearch::Aspiration, RootSearch::FullWindow, RootSearch::Bisection, RootSearch::MtdF];

/// Mates with their distances.
const MATES: &str = include_str!("../../epd/mates2000.epd");

fn engine(settings: Settings) -> Engine {
    Engine::new(settings).unwrap()
}

/// Returns games of random moves with random lengths. None of them is over.
fn random_games(count: usize, seed: u64) -> Vec<Game> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut games = Vec::new();
    while games.len() < count {
        let mut game = Game::default();
        for _ in 0..rng.random_range(0..150) {
            let Some(&m) = game.position().legal_moves().choose(&mut rng) else { break };
            game.play(m);
        }
        if game.ending().is_none() {
            games.push(game);
        }
    }
    games
}

/// Returns the score by minimax without pruning, with the rules of the playing search: decisive
/// scores age on their way to the root, and a second occurrence within the search is a draw.
fn minimax(position: &Position, keys: &mut Vec<u64>, game_keys: usize, depth: u32) -> Score {
    let halfmoves = position.halfmoves() as usize;
    let moves = position.legal_moves();
    let ply = keys.len() - game_keys;
    if ply > 0 {
        if halfmoves >= 100 {
            return if position.is_check() && moves.is_empty() { -MATE } else { DRAW };
        }
        let earlier = (4..=halfmoves.min(keys.len()))
            .filter(|&back| keys[keys.len() - back] == position.key());
        let (inside, before): (Vec<_>, Vec<_>) =
            earlier.partition(|&back| keys.len() - back >= game_keys);
        if !inside.is_empty() || before.len() >= 2 || position.is_insufficient_material() {
            return DRAW;
        }
    }
    if moves.is_empty() {
        return if position.is_check() { -MATE } else { DRAW };
    }
    if depth == 0 {
        let score = default_network().evaluate(position.board(), position.turn());
        return with_bare_king(position, weighted(score, position.board()));
    }
    keys.push(position.key());
    let mut best = -INFINITE;
    for &m in &moves {
        let child = minimax(&position.play(m), keys, game_keys, depth - 1);
        best = best.max(-Delay::MATES.score(child));
    }
    keys.pop();
    best
}

#[test]
fn without_pruning_it_is_minimax() {
    let settings = Settings { hash: 1, selective: false, ..Settings::default() };
    let mut games = random_games(60, 0x1234_5678_9abc_def1);
    games.extend(
        [
            "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
            "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1",
            "8/8/8/8/8/5k2/5p2/5K2 w - - 98 90",
            "7k/8/5KQ1/8/8/8/8/8 b - - 97 90",
            "8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1",
        ]
        .map(|fen| Game::from(position(fen))),
    );
    for root_search in DRIVERS {
        let mut engine = engine(Settings { root_search, ..settings.clone() });
        for game in &games {
            let few = game.position().legal_moves().len() < 12;
            let plies = if few { 4 } else { 3 };
            let mut keys = game.keys().to_vec();
            let game_keys = keys.len();
            let expected = minimax(game.position(), &mut keys, game_keys, plies);
            engine.new_game();
            let found = search(&mut engine, game, depth(plies)).info.score;
            assert_eq!(found, expected, "{root_search:?} {}", game.position().fen());
        }
    }
}

fn play_line(game: &Game, line: &[Move]) -> Game {
    let mut game = game.clone();
    for &m in line {
        assert!(game.ending().is_none(), "{line:?} runs past the end of the game");
        assert!(
            game.position().legal_moves().contains(&m),
            "{m:?} is illegal in {}",
            game.position().fen()
        );
        game.play(m);
    }
    game
}

/// Checks that the PV of a mate score ends in mate after as many moves as announced.
fn check_mate_line(game: &Game, outcome: &Outcome) {
    let Some(distance) = mate_distance(outcome.info.score) else { return };
    if outcome.info.bound != Bound::Exact {
        return;
    }
    let plies = if distance > 0 { 2 * distance - 1 } else { -2 * distance };
    let end = play_line(game, &outcome.info.pv);
    assert_eq!(outcome.info.pv.len(), plies as usize, "{}", game.position().fen());
    assert_eq!(end.ending(), Some(lancet::chess::position::Ending::Checkmate));
}

#[test]
fn mates_are_found_by_every_driver() {
    let mates = [
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
        ("4k3/8/4K3/8/8/8/8/7R w - - 0 1", 1),
        ("8/8/8/8/8/2k5/8/K6q w - - 0 1", -2),
        ("1k6/8/1K6/8/8/8/8/2Q5 w - - 0 1", 2),
    ];
    for root_search in DRIVERS {
        let mut engine = engine(Settings { root_search, ..Settings::default() });
        for (fen, moves) in mates {
            let game = Game::from(position(fen));
            engine.new_game();
            // With the full window, the sacrifice in the second position is found at depth 19,
            // otherwise at depth 4 or 5.
            let plies = if root_search == RootSearch::FullWindow { 24 } else { 14 };
            let outcome = search(&mut engine, &game, depth(plies));
            check_mate_line(&game, &outcome);
            assert_eq!(mate_distance(outcome.info.score), Some(moves), "{root_search:?} {fen}");
        }
    }
}

#[test]
fn every_driver_plays_a_whole_game() {
    for root_search in DRIVERS {
        let mut engine = engine(Settings { root_search, hash: 4, ..Settings::default() });
        let mut game = Game::default();
        for _ in 0..1000 {
            if game.ending().is_some() {
                break;
            }
            let outcome = search(&mut engine, &game, nodes(1500));
            play_line(&game, &outcome.info.pv);
            assert_eq!(outcome.best, outcome.info.pv.first().copied());
            game.play(outcome.best.unwrap());
        }
        assert!(game.ending().is_some(), "{root_search:?} did not finish a game in 1000 plies");
    }
}

#[test]
fn one_thread_is_deterministic_and_many_are_legal() {
    let games = random_games(12, 77);
    for threads in [1, 2, 8] {
        let run = || -> Vec<(u64, Option<Move>, Score)> {
            let mut engine = engine(Settings { threads, hash: 4, ..Settings::default() });
            games
                .iter()
                .map(|game| {
                    let outcome = search(&mut engine, game, nodes(20_000));
                    play_line(game, &outcome.info.pv);
                    check_mate_line(game, &outcome);
                    (outcome.info.nodes, outcome.best, outcome.info.score)
                })
                .collect()
        };
        let first = run();
        if threads == 1 {
            assert_eq!(first, run());
            assert!(first.iter().all(|&(nodes, _, _)| nodes <= 20_000));
        }
    }
}

#[test]
fn node_limits_hold() {
    let mut one = engine(Settings::default());
    for limit in [1, 2, 10, 777, 5000] {
        let outcome = search(&mut one, &Game::default(), nodes(limit));
        assert_eq!(outcome.info.nodes, limit);
        assert!(outcome.best.is_some());
    }
    // Each of the four threads checks the limit at least every 64 nodes.
    let mut four = engine(Settings { threads: 4, ..Settings::default() });
    for limit in [1, 500, 5000, 40_000] {
        let outcome = search(&mut four, &Game::default(), nodes(limit));
        assert!((limit..=limit + 3 * 64).contains(&outcome.info.nodes), "{limit}: {outcome:?}");
    }
}

#[test]
fn mate_beats_the_fifty_move_rule() {
    // A mate on the hundredth ply wins. One ply later the game is drawn.
    let mut engine = engine(Settings::default());
    let in_time = Game::from(position("7k/8/6K1/8/8/8/8/R7 w - - 99 80"));
    let outcome = search(&mut engine, &in_time, depth(6));
    assert_eq!(mate_distance(outcome.info.score), Some(1));
    // A mate in two moves, in time and one ply too late.
    for (halfmoves, expected) in [(97, MATE - 2), (98, DRAW)] {
        let fen = format!("1k6/8/1K6/8/8/8/8/2Q5 w - - {halfmoves} 80");
        let outcome = search(&mut engine, &Game::from(position(&fen)), depth(8));
        assert_eq!(outcome.info.score, expected, "{fen}");
    }
}

/// If the halfmove clock is 100 or more, a draw can be claimed. If it is not claimed, moves are
/// chosen as if there were no fifty-move rule. At 150 the game is over.
#[test]
fn play_goes_on_when_nobody_claims_the_draw() {
    let mut engine = engine(Settings::default());
    for halfmoves in [100, 120, 149] {
        // A bishop is attacked, and a rook threatens mate on the back rank.
        let fen = format!("6k1/5ppp/8/8/1b6/P7/5PPP/3R2K1 b - - {halfmoves} 90");
        let game = Game::from(position(&fen));
        let outcome = search(&mut engine, &game, depth(8));
        assert_eq!((outcome.info.score, outcome.info.drawn), (DRAW, true), "{fen}");
        let child = game.position().play(outcome.best.unwrap());
        let replies = child.legal_moves().into_iter().filter(|m| m.is_capture());
        assert_eq!(replies.count(), 0, "{fen}: {:?}", outcome.best);
    }
    // The line of a draw ends with the draw, even if a mate would follow.
    let late = Game::from(position("8/8/8/1R6/7k/5K2/8/8 b - - 106 153"));
    let outcome = search(&mut engine, &late, depth(4));
    assert_eq!((outcome.info.score, outcome.info.pv.len()), (DRAW, 1), "{outcome:?}");
    // A mate ends the game before a draw can be claimed.
    let mate = Game::from(position("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 100 90"));
    let outcome = search(&mut engine, &mate, depth(4));
    assert_eq!(mate_distance(outcome.info.score), Some(1));
    // A capture resets the counter.
    let capture = Game::from(position("6k1/8/8/8/8/1q6/2P5/6K1 w - - 120 90"));
    let outcome = search(&mut engine, &capture, depth(6));
    assert!(outcome.best.unwrap().is_capture() && !outcome.info.drawn, "{outcome:?}");
    let over = Game::from(position("6k1/5ppp/8/8/8/8/4rPPP/3R2K1 b - - 150 90"));
    assert_eq!(search(&mut engine, &over, depth(4)).info.score, DRAW);
}

/// In analysis (here: with `searchmoves`), a return to the root position is not a draw at its
/// second occurrence: the move back has the score of its continuation.
#[test]
fn the_root_is_not_drawn_the_second_time() {
    let mut engine = engine(Settings::default());
    for (fen, m) in [
        ("r5k1/2p4p/8/8/8/n4B1b/1N6/K1R5 b - - 0 1", "a3c2"),
        ("k1r5/1n6/N4b1B/8/8/8/2P4P/R5K1 w - - 0 1", "a6c7"),
        ("1k5r/p4p2/8/8/8/b1B4n/6N1/5R1K b - - 0 1", "h3f2"),
        ("5r1k/6n1/B1b4N/8/8/8/P4P2/1K5R w - - 0 1", "h6f7"),
    ] {
        let before = game(fen, &[]);
        let after = game(fen, &[m]);
        let only = vec![read_move(before.position(), m).unwrap()];
        engine.new_game();
        let limits = Limits { searchmoves: only, ..depth(12) };
        let score = search(&mut engine, &before, limits).info.score;
        engine.new_game();
        let alone = Game::from(after.position().clone());
        let expected = -search(&mut engine, &alone, depth(11)).info.score;
        // Searches of different trees differ by some centipawns. A draw score would differ much
        // more.
        let far = (score - expected).abs() > 120 || expected.abs() < 200;
        assert!(!far, "{fen}: {score}, {expected} by itself");
    }
}

#[test]
fn a_saving_repetition_is_found() {
    // White is the exchange down but has perpetual check.
    let game = Game::from(position("6k1/6p1/8/8/8/4Q3/1q4PP/r5BK w - - 0 1"));
    let mut engine = engine(Settings::default());
    let outcome = search(&mut engine, &game, depth(16));
    assert_eq!(outcome.info.score, DRAW, "{:?}", outcome.info.pv);
}

#[test]
fn searchmoves_are_kept() {
    let game = Game::default();
    let only: Vec<Move> = ["a2a3", "h2h4"]
        .iter()
        .map(|text| text.parse::<UciMove>().unwrap().to_move(game.position().chess()).unwrap())
        .collect();
    let mut engine = engine(Settings::default());
    let limits = Limits { searchmoves: only.clone(), ..depth(8) };
    assert!(only.contains(&search(&mut engine, &game, limits).best.unwrap()));
}

#[test]
fn time_limits_hold() {
    let mut engine = engine(Settings::default());
    let limits = Limits { movetime: Some(Duration::from_millis(200)), ..Limits::default() };
    let outcome = search(&mut engine, &Game::default(), limits);
    // The search uses most of its time.
    assert!(outcome.info.time >= Duration::from_millis(150), "{:?}", outcome.info.time);
}

/// Every announced mate is true: its PV is legal, has the announced length and ends in mate, and is
/// not shorter than the proved distance. Searches every `step`th of the suite's 2,000 mates.
/// Returns the number of mates found.
fn announced_mates(step: usize, limit: u64) -> usize {
    let mut engine = engine(Settings::default());
    let mut announced = 0;
    for Record { position, goal, text, .. } in suite(MATES).into_iter().step_by(step) {
        let (game, mate) = (Game::from(position), goal.mate.unwrap());
        engine.new_game();
        let outcome = search(&mut engine, &game, nodes(limit));
        check_mate_line(&game, &outcome);
        if let Some(found) = mate_distance(outcome.info.score) {
            let bound = outcome.info.bound;
            assert_eq!(found > 0, mate > 0, "{text}");
            assert!(found.abs() >= mate.abs(), "{text}: {found} {bound:?}");
            announced += 1;
        }
    }
    announced
}

#[test]
fn announced_mates_are_true() {
    let announced = announced_mates(40, 20_000);
    assert!(announced > 5, "{announced} of 50");
}

#[test]
#[ignore = "minutes: all 2,000 mates"]
fn all_announced_mates_are_true() {
    let announced = announced_mates(1, 100_000);
    println!("{announced} mates announced");
    assert!(announced > 500, "{announced} of 2,000");
}

/// Checks mate suites whose licence does not allow shipping them, if they are in the test data.
#[test]
fn short_mates_of_other_suites() {
    let mut engine = engine(Settings::default());
    for moves in 1..=4 {
        let name = format!("mate/terje_mate_in_{moves}.epd");
        let Some(path) = crate::common::data::data(&name) else { continue };
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines().step_by(if moves < 3 { 4 } else { 20 }) {
            let fields: Vec<&str> = line.splitn(5, ' ').collect();
            let game = Game::from(position(&fields[..4].join(" ")));
            engine.new_game();
            let limits = Limits { mate: Some(moves), ..nodes(2_000_000) };
            let outcome = search(&mut engine, &game, limits);
            assert_eq!(mate_distance(outcome.info.score), Some(moves as i32), "{line}");
            check_mate_line(&game, &outcome);
        }
    }
}

/// Returns whether the side to move can mate in at most `moves` moves, by brute force.
fn mates_in(position: &Position, moves: u32) -> bool {
    position.legal_moves().into_iter().any(|m| {
        let child = position.play(m);
        let replies = child.legal_moves();
        if replies.is_empty() {
            return child.is_check();
        }
        let undecided = |position: &Position| position.halfmoves() < 100;
        moves > 1
            && undecided(&child)
            && replies
                .into_iter()
                .map(|m| child.play(m))
                .all(|p| undecided(&p) && mates_in(&p, moves - 1))
    })
}

/// Returns the shortest mate of up to two moves, negative if the side to move is mated.
fn shortest_mate(position: &Position) -> Option<i32> {
    let replies = position.legal_moves();
    (1..=2).find_map(|moves| {
        let lost =
            || !replies.is_empty() && replies.iter().all(|&m| mates_in(&position.play(m), moves));
        if mates_in(position, moves) {
            Some(moves as i32)
        } else {
            lost().then_some(-(moves as i32))
        }
    })
}

/// `go mate` proves exactly the existing mates, and finds the shortest.
#[test]
fn mates_are_proved_where_they_are() {
    let fens = [
        "4R3/8/8/8/N7/1P1k4/8/R3K3 w Q - 0 1", // by castling
        "r1bq1r2/pp2n3/4N2k/3pPppP/1b1n2Q1/2N5/PP3PP1/R1B1K2R w KQ g6 0 15", // en passant
        "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1",   // quiet sacrifice
        "kbK5/pp6/1P6/8/8/8/8/R7 w - - 97 80", // on the hundredth ply
        "kbK5/pp6/1P6/8/8/8/8/R7 w - - 98 80", // too late
        "8/8/8/8/8/2k5/8/K6q w - - 0 1",       // no mate, only check
        "7k/8/5KQ1/8/8/8/8/8 b - - 0 1",       // mated
    ];
    let mut games: Vec<Game> = fens.map(|fen| Game::from(position(fen))).into();
    let is_short = |record: &Record| record.goal.mate.is_some_and(|mate| mate.abs() <= 3);
    let short = suite(MATES).into_iter().filter(is_short).take(80);
    games.extend(short.map(|record| Game::from(record.position)));
    games.extend(random_games(80, 0x0dd5_ba11));
    let (mut proved, mut none) = (0, 0);
    let mut engine = engine(Settings { hash: 1, ..Settings::default() });
    for game in &games {
        engine.new_game();
        let limits = Limits { mate: Some(2), ..depth(1) };
        let outcome = search(&mut engine, game, limits);
        let expected = shortest_mate(game.position());
        let found = mate_distance(outcome.info.score).filter(|moves| moves.abs() <= 2);
        assert_eq!(found, expected, "{}", game.position().fen());
        check_mate_line(game, &outcome);
        *if expected.is_some() { &mut proved } else { &mut none } += 1;
    }
    assert!(proved >= 20 && none >= 20, "{proved} mates, {none} others");
}

/// A mate on exactly the hundredth ply wins. One ply later, the game is drawn.
#[test]
fn fifty_move_boundary() {
    let mut exact = 0;
    for Record { position, goal, text, .. } in
        suite(include_str!("../data/fifty_move_boundary.epd"))
    {
        let game = Game::from(position);
        let mut engine = engine(Settings::default());
        let near = goal.mate.is_some_and(|mate| mate.abs() <= 8);
        let outcome = search(&mut engine, &game, nodes(if near { 300_000 } else { 30_000 }));
        let Some(mate) = goal.mate else {
            assert!(!is_decisive(outcome.info.score), "{text}: {}", outcome.info.score);
            continue;
        };
        // Long mates may not be found, but the fifty-move rule allows no other length.
        let found = mate_distance(outcome.info.score);
        assert!(found == Some(mate) || found.is_none() && mate.abs() > 7, "{text}: {found:?}");
        check_mate_line(&game, &outcome);
        exact += u32::from(found.is_some());
    }
    // At least the short mates are found.
    assert!(exact >= 3, "{exact} mates seen");
}

#[test]
fn stalemate_traps_are_avoided() {
    let mut engine = engine(Settings::default());
    for record in suite(include_str!("../data/stalemate_traps.epd")) {
        let game = Game::from(record.position);
        let (avoid, best) = (record.goal.avoid, search(&mut engine, &game, nodes(20_000)).best);
        assert!(!avoid.is_empty() && !avoid.contains(&best.unwrap()), "{}", record.text);
    }
}

#[test]
fn colours_search_alike() {
    // The position with colours swapped has the same value.
    let mut engine = engine(Settings { selective: false, ..Settings::default() });
    for game in random_games(10, 4242) {
        let here = Game::from(game.position().clone());
        let setup =
            shakmaty::Position::to_setup(here.position().chess(), shakmaty::EnPassantMode::Legal);
        let there = Game::from(Position::from_setup(setup.into_mirrored()).unwrap());
        assert_ne!(here.position().turn() == Color::White, there.position().turn() == Color::White);
        engine.new_game();
        let a = search(&mut engine, &here, depth(3));
        engine.new_game();
        let b = search(&mut engine, &there, depth(3));
        assert_eq!(a.info.score, b.info.score, "{}", here.position().fen());
    }
}
