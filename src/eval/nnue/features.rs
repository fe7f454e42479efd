//! What the network sees. Player and trainer share these functions, so that
//! they cannot disagree. No weights here.
//!
//! Each side has its own view: its own pieces first, its own first rank first,
//! and its king on files a to d: if the king is on files e to h, the view is
//! mirrored. Networks with king buckets have rows of their own for each of four
//! parts of the board that the king can be in.

use shakmaty::{Board, Color, Role, Square};

use crate::chess::position::MAX_MEN;

/// Inputs of one view and king bucket: 2 colours, 6 roles, 64 squares.
pub const INPUTS: usize = 768;
/// The numbers of king buckets that a network can have.
pub const KING_BUCKETS: [usize; 2] = [1, 4];
/// Largest number of active inputs of one view.
pub const MAX_ACTIVE: usize = MAX_MEN;

/// What a view's own king decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Perspective {
    /// Is the view mirrored?
    pub mirrored: bool,
    /// The king bucket, whose rows stand for the pieces.
    pub bucket: u8,
}

impl Perspective {
    /// How many there are, with king buckets.
    pub(super) const COUNT: usize = 8;

    /// The perspective of a view whose king stands here, for a network with so many
    /// king buckets: one, or 0 for a1 and b1, 1 for c1 and d1, 2 for the second rank,
    /// 3 for the rest.
    #[inline]
    pub const fn new(view: Color, king: Square, king_buckets: usize) -> Perspective {
        let mirrored = king as usize & 7 >= 4;
        let flip = if view.is_white() { 0 } else { 56 } ^ if mirrored { 7 } else { 0 };
        let bucket = match king as usize ^ flip {
            _ if king_buckets == 1 => 0,
            0..2 => 0,
            2..4 => 1,
            8..16 => 2,
            _ => 3,
        };
        Perspective { mirrored, bucket }
    }

    /// The perspective of `view`. A board without a king is not mirrored.
    #[inline]
    pub fn of(board: &Board, view: Color, king_buckets: usize) -> Perspective {
        board
            .king_of(view)
            .map_or(Perspective::default(), |king| Perspective::new(view, king, king_buckets))
    }

    /// From 0 to below [`Self::COUNT`].
    #[inline]
    pub(super) const fn number(self) -> usize {
        2 * self.bucket as usize + self.mirrored as usize
    }

    /// The input for a piece, in the view of `view`.
    #[inline]
    pub const fn input(self, view: Color, color: Color, role: Role, square: Square) -> usize {
        let theirs = (view as usize) ^ (color as usize);
        let flip = if view.is_white() { 0 } else { 56 } ^ if self.mirrored { 7 } else { 0 };
        let index = (theirs * 6 + role as usize - 1) * 64 + (square as usize ^ flip);
        INPUTS * self.bucket as usize + index
    }
}

/// The output bucket of a position with this many pieces, 2 to 32.
#[inline]
pub const fn output_bucket(pieces: usize, buckets: usize) -> usize {
    let bucket = pieces.saturating_sub(2) * buckets / 31;
    if bucket < buckets { bucket } else { buckets - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;
    use shakmaty::CastlingMode;
    use std::collections::BTreeSet;

    fn active(fen: &str, view: Color) -> BTreeSet<usize> {
        let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        let perspective = Perspective::of(position.board(), view, 4);
        let input = |(square, piece): (Square, shakmaty::Piece)| {
            perspective.input(view, piece.color, piece.role, square)
        };
        position.board().clone().into_iter().map(input).collect()
    }

    #[test]
    fn indices_are_distinct_and_complete() {
        for view in Color::ALL {
            for mirrored in [false, true] {
                let perspective = Perspective { mirrored, bucket: 0 };
                let mut seen = BTreeSet::new();
                for color in Color::ALL {
                    for role in Role::ALL {
                        for square in Square::ALL {
                            seen.insert(perspective.input(view, color, role, square));
                        }
                    }
                }
                assert_eq!(seen.len(), INPUTS);
                assert_eq!(seen.last(), Some(&(INPUTS - 1)));
            }
        }
        // Our pawn on a2, their king on e8, from either side.
        let input =
            |view, color, role, square| Perspective::default().input(view, color, role, square);
        assert_eq!(input(Color::White, Color::White, Role::Pawn, Square::A2), 8);
        assert_eq!(input(Color::Black, Color::Black, Role::Pawn, Square::A7), 8);
        assert_eq!(input(Color::White, Color::Black, Role::King, Square::E8), 11 * 64 + 60);
    }

    /// Colours swapped and board turned: what one side saw the other sees.
    /// Board mirrored: both see the same.
    #[test]
    fn symmetries() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w - - 0 1";
        let swapped = "r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b - - 0 1";
        let mirrored = "r2k3r/1bpqpp1p/1pnp2nb/3NP3/3P2p1/p1Q2N2/PPPBBPPP/R2K3R w - - 0 1";
        for view in Color::ALL {
            assert_eq!(active(fen, view), active(swapped, !view));
            assert_eq!(active(fen, view), active(mirrored, view));
        }
    }

    /// As White sees the board, files e to h mirrored; Black sees it turned.
    #[test]
    fn king_buckets() {
        let board = [
            "33333333", "33333333", "33333333", "33333333", "33333333", "33333333", "22222222",
            "00111100",
        ];
        for square in Square::ALL {
            let (file, rank) = (square as usize % 8, square as usize / 8);
            let expected = board[7 - rank].as_bytes()[file] - b'0';
            let white = Perspective::new(Color::White, square, 4);
            assert_eq!((white.bucket, white.mirrored), (expected, file >= 4), "{square}");
            assert_eq!(Perspective::new(Color::Black, square.flip_vertical(), 4), white);
            let one = Perspective::new(Color::White, square, 1);
            assert_eq!((one.bucket, one.mirrored), (0, white.mirrored));
            assert!(white.number() < Perspective::COUNT);
        }
    }

    #[test]
    fn buckets_cover_all_counts() {
        for buckets in 1..=16 {
            assert_eq!(output_bucket(2, buckets), 0);
            assert_eq!(output_bucket(32, buckets), buckets - 1);
            for pieces in 3..=32 {
                let step = output_bucket(pieces, buckets) - output_bucket(pieces - 1, buckets);
                assert!(step <= 1);
            }
        }
    }
}
