//! Attacks of bishops and rooks, computed by arithmetic on whole lines, with tables of 2.5 KiB.
//!
//! shakmaty's magic bitboards need 700 KiB, which the search's own tables push out of the cache.
//!
//! Source: "hyperbola quintessence" by G. Isenberg and A. Peshkov, 2007,
//! <https://www.chessprogramming.org/Hyperbola_Quintessence>.

use shakmaty::{Bitboard, Square};

/// The squares on each line through a square, without the square itself.
struct Lines {
    file: u64,
    diagonal: u64,
    anti_diagonal: u64,
    rank: u64,
}

static LINES: [Lines; 64] = {
    let mut lines = [const { Lines { file: 0, diagonal: 0, anti_diagonal: 0, rank: 0 } }; 64];
    let mut i = 0;
    while i < 64 * 64 {
        let (square, other) = (i / 64, i % 64);
        let files = other as i32 % 8 - square as i32 % 8;
        let ranks = other as i32 / 8 - square as i32 / 8;
        let line = &mut lines[square];
        let bit = ((square != other) as u64) << other;
        line.file |= bit * (files == 0) as u64;
        line.rank |= bit * (ranks == 0) as u64;
        line.diagonal |= bit * (files == ranks) as u64;
        line.anti_diagonal |= bit * (files == -ranks) as u64;
        i += 1;
    }
    lines
};

/// The squares that a rook attacks on the first rank, by its file and by the occupied squares on
/// files b to g. Files a and h do not matter, because the rook stops there anyway.
static FIRST_RANK: [[u8; 64]; 8] = {
    let mut table = [[0; 64]; 8];
    let mut i = 0;
    while i < 8 * 64 {
        let (file, inner) = (i / 64, i % 64);
        let (bit, turned) = (1_u8 << file, 128_u8 >> file);
        // The same method as in `along`.
        let pieces = ((inner as u8) << 1) & !bit;
        let right = pieces.wrapping_sub(bit);
        let left = pieces.reverse_bits().wrapping_sub(turned).reverse_bits();
        table[file][inner] = right ^ left;
        i += 1;
    }
    table
};

/// Returns the squares that a slider attacks on a line with at most one square on each rank.
///
/// Subtracting the slider's bit from the pieces above it borrows from the nearest of them. The bits
/// that change are the attacked squares. The same operation on the reversed board finds the squares
/// below.
#[inline(always)]
const fn along(line: u64, square: Square, occupied: Bitboard) -> u64 {
    let pieces = occupied.0 & line;
    let (bit, turned) = (1 << square as u32, 1 << (square as u32 ^ 56));
    let up = pieces.wrapping_sub(bit);
    let down = pieces.swap_bytes().wrapping_sub(turned).swap_bytes();
    (up ^ down) & line
}

/// Returns the squares that a bishop attacks.
#[inline(always)]
pub const fn bishop_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    let Lines { diagonal, anti_diagonal, .. } = &LINES[square as usize];
    Bitboard(along(*diagonal, square, occupied) | along(*anti_diagonal, square, occupied))
}

/// Returns the squares that a rook attacks.
#[inline(always)]
pub const fn rook_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    let (file, first) = (square as usize % 8, square as u32 / 8 * 8);
    let inner = occupied.0 >> (first + 1) & 63;
    let rank = (FIRST_RANK[file][inner as usize] as u64) << first;
    Bitboard(along(LINES[square as usize].file, square, occupied) | rank)
}

/// Returns the squares that a bishop attacks on an empty board.
#[inline(always)]
pub(super) const fn bishop_rays(square: Square) -> Bitboard {
    let Lines { diagonal, anti_diagonal, .. } = &LINES[square as usize];
    Bitboard(*diagonal | *anti_diagonal)
}

/// Returns the squares that a rook attacks on an empty board.
#[inline(always)]
pub(super) const fn rook_rays(square: Square) -> Bitboard {
    let Lines { file, rank, .. } = &LINES[square as usize];
    Bitboard(*file | *rank)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::attacks;

    use super::*;

    proptest! {
        /// Compares the attacks with shakmaty's on boards with few and with many pieces.
        #[test]
        fn shakmaty_says_the_same(a: u64, b: u64, c: u64) {
            for occupied in [0, a & b & c, a & b, a, a | b, a | b | c, !0].map(Bitboard) {
                for square in Square::ALL {
                    let expected = attacks::bishop_attacks(square, occupied);
                    prop_assert_eq!(bishop_attacks(square, occupied), expected);
                    let expected = attacks::rook_attacks(square, occupied);
                    prop_assert_eq!(rook_attacks(square, occupied), expected);
                }
            }
        }
    }

    #[test]
    fn rays_are_attacks_on_an_empty_board() {
        for square in Square::ALL {
            assert_eq!(bishop_rays(square), attacks::bishop_attacks(square, Bitboard::EMPTY));
            assert_eq!(rook_rays(square), attacks::rook_attacks(square, Bitboard::EMPTY));
        }
    }
}
