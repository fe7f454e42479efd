//! Games in PGN: tags, and a tree of moves with their annotations. This module does not check
//! whether moves are legal.

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

/// A game in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// The line of the file on which the game starts, from 1.
    pub line: u64,
    /// Names and values of the tags, in the order of the file.
    pub tags: Vec<(String, String)>,
    /// The moves of the game, with their variations.
    pub main: Variation,
    /// The result after the moves, if there is one.
    pub outcome: Option<Outcome>,
}

/// A sequence of moves: the main line or a variation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// The annotations before the first move.
    pub lead: Vec<Item>,
    /// The moves.
    pub moves: Vec<AnnotatedMove>,
}

/// A move with its annotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotatedMove {
    /// The move, as given.
    pub san: SanPlus,
    /// The line of the file with the move, from 1; 0 for a move that the program added.
    pub line: u64,
    /// The annotations after the move, in order.
    pub items: Vec<Item>,
}

/// An annotation of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A glyph such as `!?`.
    Nag(Nag),
    /// A comment, on one line.
    Comment(String),
    /// A variation: an alternative to the move before it.
    Variation(Variation),
}

impl Item {
    /// Returns the first judgement of a move in its annotations: `!`, `?` or a combination of them.
    pub fn judgement(items: &[Item]) -> Option<Nag> {
        items.iter().find_map(|item| match item {
            Item::Nag(nag @ Nag(1..=6)) => Some(*nag),
            _ => None,
        })
    }
}

/// Splits a comment into its commands, such as `[%clk 0:01:00]`, and the remaining text.
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

/// A fault in a game. As an error, it makes the game unusable; as a warning, it does not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {reason}")]
pub struct Broken {
    /// The line of the fault, from 1.
    pub line: u64,
    /// The fault.
    pub reason: String,
}

impl Game {
    /// Returns the value of a tag, or `None` if it is missing, empty or unknown (`?`, `-`).
    pub fn tag(&self, name: &str) -> Option<&str> {
        let tag = self.tags.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(name));
        tag.map(|(_, value)| value.as_str()).filter(|value| !matches!(*value, "" | "?" | "-"))
    }

    /// Adds a tag, unless the game has a tag of this name with a known value.
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

    /// Sets the tags for a start position other than the standard one.
    pub fn set_start(&mut self, start: &Position) {
        if start.fen() != START_FEN {
            self.set_tag("SetUp", "1".to_owned());
            self.set_tag("FEN", start.fen());
        }
        if start.mode().is_chess960() {
            self.set_tag("Variant", "Chess960".to_owned());
        }
    }

    /// Returns the result: the one after the moves, or else a valid one in the tag, or else `*`.
    pub fn result(&self) -> String {
        let is_result = |value: &&str| matches!(*value, "1-0" | "0-1" | "1/2-1/2");
        match self.outcome {
            Some(outcome) => outcome.to_string(),
            None => self.tag("Result").filter(is_result).unwrap_or("*").to_owned(),
        }
    }
}
