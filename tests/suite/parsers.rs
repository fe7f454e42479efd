//! Whatever the bytes: the readers of `common/targets.rs` are fed with noise, and
//! with good input that was spoilt. `hostile_files.rs` has the program read such files.
//!
//! Longer, with a seed of its own each time: `FUZZ_SECONDS=1800 cargo test
//! --release --test suite parsers::fuzz -- --ignored --nocapture --test-threads 1`. With
//! coverage for a guide: `tests/fuzz/README.md`.

use crate::common::{
    data,
    mutate::{SPLINTERS, mutate, seeds},
    targets,
};
use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::Path,
    time::{Duration, Instant},
};

use lancet::chess::position::Position;
use proptest::{
    prelude::*,
    sample::Index,
    test_runner::{Config, TestCaseError, TestRunner},
};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use shakmaty::CastlingMode;

/// One thing to do to good input.
#[derive(Clone, Debug)]
enum Edit {
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Cut(Index),
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let at = |index: &Index| index.index(bytes.len() + 1);
        match self {
            Edit::Flip(index, bits) => {
                let at = at(index);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits);
            }
            Edit::Insert(index, new) => {
                drop(bytes.splice(at(index)..at(index), new.iter().copied()))
            }
            Edit::Remove(index, count) => {
                let at = at(index);
                bytes.drain(at..bytes.len().min(at + count));
            }
            Edit::Repeat(index, count, times) => {
                let at = at(index);
                let part = bytes[at..bytes.len().min(at + count)].repeat(*times);
                bytes.splice(at..at, part);
            }
            Edit::Cut(index) => bytes.truncate(at(index)),
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let splinter = prop::sample::select(SPLINTERS).prop_map(<[u8]>::to_vec);
    prop_oneof![
        4 => (any::<Index>(), 1..=255_u8).prop_map(|(at, bits)| Edit::Flip(at, bits)),
        4 => (any::<Index>(), splinter).prop_map(|(at, new)| Edit::Insert(at, new)),
        2 => (any::<Index>(), 1..20_usize).prop_map(|(at, count)| Edit::Remove(at, count)),
        1 => (any::<Index>(), 1..20_usize, 1..200_usize)
            .prop_map(|(at, count, times)| Edit::Repeat(at, count, times)),
        1 => any::<Index>().prop_map(Edit::Cut),
    ]
}

/// Bytes that are shown as text.
#[derive(Clone)]
struct Input(Vec<u8>);

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

fn feed(name: &str, cases: u32) {
    let (_, target) = targets::ALL.into_iter().find(|&(n, _)| n == name).unwrap();
    let seeds = seeds(name);
    assert!(seeds.iter().filter(|seed| target(seed)).count() > 0, "{name} reads nothing");
    let noise = prop::collection::vec(any::<u8>(), 0..1500).prop_map(Input);
    let edits = prop::collection::vec(edit(), 0..8);
    let spoilt = (prop::sample::select(seeds), edits).prop_map(|(mut bytes, edits)| {
        edits.iter().for_each(|edit| edit.apply(&mut bytes));
        Input(bytes)
    });
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let fed = TestRunner::new(config).run(&prop_oneof![1 => noise, 9 => spoilt], |input| {
        panic::catch_unwind(AssertUnwindSafe(|| target(&input.0)))
            .map(drop)
            .map_err(|_| TestCaseError::fail("it panics"))
    });
    if let Err(error) = fed {
        panic!("{name}: {error}");
    }
}

#[test]
fn uci() {
    feed("uci", 100);
}

#[test]
fn fen() {
    feed("fen", 3000);
}

#[test]
fn epd() {
    feed("epd", 3000);
}

#[test]
fn pgn() {
    feed("pgn", 1000);
}

#[test]
fn viriformat() {
    feed("viriformat", 3000);
}

#[test]
fn network() {
    feed("network", 500);
}

#[test]
fn hash() {
    feed("hash", 100);
}

#[test]
fn book() {
    feed("book", 3000);
}

#[test]
fn study() {
    feed("study", 100);
}

/// The positions beside the checkout: thousands of good and bad ones.
#[test]
fn collected_positions() {
    let Some(directory) = data::data("fen") else { return };
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    let [good, bad, both] =
        ["valid_shredder_fens_2000.txt", "invalid_shredder_fens_2000.tsv", "destruction_fens.tsv"]
            .map(read);
    // A position, and what is wrong with it.
    let lines = |text: &str| -> Vec<(String, String)> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let split = |line: &str| {
            let (fen, rest) = line.split_once('\t').unwrap_or((line, ""));
            (fen.to_owned(), rest.to_owned())
        };
        lines.map(split).collect()
    };
    let [good, bad, both] = [good, bad, both].map(|text| lines(&text));
    assert!([&good, &bad, &both].iter().all(|lines| lines.len() > 20));
    for (fen, _) in good.iter().chain(&bad).chain(&both) {
        targets::fen(fen.as_bytes());
        targets::epd(fen.as_bytes());
        targets::uci(format!("position fen {fen}\ngo depth 1\nisready\n").as_bytes());
    }
    let is_read = |fen: &str| Position::from_fen(fen, CastlingMode::Chess960).is_ok();
    assert!(good.iter().all(|(fen, _)| is_read(fen)));
    // What programs write carelessly is forgiven.
    let forgiven =
        ["INVALID_EP_SQUARE", "BAD_CASTLING_RIGHTS", "TOO_MANY_CHECKERS", "IMPOSSIBLE_CHECK"];
    for (fen, reasons) in &bad {
        let harmless = reasons.split(',').all(|reason| forgiven.contains(&reason));
        // An en passant square can also hide another fault.
        assert!(harmless || !is_read(fen), "{fen}: {reasons}");
    }
}

/// Spoils good input for as long as `FUZZ_SECONDS` says, for each reader.
#[test]
#[ignore = "a fuzzer: as long as FUZZ_SECONDS says"]
fn fuzz() {
    let seconds =
        std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let only = std::env::var("FUZZ_TARGET").ok();
    for (name, target) in targets::ALL {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let seeds = seeds(name);
        let (mut runs, start) = (0_u64, Instant::now());
        while start.elapsed() < Duration::from_secs(seconds) {
            let seed: u64 = rand::random();
            let bytes = mutate(&seeds, &mut ChaCha8Rng::seed_from_u64(seed));
            if panic::catch_unwind(|| target(&bytes)).is_err() {
                let path = std::env::temp_dir().join(format!("lancet-{name}-{seed}"));
                fs::write(&path, &bytes).unwrap();
                panic!("{name} panics: its input is in {}", path.display());
            }
            runs += 1;
        }
        println!("{name}: {runs} runs in {:.1} s", start.elapsed().as_secs_f64());
    }
}

/// Writes the good input where the fuzzer looks for it.
#[test]
#[ignore = "writes tests/fuzz/corpus"]
fn write_corpus() {
    for (name, _) in targets::ALL {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(name);
        fs::create_dir_all(&directory).unwrap();
        for (number, seed) in seeds(name).iter().enumerate() {
            fs::write(directory.join(format!("seed-{number}")), seed).unwrap();
        }
    }
}
