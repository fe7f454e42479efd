//! The root drivers, which choose the windows of the successive searches of the root. They are
//! independent of the game: a driver has a first guess, and a search that returns a score for a
//! window.

use clap::ValueEnum;
use serde::Serialize;

use lancet::chess::score::{INFINITE, MATE, Score, Window};

/// The axis "root driver".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Root {
    /// One search with the full window.
    Full,
    /// Aspiration around the guess; a side that fails opens completely.
    AspFull,
    /// `asp-full` with the first window moved up by a quarter of its width.
    AspFullOff,
    /// Aspiration around the guess; a side that fails opens step by step.
    AspGradual,
    /// `asp-gradual` with the first window moved up by a quarter of its width.
    AspGradualOff,
    /// `asp-gradual` that also lowers beta to the middle of the window after a fail low.
    AspMiddle,
    /// Binary search with null windows.
    Bisection,
    /// Null windows at the score last returned, between two bounds.
    Mtdf,
    /// MTD(f) as one loop without bounds, as the lecture notes print it. It is not sound: see
    /// `lancet-lab explain mtdf-loop`.
    MtdfLoop,
    /// `asp-full` as the lecture notes print it: a failed side opens to the score of a won game. In
    /// a won or lost position, the driver may never end.
    AspPrinted,
    /// Bisection as the lecture notes print it, which can end with two scores left.
    BisectionPrinted,
}

/// The parameters of a driver.
#[derive(Clone, Copy, Debug)]
pub struct Guess {
    /// The first guess: the score of the iteration before, the static evaluation, or any number.
    pub score: Score,
    /// Aspiration: half the width of the first window, in centipawns.
    pub width: Score,
    /// MTD(f), `mtdf-loop` and `asp-printed`: the number of searches after which the driver stops.
    /// MTD(f) then makes one more, with an open window.
    pub max_passes: u32,
}

/// The result of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driven {
    /// The score of the root.
    pub score: Score,
    /// How the driver ended.
    pub end: End,
}

/// How a root driver ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The driver ended by itself. The score of a listing as printed may still be wrong.
    Converged,
    /// The driver had used up its passes.
    Stopped,
    /// The bounds of MTD(f) crossed: two passes contradicted each other.
    Crossed,
}

impl Root {
    /// Runs the driver, which calls `search` with each window.
    pub fn drive(self, guess: Guess, mut search: impl FnMut(Window) -> Score) -> Driven {
        let search = &mut search;
        let score = match self {
            Root::Full => search(Window::FULL),
            Root::Bisection | Root::BisectionPrinted => bisection(self, search),
            Root::Mtdf => return mtdf(guess.score, guess.max_passes, search),
            Root::MtdfLoop => return mtdf_loop(guess.score, guess.max_passes, search),
            _ => return aspiration(self, guess, search),
        };
        Driven { score, end: End::Converged }
    }

    /// Returns whether the driver starts with a window around the guess.
    pub const fn aspires(self) -> bool {
        !matches!(self, Root::Full) && !self.is_null_only()
    }

    /// Returns whether the driver uses only null windows, unless it uses up its passes.
    pub const fn is_null_only(self) -> bool {
        matches!(self, Root::Bisection | Root::Mtdf | Root::MtdfLoop | Root::BisectionPrinted)
    }

    /// Returns whether the score is correct if every single search is correct.
    pub const fn is_sound(self) -> bool {
        !matches!(self, Root::MtdfLoop | Root::AspPrinted | Root::BisectionPrinted)
    }
}

