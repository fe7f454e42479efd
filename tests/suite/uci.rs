//! Dialogues with the built binary, like those of GUIs, match runners and people.

use std::{
    collections::{BTreeMap, HashSet},
    io::Write,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::common::{
    DEADLINE, Lancet,
    checker::check,
    chess::{KIWIPETE, book, game, long_game, position},
    pages,
    program::{Directory, LANCET, Running, fail, run, stderr, succeed},
};
use lancet::{
    chess::{
        notation::read_move,
        position::{Game, Position, START_FEN},
    },
    eval::nnue::{Network, network::Parameters},
};

/// Returns the word after `key` in an `info` line.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split(' ').skip_while(|&word| word != key).nth(1)
}

fn number(line: &str, key: &str) -> i64 {
    let value = field(line, key).unwrap_or_else(|| panic!("no {key} in '{line}'"));
    value.parse().unwrap_or_else(|_| panic!("{key} {value} in '{line}'"))
}

/// Returns the `info` lines with a score.
fn thoughts(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| line.contains(" score ")).collect()
}

fn pv(line: &str) -> Vec<&str> {
    line.split_once(" pv ").map_or_else(Vec::new, |(_, pv)| pv.split(' ').collect())
}

#[test]
fn a_gui_shakes_hands_and_plays() {
    let mut lancet = Lancet::start();
    let lines = lancet.ask("uci", "uciok");
    assert!(lines[0].starts_with("id name Lancet "));
    assert!(lines[1].starts_with("id author "));
    assert_eq!(lines[2], format!("info string Lancet {}", lancet::VERSION));
    let names: HashSet<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("option name ")?.split_once(" type "))
        .map(|(name, _)| name)
        .collect();
    for name in [
        "Hash",
        "Clear Hash",
        "Threads",
        "MultiPV",
        "Ponder",
        "Move Overhead",
        "UCI_Chess960",
        "UCI_AnalyseMode",
        "Debug Log File",
        "Root Search",
    ] {
        assert!(names.contains(name), "{name}");
    }
    for line in &lines[2..lines.len() - 1] {
        if line.contains(" type spin ") {
            let (min, max) = (number(line, "min"), number(line, "max"));
            assert!((min..=max).contains(&number(line, "default")), "{line}");
            assert!(max <= i64::from(i32::MAX), "{line}");
        }
    }
    // The options that python-chess sends before and during a game.
    for line in [
        "setoption name UCI_AnalyseMode value false",
        "setoption name Hash value 32",
        "setoption name Threads value 2",
        "setoption name UCI_Chess960 value false",
        "ucinewgame",
    ] {
        lancet.send(line);
    }
    assert_eq!(lancet.drain(), [""; 0]);
    let mut moves: Vec<String> = Vec::new();
    let mut game = Game::default();
    for _ in 0..6 {
        let line = if moves.is_empty() {
            "position startpos".to_owned()
        } else {
            format!("position startpos moves {}", moves.join(" "))
        };
        lancet.send(&line);
        let (lines, m) = lancet.go("go wtime 1000 btime 1000 winc 10 binc 10");
        check(&game, &lines);
        game.play(read_move(game.position(), &m).unwrap());
        moves.push(m);
    }
    assert_eq!(lancet.quit(), [""; 0]);
}

#[test]
fn it_says_which_build_it_is() {
    let mut lancet = Lancet::start();
    let lines = lancet.ask("compiler", "Network:");
    assert_eq!(lines[0], format!("Lancet {}", lancet::VERSION));
    let line = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name)).unwrap().trim();
    assert!(line("Compiler:").starts_with("rustc "));
    assert!(line("Target:").starts_with(std::env::consts::ARCH));
    // The program runs, so the processor has the instructions that it was compiled for.
    let needed = line("Compiled for:").split(' ').next().unwrap();
    assert!(line("Runs on:").split(' ').next() >= Some(needed));
    assert!(line("Network:").starts_with("768"));
    assert_eq!(lancet.quit(), [""; 0]);
}

#[test]
fn pondering_holds_the_move() {
    let mut lancet = Lancet::start();
    lancet.send("setoption name Ponder value true");
    lancet.send("position startpos moves e2e4");
    for go in ["go ponder wtime 50 btime 50", "go ponder depth 2", "go infinite ponder nodes 10"] {
        for end in ["stop", "ponderhit"] {
            lancet.send(go);
            for _ in 0..3 {
                let before = lancet.drain();
                assert!(before.iter().all(|line| !line.starts_with("bestmove")), "{before:?}");
            }
            lancet.send(end);
            if go.contains("infinite") {
                lancet.send("stop");
            }
            lancet.until("bestmove ");
        }
    }
    // `ponderhit` arrives before the first `info` line.
    lancet.send("go ponder wtime 100 btime 100");
    lancet.send("ponderhit");
    lancet.until("bestmove ");
    // A `ponderhit` without a search is ignored.
    lancet.send("ponderhit");
    assert_eq!(lancet.drain(), [""; 0]);
    lancet.quit();
}

/// The clock does not count the time before `ponderhit`.
#[test]
fn the_clock_starts_at_the_ponderhit() {
    let mut lancet = Lancet::start();
    lancet.send("position startpos");
    lancet.send("go ponder movetime 400");
    // Ponder for longer than the time for the move.
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        lancet.drain();
    }
    let hit = Instant::now();
    lancet.send("ponderhit");
    lancet.until("bestmove ");
    assert!(hit.elapsed() >= Duration::from_millis(300), "{:?}", hit.elapsed());
    lancet.quit();
}

#[test]
fn a_thousand_stops() {
    let mut lancet = Lancet::start();
    lancet.send("position startpos");
    for _ in 0..1000 {
        lancet.send("go infinite");
        lancet.send("stop");
        lancet.until("bestmove ");
    }
    assert_eq!(lancet.drain(), [""; 0], "no answer twice");
    // All commands are sent at once, and every `go` is answered.
    for _ in 0..200 {
        lancet.send("go infinite\nstop");
    }
    let lines = {
        lancet.send("setoption name Clear Hash");
        let mut lines = lancet.quit();
        lines.retain(|line| line.starts_with("bestmove "));
        lines
    };
    assert_eq!(lines.len(), 200);
}

#[test]
fn a_go_during_a_search_ends_it() {
    let mut lancet = Lancet::start();
    lancet.send("go infinite");
    lancet.send("position fen 8/8/8/8/8/4k3/8/4K2R w K - 0 1");
    let (_, m) = lancet.go("go depth 3");
    assert!(read_move(Game::default().position(), &m).is_ok(), "{m}: of the first search");
    let lines = lancet.until("bestmove ");
    let second = position("8/8/8/8/8/4k3/8/4K2R w K - 0 1");
    let best = field(lines.last().unwrap(), "bestmove").unwrap();
    assert!(read_move(&second, best).is_ok(), "{best}: of the second search");
    lancet.quit();
}

#[test]
fn isready_is_answered_during_a_search() {
    let mut lancet = Lancet::start();
    lancet.send("go infinite");
    // These commands wait for the end of the search, but `readyok` does not.
    lancet.send("setoption name Hash value 64");
    lancet.send("ucinewgame");
    for _ in 0..50 {
        lancet.drain();
    }
    lancet.ask("stop", "bestmove ");
    assert_eq!(lancet.drain(), [""; 0]);
    lancet.quit();
}

/// Scid sends `stop` and `isready` when the player's move is not the expected one.
#[test]
fn isready_after_stop_is_answered_after_the_move() {
    let mut lancet = Lancet::start();
    for go in ["go infinite", "go ponder wtime 1000 btime 1000", "go perft 12"] {
        for _ in 0..20 {
            lancet.send(go);
            lancet.drain();
            lancet.send_bytes(b"stop\nisready\n");
            let lines = lancet.until("readyok");
            let moves = lines.iter().filter(|line| line.starts_with("bestmove ")).count();
            assert_eq!(moves, usize::from(!go.contains("perft")), "{go}: {lines:?}");
            assert_eq!(lancet.drain(), [""; 0]);
        }
    }
    lancet.quit();
}

#[test]
fn options_during_a_search_do_not_disturb_it() {
    let mut lancet = Lancet::start();
    lancet.send("position startpos");
    lancet.send("go infinite");
    for line in [
        "setoption name Hash value 4",
        "setoption name Threads value 2",
        "setoption name clear hash",
        "setoption name Move Overhead value 20",
        "setoption name root search value bisection",
        "setoption name UCI_Chess960 value true",
        "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    ] {
        lancet.send(line);
    }
    let (lines, m) = lancet.go("stop");
    assert!(lines.iter().all(|line| !line.starts_with("info string")), "{lines:?}");
    assert!(read_move(Game::default().position(), &m).is_ok(), "{m}");
    let (lines, _) = lancet.go("go depth 4");
    assert!(thoughts(&lines).len() >= 4, "{lines:?}");
    lancet.quit();
}

#[test]
fn multipv_changes_while_searching() {
    let mut lancet = Lancet::start();
    lancet.send(&format!("position fen {KIWIPETE}"));
    lancet.send("go infinite");
    let mut lines = lancet.until("info depth 3 ");
    lancet.send("setoption name MultiPV value 3");
    while field(lines.last().unwrap(), "multipv") != Some("3") {
        lines.extend(lancet.until("info depth "));
    }
    lancet.send("setoption name MultiPV value 1");
    lines.extend(lancet.ask("stop", "bestmove "));
    let game = game(KIWIPETE, &[]);
    check(&game, &lines);
    // The lines have different first moves and are ordered by score.
    lancet.send("setoption name MultiPV value 4");
    let (lines, _) = lancet.go("go depth 6");
    check(&game, &lines);
    let last: Vec<&String> =
        thoughts(&lines).into_iter().filter(|line| number(line, "depth") == 6).collect();
    let last = &last[last.len() - 4..];
    let firsts: HashSet<&str> = last.iter().map(|line| pv(line)[0]).collect();
    assert_eq!(firsts.len(), 4, "{last:?}");
    for (line, rank) in last.iter().zip(1..) {
        assert_eq!(number(line, "multipv"), rank);
    }
    // MultiPV is larger than the number of legal moves.
    lancet.send("setoption name MultiPV value 256");
    lancet.send("position fen 7k/8/8/8/8/8/8/K7 w - - 0 1");
    lancet.go("go depth 2");
    lancet.quit();
}

