//! Whatever the bytes: the readers of `common/targets.rs` are fed with noise, and
//! with good input that was spoilt. `hostile_files.rs` has the program read such files.
//!
//! Longer, with a seed of its own each time: `FUZZ_SECONDS=1800 cargo test
//! --release --workspace --test suite parsers::fuzz -- --ignored --nocapture --test-threads 1`. With
//! coverage for a guide: `tests/fuzz/README.md`.

use crate::common::{data, feed, mutate::seeds, targets};
use std::fs;

use lancet::chess::position::Position;
use shakmaty::CastlingMode;

fn feed(name: &str, cases: u32) {
    let (_, target) = targets::ALL.into_iter().find(|&(n, _)| n == name).unwrap();
    feed::feed(name, target, seeds(name), cases);
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

/// The positions beside the checkout: thousands of good and bad ones.
#[test]
fn collected_positions() {
    let Some(directory) = data::data("fen") else { return };
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    let [good, bad, both] =
        ["valid_shredder_fens_2000.txt", "invalid_shredder_fens_2000.tsv", "destruction_fens.tsv"]
            .map(read);
    // A position, and what is wrong with it.
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
    let is_read = |fen: &str| Position::from_fen(fen, CastlingMode::Chess960).is_ok();
    assert!(good.iter().all(|(fen, _)| is_read(fen)));
    // What programs write carelessly is forgiven.
    let forgiven =
        ["INVALID_EP_SQUARE", "BAD_CASTLING_RIGHTS", "TOO_MANY_CHECKERS", "IMPOSSIBLE_CHECK"];
    // More men of a side than it begins with are fine, if there are no more than 32.
    let is_crowd = |reason: &str| reason.starts_with("TOO_MANY_") && !reason.ends_with("KINGS");
    for (fen, reasons) in &bad {
        let harmless =
            reasons.split(',').all(|reason| forgiven.contains(&reason) || is_crowd(reason));
        // An en passant square can also hide another fault.
        assert!(harmless || !is_read(fen), "{fen}: {reasons}");
    }
}

/// Spoils good input for as long as `FUZZ_SECONDS` says, for each reader.
#[test]
#[ignore = "a fuzzer: as long as FUZZ_SECONDS says"]
fn fuzz() {
    for (name, target) in targets::ALL {
        feed::fuzz(name, target, &seeds(name));
    }
}

/// Writes the good input where the fuzzer looks for it.
#[test]
#[ignore = "writes tests/fuzz/corpus"]
fn write_corpus() {
    for (name, _) in targets::ALL {
        feed::write_corpus(name, &seeds(name));
    }
}
