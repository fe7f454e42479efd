//! Tests with mutated game files, which the library and the program read, like the engine's
//! `tests/suite/hostile_files.rs` at the root of the repository.
#![cfg(unix)] // the tests use the system's limits and users

use std::env;

use crate::{
    common::{
        desk::{self, Desk, complaints},
        mutate::mutate,
        program::stdout,
    },
    parsers::seeds,
    targets::ALL,
};
use lancet_train::format::{self, Record};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// The program reports a file with a bad game, and shows all positions of other files.
fn viriformat(desk: &Desk, path: &str, bytes: &[u8]) -> bool {
    let games: Result<Vec<Record>, _> = format::frames(bytes).map(Record::decode).collect();
    let length: usize = format::frames(bytes).map(<[u8]>::len).sum();
    let games = games.ok().filter(|_| length == bytes.len());
    let run = desk.run(&["data", "check", path]);
    let expected = if games.is_some() { (0, 0) } else { (1, 1) };
    assert_eq!((run.status.code(), complaints(&run, path)), (Some(expected.0), expected.1));
    let Some(games) = games.filter(|games| !games.is_empty()) else { return false };
    let run = desk.run(&["data", "view", path, "--positions", "--count", "1000"]);
    let positions: usize = games.iter().map(|game| game.moves.len()).sum();
    assert_eq!((run.status.code(), stdout(&run).lines().count()), (Some(0), positions));
    true
}

/// Reads mutated files with the library and the program. Returns how many of them were usable.
fn read(files: u64) -> u64 {
    let seeds = seeds();
    let mutant = |number| mutate(&seeds, &mut ChaCha8Rng::seed_from_u64(number));
    let [(name, target)] = ALL;
    desk::read(name, files, mutant, target, viriformat)
}

#[test]
fn viriformat_files() {
    read(20);
}

/// Reads as many files as a release must pass.
#[test]
#[ignore = "a minute: 400 files"]
fn all_files() {
    if env::var("FUZZ_TARGET").is_ok_and(|only| only != "viriformat") {
        return;
    }
    let used = read(400);
    println!("viriformat: 400 files, {used} of them used");
    assert!((1..400).contains(&used), "expected some usable and some refused files");
}
