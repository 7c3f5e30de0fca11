//! The formats of JSON logs: the paths of the fields.

use crate::logs::{field_kind::LogField, reject::Skip};

/// The paths of one field, the best first, separated by spaces.
pub(crate) type Paths = (LogField, &'static str);

/// The program that writes the lines, as far as its rules differ.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum JsonDialect {
    /// Programs with configurable keys: see `COMMON_NAMES`.
    CommonNames,
    /// Caddy, whose other loggers write to the same stream: see `CADDY`.
    Caddy,
    /// Caddy's console format, whose time and logger are columns before the object.
    CaddyConsole,
    /// HAProxy with a `log-format` in JSON: see `HAPROXY`.
    Haproxy,
    /// Traefik: see `TRAEFIK`.
    Traefik,
    /// Cloudflare Logpush, including Cloudflare's own requests: see `CLOUDFLARE`.
    Cloudflare,
    /// Google Cloud Logging, including entries of other services: see `GOOGLE_CLOUD`.
    GoogleCloud,
    /// Azure's diagnostic settings, with other categories of logs: see `AZURE`.
    Azure,
    /// Akamai DataStream 2: see `AKAMAI`.
    Akamai,
    /// AWS WAF: see `AWS_WAF`.
    AwsWaf,
    /// An index of a crawl: see `CDXJ`.
    Cdxj,
}

impl JsonDialect {
    /// The paths of the fields.
    pub(crate) fn paths(self) -> &'static [Paths] {
        match self {
            JsonDialect::CommonNames => COMMON_NAMES,
            JsonDialect::Caddy | JsonDialect::CaddyConsole => CADDY,
            JsonDialect::Haproxy => HAPROXY,
            JsonDialect::Traefik => TRAEFIK,
            JsonDialect::Cloudflare => CLOUDFLARE,
            JsonDialect::GoogleCloud => GOOGLE_CLOUD,
            JsonDialect::Azure => AZURE,
            JsonDialect::Akamai => AKAMAI,
            JsonDialect::AwsWaf => AWS_WAF,
            JsonDialect::Cdxj => CDXJ,
        }
    }

    /// Why a line of the same stream is not a client's request; `value` returns a field as written.
    #[inline]
    pub(crate) fn skip<'a>(self, value: impl Fn(LogField) -> &'a [u8]) -> Option<Skip> {
        let source = value(LogField::Source);
        let is_unset = |part| value(part).is_empty();
        let is_other = match self {
            JsonDialect::CommonNames
            | JsonDialect::Haproxy
            | JsonDialect::Akamai
            | JsonDialect::AwsWaf
            | JsonDialect::Cdxj => false,
            // Other loggers write to the same stream; those for errors and for the reverse proxy
            // repeat requests.
            JsonDialect::Caddy if source.is_empty() => is_unset(LogField::Target),
            JsonDialect::Caddy | JsonDialect::CaddyConsole => {
                !source.starts_with(b"http.log.access")
            }
            // By default, Traefik's own log goes to the same stream; its lines have a message.
            JsonDialect::Traefik => {
                !source.is_empty() && is_unset(LogField::Method) && is_unset(LogField::Target)
            }
            // Cloudflare's own requests: fetches of Workers, health checks, purges. Requests of
            // visitors have `eyeball`, or `orangeToOrange` if they came through the zone of another
            // customer.
            JsonDialect::Cloudflare => {
                const VISITORS: [&[u8]; 4] = [b"", b"eyeball", b"orangeToOrange", b"unknown"];
                return (!VISITORS.contains(&source)).then_some(Skip::Subrequest);
            }
            // Entries of other services have no request.
            JsonDialect::GoogleCloud => {
                !source.is_empty() && is_unset(LogField::Method) && is_unset(LogField::Url)
            }
            // Those of firewalls repeat the URLs of requests.
            JsonDialect::Azure => !source.is_empty() && is_unset(LogField::Method),
        };
        is_other.then_some(Skip::NotAccess)
    }

    /// The scheme, if the field of the scheme is `raw`. For Caddy, the field is the version of TLS,
    /// which is a number, or the header; without both, the request was not encrypted. For Akamai, it
    /// is `HTTPS` with the version of HTTP.
    #[inline]
    pub(crate) fn scheme(self, raw: &[u8]) -> &[u8] {
        match raw.first() {
            _ if self == JsonDialect::Akamai => {
                raw.split(|&byte| byte == b'/').next().unwrap_or(raw)
            }
            _ if !matches!(self, JsonDialect::Caddy | JsonDialect::CaddyConsole) => raw,
            None => b"http",
            Some(b'0'..=b'9') => b"https",
            Some(_) => raw,
        }
    }
}

