//! Curves of winning chances, written by `lancet-train wdl`.
//!
//! Fitted to 78667 positions of 774 games (768x4-512x2-8 5ba3e018, 5000 nodes a move).

/// Coefficients of `alpha` in powers of material / 58, constant first.
pub const ALPHA: [f64; 4] = [7.96391675, -14.70731071, 11.53674079, -3.17444551];

/// Coefficients of `beta` (1/centipawn), likewise.
pub const BETA: [f64; 4] = [0.01893543, 0.00971528, -0.02880884, 0.01478726];
