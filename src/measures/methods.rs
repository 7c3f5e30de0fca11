//! Requests by HTTP method: `methods.csv`.

use serde::{Deserialize, Serialize};

use crate::judge::verdict::Verdict;
use crate::merge::merge_fields;
use crate::table::columns::{BYTES, REQUESTS, VIOLATIONS};
use crate::table::schema::column;
use botaudit_robots::named_enum;

use super::request::{AllRequests, JudgedRequest, Measure};
use super::short_map::ShortMap;
use super::sums::is_default;
use super::table::measure_table;

named_enum! {
    /// A method of RFC 9110 section 9 or RFC 5789. Methods are case-sensitive, and any client can
    /// invent one, so all others are one.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum Method {
        /// Asks for the resource.
        Get = "GET",
        /// Asks for its header only.
        Head = "HEAD",
        /// Sends data to it.
        Post = "POST",
        /// Replaces it.
        Put = "PUT",
        /// Removes it.
        Delete = "DELETE",
        /// Opens a tunnel.
        Connect = "CONNECT",
        /// Asks what can be done with it.
        Options = "OPTIONS",
        /// Asks for the request itself.
        Trace = "TRACE",
        /// Changes it.
        Patch = "PATCH",
        /// Any other, or none.
        Other = "other",
    }
}

impl Method {
    /// The method that a log names.
    #[inline]
    pub(crate) fn of(method: &[u8]) -> Method {
        match method {
            b"GET" => Method::Get,
            b"HEAD" => Method::Head,
            b"POST" => Method::Post,
            b"PUT" => Method::Put,
            b"DELETE" => Method::Delete,
            b"CONNECT" => Method::Connect,
            b"OPTIONS" => Method::Options,
            b"TRACE" => Method::Trace,
            b"PATCH" => Method::Patch,
            _ => Method::Other,
        }
    }
}

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
    fn count(&mut self, request: &JudgedRequest<'_>) {
        let tally = self.entry(Method::of(request.record.method));
        tally.requests += 1;
        tally.violations += u64::from(matches!(request.dated.verdict, Verdict::Violation(_)));
        tally.bytes = tally.bytes.saturating_add(request.record.bytes);
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
    use crate::merge::Merge;

    fn tally(counts: &[(Method, u64, u64)]) -> ByMethod {
        let of = |&(method, requests, violations): &_| {
            (method, MethodTally { requests, violations, bytes: 0 })
        };
        counts.iter().map(of).collect()
    }

    #[test]
    fn methods_are_known_as_sent() {
        for method in Method::ALL.into_iter().filter(|method| *method != Method::Other) {
            assert_eq!(Method::of(method.as_str().as_bytes()), method);
        }
        for other in [&b"get"[..], b"-", b"", b"PROPFIND", b"GETT"] {
            assert_eq!(Method::of(other), Method::Other, "{other:?}");
        }
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