/// Keys that an administrator chose: nginx, Apache, ingress-nginx, Envoy, Fastly.
///
/// nginx uses the keys in `log_format`, Apache those in `LogFormat`. The names below are the
/// servers' own variables and names from published configurations. If a line has several of them,
/// the value as sent precedes the processed one (`$request_uri` before `$uri`), and the server's
/// time precedes a log shipper's (`@timestamp`).
///
/// nginx with `escape=json` (since 1.11.8) leaves an unset variable empty. Without it, nginx writes
/// `-`, and `\xHH` for escaped bytes, which is not valid JSON.
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
         request_host :authority domain url.domain http.request.host",
    ),
    (LogField::Port, "server_port port url.port"),
    (
        LogField::Scheme,
        "scheme http_x_forwarded_proto x_forwarded_proto request_scheme https url.scheme",
    ),
    (
        LogField::Method,
        "request_method method verb http_method request_type requestMethod http.request.method \
         :method",
    ),
    (LogField::Request, "request request_line requestLine first_line http_request"),
    (
        LogField::Target,
        "request_uri requestUri requesturi request_url x-envoy-origin-path \
         x-envoy-original-path target url.original",
    ),
    (LogField::Url, "url request_full_uri full_url url.full"),
    (LogField::Path, "path uri request_path uri_path document_uri url.path :path"),
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
    (
        LogField::Referer,
        "http_referer http_referrer referer referrer Referer Referrer request_referer \
         http.request.referrer",
    ),
    (
        LogField::SignatureAgent,
        "http_signature_agent signature_agent signature-agent Signature-Agent",
    ),
    (
        LogField::SignatureInput,
        "http_signature_input signature_input signature-input Signature-Input",
    ),
    (LogField::Signature, "http_signature signature Signature"),
];

/// Caddy's access log. `remote_addr` exists before version 2.5, `client_ip` (the client behind
/// trusted proxies) from 2.7 on.
///
/// The time is seconds with a fraction, or has the encoder's `time_format`. Headers have their
/// canonical names, each with a list of values. A request was encrypted if it has `tls`; behind a
/// proxy, a header says so.
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
    (LogField::Referer, "request.headers.Referer"),
    (LogField::SignatureAgent, "request.headers.Signature-Agent"),
    (LogField::SignatureInput, "request.headers.Signature-Input"),
    (LogField::Signature, "request.headers.Signature"),
    (LogField::Source, "logger"),
];

/// HAProxy has no JSON of its own: administrators write it in `log-format`, with names from
/// published configurations. `server_name` (`%s`) is a server behind HAProxy, not a host. Times
/// (`%t`, `%tr`) have no zone; `%Ts` is in seconds since 1970.
const HAPROXY: &[Paths] = &[
    (
        LogField::Time,
        "accept_date request_date request_time_iso8601 time_iso8601 timestamp time date_time \
         datetime @timestamp date ts",
    ),
    (LogField::Client, "client_ip remote_addr client_addr client_address clientip client src ip"),
    (LogField::ForwardedFor, "x_forwarded_for x-forwarded-for http_x_forwarded_for xff"),
    (
        LogField::Host,
        "http_host host request_host req_host http_request_host header_host vhost hdr_host domain",
    ),
    (LogField::Scheme, "scheme request_scheme"),
    (LogField::Method, "http_method method request_method http_request_method verb"),
    (LogField::Request, "http_request request request_line"),
    (LogField::Target, "request_uri http_uri http_request_uri uri url"),
    (
        LogField::Path,
        "http_path path request_path http_request_path http_request_path_without_query",
    ),
    (LogField::Query, "http_query query query_string http_query_string http_request_query_string"),
    (LogField::Status, "status_code http_status http_status_code status response_code"),
    (LogField::Bytes, "bytes_read bytes_sent bytes response_size"),
    (
        LogField::UserAgent,
        "user_agent http_user_agent useragent userAgent user-agent ua http_request_user_agent \
         header_user_agent agent",
    ),
    (LogField::Referer, "referer http_referer referrer"),
    (LogField::SignatureAgent, "signature_agent http_signature_agent"),
    (LogField::SignatureInput, "signature_input http_signature_input"),
    (LogField::Signature, "signature http_signature"),
];

/// Traefik's access log in JSON.
///
/// `RequestPath` is the request URI with the query. Headers, including the user agent, are dropped
/// unless `accessLog.fields.headers` keeps them.
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
    (LogField::Referer, "request_Referer"),
    (LogField::SignatureAgent, "request_Signature-Agent"),
    (LogField::SignatureInput, "request_Signature-Input"),
    (LogField::Signature, "request_Signature"),
    (LogField::Source, "msg message"),
];

/// Cloudflare Logpush, data set HTTP requests.
///
/// A customer selects the fields, so any may be missing. The job's settings decide whether times
/// are RFC 3339, seconds or nanoseconds. `ClientRequestURI` is path and query, `ClientRequestPath`
/// the path alone.
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
    (LogField::Referer, "ClientRequestReferer"),
    (LogField::SignatureAgent, "RequestHeaders.signature-agent"),
    (LogField::SignatureInput, "RequestHeaders.signature-input"),
    (LogField::Signature, "RequestHeaders.signature"),
    (LogField::Source, "ClientRequestSource"),
];

