//! Written by `lancet wdl`: how Lancet's own games ended.
//!
//! Fitted to 110119 positions of 1270 games (768-512x2-8 a00a030a, 5000 nodes a move).

/// Coefficients of `alpha`, constant first.
pub const ALPHA: [f64; 4] = [6.10157606, -13.56229512, 12.53252309, -4.02529011];

/// Coefficients of `beta` (1/centipawn), constant first.
pub const BETA: [f64; 4] = [0.01891905, -0.01049146, -0.00164414, 0.00404713];
