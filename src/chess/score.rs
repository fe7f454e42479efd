//! Scores, windows, bounds, and the shift that ages decisive scores.
//!
//! A score is relative to the node that it belongs to. Therefore this module uses neither boards
//! nor plies from the root.

/// A score in centipawns from the side to move's point of view, or a decisive score. `MATE - n` is
/// mate in `n` moves *from this node*, and `-MATE + n` is being mated in `n` moves. `-MATE` is
/// checkmate on the board.
///
/// Range: `-INFINITE..=INFINITE`; it fits an `i16`.
pub type Score = i32;

/// The largest value of a score, above every mate. As a bound, it means that no bound is known.
pub const INFINITE: Score = 32_001;
/// The score of the side that has given mate. A checkmated node is `-MATE`.
pub const MATE: Score = 32_000;
/// Scores whose absolute value is above this are mates. Between [`DECISIVE`] and this they are
/// tablebase wins and losses.
const MATE_BAND: Score = 31_000;
/// A tablebase win at the probed node. It ages like a mate.
pub const TABLEBASE_WIN: Score = 30_900;
/// Scores above `DECISIVE` are wins and scores below `-DECISIVE` are losses, by mate or by
/// tablebase. Evaluations stay within [`EVALUATION_LIMIT`].
pub const DECISIVE: Score = 30_000;
/// The largest absolute value a static evaluation may have.
pub const EVALUATION_LIMIT: Score = 29_000;
/// The score of a drawn node.
pub const DRAW: Score = 0;
/// Stands for a static evaluation that was not computed, as in check.
pub const NO_SCORE: Score = -32_002;

/// Returns whether a score is a proven win or loss, by mate or by tablebase.
pub const fn is_decisive(score: Score) -> bool {
    score.abs() > DECISIVE
}

/// Returns whether a score is a mate, for either side.
pub const fn is_mate(score: Score) -> bool {
    score.abs() > MATE_BAND
}

/// Returns the distance to mate in full moves, or `None` for other scores. It is positive if the
/// side that the score belongs to mates, negative if it is mated, and zero if the mate is on the
/// board.
pub const fn mate_distance(score: Score) -> Option<i32> {
    if score > MATE_BAND {
        Some(MATE - score)
    } else if score < -MATE_BAND {
        Some(-(score + MATE))
    } else {
        None
    }
}

/// Returns the expected result of a game between humans, from 0 (lost) to 1 (won), for the side
/// that the score belongs to. This is a logistic curve. Its slope was fitted to games of players
/// rated about 2300 (<https://lichess.org/page/accuracy>).
pub fn winning_chances(score: Score) -> f64 {
    if is_decisive(score) {
        return if score > 0 { 1.0 } else { 0.0 };
    }
    1.0 / (1.0 + (-0.003_682_08 * f64::from(score)).exp())
}

/// The bonus for a delayed loss. A node adds one to scores below `pivot` when it returns them, so
/// that a later loss is better than an earlier one. For mates, `pivot = -DECISIVE`.
///
/// The node first shifts its window the opposite way. The two shifts match: a score fails low (or
/// high) inside the node if and only if the returned score does so outside. Therefore a bound
/// inside the node never looks like an exact score outside:
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
/// Source: H. G. Muller, [post on adjusting scores that a search returns][post], TalkChess, thread
/// on the delayed-loss bonus, 2007.
///
/// [post]: https://www.talkchess.com/forum/viewtopic.php?start=10&t=16784
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// Scores below this are aged.
    pub pivot: Score,
}

impl Delay {
    /// The delay of the engine's search: it applies to lost positions only, by mate or by
    /// tablebase.
    pub const MATES: Delay = Delay { pivot: -DECISIVE };

    /// Returns the score that a node with the best score `score` returns.
    #[must_use]
    pub const fn score(self, score: Score) -> Score {
        score + (score < self.pivot) as Score
    }

    /// Returns the alpha to search with, so that the returned score can be compared with `alpha`.
    #[must_use]
    pub const fn alpha(self, alpha: Score) -> Score {
        alpha - (alpha < self.pivot) as Score
    }

    /// Returns the beta to search with, so that the returned score can be compared with `beta`.
    #[must_use]
    pub const fn beta(self, beta: Score) -> Score {
        beta - (beta <= self.pivot) as Score
    }
}

/// The open interval of scores that a search returns exactly. It returns scores at or below `alpha`
/// and scores at or above `beta` as bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Scores at or below this fail low.
    pub alpha: Score,
    /// Scores at or above this fail high.
    pub beta: Score,
}

impl Window {
    /// The window that contains every score.
    pub const FULL: Window = Window { alpha: -INFINITE, beta: INFINITE };

    /// Returns the window `(alpha, beta)`.
    pub const fn new(alpha: Score, beta: Score) -> Window {
        Window { alpha, beta }
    }

