//! What the other side of a dialogue must know by now, and what it owes: to every
//! `go` one legal move and true lines, not before `stop` or `ponderhit` where
//! those are to be waited for; to every `isready` one `readyok`; and one `info
//! string` to every thing that cannot be used. The model is told what is said and
//! reads what is answered. It talks to nobody.

use std::collections::VecDeque;

use lancet::chess::position::Game;
use shakmaty::CastlingMode;

use crate::common::checker::Checker;

/// What is told to a person, and answers nothing.
const NOTICES: &[&str] = &[
    "this search runs until 'stop'",
    "there is no mate in ",
    "no mate in ",
    "searchmoves: none is legal; searching all moves",
    "SyzygyPath: 0 WDL and 0 DTZ tables",
    "SyzygyPath: 35 WDL and 35 DTZ tables",
    "Save Hash: 1 MiB in ",
    "Load Hash: 1 MiB from ",
    // On a starved machine.
    "preparing a hash table of ",
    // The version, behind `uci`.
    "Lancet ",
    // Not said again when the line is.
    "the board contradicts ",
    "castling rights ",
    // Said once.
    "unknown option ",
];

/// What is told of a search of a position that was refused.
const REFUSED: &str = "no search, because the position was refused: ";

/// When a search may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// At any time.
    Free,
    /// Not before `ponderhit`, or the end of the search.
    UntilHit,
    /// Not before something ends the search.
    UntilStop,
}

/// A `go` that was not answered yet.
struct Search {
    line: String,
    /// Of a position that was refused.
    refused: bool,
    checker: Checker,
    held: Held,
}

/// What was said so far, and what has to be answered.
#[derive(Default)]
pub struct Model {
    /// On the board.
    pub game: Game,
    /// The last position was refused, and searches are.
    pub refused: bool,
    pub chess960: bool,
    pub never_clear: bool,
    /// Wins count that the fifty-move rule spoils: `Syzygy50MoveRule` is off.
    pub spoilt_wins: bool,
    /// There is a place to save the table.
    pub hash_file: bool,
    /// Explanations may come.
    pub debug: bool,
    /// So may a sentence about the best move.
    pub explained: bool,
    /// Searches may report their last lines only.
    pub minimal: bool,
    /// Oldest first.
    searches: VecDeque<Search>,
    /// Parts of the complaints that must come.
    expected: Vec<String>,
    /// Times `isready` without an answer.
    unready: usize,
    /// Searches answered.
    pub answered: usize,
    /// Complaints that came as expected.
    pub rejected: usize,
}

impl Model {
    /// How castling is written.
    pub fn mode(&self) -> CastlingMode {
        if self.chess960 { CastlingMode::Chess960 } else { self.game.position().mode() }
    }

    /// `isready` is said.
    pub fn ask_ready(&mut self) {
        self.unready += 1;
    }

    /// Something is said that is to be rejected, by a text with this part; of noise
    /// it is only known that it is.
    pub fn expect(&mut self, complaint: impl Into<String>) {
        self.expected.push(complaint.into());
    }

    /// A search begins: those before it end.
    pub fn go(&mut self, line: String, held: Held) {
        self.release();
        let mut checker = Checker::new(&self.game, self.mode()).with_spoilt_wins(self.spoilt_wins);
        if self.minimal {
            checker.keep_to_last_lines();
        }
        if self.refused {
            self.expect(REFUSED);
        }
        self.searches.push_back(Search { line, refused: self.refused, checker, held });
    }

    /// Whatever runs may be answered now.
    pub fn release(&mut self) {
        self.searches.iter_mut().for_each(|search| search.held = Held::Free);
    }

    /// `Minimal` is set, for the searches that run, too.
    pub fn set_minimal(&mut self, on: bool) {
        self.minimal = on;
        if on {
            self.searches.iter_mut().for_each(|search| search.checker.keep_to_last_lines());
        }
    }

    /// `ponderhit` is said: to the last search, as earlier ones were ended by it.
    pub fn ponder_hit(&mut self) {
        if let Some(search) = self.searches.back_mut()
            && search.held == Held::UntilHit
        {
            search.held = Held::Free;
        }
    }

    /// Searches that are to be answered.
    pub fn searches(&self) -> usize {
        self.searches.len()
    }

    /// Questions for `readyok` that are to be answered.
    pub const fn unready(&self) -> usize {
        self.unready
    }

    /// Parts of the complaints that are to come.
    pub fn expected(&self) -> &[String] {
        &self.expected
    }

    /// A line of the program's; an error if it is not true, or not asked for.
    pub fn hear(&mut self, line: &str) -> Result<(), String> {
        if let Some(text) = line.strip_prefix("info string ") {
            self.hear_text(text)
        } else if line == "readyok" {
            self.unready = self.unready.checked_sub(1).ok_or("readyok without a question")?;
            Ok(())
        } else if line.starts_with("info ") || line.starts_with("bestmove") {
            self.hear_search(line)
        } else {
            // Boards, help, counts: what people ask for.
            Ok(())
        }
    }

    fn hear_search(&mut self, line: &str) -> Result<(), String> {
        let search =
            self.searches.front_mut().ok_or_else(|| format!("'{line}' without a search"))?;
        let answer = |fault: &str| format!("{fault}, the answer to '{}',", search.line);
        if search.refused && line != "bestmove 0000" {
            return Err(answer(&format!("'{line}'")));
        }
        if !search.refused {
            search.checker.line(line).map_err(|fault| answer(&fault))?;
        }
        if search.refused || search.checker.is_answered() {
            if search.held != Held::Free {
                return Err(answer("a move before its time"));
            }
            self.searches.pop_front();
            self.answered += 1;
        }
        Ok(())
    }

    /// A complaint must be expected; the rest is told to a person.
    fn hear_text(&mut self, text: &str) -> Result<(), String> {
        // Nothing was saved yet, or with another evaluation.
        let refused = text.starts_with("Load Hash: ") && text.ends_with("; the old table is kept");
        if refused || NOTICES.iter().any(|notice| text.starts_with(notice)) {
            return Ok(());
        }
        let mut searches = self.searches.iter();
        if self.explained && searches.any(|search| search.checker.is_about_best_move(text)) {
            return Ok(());
        }
        let parts = self.expected.iter().enumerate();
        // The reason repeats what was said of the position.
        let fitting = parts.filter(|(_, part)| {
            text.contains(part.as_str()) && text.starts_with(REFUSED) == (*part == REFUSED)
        });
        if let Some((place, _)) = fitting.max_by_key(|(_, part)| part.len()) {
            self.expected.swap_remove(place);
            self.rejected += 1;
        } else if !self.debug {
            return Err(format!("'{text}' (expected: '{}')", self.expected.join("', '")));
        }
        Ok(())
    }
}
