//! Feeds random bytes and mutations of valid input to the readers of `targets.rs`.

use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::Path,
    time::{Duration, Instant},
};

use proptest::{
    prelude::*,
    sample::Index,
    test_runner::{Config, TestCaseError, TestRunner},
};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::mutate::{SPLINTERS, mutate};

/// A mutation of valid input.
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

/// Bytes that are displayed as text.
#[derive(Clone)]
struct Input(Vec<u8>);

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// Feeds random bytes and mutations of valid input to a reader, `cases` times.
pub fn feed(name: &str, target: fn(&[u8]) -> bool, seeds: Vec<Vec<u8>>, cases: u32) {
    assert!(seeds.iter().filter(|seed| target(seed)).count() > 0, "no seed is valid for {name}");
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

/// Feeds mutations of valid input to a reader for `FUZZ_SECONDS` seconds, or 10 by default.
pub fn fuzz(name: &str, target: fn(&[u8]) -> bool, seeds: &[Vec<u8>]) {
    let seconds =
        std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    if std::env::var("FUZZ_TARGET").is_ok_and(|only| only != name) {
        return;
    }
    let (mut runs, start) = (0_u64, Instant::now());
    while start.elapsed() < Duration::from_secs(seconds) {
        let seed: u64 = rand::random();
        let bytes = mutate(seeds, &mut ChaCha8Rng::seed_from_u64(seed));
        if panic::catch_unwind(|| target(&bytes)).is_err() {
            let path = std::env::temp_dir().join(format!("lancet-{name}-{seed}"));
            fs::write(&path, &bytes).unwrap();
            panic!("{name} panics: its input is in {}", path.display());
        }
        runs += 1;
    }
    println!("{name}: {runs} runs in {:.1} s", start.elapsed().as_secs_f64());
}

/// Writes valid input for a reader as the fuzzer's corpus.
pub fn write_corpus(name: &str, seeds: &[Vec<u8>]) {
    let directory = Path::new(crate::ROOT).join("tests/fuzz/corpus").join(name);
    fs::create_dir_all(&directory).unwrap();
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(directory.join(format!("seed-{number}")), seed).unwrap();
    }
}
