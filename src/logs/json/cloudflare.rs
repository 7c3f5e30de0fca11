//! Cloudflare Logpush, data set HTTP requests.
//!
//! A customer selects the fields, so any may be missing; times are RFC 3339, seconds or
//! nanoseconds, as the job says. `ClientRequestURI` is path and query, `ClientRequestPath` the
//! path alone.

use crate::logs::field::RawField;
use crate::logs::field_kind::LogField;
use crate::logs::json::field_paths::Paths;
use crate::logs::reject::Skip;

/// Where the parts stand.
pub const PATHS: &[Paths] = &[
    (LogField::Time, "EdgeStartTimestamp EdgeEndTimestamp"),
    (LogField::Client, "ClientIP"),
    (LogField::ForwardedFor, "RequestHeaders.x-forwarded-for"),
    (LogField::Host, "ClientRequestHost"),
    (LogField::Scheme, "ClientRequestScheme"),
    (LogField::Method, "ClientRequestMethod"),
    (LogField::Target, "ClientRequestURI"),
    (LogField::Path, "ClientRequestPath"),
    (LogField::Status, "EdgeResponseStatus"),
    (LogField::Bytes, "EdgeResponseBytes"),
    (LogField::UserAgent, "ClientRequestUserAgent"),
    (LogField::Source, "ClientRequestSource"),
];

/// Requests that Cloudflare made itself: fetches of Workers, health checks, purges. Visitors'
/// are `eyeball`, and `orangeToOrange` where they came through another customer's zone.
#[inline]
pub fn skip<'a>(value: impl Fn(LogField) -> RawField<'a>) -> Option<Skip> {
    const VISITORS: [&[u8]; 4] = [b"", b"eyeball", b"orangeToOrange", b"unknown"];
    let source = value(LogField::Source).raw;
    (!VISITORS.contains(&source)).then_some(Skip::Subrequest)
}
