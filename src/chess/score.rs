//! Scores, windows and the shift that ages decisive scores.
//!
//! No board and no ply may appear here: a score is relative to the node it
//! belongs to, and to nothing else.

/// A score in centipawns from the side to move's point of view, or a decisive
/// score: `MATE - n` is mate in `n` moves *from this node*, `-MATE + n` is
/// being mated in `n` moves, and `-MATE` is being checkmated now.
///
/// Range: `-INFINITE..=INFINITE`; it fits an `i16`.
pub type Score = i32;

/// Beyond every score; an unknown bound.
pub const INFINITE: Score = 32_001;
/// The score of the side that has given mate. A checkmated node is `-MATE`.
pub const MATE: Score = 32_000;
/// Scores beyond this are mates; between [`DECISIVE`] and this, tablebase wins.
pub const MATE_BAND: Score = 31_000;
/// A tablebase win at the probed node. It ages like a mate.
pub const TABLEBASE_WIN: Score = 30_900;
/// Scores beyond `DECISIVE` are won, below `-DECISIVE` lost: by mate or by
/// tablebase. Evaluations stay within [`EVALUATION_LIMIT`].
pub const DECISIVE: Score = 30_000;
/// The largest absolute value a static evaluation may have.
pub const EVALUATION_LIMIT: Score = 29_000;
/// The score of a drawn node.
pub const DRAW: Score = 0;
/// No value: a static evaluation that was not computed.
pub const NO_SCORE: Score = -32_002;

/// Is this score a proven win or loss (mate or tablebase)?
#[must_use]
pub const fn is_decisive(score: Score) -> bool {
    score.abs() > DECISIVE
}

/// Is this score a mate, for either side?
#[must_use]
pub const fn is_mate(score: Score) -> bool {
    score.abs() > MATE_BAND
}

/// Distance to mate in full moves: positive if the side to move mates,
/// zero or negative if it is mated; `None` for other scores.
#[must_use]
pub const fn mate_distance(score: Score) -> Option<i32> {
    if score > MATE_BAND {
        Some(MATE - score)
    } else if score < -MATE_BAND {
        Some(-(score + MATE))
    } else {
        None
    }
}

/// What a person makes of a score: the expected result of the side it belongs
/// to, from 0 (lost) to 1 (won). A logistic curve; its slope was fitted on games
/// of people rated about 2300 (<https://lichess.org/page/accuracy>).
#[must_use]
pub fn winning_chances(score: Score) -> f64 {
    if is_decisive(score) {
        return if score > 0 { 1.0 } else { 0.0 };
    }
    1.0 / (1.0 + (-0.003_682_08 * f64::from(score)).exp())
}

/// A delayed loss: scores below `pivot` gain one on their way out of a node,
/// so that of two losses the later one is better. Mates are the case
/// `pivot = -DECISIVE`.
///
/// The window is shifted the opposite way beforehand. Because the score shift
/// is monotone and the window shift its exact inverse, a score that was a bound
/// inside the node cannot come back as an exact score outside:
///
/// ```
/// use lancet::chess::score::Delay;
/// let delay = Delay { pivot: 5 };
/// for bound in -20..20 {
///     for score in -20..20 {
///         assert_eq!(score <= delay.alpha(bound), delay.score(score) <= bound);
///         assert_eq!(score >= delay.beta(bound), delay.score(score) >= bound);
///     }
/// }
/// ```
///
/// Source: H. G. Muller, post on adjusting the scores that a search returns,
/// TalkChess, 2007: <https://www.talkchess.com/forum/viewtopic.php?t=16784&start=10>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// Scores below this are aged.
    pub pivot: Score,
}

impl Delay {
    /// The delay of the playing search: lost scores only.
    pub const MATES: Delay = Delay { pivot: -DECISIVE };

    /// What a node with best score `score` returns.
    #[must_use]
    pub const fn score(self, score: Score) -> Score {
        score + (score < self.pivot) as Score
    }

    /// The lower bound to search with, so that the returned score can be
    /// compared with `alpha`.
    #[must_use]
    pub const fn alpha(self, alpha: Score) -> Score {
        alpha - (alpha < self.pivot) as Score
    }

    /// The upper bound to search with, so that the returned score can be
    /// compared with `beta`.
    #[must_use]
    pub const fn beta(self, beta: Score) -> Score {
        beta - (beta <= self.pivot) as Score
    }
}

/// The open interval of scores a search must tell apart: scores at or below
/// `alpha` and at or above `beta` come back as bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Scores at or below this fail low.
    pub alpha: Score,
    /// Scores at or above this fail high.
    pub beta: Score,
}

impl Window {
    /// Every score is inside.
    pub const FULL: Window = Window { alpha: -INFINITE, beta: INFINITE };

