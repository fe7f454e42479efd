//! What attacks what on a board: checkers, pins, threats. Nothing here knows whose
//! move it is, or what moves are legal.

use shakmaty::{Bitboard, Board, Color, File, Role, Square, attacks};

use crate::chess::sliders;

/// Sliders that would attack a square of an empty board.
pub(super) struct Sliders {
    /// Those that do attack it.
    pub(super) attackers: Bitboard,
    /// Pieces of either side that alone stand in the way of one.
    pub(super) blockers: Bitboard,
}

/// The sliders among `pieces` on lines with `square`.
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

/// The enemy pieces that give check to `color`, and its pieces that are pinned to
/// the king.
pub(super) fn checkers_and_pinned(board: &Board, color: Color) -> (Bitboard, Bitboard) {
    let king = king_of(board, color);
    let theirs = board.by_color(!color);
    let lines = sliders_towards(board, king, theirs);
    let steppers = (attacks::pawn_attacks(color, king) & board.pawns())
        | (attacks::knight_attacks(king) & board.knights());
    (steppers & theirs | lines.attackers, lines.blockers & board.by_color(color))
}

/// The pieces of `color` that one of these enemy sliders pins to its king.
pub(super) fn pinned_by(board: &Board, color: Color, sliders: Bitboard) -> Bitboard {
    sliders_towards(board, king_of(board, color), sliders).blockers & board.by_color(color)
}

pub(super) fn king_of(board: &Board, color: Color) -> Square {
    // Every legal position has both kings.
    (board.kings() & board.by_color(color)).first().unwrap_or(Square::A1)
}

/// All pieces of both sides that attack `square`.
pub(super) fn attackers(board: &Board, square: Square, occupied: Bitboard) -> Bitboard {
    (attacks::pawn_attacks(Color::White, square) & board.pawns() & board.black())
        | (attacks::pawn_attacks(Color::Black, square) & board.pawns() & board.white())
        | (attacks::knight_attacks(square) & board.knights())
        | (attacks::king_attacks(square) & board.kings())
        | (sliders::bishop_attacks(square, occupied) & board.bishops_and_queens())
        | (sliders::rook_attacks(square, occupied) & board.rooks_and_queens())
}

/// The squares that pawns on `pawns` attack, towards the a-file and the h-file.
pub fn pawn_attacks(pawns: Bitboard, color: Color) -> [Bitboard; 2] {
    let west = pawns & !Bitboard::from(File::A);
    let east = pawns & !Bitboard::from(File::H);
    color.fold_wb([west.shift(7), east.shift(9)], [west.shift(-9), east.shift(-7)])
}

/// The squares that one side attacks, by the least piece that does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attacked {
    /// By pawns.
    by_pawns: Bitboard,
    /// By pawns, knights and bishops.
    by_minors: Bitboard,
    /// By these and rooks.
    by_rooks: Bitboard,
    /// By any piece.
    pub(super) by_any: Bitboard,
}

impl Attacked {
    /// By `color`, where these squares are occupied.
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

    /// By a piece that is worth less than one of this role; a king is not for
    /// exchange.
    pub(super) const fn by_less_than(&self, role: Role) -> Bitboard {
        match role {
            Role::Pawn | Role::King => Bitboard::EMPTY,
            Role::Knight | Role::Bishop => self.by_pawns,
            Role::Rook => self.by_minors,
            Role::Queen => self.by_rooks,
        }
    }
}

/// All that pieces on these squares attack, if this is what one attacks.
#[inline]
pub(crate) fn attacked_from(squares: Bitboard, attacks: impl Fn(Square) -> Bitboard) -> Bitboard {
    squares.into_iter().fold(Bitboard::EMPTY, |all, square| all | attacks(square))
}

/// Does `color` attack any of these squares?
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

/// Does one of these pieces, which attack like this, attack one of the targets?
fn reaches(pieces: Bitboard, attacks: impl Fn(Square) -> Bitboard, targets: Bitboard) -> bool {
    pieces.into_iter().any(|from| (attacks(from) & targets).any())
}