/// If the result can no longer change, one iteration is enough. Infinite searches still wait for
/// `stop`.
#[test]
fn dead_positions_are_searched_once() {
    let mut lancet = Lancet::start();
    lancet.send("setoption name MultiPV value 2");
    for fen in ["8/8/4k3/8/8/3K4/8/8 w - - 0 1", "8/8/8/4k3/8/8/4B3/4K3 b - - 0 1"] {
        lancet.send(&format!("position fen {fen}"));
        for go in ["go depth 20", "go movetime 1000000", "go infinite", "go ponder wtime 9999"] {
            lancet.send(go);
            let mut lines = [lancet.until("info depth "), lancet.until("info depth ")].concat();
            if go.contains("infinite") || go.contains("ponder") {
                assert_eq!(lancet.drain(), [""; 0], "{go}");
                lancet.send("stop");
            }
            lines.extend(lancet.until("bestmove "));
            check(&game(fen, &[]), &lines);
            assert_eq!(thoughts(&lines).len(), 2, "{go}: {lines:?}");
        }
    }
    lancet.quit();
}

#[test]
fn searchmoves_at_any_place() {
    let mut lancet = Lancet::start();
    lancet.send("position startpos");
    for (go, allowed) in [
        ("go depth 4 searchmoves a2a3", &["a2a3"][..]),
        ("go searchmoves a2a3 h2h4 depth 4", &["a2a3", "h2h4"]),
        ("go searchmoves h2h4 a2a3 infinite depth 4", &["a2a3", "h2h4"]),
        ("go nodes 300 searchmoves b1a3 e2e5 zz depth 8", &["b1a3"]),
        ("go wtime 100 searchmoves g2g4 btime 100", &["g2g4"]),
    ] {
        lancet.send(go);
        if go.contains("infinite") {
            lancet.send("stop");
        }
        let lines = lancet.until("bestmove ");
        let best = field(lines.last().unwrap(), "bestmove").unwrap();
        assert!(allowed.contains(&best), "{go}: {best}");
        for line in thoughts(&lines) {
            assert!(allowed.contains(&pv(line)[0]), "{go}: {line}");
        }
    }
    let (lines, _) = lancet.go("go depth 2 searchmoves e2e5");
    assert_eq!(
        lines[0],
        "info string searchmoves: illegal move 'e2e5': no White piece can make this move; skipped"
    );
    assert_eq!(lines[1], "info string searchmoves: none is legal; searching all moves");
    lancet.quit();
}

/// Every combination of limits is answered exactly once.
#[test]
fn every_combination_of_limits() {
    const LIMITS: [&str; 11] = [
        "searchmoves e2e4 d2d4",
        "wtime 20",
        "btime 30",
        "winc 1",
        "movestogo 5",
        "depth 3",
        "nodes 200",
        "movetime 2",
        "mate 2",
        "ponder",
        "infinite",
    ];
    let mut lancet = Lancet::start();
    lancet.send("position startpos");
    for set in 0_usize..1 << LIMITS.len() {
        // The order of the words varies.
        let mut words: Vec<&str> =
            (0..LIMITS.len()).filter(|i| set >> i & 1 == 1).map(|i| LIMITS[i]).collect();
        let count = words.len().max(1);
        words.rotate_left(set % count);
        let has = |names: &[&str]| {
            words.iter().any(|word| names.contains(&word.split(' ').next().unwrap()))
        };
        let ends = has(&["wtime", "btime", "winc", "depth", "nodes", "movetime", "mate"])
            && !has(&["ponder", "infinite"]);
        lancet.send(&format!("go {}", words.join(" ")));
        if !ends {
            lancet.send("stop");
        }
        let lines = lancet.until("bestmove ");
        if has(&["searchmoves"]) {
            let best = field(lines.last().unwrap(), "bestmove").unwrap();
            assert!(["e2e4", "d2d4"].contains(&best), "{words:?}: {lines:?}");
        }
        let complaints = lines.iter().filter(|line| line.contains("string")).count();
        let lonely = has(&["movestogo"]) && !has(&["wtime", "btime", "winc"]);
        let no_mate = usize::from(has(&["mate"]));
        assert_eq!(complaints, no_mate + usize::from(lonely), "{words:?}: {lines:?}");
    }
    assert_eq!(lancet.drain(), [""; 0]);
    lancet.quit();
}

/// `go mate` ends and reports that it found no mate.
#[test]
fn a_mate_that_is_not_there() {
    let strings = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .filter_map(|line| line.strip_prefix("info string "))
            .map(str::to_owned)
            .collect()
    };
    let mut lancet = Lancet::start();
    // The queen can mate, but not in five moves.
    lancet.send("position fen 8/8/8/3k4/8/8/8/KQ6 w - - 0 1");
    let (lines, m) = lancet.go("go mate 5");
    assert_eq!(strings(&lines), ["there is no mate in 5"]);
    assert!(read_move(&position("8/8/8/3k4/8/8/8/KQ6 w - - 0 1"), &m).is_ok());
    let last = thoughts(&lines).pop().unwrap();
    assert!(number(last, "nodes") < 50_000_000 && pv(last)[0] == m, "{last}");
    // A mate of exactly this length is found for either side, without a message.
    for (fen, mate) in [
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", "3"),
        ("6k1/5ppp/8/8/8/8/r4PPP/1r4K1 w - - 0 1", "0"),
    ] {
        lancet.send(&format!("position fen {fen}"));
        let (lines, _) = lancet.go("go mate 3");
        assert_eq!(field(thoughts(&lines).last().unwrap(), "mate"), Some(mate));
        assert_eq!(strings(&lines), [""; 0]);
    }
    // A search ended by another limit proves nothing, and a proof needs no other limit.
    lancet.send("position startpos");
    let (lines, _) = lancet.go("go mate 20 nodes 2000");
    assert_eq!(strings(&lines), ["no mate in 20 was found"]);
    let (lines, _) = lancet.go("go mate 2 nodes 100000000000");
    assert_eq!(strings(&lines), ["there is no mate in 2"]);
    // The first thread alone proves that there is no mate, whatever scores the other threads find.
    lancet.send("setoption name Threads value 2");
    lancet.send("position fen 2R5/8/8/K7/8/NPp5/p2P4/k1B5 b - - 0 1");
    let (lines, _) = lancet.go("go mate 4");
    assert_eq!(field(thoughts(&lines).last().unwrap(), "mate"), Some("-4"));
    assert_eq!(strings(&lines), [""; 0]);
    lancet.send("setoption name Threads value 1");
    lancet.send("position startpos");
    // With MultiPV or `searchmoves` there is no proof, but the search ends.
    lancet.send("setoption name MultiPV value 2");
    let (lines, _) = lancet.go("go mate 1 searchmoves e2e4 d2d4");
    assert_eq!(strings(&lines), ["no mate in 1 was found"]);
    // With `infinite` the search goes on.
    lancet.send("go mate 1 infinite");
    assert!(lancet.drain().iter().all(|line| !line.starts_with("bestmove")));
    lancet.ask("stop", "bestmove ");
    lancet.quit();
}

/// Returns the last line of each MultiPV rank, which a GUI shows after the search.
fn last_lines(lines: &[String]) -> Vec<&String> {
    let mut last = BTreeMap::new();
    for line in thoughts(lines) {
        last.insert(number(line, "multipv"), line);
    }
    last.into_values().collect()
}

/// Whatever ends a MultiPV search, its last lines have different moves and are ordered by score,
/// and the first of these moves is played.
#[test]
fn stopped_searches_leave_a_true_list() {
    const FENS: [&str; 4] = [
        "5k2/p4p2/1p3b2/8/P1P2B2/1P5R/5P1K/3r4 w - - 0 60",
        KIWIPETE,
        "r1bq1rk1/pp2ppbp/2np1np1/8/2PNP3/2N1B3/PP2BPPP/R2QK2R w KQ - 0 9",
        "8/5pk1/4p1p1/3pP2p/1r1P1P1P/4K1P1/8/2R5 w - - 3 45",
    ];
    let mut lancet = Lancet::start();
    lancet.send("setoption name MultiPV value 3");
    for minimal in [false, true] {
        lancet.send(&format!("setoption name Minimal value {minimal}"));
        for (number_of, fen) in FENS.iter().enumerate() {
            for step in 0..20 {
                lancet.send("ucinewgame");
                lancet.send(&format!("position fen {fen}"));
                // The first iteration searches three lines, which takes some 1,000 nodes.
                let nodes = 2000 + 50 * number_of + 190 * step;
                let (lines, m) = match step {
                    0..16 => lancet.go(&format!("go nodes {nodes}")),
                    16..18 => lancet.go("go movetime 19"),
                    _ if minimal => lancet.go("go wtime 900 btime 900"),
                    _ => {
                        lancet.send("go infinite");
                        let mut lines = lancet.until("info depth 5 ");
                        lines.extend(lancet.ask("stop", "bestmove "));
                        let m = field(lines.last().unwrap(), "bestmove").unwrap().to_owned();
                        (lines, m)
                    }
                };
                let last = last_lines(&lines);
                let moves: HashSet<&str> = last.iter().map(|line| pv(line)[0]).collect();
                assert_eq!((last.len(), moves.len()), (3, 3), "{fen}, {step}: {last:?}");
                let scores: Vec<i64> = last.iter().map(|line| number(line, "cp")).collect();
                assert!(scores.is_sorted_by(|a, b| a >= b), "{fen}, {step}: {last:?}");
                assert_eq!(pv(last[0])[0], m, "{fen}, {step}: {last:?}");
                check(&game(fen, &[]), &lines);
            }
        }
    }
    lancet.quit();
}

/// Clear Hash has the same effect as a new game: earlier searches have no influence.
#[test]
fn clear_hash_is_a_fresh_start() {
    let mut lancet = Lancet::start();
    let mut count = |before: &[&str]| {
        for line in before {
            if line.starts_with("go") { drop(lancet.go(line)) } else { lancet.send(line) }
        }
        lancet.send("position startpos");
        let (lines, _) = lancet.go("go depth 9");
        number(thoughts(&lines).last().unwrap(), "nodes")
    };
    let fresh = count(&[]);
    assert_ne!(count(&[]), fresh);
    assert_eq!(count(&["setoption name Clear Hash"]), fresh);
    let kiwipete = format!("position fen {KIWIPETE}");
    let other = [kiwipete.as_str(), "go depth 8", "setoption name Clear Hash"];
    assert_eq!(count(&other), fresh);
    assert_eq!(count(&["ucinewgame"]), fresh);
    // With Never Clear Hash, Clear Hash has no effect.
    assert_ne!(count(&["setoption name Never Clear Hash value true"]), fresh);
    assert_ne!(count(&["setoption name Clear Hash"]), fresh);
    lancet.quit();
}

