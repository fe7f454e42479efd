//! Ctrl-C during a command that runs many searches: they end, what was found is
//! kept. What to do then is for the commands.

use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicBool, Ordering},
};

use super::complain;
use crate::{play::signals::Signals, system::sync::lock};

/// Ends the searches that run, and prevents new ones.
#[derive(Debug, Default)]
pub struct Interrupt {
    raised: AtomicBool,
    running: Mutex<Vec<Weak<Signals>>>,
}

impl Interrupt {
    /// Raised by Ctrl-C; the second one leaves at once. Where Ctrl-C cannot be
    /// caught, `loss` says what it costs.
    pub fn by_ctrl_c(loss: &str) -> Arc<Interrupt> {
        let interrupt = Arc::new(Interrupt::default());
        let raised = Arc::clone(&interrupt);
        let handler = ctrlc::set_handler(move || {
            if !raised.raise() {
                std::process::exit(130);
            }
        });
        if let Err(error) = handler {
            complain(format_args!("{loss}: {error}"));
        }
        interrupt
    }

    /// Ends everything. False if that had been asked for already.
    pub fn raise(&self) -> bool {
        let first = !self.raised.swap(true, Ordering::SeqCst);
        let running = lock(&self.running);
        running.iter().filter_map(Weak::upgrade).for_each(|signals| signals.stop());
        first
    }

    /// Has the run been interrupted?
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// Ends this search, too, when raised.
    pub fn watch(&self, signals: &Arc<Signals>) {
        let mut running = lock(&self.running);
        running.retain(|old| old.strong_count() > 0);
        running.push(Arc::downgrade(signals));
        drop(running);
        // It may have been raised just before.
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
