//! Rows of tables, as the page and the summary show them.

use crate::audit::simulate::Change;
use crate::audit::sums::{Span, Sums};
use crate::crawlers::identity::Identity;
use crate::time::UtcTime;

/// A row of `summary.csv`: a crawler of one identity at one origin.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of the same name")]
pub struct SummaryRow {
    pub origin: String,
    pub crawler: String,
    pub operator: String,
    pub stated_policy: String,
    pub identity: Identity,
    pub sums: Sums,
    pub not_bound_reason: String,
    /// `first_seen_utc` and `last_seen_utc`.
    pub seen: Option<Span>,
}

/// A row of `violations.csv`: who broke a rule.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of the same name")]
pub struct ViolationRow {
    pub origin: String,
    pub crawler: String,
    pub identity: Identity,
    pub rule_line: u64,
    pub directive: String,
    pub pattern: String,
    pub group: String,
    pub requests: u64,
    pub first_seen: Option<UtcTime>,
    pub example_target: String,
    pub example_file: String,
    pub example_line: u64,
}

/// A row of `crawl-delay.csv`: a delay that a robots.txt asks a crawler to keep.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of the same name")]
pub struct DelayRow {
    pub origin: String,
    pub crawler: String,
    pub identity: Identity,
    pub delay: String,
    pub honours_delay: String,
    pub requests: u64,
    pub over_hourly: Option<u64>,
    pub hours_over: Option<u64>,
    pub over_daily: Option<u64>,
    pub busiest_hour: Option<UtcTime>,
    pub busiest_hour_requests: Option<u64>,
}

/// A row of `unknown-crawlers.csv`: a user agent that looks automated.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of the same name")]
pub struct UnknownCrawlerRow {
    pub user_agent: String,
    pub token: String,
    pub requests: u64,
    pub star_disallowed: u64,
    pub star_allowed: u64,
    pub robots_txt_requests: u64,
    /// `first_seen_utc` and `last_seen_utc`.
    pub seen: Option<Span>,
}

/// A row of `rejects.csv`: lines of one input that are no records.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of the same name")]
pub struct RejectRow {
    pub file: String,
    pub reason: String,
    pub lines: u64,
    pub example_line: u64,
    pub example: String,
}

/// A row of `what-if.csv`: requests that a draft would judge otherwise.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of the same name")]
pub struct ChangeRow {
    pub origin: String,
    pub crawler: String,
    pub identity: Identity,
    pub change: Change,
    pub requests: u64,
    pub draft_line: Option<u64>,
    /// The rule of the draft that would decide.
    pub draft: Option<ChangeRule>,
    /// The rule that decided.
    pub present: Option<ChangeRule>,
    pub example_target: String,
}

/// A rule, as written.
#[derive(Clone, Debug)]
pub struct ChangeRule {
    /// `allow` or `disallow`.
    pub directive: String,
    /// The pattern of its path.
    pub pattern: String,
}
