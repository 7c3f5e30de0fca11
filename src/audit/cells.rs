//! Cells of what an audit counts.

use crate::measures::example::Example;
use crate::measures::sums::{Span, Statuses, Sums};
use crate::statistics::wilson_interval;
use crate::table::csv::Row;

use super::{model::ReportModel, prior_fetches::PriorFetchCounts};

impl Row {
    /// The first and the last time, or two empty cells.
    pub(crate) fn span(&mut self, span: Option<Span>) -> &mut Row {
        self.maybe(span, 2, |row, Span { first, last }| row.time(first).time(last))
    }

    /// The columns `requests` to `bytes`.
    pub(crate) fn sums(&mut self, sums: &Sums) -> &mut Row {
        self.counts([sums.requests, sums.robots_txt_requests, sums.allowed, sums.violations])
            .counts([sums.grace, sums.unreachable, sums.unknown])
            .counts([sums.not_bound, sums.not_bound_disallowed, sums.no_path])
            .fraction(sums.violations, sums.allowed + sums.violations)
            .counts([sums.bytes])
    }

    /// `status_2xx` to `status_other`.
    pub(crate) fn statuses(&mut self, statuses: &Statuses) -> &mut Row {
        self.counts(statuses.counts())
    }

    /// `share_low` and `share_high` of the share `part / whole`.
    pub(crate) fn share_interval(&mut self, part: u64, whole: u64) -> &mut Row {
        let interval = wilson_interval(part, whole);
        self.maybe(interval, 2, |row, (low, high)| row.decimal(low).decimal(high))
    }

    /// `example_target` to `example_line`.
    pub(crate) fn example(&mut self, example: &Example, audit: &ReportModel) -> &mut Row {
        self.bytes(&example.target).text(audit.input_name(example.file)).counts([example.line])
    }

    /// `prior_fetch_own` to `last_fetch_304`.
    pub(crate) fn prior_fetches(&mut self, prior_fetches: &PriorFetchCounts) -> &mut Row {
        self.counts([prior_fetches.prior_fetch_own, prior_fetches.prior_fetch_operator])
            .counts([prior_fetches.prior_fetch_none, prior_fetches.prior_fetch_unknown])
            .counts([prior_fetches.prior_fetch_failed])
            .counts([prior_fetches.last_fetch_200, prior_fetches.last_fetch_304])
    }
}
