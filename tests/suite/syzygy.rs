//! Tablebases in play: results are kept, wins are converted, and missing or damaged files are
//! reported. The expected values come from python-chess, and the best defence comes from the
//! tablebases. Without tablebases (see `common/data.rs`) the tests are skipped.

use std::{fs, sync::atomic::AtomicU64};

use crate::common::{
    Lancet,
    checker::Checker,
    chess::{depth, nodes, position, search},
    data::data,
    tables::{directory, oracle, winner},
};
use lancet::{
    chess::{
        position::{Ending, Game, Position},
        score::{DECISIVE, DRAW, is_decisive, mate_distance},
    },
    engine::{Engine, Job, Settings},
    play::{
        report::{Info, Reporter, Silent},
        syzygy::{self, Prober, Tablebases},
    },
};
use shakmaty::{CastlingMode, Chess, Move, san::San};
use shakmaty_syzygy::{Tablebase, Wdl};

fn tables() -> Option<Tablebases> {
    Tablebases::open(&[directory()?], &|_| {})
}

/// Returns an engine with the tablebases.
fn engine(fifty_moves: bool) -> Option<Engine> {
    let syzygy = syzygy::ProbeOptions { fifty_moves, ..syzygy::ProbeOptions::default() };
    let mut engine = Engine::new(Settings { hash: 1, syzygy, ..Settings::default() }).unwrap();
    engine.set_tablebases(Some(tables()?.into()));
    Some(engine)
}

/// Changes how the engine probes the tablebases.
fn set(engine: &mut Engine, syzygy: syzygy::ProbeOptions) {
    engine.configure(Settings { syzygy, ..engine.settings().clone() }).unwrap();
}

/// Returns the lines of a data file. Each is a position with operations.
fn suite(name: &str) -> Vec<String> {
    let text = fs::read_to_string(data(name).unwrap()).unwrap();
    text.lines().filter(|line| line.contains(" - - ")).map(str::to_owned).collect()
}

fn operation<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!(" {name} "))?;
    rest.split(';').next()
}

/// Returns the position of a line, with the fifty-move counter at `halfmoves`.
fn line_position(line: &str, halfmoves: u32) -> Position {
    let fields: Vec<&str> = line.splitn(5, ' ').collect();
    position(&format!("{} {halfmoves} 60", fields[..4].join(" ")))
}

fn value(number: &str) -> Wdl {
    match number {
        "2" => Wdl::Win,
        "0" => Wdl::Draw,
        "-2" => Wdl::Loss,
        other => panic!("wdl {other}"),
    }
}

/// The best tablebase value among the root moves is that of the position.
#[test]
fn values_are_those_of_the_suites() {
    let Some(tables) = tables() else { return };
    let settings = syzygy::ProbeOptions::default();
    let hits = AtomicU64::new(0);
    let prober = Prober::new(&tables, settings);
    let mut lines = suite("endgame/tb_wdl_dtz_generated.epd");
    lines.extend(suite("endgame/syzygy_wdl_dtz_public.epd"));
    let mut counts = [0; 3];
    for line in &lines {
        let position = line_position(line, 0);
        if position.board().occupied().count() > tables.max_pieces() {
            continue;
        }
        let expected = value(operation(line, "wdl").unwrap());
        let bounds = prober.probe(&position, 1, &hits, &Silent).unwrap();
        let sign = bounds.refine(0).signum();
        assert_eq!(is_decisive(bounds.refine(0)), expected != Wdl::Draw, "{line}");
        let game = Game::from(position.clone());
        let moves = position.legal_moves();
        if moves.is_empty() {
            continue;
        }
        let ranking = prober.rank_moves(&game, &moves, &Silent).unwrap();
        let best = ranking.known.iter().map(|known| known.value).max().unwrap();
        assert_eq!(best, expected, "{line}");
        assert_eq!(
            sign,
            [-1, 0, 1][usize::from(best >= Wdl::Draw) + usize::from(best > Wdl::Draw)]
        );
        counts[(sign + 1) as usize] += 1;
    }
    assert!(counts.iter().all(|&count| count > 300), "{counts:?}");
    assert!(
        prober.probe(&line_position("8/8/8/4k3/8/8/8/KQ6 w - - ", 1), 1, &hits, &Silent).is_none()
    );
}

