//! Values that are made when they are first asked for: for each crawler, and for each name in a robots.txt.
//!
//! A site meets few of the crawlers of a registry, and there may be many sites. So the places of
//! values are made in blocks, when a crawler of the block is first met.

use std::{collections::HashMap, sync::OnceLock};

use crate::crawlers::crawler::CrawlerId;
use crate::robots::model::ParsedRobotsTxt;

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

/// The longest name that can have rules, in bytes: the name of no crawler is longer.
const NAME_BYTES_MAX: usize = 64;

/// The names in a robots.txt, in lower case, each with a `T`. They are collected when the first name is
/// looked up, and its `T` is made when it is found for the first time.
#[derive(Debug)]
pub(super) struct ByName<T>(OnceLock<HashMap<Box<[u8]>, OnceLock<T>>>);

impl<T> Default for ByName<T> {
    fn default() -> ByName<T> {
        ByName(OnceLock::new())
    }
}

impl<T> ByName<T> {
    /// The `T` of `name`, by `make`; `None` if no group of `text` has the name.
    pub(super) fn get(
        &self,
        text: &ParsedRobotsTxt,
        name: &[u8],
        make: impl FnOnce() -> T,
    ) -> Option<&T> {
        Some(self.of_name(text, name)?.get_or_init(make))
    }

    /// Whether a group of `text` has the name.
    pub(super) fn has(&self, text: &ParsedRobotsTxt, name: &[u8]) -> bool {
        self.of_name(text, name).is_some()
    }

    fn of_name(&self, text: &ParsedRobotsTxt, name: &[u8]) -> Option<&OnceLock<T>> {
        if name.is_empty() {
            return None;
        }
        let mut buffer = [0; NAME_BYTES_MAX];
        let lower = buffer.get_mut(..name.len())?;
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        self.0.get_or_init(|| names(text)).get(&*lower)
    }
}

/// The names in `text`, in each form in which a line may name a crawler.
fn names<T>(text: &ParsedRobotsTxt) -> HashMap<Box<[u8]>, OnceLock<T>> {
    let tokens = text.groups.iter().flat_map(|group| &group.product_tokens);
    let names = tokens.filter(|token| !token.is_star()).flat_map(|token| {
        let forms = token.interpretations().into_iter();
        forms.filter(|name| (1..=NAME_BYTES_MAX).contains(&name.len()))
    });
    names.map(|name| (name.to_ascii_lowercase().into(), OnceLock::new())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::parse::parse;

    #[test]
    fn each_value_is_made_once() {
        let values = ByCrawler::new(40);
        for id in [0, 39, 15, 16, 39].map(CrawlerId) {
            assert_eq!(*values.get_or_init(id, || id.0), id.0);
            assert_eq!(*values.get_or_init(id, || 99), id.0);
        }
    }

    #[test]
    fn the_size_is_that_of_whole_blocks() {
        let values = ByCrawler::<u64>::new(40);
        let of_values = 3 * BLOCK * size_of::<OnceLock<u64>>();
        assert!((of_values..of_values + 100).contains(&values.bytes_max()));
    }

    #[test]
    fn each_form_of_a_name_is_found_in_any_case() {
        let (text, _) = parse(
            b"User-agent: *\nUser-agent: Photo-Agent/2\nUser-agent: archive.example\nDisallow: /\n",
        );
        let by_name = ByName::default();
        for name in
            [&b"photo-agent"[..], b"PHOTO-AGENT", b"Photo-Agent/2", b"archive", b"archive.example"]
        {
            assert_eq!(by_name.get(&text, name, || 1), Some(&1), "{name:?}");
            // It is made once.
            assert_eq!(by_name.get(&text, name, || 2), Some(&1), "{name:?}");
        }
        let too_long = [b'a'; NAME_BYTES_MAX + 1];
        for name in [&b""[..], b"*", b"photo", b"photo-agent2", &too_long] {
            assert_eq!(by_name.get(&text, name, || 1), None, "{name:?}");
        }
    }
}
