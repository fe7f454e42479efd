//! What a piece is worth where it stands, held against what such a piece is usually
//! worth to the evaluation in use.

use shakmaty::{Piece, Role, Square};

use super::words::owned;
use crate::{
    chess::{notation, position::Position, score::Score},
    eval::{nnue::Network, parts::Parts},
    tools::bench,
};

/// Excess over the usual, in centipawns, that is worth telling; it must also be a
/// [`PART`] of the usual: a queen is not measured as a knight is.
const REMARKABLE: Score = 60;
const PART: Score = 6;
/// With fewer pieces than this on the board a piece's worth is that of the game.
const FEW: usize = 13;
/// Pieces shown, best and worst placed.
const PIECES: usize = 2;
/// Boards with more pieces than this are full: pieces are worth something else there.
const FULL: usize = 20;

/// A piece and its worth to its own side, in centipawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Worth {
    /// The piece.
    pub(super) piece: Piece,
    /// Where it stands.
    pub(super) square: Square,
    /// By how much the evaluation falls without it.
    pub(super) worth: Score,
    /// What its kind is worth on average, on as full a board.
    pub(super) usual: Score,
}

impl Worth {
    const fn excess(&self) -> Score {
        self.worth - self.usual
    }
}

/// The pieces of a board but pawns and kings: a pawn may be worth a game, and that says
/// nothing of its place.
fn pieces(position: &Position, network: Option<&Network>) -> Vec<(Square, Piece, Score)> {
    let own = |(square, piece, white): (Square, Piece, Option<Score>)| {
        let worth = notation::white(white?, piece.color);
        (piece.role != Role::Pawn).then_some((square, piece, worth))
    };
    Parts::new(position, network).pieces.into_iter().filter_map(own).collect()
}

fn is_full(position: &Position) -> bool {
    position.board().occupied().count() > FULL
}

/// The worth of every piece, the best placed first. The usual worth is the average over
/// the positions of the benchmark.
pub(super) fn placed(position: &Position, network: Option<&Network>) -> Vec<Worth> {
    let positions = bench::positions().unwrap_or_default();
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

/// Sentences about the pieces that stand remarkably well or badly.
pub(super) fn said(position: &Position, placed: &[Worth]) -> Vec<String> {
    let sentence = |worth: &Worth, quality: &str| {
        let piece = owned(position.board(), worth.square);
        let [here, usual] = [worth.worth, worth.usual].map(|score| f64::from(score) / 100.0);
        format!("{piece} stands {quality}: it is worth {here:.1}, usually {usual:.1}.")
    };
    if position.board().occupied().count() < FEW {
        return Vec::new();
    }
    let least = |worth: &Worth| REMARKABLE.max(worth.usual / PART);
    let good = placed.iter().filter(|worth| worth.excess() >= least(worth)).take(PIECES);
    let bad = placed.iter().rev().filter(|worth| worth.excess() <= -least(worth)).take(PIECES);
    let good = good.map(|worth| sentence(worth, "well"));
    good.chain(bad.map(|worth| sentence(worth, "badly"))).collect()
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    #[test]
    fn pieces_are_held_against_their_kind() {
        // Knights in the centre and in the corner; pawns are not placed.
        let fen = "4k3/ppppp3/8/3n4/8/8/PPPPP3/N3K3 w - - 0 1";
        let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        let placed = placed(&position, None);
        let squares: Vec<Square> = placed.iter().map(|worth| worth.square).collect();
        assert_eq!(squares, [Square::D5, Square::A1]);
        assert_eq!(placed[0].usual, placed[1].usual);
        assert!((200..500).contains(&placed[0].usual), "{placed:?}");
        // What is as usual is not worth telling.
        let worth = |excess| Worth { worth: 300 + excess, usual: 300, ..placed[0] };
        assert_eq!(said(&position, &[worth(59), worth(-59)]), [""; 0]);
        assert_eq!(
            said(&position, &[worth(60), worth(-60)]),
            [
                "Black's knight on d5 stands well: it is worth 3.6, usually 3.0.",
                "Black's knight on d5 stands badly: it is worth 2.4, usually 3.0.",
            ]
        );
    }
}
