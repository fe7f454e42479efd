//! The parameters of a network and its file format.
//!
//! A file consists of these fields, with numbers in little-endian order:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 8 | `LANCETNN` |
//! | 4 | version of the format, 1 |
//! | 4 | inputs per view: 768 (mirrored) times the number of king buckets, 1 or 4 |
//! | 4 | hidden neurons per view: a multiple of 32, at most 4096 |
//! | 4 | output buckets, 1 to 31 |
//! | 2, 2, 4 | quantisation factors: 255; 64, 128, 256 or 512 for the output weights; scale 400 |
//! | 4 | length of the provenance text in bytes |
//! | 8 | hash (FNV-1a, 64 bits) of all other bytes |
//! | | provenance in UTF-8: how the network was made |
//! | 2 each | first-layer weights by input, then its biases |
//! | 2 each | output weights by bucket: the side to move's view, then the opponent's |
//! | 4 each | output biases by bucket |

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::{fmt, path::Path};

use bytemuck::Zeroable as _;
use shakmaty::{Board, Color};

use super::{
    checksum::{HASH_AT, HEADER, MAGIC, VERSION, hash},
    features::{self, INPUTS, KING_BUCKETS, MAX_ACTIVE, Orientation},
    simd::{self, BLOCK_NEURONS, Block},
};
use crate::{
    chess::score::{EVALUATION_LIMIT, Score},
    system::files,
};

/// Quantisation factor of the hidden layer: 1.0 is stored as this number.
pub const QA: i32 = 255;
/// Possible quantisation factors of the output weights: 1.0 is stored as one of these numbers. A
/// network uses the largest factor that its weights allow, because rounding matters most in this
/// layer.
pub const QB: [i32; 4] = [512, 256, 128, 64];
/// Centipawns of an output of 1.0.
pub const SCALE: i32 = 400;

const MAX_HIDDEN: usize = 4096;
/// Maximum number of output buckets. There are 31 piece counts, 2 to 32, so further buckets would
/// never be chosen.
pub const MAX_BUCKETS: usize = 31;
/// Maximum magnitude of an output weight, so that 255 times this fits in 16 bits.
pub const MAX_OUTPUT_WEIGHT: i16 = 128;
/// Maximum sum of the output weights of one sign in a lane, so that 255^2 times this fits in 32
/// bits.
pub const MAX_OUTPUT_SUM: i32 = i32::MAX / (QA * QA);

/// Returns the largest sum of the output weights of one sign in a lane, for the weights of one
/// output. The arithmetic sums the neurons of a lane in 32 bits.
pub fn largest_output_sum(weights: impl IntoIterator<Item = i32>) -> i32 {
    let mut sums = [[0; 2]; BLOCK_NEURONS / simd::LANE_NEURONS];
    for (i, weight) in weights.into_iter().enumerate() {
        sums[i % BLOCK_NEURONS / simd::LANE_NEURONS][usize::from(weight < 0)] += weight.abs();
    }
    sums.into_iter().flatten().max().unwrap_or(0)
}

/// The error returned for a file or bytes that are not a usable network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read, or is not a usable network.
    #[error("cannot read '{path}': {reason}")]
    File {
        /// Path of the file.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The file does not begin like a Lancet network.
    #[error("not a Lancet network (it does not begin with 'LANCETNN')")]
    Magic,
    /// The version of the format is not supported.
    #[error("unsupported network format {0}, expected {version}", version = VERSION)]
    Version(u32),
    /// The shape is not supported.
    #[error("unsupported network shape: {0}")]
    Architecture(String),
    /// The file is shorter or longer than its header says.
    #[error("network file truncated or damaged: {found} bytes, expected {expected}")]
    Length {
        /// Expected length, in bytes.
        expected: usize,
        /// Actual length, in bytes.
        found: usize,
    },
    /// The contents have changed since the file was written.
    #[error("network file corrupt: hash {found:016x}, expected {expected:016x}")]
    Hash {
        /// The hash stored in the file.
        expected: u64,
        /// The hash computed from the file.
        found: u64,
    },
    /// The provenance text is not UTF-8.
    #[error("the network's provenance text is not UTF-8")]
    Provenance,
    /// A parameter is so large that the arithmetic could overflow.
    #[error("network parameter too large: {0}")]
    Range(String),
}

