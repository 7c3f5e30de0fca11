//! The first pass over the logs, before requests are judged.

use std::collections::BTreeSet;

use crate::bounded::Bounded;
use crate::crawlers::registry::Registry;
use crate::judge::Judge;
use crate::merge::merge_fields;
use crate::url::origin::Origin;

use super::dns_names::{CANDIDATES_MAX, DnsCandidate};
use super::log_outages::{LogOutages, OutageHosts};
use super::origin_key::{OriginKey, OriginRank};
use super::{client::ClientKey, identities::Identities};

/// What the first pass is to collect.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    /// Addresses to be looked up (`--verify-dns`).
    pub addresses: bool,
    /// Answers to requests for robots.txt (`--infer-outages`).
    pub outages: Option<OutageHosts>,
    /// Origins that crawlers requested (`--fetch`).
    pub origins: bool,
}

impl Wanted {
    /// Whether a first pass is needed.
    pub(crate) fn is_any(self) -> bool {
        self != Wanted::default()
    }
}

/// The settings of a first pass.
#[derive(Clone, Copy, Debug)]
pub struct FirstPass<'a> {
    /// The judge, which knows the user's origins.
    pub judge: &'a Judge,
    /// The registry of crawlers.
    pub registry: &'a Registry,
    /// Identities that need no lookup.
    pub identities: &'a Identities,
    /// The data to collect.
    pub wanted: Wanted,
    /// The key for hashes of clients.
    pub client_key: &'a ClientKey,
}

/// The result of a first pass; `None` for data that was not needed.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// Addresses to be looked up, with their requests.
    pub addresses: Option<Bounded<DnsCandidate, u64>>,
    /// How requests for robots.txt were answered.
    pub answers: Option<LogOutages>,
    /// Origins that crawlers requested.
    pub origins: Option<AskedOrigins>,
}

/// Origins that crawlers requested. All origins that the user named are kept, and of the others
/// those with the smallest hashes, up to the limit of a tally.
#[derive(Clone, Debug)]
pub struct AskedOrigins {
    pub(super) named: BTreeSet<Origin>,
    pub(super) strangers: Bounded<Origin, ()>,
}

impl Collected {
    /// An empty collection of the `wanted` data, with at most `strangers_max` origins that the user
    /// did not name.
    pub(crate) fn new(wanted: Wanted, strangers_max: usize) -> Collected {
        Collected {
            addresses: wanted.addresses.then(|| Bounded::new(CANDIDATES_MAX)),
            answers: wanted.outages.map(|_| LogOutages::default()),
            origins: wanted.origins.then(|| AskedOrigins::new(strangers_max)),
        }
    }
}

merge_fields!(Collected { addresses, answers, origins });

impl AskedOrigins {
    /// None yet.
    pub(crate) fn new(strangers_max: usize) -> AskedOrigins {
        AskedOrigins { named: BTreeSet::new(), strangers: Bounded::new(strangers_max) }
    }

    /// Adds the origin of `origin_key`, if it is one.
    pub(super) fn add(&mut self, origin_key: &OriginKey, origin_rank: OriginRank) {
        let OriginKey::Origin(origin) = origin_key else { return };
        match origin_rank {
            OriginRank::Stranger(hash) => self.strangers.add_hashed(hash, origin.clone(), ()),
            OriginRank::Named if !self.named.contains(origin) => {
                self.named.insert(origin.clone());
            }
            OriginRank::Named => {}
        }
    }

    /// All origins.
    pub(crate) fn into_set(self) -> BTreeSet<Origin> {
        let (strangers, _) = self.strangers.into_parts();
        strangers.map(|(origin, ())| origin).chain(self.named).collect()
    }
}

merge_fields!(AskedOrigins { named, strangers });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounded::StableHash;

    #[test]
    fn strangers_push_out_no_origin_that_the_user_named() {
        let origin_key = |host: String| OriginKey::Origin(Origin::parse(host.as_bytes()).unwrap());
        let mut forwards = AskedOrigins::new(3);
        let mut backwards = AskedOrigins::new(3);
        let named = origin_key("https://named.example".to_owned());
        forwards.add(&named, OriginRank::Named);
        for number in 0..9 {
            for (origins, number) in [(&mut forwards, number), (&mut backwards, 8 - number)] {
                let stranger = origin_key(format!("https://{number}.example"));
                origins.add(&stranger, OriginRank::Stranger(stranger.stable_hash()));
            }
        }
        backwards.add(&named, OriginRank::Named);
        let (forwards, backwards) = (forwards.into_set(), backwards.into_set());
        assert_eq!(forwards, backwards);
        assert_eq!(forwards.len(), 4);
        assert!(forwards.iter().any(|origin| origin.host() == "named.example"));
    }
}
