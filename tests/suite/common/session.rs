//! Random dialogues with the built binary: what is right, half right and
//! hostile, while searches run. The session knows what must be answered: every
//! `go` once, with a legal move and true lines, none before `stop` or
//! `ponderhit` where that is to be waited for; and every thing that was
//! rejected in one `info string`.

use std::{
    collections::VecDeque,
    fs, thread,
    time::{Duration, Instant},
};

use lancet::{
    chess::{
        notation::{move_text, read_move},
        position::{Game, Position, START_FEN},
    },
    uci::{MAX_LINE, command},
};
use rand::{Rng as _, SeedableRng as _, seq::IndexedRandom as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use shakmaty::CastlingMode;
use tempfile::TempDir;

use super::{DEADLINE, Lancet, book, checker::Checker, data::data, tables};

/// Positions of all kinds: openings, mates, stalemates, few and many moves,
/// Chess960, clocks at their ends.
const FENS: &[&str] = &[
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

/// What is no position, from the first field to the last.
const BAD_FENS: &[&str] = &[
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

/// Options with values that they take.
const OPTIONS: &[&str] = &[
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
    "UCI_ShowCurrLine value true",
    "UCI_ShowCurrLine value false",
    "UCI_ShowRefutations value true",
    "UCI_ShowRefutations value false",
    "UCI_LimitStrength value true",
    "UCI_LimitStrength value false",
    "UCI_LimitStrength value false",
    "UCI_Elo value 1500",
    "Root Search value Full Window",
    "Root Search value bisection",
    "Root Search value MTD(f)",
    "Root Search value Aspiration",
    "EvalFile value psqt",
    "EvalFile value <empty>",
    "EvalFile value",
    "OwnBook value true",
    "BookFile value <empty>",
    "SyzygyProbeLimit value 0",
    "Syzygy50MoveRule value true",
    "Syzygy50MoveRule value false",
    "Clear Hash",
    "Debug Log File value",
];

/// Options with values that they do not take, and how the complaint names them.
const BAD_OPTIONS: &[(&str, &str)] = &[
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
    ("Root Search value brute force", "'Root Search' cannot be 'brute force'"),
    ("SyzygyProbeDepth value 0", "'SyzygyProbeDepth' cannot be '0'"),
    ("Nothing value 1", "unknown option 'Nothing'"),
    ("value 1", "unknown option 'value 1'"),
    ("H\u{e4}sh value 1", "unknown option 'H\u{e4}sh'"),
    ("EvalFile value no/such.nnue", "EvalFile: cannot read 'no/such.nnue'"),
    ("EvalFile value /", "EvalFile: "),
    ("EvalFile value /dev/zero", "EvalFile: "),
    ("EvalFile value Cargo.toml", "EvalFile: not a Lancet network"),
    ("BookFile value no/such.bin", "BookFile: no/such.bin: "),
    ("BookFile value /", "BookFile: /: "),
    ("BookFile value /dev/zero", "BookFile: /dev/zero: "),
    ("BookFile value Cargo.toml", "BookFile: Cargo.toml: not a Polyglot book"),
    ("Debug Log File value /no/such/file", "cannot log to '/no/such/file'"),
    ("Debug Log File value /", "cannot log to '/'"),
];

/// Limits that end a search soon.
const LIMITS: &[&str] = &[
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

/// Parts of a `go` that cannot be used, and how the complaint names them.
const BAD_LIMITS: &[(&str, &str)] = &[
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

/// Words that mean something, in an order in which they do not.
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

/// Lines to play with beyond those of this file, if they are beside the
/// checkout.
#[derive(Clone, Debug)]
pub struct Material {
    fens: Vec<String>,
}

impl Material {
    /// The positions of this file only: the same everywhere.
    pub fn small() -> Material {
        Material { fens: FENS.iter().chain(BAD_FENS).map(|&fen| fen.to_owned()).collect() }
    }

    /// Also thousands of good and bad ones, where they are.
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

/// What was done, and how long answers took at worst.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Lines said.
    pub lines: usize,
    /// Things rejected, each of them named.
    pub rejected: usize,
    /// Searches answered.
    pub searches: usize,
    /// Longest wait for `readyok`.
    pub ready: Duration,
    /// Longest wait for a move after `stop`.
    pub stop: Duration,
}

impl Stats {
    /// Both together.
    pub fn merge(&mut self, other: &Stats) {
        self.lines += other.lines;
        self.rejected += other.rejected;
        self.searches += other.searches;
        self.ready = self.ready.max(other.ready);
        self.stop = self.stop.max(other.stop);
    }
}

/// A `go` that was not answered yet.
struct Search {
    line: String,
    checker: Checker,
    /// It must not be answered yet.
    held: bool,
    /// It is held until `stop`, whatever else comes.
    infinite: bool,
}

/// A program whose failures name the seed.
fn launch(seed: u64, material: &Material) -> Lancet {
    let mut lancet = Lancet::start();
    lancet.set_recipe(format!("(LANCET_SEED={seed}, {} positions)", material.fens.len()));
    lancet
}

/// A dialogue, and what its other side must know by now.
pub struct Session {
    lancet: Lancet,
    rng: ChaCha8Rng,
    seed: u64,
    material: Material,
    game: Game,
    chess960: bool,
    never_clear: bool,
    /// Tables know the fifty-move rule.
    fifty_moves: bool,
    /// There is a place to save the table.
    hash_file: bool,
    /// Files of this session.
    directory: TempDir,
    /// Explanations may come.
    debug: bool,
    /// Oldest first.
    searches: VecDeque<Search>,
    /// Parts of complaints that must come.
    expected: Vec<String>,
    /// `isready` without an answer yet.
    unready: usize,
    /// What was done so far.
    pub stats: Stats,
}

impl Session {
    /// Starts a program. The same seed and material say the same lines; what
    /// they meet depends on time.
    pub fn new(seed: u64, material: &Material) -> Session {
        Session {
            lancet: launch(seed, material),
            rng: ChaCha8Rng::seed_from_u64(seed),
            seed,
            material: material.clone(),
            game: Game::default(),
            chess960: false,
            never_clear: false,
            fifty_moves: true,
            hash_file: false,
            directory: tempfile::tempdir().unwrap(),
            debug: false,
            searches: VecDeque::new(),
            expected: Vec::new(),
            unready: 0,
            stats: Stats::default(),
        }
    }

    /// Another program, which knows nothing yet.
    fn restart(&mut self) {
        self.lancet = launch(self.seed, &self.material);
        (self.game, self.chess960) = (Game::default(), false);
        (self.never_clear, self.hash_file, self.debug) = (false, false, false);
    }

    /// The running program.
    pub fn lancet(&mut self) -> &mut Lancet {
        &mut self.lancet
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        *list.choose(&mut self.rng).unwrap()
    }

    fn mode(&self) -> CastlingMode {
        if self.chess960 { CastlingMode::Chess960 } else { self.game.position().mode() }
    }

    /// Takes in whatever has been said.
    fn absorb(&mut self) {
        while let Some(line) = self.lancet.poll() {
            self.hear(&line);
        }
    }

    /// A line of the program's.
    fn hear(&mut self, line: &str) {
        if let Some(text) = line.strip_prefix("info string ") {
            return self.hear_text(text);
        }
        if line == "readyok" {
            match self.unready.checked_sub(1) {
                Some(left) => self.unready = left,
                None => self.lancet.fail("readyok without a question"),
            }
            return;
        }
        // Other lines are what people ask for: boards, help, counts.
        if !line.starts_with("info ") && !line.starts_with("bestmove") {
            return;
        }
        let Some(search) = self.searches.front_mut() else {
            self.lancet.fail(&format!("'{line}' without a search"))
        };
        if let Err(fault) = search.checker.line(line) {
            let line = search.line.clone();
            self.lancet.fail(&format!("{fault}, the answer to '{line}',"));
        }
        if search.checker.is_answered() {
            if search.held {
                let line = search.line.clone();
                self.lancet.fail(&format!("a move before its time, the answer to '{line}',"));
            }
            self.searches.pop_front();
            self.stats.searches += 1;
        }
    }

    /// A complaint must be expected; the rest is told to a person.
    fn hear_text(&mut self, text: &str) {
        let notices = [
            "this search ends with 'stop'",
            "searchmoves: none is legal; searching all moves",
            "SyzygyPath: 0 WDL and 0 DTZ tables",
            "SyzygyPath: 35 WDL and 35 DTZ tables",
            "Save Hash: 1 MiB in ",
            "Load Hash: 1 MiB from ",
            // Not said again when the line is.
            "the board contradicts ",
        ];
        // Nothing was saved yet, or with another evaluation.
        let refused = text.starts_with("Load Hash: ") && text.ends_with("; the old table stays");
        if refused || notices.iter().any(|notice| text.starts_with(notice)) {
            return;
        }
        let parts = self.expected.iter().enumerate();
        let fitting = parts.filter(|(_, part)| text.contains(part.as_str()));
        // Of noise it is only known that it is rejected.
        if let Some((place, _)) = fitting.max_by_key(|(_, part)| part.len()) {
            self.expected.swap_remove(place);
            self.stats.rejected += 1;
        } else if !self.debug {
            let expected = self.expected.join("', '");
            self.lancet.fail(&format!("'{text}' (expected: '{expected}')"));
        }
    }

    /// Says a line.
    fn say(&mut self, line: &str) {
        self.say_bytes(line.as_bytes());
    }

    fn say_bytes(&mut self, line: &[u8]) {
        self.absorb();
        self.stats.lines += 1;
        self.lancet.send_bytes(&[line, b"\n"].concat());
    }

    /// Says a line that must be rejected, by a text with this part.
    fn say_wrong(&mut self, line: &str, complaint: &str) {
        self.expected.push(complaint.to_owned());
        self.say(line);
    }

    /// The same line as careless programs write it.
    fn dress(&mut self, line: &str) -> String {
        let mut line = line.to_owned();
        if self.chance(80) {
            return line;
        }
        let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let command =
            if self.chance(50) { command.to_ascii_uppercase() } else { command.to_owned() };
        line = format!("{command} {rest}");
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

    /// Waits for an answer to `isready`.
    pub fn ready(&mut self) {
        self.unready += 1;
        self.say("isready");
        let start = Instant::now();
        while self.unready > 0 {
            let line = self.lancet.line("readyok");
            self.hear(&line);
        }
        self.stats.ready = self.stats.ready.max(start.elapsed());
    }

    /// Whatever runs may end now: something else begins.
    fn release(&mut self) {
        self.absorb();
        self.searches.iter_mut().for_each(|search| search.held = false);
    }

    /// Ends what runs and waits until all is said.
    pub fn settle(&mut self) {
        self.release();
        self.say("stop");
        let start = Instant::now();
        while !self.searches.is_empty() {
            let line = self.lancet.line("bestmove");
            self.hear(&line);
        }
        self.stats.stop = self.stats.stop.max(start.elapsed());
        self.ready();
        while !self.expected.is_empty() {
            if start.elapsed() > DEADLINE {
                let expected = self.expected.join("', '");
                self.lancet.fail(&format!("nothing was said of '{expected}'"));
            }
            // A count may still be running out.
            thread::sleep(Duration::from_millis(5));
            self.ready();
        }
    }

    /// A legal position and a short search of it: all is well.
    fn probe(&mut self) {
        self.settle();
        let fen = self.pick(FENS);
        self.position(fen);
        self.go("nodes 60", false, false);
        while !self.searches.is_empty() {
            let line = self.lancet.line("bestmove");
            self.hear(&line);
        }
    }

    /// Sets a position up, and plays some moves.
    fn position(&mut self, fen: &str) {
        let fen = fen.split_whitespace().collect::<Vec<_>>().join(" ");
        let mode = CastlingMode::from_chess960(self.chess960);
        let position = match Position::from_fen(&fen, mode) {
            Ok(position) => position,
            Err(_) => {
                let start: String = fen.chars().take(60).collect();
                let complaint = if fen.is_empty() {
                    "nothing follows 'fen'".to_owned()
                } else {
                    format!("'{start}")
                };
                self.say_wrong(&format!("position fen {fen}"), &complaint);
                return self.ready();
            }
        };
        let mut game = Game::from(position);
        let mut line = if fen == START_FEN {
            "position startpos".to_owned()
        } else {
            format!("position fen {fen}")
        };
        let length = if self.chance(3) { 400 } else { self.rng.random_range(0..8) };
        let mut words = Vec::new();
        for _ in 0..length {
            let moves = game.position().legal_moves();
            let Some(&m) = moves.choose(&mut self.rng) else { break };
            words.push(move_text(
                m,
                if self.chess960 { CastlingMode::Chess960 } else { game.position().mode() },
            ));
            game.play(m);
        }
        if !words.is_empty() || self.chance(10) {
            line.push_str(&format!(" moves {}", words.join(" ")));
        }
        if self.chance(15) {
            let bad = self.pick(&[
                "e2e5", "e1e9", "xyz", "a7a8k", "Nf3", "--", "h1h1", "e2e4e5", "\u{2654}", "9999",
            ]);
            if read_move(game.position(), bad).is_err() {
                let moves = if line.contains(" moves") { "" } else { " moves" };
                self.say_wrong(&format!("{line}{moves} {bad}"), &format!("'{bad}'"));
                return self.ready();
            }
        }
        let line = self.dress(&line);
        self.say(&line);
        self.game = game;
    }

    /// Begins a search.
    fn go(&mut self, limits: &str, ponder: bool, infinite: bool) {
        let line = format!(
            "go {}{}{limits}",
            if ponder { "ponder " } else { "" },
            if infinite { "infinite " } else { "" }
        );
        let line = self.dress(line.trim_end());
        self.release();
        let checker = Checker::new(&self.game, self.mode()).with_spoilt_wins(!self.fifty_moves);
        let held = ponder || infinite;
        self.say(&line);
        self.searches.push_back(Search { line, checker, held, infinite });
    }

    /// A search with or without limits, some of them useless.
    fn any_go(&mut self) {
        let mut parts: Vec<String> = Vec::new();
        for _ in 0..self.rng.random_range(0..3) {
            parts.push(self.pick(LIMITS).to_owned());
        }
        let mut rejected = Vec::new();
        for _ in 0..if self.chance(25) { self.rng.random_range(1..4) } else { 0 } {
            let (part, complaint) = self.pick(BAD_LIMITS);
            parts.push(part.to_owned());
            rejected.push(complaint.to_owned());
        }
        parts.shuffle(&mut self.rng);
        if self.chance(15) {
            let moves = self.game.position().legal_moves();
            let mode = self.mode();
            let count = self.rng.random_range(0..4);
            let mut words: Vec<String> =
                moves.choose_multiple(&mut self.rng, count).map(|&m| move_text(m, mode)).collect();
            if self.chance(50) {
                words.push("a1h9".to_owned());
                rejected.push("searchmoves: 'a1h9'".to_owned());
            }
            if words.is_empty() {
                rejected.push("nothing follows 'searchmoves'".to_owned());
            }
            // Whatever follows would be taken for a move.
            parts.push(format!("searchmoves {}", words.join(" ")));
        }
        let (ponder, infinite) = (self.chance(12), self.chance(20));
        self.expected.extend(rejected);
        self.go(&parts.join(" "), ponder, infinite);
    }

    fn ponder_hit(&mut self) {
        self.absorb();
        // Earlier ones were stopped by the last.
        if let Some(search) = self.searches.back_mut() {
            search.held &= search.infinite;
        }
        self.say("ponderhit");
    }

    fn stop(&mut self) {
        self.release();
        let line = self.dress("stop");
        self.say(&line);
    }

    fn option(&mut self) {
        match self.rng.random_range(0..12) {
            0 => {
                self.chess960 = !self.chess960;
                self.say(&format!("setoption name UCI_Chess960 value {}", self.chess960));
            }
            1 => {
                self.never_clear = !self.never_clear;
                self.say(&format!("setoption name never clear hash value {}", self.never_clear));
            }
            _ => {
                let option = self.pick(OPTIONS);
                let line = self.dress(&format!("setoption name {option}"));
                if self.never_clear && option == "Clear Hash" {
                    self.expected.push("'Never Clear Hash' is on".to_owned());
                }
                if let Some(value) = option.strip_prefix("Syzygy50MoveRule value ") {
                    self.fifty_moves = value == "true";
                }
                self.say(&line);
            }
        }
    }

    /// Options that name files which are there.
    fn files(&mut self) {
        let path = |name: &str| self.directory.path().join(name).display().to_string();
        match self.rng.random_range(0..7) {
            0 => {
                self.say(&format!("setoption name Hash File value {}", path("table")));
                self.hash_file = true;
            }
            n @ (1 | 2) => {
                if !self.hash_file {
                    self.expected.push("'Hash File' names no file yet".to_owned());
                }
                self.say("setoption name Hash value 1");
                self.say(["setoption name Save Hash", "setoption name Load Hash"][n - 1]);
            }
            3 => {
                let path = path("book.bin");
                fs::write(&path, book(&[("e2e4", 2), ("g1f3", 1)])).unwrap();
                self.say(&format!("setoption name BookFile value {path}"));
                self.say("setoption name OwnBook value true");
            }
            4 => self.say(&format!("setoption name Debug Log File value {}", path("log"))),
            5 => {
                if let Some(tables) = tables::directory() {
                    self.say(&format!("setoption name SyzygyPath value {}", tables.display()));
                }
            }
            _ => self.say("setoption name SyzygyPath value <empty>"),
        }
    }

    fn bad_option(&mut self) {
        let (option, complaint) = self.pick(BAD_OPTIONS);
        self.say_wrong(&format!("setoption name {option}"), complaint);
        self.ready();
    }

    /// A line that a person or a broken pipe may send.
    fn noise(&mut self) {
        let line = match self.rng.random_range(0..4) {
            0 => {
                let length = self.rng.random_range(0..200);
                (0..length).map(|_| self.rng.random()).filter(|&byte| byte != b'\n').collect()
            }
            1 => {
                let length =
                    if self.chance(5) { 2_000_000 } else { self.rng.random_range(1..5000) };
                let word = self.pick(WORDS);
                word.repeat(length / word.len() + 1).into_bytes()
            }
            _ => {
                let count = self.rng.random_range(0..12);
                let words: Vec<&str> = (0..count).map(|_| self.pick(WORDS)).collect();
                words.join(" ").into_bytes()
            }
        };
        match command::parse(&line) {
            _ if line.len() > MAX_LINE => self.expected.push("bytes ignored".to_owned()),
            Err(_) => self.expected.push(String::new()),
            Ok(None) => {}
            // By chance it means something: then it is no noise.
            Ok(Some(_)) => return,
        }
        self.say_bytes(&line);
        self.ready();
    }

    /// What people ask for.
    fn ask(&mut self) {
        match self.rng.random_range(0..14) {
            0 => self.say("uci"),
            1 => self.say("d"),
            2 => self.say("eval"),
            3 => self.say("fen"),
            4 => self.say("help go"),
            5 => self.say("register name x code y"),
            6 => {
                self.debug = true;
                self.say("debug on");
            }
            7 => self.say("debug off"),
            8 | 9 => {
                self.release();
                let depth = self.rng.random_range(0..4);
                self.say(&format!("perft {depth}"));
            }
            10 => {
                self.release();
                self.say("bench 1");
            }
            11 => {
                self.say("flip");
                self.forget();
            }
            _ => {
                self.say("");
                self.say(" \t\r");
            }
        }
    }

    /// A line that must be rejected.
    pub fn reject(&mut self) {
        match self.rng.random_range(0..3) {
            0 => {
                let fen = self.pick(BAD_FENS);
                self.position(fen);
            }
            1 => self.bad_option(),
            _ => self.noise(),
        }
    }

    /// The program was told things behind this session's back: what is on its
    /// board now is the start position.
    pub fn forget(&mut self) {
        self.say("position startpos");
        let mode = CastlingMode::from_chess960(self.chess960);
        self.game = Game::from(Position::from_fen(START_FEN, mode).unwrap());
    }

    /// One or a few lines, of any kind.
    pub fn step(&mut self) {
        let rejected = self.expected.len() + self.stats.rejected;
        match self.rng.random_range(0..100) {
            0..20 => {
                let fen = self.material.fens.choose(&mut self.rng).unwrap().clone();
                let fen = if self.chance(20) { self.spoil(&fen) } else { fen };
                self.position(&fen);
            }
            20..47 => self.any_go(),
            47..56 => self.stop(),
            56..60 => self.ponder_hit(),
            60..64 => self.ready(),
            64..70 => self.option(),
            70..72 => self.files(),
            72..81 => self.bad_option(),
            81..84 => self.say("ucinewgame"),
            84..93 => self.noise(),
            93..98 => self.ask(),
            _ => self.settle(),
        }
        if self.expected.len() + self.stats.rejected > rejected && self.chance(40) {
            self.probe();
        }
        if self.chance(10) {
            thread::sleep(Duration::from_micros(self.rng.random_range(0..3000)));
        }
        // So that nothing is forgotten.
        if self.expected.len() > 8 || self.searches.len() > 4 || (self.debug && self.chance(20)) {
            self.settle();
            self.say("debug off");
            self.debug = false;
        }
    }

    /// A position with a character changed, added or lost.
    fn spoil(&mut self, fen: &str) -> String {
        let mut chars: Vec<char> = fen.chars().collect();
        let at = self.rng.random_range(0..=chars.len());
        let new = self.pick(&['K', 'k', '9', '/', '-', ' ', 'w', 'p', '0', '\u{e9}', '1']);
        match self.rng.random_range(0..3) {
            0 if at < chars.len() => chars[at] = new,
            1 if at < chars.len() => drop(chars.remove(at)),
            _ => chars.insert(at, new),
        }
        chars.into_iter().collect()
    }

    /// Commands of all threads of a game at once, without waiting for anything,
    /// then the end: of the searches, of the program or of its input.
    pub fn burst(&mut self, threads: usize) {
        self.say(&format!("setoption name Threads value {threads}"));
        for _ in 0..self.rng.random_range(2..14) {
            match self.rng.random_range(0..20) {
                0..8 => {
                    let limits = if self.chance(50) { self.pick(LIMITS) } else { "" };
                    let (ponder, infinite) = (self.chance(35), self.chance(35));
                    self.go(limits, ponder, infinite);
                }
                8..11 => self.stop(),
                11..14 => self.ponder_hit(),
                14 => self.option(),
                15 => self.files(),
                16 => self.say("ucinewgame"),
                17 => {
                    let fen = self.pick(FENS);
                    self.position(fen);
                }
                18 => {
                    self.unready += 1;
                    self.say("isready");
                }
                _ => self.bad_option(),
            }
            if self.chance(50) {
                thread::sleep(Duration::from_micros(self.rng.random_range(0..4000)));
            }
        }
        match self.rng.random_range(0..10) {
            0 => self.end(true),
            1 => self.end(false),
            _ => return self.settle(),
        }
        self.restart();
    }

    /// Ends the program, which must answer whatever is open.
    pub fn end(&mut self, quit: bool) {
        self.release();
        if quit {
            self.say("quit");
        } else {
            self.lancet.close_input();
        }
        let (lines, status) = self.lancet.end();
        lines.iter().for_each(|line| self.hear(line));
        if !status.success() {
            self.lancet.fail(&format!("it ended with {status}"));
        }
        let (searches, unready) = (self.searches.len(), self.unready);
        if searches + unready + self.expected.len() > 0 {
            self.lancet.fail(&format!(
                "it ended without {searches} moves, {unready} times readyok, {:?}",
                self.expected
            ));
        }
    }
}
