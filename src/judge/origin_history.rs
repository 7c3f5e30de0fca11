//! The history of an origin: which snapshot was in force when, from an archive or from a tally; and the changes of the
//! rules for one crawler, with the paths that they touch.
//!
//! A change is a pair of consecutive rulings whose rules for the crawler differ. Failures to fetch
//! robots.txt are not rulings here; an answer that amounts to no robots.txt is one without rules.
//! Order, repetitions and lines of rules do not count as a difference.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use serde::{Deserialize, Serialize};

use crate::archive::snapshot::SnapshotOutcome;
use crate::digest::Digest;
use crate::matcher::{compiled::CompiledPolicy, decision::Decision};
use crate::time::UtcTime;

use super::by_crawler::ByCrawler;
use super::outages::{OutageEffect, Outages};
use super::robots::{BoundRules, Robots};
use super::timeline::{
    AllowAll, BeforeFirst, Period, Ruling, RulingInForce, Sighting, Timeline, Version,
};

/// The history of one origin.
#[derive(Clone, Debug, Default)]
pub struct OriginHistory {
    timeline: Timeline,
    /// By [`Version`].
    versions: Box<[Arc<Robots>]>,
    /// By the index in a [`RulingInForce`]; empty for a single file.
    snapshots: Box<[Sighting]>,
    /// The ruling since the newest snapshot.
    newest: Option<RulingInForce>,
    /// Whether it is in force at all times: a single file without outages.
    is_constant: bool,
    /// Whether it is that of a file, whose first version is in force since ever.
    is_of_files: bool,
    /// Outages from logs.
    outages: Option<Arc<Outages>>,
    /// The changes of rules; `None` if rules never changed.
    pub(super) changes: Option<Arc<OnceLock<RuleChanges>>>,
}

/// Copies of a robots.txt from around a time.
pub(super) struct Around<'a> {
    pub copies: Vec<&'a Robots>,
    /// Whether one is from before that time, and one from after it.
    pub is_between_copies: bool,
}

impl OriginHistory {
    /// One file that counts at all times.
    pub fn always(robots: Arc<Robots>) -> OriginHistory {
        let timeline = Timeline::always(Version(0));
        let history = OriginHistory::new(timeline, [robots].into(), Box::default());
        OriginHistory { is_constant: true, ..history }
    }

    pub(super) fn new(
        timeline: Timeline,
        versions: Box<[Arc<Robots>]>,
        snapshots: Box<[Sighting]>,
    ) -> OriginHistory {
        let changes = (timeline.periods().len() > 1).then(Arc::default);
        let newest = snapshots.iter().map(|snapshot| snapshot.fetched_at).max();
        let newest = timeline.at(newest.unwrap_or(UtcTime::EPOCH), BeforeFirst::AsFirst);
        OriginHistory { timeline, versions, snapshots, newest, changes, ..OriginHistory::default() }
    }

    /// The same history, of the versions of a file: each snapshot is a sight of it. The first version is in force
    /// since ever. Between the last sight of a version and the first one of the next, nobody knows which of both was
    /// in force.
    pub(super) fn of_files(self) -> OriginHistory {
        OriginHistory { is_of_files: true, ..self }
    }

    /// The version with the newest body.
    pub(super) fn last_version(&self) -> Option<&Arc<Robots>> {
        self.versions.last()
    }

    /// Whether rules may have changed.
    pub(crate) fn has_changes(&self) -> bool {
        self.changes.is_some()
    }

    /// The snapshot that decided; `None` for a single file or an outage from logs.
    pub(crate) fn snapshot(&self, in_force: &RulingInForce) -> Option<Sighting> {
        self.snapshots.get(in_force.decided_by).copied()
    }

    /// How many snapshots there are.
    pub(crate) fn snapshot_count(&self) -> usize {
        self.snapshots.len()
    }

    /// The ruling since the newest snapshot; `None` if nothing is known.
    pub(super) fn newest(&self) -> Option<RulingInForce> {
        self.newest
    }

    /// The same history with outages from logs.
    pub(super) fn with_outages(self, outages: Arc<Outages>) -> OriginHistory {
        OriginHistory { outages: Some(outages), is_constant: false, ..self }
    }

