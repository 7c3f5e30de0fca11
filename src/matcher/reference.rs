//! The slow matcher, short enough to be believed.
//!
//! Google's algorithm: walk the pattern and keep the set of all offsets of
//! the path that can be reached. Every rule is tried; both rule and path are
//! hostile, and the cost is bounded by their product. Everything faster is
//! tested against this.

use crate::matcher::{decision::IndexedDecision, pattern};
use crate::robots::model::{Directive, Rule};
use crate::url::dialect::Dialect;

/// A rule that matches: the length of its pattern and its place in the list.
type Best = Option<(usize, usize)>;

/// Decides with `rules`, those that bind a crawler, on a prepared path.
///
/// The longest pattern that matches decides; at equal length Allow does, and
/// among equals the first. An empty pattern matches everything, but forbids nothing.
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

/// The length that `rule` counts with if it matches `path`.
pub fn matched_length(rule: &Rule, dialect: Dialect, path: &[u8]) -> Option<usize> {
    let written = pattern::prepare(rule, dialect);
    if is_match(&written, dialect, path) {
        return Some(written.len());
    }
    let index = pattern::of_directory_index(rule, dialect)?;
    is_match(&index, dialect, path).then_some(index.len())
}

/// Whether a prepared pattern matches a prefix of `path`, or all of it where
/// the pattern ends in `$`.
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

/// The offsets after any of `spellings`, from those reached before; in order.
fn step(reached: &[usize], path: &[u8], spellings: &[&[u8]]) -> Vec<usize> {
    let after = |at: &usize| {
        let spelling = spellings.iter().find(|spelling| path[*at..].starts_with(spelling))?;
        Some(at + spelling.len())
    };
    reached.iter().filter_map(after).collect()
}
