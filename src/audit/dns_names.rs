//! Names in DNS: addresses to look up, with the crawlers that they claim to be, and names that earlier runs confirmed,
//! for requests of their time.

use std::net::IpAddr;

use crate::bounded::{Bounded, StableHash};
use crate::crawlers::{crawler::CrawlerId, registry::Registry};
use crate::net::dns_archive::DnsArchive;
use crate::time::UtcTime;

use super::tally::identity_sources::ArchivedNameSources;

/// The most candidates that are kept while logs are read: those with the smallest hashes.
pub(crate) const CANDIDATES_MAX: usize = 50_000;

/// A crawler's name, and the address of a client that used it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DnsCandidate {
    /// The crawler that it claims to be.
    pub crawler: CrawlerId,
    /// Its address in canonical form.
    pub address: IpAddr,
}

impl StableHash for DnsCandidate {
    fn stable_hash(&self) -> u64 {
        let address = match self.address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        [&address.octets()[..], &self.crawler.0.to_be_bytes()].concat().stable_hash()
    }
}

/// The candidates by number of requests, the busiest first; independent of the order of lines.
#[derive(Debug, Default)]
pub(crate) struct DnsCandidates {
    /// Up to the limit.
    pub listed: Vec<DnsCandidate>,
    /// Whether there were more.
    pub has_others: bool,
}

impl DnsCandidates {
    /// Puts those that were counted in order.
    pub(crate) fn new(counted: Bounded<DnsCandidate, u64>) -> DnsCandidates {
        let (kept, others) = counted.into_parts();
        let mut kept: Vec<(DnsCandidate, u64)> = kept.collect();
        kept.sort_by_key(|&(candidate, requests)| {
            (std::cmp::Reverse(requests), candidate.stable_hash(), candidate)
        });
        let listed = kept.into_iter().map(|(candidate, _)| candidate).collect();
        DnsCandidates { listed, has_others: others.is_some() }
    }
}

/// The archive, and the domains of each crawler.
#[derive(Debug)]
pub struct ArchivedNames {
    archive: DnsArchive,
    domains: Vec<Vec<String>>,
    /// The summary for reports.
    pub(crate) sources: ArchivedNameSources,
}

impl ArchivedNames {
    pub(crate) fn new(archive: DnsArchive, registry: &Registry) -> ArchivedNames {
        let domains = registry.iter().map(|(_, crawler)| crawler.rdns_suffixes.clone()).collect();
        let mut sources = ArchivedNameSources { names: 0, first: None, last: None };
        for span in archive.iter().flat_map(|(_, _, spans)| spans) {
            sources.names += 1;
            sources.first = Some(sources.first.map_or(span.first, |first| first.min(span.first)));
            sources.last = sources.last.max(Some(span.last));
        }
        ArchivedNames { archive, domains, sources }
    }

    /// Whether a lookup near `time` found a name of `crawler` that led back to `address`.
    pub(crate) fn prove(&self, crawler: CrawlerId, address: IpAddr, time: UtcTime) -> bool {
        let domains = self.domains.get(crawler.index()).filter(|domains| !domains.is_empty());
        domains.is_some_and(|domains| self.archive.proves(address, domains, time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_come_first() {
        let candidate =
            |last: u8| DnsCandidate { crawler: CrawlerId(3), address: [192, 0, 2, last].into() };
        let mut counted = Bounded::new(10);
        for last in [1, 2, 2, 3, 3, 3] {
            counted.add(&candidate(last), 1);
        }
        let candidates = DnsCandidates::new(counted);
        assert_eq!(candidates.listed, [candidate(3), candidate(2), candidate(1)]);
        assert!(!candidates.has_others);
    }

    /// Nobody can choose which addresses are kept, and two crawlers at one address are two.
    #[test]
    fn the_order_of_candidates_follows_from_address_and_crawler() {
        let hash = |crawler, address: &str| {
            let address = address.parse().unwrap();
            DnsCandidate { crawler: CrawlerId(crawler), address }.stable_hash()
        };
        assert_eq!(hash(3, "192.0.2.1"), hash(3, "::ffff:192.0.2.1"));
        assert_ne!(hash(3, "192.0.2.1"), hash(4, "192.0.2.1"));
        assert_ne!(hash(3, "192.0.2.1"), hash(3, "192.0.2.2"));
    }
}
