//! Sources that are read in chunks, and the chunks worked on, by the threads of one pool.
//!
//! Each source is a task, and so is each chunk that its reader gives away. A reader gives chunks only to
//! threads that read nothing. If enough chunks wait for them, or if all threads read, it works on
//! the oldest waiting chunk itself, so that none waits long. All chunks are tasks of one scope:
//! a reader that waited for its own chunks would meanwhile begin with another source.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{collections::VecDeque, thread};

use rayon::{ScopeFifo, prelude::*};

use crate::error::{Error, Result};
use crate::merge::Merge;
use crate::mutex::{lock, unpoisoned};

use super::pool::{Workers, pool};

/// The most chunks that wait for each thread that reads nothing: enough that none waits for a reader, few
/// enough that memory stays small.
const WAITING_PER_THREAD: usize = 2;

/// The work of one thread.
pub(crate) trait ChunkWorker: Send {
    /// A part of a source.
    type Chunk: Send;
    /// What a worker has found in all its chunks.
    type Counts: Merge + Send;

    /// Works on a chunk.
    ///
    /// # Errors
    /// If reading must stop.
    fn work(&mut self, chunk: Self::Chunk) -> Result<()>;

    /// Called after the last chunk.
    fn finish(self) -> Self::Counts;
}

/// Takes the next chunk of a source; returns whether to read on.
pub(crate) type Push<'a, C> = &'a dyn Fn(C) -> bool;

/// Reads `sources`, and works on the chunks that `read` pushes. Returns the counts of all workers, merged in any
/// order, or `None` if there were no chunks; and the results of reading, in the order of the sources.
///
/// # Errors
/// The first error of a reader or a worker, after which all stop. Or if threads cannot be started.
pub(crate) fn run<S: Sync, W: ChunkWorker, E: Send>(
    threads: usize,
    sources: &[S],
    worker: impl Fn() -> W + Sync + Send,
    read: impl Fn(&S, Push<'_, W::Chunk>) -> Result<E> + Sync,
) -> Result<(Option<W::Counts>, Vec<E>)> {
    let pool = pool(threads)?;
    let work = Work {
        threads: pool.current_num_threads(),
        workers: Workers::new(&pool, worker),
        waiting: Mutex::default(),
        reading: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
        first_error: Mutex::default(),
    };
    let ends: Vec<Option<E>> = pool.scope_fifo(|scope| {
        let sources = sources.par_iter().with_max_len(1);
        sources.map(|source| work.read(|push| read(source, push), scope)).collect()
    });
    if let Some(err) = unpoisoned(work.first_error.into_inner()) {
        return Err(err);
    }
    let counts = pool.install(|| {
        work.workers.into_all().map(W::finish).reduce_with(|mut sum, counts| {
            sum.absorb(counts);
            sum
        })
    });
    let ends = ends.into_iter().map(|end| end.expect("only an error ends reading early"));
    Ok((counts, ends.collect()))
}

/// What the tasks share.
struct Work<N, W: ChunkWorker> {
    threads: usize,
    workers: Workers<N, W>,
    /// Chunks that no thread works on yet, the oldest first. For each there is a task, which takes
    /// the oldest.
    waiting: Mutex<VecDeque<W::Chunk>>,
    /// The sources that are read now, each by one thread.
    reading: AtomicUsize,
    is_stopped: AtomicBool,
    first_error: Mutex<Option<Error>>,
}

impl<N: Fn() -> W + Sync + Send, W: ChunkWorker> Work<N, W> {
    /// Reads a source; `None` if all stop.
    fn read<'s, E>(
        &'s self,
        read: impl FnOnce(Push<'_, W::Chunk>) -> Result<E>,
        scope: &ScopeFifo<'s>,
    ) -> Option<E> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return None;
        }
        let _stop = StopOnPanic(&self.is_stopped);
        self.reading.fetch_add(1, Ordering::Relaxed);
        let end = read(&|chunk| self.push(chunk, scope));
        self.reading.fetch_sub(1, Ordering::Relaxed);
        end.map_err(|err| self.fail(err)).ok()
    }

    fn push<'s>(&'s self, chunk: W::Chunk, scope: &ScopeFifo<'s>) -> bool {
        let reading = self.reading.load(Ordering::Relaxed);
        let waiting_max = self.threads.saturating_sub(reading) * WAITING_PER_THREAD;
        let waiting = {
            let mut waiting = lock(&self.waiting);
            waiting.push_back(chunk);
            waiting.len()
        };
        if waiting > waiting_max {
            self.work_on_oldest();
        } else {
            scope.spawn_fifo(|_| self.work_on_oldest());
        }
        !self.is_stopped.load(Ordering::Relaxed)
    }

    fn work_on_oldest(&self) {
        let chunk = lock(&self.waiting).pop_front().expect("a chunk waits for each task");
        if self.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let _stop = StopOnPanic(&self.is_stopped);
        if let Err(err) = self.workers.work(|worker| worker.work(chunk)) {
            self.fail(err);
        }
    }

    fn fail(&self, err: Error) {
        lock(&self.first_error).get_or_insert(err);
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

/// Stops reading if a task panics. Rayon passes the panic on as soon as all tasks have ended.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
