//! The plainest form of the rules by which a reaction is found, for the oracle.

use crate::audit::reaction_rows::ReactionThresholds;

/// What decides on a reaction to newly disallowed paths.
pub(crate) struct Facts {
    /// In seconds.
    pub days: i64,
    pub requests_before: usize,
    pub end: i64,
    pub before: i64,
    /// The minute.
    pub fetch: Option<i64>,
    /// The times of touched requests since the change.
    pub since: Vec<i64>,
    pub has_requests: bool,
    pub has_others: bool,
}

impl Facts {
    fn is_expected(&self, seconds: i64, thresholds: ReactionThresholds) -> bool {
        let rate = self.requests_before as f64 / self.days as f64;
        self.days > 0 && rate * seconds.max(0) as f64 + 1e-9 >= thresholds.requests as f64
    }

    pub(crate) fn reaction(&self, thresholds: ReactionThresholds) -> &'static str {
        let Some(fetch) = self.fetch else {
            return match self.has_requests {
                true => "never-fetched",
                false if self.is_expected(self.end - self.before, thresholds) => "gone",
                false => "too-few-requests",
            };
        };
        let time = self.end - fetch * 60;
        let last = self.since.iter().copied().filter(|time| time.div_euclid(60) >= fetch).max();
        if let Some(last) = last {
            let quiet = self.end - last;
            let is_quiet = quiet >= thresholds.quiet_seconds || quiet >= time / 10;
            return match is_quiet && self.is_expected(quiet, thresholds) {
                true => "obeyed-late",
                false => "still-requesting",
            };
        }
        match (self.is_expected(time, thresholds), self.has_others) {
            (false, _) => "too-few-requests",
            (true, false) => "gone",
            (true, true) => "obeyed-at-once",
        }
    }
}
