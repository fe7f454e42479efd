//! The tunable constants of time management. [`tune`](crate::system::tune) describes their format.
//!
//! The constants are close to those of engines that were tuned. `README.md` in this folder has the
//! measurements.

crate::system::tune::params! {
    /// Milliseconds of every clock that are never spent, because a busy machine can delay a move by
    /// that much.
    clock_reserve: 50, 0..=500, 10;
    /// Assumed number of moves to the end of the game, with an increment and without `movestogo`. A
    /// larger `movestogo` counts as this many.
    clock_horizon: 27, 8..=80, 3;
    /// Assumed number of moves to the end of the game without `movestogo` or an increment.
    clock_sudden: 34, 8..=80, 3;
    /// Share of the increment that a move gets, in per cent. It is above 100 because later moves
    /// matter less.
    clock_increment: 160, 0..=300, 10;
    /// Share of a move's time after which no new iteration starts, in per cent, before scaling by
    /// [`Stability::scale`](super::clock::Stability::scale).
    clock_soft: 73, 20..=150, 5;
    /// Maximum of the time of `clock_soft` without `movestogo`, in per cent of the clock.
    clock_cap: 18, 5..=60, 2;
    /// Maximum time for a move, in per cent of the clock. The last move before a time control may
    /// take 80 %.
    clock_hard: 46, 5..=90, 4;
    /// The time for a move has a factor that falls as the best move's share of the nodes rises.
    /// This is the share, in per cent, at which the factor would be 0. Real shares are at most 100.
    clock_share: 150, 100..=250, 7;
    /// Increase of that factor for each per cent below `clock_share`, in 1/10,000.
    clock_nodes: 135, 0..=300, 14;
    /// Factor for a best move that has not changed for many iterations, in per cent.
    clock_stable: 76, 40..=100, 4;
    /// Addition to `clock_stable` if the best move has just changed, in per cent.
    clock_changed: 155, 0..=300, 14;
    /// Additional time for each centipawn that the score has fallen during the search, in 1/1000. A
    /// rise saves as much. The fall is limited to -20 to 60 centipawns.
    clock_trend: 6, 0..=20, 1;
    /// Factor if the best move has not changed in the last iterations, in per cent.
    clock_settled: 90, 70..=110, 2;
    /// Addition to `clock_settled` for each recent change of the best move, in per cent.
    clock_unrest: 25, 0..=80, 4;
    /// Reduction for each iteration with a stable score, up to eight, in per cent. The factor is 1
    /// after five.
    clock_steady: 4, 0..=10, 1;
    /// Additional time for each centipawn that the score has fallen since the same side's previous
    /// move, in 1/1000. A rise saves as much. The fall is limited to -15 to 25 centipawns.
    clock_fallen: 20, 0..=60, 4;
}