/// The move played keeps the tablebase value, whatever its score in the search. If the suite lists
/// all such moves, it is one of these.
#[test]
fn every_root_move_keeps_the_value() {
    let (Some(mut engine), Some(oracle)) = (engine(true), oracle()) else { return };
    let mut positions = 0;
    for (file, lists_all) in [
        ("endgame/only_move_win_generated.epd", true),
        ("endgame/kpk_generated.epd", true),
        ("draws/only_move_draw_generated.epd", true),
        ("draws/wrong_bishop_generated.epd", true),
        ("endgame/tb_wdl_dtz_generated.epd", true),
        ("endgame/syzygy_wdl_dtz_public.epd", true),
        ("endgame/tbtest434.epd", false),
        ("mate/krvk1000_a.epd", false),
        ("mate/kbbvk1000pv_a.epd", false),
        ("mate/kbnvk1000pv_a.epd", false),
        ("mate/kqvkp1000pv_a.epd", false),
        ("mate/kqvkr1000pv_a.epd", false),
    ] {
        for line in &suite(file) {
            let game = Game::from(line_position(line, 0));
            let position = game.position();
            if position.board().occupied().count() > 4 || position.legal_moves().is_empty() {
                continue;
            }
            engine.new_game();
            let outcome = search(&mut engine, &game, nodes(200));
            let m = outcome.best.unwrap();
            let san = San::from_move(position.chess(), m).to_string();
            if let Some(best) = operation(line, "bm").filter(|_| lists_all) {
                let mut moves =
                    best.split_whitespace().map(|word| word.trim_end_matches(['+', '#']));
                assert!(moves.any(|listed| listed == san), "{san}: {line}");
            }
            let wdl = |position: &Position| {
                i32::from(oracle.probe_wdl_after_zeroing(position.chess()).unwrap())
            };
            let value = wdl(position);
            assert_eq!(value, -wdl(&position.play(m)), "{san}: {line}");
            if let Some(listed) = operation(line, "wdl") {
                assert_eq!(listed.parse(), Ok(value), "{line}");
            }
            match value {
                2 => assert!(outcome.info.score > DECISIVE, "{line}"),
                -2 => assert!(outcome.info.score < -DECISIVE, "{line}"),
                _ => assert_eq!(outcome.info.score, DRAW, "{line}"),
            }
            assert!(outcome.info.tbhits > 0, "{line}");
            positions += 1;
        }
    }
    assert!(positions > 5500, "{positions}");
}

/// A win is cursed if the fifty-move rule draws the game before the next zeroing move, unless the
/// option switches the rule off.
#[test]
fn cursed_and_blessed_follow_the_option() {
    let (Some(mut with), Some(mut without)) = (engine(true), engine(false)) else { return };
    let mut seen = 0;
    for line in suite("endgame/tb_wdl_dtz_generated.epd") {
        let dtz: i32 = operation(&line, "dtz").unwrap().parse().unwrap();
        // Distances may be rounded by one ply.
        let plies = dtz.unsigned_abs();
        if plies < 20 || seen > 120 {
            continue;
        }
        seen += 1;
        for (halfmoves, decided) in [(98 - plies, true), (103 - plies, false)] {
            let game = Game::from(line_position(&line, halfmoves));
            let sign = dtz.signum();
            let score = search(&mut with, &game, nodes(50)).info.score;
            if decided {
                assert!(
                    is_decisive(score) && score.signum() == sign,
                    "{line} {halfmoves}: {score}"
                );
            } else {
                assert_eq!(score, sign, "{line} {halfmoves}");
            }
            let score = search(&mut without, &game, nodes(50)).info.score;
            assert!(is_decisive(score) && score.signum() == sign, "{line} {halfmoves}: {score}");
        }
    }
    assert!(seen > 100, "{seen}");
}

