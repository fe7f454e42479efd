//! Random dialogues with the built binary (see `common/session`). They check that every command is
//! answered correctly. A failure prints its seed; `LANCET_SEED=<seed>` repeats the commands, but
//! not their timing.
//!
//! The long versions, with all positions of the test data: `cargo test --release --test suite
//! session:: -- --ignored --nocapture --test-threads 1`
//!
//! With ThreadSanitizer, which must not report anything: `CARGO_PROFILE_RELEASE_PANIC=unwind
//! RUSTFLAGS=-Zsanitizer=thread cargo +nightly test -Zbuild-std --target x86_64-unknown-linux-gnu
//! --release --test suite session:: -- --include-ignored`
//!
//! To check the logs of fastchess matches (`-log file=a.log level=trace engine=true`):
//! `LANCET_LOGS="a.log b.log" cargo test --release --test suite session::logged -- --ignored
//! --nocapture`

use std::{fs::File, io::BufReader};

use crate::common::{
    Lancet, log,
    session::{
        Session, Stats,
        lines::Material,
        model::{Held, Model},
    },
};

/// Returns the seed in `LANCET_SEED`, or `count` seeds if it is not set.
fn seeds(count: u64) -> Vec<u64> {
    std::env::var("LANCET_SEED").map_or_else(
        |_| (1..=count).collect(),
        |seed| vec![seed.parse().expect("LANCET_SEED is a number")],
    )
}

/// Runs `count` sessions of `steps` steps each, each with its own seed.
fn sessions(count: u64, steps: usize, material: &Material) -> Stats {
    let mut all = Stats::default();
    for seed in seeds(count) {
        let mut session = Session::new(seed, material);
        for _ in 0..steps {
            session.step();
        }
        session.settle();
        session.end(seed % 2 == 0);
        all.merge(session.stats());
    }
    all
}

/// Runs bursts of commands on 1 to 8 threads.
fn bursts(count: u64, each: usize) -> Stats {
    let mut all = Stats::default();
    for seed in seeds(count) {
        let mut session = Session::new(seed, &Material::small());
        for number in 0..each {
            session.burst(1 + number % 8);
        }
        session.end(true);
        all.merge(session.stats());
    }
    all
}

#[test]
fn nothing_is_lost() {
    let stats = sessions(6, 200, &Material::small());
    let enough = stats.rejected > 100 && stats.searches > 200;
    assert!(enough || seeds(6).len() == 1, "{stats:?}");
}

#[test]
fn commands_at_any_time() {
    let stats = bursts(4, 16);
    assert!(stats.searches > 100 || seeds(4).len() == 1, "{stats:?}");
}

/// The model of a dialogue detects wrong answers.
#[test]
fn the_model_notices() {
    const THOUGHT: &str = "info depth 1 seldepth 1 multipv 1 score cp 30 nodes 20 nps 15000 \
                           hashfull 0 tbhits 0 time 1 pv e2e4";
    const MOVE: &str = "bestmove e2e4";
    let go = |model: &mut Model, held| model.go("go".to_owned(), held);
    let told = |said: &dyn Fn(&mut Model), heard: &[&str]| {
        let mut model = Model::default();
        said(&mut model);
        heard.iter().try_for_each(|line| model.hear(line)).map(|()| model)
    };
    let nothing = |_: &mut Model| {};
    let search = |model: &mut Model| go(model, Held::Free);
    let ponder = |model: &mut Model| go(model, Held::UntilHit);
    let infinite = |model: &mut Model| {
        go(model, Held::UntilStop);
        model.ponder_hit();
    };
    let wrong = |model: &mut Model| model.expect("this");
    type Said<'a> = &'a dyn Fn(&mut Model);
    let cases: [(Said, &[&str], &str); 10] = [
        (&nothing, &["readyok"], "readyok without isready"),
        (&Model::ask_ready, &["readyok", "readyok"], "readyok without isready"),
        (&nothing, &[MOVE], "'bestmove e2e4' without a search"),
        (&search, &[THOUGHT, MOVE, MOVE], "'bestmove e2e4' without a search"),
        (&search, &[THOUGHT, "bestmove e2e5"], "illegal move 'e2e5'"),
        (
            &ponder,
            &[THOUGHT, MOVE],
            "a move before the required stop or ponderhit, the answer to 'go',",
        ),
        (
            &infinite,
            &[THOUGHT, MOVE],
            "a move before the required stop or ponderhit, the answer to 'go',",
        ),
        (&nothing, &["info string no"], "'no' (expected: '')"),
        (&wrong, &["info string that"], "'that' (expected: 'this')"),
        (&wrong, &["info string this", "info string this"], "'this' (expected: '')"),
    ];
    for (said, heard, fault) in cases {
        let error = told(said, heard).err().unwrap_or_else(|| panic!("{heard:?}: {fault}"));
        assert!(error.contains(fault), "{error}");
    }

    let said = |model: &mut Model| {
        ponder(model);
        infinite(model);
        model.ask_ready();
        model.expect("this");
        model.expect("longer: this");
        ponder(model);
        model.ponder_hit();
    };
    let mut heard = vec!["info string longer: this one", "readyok", "Black to move"];
    heard.extend([THOUGHT, MOVE].repeat(3));
    let model = told(&said, &heard).unwrap();
    assert_eq!((model.searches(), model.answered), (0, 3));
    assert_eq!((model.unready(), model.rejected), (0, 1));
    assert_eq!(model.expected(), ["this"]);
}

