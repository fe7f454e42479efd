//! Too little memory, too many threads, full disks, signals, long games: a
//! clear message, no torn file, and the program goes on or ends well.
//!
//! The long versions:
//! `cargo test --release --test suite resources:: -- --ignored --nocapture --test-threads 1`
#![cfg(unix)] // limits and signals are the shell's

use std::{
    fs,
    os::unix::process::ExitStatusExt as _,
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::common::{
    Lancet,
    checker::check,
    chess::game,
    program::signal,
    session::{Session, lines::Material},
    shell::{complaint, names, on_a_full_disk, shell},
};
use lancet::{
    chess::{
        notation::read_move,
        position::{Game, START_FEN},
    },
    engine::{Engine, Job, STACK_SIZE, Settings},
    play::{limits::Limits, report::Silent},
    search::MAX_PLY,
};

/// Two short games, and one that cannot be read.
const GAMES: &str = "1. f3 e5 2. g4 Qh4# 0-1\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n";

/// A system that refuses threads leaves the count to those that there are.
#[cfg(target_os = "linux")]
#[test]
fn perft_on_fewer_threads() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("start.epd"), format!("{START_FEN} ;D5 4865609\n")).unwrap();
    for (args, count) in [("5", "4865609"), ("--suite start.epd", "4,865,609 nodes")] {
        let script = format!("ulimit -v 100000; exec \"$0\" perft {args} --threads 1000");
        let output = shell(&script, dir.path());
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(count), "{output:?}");
        // The first refusal is told, and no more threads are asked for.
        assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "{output:?}");
    }
}

/// Where limits of memory are enforced: macOS does not.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory() {
    let mut lancet = Lancet::limited("ulimit -v 3000000");
    let start = Game::default();
    for (option, answer) in [
        // More than there is, and more than the limit leaves.
        (
            "Hash value 1048576",
            "info string not enough memory for a hash table of 1048576 MiB: it has 16 MiB, empty",
        ),
        (
            "Hash value 2900",
            "info string not enough memory for a hash table of 2900 MiB: it has 16 MiB, empty",
        ),
        ("Threads value 1024", "info string not enough memory for 1024 search threads"),
    ] {
        lancet.send(&format!("setoption name {option}"));
        assert_eq!(lancet.drain(), [answer]);
        lancet.send("position startpos");
        check(&start, &lancet.go("go depth 5").0);
    }
    // Memory for the threads, but not for all their stacks.
    lancet.send("setoption name Threads value 300");
    assert_eq!(lancet.drain(), [""; 0]);
    let (lines, _) = lancet.go("go depth 4");
    check(&start, &lines);
    assert!(lines.iter().any(|line| line.starts_with("info string cannot start search thread ")));
    lancet.send("setoption name Threads value 2");
    let (lines, _) = lancet.go("go depth 5");
    check(&start, &lines);
    assert!(lines.iter().all(|line| !line.contains("cannot")), "{lines:?}");
    lancet.quit();
}

/// Tables that fit one by one, but not all at once, are refused before the work.
#[test]
fn too_little_memory_for_all_jobs() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.pgn"), GAMES).unwrap();
    fs::write(dir.path().join("a.epd"), "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8;\n").unwrap();
    for arguments in ["study startpos --file a.study", "analyse a.pgn --out b.pgn", "epd a.epd"] {
        let command = format!("$0 {arguments} --nodes 100 --jobs 1024 --hash 1024");
        let text = complaint(&shell(&command, dir.path()));
        let expected = "--jobs 1024 --hash 1024: not enough memory for 1024 engines";
        assert!(text.contains(expected), "{arguments}: {text}");
    }
}

/// Page faults of a process so far: how often it touched memory that was not there.
#[cfg(target_os = "linux")]
fn faults(lancet: &Lancet) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", lancet.id())).unwrap();
    // Behind the name, which may hold anything: state is the third field, minor
    // faults are the tenth.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(7).unwrap().parse().unwrap()
}

/// Page faults while `lines` are carried out, up to the answer of `isready`.
#[cfg(target_os = "linux")]
fn faults_of(lancet: &mut Lancet, lines: &[&str]) -> u64 {
    let before = faults(lancet);
    lines.iter().for_each(|line| lancet.send(line));
    let answer = lancet.drain();
    assert!(answer.iter().all(|line| line.contains("ready")), "{answer:?}");
    faults(lancet) - before
}

