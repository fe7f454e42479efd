//! Too little memory, too many threads, full disks, signals and long games. The program must print
//! a clear message, leave no incomplete file, and go on or end normally.
//!
//! The long versions: `cargo test --release --test suite resources:: -- --ignored --nocapture
//! --test-threads 1`
#![cfg(unix)] // needs ulimit and signals

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
    chess::{game, long_game, nodes, search},
    program::{is_ignored, signal},
    session::{Session, lines::Material},
    shell::{complaint, names, shell, with_short_files},
};
use lancet::{
    chess::position::{Game, START_FEN},
    engine::{Engine, STACK_SIZE, Settings},
    search::MAX_PLY,
};

/// Two short games, which end in mate.
const GAMES: &str = "1. f3 e5 2. g4 Qh4# 0-1\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n";

/// If the system refuses to start a thread, counting continues with the threads that have started.
#[cfg(target_os = "linux")]
#[test]
fn perft_on_fewer_threads() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("start.epd"), format!("{START_FEN} ;D5 4865609\n")).unwrap();
    for (args, count) in [("5", "4865609"), ("--suite start.epd", "4,865,609 nodes")] {
        // With more arenas, glibc could reserve most of the address space for the thread that waits
        // for Ctrl-C, and no other thread could start.
        let limits = "ulimit -v 100000; export MALLOC_ARENA_MAX=1";
        let script = format!("{limits}; exec \"$0\" perft {args} --threads 1000");
        let output = shell(&script, dir.path());
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(count), "{output:?}");
        // Only the first refusal is reported, and no further threads are started.
        assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "{output:?}");
    }
}

/// macOS does not enforce memory limits.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory() {
    let mut lancet = Lancet::limited("ulimit -v 3000000");
    let start = Game::default();
    for (option, answer) in [
        // More memory than the machine has, and more than the limit allows.
        (
            "Hash value 1048576",
            "info string not enough memory for a hash table of 1048576 MiB; using an empty table \
             of 16 MiB",
        ),
        (
            "Hash value 2900",
            "info string not enough memory for a hash table of 2900 MiB; using an empty table \
             of 16 MiB",
        ),
        ("Threads value 1024", "info string not enough memory for 1024 search threads"),
    ] {
        lancet.send(&format!("setoption name {option}"));
        assert_eq!(drain(&mut lancet), [answer]);
        lancet.send("position startpos");
        check(&start, &lancet.go("go depth 5").0);
    }
    // There is enough memory for the threads, but not for all their stacks.
    lancet.send("setoption name Threads value 300");
    assert_eq!(drain(&mut lancet), [""; 0]);
    let (lines, _) = lancet.go("go depth 4");
    check(&start, &lines);
    assert!(lines.iter().any(|line| line.starts_with("info string cannot start search thread ")));
    lancet.send("setoption name Threads value 2");
    let (lines, _) = lancet.go("go depth 5");
    check(&start, &lines);
    assert!(lines.iter().all(|line| !line.contains("cannot")), "{lines:?}");
    lancet.quit();
}

/// Tablebases need many open files.
#[cfg(target_os = "linux")]
#[test]
fn the_limit_on_open_files_is_raised() {
    for (limits, soft) in [("ulimit -S -n 100", 4096), ("ulimit -n 200", 200)] {
        let mut lancet = Lancet::limited(limits);
        lancet.drain();
        let text = fs::read_to_string(format!("/proc/{}/limits", lancet.id())).unwrap();
        let limit = text.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
        assert_eq!(limit.split_whitespace().next(), Some(soft.to_string().as_str()), "{limit}");
        lancet.quit();
    }
}

/// There is enough memory to read the book, but not for its entries too.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_for_a_book() {
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("zeros.bin");
    fs::File::create(&book).unwrap().set_len(400 << 20).unwrap();
    let mut lancet = Lancet::limited("ulimit -v 900000");
    lancet.send(&format!("setoption name BookFile value {}", book.display()));
    let lines = drain(&mut lancet);
    assert!(lines.len() == 1 && lines[0].ends_with("out of memory"), "{lines:?}");
    lancet.go("go depth 3");
    lancet.quit();
}