/// Plays a game to its end: the engine plays the side to move, and the tablebases choose the
/// longest resistance for the other side. Returns the number of plies to mate.
fn play_out(engine: &mut Engine, oracle: &Tablebase<Chess>, mut game: Game) -> usize {
    let start = game.position().fen();
    let us = game.position().turn();
    for ply in 0..300 {
        match game.ending() {
            None => {}
            Some(Ending::Checkmate) if game.position().turn() != us => return ply,
            Some(ending) => {
                panic!("{ending:?} instead of mate from {start} in {}", game.position().fen())
            }
        }
        let m: Move = if game.position().turn() == us {
            let outcome = search(engine, &game, nodes(300));
            assert!(outcome.info.score > DECISIVE, "{start}: {}", outcome.info.score);
            outcome.best.unwrap()
        } else {
            oracle.best_move(game.position().chess()).unwrap().unwrap().0
        };
        game.play(m);
    }
    panic!("no mate from {start} in 300 plies");
}

#[test]
fn won_endings_are_played_out_to_mate() {
    let (Some(mut engine), Some(oracle)) = (engine(true), oracle()) else { return };
    let lines = suite("endgame/tb_wdl_dtz_generated.epd");
    for ending in ["KQvKR", "KBNvK", "KRPvK", "KPPvK", "KQvKP", "KBBvK", "KRvKB", "KPvKP"] {
        // The wins with the longest distances; with pawns, any wins.
        let mut won: Vec<(&String, i32)> = lines
            .iter()
            .filter(|line| operation(line, "c0").is_some_and(|c0| c0.trim_matches('"') == ending))
            .map(|line| (line, operation(line, "dtz").unwrap().parse().unwrap()))
            .filter(|&(_, dtz)| dtz > 0)
            .collect();
        won.sort_by_key(|&(_, dtz)| -dtz);
        assert!(won.len() >= 3, "{ending}");
        for (line, dtz) in won.into_iter().take(4) {
            // With a fifty-move counter of 0, and with one that leaves no spare ply (distances may
            // be rounded by one ply).
            for halfmoves in [0, 99 - dtz as u32] {
                engine.new_game();
                let game = Game::from(line_position(line, halfmoves));
                let plies = play_out(&mut engine, &oracle, game);
                assert!(plies as i32 + 1 >= dtz, "{line}: mate in {plies} plies");
            }
        }
    }
}

/// These positions have one piece more than the tablebases cover, so captures lead into the
/// tablebases.
#[test]
fn the_search_sees_wins_and_draws_in_the_tables() {
    let Some(mut engine) = engine(true) else { return };
    // The bishop or the queen takes the knight.
    let won = Game::from(position("4k3/8/1n6/8/3B4/8/8/KQ6 w - - 0 1"));
    let outcome = search(&mut engine, &won, nodes(3000));
    assert!(outcome.info.score > DECISIVE, "{}", outcome.info.score);
    assert!(outcome.info.tbhits > 0);
    // The same from the losing side.
    let lost = Game::from(position("kn6/2Q5/8/8/8/8/B7/K7 b - - 0 1"));
    let outcome = search(&mut engine, &lost, nodes(3000));
    assert!(outcome.info.score < -DECISIVE, "{}", outcome.info.score);
    // A mate is better than a tablebase win, and is still found.
    let mate = Game::from(position("7k/8/5KQ1/8/8/1n6/8/B7 w - - 0 1"));
    let outcome = search(&mut engine, &mate, nodes(3000));
    assert_eq!(mate_distance(outcome.info.score), Some(1));
    // The wrong bishop with a rook's pawn, and a pawn that can be taken.
    let drawn = Game::from(position("7k/8/6p1/7P/8/8/4B3/4K3 b - - 0 1"));
    let outcome = search(&mut engine, &drawn, nodes(20_000));
    assert_eq!(outcome.info.score, DRAW, "{:?}", outcome.info.pv);
    // The tablebases are not probed if SyzygyProbeLimit forbids it.
    set(&mut engine, syzygy::ProbeOptions { probe_limit: 0, ..Default::default() });
    engine.new_game();
    assert_eq!(search(&mut engine, &won, nodes(3000)).info.tbhits, 0);
    set(&mut engine, syzygy::ProbeOptions { probe_depth: 100, ..Default::default() });
    assert_eq!(search(&mut engine, &won, nodes(3000)).info.tbhits, 0);
}

