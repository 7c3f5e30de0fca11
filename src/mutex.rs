//! Locks that stay usable after a thread panicked, because the guarded data is always valid.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Locks `mutex`.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// The result of locking or waiting, even after a panic of another thread.
pub(crate) fn unpoisoned<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}
