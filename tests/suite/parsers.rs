//! Feeds random bytes and mutations of valid input to the readers of `common/targets.rs`.
//! `hostile_files.rs` does the same with the program instead of the library.
//!
//! For a longer test, with a different seed for each run: `FUZZ_SECONDS=1800 cargo test --release
//! --workspace --test suite parsers::fuzz -- --ignored --nocapture --test-threads 1`. For
//! coverage-guided fuzzing see `tests/fuzz/README.md`.

use crate::common::{data, feed, mutate::seeds, targets};
use std::fs;

use lancet::chess::position::Position;
use shakmaty::CastlingMode;

fn feed(name: &str, cases: u32) {
    let (_, target) = targets::ALL.into_iter().find(|&(n, _)| n == name).unwrap();
    feed::feed(name, target, &seeds(name), cases);
}

#[test]
fn uci() {
    feed("uci", 100);
}

#[test]
fn fen() {
    feed("fen", 3000);
}

#[test]
fn epd() {
    feed("epd", 3000);
}

#[test]
fn pgn() {
    feed("pgn", 1000);
}

#[test]
fn network() {
    feed("network", 500);
}

#[test]
fn hash() {
    feed("hash", 100);
}

#[test]
fn book() {
    feed("book", 3000);
}

#[test]
fn study() {
    feed("study", 100);
}

/// Checks thousands of valid and invalid positions of the test data.
#[test]
fn collected_positions() {
    let Some(directory) = data::data("fen") else { return };
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    let [good, bad, both] =
        ["valid_shredder_fens_2000.txt", "invalid_shredder_fens_2000.tsv", "destruction_fens.tsv"]
            .map(read);
    // Each entry is a position and the expected error.
    let lines = |text: &str| -> Vec<(String, String)> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let split = |line: &str| {
            let (fen, rest) = line.split_once('\t').unwrap_or((line, ""));
            (fen.to_owned(), rest.to_owned())
        };
        lines.map(split).collect()
    };
    let [good, bad, both] = [good, bad, both].map(|text| lines(&text));
    assert!([&good, &bad, &both].iter().all(|lines| lines.len() > 20));
    for (fen, _) in good.iter().chain(&bad).chain(&both) {
        targets::fen(fen.as_bytes());
        targets::epd(fen.as_bytes());
        targets::uci(format!("position fen {fen}\ngo depth 1\nisready\n").as_bytes());
    }
    let is_read = |fen: &str| Position::from_fen_in(fen, CastlingMode::Chess960).is_ok();
    assert!(good.iter().all(|(fen, _)| is_read(fen)));
    // Common deviations of other programs are accepted.
    let forgiven =
        ["INVALID_EP_SQUARE", "BAD_CASTLING_RIGHTS", "TOO_MANY_CHECKERS", "IMPOSSIBLE_CHECK"];
    // A side may have more than 16 pieces, if there are at most 32 in all.
    let is_crowd = |reason: &str| reason.starts_with("TOO_MANY_") && !reason.ends_with("KINGS");
    for (fen, reasons) in &bad {
        let harmless =
            reasons.split(',').all(|reason| forgiven.contains(&reason) || is_crowd(reason));
        // A wrong en passant square can also hide another error.
        assert!(harmless || !is_read(fen), "{fen}: {reasons}");
    }
}

/// Mutates valid input for each reader, for `FUZZ_SECONDS` seconds.
#[test]
#[ignore = "a fuzzer: runs for FUZZ_SECONDS seconds"]
fn fuzz() {
    for (name, target) in targets::ALL {
        feed::fuzz(name, target, &seeds(name));
    }
}

/// Writes valid input as the fuzzer's corpus.
#[test]
#[ignore = "writes tests/fuzz/corpus"]
fn write_corpus() {
    for (name, _) in targets::ALL {
        feed::write_corpus(name, &seeds(name));
    }
}
