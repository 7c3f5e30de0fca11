//! Server access logs of AWS S3.
//!
//! ```text
//! owner bucket [time] client requester id operation key "request" status error bytes size ms ms "referer" "user agent" version id signature cipher auth host tls ...
//! ```
//!
//! The target is as sent by the client. The key is encoded once more, and is ignored. S3 does not
//! escape quotes from clients. AWS appends fields after the host.

use memchr::{memmem, memrchr};

use super::field::{RawField, split_token};
use super::record::{Fields, RequestFields};
use super::{reject::Reject, response::ResponseFields, time::Time};

/// Parses a line.
#[inline]
pub(crate) fn line(line: &[u8]) -> Result<Fields<'_>, Reject> {
    let mut rest = line;
    let owner = column(&mut rest)?;
    let _bucket = column(&mut rest)?;
    // The owner is a canonical id: 64 hexadecimal digits.
    if owner.len() != 64 || !rest.starts_with(b"[") {
        return Err(Reject::OtherFormat);
    }
    let end = memmem::find(rest, b"] ").ok_or(Reject::NoTime)?;
    let time = &rest[1..end];
    rest = &rest[end + 2..];
    let client = column(&mut rest)?;
    let _requester = column(&mut rest)?;
    let _id = column(&mut rest)?;
    let _operation = column(&mut rest)?;
    let _key = column(&mut rest)?;
    let request = quoted(&mut rest).ok_or(Reject::NoRequest)?;
    let status = column(&mut rest)?;
    let _error = column(&mut rest)?;
    let bytes = column(&mut rest)?;
    let _size_and_milliseconds = (column(&mut rest)?, column(&mut rest)?, column(&mut rest)?);
    let referer = quoted(&mut rest).ok_or(Reject::NoUserAgent)?;
    let user_agent = last_quoted(&mut rest).ok_or(Reject::NoUserAgent)?;
    let (host, scheme) = host_and_scheme(rest);
    Ok(Fields {
        host: RawField::plain(host),
        scheme,
        client,
        time: Time::Text(time),
        request: RequestFields::Line(request),
        outcome: ResponseFields::Fields { status, bytes },
        user_agent,
        referer,
        ..Fields::default()
    })
}

/// Takes a column and the following space off the start of `rest`.
#[inline]
fn column<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Reject> {
    let (column, behind) = split_token(rest).ok_or(Reject::BadColumns)?;
    *rest = behind;
    Ok(column)
}

/// Takes a quoted value and the following space off the start of `rest`; a lone `-` is unset.
/// Quotes are not escaped, so the first quote before a space ends the value.
#[inline]
fn quoted<'a>(rest: &mut &'a [u8]) -> Option<RawField<'a>> {
    if let Some(behind) = rest.strip_prefix(b"- ") {
        *rest = behind;
        return Some(RawField::UNSET);
    }
    let inner = rest.strip_prefix(b"\"")?;
    let end = memmem::find(inner, b"\" ")?;
    *rest = &inner[end + 2..];
    Some(RawField::plain(&inner[..end]))
}

/// As [`quoted`], for the last quoted value of a line, which ends at the last quote.
#[inline]
fn last_quoted<'a>(rest: &mut &'a [u8]) -> Option<RawField<'a>> {
    let Some(inner) = rest.strip_prefix(b"\"") else { return quoted(rest) };
    let end = memrchr(b'"', inner)?;
    *rest = inner[end + 1..].strip_prefix(b" ").unwrap_or_default();
    Some(RawField::plain(&inner[..end]))
}

/// The host header, and whether TLS was used. Lines from before 2019 have neither.
#[inline]
fn host_and_scheme(rest: &[u8]) -> (&[u8], &'static [u8]) {
    let mut columns = rest.split(|&byte| byte == b' ').skip(5);
    let host = columns.next().unwrap_or_default();
    let scheme: &[u8] = match columns.next().unwrap_or_default() {
        b"" => b"",
        b"-" => b"http",
        _ => b"https",
    };
    (host, scheme)
}
