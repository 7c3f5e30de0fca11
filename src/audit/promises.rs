//! What operators promise of their crawlers, beside what the crawlers did in these logs.
//!
//! A promise is broken only if the numbers cannot be explained otherwise, and kept only if there was
//! an occasion to break it: few requests, rules that the crawler had not read, and promises with
//! conditions prove nothing. Spoofed requests are left out, because the crawler did not make them.

use botaudit_robots::named_enum;

use crate::crawlers::crawler::{
    CrawlDelaySupport, Crawler, InformationSource, Obligation, StatedPolicy,
};
use crate::crawlers::identity::{Actor, Identity};
use crate::measures::{crawler_tally::Times, draft_effect::WhatIfChange, sums::Compliance};
use crate::merge::sum;
use crate::robots::model::StarGroups;
use crate::statistics::wilson_interval;

use super::reaction_rows::{Reaction, ReactionRow, ReactionThresholds};
use super::{crawler_row::ActorRow, model::ReportModel};

/// The fewest requests, or times between them, that are a test.
const REQUESTS_MIN: u64 = 20;

/// The fewest days that test a rate.
const DAYS_MIN: u64 = 7;

/// A crawler that keeps less than this share of a Crawl-delay does not honour it. Logs have whole
/// seconds and often the time of the response, so a crawler with a steady pace seems to be too
/// early about every other time.
const DELAY_KEPT_MIN: f64 = 0.5;

/// The hours of the longest day, when clocks go back.
const DAY_HOURS_MAX: u64 = 25;

/// Origins that may stand for several.
const SEVERAL_ORIGINS: [&str; 3] = ["-", "(invalid)", "(others)"];

named_enum! {
    /// What is promised.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub(crate) enum Promise {
        /// It follows robots.txt.
        FollowsRobotsTxt = "follows-robots-txt",
        /// It honours Crawl-delay.
        CrawlDelay = "crawl-delay",
        /// A change of robots.txt takes effect within some hours.
        ChangeWithin = "change-within",
        /// It keeps a copy of robots.txt for at most some hours.
        CopyAtMost = "copy-at-most",
        /// It makes at most some requests in an hour.
        Rate = "rate",
    }
}

named_enum! {
    /// What the logs show of a promise.
    #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub(crate) enum PromiseState {
        /// It was broken, beyond reasonable doubt.
        Broken = "broken",
        /// It was kept.
        Kept = "kept",
        /// These logs do not show whether it was kept.
        NotTested = "not-tested",
    }
}

named_enum! {
    /// Why a promise was not tested.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub(crate) enum Untested {
        /// robots.txt does not bind the crawler.
        NotBound = "not-bound",
        /// It is promised with conditions.
        InPart = "promised-in-part",
        /// The words tell no number.
        NoNumber = "no-number",
        /// The audit was without `--session-minutes`.
        NoSessions = "no-sessions",
        /// The audit was without an archive.
        NoArchive = "no-archive",
        /// No Crawl-delay applied to the crawler, or robots.txt did not change for it.
        NoOccasion = "no-occasion",
        /// No successful fetch of robots.txt in these logs.
        NotRead = "not-read",
        /// Some of its requests for robots.txt were not successful.
        FailedFetches = "failed-fetches",
        /// The row may stand for several origins.
        SeveralOrigins = "several-origins",
        /// Times were not kept, or not as exactly as the promise needs it.
        NoTimes = "no-times",
        /// Too little was counted.
        TooFew = "too-few",
        /// The share may be above or below the limit.
        Uncertain = "uncertain",
    }
}

/// What exactly is promised.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PromisedValue {
    /// All of it.
    Yes,
    /// With conditions.
    Partly,
    /// So many hours.
    Hours(u32),
    /// So many requests in an hour.
    RequestsPerHour(u32),
    /// Words without a number.
    Words,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Observed {
    /// All requests, times, changes or days that test the promise.
    pub tested: u64,
    /// Those that kept it.
    pub kept: u64,
    /// Those that certainly broke it.
    pub broken: u64,
}

/// A promise about one crawler at one origin.
#[derive(Debug)]
pub(crate) struct PromiseRow<'a> {
    /// The origin.
    pub origin: &'a str,
    /// The crawler and its identity.
    pub actor: Actor,
    /// What is promised.
    pub promise: Promise,
    /// How much.
    pub value: PromisedValue,
    /// The operator's words.
    pub words: &'a str,
    /// The page with them.
    pub url: &'a str,
    /// What was counted.
    pub observed: Observed,
    /// The result, with the reason if it was not tested.
    pub state: PromiseState,
    /// Why it was not tested.
    pub reason: Option<Untested>,
}

