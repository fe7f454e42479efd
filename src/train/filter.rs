//! Which positions of a game are worth learning from.
//!
//! Used when loading and when counting, so that both agree.

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Move, Position as _};

use crate::score::Score;

/// What to leave out. A static evaluation cannot see tactics, so positions
/// where these decide would only be noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// Plies of the game (by move number) that are too random to keep.
    pub min_ply: u32,
    /// Fewest pieces, kings included.
    pub min_pieces: usize,
    /// Largest score either way, in centipawns; mates and tablebase results
    /// lie beyond.
    pub max_score: Score,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter { min_ply: 16, min_pieces: 4, max_score: 10_000 }
    }
}

impl Filter {
    /// Is the position kept? `m` is the move played there, `score` is from
    /// either side's point of view.
    #[must_use]
    pub fn keeps(&self, chess: &Chess, m: Move, score: Score) -> bool {
        let ply = 2 * (u32::from(chess.fullmoves()) - 1) + u32::from(chess.turn().is_black());
        ply >= self.min_ply
            && score.abs() <= self.max_score
            && !m.is_capture()
            && !m.is_promotion()
            && chess.board().occupied().count() >= self.min_pieces
            && !chess.is_check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Position;
    use shakmaty::CastlingMode;

    #[test]
    fn keeps_quiet_positions_only() {
        let filter = Filter::default();
        let keeps = |fen: &str, uci: &str, score| {
            let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
            let legal = position.legal_moves();
            let name = |m: &&Move| m.to_uci(CastlingMode::Standard).to_string() == uci;
            filter.keeps(position.chess(), *legal.iter().find(name).unwrap(), score)
        };
        assert!(keeps("4k3/8/8/8/3p4/8/2P5/4K3 w - - 0 9", "c2c3", 50));
        assert!(!keeps("4k3/8/8/8/3p4/8/2P5/4K3 w - - 0 8", "c2c3", 50), "early");
        assert!(keeps("4k3/8/8/8/3p4/8/2P5/4K3 w - - 0 9", "c2c3", -10_000));
        assert!(!keeps("4k3/8/8/8/3p4/8/2P5/4K3 w - - 0 9", "c2c3", -31_990), "mate");
        assert!(!keeps("4k3/8/8/8/3p4/2P5/8/4K3 w - - 0 9", "c3d4", 50), "capture");
        assert!(!keeps("8/4P1k1/8/8/3p4/8/8/4K3 w - - 0 9", "e7e8q", 50), "promotion");
        assert!(!keeps("4k3/8/8/8/3p4/8/8/4K3 w - - 0 9", "e1d2", 50), "three pieces");
        assert!(!keeps("4k3/8/8/8/3p4/8/2P1r3/4K3 w - - 0 9", "e1f1", 50), "check");
    }
}
