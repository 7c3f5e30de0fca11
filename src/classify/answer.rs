//! The outcomes of a batch, each distinct one once, and the columns of a row that describe its verdict.

use std::{ops::Range, sync::Arc};

use botaudit_robots::named_enum;

use crate::crawlers::crawler::CrawlerId;
use crate::judge::robots::{BindingRule, Robots};
use crate::judge::verdict::{DatedVerdict, Verdict};

use super::url_parts::InvalidUrl;

named_enum! {
    /// The column `verdict`: may the crawler request the URL?
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    #[non_exhaustive]
    pub enum VerdictWord {
        /// It may.
        Allowed = "allowed",
        /// It may not.
        Disallowed = "disallowed",
        /// It may not any more, but it may not have fetched the new rules yet.
        Grace = "grace",
        /// The robots.txt could not be fetched.
        Unreachable = "unreachable",
        /// Nothing is known about the origin.
        Unknown = "unknown",
        /// It is not a valid URL.
        InvalidUrl = "invalid-url",
    }
}

/// The column `reason`: why.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Reason {
    /// A rule decides.
    Rule,
    /// No rule that binds the crawler matches.
    NoRuleMatches,
    /// `/robots.txt` may always be requested.
    RobotsTxt,
    /// The origin has no robots.txt.
    NoRobotsTxt,
    /// It answered 429 or 5xx, or not at all.
    Unreachable,
    /// The robots.txt of the origin is unknown.
    NothingKnown,
    /// Several groups may bind the crawler, and they decide differently.
    AmbiguousGroup,
    /// It is known for later times only.
    BeforeFirst,
    /// There is a robots.txt, but it could not be read.
    Unreadable,
    /// The row has no valid time, but a time column was named.
    BadTime,
    /// The row names a crawler that is not in the registry.
    NoSuchCrawler,
    /// See there.
    Invalid(InvalidUrl),
}

/// The verdict on one row, with the robots.txt that gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowVerdict<'r> {
    /// The verdict.
    pub word: VerdictWord,
    /// Why.
    pub reason: Reason,
    /// The line of the deciding rule; 0 if there is none.
    pub line: u32,
    /// The robots.txt with that rule.
    pub robots: Option<&'r Arc<Robots>>,
}

impl VerdictWord {
    /// The verdict with this name.
    pub(crate) fn from_name(name: &str) -> Option<VerdictWord> {
        VerdictWord::ALL.into_iter().find(|word| word.as_str() == name)
    }
}

impl Reason {
    /// The name in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Reason::Rule => "rule",
            Reason::NoRuleMatches => "no-rule-matches",
            Reason::RobotsTxt => "robots-txt",
            Reason::NoRobotsTxt => "no-robots-txt",
            Reason::Unreachable => "unreachable",
            Reason::NothingKnown => "nothing-known",
            Reason::AmbiguousGroup => "ambiguous-group",
            Reason::BeforeFirst => "before-first-snapshot",
            Reason::BadTime => "bad-time",
            Reason::Unreadable => "unreadable",
            Reason::NoSuchCrawler => "no-such-crawler",
            Reason::Invalid(invalid) => invalid.as_str(),
        }
    }
}

impl<'r> RowVerdict<'r> {
    /// The columns for `found`. `nothing_known` is the reason if nothing is known.
    pub(crate) fn new(found: DatedVerdict<'r>, nothing_known: Reason) -> RowVerdict<'r> {
        let word = match found.verdict {
            Verdict::RobotsTxt => {
                return RowVerdict::without_rule(VerdictWord::Allowed, Reason::RobotsTxt);
            }
            // Does not come up: each URL has a path.
            Verdict::NoPath => return RowVerdict::invalid(InvalidUrl::Relative),
            Verdict::Unknown => return RowVerdict::unknown(nothing_known),
            Verdict::Ambiguous => return RowVerdict::unknown(Reason::AmbiguousGroup),
            Verdict::Unreachable => {
                let word = VerdictWord::Unreachable;
                return RowVerdict::without_rule(word, Reason::Unreachable);
            }
            // All are judged as if they were bound.
            Verdict::NotBound(None) | Verdict::Allowed(_) | Verdict::AllowedIgnoringStar(_) => {
                VerdictWord::Allowed
            }
            Verdict::NotBound(Some(_)) | Verdict::Violation(_) => VerdictWord::Disallowed,
            Verdict::Grace(_) => VerdictWord::Grace,
        };
        let line = found.verdict.rule().map_or(0, |rule| rule.line);
        let reason = match (found.robots, line) {
            (None, _) => Reason::NoRobotsTxt,
            (Some(_), 0) => Reason::NoRuleMatches,
            (Some(_), _) => Reason::Rule,
        };
        RowVerdict { word, reason, line, robots: found.robots }
    }

    /// Without a deciding rule.
    pub(crate) fn without_rule(word: VerdictWord, reason: Reason) -> RowVerdict<'r> {
        RowVerdict { word, reason, line: 0, robots: None }
    }

