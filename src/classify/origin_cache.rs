//! A cache of origins between batches, limited in bytes.
//!
//! The cache has two generations. Every origin that is used moves to the young one. When the young
//! one fills half of the memory, the old one is dropped and the young one takes its place. So
//! origins that are used often stay.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::judge::Judge;

use super::{known_origin::KnownOrigin, url_parts::UrlParts};

/// The cache.
#[derive(Debug, Default)]
pub struct OriginCache {
    young: HashMap<Box<[u8]>, Arc<KnownOrigin>, RandomState>,
    old: HashMap<Box<[u8]>, Arc<KnownOrigin>, RandomState>,
    young_bytes: usize,
    /// The limit of one generation.
    bytes_max: usize,
    /// How often the judge had dropped its memory at the last lookup.
    forgotten: u64,
    /// Origins that were looked up.
    pub opened: u64,
    /// Origins that were found here.
    pub found: u64,
}

impl OriginCache {
    /// An empty cache of at most about `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> OriginCache {
        OriginCache { bytes_max: bytes_max / 2, ..OriginCache::default() }
    }

    /// The origin of the URLs that begin with `key`, which is `address` as written.
    pub(crate) fn origin(
        &mut self,
        judge: &Judge,
        key: &[u8],
        url: &UrlParts<'_>,
    ) -> Arc<KnownOrigin> {
        let forgotten = judge.times_forgotten();
        self.find(forgotten, key).unwrap_or_else(|| {
            let origin = Arc::new(KnownOrigin::open(judge, url));
            self.keep(forgotten, key.into(), &origin);
            origin
        })
    }

    /// The origin that is kept by `key`; `forgotten` says how often the judge has dropped its
    /// memory.
    pub(crate) fn find(&mut self, forgotten: u64, key: &[u8]) -> Option<Arc<KnownOrigin>> {
        self.forget_until(forgotten);
        if let Some(origin) = self.young.get(key) {
            self.found += 1;
            return Some(Arc::clone(origin));
        }
        let (key, origin) = self.old.remove_entry(key)?;
        self.found += 1;
        self.put(key, &origin);
        Some(origin)
    }

    /// Keeps `origin`, which was looked up when the judge had dropped its memory `forgotten` times.
    pub(crate) fn keep(&mut self, forgotten: u64, key: Box<[u8]>, origin: &Arc<KnownOrigin>) {
        self.opened += 1;
        self.forget_until(forgotten);
        // If the judge has dropped it since, it must not stay. Another thread may have been quicker.
        if self.forgotten == forgotten && !self.young.contains_key(&key) {
            self.put(key, origin);
        }
    }

    /// What the judge drops to save memory must not stay here.
    fn forget_until(&mut self, forgotten: u64) {
        if self.forgotten < forgotten {
            let OriginCache { bytes_max, opened, found, .. } = *self;
            *self = OriginCache { forgotten, bytes_max, opened, found, ..OriginCache::default() };
        }
    }

    fn put(&mut self, key: Box<[u8]>, origin: &Arc<KnownOrigin>) {
        let bytes = key.len() + origin.size_bytes();
        if self.young_bytes + bytes > self.bytes_max {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        self.young.insert(key, Arc::clone(origin));
    }
}
