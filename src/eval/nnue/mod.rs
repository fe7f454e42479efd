//! Lancet's network. It has two views of the board, that of the side to move first. Each view has
//! 768 horizontally mirrored inputs, or four times as many with king buckets. The network has one
//! hidden layer with squared clipped ReLU (SCReLU), and one output for each bucket of piece counts.
//!
//! `features` defines the inputs and is shared with the trainer. `network` has the file format and
//! the parameters. `accumulator` updates the hidden layer incrementally. `simd` has the arithmetic
//! and the only unsafe code of this module.
//!
//! # Arithmetic
//!
//! All arithmetic uses integers and is exact, so every machine and every order of summation gives
//! the same score. The parameters of a file are checked when it is loaded
//! ([`network::LoadError::Range`]), so that no overflow is possible:
//!
//! | quantity | unit | range |
//! | --- | --- | --- |
//! | first-layer weight and bias `w` | 1/255 | 32 times the largest weight plus the largest bias fits in 16 bits |
//! | hidden neuron before activation | 1/255 | 16 bits (intermediate sums may wrap, because modular addition is exact) |
//! | clamped neuron `v` | 1/255 | `0..=255` |
//! | output weight `u` | 1/q, q = 64, 128, 256 or 512 | `-128..=128` |
//! | `v * u` | 1/255q | at most 32,640: 16 bits |
//! | `v * v * u`, summed over the neurons of a lane | 1/65025q | 32 bits: the positive and the negative weights of a lane each sum to at most 33,025 |
//! | sum over all lanes | 1/65025q | 64 bits |
//! | output bias | 1/255q | 32 bits |
//! | `(sum / 255 + bias) * 400 / 255q` | centipawns | computed in 64 bits, clamped to the limit of the evaluation |
//!
//! A lane is a 32-bit sum. It adds up the products of at most two adjacent neurons of every block
//! of 32 neurons. The limits above are for two neurons, that is, for 16 lanes in a block.

mod accumulator;
pub mod checksum;
pub mod features;
pub mod network;
pub mod simd;

pub use accumulator::Accumulators;
pub use network::Network;
