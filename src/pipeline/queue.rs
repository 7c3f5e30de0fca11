//! Threads that share queued work; no thread waits while there is an item to process.
//!
//! Some threads read sources and queue items. A reader that finds the queue full processes its own
//! newest item, which is still in the cache of its processor, so that even a single source is read
//! as fast as its items are processed. If every thread reads, each processes its own items, and
//! queues one only while another thread waits. After all sources are read, a reader becomes a worker.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, thread};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};
use crate::mutex::{lock, unpoisoned};

use super::buffers::Buffers;

/// The limits of the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    /// The number of threads.
    pub threads: usize,
    /// The most waiting items; 0 if an item is only queued for a thread that waits for it.
    pub waiting_max: usize,
    /// The most buffers. If readers or workers may lose one, there must be no limit.
    pub buffers_max: usize,
}

/// The work of one thread.
pub(crate) trait QueueWorker {
    /// The type of items.
    type Item: Send;
    /// The type of buffers for items.
    type Buffer: Default + Send;
    /// The result of a worker.
    type Output: Send;

    /// Processes an item, and returns its buffer, unless somebody else returns it later.
    ///
    /// # Errors
    /// If reading must stop.
    fn work(&mut self, item: Self::Item) -> Result<Option<Self::Buffer>>;

    /// Called after the last item.
    fn finish(self) -> Self::Output;
}

/// A queue of items.
pub(crate) struct WorkQueue<W: QueueWorker> {
    pool: ThreadPool,
    items: Receiver<W::Item>,
    /// One for each reader; the queue ends when all are dropped.
    senders: Mutex<Vec<Sender<W::Item>>>,
    waiting_max: usize,
    /// Threads that wait for an item.
    idle: AtomicUsize,
    pub(super) buffers: Buffers<W::Buffer>,
    first_error: Mutex<Option<Error>>,
}

/// What workers and readers returned; see [`WorkQueue::results`].
pub(super) struct Worked<O, E> {
    outputs: Vec<O>,
    /// `None` for a source that was not read, or not without an error.
    ends: Vec<Option<E>>,
}

/// The queue as a reader sees it.
pub(crate) struct InputQueue<'a, W: QueueWorker> {
    queue: &'a WorkQueue<W>,
    sender: Sender<W::Item>,
    worker: &'a mut W,
}

/// The error if the system does not start `what`.
pub(super) fn not_started(what: &str, cause: &impl fmt::Display) -> Error {
    Error::system(format!(
        "cannot start {what}: {cause}; use fewer (--threads 1), or raise the limits of processes \
         and memory (ulimit -u, ulimit -v)"
    ))
}

