//! Logs of proxies: HAProxy, Envoy and Squid.
//!
//! HAProxy's HTTP log, without the syslog header:
//!
//! ```text
//! client:port [time] frontend[~] backend/server Tq/Tw/Tc/Tr/Tt status bytes cookie cookie
//! flags connections queues [{request headers}] [{response headers}] "request"
//! ```
//!
//! `~` after the frontend means TLS. Headers are logged only if the configuration captures them, in
//! its order and without names. The time has no zone. The status is -1 if none was sent. For
//! escapes, see `escape.rs`.
//!
//! Envoy's default format, and Istio's, which has more columns:
//!
//! ```text
//! [time] "method path protocol" code flags [details termination "failure"] received sent
//! duration upstream-time "x-forwarded-for" "user agent" "request id" "authority" "upstream" ...
//! ```
//!
//! An unset value is `-`, and code 0 means that the client disconnected (Envoy's documentation of
//! access logging). Nothing is escaped, so a field ends only before the text that must follow it.
//! The client is X-Forwarded-For, an address or a list of them, or unknown.
//!
//! Squid's native format, which has no user agents:
//!
//! ```text
//! time duration client result/status bytes method URL user hierarchy/server type
//! ```

use memchr::{memchr, memmem, memrchr};

use crate::error::{Error, Result};
use crate::time::Zone;

use super::field::{RawField, split_token};
use super::field_kind::client_or_unset;
use super::record::{Fields, RequestFields};
use super::reject::{Limitation, Reject, Skip};
use super::signature::{Rest, SignatureFields};
use super::{LineContent, NoRecord, escape::Escaping, response::ResponseFields, time::Time};

/// The most captured request headers. HAProxy itself has no practical limit.
const CAPTURES_MAX: usize = 64;

/// The positions of the headers in `{a|b|c}`, from 0.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Captures {
    host: Option<usize>,
    user_agent: Option<usize>,
    forwarded_for: Option<usize>,
    referer: Option<usize>,
    signature_agent: Option<usize>,
    signature_input: Option<usize>,
    signature: Option<usize>,
}

impl Captures {
    /// Parses the names of the captured request headers in the order of the configuration, such as
    /// `host,user-agent`.
    ///
    /// # Errors
    /// If a header occurs twice, or there are too many.
    pub fn parse(text: &str) -> Result<Captures> {
        let mut captures = Captures::default();
        for (at, name) in text.split(',').enumerate() {
            let index = match name.trim().to_ascii_lowercase().as_str() {
                "host" => &mut captures.host,
                "user-agent" => &mut captures.user_agent,
                "x-forwarded-for" => &mut captures.forwarded_for,
                "referer" => &mut captures.referer,
                "signature-agent" => &mut captures.signature_agent,
                "signature-input" => &mut captures.signature_input,
                "signature" => &mut captures.signature,
                _ => continue,
            };
            if index.replace(at).is_some() || at >= CAPTURES_MAX {
                return Err(Error::usage(format!(
                    "'{name}' is listed twice, or after {CAPTURES_MAX} others, in the captures \
                     '{text}'; list each captured request header once, in the order of \
                     haproxy.cfg, as in --haproxy-captures host,user-agent"
                )));
            }
        }
        Ok(captures)
    }

    /// Finds the position of the user agent in `head`: most user agents have the same beginning.
    pub(crate) fn detected_from(head: &[&[u8]]) -> Captures {
        let captured = head.iter().filter_map(|line| parts(line).ok()).map(|parts| parts.captured);
        let indexes = captured.filter_map(|captured| {
            captured.split(|&byte| byte == b'|').position(|value| value.starts_with(b"Mozilla/"))
        });
        Captures { user_agent: indexes.take(1).next(), ..Captures::default() }
    }

    /// The limitations of a log with these captures.
    pub(crate) fn limitations(self) -> Vec<Limitation> {
        if self.user_agent.is_none() { vec![Limitation::NoUserAgent] } else { Vec::new() }
    }
}

