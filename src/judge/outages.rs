//! Outages from logs: origins whose robots.txt could not be fetched, and how that changes their
//! timelines.
//!
//! Snapshots of an archive take precedence: hours near them do not count. The other hours make the
//! origin unreachable, like failed fetches.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::timeline::UNREACHABLE_SECONDS_MAX;

/// Seconds in an hour, the unit of outages.
pub(crate) const HOUR_SECONDS: i64 = 3600;

/// Outages within this many seconds before or after a snapshot do not count.
pub(crate) const SNAPSHOT_COUNTS_SECONDS: i64 = 86_400;

/// Hours since 1970 in which all fetches failed, in order, by origin; `None` is a log without
/// hosts.
pub(crate) type OutageHours = BTreeMap<Option<Origin>, Vec<i64>>;

/// The outages of one origin.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Outages {
    /// In order, and apart from each other: the first second, and the first one after.
    stretches: Box<[(i64, i64)]>,
}

/// The effect of an outage on a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OutageEffect {
    /// The origin is closed for the time being.
    Closes,
    /// It has lasted too long for that.
    Outlasted,
}

/// The outages from logs that a judge uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownOutages {
    pub(super) by_origin: HashMap<Origin, Arc<Outages>>,
    pub(super) unnamed: Option<Arc<Outages>>,
    /// Hours in which the robots.txt of an origin could not be fetched.
    pub hours: u64,
    /// Those origins.
    pub origins: u64,
    /// Hours that do not count, as an archive has a snapshot near them.
    pub hours_passed_over: u64,
}

impl Outages {
    /// The outages in `hours` since 1970, without those near `snapshots`. Both are in order.
    pub(super) fn new(hours: &[i64], snapshots: &[UtcTime]) -> Outages {
        let mut stretches: Vec<(i64, i64)> = Vec::new();
        for hour in hours {
            let (from, until) = (hour * HOUR_SECONDS, (hour + 1) * HOUR_SECONDS);
            if is_near(from, until, snapshots) {
                continue;
            }
            match stretches.last_mut() {
                Some((_, end)) if *end == from => *end = until,
                _ => stretches.push((from, until)),
            }
        }
        Outages { stretches: stretches.into() }
    }

    /// The effect at `time`; `None` outside of all outages.
    pub(crate) fn at(&self, time: UtcTime) -> Option<OutageEffect> {
        let seconds = time.unix_seconds();
        let started = self.stretches.partition_point(|&(from, _)| from <= seconds);
        let &(from, until) = self.stretches[..started].last()?;
        if seconds >= until {
            None
        } else if seconds - from > UNREACHABLE_SECONDS_MAX {
            Some(OutageEffect::Outlasted)
        } else {
            Some(OutageEffect::Closes)
        }
    }

    pub(super) fn hours(&self) -> u64 {
        let seconds: i64 = self.stretches.iter().map(|(from, until)| until - from).sum();
        u64::try_from(seconds / HOUR_SECONDS).unwrap_or_default()
    }
}

fn is_near(from: i64, until: i64, snapshots: &[UtcTime]) -> bool {
    let seconds = |at: &UtcTime| at.unix_seconds();
    let next = snapshots.partition_point(|at| seconds(at) <= from - SNAPSHOT_COUNTS_SECONDS);
    snapshots.get(next).is_some_and(|at| seconds(at) < until + SNAPSHOT_COUNTS_SECONDS)
}

impl KnownOutages {
    /// The outages of `origin`.
    pub(super) fn outages(&self, origin: Option<&Origin>) -> Option<&Arc<Outages>> {
        match origin {
            Some(origin) => self.by_origin.get(origin),
            None => self.unnamed.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(hours: i64) -> UtcTime {
        UtcTime::from_unix_seconds(hours * HOUR_SECONDS).unwrap()
    }

    #[track_caller]
    fn check(hours: &[i64], snapshots: &[i64], expected: &[(i64, i64)]) {
        let snapshots: Vec<UtcTime> = snapshots.iter().map(|&hours| time(hours)).collect();
        let outages = Outages::new(hours, &snapshots);
        let found = outages.stretches.iter();
        let found = found.map(|(from, until)| (from / HOUR_SECONDS, until / HOUR_SECONDS));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{hours:?} near {snapshots:?}");
    }

    #[test]
    fn hours_join_and_those_near_a_snapshot_are_left_out() {
        check(&[100, 101, 103], &[], &[(100, 102), (103, 104)]);
        // A snapshot a day before the hour is not near; one second later it is.
        check(&[100], &[76], &[(100, 101)]);
        check(&[100], &[77], &[]);
        check(&[100], &[100], &[]);
        check(&[100], &[124], &[]);
        check(&[100], &[125], &[(100, 101)]);
        check(&[100], &[0, 50, 200], &[(100, 101)]);
        check(&[10, 40, 100], &[0, 90], &[(40, 41)]);
    }

    #[test]
    fn an_outage_closes_for_thirty_days_at_most() {
        let hours: Vec<i64> = (1000..1000 + 24 * 31).collect();
        let outages = Outages::new(&hours, &[]);
        assert_eq!(outages.at(time(999)), None);
        assert_eq!(outages.at(time(1000)), Some(OutageEffect::Closes));
        assert_eq!(outages.at(time(1000 + 24 * 30)), Some(OutageEffect::Closes));
        assert_eq!(outages.at(time(1001 + 24 * 30)), Some(OutageEffect::Outlasted));
        assert_eq!(outages.at(time(1000 + 24 * 31)), None);
    }
}
