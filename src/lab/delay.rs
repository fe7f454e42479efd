//! Score delays (Muller 2007): a function that changes every score on its way out of a node, and
//! its inverse, which changes the window on the way in.
//!
//! The delay of the playing search, [`Delay`], is in [`lancet::chess::score`]. This module has the
//! general case and the post's second example, a score that shrinks. It also has the alternatives:
//! the classical adjustment by the distance from the root, and the mistakes that the post warns
//! against, to show their effects.

use clap::ValueEnum;

use lancet::chess::score::{Bounds, Delay, INFINITE, Score, Window, is_decisive};

/// The axis "score delay" of the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum ScoreDelay {
    /// Scores are returned unchanged.
    None,
    /// Mate scores of the losing side gain one per move, as in the playing engine.
    Mates,
    /// Every score below the node's own static evaluation (`CurEval`) gains one, so that any loss,
    /// not only mate, is better if it comes later.
    Loss,
    /// Negative scores shrink to 31/32 of their size at every node.
    Decay,
    /// The classical way: mates are counted from the root, as `MATE` minus the number of plies; the
    /// table adds and subtracts the distance of its node from the root.
    Ply,
    /// `ply` with a table that does not adjust scores.
    PlyRaw,
    /// `mates` without shifting the window first.
    MatesPost,
    /// `loss` without shifting the window first.
    LossPost,
    /// `loss` with `<` and `<=` swapped when the window is shifted, as in the first version of
    /// Muller's post.
    LossSwapped,
    /// `decay` with 33/32 used as the inverse of 31/32.
    DecayNarrow,
}

impl ScoreDelay {
    /// Returns the function for one node. `evaluate` returns `CurEval`.
    pub fn at(self, evaluate: impl FnOnce() -> Score) -> Shift {
        match self {
            ScoreDelay::None | ScoreDelay::Ply | ScoreDelay::PlyRaw => Shift::None,
            ScoreDelay::Mates => Shift::Late(Delay::MATES),
            ScoreDelay::Loss => Shift::Late(Delay { pivot: evaluate() }),
            ScoreDelay::Decay => Shift::Decay,
            ScoreDelay::MatesPost => Shift::PostOnly(Delay::MATES),
            ScoreDelay::LossPost => Shift::PostOnly(Delay { pivot: evaluate() }),
            ScoreDelay::LossSwapped => Shift::Swapped(Delay { pivot: evaluate() }),
            ScoreDelay::DecayNarrow => Shift::DecayNarrow,
        }
    }

    /// Returns whether searches with this delay return correct scores. (Swapped tests only widen
    /// windows.)
    pub const fn is_sound(self) -> bool {
        self as u8 == self.meant() as u8 || matches!(self, ScoreDelay::LossSwapped)
    }

    /// Returns the delay that an incorrect variant should compute; a correct delay returns itself.
    pub const fn meant(self) -> ScoreDelay {
        match self {
            ScoreDelay::PlyRaw => ScoreDelay::Ply,
            ScoreDelay::MatesPost => ScoreDelay::Mates,
            ScoreDelay::LossPost | ScoreDelay::LossSwapped => ScoreDelay::Loss,
            ScoreDelay::DecayNarrow => ScoreDelay::Decay,
            itself => itself,
        }
    }

    /// Returns the score of a finished game `ply` plies below the root.
    #[must_use]
    pub const fn terminal(self, value: Score, ply: u32) -> Score {
        match self {
            ScoreDelay::Ply | ScoreDelay::PlyRaw => nearer_zero(value, ply as Score),
            _ => value,
        }
    }

    /// Converts bounds of a node `ply` plies below the root for the table. Only the classical way
    /// changes them, because its scores are relative to the root.
    #[must_use]
    pub fn to_table(self, bounds: Bounds, ply: u32) -> Bounds {
        self.converted(bounds, -(ply as Score))
    }

    /// Reverses [`to_table`](ScoreDelay::to_table).
    #[must_use]
    pub fn from_table(self, bounds: Bounds, ply: u32) -> Bounds {
        self.converted(bounds, ply as Score)
    }

