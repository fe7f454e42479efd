//! The network in floating point: parameters, forward and backward pass.
//!
//! The first layer is sparse: of 768 inputs some twenty are active, so a pass
//! adds up rows of weights, and its gradient adds to rows. The hidden layer is
//! cut into tiles whose rows fit the second-level cache; a chunk of positions
//! goes through one tile after the other, with the tile's neurons in registers.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use shakmaty::Board;
use wide::f32x8;

use super::sample::{Active, Sample};
use crate::eval::nnue::{
    features::{self, INPUTS},
    network::{LoadError, MAX_OUTPUT_SUM, MAX_OUTPUT_WEIGHT, Network, Parameters, QA, QB, SCALE},
};

/// Positions that go through the tiles together: their neurons of one tile
/// stay in the cache.
pub const CHUNK: usize = 256;

/// Largest magnitude of a first-layer weight: 33 times 1.98 * 255 fits the 16 bits
/// of the player's hidden layer.
const CLIP: f32 = 1.98;
/// Largest magnitude of an output weight: they stay multiples of 1/256. Six of 512
/// that were larger once forced 1/64 on all, which rounded half of them by 6 %.
const OUTPUT_CLIP: f32 = 127.0 / 256.0;

/// Where the parameters are in one long vector of registers (eight numbers):
/// first-layer weights by tile and input, first-layer biases by tile, output
/// weights by bucket, view and tile, output biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Hidden neurons per view.
    pub hidden: usize,
    /// Output buckets.
    pub buckets: usize,
}

impl Layout {
    /// Registers of a tile: 8 where that divides the layer, else 4.
    const fn tile(self) -> usize {
        if self.hidden.is_multiple_of(64) { 8 } else { 4 }
    }

    const fn tiles(self) -> usize {
        self.units() / self.tile()
    }

    /// Registers of the hidden layer of one view.
    const fn units(self) -> usize {
        self.hidden / 8
    }

    const fn biases(self) -> usize {
        INPUTS * self.units()
    }

    const fn outputs(self) -> usize {
        self.biases() + self.units()
    }

    const fn output_biases(self) -> usize {
        self.outputs() + 2 * self.buckets * self.units()
    }

    /// Registers of all parameters.
    #[must_use]
    pub const fn len(self) -> usize {
        self.output_biases() + self.buckets.div_ceil(8)
    }

    /// Never: there are always output biases.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The layers, and the largest magnitude of their numbers.
    #[must_use]
    pub const fn limits(self) -> [(Range<usize>, f32); 3] {
        [
            (0..self.outputs(), CLIP),
            (self.outputs()..self.output_biases(), OUTPUT_CLIP),
            (self.output_biases()..self.len(), f32::MAX),
        ]
    }

    /// The place of a first-layer weight among the numbers of the vector.
    fn weight_at(self, input: usize, neuron: usize) -> usize {
        let width = 8 * self.tile();
        (neuron / width * INPUTS + input) * width + neuron % width
    }

