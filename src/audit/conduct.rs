//! What the logs show of a crawler and robots.txt, in one word.
//!
//! A share of violations says little without its number of requests: 1 of 2 and 500 of 1,000 are
//! both a half. So the ends of the Wilson score interval of 95 % decide, and a crawler is said to
//! ignore robots.txt only if it had read it.

use botaudit_robots::named_enum;

use crate::config::setting::Percent;
use crate::measures::{clients::SampledPaths, sums::Sums};
use crate::merge::Merge;
use crate::statistics::wilson_interval;

use super::{crawler_row::ActorRow, tally::header::ReportedOptions};

named_enum! {
    /// What a crawler does about robots.txt, from the worst to the best, and what is not known.
    #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub enum Conduct {
        /// It had read robots.txt, and requests as if there were no rules: the share of its judged
        /// requests that are violations after a fetch is certainly [`ConductLimits::ignores_min`] or
        /// more of the [`ruleless_share`](ConductLimits::ruleless_share).
        Ignores = "ignores",
        /// It has violations, and is none of the others.
        BreaksSome = "breaks-some",
        /// It has read robots.txt, and the share of violations is certainly
        /// [`ConductLimits::rarely_max`] or less.
        Rarely = "rarely",
        /// Neither it nor another crawler of its operator has fetched robots.txt in these logs.
        NotRead = "not-read",
        /// It has read robots.txt, and has no violation.
        Obeys = "obeys",
        /// None of its requests was judged, or all were in a grace period.
        NotJudged = "not-judged",
    }
}

/// From which share of violations on a crawler has a conduct.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConductLimits {
    /// The smallest share of a crawler that ignores robots.txt, from 0 to 1 of the share that a
    /// client has that knows no rules.
    pub ignores_min: f64,
    /// The greatest share of a crawler that rarely breaks a rule, from 0 to 1.
    pub rarely_max: f64,
}

impl ConductLimits {
    /// The limits of a report with these options.
    pub(super) fn of(options: &ReportedOptions) -> ConductLimits {
        let share = |key, default: Percent| {
            options.get(key).as_f64().unwrap_or(default.get()).clamp(0.0, 100.0) / 100.0
        };
        ConductLimits {
            ignores_min: share("ignores_min", Percent::IGNORES_MIN),
            rarely_max: share("rarely_max", Percent::RARELY_MAX),
        }
    }

    /// The share of disallowed paths that a client requests at an origin if it knows no rules: the upper
    /// end of the interval of `browsers` there. Where they, too, could pass for rarely breaking
    /// a rule, or are unknown, it is 1, so that nobody is accused without proof.
    fn ruleless_share(self, browsers: SampledPaths) -> f64 {
        match wilson_interval(browsers.disallowed, browsers.requests) {
            Some((low, high)) if low > self.rarely_max => high,
            _ => 1.0,
        }
    }

    /// The conduct of the crawler of `row` at its origin.
    pub(crate) fn of_row(self, row: &ActorRow) -> Conduct {
        let mut sums = ConductSums::default();
        sums.add(self, row, row.tally.total());
        sums.conduct(self)
    }

    /// The conduct of a crawler with these requests. `after_fetch` of the violations came after a
    /// successful fetch of robots.txt by it or its operator; `has_read` is whether there was one. A client
    /// without rules would have had this share of violations.
    fn conduct(
        self,
        sums: &Sums,
        after_fetch: u64,
        has_read: bool,
        ruleless_share: f64,
    ) -> Conduct {
        let judged = judged(sums);
        let (Some((_, at_most)), Some((knowingly, _))) = (
            wilson_interval(sums.violations, judged),
            wilson_interval(after_fetch.min(judged), judged),
        ) else {
            return Conduct::NotJudged;
        };
        match sums.violations {
            _ if !has_read => Conduct::NotRead,
            0 => Conduct::Obeys,
            _ if at_most <= self.rarely_max => Conduct::Rarely,
            _ if knowingly >= self.ignores_min * ruleless_share => Conduct::Ignores,
            _ => Conduct::BreaksSome,
        }
    }
}

/// The requests of one crawler at several origins, for its conduct.
#[derive(Clone, Debug, Default)]
pub struct ConductSums {
    sums: Sums,
    /// Violations after a fetch of robots.txt.
    after_fetch: u64,
    /// Whether it, or another crawler of its operator, has fetched a robots.txt successfully, or the log
    /// lacks the answer to its request for one.
    has_read: bool,
    /// The same for the origins whose rules it broke.
    has_read_broken: bool,
    /// How many of the judged requests a client without rules would make for disallowed paths.
    ruleless: f64,
}

impl ConductSums {
    /// Adds the requests at one origin.
    pub(crate) fn add(&mut self, limits: ConductLimits, row: &ActorRow, sums: Sums) {
        self.ruleless += limits.ruleless_share(row.browsers) * judged(&sums) as f64;
        self.sums.absorb(sums);
        self.after_fetch.absorb(row.prior_fetches.after_fetch());
        // A log without the answer does not show that the crawler could not read the file.
        let may_have_read = row.has_read || row.tally.robots_fetches.statuses.status_other > 0;
        self.has_read |= may_have_read;
        self.has_read_broken |= may_have_read && sums.violations > 0;
    }

