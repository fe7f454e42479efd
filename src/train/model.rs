//! Training target and loss of a model, its forward pass and its backward pass.
//!
//! The first layer is sparse: some twenty of 768 inputs are active. The forward pass therefore adds
//! rows of weights, and the backward pass adds to rows of the gradient. The hidden layer is divided
//! into tiles, whose rows fit into the faster caches, and a chunk of positions passes through one
//! tile after another. The forward pass keeps the sum of each neuron in a register. The backward
//! pass keeps the sum of each row in a register; for this it first lists the positions in which
//! each input is active. Sums of the first layer are exact, because they use the integers of the
//! engine's network.

use std::ops::Range;

use bytemuck::cast;
use shakmaty::Color;
use wide::{f32x8, f32x16, i16x16, i16x32, i32x16};

use super::{
    layout::{Layout, RoundedModel, TileRow},
    sample::{Active, Sample},
};
use lancet::{
    chess::score::Score,
    eval::nnue::{
        features,
        network::{Network, QA, SCALE},
    },
};

/// Number of positions that pass through the tiles together.
pub const CHUNK: usize = 512;

/// Numbers of pieces between which the weight of the result changes.
const FEW_PIECES: f32 = 8.0;
const FULL_BOARD: f32 = 26.0;

/// Conversion of labels to a target, and of outputs to a loss.
///
/// A label is in the units of the network's output. The search multiplies the output by a weight
/// that grows with the material ([`eval::weighted`](lancet::eval::weighted)). Results depend on
/// these weighted scores, so winning probabilities are also computed from weighted scores.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// Weight of the game's result in the target, 0 to 1. The rest is the score of the search.
    pub result_weight: f32,
    /// The same in positions with at least [`FULL_BOARD`] pieces. `result_weight` then applies to
    /// at most [`FEW_PIECES`], and the weight in between is interpolated linearly.
    pub result_full: f32,
    /// Advantage, in centipawns of a weighted score, that multiplies the odds of winning by e.
    pub scale: f32,
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

impl Objective {
    /// Returns the target: the winning probability of the side to move, from 0 to 1. `weight` is
    /// the factor by which the search multiplies scores.
    pub fn target(self, sample: &Sample, weight: f32) -> f32 {
        let score = sigmoid(sample.score() * weight / self.scale);
        let full = (sample.count() as f32 - FEW_PIECES) / (FULL_BOARD - FEW_PIECES);
        let more = self.result_full - self.result_weight;
        let share = self.result_weight + more * full.clamp(0.0, 1.0);
        share * sample.result() + (1.0 - share) * score
    }

    /// Returns the squared error of an output, and its derivative with respect to the output.
    pub fn loss(self, output: f32, sample: &Sample, weight: f32) -> (f32, f32) {
        let steepness = SCALE as f32 * weight / self.scale;
        let p = sigmoid(steepness * output);
        let error = p - self.target(sample, weight);
        (error * error, 2.0 * error * p * (1.0 - p) * steepness)
    }
}

/// A [`TileRow`] in wider registers, for machines that have them.
type Delta = [f32x16; 2];

/// For every input, the list of the views in which it is active. The number of a view is twice the
/// index of the position in the chunk, plus 0 or 1.
#[derive(Debug)]
struct Transposed {
    /// End of the list of each input. A list starts at the end of the list before it.
    ends: Vec<u32>,
    views: Vec<u16>,
    /// The inputs whose lists are not empty, and the ranges of these lists.
    filled: Vec<(usize, Range<usize>)>,
}

impl Transposed {
    fn new(inputs: usize) -> Transposed {
        Transposed { ends: vec![0; inputs], views: Vec::new(), filled: Vec::new() }
    }

