//! Checks that the engine's output is true. Reads the answer to a `go` line by line, and compares
//! each line with the rules of chess and with the lines before it.

use lancet::chess::{
    notation::{move_text, read_move, san},
    position::{Ending, Game, Position},
};
use shakmaty::{CastlingMode, Move};

/// Scores beyond this many centipawns are tablebase results.
const DECISIVE: i64 = 30_000;

/// An `info` line with a score.
#[derive(Clone, Debug)]
struct Thought {
    depth: u64,
    multipv: u64,
    score: Score,
    bound: Option<Bound>,
    nodes: u64,
    time: u64,
    tbhits: u64,
    pv: Vec<Move>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Lower,
    Upper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Score {
    Centipawns(i64),
    Mate(i64),
}

impl Score {
    /// Returns a rank for comparisons; better scores have higher ranks.
    fn rank(self) -> i64 {
        match self {
            Score::Centipawns(score) => score,
            Score::Mate(moves) if moves > 0 => 1_000_000 - moves,
            Score::Mate(moves) => -1_000_000 - moves,
        }
    }

    /// Returns the number of plies to the mate that the score announces.
    fn plies_to_mate(self) -> Option<i64> {
        match self {
            Score::Centipawns(_) => None,
            Score::Mate(moves) => Some(if moves > 0 { 2 * moves - 1 } else { -2 * moves }),
        }
    }
}

/// Checks the answer to one `go`.
pub struct Checker {
    game: Game,
    mode: CastlingMode,
    /// Returns the winner, if tablebases know it: 1 for the side to move, -1 for the other side, 0
    /// for a draw.
    tables: Option<fn(&Position) -> Option<i64>>,
    /// Cursed wins, which the fifty-move rule turns into draws, count as wins.
    spoilt_wins: bool,
    /// Only the last line of each rank is printed, whatever its iteration.
    minimal: bool,
    last: Option<Thought>,
    /// The first move of the last line of rank 1.
    best: Option<Move>,
    answered: bool,
}

/// Checks all lines of an answer. The last must be the best move.
pub fn check(game: &Game, lines: &[String]) {
    let mut checker = Checker::new(game, game.position().mode());
    for line in lines {
        if let Err(fault) = checker.line(line) {
            panic!("{fault}; in {} the lines were:\n{}", game.position().fen(), lines.join("\n"));
        }
    }
    assert!(checker.answered, "no bestmove: {lines:?}");
}

impl Checker {
    /// Creates a checker for a search of this game. `mode` is the expected notation of castling.
    pub fn new(game: &Game, mode: CastlingMode) -> Checker {
        let game = game.clone();
        Checker {
            game,
            mode,
            tables: None,
            spoilt_wins: false,
            minimal: false,
            last: None,
            best: None,
            answered: false,
        }
    }

    /// Also checks the ends of won and lost lines with tablebases.
    pub fn with_tables(self, tables: fn(&Position) -> Option<i64>) -> Checker {
        Checker { tables: Some(tables), ..self }
    }

    /// Accepts cursed wins as wins (`Syzygy50MoveRule` is off).
    pub fn with_spoilt_wins(self, spoilt_wins: bool) -> Checker {
        Checker { spoilt_wins, ..self }
    }

    /// Expects only the last lines from now on (`Minimal` has been set).
    pub const fn keep_to_last_lines(&mut self) {
        self.minimal = true;
    }

    /// Returns whether a text is a sentence about the best move.
    pub fn is_about_best_move(&self, text: &str) -> bool {
        let Some(best) = self.best else { return false };
        let name = san(self.game.position(), best);
        text.ends_with('.') && text.split([' ', ',', '.']).any(|word| word == name)
    }

    /// Returns whether the best move has been announced.
    pub const fn is_answered(&self) -> bool {
        self.answered
    }

    /// Checks the next line.
    pub fn line(&mut self, line: &str) -> Result<(), String> {
        let fail = |fault: String| format!("{fault} in '{line}'");
        if self.answered {
            return Err(fail("a line after bestmove".to_owned()));
        }
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["info", "string", ..] => Ok(()),
            ["info", "currline", ref rest @ ..] => self.current_lines(rest),
            ["info", "refutation", ref rest @ ..] => {
                self.moves(self.game.position(), rest).map(drop)
            }
            ["info", "depth", depth, "currmove", m, "currmovenumber", count] => {
                self.current_move(depth, m, count)
            }
            ["info", ref rest @ ..] => self.thought(rest),
            ["bestmove", ref rest @ ..] => self.best_move(rest),
            _ => Err("not a line of a search".to_owned()),
        }
        .map_err(fail)
    }

    /// Reads a legal move, which must be in the expected notation.
    fn read(&self, position: &Position, text: &str) -> Result<Move, String> {
        let m = read_move(position, text).map_err(|error| error.to_string())?;
        let written = move_text(m, self.mode);
        if written == text { Ok(m) } else { Err(format!("'{text}' should be '{written}'")) }
    }

