//! Grading: did an answer solve a position, and what do many answers come to?
//!
//! No text is parsed or written here.

use std::time::Duration;

use shakmaty::Move;

use crate::{chess::epd::Goal, play::report::Bound};

/// What an engine says about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The move it would play.
    pub best: Option<Move>,
    /// Its score, if it gave one.
    pub score: Option<Value>,
    /// Whether that score is exact.
    pub bound: Bound,
}

/// A score as engines report it, from the side to move's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Centipawns.
    Centipawns(i32),
    /// Mate in this many moves; zero or negative if the side to move is mated.
    Mate(i32),
}

impl Goal {
    /// Is there anything to grade?
    pub fn is_empty(&self) -> bool {
        *self == Goal::default()
    }

    /// Does the answer meet the goal?
    ///
    /// A mate goal is met by a proven mate that is not longer, whatever the
    /// move: a move that mates in N is a best move even where `bm` names another. Otherwise
    /// the move must be one of `best`, if there are any, and none of `avoid`;
    /// if only points are given, it must earn the most.
    pub fn is_met(&self, answer: &Answer) -> bool {
        let Some(m) = answer.best else { return false };
        if self.avoid.contains(&m) {
            return false;
        }
        if let Some(goal) = self.mate {
            return match (answer.score, answer.bound) {
                (Some(Value::Mate(found)), Bound::Exact) if goal < 0 => goal <= found && found <= 0,
                (Some(Value::Mate(found)), Bound::Exact | Bound::Lower) => {
                    0 < found && found <= goal
                }
                _ => false,
            };
        }
        if self.best.is_empty() && self.avoid.is_empty() {
            return !self.points.is_empty() && self.points(m) == self.max_points();
        }
        self.best.is_empty() || self.best.contains(&m)
    }

    /// The points that a move earns.
    pub fn points(&self, m: Move) -> u32 {
        self.points.iter().find(|&&(listed, _)| listed == m).map_or(0, |&(_, points)| points)
    }

    /// The most points that a move can earn.
    pub fn max_points(&self) -> u32 {
        self.points.iter().map(|&(_, points)| points).max().unwrap_or(0)
    }
}

/// When a solution appeared that stayed to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Iteration, in plies.
    pub depth: u32,
    /// Since the start of the search.
    pub time: Duration,
    /// Nodes until then.
    pub nodes: u64,
}

/// One graded answer, as far as sums need it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grade {
    /// `None` if there was nothing to grade.
    pub solved: Option<bool>,
    /// Points earned.
    pub points: u32,
    /// Points that could be earned.
    pub max_points: u32,
    /// When the solution appeared, if solved.
    pub found: Option<Found>,
    /// Nodes of the whole search.
    pub nodes: u64,
    /// Duration of the whole search.
    pub time: Duration,
    /// The engine failed to answer.
    pub failed: bool,
}

/// Sums over graded answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Positions answered.
    pub positions: usize,
    /// Positions with something to grade.
    pub graded: usize,
    /// Positions solved.
    pub solved: usize,
    /// Points earned.
    pub points: u64,
    /// Points that could be earned.
    pub max_points: u64,
    /// Positions that the engine failed to answer.
    pub failures: usize,
    /// Nodes of all searches.
    pub nodes: u64,
    /// Duration of all searches.
    pub time: Duration,
    /// Times to solution of the solved positions, ascending.
    times: Vec<Duration>,
}

impl Tally {
    /// Adds an answer.
    pub fn add(&mut self, grade: &Grade) {
        self.positions += 1;
        self.graded += usize::from(grade.solved.is_some());
        self.solved += usize::from(grade.solved == Some(true));
        self.points += u64::from(grade.points);
        self.max_points += u64::from(grade.max_points);
        self.failures += usize::from(grade.failed);
        self.nodes += grade.nodes;
        self.time += grade.time;
        if let Some(found) = grade.found {
            let at = self.times.partition_point(|&time| time <= found.time);
            self.times.insert(at, found.time);
        }
    }

    /// The sum of answers.
    pub fn of<'a>(grades: impl IntoIterator<Item = &'a Grade>) -> Tally {
        let mut tally = Tally::default();
        grades.into_iter().for_each(|grade| tally.add(grade));
        tally
    }

    /// Percentage of the graded positions that are solved.
    pub fn percent_solved(&self) -> Option<f64> {
        percent(self.solved as u64, self.graded as u64)
    }

    /// Percentage of the possible points.
    pub fn percent_points(&self) -> Option<f64> {
        percent(self.points, self.max_points)
    }

    /// Mean time to solution of the solved positions.
    pub fn mean_time(&self) -> Option<Duration> {
        let count = u32::try_from(self.times.len()).ok().filter(|&count| count > 0)?;
        Some(self.times.iter().sum::<Duration>() / count)
    }

    /// Median time to solution of the solved positions.
    pub fn median_time(&self) -> Option<Duration> {
        let half = self.times.len() / 2;
        let upper = *self.times.get(half)?;
        match self.times.len() % 2 {
            0 => Some((self.times[half - 1] + upper) / 2),
            _ => Some(upper),
        }
    }

    /// Nodes per second over all searches.
    pub fn speed(&self) -> Option<f64> {
        let seconds = self.time.as_secs_f64();
        #[allow(clippy::cast_precision_loss)] // a rounded figure
        (seconds > 0.0).then(|| self.nodes as f64 / seconds)
    }

    /// The customary rating estimate of the Strategic Test Suite, if every
    /// position was worth ten points: a straight line through the percentage of
    /// points, fitted by F. Mosca (STS Rating 13.1) to CCRL 40/4 ratings of
    /// its time, at 200 ms a move on an i7-2600K. Far from there it means little.
    pub fn sts_rating(&self) -> Option<f64> {
        let out_of_ten = self.max_points == 10 * self.positions as u64;
        self.percent_points().filter(|_| out_of_ten).map(|percent| 44.523 * percent - 242.85)
    }
}

