//! The lines of a session: valid, partly valid and hostile ones, and the random choice among them.

use std::{fs, ops::Range};

use lancet::chess::position::START_FEN;
use rand::{
    Rng as _, SeedableRng as _, distr::uniform::SampleUniform, seq::IndexedRandom as _,
    seq::SliceRandom as _,
};
use rand_chacha::ChaCha8Rng;

use crate::common::data::data;

/// Positions of all kinds: openings, mates, stalemates, few and many moves, Chess960, and extreme
/// move counters.
pub const FENS: &[&str] = &[
    START_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    "rnbqkbnr/qqqqqqqq/8/8/8/8/QQQQQQQQ/RNBQKBNR w KQkq - 0 1",
    "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "7k/8/8/8/8/8/r7/1rK5 w - - 0 1",
    "8/8/8/2k5/3Pp3/8/8/3K4 b - d3 0 1",
    "8/8/4k3/8/8/4K3/4R3/8 w - - 99 150",
    "8/8/4k3/8/8/4K3/4R3/8 b - - 0 5949",
    "8/8/4k3/8/8/4K3/8/8 w - - 0 1",
    "r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - - 0 18",
    "8/P6k/8/8/8/8/p6K/8 w - - 0 1",
    "2k2r2/8/8/8/8/8/8/1R2K2R w HBf - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
    "4k3/8/4r3/8/8/8/3p4/4K3 w - -",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 9999 9999",
];

/// Invalid positions, with errors in each of the fields.
pub const BAD_FENS: &[&str] = &[
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "k/k/k",
    "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e9 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w XYZ - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 -1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 99999999999 4294967295",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Qq] w KQkq - 0 1",
    "kkkkkkkk/8/8/8/8/8/8/K7 w - - 0 1",
    "k7/8/8/8/8/8/8/KR5r b - - 0 1 w",
    "P6k/8/8/8/8/8/8/K7 w - - 0 1",
    "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/k7/8/8/8/K7 w - - 0 1",
    "blablabl/blablabl/blablabl/blablabl/blablabl/blablabl/blablabl/blablabl w - - 0 1",
    "\u{1f984} w - - 0 1",
];

/// Options that are not rejected: valid values, and one unknown option, which is reported only
/// once.
pub const OPTIONS: &[&str] = &[
    "MultiPV value 1",
    "MultiPV value 2",
    "MultiPV value 5",
    "MultiPV value 256",
    "Hash value 1",
    "Hash value 7",
    "Hash value 32",
    "Threads value 1",
    "Threads value 2",
    "Threads value 3",
    "Threads value 8",
    "Ponder value true",
    "Ponder value false",
    "Move Overhead value 0",
    "Move Overhead value 30",
    "UCI_AnalyseMode value true",
    "UCI_AnalyseMode value false",
    "UCI_ShowWDL value true",
    "UCI_ShowWDL value false",
    "Minimal value true",
    "Minimal value false",
    "Minimal value false",
    "Explain value true",
    "Explain value false",
    "UCI_ShowCurrLine value true",
    "UCI_ShowCurrLine value false",
    "UCI_ShowRefutations value true",
    "UCI_ShowRefutations value false",
    "UCI_LimitStrength value true",
    "UCI_LimitStrength value false",
    "UCI_LimitStrength value false",
    "UCI_Elo value 1500",
    "Skill Level value 3",
    "Skill Level value 20",
    "UCI_Opponent value none none computer Some One",
    "Nothing value 1",
    "Root Search value Full Window",
    "Root Search value bisection",
    "Root Search value MTD(f)",
    "Root Search value Aspiration",
    "EvalFile value psqt",
    "EvalFile value <empty>",
    "EvalFile value",
    "OwnBook value true",
    "nodestime value 0",
    "nodestime value 600",
    "BookFile value <empty>",
    "SyzygyProbeLimit value 0",
    "Syzygy50MoveRule value true",
    "Syzygy50MoveRule value false",
    "Clear Hash",
    "Debug Log File value",
];

