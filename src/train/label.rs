//! What of a search is written down to be learned.

use super::format::NO_LABEL;
use lancet::{
    chess::{position::Position, score::is_decisive},
    eval,
    play::report::{Bound, Outcome},
};

/// The label of a position that was searched, from White's point of view: the score,
/// in the units of the network if one evaluated. An interrupted iteration may leave
/// a bound, which is not a label.
pub fn of(outcome: &Outcome, position: &Position, network: bool) -> i16 {
    if outcome.info.bound != Bound::Exact {
        return NO_LABEL;
    }
    let score = outcome.info.score;
    let score = if network && !is_decisive(score) {
        eval::unweighted(score, position.board())
    } else {
        score
    };
    let white = if position.turn().is_white() { score } else { -score };
    i16::try_from(white).unwrap_or(NO_LABEL)
}
