//! The request field: method, target, version.

use botaudit_robots::named_enum;
use memchr::{memmem, memrchr};
use serde::{Deserialize, Serialize};

use super::{field::find_near, reject::Reject};

/// A request line; its target is as logged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Request<'a> {
    /// A token; a lone `-` if there was no request.
    pub method: &'a [u8],
    /// `None` if a connection was opened without a request.
    pub target: Option<&'a [u8]>,
}

/// Splits a request line. Everything between method and version is the target, including spaces.
/// Only a target in a known form may lack the version, as in HTTP/0.9.
#[inline]
pub(crate) fn parse(raw: &[u8]) -> Result<Request<'_>, Reject> {
    match usual(raw) {
        Some(request) => Ok(request),
        None => parse_any(raw),
    }
}

/// The usual methods with the space after them.
const METHODS: [&[u8]; 3] = [b"GET ", b"POST ", b"HEAD "];

/// Nearly all requests: a usual method, a path, and a version.
#[inline(always)]
pub(super) fn usual(raw: &[u8]) -> Option<Request<'_>> {
    let is_usual = |method: &&[u8]| raw.starts_with(method) && raw.get(method.len()) == Some(&b'/');
    let method = METHODS.into_iter().find(is_usual)?;
    let target = before_version(&raw[method.len()..])?;
    Some(Request { method: &method[..method.len() - 1], target: Some(target) })
}

fn parse_any(raw: &[u8]) -> Result<Request<'_>, Reject> {
    let raw = trim_spaces(raw);
    if raw.iter().all(|byte| matches!(byte, b'-' | b' ')) {
        return Ok(Request { method: b"-", target: None });
    }
    let space = find_near(b' ', raw).ok_or(Reject::BadRequest)?;
    let (method, rest) = (&raw[..space], trim_spaces(&raw[space..]));
    if method == b"-" && rest.starts_with(b"- ") {
        return Ok(Request { method: b"-", target: None });
    }
    if !is_method(method) {
        return Err(Reject::BadRequest);
    }
    if let Some(target) = before_version(rest) {
        return Ok(Request { method, target: Some(target) });
    }
    let last = memrchr(b' ', rest).map_or(0, |space| space + 1);
    let target = match protocol(&rest[last..]) {
        Protocol::Http => trim_spaces(&rest[..last]),
        Protocol::None if is_target(method, rest) => rest,
        Protocol::None | Protocol::Other => b"",
    };
    if target.is_empty() {
        return Err(Reject::BadRequest);
    }
    Ok(Request { method, target: Some(target) })
}

/// The target, if the version is written as usual.
#[inline(always)]
fn before_version(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [target @ .., last, b' ', b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9']
            if *last != b' ' =>
        {
            Some(&rest[..target.len() + 1])
        }
        _ => None,
    }
}

/// A request in separate fields. If a target has no method, the log did not record it.
pub(crate) fn of_parts<'a>(method: &'a [u8], target: &'a [u8]) -> Result<Request<'a>, Reject> {
    let is_unset = |part: &[u8]| matches!(part, b"" | b"-");
    match (is_unset(method), is_unset(target)) {
        (true, true) => Ok(Request { method: b"-", target: None }),
        (_, true) => Err(Reject::BadRequest),
        (true, false) => Ok(Request { method: b"-", target: Some(target) }),
        (false, false) if is_method(method) => Ok(Request { method, target: Some(target) }),
        (false, false) => Err(Reject::BadRequest),
    }
}

/// Whether it is a token (RFC 9110 section 5.6.2). Servers write `-` for no method.
fn is_method(token: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    token.first().is_some_and(|&byte| byte != b'-') && token.iter().all(is_part)
}

enum Protocol {
    Http,
    /// `RTSP/1.0` and similar.
    Other,
    None,
}

fn protocol(token: &[u8]) -> Protocol {
    let name = token.split(|&byte| byte == b'/').next().unwrap_or_default();
    let is_named = !name.is_empty() && name.len() < token.len();
    let has_version = token.get(name.len() + 1).is_some_and(u8::is_ascii_digit);
    if is_named && name.eq_ignore_ascii_case(b"http") {
        Protocol::Http
    } else if is_named && has_version && name.iter().all(u8::is_ascii_uppercase) {
        Protocol::Other
    } else {
        Protocol::None
    }
}

/// Whether this is a target even without a version (RFC 9112 section 3.2), and not the second word
/// of another protocol.
fn is_target(method: &[u8], target: &[u8]) -> bool {
    target.starts_with(b"/")
        || target == b"*"
        || method == b"CONNECT"
        || memmem::find(target, b"://").is_some()
}

fn trim_spaces(mut bytes: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] | [rest @ .., b' '] = bytes {
        bytes = rest;
    }
    bytes
}

