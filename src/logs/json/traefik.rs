//! Traefik's access log in JSON.
//!
//! `RequestPath` is the request URI, query included. Headers are dropped unless
//! `accessLog.fields.headers` keeps them, and so is the user agent.

use crate::logs::field::RawField;
use crate::logs::field_kind::LogField;
use crate::logs::json::field_paths::Paths;
use crate::logs::reject::Skip;

/// Where the parts stand.
pub const PATHS: &[Paths] = &[
    (LogField::Time, "StartUTC StartLocal time"),
    (LogField::Client, "ClientHost ClientAddr"),
    (LogField::ForwardedFor, "request_X-Forwarded-For"),
    (LogField::Host, "RequestAddr RequestHost"),
    (LogField::Scheme, "RequestScheme"),
    (LogField::Method, "RequestMethod"),
    (LogField::Target, "RequestPath"),
    (LogField::Status, "DownstreamStatus OriginStatus"),
    (LogField::Bytes, "DownstreamContentSize OriginContentSize"),
    (LogField::UserAgent, "request_User-Agent"),
    (LogField::Source, "msg message"),
];

/// Traefik's own log goes to the same stream by default; its lines have a message.
#[inline]
pub fn skip<'a>(value: impl Fn(LogField) -> RawField<'a>) -> Option<Skip> {
    let is_unset = |part| value(part).raw.is_empty();
    let is_other =
        !is_unset(LogField::Source) && is_unset(LogField::Method) && is_unset(LogField::Target);
    is_other.then_some(Skip::NotAccess)
}
