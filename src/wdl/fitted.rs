//! Written by `lancet wdl`: how Lancet's own games ended.

use super::Model;

/// The fitted model.
pub const MODEL: Model = Model {
    alpha: [1.00000000, 0.00000000, 0.00000000, 0.00000000],
    beta: [0.00800000, 0.00000000, 0.00000000, 0.00000000],
};
