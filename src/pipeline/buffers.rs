//! Reusable buffers.

use std::sync::{Condvar, Mutex};

use crate::mutex::{lock, unpoisoned};

/// A limited number of buffers.
pub(crate) struct Buffers<B> {
    state: Mutex<BufferState<B>>,
    changed: Condvar,
}

struct BufferState<B> {
    /// The last returned buffer is used first, because it may still be in the processor's cache.
    free: Vec<B>,
    unmade: usize,
    is_closed: bool,
}

impl<B: Default> Buffers<B> {
    /// A pool of at most `buffers_max` buffers, which are created when needed.
    pub(crate) fn new(buffers_max: usize) -> Buffers<B> {
        let state = BufferState { free: Vec::new(), unmade: buffers_max, is_closed: false };
        Buffers { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A buffer, if one is free or can be created.
    pub(crate) fn try_take(&self) -> Option<B> {
        lock(&self.state).take()
    }

    /// Waits for a buffer; `None` after the pool was closed.
    pub(crate) fn take(&self) -> Option<B> {
        let is_missing = |state: &mut BufferState<B>| {
            state.free.is_empty() && state.unmade == 0 && !state.is_closed
        };
        unpoisoned(self.changed.wait_while(lock(&self.state), is_missing)).take()
    }

    /// Returns a buffer, with any content.
    pub(crate) fn give_back(&self, buffer: B) {
        lock(&self.state).free.push(buffer);
        self.changed.notify_one();
    }

    /// Closes the pool, also for waiting threads.
    pub(crate) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }

    /// Whether the pool is closed.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }
}

impl<B: Default> BufferState<B> {
    fn take(&mut self) -> Option<B> {
        if self.is_closed {
            return None;
        }
        self.free.pop().or_else(|| {
            self.unmade = self.unmade.checked_sub(1)?;
            Some(B::default())
        })
    }
}