/// With nodestime, nodes count as time: the game does not depend on speed, and the GUI's clock is
/// used for the first move only.
#[test]
fn nodes_may_be_the_clock() {
    let game = |clocks: [u32; 4]| -> Vec<(String, i64)> {
        let mut lancet = Lancet::start();
        lancet.send("setoption name nodestime value 100");
        lancet.send("ucinewgame");
        let mut moves = " moves".to_owned();
        let mut played = Vec::new();
        for clock in clocks {
            lancet.send(&format!("position startpos{moves}"));
            let (lines, m) = lancet.go(&format!("go wtime {clock} btime {clock} winc 10 binc 10"));
            moves = format!("{moves} {m}");
            played.push((m, number(thoughts(&lines).last().unwrap(), "nodes")));
        }
        lancet.quit();
        played
    };
    let played = game([1000, 990, 980, 970]);
    assert_eq!(game([1000, 1, 400, 5000]), played);
    // The clock gives 100,000 nodes, and 1,000 more for each move. It plans for 27 moves
    // (`clock_horizon`).
    assert!(played.iter().all(|&(_, nodes)| (500..50_000).contains(&nodes)), "{played:?}");
    // Nodes of a search without a clock do not count.
    let mut lancet = Lancet::start();
    lancet.send("setoption name nodestime value 100");
    for go in ["go wtime 1000 winc 10", "go nodes 200000", "go wtime 1000 winc 10"] {
        let (lines, _) = lancet.go(go);
        assert!(number(thoughts(&lines).last().unwrap(), "nodes") >= 500, "{lines:?}");
    }
    lancet.quit();
    let mut lancet = Lancet::start();
    lancet.send("setoption name nodestime value 1000");
    lancet.send("setoption name Move Overhead value 0");
    let (lines, _) = lancet.go("go movetime 20");
    let nodes = number(thoughts(&lines).last().unwrap(), "nodes");
    // 19 ms, because 1 ms is kept back, and up to 64 nodes until the next check.
    assert!(nodes <= 19_064, "{nodes}");
    // The proof of a mate also uses nodes as time.
    let (lines, _) = lancet.go("go mate 8 movetime 20");
    let nodes = number(thoughts(&lines).last().unwrap(), "nodes");
    assert!(nodes <= 19_064 + 500, "{nodes}");
    lancet.quit();
}

/// On a clock, four lines take less than twice the time of one line, because only the search for
/// the best line decides how difficult the move is.
#[test]
fn lines_do_not_slow_a_game() {
    let mut lancet = Lancet::start();
    lancet.send("setoption name nodestime value 100");
    let [one, four] = [1, 4].map(|lines| {
        lancet.send(&format!("setoption name MultiPV value {lines}"));
        let mut nodes = |fen: &str| {
            lancet.send("ucinewgame");
            lancet.send(&format!("position fen {fen}"));
            let (lines, _) = lancet.go("go wtime 30000 btime 30000 winc 300 binc 300");
            number(thoughts(&lines).last().unwrap(), "nodes")
        };
        let bench = include_str!("../../epd/bench.epd").lines();
        bench.map(|line| nodes(line.split(" id ").next().unwrap())).sum::<i64>()
    });
    lancet.quit();
    assert!(four < 2 * one, "{four} nodes, {one} with one line");
}

/// A `stop` that arrives with `go` still gives the result of a whole iteration, not the first legal
/// move.
#[test]
fn a_stop_leaves_the_first_iteration() {
    let mut lancet = Lancet::start();
    lancet.send("position startpos");
    let (lines, first) = lancet.go("go depth 1");
    let whole = number(thoughts(&lines).last().unwrap(), "nodes");
    for _ in 0..20 {
        lancet.send("ucinewgame");
        let (lines, m) = lancet.go("go infinite\nstop");
        let thought = *thoughts(&lines).last().unwrap();
        assert!(number(thought, "nodes") >= whole, "{thought}");
        assert!(number(thought, "depth") > 1 || m == first, "{thought}");
    }
    lancet.quit();
}

/// Minimal prints one line for each rank, and the best move.
#[test]
fn minimal_says_the_last_only() {
    let mut lancet = Lancet::start();
    lancet.send("setoption name Minimal value true");
    lancet.send("setoption name UCI_ShowCurrLine value true");
    lancet.send("setoption name UCI_ShowRefutations value true");
    for lines_wanted in 1..=3 {
        lancet.send(&format!("setoption name MultiPV value {lines_wanted}"));
        let (lines, m) = lancet.go("go depth 9");
        assert_eq!(lines.len(), lines_wanted + 1, "{lines:?}");
        let moves: HashSet<&str> = thoughts(&lines).into_iter().map(|line| pv(line)[0]).collect();
        assert_eq!((moves.len(), pv(&lines[0])[0]), (lines_wanted, m.as_str()));
        assert_eq!(field(&lines[0], "depth"), Some("9"));
    }
    lancet.send("setoption name Minimal value false");
    let (lines, _) = lancet.go("go depth 9");
    assert!(thoughts(&lines).len() >= 27, "{lines:?}");
    lancet.quit();
}

#[test]
fn speed_is_measured() {
    let mut lancet = Lancet::start();
    lancet.send("speedtest 1 1 1");
    let line = lancet.until("Threads: ").pop().unwrap();
    let speed = line.strip_prefix("Threads: 1  Hash: 1  Nodes/second: ").unwrap();
    assert!(speed.parse::<u64>().unwrap() > 0, "{line}");
    // This takes half an hour unless it is stopped. A stopped speed test prints no result.
    lancet.send("speedtest 1 1 1800");
    lancet.send_bytes(b"stop\nisready\n");
    assert_eq!(lancet.until("readyok"), ["readyok"]);
    for (line, complaint) in [
        ("speedtest 0", "'0' after 'speedtest': expected a whole number from 1 to 1024"),
        (
            "speedtest 1 1 0",
            "'0' after 'speedtest <threads> <hash>': expected a whole number from 1 to 3600",
        ),
        ("speedtest 1 1 1 1", "expected the end of the line"),
    ] {
        let answer = lancet.ask(line, "info string").pop().unwrap();
        assert!(answer.contains(complaint), "{answer}");
    }
    lancet.quit();
}

#[test]
fn castling_is_written_as_the_option_says() {
    let mut lancet = Lancet::start();
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    for (option, notation) in [("true", "e1h1"), ("false", "e1g1")] {
        lancet.send(&format!("setoption name UCI_Chess960 value {option}"));
        for given in ["e1h1", "e1g1"] {
            lancet.send(&format!("position fen {fen}"));
            let (lines, m) = lancet.go(&format!("go depth 2 searchmoves {given}"));
            assert_eq!(m, notation, "{lines:?}");
            assert_eq!(pv(thoughts(&lines)[0])[0], notation);
            lancet.send(&format!("position fen {fen} moves {given}"));
            assert_eq!(lancet.ask("fen", "4k3/"), ["4k3/8/8/8/8/8/8/5RK1 b - - 1 1"]);
        }
    }
    // Castling rights that standard chess lacks are dropped, and the others are kept.
    for (fen, rights, kept) in [
        ("4k3/8/8/8/8/8/8/5K1R w K - 0 1", "K", "-"),
        ("4k2r/8/8/8/8/8/8/4K1R1 w Gk - 0 1", "Gk", "k"),
    ] {
        lancet.send(&format!("position fen {fen}"));
        let remark = format!(
            "info string castling rights '{rights}' need Chess960 (UCI_Chess960): using '{kept}'"
        );
        assert_eq!(lancet.drain(), [remark]);
        lancet.send(&format!("position fen {fen} moves f1h1"));
        assert!(lancet.drain().iter().any(|line| line.contains("'f1h1'")));
    }
    // X-FEN, Shredder-FEN, and different rook files for the two sides.
    lancet.send("setoption name UCI_Chess960 value true");
    for (fen, castling) in [
        ("2k2r2/8/8/8/8/8/8/1R2K2R w HBf - 0 1", "e1b1"),
        ("2k2r2/8/8/8/8/8/8/1R2K2R w KQk - 0 1", "e1b1"),
        ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", ""),
    ] {
        lancet.send(&format!("position fen {fen}"));
        if castling.is_empty() {
            let lines = lancet.ask("perft 2", "Nodes searched");
            assert_eq!(lines.last().unwrap(), "Nodes searched: 528");
        } else {
            let (_, m) = lancet.go(&format!("go depth 2 searchmoves {castling}"));
            assert_eq!(m, castling);
        }
    }
    lancet.quit();
}

#[test]
fn hostile_lines_are_answered_and_survived() {
    let mut lancet = Lancet::start();
    lancet.send("position startpos moves e2e4");
    for (line, answer) in [
        (
            "go depth",
            "info string missing argument after 'depth': expected a whole number; skipped",
        ),
        (
            "go depth 0",
            "info string '0' after 'depth': expected a whole number from 1 to 239; using 1",
        ),
        (
            "position",
            "info string missing argument after 'position': expected 'startpos' or 'fen <fen>'",
        ),
        ("position fen", "info string missing argument after 'fen': expected a FEN"),
        (
            "position fen 8/8/8",
            "info string unreadable FEN '8/8/8': '8/8/8' is not a board: 3 ranks, expected 8; 'go' answers 'bestmove 0000' until the next valid position",
        ),
        (
            "position startpos moves e2e4 e7e5 e4e5",
            "info string illegal move 'e4e5': no White piece can make this move (move 3 after 'moves', in position 'rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2'); 'go' answers 'bestmove 0000' until the next valid position",
        ),
        (
            "setoption",
            "info string missing argument after 'setoption': expected 'name <name> [value <value>]'",
        ),
        (
            "setoption name Hash value many",
            "info string option 'Hash' cannot be 'many': expected a whole number from 1 to 1048576",
        ),
        (
            "setoption name Threads value 0",
            "info string option 'Threads' cannot be '0': expected a whole number from 1 to 1024",
        ),
        (
            "setoption name Nothing value 0",
            "info string unknown option 'Nothing': 'help setoption' lists the options",
        ),
        ("xyzzy", "info string unknown command 'xyzzy': 'help' lists the commands"),
        ("perft", "info string missing argument after 'perft': expected a whole number"),
        ("debug maybe", "info string 'maybe' after 'debug': expected 'on' or 'off'"),
        (
            "bench 3 0",
            "info string '0' after 'bench <depth>': expected a whole number from 1 to 1024",
        ),
    ] {
        let lines = lancet.ask(line, "info string");
        assert_eq!(lines.last().unwrap(), answer, "{line}");
        if line.starts_with("go") {
            lancet.ask("stop", "bestmove ");
        }
    }
    // The earlier position is still on the board, but is not searched.
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert_eq!(lancet.ask("fen", "rnbqkbnr"), [fen]);
    lancet.go("go depth 3 nodes");
    lancet.go("go depth 300000000000000000000 nodes 9");
    for bytes in [
        &b"\xff\xfe\x00\x80 go\xc3\x28\n"[..],
        b"\0\0\0\n",
        b"\r\n\r\r\n\n",
        b"\xef\xbb\xbfisready\r\n",
        b"position fen \xf0\x9f\x98\x80 w - - 0 1\n",
        b"setoption name \xff value \xff\n",
    ] {
        lancet.send_bytes(bytes);
    }
    lancet.until("readyok");
    lancet.send(&"a".repeat(5_000_000));
    lancet.send(&"go ".repeat(1000));
    lancet.ask("stop", "bestmove ");
    lancet.send(&format!("position startpos moves{}", " e2e4".repeat(100_000)));
    lancet.until("info string illegal move 'e2e4'");
    assert_eq!(lancet.ask("fen", "rnbqkbnr"), [fen]);
    lancet.quit();
}

