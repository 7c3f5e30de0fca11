//! What is said of the URLs of a batch: each different outcome once.

use std::ops::Range;
use std::sync::Arc;

use crate::crawlers::crawler::CrawlerId;
use crate::judge::robots::BindingRule;

use super::answer::{Reason, RowVerdict, VerdictWord};

/// Bytes of a pattern that are told; more of one is cut, as strangers write it, and as it stands in
/// each row that it decides.
pub const PATTERN_BYTES_MAX: usize = 1024;

/// How much is told of a row. What is not told need not tell outcomes apart.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Detail {
    /// Who asks, the verdict, and why.
    Verdicts,
    /// The origin as well.
    Origins,
    /// And the robots.txt, with the rule that decided.
    Rules,
}

/// What is said of some URLs of a batch: equal but for what the URL itself says.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// In canonical form; `None` where it is no URL, or not told.
    pub origin: Option<Arc<str>>,
    /// Who asks; `None` where the row names nobody who is known.
    pub crawler: Option<u16>,
    /// The verdict.
    pub word: VerdictWord,
    /// Why.
    pub reason: Reason,
    /// SHA-256 of the robots.txt that was asked; `None` where none was, or it is not told.
    pub digest: Option<[u8; 32]>,
    /// How often it was said.
    pub times: u64,
    rule: Option<ReportedRule>,
}

/// The outcomes of a batch. They name rules of robots.txt files that need not be in memory any more.
#[derive(Debug, Default)]
pub struct Outcomes {
    list: Vec<Outcome>,
    /// Patterns and groups, one after the other.
    texts: Vec<u8>,
}

/// A deciding rule: where its texts stand.
#[derive(Clone, Debug)]
struct ReportedRule {
    line: u32,
    directive: &'static str,
    pattern: Range<usize>,
    group: Range<usize>,
}

impl Outcomes {
    /// All of them, in the order in which they were met.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Outcome> {
        self.list.iter()
    }

    /// The one at `index`.
    pub fn get(&self, index: u32) -> &Outcome {
        &self.list[index as usize]
    }

    /// The rule that decided, where there is one and it is told; a long pattern is cut at
    /// [`PATTERN_BYTES_MAX`], after which stands an ellipsis.
    pub fn rule(&self, outcome: &Outcome) -> Option<BindingRule<'_>> {
        let ReportedRule { line, directive, pattern, group } = outcome.rule.clone()?;
        let (pattern, group) = (&self.texts[pattern], &self.texts[group]);
        Some(BindingRule { line, directive, pattern, group })
    }

    /// The `verdict` for `crawler`, not counted yet.
    pub(super) fn push(
        &mut self,
        verdict: RowVerdict<'_>,
        crawler: Option<u16>,
        origin: Option<Arc<str>>,
    ) {
        let robots = verdict.robots.filter(|_| verdict.line > 0);
        let rule = robots.zip(crawler).map(|(robots, crawler)| {
            let rule = robots.binding_rule(verdict.line, CrawlerId(crawler));
            self.reported(rule)
        });
        let RowVerdict { word, reason, robots, .. } = verdict;
        let digest = robots.map(|robots| *robots.digest.as_bytes());
        self.list.push(Outcome { origin, crawler, word, reason, digest, times: 0, rule });
    }

    /// The one at `index` was said once more.
    pub(super) fn count(&mut self, index: usize) {
        self.list[index].times += 1;
    }

    fn reported(&mut self, rule: BindingRule<'_>) -> ReportedRule {
        let BindingRule { line, directive, pattern, group } = rule;
        let shown = shown(pattern);
        let ellipsis = if shown.len() < pattern.len() { "…" } else { "" };
        let pattern = self.put(&[shown, ellipsis.as_bytes()]);
        let group = self.put(&[group]);
        ReportedRule { line, directive, pattern, group }
    }

    fn put(&mut self, parts: &[&[u8]]) -> Range<usize> {
        let start = self.texts.len();
        parts.iter().for_each(|part| self.texts.extend_from_slice(part));
        start..self.texts.len()
    }
}

/// As much of `pattern` as is told; no character is cut in two.
fn shown(pattern: &[u8]) -> &[u8] {
    if pattern.len() <= PATTERN_BYTES_MAX {
        return pattern;
    }
    let is_start = |at: &usize| pattern[*at] & 0xC0 != 0x80;
    let ends = PATTERN_BYTES_MAX - 3..=PATTERN_BYTES_MAX;
    &pattern[..ends.rev().find(is_start).unwrap_or(PATTERN_BYTES_MAX)]
}
