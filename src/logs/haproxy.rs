//! HAProxy's HTTP log, without the syslog header.
//!
//! ```text
//! client:port [time] frontend[~] backend/server Tq/Tw/Tc/Tr/Tt status bytes cookie cookie
//! flags connections queues [{request headers}] [{response headers}] "request"
//! ```
//!
//! `~` after the frontend means TLS. Headers are logged only if the configuration captures them, in
//! its order and without names. The time has no zone. The status is -1 if none was sent. For
//! escapes, see `escape.rs`.

use memchr::{memchr, memmem, memrchr};

use crate::error::{Error, Result};
use crate::logs::record::{Fields, RequestFields};
use crate::logs::reject::{Reject, Skip};
use crate::logs::response::ResponseFields;
use crate::logs::signature::{Rest, SignatureFields};
use crate::logs::{LineContent, NoRecord};
use crate::logs::{escape::Escaping, field::RawField, limitation::Limitation, time::Time};
use crate::time::Zone;

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
pub(crate) fn line<'a>(captures: Captures, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
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
