//! Signals to a running search: stop and ponderhit.

use std::{
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::system::sync::{lock, unpoisoned};

/// The signals that the caller of a search sends to it. The thread that receives `go` creates new
/// signals for each search, so that a stop cannot be lost.
///
/// The flags are read without a lock. They publish no other data, so relaxed ordering is enough. An
/// atomic store soon becomes visible to other threads on every supported machine. The flags are
/// *written* under the lock of `clock_start`, for two reasons. First, a thread that checks them and
/// then sleeps cannot miss a change in between. Second, a search that sees the ponderhit waits for
/// the lock before it reads the clock, so it reads the new start.
#[derive(Debug)]
pub struct Signals {
    stop: AtomicBool,
    pondering: AtomicBool,
    /// The time at which our clock started: the start of the search, or the ponderhit.
    clock_start: Mutex<Instant>,
    changed: Condvar,
}

impl Default for Signals {
    /// Returns signals for a search that starts now and does not ponder.
    fn default() -> Signals {
        Signals::new(false)
    }
}

impl Signals {
    /// Returns signals for a search that starts now.
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

    /// Signals that the opponent has played the expected move. The clock starts now.
    pub fn ponder_hit(&self) {
        let mut start = lock(&self.clock_start);
        if self.pondering.swap(false, Ordering::Relaxed) {
            *start = Instant::now();
        }
        self.changed.notify_all();
    }

    /// Returns whether the search has been told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns whether the search runs on the opponent's time.
    pub fn is_pondering(&self) -> bool {
        self.pondering.load(Ordering::Relaxed)
    }

    /// Returns the time since our clock started.
    pub fn elapsed(&self) -> Duration {
        lock(&self.clock_start).elapsed()
    }

    /// Waits for the stop or, unless `infinite`, for the end of pondering.
    pub fn wait(&self, infinite: bool) {
        let waits = |_: &mut Instant| !self.is_stopped() && (infinite || self.is_pondering());
        drop(unpoisoned(self.changed.wait_while(lock(&self.clock_start), waits)));
    }

    /// Waits for the stop, or until the clock has run for `time`.
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

    /// Every waiting thread wakes, whether the signal or the wait comes first. `tt::tests`
    /// describes how to run this under Miri.
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
                // The time before the ponderhit does not count.
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
