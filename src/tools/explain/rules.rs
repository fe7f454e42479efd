//! What the rules say of moves and pieces. Nothing is put into words that has not been
//! asked here.

use shakmaty::{Bitboard, Board, Color, File, Move, Position as _, Role, Square};

use crate::chess::{position::Position, see::value};

/// What two pieces may differ by, in centipawns, and still be exchanged.
const EXCHANGE: i32 = 50;

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

/// Would the other side take the piece on `square` for nothing, if it were to move?
pub(super) fn hangs(at: &Position, square: Square) -> bool {
    let color = at.board().color_at(square);
    color.and_then(|color| turned(at, !color)).is_some_and(|theirs| {
        let moves = theirs.legal_moves();
        moves.iter().any(|&m| m.to() == square && takes_for_nothing(&theirs, m))
    })
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
