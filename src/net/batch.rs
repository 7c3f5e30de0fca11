//! Many origins at once: threads that fetch, one caller that stores.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

use crate::error::Result;
use crate::mutex::lock;
use crate::url::origin::Origin;

use super::fetch::{Fetched, fetch};
use super::{rate_limit::RateLimit, settings::Settings};

/// Counters that a progress bar may look at while [`fetch_all`] runs.
#[derive(Debug, Default)]
pub struct FetchProgress {
    /// Origins that were handed to the sink.
    pub done: AtomicU64,
}

/// Fetches the robots.txt of each of `origins` by `jobs` threads, and hands each to `sink` on
/// the thread of the caller, in the order in which they come in.
///
/// Memory holds at most three bodies a thread: who fetches waits for who stores.
///
/// # Errors
/// The first one of `sink`; then no further origin is asked.
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
