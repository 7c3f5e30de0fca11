//! Passes the results of queued items to the caller's thread in the order of the items.

use std::{collections::BTreeMap, panic::resume_unwind, thread};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::error::Result;

use super::queue::{InputQueue, QueueLimits, QueueWorker, StopOnPanic, WorkQueue, not_started};

/// The sender for results of workers.
pub(crate) struct ResultSender<R>(Sender<(u64, R)>);

impl<R> ResultSender<R> {
    /// Sends the result of the item with the number `sequence`: 0 for the first, then 1, and so on.
    pub(crate) fn send(&self, sequence: u64, result: R) {
        self.0.send((sequence, result)).expect("results are taken until no worker is left");
    }
}

/// As [`WorkQueue::run`]. On the caller's thread, `take` gets the result of an item as soon as
/// those of all earlier items are taken, and returns the buffer. Results wait in memory, at most
/// one per buffer.
///
/// # Errors
/// The first error of a reader, a worker or `take`, which is then not called again. Or if threads
/// cannot be started.
pub(crate) fn run_in_order<S: Sync, W: QueueWorker, E: Send, R: Send>(
    limits: QueueLimits,
    sources: &[S],
    worker: impl Fn(ResultSender<R>) -> W + Sync + Send,
    read: impl Fn(&S, &mut InputQueue<'_, W>) -> Result<E> + Sync + Send,
    take: impl FnMut(R) -> Result<W::Buffer>,
) -> Result<(Vec<W::Output>, Vec<E>)> {
    let queue = WorkQueue::new(limits, sources.len())?;
    let (sender, results) = unbounded();
    let worked: Result<_> = thread::scope(|scope| {
        let queue = &queue;
        let workers = thread::Builder::new().spawn_scoped(scope, move || {
            // Moved here, so that it is dropped with the last worker.
            let sender = sender;
            queue.work_off(sources, || worker(ResultSender(sender.clone())), read)
        });
        let workers = workers.map_err(|err| not_started("a thread", &err))?;
        take_in_order(&results, queue, take);
        Ok(workers.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    // The workers may be done long before the last result is taken, and that can fail, too.
    queue.results(worked?)
}

/// Runs until no worker is left. After an error, results are still received, and dropped.
fn take_in_order<W: QueueWorker, R>(
    results: &Receiver<(u64, R)>,
    queue: &WorkQueue<W>,
    mut take: impl FnMut(R) -> Result<W::Buffer>,
) {
    let _stop = StopOnPanic(queue);
    let (mut waiting, mut next, mut has_failed) = (BTreeMap::new(), 0, false);
    for (sequence, result) in results {
        waiting.insert(sequence, result);
        while let Some(result) = waiting.remove(&next) {
            next += 1;
            if has_failed {
                continue;
            }
            match take(result) {
                Ok(buffer) => queue.buffers.give_back(buffer),
                Err(err) => {
                    has_failed = true;
                    queue.fail(err);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use crate::error::Error;

    use super::*;

    struct Echo<'a> {
        results: ResultSender<(u64, Box<u64>)>,
        under_way: &'a AtomicUsize,
        panics_at: Option<u64>,
    }

    impl QueueWorker for Echo<'_> {
        type Item = (u64, Box<u64>);
        type Buffer = Box<u64>;
        type Output = ();

        fn work(&mut self, (number, buffer): (u64, Box<u64>)) -> Result<Option<Box<u64>>> {
            assert!(Some(number) != self.panics_at, "as asked for");
            // A delay, so that other items finish first.
            thread::sleep(Duration::from_micros(number * 7919 % 97));
            self.results.send(number, (number, buffer));
            Ok(None)
        }

        fn finish(self) {
            self.under_way.fetch_add(1000, Ordering::SeqCst);
        }
    }

    /// The results, and the error.
    fn run_numbers(
        (threads, buffers_max): (usize, usize),
        end: u64,
        panics_at: Option<u64>,
        fails_at: Option<u64>,
    ) -> (Vec<u64>, Result<()>) {
        let (sender, receiver) = mpsc::channel();
        let job = thread::spawn(move || {
            let limits = QueueLimits { threads, waiting_max: threads, buffers_max };
            let (under_way, mut received) = (AtomicUsize::new(0), Vec::new());
            let worker = |results| Echo { results, under_way: &under_way, panics_at };
            let read = |_: &(), queue: &mut InputQueue<'_, Echo<'_>>| {
                for number in 0..end {
                    let Some(buffer) = queue.buffer() else { break };
                    let count = under_way.fetch_add(1, Ordering::SeqCst) + 1;
                    assert!(count <= buffers_max, "{count} of {buffers_max} under way");
                    queue.push((number, buffer));
                }
                Ok(())
            };
            let ended = run_in_order(limits, &[()], worker, read, |(number, buffer)| {
                if fails_at == Some(number) {
                    // Workers finish meanwhile.
                    thread::sleep(Duration::from_millis(5));
                    let gone = io::ErrorKind::BrokenPipe.into();
                    return Err(Error::io("cannot write", Path::new("numbers"), gone));
                }
                received.push(number);
                under_way.fetch_sub(1, Ordering::SeqCst);
                Ok(buffer)
            });
            let ended = ended.map(|(workers, ends)| {
                assert_eq!((workers.len(), ends.len()), (threads, 1));
            });
            sender.send(()).unwrap();
            (received, ended)
        });
        let timeout = receiver.recv_timeout(Duration::from_secs(60));
        assert_ne!(timeout, Err(mpsc::RecvTimeoutError::Timeout), "the pipeline ends");
        job.join().unwrap_or_else(|panic| resume_unwind(panic))
    }

    #[test]
    fn results_come_in_order_and_no_more_buffers_are_used_than_allowed() {
        for threads in [1, 2, 7] {
            for buffers_max in [1, threads + 2] {
                let (received, ended) = run_numbers((threads, buffers_max), 300, None, None);
                ended.unwrap();
                assert!(received.iter().copied().eq(0..300), "{threads}: {received:?}");
            }
        }
    }

    #[test]
    fn an_error_of_the_taker_ends_reading() {
        for threads in [1, 2, 7] {
            let (received, ended) = run_numbers((threads, threads + 2), u64::MAX, None, Some(20));
            assert!(ended.unwrap_err().is_broken_pipe(), "{threads}");
            assert!(received.iter().copied().eq(0..20), "{threads}: {received:?}");
        }
    }

    /// Also the last one, when no worker is left.
    #[test]
    fn no_error_of_the_taker_is_lost() {
        for threads in [1, 2, 8] {
            for fails_at in 0..20 {
                let (received, ended) =
                    run_numbers((threads, threads + 2), 20, None, Some(fails_at));
                let is_error = ended.is_err_and(|err| err.is_broken_pipe());
                assert!(is_error, "{threads}: the error at {fails_at} was lost");
                assert!(received.iter().copied().eq(0..fails_at), "{threads}: {received:?}");
            }
        }
    }

    /// Results after a missing one cannot be taken, and no thread waits for their buffers.
    #[test]
    fn a_panic_does_not_hang() {
        for threads in [1, 2, 7] {
            let job = move || run_numbers((threads, threads + 2), u64::MAX, Some(20), None);
            let panic = std::panic::catch_unwind(job).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"as asked for"), "{threads}");
        }
    }
}
