//! Static evaluation: the score of a position in centipawns for the side to move.
//!
//! The search passes positions to an `Evaluator`. The evaluator finds the differences from earlier
//! positions itself, so the search does not report moves to it.

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

/// Returns the built-in network.
pub fn default_network() -> Arc<Network> {
    static NETWORK: LazyLock<Arc<Network>> = LazyLock::new(|| {
        let network = Network::from_bytes(include_bytes!(env!("LANCET_NETWORK")));
        Arc::new(network.expect("checked when the program was built"))
    });
    Arc::clone(&NETWORK)
}

/// The name that selects material and piece-square tables instead of a network file.
pub const PSQT: &str = "psqt";

/// Reads the network file at `path`; `None` for [`PSQT`].
///
/// # Errors
///
/// The errors of [`Network::load`].
pub fn load(path: &std::path::Path) -> Result<Option<Arc<Network>>, nnue::network::LoadError> {
    if path.as_os_str() == PSQT {
        return Ok(None);
    }
    Ok(Some(Arc::new(Network::load(path)?)))
}

/// Returns the factor by which a network's score is multiplied on this board, in 1/1024. The same
/// advantage wins less often with less material. The margins of the search are tuned to the
/// resulting scores. The gain of this scaling in Elo is in `src/search/HISTORY.md`.
pub(crate) fn weight(board: &Board) -> i32 {
    weight_of(material(board))
}

/// Returns the sum of the exchange values of all pieces of both sides, in centipawns.
fn material(board: &Board) -> Score {
    let value = |role| see::value(role) * board.by_role(role).count() as i32;
    Role::ALL.into_iter().map(value).sum()
}

/// Returns the factor of a network's score, in 1/1024, for this material of both sides together, in
/// centipawns.
pub fn weight_of(material: Score) -> i32 {
    params::weight_bare() + material / params::weight_material()
}

/// Converts a network's score to the evaluation that the search uses, in centipawns, within
/// [`EVALUATION_LIMIT`].
pub fn weighted(score: Score, board: &Board) -> Score {
    (score * weight(board) / 1024).clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT)
}

/// Converts an evaluation to the network score that gives it, in centipawns. This is the inverse of
/// [`weighted`], apart from rounding and clamping. It is used for training.
pub fn unweighted(score: Score, board: &Board) -> Score {
    score * 1024 / weight(board)
}

/// The evaluator of one search thread, with its caches.
#[derive(Clone, Debug)]
pub(crate) enum Evaluator {
    /// Material and piece-square tables.
    Psqt,
    /// A network.
    Network(Box<Accumulators>),
}

impl Evaluator {
    /// Returns an evaluator with this network or, without one, with material and piece-square
    /// tables.
    pub fn new(network: Option<Arc<Network>>) -> Evaluator {
        network.map_or(Evaluator::Psqt, |network| {
            Evaluator::Network(Box::new(Accumulators::new(network)))
        })
    }

    /// Prepares the evaluation of a position that will probably be evaluated at `ply`.
    pub fn prepare(&mut self, position: &Position, ply: usize) {
        if let Evaluator::Network(accumulators) = self {
            accumulators.update(position.board(), ply);
        }
    }

    /// Returns the static evaluation in centipawns for the side to move, within `EVALUATION_LIMIT`.
    /// `ply` is the distance from the root. Networks keep one accumulator per ply.
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
