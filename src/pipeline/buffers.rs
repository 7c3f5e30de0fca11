//! Buffers that are used again and again.

use std::sync::{Condvar, Mutex};

use crate::mutex::{lock, unpoisoned};

/// Buffers, of which only so many are made.
pub struct Buffers<B> {
    shelf: Mutex<Shelf<B>>,
    changed: Condvar,
}

struct Shelf<B> {
    /// The last one returned is the first one used: it may still be in the processor's cache.
    free: Vec<B>,
    unmade: usize,
    is_closed: bool,
}

impl<B: Default> Buffers<B> {
    /// At most `buffers_max`, none of which is made yet.
    pub fn new(buffers_max: usize) -> Buffers<B> {
        let shelf = Shelf { free: Vec::new(), unmade: buffers_max, is_closed: false };
        Buffers { shelf: Mutex::new(shelf), changed: Condvar::new() }
    }

    /// A buffer, if one is free or may be made.
    pub fn try_take(&self) -> Option<B> {
        lock(&self.shelf).take()
    }

    /// Waits for a buffer; `None` once they are closed.
    pub fn take(&self) -> Option<B> {
        let is_missing =
            |shelf: &mut Shelf<B>| shelf.free.is_empty() && shelf.unmade == 0 && !shelf.is_closed;
        unpoisoned(self.changed.wait_while(lock(&self.shelf), is_missing)).take()
    }

    /// Takes a buffer back, with whatever is in it.
    pub fn give_back(&self, buffer: B) {
        lock(&self.shelf).free.push(buffer);
        self.changed.notify_one();
    }

    /// Gives no more buffers, also not to those who wait.
    pub fn close(&self) {
        lock(&self.shelf).is_closed = true;
        self.changed.notify_all();
    }

    /// Whether no more buffers are given.
    pub fn is_closed(&self) -> bool {
        lock(&self.shelf).is_closed
    }
}

impl<B: Default> Shelf<B> {
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