/// Returns the answers up to `readyok`, without those that only a busy machine gives.
fn drain(lancet: &mut Lancet) -> Vec<String> {
    let mut lines = lancet.drain();
    lines.retain(|line| !line.contains("initialising a hash table"));
    lines
}

/// If the tables of several jobs do not fit into memory together, the program refuses to start.
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

/// Returns the number of page faults of a process so far.
#[cfg(target_os = "linux")]
fn faults(lancet: &Lancet) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", lancet.id())).unwrap();
    // The fields after the name, which may contain any characters. The state is the third field,
    // and minor faults are the tenth.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(7).unwrap().parse().unwrap()
}

/// Returns the number of page faults during `lines`, up to the answer to `isready`.
#[cfg(target_os = "linux")]
fn faults_of(lancet: &mut Lancet, lines: &[&str]) -> u64 {
    let before = faults(lancet);
    lines.iter().for_each(|line| lancet.send(line));
    assert_eq!(drain(lancet), [""; 0]);
    faults(lancet) - before
}

/// Makes the tests with large tables run one after the other. In parallel they would need several
/// GiB. Smaller tables are not suitable: with huge pages they cause fewer faults than the
/// histories.
fn one_large_table() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    // A test that has failed no longer holds a table.
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The memory of the table is initialised before `readyok`, in every game. A search with a large
/// table then causes hardly more page faults than one with a small table.
#[test]
#[cfg(target_os = "linux")]
fn a_table_is_there_when_ready() {
    let _alone = one_large_table();
    let mut lancet = Lancet::start();
    // The first game has additional faults that do not depend on the table.
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

/// Settings take effect together: memory is allocated only once, whatever comes before `isready`.
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
    // Allow for the histories (`ucinewgame` causes some 600 faults) and for pages on which two
    // threads fault at once.
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

/// If a search is stopped while the table is being initialised, the initialisation is stopped, too.
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
    // Sent together, so that `stop` arrives while the table is being initialised.
    lancet.send_bytes(format!("{size}\ngo infinite\nstop\n").as_bytes());
    lancet.until("bestmove ");
    let touched = faults(&lancet) - before;
    assert!(touched < whole / 2, "{touched} faults of {whole}");
    lancet.quit();
}

/// The program ends without delay even while a large table is being initialised.
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

/// Runs many more threads than cores. Every command is still answered.
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

