//! Lancet's network: 768 mirrored inputs per view (or four times as many, by the place
//! of the view's king), one hidden layer, squared clipped ReLU, both views (side to move
//! first), one output per bucket of piece counts.
//!
//! `features` defines the inputs and is shared with the trainer. `network` is
//! the file and the parameters, `accumulator` keeps the hidden layer up to
//! date, `simd` does the arithmetic, with the only unsafe code here.
//!
//! # Arithmetic
//!
//! Everything is exact integer arithmetic, so every machine and every order of
//! summation gives the same score. What a file may contain is checked when it
//! is loaded ([`network::LoadError::Range`]), and then nothing can overflow:
//!
//! | quantity | unit | range |
//! | --- | --- | --- |
//! | first-layer weight and bias `w` | 1/255 | 32 times the largest weight and the largest bias fit 16 bits together |
//! | hidden neuron before activation | 1/255 | 16 bits (sums on the way may wrap: modular addition is exact) |
//! | clamped neuron `v` | 1/255 | `0..=255` |
//! | output weight `u` | 1/q, q = 64, 128, 256 or 512 | `-128..=128` |
//! | `v * u` | 1/255q | at most 32,640: 16 bits |
//! | `v * v * u`, summed over neurons of the same lane | 1/65025q | 32 bits: the positive and the negative weights of a lane each sum to at most 33,025 |
//! | the sum over the 16 lanes | 1/65025q | 64 bits |
//! | output bias | 1/255q | 32 bits |
//! | `(sum / 255 + bias) * 400 / 255q` | centipawns | computed in 64 bits, clamped to the evaluation's limit |

mod accumulator;
pub mod checksum;
pub mod features;
pub mod network;
pub mod simd;

pub use accumulator::Accumulators;
pub use network::Network;
