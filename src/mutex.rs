//! Locks that stay usable after a thread panicked: what they guard is whole at any time.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Waits for `mutex`.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// What is locked or waited for, whoever panicked before.
pub fn unpoisoned<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
