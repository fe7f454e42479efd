//! Names of openings. They are looked up by position, so transpositions are recognised.

use std::collections::HashMap;

use crate::chess::{notation::read_move, position::Position};

/// The named lines. The first line of the file gives their source.
const LINES: &str = include_str!("openings.tsv");

/// A named opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// Code of the Encyclopaedia of Chess Openings: a letter and two digits.
    pub eco: &'static str,
    /// English name: family, then variations.
    pub name: &'static str,
}

/// All named openings by the key of their last position.
#[derive(Debug)]
pub(super) struct Openings(HashMap<u64, Opening>);

impl Default for Openings {
    fn default() -> Openings {
        let mut openings = HashMap::new();
        // The positions of the current line. Consecutive lines share their beginnings.
        let mut positions = vec![Position::default()];
        for line in LINES.lines().filter(|line| !line.starts_with('#')) {
            let Some((opening, moves)) = read(line, &mut positions) else { continue };
            for text in moves.split_whitespace() {
                let last = positions.last().cloned().unwrap_or_default();
                let Ok(m) = read_move(&last, text) else { break };
                positions.push(last.play(m));
            }
            openings.extend(positions.last().map(|position| (position.key(), opening)));
        }
        Openings(openings)
    }
}

/// Reads a line of the file, and truncates `positions` to the part shared with the line before.
fn read(line: &'static str, positions: &mut Vec<Position>) -> Option<(Opening, &'static str)> {
    let mut fields = line.splitn(4, '\t');
    let (eco, shared) = (fields.next()?, fields.next()?);
    let (moves, name) = (fields.next()?, fields.next()?);
    positions.truncate(shared.parse::<usize>().ok()? + 1);
    Some((Opening { eco, name }, moves))
}

impl Openings {
    /// Returns the opening of a game: the name of its last position that has one.
    pub(super) fn find(&self, positions: &[Position]) -> Option<Opening> {
        positions.iter().rev().find_map(|position| self.0.get(&position.key()).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(moves: &str) -> Option<&'static str> {
        let mut positions = vec![Position::default()];
        for text in moves.split_whitespace() {
            let m = read_move(&positions[positions.len() - 1], text).unwrap();
            positions.push(positions[positions.len() - 1].play(m));
        }
        Openings::default().find(&positions).map(|opening| opening.name)
    }

    #[test]
    fn every_line_is_legal_and_leads_to_its_own_position() {
        let lines = LINES.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(Openings::default().0.len(), lines);
        assert_eq!(lines, 3807);
    }

    #[test]
    fn games_are_named_by_position() {
        assert_eq!(name(""), None);
        assert_eq!(name("e2e4"), Some("King's Pawn Game"));
        // The last named position counts, and transpositions are recognised.
        let ruy_lopez = name("e2e4 e7e5 g1f3 b8c6 f1b5");
        assert_eq!(ruy_lopez, Some("Ruy Lopez"));
        assert_eq!(name("g1f3 b8c6 e2e4 e7e5 f1b5 h7h5"), ruy_lopez);
    }
}
