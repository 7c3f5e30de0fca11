//! The status of an answer, and its group in words.

use serde::{Deserialize, Serialize};

use botaudit_robots::named_enum;

/// A status from 100 to 599, or 0 for any other and for none. So there are at most 501.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "u16")]
pub struct StatusCode(u16);

named_enum! {
    /// What a status means for the owner of a site.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum StatusGroup {
        /// 200 to 299.
        Ok = "ok",
        /// 304.
        NotModified = "not-modified",
        /// 300 to 399 without 304.
        Redirected = "redirected",
        /// 401, 402, 403, 429, 451.
        Refused = "refused",
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
    pub fn of(status: u16) -> StatusCode {
        StatusCode(if (100..=599).contains(&status) { status } else { 0 })
    }

    /// The status, or 0.
    pub fn status(self) -> u16 {
        self.0
    }

    /// The number; `None` outside of 100 to 599.
    pub fn number(self) -> Option<u64> {
        (self.0 > 0).then_some(u64::from(self.0))
    }

    /// Its group.
    pub fn group(self) -> StatusGroup {
        match self.0 {
            200..=299 => StatusGroup::Ok,
            304 => StatusGroup::NotModified,
            300..=399 => StatusGroup::Redirected,
            401 | 402 | 403 | 429 | 451 => StatusGroup::Refused,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A file may have been written by anybody.
    #[test]
    fn a_file_has_no_other_numbers() {
        for (text, is_status) in [("0", true), ("100", true), ("599", true), ("99", false)] {
            assert_eq!(serde_json::from_str::<StatusCode>(text).is_ok(), is_status, "{text}");
        }
        assert!(serde_json::from_str::<StatusCode>("600").is_err());
    }
}
