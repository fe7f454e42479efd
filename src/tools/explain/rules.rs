//! What the rules say of moves and pieces. Nothing is put into words that has not been
//! asked here.

use shakmaty::{Bitboard, Board, Color, File, Move, Position as _, Rank, Role, Square};

use crate::chess::{
    position::Position,
    see::{see_ge, value},
};

/// What two pieces may differ by, in centipawns, and still be exchanged.
pub(super) const EXCHANGE: i32 = 50;

/// The position after passing, if its side may.
pub(super) fn passed(at: &Position) -> Option<Position> {
    if at.is_check() { None } else { at.play_null() }
}

/// The position in which the side of `color` is to move.
pub(super) fn turned(at: &Position, color: Color) -> Option<Position> {
    if at.turn() == color { Some(at.clone()) } else { passed(at) }
}

/// A move that mates.
pub(super) fn mating_move(at: &Position) -> Option<Move> {
    at.legal_moves().into_iter().find(|&m| at.play(m).chess().is_checkmate())
}

/// May the piece on `square` be taken at once?
pub(super) fn is_taken(at: &Position, square: Square) -> bool {
    at.legal_moves().iter().any(|m| m.is_capture() && m.to() == square)
}

/// Does `m` take something that nothing takes back?
pub(super) fn takes_for_nothing(at: &Position, m: Move) -> bool {
    m.is_capture() && !is_taken(&at.play(m), m.to())
}

/// Does `m` take by a piece that is worth less?
pub(super) fn takes_dearer(m: Move) -> bool {
    m.capture().is_some_and(|taken| value(taken) > value(m.role()) + EXCHANGE)
}

/// Would the other side win something on `square`, if it were to move?
pub(super) fn is_lost(at: &Position, square: Square) -> bool {
    let color = at.board().color_at(square);
    color.and_then(|color| turned(at, !color)).is_some_and(|theirs| {
        let takes = |m: &&Move| m.is_capture() && taken_on(**m) == square;
        theirs.legal_moves().iter().filter(takes).any(|&m| see_ge(&theirs, m, EXCHANGE))
    })
}

/// Is nothing to be won by taking or promoting at once, and no check to be met?
pub(super) fn is_quiet(at: &Position) -> bool {
    let gains = |m: &Move| (m.is_capture() || m.is_promotion()) && see_ge(at, *m, EXCHANGE);
    !at.is_check() && !at.legal_moves().iter().any(gains)
}

/// Is it worth attacking `target` with the piece on `from`? A king, what is worth
/// more, or what nothing protects.
pub(super) fn is_worthy(board: &Board, from: Square, target: Square) -> bool {
    let Some(piece) = board.piece_at(target) else { return false };
    piece.role == Role::King
        || value(piece.role) > board.role_at(from).map_or(0, value) + EXCHANGE
        || board.attacks_to(target, piece.color, board.occupied()).is_empty()
}

/// Does only the piece on `square` keep the slider on `by` from its king?
pub(super) fn is_pinned(board: &Board, square: Square, by: Square) -> bool {
    let Some(color) = board.color_at(square) else { return false };
    let Some(king) = board.king_of(color) else { return false };
    let reaches = |board: &Board| board.attacks_to(king, !color, board.occupied()).contains(by);
    let mut without = board.clone();
    without.discard_piece_at(square);
    square != king && !reaches(board) && reaches(&without)
}

/// Are no enemy pawns before the pawn of `color` on `square`, nor own ones?
pub(super) fn is_passed(board: &Board, color: Color, square: Square) -> bool {
    let ahead = |rank: Rank| color.fold_wb(rank > square.rank(), rank < square.rank());
    let is_free = |color: Color, files: u32| {
        !(board.pawns() & board.by_color(color))
            .into_iter()
            .any(|pawn| pawn.file().distance(square.file()) <= files && ahead(pawn.rank()))
    };
    is_free(!color, 1) && is_free(color, 0)
}

/// The heavy and light pieces of a side.
pub(super) fn pieces(board: &Board, color: Color) -> Bitboard {
    board.by_color(color) & !board.pawns() & !board.kings()
}

/// Where the piece stands that `m` takes.
pub(super) fn taken_on(m: Move) -> Square {
    match m {
        Move::EnPassant { from, to } => Square::from_coords(to.file(), from.rank()),
        _ => m.to(),
    }
}

/// Where the moved piece stands afterwards; the rook, of castling.
pub(super) fn destination(m: Move) -> Square {
    match m {
        Move::Castle { king, rook } => {
            let file = if rook > king { File::F } else { File::D };
            Square::from_coords(file, king.rank())
        }
        _ => m.to(),
    }
}
