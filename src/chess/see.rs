//! Static exchange evaluation: the material that a move wins if both sides then capture on its
//! target square as long as that pays. This is a pure function of position and move.

use shakmaty::{Bitboard, Board, Move, Role, Square};

use crate::chess::{
    position::Position,
    sliders,
    threats::{attackers, pinned_by},
};

/// Exchange values in centipawns, pawn to queen; a king is never exchanged.
const VALUE: [i32; 6] = [100, 320, 330, 500, 950, 0];

/// Returns the exchange value of a role, in centipawns.
pub const fn value(role: Role) -> i32 {
    VALUE[role as usize - 1]
}

/// Returns the material that `m` gains before any reply, in centipawns.
fn gain(m: Move) -> i32 {
    let captured = m.capture().map_or(0, value);
    let promoted = m.promotion().map_or(0, |role| value(role) - value(Role::Pawn));
    captured + promoted
}

/// Returns whether `m` captures on the square on which the previous move, `last`, captured.
pub(crate) fn recaptures(last: Option<Move>, m: Move) -> bool {
    m.is_capture() && last.is_some_and(|last| last.is_capture() && last.to() == m.to())
}

/// Returns whether the exchange that `m` starts wins at least `threshold` centipawns.
///
/// X-ray attackers take part. Pinned pieces do not, unless the pinning slider is the piece that
/// moves first or the piece that it captures. Castling neither wins nor loses material.
///
/// Source: the swap algorithm, <https://www.chessprogramming.org/SEE_-_The_Swap_Algorithm>.
pub fn see_ge(position: &Position, m: Move, threshold: i32) -> bool {
    let (from, to) = match m {
        Move::Normal { from, to, .. } | Move::EnPassant { from, to } => (from, to),
        Move::Castle { .. } | Move::Put { .. } => return threshold <= 0,
    };
    let board = position.board();
    let us = position.turn();

    // In the best case, we keep the gain. In the worst case, we also lose the moving piece.
    let mut balance = gain(m) - threshold;
    if balance < 0 {
        return false;
    }
    balance -= value(m.promotion().unwrap_or(m.role()));
    if balance >= 0 {
        return true;
    }

    let mut occupied = board.occupied().without(from).with(to);
    if m.is_en_passant() {
        occupied.discard(Square::from_coords(to.file(), from.rank()));
    }
    let diagonal = board.bishops_and_queens();
    let straight = board.rooks_and_queens();
    let mut attackers = attackers(board, to, occupied);
    let mut side = !us;
    // The pinned pieces of each side, computed when that side first has a piece that attacks the
    // square.
    let mut pinned = [None; 2];
    let others = occupied.without(to);

    loop {
        attackers &= occupied;
        let mut ours = attackers & board.by_color(side);
        if ours.any() {
            ours &= !*pinned[side as usize]
                .get_or_insert_with(|| pinned_by(board, side, board.by_color(!side) & others));
        }
        let Some((role, square)) = least_valuable(board, ours) else { break };
        occupied.discard(square);
        if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
            attackers |= sliders::bishop_attacks(to, occupied) & diagonal;
        }
        if matches!(role, Role::Rook | Role::Queen) {
            attackers |= sliders::rook_attacks(to, occupied) & straight;
        }
        side = !side;
        balance = -balance - 1 - value(role);
        if balance >= 0 {
            // A king may not capture a defended piece, so its side must stop here.
            if role == Role::King && (attackers & occupied & board.by_color(side)).any() {
                side = !side;
            }
            break;
        }
    }
    // The side to move has no good capture left, and loses the exchange.
    side != us
}

fn least_valuable(board: &Board, pieces: Bitboard) -> Option<(Role, Square)> {
    Role::ALL
        .into_iter()
        .find_map(|role| (pieces & board.by_role(role)).first().map(|square| (role, square)))
}

#[cfg(test)]
mod tests {
    use shakmaty::Color;

    use super::*;

    /// Computes the exact exchange value by recursion, with the same rules: the least valuable
    /// attacker captures first, a king never captures a defended piece, and a side may stop.
    fn exchange(position: &Position, m: Move) -> i32 {
        fn reply(
            position: &Position,
            to: Square,
            side: Color,
            (occupied, others): (Bitboard, Bitboard),
            on: i32,
        ) -> i32 {
            let board = position.board();
            let all = attackers(board, to, occupied) & occupied;
            let pinned = pinned_by(board, side, board.by_color(!side) & others);
            let free = all & board.by_color(side) & !pinned;
            let Some((role, square)) = least_valuable(board, free) else { return 0 };
            let rest = occupied.without(square);
            let defended = attackers(board, to, rest) & rest & position.board().by_color(!side);
            if role == Role::King && defended.any() {
                return 0;
            }
            (on - reply(position, to, !side, (rest, others), value(role))).max(0)
        }
        let (Some(from), to) = (m.from(), m.to()) else { return 0 };
        let mut occupied = position.board().occupied().without(from).with(to);
        if m.is_en_passant() {
            occupied.discard(Square::from_coords(to.file(), from.rank()));
        }
        let moved = value(m.promotion().unwrap_or(m.role()));
        let others = occupied.without(to);
        gain(m) - reply(position, to, !position.turn(), (occupied, others), moved)
    }

    #[test]
    fn agrees_with_recursion_on_random_games() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut checked = 0;
        for _ in 0..60 {
            let mut position = Position::default();
            for _ in 0..120 {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                for &m in moves.iter().filter(|m| !m.is_castle()) {
                    let exact = exchange(&position, m);
                    for threshold in [exact - 1, exact, exact + 1, -90, 0, 150] {
                        assert_eq!(
                            see_ge(&position, m, threshold),
                            exact >= threshold,
                            "{m:?} in {} is worth {exact}, asked {threshold}",
                            position.fen()
                        );
                    }
                    checked += 1;
                }
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                position = position.play(moves[(seed % moves.len() as u64) as usize]);
            }
        }
        assert!(checked > 50_000, "{checked}");
    }

    #[test]
    fn known_exchanges() {
        let cases = [
            // The textbook examples: a rook takes an undefended pawn, and a knight takes a defended
            // one.
            ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 100),
            ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", -220),
            // The defending knight is pinned. In the third position, the captured queen was pinning
            // the rook.
            ("4k3/8/4n3/2p5/8/B7/8/4R2K w - - 0 1", "a3c5", 100),
            ("4k3/3n4/8/1B2p3/8/8/8/4R2K w - - 0 1", "e1e5", 100),
            ("k7/8/3p4/4q3/8/6B1/4R3/4K3 w - - 0 1", "g3e5", 720),
            // En passant and a promotion that is recaptured.
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
            ("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", 1350),
            ("r3k3/8/8/8/8/8/1p6/R3K3 b - - 0 1", "b2a1q", 1350),
        ];
        for (fen, text, expected) in cases {
            let position = Position::from_fen(fen).unwrap();
            let uci: shakmaty::uci::UciMove = text.parse().unwrap();
            let m = uci.to_move(position.chess()).unwrap();
            assert!(see_ge(&position, m, expected), "{fen} {text}");
            assert!(!see_ge(&position, m, expected + 1), "{fen} {text}");
        }
    }
}
