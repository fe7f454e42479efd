//! Written by `lancet wdl`: how Lancet's own games ended.
//!
//! Fitted to 11776976 positions of 159037 games (768-256x2-1 331f03fc, 150 nodes a move).

use super::Model;

/// The fitted model.
pub const MODEL: Model = Model {
    alpha: [3.29399815, -6.60715704, 5.11503869, -1.34940002],
    beta: [0.00568087, -0.00122452, -0.00267429, 0.00205292],
};