/// A network's parameters, quantised.
///
/// ```
/// use lancet::{Network, Position};
///
/// let network = lancet::eval::default_network();
/// let position = Position::default();
/// let score = network.evaluate(position.board(), position.turn());
/// assert!(score.abs() < 100, "the start position is worth {score} centipawns");
/// // A file holds the whole network.
/// let again = Network::from_bytes(&network.to_bytes()).unwrap();
/// assert_eq!(again.name(), network.name());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Network {
    /// A row of `biases.len()` blocks for each input.
    weights: Vec<Block>,
    biases: Vec<Block>,
    /// A row of `2 * biases.len()` blocks for each bucket.
    output_weights: Vec<Block>,
    output_biases: Vec<i32>,
    /// One of [`QB`].
    output_unit: i32,
    provenance: String,
    hash: u64,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// The quantised parameters of a network, for the trainer.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// First-layer weights: [`INPUTS`] rows for each king bucket, with a weight for each hidden
    /// neuron.
    pub weights: Vec<i16>,
    /// First-layer biases, one per hidden neuron.
    pub biases: Vec<i16>,
    /// Output weights by bucket: those of the side to move's neurons, then those of the opponent's.
    pub output_weights: Vec<i16>,
    /// Output biases, one per bucket.
    pub output_biases: Vec<i32>,
    /// Quantisation factor of the output weights, one of [`QB`]. The factor of the output biases is
    /// this times [`QA`].
    pub output_unit: i32,
}

impl Network {
    /// Largest accepted file, in bytes. The largest shape takes 26 MB; the rest is for the
    /// provenance.
    pub const LONGEST_FILE: u64 = 64 << 20;

    /// Creates a network from its parameters.
    ///
    /// # Errors
    ///
    /// If the shape is not supported, or a parameter is too large.
    pub fn new(parameters: &Parameters, provenance: &str) -> Result<Network, LoadError> {
        let hidden = parameters.biases.len();
        let buckets = parameters.output_biases.len();
        let king_buckets = parameters.weights.len() / (INPUTS * hidden.max(1));
        check_shape(king_buckets, hidden, buckets)?;
        let shape = (parameters.weights.len(), parameters.output_weights.len());
        if shape != (king_buckets * INPUTS * hidden, 2 * hidden * buckets) {
            return Err(LoadError::Architecture(format!(
                "{} first-layer and {} output weights, which do not fit {hidden} neurons and \
                 {buckets} buckets",
                shape.0, shape.1
            )));
        }
        let mut network = Network {
            weights: to_blocks(&parameters.weights),
            biases: to_blocks(&parameters.biases),
            output_weights: to_blocks(&parameters.output_weights),
            output_biases: parameters.output_biases.clone(),
            output_unit: parameters.output_unit,
            provenance: provenance.to_owned(),
            hash: 0,
        };
        check_units(QA, network.output_unit, SCALE)?;
        network.check_ranges()?;
        network.hash = hash(&network.to_bytes());
        Ok(network)
    }

    /// Reads the network file at `path`.
    ///
    /// # Errors
    ///
    /// [`LoadError::File`] names the file and says what is wrong with it.
    pub fn load(path: &Path) -> Result<Network, LoadError> {
        let refused = |reason: String| LoadError::File { path: path.display().to_string(), reason };
        let bytes = files::read_regular(path, Network::LONGEST_FILE);
        let bytes = bytes.map_err(|error| refused(error.to_string()))?;
        Network::from_bytes(&bytes).map_err(|error| refused(error.to_string()))
    }

    /// Reads a network from the bytes of its file.
    ///
    /// # Errors
    ///
    /// [`LoadError`] says what is wrong with the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Network, LoadError> {
        if !bytes.starts_with(MAGIC) {
            return Err(LoadError::Magic);
        }
        let found = bytes.len();
        let Some(header) = bytes.get(..HEADER) else {
            return Err(LoadError::Length { expected: HEADER, found });
        };
        let number = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        if number(8) != VERSION {
            return Err(LoadError::Version(number(8)));
        }
        let inputs = number(12) as usize;
        if !inputs.is_multiple_of(INPUTS) {
            let reason = format!("{inputs} inputs, expected a multiple of {INPUTS}");
            return Err(LoadError::Architecture(reason));
        }
        let units = [number(24) & 0xffff, number(24) >> 16, number(28)];
        let [qa, output_unit, scale] = units.map(|n| i32::try_from(n).unwrap_or(-1));
        check_units(qa, output_unit, scale)?;
        let (hidden, buckets) = (number(16) as usize, number(20) as usize);
        check_shape(inputs / INPUTS, hidden, buckets)?;
        let text = number(32) as usize;
        let counts = [inputs * hidden, hidden, 2 * hidden * buckets];
        let expected = HEADER + text + 2 * counts.iter().sum::<usize>() + 4 * buckets;
        if found != expected {
            return Err(LoadError::Length { expected, found });
        }
        let stored = u64::from(number(HASH_AT)) | u64::from(number(HASH_AT + 4)) << 32;
        if hash(bytes) != stored {
            return Err(LoadError::Hash { expected: stored, found: hash(bytes) });
        }

