use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use std::{io, thread};

use crate::error::Error;

use super::*;

const THREADS: [usize; 3] = [1, 2, 7];

/// What goes wrong at which number.
#[derive(Clone, Copy, Default)]
struct Faults {
    next: Option<u64>,
    work: Option<u64>,
    put: Option<u64>,
}

/// The results for the numbers below `end`, and how the run ended. Fails instead of hanging.
fn run_numbers(threads: usize, end: u64, faults: Faults) -> (Vec<u64>, Result<()>) {
    let (sender, receiver) = mpsc::channel();
    let job = thread::spawn(move || {
        let (under_way, mut received, mut numbers) = (AtomicUsize::new(0), Vec::new(), 0..end);
        let next = || {
            let Some(number) = numbers.next() else { return Ok(None) };
            if faults.next == Some(number) {
                return Err(Error::usage("unreadable"));
            }
            let count = under_way.fetch_add(1, Ordering::SeqCst) + 1;
            assert!(count <= 3 * threads, "{count} under way");
            Ok(Some(number))
        };
        let work = |worked: &mut u64, number| {
            assert!(faults.work != Some(number), "as asked for");
            // A delay, so that other items finish first.
            thread::sleep(Duration::from_micros(number * 7919 % 97));
            *worked += 1;
            number
        };
        let ended = run_in_order(
            threads,
            || 0,
            next,
            work,
            |number| {
                if faults.put == Some(number) {
                    let gone = io::ErrorKind::BrokenPipe.into();
                    return Err(Error::io("cannot write", Path::new("numbers"), gone));
                }
                received.push(number);
                under_way.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            },
        );
        drop(sender);
        (received, ended)
    });
    let timeout = receiver.recv_timeout(Duration::from_secs(60));
    assert_eq!(timeout, Err::<(), _>(mpsc::RecvTimeoutError::Disconnected), "the pipeline ends");
    job.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[test]
fn results_come_in_order_and_few_are_in_memory() {
    for threads in THREADS {
        for end in [0, 1, 2, 300] {
            let (received, ended) = run_numbers(threads, end, Faults::default());
            ended.unwrap();
            assert!(received.iter().copied().eq(0..end), "{threads}: {received:?}");
        }
    }
}

/// Also the last one.
#[test]
fn an_error_of_putting_ends_reading() {
    for threads in THREADS {
        for (end, at) in (0..20).map(|at| (20, at)).chain([(u64::MAX, 20)]) {
            let faults = Faults { put: Some(at), ..Faults::default() };
            let (received, ended) = run_numbers(threads, end, faults);
            assert!(ended.unwrap_err().is_broken_pipe(), "{threads}: the error at {at} was lost");
            assert!(received.iter().copied().eq(0..at), "{threads}: {received:?}");
        }
    }
}

#[test]
fn what_was_read_before_an_error_is_put() {
    for threads in THREADS {
        for at in 0..20 {
            let faults = Faults { next: Some(at), ..Faults::default() };
            let (received, ended) = run_numbers(threads, u64::MAX, faults);
            assert_eq!(ended.unwrap_err().to_string(), "unreadable", "{threads}");
            assert!(received.iter().copied().eq(0..at), "{threads}: {received:?}");
        }
    }
}

#[test]
fn a_panic_does_not_hang() {
    for threads in THREADS {
        let faults = Faults { work: Some(20), ..Faults::default() };
        let job = move || run_numbers(threads, u64::MAX, faults);
        let panic = std::panic::catch_unwind(job).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"as asked for"), "{threads}");
    }
}
