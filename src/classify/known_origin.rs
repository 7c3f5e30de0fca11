//! One origin, and what is known about it; a cache of such origins, and the origins of a classifier that threads share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use foldhash::fast::RandomState;

use crate::judge::profile::Asker;
use crate::judge::verdict::{JudgedAt, Verdict};
use crate::judge::{HostSource, Judge, origin_history::OriginHistory};
use crate::mutex::lock;
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
    /// Decides whether `asker` may request `path` at `at`. `at` is `None` if the row lacks a time
    /// that it should have.
    pub(crate) fn verdict(
        &self,
        judge: &Judge,
        asker: Asker<'_>,
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
        let found = judge.verdict(history, asker, Some(path), at);
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

/// A cache of origins, and what is being read for it.
#[derive(Debug)]
pub(crate) struct SharedOrigins(Mutex<Origins>);

#[derive(Debug)]
struct Origins {
    cache: OriginCache,
    /// Origins that a thread is reading now.
    reading: HashMap<Origin, Arc<OnceLock<Arc<KnownOrigin>>>, RandomState>,
}

impl SharedOrigins {
    /// An empty cache of at most about `bytes_max` bytes.
    pub(crate) fn new(bytes_max: usize) -> SharedOrigins {
        let (cache, reading) = (OriginCache::new(bytes_max), HashMap::default());
        SharedOrigins(Mutex::new(Origins { cache, reading }))
    }

    /// The origin of the URLs that begin with `key`, which is `url` as written. `read` reads what is
    /// known about it. Meanwhile other threads are answered, and only those wait that need the
    /// same origin.
    pub(crate) fn origin(
        &self,
        judge: &Judge,
        key: &[u8],
        url: &UrlParts<'_>,
        read: impl FnOnce(&Judge, Origin) -> KnownOrigin,
    ) -> Arc<KnownOrigin> {
        // Taken before the first look: what is forgotten from then on must not be kept.
        let forgotten = judge.times_forgotten();
        if let Some(known) = lock(&self.0).cache.find(forgotten, key) {
            return known;
        }
        let Some(origin) = Origin::from_authority(url.scheme, url.authority) else {
            let known = Arc::new(KnownOrigin::nowhere());
            lock(&self.0).cache.keep(forgotten, key.into(), &known);
            return known;
        };
        let place = {
            let mut origins = lock(&self.0);
            // Another thread may have read it since.
            if let Some(known) = origins.cache.find(forgotten, key) {
                return known;
            }
            Arc::clone(origins.reading.entry(origin.clone()).or_default())
        };
        let known = Arc::clone(place.get_or_init(|| Arc::new(read(judge, origin.clone()))));
        let mut origins = lock(&self.0);
        // Another thread may have begun anew, if this one came late.
        if origins.reading.get(&origin).is_some_and(|other| Arc::ptr_eq(other, &place)) {
            origins.reading.remove(&origin);
        }
        origins.cache.keep(forgotten, key.into(), &known);
        known
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::archive::{Store, memory::MemoryArchive};
    use crate::judge::profile::CrawlerProfile;
    use crate::url::path::Dialect;

    /// Longer than any thread needs to get on.
    const LONG: Duration = Duration::from_secs(60);

    /// Long enough for a thread to go wrong.
    const SHORT: Duration = Duration::from_millis(50);

    fn judge() -> Judge {
        let nothing = Store::Memory(MemoryArchive::default());
        let profiles = vec![CrawlerProfile::of_token("a".to_owned())];
        Judge::of_many(nothing, profiles, Dialect::Google, 1 << 20).unwrap()
    }

    fn known(origin: &Origin) -> KnownOrigin {
        KnownOrigin { origin: Some(origin.as_str().into()), ..KnownOrigin::nowhere() }
    }

    fn ask(
        origins: &SharedOrigins,
        judge: &Judge,
        url: &str,
        read: impl FnOnce(&Origin),
    ) -> Option<Arc<str>> {
        let parts = UrlParts::of(url.as_bytes(), None).unwrap();
        let read = |_: &Judge, origin: Origin| {
            read(&origin);
            known(&origin)
        };
        origins.origin(judge, url.as_bytes(), &parts, read).origin.clone()
    }

    fn answer(from: &Receiver<Option<Arc<str>>>) -> String {
        let answer = from.recv_timeout(LONG).expect("a thread waits for another origin");
        answer.unwrap().to_string()
    }

    /// While one origin is read, another is answered, and a second thread for the same one waits
    /// for the first, however it writes the origin.
    #[test]
    fn only_threads_of_the_same_origin_wait() {
        let (origins, judge, reads) = (SharedOrigins::new(1 << 20), judge(), AtomicU32::new(0));
        let (begun, is_begun) = channel();
        let (release, is_released) = channel::<()>();
        let [(first, of_first), (second, of_second), (other, of_other)] =
            [(); 3].map(|()| channel::<Option<Arc<str>>>());
        let (origins, judge, reads) = (&origins, &judge, &reads);
        thread::scope(|scope| {
            // Dropped at a failure, too, so that no thread waits endlessly.
            let release = release;
            scope.spawn(move || {
                let slowly = |_: &Origin| {
                    reads.fetch_add(1, Ordering::Relaxed);
                    begun.send(()).unwrap();
                    let _ = is_released.recv();
                };
                first.send(ask(origins, judge, "https://slow.example", slowly)).unwrap();
            });
            is_begun.recv_timeout(LONG).unwrap();
            scope.spawn(move || {
                let again = |_: &Origin| {
                    reads.fetch_add(1, Ordering::Relaxed);
                };
                second.send(ask(origins, judge, "https://SLOW.example:443", again)).unwrap();
            });
            scope.spawn(move || {
                other.send(ask(origins, judge, "https://quick.example", |_| {})).unwrap();
            });
            assert_eq!(answer(&of_other), "https://quick.example");
            assert_eq!(of_second.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
            release.send(()).unwrap();
            for answers in [&of_first, &of_second] {
                assert_eq!(answer(answers), "https://slow.example");
            }
        });
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        // Both ways to write it are known from now on, and nothing is left of the read.
        for url in ["https://slow.example", "https://SLOW.example:443"] {
            ask(origins, judge, url, |origin| panic!("{origin} is read again"));
        }
        assert!(lock(&origins.0).reading.is_empty());
    }

    #[test]
    fn a_host_that_is_not_valid_is_not_read() {
        let (origins, judge) = (SharedOrigins::new(1 << 20), judge());
        let read = |origin: &Origin| panic!("{origin} is read");
        assert_eq!(ask(&origins, &judge, "https://a b", read), None);
        assert_eq!(lock(&origins.0).cache.opened, 1);
        assert_eq!(ask(&origins, &judge, "https://a b", read), None);
        assert_eq!(lock(&origins.0).cache.found, 1);
    }

    /// A read that panics leaves the origin to the next thread.
    #[test]
    fn a_read_that_panics_is_repeated() {
        let (origins, judge) = (SharedOrigins::new(1 << 20), judge());
        let url = "https://a.example";
        let failed = thread::scope(|scope| {
            scope.spawn(|| ask(&origins, &judge, url, |_| panic!("a bug"))).join()
        });
        assert!(failed.is_err());
        assert_eq!(ask(&origins, &judge, url, |_| {}).as_deref(), Some(url));
    }
}
