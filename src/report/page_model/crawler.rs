//! The sums of one crawler with one identity over all origins.

use std::collections::BTreeMap;

use crate::audit::conduct::{Conduct, ConductLimits};
use crate::audit::crawler_row::ActorRow;
use crate::audit::prior_fetches::PriorFetchCounts;
use crate::measures::sums::{Span, Statuses, Sums};
use crate::measures::violation_networks::ViolationNetworks;
use crate::merge::Merge;
use crate::time::Day;

/// Sums over all origins.
#[derive(Clone, Debug, Default)]
pub struct CrawlerTotals {
    /// Its requests.
    pub sums: Sums,
    /// The statuses of the answers to its violations.
    pub statuses: Statuses,
    /// The fetches of robots.txt before its violations.
    pub prior_fetches: PriorFetchCounts,
    /// Its violations by day, for days with any.
    pub days: BTreeMap<Day, u64>,
    /// The networks of its violations.
    pub networks: ViolationNetworks,
    /// Whether it, or another crawler of its operator, has fetched a robots.txt successfully.
    pub has_read: bool,
    /// The same for the origins whose rules it broke.
    pub has_read_broken: bool,
    /// Its fetches of robots.txt.
    pub fetches: FetchTotals,
}

/// Fetches of robots.txt by one or more crawlers.
#[derive(Clone, Debug, Default)]
pub struct FetchTotals {
    /// Requests for robots.txt.
    pub requests: u64,
    /// GET requests answered with 200 or 304.
    pub successful: u64,
    /// Origins with requests.
    pub origins: u64,
    /// Origins with a request for robots.txt.
    pub origins_fetched: u64,
    /// Requests for anything else.
    pub other_requests: u64,
    /// Other requests in minutes before the first successful fetch from the same origin.
    pub before_first: u64,
    /// The times of the first and the last successful fetch.
    pub span: Option<Span>,
}

impl CrawlerTotals {
    /// Its conduct over all origins.
    pub(crate) fn conduct(&self, limits: ConductLimits) -> Conduct {
        let has_read = if self.sums.violations > 0 { self.has_read_broken } else { self.has_read };
        limits.conduct(&self.sums, self.prior_fetches.after_fetch(), has_read)
    }

    /// Adds the row of one origin; `sums` are its requests.
    pub(crate) fn add(&mut self, row: &ActorRow, sums: Sums) {
        self.sums.absorb(sums);
        row.broken.iter().for_each(|broken| self.statuses.absorb(broken.tally.statuses));
        for (day, of_day) in row.tally.days.iter().filter(|(_, of_day)| of_day.violations > 0) {
            *self.days.entry(*day).or_default() += of_day.violations;
        }
        self.networks.absorb(row.tally.violation_networks.clone());
        self.prior_fetches.absorb(row.prior_fetches.clone());
        self.has_read |= row.has_read;
        self.has_read_broken |= row.has_read && sums.violations > 0;
        let (fetches, fetched) = (&mut self.fetches, &row.tally.robots_fetches);
        fetches.requests += sums.robots_txt_requests;
        fetches.successful += fetched.successful_fetches;
        fetches.origins += 1;
        fetches.origins_fetched += u64::from(fetched.successful_fetches > 0);
        fetches.other_requests += sums.requests - sums.robots_txt_requests;
        fetches.before_first += fetched.requests_before_first_fetch();
        fetches.span.absorb(fetched.read);
    }
}
