//! The same work on each of many items, by all cores.

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

/// The results of `work` on `items`, in their order. Where no threads can be started, this one does
/// all of it.
pub(crate) fn mapped<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    match ThreadPoolBuilder::new().build() {
        Ok(pool) => pool.install(|| items.par_iter().map(&work).collect()),
        Err(_) => items.iter().map(work).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(
            mapped(&items, |item| item * 2),
            (0..1000).map(|item| item * 2).collect::<Vec<_>>()
        );
        assert_eq!(mapped(&[], |item: &usize| *item), [0; 0]);
    }
}
