//! What one crawler of one identity did, at all origins together.

use crate::audit::awareness::Awareness;
use crate::audit::sums::{Span, Statuses, Sums};
use crate::merge::Merge;

/// Added up over the origins.
#[derive(Clone, Debug, Default)]
pub struct CrawlerTotals {
    /// Who runs it.
    pub operator: String,
    /// What it crawls for.
    pub purpose: String,
    /// What its operator says of following robots.txt.
    pub stated_policy: String,
    /// Why robots.txt does not bind it; empty where it does.
    pub not_bound_reason: String,
    /// Its requests.
    pub sums: Sums,
    /// How its violations were answered.
    pub statuses: Statuses,
    /// The fetches of robots.txt before its violations.
    pub prior_fetches: PriorFetches,
    /// Its fetches of robots.txt.
    pub fetches: FetchTotals,
}

/// Violations by who had fetched robots.txt before them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PriorFetches {
    /// The crawler itself.
    pub own: u64,
    /// Another crawler of its operator.
    pub operator: u64,
    /// Neither, as far as the logs show.
    pub none: u64,
    /// Not known.
    pub unknown: u64,
}

/// Who fetched robots.txt how often.
#[derive(Clone, Debug, Default)]
pub struct FetchTotals {
    /// Requests for robots.txt.
    pub requests: u64,
    /// Those that were a GET answered 200 or 304.
    pub successful: u64,
    /// Origins to which it sent requests.
    pub origins: u64,
    /// Origins of which it fetched robots.txt.
    pub origins_fetched: u64,
    /// Requests for anything else.
    pub other_requests: u64,
    /// Those of them in minutes before the first successful fetch of the same origin's robots.txt.
    pub before_first: u64,
    /// The first and the last successful fetch.
    pub span: Option<Span>,
}

impl PriorFetches {
    /// All violations.
    pub fn total(&self) -> u64 {
        self.own + self.operator + self.none + self.unknown
    }
}

impl From<&Awareness> for PriorFetches {
    fn from(awareness: &Awareness) -> PriorFetches {
        PriorFetches {
            own: awareness.read_by_itself,
            operator: awareness.read_by_operator,
            none: awareness.not_read_in_logs,
            unknown: awareness.reading_unknown,
        }
    }
}

impl Merge for PriorFetches {
    fn absorb(&mut self, other: PriorFetches) {
        self.own += other.own;
        self.operator += other.operator;
        self.none += other.none;
        self.unknown += other.unknown;
    }
}
