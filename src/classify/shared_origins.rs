//! The origins of a classifier that threads share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use foldhash::fast::RandomState;

use crate::judge::Judge;
use crate::mutex::lock;
use crate::url::origin::Origin;

use super::known_origin::{KnownOrigin, OriginCache};
use super::url_parts::UrlParts;

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
    use crate::url::dialect::Dialect;

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
