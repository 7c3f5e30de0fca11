//! Work on several threads at once: two jobs, or the same work on each of many items.

use std::thread::available_parallelism;

use rayon::prelude::*;

use super::pool::pool;

/// Runs `other` on a thread of its own and `own` on this one. If the system starts no thread, this
/// one runs both.
pub(crate) fn both<A: Send, B>(
    other: impl FnOnce() -> A + Send,
    own: impl FnOnce() -> B,
) -> (A, B) {
    let Ok(pool) = pool(1) else { return (other(), own()) };
    let mut done = None;
    let own = pool.in_place_scope(|scope| {
        scope.spawn(|_| done = Some(other()));
        own()
    });
    (done.expect("a scope ends after its tasks"), own)
}

/// The results of `work` on `items`, in their order. If the system starts no threads, this one does
/// all.
pub(crate) fn mapped<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    match pool(available_parallelism().map_or(1, usize::from)) {
        Ok(pool) => pool.install(|| items.par_iter().map(&work).collect()),
        Err(_) => items.iter().map(&work).collect(),
    }
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