named_enum! {
    /// A method of RFC 9110 section 9 or RFC 5789. Methods are case-sensitive, and any client can
    /// invent one, so all others are one.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum Method {
        /// Asks for the resource.
        Get = "GET",
        /// Asks for its header only.
        Head = "HEAD",
        /// Sends data to it.
        Post = "POST",
        /// Replaces it.
        Put = "PUT",
        /// Removes it.
        Delete = "DELETE",
        /// Opens a tunnel.
        Connect = "CONNECT",
        /// Asks what can be done with it.
        Options = "OPTIONS",
        /// Asks for the request itself.
        Trace = "TRACE",
        /// Changes it.
        Patch = "PATCH",
        /// Any other, or none.
        Other = "other",
    }
}

impl Method {
    /// The method that a log names.
    #[inline]
    pub(crate) fn of(method: &[u8]) -> Method {
        match method {
            b"GET" => Method::Get,
            b"HEAD" => Method::Head,
            b"POST" => Method::Post,
            b"PUT" => Method::Put,
            b"DELETE" => Method::Delete,
            b"CONNECT" => Method::Connect,
            b"OPTIONS" => Method::Options,
            b"TRACE" => Method::Trace,
            b"PATCH" => Method::Patch,
            _ => Method::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, expected: Option<(&str, Option<&str>)>) {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        let found = parse(raw.as_bytes());
        let found = found.ok().map(|request| (text(request.method), request.target.map(text)));
        assert_eq!(found, expected, "{raw}");
    }

    #[test]
    fn methods_targets_and_versions() {
        check("GET / HTTP/1.1", Some(("GET", Some("/"))));
        check("POST //wp-admin/x?y HTTP/2.0", Some(("POST", Some("//wp-admin/x?y"))));
        check("GET http://other.host/x HTTP/1.1", Some(("GET", Some("http://other.host/x"))));
        check("CONNECT host:443 HTTP/1.1", Some(("CONNECT", Some("host:443"))));
        check("OPTIONS * HTTP/1.0", Some(("OPTIONS", Some("*"))));
        check("M-SEARCH * HTTP/1.1", Some(("M-SEARCH", Some("*"))));
        check("SSTP_DUPLEX_POST /sra_{x}/ HTTP/1.1", Some(("SSTP_DUPLEX_POST", Some("/sra_{x}/"))));
        check("get / HTTP/1.1", Some(("get", Some("/"))));
        check("GET index.html HTTP/1.0", Some(("GET", Some("index.html"))));
    }

    /// Requests that are nearly usual, with each byte replaced, and with one more at each place.
    #[test]
    fn the_fast_path_gives_what_the_slow_one_does() {
        let mut count = 0;
        for usual_one in ["GET /a HTTP/1.1", "POST /a b HTTP/2.0", "HEAD / HTTP/1.0"] {
            for at in 0..=usual_one.len() {
                for byte in *b" -/GPT1.a" {
                    for replaced in 0..2 {
                        let mut raw = usual_one.as_bytes().to_vec();
                        raw.splice(at..(at + replaced).min(raw.len()), [byte]);
                        let shown = raw.escape_ascii();
                        assert_eq!(parse(&raw), parse_any(&raw), "{shown}");
                        count += usize::from(usual(&raw).is_some());
                    }
                }
            }
        }
        assert!(count > 100, "{count}");
    }

    #[test]
    fn spaces_in_the_target_stay() {
        check("GET /a' OR 1=1 -- HTTP/1.1", Some(("GET", Some("/a' OR 1=1 --"))));
        check("GET /a  b  HTTP/1.1", Some(("GET", Some("/a  b"))));
        check("GET /cut off", Some(("GET", Some("/cut off"))));
    }

    #[test]
    fn without_a_version() {
        check("GET /x", Some(("GET", Some("/x"))));
        check("GET http://h/x", Some(("GET", Some("http://h/x"))));
        check("OPTIONS *", Some(("OPTIONS", Some("*"))));
        check("CONNECT h:1", Some(("CONNECT", Some("h:1"))));
    }

    #[test]
    fn nothing_requested() {
        for raw in ["", "-", "- - -", "  ", "- - HTTP/1.1"] {
            check(raw, Some(("-", None)));
        }
    }

    #[test]
    fn other_protocols() {
        for raw in [
            r"\x16\x03\x01\x02",
            r"\x16\x03 \x01 HTTP/1.1",
            "NICK foo",
            "USER a b c d",
            "OPTIONS sip:nm SIP/2.0",
            "OPTIONS / RTSP/1.0",
            "test",
            "GET",
            "GET HTTP/1.1",
            "g@t / HTTP/1.1",
            "- /x HTTP/1.1",
            "t3 12.1.2",
        ] {
            check(raw, None);
        }
    }

    #[test]
    fn methods_are_known_as_sent() {
        for method in Method::ALL.into_iter().filter(|method| *method != Method::Other) {
            assert_eq!(Method::of(method.as_str().as_bytes()), method);
        }
        for other in [&b"get"[..], b"-", b"", b"PROPFIND", b"GETT"] {
            assert_eq!(Method::of(other), Method::Other, "{other:?}");
        }
    }
}
