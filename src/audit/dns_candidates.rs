//! Addresses whose names are to be looked up, with who they say they are.

use crate::crawlers::crawler::CrawlerId;

use crate::bounded::{Bounded, StableHash};

use std::net::IpAddr;

/// Suspects that are told apart while logs are read; those of smallest hash stay.
pub const SUSPECTS_MAX: usize = 50_000;

/// A crawler's name, and the address of whoever used it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DnsCandidate {
    /// Who it says it is.
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

/// Suspects by what they asked for in all, the busiest first; equal in any order of lines.
#[derive(Debug, Default)]
pub struct DnsCandidates {
    /// As many as are told apart.
    pub told_apart: Vec<DnsCandidate>,
    /// Whether there were more.
    pub has_others: bool,
}

impl DnsCandidates {
    /// Puts those that were counted in order.
    pub fn new(counted: Bounded<DnsCandidate, u64>) -> DnsCandidates {
        let (kept, others) = counted.into_parts();
        let mut kept: Vec<(DnsCandidate, u64)> = kept.collect();
        kept.sort_by_key(|&(suspect, requests)| {
            (std::cmp::Reverse(requests), suspect.stable_hash(), suspect)
        });
        let told_apart = kept.into_iter().map(|(suspect, _)| suspect).collect();
        DnsCandidates { told_apart, has_others: others.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_come_first() {
        let suspect =
            |last: u8| DnsCandidate { crawler: CrawlerId(3), address: [192, 0, 2, last].into() };
        let mut counted = Bounded::new(10);
        for last in [1, 2, 2, 3, 3, 3] {
            counted.add(&suspect(last), 1);
        }
        let suspects = DnsCandidates::new(counted);
        assert_eq!(suspects.told_apart, [suspect(3), suspect(2), suspect(1)]);
        assert!(!suspects.has_others);
    }
}
