//! The sums of one crawler with one identity over all origins.

use crate::audit::crawler_row::ActorRow;
use crate::audit::prior_fetches::PriorFetchCounts;
use crate::measures::sums::{Span, Statuses, Sums};
use crate::merge::Merge;
use botaudit_robots::named_enum;

/// Sums over all origins.
#[derive(Clone, Debug, Default)]
pub struct CrawlerTotals {
    /// Its requests.
    pub sums: Sums,
    /// The statuses of the answers to its violations.
    pub statuses: Statuses,
    /// The fetches of robots.txt before its violations.
    pub prior_fetches: PriorFetchCounts,
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

named_enum! {
    /// What the logs show of a crawler and the rules.
    #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub(crate) enum RulesState {
        /// It made a request that they disallow.
        Breaks = "breaks them",
        /// All its judged requests are allowed, but neither it nor another crawler of its operator
        /// fetched robots.txt.
        NotRead = "not read",
        /// All its judged requests are allowed.
        Keeps = "keeps them",
        /// No request of it was judged.
        NotJudged = "not judged",
    }
}

impl CrawlerTotals {
    /// The state, if the operator `has_fetched` robots.txt or not.
    pub(crate) fn state(&self, has_fetched: bool) -> RulesState {
        match (self.sums.violations, self.sums.allowed, self.fetches.successful) {
            (1.., _, _) => RulesState::Breaks,
            (0, 0, _) => RulesState::NotJudged,
            (0, _, 0) if !has_fetched => RulesState::NotRead,
            _ => RulesState::Keeps,
        }
    }

    /// Adds the row of one origin; `sums` are its requests.
    pub(crate) fn add(&mut self, row: &ActorRow, sums: Sums) {
        self.sums.absorb(sums);
        row.broken.iter().for_each(|broken| self.statuses.absorb(broken.tally.statuses));
        self.prior_fetches.absorb(row.prior_fetches.clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_good_only_where_something_was_judged() {
        let state = |violations, allowed, successful, has_fetched| {
            let sums = Sums { violations, allowed, requests: 9, ..Sums::default() };
            let fetches = FetchTotals { successful, ..FetchTotals::default() };
            CrawlerTotals { sums, fetches, ..CrawlerTotals::default() }.state(has_fetched)
        };
        assert_eq!(state(1, 8, 3, true), RulesState::Breaks);
        assert_eq!(state(0, 0, 3, true), RulesState::NotJudged);
        assert_eq!(state(0, 1, 0, false), RulesState::NotRead);
        assert_eq!(state(0, 1, 0, true), RulesState::Keeps);
        assert_eq!(state(0, 1, 1, true), RulesState::Keeps);
    }
}
