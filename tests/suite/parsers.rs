//! Whatever the bytes: the readers of `common/targets.rs` are fed with noise, and
//! with good input that was spoilt.
//!
//! Longer, with a seed of its own each time: `FUZZ_SECONDS=1800 cargo test
//! --release --test suite parsers::fuzz -- --ignored --nocapture --test-threads 1`. With
//! coverage for a guide: `tests/fuzz/README.md`.

use crate::common::{data, targets};
use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::Path,
    time::{Duration, Instant},
};

use lancet::{
    chess::{
        position::{PackedMove, Position},
        score::{Bounds, NO_SCORE},
    },
    eval::nnue::{Network, network::Parameters},
    search::tt::{Entry, Table},
    train::format::{GameResult, Record},
};
use proptest::{
    prelude::*,
    sample::Index,
    test_runner::{Config, TestCaseError, TestRunner},
};
use rand::{Rng as _, SeedableRng as _, seq::IndexedRandom as _};
use rand_chacha::ChaCha8Rng;
use shakmaty::CastlingMode;

/// What a match runner said to one of two engines, from its log.
fn said_to(engine: &str) -> Vec<u8> {
    let said = format!(" {engine} <--- ");
    include_str!("../data/match.log")
        .lines()
        .filter_map(|line| Some(format!("{}\n", line.split_once(&said)?.1)))
        .collect::<String>()
        .into_bytes()
}

fn first_columns(table: &str) -> impl Iterator<Item = &str> {
    table.lines().skip(1).filter_map(|line| line.split('\t').next())
}

/// Good input for a target, and what is nearly good; small.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let text = |text: &str| text.as_bytes().to_vec();
    match target {
        "uci" => vec![
            text(
                "uci\nisready\nucinewgame\nposition startpos moves e2e4 e7e5\ngo wtime 50 btime 50\n",
            ),
            text(
                "setoption name MultiPV value 3\ngo depth 3 searchmoves e2e4 d2d4\nstop\nisready\n",
            ),
            text(
                "position fen 8/8/8/8/8/4k3/8/4K2R w K - 0 1 moves e1g1\ngo infinite\nponderhit\nstop\nd\neval\n",
            ),
            text(
                "setoption name UCI_Chess960 value true\nsetoption name Threads value 2\ngo ponder nodes 100 mate 2\n",
            ),
            text(
                "debug on\nflip\nfen\nperft 2\nregister later\nhelp go\ngo movetime 2 movestogo 5\nquit\n",
            ),
            said_to("One"),
            said_to("The other"),
        ],
        "fen" => include_str!("../../perft/special.epd")
            .lines()
            .chain(include_str!("../../perft/chess960.epd").lines().take(50))
            .filter_map(|line| line.split(';').next())
            .chain(include_str!("../data/valid_fens.txt").lines().step_by(5))
            .chain(first_columns(include_str!("../data/invalid_fens.tsv")).step_by(5))
            .chain(first_columns(include_str!("../data/destruction_fens.tsv")))
            .map(|line| text(line.trim()))
            .collect(),
        "epd" => include_str!("../../epd/wac.epd")
            .lines()
            .take(40)
            .chain(include_str!("../../epd/sts.epd").lines().take(20))
            .map(text)
            .collect(),
        "pgn" => vec![
            include_bytes!("../../src/tools/analyse/sample/games.pgn").to_vec(),
            text(
                "[Event \"a\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 9\"]\n\n9... Kd7 {x ; y} (9... Ke7 $4 (9... Kf8)) 10. e4!? 1/2-1/2\n",
            ),
            text("% x\n1. e4 e5 2. Nf3 Nc6 ; rest\n3. Bb5 a6 *\n\n1. d4 0-1\n"),
        ],
        "viriformat" => vec![game(0), game(12), [game(3), game(7)].concat()],
        "network" => {
            let of = |king_buckets: usize| {
                let parameters = Parameters {
                    weights: vec![0; king_buckets * 768 * 32],
                    biases: vec![0; 32],
                    output_weights: vec![1; 64],
                    output_biases: vec![0],
                    output_unit: 64,
                };
                let mut bytes = Network::new(&parameters, "how it was made").unwrap().to_bytes();
                bytes.truncate(200);
                bytes
            };
            vec![of(1), of(4)]
        }
        "hash" => {
            let table = Table::new(1).unwrap();
            for key in 0..64_u64 {
                let entry = Entry {
                    best: PackedMove::NONE,
                    bounds: Bounds::new(1, 5),
                    depth: 3,
                    evaluation: NO_SCORE,
                    pv: true,
                };
                // Into the first buckets.
                table.store(key << 40, entry);
            }
            let mut bytes = Vec::new();
            table.write(&mut bytes, 0).unwrap();
            bytes.truncate(2000);
            vec![bytes]
        }
        "book" => {
            let moves = [
                (0x463b_9618_1691_fc9c_u64, 0x031c_u16, 5_u16),
                (0x463b_9618_1691_fc9c, 0x02db, 0),
                (0x823c_9b50_fd11_4196, 0x0ce4, 1),
            ];
            let entry = |&(key, code, weight): &(u64, u16, u16)| {
                [&key.to_be_bytes()[..], &code.to_be_bytes(), &weight.to_be_bytes(), &[0; 4]]
                    .concat()
            };
            vec![moves.iter().flat_map(entry).collect()]
        }
        other => panic!("no seeds for '{other}'"),
    }
}

