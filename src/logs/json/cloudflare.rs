//! Cloudflare Logpush, data set HTTP requests.
//!
//! A customer selects the fields, so any may be missing; times are RFC 3339, seconds or
//! nanoseconds, as the job says. `ClientRequestURI` is path and query, `ClientRequestPath` the
//! path alone.

use crate::logs::field::Field;
use crate::logs::field_kind::Part;
use crate::logs::json::Paths;
use crate::logs::reject::Skip;

/// Where the parts stand.
pub const PATHS: &[Paths] = &[
    (Part::Time, &["EdgeStartTimestamp", "EdgeEndTimestamp"]),
    (Part::Client, &["ClientIP"]),
    (Part::ForwardedFor, &["RequestHeaders.x-forwarded-for"]),
    (Part::Host, &["ClientRequestHost"]),
    (Part::Scheme, &["ClientRequestScheme"]),
    (Part::Method, &["ClientRequestMethod"]),
    (Part::Target, &["ClientRequestURI"]),
    (Part::Path, &["ClientRequestPath"]),
    (Part::Status, &["EdgeResponseStatus"]),
    (Part::Bytes, &["EdgeResponseBytes"]),
    (Part::UserAgent, &["ClientRequestUserAgent"]),
    (Part::Source, &["ClientRequestSource"]),
];

/// Requests that Cloudflare made itself: fetches of Workers, health checks, purges. Visitors'
/// are `eyeball`, and `orangeToOrange` where they came through another customer's zone.
#[inline]
pub fn skip<'a>(value: impl Fn(Part) -> Field<'a>) -> Option<Skip> {
    const VISITORS: [&[u8]; 4] = [b"", b"eyeball", b"orangeToOrange", b"unknown"];
    let source = value(Part::Source).raw;
    (!VISITORS.contains(&source)).then_some(Skip::Subrequest)
}
