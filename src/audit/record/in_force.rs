//! Which robots.txt governed which origin on a day, as it is kept with the sums of that day.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::audit::finish::InForce;
use crate::audit::place::Place;
use crate::audit::snapshots::{
    ORIGINS_TOLD_MAX, OriginSnapshots, SNAPSHOTS_TOLD_MAX, Snapshots, UsedSnapshot,
};
use crate::audit::tally::Tally;
use crate::error::Result;
use crate::judge::robots::Robots;
use crate::judge::stored_versions::seen_of;
use crate::judge::timeline::BeforeFirst;
use crate::judge::{HostSource, Judge};
use crate::merge::Merge;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::damaged;

/// What was in force on a day.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct InForceRecord {
    /// Files by name, with their digests.
    robots: BTreeSet<(String, String)>,
    /// Of an archive, by origin.
    snapshots: BTreeMap<String, OriginRecord>,
    /// Files that could not be read, by name.
    failures: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
struct OriginRecord {
    source: String,
    /// By the time when each was fetched: what came of it, and the digest of the rules it put in force.
    seen: BTreeMap<i64, (String, Option<String>)>,
}

/// A version of a robots.txt that judged.
#[derive(Clone, Debug)]
pub struct Version {
    /// What it governed; `None` where no origin is known.
    pub origin: Option<Origin>,
    /// Of its bytes.
    pub digest: String,
}

/// What was known of one robots.txt on a day.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Ruled<'a> {
    /// An origin, or the name of a file.
    pub source: &'a str,
    /// When it was fetched, in seconds since the epoch; 0 of a file.
    pub at: i64,
    /// What came of fetching or reading it.
    pub outcome: &'a str,
    /// The digest of its text, where there was one.
    pub digest: Option<&'a str>,
}

impl Merge for InForceRecord {
    fn absorb(&mut self, other: InForceRecord) {
        self.robots.extend(other.robots);
        self.failures.extend(other.failures);
        for (origin, record) in other.snapshots {
            let ours = self.snapshots.entry(origin).or_default();
            ours.source = record.source;
            ours.seen.extend(record.seen);
        }
    }
}

impl InForceRecord {
    /// What `judge` judged the requests of `tally` by, all of which lie in the day from `first` to
    /// `last`.
    pub fn new(
        tally: &Tally,
        judge: &Judge,
        (first, last): (UtcTime, UtcTime),
        before: BeforeFirst,
    ) -> (InForceRecord, Vec<Version>) {
        let mut record = InForceRecord::default();
        let mut versions = Vec::new();
        for place in tally.places.places() {
            let digests = match place {
                Place::Origin(origin) if judge.is_dated() => {
                    record.add_history(origin, judge, (first, last), before)
                }
                Place::Origin(origin) => record.add_file(Some(origin), judge),
                Place::Unnamed => record.add_file(None, judge),
                Place::Invalid | Place::Others => Vec::new(),
            };
            let origin = match place {
                Place::Origin(origin) => Some(origin.clone()),
                _ => None,
            };
            let version = |digest| Version { origin: origin.clone(), digest };
            versions.extend(digests.into_iter().map(version));
        }
        (record, versions)
    }

    fn add_file(&mut self, origin: Option<&Origin>, judge: &Judge) -> Vec<String> {
        let robots = match origin {
            Some(origin) => judge.site(origin, HostSource::Own),
            None => judge.unnamed(),
        };
        let Some(source) = judge.source(origin) else { return Vec::new() };
        if let Some(robots) = robots {
            self.robots.insert((source, robots.digest.to_string()));
            return vec![robots.digest.to_string()];
        }
        if let Some(why) = judge.failure(&source) {
            self.failures.insert(source, why);
        }
        Vec::new()
    }

