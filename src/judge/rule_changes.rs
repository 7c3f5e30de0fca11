//! The changes of the rules for one crawler at one origin, and the paths that they touch.
//!
//! A change is a pair of consecutive rulings whose rules for the crawler differ. Failures to fetch
//! robots.txt are not rulings here; an answer that amounts to no robots.txt is one without rules.
//! Order, repetitions and lines of rules do not count as a difference.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::matcher::{compiled::CompiledPolicy, decision::Decision};
use crate::time::UtcTime;

use super::{by_crawler::ByCrawler, robots::BoundRules};

/// The most changes of one crawler at one origin: the latest.
pub(crate) const CHANGES_MAX: usize = 100;

/// The changes at one origin, found when a crawler is first asked for.
#[derive(Debug)]
pub(super) struct RuleChanges {
    /// By crawler.
    pub by_crawler: ByCrawler<Arc<[RuleChange]>>,
    /// By the addresses of the rules of each period: most crawlers follow the same groups.
    pub by_rules: Mutex<ChangesByRules>,
}

type ChangesByRules = HashMap<Box<[usize]>, Arc<[RuleChange]>>;

/// A change of the rules for one crawler.
#[derive(Debug)]
pub(crate) struct RuleChange {
    /// The last fetch that still saw the old rules.
    pub after: UtcTime,
    /// The first fetch that saw the new rules.
    pub before: UtcTime,
    /// The first fetch that saw the old rules, if these were a change, too.
    pub since: Option<UtcTime>,
    /// Whether there are paths that are newly disallowed.
    pub disallows: bool,
    /// Whether there are paths that are newly allowed.
    pub allows: bool,
    /// The rules that only one of both rule sets has: they match each path that is touched.
    pub(super) differing: CompiledPolicy,
    pub(super) old: Option<Arc<BoundRules>>,
    pub(super) new: Option<Arc<BoundRules>>,
}

/// The effect of a change on a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Touched {
    /// Whether the path is newly allowed; else it is newly disallowed.
    pub is_allowed: bool,
    /// The line of the rule that disallows it: in the old version if it is newly allowed.
    pub line: u32,
}

impl RuleChange {
    /// The effect on `path`, which must be prepared; `None` if there is none.
    #[inline]
    pub(crate) fn touched(&self, path: &[u8]) -> Option<Touched> {
        self.differing.decide(path).rule()?;
        let decide = |rules: &Option<Arc<BoundRules>>| match rules {
            Some(rules) => rules.policy.decide(path).with_lines(&rules.lines),
            None => Decision::NO_RULE,
        };
        let (old, new) = (decide(&self.old), decide(&self.new));
        let disallowing = if new.allowed { old } else { new };
        let line = disallowing.line.filter(|_| old.allowed != new.allowed)?;
        Some(Touched { is_allowed: new.allowed, line })
    }
}