#[allow(clippy::cast_precision_loss)] // counts of positions and points
fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// The theme of a Strategic Test Suite id: `STS(v8.0) AKPC.017` is of
/// `STS(v8.0) AKPC`.
pub fn theme(id: &str) -> Option<&str> {
    let (theme, number) = id.rsplit_once('.')?;
    (theme.starts_with("STS") && number.bytes().all(|b| b.is_ascii_digit())).then_some(theme)
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;

    fn king(from: Square, to: Square) -> Move {
        Move::Normal { role: shakmaty::Role::King, from, capture: None, to, promotion: None }
    }

    fn answer(m: Move, score: Value, bound: Bound) -> Answer {
        Answer { best: Some(m), score: Some(score), bound }
    }

    #[test]
    fn moves_are_graded() {
        let (a, b, c) = (
            king(Square::E1, Square::D1),
            king(Square::E1, Square::D2),
            king(Square::E1, Square::E2),
        );
        let plays = |goal: &Goal, m| goal.is_met(&answer(m, Value::Centipawns(0), Bound::Exact));
        let best = Goal { best: vec![a, b], ..Goal::default() };
        assert_eq!([a, b, c].map(|m| plays(&best, m)), [true, true, false]);
        let avoid = Goal { avoid: vec![a, b], ..Goal::default() };
        assert_eq!([a, b, c].map(|m| plays(&avoid, m)), [false, false, true]);
        let both = Goal { best: vec![a], avoid: vec![b], ..Goal::default() };
        assert_eq!([a, b, c].map(|m| plays(&both, m)), [true, false, false]);
        let points = Goal { points: vec![(a, 4), (b, 10)], ..Goal::default() };
        assert_eq!([a, b, c].map(|m| plays(&points, m)), [false, true, false]);
        assert_eq!([a, b, c].map(|m| points.points(m)), [4, 10, 0]);
        assert!(!plays(&Goal::default(), a));
        assert!(!best.is_met(&Answer { best: None, score: None, bound: Bound::Exact }));
    }

    #[test]
    fn mates_are_graded() {
        let m = king(Square::E1, Square::D1);
        let other = king(Square::E1, Square::D2);
        let mates = Goal { best: vec![other], mate: Some(3), ..Goal::default() };
        let shows = |goal: &Goal, score, bound| goal.is_met(&answer(m, score, bound));
        assert!(shows(&mates, Value::Mate(3), Bound::Exact));
        assert!(shows(&mates, Value::Mate(2), Bound::Lower));
        assert!(!shows(&mates, Value::Mate(4), Bound::Exact));
        assert!(!shows(&mates, Value::Mate(3), Bound::Upper));
        assert!(!shows(&mates, Value::Mate(-3), Bound::Exact));
        assert!(!shows(&mates, Value::Centipawns(900), Bound::Exact));
        let mated = Goal { mate: Some(-3), ..Goal::default() };
        assert!(shows(&mated, Value::Mate(-3), Bound::Exact));
        assert!(!shows(&mated, Value::Mate(-4), Bound::Exact));
        assert!(!shows(&mated, Value::Mate(-3), Bound::Lower));
        assert!(!shows(&mated, Value::Mate(3), Bound::Exact));
    }

    #[test]
    fn sums_and_times() {
        let grade = |millis: Option<u64>| Grade {
            solved: Some(millis.is_some()),
            points: 5,
            max_points: 10,
            found: millis.map(|ms| Found { depth: 1, time: Duration::from_millis(ms), nodes: 1 }),
            nodes: 1000,
            time: Duration::from_millis(100),
            failed: false,
        };
        let tally = Tally::of(&[grade(Some(30)), grade(None), grade(Some(10)), grade(Some(110))]);
        assert_eq!((tally.solved, tally.graded, tally.points, tally.max_points), (3, 4, 20, 40));
        assert_eq!(tally.mean_time(), Some(Duration::from_millis(50)));
        assert_eq!(tally.median_time(), Some(Duration::from_millis(30)));
        assert_eq!(tally.speed(), Some(10_000.0));
        assert!((tally.sts_rating().unwrap() - 1983.3).abs() < 0.001);
        let two = Tally::of(&[grade(Some(30)), grade(Some(10))]);
        assert_eq!(two.median_time(), Some(Duration::from_millis(20)));
        assert_eq!(Tally::default().mean_time(), None);
        assert_eq!(Tally::default().percent_solved(), None);
    }

    #[test]
    fn themes() {
        assert_eq!(
            theme("STS(v9.0) Advancement of a/b/c pawns.001"),
            Some("STS(v9.0) Advancement of a/b/c pawns")
        );
        assert_eq!(theme("STS(v9.0) x.y"), None);
        assert_eq!(theme("WAC.001"), None);
    }
}
