//! Random dialogues with the built binary while searches run. `lines` has the lines to send, and
//! `model` knows the required answers. A [`Session`] connects both with the program.

pub mod lines;
pub mod model;

use std::{
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
use shakmaty::CastlingMode;
use tempfile::TempDir;

use self::{
    lines::{BAD_FENS, BAD_OPTIONS, Dice, FENS, LIMITS, Material, OPTIONS},
    model::{Held, Model},
};
use super::{DEADLINE, Lancet, chess::book, tables};

/// The numbers of lines and answers so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Number of lines sent.
    pub lines: usize,
    /// Number of rejected lines and arguments, each with its own error.
    pub rejected: usize,
    /// Number of searches answered.
    pub searches: usize,
}

impl Stats {
    /// Adds the numbers of another session.
    pub fn merge(&mut self, other: Stats) {
        self.lines += other.lines;
        self.rejected += other.rejected;
        self.searches += other.searches;
    }
}

/// Starts a program. Its failures print the seed.
fn launch(seed: u64, material: &Material) -> Lancet {
    let mut lancet = Lancet::start();
    lancet.set_recipe(format!("(LANCET_SEED={seed}, {} positions)", material.fens.len()));
    lancet
}

/// A random dialogue with a program.
pub struct Session {
    lancet: Lancet,
    model: Model,
    dice: Dice,
    seed: u64,
    material: Material,
    /// The directory for files of this session.
    directory: TempDir,
    /// Number of lines sent to all programs.
    lines: usize,
    /// The numbers of answers of earlier programs.
    earlier: Stats,
}

impl Session {
    /// Starts a program. The same seed and material give the same lines, but their timing varies.
    pub fn new(seed: u64, material: &Material) -> Session {
        let directory = tempfile::tempdir().unwrap();
        // Written now, because later the program may be reading it.
        fs::write(directory.path().join("book.bin"), book(&[("e2e4", 2), ("g1f3", 1)])).unwrap();
        Session {
            lancet: launch(seed, material),
            model: Model::default(),
            dice: Dice::new(seed),
            seed,
            material: material.clone(),
            directory,
            lines: 0,
            earlier: Stats::default(),
        }
    }

    /// Starts a new process, with a new model.
    fn restart(&mut self) {
        self.earlier = Stats { lines: 0, ..self.stats() };
        self.lancet = launch(self.seed, &self.material);
        self.model = Model::default();
    }

    /// Returns the numbers so far.
    pub fn stats(&self) -> Stats {
        let Model { rejected, answered, .. } = self.model;
        let mut stats = Stats { lines: self.lines, rejected, searches: answered };
        stats.merge(self.earlier);
        stats
    }

    /// Returns the running program.
    pub fn lancet(&mut self) -> &mut Lancet {
        &mut self.lancet
    }

    /// Handles a line of the program.
    fn hear(&mut self, line: &str) {
        if let Err(fault) = self.model.hear(line) {
            self.lancet.fail(&fault);
        }
    }

    /// Handles all lines that have arrived.
    fn absorb(&mut self) {
        while let Some(line) = self.lancet.poll() {
            self.hear(&line);
        }
    }

    /// Handles lines until the model no longer waits.
    fn hear_while(&mut self, what: &str, waits: impl Fn(&Model) -> bool) {
        while waits(&self.model) {
            let line = self.lancet.line(what);
            self.hear(&line);
        }
    }

    /// Sends a line, after handling all lines that have arrived.
    fn say(&mut self, line: &str) {
        self.say_bytes(line.as_bytes());
    }

    fn say_bytes(&mut self, line: &[u8]) {
        self.absorb();
        self.lines += 1;
        self.lancet.send_bytes(&[line, b"\n"].concat());
    }

    /// Sends a line that must be rejected with a text that contains `complaint`.
    fn say_wrong(&mut self, line: &str, complaint: &str) {
        self.model.expect(complaint);
        self.say(line);
        self.ready();
    }

