//! The log as a witness: hours in which nobody who asked for robots.txt got it.
//!
//! Lines come in any order and are spread over workers, so that answers are kept by the hour and
//! looked at when all of them are known. Of those who asked no more is kept than tells whether they
//! were three.

use std::collections::{BTreeMap, BTreeSet};

use crate::bounded::{Bounded, StableHash};
use crate::judge::outages::{HOUR_SECONDS, OutageHours};
use crate::merge::Merge;
use crate::time::UtcTime;

use super::finish::Audit;
use super::place::Place;
use super::place::Standing;
use super::sites::Site;
use super::tally::header::OutageSummary;

/// So many clients must have asked within an hour, all in vain.
pub const CLIENTS_MIN: usize = 3;

/// Days of origins of which answers are kept; hours of others show nothing.
pub const DAYS_MAX: usize = 1 << 18;

const HOURS_OF_DAY: i64 = 24;

/// How requests for robots.txt were answered.
#[derive(Clone, Debug)]
pub struct Witness {
    days: Bounded<PlaceDay, Answers>,
}

/// What a finished [`Witness`] shows.
#[derive(Clone, Debug, Default)]
pub struct Silent {
    /// Hours in which nobody got the robots.txt of an origin.
    pub hours: OutageHours,
    /// Whether there were more than [`DAYS_MAX`] days of origins.
    pub is_cut: bool,
}

/// What was counted of what the logs themselves show.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LogEvidence {
    /// Hours in which the robots.txt of some origin could not be got.
    pub hours: u64,
    /// Those origins.
    pub origins: u64,
    /// Hours that do not count, as the archive has a snapshot near them.
    pub hours_passed_over: u64,
    /// Requests that are unreachable by it.
    pub requests: u64,
}

/// A day of UTC at a place.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct PlaceDay {
    place: Place,
    /// Since 1970.
    day: i64,
}

/// The answers of one day.
#[derive(Clone, Debug, Default)]
struct Answers {
    /// Hours in which somebody got another answer than 429 or 5xx; a bit each.
    answered: u32,
    /// Of the other hours: who asked, by a keyed hash; never more than [`CLIENTS_MIN`].
    in_vain: BTreeMap<u8, BTreeSet<u64>>,
}

impl LogEvidence {
    /// Before requests were counted.
    pub(super) fn of(outages: OutageSummary) -> LogEvidence {
        let OutageSummary { hours, origins, hours_near_a_snapshot } = outages;
        LogEvidence { hours, origins, hours_passed_over: hours_near_a_snapshot, requests: 0 }
    }
}

impl Audit {
    /// Counts what the logs' own evidence decided, and says so.
    pub(super) fn tell_log_evidence(&mut self) {
        let requests = self.actors().map(|(_, _, tally)| tally.unreachable_by_logs).sum();
        let Some(evidence) = &mut self.log_evidence else { return };
        evidence.requests = requests;
        let LogEvidence { hours, origins, hours_passed_over, .. } = *evidence;
        let passed_over = match hours_passed_over {
            0 => String::new(),
            more => format!("; not known_outages, as the archive has snapshots near: {more}"),
        };
        self.notes.push(match (hours, hours_passed_over) {
            (0, 0) => "these logs show no hour in which nobody got robots.txt".to_owned(),
            _ => format!(
                "hours in which by these logs nobody got robots.txt: {hours} (origins: {origins}); \
                 requests of crawlers unreachable by that: {requests}{passed_over}"
            ),
        });
    }
}

impl Default for Witness {
    fn default() -> Witness {
        Witness { days: Bounded::new(DAYS_MAX) }
    }
}

impl Witness {
    /// Counts that `client` asked for the robots.txt of `site`, and was answered `status`.
    pub(super) fn count(&mut self, site: &Site, time: UtcTime, status: u16, client: u64) {
        let is_ours = site.standing == Standing::Named || site.known.is_some();
        if !is_ours || matches!(*site.place, Place::Invalid | Place::Others) {
            return;
        }
        let hour = time.unix_seconds().div_euclid(HOUR_SECONDS);
        let day = hour.div_euclid(HOURS_OF_DAY);
        let key = PlaceDay { place: Place::clone(&site.place), day };
        // Hosts that the user named are never pushed out by those that anybody can make up.
        let hash = match site.standing {
            Standing::Named => key.stable_hash() >> 1,
            Standing::Stranger(_) => key.stable_hash() >> 1 | 1 << 63,
        };
        let hour_of_day = u8::try_from(hour.rem_euclid(HOURS_OF_DAY)).expect("a day has 24 hours");
        self.days.entry(hash, &key).count(hour_of_day, status, client);
    }