/// After a refused position, searches are refused too, because the GUI would reject a move of the
/// old position.
#[test]
fn refused_positions_are_not_searched() {
    let mut lancet = Lancet::start();
    for (line, reason) in [
        ("position fen 8/8/8/8/8/8/8/K7 w - - 0 1", "missing king"),
        ("position fen k7/8/8", "3 ranks, expected 8"),
        ("position startpos moves e2e4 e2e4", "there is no piece on e2"),
        ("position startpos e2e4", "'e2e4' after 'startpos'"),
        ("position", "missing argument after 'position': expected 'startpos' or 'fen <fen>'"),
    ] {
        lancet.send("position startpos");
        assert_ne!(lancet.go("go depth 1").1, "0000");
        lancet.send(line);
        lancet.until("info string ");
        for go in ["go depth 3 searchmoves a1a1", "go infinite", "go ponder wtime 9 btime 9"] {
            lancet.send(go);
            let lines = lancet.drain();
            if !go.contains("depth") {
                assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
                lancet.send("stop");
            }
            let said = lines.iter().find(|line| line.starts_with("info string")).unwrap();
            assert!(said.contains("no search") && said.contains(reason), "{lines:?}");
            if lines.iter().all(|line| line != "bestmove 0000") {
                assert_eq!(lancet.until("bestmove "), ["bestmove 0000"]);
            }
        }
        lancet.send("setoption name Hash value 4");
        assert_eq!(lancet.go("go nodes 10").1, "0000", "until the next valid position");
    }
    lancet.quit();
}

/// These positions cannot arise in a game: they have more pieces than promotions can explain, or
/// more moves than any legal position.
#[test]
fn boards_that_no_game_reaches_are_searched() {
    let mut lancet = Lancet::start();
    for fen in [
        "rnbqkbnr/pppppppp/8/8/8/QQQQQQQ1/PPPPPPPP/4K3 w kq - 0 1",
        "qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1",
        "nnnnknnn/nnnnnnnn/8/8/8/8/NNNNNNNN/NNNNKNNN b - - 0 1",
        "kBQQQQQQ/BR5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/QQQQQQQK w - - 0 1",
        "8/PPPPPPPP/PPPPPPPP/PPPPPPPP/8/8/8/k3K3 w - - 0 1",
    ] {
        lancet.send(&format!("position fen {fen}"));
        for go in ["go nodes 3000", "go mate 1 nodes 3000", "go perft 1"] {
            let lines = lancet.ask(go, if go == "go perft 1" { "Nodes" } else { "bestmove " });
            if go == "go nodes 3000" {
                check(&game(fen, &[]), &lines);
            }
        }
        lancet.ask("eval", "Evaluation: ");
        lancet.send("mirror");
        let fen = lancet.ask("fen", "").pop().unwrap();
        check(&game(&fen, &[]), &lancet.ask("go nodes 3000", "bestmove "));
    }
    assert_eq!(lancet.drain(), [""; 0]);
    // 33 pieces are too many.
    lancet.send("position fen rnbqkbnr/pppppppp/8/8/8/4Q3/PPPPPPPP/RNBQKBNR w - - 0 1");
    assert!(lancet.drain()[0].contains("more than 32 pieces"));
    lancet.quit();
}

#[test]
fn what_people_ask() {
    let mut lancet = Lancet::start();
    lancet.send("position startpos moves e2e4 f7f6 d1h5");
    let lines = lancet.ask("d", "Black to move");
    assert!(lines.contains(&"Checkers: h5".to_owned()), "{lines:?}");
    assert!(lines.iter().any(|line| {
        line.strip_prefix("Key: ")
            .is_some_and(|key| key.len() == 16 && key.bytes().all(|b| b.is_ascii_hexdigit()))
    }));
    assert!(lines.iter().any(|line| line.starts_with("Fen: rnbqkbnr/ppppp1pp/5p2/7Q/")));
    lancet.send("mirror");
    let flipped = "rnb1kbnr/pppp1ppp/8/4p3/7q/5P2/PPPPP1PP/RNBQKBNR w KQkq - 1 2";
    assert_eq!(lancet.ask("fen", "rnb"), [flipped]);
    lancet.send("position startpos moves e2e4");
    let white = lancet.ask("eval", "Evaluation: ").pop().unwrap();
    lancet.send("mirror");
    let black = lancet.ask("eval", "Evaluation: ").pop().unwrap();
    let own = |line: &str| line.split_once('(').map(|(_, own)| own.to_owned());
    assert_eq!(own(&white), own(&black), "the evaluation is symmetric");
    assert!(lancet.ask("help", "help").iter().any(|line| line.starts_with("go ")));
    lancet.send("position startpos");
    let lines = lancet.ask("go perft 3", "Nodes searched");
    assert!(lines.contains(&"e2e4: 600".to_owned()), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "Nodes searched: 8902");
    assert_eq!(lines.len(), 22);
    let lines = lancet.ask("go perft 0", "Nodes searched");
    assert_eq!(lines.last().unwrap(), "Nodes searched: 1");
    // A long count can be stopped, and does not delay the next command.
    lancet.send("perft 12");
    lancet.send("isready");
    lancet.until("readyok");
    lancet.send("stop");
    lancet.ask("uci", "uciok");
    lancet.send("debug on");
    assert!(lancet.ask("position startpos", "info string")[0].contains("rnbqkbnr"));
    lancet.send("debug off");
    lancet.quit();
}

/// `eval` shows the terms of the evaluation that the search uses: the built-in network, the
/// piece-square tables or a network from a file.
#[test]
fn eval_takes_the_evaluation_apart() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("zero.nnue");
    let parameters = Parameters {
        weights: vec![0; 768 * 32],
        biases: vec![0; 32],
        output_weights: vec![0; 64],
        // A quarter of 400 centipawns, scaled by 704/1024 because there is so little material.
        output_biases: vec![64 * 255 / 4],
        output_unit: 64,
    };
    std::fs::write(&file, Network::new(&parameters, "").unwrap().to_bytes()).unwrap();
    let mut lancet = Lancet::start();
    lancet.send("position fen 4k3/8/8/8/8/8/8/Q3K3 b - - 0 1");
    assert!(lancet.ask("eval", "Evaluation: ").iter().any(|line| line.contains("by the network ")));
    lancet.send("setoption name EvalFile value psqt");
    let lines = lancet.ask("eval", "Evaluation: ");
    assert!(
        lines.contains(
            &" 1 |   Q   |       |       |       |   K   |       |       |       |".into()
        )
    );
    assert!(lines.iter().any(|line| line.starts_with("   | +9.9")), "{lines:?}");
    assert!(
        lines
            .contains(&"Terms in pawns for White, by material and piece-square tables:".to_owned())
    );
    assert!(lines.iter().any(|line| line.starts_with("tempo") && line.ends_with("-0.15")));
    lancet.send(&format!("setoption name EvalFile value {}", file.display()));
    let lines = lancet.ask("eval", "Evaluation: ");
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("Terms in pawns for White, by the network 768-32x2-1"))
    );
    for (term, value) in [("bias ", "-0.69"), ("bare king ", "+21.18")] {
        let shown = lines.iter().any(|line| line.starts_with(term) && line.ends_with(value));
        assert!(shown, "{lines:?}");
    }
    let total = "Evaluation: +20.50 pawns for White (-2050 cp for the side to move)";
    assert_eq!(lines.last().unwrap(), total);
    lancet.quit();
}

/// OpenBench passes every command as one argument.
#[test]
fn openbench_gets_its_openings() {
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("book.epd");
    std::fs::write(&book, "# one\n4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - id \"one\";\n").unwrap();
    let openings = |command: &str| {
        let (lines, status) = Lancet::with(&[command, "quit"]).rest();
        assert!(status.success(), "{command}");
        lines
            .iter()
            .map(|line| {
                let fen =
                    line.strip_prefix("info string genfens ").unwrap_or_else(|| panic!("{line}"));
                position(fen)
            })
            .collect::<Vec<_>>()
    };
    let fens = |positions: Vec<Position>| positions.iter().map(Position::fen).collect::<Vec<_>>();
    let first = openings("genfens 6 seed 9 book None");
    assert_eq!(first.len(), 6);
    assert!(first.iter().all(|position| position.board().occupied().count() > 24));
    let first = fens(first);
    assert_eq!(first, fens(openings("genfens 6 seed 9 book None")));
    assert_ne!(first, fens(openings("genfens 6 seed 10 book None")));
    let from_book =
        openings(&format!("genfens 3 seed 18446744073709551615 book {}", book.display()));
    assert_eq!(from_book.len(), 3);
    assert!(from_book.iter().all(|position| position.board().occupied().count() <= 10));

    let mut lancet = Lancet::start();
    let missing = std::fs::metadata("/no/book").unwrap_err().to_string();
    // The text is one that XBoard does not mistake for a failed start.
    let missing = missing.replace("No such file or directory", "file or folder does not exist");
    let no_book = format!("genfens: /no/book: {missing}");
    for (line, answer) in [
        ("genfens", "missing argument after 'genfens': expected a whole number"),
        ("genfens 5", "missing argument after 'genfens <n>': expected 'seed <s>'"),
        ("genfens 5 seed 1 book", "missing argument after 'book': expected a file or 'None'"),
        ("genfens 5 seed x book None", "'x' after 'seed': expected a whole number"),
        ("genfens 5 book None seed 1", "'book' after 'genfens <n>': expected 'seed <s>'"),
        (
            "genfens 5 seed 1 book None dfrc",
            "'dfrc' after 'book <file>': expected the end of the line",
        ),
        ("genfens 5 seed 1 book /no/book", &no_book),
    ] {
        let lines = lancet.ask(line, "info string");
        assert_eq!(lines.last().unwrap(), &format!("info string {answer}"), "{line}");
    }
    // A long `genfens` can be stopped.
    lancet.send("genfens 100000000 seed 1 book None");
    lancet.until("info string genfens ");
    lancet.send("stop");
    lancet.drain();
    lancet.quit();
}

/// The help of every command and of its subcommands has examples and explains the exit status.
#[test]
fn commands_have_manual_pages() {
    let pages = pages::check(&[]);
    assert!(pages >= 9, "{pages}");
}

