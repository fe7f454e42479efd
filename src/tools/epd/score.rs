//! Grades answers and sums up the results. It writes no text.

use std::time::Duration;

use shakmaty::Move;

use crate::{
    chess::{epd::Goal, score::mate_distance},
    play::report::{Bound, Info},
};

/// A score as engines report it, from the side to move's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Centipawns.
    Centipawns(i32),
    /// Mate in this many moves; zero or negative if the side to move is mated.
    Mate(i32),
}

/// A line of analysis from any engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thought {
    /// Depth of the iteration in plies.
    pub depth: u32,
    /// Deepest ply reached.
    pub seldepth: u32,
    /// Rank among the reported lines, from 1.
    pub rank: usize,
    /// Score from the side to move's point of view.
    pub value: Value,
    /// Whether `value` is exact.
    pub bound: Bound,
    /// Nodes so far.
    pub nodes: u64,
    /// Time since the start of the search.
    pub time: Duration,
    /// The legal moves of the PV.
    pub pv: Vec<Move>,
}

impl From<&Info> for Thought {
    fn from(info: &Info) -> Thought {
        Thought {
            depth: info.depth,
            seldepth: info.seldepth,
            rank: info.multipv,
            value: mate_distance(info.score).map_or(Value::Centipawns(info.score), Value::Mate),
            bound: info.bound,
            nodes: info.nodes,
            time: info.time,
            pv: info.pv.clone(),
        }
    }
}

impl Goal {
    /// Returns whether there is nothing to grade.
    pub(super) fn is_empty(&self) -> bool {
        *self == Goal::default()
    }

    /// Returns whether this move, with the line that led to it, meets the goal.
    ///
    /// A move in `avoid` never does. A mate goal is met by any other move with a proven mate that
    /// is not longer. A mate in N is a best move even if `bm` names a different one. Without a mate
    /// goal, the move must be one of `best`, if there are any. If there are only points, the move
    /// must earn the most.
    pub(super) fn is_met(&self, best: Option<Move>, line: Option<&Thought>) -> bool {
        let Some(m) = best else { return false };
        if self.avoid.contains(&m) {
            return false;
        }
        if let Some(goal) = self.mate {
            return match line.map(|line| (line.value, line.bound)) {
                Some((Value::Mate(mate), Bound::Exact)) if goal < 0 => goal <= mate && mate <= 0,
                Some((Value::Mate(mate), Bound::Exact | Bound::Lower)) => 0 < mate && mate <= goal,
                _ => false,
            };
        }
        if self.best.is_empty() && self.avoid.is_empty() {
            return !self.points.is_empty() && self.points(m) == self.max_points();
        }
        self.best.is_empty() || self.best.contains(&m)
    }

    /// Returns the points for a move.
    pub(super) fn points(&self, m: Move) -> u32 {
        self.points.iter().find(|&&(listed, _)| listed == m).map_or(0, |&(_, points)| points)
    }

    /// Returns the maximum points of a move.
    pub(super) fn max_points(&self) -> u32 {
        self.points.iter().map(|&(_, points)| points).max().unwrap_or(0)
    }
}

/// The point in the search from which the solution was kept to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Solution {
    /// Depth of the iteration in plies.
    pub depth: u32,
    /// Time since the start of the search.
    pub time: Duration,
    /// Nodes until then.
    pub nodes: u64,
}

/// The result of one engine for one position.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    /// Whether it was solved; `None` if there was nothing to grade.
    pub solved: Option<bool>,
    /// Points earned.
    pub points: u32,
    /// Maximum points.
    pub max_points: u32,
    /// The move played.
    pub best: Option<Move>,
    /// Data about the solution, if the position was solved.
    pub solution: Option<Solution>,
    /// Nodes of the whole search.
    pub nodes: u64,
    /// Duration of the whole search.
    pub time: Duration,
    /// The rank of the best line that meets the goal, from 1.
    pub rank: Option<usize>,
    /// The last line of each rank, best first.
    pub lines: Vec<Thought>,
    /// Reason for a missing answer.
    pub failure: Option<String>,
}

