//! Tracks the state of a dialogue and the answers that the program owes. Each `go` must be answered
//! with lines that are true and then with one legal move, which must not come before a required
//! `stop` or `ponderhit`. Each `isready` needs one `readyok`, and each error needs one `info
//! string`. The model gets the lines sent and received, and does no input or output itself.

use std::collections::VecDeque;

use lancet::chess::position::Game;
use shakmaty::CastlingMode;

use crate::common::checker::Checker;

/// Messages for people that may come at any time.
const NOTICES: &[&str] = &[
    "this search runs until 'stop'",
    "this search runs until 'ponderhit' or 'stop'",
    "not waiting: this search runs until 'stop'",
    "not waiting: this search runs until 'ponderhit' or 'stop'",
    "there is no mate in ",
    "no mate in ",
    "searchmoves: none is legal; searching all moves",
    "SyzygyPath: no tablebases found",
    "SyzygyPath: 35 WDL and 35 DTZ tables",
    "Save Hash: saved 1 MiB to ",
    "Load Hash: loaded 1 MiB from ",
    // On a very slow machine.
    "initialising a hash table of ",
    // The version, in the answer to `uci`.
    "Lancet ",
    // Not repeated when the same line is sent again.
    "the board contradicts ",
    "castling rights ",
    // Reported once for each option.
    "unknown option ",
];

/// The message for a `go` after a refused position.
const REFUSED: &str = "no search, because the position was refused: ";

/// The time when a search may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// At any time.
    Free,
    /// After `ponderhit`, or a command that ends the search.
    UntilHit,
    /// After a command that ends the search.
    UntilStop,
}

/// A `go` without an answer so far.
struct Search {
    line: String,
    /// The position was refused.
    refused: bool,
    checker: Checker,
    held: Held,
}

/// The state of a dialogue, and the answers that are owed.
#[derive(Default)]
pub struct Model {
    /// The game on the board.
    pub game: Game,
    /// The last position was refused, so searches are refused, too.
    pub refused: bool,
    pub chess960: bool,
    pub never_clear: bool,
    /// Cursed wins count as wins: `Syzygy50MoveRule` is off.
    pub spoilt_wins: bool,
    /// Hash File is set.
    pub hash_file: bool,
    /// `debug on` messages may come.
    pub debug: bool,
    /// A sentence about the best move may come.
    pub explained: bool,
    /// Searches may print only their last lines.
    pub minimal: bool,
    /// The searches without an answer, oldest first.
    searches: VecDeque<Search>,
    /// Parts of the expected errors.
    expected: Vec<String>,
    /// Number of `isready` commands without an answer.
    unready: usize,
    /// Number of searches answered.
    pub answered: usize,
    /// Number of errors that came as expected.
    pub rejected: usize,
}

impl Model {
    /// Returns the notation of castling.
    pub fn mode(&self) -> CastlingMode {
        if self.chess960 { CastlingMode::Chess960 } else { self.game.position().mode() }
    }

    /// Handles `isready`.
    pub fn ask_ready(&mut self) {
        self.unready += 1;
    }

    /// Expects an error that contains `complaint`. Pass an empty text if it is not known why the
    /// line is rejected.
    pub fn expect(&mut self, complaint: impl Into<String>) {
        self.expected.push(complaint.into());
    }

    /// Handles the start of a search. Earlier searches end.
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

    /// Allows all searches to be answered.
    pub fn release(&mut self) {
        self.searches.iter_mut().for_each(|search| search.held = Held::Free);
    }

    /// Handles a change of `Minimal`, which also applies to running searches.
    pub fn set_minimal(&mut self, on: bool) {
        self.minimal = on;
        if on {
            self.searches.iter_mut().for_each(|search| search.checker.keep_to_last_lines());
        }
    }

    /// Handles `ponderhit` for the last search; earlier ones have ended already.
    pub fn ponder_hit(&mut self) {
        if let Some(search) = self.searches.back_mut()
            && search.held == Held::UntilHit
        {
            search.held = Held::Free;
        }
    }

    /// Returns the number of searches without an answer.
    pub fn searches(&self) -> usize {
        self.searches.len()
    }

    /// Returns the number of `isready` commands without an answer.
    pub const fn unready(&self) -> usize {
        self.unready
    }

    /// Returns parts of the expected errors.
    pub fn expected(&self) -> &[String] {
        &self.expected
    }

    /// Checks a line of the program. Returns an error if it is false or unexpected.
    pub fn hear(&mut self, line: &str) -> Result<(), String> {
        if let Some(text) = line.strip_prefix("info string ") {
            self.hear_text(text)
        } else if line == "readyok" {
            self.unready = self.unready.checked_sub(1).ok_or("readyok without isready")?;
            Ok(())
        } else if line.starts_with("info ") || line.starts_with("bestmove") {
            self.hear_search(line)
        } else {
            // Output for people: boards, help and counts.
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
                return Err(answer("a move before the required stop or ponderhit"));
            }
            self.searches.pop_front();
            self.answered += 1;
        }
        Ok(())
    }

    /// Checks an `info string`: errors must be expected, and messages for people are ignored.
    fn hear_text(&mut self, text: &str) -> Result<(), String> {
        // No table was saved yet, or the saved one has another evaluation.
        let refused = text.starts_with("Load Hash: ") && text.ends_with("; the old table is kept");
        if refused || NOTICES.iter().any(|notice| text.starts_with(notice)) {
            return Ok(());
        }
        let mut searches = self.searches.iter();
        if self.explained && searches.any(|search| search.checker.is_about_best_move(text)) {
            return Ok(());
        }
        let parts = self.expected.iter().enumerate();
        // The message about a refused search repeats the error in the position.
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
