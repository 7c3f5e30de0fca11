//! Counts of requests by verdict and status, and their time span.

use serde::{Deserialize, Serialize};

use crate::judge::verdict::Verdict;
use crate::merge::{Merge, merge_fields};
use crate::time::UtcTime;

/// Whether a value need not be written: it is what is read where there is none.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Declares a structure of counts. Files leave out those that are 0.
macro_rules! counts {
    ($(#[$meta:meta])* $visible:vis struct $name:ident { $($count:ident),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
        #[serde(default)]
        #[expect(
            missing_docs,
            reason = "each is the column of the same name, described in src/table/columns.rs and the tables"
        )]
        $visible struct $name {
            $( #[serde(skip_serializing_if = "is_default")] pub $count: u64, )*
        }

        impl $name {
            /// How many there are.
            pub const COUNTS: usize = [$(stringify!($count)),*].len();

            /// From the result of `counts`.
            pub fn of_counts(counts: [u64; $name::COUNTS]) -> $name {
                let [$($count),*] = counts;
                $name { $($count),* }
            }

            /// All of them by name, in the order of the fields.
            pub fn named(self) -> [(&'static str, u64); $name::COUNTS] {
                [$((stringify!($count), self.$count)),*]
            }

            /// All of them, in the order of the fields.
            pub fn counts(self) -> [u64; $name::COUNTS] {
                [$(self.$count),*]
            }
        }

        merge_fields!($name { $($count),* });
    };
}

counts! {
    /// Requests by verdict.
    pub struct Sums {
        requests,
        robots_txt_requests,
        allowed,
        allowed_ignoring_star,
        violations,
        grace,
        unreachable,
        unknown,
        not_bound,
        not_bound_disallowed,
        no_path,
        bytes,
        ambiguous_group,
    }
}

impl Sums {
    /// Counts one request that was answered with `bytes` bytes.
    pub(crate) fn count(&mut self, verdict: Verdict, bytes: u64) {
        self.add(verdict, 1, bytes);
    }

    /// Counts requests with this verdict that were answered with `bytes` bytes in all.
    pub(crate) fn add(&mut self, verdict: Verdict, requests: u64, bytes: u64) {
        self.requests.absorb(requests);
        self.bytes.absorb(bytes);
        let count = match verdict {
            Verdict::RobotsTxt => &mut self.robots_txt_requests,
            Verdict::Allowed(_) => &mut self.allowed,
            Verdict::AllowedIgnoringStar(_) => {
                self.allowed_ignoring_star.absorb(requests);
                &mut self.allowed
            }
            Verdict::Violation(_) => &mut self.violations,
            Verdict::Grace(_) => &mut self.grace,
            Verdict::Unreachable => &mut self.unreachable,
            Verdict::Unknown => &mut self.unknown,
            Verdict::Ambiguous => {
                self.ambiguous_group.absorb(requests);
                &mut self.unknown
            }
            Verdict::NotBound(rule) => {
                self.not_bound_disallowed.absorb(if rule.is_some() { requests } else { 0 });
                &mut self.not_bound
            }
            Verdict::NoPath => &mut self.no_path,
        };
        count.absorb(requests);
    }

    /// The sums without `part`, which is among them.
    pub(crate) fn without(self, part: Sums) -> Sums {
        let mut counts = self.counts();
        counts.iter_mut().zip(part.counts()).for_each(|(all, of)| *all = all.saturating_sub(of));
        Sums::of_counts(counts)
    }

    /// Requests that were judged; those in a grace period are.
    pub(crate) fn judged(&self) -> u64 {
        self.allowed.saturating_add(self.violations).saturating_add(self.grace)
    }

    /// Requests for paths that robots.txt allows or disallows, and those that it disallows, whether it
    /// binds the client or not. Requests in a grace period are neither.
    pub(crate) fn paths(&self) -> (u64, u64) {
        let paths = self.allowed.saturating_add(self.violations).saturating_add(self.not_bound);
        let disallowed = self.violations.saturating_add(self.not_bound_disallowed);
        (paths, disallowed.saturating_add(self.allowed_ignoring_star))
    }

    /// Requests for which no robots.txt was known.
    pub(crate) fn unknown_robots_txt(&self) -> u64 {
        self.unknown.saturating_sub(self.ambiguous_group)
    }

    /// Requests that robots.txt can bind: those that were judged, and those that were not for lack
    /// of a robots.txt.
    pub(crate) fn bindable(&self) -> u64 {
        self.judged().saturating_add(self.unreachable).saturating_add(self.unknown)
    }

    /// Whether each request has exactly one verdict.
    pub(crate) fn hold(&self) -> bool {
        let by_verdict = [
            self.robots_txt_requests,
            self.allowed,
            self.violations,
            self.grace,
            self.unreachable,
            self.unknown,
            self.not_bound,
            self.no_path,
        ];
        Some(self.requests) == by_verdict.into_iter().try_fold(0u64, u64::checked_add)
            && self.not_bound_disallowed <= self.not_bound
            && self.allowed_ignoring_star <= self.allowed
            && self.ambiguous_group <= self.unknown
    }
}

counts! {
    /// Requests that a directive bound, and those of them that kept it.
    pub struct Compliance {
        requests,
        kept,
    }
}

counts! {
    /// Requests, and the bytes of their answers.
    pub struct Answered {
        requests,
        bytes,
    }
}

counts! {
    /// Answers by the class of their status.
    pub struct Statuses {
        status_2xx,
        status_3xx,
        status_4xx,
        status_5xx,
        status_other,
    }
}

impl Statuses {
    /// Counts one answer.
    #[inline]
    pub(crate) fn count(&mut self, status: u16) {
        *self.of(status) += 1;
    }

    /// The count of answers with this status.
    #[inline]
    pub(crate) fn of(&mut self, status: u16) -> &mut u64 {
        match status {
            200..=299 => &mut self.status_2xx,
            300..=399 => &mut self.status_3xx,
            400..=499 => &mut self.status_4xx,
            500..=599 => &mut self.status_5xx,
            _ => &mut self.status_other,
        }
    }

    /// All answers; `None` if their sum cannot be.
    pub(crate) fn checked_total(&self) -> Option<u64> {
        self.counts().into_iter().try_fold(0u64, u64::checked_add)
    }

    /// All answers.
    pub(crate) fn total(&self) -> u64 {
        self.counts().into_iter().fold(0, u64::saturating_add)
    }
}

/// The first and the last of some points in time; a pair in files.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(from = "(UtcTime, UtcTime)", into = "(UtcTime, UtcTime)")]
pub struct Span {
    /// The earliest.
    pub first: UtcTime,
    /// The latest.
    pub last: UtcTime,
}

impl Span {
    /// The span of one point.
    pub(crate) fn at(time: UtcTime) -> Span {
        Span { first: time, last: time }
    }
}

impl From<Span> for (UtcTime, UtcTime) {
    fn from(span: Span) -> (UtcTime, UtcTime) {
        (span.first, span.last)
    }
}

impl From<(UtcTime, UtcTime)> for Span {
    fn from((first, last): (UtcTime, UtcTime)) -> Span {
        Span { first, last }
    }
}

impl Merge for Span {
    fn absorb(&mut self, other: Span) {
        let Span { first, last } = other;
        self.first = self.first.min(first);
        self.last = self.last.max(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file may come from a stranger.
    #[test]
    fn sums_that_cannot_be_are_noticed() {
        let whole = Sums {
            requests: 9,
            robots_txt_requests: 1,
            allowed: 2,
            allowed_ignoring_star: 2,
            violations: 1,
            grace: 1,
            unreachable: 1,
            unknown: 1,
            not_bound: 1,
            not_bound_disallowed: 1,
            no_path: 1,
            bytes: 0,
            ambiguous_group: 1,
        };
        assert!(whole.hold());
        type Damage = fn(&mut Sums);
        let damages: [Damage; 6] = [
            |sums| sums.requests = 10,
            |sums| sums.grace = 0,
            |sums| sums.allowed = u64::MAX,
            |sums| sums.not_bound_disallowed = 2,
            |sums| sums.allowed_ignoring_star = 3,
            |sums| sums.ambiguous_group = 2,
        ];
        for (number, damage) in damages.iter().enumerate() {
            let mut damaged = whole;
            damage(&mut damaged);
            assert!(!damaged.hold(), "{number}");
        }
    }

    #[test]
    fn what_is_judged_can_be_bound() {
        let sums = Sums {
            allowed: 1,
            violations: 2,
            grace: 4,
            unreachable: 8,
            unknown: 16,
            not_bound: 32,
            no_path: 64,
            robots_txt_requests: 128,
            ..Sums::default()
        };
        assert_eq!((sums.judged(), sums.bindable()), (7, 31));
    }
}