    fn converted(self, bounds: Bounds, plies: Score) -> Bounds {
        if self == ScoreDelay::Ply { bounds.shift(|s| nearer_zero(s, plies)) } else { bounds }
    }
}

/// Moves a decisive score nearer to zero, or away from it if `by` is negative. Infinite bounds stay
/// unchanged.
const fn nearer_zero(score: Score, by: Score) -> Score {
    if !is_decisive(score) || score.abs() >= INFINITE {
        return score;
    }
    score - score.signum() * by
}

/// A monotone function of scores, with its inverse for windows.
///
/// For every `score` and every window, with `inner = shift.window(window)` and any shift but the
/// two wrong ones:
///
/// ```text
/// score <= inner.alpha  =>  shift.score(score) <= window.alpha
/// score >= inner.beta   =>  shift.score(score) >= window.beta
/// ```
///
/// so that a bound found inside the node never becomes an exact score outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// The identity.
    None,
    /// Scores below the pivot gain one.
    Late(Delay),
    /// Negative scores are multiplied by 31/32, rounded towards zero.
    Decay,
    /// [`Late`](Shift::Late) without shifting the window, which is wrong.
    PostOnly(Delay),
    /// [`Late`](Shift::Late) that also shifts alpha at the pivot, but not beta. There the window is
    /// one point wider than necessary.
    Swapped(Delay),
    /// [`Decay`](Shift::Decay) with alpha not low enough, which is wrong.
    DecayNarrow,
}

impl Shift {
    /// Returns the score that a node with the best score `score` returns.
    #[must_use]
    pub const fn score(self, score: Score) -> Score {
        match self {
            Shift::None => score,
            Shift::Late(delay) | Shift::PostOnly(delay) | Shift::Swapped(delay) => {
                delay.score(score)
            }
            Shift::Decay | Shift::DecayNarrow if score < 0 => score * 31 / 32,
            Shift::Decay | Shift::DecayNarrow => score,
        }
    }

    /// Returns the window for the search of the node's moves. Decay follows the post's rule
    /// exactly: negative bounds times 32/31, alpha rounded down, beta rounded up.
    #[must_use]
    pub const fn window(self, Window { alpha, beta }: Window) -> Window {
        match self {
            Shift::None | Shift::PostOnly(_) => Window::new(alpha, beta),
            Shift::Late(delay) => Window::new(delay.alpha(alpha), delay.beta(beta)),
            Shift::Decay => Window::new(
                if alpha < 0 { (alpha * 32).div_euclid(31) } else { alpha },
                if beta < 0 { -(-beta * 32).div_euclid(31) } else { beta },
            ),
            Shift::Swapped(Delay { pivot }) => {
                Window::new(alpha - (alpha <= pivot) as Score, beta - (beta < pivot) as Score)
            }
            Shift::DecayNarrow => Window::new(
                if alpha < 0 { alpha + alpha / 32 } else { alpha },
                if beta < 0 { beta + beta / 32 } else { beta },
            ),
        }
    }

    /// Converts bounds inside the node to bounds outside. A monotone function keeps the order of
    /// the two bounds.
    #[must_use]
    pub fn bounds(self, inner: Bounds) -> Bounds {
        inner.shift(|score| self.score(score))
    }
}

