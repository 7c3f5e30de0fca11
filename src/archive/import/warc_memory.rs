//! What the WARC files of one import remember: redirects that wait for their targets, and the bodies
//! that revisit records refer to.

use std::collections::{HashMap, VecDeque};

use crate::archive::snapshot::{Fetch, Hop, SnapshotOutcome};
use crate::archive::writer::{Body, NewSnapshot, Writer};
use crate::digest::Digest;
use crate::error::Result;
use crate::time::UtcTime;
use crate::url::origin::Origin;

/// Payloads and redirects of the WARC files of a run so far.
#[derive(Debug, Default)]
pub struct WarcMemory {
    pub(super) payloads: Payloads,
    pub(super) redirects: Redirects,
}

/// The most redirects that wait in memory; then the first one is moved to the archive.
const WAITING_MAX: usize = 1 << 14;

/// The most redirects that wait for one target.
const AT_TARGET_MAX: usize = 1 << 10;

/// The most hops that are followed, as Google documents it; a longer chain means no robots.txt.
pub const HOPS_MAX: usize = 5;

/// The outcome of a chain that has more hops than are followed; `None` if it has not.
pub(crate) fn too_long(chain: &[Hop]) -> Option<SnapshotOutcome> {
    let last = chain.last().filter(|_| chain.len() > HOPS_MAX)?;
    Some(SnapshotOutcome::Status(last.status))
}

/// The largest difference between the times of a redirect and its target, in seconds.
const APART_SECONDS_MAX: i64 = 86_400;

/// A redirect of an origin's robots.txt.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// The origin of the robots.txt.
    pub origin: Origin,
    /// The time of the request.
    pub fetched_at: UtcTime,
    /// The redirects so far; the target of the last one is awaited.
    pub chain: Vec<Hop>,
    /// The source of the redirect.
    pub source: String,
}

/// The redirects that wait in memory, by the URL of their targets: in WARC files, a redirect and its
/// target are separate records.
///
/// During a run, a redirect waits for its target in memory. Otherwise it waits in the archive, as a
/// snapshot without a ruling. At the end of the run, those in the archive are followed through the
/// archive, whatever the order in which files were imported.
#[derive(Debug, Default)]
pub(crate) struct Redirects {
    by_target: HashMap<String, Vec<Waiting>>,
    order: VecDeque<String>,
}

impl Waiting {
    /// A snapshot without a ruling; after too many hops, a snapshot that says that there is no
    /// robots.txt.
    pub(crate) fn into_snapshot(self) -> NewSnapshot {
        let outcome = too_long(&self.chain).unwrap_or(SnapshotOutcome::Unfollowed);
        self.answered(outcome, None, Body::Bytes(Vec::new()))
    }

    /// A snapshot with the answer of its target.
    pub(crate) fn answered(
        self,
        outcome: SnapshotOutcome,
        max_age_seconds: Option<u64>,
        body: Body,
    ) -> NewSnapshot {
        let Waiting { origin, fetched_at, chain, source } = self;
        let fetch = Fetch { fetched_at, outcome, max_age_seconds, chain };
        NewSnapshot { origin, fetch, source, body }
    }
}

impl Redirects {
    /// Lets `waiting` wait for `target`; returns redirects that must now wait in the archive.
    pub(crate) fn wait(&mut self, target: String, waiting: Waiting) -> Vec<Waiting> {
        let at_target = self.by_target.entry(target.clone()).or_default();
        if at_target.is_empty() {
            self.order.push_back(target);
        }
        at_target.push(waiting);
        let mut evicted = Vec::new();
        if at_target.len() > AT_TARGET_MAX {
            evicted.append(at_target);
        }
        while self.order.len() > WAITING_MAX {
            let first = self.order.pop_front().and_then(|target| self.by_target.remove(&target));
            evicted.extend(first.unwrap_or_default());
        }
        evicted
    }

    /// Whether any redirect waits for `target`.
    pub(crate) fn waits_for(&self, target: &str) -> bool {
        self.by_target.contains_key(target)
    }

    /// Removes those that wait for `target`.
    pub(crate) fn take(&mut self, target: &str) -> Vec<Waiting> {
        // Its entry in the order is skipped later.
        self.by_target.remove(target).unwrap_or_default()
    }

    /// Removes all.
    pub(crate) fn drain(&mut self) -> Vec<Waiting> {
        self.order.clear();
        let mut left: Vec<Waiting> =
            self.by_target.drain().flat_map(|(_, waiting)| waiting).collect();
        left.sort_by(|a, b| (&a.origin, a.fetched_at).cmp(&(&b.origin, b.fetched_at)));
        left
    }
}

