//! Whether a request came from the crawler that its user agent names.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::{DAY_SECONDS, UtcTime};
use botaudit_robots::named_enum;

use super::crawler::CrawlerId;

/// A crawler and the class of its identity.
pub type Actor = (CrawlerId, Identity);

/// How many days before or after a request a list, or an answer of DNS, may be to contradict its
/// address. Operators add addresses every few weeks, so an older or newer list lacks some that were
/// theirs at the time of the request.
pub(crate) const CONTRADICTING_DAYS: i64 = 14;

/// How many days before or after a request a list that only verifies may be to be called a list of its time.
pub(crate) const COMPARED_DAYS: i64 = 92;

named_enum! {
    /// Whether the address of a request confirms its user agent.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Identity {
        /// The operator's ranges or DNS rule contain the address.
        Verified = "verified",
        /// They were loaded completely, are of that time, and contradict it.
        Spoofed = "spoofed",
        /// Nothing is known that would decide.
        Unverified = "unverified",
        /// It was compared with a list of the time, and is not on it, which is too little to contradict it.
        #[serde(rename = "not-on-list")]
        NotOnList = "not-on-list",
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

named_enum! {
    /// What says whether the address of a request is the crawler's.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Proof {
        /// The newest address list; of what is contradicted, any version.
        AddressList = "address-list",
        /// An earlier version of an address list.
        ArchivedList = "archived-list",
        /// An address list that comes with the program.
        BundledList = "bundled-list",
        /// DNS, asked by this run.
        Dns = "dns",
        /// DNS, asked by an earlier run near the time of the request.
        ArchivedDns = "archived-dns",
        /// A signature by a key that the crawler's operator published.
        Signature = "signature",
        /// Nothing decides.
        Nothing = "nothing",
        /// Nothing can decide: the log has a list of addresses in place of the client's, and no proxy
        /// is trusted.
        Forwarded = "forwarded",
    }
}

/// What is known of the identity of one request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IdentityAnswer {
    /// The identity.
    pub identity: Identity,
    /// Whether a source contradicts, but is of another time, so that the request is unverified.
    pub is_of_other_time: bool,
    /// What decided; `None` if there is no source.
    pub(crate) proof: Option<Proof>,
}

impl IdentityAnswer {
    /// Without sources nobody is verified.
    pub(crate) const UNASKED: IdentityAnswer =
        IdentityAnswer { identity: Identity::Unverified, is_of_other_time: false, proof: None };

    pub(crate) fn new(identity: Identity, proof: Proof) -> IdentityAnswer {
        IdentityAnswer { identity, is_of_other_time: false, proof: Some(proof) }
    }
}

/// The times at which a source of addresses can contradict the address of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ContradictingTimes {
    /// In seconds since the epoch.
    first: i64,
    last: i64,
}

impl ContradictingTimes {
    /// Those near the time that the source is of.
    pub(crate) fn near(time: UtcTime) -> ContradictingTimes {
        let (time, distance) = (time.unix_seconds(), CONTRADICTING_DAYS * DAY_SECONDS);
        ContradictingTimes { first: time - distance, last: time + distance }
    }

    /// Whether `time` is one of them.
    pub(crate) fn contain(self, time: UtcTime) -> bool {
        (self.first..=self.last).contains(&time.unix_seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_contradicts_near_its_own_time() {
        let at = |days: i64, seconds: i64| {
            UtcTime::from_unix_seconds(days * DAY_SECONDS + seconds).unwrap()
        };
        let one = ContradictingTimes::near(at(100, 7));
        for (time, expected) in [
            (at(86, 6), false),
            (at(86, 7), true),
            (at(100, 0), true),
            (at(114, 7), true),
            (at(114, 8), false),
        ] {
            assert_eq!(one.contain(time), expected, "{time}");
        }
    }
}
