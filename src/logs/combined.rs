//! The common log format and its extensions.
//!
//! ```text
//! [host[:port]] client ident user [time] "request" status bytes ["referer" "user agent"] ...
//! ```
//!
//! A user may contain spaces and brackets, so the request's quote is found first: no server writes
//! `] "` inside a field.
//!
//! Extensions are detected by their lines:
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

use memchr::{memchr, memmem, memrchr};

use crate::url::path::split_scheme;

use super::field::{RawField, find_near};
use super::host::{is_address, is_address_list};
use super::record::{Fields, RequestFields, Scratch};
use super::{LineContent, escape::Escaping, reject::Reject, request};
use super::{response::ResponseFields, signature::Rest, time::Time};

/// `17/Apr/2025:05:10:56 +0100`
pub(super) const TIME_BYTES: usize = 26;

/// Parses up to the bytes; later fields are ignored.
#[inline]
pub(crate) fn common(line: &[u8]) -> LineContent<'_> {
    let found = client_and_front(line).map(|(client, front)| {
        let end = QuotedFields {
            outcome: front.rest,
            referer: b"",
            user_agent: RawField::UNSET,
            tail: front.rest,
        };
        CombinedFields { host: b"", client, front, end }
    });
    fields(found, RequestFields::Line)
}

/// Parses up to the user agent; later fields are ignored.
#[inline]
pub(crate) fn combined(line: &[u8]) -> LineContent<'_> {
    fields(find_combined(line), RequestFields::Line)
}

/// Parses combined with `host:port` or only `host` in front.
#[inline]
pub(crate) fn vhost_combined(line: &[u8]) -> LineContent<'_> {
    let found = host_and_front(line).and_then(|(host, client, front)| {
        // A client is never unset. A `-` there means that the first column is the client.
        if client == b"-" || is_in_list(host) {
            return Err(Reject::NoClient);
        }
        let end = quoted_fields(front.rest).ok_or(Reject::NoUserAgent)?;
        Ok(CombinedFields { host, client, front, end })
    });
    fields(found, RequestFields::Line)
}

/// Parses combined with absolute targets, whose origin is our own.
#[inline]
pub(crate) fn combined_with_own_targets(line: &[u8]) -> LineContent<'_> {
    fields(find_combined(line), RequestFields::OwnLine)
}

/// Parses combined with the host in place of the ident.
pub(crate) fn combined_with_ident_host(line: &[u8]) -> LineContent<'_> {
    let found = front(line).and_then(|front| {
        let (client, rest) = split_client(front.columns)?;
        let (host, _) = split_column(rest)?;
        let end = quoted_fields(front.rest).ok_or(Reject::NoUserAgent)?;
        Ok(CombinedFields { host, client, front, end })
    });
    fields(found, RequestFields::Line)
}

/// Why a line, which has an unknown format, is not combined.
pub(crate) fn reason(line: &[u8]) -> Reject {
    match combined(line) {
        _ if line.starts_with(b"{") => Reject::OtherFormat,
        LineContent::Fields(fields) => {
            fields.record(&mut Scratch::default()).err().unwrap_or(Reject::OtherFormat)
        }
        LineContent::Reject(reason) => reason,
        LineContent::Skip(_) => Reject::OtherFormat,
    }
}

/// The columns before the time.
pub(crate) fn columns(line: &[u8]) -> Option<&[u8]> {
    front(line).ok().map(|front| front.columns)
}

#[inline(always)]
fn find_combined(line: &[u8]) -> Result<CombinedFields<'_>, Reject> {
    let (client, front) = client_and_front(line)?;
    let end = quoted_fields(front.rest).ok_or(Reject::NoUserAgent)?;
    Ok(CombinedFields { host: b"", client, front, end })
}

/// The only place that assembles the fields of a line. The structure is large, and passing it
/// through results took a tenth of the time.
#[inline]
fn fields<'a>(
    found: Result<CombinedFields<'a>, Reject>,
    request: impl Fn(RawField<'a>) -> RequestFields<'a>,
) -> LineContent<'a> {
    let CombinedFields { host, client, front, end } = match found {
        Err(reject) => return LineContent::Reject(reject),
        Ok(found) => found,
    };
    LineContent::Fields(Fields {
        host: RawField::plain(host),
        client,
        time: Time::Text(front.time),
        request: request(front.request),
        outcome: ResponseFields::Tokens(end.outcome),
        user_agent: end.user_agent,
        referer: RawField { raw: end.referer, escaping: Escaping::Backslash },
        rest: Rest::Tail(end.tail),
        ..Fields::default()
    })
}

/// The text after the user agent, and the request; `None` if the line is not combined.
pub(crate) fn tail_and_request(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let front = front(line).ok()?;
    Some((quoted_fields(front.rest)?.tail, front.request.raw))
}

