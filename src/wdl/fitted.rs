//! Written by `lancet wdl`: how Lancet's own games ended.
//!
//! Fitted to 1462131 positions of 18929 games (768-128x2-1 655df200, 150 nodes a move).

use super::Model;

/// The fitted model.
pub const MODEL: Model = Model {
    alpha: [2.74944768, -5.01427427, 3.62032253, -0.89429383],
    beta: [0.00393743, 0.00622635, -0.01153903, 0.00519381],
};
