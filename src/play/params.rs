//! The clock's tunable constants; what their lines say is in
//! [`tune`](crate::system::tune).
//!
//! The shares of the clock are shaped after those of tuned engines; what they were tried
//! against is in the README beside this file.

crate::system::tune::params! {
    /// Milliseconds of every clock that are never spent: how late a busy machine may be.
    /// What they save is in the README beside this file.
    clock_reserve: 50, 0..=500, 10;
    /// Moves that the rest of a game is planned to take when the GUI does not say ...
    clock_horizon: 27, 8..=80, 3;
    /// ... and when nothing is added to the clock either.
    clock_sudden: 34, 8..=80, 3;
    /// Of the increment, in per cent, what is planned for a move; beyond 100 it is spent
    /// ahead, since later moves decide less ...
    clock_increment: 160, 0..=300, 10;
    /// ... and of both together, after which no new iteration begins, before
    /// [`Stability::scale`](super::clock::Stability::scale) ...
    clock_soft: 73, 20..=150, 5;
    /// ... but at most this of the clock, in per cent: a low clock is shared out, too.
    clock_cap: 18, 5..=60, 2;
    /// Of the clock, in per cent, what a move may take at most.
    clock_hard: 46, 5..=90, 4;
    /// A move whose share of the nodes is this, in per cent, ...
    clock_share: 150, 100..=250, 7;
    /// ... takes no time, and each per cent less takes so much more of the time planned, in
    /// 1/10,000.
    clock_nodes: 135, 0..=300, 14;
    /// Of the time planned, in per cent, what a best move takes that has long stood, ...
    clock_stable: 76, 40..=100, 4;
    /// ... and how much more if it has just changed.
    clock_changed: 155, 0..=300, 14;
    /// More time, in 1/1000, for every centipawn that the score has fallen.
    clock_trend: 6, 0..=20, 1;
    /// A score that holds from iteration to iteration takes less time, ...
    clock_score: 0, 0..=1, 0;
    /// ... by so many per cent for each of up to eight of them; after five it takes what was
    /// planned.
    clock_steady: 4, 0..=10, 1;
    /// A score that has fallen since the move before takes more time, ...
    clock_last: 0, 0..=1, 0;
    /// ... by so much for a centipawn, in 1/1000.
    clock_fallen: 20, 0..=60, 4;
    /// A move that takes back takes less time, ...
    clock_recapture: 0, 0..=1, 0;
    /// ... by so many per cent.
    clock_taken: 10, 0..=40, 3;
}
