//! Training samples of 28 bytes, and the order in which they are used.

use rayon::prelude::*;
use shakmaty::{Bitboard, Board, Chess, Color, Piece, Position as _, Role, Square};

use super::format::{GameResult, pack_pieces};
use lancet::{
    chess::{score::Score, see},
    eval::{
        self,
        nnue::features::{MAX_ACTIVE, Orientation},
    },
    system::random::mix,
};

/// Value of `result` for a won game. A drawn game has half of it.
const WON: u8 = 254;

/// A position with its labels, from the point of view of the side to move. If Black is to move, the
/// board is flipped vertically and the colours are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The occupied squares, in two halves to avoid padding.
    occupied: [u32; 2],
    /// The pieces on these squares, see [`pack_pieces`].
    pieces: [u8; 16],
    /// Score of the search, in centipawns for the side to move.
    score: i16,
    /// The game's result, from 0 (lost) to [`WON`].
    result: u8,
}

/// Active inputs of both views, the side to move's first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    /// Inputs; only the first `count` of each view are valid.
    pub inputs: [[u16; MAX_ACTIVE]; 2],
    /// Number of pieces on the board.
    pub count: usize,
    /// Factor by which the search multiplies the network's output.
    pub weight: f32,
}

impl Active {
    /// Returns the inputs of one view.
    #[inline]
    pub fn view(&self, view: usize) -> &[u16] {
        &self.inputs[view][..self.count.min(MAX_ACTIVE)]
    }
}

impl Sample {
    /// Packs a position. `score` is from the point of view of the side to move.
    pub fn new(chess: &Chess, score: Score, result: GameResult) -> Sample {
        let turn = chess.turn();
        let mut board = chess.board().clone();
        if turn.is_black() {
            board.flip_vertical();
            board.swap_colors();
        }
        let bound = Score::from(i16::MAX);
        let occupied = board.occupied().0;
        Sample {
            occupied: [occupied as u32, (occupied >> 32) as u32],
            pieces: pack_pieces(&board, Bitboard::EMPTY),
            score: score.clamp(-bound, bound) as i16,
            result: result.half_points(turn) * (WON / 2),
        }
    }

    /// Returns the score in centipawns for the side to move.
    pub(crate) fn score(&self) -> f32 {
        f32::from(self.score)
    }

    /// Returns the result of the game for the side to move: 0, 0.5 or 1. A merged sample has the
    /// mean of several results.
    pub(crate) fn result(&self) -> f32 {
        f32::from(self.result) / f32::from(WON)
    }

    /// Returns the number of pieces.
    pub(crate) fn count(&self) -> usize {
        self.occupied.iter().map(|half| half.count_ones() as usize).sum()
    }

    /// Returns the pieces. Those of the side to move are White's.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> + '_ {
        let [low, high] = self.occupied.map(u64::from);
        let squares = Bitboard(low | high << 32).into_iter();
        squares.take(MAX_ACTIVE).enumerate().map(|(i, square)| {
            let code = self.pieces[i / 2] >> (4 * (i % 2)) & 15;
            let role = Role::ALL[usize::from(code & 7).min(5)];
            (square, role.of(Color::from_white(code < 8)))
        })
    }

    /// Returns the board. The pieces of the side to move are White's.
    pub(crate) fn board(&self) -> Board {
        let mut board = Board::empty();
        for (square, piece) in self.pieces() {
            board.set_piece_at(square, piece);
        }
        board
    }

    /// Returns the position without its labels, as the network sees it.
    fn position(&self) -> ([u32; 2], [u8; 16]) {
        (self.occupied, self.pieces)
    }

    /// Returns the factor by which the search multiplies the network's output.
    pub(crate) fn weight(&self) -> f32 {
        weight(self.pieces().map(|(_, piece)| see::value(piece.role)).sum())
    }

    /// Returns the active inputs for a network with this number of king buckets.
    pub(crate) fn active(&self, king_buckets: usize) -> Active {
        const VIEWS: [Color; 2] = [Color::White, Color::Black];
        let mut orientations = [Orientation::default(); 2];
        for (square, piece) in self.pieces() {
            if piece.role == Role::King {
                orientations[usize::from(piece.color.is_black())] =
                    Orientation::new(piece.color, square, king_buckets);
            }
        }
        let mut active = Active { inputs: [[0; MAX_ACTIVE]; 2], count: 0, weight: 1.0 };
        let mut material = 0;
        for (square, Piece { color, role }) in self.pieces() {
            for (view, orientation) in orientations.iter().enumerate() {
                active.inputs[view][active.count] =
                    orientation.input(VIEWS[view], color, role, square) as u16;
            }
            active.count += 1;
            material += see::value(role);
        }
        active.weight = weight(material);
        active
    }
}

