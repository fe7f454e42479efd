//! Written by `lancet wdl`: how Lancet's own games ended.
//!
//! Fitted to 11776976 positions of 159037 games (768-256x2-1 331f03fc, 150 nodes a move).

/// Coefficients of `alpha`, constant first.
pub const ALPHA: [f64; 4] = [3.29399815, -6.60715704, 5.11503869, -1.34940002];

/// Coefficients of `beta` (1/centipawn), constant first.
pub const BETA: [f64; 4] = [0.00568087, -0.00122452, -0.00267429, 0.00205292];
