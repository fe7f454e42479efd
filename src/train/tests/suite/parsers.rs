//! Feeds random bytes and mutated games to the reader of game files, like the engine's
//! `tests/suite/parsers.rs` at the root of the repository.

use crate::{
    common::feed::{self, feed},
    targets::ALL,
};
use lancet::chess::position::Position;
use lancet_train::format::{GameResult, Record};

/// Returns valid input.
pub fn seeds() -> Vec<Vec<u8>> {
    vec![game(0), game(12), [game(3), game(7)].concat()]
}

/// Returns the bytes of a game of this many moves.
fn game(length: usize) -> Vec<u8> {
    let start = Position::default();
    let mut position = start.clone();
    let mut moves = Vec::new();
    for ply in 0..length {
        let legal = position.legal_moves();
        let m = legal[7 * ply % legal.len()];
        moves.push((m, 10 * ply as i16 - 30));
        position = position.play(m);
    }
    Record { start, result: GameResult::Draw, moves }.encode()
}

#[test]
fn viriformat() {
    let [(name, target)] = ALL;
    feed(name, target, &seeds(), 3000);
}

/// Mutates valid input for `FUZZ_SECONDS` seconds.
#[test]
#[ignore = "a fuzzer: runs for FUZZ_SECONDS seconds"]
fn fuzz() {
    let [(name, target)] = ALL;
    feed::fuzz(name, target, &seeds());
}

/// Writes the valid input to the corpus of the fuzzer.
#[test]
#[ignore = "writes tests/fuzz/corpus"]
fn write_corpus() {
    let [(name, _)] = ALL;
    feed::write_corpus(name, &seeds());
}
