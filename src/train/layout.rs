//! The numbers of a model: where each is, how they begin, and what is played of
//! them. No arithmetic of positions here.

use std::{fmt, ops::Range};

use anyhow::ensure;
use bytemuck::{cast_slice, cast_slice_mut};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use wide::{f32x8, i16x8, i16x32};

use lancet::eval::nnue::{
    features::INPUTS,
    network::{
        LoadError, MAX_OUTPUT_SUM, MAX_OUTPUT_WEIGHT, Network, Parameters, QA, QB,
        largest_output_sum,
    },
};

/// Largest magnitude of a first-layer weight: 33 times 1.98 * 255 fits the 16 bits
/// of the player's hidden layer.
const CLIP: f32 = 1.98;
/// Largest magnitude of an output weight: they stay multiples of 1/256. Six of 512
/// that were larger once forced 1/64 on all, which rounded half of them by 6 %.
const OUTPUT_CLIP: f32 = 127.0 / 256.0;

/// Neurons of a tile.
pub const TILE: usize = 32;
/// One number for each neuron of a tile.
pub type TileRow = [f32x8; 4];

/// Where the parameters are in one long vector of registers (eight numbers):
/// first-layer weights by tile and input, first-layer biases by tile, output
/// weights by bucket, view and tile, output biases.
///
/// With king buckets the rows of a tile are followed by those of a factoriser, one for
/// each input of a bucket: what all buckets have in common, and rare ones could not
/// learn by themselves. A weight in play is the sum of both.
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
    /// Tiles of the hidden layer of one view.
    pub const fn tiles(self) -> usize {
        self.hidden / TILE
    }

    /// Inputs of a view.
    pub const fn inputs(self) -> usize {
        INPUTS * self.king_buckets
    }

    /// Rows of a tile.
    pub const fn rows(self) -> usize {
        self.inputs() + if self.king_buckets > 1 { INPUTS } else { 0 }
    }

    /// Registers of the hidden layer of one view.
    const fn units(self) -> usize {
        self.hidden / 8
    }

    /// Where the first layer's biases begin.
    pub const fn biases(self) -> usize {
        self.rows() * self.units()
    }

    /// Where the output weights begin.
    pub const fn outputs(self) -> usize {
        self.biases() + self.units()
    }

    /// Where the output biases begin.
    pub const fn output_biases(self) -> usize {
        self.outputs() + 2 * self.buckets * self.units()
    }

    /// Registers of all parameters.
    pub const fn len(self) -> usize {
        self.output_biases() + self.buckets.div_ceil(8)
    }

    /// The layers, and the largest magnitude of their numbers: the first layer's
    /// weights, its biases, output weights and biases.
    pub const fn limits(self) -> [(Range<usize>, f32); 4] {
        [
            (0..self.biases(), CLIP),
            (self.biases()..self.outputs(), CLIP),
            (self.outputs()..self.output_biases(), OUTPUT_CLIP),
            (self.output_biases()..self.len(), f32::MAX),
        ]
    }

    /// The place of a first-layer weight among the numbers of the vector.
    pub const fn weight_at(self, row: usize, neuron: usize) -> usize {
        (neuron / TILE * self.rows() + row) * TILE + neuron % TILE
    }

    /// A first-layer weight in play, not rounded.
    pub fn weight(self, numbers: &[f32], input: usize, neuron: usize) -> f32 {
        let weight = numbers[self.weight_at(input, neuron)];
        if self.king_buckets == 1 {
            return weight;
        }
        weight + numbers[self.weight_at(self.inputs() + input % INPUTS, neuron)]
    }

    /// Random parameters to begin with, those of the first layer up to `size` either
    /// way. King buckets begin alike.
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

    /// The shape of a network.
    pub const fn of(network: &Network) -> Layout {
        Layout {
            king_buckets: network.king_buckets(),
            hidden: network.hidden(),
            buckets: network.buckets(),
        }
    }

    /// The parameters that a network is played as: its numbers, each over its unit. It may be
    /// without king buckets where the layout has them: these then begin alike.
    ///
    /// # Errors
    ///
    /// If it has another shape otherwise.
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

    /// The finest units of the output weights that the player's arithmetic
    /// allows; the coarsest if none do.
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

    /// The same parameters with outputs that are larger by a factor, as far as the output
    /// weights may grow.
    pub fn scaled(self, parameters: &[f32x8], factor: f32) -> Vec<f32x8> {
        let mut scaled = parameters.to_vec();
        if factor != 1.0 {
            for (layer, limit) in &self.limits()[2..] {
                for number in &mut scaled[layer.clone()] {
                    let limit = f32x8::splat(*limit);
                    *number = (*number * f32x8::splat(factor)).fast_max(-limit).fast_min(limit);
                }
            }
        }
        scaled
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
        write!(f, "{hidden} hidden neurons, {buckets} output buckets, {king_buckets} king buckets")
    }
}

/// A model with its numbers rounded as they are played: what positions are learned through.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundedModel {
    /// First-layer weights by tile and input, in the player's units: sums of them are
    /// exact.
    weights: Vec<i16x32>,
    /// By tile.
    biases: Vec<i16x32>,
    inputs: usize,
    /// Output weights by bucket, view and tile, multiples of one over their unit.
    outputs: Vec<TileRow>,
    /// By bucket. Too fine for rounding to matter.
    output_biases: Vec<f32>,
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

    /// Takes over parameters that have changed.
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

    /// The rows of a tile by input.
    pub fn weights(&self, tile: usize) -> &[i16x32] {
        &self.weights[tile * self.inputs..][..self.inputs]
    }

    /// The biases by tile.
    pub fn biases(&self) -> &[i16x32] {
        &self.biases
    }

    /// Output weights by bucket, view and tile.
    pub fn outputs(&self) -> &[TileRow] {
        &self.outputs
    }

    /// Output biases by bucket.
    pub fn output_biases(&self) -> &[f32] {
        &self.output_biases
    }
}

/// Rounds the first-layer weights of a tile, as they are in play, to the player's
/// units.
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

/// Keeps the weights of a tile in play, sums of a bucket's own and the factoriser's,
/// within [`CLIP`].
pub fn clip_sums(rows: &mut [f32x8], factors: &[f32x8]) {
    let limit = f32x8::splat(CLIP);
    for (number, &factor) in rows.iter_mut().zip(factors.iter().cycle()) {
        *number = (*number + factor).fast_max(-limit).fast_min(limit) - factor;
    }
}
