//! Log entries of Google Cloud's load balancers, and of others that fill `httpRequest`.
//!
//! The URL is absolute, with host and scheme. A load balancer may be told to log a sample only.

use crate::logs::field::RawField;
use crate::logs::field_kind::LogField;
use crate::logs::json::field_paths::Paths;
use crate::logs::reject::Skip;

/// Where the parts stand.
pub const PATHS: &[Paths] = &[
    (LogField::Time, "timestamp receiveTimestamp"),
    (LogField::Client, "httpRequest.remoteIp"),
    (LogField::Method, "httpRequest.requestMethod"),
    (LogField::Url, "httpRequest.requestUrl"),
    (LogField::Status, "httpRequest.status"),
    (LogField::Bytes, "httpRequest.responseSize"),
    (LogField::UserAgent, "httpRequest.userAgent"),
    (LogField::Source, "logName"),
];

/// Entries of other services have no request.
#[inline]
pub fn skip<'a>(value: impl Fn(LogField) -> RawField<'a>) -> Option<Skip> {
    let is_unset = |part| value(part).raw.is_empty();
    let is_other =
        !is_unset(LogField::Source) && is_unset(LogField::Method) && is_unset(LogField::Url);
    is_other.then_some(Skip::NotAccess)
}
