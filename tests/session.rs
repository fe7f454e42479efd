//! Random dialogues with the built binary (see `common/session.rs`): whatever is
//! said, nothing is lost. A failure names its seed; `LANCET_SEED=<seed>` says
//! the same lines again.
//!
//! The long versions, with all positions beside the checkout:
//! `cargo test --release --test session -- --ignored --nocapture --test-threads 1`

mod common;

use std::time::Duration;

use common::{
    Lancet,
    session::{Material, Session, Stats},
};

/// The seeds to use: one if it is given, else `count` of them.
fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("LANCET_SEED").map(|seed| seed.parse()) {
        Ok(Ok(seed)) => vec![seed],
        _ => (1..=count).collect(),
    }
}

/// Sessions of `lines` lines, one for each seed.
fn sessions(count: u64, lines: usize, material: &Material) -> Stats {
    let mut all = Stats::default();
    for seed in seeds(count) {
        let mut session = Session::new(seed, material);
        while session.stats.lines < lines {
            session.step();
        }
        session.settle();
        session.end(seed % 2 == 0);
        all.merge(&session.stats);
    }
    all
}

/// Bursts on 1 to 8 threads.
fn bursts(count: u64, each: usize) -> Stats {
    let mut all = Stats::default();
    for seed in seeds(count) {
        let mut session = Session::new(seed, &Material::small());
        for number in 0..each {
            session.burst(1 + number % 8);
        }
        session.end(true);
        all.merge(&session.stats);
    }
    all
}

#[test]
fn nothing_is_lost() {
    let stats = sessions(6, 250, &Material::small());
    assert!(stats.rejected > 100 && stats.searches > 200, "{stats:?}");
}

#[test]
fn commands_at_any_time() {
    let stats = bursts(4, 16);
    assert!(stats.searches > 100, "{stats:?}");
}

/// What is rejected leaves no trace: the search that follows is the same, node
/// by node, as if nothing had been said.
#[test]
fn rejected_lines_change_nothing() {
    let go = |lancet: &mut Lancet| {
        let lines = lancet.go("go depth 8").0;
        // Times differ.
        let plain = |line: &String| line.split(" nps ").next().map(str::to_owned);
        lines.iter().filter_map(plain).collect::<Vec<_>>()
    };
    let mut fresh = Lancet::start();
    fresh.send("position startpos moves e2e4");
    let expected = go(&mut fresh);
    fresh.quit();
    let mut session = Session::new(1, &Material::small());
    session.lancet().send("position startpos moves e2e4");
    for _ in 0..200 {
        session.reject();
    }
    session.settle();
    assert!(session.stats.rejected > 150, "{:?}", session.stats);
    assert_eq!(go(session.lancet()), expected);
    session.end(true);
}

#[test]
#[ignore = "minutes: 100,000 lines"]
fn nothing_is_lost_in_100_000_lines() {
    let stats = sessions(50, 2000, &Material::large());
    println!("{stats:?}");
    assert!(stats.lines >= 100_000 || seeds(50).len() == 1);
    assert!(stats.ready < Duration::from_secs(1), "{stats:?}");
}

#[test]
#[ignore = "minutes: 1,000 interleavings"]
fn commands_at_any_time_1_000_times() {
    let stats = bursts(25, 40);
    println!("{stats:?}");
    assert!(stats.searches > 3000 || seeds(25).len() == 1);
}