impl<W: QueueWorker> WorkQueue<W> {
    /// An empty queue for `sources` sources.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub(crate) fn new(limits: QueueLimits, sources: usize) -> Result<WorkQueue<W>> {
        let QueueLimits { threads, waiting_max, buffers_max } = limits;
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|err| not_started(&format!("{threads} threads"), &err))?;
        let (sender, items) = bounded(waiting_max.max(1));
        let readers = sources.min(pool.current_num_threads());
        Ok(WorkQueue {
            pool,
            items,
            senders: Mutex::new(vec![sender; readers]),
            waiting_max,
            idle: AtomicUsize::new(0),
            buffers: Buffers::new(buffers_max),
            first_error: Mutex::default(),
        })
    }

    /// Reads `sources`, each on one thread. Returns the results of all workers and of all sources;
    /// the latter in their order.
    ///
    /// # Errors
    /// The first error of a reader or a worker. Reading then stops, and waiting items are
    /// processed.
    pub(crate) fn run<S: Sync, E: Send>(
        self,
        sources: &[S],
        worker: impl Fn() -> W + Sync,
        read: impl Fn(&S, &mut InputQueue<'_, W>) -> Result<E> + Sync,
    ) -> Result<(Vec<W::Output>, Vec<E>)> {
        let worked = self.work_off(sources, worker, read);
        self.results(worked)
    }

    /// As [`WorkQueue::run`], but what failed is known to the queue alone. Others who handle the
    /// items may still fail when this returns: [`WorkQueue::results`] comes after all of them.
    pub(super) fn work_off<S: Sync, E: Send>(
        &self,
        sources: &[S],
        worker: impl Fn() -> W + Sync,
        read: impl Fn(&S, &mut InputQueue<'_, W>) -> Result<E> + Sync,
    ) -> Worked<W::Output, E> {
        let next = AtomicUsize::new(0);
        let ends = Mutex::new(sources.iter().map(|_| None).collect::<Vec<_>>());
        let outputs = self.pool.broadcast(|_| {
            let _stop = StopOnPanic(self);
            // Before any code that can panic: no thread finishes while a sender exists.
            let sender = lock(&self.senders).pop();
            let mut worker = worker();
            if let Some(sender) = sender {
                let mut input = InputQueue { queue: self, sender, worker: &mut worker };
                while !input.is_stopped() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(source) = sources.get(index) else { break };
                    let end = read(source, &mut input).map_err(|err| self.fail(err)).ok();
                    lock(&ends)[index] = end;
                }
            }
            while let Some(item) = self.wait() {
                self.work(&mut worker, item);
            }
            worker.finish()
        });
        Worked { outputs, ends: unpoisoned(ends.into_inner()) }
    }

    /// The results of a queue that nobody uses any more, so that no error can come after them.
    ///
    /// # Errors
    /// The first error of a reader, a worker, or whoever else called [`WorkQueue::fail`].
    pub(super) fn results<E>(
        self,
        worked: Worked<W::Output, E>,
    ) -> Result<(Vec<W::Output>, Vec<E>)> {
        if let Some(err) = unpoisoned(self.first_error.into_inner()) {
            return Err(err);
        }
        let ends = worked.ends.into_iter();
        let ends = ends.map(|end| end.expect("only an error ends reading early"));
        Ok((worked.outputs, ends.collect()))
    }

    /// Stops reading.
    pub(super) fn fail(&self, err: Error) {
        lock(&self.first_error).get_or_insert(err);
        self.buffers.close();
    }

    /// The next item; `None` if all sources are read.
    fn wait(&self) -> Option<W::Item> {
        if let Ok(item) = self.items.try_recv() {
            return Some(item);
        }
        self.idle.fetch_add(1, Ordering::Relaxed);
        let item = self.items.recv().ok();
        self.idle.fetch_sub(1, Ordering::Relaxed);
        item
    }

    fn work(&self, worker: &mut W, item: W::Item) {
        match worker.work(item) {
            Ok(buffer) => buffer.into_iter().for_each(|buffer| self.buffers.give_back(buffer)),
            Err(err) => self.fail(err),
        }
    }
}

impl<W: QueueWorker> InputQueue<'_, W> {
    /// A buffer for the next item; `None` if reading must stop. Until one is free, processes
    /// waiting items.
    pub(crate) fn buffer(&mut self) -> Option<W::Buffer> {
        loop {
            if let Some(buffer) = self.queue.buffers.try_take() {
                return Some(buffer);
            }
            if self.is_stopped() || !self.work_on_next() {
                // Other threads have all buffers, and return them.
                return self.queue.buffers.take();
            }
        }
    }

    /// Queues `item`, or processes it, if the queue is full or nobody waits for it.
    pub(crate) fn push(&mut self, item: W::Item) {
        let is_wanted = match self.queue.pool.current_num_threads() {
            // There is no other thread: the data of a slow pipe must not wait for more.
            1 => false,
            _ => self.queue.waiting_max > 0 || self.queue.idle.load(Ordering::Relaxed) > 0,
        };
        if !is_wanted {
            return self.queue.work(self.worker, item);
        }
        if let Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) =
            self.sender.try_send(item)
        {
            self.queue.work(self.worker, back);
        }
    }

    /// Whether reading must stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.queue.buffers.is_closed()
    }

    /// Processes the next item; returns whether there was one.
    fn work_on_next(&mut self) -> bool {
        self.queue.items.try_recv().map(|item| self.queue.work(self.worker, item)).is_ok()
    }
}

