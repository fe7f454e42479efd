//! Time management: computes the time for a move from the clock.

use std::time::Duration;

use super::{limits::Clock, params as p};

/// Time for one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Time after which no new iteration starts, before scaling by [`Stability::scale`]; `None` if
    /// the search uses the whole time.
    pub soft: Option<Duration>,
    /// Time at which the search is stopped, except in the first iteration.
    pub hard: Duration,
}

/// Converts per cent to a factor.
fn percent(percent: i32) -> f64 {
    f64::from(percent) / 100.0
}

/// Returns the part of every clock's time that is never spent.
fn reserve() -> Duration {
    Duration::from_millis(p::clock_reserve().unsigned_abs().into())
}

impl Budget {
    /// Returns the budget for a move on this clock. `overhead` is reserved for delays between the
    /// engine and the GUI. The hard limit is less than the remaining time, whatever the increment.
    /// If less than 1 ms remains, the budget is that for 1 ms.
    pub fn new(clock: Clock, overhead: Duration) -> Budget {
        // The search must find a move even if the clock has run out.
        let time = clock.time.saturating_sub(overhead + reserve()).max(Duration::from_millis(1));
        let horizon = p::clock_horizon().unsigned_abs();
        let moves = match clock.moves_to_go {
            Some(moves) => moves.clamp(1, horizon),
            None if clock.increment.is_zero() => p::clock_sudden().unsigned_abs(),
            None => horizon,
        };
        let share = time / moves + clock.increment.mul_f64(percent(p::clock_increment()));
        let (soft, hard) = match moves {
            1 => (0.6, 0.8),
            _ => (percent(p::clock_soft()), percent(p::clock_hard())),
        };
        let hard = time.mul_f64(hard);
        let cap = match clock.moves_to_go {
            Some(_) => hard,
            None => time.mul_f64(percent(p::clock_cap())).min(hard),
        };
        Budget { soft: Some(share.mul_f64(soft).min(cap)), hard }
    }

    /// Adds a quarter to the soft limit, because some moves will be found on the opponent's time.
    /// The value is conventional and was not measured.
    pub fn with_pondering(self) -> Budget {
        let soft = self.soft.map(|soft| (soft + soft / 4).min(self.hard));
        Budget { soft, ..self }
    }

    /// Returns a budget with the earlier soft limit and the earlier hard limit of the two.
    pub fn min(self, other: Budget) -> Budget {
        let soft = [self.soft, other.soft].into_iter().flatten().min();
        Budget { soft, hard: self.hard.min(other.hard) }
    }

    /// Returns the budget for `go movetime`: the whole time less the overhead. The overhead is at
    /// most a tenth of the time and at least a millisecond.
    pub fn exact(movetime: Duration, overhead: Duration) -> Budget {
        const MILLISECOND: Duration = Duration::from_millis(1);
        let kept = overhead.min(movetime / 10).max(MILLISECOND);
        let time = movetime.saturating_sub(kept).max(MILLISECOND);
        Budget { soft: None, hard: time }
    }
}

/// The lag: how much more time a move costs on the GUI's clock than the search took. It is caused
/// by the GUI, the connection to it and a busy system. A multiple of its mean is kept back in
/// addition to the overhead.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lag {
    /// The clock before the last move, and the time that its search took.
    last: Option<(Clock, Duration)>,
    /// Exponential moving average of the lag.
    mean: Duration,
}

impl Lag {
    /// Longest lag that counts. A larger difference means that the clock was changed, and is
    /// ignored.
    const MOST: Duration = Duration::from_millis(500);
    /// Multiple of the mean that is kept back. On a busy system the lag of a move can be several
    /// times the mean, and exceed the increment for many moves in a row.
    const KEPT: u32 = 8;

    /// Updates the lag from the difference between `clock` and its expected value. `follows` tells
    /// whether this is the clock of the same side at its next move.
    pub fn see(&mut self, clock: Clock, follows: bool) {
        let Some((before, took)) = self.last.take() else { return };
        let same = follows
            && before.increment == clock.increment
            && before.moves_to_go.is_none()
            && clock.moves_to_go.is_none();
        let expected = (before.time + before.increment).saturating_sub(took);
        let lag = expected.saturating_sub(clock.time);
        if same && lag <= Lag::MOST {
            self.mean = (self.mean * 7 + lag) / 8;
        }
    }

