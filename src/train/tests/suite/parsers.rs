//! Whatever the bytes: the reader of files of games is fed like those of the engine, see
//! `tests/suite/parsers.rs`.

use crate::{
    common::feed::{self, feed},
    targets::ALL,
};
use lancet::chess::position::Position;
use lancet_train::format::{GameResult, Record};

/// Good input.
pub fn seeds() -> Vec<Vec<u8>> {
    vec![game(0), game(12), [game(3), game(7)].concat()]
}

/// The bytes of a game of this many moves.
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
    feed(name, target, seeds(), 3000);
}

/// Spoils good input for as long as `FUZZ_SECONDS` says.
#[test]
#[ignore = "a fuzzer: as long as FUZZ_SECONDS says"]
fn fuzz() {
    let [(name, target)] = ALL;
    feed::fuzz(name, target, &seeds());
}

/// Writes the good input where the fuzzer looks for it.
#[test]
#[ignore = "writes tests/fuzz/corpus"]
fn write_corpus() {
    let [(name, _)] = ALL;
    feed::write_corpus(name, &seeds());
}