    /// Other rulings that a crawler may have held at `time`, at which `in_force` was in force.
    pub(super) fn held(
        &self,
        in_force: &RulingInForce,
        time: UtcTime,
    ) -> impl Iterator<Item = Ruling> + '_ {
        let upcoming = self.timeline.upcoming(in_force, time).filter(|_| self.is_of_files);
        self.timeline.held(in_force, time).chain(upcoming)
    }

    /// The ruling in force at `time`; `None` if nothing is known.
    #[inline]
    pub(crate) fn at(&self, time: UtcTime, before: BeforeFirst) -> Option<RulingInForce> {
        if self.is_constant {
            return self.newest;
        }
        let in_force = match self.is_of_files {
            false => self.timeline.at(time, before),
            true => self.timeline.at(time, BeforeFirst::AsFirst).map(RulingInForce::since_ever),
        };
        let Some(outage) = self.outages.as_ref().and_then(|outages| outages.at(time)) else {
            return in_force;
        };
        // Continues a run of failures of the archive, which counts from its first failure.
        let is_failing = in_force.is_some_and(|in_force| in_force.unreachable_since.is_some());
        match outage {
            OutageEffect::Closes if !is_failing => {
                Some(RulingInForce::by_logs(Ruling::Unreachable))
            }
            OutageEffect::Outlasted if in_force.is_none() => {
                Some(RulingInForce::by_logs(Ruling::AllowAll(AllowAll::UnreachableWithoutCopy)))
            }
            OutageEffect::Closes | OutageEffect::Outlasted => in_force,
        }
    }

    /// The file that counts at all times, if there is one.
    pub(super) fn constant(&self) -> Option<&Arc<Robots>> {
        self.rules(self.newest.filter(|_| self.is_constant)?.ruling)
    }

    /// All snapshots with their bodies, the earliest first; none for a single file.
    pub(crate) fn snapshots(&self) -> impl Iterator<Item = (Sighting, Option<&Arc<Robots>>)> {
        let robots = |version: Version| self.robots(version);
        self.snapshots.iter().map(move |snapshot| (*snapshot, snapshot.version.map(robots)))
    }

    /// The copies of the file from around `time`: the last one before it, those of the `seconds` before it, and
    /// the first one after it. All versions of a single file.
    pub(super) fn around(&self, time: UtcTime, seconds: i64) -> Around<'_> {
        if self.snapshots.is_empty() {
            let copies = self.versions.iter().map(|robots| &**robots).collect();
            return Around { copies, is_between_copies: false };
        }
        let split = self.snapshots.partition_point(|snapshot| snapshot.fetched_at <= time);
        let (before, after) = self.snapshots.split_at(split);
        let copy = |snapshot: &Sighting| snapshot.version.map(|version| &**self.robots(version));
        let recent = |snapshot: &&Sighting| {
            time.unix_seconds() - snapshot.fetched_at.unix_seconds() <= seconds
        };
        let last = before.iter().rev().find_map(copy);
        let next = after.iter().find_map(copy);
        // A file may not be the one that was served.
        let is_between_copies = last.is_some() && next.is_some() && !self.is_of_files;
        let recent = before.iter().rev().take_while(recent).filter_map(copy);
        let copies = recent.chain(last).chain(next).collect();
        Around { copies, is_between_copies }
    }

    /// The rulings that are not failures, the earliest first; none for a single file.
    pub(super) fn periods(&self) -> Vec<Period> {
        self.timeline.periods()
    }

    /// The version of robots.txt whose rules `ruling` puts in force.
    pub(crate) fn rules(&self, ruling: Ruling) -> Option<&Arc<Robots>> {
        match ruling {
            Ruling::Rules(version) => Some(self.robots(version)),
            Ruling::AllowAll(_) | Ruling::Unreachable => None,
        }
    }

    /// All versions of robots.txt.
    pub(super) fn versions(&self) -> impl Iterator<Item = &Arc<Robots>> {
        self.versions.iter()
    }

    fn robots(&self, version: Version) -> &Arc<Robots> {
        &self.versions[version.0 as usize]
    }
}

