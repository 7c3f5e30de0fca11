//! What is known of an origin over time: which snapshot was in force when.

use std::sync::Arc;

use crate::archive::{Store, reader::Archive, snapshot::SnapshotOutcome};
use crate::error::Result;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::history::History;
use super::outages::{OutageEffect, Outages};
use super::robots::Robots;
use super::timeline::{AllowAll, BeforeFirst, Ruling, RulingInForce, Timeline, Version};
use super::verdict::JudgedAt;
use super::{HostSource, Judge};

/// All that is known of one origin over time.
#[derive(Clone, Debug, Default)]
pub struct OriginHistory {
    timeline: Timeline,
    /// By [`Version`].
    versions: Box<[Arc<Robots>]>,
    /// By the place that a [`RulingInForce`] names; empty for a file given by hand.
    seen: Box<[SnapshotRef]>,
    /// What is in force since the newest snapshot.
    newest: Option<RulingInForce>,
    /// What logs show besides.
    outages: Option<Arc<Outages>>,
}

/// A snapshot, as reports name it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SnapshotRef {
    /// When it was fetched.
    pub fetched_at: UtcTime,
    /// What came of it.
    pub outcome: SnapshotOutcome,
    /// `Cache-Control: max-age`, in seconds.
    pub max_age_seconds: Option<u64>,
    /// Its body, where it has one.
    pub version: Option<Version>,
}

impl OriginHistory {
    /// One file that counts at all times.
    pub fn always(robots: Arc<Robots>) -> OriginHistory {
        OriginHistory::new(Timeline::always(Version(0)), [robots].into(), Box::default())
    }

    fn new(
        timeline: Timeline,
        versions: Box<[Arc<Robots>]>,
        seen: Box<[SnapshotRef]>,
    ) -> OriginHistory {
        let newest = seen.iter().map(|seen| seen.fetched_at).max();
        let newest = timeline.at(newest.unwrap_or(UtcTime::EPOCH), BeforeFirst::AsFirst);
        OriginHistory { timeline, versions, seen, newest, outages: None }
    }

    /// The snapshot that decided; `None` for a file given by hand, and where logs decided.
    pub fn seen(&self, standing: &RulingInForce) -> Option<SnapshotRef> {
        self.seen.get(standing.decided_by).copied()
    }

    /// How many snapshots there are.
    pub fn snapshot_count(&self) -> usize {
        self.seen.len()
    }

    /// By what a request is judged; `None` where nothing is known.
    pub(super) fn in_force(&self, at: JudgedAt) -> Option<RulingInForce> {
        match at {
            JudgedAt::Time(time, before) => self.at(time, before),
            JudgedAt::Newest => self.newest,
        }
    }

    /// Other rulings that a crawler may have held at `time`, at which `standing` was in force.
    pub(super) fn held(
        &self,
        standing: &RulingInForce,
        time: UtcTime,
    ) -> impl Iterator<Item = Ruling> + '_ {
        self.timeline.held(standing, time)
    }

    /// What is in force at `time`; `None` where nothing is known.
    pub fn at(&self, time: UtcTime, before: BeforeFirst) -> Option<RulingInForce> {
        let standing = self.timeline.at(time, before);
        let Some(outage) = self.outages.as_ref().and_then(|outages| outages.at(time)) else {
            return standing;
        };
        // A run of failures that the archive knows of goes on, and counts from its own first.
        let is_failing = standing.is_some_and(|standing| standing.unreachable_since.is_some());
        match outage {
            OutageEffect::Closes if !is_failing => {
                Some(RulingInForce::by_logs(Ruling::Unreachable))
            }
            OutageEffect::Outlasted if standing.is_none() => {
                Some(RulingInForce::by_logs(Ruling::AllowAll(AllowAll::UnreachableWithoutCopy)))
            }
            OutageEffect::Closes | OutageEffect::Outlasted => standing,
        }
    }

    /// All snapshots with their bodies, the earliest first; none of a file given by hand.
    pub fn snapshots(&self) -> impl Iterator<Item = (SnapshotRef, Option<&Arc<Robots>>)> {
        let robots = |version: Version| self.robots(version);
        self.seen.iter().map(move |seen| (*seen, seen.version.map(robots)))
    }

    /// The version of robots.txt whose rules `ruling` puts in force.
    pub fn rules(&self, ruling: Ruling) -> Option<&Arc<Robots>> {
        match ruling {
            Ruling::Rules(version) => Some(self.robots(version)),
            Ruling::AllowAll(_) | Ruling::Unreachable => None,
        }
    }

    fn robots(&self, version: Version) -> &Arc<Robots> {
        &self.versions[version.0 as usize]
    }
}

impl Judge {
    /// What is known of `origin` over time, shared by all who ask; `None` where nothing is. To be
    /// asked once an origin, not once a request. What cannot be read is among the
    /// [failures](Judge::failures).
    pub fn known(&self, origin: &Origin, host_source: HostSource) -> Option<Arc<OriginHistory>> {
        let known = self.known_of_store(origin, host_source);
        match host_source {
            HostSource::Own => self.with_outages(Some(origin), known),
            // What our log shows of a foreign host is what we answered in its place.
            HostSource::Foreign => known,
        }
    }

    /// `known` of `origin`, or of a log that names no host, with what logs show besides.
    pub(super) fn with_outages(
        &self,
        origin: Option<&Origin>,
        known: Option<Arc<OriginHistory>>,
    ) -> Option<Arc<OriginHistory>> {
        let Some(outages) =
            self.known_outages().and_then(|known_outages| known_outages.outages(origin))
        else {
            return known;
        };
        let known = known.map_or_else(OriginHistory::default, |known| (*known).clone());
        Some(Arc::new(OriginHistory { outages: Some(Arc::clone(outages)), ..known }))
    }

