//! What to set the options to, and why. Nothing is measured here.

use super::{
    measure::Speed,
    report::{Advice, Report},
};
use crate::engine::HASH_RANGE;

/// Table memory in MiB that half of what is available makes.
pub fn half_of(available: Option<u64>) -> usize {
    const WITHOUT_ANSWER: usize = 256;
    let mib = available.map_or(WITHOUT_ANSWER, |bytes| (bytes >> 21) as usize);
    mib.clamp(*HASH_RANGE.start(), *HASH_RANGE.end())
}

/// Advice for `games` games at the same time.
pub fn advise(report: &Report, games: usize) -> Vec<Advice> {
    let threads = threads(&report.speed, games);
    let speed = report.speed.iter().rfind(|speed| speed.threads <= threads.value as usize);
    vec![hash(report, games, speed), threads, overhead(report)]
}

/// Bytes of the table that a node fills at most: one entry.
const ENTRY: u64 = 16;
/// A longer search does not need the table to hold all of it.
const MINUTES: u64 = 10;

/// A power of two: no more than the memory allows, no more than is filled.
fn hash(report: &Report, games: usize, speed: Option<&Speed>) -> Advice {
    let share = (half_of(report.machine.available_memory) / games) as u64;
    let speed = speed.map_or(1_000_000, |speed| speed.nodes_per_second);
    let filled = (speed * 60 * MINUTES * ENTRY) >> 20;
    let limit = share.min(filled).max(1);
    let value = 1 << limit.ilog2();
    let reason = if share < filled {
        match games {
            1 => "half of the memory that is available".to_owned(),
            _ => format!("half of the memory that is available, shared by {games} games"),
        }
    } else {
        format!("{MINUTES} minutes of search at {speed} nodes/s fill no more than {filled} MiB")
    };
    let largest = report.tables.last();
    let ready = largest.map_or(0.0, |cost| cost.first_touch_ms * value as f64 / cost.mib as f64);
    let clear = largest.map_or(0.0, |cost| cost.clear_ms * value as f64 / cost.mib as f64);
    let why = format!(
        "{reason}; isready then takes about {:.1} s before the first game, ucinewgame {:.1} s",
        ready / 1000.0,
        clear / 1000.0
    );
    Advice { option: "Hash", value, why }
}

/// A thread more has to be worth something.
const GAIN: f64 = 1.1;

/// As many threads as still make the search faster, within the share of a game.
fn threads(speed: &[Speed], games: usize) -> Advice {
    let cores = speed.last().map_or(1, |speed| speed.threads);
    let share = (cores / games).max(1);
    let mut best = speed.first().copied().unwrap_or(Speed { threads: 1, nodes_per_second: 0 });
    for &next in speed.iter().filter(|next| next.threads <= share) {
        if next.nodes_per_second as f64 >= best.nodes_per_second as f64 * GAIN {
            best = next;
        }
    }
    let Speed { threads, nodes_per_second } = best;
    let why = if share < cores {
        format!("{cores} cores shared by {games} games; {nodes_per_second} nodes/s")
    } else {
        format!("{nodes_per_second} nodes/s; more threads add less than a tenth, or there are none")
    };
    Advice { option: "Threads", value: threads as u64, why }
}

/// What transmission takes at least, in milliseconds.
const TRANSMISSION: f64 = 10.0;

/// Transmission, and how late searches end on a busy machine.
fn overhead(report: &Report) -> Advice {
    let late = report.timers.search_busy.percentile_99_ms;
    let value = ((TRANSMISSION + late) / 10.0).ceil() as u64 * 10;
    let why = format!(
        "a search of 10 ms ends up to {late:.1} ms late (99th percentile, all cores busy), and {TRANSMISSION:.0} ms \
         for a GUI on the same machine; over a network add its delay"
    );
    Advice { option: "Move Overhead", value: value.min(5000), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speeds(of: &[(usize, u64)]) -> Vec<Speed> {
        of.iter().map(|&(threads, nodes_per_second)| Speed { threads, nodes_per_second }).collect()
    }

    #[test]
    fn threads_have_to_be_worth_it() {
        let value = |of: &[(usize, u64)], games| threads(&speeds(of), games).value;
        assert_eq!(value(&[(1, 100)], 1), 1);
        assert_eq!(value(&[(1, 100), (2, 190), (4, 350)], 1), 4);
        assert_eq!(value(&[(1, 100), (2, 190), (4, 195)], 1), 2);
        assert_eq!(value(&[(1, 100), (2, 190), (4, 350)], 2), 2);
        assert_eq!(value(&[(1, 100), (2, 190), (4, 350)], 9), 1);
    }

    #[test]
    fn half_of_the_memory() {
        assert_eq!(half_of(Some(16 << 30)), 8192);
        assert_eq!(half_of(Some(0)), 1);
        assert_eq!(half_of(Some(u64::MAX)), *HASH_RANGE.end());
        assert_eq!(half_of(None), 256);
    }
}
