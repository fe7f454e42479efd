//! Score delay (Muller 2007): a function applied to every score on its way out
//! of a node, and its inverse applied to the window on the way in.
//!
//! The delay of the playing search, [`Delay`], lives in `score`; here are the
//! general case and the post's second example, a decay. No search here.

use clap::ValueEnum;

use crate::chess::score::{Bounds, Delay, INFINITE, Score, Window};

/// The axis "score delay" of the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum ScoreDelay {
    /// Scores leave a node as they are.
    None,
    /// Mated scores gain one per move, as in the playing engine.
    Mates,
    /// Every score below the node's own static evaluation (`CurEval`) gains
    /// one: any loss, not only mate, is better later than sooner.
    Loss,
    /// Negative scores shrink to 31/32 of their size.
    Decay,
}

impl ScoreDelay {
    /// The function for one node; `evaluate` gives `CurEval`.
    pub fn at(self, evaluate: impl FnOnce() -> Score) -> Shift {
        match self {
            ScoreDelay::None => Shift::None,
            ScoreDelay::Mates => Shift::Late(Delay::MATES),
            ScoreDelay::Loss => Shift::Late(Delay { pivot: evaluate() }),
            ScoreDelay::Decay => Shift::Decay,
        }
    }
}

/// A monotone function of scores, with the window that undoes it.
///
/// For every `score` and every window, with `inner = shift.window(window)`:
///
/// ```text
/// score <= inner.alpha  =>  shift.score(score) <= window.alpha
/// score >= inner.beta   =>  shift.score(score) >= window.beta
/// ```
///
/// so that no bound found inside can look exact outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// The identity.
    None,
    /// Scores below the pivot gain one.
    Late(Delay),
    /// Negative scores are multiplied by 31/32, rounded towards zero.
    Decay,
}

impl Shift {
    /// What a node whose best score is `score` returns.
    #[must_use]
    pub const fn score(self, score: Score) -> Score {
        match self {
            Shift::None => score,
            Shift::Late(delay) => delay.score(score),
            Shift::Decay if score < 0 => score * 31 / 32,
            Shift::Decay => score,
        }
    }

    /// The window to search the node's moves with. For the decay it is the
    /// post's rule to the letter: negative bounds times 32/31, alpha rounded
    /// down, beta rounded up.
    #[must_use]
    pub const fn window(self, Window { alpha, beta }: Window) -> Window {
        match self {
            Shift::None => Window::new(alpha, beta),
            Shift::Late(delay) => Window::new(delay.alpha(alpha), delay.beta(beta)),
            Shift::Decay => Window::new(
                if alpha < 0 { (alpha * 32).div_euclid(31) } else { alpha },
                if beta < 0 { -(-beta * 32).div_euclid(31) } else { beta },
            ),
        }
    }

    /// What bounds inside the node say outside. Monotone functions keep order.
    #[must_use]
    pub fn bounds(self, inner: Bounds) -> Bounds {
        inner.shift(|score| self.score(score))
    }
}

/// The tightest window for any monotone `f`: `f(s) <= alpha` just if `s` is at
/// or below the result's alpha, `f(s) >= beta` just if `s` is at or above its
/// beta. Rounding outwards from here is safe, inwards is not.
#[must_use]
pub fn inverse(f: impl Fn(Score) -> Score, window: Window) -> Window {
    // The least score in twice the range for which `test` holds.
    let first = |test: &dyn Fn(Score) -> bool| {
        let (mut no, mut yes) = (-2 * INFINITE, 2 * INFINITE);
        while yes - no > 1 {
            let middle = no + (yes - no) / 2;
            if test(middle) { yes = middle } else { no = middle }
        }
        yes
    };
    Window::new(first(&|s| f(s) > window.alpha) - 1, first(&|s| f(s) >= window.beta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn late_window_is_the_inverse() {
        for pivot in [-30_000, -4, 5, 900] {
            let shift = Shift::Late(Delay { pivot });
            for bound in -INFINITE..INFINITE {
                let window = Window::null(bound);
                assert_eq!(shift.window(window), inverse(|s| shift.score(s), window));
            }
        }
    }

    #[test]
    fn decay_rounds_outwards_by_at_most_one() {
        let shift = Shift::Decay;
        for bound in -INFINITE..INFINITE {
            let window = Window::null(bound);
            let (post, tight) = (shift.window(window), inverse(|s| shift.score(s), window));
            assert_eq!(post.alpha, tight.alpha, "rounding down is exact for alpha {bound}");
            assert!((0..=1).contains(&(post.beta - tight.beta)), "beta {}", window.beta);
        }
    }

    /// Rounding beta the wrong way, or "adding 1/32 for 1/31", is what the
    /// post warns of: a window that lies turns a bound into an exact score.
    #[test]
    fn adding_one_part_in_32_is_fatal() {
        let wrong = |bound: Score| bound + bound / 32;
        let outer = Window::new(-3000, -2990);
        let inner = Window::new(wrong(outer.alpha), wrong(outer.beta));
        // Fails low inside the narrowed window ...
        let bound = inner.alpha;
        // ... and comes back inside the outer one.
        assert!(outer.contains(Shift::Decay.score(bound)));
        let right = Shift::Decay.window(outer);
        assert!(!outer.contains(Shift::Decay.score(right.alpha)));
        assert!(!outer.contains(Shift::Decay.score(right.beta)));
    }

    proptest! {
        /// Any monotone function at all: a random staircase.
        #[test]
        fn any_monotone_function(
            steps in prop::collection::vec(0..3, 60),
            start in -40..0,
            alpha in -60..60,
            width in 1..20,
        ) {
            let f = |s: Score| {
                let n = usize::try_from((s + 30).clamp(0, 60)).unwrap_or(0);
                let below = (s + 30).min(0);
                let above = (s - 30).max(0);
                start + below + above + steps[..n].iter().sum::<i32>()
            };
            let outer = Window::new(alpha, alpha + width);
            let inner = inverse(f, outer);
            for s in -200..200 {
                prop_assert_eq!(s <= inner.alpha, f(s) <= outer.alpha);
                prop_assert_eq!(s >= inner.beta, f(s) >= outer.beta);
            }
        }
    }
}
