//! Static evaluation: a position to centipawns for the side to move.
//!
//! The search asks an [`Evaluator`] for a number and never tells it about
//! moves made or taken back.

use crate::{position::Position, score::Score};

pub mod psqt;

/// One search thread's evaluator, with whatever it caches between calls.
#[derive(Clone, Debug, Default)]
pub enum Evaluator {
    /// Material and piece-square tables.
    #[default]
    Psqt,
}

impl Evaluator {
    /// The static evaluation in centipawns for the side to move, within
    /// `EVALUATION_LIMIT`. `ply` is the distance from the root: evaluators that
    /// update incrementally keep one cache line per ply.
    pub fn evaluate(&mut self, position: &Position, _ply: usize) -> Score {
        match self {
            Evaluator::Psqt => psqt::evaluate(position),
        }
    }
}
