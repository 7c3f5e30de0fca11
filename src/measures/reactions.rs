//! Requests around changes of robots.txt, as a tally keeps them.
//!
//! A change divides the requests of a crawler: those before it (at most some days, and not before
//! the change that precedes it), those between the last fetch that saw the old rules and the first
//! that saw the new ones, and those since then, until the last fetch before the next change. A
//! request is *touched* if one of the two rule sets allows its path and the other disallows it.
//!
//! All these times are known before a log is read, so plain sums suffice. One is not: the first
//! fetch of robots.txt since the change, by the crawler or by its operator. So requests since the
//! change are also kept by minute, but only those before the first own fetch known so far: no later
//! one can decide. Of these minutes, the earliest [`MINUTES_MAX`] are kept, and the rest has only
//! sums. The requests alone decide which minutes stay, so tallies merge exactly, in any order.
//!
//! Changes count towards the limit of time buckets. Past it, rows go without reactions, as without
//! other times, in the order of their names.
//!
//! A tally lists all changes that were known to it, also those without requests. A change that one
//! of two merged tallies did not know is counted only in part, and is marked. So are all changes if
//! one of them was judged without a history.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::judge::origin_history::{RuleChange, Touched};
use crate::merge::{Merge, least, sum};
use crate::time::{DAY_SECONDS, UtcTime};

use super::time_buckets::{TimeBuckets, last_second};
use super::{draft_effect::WhatIfChange, short_map::ShortMap, sums::is_default};

/// The most minutes with requests that are kept for a change: a week of them.
pub(crate) const MINUTES_MAX: usize = if cfg!(test) { 20 } else { 10_080 };

/// The buckets that a change counts as towards the limit of time buckets: about its bytes.
pub(crate) const BUCKETS_PER_CHANGE: usize = 16;

/// The most lines of rules that are kept: the first ones.
pub(crate) const LINES_MAX: usize = 16;

/// The changes of the rules for a crawler at an origin, with its requests around them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ReactionTally {
    /// By the times of the change.
    pub changes: ShortMap<ChangeTimes, RuleChangeTally>,
}

/// When rules changed; a pair in files.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(from = "(UtcTime, UtcTime)", into = "(UtcTime, UtcTime)")]
pub struct ChangeTimes {
    /// The last fetch that still saw the old rules.
    pub after: UtcTime,
    /// The first fetch that saw the new rules.
    pub before: UtcTime,
}

/// The requests around one change.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RuleChangeTally {
    /// The start of the time before the change.
    pub counted_from: UtcTime,
    /// The last fetch before the next change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<UtcTime>,
    /// Whether some requests were counted without knowledge of this change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_partial: bool,
    /// The minute of the first own fetch since the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched: Option<i64>,
    /// Whether there are newly disallowed paths.
    #[serde(default, skip_serializing_if = "is_default")]
    pub disallows: bool,
    /// Whether there are newly allowed paths.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allows: bool,
    /// Requests of any kind before the change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub all_before: u64,
    /// Requests of any kind since the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<Box<RequestsSince>>,
    /// The last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<UtcTime>,
    /// Requests for newly disallowed paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disallowed: Option<Box<TouchedTally>>,
    /// Requests for newly allowed paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Box<TouchedTally>>,
}

/// Touched requests.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct TouchedTally {
    /// Before the change.
    #[serde(skip_serializing_if = "is_default")]
    pub before: u64,
    /// Between the last fetch that saw the old rules and the first that saw the new ones.
    #[serde(skip_serializing_if = "is_default")]
    pub uncertain: u64,
    /// Since the change.
    #[serde(skip_serializing_if = "is_default")]
    pub since: RequestsSince,
    /// Part of `since`: after the time that the operator promises.
    #[serde(skip_serializing_if = "is_default")]
    pub after_promise: u64,
    /// The first since the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<UtcTime>,
    /// The last of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<UtcTime>,
    /// All of them by day (UTC).
    #[serde(skip_serializing_if = "TimeBuckets::is_empty")]
    pub days: TimeBuckets,
    /// The first lines of the rules that disallow them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub lines: BTreeSet<u32>,
    /// Whether there are more lines.
    #[serde(skip_serializing_if = "is_default")]
    pub has_more_lines: bool,
}

