//! Which ruling was in force when, from the snapshots of one origin, such as those of an archive.

use std::collections::{BTreeMap, HashMap};

use crate::archive::snapshot::{BodyKey, HistoryEntry, SnapshotOutcome};
use crate::time::UtcTime;

const DAY_SECONDS: i64 = 86_400;

/// How long an unbroken run of failures disallows an origin, from its first failure, in seconds.
pub(crate) const UNREACHABLE_SECONDS_MAX: i64 = 30 * DAY_SECONDS;

/// How long a crawler may keep a copy without `max-age`, in seconds.
pub(crate) const LIFETIME_SECONDS: i64 = DAY_SECONDS;

/// How long a crawler may keep a copy, whatever `max-age` says, in seconds.
pub(crate) const LIFETIME_SECONDS_MAX: i64 = 7 * DAY_SECONDS;

/// The index of a body in the caller's list.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Version(pub u32);

/// The properties of a snapshot that a timeline needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sighting {
    /// When it was fetched.
    pub fetched_at: UtcTime,
    /// The outcome.
    pub outcome: SnapshotOutcome,
    /// `Cache-Control: max-age`, in seconds.
    pub max_age_seconds: Option<u64>,
    /// The body, if the outcome is a success.
    pub version: Option<Version>,
}

/// The ruling of a snapshot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ruling {
    /// The rules of this body.
    Rules(Version),
    /// Everything is allowed.
    AllowAll(AllowAll),
    /// Nothing is, for the time being: 429, 5xx, or no answer.
    Unreachable,
}

/// Why everything is allowed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AllowAll {
    /// 4xx except 429: there is no robots.txt.
    NoFile,
    /// Redirects that lead nowhere, or on and on, count as no robots.txt.
    Redirects,
    /// Unreachable for more than 30 days, and there is no copy from before.
    UnreachableWithoutCopy,
}

/// The ruling in force at one time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RulingInForce {
    /// The ruling.
    pub ruling: Ruling,
    /// The index of its snapshot in the caller's list.
    pub decided_by: usize,
    /// The first failure of the current run, also if an older snapshot decides after 30 days.
    pub unreachable_since: Option<UtcTime>,
    /// Seconds since that snapshot was fetched; negative if it was fetched later, before which no
    /// ruling is known; `None` for a single file.
    pub age_seconds: Option<i64>,
    run: usize,
}

/// The index if an outage from logs decides.
const LOGS: usize = usize::MAX;

impl RulingInForce {
    /// An outage from logs, without a snapshot.
    pub(super) fn by_logs(ruling: Ruling) -> RulingInForce {
        let (unreachable_since, age_seconds) = (None, None);
        RulingInForce { ruling, decided_by: LOGS, unreachable_since, age_seconds, run: 0 }
    }

    /// The same if the first snapshot is in force since ever.
    pub(super) fn since_ever(self) -> RulingInForce {
        RulingInForce { age_seconds: self.age_seconds.filter(|age| *age >= 0), ..self }
    }

    /// Whether logs decided, and no snapshot.
    pub(crate) fn is_by_logs(&self) -> bool {
        self.decided_by == LOGS
    }
}

/// How times before the first snapshot are judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BeforeFirst {
    /// By the first ruling that is not a failure. A failed fetch says nothing about earlier times.
    AsFirst,
    /// Nothing is known.
    Unknown,
}

/// The rulings of one origin, from the earliest to the latest.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Timeline {
    stretches: Vec<Stretch>,
    runs: Vec<Run>,
}

/// From one snapshot that amounts to a ruling to the next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Stretch {
    /// `None`: since ever.
    from: Option<UtcTime>,
    sighting: usize,
    lifetime_seconds: i64,
    run: usize,
}

/// Consecutive periods of one ruling.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Run {
    ruling: Ruling,
    first_stretch: usize,
    /// The last earlier period that is not a failure.
    copy: Option<usize>,
    /// The time after which no crawler has a copy of it; unset while it lasts.
    held_until: Option<i64>,
}

