//! Requests by HTTP status: `statuses.csv`.

use botaudit_robots::named_enum;
use serde::{Deserialize, Serialize};

use crate::merge::Merge;
use crate::table::columns::{BYTES, REQUESTS};
use crate::table::schema::column;

use super::request::{AllRequests, Measure};
use super::table::measure_table;
use super::{request_kind::RequestsOfKind, short_map::ShortMap, sums::Answered};

/// A status from 100 to 599, or 0 for any other and for none. So there are at most 501.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "u16")]
pub struct StatusCode(u16);

named_enum! {
    /// What a status means for the owner of a site.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum StatusGroup {
        /// 200 to 299 without 202.
        Ok = "ok",
        /// 304.
        NotModified = "not-modified",
        /// 300 to 399 without 304.
        Redirected = "redirected",
        /// 401, 403, 429, 451.
        Refused = "refused",
        /// 402: for money.
        PaymentRequired = "payment-required",
        /// 202: the answer of some firewalls to who must solve a task first.
        Challenged = "challenged",
        /// 404, 410.
        NotFound = "not-found",
        /// 400 to 499 without these.
        OtherClientError = "other-client-error",
        /// 500 to 599.
        ServerError = "server-error",
        /// Any other, or none.
        Other = "other",
    }
}

impl StatusCode {
    /// The code of `status`.
    #[inline]
    pub(crate) fn of(status: u16) -> StatusCode {
        StatusCode(if (100..=599).contains(&status) { status } else { 0 })
    }

    /// The status, or 0.
    pub(crate) fn status(self) -> u16 {
        self.0
    }

    /// The number; `None` outside of 100 to 599.
    pub(crate) fn number(self) -> Option<u64> {
        (self.0 > 0).then_some(u64::from(self.0))
    }

    /// Its group.
    pub(crate) fn group(self) -> StatusGroup {
        match self.0 {
            202 => StatusGroup::Challenged,
            402 => StatusGroup::PaymentRequired,
            200..=299 => StatusGroup::Ok,
            304 => StatusGroup::NotModified,
            300..=399 => StatusGroup::Redirected,
            401 | 403 | 429 | 451 => StatusGroup::Refused,
            404 | 410 => StatusGroup::NotFound,
            400..=499 => StatusGroup::OtherClientError,
            500..=599 => StatusGroup::ServerError,
            _ => StatusGroup::Other,
        }
    }
}

impl TryFrom<u16> for StatusCode {
    type Error = String;

    fn try_from(status: u16) -> Result<StatusCode, String> {
        let code = StatusCode::of(status);
        (code.0 == status).then_some(code).ok_or_else(|| format!("{status} is not a status"))
    }
}

/// Requests by status; none in tallies that did not count them.
pub(crate) type ByStatus = ShortMap<StatusCode, Answered>;

impl Measure for ByStatus {
    fn add(&mut self, of_kind: &RequestsOfKind) {
        let RequestsOfKind { kind, requests, bytes, .. } = *of_kind;
        self.entry(StatusCode::of(kind.status)).absorb(Answered { requests, bytes });
    }

    fn holds(&self, all: &AllRequests) -> bool {
        requests(self).is_some_and(|answers| answers <= all.total.requests)
    }
}

/// Requests of all statuses; `None` if their sum cannot be.
fn requests(by_status: &ByStatus) -> Option<u64> {
    by_status.values().try_fold(0u64, |sum, of| sum.checked_add(of.requests))
}

measure_table! {
    /// Requests by status.
    pub(crate) const TABLE: ByStatus = "statuses.csv", "each origin, crawler, identity and HTTP status";
    rows of => of.iter();
    (code, answered) => {
        let all = requests(of).unwrap_or_default();
    }
    cells row => {
        column("status", "HTTP status", "status of the answers, 100 to 599; empty for any other, such as 000, and for requests without an answer") => row.maybe_counts(code.number().map(|number| [number])),
        column("status_group", "ok, not-modified, redirected, refused, payment-required, challenged, not-found, other-client-error, server-error, other", "`ok`: 200 to 299 without 202; `not-modified`: 304; `redirected`: other 3xx; `refused`: 401, 403, 429, 451; `payment-required`: 402; `challenged`: 202, which AWS WAF answers to a client that must solve a task first, but which may also be the answer of an application; other firewalls challenge with 403 or 503, which count as `refused` and `server-error`; `not-found`: 404, 410; `other-client-error`: other 4xx; `server-error`: 5xx; `other`: the rest") => row.word(code.group().as_str()),
        REQUESTS => row.counts([answered.requests]),
        column("share", "fraction, 6 decimals", "requests / all requests of this crawler and identity at this origin") => row.fraction(answered.requests, all),
        BYTES => row.counts([answered.bytes]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file may come from a stranger.
    #[test]
    fn a_file_has_no_other_numbers() {
        for (text, is_status) in [("0", true), ("100", true), ("599", true), ("99", false)] {
            assert_eq!(serde_json::from_str::<StatusCode>(text).is_ok(), is_status, "{text}");
        }
        assert!(serde_json::from_str::<StatusCode>("600").is_err());
    }
}
