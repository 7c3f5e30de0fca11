//! The same work on each of many items, by all cores.

use std::thread;

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
    fn results_have_the_order_of_the_items() {
        for items in [0, 1, 2, 3, 7, 1000] {
            let items: Vec<usize> = (0..items).collect();
            let doubled: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(mapped(&items, |item| item * 2), doubled);
        }
    }
}