/// Consecutive snapshots of one ruling, whatever failed between them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Period {
    /// The ruling, which is not a failure.
    pub ruling: Ruling,
    /// The first snapshot.
    pub first: UtcTime,
    /// The last snapshot.
    pub last: UtcTime,
}

/// The effect of a snapshot on the ruling before it.
enum Effect {
    Sets(Ruling),
    /// 304: the last body still counts.
    Confirms,
    Nothing,
}

impl Timeline {
    /// The timeline of `sightings`, ordered by time.
    pub(crate) fn new(sightings: &[Sighting]) -> Timeline {
        let mut timeline = Timeline::default();
        for (index, sighting) in sightings.iter().enumerate() {
            timeline.add(index, sighting);
        }
        timeline.settle();
        timeline
    }

    /// One body that counts at all times.
    pub(crate) fn always(version: Version) -> Timeline {
        let stretch =
            Stretch { from: None, sighting: 0, lifetime_seconds: LIFETIME_SECONDS, run: 0 };
        let ruling = Ruling::Rules(version);
        let run = Run { ruling, first_stretch: 0, copy: None, held_until: None };
        Timeline { stretches: vec![stretch], runs: vec![run] }
    }

    /// The ruling in force at `time`; `None` if nothing is known.
    pub fn at(&self, time: UtcTime, before: BeforeFirst) -> Option<RulingInForce> {
        let started = |stretch: &Stretch| stretch.from.is_none_or(|from| from <= time);
        match self.stretches.partition_point(started).checked_sub(1) {
            Some(last) => Some(self.in_force(&self.stretches[last], time)),
            None if before == BeforeFirst::AsFirst => {
                Some(self.in_force(self.first_known()?, time))
            }
            None => None,
        }
    }

    /// The first stretch that is not a failure. Runs of one ruling do not follow each other, so it
    /// begins the first run or the second.
    fn first_known(&self) -> Option<&Stretch> {
        let is_known = |run: &&Run| run.ruling != Ruling::Unreachable;
        let run = self.runs.iter().take(2).find(is_known)?;
        Some(&self.stretches[run.first_stretch])
    }

    /// The rulings that are not failures, the earliest first.
    pub(crate) fn periods(&self) -> Vec<Period> {
        let mut periods: Vec<Period> = Vec::new();
        for stretch in &self.stretches {
            let ruling = self.runs[stretch.run].ruling;
            let Some(from) = stretch.from.filter(|_| ruling != Ruling::Unreachable) else {
                continue;
            };
            match periods.last_mut() {
                Some(period) if period.ruling == ruling => period.last = from,
                _ => periods.push(Period { ruling, first: from, last: from }),
            }
        }
        periods
    }

    /// The sightings at `times` that decide at any time from `first` to `last`: their indexes, the
    /// earliest first, and their rulings.
    pub(crate) fn between(
        &self,
        times: &[UtcTime],
        first: UtcTime,
        last: UtcTime,
        before: BeforeFirst,
    ) -> Vec<(usize, Ruling)> {
        let changes = times.iter().skip_while(|at| **at <= first).take_while(|at| **at <= last);
        // The ruling may also change shortly before a sighting, after a long run of failures.
        let changes = changes
            .flat_map(|&at| [UtcTime::from_unix_seconds(at.unix_seconds() - 1).unwrap_or(at), at]);
        let asked = std::iter::once(first).chain(changes).chain([last]);
        let in_force = asked.filter_map(|time| self.at(time, before));
        let by_snapshot: BTreeMap<usize, Ruling> = in_force
            .filter(|in_force| in_force.decided_by < times.len())
            .map(|in_force| (in_force.decided_by, in_force.ruling))
            .collect();
        by_snapshot.into_iter().collect()
    }

