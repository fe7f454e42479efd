//! Rules of chess that confirm claims about moves and pieces. Sentences claim only facts that were
//! checked here, by a search or by the evaluation.

use shakmaty::{Bitboard, Board, Color, File, Move, Position as _, Rank, Role, Square};

use crate::chess::{
    position::Position,
    see::{see_ge, value},
};

/// Maximum difference in value, in centipawns, of pieces that count as equal in an exchange.
pub(super) const EXCHANGE: i32 = 50;

/// Returns a move that mates at once, if there is one.
pub(super) fn mating_move(at: &Position) -> Option<Move> {
    at.legal_moves().into_iter().find(|&m| at.play(m).chess().is_checkmate())
}

/// Returns whether the piece on `square` can be captured at once.
pub(super) fn is_taken(at: &Position, square: Square) -> bool {
    at.legal_moves().iter().any(|m| m.is_capture() && m.to() == square)
}

/// Returns whether `m` captures something and the capturing piece cannot be recaptured.
pub(super) fn takes_for_nothing(at: &Position, m: Move) -> bool {
    m.is_capture() && !is_taken(&at.play(m), m.to())
}

/// Returns whether a piece is more valuable than its attacker. No piece is more valuable than a
/// king, although a king has no exchange value.
fn is_dearer(target: Role, attacker: Role) -> bool {
    attacker != Role::King && value(target) > value(attacker) + EXCHANGE
}

/// Returns whether `m` captures a more valuable piece.
pub(super) fn takes_dearer(m: Move) -> bool {
    m.capture().is_some_and(|taken| is_dearer(taken, m.role()))
}

/// Returns whether the other side, if it were to move, could win something on `square`. A check to
/// its king delays the capture, but does not prevent it.
pub(super) fn is_lost(at: &Position, square: Square) -> bool {
    let Some(piece) = at.board().piece_at(square) else { return false };
    // If the owner is to move, it passes, which it cannot do in check.
    let theirs = if at.turn() == piece.color { at.play_null() } else { Some(at.clone()) };
    theirs.is_some_and(|theirs| {
        let takes = |m: &Move| m.is_capture() && taken_on(*m) == square;
        let mut takes: Vec<Move> = theirs.legal_moves().into_iter().filter(takes).collect();
        if theirs.is_check() {
            let board = theirs.board();
            let attackers = board.attacks_to(square, !piece.color, board.occupied());
            let free = attackers & !board.kings() & !theirs.pinned();
            takes.extend(free.into_iter().filter_map(|from| {
                let (role, capture) = (board.role_at(from)?, Some(piece.role));
                Some(Move::Normal { role, from, capture, to: square, promotion: None })
            }));
        }
        takes.into_iter().any(|m| see_ge(&theirs, m, EXCHANGE))
    })
}

/// Returns whether the position is quiet: no check, and no capture or promotion that wins material.
pub(super) fn is_quiet(at: &Position) -> bool {
    let gains = |m: &Move| (m.is_capture() || m.is_promotion()) && see_ge(at, *m, EXCHANGE);
    !at.is_check() && !at.legal_moves().iter().any(gains)
}

/// Returns whether the piece on `target` is worth attacking with the piece on `from`: a king, a
/// more valuable piece, or an unprotected one. A king attacks only unprotected pieces.
pub(super) fn is_worthy(board: &Board, from: Square, target: Square) -> bool {
    let Some(piece) = board.piece_at(target) else { return false };
    piece.role == Role::King
        || board.role_at(from).is_some_and(|attacker| is_dearer(piece.role, attacker))
        || board.attacks_to(target, piece.color, board.occupied()).is_empty()
}

/// Returns whether the piece on `square` is pinned to its king by the slider on `by`.
pub(super) fn is_pinned(board: &Board, square: Square, by: Square) -> bool {
    let Some(color) = board.color_at(square) else { return false };
    let Some(king) = board.king_of(color) else { return false };
    let reaches = |board: &Board| board.attacks_to(king, !color, board.occupied()).contains(by);
    let mut without = board.clone();
    without.discard_piece_at(square);
    square != king && !reaches(board) && reaches(&without)
}

/// Returns whether a pawn of `color` on `square` is passed and has no pawn of its own in front of
/// it.
pub(super) fn is_passed(board: &Board, color: Color, square: Square) -> bool {
    let ahead = |rank: Rank| color.fold_wb(rank > square.rank(), rank < square.rank());
    let is_free = |color: Color, files: u32| {
        !(board.pawns() & board.by_color(color))
            .into_iter()
            .any(|pawn| pawn.file().distance(square.file()) <= files && ahead(pawn.rank()))
    };
    is_free(!color, 1) && is_free(color, 0)
}

/// Returns the enemy passed pawn that the piece on `square` blocks, if there is one.
pub(super) fn blockaded(board: &Board, square: Square) -> Option<Square> {
    let enemy = !board.color_at(square)?;
    let pawn = square.offset(enemy.fold_wb(-8, 8))?;
    let is_pawn = board.piece_at(pawn) == Some(enemy.pawn());
    (is_pawn && is_passed(board, enemy, pawn)).then_some(pawn)
}

/// Returns the pieces of a side without pawns and king.
pub(super) fn pieces(board: &Board, color: Color) -> Bitboard {
    board.by_color(color) & !board.pawns() & !board.kings()
}

/// Returns the square of the piece that `m` captures.
pub(super) fn taken_on(m: Move) -> Square {
    match m {
        Move::EnPassant { from, to } => Square::from_coords(to.file(), from.rank()),
        _ => m.to(),
    }
}

/// Returns the square of the moved piece after the move. For castling, this is the square to which
/// the rook moves.
pub(super) fn destination(m: Move) -> Square {
    match m {
        Move::Castle { king, rook } => {
            let file = if rook > king { File::F } else { File::D };
            Square::from_coords(file, king.rank())
        }
        _ => m.to(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A king attacks only pieces that it could capture. Other pieces also attack protected pieces
    /// that are more valuable.
    #[test]
    fn attacks_on_protected_pieces() {
        for (board, worthy) in [
            ("4k3/8/2p5/3n4/4K3/8/8/8", false),
            ("4k3/8/8/3n4/4K3/8/8/8", true),
            ("4k3/8/2p5/3n4/4P3/8/8/4K3", true),
            ("4k3/8/2p5/3n4/4Q3/8/8/4K3", false),
        ] {
            let board: Board = board.parse().unwrap();
            assert_eq!(is_worthy(&board, Square::E4, Square::D5), worthy, "{board:?}");
        }
    }
}