/// Finds the fields of a line.
pub(crate) fn haproxy_line<'a>(
    captures: Captures,
    line: &'a [u8],
    zone: &'a Zone,
) -> LineContent<'a> {
    let parts = match parts(line) {
        Ok(parts) => parts,
        Err(why) => return why.into(),
    };
    let capture = |index: Option<usize>| {
        let raw = index.and_then(|at| parts.captured.split(|&byte| byte == b'|').nth(at));
        RawField { raw: raw.unwrap_or_default(), escaping: Escaping::Hash }
    };
    let request = match parts.request {
        b"<BADREQ>" => RawField::UNSET,
        raw => RawField { raw, escaping: Escaping::Hash },
    };
    LineContent::Fields(Fields {
        host: capture(captures.host),
        scheme: if parts.frontend.ends_with(b"~") { b"https" } else { b"" },
        client: parts.client,
        forwarded_for: capture(captures.forwarded_for),
        time: Time::Local(parts.time, zone),
        request: RequestFields::Line(request),
        outcome: ResponseFields::Fields { status: parts.status, bytes: parts.bytes },
        user_agent: capture(captures.user_agent),
        referer: capture(captures.referer),
        rest: match captures.signature_input {
            None => Rest::Tail(b""),
            input => SignatureFields {
                agent: capture(captures.signature_agent),
                input: capture(input),
                signature: capture(captures.signature),
                ..SignatureFields::default()
            }
            .of(),
        },
        ..Fields::default()
    })
}

struct Parts<'a> {
    client: &'a [u8],
    time: &'a [u8],
    frontend: &'a [u8],
    status: &'a [u8],
    bytes: &'a [u8],
    /// The content of the first braces; empty without braces.
    captured: &'a [u8],
    request: &'a [u8],
}

fn parts(line: &[u8]) -> std::result::Result<Parts<'_>, NoRecord> {
    let Some((client, time, rest)) = client_and_time(line) else {
        return Err(if is_notice(line) {
            NoRecord::Skip(Skip::NotAccess)
        } else {
            NoRecord::Reject(Reject::NoTime)
        });
    };
    let mut tokens = Tokens { rest };
    let [frontend, server, timers, status, bytes] = tokens.take();
    // Other connections: of a TCP frontend, with fewer timers, or with a failed TLS handshake.
    if memchr(b'/', server).is_none() || timers.iter().filter(|&&byte| byte == b'/').count() < 4 {
        return Err(NoRecord::Skip(Skip::NotAccess));
    }
    let [_, _, _, connections, queues] = tokens.take();
    if memchr(b'/', connections).is_none() || memchr(b'/', queues).is_none() {
        return Err(NoRecord::Reject(Reject::NoRequest));
    }
    let (captured, rest) = match tokens.rest.strip_prefix(b"{") {
        Some(inner) => {
            let end = memchr(b'}', inner).ok_or(NoRecord::Reject(Reject::NoUserAgent))?;
            (&inner[..end], &inner[end..])
        }
        None => (&b""[..], tokens.rest),
    };
    let quote = memchr(b'"', rest).ok_or(NoRecord::Reject(Reject::NoRequest))?;
    let request = &rest[quote + 1..];
    // If syslog cut the line, there is no closing quote.
    let end = memchr(b'"', request).ok_or(NoRecord::Reject(Reject::NoRequest))?;
    let bytes = bytes.strip_prefix(b"+").unwrap_or(bytes);
    Ok(Parts { client, time, frontend, status, bytes, captured, request: &request[..end] })
}

/// Splits `client:port [time] ` off the line.
fn client_and_time(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = memchr(b' ', line).filter(|&space| space > 0)?;
    let rest = line[space..].strip_prefix(b" [")?;
    let end = memmem::find(rest, b"] ")?;
    // IPv6 addresses have no brackets, but a port follows them.
    let client = &line[..space];
    let client = &client[..memrchr(b':', client)?];
    Some((client, &rest[..end], &rest[end + 2..]))
}

/// Messages about HAProxy itself and its servers.
fn is_notice(line: &[u8]) -> bool {
    const STARTS: &str = "Proxy |Server |backend |Backup |Health check|Connect from |[WARNING]|\
        [NOTICE]|[ALERT]|Stopping |Pausing |Stopped ";
    STARTS.split('|').any(|start| line.starts_with(start.as_bytes()))
}

struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// The next tokens; empty after the end.
    fn take<const N: usize>(&mut self) -> [&'a [u8]; N] {
        std::array::from_fn(|_| {
            let end = memchr(b' ', self.rest).unwrap_or(self.rest.len());
            let token = &self.rest[..end];
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            token
        })
    }
}

/// Finds the fields of a line.
pub(crate) fn envoy_line(line: &[u8]) -> LineContent<'_> {
    envoy_fields(line).into()
}