    /// Other rulings that a crawler may have held at `time`, at which `in_force` was in force; the
    /// latest first.
    pub(crate) fn held(
        &self,
        in_force: &RulingInForce,
        time: UtcTime,
    ) -> impl Iterator<Item = Ruling> + '_ {
        let seconds = time.unix_seconds();
        // Before the first snapshot, no earlier copy is known.
        let is_before_first = in_force.age_seconds.is_some_and(|age| age < 0);
        let current = if is_before_first { 0 } else { in_force.run };
        let earlier = self.runs[..current].iter().enumerate().rev();
        let recent = earlier.take_while(move |(index, _)| {
            self.end(*index).is_some_and(|end| seconds - end <= LIFETIME_SECONDS_MAX)
        });
        let held = recent
            .filter(move |(_, run)| run.held_until.is_some_and(|until| seconds <= until))
            .map(|(_, run)| match run.ruling {
                // Only failures of more than 30 days count as a copy, as the ruling that they
                // became.
                Ruling::Unreachable => self.copy(run).0,
                ruling => ruling,
            });
        let mut before = None;
        held.filter(move |ruling| before.replace(*ruling) != Some(*ruling))
    }

    /// The ruling after `in_force`, if `time` is between the last snapshot of that and the first of this.
    pub(super) fn upcoming(&self, in_force: &RulingInForce, time: UtcTime) -> Option<Ruling> {
        let next = self.runs.get(in_force.run + 1)?;
        let last = self.stretches.get(next.first_stretch.checked_sub(1)?)?;
        last.from.filter(|from| *from < time).map(|_| next.ruling)
    }

    fn in_force(&self, stretch: &Stretch, time: UtcTime) -> RulingInForce {
        let run = &self.runs[stretch.run];
        let failing_since = match run.ruling {
            Ruling::Unreachable => self.stretches[run.first_stretch].from,
            _ => None,
        };
        let is_over = failing_since.is_some_and(|since| is_past_the_limit(since, time));
        let (ruling, decided_by) = match is_over {
            false => (run.ruling, stretch),
            true => {
                let (ruling, copy) = self.copy(run);
                (ruling, copy.unwrap_or(stretch))
            }
        };
        RulingInForce {
            ruling,
            decided_by: decided_by.sighting,
            unreachable_since: failing_since,
            age_seconds: decided_by.from.map(|from| time.unix_seconds() - from.unix_seconds()),
            run: stretch.run,
        }
    }

    /// The ruling after 30 days of failures, and its last snapshot.
    fn copy(&self, run: &Run) -> (Ruling, Option<&Stretch>) {
        match run.copy {
            None => (Ruling::AllowAll(AllowAll::UnreachableWithoutCopy), None),
            Some(copy) => {
                let next = self.runs[copy + 1].first_stretch;
                (self.runs[copy].ruling, Some(&self.stretches[next - 1]))
            }
        }
    }

    fn add(&mut self, index: usize, sighting: &Sighting) {
        let before = self.runs.len().checked_sub(1);
        let copy = before.and_then(|last| match self.runs[last].ruling {
            Ruling::Unreachable => self.runs[last].copy,
            _ => Some(last),
        });
        let ruling = match effect(sighting) {
            Effect::Nothing => return,
            Effect::Sets(ruling) => ruling,
            Effect::Confirms => match copy {
                Some(copy) => self.runs[copy].ruling,
                None => return,
            },
        };
        let stretch = self.stretches.len();
        if before.is_none_or(|last| self.runs[last].ruling != ruling) {
            self.runs.push(Run { ruling, first_stretch: stretch, copy, held_until: None });
        }
        self.stretches.push(Stretch {
            from: Some(sighting.fetched_at),
            sighting: index,
            lifetime_seconds: lifetime_seconds(sighting),
            run: self.runs.len() - 1,
        });
    }

    /// Sets how long copies of each period may be kept.
    fn settle(&mut self) {
        for next in 1..self.stretches.len() {
            let stretch = self.stretches[next - 1];
            let is_last = self.stretches[next].run != stretch.run;
            let end = self.stretches[next].from.map(UtcTime::unix_seconds);
            let Some(end) = (if is_last { self.end(stretch.run) } else { end }) else { continue };
            let since = self.stretches[self.runs[stretch.run].first_stretch].from;
            let run = &mut self.runs[stretch.run];
            let became_a_copy =
                since.is_some_and(|since| end - since.unix_seconds() > UNREACHABLE_SECONDS_MAX);
            if run.ruling != Ruling::Unreachable || became_a_copy {
                run.held_until = run.held_until.max(Some(end + stretch.lifetime_seconds));
            }
        }
    }

    /// When the first snapshot after a run was seen by which a copy could be replaced: failures do
    /// not replace it, unless nothing follows.
    fn end(&self, run: usize) -> Option<i64> {
        let next = self.runs.get(run + 1)?;
        let after = self.runs.get(run + 2).filter(|_| next.ruling == Ruling::Unreachable);
        self.stretches[after.unwrap_or(next).first_stretch].from.map(UtcTime::unix_seconds)
    }
}

