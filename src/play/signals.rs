//! How a search is stopped, and told that its clock runs.

use std::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::system::sync::{lock, unpoisoned};

/// The wires between whoever gave a `go` and the search that runs it. Made
/// anew for each `go`, by the side that receives the command, so that a stop
/// can never be lost.
///
/// The flags are read without a lock, in relaxed order: a search acts on
/// nothing else that the other side has written, so that there is nothing to
/// order; an atomic is seen by the other side in finite time, and soon on all
/// machines. They are *written* under the lock of `clock_start`, so that a
/// thread that looks at them and then sleeps cannot miss the change between
/// the two, and so that the start of the clock is there for whoever, under the
/// lock, asks how much of it has run. A search that sees the ponderhit before
/// the new start of the clock reads it only after the lock is free.
#[derive(Debug)]
pub struct Signals {
    stop: AtomicBool,
    pondering: AtomicBool,
    /// When the clock began to run for us: the start, or the ponderhit.
    clock_start: Mutex<Instant>,
    changed: Condvar,
}

impl Default for Signals {
    /// For what starts now, on one's own time.
    fn default() -> Signals {
        Signals::new(false)
    }
}

impl Signals {
    /// Fresh signals for a search that starts now.
    pub fn new(ponder: bool) -> Signals {
        Signals {
            stop: AtomicBool::new(false),
            pondering: AtomicBool::new(ponder),
            clock_start: Mutex::new(Instant::now()),
            changed: Condvar::new(),
        }
    }

    /// Ends the search as soon as possible.
    pub fn stop(&self) {
        let guard = lock(&self.clock_start);
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
        drop(guard);
    }

    /// The opponent played the expected move: the clock starts now.
    pub fn ponder_hit(&self) {
        let mut start = lock(&self.clock_start);
        if self.pondering.swap(false, Ordering::Relaxed) {
            *start = Instant::now();
        }
        self.changed.notify_all();
    }

    /// Has the search been told to stop?
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Is the search on the opponent's time?
    pub fn is_pondering(&self) -> bool {
        self.pondering.load(Ordering::Relaxed)
    }

    /// Time since the clock began to run for us.
    pub fn elapsed(&self) -> Duration {
        lock(&self.clock_start).elapsed()
    }

    /// Sleeps until told to stop, or, unless `infinite`, until the ponderhit.
    pub fn wait(&self, infinite: bool) {
        let mut guard = lock(&self.clock_start);
        while !self.is_stopped() && (infinite || self.is_pondering()) {
            guard = unpoisoned(self.changed.wait(guard));
        }
    }

    /// Sleeps until told to stop, or until the clock has run for `time`.
    pub fn wait_until(&self, time: Duration) {
        let mut guard = lock(&self.clock_start);
        while !self.is_stopped() && guard.elapsed() < time {
            let rest = time.saturating_sub(guard.elapsed());
            let waited = self.changed.wait_timeout(guard, rest);
            guard = unpoisoned(waited).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Whoever waits is woken, whichever comes first (see `tt::tests` for Miri).
    #[test]
    fn no_signal_is_lost() {
        const ROUNDS: usize = if cfg!(miri) { 10 } else { 2000 };
        for round in 0..ROUNDS {
            let infinite = round % 2 == 0;
            let created = Instant::now();
            let signals = Signals::new(true);
            thread::scope(|scope| {
                let waiter = scope.spawn(|| {
                    signals.wait(infinite);
                    (signals.is_stopped(), signals.is_pondering())
                });
                for _ in 0..round % 7 {
                    thread::yield_now();
                }
                let before = signals.elapsed();
                signals.ponder_hit();
                if infinite {
                    signals.stop();
                }
                let (stopped, pondering) = waiter.join().unwrap();
                assert!(!pondering && (stopped || !infinite));
                // What ran before the hit does not count.
                assert!(signals.elapsed() + before <= created.elapsed());
            });
        }
    }

    #[test]
    fn a_stop_ends_every_wait() {
        for infinite in [false, true] {
            let signals = Signals::new(true);
            thread::scope(|scope| {
                scope.spawn(|| signals.wait(infinite));
                scope.spawn(|| signals.wait_until(Duration::from_hours(1)));
                signals.stop();
            });
            assert!(signals.is_stopped() && signals.is_pondering());
        }
    }
}
