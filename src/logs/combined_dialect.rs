//! Formats that extend combined, detected by their lines.
//!
//! - Traefik's common log format has four more fields after the user agent: `<request count>
//!   "<router>" "<server URL>" <duration>ms`. Traefik drops all headers unless `fields.headers`
//!   keeps them (see its documentation of access logs). The user agent is then `"-"`.
//! - Kubernetes' ingress-nginx has nine more fields: `<request length> <request time> [<upstream
//!   name>] [<alternative upstream>] ...`. Its documentation has the raw `$request`. A
//!   configuration may have `$uri` instead, which lines do not show.
//! - `varnishncsa` has absolute targets by default: `%h %l %u %t "%r" %s %b "%{Referer}i"
//!   "%{User-agent}i"` (varnishncsa(1)). It builds `%r` from the Host header, so the host in the
//!   target is our own. In an nginx or Apache log, such a target is a probe for an open proxy.
//! - lighttpd's default is combined with the host as the second of three columns: `%h %V %u`.

use memchr::memmem;

use crate::logs::combined::{columns, tail_and_request};
use crate::logs::{field::RawField, host::is_address, request};
use crate::url::target::split_scheme;

/// Whether most lines of `head` meet `is_such`; also true without lines.
pub(crate) fn is_most_of(head: &[&[u8]], is_such: fn(&[u8]) -> Option<bool>) -> bool {
    let count = head.iter().filter(|line| is_such(line) == Some(true)).count();
    head.is_empty() || count * 2 > head.len()
}

/// Whether a line ends like Traefik's lines.
pub(crate) fn is_traefik(line: &[u8]) -> Option<bool> {
    let (tail, _) = tail_and_request(line)?;
    let tail = tail.strip_prefix(b" ")?;
    let digits = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (_router, rest) = RawField::take_quoted(tail[digits..].strip_prefix(b" ")?)?;
    let (_server, rest) = RawField::take_quoted(rest.strip_prefix(b" ")?)?;
    let duration = rest.strip_prefix(b" ")?.strip_suffix(b"ms")?;
    Some(digits > 0 && !duration.is_empty() && duration.iter().all(u8::is_ascii_digit))
}

/// Whether a line continues after the user agent like ingress-nginx's lines.
pub(crate) fn is_ingress_nginx(line: &[u8]) -> Option<bool> {
    let (tail, _) = tail_and_request(line)?;
    let mut tokens = tail.strip_prefix(b" ")?.split(|&byte| byte == b' ');
    let is_number = |token: &[u8]| {
        token.first().is_some_and(u8::is_ascii_digit)
            && token.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    let is_bracketed = |token: &[u8]| token.starts_with(b"[") && token.ends_with(b"]");
    Some(
        is_number(tokens.next()?)
            && is_number(tokens.next()?)
            && is_bracketed(tokens.next()?)
            && is_bracketed(tokens.next()?),
    )
}

/// Whether a line has the duration in seconds between time and request.
pub(crate) fn is_gandi(line: &[u8]) -> Option<bool> {
    let at = memmem::find(line, b"] (")?;
    let end = memmem::find(&line[at..], b" s) \"")?;
    Some(line[at + b"] (".len()..at + end].iter().all(u8::is_ascii_digit))
}

/// Whether an object has a key for what only HAProxy writes.
pub(crate) fn is_haproxy_json(line: &[u8]) -> Option<bool> {
    const KEYS: [&str; 4] =
        ["\"frontend\"", "\"frontend_name\"", "\"backend_name\"", "\"termination_state\""];
    let has = |key: &&str| memmem::find(line, key.as_bytes()).is_some();
    Some(line.starts_with(b"{") && KEYS.iter().any(has))
}

/// Whether the target of a line is a whole URL, as in varnishncsa's lines.
pub(crate) fn is_varnish(line: &[u8]) -> Option<bool> {
    let (_, request) = tail_and_request(line)?;
    Some(split_scheme(request::parse(request).ok()?.target?).is_some())
}

/// Whether the columns of a line are an address, a host and a user, as in lighttpd's lines.
pub(crate) fn is_lighttpd(line: &[u8]) -> Option<bool> {
    let mut columns = columns(line)?.split(|&byte| byte == b' ');
    let (client, host) = (columns.next()?, columns.next()?);
    let is_host = host.contains(&b'.') || host.starts_with(b"localhost");
    Some(is_address(client) && is_host && columns.count() == 1)
}