/// `generate` writes a manual page for every command and completions for every shell.
#[test]
fn completions_and_man_pages_are_written() {
    let dir = Directory::new();
    succeed(&["generate", &dir.path("out")]);
    let read = |name: &str| std::fs::read_to_string(dir.path(&format!("out/{name}"))).unwrap();
    for name in ["lancet", "lancet-analyse", "lancet-explain"] {
        let page = read(&format!("man/{name}.1"));
        assert!(page.contains(".TH") && page.contains("Examples:"), "{name}: {page}");
    }
    assert!(!std::fs::exists(dir.path("out/man/lancet-help.1")).unwrap());
    for file in ["lancet.bash", "_lancet", "lancet.fish", "_lancet.ps1", "lancet.elv"] {
        let text = read(&format!("completions/{file}"));
        assert!(text.contains("analyse") && text.contains("movetime"), "{file}");
    }
    let below_a_file = format!("{}/x", dir.file("file", ""));
    let complaint = fail(&["generate", &below_a_file]);
    assert!(complaint.starts_with(&format!("lancet: {below_a_file}: ")), "{complaint}");
}

#[test]
fn help_has_a_line_for_every_command() {
    let mut lancet = Lancet::start();
    let lines = lancet.ask("help", "help ");
    let names: HashSet<&str> = lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names.len(), lines.len(), "{lines:?}");
    for name in ["uci", "go", "position", "eval", "genfens", "bench", "d"] {
        assert!(names.contains(name), "{name}");
        let lines = lancet.ask(&format!("help {name}"), "    ");
        assert!(lines[0].starts_with(name) && lines.len() == 2, "{lines:?}");
    }
    lancet.quit();
}

/// In a terminal, answers are for people until the command `uci`.
#[cfg(unix)]
#[test]
fn a_person_at_a_terminal() {
    let mut command = Command::new(LANCET);
    command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CLICOLOR");
    let patience = DEADLINE.as_millis() as u64;
    let mut terminal = rexpect::session::spawn_command(command, Some(patience)).unwrap();
    terminal.exp_string("'help' for the commands").unwrap();
    // The board is shown at once.
    terminal.exp_string("White to move").unwrap();
    terminal.send_line("position startpos moves e2e4").unwrap();
    terminal.send_line("d").unwrap();
    let board = terminal.exp_string("Black to move").unwrap();
    assert!(board.contains("\u{1b}[") && board.contains("48;5;"), "no colours: {board}");
    terminal.send_line("go depth 8").unwrap();
    terminal.exp_string("depth      score").unwrap();
    let thoughts = terminal.exp_string("Best: ").unwrap();
    let last = thoughts.lines().rfind(|line| line.contains("8/")).unwrap();
    assert!(last.contains(" 1... ") && last.contains(" 2. "), "{last}");
    assert!(!thoughts.contains("info depth"), "{thoughts}");
    terminal.send_line("xyzzy").unwrap();
    let answer = terminal.exp_string("unknown command 'xyzzy'").unwrap();
    assert!(!answer.contains("info string"), "{answer}");
    // Pasted lines are carried out one by one, also after `uci`.
    terminal.send("\u{1b}[200~position startpos moves e2e4 e7e5\rfen\r\u{1b}[201~\r").unwrap();
    terminal.flush().unwrap();
    terminal.exp_string("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2").unwrap();
    terminal.send("\u{1b}[200~uci\risready\r\u{1b}[201~\r").unwrap();
    terminal.flush().unwrap();
    terminal.exp_string("uciok").unwrap();
    terminal.exp_string("readyok").unwrap();
    terminal.send_line("go depth 2").unwrap();
    terminal.exp_string("info depth 2 ").unwrap();
    terminal.exp_string("bestmove ").unwrap();
    terminal.send_line("quit").unwrap();
    terminal.exp_eof().unwrap();
}

/// Runs a dialogue at a terminal. Each entry has the typed line and a text that must follow.
#[cfg(unix)]
fn at_a_terminal(dialogue: &[(&str, &str)]) {
    let mut command = Command::new(LANCET);
    command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("CLICOLOR");
    let patience = DEADLINE.as_millis() as u64;
    let mut terminal = rexpect::session::spawn_command(command, Some(patience)).unwrap();
    terminal.exp_string("White to move").unwrap();
    for (typed, seen) in dialogue {
        terminal.send(&format!("{typed}\r")).unwrap();
        terminal.flush().unwrap();
        if let Err(error) = terminal.exp_string(seen) {
            panic!("after '{typed}' no '{seen}': {error}");
        }
    }
    // The dialogue may have ended with `exit` already.
    let _ = terminal.send("quit\r").and_then(|_| terminal.flush());
    terminal.exp_eof().unwrap();
}