    /// Builds the lists for a chunk, by counting sort.
    fn fill(&mut self, chunk: &[Active]) {
        self.ends.fill(0);
        let inputs = |active| (0..2).flat_map(move |view| Active::view(active, view));
        for &input in chunk.iter().flat_map(inputs) {
            self.ends[usize::from(input)] += 1;
        }
        let mut total = 0;
        for end in &mut self.ends {
            // This is the start of the list for now. Filling the list advances it to the end.
            total += std::mem::replace(end, total);
        }
        self.views.resize(total as usize, 0);
        for (i, active) in chunk.iter().enumerate() {
            for view in 0..2 {
                for &input in active.view(view) {
                    let next = &mut self.ends[usize::from(input)];
                    self.views[*next as usize] = (2 * i + view) as u16;
                    *next += 1;
                }
            }
        }
        self.filled.clear();
        let mut start = 0;
        for (input, &end) in self.ends.iter().enumerate() {
            let list = start..end as usize;
            start = list.end;
            if !list.is_empty() {
                self.filled.push((input, list));
            }
        }
    }

    /// Returns the inputs that are active in the chunk, with their lists.
    fn lists(&self) -> impl Iterator<Item = (usize, &[u16])> {
        self.filled.iter().map(|(input, list)| (*input, &self.views[list.clone()]))
    }
}

/// Buffers and gradient of one thread, for its share of a batch.
#[derive(Debug)]
pub struct Worker {
    layout: Layout,
    /// Sum of the gradients of the losses, in the layout of the parameters.
    pub gradient: Vec<f32x8>,
    /// Sum of the losses.
    pub loss: f64,
    active: Vec<Active>,
    transposed: Transposed,
    /// Clamped neurons by tile, position and view.
    neurons: Vec<i16x32>,
    /// Derivatives of the losses with respect to the sums of two tiles, by position and view.
    deltas: Vec<[Delta; 2]>,
    outputs: Vec<f32x16>,
}

impl Worker {
    /// Creates empty buffers.
    pub fn new(layout: Layout) -> Worker {
        Worker {
            layout,
            gradient: vec![f32x8::ZERO; layout.len()],
            loss: 0.0,
            active: Vec::with_capacity(CHUNK),
            transposed: Transposed::new(layout.inputs()),
            neurons: vec![i16x32::ZERO; 2 * CHUNK * layout.tiles()],
            deltas: vec![Default::default(); 2 * CHUNK],
            outputs: vec![f32x16::ZERO; CHUNK],
        }
    }

    /// Resets gradient and loss to zero.
    pub fn clear(&mut self) {
        self.gradient.fill(f32x8::ZERO);
        self.loss = 0.0;
    }

    /// Returns the outputs for up to [`CHUNK`] samples, in units of 400 centipawns.
    pub fn forward(&mut self, model: &RoundedModel, samples: &[Sample]) -> Vec<f32> {
        self.active.clear();
        let king_buckets = self.layout.king_buckets;
        self.active.extend(samples.iter().take(CHUNK).map(|sample| sample.active(king_buckets)));
        self.outputs.fill(f32x16::ZERO);
        let tiles = self.layout.tiles();
        for tile in (3..tiles).step_by(4) {
            self.forward_tiles(model, [tile - 3, tile - 2, tile - 1, tile]);
        }
        for tile in tiles / 4 * 4..tiles {
            self.forward_tiles(model, [tile]);
        }
        let unit = 1.0 / (QA * QA) as f32;
        let bias = |active: &Active| model.output_biases[self.bucket(active)];
        let sums = self.outputs.iter().zip(&self.active);
        sums.map(|(sum, active)| sum.reduce_add() * unit + bias(active)).collect()
    }

    /// Returns the outputs of [`Self::forward`], each with the factor by which the search
    /// multiplies it.
    pub fn weighted_outputs(
        &mut self,
        model: &RoundedModel,
        samples: &[Sample],
    ) -> Vec<(f32, f32)> {
        let outputs = self.forward(model, samples);
        outputs.into_iter().zip(self.active.iter().map(|active| active.weight)).collect()
    }

    /// Adds the losses and gradients of up to [`CHUNK`] samples.
    pub fn learn(&mut self, model: &RoundedModel, samples: &[Sample], objective: Objective) {
        let mut outputs = self.forward(model, samples);
        let biases = self.layout.output_biases();
        for ((output, sample), active) in outputs.iter_mut().zip(samples).zip(&self.active) {
            let (loss, slope) = objective.loss(*output, sample, active.weight);
            self.loss += f64::from(loss);
            let bucket = self.bucket(active);
            self.gradient[biases + bucket / 8].as_mut_array()[bucket % 8] += slope;
            *output = slope;
        }
        self.transposed.fill(&self.active);
        for tile in 0..self.layout.tiles() {
            self.backward_outputs(model, &outputs, tile);
            if tile % 2 == 1 {
                self.backward_inputs([tile - 1, tile]);
            } else if tile + 1 == self.layout.tiles() {
                self.backward_inputs([tile]);
            }
        }
    }

