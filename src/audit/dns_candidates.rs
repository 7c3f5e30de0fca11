//! Addresses to look up in DNS, with the crawlers that they claim to be.

use std::net::IpAddr;

use crate::bounded::{Bounded, StableHash};
use crate::crawlers::crawler::CrawlerId;

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