/// The share of what was tested that a state needs.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The fewest that are a test.
    tested_min: u64,
    /// Broken, if the share is certainly smaller.
    broken_below: f64,
    /// Kept, if the share is certainly at least this, or if nothing was broken.
    kept_from: f64,
}

impl Limits {
    /// The state of a promise of which this was counted.
    fn state(self, of: Observed) -> Result<PromiseState, Untested> {
        // What was neither kept nor certainly broken counts for the crawler, and then against it.
        let best = wilson_interval(of.tested.saturating_sub(of.broken), of.tested);
        let worst = wilson_interval(of.kept, of.tested);
        match best.zip(worst).filter(|_| of.tested >= self.tested_min) {
            None => Err(Untested::TooFew),
            Some(((_, high), _)) if high < self.broken_below => Ok(PromiseState::Broken),
            Some((_, (low, _))) if of.kept == of.tested || low >= self.kept_from => {
                Ok(PromiseState::Kept)
            }
            Some(_) => Err(Untested::Uncertain),
        }
    }
}

/// The promises of each crawler that is not spoofed, at each origin.
pub(crate) fn promises(audit: &ReportModel) -> Vec<PromiseRow<'_>> {
    let of_crawlers = audit.rows().iter().filter(|row| row.actor.1 != Identity::Spoofed);
    of_crawlers.flat_map(|row| PromisesOf::new(audit, row).rows()).flatten().collect()
}

/// The crawler of a row, and what it did.
struct PromisesOf<'a> {
    audit: &'a ReportModel,
    crawler: &'a Crawler,
    row: &'a ActorRow,
    /// The smallest share of requests that keep a promise, if it is kept.
    kept_from: f64,
}

