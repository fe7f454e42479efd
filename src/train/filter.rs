//! Filter of the positions that are suitable for training.
//!
//! The schedule of a training run can change its filter. Statistics and exams use the default one.

use serde::{Deserialize, Serialize};
use shakmaty::Position as _;

use super::format::Visit;
use lancet::chess::score::Score;

/// Rules for dropping positions. A static evaluation cannot see tactics, so tactical positions
/// would only add noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// Number of plies dropped after the opening, in which the players still react to its random
    /// moves.
    pub(crate) skip_plies: u32,
    /// Smallest number of pieces, kings included.
    pub(crate) min_pieces: usize,
    /// Largest score for either side, in centipawns. Mates and tablebase scores are larger.
    pub(crate) max_score: Score,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter { skip_plies: 8, min_pieces: 4, max_score: 10_000 }
    }
}

impl Filter {
    /// Returns the score of the position if the position is kept.
    pub fn label(&self, Visit { ply, chess, m, score }: Visit) -> Option<Score> {
        let quiet = ply >= self.skip_plies
            && !m.is_capture()
            && !m.is_promotion()
            && chess.board().occupied().count() >= self.min_pieces
            && !chess.is_check();
        score.filter(|score| quiet && score.abs() <= self.max_score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lancet::chess::position::Position;
    use shakmaty::{CastlingMode, Move};

    #[test]
    fn keeps_quiet_positions_only() {
        let label = |fen: &str, uci: &str, ply, score| {
            let position = Position::from_fen(fen).unwrap();
            let legal = position.legal_moves();
            let name = |m: &&Move| m.to_uci(CastlingMode::Standard).to_string() == uci;
            let m = *legal.iter().find(name).unwrap();
            Filter::default().label(Visit { ply, chess: position.chess(), m, score })
        };
        let quiet = "4k3/8/8/8/3p4/8/2P5/4K3 w - - 0 1";
        assert_eq!(label(quiet, "c2c3", 8, Some(50)), Some(50));
        assert_eq!(label(quiet, "c2c3", 8, Some(-10_000)), Some(-10_000));
        for (fen, uci, ply, score, why) in [
            (quiet, "c2c3", 7, Some(50), "early"),
            (quiet, "c2c3", 8, Some(-31_990), "mate"),
            (quiet, "c2c3", 8, None, "a bound"),
            ("4k3/8/8/8/3p4/2P5/8/4K3 w - - 0 9", "c3d4", 20, Some(50), "capture"),
            ("8/4P1k1/8/8/3p4/8/8/4K3 w - - 0 9", "e7e8q", 20, Some(50), "promotion"),
            ("4k3/8/8/8/3p4/8/8/4K3 w - - 0 9", "e1d2", 20, Some(50), "three pieces"),
            ("4k3/8/8/8/3p4/8/2P1r3/4K3 w - - 0 9", "e1f1", 20, Some(50), "check"),
        ] {
            assert_eq!(label(fen, uci, ply, score), None, "{why}");
        }
    }
}