    /// Records that a move was sent on this clock after a search of this length.
    pub const fn moved(&mut self, clock: Clock, took: Duration) {
        self.last = Some((clock, took));
    }

    /// Returns the time to keep back.
    pub fn kept(&self) -> Duration {
        self.mean * Lag::KEPT
    }
}

/// Statistics of the iterations so far, which indicate how difficult the decision is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stability {
    /// Number of iterations.
    pub iterations: u32,
    /// Number of consecutive iterations with the same best move.
    pub same_best: u32,
    /// Number of changes of the best move, halved with each iteration.
    pub changes: f64,
    /// Number of consecutive iterations with the same best move and a score close to its average.
    pub same_score: u32,
    /// Share of the nodes spent on the best move, 0 to 1.
    pub best_share: f64,
    /// Drop of the score below that of recent iterations, in centipawns.
    pub score_drop: i32,
    /// Drop of the score since the search for the previous move, in centipawns.
    pub move_drop: i32,
}

impl Stability {
    /// Returns the factor for the soft limit: about 0.45 for an obvious move (0.25 if its score
    /// also rises), and at most 4.5 for a difficult one.
    pub fn scale(&self) -> f64 {
        let nodes = (percent(p::clock_share()) - self.best_share) * percent(p::clock_nodes());
        let changed = percent(p::clock_changed()) / f64::from(1 + self.same_best).powf(1.7);
        let same_best = percent(p::clock_stable()) + changed;
        let changes = percent(p::clock_settled()) + self.changes * percent(p::clock_unrest());
        let same_score = 1.0 + percent(p::clock_steady() * (5 - self.same_score.min(8) as i32));
        let fall = |drop: i32, least: i32, most: i32, per_mille: i32| {
            1.0 + f64::from(drop.clamp(least, most) * per_mille) / 1000.0
        };
        let score_drop = fall(self.score_drop, -20, 60, p::clock_trend());
        let move_drop = fall(self.move_drop, -15, 25, p::clock_fallen());
        (nodes * same_best * changes * same_score * score_drop * move_drop).min(4.5)
    }

