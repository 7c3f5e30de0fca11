//! The broken rules with the surrounding lines of their robots.txt.

use std::collections::BTreeMap;

use crate::audit::model::ReportModel;
use crate::digest::Digest;
use crate::robots::model::{Group, ParsedRobotsTxt};

/// Rules shown before and after a broken rule.
const NEIGHBOURS: usize = 3;

/// The most User-agent lines shown of one group.
const TOKENS_MAX: usize = 20;

/// A line near a broken rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NearLine<'a> {
    /// `user-agent`, `allow` or `disallow`.
    pub field: &'static str,
    /// As written in the file.
    pub value: &'a [u8],
    /// Violating requests; `None` for the surrounding lines.
    pub requests: Option<u64>,
}

/// Lines of robots.txt files by digest, sorted by line number.
pub(crate) type NearLines<'a> = BTreeMap<Digest, Vec<(u32, NearLine<'a>)>>;

/// The lines near the broken rules of `audit`, in the files for which `wanted` holds.
pub(crate) fn robots_rules(audit: &ReportModel, wanted: impl Fn(&Digest) -> bool) -> NearLines<'_> {
    let mut broken: BTreeMap<Digest, BTreeMap<u32, u64>> = BTreeMap::new();
    for (_, actor, rule) in audit.broken_rules().filter(|of| wanted(&of.2.rule.digest)) {
        let lines = broken.entry(rule.rule.digest).or_default();
        let counts = audit.is_own_crawler(actor);
        *lines.entry(rule.rule.line).or_default() += if counts { rule.tally.requests } else { 0 };
    }
    let mut texts: BTreeMap<Digest, &ParsedRobotsTxt> = BTreeMap::new();
    for (_, robots) in &audit.robots {
        if let Some(text) = robots.text() {
            texts.insert(robots.version.digest, text);
        }
    }
    let known = broken.into_iter().filter_map(|(digest, lines)| {
        let near = near_lines(texts.get(&digest)?, &lines);
        Some((digest, near))
    });
    known.collect()
}

/// Sorted, without duplicates.
fn near_lines<'a>(
    text: &'a ParsedRobotsTxt,
    broken: &BTreeMap<u32, u64>,
) -> Vec<(u32, NearLine<'a>)> {
    let mut near = Vec::new();
    for &line in broken.keys() {
        let Some((group, _)) = text.rule_at(line) else { continue };
        for token in group.product_tokens.iter().take(TOKENS_MAX) {
            let (field, value) = ("user-agent", &*token.written);
            near.push((token.line, NearLine { field, value, requests: None }));
        }
        near.extend(neighbours(group, line, broken));
    }
    near.sort_by_key(|(line, _)| *line);
    near.dedup_by_key(|(line, _)| *line);
    near
}

/// The rule on `line` of `group`, with the surrounding ones.
fn neighbours<'a>(
    group: &'a Group,
    line: u32,
    broken: &BTreeMap<u32, u64>,
) -> impl Iterator<Item = (u32, NearLine<'a>)> {
    let at = group.rules.partition_point(|rule| rule.line < line);
    let end = group.rules.len().min(at + NEIGHBOURS + 1);
    group.rules[at.saturating_sub(NEIGHBOURS)..end].iter().map(|rule| {
        let (field, requests) = (rule.directive.as_str(), broken.get(&rule.line).copied());
        // Only others broke it in the crawler's name.
        let requests = requests.filter(|requests| *requests > 0);
        (rule.line, NearLine { field, value: rule.written(), requests })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::parse::parse;

    #[test]
    fn a_broken_rule_stands_among_its_neighbours() {
        let (text, _) = parse(
            b"User-agent: a\nDisallow: /1\n\nUser-agent: b\nUser-agent: c\nDisallow: /2\nDisallow: /3\nDisallow: /4\nDisallow: /5\nAllow: /6\nDisallow: /7\nDisallow: /8\nDisallow: /9\nDisallow: /10\n",
        );
        let near = near_lines(&text, &BTreeMap::from([(10, 7), (9, 0)]));
        let lines: Vec<u32> = near.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
        let spoofed = NearLine { field: "disallow", value: b"/5", requests: None };
        assert_eq!(near[5], (9, spoofed));
        let rule = NearLine { field: "allow", value: b"/6", requests: Some(7) };
        assert_eq!(near[6], (10, rule));
    }
}
