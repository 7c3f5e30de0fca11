//! Threads that inflate batches of one file, which come back in the order in which they were sent.
//!
//! Each helper has a queue of its own and they are served in turn, so that order needs no
//! numbers and nobody waits for a lock.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use libdeflater::Decompressor;

use crate::input::bgzf::Batch;

/// Batches that a helper may have: one that it inflates and one that waits. More gained nothing.
const BATCHES_PER_HELPER: usize = 2;

/// More helpers than this inflate faster than one reader takes in; memory is bounded by it.
const HELPERS_MAX: usize = 8;

/// The helpers of one file. They are started when there is first something to do, and end with it.
pub struct Crew {
    helpers_max: usize,
    helpers: Vec<Helper>,
    /// Where there are no helpers: what does their work, and the batch it has done.
    alone: Option<Decompressor>,
    done: Option<Batch>,
    /// Batches sent and received so far.
    sent: usize,
    received: usize,
    spare: Vec<Batch>,
}

struct Helper {
    sender: SyncSender<Batch>,
    receiver: Receiver<Batch>,
}

impl Crew {
    /// A crew of so many; of none, whoever sends a batch inflates it.
    pub fn new(helpers: usize) -> Crew {
        let helpers_max = helpers.min(HELPERS_MAX);
        let (helpers, spare) = (Vec::new(), Vec::new());
        Crew { helpers_max, helpers, alone: None, done: None, sent: 0, received: 0, spare }
    }

    /// Whether a batch can be sent without waiting.
    pub fn has_room(&self) -> bool {
        self.sent - self.received < (self.helpers_max * BATCHES_PER_HELPER).max(1)
    }

    /// A batch to fill, with the buffers of an earlier one.
    pub fn empty_batch(&mut self) -> Batch {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes back a batch that is done with.
    pub fn keep(&mut self, batch: Batch) {
        self.spare.push(batch);
    }

    /// Sends a batch, for which there [is room](Crew::has_room).
    pub fn send(&mut self, mut batch: Batch) {
        if self.helpers.is_empty() && self.sent == 0 {
            self.helpers = (0..self.helpers_max).map_while(|_| helper()).collect();
            self.helpers_max = self.helpers.len();
        }
        if self.helpers.is_empty() {
            batch.inflate(self.alone.get_or_insert_with(Decompressor::new));
            self.done = Some(batch);
        } else {
            let helper = &self.helpers[self.sent % self.helpers.len()];
            helper.sender.send(batch).expect("a helper ends when its crew does");
        }
        self.sent += 1;
    }

    /// The next batch, inflated; `None` where all are back.
    pub fn receive(&mut self) -> Option<Batch> {
        if self.received == self.sent {
            return None;
        }
        let batch = if self.helpers.is_empty() {
            self.done.take()
        } else {
            self.helpers[self.received % self.helpers.len()].receiver.recv().ok()
        };
        self.received += 1;
        Some(batch.expect("what was sent comes back"))
    }
}

/// `None` where the system gives no thread: then there are fewer.
fn helper() -> Option<Helper> {
    let (sender, jobs) = sync_channel::<Batch>(BATCHES_PER_HELPER);
    let (results, receiver) = sync_channel(BATCHES_PER_HELPER);
    let work = move || {
        let mut decompressor = Decompressor::new();
        for mut batch in jobs {
            batch.inflate(&mut decompressor);
            if results.send(batch).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("inflate".into()).spawn(work).ok()?;
    Some(Helper { sender, receiver })
}
