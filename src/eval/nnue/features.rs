//! The inputs of the network. Engine and trainer share these functions, so that their inputs are
//! always the same.
//!
//! Each side has its own view, in which its own pieces and its own first rank have the lowest
//! numbers. If its king is on files e to h, the view is mirrored, so that the king is always on
//! files a to d. Networks with king buckets have separate rows of weights for each of four areas of
//! the board in which the king can be.

use shakmaty::{Board, Color, Role, Square};

use crate::chess::position::MAX_MEN;

/// Inputs of one view and king bucket: 2 colours, 6 roles, 64 squares.
pub const INPUTS: usize = 768;
/// Possible numbers of king buckets of a network.
pub const KING_BUCKETS: [usize; 2] = [1, 4];
/// Maximum number of active inputs of one view.
pub const MAX_ACTIVE: usize = MAX_MEN;

/// The properties of a view that depend on its own king.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// Whether the view is mirrored.
    pub mirrored: bool,
    /// The king bucket.
    pub bucket: u8,
}

impl Orientation {
    /// Number of different orientations with king buckets.
    pub(super) const COUNT: usize = 8;

    /// Returns the orientation of a view with its king on this square, for a network with this
    /// number of king buckets. With four, bucket 0 is a1 and b1, 1 is c1 and d1, 2 is the second
    /// rank, and 3 is the rest.
    #[inline]
    pub const fn new(view: Color, king: Square, king_buckets: usize) -> Orientation {
        let mirrored = king as usize & 7 >= 4;
        let flip = if view.is_white() { 0 } else { 56 } ^ if mirrored { 7 } else { 0 };
        let bucket = match king as usize ^ flip {
            _ if king_buckets == 1 => 0,
            0..2 => 0,
            2..4 => 1,
            8..16 => 2,
            _ => 3,
        };
        Orientation { mirrored, bucket }
    }

    /// Returns the orientation of `view`. A board without a king is not mirrored.
    #[inline]
    pub fn of(board: &Board, view: Color, king_buckets: usize) -> Orientation {
        board
            .king_of(view)
            .map_or(Orientation::default(), |king| Orientation::new(view, king, king_buckets))
    }

    /// Returns the index of this orientation, less than [`Self::COUNT`].
    #[inline]
    pub(super) const fn number(self) -> usize {
        2 * self.bucket as usize + self.mirrored as usize
    }

    /// Returns the index of a piece's input in the view of the side `view`.
    #[inline]
    pub const fn input(self, view: Color, color: Color, role: Role, square: Square) -> usize {
        let theirs = (view as usize) ^ (color as usize);
        let flip = if view.is_white() { 0 } else { 56 } ^ if self.mirrored { 7 } else { 0 };
        let index = (theirs * 6 + role as usize - 1) * 64 + (square as usize ^ flip);
        INPUTS * self.bucket as usize + index
    }
}

/// Returns the output bucket of a position with this number of pieces, 2 to 32, in a network with
/// `buckets` buckets, 1 to [`MAX_BUCKETS`](super::network::MAX_BUCKETS).
#[inline]
pub const fn output_bucket(pieces: usize, buckets: usize) -> usize {
    let bucket = pieces.saturating_sub(2) * buckets / 31;
    if bucket < buckets { bucket } else { buckets - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chess::position::Position, eval::nnue::network::MAX_BUCKETS};

    use std::collections::BTreeSet;

    fn active(fen: &str, view: Color) -> BTreeSet<usize> {
        let position = Position::from_fen(fen).unwrap();
        let orientation = Orientation::of(position.board(), view, 4);
        let input = |(square, piece): (Square, shakmaty::Piece)| {
            orientation.input(view, piece.color, piece.role, square)
        };
        position.board().clone().into_iter().map(input).collect()
    }

    #[test]
    fn indices_are_distinct_and_complete() {
        for view in Color::ALL {
            for mirrored in [false, true] {
                let orientation = Orientation { mirrored, bucket: 0 };
                let mut seen = BTreeSet::new();
                for color in Color::ALL {
                    for role in Role::ALL {
                        for square in Square::ALL {
                            seen.insert(orientation.input(view, color, role, square));
                        }
                    }
                }
                assert_eq!(seen.len(), INPUTS);
                assert_eq!(seen.last(), Some(&(INPUTS - 1)));
            }
        }
        // Our pawn on a2 from either side, and their king on e8.
        let input =
            |view, color, role, square| Orientation::default().input(view, color, role, square);
        assert_eq!(input(Color::White, Color::White, Role::Pawn, Square::A2), 8);
        assert_eq!(input(Color::Black, Color::Black, Role::Pawn, Square::A7), 8);
        assert_eq!(input(Color::White, Color::Black, Role::King, Square::E8), 11 * 64 + 60);
    }

    /// Swapping the colours and flipping the board vertically swaps the views. Mirroring the board
    /// horizontally changes neither.
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

    /// The buckets from White's point of view, with files e to h mirrored. For Black the board is
    /// flipped vertically.
    #[test]
    fn king_buckets() {
        let board = [
            "33333333", "33333333", "33333333", "33333333", "33333333", "33333333", "22222222",
            "00111100",
        ];
        for square in Square::ALL {
            let (file, rank) = (square as usize % 8, square as usize / 8);
            let expected = board[7 - rank].as_bytes()[file] - b'0';
            let white = Orientation::new(Color::White, square, 4);
            assert_eq!((white.bucket, white.mirrored), (expected, file >= 4), "{square}");
            assert_eq!(Orientation::new(Color::Black, square.flip_vertical(), 4), white);
            let one = Orientation::new(Color::White, square, 1);
            assert_eq!((one.bucket, one.mirrored), (0, white.mirrored));
            assert!(white.number() < Orientation::COUNT);
        }
    }

    #[test]
    fn buckets_cover_all_counts() {
        for buckets in 1..=MAX_BUCKETS {
            assert_eq!(output_bucket(2, buckets), 0);
            assert_eq!(output_bucket(32, buckets), buckets - 1);
            for pieces in 3..=32 {
                let step = output_bucket(pieces, buckets) - output_bucket(pieces - 1, buckets);
                assert!(step <= 1);
            }
        }
    }
}
