//! Handles Ctrl-C in commands that run many searches: ends the running searches. The commands
//! decide what to do with the results so far.

use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicBool, Ordering},
};

use super::complain;
use crate::{
    play::signals::Signals,
    system::{files::keep_ignored_signals, sync::lock},
};

/// Ends running searches and prevents new ones.
#[derive(Debug, Default)]
pub struct Interrupt {
    raised: AtomicBool,
    running: Mutex<Vec<Weak<Signals>>>,
}

impl Interrupt {
    /// Returns an interrupt that Ctrl-C raises, on Unix also SIGTERM and SIGHUP. A second signal
    /// ends the program at once, with status 130. If Ctrl-C cannot be caught, prints `loss`, which
    /// says what will be lost.
    pub fn by_ctrl_c(loss: &str) -> Arc<Interrupt> {
        let interrupt = Arc::new(Interrupt::default());
        let raised = Arc::clone(&interrupt);
        let handler = keep_ignored_signals(|| {
            ctrlc::set_handler(move || {
                if !raised.raise() {
                    std::process::exit(130);
                }
            })
        });
        if let Err(error) = handler {
            complain(format_args!("cannot catch Ctrl-C ({error}): {loss}"));
        }
        interrupt
    }

    /// Ends all searches. Returns `false` if the interrupt was raised before.
    pub fn raise(&self) -> bool {
        let first = !self.raised.swap(true, Ordering::SeqCst);
        let running = lock(&self.running);
        running.iter().filter_map(Weak::upgrade).for_each(|signals| signals.stop());
        first
    }

    /// Returns whether the run has been interrupted.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// Adds a search to those that [`raise`](Interrupt::raise) ends.
    pub fn watch(&self, signals: &Arc<Signals>) {
        let mut running = lock(&self.running);
        running.retain(|old| old.strong_count() > 0);
        running.push(Arc::downgrade(signals));
        drop(running);
        // The interrupt may have been raised just before.
        if self.is_raised() {
            signals.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_searches_end_early_or_late() {
        let interrupt = Interrupt::default();
        let [running, done, late] = [(); 3].map(|()| Arc::new(Signals::new(false)));
        interrupt.watch(&running);
        interrupt.watch(&done);
        drop(done);
        assert!(!interrupt.is_raised() && !running.is_stopped());
        assert!(interrupt.raise(), "the first time");
        assert!(!interrupt.raise(), "the second time");
        assert!(interrupt.is_raised() && running.is_stopped());
        interrupt.watch(&late);
        assert!(late.is_stopped());
    }
}
