//! Static evaluation: a position to centipawns for the side to move.
//!
//! The search asks an `Evaluator` for a number and never tells it about
//! moves made or taken back.

use std::sync::{Arc, LazyLock};

use shakmaty::{Board, Role};

use crate::chess::{
    position::Position,
    score::{EVALUATION_LIMIT, Score},
    see,
};

pub(crate) mod endings;
pub mod nnue;
pub mod params;
pub(crate) mod parts;
pub mod psqt;
pub mod wdl;

pub use endings::with_bare_king;
use nnue::{Accumulators, Network};

/// The network that is part of the program.
pub fn default_network() -> Arc<Network> {
    static NETWORK: LazyLock<Arc<Network>> = LazyLock::new(|| {
        let network = Network::from_bytes(include_bytes!(env!("LANCET_NETWORK")));
        Arc::new(network.expect("checked when the program was built"))
    });
    Arc::clone(&NETWORK)
}

/// The name that stands for material and piece-square tables where a network file is expected.
pub const PSQT: &str = "psqt";

/// Reads the network file at `path`; `None` for [`PSQT`].
///
/// # Errors
///
/// As those of [`Network::load`].
pub fn load(path: &std::path::Path) -> Result<Option<Arc<Network>>, nnue::network::LoadError> {
    if path.as_os_str() == PSQT {
        return Ok(None);
    }
    Ok(Some(Arc::new(Network::load(path)?)))
}

/// What a network's word counts for on this board, in 1/1024. The less there is to win
/// with, the less an advantage wins; and the search's margins are for scores of
/// this size. Its worth in games is in the search's `HISTORY.md`.
pub(crate) fn weight(board: &Board) -> i32 {
    let value = |role| see::value(role) * board.by_role(role).count() as i32;
    weight_of(Role::ALL.into_iter().map(value).sum())
}

/// The same for the material of both sides, in centipawns.
pub fn weight_of(material: Score) -> i32 {
    params::weight_bare() + material / params::weight_material()
}

/// The evaluation by a network that says `score`, in centipawns: what the search plays
/// by, within [`EVALUATION_LIMIT`].
pub fn weighted(score: Score, board: &Board) -> Score {
    (score * weight(board) / 1024).clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT)
}

/// What a network would have to say, in centipawns, for this evaluation: what it is to
/// learn.
pub fn unweighted(score: Score, board: &Board) -> Score {
    score * 1024 / weight(board)
}

/// One search thread's evaluator, with whatever it caches between calls.
#[derive(Clone, Debug, Default)]
pub(crate) enum Evaluator {
    /// Material and piece-square tables.
    #[default]
    Psqt,
    /// A network.
    Network(Box<Accumulators>),
}

impl Evaluator {
    /// An evaluator with this network or, without one, with material and
    /// piece-square tables.
    pub fn new(network: Option<Arc<Network>>) -> Evaluator {
        network.map_or(Evaluator::Psqt, |network| {
            Evaluator::Network(Box::new(Accumulators::new(network)))
        })
    }

    /// This position will probably be evaluated at `ply`: does what can be done already.
    pub fn prepare(&mut self, position: &Position, ply: usize) {
        if let Evaluator::Network(accumulators) = self {
            accumulators.update(position.board(), ply);
        }
    }

    /// The static evaluation in centipawns for the side to move, within
    /// `EVALUATION_LIMIT`. `ply` is the distance from the root: evaluators that
    /// update incrementally keep one accumulator per ply.
    pub fn evaluate(&mut self, position: &Position, ply: usize) -> Score {
        let score = match self {
            Evaluator::Psqt => psqt::evaluate(position),
            Evaluator::Network(accumulators) => {
                weighted(accumulators.evaluate(position, ply), position.board())
            }
        };
        with_bare_king(position, score)
    }
}