        let (provenance, mut rest) = bytes[HEADER..].split_at(text);
        let provenance = std::str::from_utf8(provenance).map_err(|_| LoadError::Provenance)?;
        let mut take = |count: usize| {
            let (numbers, tail) = rest.split_at(2 * count);
            rest = tail;
            let numbers: Vec<i16> =
                numbers.as_chunks().0.iter().map(|&pair| i16::from_le_bytes(pair)).collect();
            to_blocks(&numbers)
        };
        let [weights, biases, output_weights] = counts.map(&mut take);
        let output_biases = rest.as_chunks().0.iter().map(|&four| i32::from_le_bytes(four));
        let network = Network {
            weights,
            biases,
            output_weights,
            output_biases: output_biases.collect(),
            output_unit,
            provenance: provenance.to_owned(),
            hash: stored,
        };
        network.check_ranges()?;
        Ok(network)
    }

    /// Returns the bytes of the network's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = [
            VERSION,
            (INPUTS * self.king_buckets()) as u32,
            self.hidden() as u32,
            self.buckets() as u32,
            QA as u32 | (self.output_unit as u32) << 16,
            SCALE as u32,
            self.provenance.len() as u32,
        ];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(header.iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(self.provenance.as_bytes());
        for block in [&self.weights, &self.biases, &self.output_weights].into_iter().flatten() {
            bytes.extend(block.0.iter().flat_map(|number| number.to_le_bytes()));
        }
        bytes.extend(self.output_biases.iter().flat_map(|number| number.to_le_bytes()));
        let hash = hash(&bytes);
        bytes[HASH_AT..HEADER].copy_from_slice(&hash.to_le_bytes());
        bytes
    }

    /// Checks the ranges that the arithmetic relies on (see the table in [`super`]).
    fn check_ranges(&self) -> Result<(), LoadError> {
        let largest = |blocks: &[Block]| {
            let values = blocks.iter().flat_map(|block| block.0);
            values.map(|value| i32::from(value).abs()).max().unwrap_or(0)
        };
        let (weight, bias) = (largest(&self.weights), largest(&self.biases));
        if MAX_ACTIVE as i32 * weight + bias > i32::from(i16::MAX) {
            return Err(LoadError::Range(format!(
                "largest first-layer weight {weight} and bias {bias}: {MAX_ACTIVE} such weights \
                 and the bias must fit in 16 bits"
            )));
        }
        for bucket in 0..self.buckets() {
            let weights = || self.output_row(bucket).iter().flat_map(|block| block.0);
            if let Some(large) =
                weights().find(|w| !(-MAX_OUTPUT_WEIGHT..=MAX_OUTPUT_WEIGHT).contains(w))
            {
                return Err(LoadError::Range(format!(
                    "output weight {large}, expected -{MAX_OUTPUT_WEIGHT} to {MAX_OUTPUT_WEIGHT}"
                )));
            }
            let sum = largest_output_sum(weights().map(i32::from));
            if sum > MAX_OUTPUT_SUM {
                return Err(LoadError::Range(format!(
                    "output weights of bucket {bucket} sum to {sum} in a lane, expected at most \
                     {MAX_OUTPUT_SUM}"
                )));
            }
        }
        Ok(())
    }

    /// Returns the number of hidden neurons per view.
    pub const fn hidden(&self) -> usize {
        self.biases.len() * BLOCK_NEURONS
    }

    /// Returns the number of king buckets; 1 without king buckets.
    pub const fn king_buckets(&self) -> usize {
        self.weights.len() / (INPUTS * self.biases.len())
    }

    /// Returns the number of output buckets.
    pub const fn buckets(&self) -> usize {
        self.output_biases.len()
    }

    /// Returns the provenance text, which describes how the network was made.
    pub fn provenance(&self) -> &str {
        &self.provenance
    }

    /// Returns the hash of the file. Networks with the same hash are treated as equal.
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns the name: the shape and the first half of the hash.
    pub fn name(&self) -> String {
        let kings = match self.king_buckets() {
            1 => String::new(),
            kings => format!("x{kings}"),
        };
        format!("768{kings}-{}x2-{} {:08x}", self.hidden(), self.buckets(), self.hash >> 32)
    }

    /// Returns the parameters from which [`Network::new`] creates this network.
    pub fn parameters(&self) -> Parameters {
        let numbers = |blocks: &[Block]| blocks.iter().flat_map(|block| block.0).collect();
        Parameters {
            weights: numbers(&self.weights),
            biases: numbers(&self.biases),
            output_weights: numbers(&self.output_weights),
            output_biases: self.output_biases.clone(),
            output_unit: self.output_unit,
        }
    }

    /// Returns the first-layer weights, a row of `biases().len()` blocks per input.
    pub(super) fn weights(&self) -> &[Block] {
        &self.weights
    }

    /// Returns the first-layer biases. They are the hidden layer of an empty board.
    pub(super) fn biases(&self) -> &[Block] {
        &self.biases
    }

    fn output_row(&self, bucket: usize) -> &[Block] {
        let length = 2 * self.biases.len();
        &self.output_weights[bucket * length..][..length]
    }

    /// Returns the score for the side to move from the hidden layers of both views and the number
    /// of pieces.
    #[inline]
    pub(super) fn output(&self, ours: &[Block], theirs: &[Block], pieces: usize) -> Score {
        let bucket = features::output_bucket(pieces, self.buckets());
        let weights = self.output_row(bucket).split_at(self.biases.len());
        let sum = simd::output([ours, theirs], weights.into());
        let units = sum / i64::from(QA) + i64::from(self.output_biases[bucket]);
        // Divide in two steps, because 64-bit division is slow on some processors. The first
        // divisor is a constant, and the second division is a 32-bit one. Clamping to 32 bits
        // changes only scores far beyond the limit.
        let score = units * i64::from(SCALE) / i64::from(QA);
        let score = score.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32 / self.output_unit;
        score.clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT)
    }

    /// Computes the hidden layer of a view from scratch.
    fn hidden_layer(&self, board: &Board, view: Color) -> Vec<Block> {
        let orientation = Orientation::of(board, view, self.king_buckets());
        let active: Vec<u16> = board
            .iter()
            .map(|(square, piece)| orientation.input(view, piece.color, piece.role, square) as u16)
            .collect();
        let mut layer = vec![Block::zeroed(); self.biases.len()];
        simd::update(&mut layer, Some(&self.biases), &self.weights, &active, &[]);
        layer
    }

    /// Returns the terms of [`Network::evaluate`] in centipawns, not rounded: the contributions of
    /// the side to move's view and of the opponent's view, and the bias.
    pub(crate) fn terms(&self, board: &Board, turn: Color) -> [f64; 3] {
        let bucket = features::output_bucket(board.occupied().count(), self.buckets());
        let (ours, theirs) = self.output_row(bucket).split_at(self.biases.len());
        let nothing = vec![Block::zeroed(); self.biases.len()];
        let view = |color, weights| {
            let layers = [&self.hidden_layer(board, color)[..], &nothing];
            simd::output(layers, [weights, weights]) as f64 / f64::from(QA)
        };
        let bias = f64::from(self.output_biases[bucket]);
        [view(turn, ours), view(!turn, theirs), bias]
            .map(|units| units * f64::from(SCALE) / f64::from(QA * self.output_unit))
    }

    /// Computes the score of a position for the side to move from scratch.
    pub fn evaluate(&self, board: &Board, turn: Color) -> Score {
        let [ours, theirs] = [turn, !turn].map(|view| self.hidden_layer(board, view));
        self.output(&ours, &theirs, board.occupied().count())
    }
}