/// Rejected lines have no effect: the search that follows is the same, node by node.
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
    assert!(session.stats().rejected > 150, "{:?}", session.stats());
    session.lancet().send("position startpos moves e2e4");
    assert_eq!(go(session.lancet()), expected);
    session.end(true);
}

#[test]
#[ignore = "minutes: 100,000 lines"]
fn nothing_is_lost_in_100_000_lines() {
    let stats = sessions(50, 2000, &Material::large());
    println!("{stats:?}");
    assert!(stats.lines >= 100_000 || seeds(50).len() == 1);
}

#[test]
#[ignore = "minutes: 1,000 interleavings"]
fn commands_at_any_time_1_000_times() {
    let stats = bursts(26, 40);
    println!("{stats:?}");
    assert!(stats.searches > 3000 || seeds(26).len() == 1);
}

/// Every false statement put into a log is found, and true ones are not reported.
#[test]
fn falsehoods_in_a_log_are_found() {
    let true_log = include_str!("../data/match.log");
    let findings = log::read(true_log.as_bytes()).unwrap();
    assert_eq!((findings.games, findings.searches, findings.lines), (2, 4, 27));
    assert!(findings.shown.is_empty() && findings.remarks.is_empty(), "{findings:?}");
    for (from, to, fault) in [
        (
            "info depth 2 seldepth 4 multipv 1",
            "info depth 0 seldepth 4 multipv 1",
            "depth 0 seldepth 4 does not fit",
        ),
        (
            "depth 2 seldepth 1 multipv 1",
            "depth 4 seldepth 1 multipv 1",
            "unexpected after line 1 of depth 4",
        ),
        ("nodes 9 nps 2166", "nodes 5 nps 1200", "the number of nodes falls from 6 to 5"),
        (
            "nodes 12 nps 2871 hashfull 0 tbhits 0 time 4",
            "nodes 12 nps 9000 hashfull 0 tbhits 0 time 1",
            "the time falls from 4 to 1",
        ),
        ("nodes 15 nps 3579", "nodes 15 nps 5000", "nps 5000, expected 3000 to 3750"),
        ("hashfull 0", "hashfull 1001", "hashfull 1001"),
        ("cp 1066", "cp 1050", "better than line 1"),
        ("cp 1090 nodes", "nodes", "the score is missing or out of place"),
        ("score mate 2 nodes 307", "score mate 3 nodes 307", "expected mate after 5"),
        ("score mate 2 nodes 307", "score cp 999 nodes 307", "a line to mate without a mate score"),
        ("score mate 2 nodes 307", "score cp 999 upperbound nodes 307", "the line ends better"),
        ("score mate -1 nodes 9", "score cp -999 lowerbound nodes 9", "the line ends worse"),
        ("pv e1d2", "pv e1d3", "illegal move 'e1d3'"),
        ("pv e1h1", "pv e1g1", "'e1g1' should be 'e1h1'"),
        ("pv e1d2", "pv g2g8", "the same move as line 1"),
        ("pv g2g8 e8d7", "pv g2g8 e8d7 g8d8 d7d8 e1e8", "illegal move 'e1e8'"),
        ("bestmove g2g7 ponder e8d8", "bestmove f1f4", "the last line began with"),
        ("bestmove g2g7 ponder e8d8", "bestmove g2g7 ponder e8e7", "illegal move 'e8e7'"),
        ("bestmove h1f1", "bestmove (none)", "there are legal moves"),
        ("bestmove g2g7 ponder e8d8", "readyok", "no bestmove before another go"),
        ("bestmove f1f8", "readyok", "no bestmove"),
        ("<--- go depth 5", "<--- isready", "without a search"),
        ("moves g2g7 e8d8", "moves g2g7 e8e7", "illegal move 'e8e7'"),
        ("normally with status 0", "with status 101", "Process exited with status 101"),
    ] {
        assert!(true_log.contains(from), "{from}");
        let findings = log::read(true_log.replacen(from, to, 1).as_bytes()).unwrap();
        let shown = findings.shown.first().unwrap_or_else(|| panic!("{to}: nothing found"));
        assert!(shown.contains(fault), "{to}: {:?}", findings.shown);
    }
    let warning = "[WARN  ] [22:51:18.5] <  1> fastchess --- A disconnects\n";
    let findings = log::read(format!("{true_log}{warning}").as_bytes()).unwrap();
    assert_eq!(
        findings.remarks.into_iter().collect::<Vec<_>>(),
        [("[WARN  ] A disconnects".to_owned(), 1)]
    );
}

#[test]
#[ignore = "needs LANCET_LOGS"]
fn logged_matches_are_true() {
    let Ok(logs) = std::env::var("LANCET_LOGS") else {
        return println!("skipped: LANCET_LOGS names no logs");
    };
    for path in logs.split(' ') {
        let log = File::open(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let findings = log::read(BufReader::new(log)).unwrap();
        let log::Findings { games, searches, lines, faults, shown, remarks } = findings;
        println!("{path}: {games} games, {searches} searches, {lines} lines, {faults} faults");
        remarks.iter().for_each(|(text, count)| println!("{count} times: {text}"));
        assert!(searches > 0, "{path}: nothing from Lancet (level=trace engine=true?)");
        assert_eq!(faults, 0, "{path}:\n{}", shown.join("\n"));
    }
}