/// Lines with winning or losing scores end in positions that the tablebases call won or lost. The
/// positions are in the tablebases or have one more piece.
#[test]
fn lines_end_as_they_promise() {
    let Some(directory) = directory() else { return };
    let mut lancet = Lancet::start();
    lancet.send(&format!("setoption name SyzygyPath value {}", directory.display()));
    lancet.send("setoption name MultiPV value 3");
    lancet.drain();
    let mut decisive = 0;
    for fen in [
        "4k3/8/1n6/8/3B4/8/8/KQ6 w - - 0 1",
        "kn6/2Q5/8/8/8/8/B7/K7 b - - 0 1",
        "8/8/4k3/3r4/8/2R1P3/3K4/8 w - - 0 1",
        "8/2p5/3k4/8/3KP3/4P3/8/8 w - - 0 1",
        "8/5k2/8/4n3/8/2P5/1B2K3/8 b - - 0 1",
        "3k4/8/8/3pq3/8/8/3Q4/3K4 w - - 0 1",
        "6k1/8/8/8/8/8/K2P4/8 w - - 0 1",
        "8/8/7k/8/6K1/P7/8/8 b - - 0 1",
        "2k5/5R2/K7/8/8/8/8/2n5 w - - 0 1",
        "8/8/8/2k5/8/8/3P4/3K4 b - - 0 1",
        "8/8/8/4k3/8/3K4/3P4/8 b - - 0 1",
        "8/2K5/8/8/8/Q1p5/2k5/q7 w - - 0 88",
        "8/p4K2/8/1k6/8/1p6/1R6/8 w - - 2 74",
        "6r1/8/7R/6K1/8/8/2k5/8 w - - 95 128",
    ] {
        let game = Game::from(position(fen));
        lancet.send(&format!("position fen {fen}"));
        let mut checker = Checker::new(&game, CastlingMode::Standard).with_tables(winner);
        for line in lancet.go("go nodes 40000").0 {
            decisive += usize::from(line.contains(" cp 30") || line.contains(" cp -30"));
            checker.line(&line).unwrap_or_else(|fault| panic!("{fault}: {fen}"));
        }
        assert!(checker.is_answered());
    }
    assert!(decisive > 20, "{decisive}");
    lancet.quit();
}

/// A win that the fifty-move rule turns into a draw does not cut the line that shows it.
#[test]
fn lines_that_the_fifty_move_rule_decides_are_whole() {
    let Some(mut engine) = engine(true) else { return };
    let drawn = position("8/8/8/4k3/8/8/8/K6R w - - 85 90");
    let info = search(&mut engine, &drawn.into(), depth(8)).info;
    assert!(info.score.abs() < DECISIVE && info.pv.len() > 1, "{info:?}");
}

