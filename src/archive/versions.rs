//! Summarises the snapshots of an origin, with the changes between versions.

use std::collections::HashMap;

use crate::error::Result;
use crate::robots::model::{Directive, ParsedRobotsTxt};
use crate::robots::parse::parse_body;
use crate::time::UtcTime;

use super::reader::Archive;
use super::snapshot::{BodyKey, HistoryEntry, SnapshotOutcome};

/// Consecutive snapshots with the same outcome and body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stretch {
    /// The time of the first one.
    pub first: UtcTime,
    /// The time of the last one.
    pub last: UtcTime,
    /// Their number.
    pub snapshots: u64,
    /// Their outcome.
    pub outcome: SnapshotOutcome,
    /// Their body.
    pub body: Option<BodyKey>,
    /// The source of the first one.
    pub source: String,
    /// The changes against the last body before; `None` without a body, or with the same one.
    pub rules: Option<RulesChange>,
}

/// The difference between the rules of two bodies. Rules are equal if the product tokens of their
/// groups, their directives and their patterns are.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RulesChange {
    /// Rules only in the newer body.
    pub added: usize,
    /// Rules only in the older body.
    pub removed: usize,
    /// Rules in both.
    pub kept: usize,
}

/// Groups `entries`, the snapshots of one origin in order.
///
/// # Errors
/// If the archive cannot be read.
pub fn stretches(archive: &Archive, entries: &[HistoryEntry]) -> Result<Vec<Stretch>> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut given = ParsedRobotsTxt::default();
    let mut given_key = None;
    for entry in entries {
        let (outcome, fetched_at) = (entry.fetch.outcome, entry.fetch.fetched_at);
        if let Some(last) = stretches.last_mut()
            && (last.outcome, last.body) == (outcome, entry.body)
        {
            last.last = fetched_at;
            last.snapshots += 1;
            continue;
        }
        let rules = match entry.body {
            Some(key) if given_key != Some(key) => {
                let text = parse_body(&archive.body(key)?);
                let change = rules_change(&given, &text);
                (given, given_key) = (text, Some(key));
                Some(change)
            }
            _ => None,
        };
        stretches.push(Stretch {
            first: fetched_at,
            last: fetched_at,
            snapshots: 1,
            outcome,
            body: entry.body,
            source: entry.source.clone(),
            rules,
        });
    }
    Ok(stretches)
}

/// The difference between `old` and `new`.
fn rules_change(old: &ParsedRobotsTxt, new: &ParsedRobotsTxt) -> RulesChange {
    let mut left: HashMap<RuleKey<'_>, usize> = HashMap::new();
    keys(old).for_each(|key| *left.entry(key).or_default() += 1);
    let mut change = RulesChange::default();
    for key in keys(new) {
        match left.get_mut(&key).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                change.kept += 1;
            }
            None => change.added += 1,
        }
    }
    change.removed = left.values().sum();
    change
}

type RuleKey<'a> = (std::rc::Rc<[Vec<u8>]>, Directive, &'a [u8]);

fn keys(text: &ParsedRobotsTxt) -> impl Iterator<Item = RuleKey<'_>> {
    text.groups.iter().flat_map(|group| {
        let mut tokens: Vec<Vec<u8>> = group
            .product_tokens
            .iter()
            .map(|token| match token.is_star() {
                true => b"*".to_vec(),
                false => token.written.to_ascii_lowercase(),
            })
            .collect();
        tokens.sort();
        tokens.dedup();
        let tokens: std::rc::Rc<[Vec<u8>]> = tokens.into();
        group.rules.iter().map(move |rule| (tokens.clone(), rule.directive, &*rule.pattern))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_compared_whatever_their_order() {
        let check = |old: &str, new: &str, (added, removed, kept)| {
            let change = rules_change(&parse_body(old.as_bytes()), &parse_body(new.as_bytes()));
            assert_eq!(change, RulesChange { added, removed, kept }, "{old} {new}");
        };
        let a = "User-agent: a\nUser-agent: B\nDisallow: /x\nAllow: /y\n";
        check("", "", (0, 0, 0));
        check("", a, (2, 0, 0));
        check(a, "", (0, 2, 0));
        check(a, "# new\nuser-agent: b\nuser-agent: A\nAllow: /y\nDisallow: /x\n", (0, 0, 2));
        check(a, "User-agent: a\nDisallow: /x\nAllow: /y\n", (2, 2, 0));
        check(a, &format!("{a}{a}Disallow: /z\n"), (3, 0, 2));
    }
}
