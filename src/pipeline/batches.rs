//! Work on items whose results are taken in the order of the items.

use std::mem::take;

use rayon::prelude::*;

use crate::error::Result;

use super::pool::{Workers, pool};

/// Does `work` on each item that `next` gives, and passes the results to `put` on the caller's thread, in
/// order. While a batch of items is worked on, the next one is read, and the results of the
/// one before are put. A batch is an item for each thread.
///
/// # Errors
/// The first error of `next`, after the results of the items before it are put; or of `put`, which is then not
/// called again. Or if threads cannot be started.
pub(crate) fn run_in_order<T: Send, W: Send, R: Send>(
    threads: usize,
    worker: impl Fn() -> W + Sync + Send,
    mut next: impl FnMut() -> Result<Option<T>> + Send,
    work: impl Fn(&mut W, T) -> R + Sync,
    mut put: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let pool = pool(threads)?;
    let workers = Workers::new(&pool, worker);
    // How the last item ended; `None` before.
    let mut end = None;
    let (mut items, mut results) = (Vec::new(), Vec::new());
    while end.is_none() || !items.is_empty() || !results.is_empty() {
        let (batch, done) = (take(&mut items), take(&mut results));
        pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                let work_on = |item| workers.work(|worker| work(worker, item));
                let work =
                    || results = batch.into_par_iter().with_max_len(1).map(work_on).collect();
                let read = || {
                    while end.is_none() && items.len() < threads {
                        match next().transpose() {
                            Some(Ok(item)) => items.push(item),
                            last => end = Some(last.map_or(Ok(()), |failed| failed.map(drop))),
                        }
                    }
                };
                rayon::join(work, read);
            });
            done.into_iter().try_for_each(&mut put)
        })?;
    }
    end.unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests;