/// The history of one origin.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct SnapshotHistory {
    /// The name of the archive, and the origin in it.
    pub source: String,
    /// By the time of the fetch.
    pub snapshots: BTreeMap<UtcTime, SnapshotSummary>,
}

/// One snapshot.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SnapshotSummary {
    /// The outcome of the fetch.
    #[serde(with = "as_text")]
    pub outcome: SnapshotOutcome,
    /// `Cache-Control: max-age`, in seconds.
    pub max_age_seconds: Option<u64>,
    /// The digest of its body, if it has one.
    pub digest: Option<Digest>,
}

/// A snapshot that decided requests.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotInForce {
    /// When it was fetched.
    pub fetched_at: UtcTime,
    /// The outcome.
    pub outcome: SnapshotOutcome,
    /// The digest of the robots.txt that was in force, if any.
    pub digest: Option<Digest>,
}

impl SnapshotHistory {
    /// The snapshots that decide at any time from `first` to `last`, the earliest first.
    pub(crate) fn between(
        &self,
        first: UtcTime,
        last: UtcTime,
        before: BeforeFirst,
    ) -> Vec<SnapshotInForce> {
        let (sightings, versions) = self.sightings();
        let times: Vec<UtcTime> = sightings.iter().map(|sighting| sighting.fetched_at).collect();
        let deciding = Timeline::new(&sightings).between(&times, first, last, before);
        let of = |(at, ruling): (usize, Ruling)| SnapshotInForce {
            fetched_at: sightings[at].fetched_at,
            outcome: sightings[at].outcome,
            digest: digest_of(ruling, &versions),
        };
        deciding.into_iter().map(of).collect()
    }

    /// Each run of snapshots with the same ruling, whatever failed between them: the time of the
    /// first and of the last, and the digest of the robots.txt, if there was one.
    pub(crate) fn periods(&self) -> Vec<(UtcTime, UtcTime, Option<Digest>)> {
        let (sightings, versions) = self.sightings();
        let periods = Timeline::new(&sightings).periods();
        let of = |period: Period| (period.first, period.last, digest_of(period.ruling, &versions));
        periods.into_iter().map(of).collect()
    }

    fn sightings(&self) -> (Vec<Sighting>, Vec<Digest>) {
        let mut versions: Vec<Digest> = Vec::new();
        let sightings: Vec<Sighting> = self
            .snapshots
            .iter()
            .map(|(&fetched_at, snapshot)| Sighting {
                fetched_at,
                outcome: snapshot.outcome,
                max_age_seconds: snapshot.max_age_seconds,
                version: snapshot.digest.map(|digest| version_of(&mut versions, digest)),
            })
            .collect();
        (sightings, versions)
    }
}

fn digest_of(ruling: Ruling, versions: &[Digest]) -> Option<Digest> {
    match ruling {
        Ruling::Rules(Version(at)) => Some(versions[at as usize]),
        Ruling::AllowAll(_) | Ruling::Unreachable => None,
    }
}

fn version_of(versions: &mut Vec<Digest>, digest: Digest) -> Version {
    let at = versions.iter().position(|known| *known == digest).unwrap_or_else(|| {
        versions.push(digest);
        versions.len() - 1
    });
    Version(u32::try_from(at).expect("no origin has four thousand million versions"))
}

/// An outcome as reports write it.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::archive::snapshot::SnapshotOutcome;

    pub(crate) fn serialize<S: Serializer>(
        outcome: &SnapshotOutcome,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(outcome)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<SnapshotOutcome, D::Error> {
        let text = String::deserialize(from)?;
        SnapshotOutcome::parse(&text).ok_or_else(|| D::Error::custom("an outcome of no fetch"))
    }
}

/// The most changes of one crawler at one origin: the latest.
pub(crate) const CHANGES_MAX: usize = 100;

/// The changes at one origin, found when a crawler is first asked for.
#[derive(Debug)]
pub(super) struct RuleChanges {
    /// By crawler.
    pub by_crawler: ByCrawler<Arc<[RuleChange]>>,
    /// By the addresses of the rules of each period: most crawlers follow the same groups.
    pub by_rules: Mutex<ChangesByRules>,
}

type ChangesByRules = HashMap<Box<[usize]>, Arc<[RuleChange]>>;

