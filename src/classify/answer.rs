//! What is said of a URL.

use std::sync::Arc;

use crate::judge::robots::Robots;

use super::url_parts::InvalidUrl;

/// May the crawler request the URL?
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Answer {
    /// It may.
    Allowed,
    /// It may not.
    Disallowed,
    /// It may not any more, but need not have heard of it yet.
    Grace,
    /// The robots.txt could not be fetched.
    Unreachable,
    /// Nothing is known of the origin.
    Unknown,
    /// It is no URL.
    InvalidUrl,
}

/// Why.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Reason {
    /// A rule says so.
    Rule,
    /// Of the rules that bind the crawler none matches.
    NoRuleMatches,
    /// `/robots.txt` may always be requested.
    RobotsTxt,
    /// The origin has no robots.txt.
    NoRobotsTxt,
    /// It answered 429 or 5xx, or not at all.
    Unreachable,
    /// No robots.txt of that origin is known.
    NothingKnown,
    /// It is known for later times only.
    BeforeFirst,
    /// There is a robots.txt, but it could not be read.
    Unreadable,
    /// The row should tell when, and does not.
    BadTime,
    /// The row names a crawler that is not in the registry.
    NoSuchCrawler,
    /// See there.
    Invalid(InvalidUrl),
}

/// What is said of one row, and by which robots.txt.
#[derive(Clone, Copy, Debug)]
pub struct Said<'r> {
    /// What is said.
    pub answer: Answer,
    /// Why.
    pub reason: Reason,
    /// Of the deciding rule; 0 where there is none.
    pub line: u32,
    /// Who says so.
    pub robots: Option<&'r Arc<Robots>>,
}

impl Answer {
    /// All of them, in the order of reports.
    pub const ALL: [Answer; 6] = [
        Answer::Allowed,
        Answer::Disallowed,
        Answer::Grace,
        Answer::Unreachable,
        Answer::Unknown,
        Answer::InvalidUrl,
    ];

    /// The name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Answer::Allowed => "allowed",
            Answer::Disallowed => "disallowed",
            Answer::Grace => "grace",
            Answer::Unreachable => "unreachable",
            Answer::Unknown => "unknown",
            Answer::InvalidUrl => "invalid-url",
        }
    }

    /// The answer of that name.
    pub fn from_name(name: &str) -> Option<Answer> {
        Answer::ALL.into_iter().find(|answer| answer.as_str() == name)
    }
}

impl Reason {
    /// The name in reports.
    pub fn as_str(self) -> &'static str {
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

impl<'r> Said<'r> {
    /// Without a robots.txt.
    pub fn of(answer: Answer, reason: Reason) -> Said<'r> {
        Said { answer, reason, line: 0, robots: None }
    }

    /// For the time being.
    pub fn unreachable() -> Said<'r> {
        Said::of(Answer::Unreachable, Reason::Unreachable)
    }

    /// By the rules of `robots`: the one on line `by`, or none.
    pub fn by_rules(answer: Answer, robots: &'r Arc<Robots>, by: Option<u32>) -> Said<'r> {
        let reason = by.map_or(Reason::NoRuleMatches, |_| Reason::Rule);
        Said { answer, reason, line: by.unwrap_or(0), robots: Some(robots) }
    }
}