    /// Returns the null window that tests whether a score exceeds `alpha`.
    pub const fn null(alpha: Score) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// Returns the window from the other side's point of view.
    #[must_use]
    pub const fn flip(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// Returns the window to search a node with, if [`Delay::MATES`] is then applied to its score.
    #[must_use]
    pub const fn pre_shift(self) -> Window {
        Window { alpha: Delay::MATES.alpha(self.alpha), beta: Delay::MATES.beta(self.beta) }
    }

    /// Returns the window for mate distance pruning. The lowest possible score of a node is
    /// checkmate on the board, and the highest is mate in one.
    #[must_use]
    pub fn clamp_to_mates(self) -> Window {
        Window { alpha: self.alpha.max(-MATE), beta: self.beta.min(MATE - 1) }
    }

    /// Returns whether this is a null window.
    pub const fn is_null(self) -> bool {
        self.beta == self.alpha + 1
    }

    /// Returns whether no score can be inside the window.
    pub const fn is_empty(self) -> bool {
        self.alpha >= self.beta
    }

    /// Returns whether a search with this window returns `score` exactly.
    pub const fn contains(self, score: Score) -> bool {
        self.alpha < score && score < self.beta
    }
}

/// A lower and an upper bound on a score, both inclusive. A fail-soft search proves bounds on the
/// score of a node, the transposition table stores them, and tablebases return them.
///
/// ```
/// use lancet::chess::score::{Bounds, Window};
/// let window = Window::new(10, 50);
/// // A search with this window returned 70: it failed high.
/// let first = Bounds::of(70, window);
/// assert_eq!(first, Bounds::at_least(70));
/// // That is enough for every window whose beta is at most 70.
/// assert_eq!(first.cutoff(Window::null(60)), Some(70));
/// assert_eq!(first.cutoff(Window::null(80)), None);
/// // Another search, with a higher window, failed low.
/// let both = first.merge(Bounds::of(90, Window::null(95)));
/// assert_eq!(both, Bounds::new(70, 90));
/// // A static evaluation outside the bounds is moved to the nearest bound.
/// assert_eq!(both.refine(35), 70);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The lower bound; `-INFINITE` if it is unknown.
    pub lower: Score,
    /// The upper bound; `INFINITE` if it is unknown.
    pub upper: Score,
}

impl Bounds {
    /// The bounds of an unknown score.
    pub const NONE: Bounds = Bounds { lower: -INFINITE, upper: INFINITE };

    /// Returns the bounds `lower` and `upper`, both inclusive.
    pub const fn new(lower: Score, upper: Score) -> Bounds {
        Bounds { lower, upper }
    }

    /// Returns the bounds of a score that is known exactly.
    pub const fn exact(score: Score) -> Bounds {
        Bounds { lower: score, upper: score }
    }

    /// Returns the bounds that a search proves when it fails high with `score`.
    pub const fn at_least(score: Score) -> Bounds {
        Bounds { lower: score, upper: INFINITE }
    }

    /// Returns the bounds that a search proves when it fails low with `score`.
    pub const fn at_most(score: Score) -> Bounds {
        Bounds { lower: -INFINITE, upper: score }
    }

    /// Returns the bounds that a fail-soft search with `window` proves when it returns `score`.
    pub const fn of(score: Score, window: Window) -> Bounds {
        if score <= window.alpha {
            Bounds::at_most(score)
        } else if score >= window.beta {
            Bounds::at_least(score)
        } else {
            Bounds::exact(score)
        }
    }

    /// Returns whether the bounds are equal, so that the score is known exactly.
    pub const fn is_exact(self) -> bool {
        self.lower == self.upper
    }

    /// Returns a score that makes a search with `window` unnecessary: the lower bound if it is at
    /// least beta, the upper bound if it is at most alpha, and an exact score. Otherwise returns
    /// `None`.
    pub const fn cutoff(self, window: Window) -> Option<Score> {
        if self.lower >= window.beta {
            Some(self.lower)
        } else if self.upper <= window.alpha || self.is_exact() {
            Some(self.upper)
        } else {
            None
        }
    }

    /// Returns the score within the bounds that is nearest to `score`.
    #[must_use]
    pub fn refine(self, score: Score) -> Score {
        // `clamp` would panic on bounds that cross.
        score.max(self.lower).min(self.upper)
    }

    /// Returns the intersection of the two intervals, or `newer` if they contradict each other, as
    /// search instability can make them do. Therefore the bounds never cross.
    #[must_use]
    pub fn merge(self, newer: Bounds) -> Bounds {
        let lower = self.lower.max(newer.lower);
        let upper = self.upper.min(newer.upper);
        if lower <= upper { Bounds { lower, upper } } else { newer }
    }

