//! What an origin gave over time, and what changed from one version to the next.

use std::collections::HashMap;

use crate::error::Result;
use crate::robots::model::{Directive, ParsedRobotsTxt};
use crate::robots::parse::parse_body;
use crate::time::UtcTime;

use super::entry::{BodyKey, HistoryEntry};
use super::{reader::Archive, snapshot::SnapshotOutcome};

/// Snapshots that follow each other with the same outcome and body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stretch {
    /// When it was first seen.
    pub first: UtcTime,
    /// When it was last seen.
    pub last: UtcTime,
    /// How often.
    pub snapshots: u64,
    /// What came of asking.
    pub outcome: SnapshotOutcome,
    /// What was given.
    pub body: Option<BodyKey>,
    /// Where its first snapshot comes from.
    pub source: String,
    /// Against the body that was given last before; `None` where nothing was given, or the same.
    pub rules: Option<RulesChange>,
}

/// How the rules of one body differ from those of another. A rule is the same where its group's
/// product tokens, its directive and its pattern are.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RulesChange {
    /// Rules that the later one has more.
    pub added: usize,
    /// Rules that it has no more.
    pub removed: usize,
    /// Rules that both have.
    pub kept: usize,
}

/// Sums up `entries`, which are snapshots of one origin in order.
///
/// # Errors
/// Where the archive cannot be read.
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

/// How `new` differs from `old`.
pub fn rules_change(old: &ParsedRobotsTxt, new: &ParsedRobotsTxt) -> RulesChange {
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