    /// Reads moves that are played one after the other.
    fn moves(&self, start: &Position, texts: &[&str]) -> Result<Vec<Move>, String> {
        let mut position = start.clone();
        let mut moves = Vec::new();
        for text in texts {
            let m = self.read(&position, text)?;
            position = position.play(m);
            moves.push(m);
        }
        Ok(moves)
    }

    /// Checks `1 e2e4 e7e5 currline 2 ...`.
    fn current_lines(&self, words: &[&str]) -> Result<(), String> {
        for part in words.split(|&word| word == "currline") {
            let (thread, moves) = part.split_first().ok_or("currline without a thread")?;
            if number(thread)? == 0 {
                return Err("threads count from 1".to_owned());
            }
            self.moves(self.game.position(), moves)?;
        }
        Ok(())
    }

    fn current_move(&self, depth: &str, m: &str, count: &str) -> Result<(), String> {
        let root = self.game.position();
        self.read(root, m)?;
        let (depth, count) = (number(depth)?, number(count)?);
        if !(1..=root.legal_moves().len() as u64).contains(&count) {
            return Err(format!("currmovenumber {count}"));
        }
        if self.last.as_ref().is_some_and(|last| last.depth > depth) {
            return Err("the depth falls".to_owned());
        }
        Ok(())
    }

    fn thought(&mut self, words: &[&str]) -> Result<(), String> {
        let thought = self.parse(words)?;
        self.compare(&thought)?;
        self.end_of_line(&thought)?;
        if thought.multipv == 1 {
            self.best = thought.pv.first().copied();
        }
        self.last = Some(thought);
        Ok(())
    }

    /// Parses an `info` line, which must have all fields in this order.
    fn parse(&self, words: &[&str]) -> Result<Thought, String> {
        let mut words = words.iter().copied().peekable();
        let depth = field(&mut words, "depth")?;
        let seldepth = field(&mut words, "seldepth")?;
        let multipv = field(&mut words, "multipv")?;
        if (depth == 0) != self.game.position().legal_moves().is_empty()
            || (depth > 0 && seldepth == 0)
        {
            return Err(format!("depth {depth} seldepth {seldepth} does not fit the position"));
        }
        let score = match (words.next(), words.next(), words.next().map(str::parse)) {
            (Some("score"), Some("cp"), Some(Ok(score))) => Score::Centipawns(score),
            (Some("score"), Some("mate"), Some(Ok(moves))) => Score::Mate(moves),
            _ => return Err("the score is missing or out of place".to_owned()),
        };
        let bound = match words.peek() {
            Some(&"lowerbound") => Some(Bound::Lower),
            Some(&"upperbound") => Some(Bound::Upper),
            _ => None,
        };
        if bound.is_some() {
            words.next();
        }
        if words.next_if_eq(&"wdl").is_some() {
            let chances: Vec<u64> = words.by_ref().take(3).map(number).collect::<Result<_, _>>()?;
            if chances.len() != 3 || chances.iter().sum::<u64>() != 1000 {
                return Err(format!("chances {chances:?}"));
            }
        }
        let mut field = |key| field(&mut words, key);
        let [nodes, nps, hashfull, tbhits, time] =
            [field("nodes")?, field("nps")?, field("hashfull")?, field("tbhits")?, field("time")?];
        if hashfull > 1000 {
            return Err(format!("hashfull {hashfull}"));
        }
        // Times are truncated to whole milliseconds.
        let slowest = nodes * 1000 / (time + 1);
        let fastest = (nodes * 1000).checked_div(time).unwrap_or(u64::MAX);
        if !(slowest..=fastest).contains(&nps) {
            return Err(format!("nps {nps}, expected {slowest} to {fastest}"));
        }
        let pv = match words.next() {
            None => Vec::new(),
            Some("pv") => self.moves(self.game.position(), &words.collect::<Vec<_>>())?,
            Some(word) => return Err(format!("unknown word '{word}'")),
        };
        Ok(Thought { depth, multipv, score, bound, nodes, time, tbhits, pv })
    }

    /// Compares an `info` line with the one before.
    fn compare(&self, new: &Thought) -> Result<(), String> {
        let Some(last) = &self.last else {
            return if new.multipv == 1 {
                Ok(())
            } else {
                Err("the first line is not the best".to_owned())
            };
        };
        if self.minimal {
            return if new.multipv == 1
                || new.multipv > last.multipv && new.pv.first() != last.pv.first()
            {
                Ok(())
            } else {
                Err(format!("unexpected after line {}", last.multipv))
            };
        }
        if new.multipv == 1 && new.depth < last.depth {
            return Err(format!("the depth falls from {} to {}", last.depth, new.depth));
        }
        for (name, before, now) in [
            ("number of nodes", last.nodes, new.nodes),
            ("time", last.time, new.time),
            ("number of hits", last.tbhits, new.tbhits),
        ] {
            if now < before {
                return Err(format!("the {name} falls from {before} to {now}"));
            }
        }
        if new.multipv == 1 {
            return Ok(());
        }
        // A stopped MultiPV search may keep some lines from the previous iteration.
        let depths = last.depth - 1..=last.depth;
        if new.multipv != last.multipv + 1 || !depths.contains(&new.depth) {
            return Err(format!("unexpected after line {} of depth {}", last.multipv, last.depth));
        }
        if new.score.rank() > last.score.rank() {
            return Err(format!("better than line {}, {:?}", last.multipv, last.score));
        }
        if new.pv.first() == last.pv.first() {
            return Err(format!("the same move as line {}", last.multipv));
        }
        Ok(())
    }