    fn bucket(&self, active: &Active) -> usize {
        features::output_bucket(active.count, self.layout.buckets)
    }

    /// Computes the neurons of some tiles and adds their part of the outputs. Several tiles at a
    /// time are faster, because iterating over the short lists of inputs costs nearly as much as
    /// the sums.
    fn forward_tiles<const N: usize>(&mut self, model: &RoundedModel, tiles: [usize; N]) {
        let all = self.layout.tiles();
        let rows = tiles.map(|tile| model.weights(tile));
        let biases = tiles.map(|tile| model.biases[tile]);
        let (low, high) = (i16x32::ZERO, i16x32::splat(QA as i16));
        let count = self.active.len();
        for (i, (active, output)) in self.active.iter().zip(&mut self.outputs).enumerate() {
            let bucket = features::output_bucket(active.count, self.layout.buckets);
            for view in 0..2 {
                let mut sums = biases;
                for &input in active.view(view) {
                    for (sum, rows) in sums.iter_mut().zip(rows) {
                        *sum += rows[usize::from(input)];
                    }
                }
                for (tile, sum) in tiles.into_iter().zip(sums) {
                    let neurons = sum.max(low).min(high);
                    self.neurons[2 * (tile * count + i) + view] = neurons;
                    let weights: Delta = cast(model.outputs[(2 * bucket + view) * all + tile]);
                    for (value, weight) in floats(neurons).into_iter().zip(weights) {
                        *output = (value * value).mul_add(weight, *output);
                    }
                }
            }
        }
    }

    /// Computes the gradient of a tile's output weights and first-layer biases, and its deltas.
    /// `slopes` are the derivatives of the losses with respect to the outputs.
    fn backward_outputs(&mut self, model: &RoundedModel, slopes: &[f32], tile: usize) {
        let (layout, tiles) = (self.layout, self.layout.tiles());
        let count = self.active.len();
        let neurons = self.neurons[tile * 2 * count..][..2 * count].as_chunks::<2>().0;
        let deltas = self.deltas.as_chunks_mut::<2>().0;
        let (first, outputs) = self.gradient.split_at_mut(layout.outputs());
        let outputs: &mut [TileRow] = outputs.as_chunks_mut().0;
        let full = f32x16::splat(QA as f32);
        let mut bias = Delta::default();
        for (((active, &slope), neurons), deltas) in
            self.active.iter().zip(slopes).zip(neurons).zip(deltas)
        {
            let bucket = features::output_bucket(active.count, layout.buckets);
            // An output is the sum of w * v^2. Its derivative with respect to w is v^2, and with
            // respect to v it is 2 * v * w. Neurons v are in units of 1 / QA.
            let by_weight = f32x16::splat(slope / (QA * QA) as f32);
            let by_sum = f32x16::splat(2.0 * slope / QA as f32);
            for (view, (neurons, delta)) in neurons.iter().zip(deltas).enumerate() {
                let at = (2 * bucket + view) * tiles + tile;
                let (weights, mut sums): (Delta, Delta) =
                    (cast(model.outputs[at]), cast(outputs[at]));
                let mut row = Delta::default();
                for (i, value) in floats(*neurons).into_iter().enumerate() {
                    sums[i] = (value * value).mul_add(by_weight, sums[i]);
                    // The derivative of the square, 0 where the neuron is clamped.
                    let open = value.simd_lt(full);
                    row[i] = open & (value * by_sum * weights[i]);
                    bias[i] += row[i];
                }
                outputs[at] = cast(sums);
                delta[tile % 2] = row;
            }
        }
        let bias: TileRow = cast(bias);
        for (sum, bias) in first[layout.biases() + 4 * tile..].iter_mut().zip(bias) {
            *sum += bias;
        }
    }

