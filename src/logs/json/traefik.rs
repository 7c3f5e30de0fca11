//! Traefik's access log in JSON.
//!
//! `RequestPath` is the request URI, query included. Headers are dropped unless
//! `accessLog.fields.headers` keeps them, and so is the user agent.

use crate::logs::field::Field;
use crate::logs::field_kind::Part;
use crate::logs::json::Paths;
use crate::logs::reject::Skip;

/// Where the parts stand.
pub const PATHS: &[Paths] = &[
    (Part::Time, &["StartUTC", "StartLocal", "time"]),
    (Part::Client, &["ClientHost", "ClientAddr"]),
    (Part::ForwardedFor, &["request_X-Forwarded-For"]),
    (Part::Host, &["RequestAddr", "RequestHost"]),
    (Part::Scheme, &["RequestScheme"]),
    (Part::Method, &["RequestMethod"]),
    (Part::Target, &["RequestPath"]),
    (Part::Status, &["DownstreamStatus", "OriginStatus"]),
    (Part::Bytes, &["DownstreamContentSize", "OriginContentSize"]),
    (Part::UserAgent, &["request_User-Agent"]),
    (Part::Source, &["msg", "message"]),
];

/// Traefik's own log goes to the same stream by default; its lines have a message.
#[inline]
pub fn skip<'a>(value: impl Fn(Part) -> Field<'a>) -> Option<Skip> {
    let is_unset = |part| value(part).raw.is_empty();
    let is_other = !is_unset(Part::Source) && is_unset(Part::Method) && is_unset(Part::Target);
    is_other.then_some(Skip::NotAccess)
}