/// Finds the score by aspiration search: Eppstein 1999.
///
/// [`Root::AspMiddle`] relies on a fail low: it assumes, as many playing programs do, that the
/// score will not be in the upper half of the old window. If it is, because of search instability
/// (a table entry decided one of the two searches), the window opens upwards again.
///
/// As printed, a side opens to the greatest score that a search returns. In a won or lost position,
/// a search up to this score still fails, so the driver stops after `max_passes`.
fn aspiration(driver: Root, guess: Guess, search: &mut impl FnMut(Window) -> Score) -> Driven {
    let Guess { score, width, max_passes } = guess;
    let limit = if driver == Root::AspPrinted { MATE } else { INFINITE };
    let (below, above) = match driver {
        Root::AspFullOff | Root::AspGradualOff => (width / 2, width * 3 / 2),
        _ => (width, width),
    };
    let mut window = Window::new((score - below).max(-INFINITE), (score + above).min(INFINITE));
    let mut passes = 0;
    loop {
        let score = search(window);
        passes += 1;
        // The full window cannot be widened.
        if window.contains(score) || window == Window::FULL {
            return Driven { score, end: End::Converged };
        } else if driver == Root::AspPrinted && passes >= max_passes {
            return Driven { score, end: End::Stopped };
        }
        // The distance by which the failed bound moves.
        let step = match driver {
            Root::AspFull | Root::AspFullOff | Root::AspPrinted => 2 * INFINITE,
            _ => 2 * (window.beta - window.alpha),
        };
        if score <= window.alpha {
            if driver == Root::AspMiddle {
                window.beta = (window.alpha + window.beta).div_euclid(2).max(window.alpha + 1);
            }
            window.alpha = (score - step).max(-limit);
        } else {
            window.beta = (score + step).min(limit);
        }
    }
}

/// Finds the score by binary search: Eppstein 1999. His loop runs while `beta > alpha + 1`, so it
/// may leave two possible scores, and the notes do not say which one to return. The lab returns the
/// lower one. With the condition `beta > alpha`, the printed loop could run for ever in a language
/// whose division rounds towards zero.
fn bisection(driver: Root, search: &mut impl FnMut(Window) -> Score) -> Score {
    let printed = driver == Root::BisectionPrinted;
    let limit = if printed { MATE } else { INFINITE };
    let (mut alpha, mut beta) = (-limit, limit);
    while beta > alpha + Score::from(printed) {
        // The second formula rounds down.
        let test = if printed { (alpha + beta) / 2 } else { alpha + (beta - alpha) / 2 };
        if search(Window::null(test)) <= test {
            beta = test;
        } else {
            alpha = test + 1;
        }
    }
    alpha
}

/// Finds the score by MTD(f): Scout notes, Plaat 1996. Each pass lowers the upper bound or raises
/// the lower one, so it always ends. If the bounds cross, two passes contradicted each other. Only
/// an unsound table, an unsound score delay or a selective search can cause this.
fn mtdf(guess: Score, max_passes: u32, search: &mut impl FnMut(Window) -> Score) -> Driven {
    let (mut lower, mut upper) = (-INFINITE, INFINITE);
    let mut g = guess;
    for _ in 0..max_passes {
        let bound = g.max(lower + 1);
        g = search(Window::null(bound - 1));
        if g < bound {
            upper = g
        } else {
            lower = g
        }
        if lower >= upper {
            let end = if lower == upper { End::Converged } else { End::Crossed };
            return Driven { score: g, end };
        }
    }
    // The passes are used up. Search the remaining scores with one open window.
    let score = search(Window::new(lower - 1, upper + 1));
    Driven { score, end: End::Stopped }
}