/// Moves are played, taken back and replayed. Lancet answers, and games are saved and loaded.
#[cfg(unix)]
#[test]
fn a_game_at_a_terminal() {
    let dir = Directory::new();
    let (file, mate) = (dir.path("a game.pgn"), "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
    let other = dir.file("other.pgn", "[White \"Anna\"]\n\n1. d4 Nf6 2. c4 *\n");
    let long = dir.file("long.pgn", "[White \"Bea\"]\n\n1. b1c3 e7e5 *\n");
    let null = dir.file("null.pgn", "1. e4 -- *\n");
    let (new, newer) = (dir.path("new.pgn"), dir.path("newer.pgn"));
    let (resigned, unnamed) = (dir.path("resigned.pgn"), dir.path("unnamed.pgn"));
    at_a_terminal(&[
        ("e4", "Black to move"),
        ("1... e7e5 2. Nf3", "Black to move"),
        ("fen", "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"),
        ("undo 2", "Black to move"),
        ("fen", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"),
        ("redo", "White to move"),
        ("redo 5", "Black to move"),
        ("redo", "nothing to redo"),
        ("moves", "Nc6 Ne7 Nf6 Nh6"),
        ("Ke3", "illegal move 'Ke3'"),
        ("xyzzy", "unknown command 'xyzzy'"),
        ("udno", "unknown command 'udno': did you mean 'undo'?"),
        ("go depht 5", "'depht' after 'go': expected a limit"),
        // In a game against Lancet, `undo` also takes back Lancet's answer.
        ("level 100", "expected 'level <rating>', a rating from 500 to 3000, or 'level full'"),
        ("level full", "Lancet plays at full strength"),
        ("level 700", "Lancet plays like a person rated 700"),
        ("play black", "Lancet plays 2... "),
    ]);
    at_a_terminal(&[
        // If one move of a line is wrong, none is played.
        ("e4 e5 Nf9", "'Nf9' is not a move"),
        ("fen", START_FEN),
        // Lancet's first move is not taken back, and `redo` also replays Lancet's answers.
        ("play white", "Lancet plays 1. "),
        ("undo", "nothing to undo"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 3", "Lancet plays 3. "),
        ("play off", "Lancet plays neither side"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 3", "White to move"),
        ("play black", "Lancet plays Black"),
        ("e4", "Lancet plays 3... "),
        ("undo", "White to move"),
        ("redo", "White to move"),
        ("redo", "nothing to redo"),
    ]);
    at_a_terminal(&[
        ("play black", "Lancet plays Black"),
        ("e4", "Lancet plays 1... "),
        ("undo", "White to move"),
        ("fen", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
        ("undo", "nothing to undo"),
        ("play off", "Lancet plays neither side"),
        (mate, "White to move"),
        ("hint", "Hint: 1. Ra8#"),
        ("moves", "Ra8#"),
        ("play", "Lancet plays 1. Ra8#"),
        ("moves", "There is no legal move."),
        ("hint", "there is no legal move"),
        (&format!("save {file}"), "saved 1 half-move to"),
        (&format!("save {other}"), "the file already exists; choose another name"),
        (&format!("load {other}"), "Anna - ?, 3 half-moves"),
        ("fen", "rnbqkb1r/pppppppp/5n2/8/2PP4/8/PP2PPPP/RNBQKBNR b KQkq - 0 2"),
        (&format!("load {file}"), "Black is checkmated"),
        ("load /dev/null", "load: /dev/null: "),
        (&format!("load {long}"), "Bea - ?, 2 half-moves"),
        (&format!("save {new}"), "saved 2 half-moves to"),
        (&format!("save {newer}"), "saved 2 half-moves to"),
        (&format!("save {new}"), "saved 2 half-moves to"),
        (&format!("load {null}"), "a game with null moves cannot be loaded"),
        (&format!("{mate}\rRa8"), "Black is checkmated"),
        ("undo", "White to move"),
        // The previous line comes from the history.
        ("fen", mate),
        ("\u{1b}[A", mate),
        ("help save", "save <file.pgn>"),
        ("play", "Lancet plays White"),
    ]);
    // While Lancet is thinking about its own move, these commands are not accepted. After `stop`,
    // they are.
    let thinking = "Lancet is thinking; 'stop' makes it play at once";
    for command in ["position startpos moves e2e4", "perft 1"] {
        at_a_terminal(&[(&format!("play\r{command}"), thinking), ("stop", "Lancet plays 1. ")]);
    }
    at_a_terminal(&[("play\ruci", thinking), ("stop", "Lancet plays 1. "), ("uci", "uciok")]);
    // The end of a game is reported, and then no move is accepted.
    at_a_terminal(&[
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "Drawn: stalemate"),
        ("play", "the game is over; 'new' starts another"),
        ("resign", "the game is over; 'new' starts another"),
        ("Kg8", "illegal move 'Kg8': the game is over"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "Drawn: neither side has mating material"),
        (&format!("{mate}\rRa8 h6"), "illegal move 'h6': the game is over"),
        ("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "White to move"),
        ("e8", "expected a promotion piece, as in e8=Q"),
        ("Kd2", "Black to move"),
        ("resign", "Black resigns"),
        ("Kf7", "the game is over; 'new' starts another"),
        (&format!("save {unnamed}"), "saved 1 half-move to"),
        (&format!("load {unnamed}"), "loaded 1 half-move"),
    ]);
    // The person's side is at the bottom, unless the board is flipped. The side that resigns has
    // lost.
    at_a_terminal(&[
        ("board", "    a  b  c  d  e  f  g  h"),
        ("E4", "Black to move"),
        ("nf6", "White to move"),
        ("flip", "    h  g  f  e  d  c  b  a"),
        ("fen", "rnbqkb1r/pppppppp/5n2/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 2"),
        ("flip", "    a  b  c  d  e  f  g  h"),
        ("level 800", "Lancet plays like a person rated 800"),
        ("play white", "Lancet plays White"),
        ("", "    h  g  f  e  d  c  b  a"),
        ("resign", "Black resigns, White wins; 'new' starts another game"),
        ("d5", "the game is over; 'new' starts another"),
        ("play", "the game is over; 'new' starts another"),
        (&format!("save {resigned}"), "saved 3 half-moves to"),
        ("new", "Lancet plays 1. "),
        ("exit", ""),
    ]);
    // After `undo`, the game goes on. `setoption` ends the level, so it is not saved.
    let undone = dir.path("undone.pgn");
    at_a_terminal(&[
        ("level 800", "Lancet plays like a person rated 800"),
        ("e4", "Black to move"),
        ("resign", "Black resigns, White wins; 'new' starts another game"),
        ("undo", "White to move"),
        ("e4", "Black to move"),
        ("setoption name UCI_LimitStrength value false", ""),
        ("play", "Lancet plays Black"),
        ("", "White to move"),
        (&format!("save {undone}"), "saved 2 half-moves to"),
        ("exit", ""),
    ]);
    let text = std::fs::read_to_string(&undone).unwrap();
    assert!(text.contains("[Result \"*\"]") && !text.contains("Elo"), "{text}");
    let text = std::fs::read_to_string(&resigned).unwrap();
    assert!(text.contains("[White \"Lancet\"]\n[Black \"?\"]\n[Result \"1-0\"]"), "{text}");
    assert!(text.contains("[WhiteElo \"800\"]") && text.contains("[Date \"2"), "{text}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("[White \"Lancet\"]\n[Black \"?\"]\n[Result \"1-0\"]"), "{text}");
    assert!(text.contains(&format!("[FEN \"{mate}\"]\n\n1. Ra8# 1-0\n")), "{text}");
}

/// A GUI or another program cannot use the commands for people, such as `undo` and `hint`.
#[test]
fn orders_are_for_people() {
    let mut lancet = Lancet::start();
    for line in ["undo", "moves", "play", "level 1500", "hint", "e4", "save x", "exit"] {
        let first = line.split(' ').next().unwrap();
        let answer = format!("info string unknown command '{first}': 'help' lists the commands");
        assert_eq!(lancet.ask(line, "info string"), [answer]);
    }
    assert_eq!(lancet.ask("fen", "rnbqkbnr"), [START_FEN]);
    // Wrong arguments of `go` are refused only for a person. A program gets a best move.
    let (lines, _) = lancet.go("go depht 5 depth 2");
    assert!(lines[0].contains("'depht' after 'go'"), "{lines:?}");
    lancet.quit();
}

/// With Explain, a sentence about the best move is printed.
#[test]
fn the_best_move_is_explained() {
    let mut lancet = Lancet::start();
    lancet.send("position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
    let strings = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|line| line.starts_with("info string")).cloned().collect()
    };
    let (lines, _) = lancet.go("go depth 3");
    assert_eq!(strings(&lines), [""; 0]);
    lancet.send("setoption name Explain value true");
    let (lines, _) = lancet.go("go depth 3");
    assert_eq!(strings(&lines), ["info string Ra8# is mate on the back rank."]);
    lancet.send("position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6");
    let (lines, m) = lancet.go("go depth 8");
    assert!(m == "d7c6" || m == "b7c6", "{m}");
    assert_eq!(strings(&lines).len(), 1);
    assert!(strings(&lines)[0].ends_with("xc6 recaptures on c6."), "{lines:?}");
    lancet.quit();
}

#[test]
fn no_legal_moves() {
    let mut lancet = Lancet::start();
    for (fen, score) in
        [("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0"), ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0")]
    {
        lancet.send(&format!("position fen {fen}"));
        for go in ["go depth 5", "go wtime 1000 btime 1000", "go infinite"] {
            lancet.send(go);
            if go == "go infinite" {
                lancet.send("stop");
            }
            let lines = lancet.until("bestmove");
            assert!(lines[0].starts_with("info depth 0 "), "{lines:?}");
            assert!(lines[0].contains(&format!(" score {score} ")), "{lines:?}");
            assert_eq!(lines.last().unwrap(), "bestmove (none)");
        }
    }
    lancet.quit();
}

/// PVs are legal and stop at the end of the game. The PV of a mate score ends in mate.
#[test]
fn lines_can_be_trusted() {
    let mut lancet = Lancet::start();
    lancet.send("setoption name MultiPV value 3");
    for (fen, moves, depth) in [
        (KIWIPETE, &[][..], 9),
        // Mates for and against the side to move.
        ("r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - - 0 18", &[], 9),
        ("8/8/8/8/1k6/8/1q6/K7 w - - 0 1", &[], 9),
        ("6k1/5ppp/8/8/8/8/r7/1r4K1 w - - 0 1", &[], 9),
        ("8/8/8/8/8/4k3/4p3/4K3 b - - 0 1", &[], 12),
        // The fifty-move rule and the third repetition are near.
        ("6k1/5pp1/7p/8/8/1q6/6PP/6KQ w - - 96 90", &[], 9),
        ("7k/8/8/8/8/8/R7/K7 w - - 97 90", &[], 9),
        (
            "6k1/5pp1/7p/8/8/1q6/6PP/6KQ w - - 0 1",
            &["g1f1", "g8h7", "f1g1", "h7g8", "g1f1", "g8h7", "f1g1"],
            9,
        ),
    ] {
        let game = game(fen, moves);
        lancet.send(&format!("position fen {fen} moves {}", moves.join(" ")));
        let (lines, _) = lancet.go(&format!("go depth {depth}"));
        check(&game, &lines);
    }
    lancet.quit();
}

/// A PV must end at the third occurrence of a position, even if the hash table has a move for that
/// position from before.
#[test]
fn lines_end_with_the_third_repetition() {
    let mut lancet = Lancet::start();
    let out = ["g1h3", "g8h6", "h3g1"];
    let again = ["g1h3", "g8h6", "h3g1", "h6g8", "g1h3", "g8h6", "h3g1"];
    for moves in [&out[..], &again] {
        let game = game(START_FEN, moves);
        lancet.send(&format!("position startpos moves {}", moves.join(" ")));
        let (lines, _) = lancet.go("go depth 8 searchmoves h6g8");
        check(&game, &lines);
    }
    // Only the kings can move, so a line continues for some plies before it repeats.
    let locked = "4k3/8/1p1p1p1p/pPpPpPpP/P1P1P1P1/8/8/4K3 w - - 0 1";
    let moves = ["e1d1", "e8d8", "d1e1", "d8e8", "e1f1", "e8f8", "f1e1", "f8e8"];
    let game = game(locked, &moves);
    lancet.send("setoption name MultiPV value 5");
    lancet.send(&format!("position fen {locked} moves {}", moves.join(" ")));
    check(&game, &lancet.go("go depth 20").0);
    lancet.quit();
}

#[test]
fn a_long_game_move_by_move() {
    let mut lancet = Lancet::start();
    let moves = long_game(1200, 120);
    let mut line = "position startpos moves".to_owned();
    for m in &moves {
        line.push(' ');
        line.push_str(m);
        lancet.send(&line);
    }
    assert_eq!(lancet.drain(), [""; 0]);
    check(&game(START_FEN, &moves), &lancet.go("go depth 4").0);
    lancet.quit();
}

#[test]
fn current_moves_after_three_seconds() {
    let mut lancet = Lancet::start();
    lancet.send(&format!("position fen {KIWIPETE}"));
    let start = Instant::now();
    lancet.send("go infinite");
    let line = loop {
        let line = lancet.until("info depth").pop().unwrap();
        if line.contains(" currmove ") {
            break line;
        }
    };
    assert!(start.elapsed() >= Duration::from_secs(3));
    assert!(number(&line, "currmovenumber") >= 1, "{line}");
    let game = game(KIWIPETE, &[]);
    read_move(game.position(), field(&line, "currmove").unwrap()).unwrap();
    lancet.ask("stop", "bestmove ");
    lancet.quit();
}

/// The only legal move is played at once in a game, but searched in analysis.
#[test]
fn analysis_does_not_hurry() {
    let mut lancet = Lancet::start();
    lancet.send("position fen k6r/8/8/8/8/8/PPP3q1/7K w - - 0 1");
    let deepest = |lines: &[String]| thoughts(lines).last().map(|line| number(line, "depth"));
    // There is more time than the depth needs.
    let go = "go wtime 9000000 btime 9000000 depth 5";
    let (lines, m) = lancet.go(go);
    assert_eq!((m.as_str(), deepest(&lines)), ("h1g2", Some(1)), "{lines:?}");
    lancet.send("setoption name UCI_AnalyseMode value true");
    let (lines, m) = lancet.go(go);
    assert_eq!((m.as_str(), deepest(&lines)), ("h1g2", Some(5)), "{lines:?}");
    lancet.quit();
}

/// A new network takes effect at once. A damaged one is refused without effect.
#[test]
fn networks_are_loaded_or_refused() {
    let mut lancet = Lancet::start();
    lancet.send(&format!("position fen {KIWIPETE}"));
    let network = |lancet: &mut Lancet, file: &str| {
        lancet.send(&format!("setoption name EvalFile value {file}"));
        let (lines, _) = lancet.go("go depth 1");
        number(thoughts(&lines).last().unwrap(), "cp")
    };
    let own = network(&mut lancet, "");
    assert_ne!(network(&mut lancet, "psqt"), own);
    assert_eq!(network(&mut lancet, "src/eval/nnue/default.nnue"), own);

    let bytes = std::fs::read("src/eval/nnue/default.nnue").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.nnue");
    for (contents, reason) in [
        (&bytes[..bytes.len() - 1], "truncated"),
        (&[&bytes[..1000], &[!bytes[1000]], &bytes[1001..]].concat(), "corrupt"),
        (b"LANCETNN\x09\0\0\0".as_slice(), "truncated"),
        (b"another file", "not a Lancet network"),
    ] {
        std::fs::write(&bad, contents).unwrap();
        let option = format!("setoption name EvalFile value {}", bad.display());
        let named = format!("info string EvalFile: cannot read '{}': ", bad.display());
        let lines = lancet.ask(&option, &named);
        assert!(lines.last().unwrap().contains(reason), "{lines:?}");
    }
    let missing = "setoption name EvalFile value missing.nnue";
    lancet.ask(missing, "info string EvalFile: cannot read 'missing.nnue'");
    let (lines, _) = lancet.go("go depth 1");
    assert_eq!(number(thoughts(&lines).last().unwrap(), "cp"), own);
    lancet.quit();
}

#[test]
fn both_directions_are_logged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("two words.log");
    let mut lancet = Lancet::start();
    lancet.send("isready");
    lancet.send(&format!("setoption name Debug Log File value {}", path.display()));
    lancet.drain();
    let opponent = "setoption name UCI_Opponent value GM 2800 human Gary Kasparov";
    lancet.send(opponent);
    lancet.send("position startpos");
    let (_, m) = lancet.go("go depth 2");
    lancet.send("setoption name debug log file value <empty>");
    lancet.send("fen");
    lancet.quit();
    let log = std::fs::read_to_string(&path).unwrap();
    let (opponent, answer) = (format!(">> {opponent}"), format!("<< bestmove {m}"));
    for line in [">> isready", "<< readyok", &opponent, ">> go depth 2", &answer] {
        assert!(log.lines().any(|logged| logged[13..].starts_with(line)), "{line}\n{log}");
    }
    assert!(!log.contains(">> fen") && !log.contains("<< rnbq"), "{log}");
    for line in log.lines() {
        let stamp: Vec<&str> = line.split(' ').next().unwrap().split([':', '.']).collect();
        assert_eq!(stamp.len(), 4, "{line}");
    }
    let mut lancet = Lancet::start();
    let missing = "setoption name Debug Log File value /no/such/folder/x.log";
    assert!(lancet.ask(missing, "info string")[0].contains("cannot log to '/no/such"));
    lancet.quit();
}

#[test]
fn the_end_of_input_ends_the_program() {
    for script in ["go infinite\n", "go ponder depth 2\n", "", "uci\n", "go depth 100 wtime 900000"]
    {
        let mut lancet = Lancet::start();
        lancet.send_bytes(script.as_bytes());
        lancet.close_input();
        let (lines, status) = lancet.rest();
        assert!(status.success(), "{script}");
        let moves = lines.iter().filter(|line| line.starts_with("bestmove ")).count();
        assert_eq!(moves, usize::from(script.starts_with("go")), "{script}: {lines:?}");
    }
    // Tasks that end by themselves are completed even if the input ends.
    for (script, last) in [
        ("go depth 9", "info depth 9 "),
        ("go nodes 30000\n", "info depth 8 "),
        ("go mate 2 depth 20", "info string there is no mate in 2"),
        ("setoption name nodestime value 500\ngo movetime 60", "info depth 6 "),
        ("go depth 7\nwait\ngo depth 2\nstop", "info depth 7 "),
        ("go depth 7\nwait\nquit", "info depth 7 "),
        ("perft 3", "Nodes searched: 8902"),
        ("go infinite\nwait\nstop\nwait", "info string not waiting: this search runs until 'stop'"),
        (
            "go ponder depth 2\nwait\nponderhit\nwait",
            "info string not waiting: this search runs until 'ponderhit' or 'stop'",
        ),
    ] {
        let mut lancet = Lancet::start();
        lancet.send_bytes(script.as_bytes());
        lancet.close_input();
        let (lines, _) = lancet.rest();
        assert!(lines.iter().any(|line| line.contains(last)), "{script}: {lines:?}");
    }
}

/// The output is closed, but the input stays open.
#[test]
fn a_closed_output_ends_the_program() {
    let mut command = Command::new(LANCET);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Running::start(&mut command);
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"uci\ngo infinite\n").unwrap();
    let status = child.ended();
    assert!(status.success(), "{status}");
    let mut complaint = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut complaint).unwrap();
    assert_eq!(complaint, "");
}

#[test]
fn arguments_are_commands() {
    let (lines, status) =
        Lancet::with(&["position startpos moves e2e4", "go depth 4", "quit"]).rest();
    assert!(status.success());
    assert!(lines.iter().any(|line| line.starts_with("info depth 4 ")), "{lines:?}");
    let played = lines.last().cloned();
    assert!(played.as_ref().unwrap().starts_with("bestmove "));
    // Without `quit`, the dialogue continues.
    let mut lancet = Lancet::with(&["setoption name MultiPV value 2", "go infinite"]);
    lancet.until("info depth 3 seldepth");
    lancet.ask("stop", "bestmove ");
    lancet.quit();
    let (lines, _) = Lancet::with(&["bench", "3"]).rest();
    let last: Vec<&str> = lines.last().unwrap().split(' ').collect();
    assert!(matches!(last[..], [_, "nodes", _, "nps"]), "{last:?}");
    let mut lancet = Lancet::with(&["uci"]);
    lancet.ask("uci", "uciok");
    // The command gives the same node count in a dialogue.
    let inside = lancet.ask("bench 3", &format!("{} nodes ", last[0]));
    assert_eq!(inside.len(), lines.len());
    lancet.quit();
    // Words without quotes form lines, too.
    let words = "position startpos moves e2e4 go depth 4 quit";
    let (unquoted, _) = Lancet::with(&words.split(' ').collect::<Vec<_>>()).rest();
    assert!(unquoted.iter().any(|line| line.starts_with("info depth 4 ")), "{unquoted:?}");
    assert_eq!(unquoted.last(), played.as_ref());
    // A misspelt command or option on the command line gets a suggestion, and no dialogue starts.
    let complaint = fail(&["analize", "games.pgn"]);
    assert!(complaint.contains("; did you mean 'analyse'?"), "{complaint}");
    let complaint = fail(&["analyse", "games.pgn", "--ot", "out.pgn"]);
    assert!(complaint.contains("'--out'") && !complaint.contains("movetime"), "{complaint}");
    for (first, known) in [("analise", false), ("games.pgn", false), ("ucinewgame", true)] {
        let output = run(&[first, "quit"]);
        let complaint = format!("'{first}' is neither a Lancet command nor a UCI command");
        assert_eq!(output.status.code(), Some(if known { 0 } else { 2 }), "{first}");
        assert_eq!(stderr(&output).contains(&complaint), !known, "{}", stderr(&output));
    }
    // Commands that are typed in a terminal have their help there.
    for command in ["play", "go"] {
        let complaint = fail(&["help", command]);
        let advice = format!("start 'lancet' and type 'help {command}'");
        assert!(complaint.contains(&advice), "{complaint}");
    }
    // For commands of the other programs, the error names the program.
    for (command, program) in [("datagen", "lancet-train"), ("lab", "lancet-lab")] {
        let complaint = fail(&[command, "--depth", "3"]);
        assert!(complaint.contains(&format!("'{command}' is ")), "{complaint}");
        assert!(complaint.contains(program), "{complaint}");
    }
}

#[test]
fn own_book() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("two words.bin");
    std::fs::write(&path, book(&[("a2a4", 1), ("b1a3", 2), ("h2h4", 0)])).unwrap();
    let mut lancet = Lancet::start();
    lancet.send(&format!("setoption name BookFile value {}", path.display()));
    lancet.send("setoption name OwnBook value true");
    let mut seen = HashSet::new();
    for _ in 0..60 {
        lancet.send("position startpos");
        let (lines, m) = lancet.go("go wtime 60000 btime 60000");
        check(&Game::default(), &lines);
        assert_eq!(number(&lines[0], "nodes"), 0, "{lines:?}");
        seen.insert(m);
    }
    assert_eq!(seen, HashSet::from(["a2a4".to_owned(), "b1a3".to_owned()]));
    // After the last book move, in analysis, and beyond BookDepth there is a search.
    let unlikely = ["a2a4", "b1a3"];
    for (position, go) in [
        ("position startpos moves g2g4", "go depth 3"),
        ("position startpos", "go mate 1 depth 3"),
        ("position startpos", "go depth 3 searchmoves e2e4"),
        ("setoption name UCI_AnalyseMode value true\nposition startpos", "go depth 3"),
        ("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 9", "go depth 3"),
    ] {
        lancet.send("setoption name BookDepth value 8");
        lancet.send(position);
        let (lines, m) = lancet.go(go);
        assert!(number(thoughts(&lines).last().unwrap(), "nodes") > 0, "{lines:?}");
        assert!(!unlikely.contains(&m.as_str()), "{m}");
    }
    lancet.send("setoption name UCI_AnalyseMode value false");
    lancet.send("position startpos");
    lancet.send("go infinite");
    lancet.until("info depth 3 ");
    lancet.ask("stop", "bestmove ");
    // A book move is also held back during pondering.
    lancet.send("go ponder wtime 1000 btime 1000");
    assert!(lancet.drain().iter().all(|line| !line.starts_with("bestmove")));
    let (_, m) = lancet.go("ponderhit");
    assert!(unlikely.contains(&m.as_str()), "{m}");
    // A damaged book is refused, and the old one is kept.
    let bad = dir.path().join("bad.bin");
    std::fs::write(&bad, &book(&[("a2a4", 1)])[..15]).unwrap();
    lancet.send(&format!("setoption name BookFile value {}", bad.display()));
    let lines = lancet.drain();
    assert!(
        lines[0].starts_with("info string BookFile: ") && lines[0].contains("15 bytes"),
        "{lines:?}"
    );
    let (_, m) = lancet.go("go depth 1");
    assert!(unlikely.contains(&m.as_str()), "{m}");
    lancet.send("setoption name BookFile value <empty>");
    let (lines, _) = lancet.go("go depth 1");
    assert!(number(thoughts(&lines).last().unwrap(), "nodes") > 0, "{lines:?}");
    lancet.quit();
}

#[test]
fn winning_chances() {
    let mut lancet = Lancet::start();
    let wdl = |line: &str| -> [i64; 3] {
        let words: Vec<&str> = line.split(' ').skip_while(|&word| word != "wdl").collect();
        [1, 2, 3].map(|i| words[i].parse().unwrap())
    };
    lancet.send(&format!("position fen {KIWIPETE}"));
    let (lines, _) = lancet.go("go depth 5");
    assert!(lines.iter().all(|line| !line.contains("wdl")), "off by default");
    lancet.send("setoption name UCI_ShowWDL value true");
    for (fen, sure) in [
        (KIWIPETE, None),
        ("r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - - 0 18", Some([1000, 0, 0])),
        ("8/8/8/8/8/2k5/8/K6q w - - 0 1", Some([0, 0, 1000])),
        ("k7/8/8/8/8/8/8/K6Q b - - 0 1", None),
    ] {
        lancet.send(&format!("position fen {fen}"));
        let (lines, _) = lancet.go("go depth 9");
        check(&game(fen, &[]), &lines);
        for line in thoughts(&lines) {
            assert_eq!(wdl(line).iter().sum::<i64>(), 1000, "{line}");
        }
        let last = thoughts(&lines).pop().unwrap();
        let [win, _, loss] = wdl(last);
        assert!(sure.is_none_or(|sure| wdl(last) == sure), "{last}");
        let score: i64 =
            last.split(' ').skip_while(|&word| word != "score").nth(2).unwrap().parse().unwrap();
        assert_eq!((win - loss).signum(), score.signum(), "{last}");
    }
    // With insufficient material or a stalemate, the chances are exact.
    for fen in ["8/8/8/4k3/8/8/4B3/4K3 w - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"] {
        lancet.send(&format!("position fen {fen}"));
        let (lines, _) = lancet.go("go depth 4");
        assert!(!thoughts(&lines).is_empty());
        assert!(thoughts(&lines).into_iter().all(|line| wdl(line) == [0, 1000, 0]), "{lines:?}");
    }
    lancet.quit();
}

#[test]
fn the_table_survives_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my analysis.hash");
    let go = format!("position fen {KIWIPETE}");
    let nodes = |lines: &[String]| number(thoughts(lines).last().unwrap(), "nodes");
    let first = |lines: Vec<String>| lines.into_iter().next().unwrap_or_default();

    let mut lancet = Lancet::start();
    for button in ["Save Hash", "Load Hash"] {
        lancet.send(&format!("setoption name {button}"));
        assert_eq!(first(lancet.drain()), format!("info string {button}: set 'Hash File' first"));
    }
    lancet.send(&format!("setoption name Hash File value {}", path.display()));
    lancet.send("setoption name Load Hash");
    assert!(first(lancet.drain()).starts_with("info string Load Hash: "), "no such file");
    lancet.send("setoption name Hash value 4");
    lancet.send("setoption name Never Clear Hash value true");
    lancet.send(&go);
    let (cold, _) = lancet.go("go depth 11");
    lancet.send("setoption name Save Hash");
    assert_eq!(
        lancet.drain(),
        [format!("info string Save Hash: saved 4 MiB to {}", path.display())]
    );
    lancet.send("setoption name Clear Hash");
    assert!(first(lancet.drain()).contains("'Never Clear Hash' is on"));
    lancet.send("ucinewgame");
    let (warm, m) = lancet.go("go depth 11");
    assert!(nodes(&warm) < nodes(&cold), "{} {}", nodes(&warm), nodes(&cold));
    lancet.quit();

    // A new process with another table size has the same entries after Load Hash.
    let mut lancet = Lancet::start();
    lancet.send(&format!("setoption name Hash File value {}", path.display()));
    lancet.send("setoption name Load Hash");
    assert_eq!(
        lancet.drain(),
        [format!("info string Load Hash: loaded 4 MiB from {}", path.display())]
    );
    lancet.send(&go);
    let (warm, again) = lancet.go("go depth 11");
    assert_eq!(m, again);
    assert!(nodes(&warm) < nodes(&cold), "{} {}", nodes(&warm), nodes(&cold));
    lancet.send("setoption name Never Clear Hash value false");
    lancet.send("setoption name Clear Hash");
    let (cleared, _) = lancet.go("go depth 11");
    assert!(nodes(&cleared) > nodes(&warm), "{} {}", nodes(&cleared), nodes(&warm));

    // Damaged files are refused.
    let bytes = std::fs::read(&path).unwrap();
    for (bad, reason) in [
        (bytes[..bytes.len() / 2].to_vec(), "truncated or damaged"),
        ([&bytes[..8], &[9, 0, 0, 0], &bytes[12..]].concat(), "unsupported hash table format 9,"),
        ([&bytes[..5000], &[bytes[5000] ^ 255], &bytes[5001..]].concat(), "checksum"),
        (b"something else".to_vec(), "not a Lancet hash table"),
    ] {
        std::fs::write(&path, bad).unwrap();
        lancet.send("setoption name Load Hash");
        let line = first(lancet.drain());
        assert!(line.contains(reason) && line.ends_with("the old table is kept"), "{line}");
        assert!(line.contains(&path.display().to_string()), "{line}");
    }
    lancet.quit();
}

