//! The command `lancet doctor`: recommended option values with their reasons.

use std::{process::ExitCode, thread, time::Duration};

use anyhow::Context as _;

use super::measure::{self, SHORT, SPEED_HASH, Speed};
use crate::{
    chess::notation::counted,
    engine::{HASH_RANGE, MemoryError, threads},
    system::{arguments, memory},
    tools::{say, thread_count},
};

/// Measure this machine and recommend option values for it
///
/// Measures nodes per second for several thread counts. Then keeps all cores busy and measures how
/// late searches of 10 ms end. Prints values for Hash, Threads and Move Overhead, with the reasons.
/// Run it while the machine is otherwise idle.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  lancet doctor
  lancet doctor --games 4

Exit status:
  0  when everything was measured
  1  if there was not enough memory, or a thread could not be started
  2  if the command line was wrong")]
pub struct Args {
    /// Number of games that will run at the same time; memory and cores are divided between them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = thread_count)]
    games: usize,
    /// Duration of each speed measurement, in seconds
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = arguments::whole::<u64>(1..=600))]
    seconds: u64,
}

/// Runs the command.
///
/// # Errors
///
/// If there is not enough memory, or a thread cannot be started.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    threads::run("doctor", || advise(args)).context("cannot start the thread of doctor")??;
    Ok(ExitCode::SUCCESS)
}

fn advise(args: &Args) -> Result<(), MemoryError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut speeds = Vec::new();
    for threads in measure::thread_counts(cores) {
        let speed =
            measure::speed(threads, SPEED_HASH, Duration::from_secs(args.seconds), &|| false)?;
        let with = counted(threads, "thread");
        say(format_args!("{:>12} nodes/s with {with}", speed.nodes_per_second));
        speeds.push(speed);
    }
    let (best, why) = threads(&speeds, args.games);
    let advice = [
        ("Hash", hash(memory::available(), best.nodes_per_second, args.games)),
        ("Threads", (best.threads as u64, why)),
        ("Move Overhead", overhead(measure::lateness(cores)?)),
    ];
    say("");
    for (option, (value, why)) in advice {
        let why = why.replace('\n', "\n    ");
        say(format_args!("setoption name {option} value {value}\n    {why}"));
    }
    Ok(())
}

/// Recommends a number of threads within a game's share of the cores. A larger number is chosen
/// only if it is at least a tenth faster than the best one so far. Also returns the reason.
fn threads(speeds: &[Speed], games: usize) -> (Speed, String) {
    let cores = speeds.last().map_or(1, |speed| speed.threads);
    let share = (cores / games).max(1);
    let mut best = speeds.first().copied().unwrap_or(Speed { threads: 1, nodes_per_second: 0 });
    for &next in speeds.iter().filter(|next| next.threads <= share) {
        if next.nodes_per_second * 10 >= best.nodes_per_second * 11 {
            best = next;
        }
    }
    let speed = best.nodes_per_second;
    let gains_little =
        speeds.iter().any(|next| next.threads > best.threads && next.threads <= share);
    let why = if gains_little {
        format!("{speed} nodes/s; more threads are less than 10 % faster")
    } else if share < cores {
        format!("{speed} nodes/s; {games} games share {}", counted(cores, "core"))
    } else {
        format!("{speed} nodes/s; the machine has {}", counted(cores, "core"))
    };
    (best, why)
}

/// Size of a table entry in bytes. A node fills at most one.
const ENTRY: u64 = 16;
/// Minutes of search that the table should be able to hold.
const MINUTES: u64 = 10;
/// Bytes of memory to assume if the system does not report how much is available.
const UNKNOWN: u64 = 512 << 20;

/// Recommends a table size in MiB for each game, and returns the reason. The size is a power of
/// two. It is at most the game's share of half the available memory, and at most the size that a
/// search fills in [`MINUTES`]. `available` is in bytes.
fn hash(available: Option<u64>, nodes_per_second: u64, games: usize) -> (u64, String) {
    let half = available.unwrap_or(UNKNOWN) >> 21;
    let share = (half / games as u64).min(*HASH_RANGE.end() as u64);
    let filled = (nodes_per_second * 60 * MINUTES * ENTRY) >> 20;
    let why = if share >= filled {
        format!(
            "{MINUTES} minutes of search at {nodes_per_second} nodes/s fill at most {filled} MiB"
        )
    } else if games == 1 {
        "half of the available memory".to_owned()
    } else {
        format!("half of the available memory, divided between {games} games")
    };
    let why = why + "; rounded down to a power of two";
    (1 << share.min(filled).max(1).ilog2(), why)
}

/// Time allowed for the transmission of a move, in milliseconds.
const TRANSMISSION: u128 = 10;

/// Returns a recommended move overhead in milliseconds for searches that end this `late`, and the
/// reason.
fn overhead(late: Duration) -> (u64, String) {
    let value = (TRANSMISSION * 1000 + late.as_micros()).div_ceil(10_000) * 10;
    let why = format!(
        "with all cores busy, 99 % of searches of {} ms end at most {:.1} ms late\n\
         the value includes {TRANSMISSION} ms for a GUI on the same machine\n\
         for games over a network, add the network delay",
        SHORT.as_millis(),
        late.as_secs_f64() * 1000.0,
    );
    (value.min(5000) as u64, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_must_be_faster() {
        let value = |speeds: &[(usize, u64)], games| {
            let speed = |&(threads, nodes_per_second)| Speed { threads, nodes_per_second };
            threads(&speeds.iter().map(speed).collect::<Vec<_>>(), games).0.threads
        };
        assert_eq!(value(&[(1, 100)], 1), 1);
        assert_eq!(value(&[(1, 100), (2, 190), (4, 350)], 1), 4);
        assert_eq!(value(&[(1, 100), (2, 190), (4, 195)], 1), 2);
        assert_eq!(value(&[(1, 100), (2, 190), (4, 350)], 2), 2);
        assert_eq!(value(&[(1, 100), (2, 190), (4, 350)], 9), 1);
    }

    #[test]
    fn the_table_fits_the_memory_and_the_search() {
        // 2^20 nodes/s fill 9600 MiB in ten minutes.
        let value = |available, games| hash(available, 1 << 20, games).0;
        assert_eq!(value(Some(16 << 30), 1), 8192);
        assert_eq!(value(Some(16 << 30), 3), 2048);
        assert_eq!(value(Some(u64::MAX), 1), 8192);
        assert_eq!(value(Some(0), 1), 1);
        assert_eq!(value(None, 1), 256);
        assert_eq!(hash(Some(u64::MAX), 1 << 40, 1).0, *HASH_RANGE.end() as u64);
        assert!(hash(Some(16 << 30), 1 << 20, 1).1.contains("memory"));
        assert!(hash(Some(64 << 30), 1 << 20, 1).1.contains("9600 MiB"));
    }

    #[test]
    fn late_searches_need_more_overhead() {
        let value = |micros| overhead(Duration::from_micros(micros)).0;
        assert_eq!([0, 900, 1000, 10_000, 11_000].map(value), [10, 20, 20, 20, 30]);
        assert_eq!(value(60_000_000), 5000);
    }
}
