//! Endings against a bare king: who can mate, and the way to it.

use shakmaty::{Bitboard, Board, Color, Square};

use crate::chess::{position::Position, score::Score, see};

/// Pieces that force mate on a bare king, in the order in which people learn how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Technique {
    /// A queen or two rooks, at least.
    Queen,
    Rook,
    Bishops,
    BishopAndKnight,
}

/// The side whose opponent has nothing but a king.
pub(crate) fn against_bare_king(board: &Board) -> Option<Color> {
    Color::ALL.into_iter().find(|&strong| board.by_color(!strong).count() == 1)
}

/// What `strong` has to mate a bare king with.
pub(crate) fn technique(board: &Board, strong: Color) -> Option<Technique> {
    let theirs = board.by_color(strong);
    let (bishops, knights) = (theirs & board.bishops(), theirs & board.knights());
    let both = !bishops.is_disjoint(Bitboard::DARK_SQUARES)
        && !bishops.is_disjoint(Bitboard::LIGHT_SQUARES);
    if theirs.intersects(board.queens()) || (theirs & board.rooks()).more_than_one() {
        Some(Technique::Queen)
    } else if theirs.intersects(board.rooks()) {
        Some(Technique::Rook)
    } else if both {
        Some(Technique::Bishops)
    } else {
        (bishops.any() && knights.any()).then_some(Technique::BishopAndKnight)
    }
}

/// A mate by force is worth at least this much, in centipawns, and anything less against a bare
/// king at most this: a pawn is not worth more than the queen that it becomes.
const WON: Score = 1000;

/// The evaluation for the side to move where one king is bare, and `score` elsewhere. It falls
/// with the bare king's way to the edge, or to a corner that the bishop controls, and with the
/// distance of the kings.
pub fn with_bare_king(position: &Position, score: Score) -> Score {
    let board = position.board();
    let Some(strong) = against_bare_king(board) else { return score };
    let (Some(king), Some(bare)) = (board.king_of(strong), board.king_of(!strong)) else {
        return score;
    };
    let Some(technique) = technique(board, strong) else { return score.clamp(-WON, WON) };
    let way = if technique == Technique::BishopAndKnight {
        let dark = board.bishops().intersects(Bitboard::DARK_SQUARES);
        let corners = if dark { [Square::A1, Square::H8] } else { [Square::A8, Square::H1] };
        100 * corners.map(|corner| steps(bare, corner)).into_iter().min().unwrap_or(0)
    } else {
        let edge = [bare.file().into(), bare.rank().into()].map(|at: i32| at.min(7 - at));
        10 * (edge[0] + edge[1])
    };
    let material: Score = (board.occupied() & !board.kings())
        .into_iter()
        .filter_map(|square| board.role_at(square))
        .map(see::value)
        .sum();
    let won = WON + 200 + material - way - 10 * steps(king, bare);
    if position.turn() == strong { won } else { -won }
}

/// The steps of a rook, one square each, between two squares.
fn steps(a: Square, b: Square) -> i32 {
    let file = i32::from(a.file()) - i32::from(b.file());
    let rank = i32::from(a.rank()) - i32::from(b.rank());
    file.abs() + rank.abs()
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    fn evaluate(fen: &str, score: Score) -> Score {
        with_bare_king(&Position::from_fen(fen, CastlingMode::Standard).unwrap(), score)
    }

    #[test]
    fn bare_kings_are_driven() {
        for (better, worse) in [
            // A queen is better than the pawn that becomes one, whatever a network says.
            ("7Q/8/8/8/k7/8/8/K7 w - - 0 1", "8/7P/8/8/k7/8/8/K7 w - - 0 1"),
            // To the edge, and the king near.
            ("8/8/2K5/8/k7/8/8/4R3 w - - 0 1", "8/8/2K5/8/3k4/8/8/4R3 w - - 0 1"),
            ("k7/8/2K5/8/8/8/8/1R6 w - - 0 1", "k7/8/8/2K5/8/8/8/1R6 w - - 0 1"),
            // To the corner of the bishop.
            ("8/8/8/8/8/3K4/3BN3/k7 w - - 0 1", "k7/8/8/8/8/3K4/3BN3/8 w - - 0 1"),
            ("k7/8/8/8/8/3K4/3NB3/8 w - - 0 1", "8/8/8/8/8/3K4/3NB3/k7 w - - 0 1"),
        ] {
            assert!(evaluate(better, 2000) > evaluate(worse, 2000), "{better} {worse}");
        }
        let (white, black) = ("8/8/3K4/8/3k4/8/8/R7 w - - 0 1", "8/8/3K4/8/3k4/8/8/R7 b - - 0 1");
        assert_eq!(evaluate(white, 7), -evaluate(black, 7));
        // Two bishops of one colour, two knights: the network's word.
        for fen in ["8/8/8/8/3k4/8/8/KB1B4 w - - 0 1", "8/8/8/8/3k4/8/8/KNN5 w - - 0 1"] {
            assert_eq!(evaluate(fen, 77), 77, "{fen}");
        }
        let both = "8/8/8/4pk2/8/8/8/K1Q5 w - - 0 1";
        assert_eq!(evaluate(both, 1234), 1234);
    }
}