/// To be held by tests with large tables: side by side they would need several GiB. Smaller
/// ones would not do: in huge pages their faults are fewer than those of the histories.
fn one_large_table() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    // A test that failed has no table any more.
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All memory of a table is there when `readyok` is sent, in every game: a search
/// touches none for the first time, however large the table.
#[test]
#[cfg(target_os = "linux")]
fn a_table_is_there_when_ready() {
    let _alone = one_large_table();
    let mut lancet = Lancet::start();
    // What the first game does once, whatever the table.
    lancet.go("go nodes 100000");
    lancet.send("ucinewgame");
    lancet.go("go nodes 100000");
    let mut in_search = |mib: usize| {
        faults_of(&mut lancet, &[&format!("setoption name Hash value {mib}")]);
        let mut most = 0;
        for _ in 0..3 {
            let clear = faults_of(&mut lancet, &["ucinewgame"]);
            assert!(clear < 100, "{clear} faults while {mib} MiB are cleared in place");
            let before = faults(&lancet);
            check(&Game::default(), &lancet.go("go nodes 100000").0);
            most = most.max(faults(&lancet) - before);
        }
        most
    };
    let small = in_search(16);
    for mib in [512, 2048] {
        let large = in_search(mib);
        assert!(large <= small + 100, "{large} faults at {mib} MiB, {small} at 16 MiB");
    }
    lancet.quit();
}

/// Settings are collected: whatever comes before `isready`, memory is taken once.
#[test]
#[cfg(target_os = "linux")]
fn a_table_is_touched_once() {
    let _alone = one_large_table();
    let of = |lines: &[&str]| {
        let mut lancet = Lancet::start();
        lancet.drain();
        let count = faults_of(&mut lancet, lines);
        lancet.quit();
        count
    };
    let once = of(&["setoption name Hash value 2048"]);
    // Histories are touched, too, some 600 pages of them by `ucinewgame`, and two threads may fault at the same page.
    let most = once + once / 10 + 800;
    for lines in [
        &["setoption name Hash value 2048", "setoption name Threads value 2"][..],
        &["setoption name Hash value 1024", "setoption name Hash value 2048", "ucinewgame"],
        &["ucinewgame", "setoption name Hash value 2048", "setoption name Clear Hash"],
    ] {
        let count = of(lines);
        assert!(count < most, "{lines:?}: {count} faults, {once} for the table alone");
    }
}

/// The memory of a table whose search is stopped before it is there is not touched to the
/// end.
#[test]
#[cfg(target_os = "linux")]
fn a_stopped_search_takes_no_table() {
    let _alone = one_large_table();
    let size = "setoption name Hash value 2048";
    let mut lancet = Lancet::start();
    lancet.drain();
    let whole = faults_of(&mut lancet, &[size]);
    lancet.quit();
    let mut lancet = Lancet::start();
    lancet.drain();
    let before = faults(&lancet);
    // At once: it may not begin to search before `stop` is there.
    lancet.send_bytes(format!("{size}\ngo infinite\nstop\n").as_bytes());
    lancet.until("bestmove ");
    let touched = faults(&lancet) - before;
    assert!(touched < whole / 2, "{touched} faults of {whole}");
    lancet.quit();
}

/// A program whose large table may not be there yet ends as any other.
#[test]
fn large_tables_do_not_keep_a_program() {
    let _alone = one_large_table();
    for lines in ["isready\nquit\n", "go infinite\nstop\nquit\n", "go movetime 1\nquit\n"] {
        let mut lancet = Lancet::start();
        lancet.send("setoption name Hash value 4096");
        lancet.send_bytes(lines.as_bytes());
        let (lines, status) = lancet.rest();
        assert!(status.success(), "{status}: {lines:?}");
    }
}

/// Many more threads than cores: still every question is answered.
fn many_threads(count: usize) {
    let mut lancet = Lancet::start();
    lancet.send(&format!("setoption name Threads value {count}"));
    assert_eq!(lancet.drain(), [""; 0]);
    check(&Game::default(), &lancet.go("go movetime 100").0);
    lancet.send("go infinite");
    let mut lines = lancet.drain();
    lines.extend(lancet.go("stop").0);
    check(&Game::default(), &lines);
    lancet.quit();
}

#[test]
fn more_threads_than_cores() {
    many_threads(64);
}

#[test]
#[ignore = "needs 6 GB"]
fn a_thousand_threads() {
    many_threads(1024);
}

