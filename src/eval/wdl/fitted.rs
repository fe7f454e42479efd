//! Curves of winning chances, written by `lancet-train wdl`.
//!
//! Fitted to 68869 positions of 807 games (768-512x2-8 f0245361, 5000 nodes a move).

/// Coefficients of `alpha` in powers of material / 58, constant first.
pub const ALPHA: [f64; 4] = [4.77939264, -5.53473633, 1.13596643, 0.62445496];

/// Coefficients of `beta` (1/centipawn), likewise.
pub const BETA: [f64; 4] = [0.01393170, 0.01528528, -0.03926779, 0.01963088];
