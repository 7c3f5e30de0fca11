//! Whether a request came from the crawler that its user agent names.
//!
//! All lookups are made before the audit. What is left is a function of crawler, address and time,
//! the same for every worker.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use crate::crawlers::bundled_ranges::{BundledAnswer, BundledRanges};
use crate::crawlers::identity::{ContradictingTimes, Identity, IdentityAnswer, Proof};
use crate::crawlers::ranges::{RangeAnswer, Ranges};
use crate::crawlers::{address_times::Period, crawler::CrawlerId};
use crate::crawlers::{key_archive::KeyArchive, networks::Network, registry::Registry};
use crate::net::forward_confirmed::{
    CheckedClaims, Confirmation, DnsCache, DomainClaim, check_all,
};
use crate::net::{address::is_public, dns::Resolver, dns_archive::ConfirmedName};
use crate::time::UtcTime;

use super::dns_names::{ArchivedNames, DnsCandidate, DnsCandidates};
use super::tally::identity_sources::NameSources;

/// The sources of identities.
#[derive(Debug, Default)]
pub struct Identities {
    /// The lists of `--ip-ranges`.
    pub ranges: Option<Ranges>,
    /// The lists that come with the program.
    pub bundled: Option<BundledRanges>,
    /// The names of `--verify-dns`.
    pub names: Option<Names>,
    /// The keys of `--signature-keys`.
    pub keys: Option<KeyArchive>,
    /// The names of `--dns-archive`.
    pub archived_names: Option<ArchivedNames>,
}

/// The results of DNS lookups.
#[derive(Debug)]
pub struct Names {
    confirmations: HashMap<DnsCandidate, Confirmation>,
    /// When a lookup can contradict.
    times: ContradictingTimes,
    /// The summary for reports.
    pub sources: NameSources,
}

impl Identities {
    /// Whether all crawlers are unverified.
    pub(crate) fn is_empty(&self) -> bool {
        let Identities { ranges, bundled, names, keys, archived_names } = self;
        ranges.is_none()
            && bundled.is_none()
            && names.is_none()
            && keys.is_none()
            && archived_names.is_none()
    }

    /// Whether the address of a request decides about its client, for some addresses.
    #[inline]
    pub(crate) fn need_address(&self, crawler: CrawlerId) -> bool {
        self.ranges.as_ref().is_some_and(|ranges| ranges.have(crawler))
            || self.names.is_some()
            || self.archived_names.is_some()
            || self.bundled.as_ref().is_some_and(|bundled| bundled.have(crawler))
    }

    /// Whether `address` was one of `crawler`'s at `time`, as far as that is known.
    ///
    /// A list that contains the address takes precedence over DNS. A DNS answer takes precedence
    /// over a list without the address, because lists may be outdated. Both contradict requests
    /// near their own time only. An address that is the operator's at another time is verified:
    /// somebody else would have to get the same address, and to send that user agent as well.
    pub fn of(&self, crawler: CrawlerId, address: Option<IpAddr>, time: UtcTime) -> IdentityAnswer {
        self.of_period(crawler, address, time).0
    }

    /// The same, and times around `time` with the same answer.
    pub(crate) fn of_period(
        &self,
        crawler: CrawlerId,
        address: Option<IpAddr>,
        time: UtcTime,
    ) -> (IdentityAnswer, Period) {
        use IdentityAnswer as Answer;
        if self.is_empty() {
            return (Answer::UNASKED, Period::ALWAYS);
        }
        let unverified = Answer::new(Identity::Unverified, Proof::Nothing);
        let Some(address) = address.filter(|&address| is_public(address)) else {
            return (unverified, Period::ALWAYS);
        };
        let (lists, period) = match &self.ranges {
            None => (RangeAnswer::NoAnswer, Period::ALWAYS),
            Some(ranges) => match ranges.answer(crawler, address, time) {
                (RangeAnswer::Contains, period, is_newest) => {
                    let proof = if is_newest { Proof::AddressList } else { Proof::ArchivedList };
                    return (Answer::new(Identity::Verified, proof), period);
                }
                (other, period, _) => (other, period),
            },
        };
        let (bundled, of_bundled) = match &self.bundled {
            None => (BundledAnswer::NoAnswer, Period::ALWAYS),
            Some(bundled) => bundled.answer(crawler, address, time),
        };
        let period = period.and(of_bundled);
        if bundled == BundledAnswer::Contains {
            return (Answer::new(Identity::Verified, Proof::BundledList), period);
        }
        let of_lists = by_lists(lists, bundled, address);
        if self.names.is_none() && self.archived_names.is_none() {
            return (of_lists, period);
        }
        (self.by_names(of_lists, crawler, address, time), Period::at(time.unix_seconds()))
    }

