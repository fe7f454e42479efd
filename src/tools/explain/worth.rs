//! Compares the worth of a piece on its square with the average worth of its kind, according to the
//! evaluation in use.

use shakmaty::{Bitboard, Move, Piece, Role, Square};

use super::{
    rules,
    sentence::{Kind, NOTHING, Sentence},
    words::{owned, role_name},
};
use crate::{
    chess::{notation, position::Position, score::Score},
    eval::{nnue::Network, parts::Parts},
    tools::bench,
};

/// Minimum difference from the usual worth that is mentioned, in centipawns. It must also be at
/// least one sixth ([`PART`]) of the usual worth, so that queens need a larger difference than
/// knights.
const REMARKABLE: Score = 60;
const PART: Score = 6;
/// With fewer pieces than this on the board, a single piece may decide the game, so its worth says
/// nothing about its square.
const FEW: usize = 13;
/// Number of plies of a line in which a piece must reach a better square.
const PLAN: usize = 10;
/// Number of pieces above which a board is full. The usual worth differs between full and other
/// boards.
const FULL: usize = 20;

/// A piece and its worth to its own side, in centipawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Worth {
    /// The piece.
    pub(super) piece: Piece,
    /// The square of the piece.
    pub(super) square: Square,
    /// The amount by which the evaluation falls without the piece.
    pub(super) worth: Score,
    /// The average worth of its kind on boards that are as full.
    pub(super) usual: Score,
}

impl Worth {
    const fn excess(&self) -> Score {
        self.worth - self.usual
    }
}

/// Returns the worth of all pieces except pawns and kings. Pawns are left out because a pawn may
/// decide the game on any square.
fn pieces(position: &Position, network: Option<&Network>) -> Vec<(Square, Piece, Score)> {
    let own = |(square, piece, white): (Square, Piece, Option<Score>)| {
        let worth = notation::white(white?, piece.color);
        (piece.role != Role::Pawn).then_some((square, piece, worth))
    };
    Parts::new(position, network).pieces.into_iter().filter_map(own).collect()
}

pub(super) fn is_full(position: &Position) -> bool {
    position.board().occupied().count() > FULL
}

/// Returns the worth of every piece except pawns and kings, the best placed first. The usual worth is
/// the average over the positions of the benchmark.
pub(super) fn placed(position: &Position, network: Option<&Network>) -> Vec<Worth> {
    let positions = bench::positions();
    let alike = positions.iter().filter(|(other, _)| is_full(other) == is_full(position));
    let known: Vec<_> = alike.flat_map(|(other, _)| pieces(other, network)).collect();
    let usual = |role: Role| {
        let same = known.iter().filter(|(_, piece, _)| piece.role == role);
        let worths: Vec<Score> = same.map(|&(_, _, worth)| worth).collect();
        worths.iter().sum::<Score>().checked_div(worths.len() as Score)
    };
    let worth = |(square, piece, worth): (Square, Piece, Score)| {
        Some(Worth { piece, square, worth, usual: usual(piece.role)? })
    };
    let mut placed: Vec<Worth> = pieces(position, network).into_iter().filter_map(worth).collect();
    placed.sort_by_key(|worth| -worth.excess());
    placed
}

/// Describes the best and the worst placed piece, if the difference is large enough. Skips pieces
/// on the squares in `told`.
pub(super) fn said(position: &Position, placed: &[Worth], told: Bitboard) -> Vec<Sentence> {
    let sentence = |worth: &Worth, quality: &str| {
        let (piece, kind) = (owned(position.board(), worth.square), role_name(worth.piece.role));
        let [here, usual] = [worth.worth, worth.usual].map(|score| f64::from(score) / 100.0);
        let pieces = if is_full(position) { "more than" } else { "at most" };
        let text = format!(
            "{piece} stands {quality}: it is worth {here:.1} pawns here; in positions with \
             {pieces} {FULL} pieces, a {kind} is usually worth {usual:.1}."
        );
        Sentence::new(Kind::Worth, text)
    };
    if position.board().occupied().count() < FEW {
        return Vec::new();
    }
    let least = |worth: &Worth| REMARKABLE.max(worth.usual / PART);
    let placed = || placed.iter().filter(|worth| !told.contains(worth.square));
    // A piece that must stop a pawn is worth a lot, but it is not well placed.
    let is_free = |worth: &Worth| rules::blockaded(position.board(), worth.square).is_none();
    let good = placed().find(|worth| worth.excess() >= least(worth) && is_free(worth));
    let bad = placed().rfind(|worth| worth.excess() <= -least(worth));
    let good = good.map(|worth| sentence(worth, "well"));
    good.into_iter().chain(bad.map(|worth| sentence(worth, "badly"))).collect()
}