/// The bytes of a game of this many moves.
fn game(length: usize) -> Vec<u8> {
    let start = Position::default();
    let mut position = start.clone();
    let mut moves = Vec::new();
    for ply in 0..length {
        let legal = position.legal_moves();
        let m = legal[7 * ply % legal.len()];
        moves.push((m, 10 * ply as i16 - 30));
        position = position.play(m);
    }
    Record { start, result: GameResult::Draw, moves }.encode()
}

/// What breaks parsers.
const SPLINTERS: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b" ",
    b"\"",
    b";",
    b"{",
    b"}",
    b"(",
    b")",
    b"-1",
    b"0",
    b"99999999999999999999",
    b"4294967296",
    b"/",
    b"k",
    b"K",
    b"8",
    b"go ",
    b"e7e8q",
    b"0000",
    b"\x7f\xff\xff\xff",
    b"\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xf0\x9f\xa6\x84",
    b"bm ",
    b"$",
    b"[Event \"x\"]\n",
    b" w - - 0 1",
    b"%",
    b"\x01",
];

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
        let (mut runs, start) = (0_u64, Instant::now());
        while start.elapsed() < Duration::from_secs(seconds) {
            let seed: u64 = rand::random();
            let bytes = spoilt(name, seed);
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

/// A seed with random edits, or two of them joined.
fn spoilt(name: &str, seed: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let seeds = seeds(name);
    let mut bytes = seeds.choose(&mut rng).cloned().unwrap_or_default();
    if rng.random_ratio(1, 5) {
        let other = seeds.choose(&mut rng).cloned().unwrap_or_default();
        let (a, b) = (rng.random_range(0..=bytes.len()), rng.random_range(0..=other.len()));
        bytes.truncate(a);
        bytes.extend_from_slice(&other[b..]);
    }
    for _ in 0..rng.random_range(1..20) {
        let at = rng.random_range(0..=bytes.len());
        let end = bytes.len().min(at + rng.random_range(1..20));
        match rng.random_range(0..6) {
            0 | 1 => bytes
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte ^= rng.random_range(1..=255)),
            2 | 3 => {
                drop(bytes.splice(at..at, SPLINTERS.choose(&mut rng).unwrap().iter().copied()))
            }
            4 => drop(bytes.drain(at..end)),
            _ => {
                let part = bytes[at..end].repeat(rng.random_range(1..100));
                drop(bytes.splice(at..at, part));
            }
        }
    }
    bytes
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
