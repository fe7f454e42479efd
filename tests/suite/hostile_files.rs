//! Mutated files of all kinds. First the library reads them in this process. Then the program reads
//! them, as for a user, from a temporary directory.
//!
//! The program must end by itself and without a panic, within fixed limits of memory and processor
//! time. Every error must name the file. The valid parts of a file must be used: the test counts
//! them with the library and compares. Test builds check for integer overflow. The program runs
//! without root's privileges, even if root runs the tests. The tests of `src/train` read files of
//! training games.
//!
//! The long version, with as many files as a release must pass, takes minutes: `cargo test
//! --workspace --test suite hostile_files -- --ignored --nocapture`. With `FUZZ_TARGET=pgn` in the
//! environment it reads only files of one kind. A file that fails is kept; its number is the seed
//! of its mutation.
#![cfg(unix)] // needs ulimit and users

use std::{env, fs, iter, path::Path};

use crate::common::{
    checker::check,
    chess::{nodes, search},
    desk::{self, Check, Desk, complaints},
    mutate::{mutate, seeds},
    program::Directory,
    targets,
};
use lancet::{
    chess::{
        epd::parse,
        lines,
        notation::read_move,
        pgn::read::Games,
        position::{Game, Position},
    },
    engine::{Engine, Settings, threads},
    eval::{default_network, nnue::Network},
    play::book::Book,
    search::tt::Table,
    tools::{analyse::annotate::replay, study::file::Study},
};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

/// The kinds of files: the names of their [targets], the number of files for a release, and the
/// check.
const KINDS: [(&str, u64, Check); 6] = [
    ("pgn", 3000, pgn),
    ("epd", 3000, epd),
    ("network", 3000, network),
    ("book", 1500, book),
    ("hash", 300, hash),
    ("study", 1000, study),
];

/// Returns for each game of a text whether it is valid.
fn games(bytes: &[u8]) -> Vec<bool> {
    let mut games = Games::new(bytes);
    iter::from_fn(|| games.next_game().unwrap())
        .map(|game| game.and_then(|game| replay(&game)).is_ok())
        .collect()
}

/// Every game is annotated or reported, and annotated games can be read again.
fn pgn(desk: &Desk, path: &str, bytes: &[u8]) -> bool {
    let out = desk.path("out.pgn");
    let run = desk.run(&["analyse", path, "--out", &out, "--nodes", "1", "--hash", "1"]);
    let games_read = games(bytes);
    let usable = games_read.iter().filter(|&&usable| usable).count();
    let broken = games_read.len() - usable;
    let (status, expected) = match (games_read.len(), broken) {
        (0, _) => (1, 1),
        (_, 0) => (0, 0),
        (_, broken) => (2, broken),
    };
    // Warnings about parts of valid games that were left out also count.
    let complaints = complaints(&run, path);
    let possible = expected..=expected + usable;
    assert!(run.status.code() == Some(status) && possible.contains(&complaints), "{possible:?}");
    assert_eq!(games(&fs::read(out).unwrap_or_default()), vec![true; usable]);
    usable > 0
}

/// Every line is searched or reported, and the written files can be read again.
fn epd(desk: &Desk, path: &str, bytes: &[u8]) -> bool {
    let [failed, json] = ["failed.epd", "all.json"].map(|name| desk.path(name));
    let outputs = ["--save-failed", &failed, "--json", &json];
    let run = desk.run(&[&["epd", path, "--nodes", "1", "--hash", "1"], &outputs[..]].concat());
    let lines_read = lines::split(bytes).unwrap_or_default();
    let broken = lines_read.iter().filter(|line| parse(line).is_err()).count();
    // A file without lines, and one that begins with a PGN tag, is reported as a whole.
    let is_tag = |line: &lines::Line| line.text.starts_with('[') && line.text.ends_with("\"]");
    let is_whole = lines_read.first().is_none_or(is_tag);
    let expected = if is_whole { 1 } else { broken };
    let status = if expected > 0 { 2 } else { 0 };
    assert_eq!((run.status.code(), complaints(&run, path)), (Some(status), expected));
    let failed = lines::split(&fs::read(failed).unwrap()).unwrap();
    assert!(failed.iter().all(|line| parse(line).is_ok()), "{failed:?}");
    let _: Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    !is_whole && lines_read.len() > broken
}

/// The engine refuses a network with a message, or uses it for evaluation.
fn network(desk: &Desk, path: &str, bytes: &[u8]) -> bool {
    let lines = desk.play(&[&format!("setoption name EvalFile value {path}")]);
    let is_network = Network::from_bytes(bytes).is_ok();
    assert_eq!(refuses(&lines, "EvalFile", path), !is_network, "{lines:?}");
    check(&Game::default(), &lines);
    is_network
}

