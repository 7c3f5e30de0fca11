//! What crawlers did after changes of robots.txt, in the order of reports.

use std::collections::BTreeMap;

use botaudit_robots::named_enum;

use crate::config::audit_config::{REACTION_QUIET_DAYS, REACTION_REQUESTS};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::judge::origin_history::SnapshotHistory;
use crate::measures::reactions::{
    ChangeTimes, ReactionTally, RequestsSince, RuleChangeTally, TouchedTally,
};
use crate::measures::{draft_effect::WhatIfChange, sums::Span};
use crate::time::{DAY_SECONDS, UtcTime};

use super::prior_fetches::{FetchedBy, KnownFetches};
use super::tally::header::ReportedOptions;

/// The shortest quiet time of a crawler that has stopped, as a part of the time since its fetch.
const QUIET_PART: i64 = 10;

/// What one crawler did after one change.
#[derive(Clone, Debug)]
pub struct ReactionRow {
    /// When rules changed.
    pub times: ChangeTimes,
    /// The old version; `None` if there was no robots.txt.
    pub old_digest: Option<Digest>,
    /// The new version; `None` if there is no robots.txt.
    pub new_digest: Option<Digest>,
    /// The change of the paths that are counted here.
    pub direction: WhatIfChange,
    /// Whether some logs were read before the archive knew the change.
    pub is_partial: bool,
    /// The touched requests.
    pub tally: TouchedTally,
    /// Requests of any kind before the change, and since then.
    pub all: [u64; 2],
    /// The time before the change from which requests count, in seconds.
    pub seconds_before: i64,
    /// The time from the first fetch in the archive that saw the change to the end, in seconds.
    pub seconds_since: i64,
    /// The minute of the first fetch since the change.
    pub first_fetch: Option<(UtcTime, FetchedBy)>,
    /// Touched requests since the change, before and after that fetch; `None` if not known.
    pub around_fetch: Option<(u64, u64)>,
    /// All other requests after that fetch; `None` if not known.
    pub others_after: Option<u64>,
    /// The reaction.
    pub reaction: Reaction,
    /// The least and the greatest time from the change to the reaction, in seconds.
    pub seconds: Option<(i64, i64)>,
}

named_enum! {
    /// How a crawler reacted to a change of the rules.
    #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub enum Reaction {
        /// No touched request after the fetch, though some were to be expected.
        ObeyedAtOnce = "obeyed-at-once",
        /// Some touched requests after the fetch, then none, though some were to be expected.
        ObeyedLate = "obeyed-late",
        /// Touched requests until the end.
        StillRequesting = "still-requesting",
        /// Requests, but no fetch of robots.txt.
        NeverFetched = "never-fetched",
        /// No request of any kind, though some were to be expected.
        Gone = "gone",
        /// Nothing can be concluded.
        TooFewRequests = "too-few-requests",
        /// Newly allowed paths were requested.
        Found = "found",
        /// Newly allowed paths were not requested.
        NotFound = "not-found",
        /// The change was not known when some of the logs were read, or fetches are not known.
        Unknown = "unknown",
    }
}

impl ReactionRow {
    /// The lines of the rules that disallow the requests, such as `2 5 +`.
    pub(crate) fn lines(&self) -> String {
        let lines = self.tally.lines.iter().map(u32::to_string);
        let more = self.tally.has_more_lines.then(|| "+".to_owned());
        lines.chain(more).collect::<Vec<_>>().join(" ")
    }
}

/// The thresholds of reactions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReactionThresholds {
    /// The least number of expected requests.
    pub requests: u64,
    /// The longest quiet time that is asked for, in seconds.
    pub quiet_seconds: i64,
}

/// Everything that decides on the reactions of the crawlers at one origin.
#[derive(Debug)]
pub(crate) struct OriginReactions {
    thresholds: ReactionThresholds,
    /// From the first to the last request of any crawler.
    logs: Option<Span>,
    /// The versions by the time of the last snapshot that saw them.
    old: BTreeMap<UtcTime, Option<Digest>>,
    /// The versions by the time of the first snapshot that saw them.
    new: BTreeMap<UtcTime, Option<Digest>>,
}

