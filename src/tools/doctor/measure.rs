//! Measurements of this machine: nodes per second, and the lateness of searches.

use std::{
    hint, io, iter,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use crate::{
    chess::position::Position,
    engine::{Engine, Job, MemoryError},
    play::{clock::Budget, limits::Limits, report::Silent},
    tools::{bench, settings},
};

/// The search speed with a number of threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed {
    pub threads: usize,
    pub nodes_per_second: u64,
}

/// Returns the powers of two below the number of cores, followed by that number.
pub(crate) fn thread_counts(cores: usize) -> impl Iterator<Item = usize> {
    let powers = iter::successors(Some(1), |&n: &usize| n.checked_mul(2));
    powers.take_while(move |&n| n < cores).chain(iter::once(cores.max(1)))
}

/// Table size for speed measurements, in MiB.
pub(crate) const SPEED_HASH: usize = 64;

/// Searches at least three positions of the benchmark for `time` in all, each for at most about a
/// second, with a table of `hash` MiB. When `stopped` returns true, ends before the next search.
pub(crate) fn speed(
    threads: usize,
    hash: usize,
    time: Duration,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Speed, MemoryError> {
    const POSITIONS: u64 = 3;
    let count = time.as_secs().max(POSITIONS) as u32;
    let mut engine = Engine::new(settings(hash, threads))?;
    let (mut nodes, mut seconds) = (0, 0.0);
    let positions = bench::positions();
    for (position, _) in positions.into_iter().cycle().take(count as usize) {
        if stopped() {
            break;
        }
        engine.new_game();
        // The time to prepare the table is not part of the search time.
        engine.prepare(&|| !stopped())?;
        let (searched, took) = search(&mut engine, position, time / count);
        nodes += searched;
        seconds += took.as_secs_f64();
    }
    Ok(Speed { threads, nodes_per_second: (nodes as f64 / seconds.max(1e-3)) as u64 })
}

/// Searches a position for `time`. Returns the nodes and the elapsed time.
fn search(engine: &mut Engine, position: Position, time: Duration) -> (u64, Duration) {
    let limits = Limits { movetime: Some(time), ..Limits::default() };
    let job = Job::new(position.into(), limits);
    let start = Instant::now();
    let nodes = engine.go(&job, &Silent).info.nodes;
    (nodes, start.elapsed())
}

/// Duration of the searches that measure lateness.
pub(super) const SHORT: Duration = Duration::from_millis(10);
/// Number of these searches.
const ROUNDS: usize = 100;

/// Measures how late searches of [`SHORT`] end while every core is busy. The searches have no move
/// overhead. Returns the 99th percentile.
pub(super) fn lateness(cores: usize) -> Result<Duration, MemoryError> {
    let mut engine = Engine::new(settings(16, 1))?;
    engine.prepare(&|| true)?;
    let done = AtomicBool::new(false);
    let keep_busy = || {
        while !done.load(Relaxed) {
            hint::black_box(());
        }
    };
    let mut late: Vec<Duration> = thread::scope(|scope| {
        // If a thread cannot be started, the machine is merely less busy.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, keep_busy).map(drop);
        let _: io::Result<()> = (0..cores).try_for_each(spawn);
        let planned = Budget::exact(SHORT, Duration::ZERO).hard;
        let search = |_| search(&mut engine, Position::default(), SHORT).1.saturating_sub(planned);
        let late = (0..ROUNDS).map(search).collect();
        done.store(true, Relaxed);
        late
    });
    late.sort_unstable();
    Ok(late[ROUNDS * 99 / 100 - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_counts_end_with_all_cores() {
        let counts = |cores| thread_counts(cores).collect::<Vec<_>>();
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(6), [1, 2, 4, 6]);
    }

    #[test]
    fn searches_are_counted() {
        let speed = speed(1, 1, Duration::from_millis(60), &|| false).unwrap();
        assert!(speed.nodes_per_second > 0, "{speed:?}");
    }
}