/// Follows the redirects in the archive that still wait for their target, if the archive has it by
/// now. All snapshots must be flushed.
///
/// # Errors
/// If the archive cannot be read or written.
pub fn follow(writer: &mut Writer) -> Result<()> {
    let mut after = None;
    loop {
        let page = writer.unfollowed(after.as_ref())?;
        let Some((origin, entry)) = page.last() else { return writer.flush() };
        after = Some((origin.clone(), entry.fetch.fetched_at));
        for (origin, entry) in page {
            let waiting = Waiting {
                origin,
                fetched_at: entry.fetch.fetched_at,
                chain: entry.fetch.chain,
                source: entry.source,
            };
            if let Some(answered) = follow_one(writer, waiting)? {
                writer.replace_unfollowed(answered)?;
            }
        }
    }
}

fn follow_one(writer: &mut Writer, mut waiting: Waiting) -> Result<Option<NewSnapshot>> {
    loop {
        let Some(hop) = waiting.chain.last() else { return Ok(None) };
        if waiting.chain.len() > HOPS_MAX {
            return Ok(Some(waiting.into_snapshot()));
        }
        let Some(target) = robots_txt_of(&hop.location) else { return Ok(None) };
        let nearest = writer.nearest(&target, waiting.fetched_at, APART_SECONDS_MAX)?;
        let Some(entry) = nearest else { return Ok(None) };
        let is_itself = target == waiting.origin && entry.fetch.fetched_at == waiting.fetched_at;
        match entry.fetch.outcome {
            _ if is_itself && entry.fetch.outcome == SnapshotOutcome::Unfollowed => {
                // A redirect loop.
                let hops = waiting.chain.clone();
                waiting.chain = hops.iter().cycle().take(HOPS_MAX + 1).cloned().collect();
            }
            SnapshotOutcome::Unfollowed if entry.fetch.chain.is_empty() => return Ok(None),
            SnapshotOutcome::Unfollowed => waiting.chain.extend(entry.fetch.chain),
            outcome => {
                waiting.chain.extend(entry.fetch.chain);
                if waiting.chain.len() > HOPS_MAX {
                    waiting.chain.truncate(HOPS_MAX + 1);
                    return Ok(Some(waiting.into_snapshot()));
                }
                let body = match entry.body {
                    Some(key) => Body::Known(key.digest),
                    None => Body::Bytes(Vec::new()),
                };
                return Ok(Some(waiting.answered(outcome, entry.fetch.max_age_seconds, body)));
            }
        }
    }
}

/// Whether a redirect and a target with these times may belong together.
pub(crate) fn is_near(redirect: UtcTime, target: UtcTime) -> bool {
    redirect.unix_seconds().abs_diff(target.unix_seconds()) <= APART_SECONDS_MAX.unsigned_abs()
}

/// The origin, if `url` is that of a robots.txt.
pub fn robots_txt_of(url: &str) -> Option<Origin> {
    let origin = Origin::parse(url.as_bytes())?;
    let (_, rest) = url.split_once("://")?;
    let path = &rest[rest.find(['/', '?', '#'])?..];
    let path = path.split('#').next().unwrap_or(path);
    (path == "/robots.txt").then_some(origin)
}

/// The most remembered payloads; then all are forgotten and the archive is searched.
const REMEMBERED_MAX: usize = 1 << 18;

/// Longer digests are not valid.
const NAME_BYTES_MAX: usize = 128;

/// Bodies by the payload digest in their records, which may use any hash function.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    known: HashMap<Box<[u8]>, Digest>,
}

impl Payloads {
    /// Remembers that the payload `name` is the body of `digest`.
    pub(crate) fn remember(&mut self, name: Option<&[u8]>, digest: Digest) {
        let Some(name) = name.filter(|name| name.len() <= NAME_BYTES_MAX) else { return };
        if self.known.len() >= REMEMBERED_MAX {
            self.known.clear();
        }
        self.known.insert(name.into(), digest);
    }

    /// The body of the payload `name`.
    pub(crate) fn find(&self, name: Option<&[u8]>) -> Option<Digest> {
        self.known.get(name?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_top_level_has_a_robots_txt() {
        for (url, expected) in [
            ("https://a.example/robots.txt", Some("https://a.example")),
            ("HTTP://A.example:8080/robots.txt#x", Some("http://a.example:8080")),
            ("https://a.example/Robots.txt", None),
            ("https://a.example/x/robots.txt", None),
            ("https://a.example/robots.txt?x", None),
            ("https://a.example", None),
            ("https://a.example?/robots.txt", None),
            ("/robots.txt", None),
        ] {
            let origin = robots_txt_of(url);
            assert_eq!(origin.as_ref().map(Origin::as_str), expected, "{url}");
        }
    }
}
