//! Log entries of Google Cloud's load balancers, and of others that fill `httpRequest`.
//!
//! The URL is absolute, with host and scheme. A load balancer may be told to log a sample only.

use crate::logs::field::Field;
use crate::logs::field_kind::Part;
use crate::logs::json::Paths;
use crate::logs::reject::Skip;

/// Where the parts stand.
pub const PATHS: &[Paths] = &[
    (Part::Time, &["timestamp", "receiveTimestamp"]),
    (Part::Client, &["httpRequest.remoteIp"]),
    (Part::Method, &["httpRequest.requestMethod"]),
    (Part::Url, &["httpRequest.requestUrl"]),
    (Part::Status, &["httpRequest.status"]),
    (Part::Bytes, &["httpRequest.responseSize"]),
    (Part::UserAgent, &["httpRequest.userAgent"]),
    (Part::Source, &["logName"]),
];

/// Entries of other services have no request.
#[inline]
pub fn skip<'a>(value: impl Fn(Part) -> Field<'a>) -> Option<Skip> {
    let is_unset = |part| value(part).raw.is_empty();
    let is_other = !is_unset(Part::Source) && is_unset(Part::Method) && is_unset(Part::Url);
    is_other.then_some(Skip::NotAccess)
}
