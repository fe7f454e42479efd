//! Winning chances: converts a score and a material count to the probabilities of a win, a draw and
//! a loss. The model is fitted to Lancet's own games by `lancet-train wdl`, which writes its
//! coefficients to `wdl/fitted.rs`.

use crate::chess::{
    position::Position,
    score::{Score, is_decisive},
};

mod fitted;

/// The chances of the side to move, in permille. They sum to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chances {
    /// Chance of a win.
    pub win: u32,
    /// Chance of a draw.
    pub draw: u32,
    /// Chance of a loss.
    pub loss: u32,
}

impl Chances {
    /// The chances of a drawn game.
    pub const DRAWN: Chances = Chances { win: 0, draw: 1000, loss: 0 };
}

/// The ordered logistic model. The probability of a win is `sigmoid(beta * score - alpha)`, that of
/// a loss `sigmoid(-beta * score - alpha)`, and the remaining probability is that of a draw.
/// `alpha` and `beta` are polynomials in the material count ([`powers`]). Stockfish uses `a = alpha
/// / beta`, the score at which a side wins half of its games, and `b = 1 / beta`, the spread of the
/// curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Coefficients of `alpha` in powers of material / 58, constant first.
    pub alpha: [f64; TERMS],
    /// Coefficients of `beta` (1/centipawn), likewise.
    pub beta: [f64; TERMS],
}

/// The model fitted to Lancet's own games.
pub const MODEL: Model = Model { alpha: fitted::ALPHA, beta: fitted::BETA };

/// Number of terms of the polynomials.
pub const TERMS: usize = 4;

/// The material counts to which the model is fitted. Endings with less material behave differently.
/// Counts outside this range are clamped.
pub const MATERIAL: std::ops::RangeInclusive<u32> = 17..=78;

/// Returns the material count of both sides together: 1 for a pawn, 3 for a knight or bishop, 5 for
/// a rook and 9 for a queen.
pub fn material(board: &shakmaty::Board) -> u32 {
    let count = |pieces: shakmaty::Bitboard| pieces.count() as u32;
    count(board.pawns())
        + 3 * count(board.knights() | board.bishops())
        + 5 * count(board.rooks())
        + 9 * count(board.queens())
}

/// Returns the powers of a material count, after clamping it to [`MATERIAL`] and dividing it by 58.
pub fn powers(material: u32) -> [f64; TERMS] {
    let x = f64::from(material.clamp(*MATERIAL.start(), *MATERIAL.end())) / 58.0;
    std::array::from_fn(|i| x.powi(i as i32))
}

/// Returns the logistic function of `x`.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Model {
    /// Returns `alpha` and `beta` for a material count.
    pub fn at(&self, material: u32) -> (f64, f64) {
        let powers = powers(material);
        let sum = |terms: &[f64; TERMS]| terms.iter().zip(powers).map(|(c, p)| c * p).sum();
        (sum(&self.alpha), sum(&self.beta))
    }

    /// Returns the probabilities of a win and of a loss, for a score in centipawns.
    pub fn win_and_loss(&self, score: f64, material: u32) -> (f64, f64) {
        let (alpha, beta) = self.at(material);
        (sigmoid(beta * score - alpha), sigmoid(-beta * score - alpha))
    }

    /// Returns the chances for a score in centipawns. Decisive scores are certain wins or losses.
    pub fn chances(&self, score: Score, material: u32) -> Chances {
        let (win, loss) = if is_decisive(score) {
            (f64::from(u8::from(score > 0)), f64::from(u8::from(score < 0)))
        } else {
            self.win_and_loss(f64::from(score), material)
        };
        let permille = |p: f64| (1000.0 * p).round() as u32;
        let win = permille(win);
        let loss = permille(loss).min(1000 - win);
        Chances { win, draw: 1000 - win - loss, loss }
    }
}

/// Returns the chances of the side to move for a score in centipawns.
pub fn chances(score: Score, position: &Position) -> Chances {
    MODEL.chances(score, material(position.board()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chess::score::{EVALUATION_LIMIT, INFINITE, MATE, TABLEBASE_WIN};

    proptest! {
        #[test]
        fn chances_sum_to_a_thousand(score in -INFINITE..=INFINITE, material in MATERIAL) {
            let Chances { win, draw, loss } = MODEL.chances(score, material);
            prop_assert_eq!(win + draw + loss, 1000);
            let mirrored = MODEL.chances(-score, material);
            prop_assert_eq!((win, loss), (mirrored.loss, mirrored.win));
        }

        #[test]
        fn better_scores_have_better_chances(a in -3000..=3000_i32, b in -3000..=3000_i32, material in MATERIAL) {
            let (low, high) = (a.min(b), a.max(b));
            let [low, high] = [low, high].map(|score| MODEL.chances(score, material));
            prop_assert!(low.win <= high.win && low.loss >= high.loss);
        }
    }

    #[test]
    fn the_fitted_model_is_sane() {
        for material in MATERIAL {
            let (alpha, beta) = MODEL.at(material);
            assert!(alpha > 0.0 && beta > 0.0, "{material}: {alpha} {beta}");
            let level = MODEL.chances(0, material);
            assert_eq!(level.win, level.loss);
            let sure = MODEL.chances(EVALUATION_LIMIT, material);
            assert!(sure.win > 950, "{sure:?}");
            for won in [MATE - 1, MATE - 200, TABLEBASE_WIN - 30] {
                let certain = Chances { win: 1000, draw: 0, loss: 0 };
                assert_eq!(MODEL.chances(won, material), certain);
            }
        }
    }

    #[test]
    fn material_is_counted() {
        assert_eq!(material(&shakmaty::Board::default()), 78);
        assert_eq!(material(&shakmaty::Board::empty()), 0);
        assert_eq!(powers(0), powers(17));
        assert_eq!(powers(90), powers(78));
        let fen = "4k3/8/8/3qq3/3r4/1b1n4/8/2K5 w - - 0 1";
        let position = Position::from_fen(fen).unwrap();
        assert_eq!(material(position.board()), 9 + 9 + 5 + 3 + 3);
    }
}