/// Runs MTD(f) as Eppstein 1999 prints it: it tests the last score until the search returns it. The
/// lab keeps it to show its error: a search that fails low returns an upper bound, and if this
/// equals the test, the loop ends although the true score may be lower. As the notes warn, the loop
/// may also run for ever, if the table lets two searches contradict each other.
fn mtdf_loop(guess: Score, max_passes: u32, search: &mut impl FnMut(Window) -> Score) -> Driven {
    let mut test = guess;
    for _ in 0..max_passes {
        let score = search(Window::null(test));
        if score == test {
            return Driven { score, end: End::Converged };
        }
        test = score;
    }
    Driven { score: test, end: End::Stopped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a search of a root worth `value` whose bounds are up to `slack` away from it: 0 is
    /// fail-soft with the tightest bounds.
    fn root(value: Score, slack: Score) -> impl FnMut(Window) -> Score {
        move |w| {
            if value <= w.alpha {
                (value + slack).min(w.alpha)
            } else if value >= w.beta {
                (value - slack).max(w.beta)
            } else {
                value
            }
        }
    }

    proptest! {
        #[test]
        fn sound_drivers_find_the_score(
            value in -32_000..=32_000,
            slack in 0..300,
            score in -32_000..=32_000,
            width in 1..500,
            max_passes in 1u32..40,
        ) {
            for driver in Root::value_variants().iter().filter(|driver| driver.is_sound()) {
                let guess = Guess { score, width, max_passes };
                prop_assert_eq!(driver.drive(guess, root(value, slack)).score, value, "{:?}", driver);
            }
        }
    }

    #[test]
    fn windows_are_the_documented_ones() {
        let windows = |driver: Root, value| {
            let mut seen = Vec::new();
            let mut search = root(value, 0);
            driver.drive(Guess { score: 10, width: 50, max_passes: 9 }, |w| {
                seen.push((w.alpha, w.beta));
                search(w)
            });
            seen
        };
        assert_eq!(windows(Root::Full, 0), [(-INFINITE, INFINITE)]);
        assert_eq!(windows(Root::AspFull, 80), [(-40, 60), (-40, INFINITE)]);
        assert_eq!(windows(Root::AspFullOff, 80), [(-15, 85)]);
        assert_eq!(windows(Root::AspGradual, 80), [(-40, 60), (-40, 280)]);
        assert_eq!(windows(Root::AspGradual, -90), [(-40, 60), (-290, 60)]);
        assert_eq!(windows(Root::AspMiddle, -90), [(-40, 60), (-290, 10)]);
        assert_eq!(windows(Root::AspGradualOff, -90), [(-15, 85), (-290, 85)]);
        assert_eq!(windows(Root::Mtdf, 30), [(9, 10), (30, 31)]);
        assert_eq!(windows(Root::Mtdf, -30), [(9, 10), (-31, -30)]);
        // 64,003 scores.
        assert!((15..=16).contains(&windows(Root::Bisection, 0).len()));
    }

    /// The notes' `WIN` is the greatest score that a search can return, and a failed side opens to
    /// it. So a position worth `WIN` or `LOSS` fails for ever, unless the first window contains its
    /// score. The lab's window ends one point beyond.
    #[test]
    fn notes_aspiration_may_not_return_a_win() {
        for (previous, value, end) in [
            (0, 31_999, End::Converged),
            (0, MATE, End::Stopped),
            (0, -MATE, End::Stopped),
            (MATE, MATE, End::Converged),
        ] {
            let guess = Guess { score: previous, width: 50, max_passes: 100 };
            assert_eq!(Root::AspPrinted.drive(guess, root(value, 0)).end, end);
            assert_eq!(Root::AspFull.drive(guess, root(value, 0)).end, End::Converged);
        }
    }

    /// Checks that the notes' bisection, which stops with two values left, can be off by one.
    #[test]
    fn notes_bisection_is_off_by_one() {
        let guess = Guess { score: 0, width: 50, max_passes: 100 };
        let notes = |value| Root::BisectionPrinted.drive(guess, root(value, 0)).score;
        let wrong = (-100..100).filter(|&v| notes(v) != v).count();
        assert!(wrong > 0);
        assert!((-100..100).all(|v| (notes(v) - v).abs() <= 1));
    }

    /// An upper bound equal to the test is not the score.
    #[test]
    fn notes_mtdf_takes_a_bound_for_the_score() {
        let guess = Guess { score: 0, width: 50, max_passes: 20 };
        assert_eq!(
            Root::MtdfLoop.drive(guess, root(-5, 9)),
            Driven { score: 0, end: End::Converged }
        );
        assert_eq!(Root::Mtdf.drive(guess, root(-5, 9)).score, -5);
        // If the guess is below the score, the loop is correct.
        assert_eq!(Root::MtdfLoop.drive(guess, root(5, 9)).score, 5);
    }

    /// Checks two searches that contradict each other. The loop runs until it is stopped; the
    /// bounds of MTD(f) cross at once.
    #[test]
    fn contradictions_are_noticed() {
        let contrary = |w: Window| if w.alpha >= 10 { 4 } else { 12 };
        let guess = Guess { score: 4, width: 50, max_passes: 20 };
        assert_eq!(Root::MtdfLoop.drive(guess, contrary).end, End::Stopped);
        assert_eq!(Root::Mtdf.drive(guess, contrary).end, End::Crossed);
    }
}
