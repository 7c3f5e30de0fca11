//! Requests by path, if they are counted.

use std::collections::BTreeMap;

use memchr::memchr;
use serde_bytes::ByteBuf;

use crate::audit::origin_key::{OriginKey, OriginRank};
use crate::bounded::BoundedBytes;
use crate::crawlers::identity::Actor;
use crate::logs::record::Record;
use crate::merge::Merge;

use super::counts::{PathCounts, PathTallies};
use super::sections::rank;
use super::urls::{UrlPart, Urls, push_origin, url_hash};

/// The most paths.
const PATHS_MAX: usize = 20_000;

/// The most bytes of a path.
const PATH_BYTES_MAX: usize = 1024;

/// Requests by path while lines are counted.
#[derive(Clone, Debug)]
pub(crate) struct PathCounter {
    key: Vec<u8>,
    paths: BoundedBytes<PathTallies>,
    urls: BTreeMap<Actor, Urls>,
}

impl Default for PathCounter {
    fn default() -> PathCounter {
        let paths = BoundedBytes::new(PATHS_MAX, rank);
        PathCounter { key: Vec::new(), paths, urls: BTreeMap::new() }
    }
}

impl PathCounter {
    /// Counts a request for `path` at an origin by `actor`.
    pub(crate) fn count(
        &mut self,
        origin: (&OriginKey, OriginRank),
        path: &[u8],
        part: UrlPart,
        actor: Actor,
        record: &Record<'_>,
    ) {
        let url = url_hash(origin, path, part, &mut self.key);
        let query = memchr(b'?', path).unwrap_or(path.len());
        push_origin(origin, &mut self.key);
        self.key.extend_from_slice(&path[..query.min(PATH_BYTES_MAX)]);
        let tally = self.paths.entry(&self.key).entry(actor);
        tally.answers.count(record.time, record.status, record.bytes);
        tally.urls.add(url);
        self.urls.entry(actor).or_default().add(url);
    }

    /// Adds `counts` of another tally.
    pub(crate) fn add(&mut self, counts: PathCounts) {
        for (key, tallies) in counts.paths {
            self.paths.entry(&key).absorb(tallies);
        }
        self.paths.add_to_others(counts.others);
        self.urls.absorb(counts.urls.into_iter().collect());
    }

    /// What was counted, in order.
    pub(crate) fn into_counts(self) -> PathCounts {
        let (paths, others) = self.paths.into_parts();
        let paths = paths.into_iter().map(|(key, tallies)| (ByteBuf::from(key), tallies));
        let urls = self.urls.into_iter().collect();
        PathCounts { paths: paths.collect(), others: others.unwrap_or_default(), urls }
    }
}

impl Merge for PathCounter {
    fn absorb(&mut self, other: PathCounter) {
        let PathCounter { paths, urls, key: _ } = other;
        self.paths.absorb(paths);
        self.urls.absorb(urls);
    }
}