    /// Adds the deltas of some tiles to the gradient rows of the active inputs. With two tiles at a
    /// time, the processor can overlap two independent chains of additions.
    fn backward_inputs<const N: usize>(&mut self, tiles: [usize; N]) {
        let length = self.layout.rows();
        let rows: &mut [TileRow] = self.gradient.as_chunks_mut().0;
        for (input, list) in self.transposed.lists() {
            let places = tiles.map(|tile| tile * length + input);
            let mut sums: [Delta; N] = places.map(|place| cast(rows[place]));
            for &view in list {
                for (sum, delta) in sums.iter_mut().zip(&self.deltas[usize::from(view)]) {
                    sum[0] += delta[0];
                    sum[1] += delta[1];
                }
            }
            for (place, sum) in places.into_iter().zip(sums) {
                rows[place] = cast(sum);
            }
        }
    }
}

#[inline]
fn floats(values: i16x32) -> Delta {
    cast::<i16x32, [i16x16; 2]>(values).map(|part| i32x16::from_i16x16(part).round_float())
}

/// Returns the evaluations of samples by a network, in centipawns for the side to move.
pub fn evaluations(network: &Network, samples: &[Sample]) -> impl Iterator<Item = Score> {
    samples.iter().map(|sample| network.evaluate(&sample.board(), Color::White))
}

/// Returns the mean and the largest difference, in centipawns, between a network and the model that
/// gave these outputs.
pub fn disagreement(
    outputs: impl IntoIterator<Item = f64>,
    network: &Network,
    samples: &[Sample],
) -> (f64, f64) {
    let (mut sum, mut worst) = (0.0, 0.0_f64);
    for (output, played) in outputs.into_iter().zip(evaluations(network, samples)) {
        let difference = (f64::from(played) - output * f64::from(SCALE)).abs();
        sum += difference;
        worst = worst.max(difference);
    }
    (sum / samples.len().max(1) as f64, worst)
}