    /// Returns these statistics without those of the score, for a player whose misjudgements make
    /// its scores unsteady.
    pub fn without_scores(&self) -> Stability {
        Stability { same_score: 5, score_drop: 0, move_drop: 0, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn never_more_than_is_left(
            time in 0_u64..10_000_000,
            increment in 0_u64..1_000_000,
            moves in prop::option::of(0_u32..1000),
            overhead in 0_u64..5000,
        ) {
            let clock = Clock {
                time: Duration::from_millis(time),
                increment: Duration::from_millis(increment),
                moves_to_go: moves,
            };
            let budget = Budget::new(clock, Duration::from_millis(overhead));
            prop_assert!(budget.soft.is_some_and(|soft| soft <= budget.hard));
            prop_assert!(budget.hard > Duration::ZERO);
            let pondering = budget.with_pondering();
            prop_assert_eq!(pondering.hard, budget.hard);
            prop_assert!(budget.soft <= pondering.soft && pondering.soft <= Some(budget.hard));
            if time > overhead {
                prop_assert!(budget.hard <= Duration::from_millis(time - overhead));
            }
            if let Some(planned) = Duration::from_millis(time.saturating_sub(overhead))
                .checked_sub(reserve())
            {
                prop_assert!(budget.hard <= planned.max(Duration::from_millis(1)));
            }
        }
    }

    /// A reserve of 50 ms is kept of every clock.
    #[test]
    fn plans_of_common_clocks() {
        for (time, increment, moves_to_go, soft, hard) in [
            (27_050, 1000, None, 1898, 12_420),
            (34_050, 0, None, 730, 15_640),
            (27_050, 0, Some(40), 730, 12_420),
            (10_050, 0, Some(10), 730, 4600),
            (10_050, 0, Some(1), 6000, 8000),
            (1050, 1000, None, 180, 460),
        ] {
            let [time, increment] = [time, increment].map(Duration::from_millis);
            let Budget { soft: found, hard: most } =
                Budget::new(Clock { time, increment, moves_to_go }, Duration::ZERO);
            let rounded = |time: Duration| (time.as_secs_f64() * 1000.0).round();
            assert_eq!((found.map(rounded), rounded(most)), (Some(soft.into()), hard.into()));
        }
    }

    #[test]
    fn pondering_adds_a_quarter() {
        let seconds = Duration::from_secs;
        let of = |soft, hard| Budget { soft: Some(soft), hard };
        assert_eq!(of(seconds(4), seconds(9)).with_pondering(), of(seconds(5), seconds(9)));
        assert_eq!(of(seconds(8), seconds(9)).with_pondering(), of(seconds(9), seconds(9)));
    }

    #[test]
    fn movetime_is_used_except_for_the_overhead() {
        for (movetime, overhead, used) in [
            (1000, 10, 990),
            (100, 10, 90),
            (100, 5000, 90),
            (20, 10, 18),
            (20, 0, 19),
            (1000, 0, 999),
            (5, 10, 4),
            (1, 10, 1),
            (0, 10, 1),
        ] {
            let [movetime, overhead] = [movetime, overhead].map(Duration::from_millis);
            let budget = Budget::exact(movetime, overhead);
            assert_eq!(budget, Budget { soft: None, hard: Duration::from_millis(used) });
        }
    }

    /// The lag is the time that the clock lost beyond the search's time.
    #[test]
    fn lag_is_kept_back() {
        let millis = Duration::from_millis;
        let clock = |time| Clock { time: millis(time), increment: millis(20), moves_to_go: None };
        let mut lag = Lag::default();
        lag.see(clock(1000), true);
        assert_eq!(lag.kept(), Duration::ZERO);
        // The expected time is 1000 + 20 - 100; the clock shows 30 less.
        lag.moved(clock(1000), millis(100));
        lag.see(clock(890), true);
        assert_eq!(lag.kept(), millis(30));
        // With a constant lag, eight times that lag is kept back in the end.
        for _ in 0..100 {
            lag.moved(clock(1000), millis(100));
            lag.see(clock(890), true);
        }
        assert!((millis(239)..=millis(240)).contains(&lag.kept()), "{lag:?}");
        // Without lag the mean falls, even if the clock has gained time.
        for time in [910, 5000] {
            let before = lag.kept();
            lag.moved(clock(900), millis(10));
            lag.see(clock(time), true);
            assert!(lag.kept() < before && lag.kept() >= before * 6 / 7, "{lag:?}");
        }
        // A changed clock and the next time control do not affect the mean. Neither does another
        // side's clock.
        let control = |time| Clock { moves_to_go: Some(40), ..clock(time) };
        for (before, after, follows) in [
            (clock(900), clock(100), true),
            (control(900), control(800), true),
            (clock(900), clock(800), false),
        ] {
            let kept = lag.kept();
            lag.moved(before, millis(10));
            lag.see(after, follows);
            assert_eq!(lag.kept(), kept);
        }
    }

    #[test]
    fn unstable_searches_get_more_time() {
        let sure =
            Stability { same_best: 10, same_score: 8, best_share: 0.95, ..Stability::default() };
        let doubt = Stability { best_share: 0.3, score_drop: 50, ..Stability::default() };
        assert!(sure.scale() < 0.6);
        assert!(doubt.scale() > 2.0);
        for more in [
            Stability { same_best: 0, ..sure },
            Stability { changes: 1.0, ..sure },
            Stability { same_score: 0, ..sure },
            Stability { best_share: 0.5, ..sure },
            Stability { score_drop: 30, ..sure },
            Stability { move_drop: 30, ..sure },
        ] {
            assert!(more.scale() > sure.scale(), "{more:?}");
        }
        assert_eq!(
            doubt.without_scores().scale(),
            Stability { same_score: 5, score_drop: 0, ..doubt }.scale()
        );
    }
}