fn effect(sighting: &Sighting) -> Effect {
    match (sighting.outcome, sighting.version) {
        (SnapshotOutcome::Status(200..=299), Some(version)) => Effect::Sets(Ruling::Rules(version)),
        // The body was not kept.
        (SnapshotOutcome::Status(200..=299), None) | (SnapshotOutcome::Unfollowed, _) => {
            Effect::Nothing
        }
        (SnapshotOutcome::Status(304), _) => Effect::Confirms,
        (SnapshotOutcome::Status(300..=399), _) => {
            Effect::Sets(Ruling::AllowAll(AllowAll::Redirects))
        }
        (SnapshotOutcome::Status(429), _) => Effect::Sets(Ruling::Unreachable),
        (SnapshotOutcome::Status(400..=499), _) => Effect::Sets(Ruling::AllowAll(AllowAll::NoFile)),
        // Statuses that no final answer has are invalid responses.
        (SnapshotOutcome::Status(_) | SnapshotOutcome::Failure(_), _) => {
            Effect::Sets(Ruling::Unreachable)
        }
    }
}

fn is_past_the_limit(since: UtcTime, now: UtcTime) -> bool {
    now.unix_seconds() - since.unix_seconds() > UNREACHABLE_SECONDS_MAX
}

fn lifetime_seconds(sighting: &Sighting) -> i64 {
    let given = sighting.max_age_seconds.map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX));
    given.unwrap_or(LIFETIME_SECONDS).min(LIFETIME_SECONDS_MAX)
}

#[cfg(test)]
mod tests;

/// The rulings of an origin, and their bodies.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// A sighting for each entry, in the same order.
    pub timeline: Timeline,
    /// By [`Version`], each once.
    pub bodies: Vec<BodyKey>,
    /// Each entry, in the same order.
    pub sightings: Box<[Sighting]>,
}

impl History {
    /// The history of one origin with the snapshots `entries`, in order.
    pub fn new(entries: &[HistoryEntry]) -> History {
        let mut bodies = Vec::new();
        let mut versions = HashMap::new();
        let mut version_of = |key: BodyKey| {
            *versions.entry(key).or_insert_with(|| {
                bodies.push(key);
                let index = u32::try_from(bodies.len() - 1);
                Version(index.expect("no origin has four thousand million versions"))
            })
        };
        let sightings: Box<[Sighting]> = entries
            .iter()
            .map(|entry| Sighting {
                fetched_at: entry.fetch.fetched_at,
                outcome: entry.fetch.outcome,
                max_age_seconds: entry.fetch.max_age_seconds,
                version: entry.body.map(&mut version_of),
            })
            .collect();
        History { timeline: Timeline::new(&sightings), bodies, sightings }
    }

    /// The body of `version`.
    pub(crate) fn body(&self, version: Version) -> BodyKey {
        self.bodies[version.0 as usize]
    }
}