/// Options with invalid values, and a part of the expected error.
pub const BAD_OPTIONS: &[(&str, &str)] = &[
    ("Hash value 0", "'Hash' cannot be '0'"),
    ("Hash value -5", "'Hash' cannot be '-5'"),
    ("Hash value 1048577", "'Hash' cannot be '1048577'"),
    ("Hash value 99999999999999999999999", "'Hash' cannot be '99999999999999999999999'"),
    ("Hash value 16 MB", "'Hash' cannot be '16 MB'"),
    ("Hash value 1e3", "'Hash' cannot be '1e3'"),
    ("Hash", "'Hash' needs a value"),
    ("Threads value 0", "'Threads' cannot be '0'"),
    ("Threads value 1025", "'Threads' cannot be '1025'"),
    ("Threads value 2147483648", "'Threads' cannot be '2147483648'"),
    ("Threads value two", "'Threads' cannot be 'two'"),
    ("MultiPV value 0", "'MultiPV' cannot be '0'"),
    ("MultiPV value 257", "'MultiPV' cannot be '257'"),
    ("MultiPV value -1", "'MultiPV' cannot be '-1'"),
    ("Move Overhead value 5001", "'Move Overhead' cannot be '5001'"),
    ("Ponder value maybe", "'Ponder' cannot be 'maybe'"),
    ("Ponder", "'Ponder' needs a value"),
    ("UCI_Chess960 value 960", "'UCI_Chess960' cannot be '960'"),
    ("UCI_Elo value 100000", "'UCI_Elo' cannot be '100000'"),
    ("Skill Level value -9", "'Skill Level' cannot be '-9'"),
    ("Root Search value brute force", "'Root Search' cannot be 'brute force'"),
    ("SyzygyProbeDepth value 0", "'SyzygyProbeDepth' cannot be '0'"),
    ("EvalFile value no/such.nnue", "EvalFile: cannot read 'no/such.nnue'"),
    ("EvalFile value /", "EvalFile: "),
    ("EvalFile value /dev/zero", "EvalFile: "),
    ("EvalFile value Cargo.toml", "EvalFile: cannot read 'Cargo.toml': not a Lancet network"),
    ("BookFile value no/such.bin", "BookFile: no/such.bin: "),
    ("BookFile value /", "BookFile: /: "),
    ("BookFile value /dev/zero", "BookFile: /dev/zero: "),
    ("BookFile value Cargo.toml", "BookFile: Cargo.toml: not a Polyglot book"),
    ("Debug Log File value /no/such/file", "cannot log to '/no/such/file'"),
    ("Debug Log File value /", "cannot log to '/'"),
];

/// Limits that end a search soon.
pub const LIMITS: &[&str] = &[
    "depth 1",
    "depth 4",
    "depth 239 nodes 3000",
    "nodes 1",
    "nodes 700",
    "nodes 18446744073709551615 movetime 3",
    "movetime 0",
    "movetime 5",
    "wtime 30 btime 30",
    "wtime 0 btime 0",
    "wtime 40 btime 50 winc 1 binc 1 movestogo 1",
    "wtime 1 btime 1 winc 4294967296 binc 0 movetime 4",
    "wtime -100 btime -5 movestogo 0",
    "btime 20",
    "winc 5",
    "mate 1 nodes 500",
    "mate 100 depth 3",
];

/// Wrong arguments of `go`, and a part of the expected error.
pub const BAD_LIMITS: &[(&str, &str)] = &[
    ("depth 0", "'0' after 'depth'"),
    ("depth -3", "'-3' after 'depth'"),
    ("depth 240", "'240' after 'depth'"),
    ("depth 99999999999999999999", "'99999999999999999999' after 'depth'"),
    ("depth x", "'x' after 'depth'"),
    ("depth 3.5", "'3.5' after 'depth'"),
    ("nodes 0", "'0' after 'nodes'"),
    ("nodes 18446744073709551616", "'18446744073709551616' after 'nodes'"),
    ("nodes 1e6", "'1e6' after 'nodes'"),
    ("movetime 9999999999999999", "'9999999999999999' after 'movetime'"),
    ("movetime soon", "'soon' after 'movetime'"),
    ("wtime 0x10", "'0x10' after 'wtime'"),
    ("btime 18446744073709551616", "'18446744073709551616' after 'btime'"),
    ("mate 0", "'0' after 'mate'"),
    ("mate 4294967296", "'4294967296' after 'mate'"),
    ("fast", "'fast' after 'go'"),
    ("\u{1f40e}", "'\u{1f40e}' after 'go'"),
    ("17", "'17' after 'go'"),
    ("movetime -5", "'-5' after 'movetime'"),
    ("movestogo -3", "'-3' after 'movestogo'"),
    ("winc -1", "'-1' after 'winc'"),
];

/// Words of commands, which are sent in random order.
const WORDS: &[&str] = &[
    "uci",
    "isready",
    "position",
    "startpos",
    "fen",
    "moves",
    "go",
    "infinite",
    "ponder",
    "name",
    "value",
    "setoption",
    "e2e4",
    "e7e8q",
    "0000",
    "-",
    "w",
    "KQkq",
    "depth",
    "99999999999",
    "on",
    "off",
    "Hash",
    "8/8/8/8/8/8/8/8",
    "\u{feff}",
    "\u{0}",
    "'",
    "\"",
    "%s%n",
    "../..",
    "stop",
];

