//! Parameters of a model: their layout in memory, their initial values, and their quantisation.

use std::{fmt, ops::Range};

use anyhow::ensure;
use bytemuck::{cast_slice, cast_slice_mut};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use wide::{f32x8, i16x8, i16x32};

use lancet::{
    chess::notation::counted,
    eval::nnue::{
        features::INPUTS,
        network::{
            LoadError, MAX_OUTPUT_SUM, MAX_OUTPUT_WEIGHT, Network, Parameters, QA, QB,
            largest_output_sum,
        },
    },
};

/// Largest magnitude of a first-layer weight. The sum of 32 weights and a bias is then at most 33 *
/// 1.98 * 255, which fits into the 16 bits of the network's hidden layer.
const CLIP: f32 = 1.98;
/// Largest magnitude of an output weight, so that a network of up to 2,080 hidden neurons per view
/// can use multiples of 1/256. In one network, six of the 512 weights were larger. They forced a
/// unit of 1/64, which changed half of the weights by 6 %.
const OUTPUT_CLIP: f32 = 127.0 / 256.0;

/// Number of neurons of a tile.
pub const TILE: usize = 32;
/// One number for each neuron of a tile.
pub type TileRow = [f32x8; 4];

/// Layout of the parameters in one vector of SIMD registers (eight numbers each). The vector has
/// the first-layer weights by tile and input, the first-layer biases by tile, the output weights by
/// bucket, view and tile, and the output biases, in this order.
///
/// With king buckets, the rows of a tile are followed by those of a factoriser, one for each input
/// of a bucket. The factoriser is shared by all buckets, so that rare buckets also learn from the
/// positions of the others. An effective weight is the sum of the bucket's own weight and the
/// factoriser's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// King buckets.
    pub king_buckets: usize,
    /// Hidden neurons per view, a multiple of [`TILE`].
    pub hidden: usize,
    /// Output buckets.
    pub buckets: usize,
}

impl Layout {
    /// Returns the number of tiles of the hidden layer of one view.
    pub const fn tiles(self) -> usize {
        self.hidden / TILE
    }

    /// Returns the number of inputs of a view.
    pub const fn inputs(self) -> usize {
        INPUTS * self.king_buckets
    }

    /// Returns the number of rows of a tile.
    pub const fn rows(self) -> usize {
        self.inputs() + if self.king_buckets > 1 { INPUTS } else { 0 }
    }

    /// Returns the number of registers of the hidden layer of one view.
    const fn units(self) -> usize {
        self.hidden / 8
    }

    /// Returns the index of the first register of the first layer's biases.
    pub const fn biases(self) -> usize {
        self.rows() * self.units()
    }

    /// Returns the index of the first register of the output weights.
    pub const fn outputs(self) -> usize {
        self.biases() + self.units()
    }

    /// Returns the index of the first register of the output biases.
    pub const fn output_biases(self) -> usize {
        self.outputs() + 2 * self.buckets * self.units()
    }

    /// Returns the number of registers of all parameters.
    pub const fn len(self) -> usize {
        self.output_biases() + self.buckets.div_ceil(8)
    }

    /// Returns the ranges of the first layer's weights, its biases, the output weights and the
    /// output biases, each with the largest allowed magnitude of its numbers.
    pub const fn limits(self) -> [(Range<usize>, f32); 4] {
        [
            (0..self.biases(), CLIP),
            (self.biases()..self.outputs(), CLIP),
            (self.outputs()..self.output_biases(), OUTPUT_CLIP),
            (self.output_biases()..self.len(), f32::MAX),
        ]
    }

    /// Returns the index of a first-layer weight among the numbers of the vector.
    pub const fn weight_at(self, row: usize, neuron: usize) -> usize {
        (neuron / TILE * self.rows() + row) * TILE + neuron % TILE
    }

    /// Returns an effective first-layer weight, not rounded.
    pub fn weight(self, numbers: &[f32], input: usize, neuron: usize) -> f32 {
        let weight = numbers[self.weight_at(input, neuron)];
        if self.king_buckets == 1 {
            return weight;
        }
        weight + numbers[self.weight_at(self.inputs() + input % INPUTS, neuron)]
    }