/// The engine refuses a book with a message, or plays one of its moves, if it has one.
fn book(desk: &Desk, path: &str, bytes: &[u8]) -> bool {
    let file = format!("setoption name BookFile value {path}");
    let lines = desk.play(&["setoption name OwnBook value true", &file]);
    let book = Book::from_bytes(bytes);
    assert_eq!(refuses(&lines, "BookFile", path), book.is_err(), "{lines:?}");
    check(&Game::default(), &lines);
    let Ok(book) = book else { return false };
    let (moves, best) = (book.moves(&Position::default()), best_move(&lines));
    assert!(moves.is_empty() || moves.iter().any(|&(m, _)| m == best), "{lines:?}");
    true
}

/// The engine refuses a saved table with a message, or searches with it. A mutated table may hold
/// any scores, so only the best move is checked.
fn hash(desk: &Desk, path: &str, bytes: &[u8]) -> bool {
    let file = format!("setoption name Hash File value {path}");
    let lines = desk.play(&["setoption name Hash value 1", &file, "setoption name Load Hash"]);
    let evaluation = default_network().hash();
    let is_table = Table::read(bytes, bytes.len() as u64, evaluation).is_ok();
    assert_eq!(refuses(&lines, "Load Hash", path), !is_table, "{lines:?}");
    best_move(&lines);
    is_table
}

/// Returns whether the engine has refused the file of an option.
fn refuses(lines: &[String], option: &str, path: &str) -> bool {
    let refusal = format!("info string {option}: ");
    let loaded = format!("from {path}");
    let mut said = lines.iter().filter(|line| line.starts_with(&refusal) && line.contains(path));
    said.any(|line| !line.ends_with(&loaded))
}

/// Returns the best move of the last line, which must be legal.
fn best_move(lines: &[String]) -> shakmaty::Move {
    let last = lines.last().and_then(|line| line.strip_prefix("bestmove "));
    let m = last.and_then(|rest| rest.split(' ').next());
    read_move(&Position::default(), m.unwrap_or_default()).unwrap()
}

/// A study gets more nodes, and its damaged lines are reported. Other files are refused with a
/// message.
fn study(desk: &Desk, path: &str, _: &[u8]) -> bool {
    let run = desk.run(&["study", path, "--nodes", "200", "--step", "100", "--hash", "1"]);
    let file = Path::new(path);
    let grown = Study::open(file).ok().filter(|_| Study::is_one(file));
    let expected = grown.as_ref().map_or((2, 1), |study| (0, study.damaged().len()));
    assert_eq!((run.status.code(), complaints(&run, path)), (Some(expected.0), expected.1));
    grown.is_some()
}

/// Returns the mutant with this number. Half of the mutants have correct checksums.
fn mutant(name: &str, seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    let bytes = mutate(seeds, &mut rng);
    let checked = match name {
        "network" => targets::with_hash(&bytes),
        "hash" => Some(targets::as_table(&bytes, default_network().hash())),
        "study" => Some(targets::with_checksums(&bytes)),
        _ => None,
    };
    checked.filter(|_| rng.random::<bool>()).unwrap_or(bytes)
}

/// Returns the file of a hash table after a search of the start position.
fn searched_table() -> Vec<u8> {
    let directory = Directory::new();
    let path = directory.path("a.hash");
    let mut engine = Engine::new(Settings { hash: 1, ..Settings::default() }).unwrap();
    let searched =
        threads::run("search", || search(&mut engine, &Game::default(), nodes(20_000)).best);
    assert!(searched.unwrap().is_some());
    engine.save_hash(Path::new(&path)).unwrap();
    fs::read(path).unwrap()
}

/// Reads mutants of a kind with the library and with the program. Returns the number of valid ones.
fn read(name: &str, files: u64) -> u64 {
    let (.., check) = KINDS.into_iter().find(|&(kind, ..)| kind == name).unwrap();
    let (_, target) = targets::ALL.into_iter().find(|&(target, _)| target == name).unwrap();
    let seeds = if name == "hash" { vec![searched_table()] } else { seeds(name) };
    desk::read(name, files, |number| mutant(name, &seeds, number), target, check)
}

#[test]
fn pgn_files() {
    read("pgn", 20);
}

#[test]
fn epd_files() {
    read("epd", 20);
}

#[test]
fn network_files() {
    read("network", 20);
}

#[test]
fn book_files() {
    read("book", 20);
}

#[test]
fn hash_files() {
    read("hash", 20);
}

#[test]
fn study_files() {
    read("study", 20);
}

/// Reads as many files as a release must pass.
#[test]
#[ignore = "minutes: 11,800 files"]
fn all_files() {
    let only = env::var("FUZZ_TARGET").ok();
    for (name, files, _) in KINDS {
        if only.as_deref().is_none_or(|only| only == name) {
            let used = read(name, files);
            println!("{name}: {files} files, {used} of them used");
            assert!((1..files).contains(&used), "{used} of {files} files are used");
        }
    }
}
