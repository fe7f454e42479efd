//! Tests with endless files and full disks, like the engine's `tests/suite/resources.rs` at the
//! root of the repository.
#![cfg(unix)] // the tests use the shell's limits

use std::fs;

use crate::common::shell::{complaint, names, shell, with_short_files};
use lancet_train::format::{self, Record};

#[cfg(target_os = "linux")]
#[test]
fn inputs_without_end() {
    let dir = tempfile::tempdir().unwrap();
    crate::common::shell::refuse_inputs_without_end(
        dir.path(),
        &[
            "datagen --out games --nodes 10 --games 1 --book INPUT",
            "datagen --out games --nodes 10 --games 1 --net INPUT",
            "train --data INPUT --out net.nnue",
            "train --data none --out net.nnue --schedule INPUT",
            "average INPUT --out net.nnue",
            "data stats INPUT",
            "data check INPUT",
            "data grade INPUT",
            "wdl INPUT",
        ],
    );
    let endless = "yes | $0 train --data none --out net.nnue --schedule /dev/stdin";
    let text = complaint(&shell(endless, dir.path()));
    assert!(text.contains("/dev/stdin: the file is too long"), "{text}");
    assert_eq!(names(dir.path()), ["long"]);
}

#[test]
fn a_full_disk_under_games_and_training() {
    let dir = tempfile::tempdir().unwrap();
    let datagen = "$0 datagen --out games --threads 1 --nodes 60 --games";
    let output = with_short_files(8, &format!("{datagen} 100"), dir.path());
    let text = complaint(&output);
    assert!(text.contains("games-1-0.vf: File too large"), "{text}");
    let read = || fs::read(dir.path().join("games/games-1-0.vf")).unwrap();
    let bytes = read();
    let frames: Vec<&[u8]> = format::frames(&bytes).collect();
    assert!(!frames.is_empty() && frames.concat() == bytes);
    frames.iter().for_each(|frame| drop(Record::decode(frame).unwrap()));
    // It continues when there is free space again.
    assert!(shell(&format!("{datagen} 40"), dir.path()).status.success());
    assert!(read().starts_with(&bytes));
    assert_eq!(format::frames(&read()).count(), 40);

    let train =
        "$0 train --data games/games-1-0.vf --out net.nnue --hidden 32 --samples 1k --threads 1";
    let text = complaint(&with_short_files(8, train, dir.path()));
    // The size of the checkpoint depends on the games.
    let named = |file: &str| text.contains(&format!("{file}: File too large"));
    assert!(named("net.checkpoint") || named("net.nnue"), "{text}");
    assert_eq!(names(dir.path()), ["games"]);
    let text = complaint(&with_short_files(
        1,
        "$0 data shuffle games/games-1-0.vf --out all.vf",
        dir.path(),
    ));
    assert!(text.contains("all.vf: File too large"), "{text}");
    assert_eq!(names(dir.path()), ["games"]);
}
