//! The common log format and what grew out of it.
//!
//! ```text
//! [host[:port]] client ident user [time] "request" status bytes ["referer" "user agent"] ...
//! ```
//!
//! A user may contain spaces and brackets, so the request's quote is found
//! first: no server leaves `] "` inside a field as it is.

use memchr::{memchr, memrchr};

use crate::logs::field::Field;
use crate::logs::host::is_address;
use crate::logs::record::{Fields, Outcome, Request};
use crate::logs::reject::Reject;
use crate::logs::time::Time;

/// Up to and with the bytes; what follows is not looked at.
pub fn common(line: &[u8]) -> Result<Fields<'_>, Reject> {
    let front = front(line)?;
    let client = client(front.columns)?;
    let fields = front.fields(client, front.rest, Field::UNSET);
    Ok(Fields { tail: front.rest, ..fields })
}

/// With referer and user agent; what follows is not looked at.
#[inline]
pub fn combined(line: &[u8]) -> Result<Fields<'_>, Reject> {
    let front = front(line)?;
    let client = client(front.columns)?;
    let (outcome, user_agent, tail) = outcome_and_user_agent(front.rest)?;
    Ok(Fields { tail, ..front.fields(client, outcome, user_agent) })
}

/// Combined, with `host:port` or only `host` in front.
#[inline]
pub fn vhost_combined(line: &[u8]) -> Result<Fields<'_>, Reject> {
    let front = front(line)?;
    let (name, columns) = split_column(front.columns)?;
    let client = client(columns)?;
    // A client is never unset; `-` shows that what stands in front is the client.
    if client == b"-" || name.ends_with(b",") {
        return Err(Reject::NoClient);
    }
    let (outcome, user_agent, tail) = outcome_and_user_agent(front.rest)?;
    Ok(Fields { host: Field::plain(name), tail, ..front.fields(client, outcome, user_agent) })
}

/// Combined, where absolute targets name our own origin.
#[inline]
pub fn combined_with_own_targets(line: &[u8]) -> Result<Fields<'_>, Reject> {
    let fields = combined(line)?;
    let request = match fields.request {
        Request::Line(line) => Request::OwnLine(line),
        request => request,
    };
    Ok(Fields { request, ..fields })
}

/// What follows the user agent, and the request; `None` where the line is not combined.
pub fn tail_and_request(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let front = front(line).ok()?;
    let (_, _, tail) = quoted_fields(front.rest)?;
    Some((tail, front.request.raw))
}

/// Whether what follows the bytes of a common line starts like the two quoted
/// fields of a combined one, even if they are broken.
pub fn continues_as_combined(line: &[u8]) -> bool {
    let Ok(front) = front(line) else { return false };
    let Some(quote) = memchr(b'"', front.rest) else { return false };
    Field::take_quoted(&front.rest[quote..]).is_none_or(|(_, rest)| rest.starts_with(b" \""))
}

/// What all forms begin with.
struct Front<'a> {
    /// All before the time, without the space before its bracket.
    columns: &'a [u8],
    time: &'a [u8],
    request: Field<'a>,
    /// From the space after the request's closing quote on.
    rest: &'a [u8],
}

impl<'a> Front<'a> {
    #[inline]
    fn fields(&self, client: &'a [u8], outcome: &'a [u8], user_agent: Field<'a>) -> Fields<'a> {
        Fields {
            client,
            time: Time::Text(self.time),
            request: Request::Line(self.request),
            outcome: Outcome::Tokens(outcome),
            user_agent,
            ..Fields::default()
        }
    }
}

#[inline]
fn front(line: &[u8]) -> Result<Front<'_>, Reject> {
    let quote = request_quote(line).ok_or(Reject::NoTime)?;
    let before = &line[..quote - b"] ".len()];
    let bracket = memrchr(b'[', before).ok_or(Reject::NoTime)?;
    let time = &before[bracket + 1..];
    let columns = before[..bracket].strip_suffix(b" ").ok_or(Reject::NoClient)?;
    let (request, rest) = Field::take_quoted(&line[quote..]).ok_or(Reject::NoRequest)?;
    if !rest.starts_with(b" ") {
        return Err(Reject::NoRequest);
    }
    Ok(Front { columns, time, request, rest })
}

/// The place of the first quote that follows a bracketed field.
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

/// The client in `client ident user`. An address in the second column, with two
/// more behind it, is the client of a line that has a host in front.
#[inline]
fn client(columns: &[u8]) -> Result<&[u8], Reject> {
    let (client, rest) = split_column(columns)?;
    if rest.starts_with(b"- ") {
        return Ok(client);
    }
    let (ident, user) = split_column(rest)?;
    // A list of addresses (X-Forwarded-For): its first, whoever that is.
    if let Some(first) = client.strip_suffix(b",") {
        return if first.is_empty() { Err(Reject::NoClient) } else { Ok(first) };
    }
    if user.contains(&b' ') && is_address(ident) {
        return Err(Reject::NoClient);
    }
    Ok(client)
}

/// The first column, which is not empty, and what follows its space.
#[inline]
fn split_column(columns: &[u8]) -> Result<(&[u8], &[u8]), Reject> {
    match memchr(b' ', columns) {
        Some(space @ 1..) => Ok((&columns[..space], &columns[space + 1..])),
        _ => Err(Reject::NoClient),
    }
}

/// `rest` from the request on, to its status and bytes, the user agent, and what follows it.
#[inline]
fn outcome_and_user_agent(rest: &[u8]) -> Result<(&[u8], Field<'_>, &[u8]), Reject> {
    quoted_fields(rest).ok_or(Reject::NoUserAgent)
}

#[inline]
fn quoted_fields(rest: &[u8]) -> Option<(&[u8], Field<'_>, &[u8])> {
    let quote = memchr(b'"', rest)?;
    let outcome = rest[..quote].strip_suffix(b" ")?;
    let (_referer, rest) = Field::take_quoted(&rest[quote..])?;
    let (user_agent, rest) = Field::take_quoted(rest.strip_prefix(b" ")?)?;
    matches!(rest, [] | [b' ' | b'\t' | b',', ..]).then_some((outcome, user_agent, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_in_the_fields() {
        let line = b"1.2.3.4 - \xff\0 [t] \"GET /\xe9\0 HTTP/1.1\" 200 1 \"\xff\" \"\0\xe9\" x";
        let fields = combined(line).unwrap();
        let Request::Line(request) = fields.request else { panic!("a request line") };
        assert_eq!(request.raw, b"GET /\xe9\0 HTTP/1.1");
        assert_eq!(fields.user_agent.raw, b"\0\xe9");
    }

    #[test]
    fn no_prefix_of_a_line_panics() {
        let line = b"h:1 1.2.3.4 - \\\" [[t] \"GET /\\\" HTTP/1.1\" 200 1 \"r\\\"\" \"ua\" \"x\"";
        for end in 0..line.len() {
            for start in [0, 4, 12] {
                let line = line[..end].get(start..).unwrap_or_default();
                let _ = (common(line), combined(line), vhost_combined(line));
            }
        }
    }
}