/// A search that goes deep on an eighth of the stack: there is enough for one
/// that goes eight times as deep, which is deeper than any.
#[test]
fn the_stack_is_deep_enough() {
    // Kings and pawns that can only wait, and long forced checks.
    let games =
        ["8/8/1p1k4/p1p1p1p1/P1P1P1P1/1P1K4/8/8 w - - 0 1", "8/8/8/8/8/4k3/4p3/4K3 b - - 0 1"]
            .map(|fen| game(fen, &[]));
    let deepest = thread::Builder::new()
        .stack_size(STACK_SIZE / 8)
        .spawn(move || {
            let mut engine = Engine::new(Settings { hash: 16, ..Settings::default() }).unwrap();
            let limits = Limits { nodes: Some(3_000_000), ..Limits::default() };
            let depths =
                games.map(|game| engine.go(&Job::new(game, limits.clone()), &Silent).info.seldepth);
            depths.into_iter().max().unwrap()
        })
        .unwrap()
        .join()
        .unwrap();
    assert!(deepest as usize * 8 > MAX_PLY, "only {deepest} plies");
}

#[test]
fn two_hundred_and_eighteen_lines() {
    let fen = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";
    let mut lancet = Lancet::start();
    lancet.send("setoption name MultiPV value 256");
    lancet.send(&format!("position fen {fen}"));
    let (lines, _) = lancet.go("go depth 2");
    check(&game(fen, &[]), &lines);
    let last =
        lines.iter().filter(|line| line.starts_with("info depth 2 ") && line.contains(" multipv "));
    assert_eq!(last.count(), 218);
    lancet.send("go infinite");
    check(&game(fen, &[]), &lancet.go("stop").0);
    lancet.quit();
}

/// A thousand moves without a capture or a pawn move, and a thousand with some.
#[test]
fn games_of_a_thousand_moves() {
    let mut lancet = Lancet::start();
    let shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"];
    let pawns = ["a2a3 a7a6", "a3a4 a6a5", "b2b3 b7b6", "b3b4 b6b5", "c2c3 c7c6", "c3c4 c6c5"];
    for every in [usize::MAX, 300] {
        let mut words: Vec<&str> = Vec::new();
        let mut pushes = pawns.iter().flat_map(|pair| pair.split(' '));
        while words.len() < 2000 {
            words.extend(shuffle);
            if words.len() % every < 4 {
                words.extend(pushes.by_ref().take(2));
            }
        }
        let mut game = Game::default();
        for word in &words {
            game.play(read_move(game.position(), word).unwrap());
        }
        lancet.send(&format!("position startpos moves {}", words.join(" ")));
        assert_eq!(lancet.drain(), [""; 0]);
        check(&game, &lancet.go("go depth 6").0);
    }
    lancet.quit();
}

/// Devices and pipes where files should be: nobody waits for them.
#[test]
fn pipes_and_devices() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut lancet = Lancet::start();
    for path in [pipe.to_str().unwrap(), "/dev/zero"] {
        for (lines, answer) in [
            (format!("setoption name EvalFile value {path}"), "EvalFile: cannot read"),
            (format!("setoption name BookFile value {path}"), "BookFile: "),
            (
                format!("setoption name Hash File value {path}\nsetoption name Load Hash"),
                "Load Hash: ",
            ),
            (format!("genfens 1 seed 1 book {path}"), "genfens: "),
        ] {
            lancet.send(&lines);
            let lines = lancet.until("info string ");
            assert!(lines[0].contains(answer) && lines[0].contains("device or pipe"), "{lines:?}");
        }
    }
    lancet.send(&format!("setoption name Debug Log File value {}", pipe.display()));
    assert!(lancet.drain()[0].contains("cannot log to "));
    lancet.send(&format!("setoption name Hash File value {}", pipe.display()));
    // `readyok` would not wait for the last task's end, if that is still to come.
    let lines = lancet.ask("setoption name Save Hash", "info string ");
    assert!(lines[0].contains("Save Hash: ") && lines[0].contains("device or pipe"), "{lines:?}");
    lancet.quit();
}

