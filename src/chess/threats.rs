//! Attacks on a board: checkers, pins, threats. They do not depend on the side to move or on the
//! legality of moves.

use shakmaty::{Bitboard, Board, Color, File, Role, Square, attacks};

use crate::chess::sliders;

/// The sliders that attack a square, and the pieces that alone stand between a slider and the
/// square.
pub(super) struct Sliders {
    /// Sliders that attack the square.
    pub(super) attackers: Bitboard,
    /// Pieces of either side that are the only piece between a slider and the square.
    pub(super) blockers: Bitboard,
}

/// Finds the sliders among `pieces` that attack `square`, and the pieces that alone block one.
pub(super) fn sliders_towards(board: &Board, square: Square, pieces: Bitboard) -> Sliders {
    let aligned = (sliders::bishop_rays(square) & board.bishops_and_queens())
        | (sliders::rook_rays(square) & board.rooks_and_queens());
    let mut lines = Sliders { attackers: Bitboard::EMPTY, blockers: Bitboard::EMPTY };
    for slider in aligned & pieces {
        let between = attacks::between(square, slider) & board.occupied();
        if between.is_empty() {
            lines.attackers.add(slider);
        } else if !between.more_than_one() {
            lines.blockers |= between;
        }
    }
    lines
}

/// Returns the enemy pieces that give check to `color`, and the pieces of `color` that are pinned
/// to its king.
pub(super) fn checkers_and_pinned(board: &Board, color: Color) -> (Bitboard, Bitboard) {
    let king = king_of(board, color);
    let theirs = board.by_color(!color);
    let lines = sliders_towards(board, king, theirs);
    let steppers = (attacks::pawn_attacks(color, king) & board.pawns())
        | (attacks::knight_attacks(king) & board.knights());
    (steppers & theirs | lines.attackers, lines.blockers & board.by_color(color))
}

/// Returns the pieces of `color` that one of these enemy sliders pins to its king.
pub(super) fn pinned_by(board: &Board, color: Color, sliders: Bitboard) -> Bitboard {
    sliders_towards(board, king_of(board, color), sliders).blockers & board.by_color(color)
}

pub(super) fn king_of(board: &Board, color: Color) -> Square {
    // Every legal position has both kings.
    (board.kings() & board.by_color(color)).first().unwrap_or(Square::A1)
}

/// Returns all pieces of both sides that attack `square` if the squares `occupied` block sliders.
/// The result may contain pieces that are not in `occupied`.
pub(super) fn attackers(board: &Board, square: Square, occupied: Bitboard) -> Bitboard {
    (attacks::pawn_attacks(Color::White, square) & board.pawns() & board.black())
        | (attacks::pawn_attacks(Color::Black, square) & board.pawns() & board.white())
        | (attacks::knight_attacks(square) & board.knights())
        | (attacks::king_attacks(square) & board.kings())
        | (sliders::bishop_attacks(square, occupied) & board.bishops_and_queens())
        | (sliders::rook_attacks(square, occupied) & board.rooks_and_queens())
}

/// Returns the squares that pawns of `color` on `pawns` attack: those towards the a-file, then
/// those towards the h-file.
pub fn pawn_attacks(pawns: Bitboard, color: Color) -> [Bitboard; 2] {
    let west = pawns & !Bitboard::from(File::A);
    let east = pawns & !Bitboard::from(File::H);
    color.fold_wb([west.shift(7), east.shift(9)], [west.shift(-9), east.shift(-7)])
}

/// The squares that one side attacks, by the value of the attackers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attacked {
    /// Squares that pawns attack.
    by_pawns: Bitboard,
    /// Squares that pawns, knights or bishops attack.
    by_minors: Bitboard,
    /// Squares that pawns, knights, bishops or rooks attack.
    by_rooks: Bitboard,
    /// Squares that any piece attacks.
    pub(super) by_any: Bitboard,
}

impl Attacked {
    /// Computes the attacks of `color` on a board where the squares `occupied` block sliders.
    pub(super) fn new(board: &Board, color: Color, occupied: Bitboard) -> Attacked {
        let pieces = board.by_color(color);
        let bishop = |square| sliders::bishop_attacks(square, occupied);
        let rook = |square| sliders::rook_attacks(square, occupied);
        let [west, east] = pawn_attacks(board.pawns() & pieces, color);
        let by_pawns = west | east;
        let by_minors = by_pawns
            | attacked_from(pieces & board.knights(), attacks::knight_attacks)
            | attacked_from(pieces & board.bishops(), bishop);
        let by_rooks = by_minors | attacked_from(pieces & board.rooks(), rook);
        let by_any = by_rooks
            | attacks::king_attacks(king_of(board, color))
            | attacked_from(pieces & board.queens(), |square| bishop(square) | rook(square));
        Attacked { by_pawns, by_minors, by_rooks, by_any }
    }

    /// Returns the squares attacked by a piece that is worth less than one of this role. Knights
    /// and bishops count as equal. Returns no squares for a king, which is never exchanged.
    pub(super) const fn by_less_than(&self, role: Role) -> Bitboard {
        match role {
            Role::Pawn | Role::King => Bitboard::EMPTY,
            Role::Knight | Role::Bishop => self.by_pawns,
            Role::Rook => self.by_minors,
            Role::Queen => self.by_rooks,
        }
    }
}

/// Returns all squares that pieces on `squares` attack, where `attacks` returns the attacks of one
/// piece.
#[inline]
pub(crate) fn attacked_from(squares: Bitboard, attacks: impl Fn(Square) -> Bitboard) -> Bitboard {
    squares.into_iter().fold(Bitboard::EMPTY, |all, square| all | attacks(square))
}

/// Returns whether `color` attacks any of these squares.
pub(crate) fn attacks_any(board: &Board, color: Color, targets: Bitboard) -> bool {
    let (pieces, occupied) = (board.by_color(color), board.occupied());
    if targets.is_empty() {
        return false;
    }
    let [west, east] = pawn_attacks(board.pawns() & pieces, color);
    let bishop = |from| sliders::bishop_attacks(from, occupied);
    let rook = |from| sliders::rook_attacks(from, occupied);
    ((west | east) & targets).any()
        || reaches(pieces & board.knights(), attacks::knight_attacks, targets)
        || reaches(pieces & board.bishops_and_queens(), bishop, targets)
        || reaches(pieces & board.rooks_and_queens(), rook, targets)
        || reaches(pieces & board.kings(), attacks::king_attacks, targets)
}

/// Returns whether any of these pieces attacks one of the targets, where `attacks` returns the
/// attacks of one piece.
fn reaches(pieces: Bitboard, attacks: impl Fn(Square) -> Bitboard, targets: Bitboard) -> bool {
    pieces.into_iter().any(|from| (attacks(from) & targets).any())
}