impl ReactionThresholds {
    /// Those of the user.
    pub(crate) fn of(options: &ReportedOptions) -> ReactionThresholds {
        let number =
            |name: &str, default: usize| options.get(name).as_u64().unwrap_or(default as u64);
        let days = number("reaction_quiet_days", REACTION_QUIET_DAYS);
        let days = i64::try_from(days).unwrap_or(i64::MAX);
        ReactionThresholds {
            requests: number("reaction_requests", REACTION_REQUESTS),
            quiet_seconds: days.saturating_mul(DAY_SECONDS),
        }
    }
}

impl OriginReactions {
    /// The reactions at an origin with this history and requests in `logs`.
    pub(crate) fn new(
        thresholds: ReactionThresholds,
        history: Option<&SnapshotHistory>,
        logs: Option<Span>,
    ) -> OriginReactions {
        let periods = history.map(SnapshotHistory::periods).unwrap_or_default();
        let old = periods.iter().map(|(_, last, digest)| (*last, *digest)).collect();
        let new = periods.iter().map(|(first, _, digest)| (*first, *digest)).collect();
        OriginReactions { thresholds, logs, old, new }
    }

    /// The reactions of one crawler, by change and direction. Changes that lie between two others
    /// that are known now are left out.
    ///
    /// # Errors
    /// If sums that must hold do not.
    pub(crate) fn rows(
        &self,
        tally: &ReactionTally,
        fetches: &KnownFetches<'_>,
    ) -> Result<Vec<ReactionRow>> {
        if !tally.holds() {
            return Err(Error::inconsistent(format!("the tally is damaged: {tally:?}")));
        }
        let mut rows = Vec::new();
        for (times, change) in &tally.changes {
            for direction in WhatIfChange::ALL {
                if let Some(touched) = change.touched(direction) {
                    let since = SinceChange::new(self, times, change, fetches);
                    rows.extend(self.row(since, direction, &touched));
                }
            }
        }
        Ok(rows)
    }

    fn row(
        &self,
        since: SinceChange<'_>,
        direction: WhatIfChange,
        touched: &TouchedTally,
    ) -> Option<ReactionRow> {
        let times = *since.times;
        let (old, new) = (self.old.get(&times.after)?, self.new.get(&times.before)?);
        let around_fetch = touched.since.split_at(since.fetch.map(|(minute, _)| minute));
        let reaction = match direction {
            _ if since.is_unknown => Reaction::Unknown,
            WhatIfChange::NewlyAllowed if touched.first.is_some() => Reaction::Found,
            WhatIfChange::NewlyAllowed => Reaction::NotFound,
            WhatIfChange::NewlyDisallowed => since.reaction(touched, self.thresholds),
        };
        Some(ReactionRow {
            times,
            old_digest: *old,
            new_digest: *new,
            direction,
            is_partial: since.is_partial,
            all: [since.change.all_before, since.change.all.as_ref().map_or(0, |all| all.requests)],
            seconds_before: since.seconds_before,
            seconds_since: since.end.saturating_sub(times.before.unix_seconds()),
            first_fetch: since.first_fetch(),
            around_fetch,
            others_after: since.others_after(&touched.since),
            reaction,
            seconds: since.seconds(touched, reaction),
            tally: touched.clone(),
        })
    }
}

/// A change, and what is known of the time since then.
#[derive(Debug)]
struct SinceChange<'a> {
    times: &'a ChangeTimes,
    change: &'a RuleChangeTally,
    fetch: Option<(i64, FetchedBy)>,
    is_partial: bool,
    is_unknown: bool,
    seconds_before: i64,
    /// The next change or the end of the logs.
    end: i64,
}

