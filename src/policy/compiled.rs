//! The rules that bind a crawler, ready to judge.

use crate::policy::limits::Limits;
use crate::policy::ordered::OrderedGlobs;
use crate::policy::ranked::rank;
use crate::policy::verdict::Decision;
use crate::robots::model::Rule;
use crate::url::dialect::Dialect;

/// A rule set, compiled; immutable, and shared by threads.
///
/// ```
/// use botaudit::policy::{compiled::CompiledPolicy, limits::Limits, select};
/// use botaudit::url::dialect::Dialect;
/// let (robots, _) = botaudit::robots::parse::parse(b"User-agent: *\nDisallow: /*.php$");
/// let selection = select::select(&robots, &["foobot"], select::Star::Honoured);
/// let policy = CompiledPolicy::new(&selection.rules, Dialect::Google, &Limits::default());
/// let verdict = selection.verdict(policy.decide(b"/a.php"));
/// assert!(!verdict.allowed && verdict.by == Some(2));
/// ```
#[derive(Debug)]
pub struct CompiledPolicy {
    plan: Plan,
}

#[derive(Debug)]
enum Plan {
    /// No path can make a difference.
    Constant(Decision),
    /// Few patterns.
    Ordered(OrderedGlobs),
}

impl CompiledPolicy {
    /// Compiles `rules`, those that bind a crawler, in the order of the file.
    pub fn new(rules: &[&Rule], dialect: Dialect, _limits: &Limits) -> CompiledPolicy {
        let ranked = rank(rules, dialect);
        let plan = match &*ranked {
            [] => Plan::Constant(Decision::NO_RULE),
            [first, ..] if first.pattern.iter().all(|byte| *byte == b'*') => {
                Plan::Constant(first.outcome.decision())
            }
            _ => Plan::Ordered(OrderedGlobs::new(&ranked, dialect)),
        };
        CompiledPolicy { plan }
    }

    /// Decides on a prepared path: what `reference::decide` decides, faster.
    pub fn decide(&self, path: &[u8]) -> Decision {
        match &self.plan {
            Plan::Constant(decision) => *decision,
            Plan::Ordered(globs) => globs.decide(path),
        }
    }

    /// Bytes on the heap, as far as compiled by now.
    pub fn heap_bytes(&self) -> usize {
        match &self.plan {
            Plan::Constant(_) => 0,
            Plan::Ordered(globs) => globs.heap_bytes(),
        }
    }
}