/// Requests since a change.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct RequestsSince {
    /// How many.
    pub requests: u64,
    /// Those before the first own fetch known so far, by minute.
    #[serde(skip_serializing_if = "TimeBuckets::is_empty")]
    pub minutes: TimeBuckets,
    /// The first of these minutes that did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes_end: Option<i64>,
}

/// A request of a crawler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedRequest<'a> {
    /// The time.
    pub time: UtcTime,
    /// The prepared path; `None` if no rule decides about it.
    pub path: Option<&'a [u8]>,
    /// Whether it fetched robots.txt with success.
    pub is_fetch: bool,
}

/// The settings for counting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReactionLimits {
    /// How long before a change requests count, in days.
    pub days_before: usize,
    /// The operator's promise: how soon a change takes effect, in hours.
    pub promised_hours: Option<u32>,
}

impl ReactionTally {
    /// Counts `request`; `changes` are those of the crawler at the origin, the earliest first.
    pub(crate) fn count(
        &mut self,
        changes: &[RuleChange],
        request: TimedRequest<'_>,
        limits: ReactionLimits,
    ) {
        if self.changes.is_empty() {
            self.changes = entries(changes, limits.days_before).collect();
        }
        let next = changes.partition_point(|change| change.before <= request.time);
        if let Some(change) = next.checked_sub(1).map(|last| &changes[last]) {
            let until = changes.get(next).map(|next| next.after);
            if until.is_none_or(|until| request.time <= until) {
                self.entry(change, |tally| tally.count_since(change, request, limits));
            }
        }
        if let Some(change) = changes.get(next) {
            self.entry(change, |tally| tally.count_before(change, request));
        }
    }

    fn entry(&mut self, change: &RuleChange, count: impl FnOnce(&mut RuleChangeTally)) {
        let key = ChangeTimes { after: change.after, before: change.before };
        if let Some(tally) = self.changes.get_mut(&key) {
            count(tally);
        }
    }

    /// Drops minutes that are not needed, so that equal counts are equal bytes.
    pub(crate) fn settle(&mut self) {
        self.changes.values_mut().for_each(RuleChangeTally::settle);
    }

    /// Marks all changes as counted only in part.
    pub(crate) fn mark_partial(&mut self) {
        self.changes.values_mut().for_each(|change| change.is_partial = true);
    }

    /// What it counts as towards the limit of time buckets. It never decreases.
    pub(crate) fn time_buckets(&self) -> usize {
        self.changes.len() * BUCKETS_PER_CHANGE
    }

    /// Whether the parts agree.
    pub(crate) fn holds(&self) -> bool {
        self.changes.values().all(RuleChangeTally::holds)
    }

    /// Whether no change has more requests than these of the crawler.
    pub(crate) fn is_within(&self, requests: u64) -> bool {
        self.changes.values().all(|change| change.is_within(requests))
    }
}

fn entries(
    changes: &[RuleChange],
    days_before: usize,
) -> impl Iterator<Item = (ChangeTimes, RuleChangeTally)> {
    changes.iter().enumerate().map(move |(at, change)| {
        let RuleChange { after, before, .. } = *change;
        let days = i64::try_from(days_before).unwrap_or(i64::MAX);
        let earliest = after.unix_seconds().saturating_sub(days.saturating_mul(DAY_SECONDS));
        let earliest = UtcTime::from_unix_seconds(earliest).unwrap_or(UtcTime::EPOCH);
        let tally = RuleChangeTally {
            counted_from: change.since.map_or(earliest, |since| since.max(earliest)),
            until: changes.get(at + 1).map(|next| next.after),
            is_partial: false,
            fetched: None,
            disallows: change.disallows,
            allows: change.allows,
            all_before: 0,
            all: None,
            last: None,
            disallowed: None,
            allowed: None,
        };
        (ChangeTimes { after, before }, tally)
    })
}

impl RuleChangeTally {
    /// The requests for the paths that this change concerns, or `None` if it concerns no path.
    pub(crate) fn touched(&self, direction: WhatIfChange) -> Option<TouchedTally> {
        let (touched, has_paths) = match direction {
            WhatIfChange::NewlyDisallowed => (self.disallowed.as_deref(), self.disallows),
            WhatIfChange::NewlyAllowed => (self.allowed.as_deref(), self.allows),
        };
        touched.cloned().or_else(|| has_paths.then(TouchedTally::default))
    }

