//! Games as PGN has them: tags, and a tree of moves with all that was written
//! about them. No chess is judged here.

use std::fmt;

use shakmaty::{Outcome, san::SanPlus};

use crate::chess::position::{Position, START_FEN};

pub mod read;
pub mod write;

/// A numeric annotation glyph, such as `$1` for `!`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nag(pub u8);

impl Nag {
    /// `?`.
    pub const MISTAKE: Nag = Nag(2);
    /// `??`.
    pub const BLUNDER: Nag = Nag(4);
    /// `?!`.
    pub const DUBIOUS_MOVE: Nag = Nag(6);
}

impl fmt::Display for Nag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}", self.0)
    }
}

/// A game as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// The line of the file that it begins on, from 1.
    pub line: u64,
    /// Names and values, in the file's order.
    pub tags: Vec<(String, String)>,
    /// The game itself.
    pub main: Variation,
    /// The result behind the moves, if there is one.
    pub outcome: Option<Outcome>,
}

/// A sequence of moves: the game itself or a variation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// What stands before the first move.
    pub lead: Vec<Item>,
    /// The moves.
    pub moves: Vec<AnnotatedMove>,
}

/// A move and what is written about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotatedMove {
    /// The move, as given.
    pub san: SanPlus,
    /// The line of the file that it stands on; 0 for a move that was added.
    pub line: u64,
    /// What stands behind it, in order.
    pub items: Vec<Item>,
}

/// Something written about a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A sign such as `!?`.
    Nag(Nag),
    /// Text, in one line.
    Comment(String),
    /// Other moves instead of the one before.
    Variation(Variation),
}

impl Item {
    /// The first judgement of a move among what is written about it: `!`, `?` and their
    /// combinations.
    pub fn judgement(items: &[Item]) -> Option<Nag> {
        items.iter().find_map(|item| match item {
            Item::Nag(nag @ Nag(1..=6)) => Some(*nag),
            _ => None,
        })
    }
}

/// The commands of a comment, such as `[%clk 0:01:00]`, and its text without them.
pub fn split_comment(comment: &str) -> (Vec<&str>, String) {
    let (mut commands, mut parts, mut rest) = (Vec::new(), Vec::new(), comment);
    while let Some(begin) = rest.find("[%")
        && let Some(length) = rest[begin..].find(']')
    {
        let (before, behind) = rest.split_at(begin);
        let (command, behind) = behind.split_at(length + 1);
        parts.push(before.trim());
        commands.push(command);
        rest = behind;
    }
    parts.push(rest.trim());
    parts.retain(|part| !part.is_empty());
    (commands, parts.join(" "))
}

/// A game that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {reason}")]
pub struct Broken {
    /// Where in the file the fault is, from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
}

impl Game {
    /// The value of a tag, unless it is missing or empty or says "unknown".
    pub fn tag(&self, name: &str) -> Option<&str> {
        let tag = self.tags.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(name));
        tag.map(|(_, value)| value.as_str()).filter(|value| !matches!(*value, "" | "?" | "-"))
    }

    /// Adds a tag unless there is one of this name that says something.
    pub fn add_tag(&mut self, name: &str, value: String) {
        if self.tag(name).is_none() {
            self.set_tag(name, value);
        }
    }

    /// Adds a tag, or changes its value.
    pub fn set_tag(&mut self, name: &str, value: String) {
        match self.tags.iter_mut().find(|(tag, _)| tag.eq_ignore_ascii_case(name)) {
            Some((_, old)) => *old = value,
            None => self.tags.push((name.to_owned(), value)),
        }
    }

    /// Adds the tags of a game that does not start where games do.
    pub fn set_start(&mut self, start: &Position) {
        if start.fen() != START_FEN {
            self.set_tag("SetUp", "1".to_owned());
            self.set_tag("FEN", start.fen());
        }
        if start.mode().is_chess960() {
            self.set_tag("Variant", "Chess960".to_owned());
        }
    }

    /// The result: behind the moves, else as the tag says if that is one, else
    /// `*`.
    pub fn result(&self) -> String {
        let is_result = |value: &&str| matches!(*value, "1-0" | "0-1" | "1/2-1/2");
        match self.outcome {
            Some(outcome) => outcome.to_string(),
            None => self.tag("Result").filter(is_result).unwrap_or("*").to_owned(),
        }
    }
}