    /// Waits for the answer to `isready`.
    pub fn ready(&mut self) {
        self.model.ask_ready();
        self.say("isready");
        self.hear_while("readyok", |model| model.unready() > 0);
    }

    /// Allows the running search to end, because another command follows.
    fn release(&mut self) {
        self.absorb();
        self.model.release();
    }

    /// Ends the running search, and waits for all answers.
    pub fn settle(&mut self) {
        self.release();
        self.say("stop");
        self.hear_while("bestmove", |model| model.searches() > 0);
        self.ready();
        let start = Instant::now();
        while !self.model.expected().is_empty() {
            if start.elapsed() > DEADLINE {
                let expected = self.model.expected().join("', '");
                self.lancet.fail(&format!("no message contains '{expected}'"));
            }
            // A stopped count may still be running.
            thread::sleep(Duration::from_millis(5));
            self.ready();
        }
    }

    /// Checks that a legal position is still searched.
    fn probe(&mut self) {
        self.settle();
        let fen = self.dice.pick(FENS);
        self.position(fen);
        self.go("nodes 60", false, false);
        self.hear_while("bestmove", |model| model.searches() > 0);
    }

    /// Sets up a position and plays some moves.
    fn position(&mut self, fen: &str) {
        let fen = fen.split_whitespace().collect::<Vec<_>>().join(" ");
        let mode = Some(CastlingMode::from_chess960(self.model.chess960));
        let Ok((position, _)) = Position::from_fen_with_remarks(&fen, mode) else {
            self.model.refused = true;
            let start: String = fen.chars().take(60).collect();
            let nothing = "missing argument after 'fen': expected a FEN".to_owned();
            let complaint = if fen.is_empty() { nothing } else { format!("'{start}") };
            return self.say_wrong(&format!("position fen {fen}"), &complaint);
        };
        let mut game = Game::from(position);
        let words = self.play_on(&mut game);
        let mut line = if fen == START_FEN {
            "position startpos".to_owned()
        } else {
            format!("position fen {fen}")
        };
        if !words.is_empty() || self.dice.chance(10) {
            line.push_str(&format!(" moves {}", words.join(" ")));
        }
        if self.dice.chance(15) {
            let bad = self.dice.pick(&[
                "e2e5", "e1e9", "xyz", "a7a8k", "Nf3", "--", "h1h1", "e2e4e5", "\u{2654}", "9999",
            ]);
            if read_move(game.position(), bad).is_err() {
                self.model.refused = true;
                let moves = if line.contains(" moves") { "" } else { " moves" };
                return self.say_wrong(&format!("{line}{moves} {bad}"), &format!("'{bad}'"));
            }
        }
        let line = self.dice.dress(&line);
        self.say(&line);
        (self.model.game, self.model.refused) = (game, false);
    }

    /// Plays a few or many moves, and returns them as text.
    fn play_on(&mut self, game: &mut Game) -> Vec<String> {
        let length = if self.dice.chance(3) { 400 } else { self.dice.below(8) };
        let mut words = Vec::new();
        for _ in 0..length {
            let moves = game.position().legal_moves();
            if moves.is_empty() {
                break;
            }
            let m = self.dice.pick(&moves);
            let chess960 = self.model.chess960;
            let mode = if chess960 { CastlingMode::Chess960 } else { game.position().mode() };
            words.push(move_text(m, mode));
            game.play(m);
        }
        words
    }

    /// Starts a search.
    fn go(&mut self, limits: &str, ponder: bool, infinite: bool) {
        let (first, held) = match (ponder, infinite) {
            (false, false) => ("", Held::Free),
            (true, false) => ("ponder ", Held::UntilHit),
            (false, true) => ("infinite ", Held::UntilStop),
            (true, true) => ("ponder infinite ", Held::UntilStop),
        };
        let line = self.dice.dress(format!("go {first}{limits}").trim_end());
        self.release();
        self.say(&line);
        self.model.go(line, held);
    }