    fn count_since(
        &mut self,
        change: &RuleChange,
        request: TimedRequest<'_>,
        limits: ReactionLimits,
    ) {
        let minute = request.time.unix_minute();
        self.last = self.last.max(Some(request.time));
        // Fetches are known by the minute, which may have begun before the change.
        let is_inside = minute * 60 >= change.before.unix_seconds()
            && self.until.is_none_or(|until| last_second(minute) <= until.unix_seconds());
        if request.is_fetch && is_inside && self.fetched.is_none_or(|fetched| minute < fetched) {
            self.fetched = Some(minute);
            self.settle();
        }
        self.all.get_or_insert_default().add(minute, self.fetched);
        let fetched = self.fetched;
        let Some(touched) = self.add_touched(change, request) else { return };
        touched.since.add(minute, fetched);
        touched.first = least(touched.first, Some(request.time));
        if let Some(hours) = limits.promised_hours {
            let promised = change.before.unix_seconds() + i64::from(hours) * 3600;
            touched.after_promise += u64::from(request.time.unix_seconds() >= promised);
        }
    }

    fn count_before(&mut self, change: &RuleChange, request: TimedRequest<'_>) {
        if request.time < self.counted_from {
            return;
        }
        self.all_before += u64::from(request.time <= change.after);
        let Some(touched) = self.add_touched(change, request) else { return };
        match request.time <= change.after {
            true => touched.before += 1,
            false => touched.uncertain += 1,
        }
    }

    /// The sums for `request`, if it is touched.
    fn add_touched(
        &mut self,
        change: &RuleChange,
        request: TimedRequest<'_>,
    ) -> Option<&mut TouchedTally> {
        let Touched { is_allowed, line } = change.touched(request.path?)?;
        let tally = if is_allowed { &mut self.allowed } else { &mut self.disallowed };
        let tally = tally.get_or_insert_default();
        tally.last = tally.last.max(Some(request.time));
        tally.days.add(request.time.unix_seconds().div_euclid(DAY_SECONDS), 1);
        tally.lines.insert(line);
        tally.bound_lines();
        Some(tally)
    }

    fn settle(&mut self) {
        let RuleChangeTally { fetched, all, disallowed, allowed, .. } = self;
        let touched = [disallowed, allowed].into_iter().flatten().map(|touched| &mut touched.since);
        touched.chain(all.as_deref_mut()).for_each(|since| since.settle(*fetched));
    }

    fn is_within(&self, requests: u64) -> bool {
        let is_within = |parts: &[u64]| {
            let sum = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(*part));
            sum.is_some_and(|sum| sum <= requests)
        };
        let since = self.all.as_ref().map_or(0, |all| all.requests);
        let touched = [&self.disallowed, &self.allowed].into_iter().flatten();
        is_within(&[self.all_before, since])
            && touched
                .into_iter()
                .all(|of| is_within(&[of.before, of.uncertain, of.since.requests]))
    }

    fn holds(&self) -> bool {
        let all = self.all.as_deref();
        let requests = all.map_or(0, |all| all.requests);
        let touched = [&self.disallowed, &self.allowed];
        all.is_none_or(RequestsSince::holds)
            && touched.into_iter().flatten().all(|touched| {
                touched.since.holds()
                    && touched.since.requests <= requests
                    && touched.after_promise <= touched.since.requests
                    && touched.first.is_some() == (touched.since.requests > 0)
                    && touched.first <= touched.last
            })
    }
}

impl TouchedTally {
    fn bound_lines(&mut self) {
        while self.lines.len() > LINES_MAX {
            self.lines.pop_last();
            self.has_more_lines = true;
        }
    }
}

impl RequestsSince {
    fn add(&mut self, minute: i64, fetched: Option<i64>) {
        self.requests += 1;
        if least(fetched, self.minutes_end).is_none_or(|end| minute < end) {
            self.minutes.add(minute, 1);
            // Sorting takes time, so that some more are let in before it is done again.
            if self.minutes.len_at_most() > MINUTES_MAX + MINUTES_MAX / 4 {
                self.settle(fetched);
            }
        }
    }

