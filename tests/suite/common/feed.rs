//! Feeds random bytes and mutations of valid input to the readers of `targets.rs`.

use std::{
    fs, panic,
    path::Path,
    time::{Duration, Instant},
};

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::mutate::mutate;

/// Feeds a mutation of valid input to a reader, or one time in ten random bytes. The reader must
/// not panic.
fn feed_once(name: &str, target: fn(&[u8]) -> bool, seeds: &[Vec<u8>]) {
    let seed: u64 = rand::random();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let bytes = if rng.random_ratio(1, 10) {
        let length = rng.random_range(0..1500);
        (0..length).map(|_| rng.random()).collect()
    } else {
        mutate(seeds, &mut rng)
    };
    if panic::catch_unwind(|| target(&bytes)).is_err() {
        let path = std::env::temp_dir().join(format!("lancet-{name}-{seed}"));
        fs::write(&path, &bytes).unwrap();
        panic!("{name} panics: its input is in {}", path.display());
    }
}

/// Feeds valid input to a reader, and then `cases` mutations of it or random bytes.
pub fn feed(name: &str, target: fn(&[u8]) -> bool, seeds: &[Vec<u8>], cases: u32) {
    assert!(seeds.iter().filter(|seed| target(seed)).count() > 0, "no seed is valid for {name}");
    (0..cases).for_each(|_| feed_once(name, target, seeds));
}

/// Feeds mutations of valid input and random bytes to a reader for `FUZZ_SECONDS` seconds (10 by
/// default). If `FUZZ_TARGET` is set, other readers are skipped.
pub fn fuzz(name: &str, target: fn(&[u8]) -> bool, seeds: &[Vec<u8>]) {
    let seconds =
        std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    if std::env::var("FUZZ_TARGET").is_ok_and(|only| only != name) {
        return;
    }
    let (mut runs, start) = (0_u64, Instant::now());
    while start.elapsed() < Duration::from_secs(seconds) {
        feed_once(name, target, seeds);
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
