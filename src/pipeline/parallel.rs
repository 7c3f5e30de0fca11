//! Work on several threads at once: two jobs, or the same work on each of many items.

use std::thread::{self, Builder, scope};
use std::{panic::resume_unwind, sync::Mutex};

use crate::mutex::lock;

/// Runs `other` on a thread of its own and `own` on this one. If the system starts no thread, this
/// one runs both.
pub(crate) fn both<A: Send, B>(
    other: impl FnOnce() -> A + Send,
    own: impl FnOnce() -> B,
) -> (A, B) {
    let waiting = Mutex::new(Some(other));
    let take = || lock(&waiting).take();
    scope(|scope| {
        let started = Builder::new().spawn_scoped(scope, || take().map(|other| other()));
        let own = own();
        let done =
            started.ok().and_then(|thread| thread.join().unwrap_or_else(|why| resume_unwind(why)));
        let other = done.or_else(|| take().map(|other| other()));
        (other.expect("one of the threads has run it"), own)
    })
}

/// The results of `work` on `items`, in their order. Where no thread can be started, this one does
/// its part.
pub(crate) fn mapped<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let part = items.len().div_ceil(threads).max(1);
    let all = |items: &[T]| items.iter().map(&work).collect::<Vec<R>>();
    thread::scope(|scope| {
        let (first, rest) = items.split_at(part.min(items.len()));
        let others = rest.chunks(part).map(|items| {
            let started = thread::Builder::new().spawn_scoped(scope, || all(items));
            (items, started)
        });
        let others: Vec<_> = others.collect();
        let mut results = all(first);
        for (items, started) in others {
            let done = started.ok().map(thread::ScopedJoinHandle::join);
            results.extend(match done {
                Some(Ok(done)) => done,
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                None => all(items),
            });
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_jobs_are_done() {
        let text = "a text of this thread".to_owned();
        let mut count = 0;
        let (length, ()) = both(|| text.len(), || count += 1);
        assert_eq!((length, count), (21, 1));
    }

    #[test]
    fn results_have_the_order_of_the_items() {
        for items in [0, 1, 2, 3, 7, 1000] {
            let items: Vec<usize> = (0..items).collect();
            let doubled: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(mapped(&items, |item| item * 2), doubled);
        }
    }
}
