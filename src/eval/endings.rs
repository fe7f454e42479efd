//! Endings against a bare king: which material can mate, and an evaluation that leads to the mate.

use shakmaty::{Bitboard, Board, Color, Rank, Square};

use super::material;
use crate::chess::{
    position::Position,
    score::{EVALUATION_LIMIT, Score},
};

/// Material that can force mate against a bare king, in the order in which people learn the mates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Technique {
    /// At least a queen or two rooks.
    Queen,
    /// One rook.
    Rook,
    /// Bishops on squares of both colours.
    Bishops,
    /// Bishop and knight.
    BishopAndKnight,
}

/// Returns the side whose opponent has only a king.
pub(crate) fn against_bare_king(board: &Board) -> Option<Color> {
    Color::ALL.into_iter().find(|&strong| board.by_color(!strong).count() == 1)
}

/// Returns the easiest mate that the pieces of `strong` allow, or `None` if they allow none of
/// these mates.
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

/// Limit of evaluations against a bare king, in centipawns. With material that can force mate, they
/// are above it. With other material, such as pawns, they are at most this large. Otherwise a pawn
/// could be worth more than the queen that it becomes.
const WON: Score = 1000;

/// Returns `score` if no king is bare. If one is, and the other side's material is one of
/// [`Technique`], returns an evaluation for the side to move that leads to mate. With any other
/// material, such as pawns, returns `score`, limited to 10 pawns. For the stronger side the
/// evaluation rises as the bare king approaches a corner (with bishop and knight, one that the
/// bishop controls) and as the kings approach each other. Distances are Manhattan distances.
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
    let won = WON + 200 + material(board) - way - 10 * steps(king, bare);
    let won = won.min(EVALUATION_LIMIT);
    if position.turn() == strong { won } else { -won }
}

/// Returns the square on which a pawn of `color` promotes.
pub(crate) fn promotion_square(pawn: Square, color: Color) -> Square {
    Square::from_coords(pawn.file(), color.fold_wb(Rank::Eighth, Rank::First))
}

/// Returns the Manhattan distance between two squares.
fn steps(a: Square, b: Square) -> i32 {
    let file = i32::from(a.file()) - i32::from(b.file());
    let rank = i32::from(a.rank()) - i32::from(b.rank());
    file.abs() + rank.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(fen: &str, score: Score) -> Score {
        with_bare_king(&Position::from_fen(fen).unwrap(), score)
    }

    #[test]
    fn bare_kings_are_driven() {
        for (better, worse) in [
            // A queen is better than the pawn that becomes one, whatever the network's score.
            ("7Q/8/8/8/k7/8/8/K7 w - - 0 1", "8/7P/8/8/k7/8/8/K7 w - - 0 1"),
            // The bare king at the edge, and the other king near.
            ("8/8/2K5/8/k7/8/8/4R3 w - - 0 1", "8/8/2K5/8/3k4/8/8/4R3 w - - 0 1"),
            ("k7/8/2K5/8/8/8/8/1R6 w - - 0 1", "k7/8/8/2K5/8/8/8/1R6 w - - 0 1"),
            // The bare king in a corner that the bishop controls.
            ("8/8/8/8/8/3K4/3BN3/k7 w - - 0 1", "k7/8/8/8/8/3K4/3BN3/8 w - - 0 1"),
            ("k7/8/8/8/8/3K4/3NB3/8 w - - 0 1", "8/8/8/8/8/3K4/3NB3/k7 w - - 0 1"),
        ] {
            assert!(evaluate(better, 2000) > evaluate(worse, 2000), "{better} {worse}");
        }
        let (white, black) = ("8/8/3K4/8/3k4/8/8/R7 w - - 0 1", "8/8/3K4/8/3k4/8/8/R7 b - - 0 1");
        assert_eq!(evaluate(white, 7), -evaluate(black, 7));
        let queens = "1QQQQQQ1/1QQQQQ1Q/1QQQQ1QQ/1QQQ1QQQ/1QQ1QQQQ/7K/8/k7 w - - 0 1";
        assert_eq!(evaluate(queens, 2000), EVALUATION_LIMIT);
        // Two bishops on squares of the same colour, or two knights, cannot force mate, so the
        // network's score is kept.
        for fen in ["8/8/8/8/3k4/8/8/KB1B4 w - - 0 1", "8/8/8/8/3k4/8/8/KNN5 w - - 0 1"] {
            assert_eq!(evaluate(fen, 77), 77, "{fen}");
        }
        let both = "8/8/8/4pk2/8/8/8/K1Q5 w - - 0 1";
        assert_eq!(evaluate(both, 1234), 1234);
    }
}