fn envoy_fields(line: &[u8]) -> std::result::Result<Fields<'_>, Reject> {
    let (time, rest) =
        line.strip_prefix(b"[").and_then(|line| until(line, b"] \"")).ok_or(Reject::NoTime)?;
    let (request, rest) = request(rest).ok_or(Reject::NoRequest)?;
    let (status, rest) = split_token(rest).ok_or(Reject::NoRequest)?;
    let (_flags, rest) = split_token(rest).ok_or(Reject::NoRequest)?;
    let rest = without_details(rest).ok_or(Reject::NoRequest)?;
    let (_received, rest) = split_token(rest).ok_or(Reject::NoRequest)?;
    let (bytes, rest) = split_token(rest).ok_or(Reject::NoRequest)?;
    let rest =
        split_token(rest).and_then(|(_, rest)| split_token(rest)).ok_or(Reject::NoRequest)?.1;
    let quoted = rest.strip_prefix(b"\"").ok_or(Reject::NoUserAgent)?;
    let (forwarded_for, rest) = until(quoted, b"\" \"").ok_or(Reject::NoUserAgent)?;
    let (user_agent, rest) = user_agent(rest).ok_or(Reject::NoUserAgent)?;
    let (_id, rest) = until(rest, b"\" \"").ok_or(Reject::NoUserAgent)?;
    let (host, _) = until(rest, b"\"").ok_or(Reject::NoUserAgent)?;
    Ok(Fields {
        host: RawField::plain(host),
        client: client_or_unset(forwarded_for.trim_ascii()),
        time: Time::Text(time),
        request: RequestFields::Line(RawField::plain(request)),
        outcome: ResponseFields::Fields { status, bytes },
        user_agent: RawField::plain(user_agent),
        ..Fields::default()
    })
}

/// A request ends before a quote, a space and a status.
fn request(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut ends = memmem::find_iter(rest, b"\" ");
    let end = ends.find(|end| rest.get(end + 2).is_some_and(u8::is_ascii_digit))?;
    Some((&rest[..end], &rest[end + 2..]))
}

/// A user agent ends before a request id, which has no spaces.
fn user_agent(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut ends = memmem::find_iter(rest, b"\" \"");
    let end = ends.find(|end| {
        let id = &rest[end + 3..];
        memchr(b'"', id).is_some_and(|quote| {
            memchr(b' ', &id[..quote]).is_none() && id[quote..].starts_with(b"\" \"")
        })
    })?;
    Some((&rest[..end], &rest[end + 3..]))
}

/// Removes Istio's columns before the bytes.
fn without_details(rest: &[u8]) -> Option<&[u8]> {
    if rest.first()?.is_ascii_digit() {
        return Some(rest);
    }
    let (_details, rest) = split_token(rest)?;
    let (_termination, rest) = split_token(rest)?;
    let (_failure, rest) = until(rest.strip_prefix(b"\"")?, b"\" ")?;
    Some(rest)
}

fn until<'a>(rest: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let end = memmem::find(rest, mark)?;
    Some((&rest[..end], &rest[end + mark.len()..]))
}

/// Parses a line. Durations are padded with spaces.
pub(crate) fn squid_line(line: &[u8]) -> std::result::Result<Fields<'_>, Reject> {
    let mut tokens = line.split(|&byte| byte == b' ').filter(|token| !token.is_empty());
    let mut next = || tokens.next().ok_or(Reject::OtherFormat);
    let (time, duration, client, result) = (next()?, next()?, next()?, next()?);
    let (bytes, method, url) = (next()?, next()?, next()?);
    let slash = memchr::memchr(b'/', result).ok_or(Reject::OtherFormat)?;
    let is_squid = time.contains(&b'.') && duration.iter().all(u8::is_ascii_digit);
    if !is_squid || !result[..slash].iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'_')) {
        return Err(Reject::OtherFormat);
    }
    Ok(Fields {
        client,
        time: Time::Text(time),
        request: RequestFields::Url { method: RawField::plain(method), url: RawField::plain(url) },
        outcome: ResponseFields::Fields { status: &result[slash + 1..], bytes },
        ..Fields::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_read_in_their_order() {
        let captures = Captures::parse("Host, referer,User-Agent").unwrap();
        let expected = Captures {
            host: Some(0),
            user_agent: Some(2),
            referer: Some(1),
            ..Captures::default()
        };
        assert_eq!(captures, expected);
        assert!(Captures::parse("host,host").is_err());
    }
}