/// A log that cannot be written, since the disk is full or the file may not be longer, is
/// told of once, and the game goes on.
#[test]
fn a_full_disk_under_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log");
    let full = cfg!(target_os = "linux").then_some(("/dev/full", "No space left"));
    for (log, fault) in
        [("/dev/null", ""), (file.to_str().unwrap(), "too large")].into_iter().chain(full)
    {
        let mut lancet = Lancet::limited("ulimit -f 2");
        lancet.send(&format!("setoption name Debug Log File value {log}"));
        let mut complaints = Vec::new();
        for _ in 0..3 {
            lancet.send("position startpos");
            let (lines, _) = lancet.go("go depth 10");
            check(&Game::default(), &lines);
            complaints.extend(lines.into_iter().filter(|line| line.contains(" cannot log to ")));
        }
        assert_eq!(complaints.len(), usize::from(!fault.is_empty()), "{complaints:?}");
        let named = |line: &String| line.contains(log) && line.contains(fault);
        assert!(complaints.iter().all(named), "{complaints:?}");
        lancet.quit();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn inputs_without_end() {
    let dir = tempfile::tempdir().unwrap();
    crate::common::shell::refuse_inputs_without_end(
        dir.path(),
        &["epd INPUT --depth 1", "perft --suite INPUT", "study startpos --file INPUT --nodes 1"],
    );
    // A network that is not one is not looked through either.
    let long = dir.path().join("long");
    let mut lancet = Lancet::start();
    lancet.send(&format!("setoption name EvalFile value {}", long.display()));
    lancet.send(&format!("setoption name BookFile value {}", long.display()));
    let answer = lancet.drain();
    assert_eq!(answer.len(), 2);
    assert!(answer.iter().all(|line| line.contains("too long")), "{answer:?}");
    lancet.quit();
}

/// An output that cannot take any more ends the program: nobody reads it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_output() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.epd"), "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\n").unwrap();
    let work = ["isready quit", "bench 1", "perft 2", "epd a.epd --nodes 100", "generate pages"];
    let help = ["--help", "-h", "--version", "help", "help epd", "epd --help"];
    for arguments in work.iter().chain(&help) {
        let output = shell(&format!("$0 {arguments} > /dev/full"), dir.path());
        let complaint = complaint(&output);
        assert!(complaint.contains("standard output: No space left"), "{arguments}: {complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
}

#[test]
fn a_full_disk_under_the_hash_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lancet.hash");
    let mut lancet = Lancet::limited("ulimit -f 3000");
    lancet.send("setoption name Hash value 1");
    lancet.send(&format!("setoption name Hash File value {}", path.display()));
    lancet.send("setoption name Save Hash");
    assert!(lancet.drain()[0].starts_with("info string Save Hash: 1 MiB"));
    let old = fs::read(&path).unwrap();
    lancet.send("setoption name Hash value 2");
    lancet.go("go depth 5");
    lancet.send("setoption name Save Hash");
    let lines = lancet.drain();
    assert!(
        lines[0].starts_with("info string Save Hash: ") && lines[0].contains("too large"),
        "{lines:?}"
    );
    assert_eq!(fs::read(&path).unwrap(), old);
    assert_eq!(names(dir.path()), ["lancet.hash"]);
    lancet.go("go depth 5");
    lancet.quit();
}

#[test]
fn a_full_disk_under_annotated_games() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("in.pgn"), GAMES.repeat(6)).unwrap();
    let analyse = "$0 analyse in.pgn --out out.pgn --nodes 200";
    let text = complaint(&on_a_full_disk(4, analyse, dir.path()));
    assert!(text.contains("out.pgn: File too large"), "{text}");
    assert_eq!(names(dir.path()), ["in.pgn", "out.pgn", "out.pgn.progress"]);
    let part = fs::read_to_string(dir.path().join("out.pgn")).unwrap();
    assert!(part.ends_with("\n\n") && !part.is_empty(), "{part}");
    // With room again it goes on where it was.
    let output = shell(&format!("{analyse} --resume"), dir.path());
    assert!(output.status.success(), "{output:?}");
    let whole = fs::read_to_string(dir.path().join("out.pgn")).unwrap();
    assert!(whole.starts_with(&part));
    assert_eq!(whole.matches("[Annotator ").count(), 12);
    assert_eq!(names(dir.path()), ["in.pgn", "out.pgn"]);
}

#[test]
fn a_full_disk_under_results() {
    let dir = tempfile::tempdir().unwrap();
    let suite = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\n".repeat(20);
    fs::write(dir.path().join("a.epd"), suite).unwrap();
    fs::write(dir.path().join("old.json"), "old").unwrap();
    for (option, file) in [("--json", "old.json"), ("--csv", "old.csv")] {
        let command = format!("$0 epd a.epd --nodes 50 {option} {file}");
        let text = complaint(&on_a_full_disk(1, &command, dir.path()));
        assert!(text.contains(&format!("cannot write {file}: File too large")), "{text}");
    }
    assert_eq!(names(dir.path()), ["a.epd", "old.json"]);
    assert_eq!(fs::read(dir.path().join("old.json")).unwrap(), b"old");
    let output = shell("$0 epd a.epd --nodes 50 --json /dev/stdout | cat > out", dir.path());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(fs::read_to_string(dir.path().join("out")).unwrap().contains("\"positions\""));
    if cfg!(target_os = "linux") {
        let text = complaint(&shell("$0 epd a.epd --nodes 50 --csv /dev/full", dir.path()));
        assert!(text.contains("cannot write /dev/full: No space left"), "{text}");
    }
}

