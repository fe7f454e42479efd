//! Static evaluation: a position to centipawns for the side to move.
//!
//! The search asks an [`Evaluator`] for a number and never tells it about
//! moves made or taken back.

use std::sync::{Arc, LazyLock};

use crate::chess::{position::Position, score::Score};

pub mod nnue;
pub mod parts;
pub mod psqt;
pub mod wdl;

use nnue::{Accumulators, Network};

/// The network that is part of the program.
#[must_use]
pub fn default_network() -> Arc<Network> {
    static NETWORK: LazyLock<Arc<Network>> = LazyLock::new(|| {
        let network = Network::from_bytes(include_bytes!(env!("LANCET_NETWORK")));
        Arc::new(network.expect("checked when the program was built"))
    });
    Arc::clone(&NETWORK)
}

/// One search thread's evaluator, with whatever it caches between calls.
#[derive(Clone, Debug, Default)]
pub enum Evaluator {
    /// Material and piece-square tables.
    #[default]
    Psqt,
    /// A network.
    Network(Box<Accumulators>),
}

impl Evaluator {
    /// An evaluator with this network or, without one, with material and
    /// piece-square tables.
    #[must_use]
    pub fn new(network: Option<Arc<Network>>) -> Evaluator {
        network.map_or(Evaluator::Psqt, |network| {
            Evaluator::Network(Box::new(Accumulators::new(network)))
        })
    }

    /// The static evaluation in centipawns for the side to move, within
    /// `EVALUATION_LIMIT`. `ply` is the distance from the root: evaluators that
    /// update incrementally keep one cache line per ply.
    pub fn evaluate(&mut self, position: &Position, ply: usize) -> Score {
        match self {
            Evaluator::Psqt => psqt::evaluate(position),
            Evaluator::Network(accumulators) => accumulators.evaluate(position, ply),
        }
    }
}