    fn add_history(
        &mut self,
        origin: &Origin,
        judge: &Judge,
        (first, last): (UtcTime, UtcTime),
        before: BeforeFirst,
    ) -> Vec<String> {
        let source = judge.source(Some(origin)).unwrap_or_default();
        let Some(dated) = judge.known(origin, HostSource::Own) else {
            if let Some(why) = judge.failure(&source) {
                self.failures.insert(source, why);
            }
            return Vec::new();
        };
        let between = dated.between(first, last, before);
        let seen = between.iter().map(|(seen, robots)| {
            let digest = robots.map(|robots| robots.digest.to_string());
            (seen.fetched_at.unix_seconds(), (seen.outcome.to_string(), digest))
        });
        let record = OriginRecord { source, seen: seen.collect() };
        self.snapshots.insert(origin.to_string(), record);
        between.into_iter().filter_map(|(_, robots)| Some(robots?.digest.to_string())).collect()
    }

    /// The digests of all versions.
    pub fn digests(&self) -> impl Iterator<Item = &str> {
        let of_snapshots = self.snapshots.values().flat_map(|record| record.seen.values());
        let of_snapshots = of_snapshots.filter_map(|(_, digest)| digest.as_deref());
        self.robots.iter().map(|(_, digest)| digest.as_str()).chain(of_snapshots)
    }

    /// Each robots.txt, in the order of names and times.
    pub fn ruled(&self) -> Vec<Ruled<'_>> {
        let files = self.robots.iter().map(|(source, digest)| Ruled {
            source,
            at: 0,
            outcome: "200",
            digest: Some(digest),
        });
        let failed = self.failures.keys().map(|source| Ruled {
            source,
            at: 0,
            outcome: "unreadable",
            digest: None,
        });
        let fetched = self.snapshots.iter().flat_map(|(origin, record)| {
            record.seen.iter().map(move |(&at, (outcome, digest))| Ruled {
                source: origin,
                at,
                outcome,
                digest: digest.as_deref(),
            })
        });
        let mut all: Vec<Ruled<'_>> = files.chain(failed).chain(fetched).collect();
        all.sort();
        all
    }

    /// As an audit tells it.
    ///
    /// # Errors
    /// Where `judge` does not know what is named.
    pub fn told(&self, judge: &Judge) -> Result<InForce> {
        let version = |digest: &String| -> Result<Arc<Robots>> {
            judge
                .interned(digest)
                .ok_or_else(|| damaged(&format!("there is no robots.txt {digest}")))
        };
        let mut robots = Vec::new();
        for (source, digest) in &self.robots {
            robots.push((source.clone(), version(digest)?));
        }
        let mut snapshots = Snapshots::default();
        for (origin, OriginRecord { source, seen }) in &self.snapshots {
            let mut told = Vec::new();
            let mut versions = BTreeSet::new();
            for (&at, (outcome, digest)) in seen {
                let at = UtcTime::from_unix_seconds(at);
                let seen = at.and_then(|at| seen_of(at, outcome));
                let seen = seen.ok_or_else(|| damaged("a snapshot that is none"))?;
                let rules = digest.as_ref().map(version).transpose()?;
                if let Some(rules) = rules.as_ref().filter(|rules| versions.insert(rules.id)) {
                    robots.push((format!("{source} at {}", seen.fetched_at), Arc::clone(rules)));
                }
                told.push(UsedSnapshot { seen, robots: rules });
            }
            snapshots.origins_total += 1;
            if snapshots.origins.len() < ORIGINS_TOLD_MAX {
                let snapshots_total = told.len();
                told.truncate(SNAPSHOTS_TOLD_MAX);
                let origin = origin.clone();
                snapshots.origins.push(OriginSnapshots {
                    origin,
                    snapshots: told,
                    snapshots_total,
                });
            }
        }
        let failures = self.failures.values();
        let failures = failures.map(|why| format!("{why}; its origin is counted as unknown"));
        Ok(InForce::Kept { robots, snapshots, failures: failures.collect() })
    }
}