    /// The conduct at all of them.
    pub(crate) fn conduct(&self, limits: ConductLimits) -> Conduct {
        let has_read = if self.sums.violations > 0 { self.has_read_broken } else { self.has_read };
        let ruleless_share = self.ruleless / judged(&self.sums).max(1) as f64;
        limits.conduct(&self.sums, self.after_fetch, has_read, ruleless_share)
    }
}

fn judged(sums: &Sums) -> u64 {
    sums.allowed.saturating_add(sums.violations)
}

impl Conduct {
    /// Its words on the page, of one crawler.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Conduct::Ignores => "ignores it",
            Conduct::BreaksSome => "breaks some rules",
            Conduct::Rarely => "rarely breaks a rule",
            Conduct::NotRead => "has not read it",
            Conduct::Obeys => "obeys it",
            Conduct::NotJudged => "not judged",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conduct(violations: u64, judged: u64, after_fetch: u64, has_read: bool) -> Conduct {
        let sums = Sums { violations, allowed: judged - violations, ..Sums::default() };
        ConductLimits::of(&ReportedOptions::default()).conduct(&sums, after_fetch, has_read, 1.0)
    }

    /// Where browsers request this share of disallowed paths.
    fn at_origin(violations: u64, judged: u64, browsers: (u64, u64)) -> Conduct {
        let limits = ConductLimits::of(&ReportedOptions::default());
        let (disallowed, requests) = browsers;
        let ruleless_share = limits.ruleless_share(SampledPaths { requests, disallowed });
        let sums = Sums { violations, allowed: judged - violations, ..Sums::default() };
        limits.conduct(&sums, violations, true, ruleless_share)
    }

    #[test]
    fn browsers_are_the_measure_of_a_client_without_rules() {
        assert_eq!(at_origin(40, 400, (100, 1000)), Conduct::Ignores);
        assert_eq!(at_origin(40, 400, (400, 1000)), Conduct::BreaksSome);
        assert_eq!(at_origin(3144, 3144, (100, 1000)), Conduct::Ignores);
        // Few requests prove nothing, of the crawler as well as of browsers.
        assert_eq!(at_origin(1, 20, (100, 1000)), Conduct::BreaksSome);
        assert_eq!(at_origin(40, 400, (1, 10)), Conduct::BreaksSome);
        assert_eq!(at_origin(40, 400, (0, 0)), Conduct::BreaksSome);
        // Browsers there hardly meet a rule.
        assert_eq!(at_origin(40, 400, (40, 1000)), Conduct::BreaksSome);
        assert_eq!(at_origin(1, 310, (100, 1000)), Conduct::Rarely);
    }

    #[test]
    fn numbers_decide_as_well_as_shares() {
        assert_eq!(conduct(3144, 3144, 3144, true), Conduct::Ignores);
        assert_eq!(conduct(40, 400, 40, true), Conduct::BreaksSome);
        assert_eq!(conduct(1, 310, 1, true), Conduct::Rarely);
        // The same shares of few requests prove nothing.
        assert_eq!(conduct(3, 3, 3, true), Conduct::BreaksSome);
        assert_eq!(conduct(1, 20, 1, true), Conduct::BreaksSome);
        assert_eq!(conduct(0, 1, 0, true), Conduct::Obeys);
    }

    #[test]
    fn only_one_who_has_read_robots_txt_ignores_it() {
        assert_eq!(conduct(5, 6, 0, false), Conduct::NotRead);
        assert_eq!(conduct(0, 6, 0, false), Conduct::NotRead);
        assert_eq!(conduct(3144, 3144, 0, false), Conduct::NotRead);
        // It read robots.txt after all of them.
        assert_eq!(conduct(3144, 3144, 0, true), Conduct::BreaksSome);
        assert_eq!(conduct(3144, 3144, 1000, true), Conduct::BreaksSome);
        assert_eq!(conduct(3144, 3144, 3000, true), Conduct::Ignores);
    }

    #[test]
    fn nothing_judged_is_no_conduct() {
        assert_eq!(conduct(0, 0, 0, true), Conduct::NotJudged);
        assert_eq!(conduct(0, 0, 0, false), Conduct::NotJudged);
    }

    #[test]
    fn options_move_the_limits() {
        let options = serde_json::json!({ "ignores_min": 99.9, "rarely_max": 12.5 });
        let limits = ConductLimits::of(&serde_json::from_value(options).unwrap());
        let sums = |violations, allowed| Sums { violations, allowed, ..Sums::default() };
        assert_eq!(limits.conduct(&sums(3144, 0), 3144, true, 1.0), Conduct::BreaksSome);
        assert_eq!(limits.conduct(&sums(90_000, 0), 90_000, true, 1.0), Conduct::Ignores);
        assert_eq!(limits.conduct(&sums(30, 370), 30, true, 1.0), Conduct::Rarely);
        assert_eq!(limits.conduct(&sums(40, 360), 40, true, 1.0), Conduct::BreaksSome);
    }

    /// A damaged tally may say that more violations came after a fetch than there are requests.
    #[test]
    fn sums_that_contradict_each_other_do_no_harm() {
        assert_eq!(conduct(1, 2, u64::MAX, true), Conduct::BreaksSome);
    }
}
