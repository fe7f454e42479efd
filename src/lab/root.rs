//! The root drivers: which windows to search the root with, one after the
//! other. They know no game: a driver sees a first guess and a search that
//! turns a window into a score.

use clap::ValueEnum;
use serde::Serialize;

use lancet::chess::score::{INFINITE, MATE, Score, Window};

/// The axis "root driver".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Root {
    /// One search with the full window.
    Full,
    /// Aspiration around the guess; a side that fails opens fully at once.
    AspFull,
    /// The same, with the window moved up by half its width.
    AspFullOff,
    /// Aspiration around the guess; a side that fails opens step by step.
    AspGradual,
    /// The same, with the window moved up by half its width.
    AspGradualOff,
    /// As `asp-gradual`, but a fail low also pulls beta down to the middle of the window.
    AspMiddle,
    /// Binary search with null windows.
    Bisection,
    /// Null windows at the score last returned, between two bounds.
    Mtdf,
    /// MTD(f) as one loop without bounds, as the lecture notes print it. Not to
    /// be trusted: see `lancet-lab explain mtdf-loop`.
    MtdfLoop,
    /// `asp-full` as the lecture notes print it: a failed side opens to the score of a
    /// won game, and a won game is searched for ever.
    AspPrinted,
    /// Bisection as the lecture notes print it: ends with two scores left.
    BisectionPrinted,
}

/// What a driver needs besides the search.
#[derive(Clone, Copy, Debug)]
pub struct Guess {
    /// The score of the iteration before, or the static evaluation.
    pub score: Score,
    /// Aspiration: half the width of the first window, in centipawns.
    pub width: Score,
    /// MTD(f): searches after which it is stopped.
    pub max_passes: u32,
}

/// What a driver found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driven {
    /// The score of the root.
    pub score: Score,
    /// How it came to an end.
    pub end: End,
}

/// How a root driver ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// With one score left.
    Converged,
    /// MTD(f) had used up its passes.
    Stopped,
    /// The bounds of MTD(f) crossed: two passes contradicted each other.
    Crossed,
}

impl Root {
    /// Runs the driver over `search`.
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

    /// Does it begin with a window around the guess?
    pub const fn aspires(self) -> bool {
        !matches!(self, Root::Full) && !self.is_null_only()
    }

    /// Does it ask with null windows only, unless it is stuck?
    pub const fn is_null_only(self) -> bool {
        matches!(self, Root::Bisection | Root::Mtdf | Root::MtdfLoop | Root::BisectionPrinted)
    }

    /// Is the score the true one whenever every single search is right?
    pub const fn is_sound(self) -> bool {
        !matches!(self, Root::MtdfLoop | Root::AspPrinted | Root::BisectionPrinted)
    }
}

/// Aspiration search: Eppstein 1999.
///
/// [`Root::AspMiddle`] believes a fail low: the score will hardly be in the upper half of
/// the next window, says many a playing program. If it is (the first search was cut short
/// by a table entry), the window opens upwards again.
///
/// As printed, a side opens to the greatest score that a search returns, where that score still
/// fails high: a search that is stopped after `max_passes`.
fn aspiration(driver: Root, guess: Guess, search: &mut impl FnMut(Window) -> Score) -> Driven {
    let Guess { score, width, max_passes } = guess;
    let limit = if driver == Root::AspPrinted { MATE } else { INFINITE };
    let (below, above) = match driver {
        Root::AspFullOff | Root::AspGradualOff => (width / 2, width * 3 / 2),
        _ => (width, width),
    };
    let mut window = Window::new((score - below).max(-limit), (score + above).min(limit));
    let mut passes = 0;
    loop {
        let score = search(window);
        passes += 1;
        if window.contains(score) {
            return Driven { score, end: End::Converged };
        } else if driver == Root::AspPrinted && passes >= max_passes {
            return Driven { score, end: End::Stopped };
        }
        // The distance that a failed side moves out.
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

/// Binary search for the score: Eppstein 1999. His loop ends while two
/// values are still possible (`beta > alpha + 1`) and, in a language whose
/// division rounds towards zero, would not end at all one step later.
fn bisection(driver: Root, search: &mut impl FnMut(Window) -> Score) -> Score {
    let printed = driver == Root::BisectionPrinted;
    let Window { mut alpha, mut beta } = Window::FULL;
    while beta > alpha + Score::from(printed) {
        // The second rounds down.
        let test = if printed { (alpha + beta) / 2 } else { alpha + (beta - alpha) / 2 };
        if search(Window::null(test)) <= test {
            beta = test;
        } else {
            alpha = test + 1;
        }
    }
    alpha
}

/// MTD(f): Scout notes, Plaat 1996. Each pass lowers the upper bound or raises the lower
/// one, so it always ends; but bounds that cross prove that two passes
/// contradicted each other, which only an unsound table can make them do.
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
    // Stopped: one search of what is left.
    let score = search(Window::new(lower - 1, upper + 1));
    Driven { score, end: End::Stopped }
}

/// MTD(f) as Eppstein 1999 prints it: test the last score until it comes
/// back. Kept to show what is wrong with it. A search that fails low returns
/// an upper bound, and one equal to the test ends the loop although the true
/// score may be lower; and a table that lets two searches contradict each
/// other makes it run in circles.
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

    /// A search of a root worth `value` whose failures miss by up to `slack`:
    /// fail-soft at its best (0) and at its worst.
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

    /// The notes' `WIN` is the greatest score that a search can return, and their window
    /// ends there: a won position fails high for ever. The lab's ends one beyond.
    #[test]
    fn notes_aspiration_never_returns_a_win() {
        let guess = Guess { score: 0, width: 50, max_passes: 100 };
        for (value, end) in [(31_999, End::Converged), (MATE, End::Stopped)] {
            assert_eq!(Root::AspPrinted.drive(guess, root(value, 0)).end, end);
            assert_eq!(Root::AspFull.drive(guess, root(value, 0)).end, End::Converged);
        }
    }

    /// The notes' bisection stops with two values left.
    #[test]
    fn notes_bisection_is_one_off() {
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
        // From below it is right.
        assert_eq!(Root::MtdfLoop.drive(guess, root(5, 9)).score, 5);
    }

    /// Two searches that contradict each other: the loop goes round until it is
    /// stopped, the bounds cross at once.
    #[test]
    fn contradictions_are_noticed() {
        let contrary = |w: Window| if w.alpha >= 10 { 4 } else { 12 };
        let guess = Guess { score: 4, width: 50, max_passes: 20 };
        assert_eq!(Root::MtdfLoop.drive(guess, contrary).end, End::Stopped);
        assert_eq!(Root::Mtdf.drive(guess, contrary).end, End::Crossed);
    }
}