    /// Random parameters to begin with, those of the first layer up to `size` either
    /// way.
    #[must_use]
    pub fn initial(self, seed: u64, size: f32) -> Vec<f32x8> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut parameters = vec![f32x8::ZERO; self.len()];
        let numbers: &mut [f32] = cast_slice_mut(&mut parameters);
        for weight in &mut numbers[..8 * self.biases()] {
            *weight = rng.random_range(-size..=size);
        }
        for bias in &mut numbers[8 * self.biases()..8 * self.outputs()] {
            *bias = rng.random_range(0.0..0.2);
        }
        let range = (1.0 / self.hidden as f32).sqrt();
        for weight in &mut numbers[8 * self.outputs()..8 * self.output_biases()] {
            *weight = rng.random_range(-range..range);
        }
        parameters
    }

    /// The parameters that a network is played as: its numbers, each over its unit.
    #[must_use]
    pub fn dequantise(network: &Network) -> (Layout, Vec<f32x8>) {
        let layout = Layout { hidden: network.hidden(), buckets: network.buckets() };
        let from = network.parameters();
        let mut parameters = vec![f32x8::ZERO; layout.len()];
        let numbers: &mut [f32] = cast_slice_mut(&mut parameters);
        for input in 0..INPUTS {
            for neuron in 0..layout.hidden {
                let weight = from.weights[input * layout.hidden + neuron];
                numbers[layout.weight_at(input, neuron)] = f32::from(weight) / QA as f32;
            }
        }
        let mut fill = |at: usize, values: &[i16], unit: i32| {
            for (number, &value) in numbers[8 * at..].iter_mut().zip(values) {
                *number = f32::from(value) / unit as f32;
            }
        };
        fill(layout.biases(), &from.biases, QA);
        fill(layout.outputs(), &from.output_weights, from.output_unit);
        let biases = &mut numbers[8 * layout.output_biases()..];
        for (number, &bias) in biases.iter_mut().zip(&from.output_biases) {
            *number = bias as f32 / (QA * from.output_unit) as f32;
        }
        (layout, parameters)
    }

    /// The finest units of the output weights that the player's arithmetic
    /// allows; the coarsest if none do.
    #[must_use]
    pub fn output_unit(self, parameters: &[f32x8]) -> i32 {
        let weights: &[f32] = cast_slice(&parameters[self.outputs()..self.output_biases()]);
        let row = 2 * self.hidden;
        let fits = |unit: i32| {
            let round = |weight: f32| (weight * unit as f32).round();
            weights.chunks_exact(row).all(|row| {
                let sum = |sign: f32| row.iter().map(|&w| (sign * round(w)).max(0.0)).sum::<f32>();
                row.iter().all(|&w| round(w).abs() <= f32::from(MAX_OUTPUT_WEIGHT))
                    && sum(1.0).max(sum(-1.0)) <= MAX_OUTPUT_SUM as f32
            })
        };
        QB.into_iter().find(|&unit| fits(unit)).unwrap_or(QB[QB.len() - 1])
    }

    /// The unit of register `at`, one over which is what its numbers are
    /// multiples of in play. Output biases are too fine to matter.
    const fn unit(self, at: usize, output_unit: i32) -> Option<f32> {
        if at < self.outputs() {
            Some(QA as f32)
        } else if at < self.output_biases() {
            Some(output_unit as f32)
        } else {
            None
        }
    }

    /// Rounds registers from `start` on to what the player can represent.
    pub fn round(self, start: usize, output_unit: i32, numbers: &[f32x8], out: &mut [f32x8]) {
        for ((at, &number), out) in (start..).zip(numbers).zip(out) {
            *out = match self.unit(at, output_unit) {
                None => number,
                Some(unit) => (number * f32x8::splat(unit)).round() * f32x8::splat(1.0 / unit),
            };
        }
    }

    /// The network for playing.
    ///
    /// # Errors
    ///
    /// If a number is too large for exact arithmetic.
    pub fn quantise(self, parameters: &[f32x8], provenance: &str) -> Result<Network, LoadError> {
        let output_unit = self.output_unit(parameters);
        let numbers: &[f32] = cast_slice(parameters);
        // Casting saturates; the network then refuses the number.
        let narrow = |value: f32, unit: i32| (value * unit as f32).round() as i16;
        let mut weights = Vec::with_capacity(INPUTS * self.hidden);
        for input in 0..INPUTS {
            for neuron in 0..self.hidden {
                weights.push(narrow(numbers[self.weight_at(input, neuron)], QA));
            }
        }
        let narrow_all = |from: usize, to: usize, unit| {
            numbers[8 * from..8 * to].iter().map(|&value| narrow(value, unit)).collect()
        };
        let output_biases = &numbers[8 * self.output_biases()..][..self.buckets];
        let parameters = Parameters {
            weights,
            biases: narrow_all(self.biases(), self.outputs(), QA),
            output_weights: narrow_all(self.outputs(), self.output_biases(), output_unit),
            output_biases: output_biases
                .iter()
                .map(|&bias| (bias * (QA * output_unit) as f32).round() as i32)
                .collect(),
            output_unit,
        };
        Network::new(&parameters, provenance)
    }
}

/// How labels become a target, and outputs a loss.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// Weight of the game's result, 0 to 1; the rest is the search's score.
    pub result_weight: f32,
    /// Centipawns that are worth a factor of e in the odds of winning.
    pub scale: f32,
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