/// With MultiPV, the lines are ordered by result, and each has the right score.
#[test]
fn lines_are_ranked_by_result() {
    struct Lines(std::sync::Mutex<Vec<Info>>);
    impl Reporter for Lines {
        fn info(&self, info: &Info) {
            self.0.lock().unwrap().push(info.clone());
        }
    }
    let Some(mut engine) = engine(true) else { return };
    let oracle = oracle().unwrap();
    engine.live().multi_pv.store(20, std::sync::atomic::Ordering::Relaxed);
    // Some king moves win, some draw, and stepping aside loses the pawn.
    for fen in ["8/8/8/8/2k5/8/3PK3/8 w - - 0 1", "8/8/1r4k1/3N4/8/8/8/3K4 b - - 0 1"] {
        let game = Game::from(position(fen));
        let lines = Lines(std::sync::Mutex::default());
        engine.go(&Job::new(game.clone(), depth(6)), &lines);
        let lines = lines.0.into_inner().unwrap();
        let last: Vec<&Info> = lines.iter().filter(|info| info.depth == 6).collect();
        assert_eq!(last.len(), game.position().legal_moves().len());
        for (info, number) in last.iter().zip(1..) {
            assert_eq!(info.multipv, number);
            let child = game.position().play(info.pv[0]);
            let wdl = -i32::from(oracle.probe_wdl_after_zeroing(child.chess()).unwrap());
            let sign = if is_decisive(info.score) { 2 * info.score.signum() } else { info.score };
            assert_eq!(sign, wdl, "{fen} {:?} {}", info.pv, info.score);
            assert_eq!(info.drawn, wdl.abs() < 2, "{fen} {:?}", info.pv);
        }
        assert!(last.is_sorted_by_key(|info| -info.score), "{fen}");
    }
}

/// Without DTZ files, the WDL files still give results.
#[test]
fn results_alone_are_of_use() {
    let Some(directory) = directory() else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::copy(directory.join("KPvK.rtbw"), dir.path().join("KPvK.rtbw")).unwrap();
    let tables = Tablebases::open(&[dir.path().to_owned()], &|_| {}).unwrap();
    // Bare kings, which have no file, are a draw. Moving away from the pawn loses.
    let game = Game::from(position("8/Pk6/8/8/8/8/8/7K b - - 0 1"));
    let moves: Vec<Move> = game.position().legal_moves().into_iter().collect();
    let prober = Prober::new(&tables, Default::default());
    let ranking = prober.rank_moves(&game, &moves, &Silent).unwrap();
    assert!(!ranking.distances);
    let taking = moves.iter().position(|m| m.is_capture()).unwrap();
    assert_eq!(ranking.known[taking].value, Wdl::Draw);
    // The search also probes WDL inside the tree, here after pawn moves.
    let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
    engine.set_tablebases(Some(tables.into()));
    for (turn, sign) in [("w", 1), ("b", -1)] {
        let game = Game::from(position(&format!("8/8/8/8/8/8/P7/K6k {turn} - - 0 1")));
        let score = search(&mut engine, &game, nodes(3000)).info.score;
        assert!(score * sign > DECISIVE, "{turn}: {score}");
    }
}

/// A move to a position that occurred twice before is a draw and makes no progress.
#[test]
fn repetitions_of_the_game_count() {
    let Some(mut engine) = engine(true) else { return };
    let mut game = Game::from(position("8/8/8/3k4/8/8/8/KQ6 w - - 0 1"));
    for _ in 0..2 {
        for text in ["b1b2", "d5d6", "b2b1", "d6d5"] {
            let m = lancet::chess::notation::read_move(game.position(), text).unwrap();
            game.play(m);
        }
    }
    let outcome = search(&mut engine, &game, nodes(300));
    assert!(outcome.info.score > DECISIVE);
    game.play(outcome.best.unwrap());
    assert_eq!(game.ending(), None);
}

