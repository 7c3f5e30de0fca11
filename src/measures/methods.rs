//! Requests by HTTP method: `methods.csv`.

use serde::{Deserialize, Serialize};

use crate::judge::verdict::Verdict;
use crate::logs::request::Method;
use crate::merge::{Merge, merge_fields};
use crate::table::columns::{BYTES, REQUESTS, VIOLATIONS};
use crate::table::schema::column;

use super::request::{AllRequests, Measure};
use super::table::measure_table;
use super::{request_kind::RequestsOfKind, short_map::ShortMap, sums::is_default};

/// Requests of one method.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct MethodTally {
    /// How many.
    pub requests: u64,
    /// How many of them were violations.
    #[serde(skip_serializing_if = "is_default")]
    pub violations: u64,
    /// The bytes of the answers.
    pub bytes: u64,
}

merge_fields!(MethodTally { requests, violations, bytes });

/// Requests by method; none in tallies that did not count them.
pub(crate) type ByMethod = ShortMap<Method, MethodTally>;

impl Measure for ByMethod {
    fn add(&mut self, of_kind: &RequestsOfKind) {
        let RequestsOfKind { kind, requests, bytes, .. } = *of_kind;
        let is_violation = matches!(kind.verdict, Verdict::Violation(_));
        let violations = if is_violation { requests } else { 0 };
        self.entry(kind.method).absorb(MethodTally { requests, violations, bytes });
    }

    fn holds(&self, all: &AllRequests) -> bool {
        let sums = self.values().try_fold((0u64, 0u64), |(requests, violations), of| {
            let violations = violations.checked_add(of.violations)?;
            Some((requests.checked_add(of.requests)?, violations))
        });
        sums.is_some_and(|(requests, violations)| {
            requests <= all.total.requests && violations <= all.total.violations
        }) && self.values().all(|of| of.violations <= of.requests)
    }
}

measure_table! {
    /// Requests by method.
    pub(crate) const TABLE: ByMethod = "methods.csv", "each origin, crawler, identity and HTTP method";
    rows of => of.iter();
    (method, tally) => {
        let all = of.values().fold(0, |sum: u64, of| sum.saturating_add(of.requests));
    }
    cells row => {
        column("method", "GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH, other", "method of the requests, as sent: methods are case-sensitive; `other` is any other one, or none") => row.word(method.as_str()),
        REQUESTS => row.counts([tally.requests]),
        column("share", "fraction, 6 decimals", "requests / all requests of this crawler and identity at this origin") => row.fraction(tally.requests, all),
        VIOLATIONS => row.counts([tally.violations]),
        BYTES => row.counts([tally.bytes]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::sums::Sums;

    fn tally(counts: &[(Method, u64, u64)]) -> ByMethod {
        let of = |&(method, requests, violations): &_| {
            (method, MethodTally { requests, violations, bytes: 0 })
        };
        counts.iter().map(of).collect()
    }

    #[test]
    fn parts_merge_by_method() {
        let mut sum = tally(&[(Method::Get, 2, 1)]);
        sum.absorb(tally(&[(Method::Get, 3, 0), (Method::Post, 1, 1)]));
        assert_eq!(sum, tally(&[(Method::Get, 5, 1), (Method::Post, 1, 1)]));
    }

    /// The file may come from a stranger.
    #[test]
    fn sums_that_cannot_be_are_noticed() {
        let total = Sums { requests: 9, violations: 2, ..Sums::default() };
        let all = AllRequests { total, span: None, has_times: true };
        for (counts, holds) in [
            (&[][..], true),
            (&[(Method::Get, 9, 2)], true),
            (&[(Method::Get, 10, 0)], false),
            (&[(Method::Get, 9, 3)], false),
            (&[(Method::Get, 8, 0), (Method::Post, 1, 2)], false),
            (&[(Method::Get, 9, 0), (Method::Post, u64::MAX, 0)], false),
        ] {
            assert_eq!(tally(counts).holds(&all), holds, "{counts:?}");
        }
    }
}