impl<'a> PromisesOf<'a> {
    fn new(audit: &'a ReportModel, row: &'a ActorRow) -> PromisesOf<'a> {
        let crawler = audit.registry.crawler(row.actor.0);
        PromisesOf { audit, crawler, row, kept_from: 1.0 - audit.conduct_limits.rarely_max }
    }

    fn rows(&self) -> [Option<PromiseRow<'a>>; 5] {
        [self.follows(), self.crawl_delay(), self.change(), self.copy_age(), self.rate()]
    }

    /// A row, with what was counted or why nothing was.
    fn promise(
        &self,
        promise: Promise,
        value: PromisedValue,
        words: &'a str,
        result: Result<(Observed, Result<PromiseState, Untested>), Untested>,
    ) -> PromiseRow<'a> {
        let (observed, state) = match result {
            Ok((observed, state)) => (observed, state),
            Err(reason) => (Observed::default(), Err(reason)),
        };
        let crawler = self.crawler;
        let pages = match promise {
            Promise::FollowsRobotsTxt => [&crawler.evidence_url, &crawler.documentation_url],
            _ if crawler.promise_url.is_empty() => {
                [&crawler.evidence_url, &crawler.documentation_url]
            }
            _ => [&crawler.promise_url, &crawler.promise_url],
        };
        let url = pages.into_iter().find(|url| !url.is_empty());
        PromiseRow {
            origin: &self.row.origin,
            actor: self.row.actor,
            promise,
            value,
            words,
            url: url.map_or("", String::as_str),
            observed,
            state: state.unwrap_or(PromiseState::NotTested),
            reason: state.err(),
        }
    }

    fn limits(&self, tested_min: u64) -> Limits {
        Limits { tested_min, broken_below: self.kept_from, kept_from: self.kept_from }
    }

    /// Promises about robots.txt concern no crawler that it does not bind.
    fn bound(&self) -> Result<(), Untested> {
        match self.crawler.obligation() {
            Obligation::Bound => Ok(()),
            _ => Err(Untested::NotBound),
        }
    }

    /// Whether rules of this group bind the crawler.
    fn is_binding(&self, is_specific: bool) -> bool {
        is_specific || self.crawler.star == StarGroups::Honoured
    }

    /// Whether requests of the row may be for several origins, each of which has a pace of its own.
    fn may_be_several_origins(&self) -> bool {
        SEVERAL_ORIGINS.contains(&&*self.row.origin)
    }

    fn follows(&self) -> Option<PromiseRow<'a>> {
        let value = match self.crawler.stated_policy() {
            StatedPolicy::Follows => PromisedValue::Yes,
            StatedPolicy::Partly => PromisedValue::Partly,
            StatedPolicy::DoesNotFollow | StatedPolicy::Unknown => return None,
        };
        let result = self.bound().and_then(|()| match value {
            PromisedValue::Partly => Err(Untested::InPart),
            _ => Ok(self.obedience()),
        });
        Some(self.promise(Promise::FollowsRobotsTxt, value, "", result))
    }

    /// Requests while something was disallowed. Only what it requested after a fetch of robots.txt
    /// is certainly broken.
    fn obedience(&self) -> (Observed, Result<PromiseState, Untested>) {
        let restrictions = self.row.tally.restrictions.iter();
        let restrictions = restrictions.filter(|(of, _)| self.is_binding(of.is_specific));
        let Compliance { requests: tested, kept } = sum(restrictions.map(|(_, of)| *of));
        let broken = self.row.broken.iter();
        let broken = broken.filter(|broken| self.is_binding(&*broken.rule.group != b"*"));
        let after_fetch: u64 = sum(broken.map(|broken| broken.prior_fetches.after_fetch()));
        let broken = after_fetch.min(tested.saturating_sub(kept));
        let observed = Observed { tested, kept, broken };
        match self.row.has_read {
            false => (observed, Err(Untested::NotRead)),
            true => (observed, self.limits(REQUESTS_MIN).state(observed)),
        }
    }

    fn crawl_delay(&self) -> Option<PromiseRow<'a>> {
        let value = match self.crawler.crawl_delay {
            CrawlDelaySupport::Honoured => PromisedValue::Yes,
            CrawlDelaySupport::Partly => PromisedValue::Partly,
            CrawlDelaySupport::Ignored | CrawlDelaySupport::Unknown => return None,
        };
        if self.crawler.evidence != InformationSource::OperatorDocumentation {
            return None;
        }
        let result = self.bound().and_then(|()| match value {
            PromisedValue::Partly => Err(Untested::InPart),
            _ => self.delay_kept(),
        });
        let words = &self.crawler.crawl_delay_promise;
        Some(self.promise(Promise::CrawlDelay, value, words, result))
    }

    /// Times from a request of a client to its next one.
    fn delay_kept(&self) -> Result<(Observed, Result<PromiseState, Untested>), Untested> {
        let mut delays = self
            .row
            .delayed
            .iter()
            .filter(|delayed| self.is_binding(&*delayed.asked.group != b"*"))
            .peekable();
        if delays.peek().is_none() {
            return Err(Untested::NoOccasion);
        }
        if self.audit.options.get("session_minutes").is_null() {
            return Err(Untested::NoSessions);
        }
        if self.may_be_several_origins() {
            return Err(Untested::SeveralOrigins);
        }
        let Compliance { requests: tested, kept } = sum(delays.map(|delayed| delayed.gaps));
        let observed = Observed { tested, kept, broken: tested.saturating_sub(kept) };
        let broken_below = DELAY_KEPT_MIN.min(self.kept_from);
        let limits = Limits { broken_below, ..self.limits(REQUESTS_MIN) };
        Ok((observed, limits.state(observed)))
    }

    fn change(&self) -> Option<PromiseRow<'a>> {
        let hours = self.crawler.reaction_hours?;
        let result = self.bound().and_then(|()| self.reactions(hours));
        let words = &self.crawler.reaction_promise;
        Some(self.promise(Promise::ChangeWithin, PromisedValue::Hours(hours), words, result))
    }

    /// Changes that disallowed something: in time, or late.
    fn reactions(
        &self,
        hours: u32,
    ) -> Result<(Observed, Result<PromiseState, Untested>), Untested> {
        if self.audit.snapshots.origins_total == 0 {
            return Err(Untested::NoArchive);
        }
        if self.row.tally.times == Times::GivenUp {
            return Err(Untested::NoTimes);
        }
        let changes = self.row.reactions.iter();
        let mut changes = changes
            .filter(|change| change.direction == WhatIfChange::NewlyDisallowed)
            .map(|change| self.is_in_time(hours, change))
            .peekable();
        if changes.peek().is_none() {
            return Err(Untested::NoOccasion);
        }
        let mut observed = Observed::default();
        for is_in_time in changes.flatten() {
            observed.tested += 1;
            *if is_in_time { &mut observed.kept } else { &mut observed.broken } += 1;
        }
        let state = self.limits(1).state(observed);
        // robots.txt may have been unreachable when the crawler wanted to read the change.
        let has_failed = self.row.tally.total().unreachable > 0;
        let state = match state {
            Ok(PromiseState::Broken) if has_failed => Err(Untested::FailedFetches),
            state => state,
        };
        Ok((observed, state))
    }

    /// Whether it reacted in time; `None` if that is not certain.
    fn is_in_time(&self, hours: u32, change: &ReactionRow) -> Option<bool> {
        let after = change.tally.after_promise;
        let (_, after_fetch) = change.around_fetch?;
        let seconds_after = change.seconds_since.saturating_sub(i64::from(hours) * 3600);
        // Rates before the change and after the promised time, each times both of their durations.
        let rate_after = after as f64 * change.seconds_before as f64;
        let rate_before = change.tally.before as f64 * seconds_after as f64;
        let is_frequent = after > 0 && rate_after >= rate_before * (1.0 - self.kept_from);
        let requests_min = ReactionThresholds::of(&self.audit.options).requests.max(1);
        match change.reaction {
            Reaction::Unknown => None,
            // Without a fetch of the new rules, a cache may have kept the old ones.
            _ if is_frequent && after.min(after_fetch) >= requests_min => Some(false),
            Reaction::ObeyedAtOnce | Reaction::ObeyedLate if !is_frequent => Some(true),
            _ => None,
        }
    }

    fn copy_age(&self) -> Option<PromiseRow<'a>> {
        let hours = self.crawler.robots_cache_hours?;
        let result = self.bound().and_then(|()| self.copies());
        let words = &self.crawler.robots_cache_promise;
        Some(self.promise(Promise::CopyAtMost, PromisedValue::Hours(hours), words, result))
    }

    /// Requests on a copy that is not too old.
    fn copies(&self) -> Result<(Observed, Result<PromiseState, Untested>), Untested> {
        let fetches = &self.row.tally.robots_fetches;
        if fetches.successful_fetches == 0 {
            return Err(Untested::NotRead);
        }
        let Compliance { requests: tested, kept } =
            self.row.on_promised_copy.ok_or(Untested::NoTimes)?;
        let observed = Observed { tested, kept, broken: tested.saturating_sub(kept) };
        let state = match self.limits(REQUESTS_MIN).state(observed) {
            Ok(PromiseState::Broken) if fetches.statuses.total() > fetches.successful_fetches => {
                Err(Untested::FailedFetches)
            }
            state => state,
        };
        Ok((observed, state))
    }

    fn rate(&self) -> Option<PromiseRow<'a>> {
        let words = self.crawler.rate_promise.as_str();
        let value = match self.crawler.rate_per_hour {
            Some(requests) => PromisedValue::RequestsPerHour(requests),
            None if words.is_empty() => return None,
            None => PromisedValue::Words,
        };
        let result = match value {
            PromisedValue::RequestsPerHour(requests) => self.days(requests),
            _ => Err(Untested::NoNumber),
        };
        Some(self.promise(Promise::Rate, value, words, result))
    }

    /// Days with no more requests than the rate allows in a whole day.
    fn days(&self, per_hour: u32) -> Result<(Observed, Result<PromiseState, Untested>), Untested> {
        if self.may_be_several_origins() {
            return Err(Untested::SeveralOrigins);
        }
        let allowed = u64::from(per_hour) * DAY_HOURS_MAX;
        let days = self.row.tally.days.iter();
        let days = days.filter(|(_, sums)| sums.requests > 0);
        let mut observed = Observed::default();
        for (_, sums) in days {
            observed.tested += 1;
            let is_over = sums.requests > allowed;
            *if is_over { &mut observed.broken } else { &mut observed.kept } += 1;
        }
        Ok((observed, self.limits(DAYS_MIN).state(observed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { tested_min: 20, broken_below: 0.95, kept_from: 0.95 };

    #[track_caller]
    fn check(limits: Limits, tested: u64, kept: u64, broken: u64, expected: &str) {
        let found = match limits.state(Observed { tested, kept, broken }) {
            Ok(state) => state.as_str(),
            Err(reason) => reason.as_str(),
        };
        assert_eq!(found, expected, "{tested} {kept} {broken}");
    }

    #[test]
    fn numbers_decide_as_well_as_shares() {
        check(LIMITS, 0, 0, 0, "too-few");
        check(LIMITS, 19, 0, 19, "too-few");
        check(LIMITS, 20, 20, 0, "kept");
        check(LIMITS, 20, 19, 1, "uncertain");
        // 14 of 20 are below 0.95 even at the upper end of the interval, 0.855; 17 are not: 0.948 is.
        check(LIMITS, 20, 14, 6, "broken");
        check(LIMITS, 20, 18, 2, "uncertain");
        check(LIMITS, 1_000, 999, 1, "kept");
        check(LIMITS, 1_000, 900, 100, "broken");
        check(LIMITS, u64::MAX, u64::MAX, 0, "kept");
    }

    /// What came before a fetch of robots.txt does not accuse, and does not acquit.
    #[test]
    fn what_is_not_certain_counts_for_neither() {
        check(LIMITS, 100, 50, 0, "uncertain");
        check(LIMITS, 100, 50, 2, "uncertain");
        check(LIMITS, 100, 50, 50, "broken");
    }

    #[test]
    fn a_steady_pace_may_look_too_early_half_the_time() {
        let limits = Limits { broken_below: DELAY_KEPT_MIN, ..LIMITS };
        check(limits, 1_000, 500, 500, "uncertain");
        check(limits, 1_000, 400, 600, "broken");
        check(limits, 1_000, 980, 20, "kept");
    }
}