    /// The window `(alpha, beta)`.
    #[must_use]
    pub const fn new(alpha: Score, beta: Score) -> Window {
        Window { alpha, beta }
    }

    /// The null window that asks whether a score exceeds `alpha`.
    #[must_use]
    pub const fn null(alpha: Score) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// The same window from the other side's point of view.
    #[must_use]
    pub const fn flip(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// The window inside a node whose result will be aged by [`Delay::MATES`].
    #[must_use]
    pub const fn pre_shift(self) -> Window {
        Window { alpha: Delay::MATES.alpha(self.alpha), beta: Delay::MATES.beta(self.beta) }
    }

    /// Mate-distance pruning: no node is worth less than being mated now or
    /// more than mating with the next move.
    #[must_use]
    pub fn clamp_to_mates(self) -> Window {
        Window { alpha: self.alpha.max(-MATE), beta: self.beta.min(MATE - 1) }
    }

    /// Nothing can be told apart any more.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.alpha >= self.beta
    }

    /// Is the score exact in this window?
    #[must_use]
    pub const fn contains(self, score: Score) -> bool {
        self.alpha < score && score < self.beta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The four tables of the post: window, the window to search with, and
    /// pairs of inner and returned scores.
    #[test]
    fn tables_of_the_post() {
        type Row = (Score, Window, Window, &'static [(Score, Score)]);
        let rows: [Row; 4] = [
            (
                -9900,
                Window::new(-9998, 12),
                Window::new(-9999, 12),
                &[(-9999, -9998), (-9998, -9997), (11, 11), (12, 12)],
            ),
            (
                -9900,
                Window::new(-9998, -9995),
                Window::new(-9999, -9996),
                &[(-9999, -9998), (-9998, -9997), (-9997, -9996), (-9996, -9995)],
            ),
            (5, Window::new(4, 5), Window::new(3, 4), &[(3, 4), (4, 5), (5, 5)]),
            (4, Window::new(4, 5), Window::new(4, 5), &[(3, 4), (4, 4), (5, 5)]),
        ];
        for (pivot, outer, inner, scores) in rows {
            let delay = Delay { pivot };
            assert_eq!(delay.alpha(outer.alpha), inner.alpha);
            assert_eq!(delay.beta(outer.beta), inner.beta);
            for &(before, after) in scores {
                assert_eq!(delay.score(before), after);
                assert_eq!(before <= inner.alpha, after <= outer.alpha, "{before} fails low");
                assert_eq!(before >= inner.beta, after >= outer.beta, "{before} fails high");
            }
        }
    }

    /// Every bound, against the scores around it and the ends of the range.
    #[test]
    fn bounds_never_become_exact() {
        let delay = Delay::MATES;
        for bound in -INFINITE..=INFINITE {
            let near = (bound - 3..=bound + 3).chain([-INFINITE, -DECISIVE, 0, DECISIVE, INFINITE]);
            for score in near {
                assert_eq!(score <= delay.alpha(bound), delay.score(score) <= bound);
                assert_eq!(score >= delay.beta(bound), delay.score(score) >= bound);
            }
        }
    }

    #[test]
    fn shift_is_monotone() {
        for score in -INFINITE..INFINITE {
            assert!(Delay::MATES.score(score) <= Delay::MATES.score(score + 1));
        }
    }

    #[test]
    fn mates_count_moves() {
        // Mated now, seen from the mating side one ply up, then one more up.
        let mated = -MATE;
        let mates_in_one = -Delay::MATES.score(mated);
        assert_eq!(mate_distance(mates_in_one), Some(1));
        let mated_in_one = -Delay::MATES.score(mates_in_one);
        assert_eq!(mate_distance(mated_in_one), Some(-1));
        let mates_in_two = -Delay::MATES.score(mated_in_one);
        assert_eq!(mate_distance(mates_in_two), Some(2));
        assert_eq!(mate_distance(mated), Some(0));
        assert_eq!(mate_distance(TABLEBASE_WIN), None);
    }

    #[test]
    fn chances_rise_with_the_score() {
        let chances = |scores: [Score; 5]| scores.map(|s| (100.0 * winning_chances(s)).round());
        assert_eq!(chances([-MATE, -200, 0, 100, 500]), [0.0, 32.0, 50.0, 59.0, 86.0]);
        for score in -INFINITE..INFINITE {
            assert!(winning_chances(score) <= winning_chances(score + 1));
            assert!((winning_chances(score) + winning_chances(-score) - 1.0).abs() < 1e-12);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_pivot_is_exact(pivot in -INFINITE..=INFINITE, bound in -INFINITE..=INFINITE, score in -INFINITE..=INFINITE) {
            let delay = Delay { pivot };
            proptest::prop_assert_eq!(score <= delay.alpha(bound), delay.score(score) <= bound);
            proptest::prop_assert_eq!(score >= delay.beta(bound), delay.score(score) >= bound);
        }
    }
}