    /// The answer about an address that no list confirms; `of_lists` is theirs.
    fn by_names(
        &self,
        of_lists: IdentityAnswer,
        crawler: CrawlerId,
        address: IpAddr,
        time: UtcTime,
    ) -> IdentityAnswer {
        use IdentityAnswer as Answer;
        let unverified = Answer::new(Identity::Unverified, Proof::Nothing);
        let names = match self.names.as_ref().map(|names| names.answer(crawler, address, time)) {
            Some(NamesAnswer::Confirms) => return Answer::new(Identity::Verified, Proof::Dns),
            _ if self.is_archived(crawler, address, time) => {
                return Answer::new(Identity::Verified, Proof::ArchivedDns);
            }
            Some(NamesAnswer::Contradicts) => return Answer::new(Identity::Spoofed, Proof::Dns),
            Some(NamesAnswer::Undecided) => return unverified,
            names => names,
        };
        match (of_lists.identity, names) {
            (Identity::Unverified, Some(NamesAnswer::ContradictsAtOtherTime)) => {
                Answer { is_of_other_time: true, ..unverified }
            }
            _ => of_lists,
        }
    }

    /// Whether a list that comes with the program has it.
    #[inline]
    fn is_bundled(&self, crawler: CrawlerId, address: IpAddr, time: UtcTime) -> bool {
        self.bundled.as_ref().is_some_and(|bundled| bundled.contain(crawler, address, time))
    }

    /// Whether a lookup of an earlier run, near `time`, confirms it.
    fn is_archived(&self, crawler: CrawlerId, address: IpAddr, time: UtcTime) -> bool {
        self.archived_names.as_ref().is_some_and(|names| names.prove(crawler, address, time))
    }

    /// Whether `address`, which claimed at `time` to be `crawler`, needs a DNS lookup.
    pub(crate) fn is_candidate(&self, crawler: CrawlerId, address: IpAddr, time: UtcTime) -> bool {
        let is_listed = |ranges: &Ranges| ranges.contain(crawler, address, time);
        is_public(address)
            && !self.ranges.as_ref().is_some_and(is_listed)
            && !self.is_bundled(crawler, address, time)
    }
}

/// The answer of lists that do not contain the address: of a directory, and of those that come with the program. A
/// zeroed address stands for others, so that it is on no list.
fn by_lists(lists: RangeAnswer, bundled: BundledAnswer, address: IpAddr) -> IdentityAnswer {
    let unverified = IdentityAnswer::new(Identity::Unverified, Proof::Nothing);
    let is_whole = || Network::possibly_masked(address).is_single();
    match lists {
        RangeAnswer::Contradicts => IdentityAnswer::new(Identity::Spoofed, Proof::AddressList),
        RangeAnswer::LacksAtOtherTime => IdentityAnswer { is_of_other_time: true, ..unverified },
        RangeAnswer::NoAnswer if bundled == BundledAnswer::Lacks && is_whole() => {
            IdentityAnswer::new(Identity::NotOnList, Proof::BundledList)
        }
        RangeAnswer::NoAnswer | RangeAnswer::Contains => unverified,
    }
}

/// What DNS says about an address.
enum NamesAnswer {
    Confirms,
    Contradicts,
    ContradictsAtOtherTime,
    /// It was asked, and the answer does not decide.
    Undecided,
    /// It was not asked.
    NotAsked,
}

impl Names {
    fn answer(&self, crawler: CrawlerId, address: IpAddr, time: UtcTime) -> NamesAnswer {
        match self.confirmations.get(&DnsCandidate { crawler, address }) {
            None => NamesAnswer::NotAsked,
            Some(Confirmation::Confirmed) => NamesAnswer::Confirms,
            Some(Confirmation::NoAnswer) => NamesAnswer::Undecided,
            // A zeroed address has no name in DNS.
            Some(Confirmation::Contradicted) if !Network::possibly_masked(address).is_single() => {
                NamesAnswer::Undecided
            }
            Some(Confirmation::Contradicted) if self.times.contain(time) => {
                NamesAnswer::Contradicts
            }
            Some(Confirmation::Contradicted) => NamesAnswer::ContradictsAtOtherTime,
        }
    }

