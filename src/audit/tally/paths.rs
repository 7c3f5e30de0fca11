//! Requests by path, if they are counted, and by section, which is a directory of the first or the second level.
//!
//! A request counts for its first directory and for the first two. Directories are foreign text, so
//! of each level a limited number is kept: those of named origins first, then those with the
//! smallest stable hashes. That merges exactly. The requests of the others count for the directory
//! above, because it has all of them.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::fast::RandomState;
use hashbrown::{Equivalent, HashMap};
use memchr::memchr;
use serde_bytes::ByteBuf;

use crate::audit::origin_key::{OriginKey, OriginRank};
use crate::bounded::{Bounded, BoundedBytes, StableHash};
use crate::crawlers::identity::Actor;
use crate::logs::record::Record;
use crate::merge::Merge;

use super::counts::{OriginRows, PathCounts, PathTallies};
use super::rows::{OriginId, Rows};
use super::urls::{
    NAMED, SectionCounts, SectionTallies, SectionTally, UrlPart, Urls, first_level,
    origin_and_path, push_origin, url_hash,
};

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

/// The most directories of each level.
const SECTIONS_MAX: usize = 10_000;

/// Directories that are counted before they are hashed.
const RECENT_MAX: usize = 16_384;

/// Longer directories count for the one above.
const SECTION_BYTES_MAX: usize = 256;

/// Requests by section while lines are counted.
#[derive(Clone, Debug)]
pub(crate) struct Sections {
    recent: HashMap<SectionKey<Box<[u8]>>, SectionTally, RandomState>,
    levels: [Bounded<Vec<u8>, SectionTallies>; 2],
}

/// A directory of an origin, and a crawler.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct SectionKey<D> {
    origin: OriginId,
    actor: Actor,
    directory: D,
}

impl Equivalent<SectionKey<Box<[u8]>>> for SectionKey<&[u8]> {
    #[inline]
    fn equivalent(&self, key: &SectionKey<Box<[u8]>>) -> bool {
        self.origin == key.origin && self.actor == key.actor && *self.directory == *key.directory
    }
}

impl Default for Sections {
    fn default() -> Sections {
        let levels = [Bounded::new(SECTIONS_MAX), Bounded::new(SECTIONS_MAX)];
        Sections { recent: HashMap::default(), levels }
    }
}

impl Sections {
    /// Counts a request for `path` at an origin of `rows` by `actor`, if it is in a directory.
    #[inline]
    pub(crate) fn count(
        &mut self,
        (origin, rows): (OriginId, &Rows),
        path: &[u8],
        actor: Actor,
        record: &Record<'_>,
    ) {
        let Some(directory) = directory(path) else { return };
        if self.recent.len() > RECENT_MAX {
            self.settle(rows);
        }
        let mut first = SectionTally::default();
        let key = SectionKey { origin, actor, directory };
        let known = self.recent.get_mut(&key);
        let is_known = known.is_some();
        let tally = known.unwrap_or(&mut first);
        tally.statuses.count(record.status);
        tally.bytes = tally.bytes.saturating_add(record.bytes);
        if !is_known {
            self.recent.insert(SectionKey { origin, actor, directory: directory.into() }, first);
        }
    }

    /// Adds `counts` of another tally.
    pub(crate) fn add(&mut self, counts: SectionCounts) {
        for (level, counts) in self.levels.iter_mut().zip(counts) {
            for (key, tallies) in counts {
                level.add_hashed(rank(&key), key.into_vec(), tallies);
            }
        }
    }

    /// What is kept at these origins, in order, after all is settled.
    pub(crate) fn into_counts(self, origins: &[OriginRows]) -> SectionCounts {
        let origins: BTreeSet<&str> = origins.iter().map(|of| of.origin_key.as_str()).collect();
        let is_kept = |key: &[u8]| origin_and_path(key).is_some_and(|of| origins.contains(of.0));
        self.levels.map(|level| {
            let kept = level.into_parts().0.filter(|(key, _)| is_kept(key));
            let mut kept: Vec<(ByteBuf, SectionTallies)> =
                kept.map(|(key, tallies)| (key.into(), tallies)).collect();
            kept.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
            kept
        })
    }

    /// Names the origins of `rows`, as it must be done before these are merged.
    pub(crate) fn settle(&mut self, rows: &Rows) {
        let mut directories: HashMap<(OriginId, Box<[u8]>), SectionTallies, RandomState> =
            HashMap::default();
        for (SectionKey { origin, actor, directory }, tally) in self.recent.drain() {
            directories.entry((origin, directory)).or_default().entry(actor).absorb(tally);
        }
        let [firsts, seconds] = &mut self.levels;
        for ((origin, directory), tallies) in directories {
            let (origin_key, rank_of_origin) = rows.origin_of(origin);
            if *origin_key == OriginKey::Others {
                continue;
            }
            let mut key = Vec::new();
            push_origin((origin_key, rank_of_origin), &mut key);
            key.extend_from_slice(&directory);
            let first = first_level(&key).unwrap_or(&key);
            firsts.add_hashed(rank(first), first.to_vec(), tallies.clone());
            if first.len() < key.len() {
                seconds.add_hashed(rank(&key), key, tallies);
            }
        }
    }
}

impl Merge for Sections {
    /// Both are settled.
    fn absorb(&mut self, other: Sections) {
        let Sections { recent: _, levels } = other;
        self.levels.absorb(levels);
    }
}