/// Returns the tightest inner window for a monotone `f`. A score `s` fails low in it if and only if
/// `f(s)` fails low in `window`. The same holds for failing high. A wider window is safe; a
/// narrower one is not.
pub fn inverse(f: impl Fn(Score) -> Score, window: Window) -> Window {
    // The lowest score for which `test` holds, by binary search over twice the range of scores.
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

    /// Returns two counts of scores. The first counts scores outside `shift`'s window that end on
    /// another side of the outer window, so that their bounds are wrong. The second counts scores
    /// inside it that end outside the outer window, where a bound would have been enough.
    fn turned_and_wasted(shift: Shift, outer: Window, scores: &[Score]) -> (usize, usize) {
        let inner = shift.window(outer);
        let side = |w: Window, s: Score| i32::from(s >= w.beta) - i32::from(s <= w.alpha);
        let sides = scores.iter().map(|&s| (side(inner, s), side(outer, shift.score(s))));
        let other: Vec<_> = sides.filter(|(before, after)| before != after).collect();
        let wasted = other.iter().filter(|(before, _)| *before == 0).count();
        (other.len() - wasted, wasted)
    }

    /// Checks the rule and its incorrect variants on the four tables of the post. Counts bounds
    /// taken for scores, and scores found exactly where a bound would have been enough. The pivot
    /// of the first two tables is the post's `MATINGSCORES`.
    #[test]
    fn the_posts_tables_and_the_rivals() {
        let tables: [(Score, Window, &[Score]); 4] = [
            (-9900, Window::new(-9998, 12), &[-9999, -9998, 11, 12]),
            (-9900, Window::new(-9998, -9995), &[-9999, -9998, -9997, -9996]),
            (5, Window::new(4, 5), &[3, 4, 5]),
            (4, Window::new(4, 5), &[3, 4, 5]),
        ];
        let counts = |shift: fn(Delay) -> Shift| {
            tables.map(|(pivot, outer, scores)| {
                turned_and_wasted(shift(Delay { pivot }), outer, scores)
            })
        };
        assert_eq!(counts(Shift::Late), [(0, 0); 4]);
        // -9998 fails low inside and is -9997 outside; 4 fails low and is 5, a fail high.
        assert_eq!(counts(Shift::PostOnly), [(1, 0), (1, 1), (1, 0), (0, 0)]);
        // This is not fatal: at the pivot itself the null window becomes two points wide.
        assert_eq!(counts(Shift::Swapped), [(0, 0), (0, 0), (0, 1), (0, 1)]);
    }

    /// Checks all windows near a pivot. Without the shift, a bound becomes a score in every window
    /// with alpha below the pivot; with swapped tests, never.
    #[test]
    fn rivals_over_all_windows() {
        let scores: Vec<Score> = (-40..40).collect();
        let delay = Delay { pivot: 5 };
        for alpha in -30..30 {
            for beta in alpha + 1..31 {
                let outer = Window::new(alpha, beta);
                let turned = |shift| turned_and_wasted(shift, outer, &scores).0;
                assert_eq!((turned(Shift::Late(delay)), turned(Shift::Swapped(delay))), (0, 0));
                assert_eq!(turned(Shift::PostOnly(delay)), usize::from(alpha < 5), "{outer:?}");
            }
        }
    }

    /// The post warns against rounding the wrong way, and against adding 1/32 where 1/31 is needed.
    /// Both leave alpha too high, so a bound becomes an exact score.
    #[test]
    fn windows_that_are_too_narrow_are_fatal() {
        let outer = Window::new(-3000, -2990);
        // Fails low inside the narrowed window ...
        let bound = Shift::DecayNarrow.window(outer).alpha;
        // ... and comes back inside the outer one.
        assert!(outer.contains(Shift::DecayNarrow.score(bound)));
        let right = Shift::Decay.window(outer);
        // Alpha rounded up instead of down.
        assert!(outer.contains(Shift::Decay.score(right.alpha + 1)));
        assert!(!outer.contains(Shift::Decay.score(right.alpha)));
        assert!(!outer.contains(Shift::Decay.score(right.beta)));
    }

    /// Checks a mate two plies below a node that is three plies below the root.
    #[test]
    fn the_table_of_the_classical_way() {
        use lancet::chess::score::MATE;
        let mated = ScoreDelay::Ply.terminal(-MATE, 5);
        assert_eq!(mated, -MATE + 5);
        let kept = ScoreDelay::Ply.to_table(Bounds::at_most(mated), 3);
        assert_eq!(kept, Bounds::at_most(-MATE + 2));
        assert_eq!(ScoreDelay::Ply.from_table(kept, 7), Bounds::at_most(-MATE + 9));
        assert_eq!(ScoreDelay::PlyRaw.to_table(Bounds::at_most(mated), 3), Bounds::at_most(mated));
        assert_eq!(ScoreDelay::Mates.terminal(-MATE, 5), -MATE);
    }

    proptest! {
        /// Checks any monotone function, as a random staircase.
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