/// Returns the factor by which the search multiplies the network's output with this material.
fn weight(material: Score) -> f32 {
    eval::weight_of(material) as f32 / 1024.0
}

/// Merges the samples of each position into one, with the mean score and the mean result. Sorts the
/// samples by position. Returns the number of samples removed.
pub(crate) fn merge_duplicates(samples: &mut Vec<Sample>) -> usize {
    samples.par_sort_unstable_by_key(Sample::position);
    let (before, mut kept, mut start) = (samples.len(), 0, 0);
    while start < before {
        let same = |sample: &&Sample| sample.position() == samples[start].position();
        let end = start + samples[start..].iter().take_while(same).count();
        samples[kept] = mean(&samples[start..end]);
        (kept, start) = (kept + 1, end);
    }
    samples.truncate(kept);
    before - kept
}

/// Returns the mean of at least one sample of the same position.
fn mean(samples: &[Sample]) -> Sample {
    let rounded = |sum: i64| (sum as f64 / samples.len() as f64).round();
    let score = rounded(samples.iter().map(|sample| i64::from(sample.score)).sum()) as i16;
    let result = rounded(samples.iter().map(|sample| i64::from(sample.result)).sum()) as u8;
    Sample { score, result, ..samples[0] }
}

/// A pseudo-random permutation of `0..length` that is computed and not stored. It is a Feistel
/// network on the smallest sufficient power of four, with cycle walking: it is applied repeatedly
/// until the value is below `length`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shuffle {
    length: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    /// Returns the permutation for a seed and the number of a pass over the data.
    pub fn new(length: usize, seed: u64, number: u64) -> Shuffle {
        let bits = u64::BITS - (length as u64).saturating_sub(1).leading_zeros();
        let mut state = mix(mix(seed) ^ number);
        let keys = std::array::from_fn(|_| {
            state = mix(state);
            state
        });
        Shuffle { length: length as u64, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// Returns the value at `index`, which must be below the length.
    pub fn get(&self, index: usize) -> usize {
        let mask = (1 << self.half_bits) - 1;
        let mut value = index as u64;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for key in self.keys {
                (left, right) = (right, left ^ (mix(right ^ key) & mask));
            }
            value = left << self.half_bits | right;
            if value < self.length {
                return value as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lancet::{chess::position::Position, eval::nnue::features::KING_BUCKETS};

    use std::collections::BTreeSet;

    /// The trainer and the engine use the same inputs.
    #[test]
    fn trainer_and_engine_have_the_same_inputs() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
            "1k6/8/8/8/8/8/6p1/6K1 b - - 0 1",
        ] {
            let position = Position::from_fen(fen).unwrap();
            let sample = Sample::new(position.chess(), 12, GameResult::WhiteWins);
            let board = position.board();
            let mut own = board.clone();
            if position.turn().is_black() {
                own.flip_vertical();
                own.swap_colors();
            }
            assert!(sample.pieces().eq(own.iter()));
            for king_buckets in KING_BUCKETS {
                let active = sample.active(king_buckets);
                for (i, view) in [position.turn(), !position.turn()].into_iter().enumerate() {
                    let orientation = Orientation::of(board, view, king_buckets);
                    let expected: BTreeSet<u16> = board
                        .iter()
                        .map(|(s, p)| orientation.input(view, p.color, p.role, s) as u16)
                        .collect();
                    assert_eq!(active.view(i).iter().copied().collect::<BTreeSet<_>>(), expected);
                }
            }
        }
    }

    /// A win for White is a loss if Black is to move.
    #[test]
    fn labels_are_from_the_side_to_moves_point_of_view() {
        for (turn, result, expected) in [
            ("w", GameResult::WhiteWins, 1.0),
            ("b", GameResult::WhiteWins, 0.0),
            ("w", GameResult::BlackWins, 0.0),
            ("b", GameResult::BlackWins, 1.0),
            ("b", GameResult::Draw, 0.5),
        ] {
            let fen = format!("4k3/8/8/8/8/8/4P3/4K3 {turn} - - 0 1");
            let position = Position::from_fen(&fen).unwrap();
            let sample = Sample::new(position.chess(), -70, result);
            assert_eq!((sample.result(), sample.score()), (expected, -70.0));
        }
        assert_eq!(size_of::<Sample>(), 28);
    }

    /// Several samples of a position are merged into their mean, in any order. A position and its
    /// mirror image with the other side to move are equal for the network.
    #[test]
    fn duplicates_are_merged() {
        let sample = |fen: &str, score, result| {
            let position = Position::from_fen(fen).unwrap();
            Sample::new(position.chess(), score, result)
        };
        let white = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        let mirrored = "4k3/4p3/8/8/8/8/8/4K3 b - - 7 30";
        let other = "4k3/8/8/8/8/4P3/8/4K3 w - - 0 1";
        let mut samples = vec![
            sample(white, 10, GameResult::WhiteWins),
            sample(other, -5, GameResult::BlackWins),
            sample(mirrored, 90, GameResult::Draw),
            sample(white, 20, GameResult::BlackWins),
            sample(white, 0, GameResult::Draw),
        ];
        let mut reversed: Vec<Sample> = samples.iter().rev().copied().collect();
        assert_eq!((merge_duplicates(&mut samples), samples.len()), (3, 2));
        assert_eq!(merge_duplicates(&mut reversed), 3);
        assert_eq!(samples, reversed);
        let labels: Vec<_> = samples.iter().map(|one| (one.score(), one.result())).collect();
        assert!(labels.contains(&(30.0, 0.5)), "{labels:?}");
        assert!(labels.contains(&(-5.0, 0.0)), "{labels:?}");
        assert_eq!(merge_duplicates(&mut samples), 0);
    }

    /// The trainer multiplies outputs by the same weight as the search.
    #[test]
    fn trainer_and_engine_have_the_same_material_weight() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
        ] {
            let position = Position::from_fen(fen).unwrap();
            let sample = Sample::new(position.chess(), 0, GameResult::Draw);
            let played = f64::from(eval::weighted(10_000, position.board())) / 10_000.0;
            for weight in [sample.weight(), sample.active(1).weight] {
                assert!((f64::from(weight) - played).abs() < 1e-3, "{fen}: {weight}");
            }
        }
    }

    #[test]
    fn shuffles_are_permutations() {
        for length in [1, 2, 3, 16, 17, 1000] {
            let order: Vec<usize> =
                (0..length).map(|i| Shuffle::new(length, 7, 1).get(i)).collect();
            let sorted: BTreeSet<usize> = order.iter().copied().collect();
            assert!(sorted.into_iter().eq(0..length), "{length}");
        }
        let order = |seed, number| {
            let shuffle = Shuffle::new(1000, seed, number);
            (0..1000).map(|i| shuffle.get(i)).collect::<Vec<_>>()
        };
        assert_eq!(order(1, 2), order(1, 2));
        assert_ne!(order(1, 2), order(1, 3));
        assert_ne!(order(1, 2), order(2, 2));
        // Neighbours do not stay together.
        let near = order(1, 1).windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < 10).count();
        assert!(near < 60, "{near}");
    }
}
