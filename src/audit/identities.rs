//! Whether a request came from the crawler that its user agent names.
//!
//! All lookups are made before the audit. What is left is a function of crawler and address, the
//! same for every worker.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use crate::crawlers::ranges::{RangeAnswer, Ranges};
use crate::crawlers::registry::Registry;
use crate::crawlers::{crawler::CrawlerId, identity::Identity, networks::Network};
use crate::net::forward_confirmed::{Confirmation, DomainClaim, check_all};
use crate::net::{address::is_public, dns::Resolver, dns_cache::DnsCache};
use crate::time::UtcTime;

use super::dns_candidates::{DnsCandidate, DnsCandidates};
use super::tally::identity_sources::NameSources;

/// The sources of identities.
#[derive(Debug, Default)]
pub struct Identities {
    /// The lists of `--ip-ranges`.
    pub ranges: Option<Ranges>,
    /// The names of `--verify-dns`.
    pub names: Option<Names>,
}

/// The results of DNS lookups.
#[derive(Debug)]
pub struct Names {
    confirmations: HashMap<DnsCandidate, Confirmation>,
    /// The summary for reports.
    pub sources: NameSources,
}

impl Identities {
    /// Whether all crawlers are unverified.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_none() && self.names.is_none()
    }

    /// Whether `address` is one of `crawler`'s, as far as that is known.
    ///
    /// A list that contains the address takes precedence over DNS. A DNS answer takes precedence
    /// over a list without the address, because lists may be outdated.
    pub fn of(&self, crawler: CrawlerId, address: Option<IpAddr>) -> Identity {
        let Some(address) = address.filter(|&address| is_public(address)) else {
            return Identity::Unverified;
        };
        let ranges = self.range_answer(crawler, address);
        if ranges == RangeAnswer::Contains {
            return Identity::Verified;
        }
        let named = self
            .names
            .as_ref()
            .and_then(|names| names.confirmations.get(&DnsCandidate { crawler, address }));
        match named {
            Some(Confirmation::Confirmed) => Identity::Verified,
            // A zeroed address has no name in DNS.
            Some(Confirmation::Contradicted) if Network::possibly_masked(address).is_single() => {
                Identity::Spoofed
            }
            Some(Confirmation::Contradicted | Confirmation::NoAnswer) => Identity::Unverified,
            None if ranges == RangeAnswer::Contradicts => Identity::Spoofed,
            None => Identity::Unverified,
        }
    }

    /// Whether `address`, which claims to be `crawler`, needs a DNS lookup.
    pub fn is_candidate(&self, crawler: CrawlerId, address: IpAddr) -> bool {
        is_public(address) && self.range_answer(crawler, address) != RangeAnswer::Contains
    }

    fn range_answer(&self, crawler: CrawlerId, address: IpAddr) -> RangeAnswer {
        self.ranges.as_ref().map_or(RangeAnswer::NoAnswer, |ranges| ranges.answer(crawler, address))
    }
}

impl Names {
    /// Looks up the first `lookups_max` addresses of `candidates` at the time `now`. Answers in
    /// `cache` are used, but count, so that the choice does not depend on earlier runs.
    pub fn look_up(
        candidates: &DnsCandidates,
        registry: &Registry,
        resolver: &Resolver,
        lookups_max: usize,
        now: UtcTime,
        cache: &mut DnsCache,
    ) -> Names {
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
        let (confirmations, failure) = check_all(&claims, resolver, now, cache);
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
        Names { confirmations: chosen.into_iter().map(confirmed).collect(), sources }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;

    /// `gptbot.json` and `bingbot.json` in a directory, and DNS answers for each crawler and
    /// address.
    #[track_caller]
    fn check(
        lists: &[(&str, &str)],
        names: &[(&str, &str, Confirmation)],
        cases: &[(&str, &str, Identity)],
    ) {
        let registry = Registry::builtin();
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in lists {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let candidate = |crawler: &str, address: &str| DnsCandidate {
            crawler: registry.find(crawler).unwrap(),
            address: address.parse().unwrap(),
        };
        let confirmations =
            names.iter().map(|(crawler, address, found)| (candidate(crawler, address), *found));
        let identities = Identities {
            ranges: (!lists.is_empty()).then(|| Ranges::open(directory.path(), &registry).unwrap()),
            names: (!names.is_empty()).then(|| Names {
                confirmations: confirmations.collect(),
                sources: NameSources {
                    asked_at: UtcTime::from_unix_seconds(0).unwrap(),
                    looked_up: 0,
                    passed_over: 0,
                    unanswered: 0,
                    failure: None,
                },
            }),
        };
        for (crawler, address, expected) in cases {
            let id = registry.find(crawler).unwrap();
            let found = identities.of(id, address.parse().ok());
            assert_eq!(found, *expected, "{crawler} {address}");
        }
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
}
