//! What is measured: nodes a second, the price of a table's memory, and how late
//! timers and searches end.

use std::{
    hint, iter,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::{
    chess::position::Position,
    engine::{Engine, Job},
    play::{limits::Limits, memory::MemoryError, report::Silent},
    search::tt::Table,
    tools::{bench, settings},
};

/// How fast a number of search threads is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Speed {
    pub threads: usize,
    pub nodes_per_second: u64,
}

/// 1, 2, 4 ... and all cores.
pub fn thread_counts(cores: usize) -> impl Iterator<Item = usize> {
    let powers = iter::successors(Some(1), |&n: &usize| n.checked_mul(2));
    powers.take_while(move |&n| n < cores).chain(iter::once(cores.max(1)))
}

/// Table size of a measurement of speed, in MiB.
pub const SPEED_HASH: usize = 64;

/// Searches positions of the benchmark for `time` in all, each for a second at most,
/// with a table of `hash` MiB. `stopped` ends it between two positions.
pub fn speed(
    threads: usize,
    hash: usize,
    time: Duration,
    stopped: &dyn Fn() -> bool,
) -> Result<Speed, MemoryError> {
    const POSITIONS: u64 = 3;
    let count = time.as_secs().max(POSITIONS) as u32;
    let mut engine = Engine::new(settings(hash, threads))?;
    let (mut nodes, mut seconds) = (0, 0.0);
    let positions = bench::positions().unwrap_or_default();
    for (position, _) in positions.into_iter().cycle().take(count as usize) {
        if stopped() {
            break;
        }
        engine.new_game();
        // What is measured is searching: the table is there before.
        engine.prepare(&|| true)?;
        let outcome = search(&mut engine, position, time / count);
        nodes += outcome.nodes;
        seconds += outcome.time.as_secs_f64();
    }
    let nodes_per_second = (nodes as f64 / seconds.max(1e-3)) as u64;
    Ok(Speed { threads, nodes_per_second })
}

/// Nodes and time of a search.
struct Searched {
    nodes: u64,
    time: Duration,
}

fn search(engine: &mut Engine, position: Position, time: Duration) -> Searched {
    let limits = Limits { movetime: Some(time), ..Limits::default() };
    let job = Job::new(position.into(), limits);
    let start = Instant::now();
    let nodes = engine.go(&job, &Silent).info.nodes;
    Searched { nodes, time: start.elapsed() }
}

/// What a table of a size costs before the first search, and between games.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TableCost {
    pub mib: usize,
    /// Threads that did it.
    pub threads: usize,
    /// Taking the memory, in milliseconds: at `isready` after `setoption name Hash`.
    pub first_touch_ms: f64,
    /// Clearing it in place, in milliseconds: at `ucinewgame`.
    pub clear_ms: f64,
}

/// Sizes in MiB to try, up to `most`.
pub fn table_sizes(most: usize) -> impl Iterator<Item = usize> {
    iter::successors(Some(16), |&mib: &usize| mib.checked_mul(4))
        .take_while(move |&mib| mib < most)
        .chain(iter::once(most.max(1)))
}

/// Takes and clears a table; `None` if there is not enough memory.
pub fn table_cost(mib: usize, threads: usize) -> Option<TableCost> {
    let mut table = Table::new(mib)?;
    let mut clear = || {
        let start = Instant::now();
        table.forget();
        table.clear(threads, &|| true);
        let time = milliseconds(start.elapsed());
        table.new_search();
        time
    };
    let (first_touch_ms, clear_ms) = (clear(), clear());
    Some(TableCost { mib, threads, first_touch_ms, clear_ms })
}

/// How late something ended, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Lateness {
    pub median_ms: f64,
    pub percentile_99_ms: f64,
    pub most_ms: f64,
}

impl Lateness {
    fn new(mut late: Vec<f64>) -> Lateness {
        late.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (late.len() as f64 * share).ceil() as usize;
            late.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        Lateness { median_ms: at(0.5), percentile_99_ms: at(0.99), most_ms: at(1.0) }
    }
}

/// How late a sleep and a search of [`Timers::ASKED`] end.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timers {
    pub sleep_quiet: Lateness,
    pub search_quiet: Lateness,
    /// The same while every core is kept busy.
    pub sleep_busy: Lateness,
    pub search_busy: Lateness,
}

impl Timers {
    /// What sleeps and searches are asked to take.
    pub const ASKED: Duration = Duration::from_millis(10);
    /// How often each is tried.
    const ROUNDS: usize = 100;

    pub fn measure(cores: usize) -> Result<Timers, MemoryError> {
        let mut engine = Engine::new(settings(16, 1))?;
        engine.prepare(&|| true)?;
        let sleep = || {
            let start = Instant::now();
            thread::sleep(Timers::ASKED);
            start.elapsed()
        };
        let mut search = || search(&mut engine, Position::default(), Timers::ASKED).time;
        let (sleep_quiet, search_quiet) = (lateness(sleep), lateness(&mut search));
        let (sleep_busy, search_busy) =
            beside_load(cores, || (lateness(sleep), lateness(&mut search)));
        Ok(Timers { sleep_quiet, search_quiet, sleep_busy, search_busy })
    }
}

fn lateness(mut run: impl FnMut() -> Duration) -> Lateness {
    let late = |time: Duration| milliseconds(time.saturating_sub(Timers::ASKED));
    Lateness::new((0..Timers::ROUNDS).map(|_| late(run())).collect())
}

/// Runs `measure` while `cores` threads do nothing but count.
fn beside_load<T>(cores: usize, measure: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    let count = || {
        let mut n = 0_u64;
        while !done.load(Relaxed) {
            n = hint::black_box(n.wrapping_add(1));
        }
    };
    thread::scope(|scope| {
        for _ in 0..cores {
            // With fewer of them the machine is less busy.
            if thread::Builder::new().spawn_scoped(scope, count).is_err() {
                break;
            }
        }
        let result = measure();
        done.store(true, Relaxed);
        result
    })
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_end_where_they_should() {
        let counts = |cores| thread_counts(cores).collect::<Vec<_>>();
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(6), [1, 2, 4, 6]);
        let sizes = |most| table_sizes(most).collect::<Vec<_>>();
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(16), [16]);
        assert_eq!(sizes(1000), [16, 64, 256, 1000]);
        assert!(table_cost(usize::MAX, 1).is_none());
    }

    #[test]
    fn percentiles() {
        let late = Lateness::new((0..100).map(f64::from).collect());
        assert_eq!((late.median_ms, late.percentile_99_ms, late.most_ms), (49.0, 98.0, 99.0));
        assert_eq!(Lateness::new(vec![3.0]).median_ms, 3.0);
        assert_eq!(Lateness::new(vec![]).most_ms, 0.0);
    }

    #[test]
    fn searches_are_counted() {
        let speed = speed(1, 1, Duration::from_millis(60), &|| false).unwrap();
        assert!(speed.nodes_per_second > 0, "{speed:?}");
    }
}