impl Objective {
    /// The wanted winning probability of the side to move.
    #[must_use]
    pub fn target(self, sample: &Sample) -> f32 {
        let score = sigmoid(sample.score() / self.scale);
        self.result_weight * sample.result() + (1.0 - self.result_weight) * score
    }

    /// Squared error of an output, and its derivative by the output.
    #[must_use]
    pub fn loss(self, output: f32, sample: &Sample) -> (f32, f32) {
        // Outputs stay centipawns, whatever the labels' scale.
        let steepness = SCALE as f32 / self.scale;
        let p = sigmoid(steepness * output);
        let error = p - self.target(sample);
        (error * error, 2.0 * error * p * (1.0 - p) * steepness)
    }
}

/// One thread's share of a batch: its buffers and its gradient.
#[derive(Debug)]
pub struct Worker {
    layout: Layout,
    /// Sum of the derivatives of the losses, laid out like the parameters.
    pub gradient: Vec<f32x8>,
    /// Sum of the losses.
    pub loss: f64,
    active: Vec<Active>,
    /// Clamped neurons by tile, position and view.
    neurons: Vec<f32x8>,
    outputs: Vec<f32x8>,
}

impl Worker {
    /// Empty buffers.
    #[must_use]
    pub fn new(layout: Layout) -> Worker {
        Worker {
            layout,
            gradient: vec![f32x8::ZERO; layout.len()],
            loss: 0.0,
            active: Vec::with_capacity(CHUNK),
            neurons: vec![f32x8::ZERO; 2 * CHUNK * layout.units()],
            outputs: vec![f32x8::ZERO; CHUNK],
        }
    }

    /// Forgets gradient and loss.
    pub fn clear(&mut self) {
        self.gradient.fill(f32x8::ZERO);
        self.loss = 0.0;
    }

    /// The outputs for up to [`CHUNK`] samples, in units of 400 centipawns.
    #[must_use]
    pub fn forward(&mut self, parameters: &[f32x8], samples: &[Sample]) -> Vec<f32> {
        self.active.clear();
        self.active.extend(samples.iter().take(CHUNK).map(Sample::active));
        self.outputs.fill(f32x8::ZERO);
        match self.layout.tile() {
            8 => self.forward_tiles::<8>(parameters),
            _ => self.forward_tiles::<4>(parameters),
        }
        let biases: &[f32] = cast_slice(&parameters[self.layout.output_biases()..]);
        let bucket = |active: &Active| self.bucket(active);
        self.outputs
            .iter()
            .zip(&self.active)
            .map(|(sum, active)| sum.reduce_add() + biases[bucket(active)])
            .collect()
    }

    /// Adds the losses of up to [`CHUNK`] samples, without gradient.
    pub fn validate(&mut self, parameters: &[f32x8], samples: &[Sample], objective: Objective) {
        let outputs = self.forward(parameters, samples);
        for (&output, sample) in outputs.iter().zip(samples) {
            self.loss += f64::from(objective.loss(output, sample).0);
        }
    }

    /// Adds losses and gradient of up to [`CHUNK`] samples.
    pub fn learn(&mut self, parameters: &[f32x8], samples: &[Sample], objective: Objective) {
        let mut outputs = self.forward(parameters, samples);
        let biases = 8 * self.layout.output_biases();
        for ((output, sample), active) in outputs.iter_mut().zip(samples).zip(&self.active) {
            let (loss, slope) = objective.loss(*output, sample);
            self.loss += f64::from(loss);
            let bucket = self.bucket(active);
            cast_slice_mut::<_, f32>(&mut self.gradient)[biases + bucket] += slope;
            *output = slope;
        }
        match self.layout.tile() {
            8 => self.backward_tiles::<8>(parameters, &outputs),
            _ => self.backward_tiles::<4>(parameters, &outputs),
        }
    }

    fn bucket(&self, active: &Active) -> usize {
        features::output_bucket(active.count, self.layout.buckets)
    }

