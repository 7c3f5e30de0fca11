//! The slow matcher, short enough to be verified by reading.
//!
//! It uses Google's algorithm: walk along the pattern and keep the set of all reachable offsets of
//! the path. Every rule is tried. Rule and path may both be hostile, and the cost is limited by the
//! product of their lengths. All faster matchers are tested against this one.

use crate::robots::model::{Directive, Rule};
use crate::url::path::Dialect;

use super::{decision::IndexedDecision, pattern};

/// A matching rule: the length of its pattern and its index in the list.
type Best = Option<(usize, usize)>;

/// Decides with `rules`, those that bind a crawler, on a prepared path.
///
/// The longest matching pattern decides; at equal length, Allow does, and among equals the first
/// one. An empty pattern matches everything, but forbids nothing.
pub fn decide(rules: &[&Rule], dialect: Dialect, path: &[u8]) -> IndexedDecision {
    let (mut allow, mut disallow): (Best, Best) = (None, None);
    for (index, rule) in rules.iter().enumerate() {
        let best = match rule.directive {
            Directive::Allow => &mut allow,
            Directive::Disallow => &mut disallow,
        };
        if let Some(length) = matched_length(rule, dialect, path)
            && best.is_none_or(|(best, _)| length > best)
        {
            *best = Some((length, index));
        }
    }
    let length = |best: Best| best.map(|(length, _)| length);
    let by = if length(disallow) > length(allow) { disallow } else { allow };
    let allowed = length(disallow) <= length(allow).max(Some(0));
    by.map_or(IndexedDecision::NO_RULE, |(_, index)| IndexedDecision::new(index, allowed))
}

/// The priority of `rule` if it matches `path`.
pub fn matched_length(rule: &Rule, dialect: Dialect, path: &[u8]) -> Option<usize> {
    let written = pattern::prepare(rule, dialect);
    if is_match(&written, dialect, path) {
        return Some(written.len());
    }
    let index = pattern::of_directory_index(rule, dialect)?;
    is_match(&index, dialect, path).then_some(index.len())
}

/// Whether a prepared pattern matches a prefix of `path`, or all of it if the pattern ends in `$`.
pub fn is_match(pattern: &[u8], dialect: Dialect, path: &[u8]) -> bool {
    let mut reached = vec![0];
    let mut rest = pattern;
    while let [first, after @ ..] = rest {
        if *first == b'$' && after.is_empty() {
            return reached.contains(&path.len());
        }
        let special = pattern::encoded_special(rest, dialect);
        reached = match (*first, special) {
            (b'*', _) => (reached[0]..=path.len()).collect(),
            (_, Some((encoded, plain))) => step(&reached, path, &[encoded, &[plain]]),
            (literal, None) => step(&reached, path, &[&[literal]]),
        };
        if reached.is_empty() {
            return false;
        }
        rest = if special.is_some() { &rest[3..] } else { after };
    }
    true
}

/// The offsets after any of `spellings`, from the offsets in `reached`, in order.
fn step(reached: &[usize], path: &[u8], spellings: &[&[u8]]) -> Vec<usize> {
    let after = |at: &usize| {
        let spelling = spellings.iter().find(|spelling| path[*at..].starts_with(spelling))?;
        Some(at + spelling.len())
    };
    reached.iter().filter_map(after).collect()
}
