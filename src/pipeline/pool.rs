//! A pool of threads for one job, and the worker of each of its threads.

use std::{fmt, sync::Mutex};

use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};

use crate::error::{Error, Result};
use crate::mutex::{lock, unpoisoned};

/// Starts the threads. They end with the pool.
///
/// # Errors
/// If the system does not start so many.
pub(super) fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|err| not_started(&format!("{threads} threads"), &err))
}

fn not_started(what: &str, cause: &impl fmt::Display) -> Error {
    Error::system(format!(
        "cannot start {what}: {cause}; use fewer (--threads 1), or raise the limits of processes \
         and memory (ulimit -u, ulimit -v)"
    ))
}

/// The workers of a pool: at most one for each thread, made for its first work.
pub(super) struct Workers<N, W> {
    new: N,
    by_thread: Vec<Mutex<Option<W>>>,
}

impl<N: Fn() -> W + Sync, W: Send> Workers<N, W> {
    /// No workers yet, which `new` will make.
    pub(super) fn new(pool: &ThreadPool, new: N) -> Workers<N, W> {
        let by_thread = (0..pool.current_num_threads()).map(|_| Mutex::default()).collect();
        Workers { new, by_thread }
    }

    /// Does some work with the worker of this thread. The work must not wait for other tasks of the
    /// pool, because this thread would meanwhile begin with another work.
    pub(super) fn work<R>(&self, work: impl FnOnce(&mut W) -> R) -> R {
        let thread = rayon::current_thread_index().expect("tasks run on threads of the pool");
        work(lock(&self.by_thread[thread]).get_or_insert_with(&self.new))
    }

    /// All workers.
    pub(super) fn into_all(self) -> impl ParallelIterator<Item = W> {
        let workers = self.by_thread.into_par_iter();
        workers.filter_map(|worker| unpoisoned(worker.into_inner()))
    }
}