#[test]
fn current_lines_and_refutations() {
    // Both kinds of lines are legal.
    let count = |lines: &[String], key: &str| {
        check(&Game::default(), lines);
        let start = format!("info {key} ");
        let lines = lines.iter().filter(|line| line.starts_with(&start));
        lines.map(|line| line.matches(&format!("{key} ")).count()).sum::<usize>()
    };
    let mut lancet = Lancet::start();
    lancet.send("position startpos");
    let (lines, _) = lancet.go("go depth 6");
    assert_eq!((count(&lines, "currline"), count(&lines, "refutation")), (0, 0), "off by default");
    lancet.send("setoption name UCI_ShowRefutations value true");
    let (lines, _) = lancet.go("go depth 6");
    assert_eq!(count(&lines, "refutation"), 6 * 19, "all moves but the best, after each iteration");
    let answered =
        |line: &&String| line.starts_with("info refutation") && line.split(' ').count() > 3;
    assert!(lines.iter().filter(answered).count() > 50, "{lines:?}");
    lancet.send("setoption name UCI_ShowRefutations value false");
    for threads in 1..=2 {
        lancet.send(&format!("setoption name Threads value {threads}"));
        lancet.send("go infinite");
        lancet.send("setoption name UCI_ShowCurrLine value true");
        let mut lines = lancet.until("info currline 1 ");
        lancet.send("setoption name UCI_ShowCurrLine value false");
        lines.extend(lancet.ask("stop", "bestmove "));
        assert!(count(&lines, "currline") >= 1);
    }
    lancet.quit();
}