    /// Nothing is known.
    pub(crate) fn unknown(reason: Reason) -> RowVerdict<'r> {
        RowVerdict::without_rule(VerdictWord::Unknown, reason)
    }

    /// It is not a URL.
    pub(crate) fn invalid(why: InvalidUrl) -> RowVerdict<'r> {
        RowVerdict::without_rule(VerdictWord::InvalidUrl, Reason::Invalid(why))
    }
}

/// The most bytes of a pattern that are written. Patterns come from strangers and are repeated in
/// each row that they decide.
pub(crate) const PATTERN_BYTES_MAX: usize = 1024;

/// How much is written about a row. Outcomes that differ only in the rest are equal.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Detail {
    /// The crawler, the verdict and the reason.
    Verdicts,
    /// The origin as well.
    Origins,
    /// And the robots.txt, with the rule that decided.
    Rules,
}

/// An outcome that some URLs of a batch share.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The origin in canonical form; `None` if the URL is not valid, or the origin is not written.
    pub origin: Option<Arc<str>>,
    /// The crawler; `None` if the row names no known crawler.
    pub crawler: Option<u16>,
    /// The verdict.
    pub word: VerdictWord,
    /// Why.
    pub reason: Reason,
    /// SHA-256 of the robots.txt; `None` if there was none, or it is not written.
    pub digest: Option<[u8; 32]>,
    /// The number of rows with this outcome.
    pub times: u64,
    rule: Option<ReportedRule>,
}

/// The outcomes of a batch. They hold copies of rules, because the robots.txt files may already be
/// dropped.
#[derive(Debug, Default)]
pub struct Outcomes {
    list: Vec<Outcome>,
    /// Patterns and groups, one after the other.
    texts: Vec<u8>,
}

/// A deciding rule: the positions of its texts.
#[derive(Clone, Debug)]
struct ReportedRule {
    line: u32,
    directive: &'static str,
    pattern: Range<usize>,
    group: Range<usize>,
}

impl Outcomes {
    /// All outcomes, in the order of their first rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Outcome> {
        self.list.iter()
    }

    /// The one at `index`.
    pub(crate) fn get(&self, index: u32) -> &Outcome {
        &self.list[index as usize]
    }

    /// The deciding rule, if there is one and it is written. A long pattern is cut at
    /// [`PATTERN_BYTES_MAX`] and ends with an ellipsis.
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
            self.reported(&rule)
        });
        let RowVerdict { word, reason, robots, .. } = verdict;
        let digest = robots.map(|robots| *robots.digest.as_bytes());
        self.list.push(Outcome { origin, crawler, word, reason, digest, times: 0, rule });
    }

    /// Counts the outcome at `index` once more.
    pub(super) fn count(&mut self, index: usize) {
        self.list[index].times += 1;
    }

    fn reported(&mut self, rule: &BindingRule<'_, Box<[u8]>>) -> ReportedRule {
        let BindingRule { line, directive, pattern, group } = rule;
        let pattern = self.put(&shown(pattern));
        let group = self.put(&[group]);
        ReportedRule { line: *line, directive, pattern, group }
    }

    fn put(&mut self, parts: &[&[u8]]) -> Range<usize> {
        let start = self.texts.len();
        parts.iter().for_each(|part| self.texts.extend_from_slice(part));
        start..self.texts.len()
    }
}

/// The part of `pattern` that is written, and an ellipsis if it is cut; characters are not.
pub(crate) fn shown(pattern: &[u8]) -> [&[u8]; 2] {
    if pattern.len() <= PATTERN_BYTES_MAX {
        return [pattern, b""];
    }
    let is_start = |at: &usize| pattern[*at] & 0xC0 != 0x80;
    let ends = PATTERN_BYTES_MAX - 3..=PATTERN_BYTES_MAX;
    [&pattern[..ends.rev().find(is_start).unwrap_or(PATTERN_BYTES_MAX)], "…".as_bytes()]
}