/// Sums over answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// Positions attempted.
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
    /// Adds an attempt.
    pub(super) fn add(&mut self, attempt: &Attempt) {
        self.positions += 1;
        self.graded += usize::from(attempt.solved.is_some());
        self.solved += usize::from(attempt.solved == Some(true));
        self.points += u64::from(attempt.points);
        self.max_points += u64::from(attempt.max_points);
        self.failures += usize::from(attempt.failure.is_some());
        self.nodes = self.nodes.saturating_add(attempt.nodes);
        self.time += attempt.time;
        if let Some(solution) = attempt.solution {
            let at = self.times.partition_point(|&time| time <= solution.time);
            self.times.insert(at, solution.time);
        }
    }

    /// Sums up the attempts that were made.
    pub(super) fn of<'a>(attempts: impl IntoIterator<Item = &'a Option<Attempt>>) -> Tally {
        let mut tally = Tally::default();
        attempts.into_iter().flatten().for_each(|attempt| tally.add(attempt));
        tally
    }

    /// Returns the percentage of graded positions that were solved.
    pub(super) fn percent_solved(&self) -> Option<f64> {
        percent(self.solved as u64, self.graded as u64)
    }

    /// Returns the percentage of the maximum points.
    pub(super) fn percent_points(&self) -> Option<f64> {
        percent(self.points, self.max_points)
    }

    /// Returns the mean time to solution of the solved positions.
    pub(super) fn mean_time(&self) -> Option<Duration> {
        self.times.iter().sum::<Duration>().checked_div(self.times.len() as u32)
    }

    /// Returns the median time to solution of the solved positions.
    pub(super) fn median_time(&self) -> Option<Duration> {
        let last = self.times.len().checked_sub(1)?;
        Some((self.times[last / 2] + self.times[last.div_ceil(2)]) / 2)
    }

    /// Returns the nodes per second over all searches.
    pub(super) fn speed(&self) -> Option<f64> {
        let seconds = self.time.as_secs_f64();
        (seconds > 0.0).then(|| self.nodes as f64 / seconds)
    }

    /// Returns the customary rating estimate of the Strategic Test Suite, if every position was
    /// worth ten points. It is a linear function of the percentage of points. F. Mosca (STS Rating
    /// 13.1) fitted it to the CCRL 40/4 ratings of the time. The engines had 200 ms a move on an
    /// i7-2600K. Far from these conditions, the estimate is not meaningful.
    pub(super) fn sts_rating(&self) -> Option<f64> {
        let out_of_ten = self.max_points == 10 * self.positions as u64;
        self.percent_points().filter(|_| out_of_ten).map(|percent| 44.523 * percent - 242.85)
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// Returns the theme that an id names before or after its number. The theme of `STS(v8.0) AKPC.017`
/// is `STS(v8.0) AKPC`, of `PET001: Pawn endgame` it is `Pawn endgame`, and of `E_E_T 001 - B vs B`
/// it is `B vs B`.
pub(super) fn theme(id: &str) -> Option<&str> {
    let has_digit = |text: &str| text.bytes().any(|b| b.is_ascii_digit());
    match id.split_once(": ").or_else(|| id.split_once(" - ")) {
        Some((number, theme)) => has_digit(number).then_some(theme),
        None => {
            let (theme, number) = id.rsplit_once('.')?;
            number.bytes().all(|b| b.is_ascii_digit()).then_some(theme)
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;

    fn king(from: Square, to: Square) -> Move {
        Move::Normal { role: shakmaty::Role::King, from, capture: None, to, promotion: None }
    }

    fn thought(value: Value, bound: Bound) -> Thought {
        let (time, pv) = (Duration::ZERO, Vec::new());
        Thought { depth: 1, seldepth: 1, rank: 1, value, bound, nodes: 1, time, pv }
    }

    #[test]
    fn moves_are_graded() {
        let (a, b, c) = (
            king(Square::E1, Square::D1),
            king(Square::E1, Square::D2),
            king(Square::E1, Square::E2),
        );
        let line = thought(Value::Centipawns(0), Bound::Exact);
        let plays = |goal: &Goal, m| goal.is_met(Some(m), Some(&line));
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
        assert!(best.is_met(Some(a), None) && !best.is_met(None, None));
    }

    #[test]
    fn mates_are_graded() {
        let m = king(Square::E1, Square::D1);
        let other = king(Square::E1, Square::D2);
        let mates = Goal { best: vec![other], mate: Some(3), ..Goal::default() };
        let shows = |goal: &Goal, value, bound| goal.is_met(Some(m), Some(&thought(value, bound)));
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
        let attempt = |millis: Option<u64>| {
            let time = millis.map(Duration::from_millis);
            Some(Attempt {
                solved: Some(millis.is_some()),
                points: 5,
                max_points: 10,
                solution: time.map(|time| Solution { depth: 1, time, nodes: 1 }),
                nodes: 1000,
                time: Duration::from_millis(100),
                ..Attempt::default()
            })
        };
        let tally = Tally::of(&[Some(30), None, Some(10), Some(110)].map(attempt));
        assert_eq!((tally.solved, tally.graded, tally.points, tally.max_points), (3, 4, 20, 40));
        assert_eq!(tally.mean_time(), Some(Duration::from_millis(50)));
        assert_eq!(tally.median_time(), Some(Duration::from_millis(30)));
        assert_eq!(tally.speed(), Some(10_000.0));
        assert!((tally.sts_rating().unwrap() - 1983.3).abs() < 0.001);
        let two = Tally::of(&[attempt(Some(30)), None, attempt(Some(10))]);
        assert_eq!(two.positions, 2);
        assert_eq!(two.median_time(), Some(Duration::from_millis(20)));
        assert_eq!(Tally::default().mean_time(), None);
        assert_eq!(Tally::default().median_time(), None);
        assert_eq!(Tally::default().percent_solved(), None);
    }

    #[test]
    fn themes() {
        assert_eq!(
            theme("STS(v9.0) Advancement of a/b/c pawns.001"),
            Some("STS(v9.0) Advancement of a/b/c pawns")
        );
        assert_eq!(theme("LCTII.POS.01"), Some("LCTII.POS"));
        assert_eq!(theme("PET001: Pawn endgame"), Some("Pawn endgame"));
        assert_eq!(theme("E_E_T 70b - D vs T&L&B"), Some("D vs T&L&B"));
        for id in ["STS(v9.0) x.y", "position 01", "Kasparov - Karpov 1985", ""] {
            assert_eq!(theme(id), None, "{id}");
        }
    }
}