/// The index of a crawl in CDXJ, as pywb and Common Crawl write it; the time is a column. `method`
/// exists for requests other than GET. `user_agent` and `bytes` are in the lines that
/// `src/input/warc_lines.rs` makes. The offset of the record has the place of the logger in other dialects.
const CDXJ: &[Paths] = &[
    (LogField::Url, "url"),
    (LogField::Method, "method"),
    (LogField::Status, "status"),
    (LogField::Bytes, "bytes"),
    (LogField::UserAgent, "user_agent"),
    (LogField::Source, "offset"),
];

/// Log entries of Google Cloud's load balancers, and of other services that fill `httpRequest`.
///
/// The URL is absolute, with host and scheme. A load balancer may be configured to log only a
/// sample.
const GOOGLE_CLOUD: &[Paths] = &[
    (LogField::Time, "timestamp receiveTimestamp"),
    (LogField::Client, "httpRequest.remoteIp"),
    (LogField::Method, "httpRequest.requestMethod"),
    (LogField::Url, "httpRequest.requestUrl"),
    (LogField::Status, "httpRequest.status"),
    (LogField::Bytes, "httpRequest.responseSize"),
    (LogField::UserAgent, "httpRequest.userAgent"),
    (LogField::Referer, "httpRequest.referer"),
    (LogField::Source, "logName"),
];

/// The access logs of Azure Front Door, Application Gateway and App Service. Front Door has the absolute URL,
/// Application Gateway the target as the client sent it; App Service has the path, and the same keys with or without
/// `properties`.
const AZURE: &[Paths] = &[
    (LogField::Time, "time TimeGenerated timeStamp"),
    (LogField::Client, "properties.clientIp properties.clientIP properties.CIp CIp"),
    (
        LogField::Host,
        "properties.hostName properties.originalHost properties.host properties.CsHost CsHost",
    ),
    (LogField::Scheme, "properties.sslEnabled"),
    (LogField::Target, "properties.originalRequestUriWithArgs"),
    (LogField::Port, "properties.SPort SPort"),
    (LogField::Method, "properties.httpMethod properties.CsMethod CsMethod"),
    (LogField::Url, "properties.requestUri"),
    (LogField::Path, "properties.CsUriStem CsUriStem"),
    (LogField::Query, "properties.CsUriQuery CsUriQuery"),
    (
        LogField::Status,
        "properties.httpStatusCode properties.httpStatus properties.ScStatus ScStatus",
    ),
    (LogField::Bytes, "properties.responseBytes properties.sentBytes properties.ScBytes ScBytes"),
    (LogField::UserAgent, "properties.userAgent properties.UserAgent UserAgent"),
    (LogField::Referer, "properties.referer properties.Referer Referer"),
    (LogField::Source, "category"),
];

/// Akamai DataStream 2. The path has no first slash, and user agent and Referer are percent-encoded.
const AKAMAI: &[Paths] = &[
    (LogField::Time, "reqTimeSec"),
    (LogField::Client, "cliIP"),
    (LogField::ForwardedFor, "xForwardedFor"),
    (LogField::Host, "reqHost"),
    (LogField::Port, "reqPort"),
    (LogField::Scheme, "proto"),
    (LogField::Method, "reqMethod"),
    (LogField::Path, "reqPath"),
    (LogField::Query, "queryStr"),
    (LogField::Status, "statusCode"),
    (LogField::Bytes, "bytes totalBytes"),
    (LogField::UserAgent, "UA"),
    (LogField::Referer, "referer"),
];

/// AWS WAF's log of a web ACL. Headers and labels are lists of objects with a `name`: `*NAME` stands
/// for the one with this name, in lower case (see `KeyTree::pair`).
///
/// A status is there only if a rule answered with one of its own. Labels say what Bot Control found.
const AWS_WAF: &[Paths] = &[
    (LogField::Time, "timestamp"),
    (LogField::Client, "httpRequest.clientIp"),
    (LogField::ForwardedFor, "httpRequest.headers.*x-forwarded-for"),
    (LogField::Host, "httpRequest.headers.*host httpRequest.host"),
    (LogField::Scheme, "httpRequest.scheme httpRequest.headers.*x-forwarded-proto"),
    (LogField::Method, "httpRequest.httpMethod"),
    (LogField::Target, "httpRequest.uri"),
    (LogField::Query, "httpRequest.args"),
    (LogField::Status, "responseCodeSent"),
    (LogField::UserAgent, "httpRequest.headers.*user-agent"),
    (LogField::Referer, "httpRequest.headers.*referer"),
    (LogField::SignatureAgent, "httpRequest.headers.*signature-agent"),
    (LogField::SignatureInput, "httpRequest.headers.*signature-input"),
    (LogField::Signature, "httpRequest.headers.*signature"),
    (
        LogField::EdgeSignature,
        "labels.*awswaf:managed:aws:bot-control:web_bot_auth:verified \
         labels.*awswaf:managed:aws:bot-control:web_bot_auth:invalid \
         labels.*awswaf:managed:aws:bot-control:web_bot_auth:expired \
         labels.*awswaf:managed:aws:bot-control:web_bot_auth:unknown_bot",
    ),
];
