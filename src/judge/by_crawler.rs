//! A value for each crawler, made when it is first asked for.
//!
//! A site meets few of the crawlers of a registry, and there may be many sites. So the places of
//! values are made in blocks, when a crawler of the block is first met.

use crate::crawlers::crawler::CrawlerId;
use std::sync::OnceLock;

/// The crawlers of one block.
const BLOCK: usize = 16;

type Block<T> = Box<[OnceLock<T>; BLOCK]>;

/// A value for each of some crawlers.
#[derive(Debug)]
pub(crate) struct ByCrawler<T>(Box<[OnceLock<Block<T>>]>);

impl<T> ByCrawler<T> {
    /// Room for the values of `crawlers` crawlers.
    pub(crate) fn new(crawlers: usize) -> ByCrawler<T> {
        ByCrawler((0..crawlers.div_ceil(BLOCK)).map(|_| OnceLock::new()).collect())
    }

    /// The value of `crawler`, if it was made.
    pub(crate) fn get(&self, crawler: CrawlerId) -> Option<&T> {
        let block = self.0.get(crawler.index() / BLOCK)?.get()?;
        block[crawler.index() % BLOCK].get()
    }

    /// The value of `crawler`, which `new` makes if need be.
    pub(crate) fn get_or_init(&self, crawler: CrawlerId, new: impl FnOnce() -> T) -> &T {
        let block = self.0[crawler.index() / BLOCK]
            .get_or_init(|| Box::new([const { OnceLock::new() }; BLOCK]));
        block[crawler.index() % BLOCK].get_or_init(new)
    }

    /// The most bytes that it takes, without what values allocate.
    pub(crate) fn bytes_max(&self) -> usize {
        size_of_val(&*self.0) + self.0.len() * BLOCK * size_of::<OnceLock<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_made_once() {
        let values = ByCrawler::new(40);
        for id in [0, 39, 15, 16, 39].map(CrawlerId) {
            assert_eq!(*values.get_or_init(id, || id.0), id.0);
            assert_eq!(values.get_or_init(id, || 99), values.get(id).unwrap());
        }
        assert_eq!((values.get(CrawlerId(1)), values.get(CrawlerId(31))), (None, None));
    }

    #[test]
    fn the_size_is_that_of_whole_blocks() {
        let values = ByCrawler::<u64>::new(40);
        let of_values = 3 * BLOCK * size_of::<OnceLock<u64>>();
        assert!((of_values..of_values + 100).contains(&values.bytes_max()));
    }
}