/// Stops reading if a thread panics, so that no thread waits for its buffers.
pub(super) struct StopOnPanic<'a, W: QueueWorker>(pub &'a WorkQueue<W>);

impl<W: QueueWorker> Drop for StopOnPanic<'_, W> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.buffers.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const THREADS: [usize; 3] = [1, 2, 7];

    type Work<'a> = &'a (dyn Fn(usize) -> Result<()> + Sync);

    struct TestWorker<'a> {
        work: Work<'a>,
        done: Vec<usize>,
    }

    impl QueueWorker for TestWorker<'_> {
        type Item = (usize, Vec<u8>);
        type Buffer = Vec<u8>;
        type Output = Vec<usize>;

        fn work(&mut self, (number, buffer): (usize, Vec<u8>)) -> Result<Option<Vec<u8>>> {
            (self.work)(number)?;
            self.done.push(number);
            Ok(Some(buffer))
        }

        fn finish(self) -> Vec<usize> {
            self.done
        }
    }

    fn limits(threads: usize) -> QueueLimits {
        QueueLimits { threads, waiting_max: 2, buffers_max: 3 }
    }

    /// Each source is the numbers of its items; its result is how many were queued.
    fn run_with(
        limits: QueueLimits,
        sources: &[std::ops::Range<usize>],
        work: Work<'_>,
    ) -> Result<(Vec<Vec<usize>>, Vec<usize>)> {
        let worker = || TestWorker { work, done: Vec::new() };
        WorkQueue::new(limits, sources.len())?.run(sources, worker, |source, queue| {
            let mut count = 0;
            for number in source.clone() {
                let Some(buffer) = queue.buffer() else { break };
                queue.push((number, buffer));
                count += 1;
            }
            Ok(count)
        })
    }

    /// Fails instead of hanging.
    fn in_time<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(job()));
        receiver.recv_timeout(Duration::from_secs(60)).expect("the pipeline ends")
    }

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in THREADS {
            for sources in [&[][..], &[0..100, 100..100], &[0..40, 40..40, 40..41, 41..90, 90..100]]
            {
                let sources = sources.to_vec();
                let (done, ends) = in_time(move || {
                    let result = run_with(limits(threads), &sources, &|_| Ok(()));
                    let lengths: Vec<usize> = sources.iter().map(ExactSizeIterator::len).collect();
                    let (done, ends) = result.unwrap();
                    assert_eq!(done.len(), threads);
                    assert_eq!(ends, lengths);
                    (done, ends)
                });
                let mut done = done.concat();
                done.sort_unstable();
                assert!(done.iter().copied().eq(0..ends.iter().sum()), "{threads}: {done:?}");
            }
        }
    }

    /// With more buffers than the queue holds, a reader helps because of the full queue; with
    /// fewer, because no buffer is left. It goes on with the item that it has just read, or with
    /// the one that has waited longest.
    #[test]
    fn a_reader_helps_while_the_other_thread_is_blocked() {
        for (buffers_max, first) in [(2, 1), (3, 1), (usize::MAX, 3)] {
            let limits = QueueLimits { threads: 2, waiting_max: 2, buffers_max };
            let done = in_time(move || {
                let (is_over, has_begun) = (AtomicU32::new(0), AtomicU32::new(0));
                let reader = Mutex::new(None);
                let work = |number| {
                    let is_reader = *reader.lock().unwrap() == Some(thread::current().id());
                    has_begun.store(1, Ordering::SeqCst);
                    // The other thread is blocked in its first item until the last one is done.
                    while !is_reader && number != 99 && is_over.load(Ordering::SeqCst) == 0 {
                        thread::yield_now();
                    }
                    is_over.fetch_max(u32::from(number == 99), Ordering::SeqCst);
                    Ok(())
                };
                let worker = || TestWorker { work: &work, done: Vec::new() };
                let read = |count: &usize, queue: &mut InputQueue<'_, _>| {
                    *reader.lock().unwrap() = Some(thread::current().id());
                    for number in 0..*count {
                        let buffer = queue.buffer().expect("nothing fails");
                        queue.push((number, buffer));
                        while has_begun.load(Ordering::SeqCst) == 0 {
                            thread::yield_now();
                        }
                    }
                    is_over.store(1, Ordering::SeqCst);
                    Ok(())
                };
                WorkQueue::new(limits, 1).unwrap().run(&[100], worker, read).unwrap().0
            });
            assert_eq!(done.iter().map(Vec::len).sum::<usize>(), 100);
            let reader = done.iter().max_by_key(|done| done.len()).unwrap();
            assert!(reader.len() >= 97, "{buffers_max}: {done:?}");
            assert_eq!(reader[0], first, "{buffers_max}: {done:?}");
        }
    }

    /// Where each thread reads a source, none waits for another; one that has no source left helps.
    #[test]
    fn threads_that_read_process_their_own_items() {
        let limits = QueueLimits { threads: 2, waiting_max: 0, buffers_max: usize::MAX };
        let done = in_time(move || {
            let work = |number| {
                // The second source ends at once; its thread is waited for, so that it can help.
                thread::sleep(Duration::from_millis(u64::from(number < 50)));
                Ok(())
            };
            run_with(limits, &[0..100, 1000..1001], &work).unwrap().0
        });
        let helped = done.iter().find(|done| done.contains(&1000)).unwrap();
        // More than its own item; how many depends on what else the machine does.
        assert!(helped.len() > 1, "{done:?}");
        let alone = in_time(move || {
            let barrier = std::sync::Barrier::new(2);
            let work = |number| {
                if number % 1000 == 0 {
                    barrier.wait();
                }
                thread::sleep(Duration::from_micros(100));
                Ok(())
            };
            run_with(limits, &[0..50, 1000..1050], &work).unwrap().0
        });
        for done in alone {
            let own: Vec<_> = done.iter().take(40).map(|number| number / 1000).collect();
            assert!(own.iter().all(|source| *source == own[0]), "{own:?}");
        }
    }

    #[test]
    fn an_error_ends_reading_and_is_returned() {
        for threads in THREADS {
            let err = in_time(move || {
                let fails = |number| match number {
                    50 => Err(Error::usage("fifty")),
                    _ => Ok(()),
                };
                run_with(limits(threads), &[0..usize::MAX, 0..usize::MAX], &fails).unwrap_err()
            });
            assert_eq!(err.to_string(), "fifty", "{threads}");
            let err = in_time(move || {
                let worker = || TestWorker { work: &|_| Ok(()), done: Vec::new() };
                let ends = AtomicUsize::new(0);
                let read = |fails: &bool, queue: &mut InputQueue<'_, TestWorker<'_>>| {
                    while let Some(buffer) = (!fails).then(|| queue.buffer()).flatten() {
                        queue.push((0, buffer));
                        if threads == 1 {
                            break;
                        }
                    }
                    ends.fetch_add(1, Ordering::SeqCst);
                    if *fails { Err(Error::usage("unreadable")) } else { Ok(()) }
                };
                let sources = [false, true, false, false];
                let queue = WorkQueue::new(limits(threads), sources.len()).unwrap();
                let err = queue.run(&sources, worker, read).unwrap_err();
                let ends = ends.into_inner();
                assert!(ends <= threads.max(2), "{threads}: {ends} sources were begun");
                err
            });
            assert_eq!(err.to_string(), "unreadable", "{threads}");
        }
    }

    #[test]
    fn a_panic_does_not_hang() {
        for threads in THREADS {
            for sources in [1, 3] {
                let result = in_time(move || {
                    thread::spawn(move || {
                        let sources = vec![0..usize::MAX; sources];
                        run_with(limits(threads), &sources, &|number| {
                            assert!(number != 20, "twenty");
                            Ok(())
                        })
                    })
                    .join()
                });
                let panic = result.unwrap_err();
                assert!(panic.downcast_ref::<String>().is_none_or(|why| why.contains("twenty")));
            }
        }
    }
}
