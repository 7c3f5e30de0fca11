//! Counts of browsers and of clients without a user agent that a worker has not yet added up.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;

use crate::audit::tally::rows::OriginId;
use crate::crawlers::{declared_name::declared_name, identify::Identified};
use crate::judge::verdict::Verdict;
use crate::logs::time::LastMinute;
use crate::measures::clients::{ClientTally, Sampled};
use crate::time::{Day, UtcTime};

/// A client that is neither a crawler nor a tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Visitor {
    /// A browser or an app.
    Browser = 0,
    /// A client without a user agent.
    NoUserAgent = 1,
}

impl Visitor {
    /// That of a user agent of no crawler or tool.
    #[inline]
    pub(super) fn of(who: Identified) -> Visitor {
        match who {
            Identified::Empty => Visitor::NoUserAgent,
            _ => Visitor::Browser,
        }
    }
}

/// Requests that the counter does not have yet.
#[derive(Debug, Default)]
pub(super) struct Visitors {
    /// The minute of the last line, if all of it is in `day`, and lines of it are counted.
    pub minute: LastMinute,
    pub day: Option<Day>,
    /// By [`Visitor`].
    pub requests: [u64; 2],
    /// The last client whose address was never on a list.
    pub last_unlisted: Vec<u8>,
}

/// A request, and what the groups of its client's name decide on it, or else the `*` groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnlistedRuled {
    pub verdict: Verdict,
    pub origin: OriginId,
    pub time: UtcTime,
    pub bytes: u64,
}

impl Visitors {
    /// Adds the counts to `clients`, and begins again.
    pub(super) fn add_to(&mut self, clients: &mut ClientTally) {
        let [browsers, no_user_agent] = std::mem::take(&mut self.requests);
        for (sum, requests) in
            [(&mut clients.browsers, browsers), (&mut clients.no_user_agent, no_user_agent)]
        {
            if requests > 0 {
                sum.add(self.day, Sampled { requests, ..Sampled::default() });
            }
        }
    }
}

/// The user agents whose declared names are kept, a power of two.
const NAMES: usize = 64;

/// The declared names of some crawlers outside the registry, at most 70 KiB.
#[derive(Debug, Default)]
pub(super) struct DeclaredNames {
    /// User agents and their names; none before the first.
    names: Vec<(Vec<u8>, Vec<u8>)>,
    hasher: RandomState,
}

impl DeclaredNames {
    /// The name in `user_agent`, of at most a kilobyte; empty if it has none.
    pub(super) fn of(&mut self, user_agent: &[u8]) -> &[u8] {
        if self.names.is_empty() {
            self.names.resize_with(NAMES, Default::default);
        }
        let place = self.hasher.hash_one(user_agent) as usize % NAMES;
        let (known, name) = &mut self.names[place];
        if known != user_agent {
            known.clear();
            known.extend_from_slice(user_agent);
            name.clear();
            name.extend_from_slice(declared_name(user_agent).unwrap_or_default());
        }
        name
    }
}

/// A line that cannot be read past the user agent has no path, but is not lost.
pub(super) fn sampled(ruled: Option<UnlistedRuled>) -> Sampled {
    match ruled {
        Some(UnlistedRuled { verdict, bytes, .. }) => Sampled::of_judged(verdict, bytes),
        None => Sampled::of_judged(Verdict::NoPath, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn kept_names_are_those_of_their_user_agents() {
        let (mut random, mut names) = (Random::new(), DeclaredNames::default());
        for _ in 0..5_000 {
            let user_agent =
                format!("{}Bot{}/1.0", ["Acme", ""][random.below(2)], random.below(99));
            let expected = declared_name(user_agent.as_bytes()).unwrap();
            assert_eq!(names.of(user_agent.as_bytes()), expected);
        }
        assert_eq!(names.of(b"http://example.com/"), b"");
    }
}
