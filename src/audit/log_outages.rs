//! Outages inferred from a log: hours in which all fetches of robots.txt failed.
//!
//! Lines come in any order and are spread over workers, so answers are kept by the hour and
//! evaluated at the end. Only enough hashes of clients are kept to know whether there were three.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::bounded::{Bounded, StableHash};
use crate::judge::Judge;
use crate::judge::outages::{HOUR_SECONDS, OutageHours};
use crate::merge::{Merge, merge_fields};
use crate::time::UtcTime;

use super::origin_key::{OriginKey, OriginRank};
use super::sites::{Site, Sites};
use super::{origin_options::OriginOptions, tally::header::OutageSummary};

/// The least clients with failed fetches in an hour.
pub(crate) const CLIENTS_MIN: usize = 3;

/// The most days of origins whose answers are kept.
pub(crate) const DAYS_MAX: usize = 1 << 18;

const HOURS_OF_DAY: i64 = 24;

const DAY_SECONDS: i64 = HOURS_OF_DAY * HOUR_SECONDS;

/// The origins whose answers are collected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OutageHosts {
    /// Origins that the user named, or that have a robots.txt.
    Ours,
    /// All origins in the logs; a later judge decides which ones count.
    All,
}

/// How requests for robots.txt were answered.
#[derive(Clone, Debug)]
pub struct LogOutages {
    days: Bounded<OriginDay, Answers>,
}

/// The result of a finished [`LogOutages`].
#[derive(Clone, Debug, Default)]
pub struct FoundOutages {
    /// Hours in which all fetches of an origin's robots.txt failed.
    pub hours: OutageHours,
    /// Whether there were more than [`DAYS_MAX`] days of origins.
    pub is_cut: bool,
}

/// The outages that were used, with their requests.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OutageEvidence {
    /// The inferred outages.
    pub outages: OutageSummary,
    /// Requests that are unreachable because of them.
    pub requests: u64,
}

/// A day in UTC at an origin.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct OriginDay {
    origin_key: OriginKey,
    /// Since 1970.
    day: i64,
    is_named: bool,
}

/// The answers of one day at an origin, as written to a file.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct AnswersOfDay {
    /// Who was asked for its robots.txt.
    pub origin_key: OriginKey,
    /// Whether the user named it.
    pub is_named: bool,
    /// Since 1970, in UTC.
    pub day: i64,
    /// A bit for each hour with an answer other than 429 and 5xx.
    pub answered_hours: u32,
    /// For the other hours, the smallest hashes of clients.
    pub in_vain: BTreeMap<u8, BTreeSet<u64>>,
}

/// The answers of one day.
#[derive(Clone, Debug, Default, PartialEq)]
struct Answers {
    /// A bit for each hour with an answer other than 429 and 5xx.
    answered: u32,
    /// For the other hours, keyed hashes of clients, at most [`CLIENTS_MIN`].
    in_vain: BTreeMap<u8, BTreeSet<u64>>,
}

impl OutageEvidence {
    /// The note for reports.
    pub(super) fn note(self) -> String {
        let OutageEvidence { outages, requests } = self;
        let OutageSummary { hours, origins, hours_near_a_snapshot } = outages;
        let passed_over = match hours_near_a_snapshot {
            0 => String::new(),
            more => format!("; hours left out because the archive has snapshots near them: {more}"),
        };
        match (hours, hours_near_a_snapshot) {
            (0, 0) => {
                "outages from logs: no hour in which all robots.txt fetches failed".to_owned()
            }
            _ => format!(
                "outages from logs: hours in which all robots.txt fetches failed: {hours} \
                 (origins: {origins}); requests counted as unreachable: {requests}{passed_over}"
            ),
        }
    }
}

impl Default for LogOutages {
    fn default() -> LogOutages {
        LogOutages { days: Bounded::new(DAYS_MAX) }
    }
}

impl LogOutages {
    /// Counts a fetch of the robots.txt of `site` by `client` with the answer `status`.
    pub(super) fn count(
        &mut self,
        (site, judge): (&Site, &Judge),
        hosts: OutageHosts,
        time: UtcTime,
        status: u16,
        client: u64,
    ) {
        let is_ours = hosts == OutageHosts::All || is_ours(site, judge);
        if !is_ours || matches!(*site.origin_key, OriginKey::Invalid | OriginKey::Others) {
            return;
        }
        let hour = time.unix_seconds().div_euclid(HOUR_SECONDS);
        let day = hour.div_euclid(HOURS_OF_DAY);
        let is_named = site.origin_rank == OriginRank::Named;
        let key = OriginDay { origin_key: OriginKey::clone(&site.origin_key), day, is_named };
        let hour_of_day = u8::try_from(hour.rem_euclid(HOURS_OF_DAY)).expect("a day has 24 hours");
        self.days.entry(key.stable_hash(), &key).count(hour_of_day, status, client);
    }