    fn settle(&mut self, fetched: Option<i64>) {
        self.minutes_end = self.minutes_end.filter(|end| fetched.is_none_or(|at| *end < at));
        if let Some(end) = least(fetched, self.minutes_end) {
            self.minutes.forget_from(end);
        }
        if self.minutes.len() > MINUTES_MAX {
            let first_dropped = self.minutes.buckets().nth(MINUTES_MAX).map(|(minute, _)| minute);
            self.minutes_end = first_dropped;
            first_dropped.into_iter().for_each(|end| self.minutes.forget_from(end));
        }
    }

    /// The requests before and since `minute`, the minute of the first fetch; `None` if this is not
    /// known any more.
    pub(crate) fn split_at(&self, minute: Option<i64>) -> Option<(u64, u64)> {
        let Some(minute) = minute else { return Some((self.requests, 0)) };
        if self.minutes_end.is_some_and(|end| end < minute) {
            return None;
        }
        let earlier = self.minutes.buckets().take_while(|(kept, _)| *kept < minute);
        let until: u64 = sum(earlier.map(|(_, requests)| requests));
        Some((until, self.requests.saturating_sub(until)))
    }

    fn holds(&self) -> bool {
        let mut counts = self.minutes.buckets().map(|(_, requests)| requests);
        let total = counts.try_fold(0u64, |total, requests| total.checked_add(requests));
        total.is_some_and(|total| total <= self.requests)
    }
}

impl Merge for ReactionTally {
    fn absorb(&mut self, other: ReactionTally) {
        let ReactionTally { mut changes } = other;
        mark_unknown(&mut self.changes, &changes);
        mark_unknown(&mut changes, &self.changes);
        self.changes.absorb(changes);
    }
}

/// Marks the `changes` that `others` lacks.
fn mark_unknown(
    changes: &mut ShortMap<ChangeTimes, RuleChangeTally>,
    others: &ShortMap<ChangeTimes, RuleChangeTally>,
) {
    let known: BTreeSet<ChangeTimes> = others.iter().map(|(times, _)| *times).collect();
    for (times, tally) in changes.iter_mut() {
        tally.is_partial |= !known.contains(times);
    }
}

impl Merge for RuleChangeTally {
    fn absorb(&mut self, other: RuleChangeTally) {
        let RuleChangeTally {
            is_partial,
            counted_from,
            until,
            fetched,
            last,
            disallows,
            allows,
            all_before,
            all,
            disallowed,
            allowed,
        } = other;
        self.is_partial |= is_partial || self.counted_from != counted_from;
        self.counted_from = self.counted_from.max(counted_from);
        self.until = least(self.until, until);
        self.fetched = least(self.fetched, fetched);
        self.last = self.last.max(last);
        self.disallows |= disallows;
        self.allows |= allows;
        self.all_before.absorb(all_before);
        self.all.absorb(all);
        self.disallowed.absorb(disallowed);
        self.allowed.absorb(allowed);
        self.settle();
    }
}

impl Merge for TouchedTally {
    fn absorb(&mut self, other: TouchedTally) {
        let TouchedTally {
            before,
            uncertain,
            since,
            after_promise,
            first,
            last,
            days,
            lines,
            has_more_lines,
        } = other;
        self.before.absorb(before);
        self.uncertain.absorb(uncertain);
        self.since.absorb(since);
        self.after_promise.absorb(after_promise);
        self.first = least(self.first, first);
        self.last = self.last.max(last);
        self.days.absorb(days);
        self.lines.absorb(lines);
        self.has_more_lines |= has_more_lines;
        self.bound_lines();
    }
}

impl Merge for RequestsSince {
    fn absorb(&mut self, other: RequestsSince) {
        let RequestsSince { requests, minutes, minutes_end } = other;
        self.requests.absorb(requests);
        self.minutes.absorb(minutes);
        self.minutes_end = least(self.minutes_end, minutes_end);
    }
}

impl From<ChangeTimes> for (UtcTime, UtcTime) {
    fn from(times: ChangeTimes) -> (UtcTime, UtcTime) {
        (times.after, times.before)
    }
}

impl From<(UtcTime, UtcTime)> for ChangeTimes {
    fn from((after, before): (UtcTime, UtcTime)) -> ChangeTimes {
        ChangeTimes { after, before }
    }
}

#[cfg(test)]
mod tests;
