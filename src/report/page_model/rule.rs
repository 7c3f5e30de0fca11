//! Who broke one rule of one version of a robots.txt.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::sums::Statuses;
use crate::time::UtcTime;

use super::CrawlerKey;

/// A version of a robots.txt, by its digest, and a line in it.
pub type RuleVersion = (String, u64);

/// Origins of one rule that are kept.
pub const ORIGINS_MAX: usize = 100;

/// Added up over origins and crawlers.
#[derive(Clone, Debug, Default)]
pub struct RuleTotals {
    /// `allow` or `disallow`.
    pub directive: String,
    /// As written in the file.
    pub pattern: String,
    /// Requests that broke it, by those who are not spoofed.
    pub requests: u64,
    /// How these were answered.
    pub statuses: Statuses,
    /// Who they are.
    pub by: BTreeMap<CrawlerKey, u64>,
    /// Where; not more than can be shown.
    pub origins: BTreeSet<String>,
    /// The earliest of these requests.
    pub example: Option<RuleExample>,
}

/// One request that broke a rule.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RuleExample {
    /// When; `None` where that is not known.
    pub time: Option<UtcTime>,
    /// The input that holds it.
    pub file: String,
    /// Its line there.
    pub line: u64,
    /// Its path and query.
    pub target: String,
}

/// One line of a robots.txt near a broken rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RobotsLine {
    /// 1-based.
    pub line: u64,
    /// `user-agent`, `allow` or `disallow`.
    pub field: String,
    /// Its value.
    pub value: String,
}