    /// The outages of the user's origins, by `judge` and `naming`.
    pub fn into_silent(self, judge: &Judge, naming: &OriginOptions) -> FoundOutages {
        let sites = Sites::new(judge, naming);
        let (days, others) = self.days.into_parts();
        // A host may have been a stranger to one machine and named on another.
        let mut by_origin: BTreeMap<(OriginKey, i64), Answers> = BTreeMap::new();
        for (OriginDay { origin_key, day, .. }, answers) in days {
            by_origin.absorb(BTreeMap::from([((origin_key, day), answers)]));
        }
        let mut hours = OutageHours::new();
        for ((origin_key, day), answers) in by_origin {
            let silent: Vec<i64> = answers.silent().collect();
            if silent.is_empty() || !is_ours(&sites.of_origin_key(&origin_key), judge) {
                continue;
            }
            let origin = match origin_key {
                OriginKey::Origin(origin) => Some(origin),
                _ => None,
            };
            let of_origin = hours.entry(origin).or_default();
            of_origin.extend(silent.iter().map(|hour| day * HOURS_OF_DAY + hour));
        }
        FoundOutages { hours, is_cut: others.is_some() }
    }

    /// The collected answers, ordered by origin and day, and whether some days were left out.
    pub(super) fn into_days(self) -> (Vec<AnswersOfDay>, bool) {
        let (days, others) = self.days.into_parts();
        let of_day = |(OriginDay { origin_key, day, is_named }, answers)| {
            let Answers { answered: answered_hours, in_vain } = answers;
            AnswersOfDay { origin_key, is_named, day, answered_hours, in_vain }
        };
        // Ordered by key, not by hash.
        let days: BTreeMap<OriginDay, Answers> = days.collect();
        (days.into_iter().map(of_day).collect(), others.is_some())
    }

    /// From the result of [`LogOutages::into_days`]; `None` if it is not valid.
    pub(super) fn of_days(days: Vec<AnswersOfDay>, is_cut: bool) -> Option<LogOutages> {
        let mut log_outages = LogOutages::default();
        if days.len() > DAYS_MAX {
            return None;
        }
        for AnswersOfDay { origin_key, is_named, day, answered_hours: answered, in_vain } in days {
            let is_time = UtcTime::from_unix_seconds(day.checked_mul(DAY_SECONDS)?).is_some();
            let is_hours = answered >> HOURS_OF_DAY == 0
                && in_vain.iter().all(|(&hour, clients)| {
                    i64::from(hour) < HOURS_OF_DAY
                        && answered >> hour & 1 == 0
                        && (1..=CLIENTS_MIN).contains(&clients.len())
                });
            if !is_time || !is_hours || matches!(origin_key, OriginKey::Invalid | OriginKey::Others)
            {
                return None;
            }
            let key = OriginDay { origin_key, day, is_named };
            log_outages.days.add(&key, Answers { answered, in_vain });
        }
        if is_cut {
            log_outages.days.add_to_others(Answers::default());
        }
        Some(log_outages)
    }
}

/// Whether the answers of a host count.
fn is_ours(site: &Site, judge: &Judge) -> bool {
    site.origin_rank == OriginRank::Named || site.known(judge).is_some()
}

merge_fields!(LogOutages { days });

impl StableHash for OriginDay {
    /// Hosts that the user named take precedence over hosts that clients can invent.
    fn stable_hash(&self) -> u64 {
        let hash = format!("{} {}", self.day, self.origin_key).as_bytes().stable_hash();
        hash >> 1 | u64::from(!self.is_named) << 63
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

    /// The hours of the day with enough clients, all with failed fetches; in order.
    fn silent(&self) -> impl Iterator<Item = i64> + '_ {
        let silent = self.in_vain.iter().filter(|(_, clients)| clients.len() >= CLIENTS_MIN);
        silent.map(|(&hour, _)| i64::from(hour))
    }
}