    /// Looks up the first `lookups_max` addresses of `candidates` at the time `now`. Answers in
    /// `cache` are used, but count, so that the choice does not depend on earlier runs. Also gives the
    /// names that were confirmed.
    pub(crate) fn look_up(
        candidates: &DnsCandidates,
        registry: &Registry,
        resolver: &Resolver,
        lookups_max: usize,
        now: UtcTime,
        cache: &mut DnsCache,
    ) -> (Names, Vec<ConfirmedName>) {
        let mut indexes: HashMap<(IpAddr, &[String]), usize> = HashMap::new();
        let mut chosen: BTreeMap<DnsCandidate, usize> = BTreeMap::new();
        let mut claims = Vec::new();
        for &candidate in &candidates.listed {
            let suffixes = registry.crawler(candidate.crawler).rdns_suffixes.as_slice();
            let key = (candidate.address, suffixes);
            if !indexes.contains_key(&key) && claims.len() == lookups_max {
                continue;
            }
            let index = *indexes.entry(key).or_insert_with(|| {
                claims.push(DomainClaim { address: candidate.address, suffixes });
                claims.len() - 1
            });
            chosen.insert(candidate, index);
        }
        let CheckedClaims { confirmations, confirmed: confirmed_names, failure } =
            check_all(&claims, resolver, now, cache);
        let passed_over = candidates.listed.len() - chosen.len();
        let is_unanswered = |found: &&Confirmation| **found == Confirmation::NoAnswer;
        let sources = NameSources {
            asked_at: now,
            looked_up: claims.len(),
            passed_over: passed_over + usize::from(candidates.has_others),
            unanswered: confirmations.iter().filter(is_unanswered).count(),
            failure: failure.map(|failure| failure.0),
        };
        let confirmed =
            |(candidate, index): (DnsCandidate, usize)| (candidate, confirmations[index]);
        let times = ContradictingTimes::near(now);
        let confirmations = chosen.into_iter().map(confirmed).collect();
        (Names { confirmations, times, sources }, confirmed_names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;

    /// The time of lookups, and the list that says nothing about its time, of the same day.
    const NOW: &str = "2026-03-01T12:00:00Z";

    fn at(time: &str) -> UtcTime {
        time.parse::<jiff::Timestamp>().unwrap().into()
    }

    fn identities(
        lists: &[(&str, &str)],
        names: &[(&str, &str, Confirmation)],
        registry: &Registry,
    ) -> Identities {
        let directory = tempfile::tempdir().unwrap();
        for (name, networks) in lists {
            let networks: Vec<&str> = networks.split_whitespace().collect();
            let list = serde_json::json!({ "creationTime": NOW, "prefixes": networks });
            fs::write(directory.path().join(name), list.to_string()).unwrap();
        }
        let candidate = |crawler: &str, address: &str| DnsCandidate {
            crawler: registry.find(crawler).unwrap(),
            address: address.parse().unwrap(),
        };
        let confirmations =
            names.iter().map(|(crawler, address, found)| (candidate(crawler, address), *found));
        Identities {
            bundled: None,
            keys: None,
            archived_names: None,
            ranges: (!lists.is_empty()).then(|| Ranges::open(directory.path(), registry).unwrap()),
            names: (!names.is_empty()).then(|| Names {
                confirmations: confirmations.collect(),
                times: ContradictingTimes::near(at(NOW)),
                sources: NameSources {
                    asked_at: at(NOW),
                    looked_up: 0,
                    passed_over: 0,
                    unanswered: 0,
                    failure: None,
                },
            }),
        }
    }

    /// `gptbot.json` and `bingbot.json` in a directory, and DNS answers for each crawler and
    /// address; requests near the time of both, and half a year later.
    #[track_caller]
    fn check(
        lists: &[(&str, &str)],
        names: &[(&str, &str, Confirmation)],
        cases: &[(&str, &str, Identity)],
    ) {
        let registry = Registry::builtin();
        let identities = identities(lists, names, &registry);
        for (crawler, address, expected) in cases {
            let id = registry.find(crawler).unwrap();
            let of = |time: &str| identities.of(id, address.parse().ok(), at(time));
            let found = of("2026-03-10T00:00:00Z");
            assert_eq!((found.identity, found.is_of_other_time), (*expected, false), "{address}");
            let is_asked = !(lists.is_empty() && names.is_empty());
            let decides = found.proof.is_some_and(|proof| proof != Proof::Nothing);
            assert_eq!(
                (found.proof.is_some(), decides),
                (is_asked, *expected != Identity::Unverified)
            );
            let is_spoofed = *expected == Identity::Spoofed;
            let later = if is_spoofed { Identity::Unverified } else { *expected };
            let found = of("2026-09-01T00:00:00Z");
            assert_eq!((found.identity, found.is_of_other_time), (later, is_spoofed), "{address}");
        }
    }

    #[test]
    fn a_near_list_contradicts_where_dns_is_of_another_time() {
        let registry = Registry::builtin();
        let names = [("bingbot", "203.0.113.2", Confirmation::Contradicted)];
        let mut identities = identities(&[("bingbot.json", "198.51.100.0/24")], &names, &registry);
        let later = at("2026-09-01T00:00:00Z");
        let id = registry.find("bingbot").unwrap();
        let address = || "203.0.113.2".parse().ok();
        if let Some(names) = &mut identities.names {
            names.times = ContradictingTimes::near(later);
        }
        // By DNS, and by the list.
        for time in [later, at(NOW)] {
            assert_eq!(identities.of(id, address(), time).identity, Identity::Spoofed);
        }
        let between = identities.of(id, address(), at("2026-06-01T00:00:00Z"));
        assert_eq!((between.identity, between.is_of_other_time), (Identity::Unverified, true));
    }

    #[test]
    fn addresses_that_no_list_has_are_looked_up() {
        let registry = Registry::builtin();
        let crawler = registry.find("GPTBot").unwrap();
        let mut identities = identities(&[("gptbot.json", "192.0.2.0/24")], &[], &registry);
        let looked_up = |identities: &Identities| {
            ["192.0.2.1", "20.171.206.7", "8.8.8.8", "10.0.0.1"]
                .map(|address| identities.is_candidate(crawler, address.parse().unwrap(), at(NOW)))
        };
        assert_eq!(looked_up(&identities), [false, true, true, false]);
        // The second address is on the list that comes with the program.
        identities.bundled = Some(BundledRanges::new(&registry, None));
        assert_eq!(looked_up(&identities), [false, false, true, false]);
    }

    #[test]
    fn lists_and_names_decide_in_order() {
        use Confirmation::*;
        use Identity::*;
        let lists =
            [("gptbot.json", "192.0.2.0/24 10.0.0.0/8"), ("bingbot.json", "198.51.100.0/24")];
        check(
            &lists,
            &[],
            &[
                ("GPTBot", "192.0.2.1", Verified),
                ("GPTBot", "198.51.100.1", Spoofed),
                // An unrelated address, or none.
                ("GPTBot", "10.0.0.1", Unverified),
                ("GPTBot", "127.0.0.1", Unverified),
                ("GPTBot", "::1", Unverified),
                ("GPTBot", "fd00::1", Unverified),
                ("GPTBot", "some.host.example", Unverified),
                // No list of this crawler was loaded.
                ("Googlebot", "192.0.2.1", Unverified),
            ],
        );
        check(
            &lists,
            &[
                ("bingbot", "203.0.113.1", Confirmed),
                ("bingbot", "203.0.113.2", Contradicted),
                ("bingbot", "203.0.113.3", NoAnswer),
                ("bingbot", "203.0.113.0", Contradicted),
                ("bingbot", "198.51.100.1", Contradicted),
                ("Bytespider", "203.0.113.2", Contradicted),
                ("Bytespider", "203.0.113.3", NoAnswer),
            ],
            &[
                ("bingbot", "203.0.113.1", Verified),
                ("bingbot", "203.0.113.2", Spoofed),
                ("bingbot", "203.0.113.3", Unverified),
                ("bingbot", "203.0.113.0", Unverified),
                // Not looked up: the list alone decides.
                ("bingbot", "203.0.113.4", Spoofed),
                ("bingbot", "198.51.100.1", Verified),
                ("Bytespider", "203.0.113.2", Spoofed),
                ("Bytespider", "203.0.113.3", Unverified),
                ("Bytespider", "203.0.113.4", Unverified),
            ],
        );
        check(&[], &[], &[("GPTBot", "192.0.2.1", Unverified)]);
    }

    #[test]
    fn lookups_that_there_was_no_room_for_are_passed_over() {
        let (registry, crawler) = (Registry::builtin(), CrawlerId(0));
        let resolver = Resolver::new(([127, 0, 0, 1], 9).into(), std::time::Duration::ZERO);
        for (has_others, expected) in [(false, 2), (true, 3)] {
            let address = |last| DnsCandidate { crawler, address: [192, 0, 2, last].into() };
            let candidates = DnsCandidates { listed: vec![address(1), address(2)], has_others };
            let mut cache = DnsCache::default();
            let (names, _) =
                Names::look_up(&candidates, &registry, &resolver, 0, at(NOW), &mut cache);
            assert_eq!((names.sources.looked_up, names.sources.passed_over), (0, expected));
        }
    }
}