#[test]
fn debug_says_more() {
    let mut lancet = Lancet::start();
    let strings =
        |lines: &[String]| lines.iter().filter(|line| line.starts_with("info string")).count();
    lancet.send("position startpos");
    let (lines, _) = lancet.go("go depth 3 wtime 1000");
    assert_eq!(strings(&lines), 0, "{lines:?}");
    lancet.send("debug on");
    let (lines, _) = lancet.go("go depth 3 wtime 1000");
    for text in ["go in rnbqkbnr", "time: ", "ms, at most ", "best move from thread 1"] {
        assert!(
            lines.iter().any(|line| line.starts_with("info string") && line.contains(text)),
            "{lines:?}"
        );
    }
    lancet.send("debug off");
    let (lines, _) = lancet.go("go depth 3");
    assert_eq!(strings(&lines), 0, "{lines:?}");
    lancet.quit();
}

/// At limited strength, Lancet uses time on the clock although it searches few nodes, and obeys
/// `stop`. The unit tests of `play::strength` check for all clocks that it never exceeds the time
/// for the move.
#[test]
fn weaker_players_use_the_clock() {
    let mut lancet = Lancet::start();
    lancet.send("setoption name UCI_LimitStrength value true");
    lancet.send("setoption name UCI_Elo value 700");
    lancet.send("position startpos moves e2e4 e7e5");
    let few = |lines: &[String]| {
        assert!(number(thoughts(lines).last().unwrap(), "nodes") < 1000, "{lines:?}");
    };
    // A minimum time in ms, far below what `thinking_time` gives for these seeds: a small part of
    // the planned time, and nearly all of an exact time.
    for (go, least) in
        [("go wtime 20000 btime 20000 winc 200 binc 200", 20), ("go movetime 300", 250)]
    {
        let start = Instant::now();
        few(&lancet.go(go).0);
        assert!(start.elapsed() >= Duration::from_millis(least), "{go}: {:?}", start.elapsed());
    }
    // Without a clock, and with one that has run out, there is no delay.
    for go in ["go nodes 100000000", "go depth 30", "go wtime 1 btime 1"] {
        few(&lancet.go(go).0);
    }
    // The move would take half an hour, unless it is stopped.
    lancet.send("go movetime 1800000");
    lancet.ask("stop", "bestmove ");
    // During pondering, the move is held back until `ponderhit`, and the thinking time starts then.
    lancet.send("go ponder wtime 20000 btime 20000");
    assert!(lancet.drain().iter().all(|line| !line.starts_with("bestmove")));
    lancet.ask("ponderhit", "bestmove ");
    // There is only one line, because there are enough nodes for only one.
    lancet.send("setoption name MultiPV value 5");
    let (lines, _) = lancet.go("go depth 30");
    assert!(thoughts(&lines).iter().all(|line| field(line, "multipv") == Some("1")), "{lines:?}");
    // Analysis is at full strength, with or without UCI_AnalyseMode.
    lancet.send("go infinite");
    lancet.until("info depth 9 ");
    lancet.ask("stop", "bestmove ");
    lancet.send("setoption name UCI_AnalyseMode value true");
    let (lines, _) = lancet.go("go depth 9");
    assert!(number(thoughts(&lines).last().unwrap(), "nodes") > 1000);
    lancet.quit();
}

/// Some GUIs send every option before every search. Unchanged values must not clear the table.
#[test]
fn options_that_stay_the_same_forget_nothing() {
    let mut lancet = Lancet::start();
    let nodes = |lancet: &mut Lancet, depth: u32| -> i64 {
        number(thoughts(&lancet.go(&format!("go depth {depth}")).0).last().unwrap(), "nodes")
    };
    let first = nodes(&mut lancet, 10);
    nodes(&mut lancet, 12);
    for option in ["UCI_LimitStrength value false", "EvalFile value <empty>", "Hash value 16"] {
        lancet.send(&format!("setoption name {option}"));
        lancet.ask("isready", "readyok");
        let again = nodes(&mut lancet, 10);
        assert!(again < first / 10, "{option}: {first} nodes, then {again}");
    }
    lancet.quit();
}

/// Some bots set options of other engines before every search.
#[test]
fn unknown_options_are_named_once() {
    let mut lancet = Lancet::start();
    for name in ["Contempt", "CONTEMPT", "Contempt", "Use NNUE", "contempt"] {
        lancet.send(&format!("setoption name {name} value 5"));
    }
    assert_eq!(lancet.drain().len(), 2);
    lancet.quit();
}

/// Skill Level sets a rating, but UCI_Elo takes precedence.
#[test]
fn skill_levels_weaken_play() {
    let mut lancet = Lancet::start();
    lancet.send("position startpos moves e2e4 e7e5");
    let mut nodes = |lines: &[&str]| {
        lines.iter().for_each(|line| lancet.send(&format!("setoption name {line}")));
        let (lines, _) = lancet.go("go depth 9");
        number(thoughts(&lines).last().unwrap(), "nodes")
    };
    let full = nodes(&["Clear Hash"]);
    assert!(nodes(&["Skill Level value 0"]) < 50);
    assert!(nodes(&["UCI_Elo value 2000", "UCI_LimitStrength value true"]) > 50);
    assert!(nodes(&["UCI_LimitStrength value false"]) < 50);
    assert_eq!(nodes(&["Skill Level value 20", "Clear Hash"]), full);
}

/// lichess-bot stops if an engine lacks an option of its configuration. Lancet has the options of
/// our configuration and of lichess-bot's default one.
#[test]
fn bots_find_their_options() {
    let config = include_str!("../../src/uci/lichess-bot.yml");
    let options = config.split("  uci_options:\n").nth(1).unwrap();
    let options =
        options.lines().take_while(|line| line.starts_with([' ', '#']) && !line.starts_with("  s"));
    let ours = options.map(|line| line.trim_start_matches(['#', ' ']).split(':').next().unwrap());
    let defaults = ["Move Overhead", "Threads", "Hash", "SyzygyPath", "UCI_ShowWDL"];
    let mut lancet = Lancet::start();
    let lines = lancet.ask("uci", "uciok");
    lancet.quit();
    let mut count = 0;
    for name in ours.chain(defaults) {
        let start = format!("option name {name} type ");
        assert!(lines.iter().any(|line| line.starts_with(&start)), "{name}");
        count += 1;
    }
    assert_eq!(count, 14, "{config}");
}