/// Whether the text after the bytes of a common line begins like the two quoted fields of a
/// combined line, even if they are broken.
pub(crate) fn continues_as_combined(line: &[u8]) -> bool {
    let Ok(front) = front(line) else { return false };
    let Some(quote) = memchr(b'"', front.rest) else { return false };
    RawField::take_quoted(&front.rest[quote..]).is_none_or(|(_, rest)| rest.starts_with(b" \""))
}

/// The start of all variants.
struct Front<'a> {
    /// Everything before the time, without the space before its bracket.
    columns: &'a [u8],
    time: &'a [u8],
    request: RawField<'a>,
    /// The text after the request's closing quote, from its space on.
    rest: &'a [u8],
}

/// The parts from which the fields of a line are made.
struct CombinedFields<'a> {
    host: &'a [u8],
    client: &'a [u8],
    front: Front<'a>,
    end: QuotedFields<'a>,
}

/// The text after the request.
struct QuotedFields<'a> {
    /// Status and bytes.
    outcome: &'a [u8],
    referer: &'a [u8],
    user_agent: RawField<'a>,
    tail: &'a [u8],
}

#[inline(always)]
fn client_and_front(line: &[u8]) -> Result<(&[u8], Front<'_>), Reject> {
    if let Some(head) = nameless_head(line) {
        let (columns, time) = (head.columns, head.time);
        return Ok((head.client, front_with(columns, time, head.rest)?));
    }
    let front = front(line)?;
    Ok((client(front.columns)?, front))
}

/// The host in front of a line, and the rest.
#[inline]
fn host_and_front(line: &[u8]) -> Result<(&[u8], &[u8], Front<'_>), Reject> {
    if let Ok((host, rest)) = split_column(line)
        && let Some(head) = nameless_head(rest)
        // This could be the quote of the request: `host] "client`.
        && !head.client.starts_with(b"\"")
    {
        return Ok((host, head.client, front_with(head.columns, head.time, head.rest)?));
    }
    if let Some(rest) = line.strip_prefix(b" ") {
        // The server has no name for such a request.
        let (client, front) = client_and_front(rest)?;
        return Ok((b"", client, front));
    }
    let front = front(line)?;
    let (host, columns) = split_column(front.columns)?;
    Ok((host, client(columns)?, front))
}

/// The start of a line without ident and user.
struct Head<'a> {
    client: &'a [u8],
    columns: &'a [u8],
    time: &'a [u8],
    /// The text from the request's quote on.
    rest: &'a [u8],
}

/// A fast path for [`front`] and [`client`] without a search for the quote; nearly all lines begin
/// like this. `None` if the line does not. A function call would take a tenth of its time.
#[inline(always)]
fn nameless_head(line: &[u8]) -> Option<Head<'_>> {
    const BETWEEN: &[u8] = b" - - [";
    let space = find_near(b' ', line).filter(|&space| space > 0)?;
    let (time, rest) = line[space..].strip_prefix(BETWEEN)?.split_first_chunk::<TIME_BYTES>()?;
    let is_time = !time.iter().fold(false, |any, &b| any | (b == b'[') | (b == b'"'));
    let rest = rest.strip_prefix(b"] ").filter(|rest| is_time && rest.starts_with(b"\""))?;
    let columns = &line[..space + BETWEEN.len() - b" [".len()];
    Some(Head { client: &line[..space], columns, time, rest })
}

#[inline]
fn front(line: &[u8]) -> Result<Front<'_>, Reject> {
    let quote = request_quote(line).ok_or(Reject::NoTime)?;
    let before = &line[..quote - b"] ".len()];
    let bracket = time_bracket(before).ok_or(Reject::NoTime)?;
    let time = &before[bracket + 1..];
    let columns = before[..bracket].strip_suffix(b" ").ok_or(Reject::NoClient)?;
    front_with(columns, time, &line[quote..])
}

#[inline(always)]
fn front_with<'a>(columns: &'a [u8], time: &'a [u8], rest: &'a [u8]) -> Result<Front<'a>, Reject> {
    let (request, rest) = RawField::take_quoted(rest).ok_or(Reject::NoRequest)?;
    if !rest.starts_with(b" ") {
        return Err(Reject::NoRequest);
    }
    Ok(Front { columns, time, request, rest })
}

/// The position of the time's opening bracket, the last one. Times nearly always have the same
/// length.
#[inline]
fn time_bracket(before: &[u8]) -> Option<usize> {
    match before.split_last_chunk::<TIME_BYTES>() {
        // All 26 bytes are compared at once, which is cheaper than a search.
        Some((front, time))
            if front.ends_with(b"[") && !time.iter().fold(false, |any, &b| any | (b == b'[')) =>
        {
            Some(front.len() - 1)
        }
        _ => memrchr(b'[', before),
    }
}

