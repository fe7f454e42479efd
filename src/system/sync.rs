//! Locks that stay usable after a panic.
//!
//! The data that the locks of this crate protect (a counter, a list, a line of text) are valid
//! between any two statements. Therefore they are still valid if a thread panics while it holds a
//! lock. The panic itself is reported elsewhere.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Returns the value of a lock, whether or not a thread has panicked while holding it.
pub fn unpoisoned<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// Locks `mutex`.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_leaves_the_lock_usable() {
        let numbers = Mutex::new(vec![1]);
        let panicked = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                lock(&numbers).push(2);
                let _held = lock(&numbers);
                std::panic::resume_unwind(Box::new("while holding it"));
            });
            thread.join().is_err()
        });
        assert!(panicked && numbers.is_poisoned());
        lock(&numbers).push(3);
        assert_eq!(unpoisoned(numbers.into_inner()), [1, 2, 3]);
    }
}