/// Missing, truncated and swapped files are reported once, and the game goes on.
#[test]
fn bad_files_are_named_and_play_goes_on() {
    let Some(directory) = directory() else { return };
    let dir = tempfile::tempdir().unwrap();
    let copy = |from: &str, to: &str| fs::copy(directory.join(from), dir.path().join(to)).unwrap();
    for entry in fs::read_dir(&directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        copy(&name, &name);
    }
    let cut = |name: &str, length: u64| {
        let file = fs::OpenOptions::new().write(true).open(dir.path().join(name)).unwrap();
        file.set_len(length).unwrap();
    };
    fs::remove_file(dir.path().join("KRvKN.rtbw")).unwrap();
    cut("KBvK.rtbw", 33); // found by its length
    cut("KBNvK.rtbw", 80); // only found when it is read
    cut("KRRvK.rtbz", 1040);
    copy("KRvK.rtbw", "KQvK.rtbw");
    copy("KPvK.rtbz", "KPvK.rtbw");

    let mut lancet = Lancet::start();
    lancet.send(&format!("setoption name SyzygyPath value {}", dir.path().display()));
    let lines = lancet.drain();
    let said = |lines: &[String], words: &[&str]| {
        let all = |line: &&String| {
            line.starts_with("info string ") && words.iter().all(|w| line.contains(w))
        };
        lines.iter().filter(all).count()
    };
    assert_eq!(
        said(&lines, &["missing 1 of 30 WDL tables with 4 pieces: KRvKN.rtbw"]),
        1,
        "{lines:?}"
    );
    assert_eq!(said(&lines, &["KBvK.rtbw", "unexpected file size"]), 1, "{lines:?}");
    assert_eq!(said(&lines, &["33 WDL and 35 DTZ tables, up to 4 pieces"]), 1, "{lines:?}");
    for (fen, file, reason) in [
        ("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", "KBNvK.rtbw", "damaged"),
        ("8/8/8/3k4/8/8/8/KQ6 w - - 0 1", "KQvK.rtbw", "damaged, or another table under this name"),
        (
            "8/8/8/3k4/8/8/P7/K7 w - - 0 1",
            "KPvK.rtbw",
            "not a table of the type that its extension says",
        ),
        ("8/8/8/3k4/8/8/8/KRR5 w - - 0 1", "KRRvK.rtbz", "damaged"),
    ] {
        let mut lines = Vec::new();
        for _ in 0..2 {
            lancet.send(&format!("position fen {fen}"));
            let (more, m) = lancet.go("go depth 6");
            lines.extend(more);
            assert_ne!(m, "(none)");
        }
        let path = dir.path().join(file);
        assert_eq!(said(&lines, &[path.to_str().unwrap(), reason]), 1, "{lines:?}");
    }
    // A directory that does not exist, and then all tablebases again.
    lancet.send("setoption name SyzygyPath value /nowhere");
    let lines = lancet.drain();
    assert_eq!(said(&lines, &["/nowhere"]), 1, "{lines:?}");
    lancet.send("position fen 8/8/8/3k4/8/8/8/KQ6 w - - 0 1");
    let (lines, _) = lancet.go("go depth 4");
    assert!(lines.iter().all(|line| !line.contains("tbhits") || line.contains("tbhits 0 ")));
    let separator = if cfg!(windows) { ";" } else { ":" };
    let paths = format!("/nowhere{separator}{}", directory.display());
    lancet.send(&format!("setoption name SyzygyPath value {paths}"));
    let lines = lancet.drain();
    assert_eq!(said(&lines, &["35 WDL and 35 DTZ tables"]), 1, "{lines:?}");
    let (lines, _) = lancet.go("go depth 4");
    assert!(lines.iter().any(|line| line.contains(" tbhits ") && !line.contains("tbhits 0 ")));
    lancet.send("setoption name SyzygyPath value <empty>");
    assert_eq!(lancet.drain(), [""; 0]);
    lancet.quit();
}

/// Tablebases with fewer pieces than the position change neither nodes nor moves.
#[test]
fn tables_do_not_touch_what_they_do_not_know() {
    let Some(mut with) = engine(true) else { return };
    let mut without = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
    let game = Game::default();
    let (a, b) = (search(&mut with, &game, depth(9)), search(&mut without, &game, depth(9)));
    assert_eq!((a.best, a.info.score, a.info.nodes), (b.best, b.info.score, b.info.nodes));
    assert_eq!(a.info.tbhits, 0);
}
