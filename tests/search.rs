//! The search against brute force, against the rules, and against its own
//! four root drivers.

use std::{path::Path, time::Duration};

use lancet::{
    engine::{Engine, Job, RootSearch, Settings},
    eval::default_network,
    position::{Game, Position},
    report::{Bound, Limits, Outcome, Silent},
    score::{DRAW, Delay, INFINITE, MATE, Score, is_decisive, mate_distance},
};
use shakmaty::{CastlingMode, Color, Move, san::San, uci::UciMove};

const DRIVERS: [RootSearch; 4] =
    [RootSearch::Aspiration, RootSearch::FullWindow, RootSearch::Bisection, RootSearch::MtdF];

fn position(fen: &str) -> Position {
    Position::from_fen(fen, CastlingMode::Standard).unwrap()
}

fn engine(settings: Settings) -> Engine {
    Engine::new(settings).unwrap()
}

fn search(engine: &mut Engine, game: &Game, limits: Limits) -> Outcome {
    engine.go(&Job::new(game.clone(), limits), &Silent)
}

fn depth(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

/// A small deterministic generator; quality does not matter here.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Games of random moves, stopped at a random length; never over.
fn random_games(count: usize, seed: u64) -> Vec<Game> {
    let mut random = Random(seed);
    let mut games = Vec::new();
    while games.len() < count {
        let mut game = Game::default();
        let length = random.below(150);
        for _ in 0..length {
            let moves = game.position().legal_moves();
            if moves.is_empty() {
                break;
            }
            game.play(moves[random.below(moves.len())]);
        }
        if game.ending().is_none() {
            games.push(game);
        }
    }
    games
}

/// Minimax without any pruning, with the playing search's rules: scores age on
/// their way out, a second occurrence within the search is a draw.
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
        return default_network().evaluate(position.board(), position.turn());
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
        assert!(game.position().is_legal(m), "{m:?} is illegal in {}", game.position().fen());
        game.play(m);
    }
    game
}

/// A mate score's line must end in mate, after as many moves as announced.
fn check_mate_line(game: &Game, outcome: &Outcome) {
    let Some(distance) = mate_distance(outcome.info.score) else { return };
    if outcome.info.bound != Bound::Exact {
        return;
    }
    let plies = if distance > 0 { 2 * distance - 1 } else { -2 * distance };
    let end = play_line(game, &outcome.info.pv);
    assert_eq!(outcome.info.pv.len(), plies as usize, "{}", game.position().fen());
    assert_eq!(end.ending(), Some(lancet::position::Ending::Checkmate));
}