/// Describes the first piece of the side to move that the line brings to a better square: `brings
/// the knight to e5, where it is worth 0.8 pawns more than on f3`. If that is not the first move,
/// returns a whole sentence without the full stop: `In the main line, the knight goes to e5, ...`.
pub(super) fn improved(
    root: &Position,
    line: &[Move],
    network: Option<&Network>,
) -> Option<String> {
    let us = root.turn();
    let worth = |at: &Position, square: Square| {
        let parts = Parts::new(at, network).pieces;
        let (.., white) = parts.into_iter().find(|&(other, ..)| other == square)?;
        Some(notation::white(white?, us))
    };
    // Track the original square of each piece.
    let (mut at, mut origins) = (root.clone(), Square::ALL);
    for (index, &m) in line.iter().take(PLAN).enumerate() {
        at = at.play(m);
        let (from, to) = (origins[usize::from(m.from()?)], m.to());
        origins[usize::from(to)] = from;
        // Compare with the same side to move, because the right to move has a value.
        if index % 2 == 0
            && !(m.is_castle() || m.is_capture() || m.is_promotion())
            && root.board().role_at(from) == Some(m.role())
            && let Some(passed) = at.play_null()
            && let Some((new, old)) = worth(&passed, to).zip(worth(root, from))
            && new - old >= NOTHING
        {
            if index > 0 && m.role() == Role::Pawn && rules::is_passed(root.board(), us, from) {
                return Some(format!("In the main line, the passed pawn advances to {to}"));
            }
            let (role, gain) = (role_name(m.role()), f64::from(new - old) / 100.0);
            let (way, gain) = if m.role() == Role::Pawn {
                (
                    format!("from {from} to {to}"),
                    format!("which raises its value by {gain:.1} pawns"),
                )
            } else {
                let more = format!("where it is worth {gain:.1} pawns more than on {from}");
                (format!("to {to}"), more)
            };
            return Some(if index == 0 {
                format!("brings the {role} {way}, {gain}")
            } else {
                format!("In the main line, the {role} goes {way}, {gain}")
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn pieces_are_compared_with_their_kind() {
        // Knights in the centre and in the corner; pawns are not placed.
        let fen = "4k3/ppppp3/8/3n4/8/8/PPPPP3/N3K3 w - - 0 1";
        let position = Position::from_fen(fen).unwrap();
        let placed = placed(&position, None);
        let squares: Vec<Square> = placed.iter().map(|worth| worth.square).collect();
        assert_eq!(squares, [Square::D5, Square::A1]);
        assert_eq!(placed[0].usual, placed[1].usual);
        assert!((200..500).contains(&placed[0].usual), "{placed:?}");
        // Usual differences are not mentioned.
        let worth = |excess| Worth { worth: 300 + excess, usual: 300, ..placed[0] };
        let said = |placed: &[Worth], told| -> Vec<String> {
            said(&position, placed, told).into_iter().map(|sentence| sentence.text).collect()
        };
        assert_eq!(said(&[worth(59), worth(-59)], Bitboard::EMPTY), [""; 0]);
        assert_eq!(said(&[worth(60)], Square::D5.into()), [""; 0]);
        assert_eq!(
            said(&[worth(60), worth(-60)], Bitboard::EMPTY),
            ["well: it is worth 3.6", "badly: it is worth 2.4"].map(|part| format!(
                "Black's knight on d5 stands {part} pawns here; in positions with at most \
                 20 pieces, a knight is usually worth 3.0."
            ))
        );
    }
}
