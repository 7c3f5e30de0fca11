//! Rules in deciding order: the first whose pattern matches decides.
//!
//! Longest pattern first, Allow before Disallow, then the order of the file.
//! An Allow rule on an index page stands twice: as written, and as its
//! directory, with that shorter length.

use crate::matcher::{decision::IndexedDecision, pattern};
use crate::robots::model::{Directive, Rule};
use crate::url::dialect::Dialect;

use std::borrow::Cow;

/// One pattern in deciding order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RankedPattern<'a> {
    /// Prepared.
    pub pattern: Cow<'a, [u8]>,
    /// What is decided where it matches and nothing before it did.
    pub decision: IndexedDecision,
}

/// Puts `rules` in deciding order. What stands after a pattern that matches
/// every path is left out: it can never decide.
pub fn rank<'a>(rules: &[&'a Rule], dialect: Dialect) -> Vec<RankedPattern<'a>> {
    let mut ranked = Vec::with_capacity(rules.len());
    for (index, rule) in rules.iter().enumerate() {
        let pattern = pattern::prepare(rule, dialect);
        // An empty Disallow matches everything and forbids nothing.
        let allowed = rule.directive == Directive::Allow || pattern.is_empty();
        ranked.push(place(rule.directive, pattern, IndexedDecision::new(index, allowed)));
        if let Some(pattern) = pattern::of_directory_index(rule, dialect) {
            let decision = IndexedDecision::new(index, true);
            ranked.push(place(rule.directive, Cow::Owned(pattern), decision));
        }
    }
    ranked.sort_unstable_by_key(|(order, _)| *order);
    // Of equal rules the first decides.
    ranked.dedup_by(|(later_order, later), (order, first)| {
        *later_order >> DIRECTIVE_SHIFT == *order >> DIRECTIVE_SHIFT
            && later.pattern == first.pattern
    });
    let is_last = |ranked: &RankedPattern<'_>| ranked.pattern.iter().all(|byte| *byte == b'*');
    let end = ranked.iter().position(|(_, ranked)| is_last(ranked));
    ranked.truncate(end.map_or(ranked.len(), |last| last + 1));
    ranked.into_iter().map(|(_, ranked)| ranked).collect()
}

/// Where the directive stands in the number that patterns are sorted by; above
/// it the length, below it the decision.
const DIRECTIVE_SHIFT: u32 = 32;

fn place(
    directive: Directive,
    pattern: Cow<'_, [u8]>,
    decision: IndexedDecision,
) -> (u64, RankedPattern<'_>) {
    let length = u64::try_from(pattern.len()).expect("fits") << 1;
    let order = (u64::from(u32::MAX >> 1) << 1).saturating_sub(length)
        | u64::from(directive == Directive::Disallow);
    (order << DIRECTIVE_SHIFT | u64::from(decision.to_bits()), RankedPattern { pattern, decision })
}
