//! HAProxy's HTTP log, without the syslog header in front.
//!
//! ```text
//! client:port [time] frontend[~] backend/server Tq/Tw/Tc/Tr/Tt status bytes cookie cookie
//! flags connections queues [{request headers}] [{response headers}] "request"
//! ```
//!
//! `~` behind the frontend means TLS. Headers are there only if the configuration captures them,
//! in the order in which it does, without names. The time has no zone. The status is -1 where
//! none was sent. Escapes: see `escape.rs`.

use memchr::{memchr, memmem, memrchr};

use crate::error::{Error, Result};
use crate::logs::record::{Fields, RequestFields, ResponseFields};
use crate::logs::reject::{Reject, Skip};
use crate::logs::{LineContent, NoRecord};
use crate::logs::{escape::Escaping, field::RawField, limitation::Limitation, time::Time};
use crate::time::Zone;

/// Request headers that may be captured; HAProxy itself has no limit worth fearing.
const CAPTURES_MAX: usize = 64;

/// Where in `{a|b|c}` the headers stand, from 0.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Captures {
    host: Option<usize>,
    user_agent: Option<usize>,
    forwarded_for: Option<usize>,
}

impl Captures {
    /// Reads the names of the captured request headers in the order of the configuration, as
    /// `host,user-agent`.
    ///
    /// # Errors
    /// Where a header stands twice, or there are too many.
    pub fn parse(text: &str) -> Result<Captures> {
        let mut captures = Captures::default();
        for (at, name) in text.split(',').enumerate() {
            let index = match name.trim().to_ascii_lowercase().as_str() {
                "host" => &mut captures.host,
                "user-agent" => &mut captures.user_agent,
                "x-forwarded-for" => &mut captures.forwarded_for,
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

    /// The place of the user agent as far as `head` shows it: most of them begin alike.
    pub fn detected_from(head: &[&[u8]]) -> Captures {
        let captured = head.iter().filter_map(|line| parts(line).ok()).map(|parts| parts.captured);
        let indexes = captured.filter_map(|captured| {
            captured.split(|&byte| byte == b'|').position(|value| value.starts_with(b"Mozilla/"))
        });
        Captures { user_agent: indexes.take(1).next(), ..Captures::default() }
    }

    /// What a log with these captures cannot tell.
    pub fn limitations(self) -> Vec<Limitation> {
        if self.user_agent.is_none() { vec![Limitation::NoUserAgent] } else { Vec::new() }
    }
}

/// Finds the fields of a line.
pub fn line<'a>(captures: Captures, line: &'a [u8], zone: &'a Zone) -> LineContent<'a> {
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
        ..Fields::default()
    })
}

struct Parts<'a> {
    client: &'a [u8],
    time: &'a [u8],
    frontend: &'a [u8],
    status: &'a [u8],
    bytes: &'a [u8],
    /// What stands in the first braces; empty without any.
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
    // Other connections: of a TCP frontend, with fewer timers, or broken in the TLS handshake.
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
    // Where syslog cut the line there is no closing quote.
    let end = memchr(b'"', request).ok_or(NoRecord::Reject(Reject::NoRequest))?;
    let bytes = bytes.strip_prefix(b"+").unwrap_or(bytes);
    Ok(Parts { client, time, frontend, status, bytes, captured, request: &request[..end] })
}

/// `client:port [time] `, and what follows.
fn client_and_time(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = memchr(b' ', line).filter(|&space| space > 0)?;
    let rest = line[space..].strip_prefix(b" [")?;
    let end = memmem::find(rest, b"] ")?;
    // IPv6 has no brackets, and a port all the same.
    let client = &line[..space];
    let client = &client[..memrchr(b':', client)?];
    Some((client, &rest[..end], &rest[end + 2..]))
}

/// What HAProxy says of itself and of its servers.
fn is_notice(line: &[u8]) -> bool {
    const STARTS: &str = "Proxy |Server |backend |Backup |Health check|Connect from |[WARNING]|\
        [NOTICE]|[ALERT]|Stopping |Pausing |Stopped ";
    STARTS.split('|').any(|start| line.starts_with(start.as_bytes()))
}

struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// The next tokens; empty past the end.
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
        let expected = Captures { host: Some(0), user_agent: Some(2), forwarded_for: None };
        assert_eq!(captures, expected);
        assert!(Captures::parse("host,host").is_err());
    }
}