    /// Where the output weights of a bucket, view and tile begin.
    fn output_row<const N: usize>(
        layout: Layout,
        bucket: usize,
        view: usize,
        tile: usize,
    ) -> usize {
        layout.outputs() + (2 * bucket + view) * layout.units() + tile * N
    }

    fn forward_tiles<const N: usize>(&mut self, parameters: &[f32x8]) {
        let layout = self.layout;
        let count = self.active.len();
        for tile in 0..layout.tiles() {
            let rows = rows::<N>(&parameters[tile * INPUTS * N..][..INPUTS * N]);
            let bias = &rows_at::<N>(parameters, layout.biases() + tile * N);
            let neurons =
                self.neurons[tile * 2 * count * N..][..2 * count * N].chunks_exact_mut(2 * N);
            for ((active, output), neurons) in
                self.active.iter().zip(&mut self.outputs).zip(neurons)
            {
                let bucket = features::output_bucket(active.count, layout.buckets);
                for (view, neurons) in neurons.chunks_exact_mut(N).enumerate() {
                    let mut sums = *bias;
                    for &input in active.view(view) {
                        let row = &rows[usize::from(input)];
                        for i in 0..N {
                            sums[i] += row[i];
                        }
                    }
                    let at = Self::output_row::<N>(layout, bucket, view, tile);
                    let weights = rows_at::<N>(parameters, at);
                    let mut total = *output;
                    for i in 0..N {
                        let s = sums[i].fast_max(f32x8::ZERO).fast_min(f32x8::ONE);
                        neurons[i] = s;
                        total = (s * s).mul_add(weights[i], total);
                    }
                    *output = total;
                }
            }
        }
    }

    /// `slopes` are the derivatives of the losses by the outputs.
    fn backward_tiles<const N: usize>(&mut self, parameters: &[f32x8], slopes: &[f32]) {
        let layout = self.layout;
        let count = self.active.len();
        for tile in 0..layout.tiles() {
            let neurons = self.neurons[tile * 2 * count * N..][..2 * count * N].chunks_exact(2 * N);
            let (first, second) = self.gradient.split_at_mut(layout.biases());
            let (biases, outputs) = second.split_at_mut(layout.units());
            let rows = rows_mut::<N>(&mut first[tile * INPUTS * N..][..INPUTS * N]);
            let mut bias = [f32x8::ZERO; N];
            for ((active, &slope), neurons) in self.active.iter().zip(slopes).zip(neurons) {
                let bucket = features::output_bucket(active.count, layout.buckets);
                let slope = f32x8::splat(slope);
                for (view, neurons) in neurons.chunks_exact(N).enumerate() {
                    let at = Self::output_row::<N>(layout, bucket, view, tile);
                    let weights = rows_at::<N>(parameters, at);
                    let outputs = &mut outputs[at - layout.outputs()..][..N];
                    let mut delta = [f32x8::ZERO; N];
                    for i in 0..N {
                        let s = neurons[i];
                        let scaled = s * slope;
                        outputs[i] = s.mul_add(scaled, outputs[i]);
                        // The square's slope, none where the neuron is clamped.
                        let open = s.simd_lt(f32x8::ONE);
                        delta[i] = open & ((scaled + scaled) * weights[i]);
                        bias[i] += delta[i];
                    }
                    for &input in active.view(view) {
                        let row = &mut rows[usize::from(input)];
                        for i in 0..N {
                            row[i] += delta[i];
                        }
                    }
                }
            }
            for (sum, bias) in biases[tile * N..][..N].iter_mut().zip(bias) {
                *sum += bias;
            }
        }
    }
}

/// Mean and largest difference, in centipawns, between a network and the model
/// with these parameters.
#[must_use]
pub fn disagreement(
    layout: Layout,
    parameters: &[f32x8],
    network: &Network,
    samples: &[Sample],
) -> (f64, f64) {
    let mut worker = Worker::new(layout);
    let (mut sum, mut worst) = (0.0, 0.0_f64);
    for chunk in samples.chunks(CHUNK) {
        for (output, sample) in worker.forward(parameters, chunk).iter().zip(chunk) {
            let mut board = Board::empty();
            for (square, piece) in sample.pieces() {
                board.set_piece_at(square, piece);
            }
            let played = f64::from(network.evaluate(&board, sample.turn()));
            let difference = (played - f64::from(*output) * f64::from(SCALE)).abs();
            sum += difference;
            worst = worst.max(difference);
        }
    }
    (sum / samples.len().max(1) as f64, worst)
}

