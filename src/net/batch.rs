//! Fetches from many origins: several threads fetch, one caller stores.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

use crate::error::Result;
use crate::mutex::lock;
use crate::url::origin::Origin;

use super::fetch::{Fetched, fetch};
use super::{rate_limit::RateLimit, settings::Settings};

/// Counters for a progress bar while [`fetch_all`] runs.
#[derive(Debug, Default)]
pub struct FetchProgress {
    /// Origins passed to the sink.
    pub done: AtomicU64,
}

/// Fetches the robots.txt of each of `origins` with `jobs` threads, and passes each to `sink` on
/// the thread of the caller, in the order of arrival.
///
/// Memory holds at most three bodies per thread, because fetching waits for storing.
///
/// # Errors
/// The first error of `sink`; no further origin is fetched then.
pub fn fetch_all(
    origins: impl Iterator<Item = Origin> + Send,
    settings: &Settings,
    rate_limit: &RateLimit,
    jobs: usize,
    progress: &FetchProgress,
    mut sink: impl FnMut(&Origin, Fetched) -> Result<()>,
) -> Result<()> {
    let jobs = jobs.max(1);
    let origins = Mutex::new(origins);
    let is_over = AtomicBool::new(false);
    let (sender, receiver) = mpsc::sync_channel(jobs);
    thread::scope(|scope| {
        for _ in 0..jobs {
            let sender = sender.clone();
            let (origins, is_over) = (&origins, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed)
                    && let Some(origin) = next_of(origins)
                {
                    let fetched = fetch(&origin, settings, rate_limit);
                    // The caller may have given up.
                    if sender.send((origin, fetched)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let stored = receiver.iter().try_for_each(|(origin, fetched)| {
            sink(&origin, fetched)?;
            progress.done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        drop(receiver);
        stored
    })
}

fn next_of<T>(items: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    lock(items).next()
}