impl Merge for Answers {
    fn absorb(&mut self, other: Answers) {
        let Answers { answered, in_vain } = other;
        self.answered |= answered;
        for (hour, clients) in in_vain {
            let ours = self.in_vain.entry(hour).or_default();
            clients.into_iter().for_each(|client| insert(ours, client));
        }
        let answered = self.answered;
        self.in_vain.retain(|&hour, _| answered >> hour & 1 == 0);
    }
}

/// The smallest hashes stay, so that the result does not depend on the order of lines or machines.
fn insert(clients: &mut BTreeSet<u64>, client: u64) {
    clients.insert(client);
    if clients.len() > CLIENTS_MIN {
        clients.pop_last();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::archive::Store;
    use crate::archive::directory::Directory;
    use crate::crawlers::registry::Registry;
    use crate::judge::HostSource;
    use crate::url::origin::Origin;
    use crate::url::path::Dialect;

    fn site(host: &str, origin_rank: OriginRank) -> Site {
        let origin_key = Arc::new(OriginKey::Origin(Origin::parse(host.as_bytes()).unwrap()));
        Site::new(origin_key, origin_rank, HostSource::Own)
    }

    /// It knows no host.
    fn judge() -> Judge {
        let store = Store::Directory(Directory::default());
        Judge::new(store, &Registry::builtin(), Dialect::Google).unwrap()
    }

    /// Where the user named `https://a.example` and nothing is known of any host.
    fn silent(log_outages: LogOutages) -> FoundOutages {
        let origin = Origin::parse(b"https://a.example");
        log_outages.into_silent(&judge(), &OriginOptions { origin, ..OriginOptions::default() })
    }

    /// `(minute, status, client)`, in any order and however split between workers.
    #[track_caller]
    fn check(asked: &[(i64, u16, u64)], expected: &[i64]) {
        let (site, judge) = (site("https://a.example", OriginRank::Named), judge());
        let log_outages = |asked: &[(i64, u16, u64)]| {
            let mut log_outages = LogOutages::default();
            for &(minute, status, client) in asked {
                let time = UtcTime::from_unix_seconds(minute * 60).unwrap();
                log_outages.count((&site, &judge), OutageHosts::Ours, time, status, client);
            }
            log_outages
        };
        let backwards: Vec<_> = asked.iter().rev().copied().collect();
        for asked in [asked, &backwards] {
            for cut in 0..=asked.len() {
                let mut whole = log_outages(&asked[..cut]);
                whole.absorb(log_outages(&asked[cut..]));
                let (days, is_cut) = whole.into_days();
                let whole = LogOutages::of_days(days, is_cut).unwrap();
                let mut hours = silent(whole).hours;
                let found = hours.remove(&Origin::parse(b"https://a.example")).unwrap_or_default();
                assert_eq!(found, expected, "{asked:?} cut at {cut}");
                assert!(hours.is_empty(), "no other origin");
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
    fn unknown_strangers_show_nothing() {
        let judge = judge();
        for hosts in [OutageHosts::Ours, OutageHosts::All] {
            let mut log_outages = LogOutages::default();
            let stranger = site("https://b.example", OriginRank::Stranger(1));
            for client in 0..9 {
                let time = UtcTime::from_unix_seconds(0).unwrap();
                log_outages.count((&stranger, &judge), hosts, time, 503, client);
            }
            // It may become known before the outages are computed.
            let days = log_outages.clone().into_days().0;
            assert_eq!(days.len(), usize::from(hosts == OutageHosts::All));
            assert!(days.iter().all(|day| !day.is_named));
            assert!(silent(log_outages).hours.is_empty());
        }
    }

    #[test]
    fn what_is_kept_of_clients_depends_neither_on_their_order_nor_on_how_they_are_split() {
        let (site, judge) = (site("https://a.example", OriginRank::Named), judge());
        let log_outages = |clients: &[u64]| {
            let mut log_outages = LogOutages::default();
            for &client in clients {
                let time = UtcTime::from_unix_seconds(0).unwrap();
                log_outages.count((&site, &judge), OutageHosts::Ours, time, 503, client);
            }
            log_outages
        };
        let expected = log_outages(&[1, 2, 3, 4, 5]).into_days();
        assert!(expected.0[0].is_named);
        for (left, right) in
            [(&[5, 4, 3][..], &[2, 1][..]), (&[3, 5], &[1, 4, 2]), (&[], &[4, 2, 5, 3, 1])]
        {
            let mut whole = log_outages(left);
            whole.absorb(log_outages(right));
            assert_eq!(whole.into_days(), expected);
        }
    }

    /// One machine may know a host that another does not.
    #[test]
    fn a_host_that_is_named_here_and_not_there_is_one_host() {
        let judge = judge();
        let count = |origin_rank, status| {
            let mut log_outages = LogOutages::default();
            for client in 0..3 {
                let time = UtcTime::from_unix_seconds(0).unwrap();
                let site = site("https://a.example", origin_rank);
                log_outages.count((&site, &judge), OutageHosts::All, time, status, client);
            }
            log_outages
        };
        let mut whole = count(OriginRank::Named, 503);
        whole.absorb(count(OriginRank::Stranger(7), 200));
        assert!(silent(whole).hours.is_empty());
    }

    #[test]
    fn days_that_cannot_have_been_collected_are_refused() {
        let fits = |change: fn(&mut AnswersOfDay)| {
            let mut day = AnswersOfDay {
                origin_key: OriginKey::Unnamed,
                is_named: true,
                day: 20_000,
                answered_hours: 1,
                in_vain: BTreeMap::from([(1, BTreeSet::from([7]))]),
            };
            change(&mut day);
            LogOutages::of_days(vec![day], false).is_some()
        };
        assert!(fits(|_| {}));
        assert!(!fits(|day| day.origin_key = OriginKey::Others));
        assert!(!fits(|day| day.day = i64::MAX));
        assert!(!fits(|day| day.day = 1 << 50));
        assert!(!fits(|day| day.answered_hours = 1 << 24));
        assert!(!fits(|day| day.answered_hours = 2));
        assert!(!fits(|day| day.in_vain = BTreeMap::from([(24, BTreeSet::from([7]))])));
        assert!(!fits(|day| day.in_vain = BTreeMap::from([(200, BTreeSet::from([7]))])));
        assert!(!fits(|day| day.in_vain = BTreeMap::from([(3, BTreeSet::new())])));
        assert!(!fits(|day| day.in_vain = BTreeMap::from([(3, (0..4).collect())])));
    }

    /// As many days as a first pass keeps.
    #[test]
    fn a_full_collection_is_read_and_a_larger_one_refused() {
        let fits = |days: usize| {
            let of_day = |day| AnswersOfDay {
                origin_key: OriginKey::Unnamed,
                is_named: true,
                day,
                answered_hours: 1,
                in_vain: BTreeMap::new(),
            };
            LogOutages::of_days((0..).map(of_day).take(days).collect(), false).is_some()
        };
        assert!(fits(DAYS_MAX));
        assert!(!fits(DAYS_MAX + 1));
        assert!(!fits(DAYS_MAX + 2));
    }

    #[test]
    fn days_that_were_left_out_are_noted_as_long_as_the_rest_is_kept() {
        for is_cut in [false, true] {
            let (days, found) = LogOutages::of_days(Vec::new(), is_cut).unwrap().into_days();
            assert_eq!((days.len(), found), (0, is_cut));
        }
    }

    #[test]
    fn an_answer_outweighs_the_failures_of_its_hour_in_any_order_and_part() {
        let of = |requests: &[(u8, u16, u64)]| {
            let mut answers = Answers::default();
            requests.iter().for_each(|&(hour, status, of)| answers.count(hour, status, of));
            answers
        };
        let hours = |answers: &Answers| answers.in_vain.keys().copied().collect::<Vec<_>>();
        let (answer, failures) = ([(5, 200, 9)], [(5, 503, 1), (6, 503, 1), (5, 429, 2)]);
        assert_eq!(hours(&of(&failures)), [5, 6]);
        assert_eq!(hours(&of(&[failures[0], answer[0], failures[1], failures[2]])), [6]);
        for (first, second) in [(&answer[..], &failures[..]), (&failures, &answer)] {
            let mut sum = of(first);
            sum.absorb(of(second));
            assert_eq!(hours(&sum), [6]);
        }
    }

    #[test]
    fn hosts_that_clients_invent_are_left_out_first() {
        let hash = |is_named, day| {
            let origin_key = OriginKey::Unnamed;
            OriginDay { origin_key, day, is_named }.stable_hash()
        };
        let hashes = |is_named| (0..50).map(move |day| hash(is_named, day));
        assert!(hashes(true).max() < hashes(false).min());
        for is_named in [false, true] {
            assert_eq!(hashes(is_named).collect::<std::collections::BTreeSet<_>>().len(), 50);
        }
    }
}
