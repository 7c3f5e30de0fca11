//! What is said of a URL.

use std::sync::Arc;

use crate::crawlers::crawler::CrawlerId;
use crate::judge::robots::{BindingRule, Robots};

use super::address::Invalid;

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
    Invalid(Invalid),
}

/// What is said of some URLs of a batch: equal but for what the URL itself says.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// In canonical form; `None` where it is no URL.
    pub origin: Option<Arc<str>>,
    /// Who asks; `None` where the row names nobody who is known.
    pub asker: Option<u16>,
    /// What is said.
    pub answer: Answer,
    /// Why.
    pub reason: Reason,
    /// Of the deciding rule; 0 where there is none.
    pub line: u32,
    /// The robots.txt that was asked.
    pub robots: Option<Arc<Robots>>,
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

impl Outcome {
    /// The deciding rule.
    pub fn rule(&self) -> Option<BindingRule<'_>> {
        let robots = self.robots.as_ref().filter(|_| self.line > 0)?;
        Some(robots.binding_rule(self.line, CrawlerId(self.asker?)))
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