#[test]
fn mates_are_found_by_every_driver() {
    let mates = [
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
        ("4k3/8/4K3/8/8/8/8/7R w - - 0 1", 1),
        ("8/8/8/8/8/2k5/8/K6q w - - 0 1", 0), // mated in some moves: sign only
        ("1k6/8/1K6/8/8/8/8/2Q5 w - - 0 1", 2),
    ];
    for root_search in DRIVERS {
        let mut engine = engine(Settings { root_search, ..Settings::default() });
        for (fen, moves) in mates {
            let game = Game::from(position(fen));
            engine.new_game();
            let outcome = search(&mut engine, &game, depth(12));
            check_mate_line(&game, &outcome);
            let distance = mate_distance(outcome.info.score);
            if moves > 0 {
                assert_eq!(distance, Some(moves), "{root_search:?} {fen}");
            } else if let Some(distance) = distance {
                assert!(distance <= 0, "{root_search:?} {fen}");
            }
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
fn node_limits_are_exact() {
    let mut engine = engine(Settings::default());
    for limit in [1, 2, 10, 777, 5000] {
        let outcome = search(&mut engine, &Game::default(), nodes(limit));
        assert_eq!(outcome.info.nodes, limit);
        assert!(outcome.best.is_some());
    }
}

#[test]
fn mate_beats_the_fifty_move_rule() {
    // Mate on the hundredth ply wins; one ply later the game is drawn.
    let mut engine = engine(Settings::default());
    let in_time = Game::from(position("7k/8/6K1/8/8/8/8/R7 w - - 99 80"));
    let outcome = search(&mut engine, &in_time, depth(6));
    assert_eq!(mate_distance(outcome.info.score), Some(1));
    let too_late = Game::from(position("k7/8/1K6/8/8/8/7Q/8 w - - 98 80"));
    let outcome = search(&mut engine, &too_late, depth(8));
    assert!(outcome.info.score == MATE - 1 || outcome.info.score == DRAW);
}

#[test]
fn a_saving_repetition_is_found() {
    // White is a queen down but checks for ever.
    let game = Game::from(position("6k1/6p1/8/8/8/4Q3/1q4PP/r5BK w - - 0 1"));
    let mut engine = engine(Settings::default());
    let outcome = search(&mut engine, &game, depth(14));
    assert_eq!(outcome.info.score, DRAW, "{:?}", outcome.info.pv);
}

#[test]
fn searchmoves_and_mate_limits_are_kept() {
    let game = Game::default();
    let only: Vec<Move> = ["a2a3", "h2h4"]
        .iter()
        .map(|text| text.parse::<UciMove>().unwrap().to_move(game.position().chess()).unwrap())
        .collect();
    let mut engine = engine(Settings::default());
    let limits = Limits { searchmoves: only.clone(), ..depth(8) };
    assert!(only.contains(&search(&mut engine, &game, limits).best.unwrap()));

    let mate = Game::from(position("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1"));
    let limits = Limits { mate: Some(3), ..Limits::default() };
    let outcome = search(&mut engine, &mate, limits);
    assert_eq!(mate_distance(outcome.info.score), Some(3));
}

#[test]
fn no_moves_no_search() {
    let mut engine = engine(Settings::default());
    for (fen, score) in
        [("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", DRAW), ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", -MATE)]
    {
        let outcome = search(&mut engine, &Game::from(position(fen)), depth(5));
        assert_eq!((outcome.best, outcome.info.score), (None, score));
    }
}

#[test]
fn time_limits_hold() {
    let mut engine = engine(Settings::default());
    let limits = Limits { movetime: Some(Duration::from_millis(200)), ..Limits::default() };
    let outcome = search(&mut engine, &Game::default(), limits);
    assert!(outcome.info.time >= Duration::from_millis(150), "{:?}", outcome.info.time);
    assert!(outcome.info.time <= Duration::from_secs(5), "{:?}", outcome.info.time);
}

/// Lines of a data file that is beside the checkout, or none.
fn shared_data(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

/// Every announced mate is true: its line is legal, as long as announced, and
/// ends in mate; and it is not shorter than the proved distance.
#[test]
fn announced_mates_are_true() {
    let lines = shared_data("mate/mates2000.epd");
    let mut engine = engine(Settings::default());
    for line in lines.iter().step_by(40) {
        let (fen, mate) = line.split_once(" bm #").expect("FEN bm #N");
        let mate: i32 = mate.trim_end_matches(';').trim().parse().unwrap();
        let game = Game::from(position(fen));
        engine.new_game();
        let outcome = search(&mut engine, &game, nodes(20_000));
        check_mate_line(&game, &outcome);
        if let Some(found) = mate_distance(outcome.info.score) {
            assert_eq!(found > 0, mate > 0, "{line}");
            assert!(found.abs() >= mate.abs(), "{line}: {found}");
        }
    }
}

#[test]
fn short_mates_of_the_suite() {
    let lines = shared_data("mate/terje_mate_in_2.epd");
    let mut engine = engine(Settings::default());
    for line in lines.iter().step_by(10) {
        let fields: Vec<&str> = line.splitn(5, ' ').collect();
        let game = Game::from(position(&fields[..4].join(" ")));
        engine.new_game();
        let outcome = search(&mut engine, &game, Limits { mate: Some(2), ..nodes(2_000_000) });
        assert_eq!(mate_distance(outcome.info.score), Some(2), "{line}");
        check_mate_line(&game, &outcome);
    }
}

/// Mate on exactly the hundredth ply is won, one ply too late is drawn.
#[test]
fn fifty_move_boundary() {
    for line in shared_data("draws/fifty_move_boundary.epd").iter().step_by(5) {
        let operation = |name: &str| -> Option<String> {
            let start = line.find(&format!(" {name} "))? + name.len() + 2;
            let rest = &line[start..];
            Some(rest[..rest.find(';')?].trim_matches('"').to_owned())
        };
        let halfmoves: u32 = operation("hmvc").unwrap().parse().unwrap();
        let mate: i32 = operation("dm").map_or(0, |dm| dm.parse().unwrap());
        if mate.abs() > 5 {
            continue;
        }
        let fields: Vec<&str> = line.splitn(5, ' ').collect();
        let fen = format!("{} {halfmoves} 100", fields[..4].join(" "));
        let game = Game::from(position(&fen));
        let mut engine = engine(Settings::default());
        let outcome = search(&mut engine, &game, nodes(300_000));
        if operation("c0").unwrap().contains("draw") {
            assert!(!is_decisive(outcome.info.score), "{line}: {}", outcome.info.score);
        } else {
            let found = mate_distance(outcome.info.score);
            assert_eq!(found, Some(mate), "{line}");
        }
    }
}

/// Occurrences and the arbiter's rules, from recorded games.
#[test]
fn repetitions_as_recorded() {
    for line in shared_data("draws/repetition_fifty_sequences.tsv") {
        let columns: Vec<&str> = line.split('\t').collect();
        let [_, fen, moves, occurrences, halfmoves, ..] = columns[..] else { continue };
        if line.starts_with('#') {
            continue;
        }
        let mut game = Game::from(position(fen));
        for text in moves.split_whitespace() {
            let m = text.parse::<UciMove>().unwrap().to_move(game.position().chess()).unwrap();
            game.play(m);
        }
        assert_eq!(game.occurrences().to_string(), occurrences, "{line}");
        assert_eq!(game.position().halfmoves().to_string(), halfmoves, "{line}");
    }
}

#[test]
fn stalemate_traps_are_avoided() {
    let mut engine = engine(Settings::default());
    for line in shared_data("draws/stalemate_traps_generated.epd").iter().step_by(6) {
        let fields: Vec<&str> = line.splitn(5, ' ').collect();
        let game = Game::from(position(&format!("{} 0 1", fields[..4].join(" "))));
        let avoid = line[line.find(" am ").unwrap() + 4..].split(';').next().unwrap();
        let outcome = search(&mut engine, &game, nodes(20_000));
        for san in avoid.split_whitespace() {
            let m = San::from_ascii(san.trim_end_matches(['+', '#']).as_bytes())
                .unwrap()
                .to_move(game.position().chess())
                .unwrap();
            assert_ne!(outcome.best, Some(m), "{line}");
        }
    }
}

#[test]
fn insufficient_material_as_recorded() {
    for line in shared_data("draws/insufficient_material.tsv") {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [_, fen, answer] = columns[..]
            && fen.contains('/')
        {
            assert_eq!(position(fen).is_insufficient_material(), answer == "1", "{line}");
        }
    }
}

#[test]
fn colours_search_alike() {
    // The same position with colours swapped has the same value.
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