    /// Starts a search with or without limits, some of which may be wrong.
    fn any_go(&mut self) {
        let (limits, complaints) = self.dice.limits();
        complaints.into_iter().for_each(|complaint| self.model.expect(complaint));
        let mut limits = limits.join(" ");
        if self.dice.chance(15) {
            let (moves, mode) = (self.model.game.position().legal_moves(), self.model.mode());
            let count = self.dice.below(4);
            let mut words: Vec<String> =
                self.dice.some(&moves, count).into_iter().map(|m| move_text(m, mode)).collect();
            if self.dice.chance(50) {
                words.push("a1h9".to_owned());
                if !self.model.refused {
                    self.model.expect("searchmoves: 'a1h9'");
                }
            }
            if words.is_empty() {
                self.model.expect("missing argument after 'searchmoves': expected moves");
            }
            // At the end of the line, because all words after `searchmoves` are read as moves.
            limits.push_str(&format!(" searchmoves {}", words.join(" ")));
        }
        let (ponder, infinite) = (self.dice.chance(12), self.dice.chance(20));
        self.go(limits.trim_start(), ponder, infinite);
    }

    fn ponder_hit(&mut self) {
        self.absorb();
        self.model.ponder_hit();
        self.say("ponderhit");
    }

    fn stop(&mut self) {
        self.release();
        let line = self.dice.dress("stop");
        self.say(&line);
    }

    fn option(&mut self) {
        match self.dice.below(12) {
            0 => {
                let value = !self.model.chess960;
                self.model.chess960 = value;
                self.say(&format!("setoption name UCI_Chess960 value {value}"));
            }
            1 => {
                let value = !self.model.never_clear;
                self.model.never_clear = value;
                self.say(&format!("setoption name never clear hash value {value}"));
            }
            _ => {
                let option = self.dice.pick(OPTIONS);
                let line = self.dice.dress(&format!("setoption name {option}"));
                if self.model.never_clear && option == "Clear Hash" {
                    self.model.expect("'Never Clear Hash' is on");
                }
                if let Some(value) = option.strip_prefix("Syzygy50MoveRule value ") {
                    self.model.spoilt_wins = value == "false";
                }
                if let Some(value) = option.strip_prefix("Minimal value ") {
                    self.model.set_minimal(value == "true");
                }
                self.model.explained |= option == "Explain value true";
                self.say(&line);
            }
        }
    }

