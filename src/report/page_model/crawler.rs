//! The sums of one crawler with one identity over all origins.

use std::collections::BTreeMap;

use crate::audit::conduct::{Conduct, ConductLimits, ConductSums};
use crate::audit::crawler_row::ActorRow;
use crate::audit::prior_fetches::PriorFetchCounts;
use crate::measures::sums::{Span, Statuses, Sums};
use crate::measures::violation_networks::ViolationNetworks;
use crate::merge::{Merge, sum};
use crate::time::Day;

/// Sums over all origins.
#[derive(Clone, Debug, Default)]
pub struct CrawlerTotals {
    /// Its requests.
    pub sums: Sums,
    /// The statuses of the answers to its violations.
    pub statuses: Statuses,
    /// Its violations with a valid signature.
    pub signed: u64,
    /// The fetches of robots.txt before its violations.
    pub prior_fetches: PriorFetchCounts,
    /// Its violations by day, for days with any.
    pub days: BTreeMap<Day, u64>,
    /// The networks of its violations.
    pub networks: ViolationNetworks,
    /// What its conduct follows from.
    pub for_conduct: ConductSums,
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
        self.for_conduct.conduct(limits)
    }

    /// Adds the row of one origin; `sums` are its requests.
    pub(crate) fn add(&mut self, limits: ConductLimits, row: &ActorRow, sums: Sums) {
        self.sums.absorb(sums);
        row.broken.iter().for_each(|broken| self.statuses.absorb(broken.tally.statuses));
        self.signed.absorb(sum(row.broken.iter().map(|broken| broken.tally.signed)));
        for (day, of_day) in row.tally.days.iter().filter(|(_, of_day)| of_day.violations > 0) {
            *self.days.entry(*day).or_default() += of_day.violations;
        }
        self.networks.absorb(row.tally.violation_networks.clone());
        self.prior_fetches.absorb(row.prior_fetches.clone());
        self.for_conduct.add(limits, row, sums);
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
