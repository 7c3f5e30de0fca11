use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::mpsc;
use std::time::Duration;

use super::*;

const THREADS: [usize; 3] = [1, 2, 7];

type TestWork<'a> = &'a (dyn Fn(usize) -> Result<()> + Sync);

struct TestWorker<'a> {
    work: TestWork<'a>,
    /// How often each number was worked on.
    done: BTreeMap<usize, u64>,
}

impl ChunkWorker for TestWorker<'_> {
    type Chunk = usize;
    type Counts = BTreeMap<usize, u64>;

    fn work(&mut self, number: usize) -> Result<()> {
        (self.work)(number)?;
        *self.done.entry(number).or_default() += 1;
        Ok(())
    }

    fn finish(self) -> BTreeMap<usize, u64> {
        self.done
    }
}

/// The chunks of each source are its numbers; its result is how many were pushed.
fn run_with(
    threads: usize,
    sources: &[Range<usize>],
    work: TestWork<'_>,
) -> Result<(BTreeMap<usize, u64>, Vec<usize>)> {
    let worker = || TestWorker { work, done: BTreeMap::new() };
    let (done, ends) = run(threads, sources, worker, |source, push| {
        let pushed = source.clone().take_while(|number| push(*number)).count();
        Ok(pushed)
    })?;
    Ok((done.unwrap_or_default(), ends))
}

/// Fails instead of hanging.
fn in_time<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(job()));
    receiver.recv_timeout(Duration::from_secs(60)).expect("the pipeline ends")
}

#[test]
fn every_chunk_is_worked_on_once() {
    for threads in THREADS {
        for sources in [&[][..], &[0..100, 100..100], &[0..40, 40..40, 40..41, 41..90, 90..100]] {
            let sources = sources.to_vec();
            let lengths: Vec<usize> = sources.iter().map(ExactSizeIterator::len).collect();
            let (done, ends) = in_time(move || run_with(threads, &sources, &|_| Ok(())).unwrap());
            assert_eq!(ends, lengths);
            let all = 0..lengths.iter().sum();
            assert!(done.into_iter().eq(all.map(|number| (number, 1))), "{threads}");
        }
    }
}

/// Many small sources are read by few threads: none is begun inside of another.
#[test]
fn sources_are_read_one_after_the_other_by_each_thread() {
    for threads in THREADS {
        let (done, most) = in_time(move || {
            let sources: Vec<Range<usize>> = (0..2000).map(|at| 3 * at..3 * at + 3).collect();
            let (reading, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let worker = || TestWorker { work: &|_| Ok(()), done: BTreeMap::new() };
            let (done, _) = run(threads, &sources, worker, |source, push| {
                let now = reading.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                for number in source.clone() {
                    push(number);
                }
                reading.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            })
            .unwrap();
            (done.unwrap(), most.into_inner())
        });
        assert_eq!(done.len(), 6000);
        assert!(most <= threads, "{most} of {threads}");
    }
}

/// The other thread is blocked in its first chunk until the last one is pushed; the reader works on
/// all but those that may wait, in their order.
#[test]
fn a_reader_helps_while_the_other_thread_is_blocked() {
    let by_reader = in_time(|| {
        let (is_over, has_begun) = (AtomicBool::new(false), AtomicBool::new(false));
        let (reader, by_reader) = (Mutex::new(None), Mutex::new(Vec::new()));
        let work = |number| {
            has_begun.store(true, Ordering::SeqCst);
            if *lock(&reader) == Some(thread::current().id()) {
                lock(&by_reader).push(number);
            } else {
                while !is_over.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
            }
            Ok(())
        };
        let worker = || TestWorker { work: &work, done: BTreeMap::new() };
        let (done, helped) = run(2, &[()], worker, |(), push| {
            *lock(&reader) = Some(thread::current().id());
            for number in 0..100 {
                push(number);
                while !has_begun.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
            }
            let helped = lock(&by_reader).clone();
            is_over.store(true, Ordering::SeqCst);
            Ok(helped)
        })
        .unwrap();
        assert_eq!(done.unwrap().len(), 100);
        helped.concat()
    });
    // One is worked on by the other thread, and some wait.
    assert!(by_reader.iter().copied().eq(1..100 - WAITING_PER_THREAD), "{by_reader:?}");
}

/// However slow the workers are.
#[test]
fn few_chunks_are_in_memory() {
    for threads in THREADS {
        for sources in [1, 2, 20] {
            let most = in_time(move || {
                let (pushed, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let work = |number: usize| {
                    thread::sleep(Duration::from_micros(number as u64 * 7919 % 97));
                    pushed.fetch_sub(1, Ordering::SeqCst);
                    Ok(())
                };
                let worker = || TestWorker { work: &work, done: BTreeMap::new() };
                let sources = vec![0..100; sources];
                run(threads, &sources, worker, |source, push| {
                    for number in source.clone() {
                        most.fetch_max(pushed.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        push(number);
                    }
                    Ok(())
                })
                .unwrap();
                most.into_inner()
            });
            let most_allowed = (WAITING_PER_THREAD + 1) * threads;
            assert!(most <= most_allowed, "{threads} threads, {sources} sources: {most}");
        }
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
            run_with(threads, &[0..usize::MAX, 0..usize::MAX], &fails).unwrap_err()
        });
        assert_eq!(err.to_string(), "fifty", "{threads}");
        let err = in_time(move || {
            let worker = || TestWorker { work: &|_| Ok(()), done: BTreeMap::new() };
            let read = |fails: &bool, push: Push<'_, usize>| {
                while !fails && push(0) && threads > 1 {}
                if *fails { Err(Error::usage("unreadable")) } else { Ok(()) }
            };
            run(threads, &[false, true], worker, read).unwrap_err()
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
                    run_with(threads, &sources, &|number| {
                        assert!(number != 20, "twenty");
                        Ok(())
                    })
                })
                .join()
            });
            let panic = result.unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"twenty"), "{threads}");
        }
    }
}
