//! One origin, and what is known about it; and a cache of such origins.

use std::{collections::HashMap, sync::Arc};

use foldhash::fast::RandomState;

use crate::crawlers::crawler::CrawlerId;
use crate::judge::verdict::{JudgedAt, Verdict};
use crate::judge::{HostSource, Judge, origin_history::OriginHistory};
use crate::url::{origin::Origin, path::PathQuery};

use super::answer::{Reason, RowVerdict, VerdictWord};
use super::url_parts::{InvalidUrl, UrlParts};

/// The approximate size of an origin without its name, in bytes.
const ORIGIN_BYTES: usize = 512;

/// The approximate size of a snapshot of an archive, in bytes.
const SNAPSHOT_BYTES: usize = 192;

/// An origin.
#[derive(Debug)]
pub(crate) struct KnownOrigin {
    /// The origin in canonical form; `None` if it is not valid.
    pub origin: Option<Arc<str>>,
    /// What is known about it.
    pub known: Known,
}

/// What is known about an origin.
#[derive(Debug)]
pub(crate) enum Known {
    /// The origin is not valid.
    Nowhere,
    /// Nothing.
    Nothing,
    /// It has a robots.txt, but that cannot be read.
    Unreadable,
    /// The history of its robots.txt.
    History(OriginHistory),
}

impl KnownOrigin {
    /// The origin of text that is not a URL.
    pub(crate) fn nowhere() -> KnownOrigin {
        KnownOrigin { origin: None, known: Known::Nowhere }
    }

    /// Looks up the origin of `address` in the judge.
    pub(crate) fn open(judge: &Judge, address: &UrlParts<'_>) -> KnownOrigin {
        match Origin::from_authority(address.scheme, address.authority) {
            None => KnownOrigin::nowhere(),
            Some(origin) => KnownOrigin::of(judge, &origin),
        }
    }

    /// Looks up `origin` in the judge.
    pub(crate) fn of(judge: &Judge, origin: &Origin) -> KnownOrigin {
        let known = match judge.read_history(origin, HostSource::Own) {
            Ok(Some(history)) => Known::History(history),
            Ok(None) if !judge.is_named(origin) => Known::Nothing,
            Ok(None) | Err(_) => Known::Unreadable,
        };
        KnownOrigin { origin: Some(origin.as_str().into()), known }
    }

    /// Its approximate size without shared data, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        let snapshots = match &self.known {
            Known::History(history) => history.snapshot_count(),
            Known::Nowhere | Known::Nothing | Known::Unreadable => 0,
        };
        let name = self.origin.as_ref().map_or(0, |origin| origin.len());
        ORIGIN_BYTES + name + snapshots * SNAPSHOT_BYTES
    }
}

impl Known {
    /// Decides whether `crawler` may request `path` at `at`. `at` is `None` if the row lacks a time
    /// that it should have.
    pub(crate) fn verdict(
        &self,
        judge: &Judge,
        crawler: u16,
        path: PathQuery<'_>,
        at: Option<JudgedAt>,
    ) -> RowVerdict<'_> {
        let (history, nothing_known) = match self {
            Known::Nowhere => return RowVerdict::invalid(InvalidUrl::BadHost),
            Known::Nothing => (None, Reason::NothingKnown),
            Known::Unreadable => (None, Reason::Unreadable),
            Known::History(history) => (Some(history), Reason::BeforeFirst),
        };
        // Without a history, the time does not matter.
        let at = match (history, at) {
            (_, Some(at)) => at,
            (Some(_), None) => return RowVerdict::unknown(Reason::BadTime),
            (None, None) => JudgedAt::Newest,
        };
        let found = judge.verdict(history, CrawlerId(crawler), Some(path), at);
        match found.verdict {
            // None of its snapshots gave a ruling.
            Verdict::Unknown if history.is_some() && at == JudgedAt::Newest => {
                RowVerdict::without_rule(VerdictWord::Allowed, Reason::NoRobotsTxt)
            }
            _ => RowVerdict::new(found, nothing_known),
        }
    }
}

/// A cache of origins between batches, limited in bytes.
///
/// It has two generations. Every origin that is used moves to the young one. When the young one
/// fills half of the memory, the old one is dropped and the young one takes its place. So origins
/// that are used often stay.
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
