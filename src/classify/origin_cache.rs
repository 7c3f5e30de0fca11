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

/// The cache of one thread.
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
    pub fn origin(&mut self, judge: &Judge, key: &[u8], url: &UrlParts<'_>) -> Arc<KnownOrigin> {
        // What the judge drops to save memory must not stay here.
        let forgotten = judge.times_forgotten();
        if self.forgotten != forgotten {
            let OriginCache { bytes_max, opened, found, .. } = *self;
            *self = OriginCache { forgotten, bytes_max, opened, found, ..OriginCache::default() };
        }
        if let Some(origin) = self.young.get(key) {
            self.found += 1;
            return Arc::clone(origin);
        }
        let (key, origin) = match self.old.remove_entry(key) {
            Some(known) => {
                self.found += 1;
                known
            }
            None => {
                self.opened += 1;
                (key.into(), Arc::new(KnownOrigin::open(judge, url)))
            }
        };
        let bytes = key.len() + origin.size_bytes();
        if self.young_bytes + bytes > self.bytes_max {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        self.young.insert(key, Arc::clone(&origin));
        origin
    }
}