/// Returns the outputs of a rounded model, in units of 400 centipawns.
pub fn outputs(layout: Layout, model: &RoundedModel, samples: &[Sample]) -> Vec<f64> {
    let mut worker = Worker::new(layout);
    let chunks = samples.chunks(CHUNK).flat_map(|chunk| worker.forward(model, chunk));
    chunks.map(f64::from).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{format::GameResult, layout::clip_sums};
    use bytemuck::{cast_slice, cast_slice_mut};
    use lancet::{
        chess::position::Position,
        eval::nnue::features::{INPUTS, KING_BUCKETS},
    };
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    /// Returns positions of random games with invented labels.
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
            let score = lancet::eval::psqt::evaluate(&position) + rng.random_range(-50..=50);
            samples.push(Sample::new(position.chess(), score, result));
        }
        samples
    }

    /// Computes the output for a position by its definition, one number at a time, in units of 400
    /// centipawns.
    fn output_by_definition(layout: Layout, parameters: &[f32x8], sample: &Sample) -> f64 {
        let numbers: &[f32] = cast_slice(parameters);
        let active = sample.active(layout.king_buckets);
        let bucket = features::output_bucket(active.count, layout.buckets);
        let mut output = f64::from(numbers[8 * layout.output_biases() + bucket]);
        for view in 0..2 {
            for neuron in 0..layout.hidden {
                let mut sum = f64::from(numbers[8 * layout.biases() + neuron]);
                for &input in active.view(view) {
                    sum += f64::from(layout.weight(numbers, usize::from(input), neuron));
                }
                let row = 8 * layout.outputs() + (2 * bucket + view) * layout.hidden;
                output += sum.clamp(0.0, 1.0).powi(2) * f64::from(numbers[row + neuron]);
            }
        }
        output
    }

    fn loss_by_definition(
        layout: Layout,
        parameters: &[f32x8],
        samples: &[Sample],
        objective: Objective,
    ) -> f64 {
        let loss = |sample: &Sample| {
            let output = output_by_definition(layout, parameters, sample);
            let (scale, weight) = (f64::from(objective.scale), sample.weight());
            let p = 1.0 / (1.0 + (-output * f64::from(SCALE) * f64::from(weight) / scale).exp());
            (p - f64::from(objective.target(sample, weight))).powi(2)
        };
        samples.iter().map(loss).sum()
    }

    /// Returns the values of the parameters after rounding.
    fn rounded(layout: Layout, parameters: &[f32x8]) -> Vec<f32x8> {
        layout.dequantise(&layout.quantise(parameters, "").unwrap()).unwrap()
    }

    /// The gradient is the slope of the loss, for every kind of parameter.
    #[test]
    fn gradient_is_the_slope_of_the_loss() {
        let samples = samples(64, 1);
        let objective = Objective { result_weight: 0.4, result_full: 0.2, scale: 330.0 };
        for (king_buckets, hidden, buckets) in [(1, 32, 3), (1, 128, 1), (4, 96, 2)] {
            let layout = Layout { king_buckets, hidden, buckets };
            let mut parameters = layout.initial(2, 0.15);
            // Larger output weights make the slopes large enough to measure.
            for weights in &mut parameters[layout.outputs()..layout.output_biases()] {
                *weights = (*weights * f32x8::splat(4.0)).clamp(-f32x8::HALF, f32x8::HALF);
            }
            let parameters = rounded(layout, &parameters);
            let mut worker = Worker::new(layout);
            worker.learn(&RoundedModel::new(layout, &parameters), &samples, objective);
            let mut gradient: Vec<f32> = cast_slice(&worker.gradient).to_vec();
            // The gradient of a factoriser is the sum over the buckets.
            for (neuron, input) in (0..if king_buckets > 1 { hidden } else { 0 })
                .flat_map(|neuron| (0..layout.inputs()).map(move |input| (neuron, input)))
            {
                let common = layout.weight_at(layout.inputs() + input % INPUTS, neuron);
                gradient[common] += gradient[layout.weight_at(input, neuron)];
            }
            let loss = loss_by_definition(layout, &parameters, &samples, objective);
            assert!((loss - worker.loss).abs() < 1e-4, "{loss} {}", worker.loss);

            let used = (8 * layout.output_biases()) + layout.buckets;
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            let layers = [0, 8 * layout.biases(), 8 * layout.outputs(), 8 * layout.output_biases()];
            let mut measured = 0;
            for (part, &from) in layers.iter().enumerate() {
                let to = layers.get(part + 1).copied().unwrap_or(used);
                for _ in 0..60 {
                    let at = rng.random_range(from..to);
                    // Only increase the number: a rounded neuron may be exactly at a limit of its
                    // clamp, and there the gradient is the slope towards larger sums.
                    let slope = |size: f32| {
                        let loss = |size: f32| {
                            let mut moved = parameters.clone();
                            cast_slice_mut::<_, f32>(&mut moved)[at] += size;
                            loss_by_definition(layout, &moved, &samples, objective)
                        };
                        (4.0 * loss(size) - 3.0 * loss(0.0) - loss(2.0 * size))
                            / (2.0 * f64::from(size))
                    };
                    // Skip parameters that move a neuron across a limit between the two points:
                    // there the slope changes.
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
            assert!(measured > 30, "only {measured} slopes were large enough to compare");
        }
    }

    /// The built-in network gives the same scores in floating point.
    #[test]
    fn the_network_in_play_agrees_with_its_model() {
        let network = lancet::eval::default_network();
        let layout = Layout::of(&network);
        let parameters = layout.dequantise(&network).unwrap();
        let samples = samples(10_000, 6);
        let by_definition =
            samples.iter().map(|sample| output_by_definition(layout, &parameters, sample));
        let (mean, worst) = disagreement(by_definition, &network, &samples);
        assert!(mean > 0.0 && worst < 2.0, "{mean} {worst}");
    }

    /// The network gives the outputs of the trained model, even with the largest weights that
    /// training allows.
    #[test]
    fn float_and_quantised_agree() {
        for king_buckets in KING_BUCKETS {
            float_and_quantised_agree_for(Layout { king_buckets, hidden: 64, buckets: 4 });
        }
    }

    fn float_and_quantised_agree_for(layout: Layout) {
        let mut extreme = layout.initial(4, 0.15);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for (part, limit) in layout.limits() {
            for number in cast_slice_mut::<_, f32>(&mut extreme[part]) {
                *number = rng.random_range(-1.0..=1.0) * limit.min(2.0);
            }
        }
        for tile in extreme[..layout.biases()].chunks_exact_mut(4 * layout.rows()) {
            let (rows, factors) = tile.split_at_mut(4 * layout.inputs());
            clip_sums(rows, factors);
        }
        assert_eq!(layout.output_unit(&extreme), 256);
        for exact in [layout.initial(4, 0.15), extreme] {
            let rounded = rounded(layout, &exact);
            assert_ne!(rounded, exact);
            let network = layout.quantise(&exact, "").unwrap();
            assert!(network == layout.quantise(&rounded, "").unwrap());
            let samples = samples(10_000, 5);
            let trained = outputs(layout, &RoundedModel::new(layout, &exact), &samples);
            assert!(trained.iter().fold(0.0, |spread: f64, output| spread.max(output.abs())) > 0.1);
            for (output, sample) in trained.iter().zip(&samples) {
                let defined = output_by_definition(layout, &rounded, sample);
                assert!((output - defined).abs() < 1e-3, "{output} {defined}");
            }
            let (_, worst) = disagreement(trained, &network, &samples);
            assert!(worst < 2.0, "{worst}");
        }
    }

    /// A network without king buckets gives the same scores as one with equal king buckets.
    #[test]
    fn king_buckets_can_begin_alike() {
        let one = Layout { king_buckets: 1, hidden: 64, buckets: 4 };
        let network = one.quantise(&one.initial(1, 0.15), "").unwrap();
        let layout = Layout { king_buckets: 4, ..one };
        let parameters = layout.dequantise(&network).unwrap();
        let bucketed = layout.quantise(&parameters, "").unwrap();
        assert_eq!(bucketed.king_buckets(), 4);
        for sample in samples(1000, 8) {
            let board = sample.board();
            let scores = [&network, &bucketed].map(|net| net.evaluate(&board, Color::White));
            assert_eq!(scores[0], scores[1]);
        }
        assert!(one.dequantise(&bucketed).is_err());
    }

    /// A better result and a higher score for the side to move give a higher target.
    #[test]
    fn targets_follow_the_labels() {
        let position = Position::default();
        let sample = |score, result| Sample::new(position.chess(), score, result);
        let objective =
            |weight| Objective { result_weight: weight, result_full: weight, scale: 400.0 };
        let target = |weight, sample| objective(weight).target(&sample, 1.0);
        assert_eq!(target(1.0, sample(0, GameResult::WhiteWins)), 1.0);
        assert_eq!(target(1.0, sample(0, GameResult::BlackWins)), 0.0);
        assert_eq!(target(0.0, sample(0, GameResult::BlackWins)), 0.5);
        assert_eq!(target(1.0, sample(0, GameResult::Draw)), 0.5);
        assert!((target(0.0, sample(400, GameResult::BlackWins)) - 0.731).abs() < 1e-3);
        assert!((target(0.5, sample(0, GameResult::WhiteWins)) - 0.75).abs() < 1e-6);
        let (loss, slope) = objective(1.0).loss(0.0, &sample(0, GameResult::WhiteWins), 1.0);
        assert!((loss - 0.25).abs() < 1e-6 && slope < 0.0);
        // An output equal to the score has no loss, whatever the scale.
        let right = Objective { scale: 330.0, ..objective(0.0) };
        let (loss, _) = right.loss(0.5, &sample(200, GameResult::Draw), 0.8);
        assert!(loss < 1e-9, "{loss}");
        // The weight of the result depends on the number of pieces: here 2, 17 and 32.
        let by_pieces = Objective { result_weight: 0.6, result_full: 0.2, scale: 400.0 };
        let boards = [
            "4k3/8/8/8/8/8/8/4K3",
            "4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNR",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
        ];
        let targets = boards.map(|board| {
            let position = Position::from_fen(&format!("{board} w - - 0 1")).unwrap();
            let sample = Sample::new(position.chess(), 0, GameResult::WhiteWins);
            by_pieces.target(&sample, 1.0)
        });
        assert_eq!(targets.map(|target| (target * 100.0).round()), [80.0, 70.0, 60.0]);
        // A smaller weight in the search gives a winning probability closer to 0.5.
        let [light, heavy] =
            [0.7, 0.9].map(|weight| objective(0.0).target(&sample(400, GameResult::Draw), weight));
        assert!(0.5 < light && light < heavy, "{light} {heavy}");
    }
}
