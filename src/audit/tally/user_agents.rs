//! Requests of unknown user agents that look automated.
//!
//! A cryptographic hash decides which user agents are kept. For recent ones it is computed once,
//! not for each request.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::bounded::Bounded;
use crate::merge::{Merge, merge_fields};

use super::super::sums::{Span, Sums};

/// User agents that are counted before they are hashed.
const RECENT_MAX: usize = 1024;

/// Requests of one unknown user agent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct UserAgentTally {
    /// Counts by the decision of the `*` groups.
    pub sums: Sums,
    /// `None` while no request had a time that could be read.
    pub span: Option<Span>,
}

merge_fields!(UserAgentTally { sums, span });

/// Sums by user agent, bounded.
#[derive(Clone, Debug)]
pub struct UserAgents {
    recent: HashMap<Vec<u8>, UserAgentTally, RandomState>,
    bounded: Bounded<Vec<u8>, UserAgentTally>,
}

impl UserAgents {
    /// Keeps at most `user_agents_max` user agents.
    pub fn new(user_agents_max: usize) -> UserAgents {
        UserAgents { recent: HashMap::default(), bounded: Bounded::new(user_agents_max) }
    }

    /// The sums of `user_agent`, to be added to.
    pub fn entry(&mut self, user_agent: &[u8]) -> &mut UserAgentTally {
        if self.recent.len() > RECENT_MAX {
            self.settle();
        }
        self.recent.entry_ref(user_agent).or_default()
    }

    /// Adds to the sums of the others.
    pub fn add_to_others(&mut self, tally: UserAgentTally) {
        self.bounded.add_to_others(tally);
    }

    /// The kept user agents, ordered by name, and the sum of the others.
    pub fn into_parts(mut self) -> (Vec<(Vec<u8>, UserAgentTally)>, Option<UserAgentTally>) {
        self.settle();
        let (kept, others) = self.bounded.into_parts();
        let mut kept: Vec<_> = kept.collect();
        kept.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        (kept, others)
    }

    fn settle(&mut self) {
        for (user_agent, tally) in self.recent.drain() {
            self.bounded.add(user_agent.as_slice(), tally);
        }
    }
}

impl Merge for UserAgents {
    fn absorb(&mut self, mut other: UserAgents) {
        other.settle();
        self.bounded.absorb(other.bounded);
    }
}
