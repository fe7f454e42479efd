//! Valid input for the readers of `targets.rs`, and its mutation.

use std::{fs, iter};

use lancet::{
    chess::{
        notation::read_moves,
        pgn::read::Games,
        position::{PackedMove, Position},
        score::{Bounds, MATE, NO_SCORE},
    },
    eval::nnue::{Network, network::Parameters},
    search::tt::{Entry, Table},
    tools::study::{
        file::{Played, Study},
        tree::RestSearch,
    },
};
use rand::{Rng as _, seq::IndexedRandom as _};
use rand_chacha::ChaCha8Rng;

use super::chess::{book, book_entry};

/// Returns the commands that a match runner sent to one of two engines, from its log.
fn said_to(engine: &str) -> Vec<u8> {
    let said = format!(" {engine} <--- ");
    include_str!("../../data/match.log")
        .lines()
        .filter_map(|line| Some(format!("{}\n", line.split_once(&said)?.1)))
        .collect::<String>()
        .into_bytes()
}

fn first_columns(table: &str) -> impl Iterator<Item = &str> {
    table.lines().skip(1).filter_map(|line| line.split('\t').next())
}

/// Returns small valid and almost valid inputs for a target.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
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
                "debug on\nmirror\nfen\nperft 2\nregister later\nhelp go\ngo movetime 2 movestogo 5\nquit\n",
            ),
            said_to("One"),
            said_to("The other"),
        ],
        "fen" => include_str!("../../../perft/special.epd")
            .lines()
            .chain(include_str!("../../../perft/chess960.epd").lines().take(50))
            .filter_map(|line| line.split(';').next())
            .chain(include_str!("../../data/valid_fens.txt").lines().step_by(5))
            .chain(first_columns(include_str!("../../data/invalid_fens.tsv")).step_by(5))
            .chain(first_columns(include_str!("../../data/destruction_fens.tsv")))
            .map(|line| text(line.trim()))
            .collect(),
        "epd" => {
            let wac: Vec<&str> = include_str!("../../../epd/wac.epd").lines().take(40).collect();
            let sts = include_str!("../../../epd/sts.epd").lines().take(20);
            let suite = wac[..5].join("\n");
            wac.into_iter().chain(sts).chain([&*suite]).map(text).collect()
        }
        "pgn" => vec![
            include_bytes!("../../../src/tools/analyse/sample/games.pgn").to_vec(),
            text(
                "[Event \"a\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 9\"]\n\n9... Kd7 {x ; y} (9... Ke7 $4 (9... Kf8)) 10. e4!? 1/2-1/2\n",
            ),
            text("% x\n1. e4 e5 2. Nf3 Nc6 ; rest\n3. Bb5 a6 *\n\n1. d4 0-1\n"),
        ],
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
                // The keys select the first 64 buckets.
                table.store(key << 49, entry);
            }
            let mut bytes = Vec::new();
            table.write(&mut bytes, 0).unwrap();
            bytes.truncate(2000);
            vec![bytes]
        }
        "book" => {
            let illegal = book_entry(0x823c_9b50_fd11_4196, "d7e5", 1);
            vec![[book(&[("e2e4", 5), ("d2d4", 0)]), illegal.to_vec()].concat()]
        }
        "study" => vec![study()],
        other => panic!("no seeds for '{other}'"),
    }
}

/// Returns the bytes of a study of a short game, with a search of each position.
fn study() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.study");
    let start = Position::default();
    let mut study = Study::open_or_begin(&path, &start).unwrap();
    let tags = [("White", "A"), ("Result", "*")];
    let tags = tags.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let moves = read_moves(&start, "1. e4 e5 2. Nf3").unwrap();
    let text = "1. e4 $1 { b } (1. d4 d5 { c }) 1... e5 2. Nf3";
    let annotated = Games::new(text.as_bytes()).next_game().unwrap().unwrap().unwrap().main;
    study.play(&Played { tags, moves, annotated }).unwrap();
    for (at, score) in study.game_nodes().into_iter().zip([31, -25, 40, MATE - 3]) {
        let m = study.tree().node(at).position.legal_moves()[0];
        let found = RestSearch { score, depth: 9, nodes: 1000, line: vec![m], exact: false };
        study.found(at, found).unwrap();
        study.add(at, m, None).unwrap();
    }
    drop(study);
    fs::read(path).unwrap()
}

/// Bytes that often break parsers.
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

/// Numbers at the limits of the expected ranges, and beyond.
const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "255",
    "65536",
    "32001",
    "-32001",
    "2147483647",
    "-2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999",
    "1e999",
];

/// Number of bytes that `mutate_whole` inserts to make a line very long.
const LONG_LINE: usize = 100_000;

/// Mutates one of the seeds. One mutant in five ends with the tail of another seed, and one in ten
/// is changed as a whole. All get 1, 2, 4, 8 or 16 small edits, with equal probability, so that
/// many mutants stay valid.
pub fn mutate(seeds: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = seeds.choose(rng).cloned().unwrap_or_default();
    if rng.random_ratio(1, 5) {
        let other = seeds.choose(rng).cloned().unwrap_or_default();
        let (a, b) = (rng.random_range(0..=bytes.len()), rng.random_range(0..=other.len()));
        bytes.truncate(a);
        bytes.extend_from_slice(&other[b..]);
    }
    if rng.random_ratio(1, 10) {
        mutate_whole(&mut bytes, rng);
    }
    let edits = 1_u32 << rng.random_range(0..5_u32);
    for _ in 0..edits {
        mutate_part(&mut bytes, rng);
    }
    bytes
}

/// Truncates or doubles the input, changes all line ends, or inserts 100,000 copies of one byte.
fn mutate_whole(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let at = rng.random_range(0..=bytes.len());
    match rng.random_range(0..5) {
        0 => bytes.truncate(at),
        1 => bytes.extend_from_within(..),
        2 => *bytes = with_line_ends(bytes, b"\r\n"),
        3 => *bytes = with_line_ends(bytes, b"\r"),
        _ => {
            let byte = *b" .0x({[;\"$-\0\xff\n".choose(rng).unwrap();
            drop(bytes.splice(at..at, iter::repeat_n(byte, LONG_LINE)));
        }
    }
}

fn with_line_ends(bytes: &[u8], end: &[u8]) -> Vec<u8> {
    bytes.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(end)
}

/// Flips bits, inserts, removes or repeats a few bytes, or replaces a number.
fn mutate_part(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let at = rng.random_range(0..=bytes.len());
    let end = bytes.len().min(at + rng.random_range(1..20));
    match rng.random_range(0..8) {
        0 | 1 => {
            let bits = rng.random_range(1..=255_u8);
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits);
        }
        2 | 3 => {
            let splinter = SPLINTERS.choose(rng).unwrap();
            drop(bytes.splice(at..at, splinter.iter().copied()));
        }
        4 => drop(bytes.drain(at..end)),
        5 => {
            let part = bytes[at..end].repeat(rng.random_range(1..100));
            drop(bytes.splice(at..at, part));
        }
        _ => {
            let digit = bytes[at..].iter().position(u8::is_ascii_digit);
            let Some(begin) = digit.map(|offset| at + offset) else { return };
            let digits = bytes[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = EXTREMES.choose(rng).unwrap();
            drop(bytes.splice(begin..begin + digits, number.bytes()));
        }
    }
}