/// Is this signal ignored, as programs in the background inherit it from a shell?
#[cfg(target_os = "linux")]
fn is_ignored(lancet: &Lancet, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", lancet.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
    u64::from_str_radix(mask, 16).unwrap() >> (signal - 1) & 1 == 1
}

#[cfg(not(target_os = "linux"))]
fn is_ignored(_: &Lancet, _: u32) -> bool {
    false
}

/// Signals end the program, whatever it does: also a search that never ends.
#[test]
fn signals() {
    for (name, number) in [("-INT", 2), ("-TERM", 15)] {
        for line in ["isready", "go infinite", "go ponder wtime 1000", "perft 12"] {
            let mut lancet = Lancet::start();
            lancet.send(line);
            // Answered beside a search or a count, too: it has begun.
            lancet.drain();
            if !is_ignored(&lancet, number) {
                signal(lancet.id(), name);
                assert_eq!(lancet.rest().1.signal(), i32::try_from(number).ok(), "{name}: {line}");
            }
        }
    }
}

/// Memory in use, in KiB.
#[cfg(target_os = "linux")]
fn resident(lancet: &Lancet) -> i64 {
    let status = fs::read_to_string(format!("/proc/{}/status", lancet.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_smaller_table_gives_memory_back() {
    let mut lancet = Lancet::start();
    lancet.send("setoption name Hash value 64");
    lancet.go("go nodes 200000");
    let large = resident(&lancet);
    assert!(large > 64 << 10, "{large} KiB");
    lancet.send("setoption name Hash value 1");
    lancet.drain();
    let small = resident(&lancet);
    assert!(small < large - (60 << 10), "{large} KiB, then {small} KiB");
    // Threads give back what they had, too.
    lancet.send("setoption name Threads value 16");
    lancet.go("go nodes 100000");
    let many = resident(&lancet);
    lancet.send("setoption name Threads value 1");
    lancet.drain();
    let one = resident(&lancet);
    assert!(one < many - (8 << 10), "{many} KiB, then {one} KiB");
    lancet.quit();
}

/// Searches of all kinds; what they take does not grow.
#[cfg(target_os = "linux")]
fn soak(searches: usize) {
    let mut session = Session::new(1, &Material::small());
    let mut measured = Vec::new();
    while session.stats().searches < searches {
        let next = searches * (measured.len() + 1) / 10;
        while session.stats().searches < next {
            session.step();
        }
        // The same state at every measurement.
        session.settle();
        let lancet = session.lancet();
        for line in [
            "Threads value 1",
            "Threads value 8",
            "Hash value 1",
            "MultiPV value 1",
            "Root Search value Aspiration",
        ] {
            lancet.send(&format!("setoption name {line}"));
        }
        lancet.send("ucinewgame");
        lancet.send("position startpos");
        lancet.go("go nodes 50000");
        lancet.send("setoption name Threads value 1");
        lancet.drain();
        measured.push(resident(lancet));
        session.forget();
    }
    println!("{:?}\n{measured:?} KiB", session.stats());
    // The first tenth may still find new corners.
    let (first, last) = (measured[1], measured[9]);
    assert!(last - first < 4 << 10, "{measured:?} KiB");
    session.end(true);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat() {
    soak(300);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "minutes: 10,000 searches"]
fn memory_stays_flat_over_10_000_searches() {
    soak(10_000);
}

/// Longest waits: for readyok while a search runs, for the move after stop.
#[test]
#[ignore = "a measurement"]
fn latencies() {
    for threads in [1, 2, 8] {
        let mut lancet = Lancet::start();
        lancet.send(&format!("setoption name Threads value {threads}"));
        let (mut ready, mut stop) = (Duration::ZERO, Duration::ZERO);
        for wait in 0..300 {
            lancet.send("go infinite");
            thread::sleep(Duration::from_millis(wait % 20));
            let start = Instant::now();
            lancet.drain();
            ready = ready.max(start.elapsed());
            let start = Instant::now();
            lancet.go("stop");
            stop = stop.max(start.elapsed());
        }
        println!("{threads} threads: readyok within {ready:?}, a move after stop within {stop:?}");
        lancet.quit();
    }
}
