//! Fetches from many origins: several threads fetch, one caller stores.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::url::origin::Origin;

use super::fetch::{Fetched, Step, Walk};
use super::host_queue::{HostQueue, OfHost};
use super::settings::Settings;

/// Counters for a progress bar while [`fetch_all`] runs.
#[derive(Debug, Default)]
pub struct FetchProgress {
    /// Origins passed to the sink.
    pub done: AtomicU64,
}

/// Origins that are fetched alike.
#[derive(Debug)]
pub struct FetchBatch<'s> {
    /// The origins.
    pub origins: Vec<Origin>,
    /// The settings.
    pub settings: &'s Settings,
    /// The end of the time for this batch, if there is one. What is not fetched by then is given
    /// up.
    pub until: Option<Instant>,
}

/// Fetches the robots.txt of each origin with `jobs` threads, those of the first batch first, and
/// passes each to `sink` on the thread of the caller, in the order of arrival. A host gets one
/// request at a time, with a pause of `pause` after each; meanwhile other hosts are asked.
///
/// Memory holds at most three bodies per thread, because fetching waits for storing.
///
/// # Errors
/// The first error of `sink`; no further origin is fetched then. Or if no thread can be started.
pub fn fetch_all(
    batches: &[FetchBatch<'_>],
    pause: Duration,
    jobs: usize,
    progress: &FetchProgress,
    mut sink: impl FnMut(&Origin, Fetched) -> Result<()>,
) -> Result<()> {
    let all = batches.iter().flat_map(|batch| {
        batch.origins.iter().map(move |origin| Item { origin, batch, walk: None })
    });
    let queue = &HostQueue::new(all.collect(), pause);
    let (sender, receiver) = mpsc::sync_channel(jobs.max(1));
    thread::scope(|scope| {
        for started in 0..jobs.max(1) {
            let sender = sender.clone();
            let thread = Builder::new().name("fetch".to_owned());
            match thread.spawn_scoped(scope, move || work(queue, &sender)) {
                Ok(_) => {}
                Err(err) if started == 0 => {
                    return Err(Error::system(format!(
                        "cannot start a thread for fetches: {err}; raise the limit of processes \
                         (ulimit -u)"
                    )));
                }
                // Fewer threads fetch the same.
                Err(_) => break,
            }
        }
        drop(sender);
        let stored = receiver.iter().try_for_each(|(origin, fetched)| {
            sink(origin, fetched)?;
            progress.done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        queue.stop();
        drop(receiver);
        stored
    })
}

/// An origin, and how far its fetch is.
#[derive(Debug)]
struct Item<'a> {
    origin: &'a Origin,
    batch: &'a FetchBatch<'a>,
    walk: Option<Box<Walk>>,
}

impl OfHost for Item<'_> {
    fn host(&self) -> String {
        let host = self.walk.as_ref().map_or_else(|| self.origin.host(), |walk| walk.host());
        host.to_owned()
    }

    fn until(&self) -> Option<Instant> {
        self.batch.until
    }
}

/// Stops all threads if one of them panics. They would wait for its host forever.
struct StopOnPanic<'q, 'a>(&'q HostQueue<Item<'a>>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

fn work<'a>(queue: &HostQueue<Item<'a>>, sender: &SyncSender<(&'a Origin, Fetched)>) {
    let _stop = StopOnPanic(queue);
    while let Some(turn) = queue.next() {
        let (Item { origin, batch, walk }, host) = turn.into_parts();
        let walk = walk.map_or_else(|| Walk::to(origin, batch.settings, batch.until), Ok);
        let step = walk.map_or_else(Step::Done, |walk| walk.ask(batch.settings));
        match step {
            Step::Next(walk) => queue.done(host, Some(Item { origin, batch, walk: Some(walk) })),
            Step::Done(fetched) => {
                queue.done(host, None);
                // The caller may have given up.
                if sender.send((origin, *fetched)).is_err() {
                    return;
                }
            }
        }
    }
}
