//! The reader of game files as a fuzz target, like those of the engine in
//! `tests/suite/common/targets.rs` at the root of the repository. There is no target for the
//! trainer's checkpoints.

use lancet_train::format::{self, Record};

/// A reader of bytes. Returns whether it could use any of them.
pub type Target = fn(&[u8]) -> bool;

/// All targets, with the names that the fuzzer uses.
pub const ALL: [(&str, Target); 1] = [("viriformat", viriformat)];

/// Games that were read stay the same when they are written and read again.
pub fn viriformat(bytes: &[u8]) -> bool {
    let mut read = false;
    for frame in format::frames(bytes) {
        let Ok(game) = Record::decode(frame) else { continue };
        let again = Record::decode(&game.encode()).expect("own games are read");
        assert_eq!((again.start.fen(), again.result), (game.start.fen(), game.result));
        assert_eq!(again.moves, game.moves);
        game.visit(|_| {});
        read = true;
    }
    read
}