fn check_shape(king_buckets: usize, hidden: usize, buckets: usize) -> Result<(), LoadError> {
    let refused = |reason: String| Err(LoadError::Architecture(reason));
    if !KING_BUCKETS.contains(&king_buckets) {
        return refused(format!("{king_buckets} king buckets, expected one of {KING_BUCKETS:?}"));
    }
    if hidden == 0 || !hidden.is_multiple_of(BLOCK_NEURONS) || hidden > MAX_HIDDEN {
        let expected = format!("expected a multiple of {BLOCK_NEURONS} up to {MAX_HIDDEN}");
        return refused(format!("{hidden} hidden neurons, {expected}"));
    }
    if !(1..=MAX_BUCKETS).contains(&buckets) {
        return refused(format!("{buckets} output buckets, expected 1 to {MAX_BUCKETS}"));
    }
    Ok(())
}

fn check_units(qa: i32, output_unit: i32, scale: i32) -> Result<(), LoadError> {
    if qa != QA || !QB.contains(&output_unit) || scale != SCALE {
        return Err(LoadError::Architecture(format!(
            "quantisation {qa} and {output_unit}, scale {scale}; expected {QA} and one of {QB:?}, \
             scale {SCALE}"
        )));
    }
    Ok(())
}

fn to_blocks(numbers: &[i16]) -> Vec<Block> {
    numbers.as_chunks().0.iter().map(|&chunk| Block(chunk)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    /// Returns a network of random parameters, within the ranges of a trained one.
    pub(crate) fn random_network(hidden: usize, buckets: usize, seed: u64) -> Network {
        random_network_with_kings(1, hidden, buckets, seed)
    }

    /// Returns a random network with this number of king buckets.
    pub(crate) fn random_network_with_kings(
        king_buckets: usize,
        hidden: usize,
        buckets: usize,
        seed: u64,
    ) -> Network {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut numbers = |count: usize, range: i16| -> Vec<i16> {
            (0..count).map(|_| rng.random_range(-range..=range)).collect()
        };
        let parameters = Parameters {
            weights: numbers(king_buckets * INPUTS * hidden, 120),
            biases: numbers(hidden, 250),
            output_weights: numbers(2 * hidden * buckets, 60),
            output_biases: numbers(buckets, 8000).into_iter().map(i32::from).collect(),
            output_unit: 64,
        };
        Network::new(&parameters, "random, for a test").unwrap()
    }

    #[test]
    fn files_survive_the_round_trip() {
        for king_buckets in KING_BUCKETS {
            let network = random_network_with_kings(king_buckets, 64, 3, 1);
            let bytes = network.to_bytes();
            let read = Network::from_bytes(&bytes).unwrap();
            assert!(read == network);
            assert_eq!((read.king_buckets(), read.hidden(), read.buckets()), (king_buckets, 64, 3));
            assert_eq!(read.provenance(), "random, for a test");
            assert_eq!(read.to_bytes(), bytes);
            assert!(Network::new(&read.parameters(), read.provenance()).unwrap() == network);
        }
        assert!(random_network(64, 3, 1).name().starts_with("768-64x2-3 "));
        assert!(random_network_with_kings(4, 64, 3, 1).name().starts_with("768x4-64x2-3 "));
    }

    /// The error names the shape if another program, or a later version, wrote the file.
    #[test]
    fn other_shapes_are_refused() {
        let bytes = random_network(32, 1, 2).to_bytes();
        for (inputs, said) in [(767, "767 inputs"), (1536, "2 king buckets"), (0, "0 king buckets")]
        {
            let mut bytes = bytes.clone();
            bytes[12..16].copy_from_slice(&u32::to_le_bytes(inputs));
            let error = Network::from_bytes(&bytes).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn damaged_files_are_refused() {
        let bytes = random_network(32, 1, 2).to_bytes();
        for length in (0..bytes.len()).filter(|&length| length < 100 || length % 997 == 0) {
            let error = Network::from_bytes(&bytes[..length]).unwrap_err();
            assert!(matches!(error, LoadError::Magic | LoadError::Length { .. }), "{error}");
        }
        for at in (0..bytes.len()).filter(|&at| at < 100 || at % 997 == 0) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            assert!(Network::from_bytes(&bytes).is_err(), "byte {at}");
        }
        let mut long = bytes.clone();
        long.push(0);
        assert!(matches!(Network::from_bytes(&long), Err(LoadError::Length { .. })));
        let mut next = bytes;
        next[8] = 2;
        assert_eq!(Network::from_bytes(&next).unwrap_err(), LoadError::Version(2));
        assert_eq!(Network::from_bytes(b"PK\x03\x04").unwrap_err(), LoadError::Magic);
    }

    #[test]
    fn parameters_that_could_overflow_are_refused() {
        let zero = |hidden: usize| Parameters {
            weights: vec![0; INPUTS * hidden],
            biases: vec![0; hidden],
            output_weights: vec![0; 2 * hidden],
            output_biases: vec![0],
            output_unit: 64,
        };
        let refused = |parameters: &Parameters| {
            matches!(Network::new(parameters, ""), Err(LoadError::Range(_)))
        };
        assert!(!refused(&zero(64)));
        let mut large = zero(64);
        large.weights[5] = 1024;
        assert!(refused(&large));
        let mut large = zero(64);
        large.output_weights[5] = 129;
        assert!(refused(&large));
        // Each 32-bit sum covers two neurons of every block of both views.
        let mut large = zero(MAX_HIDDEN);
        large.output_weights.fill(65);
        assert!(refused(&large));
        large.output_weights[..MAX_HIDDEN].fill(-65);
        assert!(!refused(&large));
        large.output_weights.fill(64);
        assert!(!refused(&large));
        assert!(matches!(Network::new(&zero(48), ""), Err(LoadError::Architecture(_))));
    }
}
