//! Caddy's access log.
//!
//! The time is seconds with a fraction, or what the encoder's `time_format` says. Headers stand
//! under their canonical names, each with a list of values. A request was encrypted where it has
//! `tls`; behind a proxy the header tells.

use crate::logs::field::RawField;
use crate::logs::field_kind::LogField;
use crate::logs::json::field_paths::Paths;
use crate::logs::reject::Skip;

/// Where the parts stand. `remote_addr` is that of versions before 2.5, `client_ip` (the client
/// behind trusted proxies) of 2.7 and later.
pub const PATHS: &[Paths] = &[
    (LogField::Time, "ts time timestamp"),
    (LogField::Client, "request.client_ip request.remote_ip request.remote_addr"),
    (LogField::ForwardedFor, "request.headers.X-Forwarded-For"),
    (LogField::Host, "request.host"),
    (LogField::Scheme, "request.tls.version request.headers.X-Forwarded-Proto"),
    (LogField::Method, "request.method"),
    (LogField::Target, "request.uri"),
    (LogField::Status, "status"),
    (LogField::Bytes, "size"),
    (LogField::UserAgent, "request.headers.User-Agent"),
    (LogField::Source, "logger"),
];

/// From the version of TLS, which is a number, or the header; without both it was not encrypted.
#[inline]
pub fn scheme(raw: &[u8]) -> &[u8] {
    match raw.first() {
        None => b"http",
        Some(b'0'..=b'9') => b"https",
        Some(_) => raw,
    }
}

/// Other loggers write to the same stream; that of errors and that of the reverse proxy repeat
/// requests.
#[inline]
pub fn skip<'a>(value: impl Fn(LogField) -> RawField<'a>) -> Option<Skip> {
    let logger = value(LogField::Source).raw;
    let is_access = match logger {
        b"" => !value(LogField::Target).raw.is_empty(),
        _ => logger.starts_with(b"http.log.access"),
    };
    (!is_access).then_some(Skip::NotAccess)
}
