//! JSON with keys that an administrator chose: nginx, Apache, ingress-nginx, Envoy, Fastly.
//!
//! nginx writes what `log_format` says, Apache what `LogFormat` says; the names below are those of
//! the servers' own variables and those that published configurations use. Where several stand
//! in one line, what was sent goes before what the server made of it (`$request_uri` before
//! `$uri`), the server's clock before a shipper's (`@timestamp`).
//!
//! nginx with `escape=json` (since 1.11.8) leaves an unset variable empty; without, it writes
//! `-`, and `\xHH` for bytes that it escapes, which JSON does not know.

use crate::logs::field_kind::LogField;
use crate::logs::json::field_paths::Paths;

/// Where the parts stand.
pub const PATHS: &[Paths] = &[
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
