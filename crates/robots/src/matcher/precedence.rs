//! Sorts rules into deciding order: the first one whose pattern matches decides.
//!
//! The order is: longest pattern first, Allow before Disallow, then the order of the file. An Allow
//! rule on an index page occurs twice: as written, and as its directory with that shorter length.

use std::borrow::Cow;

use crate::robots::model::{Directive, Rule};
use crate::url::path::Dialect;

use super::{decision::IndexedDecision, pattern};

/// One pattern in deciding order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RankedPattern<'a> {
    pub pattern: Cow<'a, [u8]>,
    /// The decision, if it is the first pattern that matches.
    pub decision: IndexedDecision,
}

/// Sorts `rules`. Patterns after one that matches every path are omitted, because they can never
/// decide.
pub fn rank<'a>(rules: &[&'a Rule], dialect: Dialect) -> Vec<RankedPattern<'a>> {
    let mut patterns = Vec::with_capacity(rules.len());
    // Only numbers are sorted. Patterns are large, and are moved once.
    let mut order: Vec<u128> = Vec::with_capacity(rules.len());
    let mut add = |directive, pattern: Cow<'a, [u8]>, decision| {
        order.push(
            u128::from(sort_key(directive, &pattern, decision)) << 64 | patterns.len() as u128,
        );
        patterns.push(RankedPattern { pattern, decision });
    };
    for (index, rule) in rules.iter().enumerate() {
        let pattern = pattern::prepare(rule, dialect);
        // An empty Disallow matches everything and forbids nothing.
        let allowed = rule.directive == Directive::Allow || pattern.is_empty();
        add(rule.directive, pattern, IndexedDecision::new(index, allowed));
        if let Some(pattern) = pattern::of_directory_index(rule, dialect) {
            add(rule.directive, Cow::Owned(pattern), IndexedDecision::new(index, true));
        }
    }
    order.sort_unstable();
    let mut ranked: Vec<RankedPattern<'_>> = Vec::with_capacity(patterns.len());
    let mut class_before = None;
    for order in order {
        let RankedPattern { pattern, decision } = &mut patterns[order as u64 as usize];
        let class = order >> 64 >> DIRECTIVE_SHIFT;
        // Of equal rules, the first one decides.
        let is_repeated = class_before == Some(class)
            && ranked.last().is_some_and(|last| last.pattern == *pattern);
        class_before = Some(class);
        if is_repeated {
            continue;
        }
        let is_last = pattern.iter().all(|byte| *byte == b'*');
        ranked.push(RankedPattern { pattern: std::mem::take(pattern), decision: *decision });
        if is_last {
            break;
        }
    }
    ranked
}

/// The bit of the directive in the sort key, between the length above and the decision below.
const DIRECTIVE_SHIFT: u32 = 32;

fn sort_key(directive: Directive, pattern: &[u8], decision: IndexedDecision) -> u64 {
    let length = u64::try_from(pattern.len()).expect("fits") << 1;
    let order = (u64::from(u32::MAX >> 1) << 1).saturating_sub(length)
        | u64::from(directive == Directive::Disallow);
    order << DIRECTIVE_SHIFT | u64::from(decision.to_bits())
}
