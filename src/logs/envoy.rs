//! Envoy's default format, and Istio's, which has more columns.
//!
//! ```text
//! [time] "method path protocol" code flags [details termination "failure"] received sent
//! duration upstream-time "x-forwarded-for" "user agent" "request id" "authority" "upstream" ...
//! ```
//!
//! An unset value is `-`, and code 0 means that the client disconnected (Envoy's documentation of
//! access logging). Nothing is escaped, so a field ends only before the text that must follow it.
//! The client is the X-Forwarded-For list of the last hop, or unknown.

use memchr::{memchr, memmem};

use super::field::{RawField, split_token};
use super::record::{Fields, RequestFields};
use super::{LineContent, reject::Reject, response::ResponseFields, time::Time};

/// Finds the fields of a line.
pub(crate) fn line(line: &[u8]) -> LineContent<'_> {
    fields(line).into()
}

fn fields(line: &[u8]) -> Result<Fields<'_>, Reject> {
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
    let last = forwarded_for.rsplit(|&byte| byte == b',').next().unwrap_or_default();
    let client = match last.trim_ascii() {
        b"" => b"-",
        last => last,
    };
    Ok(Fields {
        host: RawField::plain(host),
        client,
        forwarded_for: RawField::plain(forwarded_for),
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
