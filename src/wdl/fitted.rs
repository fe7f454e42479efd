//! Written by `lancet wdl`: how Lancet's own games ended.

use super::Model;

/// The fitted model.
pub const MODEL: Model = Model { alpha: [1.0, 0.0, 0.0, 0.0], beta: [0.008, 0.0, 0.0, 0.0] };
