//! Runs the shipped perft suites through all layers, and tests `lancet perft`.

use std::{
    path::{Path, PathBuf},
    process::Output,
};

use crate::common::program::{Directory, run, stderr, stdout};
use lancet::{
    chess::lines,
    tools::perft::{
        Through,
        suite::{self, PerftCase},
    },
};
use shakmaty::CastlingMode;

fn suites() -> Vec<PathBuf> {
    let files: Vec<PathBuf> = glob::glob("perft/*.epd").unwrap().map(Result::unwrap).collect();
    assert!(files.len() >= 10, "{files:?}");
    files
}

fn cases(path: &Path) -> Vec<PerftCase> {
    let lines = lines::read(path).unwrap();
    let parse = |line| suite::parse(line, CastlingMode::Standard);
    lines.iter().map(|line| parse(line).unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn check_all(budget: u64, through: Through) {
    for path in suites() {
        let mut cases = cases(&path);
        let mut budget = budget;
        // If a suite has one count per position and few small counts, the 20 smallest are used.
        let fitting = cases.iter().filter(|case| case.counts[0].1 <= budget).count();
        if fitting < 20 && cases.iter().all(|case| case.counts.len() == 1) {
            cases.sort_by_key(|case| case.counts[0].1);
            cases.truncate(20);
            budget = u64::MAX;
        }
        let outcome = suite::check(&cases, budget, 2, through, &|_, _| {}).unwrap();
        assert!(outcome.wrong.is_empty(), "{}: {:?}", path.display(), outcome.wrong);
        assert!(outcome.counts >= 20, "{}: only {} counts", path.display(), outcome.counts);
    }
}

#[test]
fn suites_by_the_rules() {
    check_all(100_000, Through::Rules);
}

#[test]
fn suites_through_the_search() {
    check_all(20_000, Through::Search);
}

/// The incrementally updated network agrees with a computation from scratch.
#[test]
fn suites_through_the_network() {
    check_all(4_000, Through::Network);
}

fn perft(args: &[&str]) -> Output {
    run(&[&["perft"], args].concat())
}

#[test]
fn counts_and_divides() {
    let output = perft(&["4"]);
    assert!(output.status.success());
    assert!(stdout(&output).starts_with("Nodes searched: 197281\n"), "{}", stdout(&output));

    let fen = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
    for through in ["rules", "search", "network"] {
        let args = ["3", "--fen", fen, "--divide", "--threads", "2", "--through", through];
        let text = stdout(&perft(&args));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 14 + 3, "{text}");
        assert_eq!(lines[0], "a5a4: 224", "{text}");
        assert!(lines[..14].is_sorted());
        assert_eq!(lines[14..16], ["", "Nodes searched: 2812"]);
    }
    // X-FEN and Shredder-FEN give the same position, and castling moves are written as king takes
    // rook.
    for rights in ["Qk", "Bh"] {
        let fen = format!("1r2k2r/8/8/8/8/8/8/1R2K2R w {rights} - 0 1");
        let text = stdout(&perft(&["1", "--fen", &fen, "--divide"]));
        assert!(text.contains("e1b1: 1"), "{text}");
    }
}

#[test]
fn a_wrong_count_is_a_failure() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let dir = Directory::new();
    let suite = format!("# comment\n{start} ;D1 20 ;D2 400 ;D3 8903 ;D9 2439530234167\n");
    let file = dir.file("wrong.epd", suite);
    let output = perft(&["--suite", &file, "--max-nodes", "10000"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    let expected = format!("{file}:2: {start} depth 3: wrong count: expected 8903, got 8902\n");
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.contains("Total: 3 counts, 9,322 nodes"), "{text}");
    assert!(text.contains("1 above --max-nodes, 0 unreadable, 1 wrong"), "{text}");
    assert!(stderr(&output).is_empty(), "no progress bar outside a terminal: {}", stderr(&output));
}

#[test]
fn unusable_input_is_named() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let dir = Directory::new();
    let file = dir.file("broken.epd", format!("{start} ;D1 20\r\n{start} ;D1 twenty\r\n"));
    let output = perft(&["--suite", &file, "/no/such/file.epd"]);
    assert_eq!(output.status.code(), Some(2));
    let complaints = stderr(&output);
    assert!(
        complaints
            .contains(&format!("{file}:2:59: 'D1 twenty' is not a count: expected 'Dn nodes'")),
        "{complaints}"
    );
    assert!(complaints.contains("/no/such/file.epd: "), "{complaints}");
    assert!(stdout(&output).contains("1 count, 20 nodes"), "{}", stdout(&output));

    for args in [&["3", "--fen", "8/8/8 w - -"][..], &["x"], &[], &["3", "--threads", "0"]] {
        assert_eq!(perft(args).status.code(), Some(2), "{args:?}");
    }
}

/// Each line belongs to exactly one shard, so the counts of all shards add up to those of the
/// suite.
#[test]
fn shards_are_the_whole() {
    let suites = suites();
    let totals = |shard: &str| -> [u64; 3] {
        let mut args = vec!["perft", "--max-nodes", "1000", "--shard", shard, "--suite"];
        args.extend(suites.iter().map(|path| path.to_str().unwrap()));
        let output = run(&args);
        assert!(output.status.success(), "{}", stderr(&output));
        let said = stdout(&output);
        let total = said.lines().find_map(|line| line.strip_prefix("Total: ")).unwrap();
        let number = |before: &str| -> u64 {
            let words = total.split(before).next().unwrap().split_whitespace();
            words.last().unwrap().replace(',', "").parse().unwrap()
        };
        [" counts", " nodes in", " above"].map(number)
    };
    let parts = ["1/3", "2/3", "3/3"].map(totals);
    let sum = [0, 1, 2].map(|what| parts.iter().map(|part| part[what]).sum::<u64>());
    assert_eq!(sum, totals("1/1"));
    assert!(parts.iter().all(|part| part[0] > 10), "{parts:?}");
}