    /// Returns the bounds from the other side's point of view.
    #[must_use]
    pub const fn flip(self) -> Bounds {
        Bounds { lower: -self.upper, upper: -self.lower }
    }

    /// Returns the bounds of `f(score)`, where `f` is monotone. This converts the bounds inside a
    /// node to bounds of the score that it returns, which `f` has aged (see [`Delay`]).
    #[must_use]
    pub fn shift(self, f: impl Fn(Score) -> Score) -> Bounds {
        Bounds { lower: f(self.lower), upper: f(self.upper) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The four tables of Muller's post: the window, the window to search with, and pairs of inner
    /// and returned scores.
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

    /// Compares every bound with the scores around it and at the ends of the range.
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
        // The side to move is mated; then one ply up, from the mating side; then one more ply up.
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

    /// Generates any score, often a small one or the end of a range.
    fn score() -> impl Strategy<Value = Score> {
        const ENDS: &[Score] = &[-INFINITE, -MATE, -DECISIVE - 1, -DECISIVE, DECISIVE, INFINITE];
        prop_oneof![-INFINITE..=INFINITE, -4..=4, proptest::sample::select(ENDS)]
    }

    fn bounds() -> impl Strategy<Value = Bounds> {
        (score(), score()).prop_map(|(a, b)| Bounds::new(a.min(b), a.max(b)))
    }

    fn window() -> impl Strategy<Value = Window> {
        (score(), 1..500_i32).prop_map(|(alpha, width)| Window::new(alpha, alpha + width))
    }

    /// Returns whether these bounds allow `score`.
    fn allows(bounds: Bounds, score: Score) -> bool {
        bounds.lower <= score && score <= bounds.upper
    }

    proptest! {
        #[test]
        fn any_pivot_is_exact(pivot in score(), bound in score(), score in score()) {
            let delay = Delay { pivot };
            prop_assert_eq!(score <= delay.alpha(bound), delay.score(score) <= bound);
            prop_assert_eq!(score >= delay.beta(bound), delay.score(score) >= bound);
        }

        /// Bounds decide a window if and only if all scores that they allow are on one side of it,
        /// or they allow only one score.
        #[test]
        fn bounds_cut_off_only_decided_windows(b in bounds(), w in window()) {
            let decided = b.lower >= w.beta || b.upper <= w.alpha || b.lower == b.upper;
            prop_assert_eq!(b.cutoff(w).is_some(), decided);
            if let Some(score) = b.cutoff(w) {
                prop_assert!(allows(b, score));
                prop_assert!(b.is_exact() || !w.contains(score));
                // The bounds that the returned score proves contain the original bounds.
                let learned = Bounds::of(score, w);
                prop_assert_eq!(learned.merge(b), b);
            }
        }

        /// The bounds from the result of a fail-soft search contain the true score of the node.
        #[test]
        fn returned_scores_prove_true_bounds(truth in score(), slack in 0..300_i32, w in window()) {
            let returned = if truth <= w.alpha {
                (truth + slack).min(w.alpha)
            } else if truth >= w.beta {
                (truth - slack).max(w.beta)
            } else {
                truth
            };
            let said = Bounds::of(returned, w);
            prop_assert!(allows(said, truth));
            prop_assert_eq!(said.cutoff(w), Some(returned));
        }

        #[test]
        fn merging_keeps_the_truth_and_never_crosses(truth in score(), a in bounds(), b in bounds()) {
            let both = a.merge(b);
            prop_assert!(both.lower <= both.upper);
            prop_assert!(both == b || (both.lower >= a.lower && both.upper <= a.upper));
            if allows(a, truth) && allows(b, truth) {
                prop_assert!(allows(both, truth));
                prop_assert_eq!(both, b.merge(a));
            }
        }

        #[test]
        fn refining_obeys_the_bounds(b in bounds(), guess in score()) {
            prop_assert!(allows(b, b.refine(guess)));
            prop_assert!(!allows(b, guess) || b.refine(guess) == guess);
            prop_assert_eq!(Bounds::NONE.refine(guess), guess);
            prop_assert_eq!(b.flip().refine(-guess), -b.refine(guess));
            prop_assert_eq!(b.flip().flip(), b);
        }

        /// Bounds decide the shifted window inside a node if and only if the shifted bounds decide
        /// the window outside. The score outside is then the aged score from inside.
        #[test]
        fn bounds_are_shifted_as_the_window_is(b in bounds(), w in window(), pivot in score()) {
            let delay = Delay { pivot };
            let inner = Window::new(delay.alpha(w.alpha), delay.beta(w.beta));
            let outside = b.shift(|score| delay.score(score));
            let same = b.cutoff(inner).map(|score| delay.score(score));
            // Exception: ageing may map two scores to one, so bounds may be exact outside only.
            prop_assert!(outside.cutoff(w) == same || (outside.is_exact() && !b.is_exact()));
        }
    }
}