    /// Returns random initial parameters. First-layer weights are from `-size` to `size`, and equal
    /// for all king buckets.
    pub fn initial(self, seed: u64, size: f32) -> Vec<f32x8> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut parameters = vec![f32x8::ZERO; self.len()];
        let numbers: &mut [f32] = cast_slice_mut(&mut parameters);
        for tile in numbers[..8 * self.biases()].chunks_exact_mut(TILE * self.rows()) {
            for weight in &mut tile[TILE * (self.rows() - INPUTS)..] {
                *weight = rng.random_range(-size..=size);
            }
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

    /// Returns the layout for the shape of a network.
    pub const fn of(network: &Network) -> Layout {
        Layout {
            king_buckets: network.king_buckets(),
            hidden: network.hidden(),
            buckets: network.buckets(),
        }
    }

    /// Returns the parameters of a network in floating point: its numbers divided by their units.
    /// If the layout has king buckets and the network has none, all king buckets are equal.
    ///
    /// # Errors
    ///
    /// If the network has another shape.
    pub fn dequantise(self, network: &Network) -> anyhow::Result<Vec<f32x8>> {
        let theirs = Layout::of(network);
        let fits = [self, Layout { king_buckets: 1, ..self }].contains(&theirs);
        ensure!(fits, "{}: expected a network of {self}", network.name());
        let from = network.parameters();
        let mut parameters = vec![f32x8::ZERO; self.len()];
        let numbers: &mut [f32] = cast_slice_mut(&mut parameters);
        let weight = |input: usize, neuron: usize| {
            let input = input % theirs.inputs();
            f32::from(from.weights[input * self.hidden + neuron]) / QA as f32
        };
        for neuron in 0..self.hidden {
            for input in 0..INPUTS {
                let rows = || (0..self.king_buckets).map(|bucket| bucket * INPUTS + input);
                let sum: f32 = rows().map(|row| weight(row, neuron)).sum();
                let mut common = 0.0;
                if self.king_buckets > 1 {
                    common = sum / self.king_buckets as f32;
                    numbers[self.weight_at(self.inputs() + input, neuron)] = common;
                }
                for row in rows() {
                    numbers[self.weight_at(row, neuron)] = weight(row, neuron) - common;
                }
            }
        }
        let mut fill = |from: usize, values: &[i16], unit: i32| {
            for (number, &value) in numbers[8 * from..].iter_mut().zip(values) {
                *number = f32::from(value) / unit as f32;
            }
        };
        fill(self.biases(), &from.biases, QA);
        fill(self.outputs(), &from.output_weights, from.output_unit);
        let biases = &mut numbers[8 * self.output_biases()..];
        for (number, &bias) in biases.iter_mut().zip(&from.output_biases) {
            *number = bias as f32 / (QA * from.output_unit) as f32;
        }
        Ok(parameters)
    }

    /// Returns the finest unit of the output weights for which the network's integer arithmetic
    /// cannot overflow, or the coarsest unit if there is none.
    pub fn output_unit(self, parameters: &[f32x8]) -> i32 {
        let weights: &[f32] = cast_slice(&parameters[self.outputs()..self.output_biases()]);
        let row = 2 * self.hidden;
        let fits = |unit: i32| {
            let round = |weight: f32| (weight * unit as f32).round_ties_even();
            weights.chunks_exact(row).all(|row| {
                let row = || row.iter().map(|&weight| round(weight));
                row().all(|weight| weight.abs() <= f32::from(MAX_OUTPUT_WEIGHT))
                    && largest_output_sum(row().map(|weight| weight as i32)) <= MAX_OUTPUT_SUM
            })
        };
        QB.into_iter().find(|&unit| fits(unit)).unwrap_or(QB[QB.len() - 1])
    }

    /// Returns the parameters with the output weights and the output biases multiplied by `factor`,
    /// limited to the allowed magnitudes.
    pub fn scaled(self, parameters: &[f32x8], factor: f32) -> Vec<f32x8> {
        let mut scaled = parameters.to_vec();
        let [_, _, outputs @ ..] = self.limits();
        for (layer, limit) in outputs {
            let limit = f32x8::splat(limit);
            for number in &mut scaled[layer] {
                *number = (*number * f32x8::splat(factor)).fast_max(-limit).fast_min(limit);
            }
        }
        scaled
    }

    /// Returns the quantised network.
    ///
    /// # Errors
    ///
    /// If a number is too large for exact integer arithmetic.
    pub fn quantise(self, parameters: &[f32x8], provenance: &str) -> Result<Network, LoadError> {
        let output_unit = self.output_unit(parameters);
        let numbers: &[f32] = cast_slice(parameters);
        // The cast saturates, and `Network::new` then rejects the number.
        let narrow = |value: f32, unit: i32| (value * unit as f32).round_ties_even() as i16;
        let mut weights = Vec::with_capacity(self.inputs() * self.hidden);
        for input in 0..self.inputs() {
            for neuron in 0..self.hidden {
                weights.push(narrow(self.weight(numbers, input, neuron), QA));
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

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { king_buckets, hidden, buckets } = self;
        let [outputs, kings] = [(buckets, "output bucket"), (king_buckets, "king bucket")]
            .map(|(number, noun)| counted(*number, noun));
        write!(f, "{hidden} hidden neurons, {outputs}, {kings}")
    }
}

/// A model whose numbers are rounded like those of the network. Training uses it in both passes.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundedModel {
    /// First-layer weights by tile and input, as integers in units of 1 / QA, so that their sums
    /// are exact.
    weights: Vec<i16x32>,
    /// First-layer biases by tile.
    pub biases: Vec<i16x32>,
    inputs: usize,
    /// Output weights by bucket, view and tile, rounded to multiples of one over the output unit.
    pub outputs: Vec<TileRow>,
    /// Output biases by bucket. Their unit is so fine that they are not rounded.
    pub output_biases: Vec<f32>,
}

impl RoundedModel {
    /// Rounds a model's parameters.
    pub fn new(layout: Layout, parameters: &[f32x8]) -> RoundedModel {
        let mut model = RoundedModel {
            weights: vec![i16x32::ZERO; layout.inputs() * layout.tiles()],
            biases: vec![i16x32::ZERO; layout.tiles()],
            inputs: layout.inputs(),
            outputs: vec![TileRow::default(); 2 * layout.buckets * layout.tiles()],
            output_biases: vec![0.0; layout.buckets],
        };
        model.round(layout, parameters);
        model
    }

    /// Rounds parameters that have changed.
    pub fn round(&mut self, layout: Layout, parameters: &[f32x8]) {
        let tiles = parameters.par_chunks_exact(4 * layout.rows());
        let rounded = self.weights.par_chunks_exact_mut(self.inputs);
        tiles.zip(rounded).for_each(|(tile, rounded)| round_tile(tile, rounded));
        let biases = parameters[layout.biases()..layout.outputs()].as_chunks().0;
        for (rounded, row) in self.biases.iter_mut().zip(biases) {
            *rounded = round_row(row);
        }
        let unit = layout.output_unit(parameters) as f32;
        let rows = parameters[layout.outputs()..layout.output_biases()].as_chunks().0;
        for (rounded, row) in self.outputs.iter_mut().zip(rows) {
            *rounded = row.map(|weights: f32x8| {
                (weights * f32x8::splat(unit)).round_ties_even() * f32x8::splat(1.0 / unit)
            });
        }
        let biases: &[f32] = cast_slice(&parameters[layout.output_biases()..]);
        self.output_biases.copy_from_slice(&biases[..layout.buckets]);
    }

    /// Returns the rows of a tile, by input.
    pub fn weights(&self, tile: usize) -> &[i16x32] {
        &self.weights[tile * self.inputs..][..self.inputs]
    }
}

/// Rounds the effective first-layer weights of a tile to multiples of 1 / QA.
fn round_tile(parameters: &[f32x8], rounded: &mut [i16x32]) {
    let (rows, factors) = parameters.as_chunks::<4>().0.split_at(rounded.len());
    if factors.is_empty() {
        for (rounded, row) in rounded.iter_mut().zip(rows) {
            *rounded = round_row(row);
        }
    } else {
        for ((rounded, row), factor) in rounded.iter_mut().zip(rows).zip(factors.iter().cycle()) {
            *rounded = round_row(&std::array::from_fn(|i| row[i] + factor[i]));
        }
    }
}

fn round_row(row: &TileRow) -> i16x32 {
    let narrow = |numbers: f32x8| {
        i16x8::from_i32x8_saturate((numbers * f32x8::splat(QA as f32)).round_int())
    };
    bytemuck::cast(row.map(narrow))
}

/// Limits the effective weights of a tile to [`CLIP`]. Each is the sum of a bucket's own weight and
/// the factoriser's.
pub fn clip_sums(rows: &mut [f32x8], factors: &[f32x8]) {
    let limit = f32x8::splat(CLIP);
    for (number, &factor) in rows.iter_mut().zip(factors.iter().cycle()) {
        *number = (*number + factor).fast_max(-limit).fast_min(limit) - factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each lane of the arithmetic sums only a part of a wide layer. The unit depends on the
    /// largest sum of a lane, not on the sum of all neurons.
    #[test]
    fn wide_networks_keep_a_fine_output_unit() {
        for (hidden, weight, unit) in
            [(64, 0.24, 512), (1024, 0.2, 512), (4096, 0.24, 256), (64, 0.4, 256)]
        {
            let layout = Layout { king_buckets: 1, hidden, buckets: 1 };
            let mut parameters = vec![f32x8::ZERO; layout.len()];
            parameters[layout.outputs()..layout.output_biases()].fill(f32x8::splat(weight));
            assert_eq!(layout.output_unit(&parameters), unit, "{layout} {weight}");
            let network = layout.quantise(&parameters, "").unwrap();
            assert_eq!(network.parameters().output_unit, unit);
        }
        let all = 2.0 * 1024.0 * 0.2 * 512.0;
        assert!(all > MAX_OUTPUT_SUM as f32, "one sum of all neurons would not fit");
    }
}
