//! Written by `lancet wdl`: how Lancet's own games ended.
//!
//! Fitted to 4531403 positions of 59665 games (768-128x2-1 89460a29, 150 nodes a move).

use super::Model;

/// The fitted model.
pub const MODEL: Model = Model {
    alpha: [2.70943451, -4.98917536, 3.60839804, -0.89165253],
    beta: [0.00386620, 0.00571429, -0.01055750, 0.00477333],
};
