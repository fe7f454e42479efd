//! The reader of files of games as a target, like those of the engine in
//! `tests/suite/common/targets.rs`. The trainer's checkpoints are left out.

use lancet_train::format::{self, Record};

/// A reader of bytes: could it use any of them?
pub type Target = fn(&[u8]) -> bool;

/// By the name that the fuzzer uses.
pub const ALL: [(&str, Target); 1] = [("viriformat", viriformat)];

/// Games read the same after they were written.
pub fn viriformat(bytes: &[u8]) -> bool {
    let (frames, length) = format::frames(bytes);
    assert_eq!(frames.iter().map(|frame| frame.len()).sum::<usize>(), length);
    let mut read = false;
    for frame in frames {
        let Ok(game) = Record::decode(frame) else { continue };
        let again = Record::decode(&game.encode()).expect("own games are read");
        assert_eq!((again.start.fen(), again.result), (game.start.fen(), game.result));
        assert_eq!(again.moves, game.moves);
        game.visit(|_| {});
        read = true;
    }
    read
}