    /// Sets options that name files of this session or the tablebases, and saves or loads the hash
    /// table.
    fn files(&mut self) {
        let path = |name: &str| self.directory.path().join(name).display().to_string();
        match self.dice.below(7) {
            0 => {
                self.say(&format!("setoption name Hash File value {}", path("table")));
                self.model.hash_file = true;
            }
            n @ (1 | 2) => {
                if !self.model.hash_file {
                    self.model.expect("Hash: set 'Hash File' first");
                }
                self.say("setoption name Hash value 1");
                self.say(["setoption name Save Hash", "setoption name Load Hash"][n - 1]);
            }
            3 => {
                self.say(&format!("setoption name BookFile value {}", path("book.bin")));
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
        let (option, complaint) = self.dice.pick(BAD_OPTIONS);
        self.say_wrong(&format!("setoption name {option}"), complaint);
    }

    /// Sends a meaningless line.
    fn noise(&mut self) {
        let line = self.dice.noise();
        match command::parse(&line) {
            _ if line.len() > MAX_LINE => self.model.expect("ignored a line of "),
            Err(error) => {
                self.model.refused |= error.is_of_position();
                self.model.expect("");
            }
            Ok(None) => {}
            // The line is a valid command by chance, so it is not sent.
            Ok(Some(_)) => return,
        }
        self.say_bytes(&line);
        self.ready();
    }

    /// Sends a command for people.
    fn ask(&mut self) {
        match self.dice.below(14) {
            0 => self.say("uci"),
            1 => self.say("d"),
            2 => self.say("eval"),
            3 => self.say("fen"),
            4 => self.say("help go"),
            5 => self.say("register name x code y"),
            6 => {
                self.model.debug = true;
                self.say("debug on");
            }
            7 => self.say("debug off"),
            8 | 9 => {
                self.release();
                let depth = self.dice.below(4);
                self.say(&format!("perft {depth}"));
            }
            10 => {
                self.release();
                self.say("bench 1");
            }
            11 => {
                self.say("mirror");
                self.forget();
            }
            _ => {
                self.say("");
                self.say(" \t\r");
            }
        }
    }

    /// Sends a line that must be rejected.
    pub fn reject(&mut self) {
        match self.dice.below(3) {
            0 => {
                let fen = self.dice.pick(BAD_FENS);
                self.position(fen);
            }
            1 => self.bad_option(),
            _ => self.noise(),
        }
    }

    /// Resets the board to the start position, after lines that did not go through this session.
    pub fn forget(&mut self) {
        self.say("position startpos");
        self.model.refused = false;
        let mode = CastlingMode::from_chess960(self.model.chess960);
        self.model.game = Game::from(Position::from_fen_in(START_FEN, mode).unwrap());
    }

    /// Sends one or a few lines of any kind.
    pub fn step(&mut self) {
        let due = |session: &Session| session.model.expected().len() + session.model.rejected;
        let before = due(self);
        match self.dice.below(100) {
            0..20 => {
                let place = self.dice.below(self.material.fens.len());
                let fen = self.material.fens[place].clone();
                let fen = if self.dice.chance(20) { self.dice.spoil(&fen) } else { fen };
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
        if due(self) > before && self.dice.chance(40) {
            self.probe();
        }
        if self.dice.chance(10) {
            thread::sleep(Duration::from_micros(self.dice.below(3000)));
        }
        // Waits for the expected errors now and then, so that their number stays small.
        let many = self.model.expected().len() > 8 || self.model.searches() > 4;
        // Always drawn, so that the random choices do not depend on time.
        let quieter = self.dice.chance(20);
        if many || (self.model.debug && quieter) {
            self.settle();
            self.say("debug off");
            self.model.debug = false;
        }
    }

    /// Sends 2 to 13 commands of a game in quick succession, with this number of search threads,
    /// mostly without waiting for answers. Then ends the searches, the program or its input.
    pub fn burst(&mut self, threads: usize) {
        self.say(&format!("setoption name Threads value {threads}"));
        for _ in 0..self.dice.range(2..14) {
            match self.dice.below(20) {
                0..8 => {
                    let limits = if self.dice.chance(50) { self.dice.pick(LIMITS) } else { "" };
                    let (ponder, infinite) = (self.dice.chance(35), self.dice.chance(35));
                    self.go(limits, ponder, infinite);
                }
                8..11 => self.stop(),
                11..14 => self.ponder_hit(),
                14 => self.option(),
                15 => self.files(),
                16 => self.say("ucinewgame"),
                17 => {
                    let fen = self.dice.pick(FENS);
                    self.position(fen);
                }
                18 => {
                    self.model.ask_ready();
                    self.say("isready");
                }
                _ => self.bad_option(),
            }
            if self.dice.chance(50) {
                thread::sleep(Duration::from_micros(self.dice.below(4000)));
            }
        }
        match self.dice.below(10) {
            0 => self.end(true),
            1 => self.end(false),
            _ => return self.settle(),
        }
        self.restart();
    }

    /// Ends the program, which must answer all open commands.
    pub fn end(&mut self, quit: bool) {
        self.release();
        if quit {
            self.say("quit");
        } else {
            self.lancet.close_input();
        }
        let (lines, status) = self.lancet.rest();
        lines.iter().for_each(|line| self.hear(line));
        if !status.success() {
            self.lancet.fail(&format!("it ended with {status}"));
        }
        let (searches, unready) = (self.model.searches(), self.model.unready());
        let expected = self.model.expected();
        if searches + unready + expected.len() > 0 {
            self.lancet.fail(&format!(
                "it ended without {searches} best moves, {unready} answers to isready and {expected:?}"
            ));
        }
    }
}