    /// What all answers together show.
    pub fn into_silent(self) -> Silent {
        let (days, others) = self.days.into_parts();
        let mut hours = OutageHours::new();
        for (PlaceDay { place, day }, answers) in days {
            let origin = match place {
                Place::Origin(origin) => Some(origin),
                _ => None,
            };
            let silent: Vec<i64> = answers.silent().collect();
            if !silent.is_empty() {
                let of_origin = hours.entry(origin).or_default();
                of_origin.extend(silent.iter().map(|hour| day * HOURS_OF_DAY + hour));
            }
        }
        hours.values_mut().for_each(|hours| hours.sort_unstable());
        Silent { hours, is_cut: others.is_some() }
    }
}

impl Merge for Witness {
    fn absorb(&mut self, other: Witness) {
        self.days.absorb(other.days);
    }
}

impl StableHash for PlaceDay {
    fn stable_hash(&self) -> u64 {
        format!("{} {}", self.day, self.place).as_bytes().stable_hash()
    }
}

impl Answers {
    fn count(&mut self, hour: u8, status: u16, client: u64) {
        let is_in_vain = status == 429 || (500..=599).contains(&status);
        if !is_in_vain {
            self.answered |= 1 << hour;
            self.in_vain.remove(&hour);
        } else if !self.is_answered(hour) {
            insert(self.in_vain.entry(hour).or_default(), client);
        }
    }

    fn is_answered(&self, hour: u8) -> bool {
        self.answered >> hour & 1 == 1
    }

    /// Hours of the day in which enough clients asked, all in vain; in order.
    fn silent(&self) -> impl Iterator<Item = i64> + '_ {
        let silent = self.in_vain.iter().filter(|(_, clients)| clients.len() >= CLIENTS_MIN);
        silent.map(|(&hour, _)| i64::from(hour))
    }
}

impl Merge for Answers {
    fn absorb(&mut self, other: Answers) {
        self.answered |= other.answered;
        for (hour, clients) in other.in_vain {
            let ours = self.in_vain.entry(hour).or_default();
            clients.into_iter().for_each(|client| insert(ours, client));
        }
        let answered = self.answered;
        self.in_vain.retain(|&hour, _| answered >> hour & 1 == 0);
    }
}

fn insert(clients: &mut BTreeSet<u64>, client: u64) {
    if clients.len() < CLIENTS_MIN {
        clients.insert(client);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::judge::HostSource;
    use crate::url::origin::Origin;

    fn site(host: &str, standing: Standing) -> Site {
        let place = Arc::new(Place::Origin(Origin::parse(host.as_bytes()).unwrap()));
        Site { place, standing, known: None, host_source: HostSource::Own }
    }

    /// `(minute, status, client)`, in any order and however split between workers.
    #[track_caller]
    fn check(asked: &[(i64, u16, u64)], expected: &[i64]) {
        let site = site("https://a.example", Standing::Named);
        let witness = |asked: &[(i64, u16, u64)]| {
            let mut witness = Witness::default();
            for &(minute, status, client) in asked {
                let time = UtcTime::from_unix_seconds(minute * 60).unwrap();
                witness.count(&site, time, status, client);
            }
            witness
        };
        let backwards: Vec<_> = asked.iter().rev().copied().collect();
        for asked in [asked, &backwards] {
            for cut in 0..=asked.len() {
                let mut whole = witness(&asked[..cut]);
                whole.absorb(witness(&asked[cut..]));
                let found = whole.into_silent().hours.into_values().next().unwrap_or_default();
                assert_eq!(found, expected, "{asked:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn three_clients_and_no_other_answer() {
        check(&[(0, 503, 1), (10, 429, 2), (59, 599, 3)], &[0]);
        check(&[(0, 503, 1), (10, 503, 2), (60, 503, 3)], &[]);
        check(&[(0, 503, 1), (10, 503, 2), (20, 503, 1), (30, 503, 2)], &[]);
        check(&[(0, 503, 1), (10, 503, 2), (20, 503, 3), (30, 200, 4)], &[]);
        check(&[(0, 503, 1), (10, 503, 2), (20, 503, 3), (30, 499, 1)], &[]);
        check(&[(0, 404, 9), (60, 500, 1), (61, 502, 2), (62, 504, 3), (63, 503, 4)], &[1]);
        let (day, long_ago) = (24 * 60, -90);
        let later = [(day, 500, 1), (day, 500, 2), (day, 500, 3)];
        let both = [later.as_slice(), &later.map(|(_, s, c)| (long_ago, s, c))].concat();
        check(&both, &[-2, 24]);
    }

    #[test]
    fn strangers_of_whom_nothing_is_known_show_nothing() {
        let mut witness = Witness::default();
        let stranger = site("https://b.example", Standing::Stranger(1));
        for client in 0..9 {
            let time = UtcTime::from_unix_seconds(0).unwrap();
            witness.count(&stranger, time, 503, client);
        }
        assert!(witness.into_silent().hours.is_empty());
    }
}