/// The position of the first quote after a bracketed field.
#[inline]
fn request_quote(line: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let quote = from + memchr(b'"', &line[from..])?;
        if line[..quote].ends_with(b"] ") {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// The client in `client ident user`, which may be a list of addresses. An address in the second column with
/// two columns after it is the client of a line with a host in front.
#[inline]
fn client(columns: &[u8]) -> Result<&[u8], Reject> {
    let (client, rest) = split_client(columns)?;
    if rest.starts_with(b"- ") && memchr(b',', rest).is_none() {
        return Ok(client);
    }
    // What a client sends in X-Forwarded-For or as its user can contain anything. So an address after a comma
    // may be part of the list: nobody can tell which address is the client's.
    if rest.split(|&byte| byte == b',').skip(1).any(begins_with_address) {
        return Ok(columns);
    }
    let (ident, user) = split_column(rest)?;
    if !client.contains(&b',') && user.contains(&b' ') && is_address(ident) {
        return Err(Reject::NoClient);
    }
    Ok(client)
}

/// Splits `columns` after the client: after the first column, or after the list of addresses that it begins.
#[inline]
fn split_client(columns: &[u8]) -> Result<(&[u8], &[u8]), Reject> {
    let (mut client, mut rest) = split_column(columns)?;
    if client == b"," {
        return Err(Reject::NoClient);
    }
    // A header may end with a comma: ident and user follow.
    while client.ends_with(b",") && !rest.starts_with(b"- ") {
        let (next, after) = split_column(rest)?;
        client = &columns[..client.len() + b" ".len() + next.len()];
        rest = after;
    }
    Ok((client, rest))
}

/// Whether a column is a list of addresses, or the part of one before a space.
#[inline]
fn is_in_list(column: &[u8]) -> bool {
    column.ends_with(b",") || (memchr(b',', column).is_some() && is_address_list(column))
}

/// Whether the text after a comma of X-Forwarded-For begins with what a proxy appends.
fn begins_with_address(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let word = text.split(|&byte| byte == b' ').next().unwrap_or(text);
    is_address_list(word) || word == b"unknown"
}

/// The first column, which is not empty, and the text after its space.
#[inline]
fn split_column(columns: &[u8]) -> Result<(&[u8], &[u8]), Reject> {
    match find_near(b' ', columns) {
        Some(space @ 1..) => Ok((&columns[..space], &columns[space + 1..])),
        _ => Err(Reject::NoClient),
    }
}

/// Splits `rest`, the text after the request.
#[inline(always)]
fn quoted_fields(rest: &[u8]) -> Option<QuotedFields<'_>> {
    match escaped_fields(rest) {
        Some(fields) if fields.tail.is_empty() || !has_stray_quote(fields.tail) => Some(fields),
        _ => unescaped_fields(rest),
    }
}

/// Whether a quote in the text after the user agent begins no field, so that it is of the user agent.
#[inline]
pub(super) fn has_stray_quote(tail: &[u8]) -> bool {
    let mut rest = tail;
    while let Some(quote) = memchr(b'"', rest) {
        if rest[..quote].last().is_some_and(|before| !b" \t=:,;|[({".contains(before)) {
            return true;
        }
        match RawField::take_quoted(&rest[quote..]) {
            Some((_, after)) => rest = after,
            // The line is cut.
            None => return false,
        }
    }
    false
}

/// Splits `rest`, if quotes in its fields are escaped.
#[inline(always)]
fn escaped_fields(rest: &[u8]) -> Option<QuotedFields<'_>> {
    let quote = find_near(b'"', rest)?;
    let outcome = rest[..quote].strip_suffix(b" ")?;
    let (referer, rest) = match rest[quote..].strip_prefix(b"\"-\" ") {
        Some(rest) => (&b"-"[..], rest),
        None => {
            let (referer, rest) = RawField::take_quoted(&rest[quote..])?;
            (referer.raw, rest.strip_prefix(b" ")?)
        }
    };
    let (user_agent, tail) = RawField::take_quoted(rest)?;
    let is_whole = matches!(tail, [] | [b' ' | b'\t' | b',', ..]);
    is_whole.then_some(QuotedFields { outcome, referer, user_agent, tail })
}

/// Splits `rest`, the text after the request, if a writer that does not escape quotes wrote it: from its start and
/// from its end. `None` if that can be done in several ways, or if quotes are escaped.
#[cold]
fn unescaped_fields(rest: &[u8]) -> Option<QuotedFields<'_>> {
    const BETWEEN: &[u8] = b"\" \"";
    let (first, last) = (memchr(b'"', rest)?, memrchr(b'"', rest)?);
    let (outcome, tail) = (rest[..first].strip_suffix(b" ")?, &rest[last + 1..]);
    let inner = rest.get(first + 1..last)?;
    let mut between = memmem::find_iter(inner, BETWEEN);
    let (at, None) = (between.next()?, between.next()) else { return None };
    // The time and the request of a second line that was written into this one.
    let has_other =
        memmem::find(inner, b"] \"").is_some() || memmem::find(inner, b"\\\"").is_some();
    let is_whole = matches!(tail, [] | [b' ' | b'\t' | b',', ..]) && !has_other;
    let user_agent = RawField::plain(&inner[at + BETWEEN.len()..]);
    is_whole.then_some(QuotedFields { outcome, referer: &inner[..at], user_agent, tail })
}

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

#[cfg(test)]
mod tests;