/// At most the first two directories of a path, with their slashes.
#[inline]
fn directory(path: &[u8]) -> Option<&[u8]> {
    let path = &path[..path.len().min(SECTION_BYTES_MAX)];
    // Names are short, so that a search by bytes is as fast as any.
    let mut end = None;
    for _ in 0..2 {
        let from = end.unwrap_or(1);
        let at = path.get(from..)?.iter().position(|byte| matches!(byte, b'/' | b'?'));
        match at.map(|at| from + at).filter(|&at| path[at] == b'/') {
            Some(slash) => end = Some(slash + 1),
            None => break,
        }
    }
    Some(&path[..end?])
}

/// The order in which paths are kept: those of named origins, then those of others in the order in
/// which rows keep them. So origins without rows take no room.
pub(crate) fn rank(key: &[u8]) -> u64 {
    let hash = key.stable_hash() >> 1;
    match origin_and_path(key) {
        Some((origin, _)) if key.first() != Some(&NAMED) => {
            1 << 63 | origin.as_bytes().stable_hash() >> 33 << 32 | hash >> 31
        }
        _ => hash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::origin_key::OriginRank;
    use crate::audit::tally::rows::RowLimits;
    use crate::crawlers::{crawler::CrawlerId, identity::Identity};
    use crate::logs::{LineContent, format::Format, record::Scratch};
    use crate::url::origin::Origin;

    #[test]
    fn directories_of_paths() {
        let long = format!("/{}/a/b", "x".repeat(SECTION_BYTES_MAX - 3));
        let too_long = format!("/{}/a/b", "x".repeat(SECTION_BYTES_MAX));
        let first = &long[..SECTION_BYTES_MAX - 1];
        for (path, expected) in [
            ("", None),
            ("/", None),
            ("/a", None),
            ("/a?b/c/", None),
            ("/a/", Some("/a/")),
            ("/a/b", Some("/a/")),
            ("/a/b?c/d", Some("/a/")),
            ("/a/b/c/d", Some("/a/b/")),
            ("//a/b", Some("//a/")),
            (&long, Some(first)),
            (&too_long, None),
        ] {
            assert_eq!(directory(path.as_bytes()), expected.map(str::as_bytes), "{path}");
        }
        for (key, first) in [("!o /a/b/", "!o /a/"), ("!o /a/", "!o /a/"), ("!o //a/", "!o //")] {
            assert_eq!(first_level(key.as_bytes()), Some(first.as_bytes()));
        }
    }

    #[test]
    fn named_origins_come_first() {
        let (named, stranger) = (rank(b"!o /a/"), rank(b"?o /a/"));
        assert!(named < 1 << 63 && stranger >= 1 << 63);
    }

    /// Many places of one table have the same directory.
    #[test]
    fn a_directory_is_one_section_of_each_origin_and_crawler() {
        let origins = 60;
        let origin_key = |at| {
            OriginKey::Origin(Origin::parse(format!("https://{at}.example").as_bytes()).unwrap())
        };
        let mut rows = Rows::new(RowLimits::default(), (0..9).collect());
        let mut sections = Sections::default();
        let line =
            br#"192.0.2.1 - - [01/Mar/2026:12:00:00 +0000] "GET /a/b/c HTTP/1.1" 200 5 "-" "x""#;
        let format = Format::combined();
        let (mut reader, mut scratch) = (format.reader(), Scratch::default());
        let LineContent::Fields(fields) = reader.line(line) else { unreachable!("it is a record") };
        let record = fields.record(&mut scratch).unwrap();
        let actor = |crawler| (CrawlerId(crawler), Identity::Unverified);
        for at in (0..origins).rev() {
            let origin = rows.origin(&origin_key(at), OriginRank::Named);
            for crawler in 0..9 {
                rows.row(origin, actor(crawler));
                for path in ["/a/b/c", "/a/b/d", "/a/e", "/f"] {
                    sections.count((origin, &rows), path.as_bytes(), actor(crawler), &record);
                }
            }
        }
        sections.settle(&rows);
        let mut sum = Sections::default();
        sum.absorb(sections);
        let [firsts, seconds] = sum.into_counts(&rows.finish().origins);
        for (level, directory, requests) in [(firsts, "/a/", 3), (seconds, "/a/b/", 2)] {
            assert!(level.len() == origins && level.is_sorted_by_key(|(key, _)| key.clone()));
            for (key, tallies) in level {
                let (NAMED, Some((_, path))) = (key[0], origin_and_path(&key)) else {
                    panic!("{key:?}")
                };
                assert_eq!(path, directory.as_bytes());
                let found: Vec<_> = tallies
                    .iter()
                    .map(|(of, sum)| (*of, sum.statuses.total(), sum.bytes))
                    .collect();
                let expected: Vec<_> =
                    (0..9).map(|crawler| (actor(crawler), requests, 5 * requests)).collect();
                assert_eq!(found, expected);
            }
        }
    }

    /// Directories of strangers stay as long as their origins, whatever their own hashes are.
    #[test]
    fn directories_of_strangers_are_in_the_order_of_their_origins() {
        let mut hosts: Vec<String> = (0..50).map(|at| format!("https://{at}.example")).collect();
        hosts.sort_by_key(|host| host.as_bytes().stable_hash());
        let ranks: Vec<u64> = hosts
            .iter()
            .flat_map(|host| {
                let mut of =
                    ["a", "b", "c"].map(|name| rank(format!("?{host} /{name}/").as_bytes()));
                of.sort_unstable();
                of
            })
            .collect();
        assert!(ranks.is_sorted());
        let distinct: BTreeSet<u64> = ranks.iter().copied().collect();
        assert_eq!(distinct.len(), 3 * 50);
    }
}