/// The positions of a session, with those of the test data if they exist.
#[derive(Clone, Debug)]
pub struct Material {
    pub fens: Vec<String>,
}

impl Material {
    /// Returns the positions of this file only, so that sessions are the same everywhere.
    pub fn small() -> Material {
        Material { fens: FENS.iter().chain(BAD_FENS).map(|&fen| fen.to_owned()).collect() }
    }

    /// Also includes thousands of valid and invalid positions of the test data, if they exist.
    pub fn large() -> Material {
        let mut material = Material::small();
        let Some(directory) = data("fen") else { return material };
        for name in [
            "destruction_fens.tsv",
            "invalid_shredder_fens_2000.tsv",
            "valid_shredder_fens_2000.txt",
        ] {
            let text = fs::read_to_string(directory.join(name)).unwrap();
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            let fens = lines.filter_map(|line| line.split('\t').next());
            material.fens.extend(fens.map(str::to_owned));
        }
        material
    }
}

/// A random number generator. The same seed gives the same choices.
pub struct Dice(ChaCha8Rng);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Returns true with a probability of `percent` percent.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    pub fn below<T: SampleUniform + PartialOrd + Default>(&mut self, end: T) -> T {
        self.range(T::default()..end)
    }

    pub fn range<T: SampleUniform + PartialOrd>(&mut self, range: Range<T>) -> T {
        self.0.random_range(range)
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        *list.choose(&mut self.0).expect("there is something to choose from")
    }

    /// Returns `count` elements of a list, in random order.
    pub fn some<T: Copy>(&mut self, list: &[T], count: usize) -> Vec<T> {
        list.choose_multiple(&mut self.0, count).copied().collect()
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        list.shuffle(&mut self.0);
    }

    /// Returns the same line as careless programs might send it: with other case or spacing, or
    /// after an unknown word. Four times in five, returns it unchanged.
    pub fn dress(&mut self, line: &str) -> String {
        if self.chance(80) {
            return line.to_owned();
        }
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let command =
            if self.chance(50) { command.to_ascii_uppercase() } else { command.to_owned() };
        let mut line = format!("{command} {rest}");
        if self.chance(30) {
            line = format!(" \t{line}");
        }
        if self.chance(30) {
            line = line.replacen(' ', "  \t", 2);
        }
        if self.chance(30) {
            line = format!("joho {line}");
        }
        if self.chance(50) {
            line.push_str(" \r");
        }
        line
    }

    /// Returns a FEN with a character changed, added or removed.
    pub fn spoil(&mut self, fen: &str) -> String {
        let mut chars: Vec<char> = fen.chars().collect();
        let at = self.below(chars.len() + 1);
        let new = self.pick(&['K', 'k', '9', '/', '-', ' ', 'w', 'p', '0', '\u{e9}', '1']);
        match self.below(3) {
            0 if at < chars.len() => chars[at] = new,
            1 if at < chars.len() => drop(chars.remove(at)),
            _ => chars.insert(at, new),
        }
        chars.into_iter().collect()
    }

    /// Returns a line that a person or a broken pipe may send: random bytes, one repeated word, or
    /// random words.
    pub fn noise(&mut self) -> Vec<u8> {
        match self.below(4) {
            0 => {
                let length = self.below(200);
                (0..length).map(|_| self.0.random()).filter(|&byte| byte != b'\n').collect()
            }
            1 => {
                let length = if self.chance(5) { 2_000_000 } else { self.range(1..5000) };
                let word = self.pick(WORDS);
                word.repeat(length / word.len() + 1).into_bytes()
            }
            _ => {
                let count = self.below(12);
                let words: Vec<&str> = (0..count).map(|_| self.pick(WORDS)).collect();
                words.join(" ").into_bytes()
            }
        }
    }

    /// Returns limits of a search, and the expected errors for the wrong ones.
    pub fn limits(&mut self) -> (Vec<&'static str>, Vec<&'static str>) {
        let mut parts: Vec<&str> = (0..self.below(3)).map(|_| self.pick(LIMITS)).collect();
        let useless = if self.chance(25) { self.range(1..4) } else { 0 };
        let mut complaints = Vec::new();
        for _ in 0..useless {
            let (part, complaint) = self.pick(BAD_LIMITS);
            parts.push(part);
            complaints.push(complaint);
        }
        self.shuffle(&mut parts);
        (parts, complaints)
    }
}