/// A change of the rules for one crawler.
#[derive(Debug)]
pub(crate) struct RuleChange {
    /// The last fetch that still saw the old rules.
    pub after: UtcTime,
    /// The first fetch that saw the new rules.
    pub before: UtcTime,
    /// The first fetch that saw the old rules, if these were a change, too.
    pub since: Option<UtcTime>,
    /// Whether there are paths that are newly disallowed.
    pub disallows: bool,
    /// Whether there are paths that are newly allowed.
    pub allows: bool,
    /// The rules that only one of both rule sets has: they match each path that is touched.
    pub(super) differing: CompiledPolicy,
    pub(super) old: Option<Arc<BoundRules>>,
    pub(super) new: Option<Arc<BoundRules>>,
}

/// The effect of a change on a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Touched {
    /// Whether the path is newly allowed; else it is newly disallowed.
    pub is_allowed: bool,
    /// The line of the rule that disallows it: in the old version if it is newly allowed.
    pub line: u32,
}

impl RuleChange {
    /// The effect on `path`, which must be prepared; `None` if there is none.
    #[inline]
    pub(crate) fn touched(&self, path: &[u8]) -> Option<Touched> {
        self.differing.decide(path).rule()?;
        let decide = |rules: &Option<Arc<BoundRules>>| match rules {
            Some(rules) => rules.policy.decide(path).with_lines(&rules.lines),
            None => Decision::NO_RULE,
        };
        let (old, new) = (decide(&self.old), decide(&self.new));
        let disallowing = if new.allowed { old } else { new };
        let line = disallowing.line.filter(|_| old.allowed != new.allowed)?;
        Some(Touched { is_allowed: new.allowed, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::snapshot::{Failure, Fetch, SnapshotOutcome};
    use crate::archive::writer::NewSnapshot;
    use crate::archive::{Store, reader::Archive};
    use crate::crawlers::registry::Registry;
    use crate::judge::timeline::AllowAll;
    use crate::judge::{HostSource, Judge};
    use crate::url::origin::Origin;
    use crate::url::path::Dialect;

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
        let history = judge.known(&origin, HostSource::Own).unwrap();
        let check = |first, last, before, expected: &[i64]| {
            let times: Vec<UtcTime> =
                history.snapshots.iter().map(|snapshot| snapshot.fetched_at).collect();
            let found = history.timeline.between(&times, time(first), time(last), before);
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

    #[test]
    fn an_outage_of_the_logs_that_lasts_too_long_opens_what_no_snapshot_closes() {
        let ok = SnapshotOutcome::Status(200);
        let (_dir, judge, origin) = judge(&[(5000, ok, CLOSED)]);
        let history = || OriginHistory::clone(&judge.known(&origin, HostSource::Own).unwrap());
        assert_eq!(history().snapshot_count(), 1);
        let hours: Vec<i64> = (1000..1000 + 24 * 31).chain(6000..6000 + 24 * 31).collect();
        let history = history().with_outages(Arc::new(Outages::new(&hours, &[])));
        let ruling = |hours| history.at(time(hours), BeforeFirst::Unknown).map(|at| at.ruling);
        assert_eq!(ruling(999), None);
        assert_eq!(ruling(1000), Some(Ruling::Unreachable));
        let open = Ruling::AllowAll(AllowAll::UnreachableWithoutCopy);
        assert_eq!(ruling(1730), Some(open));
        let copy = ruling(5500);
        assert!(matches!(copy, Some(Ruling::Rules(_))), "{copy:?}");
        assert_eq!(ruling(6000), Some(Ruling::Unreachable));
        assert_eq!(ruling(6730), copy, "of the copy from before the outage");
    }

    #[test]
    fn hours_near_a_snapshot_are_passed_over() {
        let ok = SnapshotOutcome::Status(200);
        let (_dir, mut judge, origin) = judge(&[(100, ok, OPEN)]);
        let hours = vec![99, 101, 5000, 5001, 5002];
        judge.add_outages([(Some(origin), hours)].into());
        let outages = judge.known_outages().unwrap();
        assert_eq!((outages.hours, outages.hours_passed_over, outages.origins), (3, 2, 1));
    }
}