    /// Returns how the game ends at this position, if it does. If a draw could already be claimed
    /// at the root, claims are ignored.
    fn ending(&self, game: &Game) -> Option<Ending> {
        let claimable = self.game.position().halfmoves() >= 100;
        game.ending_at(if claimable { 150 } else { 100 })
    }

    /// Checks that the end of a line agrees with its score.
    fn end_of_line(&self, thought: &Thought) -> Result<(), String> {
        let mut game = self.game.clone();
        for (ply, &m) in thought.pv.iter().enumerate() {
            if ply > 0 && self.ending(&game).is_some() {
                return Err(format!(
                    "moves after the game's end, from {}",
                    move_text(m, self.mode)
                ));
            }
            game.play(m);
        }
        let plies = thought.pv.len() as i64;
        let ending = if plies > 0 || thought.depth == 0 { self.ending(&game) } else { None };
        let mated = ending == Some(Ending::Checkmate);
        if let Some(bound) = thought.bound {
            let end = if plies % 2 == 0 { -plies / 2 } else { (plies + 1) / 2 };
            let (end, said) = (Score::Mate(end).rank(), thought.score.rank());
            return match bound {
                Bound::Lower if mated && end < said => Err("the line ends worse".to_owned()),
                Bound::Upper if mated && end > said => Err("the line ends better".to_owned()),
                _ => Ok(()),
            };
        }
        match thought.score.plies_to_mate() {
            Some(promised) if !mated || promised != plies => {
                return Err(format!(
                    "{plies} plies, mate: {mated}; expected mate after {promised}"
                ));
            }
            None if mated => return Err("a line to mate without a mate score".to_owned()),
            _ => {}
        }
        // Quiescence detects a stalemate only if its stand pat does not return first, so a line may
        // end in stalemate with another score.
        let drawn = ending == Some(Ending::Draw) && !game.position().legal_moves().is_empty();
        // A cursed win scores 1 centipawn, a blessed loss -1.
        let excused = match thought.score {
            Score::Centipawns(score) => {
                score.abs() <= 1 || self.spoilt_wins && score.abs() > DECISIVE
            }
            Score::Mate(_) => false,
        };
        if drawn && !excused {
            return Err("the line ends in a draw".to_owned());
        }
        match thought.score {
            Score::Centipawns(score) => self.end_by_tables(score, plies, &game),
            Score::Mate(_) => Ok(()),
        }
    }

    /// Checks with tablebases that lines with won or lost scores end in won or lost positions, and
    /// that a line from a drawn position ends in a draw.
    fn end_by_tables(&self, score: i64, plies: i64, end: &Game) -> Result<(), String> {
        let Some(tables) = self.tables else { return Ok(()) };
        let promised = if score.abs() > DECISIVE {
            score.signum()
        } else if tables(self.game.position()) == Some(0) {
            0
        } else {
            return Ok(());
        };
        let drawn = (end.ending() == Some(Ending::Draw)).then_some(0);
        let Some(winner) = drawn.or_else(|| tables(end.position())) else { return Ok(()) };
        let for_root = if plies % 2 == 0 { winner } else { -winner };
        if for_root == promised {
            Ok(())
        } else {
            Err(format!("the tablebases give {for_root} for the side to move"))
        }
    }

    /// Checks that the best move is the first move of the last line of rank 1.
    fn best_move(&mut self, words: &[&str]) -> Result<(), String> {
        self.answered = true;
        let root = self.game.position();
        if let ["(none)"] = words {
            let over = root.legal_moves().is_empty() && self.last.is_some();
            return if over { Ok(()) } else { Err("there are legal moves".to_owned()) };
        }
        let moves = match *words {
            [best] => self.moves(root, &[best])?,
            [best, "ponder", reply] => self.moves(root, &[best, reply])?,
            _ => return Err("expected a move, or two".to_owned()),
        };
        if self.best.is_some() && self.best == moves.first().copied() {
            Ok(())
        } else {
            Err(format!(
                "the last line began with {:?}",
                self.best.map(|m| move_text(m, self.mode))
            ))
        }
    }
}

/// Reads a word and the number after it.
fn field<'a>(words: &mut impl Iterator<Item = &'a str>, key: &str) -> Result<u64, String> {
    if words.next() == Some(key) {
        number(words.next().unwrap_or_default())
    } else {
        Err(format!("'{key}' is missing or out of place"))
    }
}

fn number(text: &str) -> Result<u64, String> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain).ok_or_else(|| format!("'{text}' is not a number"))
}
