//! The numbers of a model: where each is, how they begin, and what is played of
//! them. No arithmetic of positions here but [`Layout::output`], the definition.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use wide::{f32x8, i16x8, i16x32};

use super::sample::Sample;
use crate::eval::nnue::{
    features::{self, INPUTS},
    network::{LoadError, MAX_OUTPUT_SUM, MAX_OUTPUT_WEIGHT, Network, Parameters, QA, QB},
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
pub type Row = [f32x8; 4];

/// Where the parameters are in one long vector of registers (eight numbers):
/// first-layer weights by tile and input, first-layer biases by tile, output
/// weights by bucket, view and tile, output biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Hidden neurons per view, a multiple of [`TILE`].
    pub hidden: usize,
    /// Output buckets.
    pub buckets: usize,
}

impl Layout {
    /// Tiles of the hidden layer of one view.
    #[must_use]
    pub const fn tiles(self) -> usize {
        self.hidden / TILE
    }

    /// Registers of the hidden layer of one view.
    const fn units(self) -> usize {
        self.hidden / 8
    }

    /// Where the first layer's biases begin.
    #[must_use]
    pub const fn biases(self) -> usize {
        INPUTS * self.units()
    }

    /// Where the output weights begin.
    #[must_use]
    pub const fn outputs(self) -> usize {
        self.biases() + self.units()
    }

    /// Where the output biases begin.
    #[must_use]
    pub const fn output_biases(self) -> usize {
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
    #[must_use]
    pub const fn weight_at(self, input: usize, neuron: usize) -> usize {
        (neuron / TILE * INPUTS + input) * TILE + neuron % TILE
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
            let round = |weight: f32| (weight * unit as f32).round_ties_even();
            weights.chunks_exact(row).all(|row| {
                let sum = |sign: f32| row.iter().map(|&w| (sign * round(w)).max(0.0)).sum::<f32>();
                row.iter().all(|&w| round(w).abs() <= f32::from(MAX_OUTPUT_WEIGHT))
                    && sum(1.0).max(sum(-1.0)) <= MAX_OUTPUT_SUM as f32
            })
        };
        QB.into_iter().find(|&unit| fits(unit)).unwrap_or(QB[QB.len() - 1])
    }

    /// The output for a position as its definition says, one number at a time, in
    /// units of 400 centipawns.
    #[must_use]
    pub fn output(self, parameters: &[f32x8], sample: &Sample) -> f64 {
        let numbers: &[f32] = cast_slice(parameters);
        let active = sample.active();
        let bucket = features::output_bucket(active.count, self.buckets);
        let mut output = f64::from(numbers[8 * self.output_biases() + bucket]);
        for view in 0..2 {
            for neuron in 0..self.hidden {
                let mut sum = f64::from(numbers[8 * self.biases() + neuron]);
                for &input in active.view(view) {
                    sum += f64::from(numbers[self.weight_at(usize::from(input), neuron)]);
                }
                let row = 8 * self.outputs() + (2 * bucket + view) * self.hidden;
                output += sum.clamp(0.0, 1.0).powi(2) * f64::from(numbers[row + neuron]);
            }
        }
        output
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

/// The model as it is played: what positions are learned through.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// First-layer weights by tile and input, then the biases by tile, in the
    /// player's units: sums of them are exact.
    first: Vec<i16x32>,
    /// Output weights by bucket, view and tile, multiples of one over their unit.
    outputs: Vec<Row>,
    /// By bucket. Too fine for rounding to matter.
    output_biases: Vec<f32>,
}

impl Played {
    /// Rounds a model's parameters.
    #[must_use]
    pub fn new(layout: Layout, parameters: &[f32x8]) -> Played {
        let mut played = Played {
            first: vec![i16x32::ZERO; (INPUTS + 1) * layout.tiles()],
            outputs: vec![Row::default(); 2 * layout.buckets * layout.tiles()],
            output_biases: vec![0.0; layout.buckets],
        };
        played.round_first(0, &parameters[..layout.outputs()]);
        played.round_outputs(layout, parameters);
        played
    }

    /// Takes over numbers of the first layer, whose registers begin at `start`.
    pub fn round_first(&mut self, start: usize, parameters: &[f32x8]) {
        round_first(parameters, &mut self.first[start / 4..]);
    }

    /// The first layer, to be rounded part by part.
    pub fn first_mut(&mut self) -> &mut [i16x32] {
        &mut self.first
    }

    /// Takes over the output layer.
    pub fn round_outputs(&mut self, layout: Layout, parameters: &[f32x8]) {
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
    #[must_use]
    pub fn weights(&self, tile: usize) -> &[i16x32] {
        &self.first[tile * INPUTS..][..INPUTS]
    }

    /// The biases by tile.
    #[must_use]
    pub fn biases(&self) -> &[i16x32] {
        &self.first[self.first.len() / (INPUTS + 1) * INPUTS..]
    }

    /// Output weights by bucket, view and tile.
    #[must_use]
    pub fn outputs(&self) -> &[Row] {
        &self.outputs
    }

    /// Output biases by bucket.
    #[must_use]
    pub fn output_biases(&self) -> &[f32] {
        &self.output_biases
    }
}

/// Rounds numbers of the first layer to the player's units.
pub fn round_first(parameters: &[f32x8], rounded: &mut [i16x32]) {
    for (row, rounded) in parameters.as_chunks::<4>().0.iter().zip(rounded) {
        let narrow = |numbers: f32x8| {
            i16x8::from_i32x8_saturate((numbers * f32x8::splat(QA as f32)).round_int())
        };
        *rounded = bytemuck::cast(row.map(narrow));
    }
}