/// The stack suffices for searches of [`MAX_PLY`] plies: on an eighth of it, a search reaches more
/// than an eighth of these plies.
#[test]
fn the_stack_is_deep_enough() {
    // Positions with only kings and pawns. In the first one, both sides can only wait. The second
    // one leads to long sequences of forced checks.
    let games =
        ["8/8/1p1k4/p1p1p1p1/P1P1P1P1/1P1K4/8/8 w - - 0 1", "8/8/8/8/8/4k3/4p3/4K3 b - - 0 1"]
            .map(|fen| game(fen, &[]));
    let deepest = thread::Builder::new()
        .stack_size(STACK_SIZE / 8)
        .spawn(move || {
            let mut engine = Engine::new(Settings { hash: 16, ..Settings::default() }).unwrap();
            // The depth must not depend on the network.
            engine.set_network(None);
            let depths =
                games.map(|game| search(&mut engine, &game, nodes(3_000_000)).info.seldepth);
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

/// Games of a thousand moves, with and without captures and pawn moves.
#[test]
fn games_of_a_thousand_moves() {
    let mut lancet = Lancet::start();
    for every in [usize::MAX, 300] {
        let words = long_game(2000, every);
        let game = game(START_FEN, &words);
        lancet.send(&format!("position startpos moves {}", words.join(" ")));
        assert_eq!(lancet.drain(), [""; 0]);
        check(&game, &lancet.go("go depth 6").0);
    }
    lancet.quit();
}

/// The program does not wait for devices and pipes given as files.
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
    // If the task is still queued, `readyok` may come before its end. So wait for its message.
    let lines = lancet.ask("setoption name Save Hash", "info string ");
    assert!(lines[0].contains("Save Hash: ") && lines[0].contains("device or pipe"), "{lines:?}");
    lancet.quit();
}

/// If the log cannot be written, because the disk is full or the file would be too long, the
/// program reports this once, and the game goes on.
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
        let expected = usize::from(!fault.is_empty());
        let mut searches = 0;
        // The log is written by its own thread, which a busy machine may delay.
        while searches < 3 || (complaints.len() < expected && searches < 1000) {
            lancet.send("position startpos");
            let (lines, _) = lancet.go("go depth 10");
            check(&Game::default(), &lines);
            complaints.extend(lines.into_iter().filter(|line| line.contains(" cannot log to ")));
            searches += 1;
        }
        assert_eq!(complaints.len(), expected, "{complaints:?}");
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
    // The program does not read a file to its end if it is not a network.
    let long = dir.path().join("long");
    let mut lancet = Lancet::start();
    lancet.send(&format!("setoption name EvalFile value {}", long.display()));
    lancet.send(&format!("setoption name BookFile value {}", long.display()));
    let answer = lancet.drain();
    assert_eq!(answer.len(), 2);
    assert!(answer.iter().all(|line| line.contains("too long")), "{answer:?}");
    lancet.quit();
}

/// The program ends if it can no longer write its output.
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
    assert!(lancet.drain()[0].starts_with("info string Save Hash: saved 1 MiB"));
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
    let text = complaint(&with_short_files(4, analyse, dir.path()));
    assert!(text.contains("out.pgn: File too large"), "{text}");
    assert_eq!(names(dir.path()), ["in.pgn", "out.pgn", "out.pgn.progress"]);
    let part = fs::read_to_string(dir.path().join("out.pgn")).unwrap();
    assert!(part.ends_with("\n\n") && !part.is_empty(), "{part}");
    // With enough space, `--resume` continues from the same place.
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
        let command = format!("$0 epd a.epd --nodes 50 --force {option} {file}");
        let text = complaint(&with_short_files(1, &command, dir.path()));
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

/// Signals end the program even during an infinite search.
#[test]
fn signals() {
    for (name, number) in [("-INT", 2), ("-TERM", 15)] {
        for line in ["isready", "go infinite", "go ponder wtime 1000", "perft 12"] {
            let mut lancet = Lancet::start();
            lancet.send(line);
            // `readyok` also comes during a search or a count. After it, the task has begun.
            lancet.drain();
            if !is_ignored(lancet.id(), number) {
                signal(lancet.id(), name);
                assert_eq!(lancet.rest().1.signal(), i32::try_from(number).ok(), "{name}: {line}");
            }
        }
    }
}

/// Returns the memory in use, in KiB.
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
    // The memory of the threads is released, too.
    lancet.send("setoption name Threads value 16");
    lancet.go("go nodes 100000");
    let many = resident(&lancet);
    lancet.send("setoption name Threads value 1");
    lancet.drain();
    let one = resident(&lancet);
    assert!(one < many - (8 << 10), "{many} KiB, then {one} KiB");
    lancet.quit();
}

/// Memory use does not grow over searches of all kinds. From the second tenth on, `growth` KiB are
/// allowed for new cases; in the second half, at most 2 MiB.
#[cfg(target_os = "linux")]
fn soak(searches: usize, growth: i64) {
    let mut session = Session::new(1, &Material::small());
    let mut measured = Vec::new();
    while session.stats().searches < searches {
        let next = searches * (measured.len() + 1) / 10;
        while session.stats().searches < next {
            session.step();
        }
        // The state is the same at every measurement.
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
    // The first half may still allocate memory for new cases. A leak would go on.
    let (first, middle, last) = (measured[1], measured[4], measured[9]);
    assert!(last - first < growth && last - middle < 2 << 10, "{measured:?} KiB");
    session.end(true);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat() {
    soak(300, 4 << 10);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "minutes: 10,000 searches"]
fn memory_stays_flat_over_10_000_searches() {
    soak(10_000, 8 << 10);
}

/// Measures the longest waits for `readyok` during a search and for the move after `stop`.
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
