//! The formats of JSON logs: where the parts of a request stand in them.

use crate::logs::{field_kind::LogField, reject::Skip};

/// The paths to one field, the best first, with spaces between.
pub type Paths = (LogField, &'static str);

/// Who writes the lines, as far as it matters beyond the names of keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JsonDialect {
    /// Whoever writes keys that somebody chose: see `COMMON_NAMES`.
    CommonNames,
    /// Caddy, other loggers of which write to the same stream: see `CADDY`.
    Caddy,
    /// Traefik: see `TRAEFIK`.
    Traefik,
    /// Cloudflare Logpush, with requests that Cloudflare made itself: see `CLOUDFLARE`.
    Cloudflare,
    /// Google Cloud Logging, with entries of other services: see `GOOGLE_CLOUD`.
    GoogleCloud,
}

impl JsonDialect {
    /// Where the parts stand.
    pub fn paths(self) -> &'static [Paths] {
        match self {
            JsonDialect::CommonNames => COMMON_NAMES,
            JsonDialect::Caddy => CADDY,
            JsonDialect::Traefik => TRAEFIK,
            JsonDialect::Cloudflare => CLOUDFLARE,
            JsonDialect::GoogleCloud => GOOGLE_CLOUD,
        }
    }

    /// Why a line of the same stream is nobody's request to us; `value` gives a part as it stands.
    #[inline]
    pub fn skip<'a>(self, value: impl Fn(LogField) -> &'a [u8]) -> Option<Skip> {
        let source = value(LogField::Source);
        let is_unset = |part| value(part).is_empty();
        let is_other = match self {
            JsonDialect::CommonNames => false,
            // Other loggers write to the same stream; that of errors and that of the reverse proxy
            // repeat requests.
            JsonDialect::Caddy if source.is_empty() => is_unset(LogField::Target),
            JsonDialect::Caddy => !source.starts_with(b"http.log.access"),
            // Traefik's own log goes to the same stream by default; its lines have a message.
            JsonDialect::Traefik => {
                !source.is_empty() && is_unset(LogField::Method) && is_unset(LogField::Target)
            }
            // Requests that Cloudflare made itself: fetches of Workers, health checks, purges.
            // Visitors' are `eyeball`, and `orangeToOrange` where they came through another
            // customer's zone.
            JsonDialect::Cloudflare => {
                const VISITORS: [&[u8]; 4] = [b"", b"eyeball", b"orangeToOrange", b"unknown"];
                return (!VISITORS.contains(&source)).then_some(Skip::Subrequest);
            }
            // Entries of other services have no request.
            JsonDialect::GoogleCloud => {
                !source.is_empty() && is_unset(LogField::Method) && is_unset(LogField::Url)
            }
        };
        is_other.then_some(Skip::NotAccess)
    }

    /// What a line says of its encryption where the part of the scheme says `raw`: of Caddy's it is
    /// the version of TLS, which is a number, or the header; without both it was not encrypted.
    #[inline]
    pub fn scheme(self, raw: &[u8]) -> &[u8] {
        match raw.first() {
            _ if self != JsonDialect::Caddy => raw,
            None => b"http",
            Some(b'0'..=b'9') => b"https",
            Some(_) => raw,
        }
    }
}

/// Keys that an administrator chose: nginx, Apache, ingress-nginx, Envoy, Fastly.
///
/// nginx writes what `log_format` says, Apache what `LogFormat` says; the names below are those of
/// the servers' own variables and those that published configurations use. Where several stand
/// in one line, what was sent goes before what the server made of it (`$request_uri` before
/// `$uri`), the server's clock before a shipper's (`@timestamp`).
///
/// nginx with `escape=json` (since 1.11.8) leaves an unset variable empty; without, it writes
/// `-`, and `\xHH` for bytes that it escapes, which JSON does not know.
const COMMON_NAMES: &[Paths] = &[
    (
        LogField::Time,
        "time_iso8601 time_local msec start_time request_time_iso8601 timestamp_iso8601 time \
         timestamp ts datetime date_time @timestamp date",
    ),
    (
        LogField::Client,
        "remote_addr remote_ip remoteIP remoteip remote_address remote_host remoteHost client_ip \
         clientip client_addr client_address client ip ip_address downstream_remote_address \
         source.ip source.address client.ip client.address",
    ),
    (
        LogField::ForwardedFor,
        "http_x_forwarded_for x_forwarded_for x-forwarded-for forwarded_for \
         proxy_add_x_forwarded_for xff",
    ),
    (
        LogField::Host,
        "http_host host vhost virtual_host authority server_name servername serverName \
         request_host domain url.domain http.request.host",
    ),
    (LogField::Port, "server_port port url.port"),
    (
        LogField::Scheme,
        "scheme http_x_forwarded_proto x_forwarded_proto request_scheme https url.scheme",
    ),
    (
        LogField::Method,
        "request_method method verb http_method request_type requestMethod http.request.method",
    ),
    (LogField::Request, "request request_line requestLine first_line http_request"),
    (LogField::Target, "request_uri requestUri requesturi request_url target url.original"),
    (LogField::Url, "url request_full_uri full_url url.full"),
    (LogField::Path, "path uri request_path uri_path document_uri url.path"),
    (LogField::Query, "args query_string query request_query uri_query url.query"),
    (
        LogField::Status,
        "status status_code statusCode response_code response_status response http_status code \
         http.response.status_code",
    ),
    (
        LogField::Bytes,
        "body_bytes_sent bytes_sent bytes bytesSent response_size response_body_size size length \
         http.response.body.bytes http.response.bytes",
    ),
    (
        LogField::UserAgent,
        "http_user_agent user_agent userAgent useragent user-agent User-Agent request_user_agent \
         agent ua user_agent.original",
    ),
];

/// Caddy's access log. `remote_addr` is that of versions before 2.5, `client_ip` (the client behind
/// trusted proxies) of 2.7 and later.
///
/// The time is seconds with a fraction, or what the encoder's `time_format` says. Headers stand
/// under their canonical names, each with a list of values. A request was encrypted where it has
/// `tls`; behind a proxy the header tells.
const CADDY: &[Paths] = &[
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

/// Traefik's access log in JSON.
///
/// `RequestPath` is the request URI, query included. Headers are dropped unless
/// `accessLog.fields.headers` keeps them, and so is the user agent.
const TRAEFIK: &[Paths] = &[
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

/// Cloudflare Logpush, data set HTTP requests.
///
/// A customer selects the fields, so any may be missing; times are RFC 3339, seconds or
/// nanoseconds, as the job says. `ClientRequestURI` is path and query, `ClientRequestPath` the
/// path alone.
const CLOUDFLARE: &[Paths] = &[
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

/// Log entries of Google Cloud's load balancers, and of others that fill `httpRequest`.
///
/// The URL is absolute, with host and scheme. A load balancer may be told to log a sample only.
const GOOGLE_CLOUD: &[Paths] = &[
    (LogField::Time, "timestamp receiveTimestamp"),
    (LogField::Client, "httpRequest.remoteIp"),
    (LogField::Method, "httpRequest.requestMethod"),
    (LogField::Url, "httpRequest.requestUrl"),
    (LogField::Status, "httpRequest.status"),
    (LogField::Bytes, "httpRequest.responseSize"),
    (LogField::UserAgent, "httpRequest.userAgent"),
    (LogField::Source, "logName"),
];