    fn known_of_store(
        &self,
        origin: &Origin,
        host_source: HostSource,
    ) -> Option<Arc<OriginHistory>> {
        let Store::Archive(archive) = &self.store else {
            return self
                .site(origin, host_source)
                .map(|robots| Arc::new(OriginHistory::always(robots)));
        };
        if let Some(known) = self.loaded().dated.get(origin) {
            return Some(Arc::clone(known));
        }
        match self.archived(archive, origin) {
            // Anybody can make up origins of which nothing is known; they are not remembered.
            Ok(None) => None,
            Ok(Some(dated)) => {
                let mut loaded = self.loaded();
                let known = loaded.dated.entry(origin.clone());
                Some(Arc::clone(known.or_insert_with(|| Arc::new(dated))))
            }
            Err(err) => {
                self.loaded().fail(archive.path().display().to_string(), err.to_string());
                None
            }
        }
    }

    /// What an archive has of an origin about which [`Judge::known`] was asked; `None` where it has
    /// nothing, or robots.txt files have no history.
    pub fn history(&self, origin: &Origin) -> Option<Arc<OriginHistory>> {
        self.loaded().dated.get(origin).cloned()
    }

    /// What [`Judge::known`] says, read anew.
    ///
    /// # Errors
    /// Where the archive cannot be read.
    pub fn dated(&self, origin: &Origin, host_source: HostSource) -> Result<Option<OriginHistory>> {
        match &self.store {
            Store::File(_) | Store::Directory(_) => {
                Ok(self.site(origin, host_source).map(OriginHistory::always))
            }
            Store::Archive(archive) => self.archived(archive, origin),
        }
    }

    fn archived(&self, archive: &Archive, origin: &Origin) -> Result<Option<OriginHistory>> {
        let entries = archive.history(origin)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let History { timeline, bodies, versions: of_entries } = History::new(&entries);
        let versions = bodies
            .iter()
            .map(|key| {
                if let Some(known) = self.loaded().by_digest.get(&key.digest) {
                    return Ok(Arc::clone(known));
                }
                let body = archive.body(*key)?;
                let robots = self.version_of(key.digest, &body);
                self.keep(0);
                Ok(robots)
            })
            .collect::<Result<_>>()?;
        let seen = entries.iter().zip(of_entries).map(|(entry, version)| SnapshotRef {
            fetched_at: entry.fetch.fetched_at,
            outcome: entry.fetch.outcome,
            max_age_seconds: entry.fetch.max_age_seconds,
            version,
        });
        Ok(Some(OriginHistory::new(timeline, versions, seen.collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::snapshot::{Failure, Fetch};
    use crate::archive::writer::NewSnapshot;
    use crate::crawlers::registry::Registry;
    use crate::url::dialect::Dialect;

    const HOUR: i64 = 3600;
    const OPEN: &str = "User-agent: *\nDisallow: /closed\n";
    const CLOSED: &str = "User-agent: *\n\nDisallow: /\n";

    fn time(hours: i64) -> UtcTime {
        UtcTime::from_unix_seconds(hours * HOUR).unwrap()
    }

    fn judge(snapshots: &[(i64, SnapshotOutcome, &str)]) -> (tempfile::TempDir, Judge, Origin) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive");
        let origin = Origin::parse(b"https://a.example").unwrap();
        let mut writer = Archive::writer(&path).unwrap();
        for (hours, outcome, body) in snapshots {
            let (fetched_at, outcome) = (time(*hours), *outcome);
            let fetch = Fetch { fetched_at, outcome, max_age_seconds: None, chain: Vec::new() };
            let body = body.as_bytes().to_vec().into();
            let source = "test".to_owned();
            writer.push(NewSnapshot { origin: origin.clone(), fetch, source, body }).unwrap();
        }
        writer.flush().unwrap();
        let store = Store::open(&path).unwrap();
        let judge = Judge::new(store, &Registry::builtin(), Dialect::Google).unwrap();
        (dir, judge, origin)
    }

    #[test]
    fn what_decides_in_a_span_is_listed_once() {
        let (ok, timeout) =
            (SnapshotOutcome::Status(200), SnapshotOutcome::Failure(Failure::Timeout));
        let (_dir, judge, origin) = judge(&[
            (10, ok, OPEN),
            (20, ok, OPEN),
            (100, SnapshotOutcome::Unfollowed, ""),
            (200, timeout, ""),
            (2000, ok, CLOSED),
        ]);
        let dated = judge.known(&origin, HostSource::Own).unwrap();
        let check = |first, last, before, expected: &[i64]| {
            let times: Vec<UtcTime> = dated.seen.iter().map(|seen| seen.fetched_at).collect();
            let found = dated.timeline.between(&times, time(first), time(last), before);
            let found = found.iter().map(|(at, _)| times[*at].unix_seconds() / HOUR);
            assert_eq!(found.collect::<Vec<_>>(), expected, "{first} to {last}");
        };
        check(0, 5, BeforeFirst::Unknown, &[]);
        check(0, 5, BeforeFirst::AsFirst, &[10]);
        check(15, 15, BeforeFirst::Unknown, &[10]);
        check(0, 150, BeforeFirst::Unknown, &[10, 20]);
        check(150, 300, BeforeFirst::Unknown, &[20, 200]);
        // Just before the last one the failures had lasted for more than 30 days.
        check(300, 2000, BeforeFirst::Unknown, &[20, 200, 2000]);
    }
}