impl<'a> SinceChange<'a> {
    fn new(
        of: &OriginReactions,
        times: &'a ChangeTimes,
        change: &'a RuleChangeTally,
        fetches: &KnownFetches<'_>,
    ) -> SinceChange<'a> {
        let until = change.until.map_or(i64::MAX, UtcTime::unix_seconds);
        let logs =
            of.logs.map_or((0, 0), |logs| (logs.first.unix_seconds(), logs.last.unix_seconds()));
        let from = change.counted_from.unix_seconds().max(logs.0);
        let is_cut = change.last.is_some_and(|last| last.unix_seconds() > until);
        SinceChange {
            times,
            change,
            fetch: fetches.first_between(times.before.unix_seconds(), until),
            is_partial: change.is_partial || is_cut,
            is_unknown: change.is_partial || is_cut || !fetches.are_complete(),
            seconds_before: (times.after.unix_seconds() - from).max(0),
            end: until.min(logs.1),
        }
    }

    fn first_fetch(&self) -> Option<(UtcTime, FetchedBy)> {
        let (minute, by) = self.fetch?;
        Some((UtcTime::from_unix_seconds(minute.checked_mul(60)?)?, by))
    }

    /// Requests after the fetch that are not touched, without that fetch.
    fn others_after(&self, touched: &RequestsSince) -> Option<u64> {
        let (minute, by) = self.fetch?;
        let (_, all) = match &self.change.all {
            Some(all) => all.split_at(Some(minute))?,
            None => (0, 0),
        };
        let (_, touched) = touched.split_at(Some(minute))?;
        Some(all.saturating_sub(touched).saturating_sub(u64::from(by == FetchedBy::Own)))
    }

    fn reaction(&self, touched: &TouchedTally, thresholds: ReactionThresholds) -> Reaction {
        // At the rate from before the change.
        let is_expected = |seconds: i64| {
            let product = |left: u64, right: i64| {
                u128::from(left) * u128::from(u64::try_from(right).unwrap_or_default())
            };
            self.seconds_before > 0
                && product(touched.before, seconds)
                    >= product(thresholds.requests, self.seconds_before)
        };
        let last = touched.last.filter(|_| touched.first.is_some()).map(UtcTime::unix_seconds);
        let Some((minute, _)) = self.fetch else {
            return match self.change.last {
                Some(_) => Reaction::NeverFetched,
                None if is_expected(self.end - self.times.before.unix_seconds()) => Reaction::Gone,
                None => Reaction::TooFewRequests,
            };
        };
        let seconds = self.end.saturating_sub(minute.saturating_mul(60));
        match last.filter(|last| last.div_euclid(60) >= minute) {
            Some(last) => {
                let quiet = self.end - last;
                let is_quiet = quiet >= thresholds.quiet_seconds.min(seconds / QUIET_PART);
                match is_quiet && is_expected(quiet) {
                    true => Reaction::ObeyedLate,
                    false => Reaction::StillRequesting,
                }
            }
            None if !is_expected(seconds) => Reaction::TooFewRequests,
            None if self.others_after(&touched.since) == Some(0) => Reaction::Gone,
            None => Reaction::ObeyedAtOnce,
        }
    }

    /// A crawler that obeys has stopped between its last touched request and its fetch, or at that
    /// request if this was later; the change itself lies between two fetches.
    fn seconds(&self, touched: &TouchedTally, reaction: Reaction) -> Option<(i64, i64)> {
        let (from, to) = match reaction {
            Reaction::Found => (touched.first?, touched.first?),
            Reaction::ObeyedAtOnce | Reaction::ObeyedLate => {
                let (fetch, _) = self.first_fetch()?;
                let last = touched.last.unwrap_or(self.times.before);
                (last, last.max(fetch))
            }
            _ => return None,
        };
        let since = |time: UtcTime, change: UtcTime| time.unix_seconds() - change.unix_seconds();
        Some((since(from, self.times.before).max(0), since(to, self.times.after)))
    }
}

#[cfg(test)]
mod oracle;

#[cfg(test)]
mod plain;