fn rows<const N: usize>(numbers: &[f32x8]) -> &[[f32x8; N]] {
    numbers.as_chunks().0
}

fn rows_mut<const N: usize>(numbers: &mut [f32x8]) -> &mut [[f32x8; N]] {
    numbers.as_chunks_mut().0
}

fn rows_at<const N: usize>(numbers: &[f32x8], at: usize) -> [f32x8; N] {
    let mut row = [f32x8::ZERO; N];
    row.copy_from_slice(&numbers[at..at + N]);
    row
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{chess::position::Position, train::format::GameResult};

    /// Positions of random games with made-up labels.
    pub(crate) fn samples(count: usize, seed: u64) -> Vec<Sample> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut samples = Vec::with_capacity(count);
        let mut position = Position::default();
        while samples.len() < count {
            let moves = position.legal_moves();
            if moves.is_empty() || position.halfmoves() > 60 {
                position = Position::default();
                continue;
            }
            position = position.play(moves[rng.random_range(0..moves.len())]);
            let result = [GameResult::WhiteWins, GameResult::Draw, GameResult::BlackWins];
            let result = result[rng.random_range(0..3)];
            let score = crate::eval::psqt::evaluate(&position) + rng.random_range(-50..=50);
            samples.push(Sample::new(position.chess(), score, result));
        }
        samples
    }

    /// The forward pass as its definition says, one number at a time, in
    /// double precision.
    fn loss_by_definition(
        layout: Layout,
        numbers: &[f32],
        samples: &[Sample],
        objective: Objective,
    ) -> f64 {
        let at = |i: usize| f64::from(numbers[i]);
        let mut total = 0.0;
        for sample in samples {
            let active = sample.active();
            let bucket = features::output_bucket(active.count, layout.buckets);
            let mut output = at(8 * layout.output_biases() + bucket);
            for view in 0..2 {
                for neuron in 0..layout.hidden {
                    let mut sum = at(8 * layout.biases() + neuron);
                    for &input in active.view(view) {
                        sum += at(layout.weight_at(usize::from(input), neuron));
                    }
                    let row = 8 * layout.outputs() + (2 * bucket + view) * layout.hidden;
                    output += sum.clamp(0.0, 1.0).powi(2) * at(row + neuron);
                }
            }
            let p = 1.0 / (1.0 + (-output * f64::from(SCALE) / f64::from(objective.scale)).exp());
            total += (p - f64::from(objective.target(sample))).powi(2);
        }
        total
    }

    /// Every kind of parameter: the gradient is the slope of the loss.
    #[test]
    fn gradient_is_the_slope_of_the_loss() {
        let samples = samples(64, 1);
        let objective = Objective { result_weight: 0.4, scale: 330.0 };
        for layout in [Layout { hidden: 32, buckets: 3 }, Layout { hidden: 128, buckets: 1 }] {
            let mut parameters = layout.initial(2, 0.15);
            // Larger output weights make slopes that can be measured.
            let outputs = 8 * layout.outputs()..8 * layout.output_biases();
            for weight in &mut cast_slice_mut::<_, f32>(&mut parameters)[outputs] {
                *weight *= 4.0;
            }
            let mut worker = Worker::new(layout);
            worker.learn(&parameters, &samples, objective);
            let gradient: Vec<f32> = cast_slice(&worker.gradient).to_vec();
            let numbers: Vec<f32> = cast_slice(&parameters).to_vec();
            let loss = loss_by_definition(layout, &numbers, &samples, objective);
            assert!((loss - worker.loss).abs() < 1e-4, "{loss} {}", worker.loss);

            let used = (8 * layout.output_biases()) + layout.buckets;
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            let layers = [0, 8 * layout.biases(), 8 * layout.outputs(), 8 * layout.output_biases()];
            let mut measured = 0;
            for (part, &from) in layers.iter().enumerate() {
                let to = layers.get(part + 1).copied().unwrap_or(used);
                for _ in 0..60 {
                    let at = rng.random_range(from..to);
                    let slope = |size: f32| {
                        let mut moved = numbers.clone();
                        moved[at] = numbers[at] + size;
                        let above = loss_by_definition(layout, &moved, &samples, objective);
                        moved[at] = numbers[at] - size;
                        let below = loss_by_definition(layout, &moved, &samples, objective);
                        (above - below) / (2.0 * f64::from(size))
                    };
                    // A neuron at the edge of its clamp has no slope.
                    let (near, far) = (slope(1e-3), slope(4e-3));
                    if (near - far).abs() > 1e-3 * (1.0 + near.abs()) {
                        continue;
                    }
                    measured += usize::from(near.abs() > 1e-2);
                    let found = f64::from(gradient[at]);
                    assert!(
                        (found - near).abs() < 2e-3 + 1e-2 * near.abs(),
                        "part {part}, number {at}: {found}, measured {near}"
                    );
                }
            }
            assert!(measured > 30, "{measured} slopes were large enough to say anything");
        }
    }

    /// The network that is built in, in floating point: the same scores.
    #[test]
    fn the_network_in_play_agrees_with_its_model() {
        let network = crate::eval::default_network();
        let (layout, parameters) = Layout::dequantise(&network);
        let (mean, worst) = disagreement(layout, &parameters, &network, &samples(10_000, 6));
        assert!(mean > 0.0 && worst < 2.0, "{mean} {worst}");
    }

    /// What is played is what was trained, also with the largest weights that
    /// training allows.
    #[test]
    fn float_and_quantised_agree() {
        let layout = Layout { hidden: 64, buckets: 4 };
        let mut extreme = layout.initial(4, 0.15);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for (part, limit) in layout.limits() {
            for number in cast_slice_mut::<_, f32>(&mut extreme[part]) {
                *number = rng.random_range(-1.0..=1.0) * limit.min(2.0);
            }
        }
        assert_eq!(layout.output_unit(&extreme), 256);
        for exact in [layout.initial(4, 0.15), extreme] {
            let mut rounded = exact.clone();
            layout.round(0, layout.output_unit(&exact), &exact, &mut rounded);
            assert_ne!(rounded, exact);
            let network = layout.quantise(&exact, "").unwrap();
            assert!(network == layout.quantise(&rounded, "").unwrap());
            let samples = samples(10_000, 5);
            let (_, worst) = disagreement(layout, &rounded, &network, &samples);
            assert!(worst < 2.0, "{worst}");
            let spread = samples
                .chunks(CHUNK)
                .flat_map(|chunk| Worker::new(layout).forward(&rounded, chunk));
            assert!(spread.fold(0.0, |spread: f32, output| spread.max(output.abs())) > 0.1);
        }
    }

    /// A higher result and a higher score for the side to move want a higher
    /// output.
    #[test]
    fn targets_follow_the_labels() {
        let position = Position::default();
        let sample = |score, result| Sample::new(position.chess(), score, result);
        let objective = |result_weight| Objective { result_weight, scale: 400.0 };
        let target = |weight, sample| objective(weight).target(&sample);
        assert_eq!(target(1.0, sample(0, GameResult::WhiteWins)), 1.0);
        assert_eq!(target(1.0, sample(0, GameResult::BlackWins)), 0.0);
        assert_eq!(target(0.0, sample(0, GameResult::BlackWins)), 0.5);
        assert!((target(0.0, sample(400, GameResult::BlackWins)) - 0.731).abs() < 1e-3);
        assert!((target(0.5, sample(0, GameResult::WhiteWins)) - 0.75).abs() < 1e-6);
        let (loss, slope) = objective(1.0).loss(0.0, &sample(0, GameResult::WhiteWins));
        assert!((loss - 0.25).abs() < 1e-6 && slope < 0.0);
        // An output equal to the score is right, whatever the scale.
        let right = Objective { result_weight: 0.0, scale: 330.0 };
        let (loss, _) = right.loss(0.5, &sample(200, GameResult::Draw));
        assert!(loss < 1e-9, "{loss}");
    }
}
