//! The columns of a row that describe its verdict.

use std::sync::Arc;

use botaudit_robots::named_enum;

use crate::judge::robots::Robots;
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
