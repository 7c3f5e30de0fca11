//! Decisions on paths that were decided before.
//!
//! Crawlers request many paths again, each other's and their own. A hash and a comparison cost less
//! than a search through many rules. The key is the whole path, compared exactly, and the rule set,
//! so the cache always gives the decision of the rules.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;

use crate::bytes::equal;
use crate::matcher::{compiled::CompiledPolicy, decision::IndexedDecision};

/// The most places, a power of two. A path has one place, so strangers who choose paths can only make the
/// cache useless.
const SLOTS_MAX: usize = 1 << 13;

/// The places at first, a power of two. As many decisions later there are [`SLOTS_MAX`]: a short log needs
/// no more, and the memory is not touched.
const SLOTS_AT_FIRST: usize = 1 << 8;

/// The decisions after which a cache that gave less than a fourth of them is given up: a log of many
/// sites has too many paths.
const TRIAL_DECISIONS: u32 = 1 << 12;

/// The longest path that is kept, in bytes.
const PATH_BYTES_MAX: usize = 84;

/// A worker's cache, at most 768 KiB, which are allocated with the first decision.
#[derive(Debug, Default)]
pub(crate) struct DecisionCache {
    slots: Box<[Slot]>,
    /// Decisions that were looked up, and those of them that were found, during the trial.
    looked_up: u32,
    found: u32,
    hasher: RandomState,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The number of the policy.
    policy: u32,
    decision: IndexedDecision,
    /// 0 if the place is free; a prepared path is never empty.
    length: u32,
    path: [u8; PATH_BYTES_MAX],
}

const FREE: Slot =
    Slot { policy: 0, decision: IndexedDecision::NO_RULE, length: 0, path: [0; PATH_BYTES_MAX] };

impl DecisionCache {
    /// `policy.decide(path)`, from the cache if it was asked before.
    #[inline]
    pub(crate) fn decide(&mut self, policy: &CompiledPolicy, path: &[u8]) -> IndexedDecision {
        if !policy.has_many_patterns() || path.len() > PATH_BYTES_MAX || self.is_given_up() {
            return policy.decide(path);
        }
        let hash = self.hasher.hash_one(path).wrapping_add(u64::from(policy.number()));
        if self.slots.is_empty() || self.looked_up == SLOTS_AT_FIRST as u32 {
            self.grow();
        }
        let place = hash as usize & (self.slots.len() - 1);
        let slot = &mut self.slots[place];
        let length = slot.length as usize;
        self.looked_up = self.looked_up.saturating_add(1);
        if slot.policy == policy.number()
            && slot.path.get(..length).is_some_and(|known| equal(known, path))
        {
            self.found = self.found.saturating_add(1);
            return slot.decision;
        }
        let decision = policy.decide(path);
        slot.policy = policy.number();
        slot.decision = decision;
        slot.length = path.len() as u32;
        slot.path[..path.len()].copy_from_slice(path);
        decision
    }

    /// Takes places, or all that it may have, and forgets the decisions.
    #[cold]
    fn grow(&mut self) {
        let slots = if self.slots.is_empty() { SLOTS_AT_FIRST } else { SLOTS_MAX };
        self.slots = vec![FREE; slots].into();
    }

    #[inline]
    fn is_given_up(&self) -> bool {
        self.looked_up == TRIAL_DECISIONS && self.found < TRIAL_DECISIONS / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::{limits::Limits, select};
    use crate::robots::model::StarGroups;
    use crate::robots::parse::parse;
    use crate::url::path::Dialect;

    fn policy(rules: &str) -> CompiledPolicy {
        let more: String = (0..9).map(|rule| format!("Disallow: /{rule}*y\n")).collect();
        let (robots, _) = parse(format!("User-agent: *\n{rules}{more}").as_bytes());
        let selection = select::select(&robots, &["a"], StarGroups::Honoured);
        CompiledPolicy::new(&selection.rules(), Dialect::Google, &Limits::default())
    }

    /// One place for the same path of two rule sets.
    #[test]
    fn rule_sets_do_not_share_decisions() {
        let (first, mut second) = (policy("Disallow: /a\n"), policy("Allow: /a\n"));
        while !(second.number() - first.number()).is_multiple_of(SLOTS_MAX as u32) {
            second = policy("Allow: /a\n");
        }
        let mut cache = DecisionCache::default();
        for policy in [&first, &second, &first] {
            assert_eq!(cache.decide(policy, b"/a"), policy.decide(b"/a"));
        }
    }

    /// Two rule sets, and more paths than places: paths that begin with others, and paths that are
    /// too long.
    #[test]
    fn gives_the_decisions_of_the_rules() {
        let policies =
            [policy("Disallow: /a\nAllow: /a1$\n"), policy("Disallow: /*7\nAllow: /b\n")];
        let mut cache = DecisionCache::default();
        for round in 0..3 {
            for number in 0..SLOTS_MAX * 2 {
                for (policy, letter) in policies.iter().zip(["a", "b"].iter().cycle()) {
                    let long = "/z".repeat(if number % 100 == 0 { 60 } else { 0 });
                    let path = format!("/{letter}{number}{long}");
                    let (decided, expected) =
                        (cache.decide(policy, path.as_bytes()), policy.decide(path.as_bytes()));
                    assert_eq!(decided, expected, "{round} {path}");
                }
                let path = format!("/{number}y");
                for policy in &policies {
                    assert_eq!(
                        cache.decide(policy, path.as_bytes()),
                        policy.decide(path.as_bytes())
                    );
                }
            }
        }
    }
}
