//! Logs of AWS: of its load balancers (Application and Classic), and server access logs of S3. AWS appends
//! fields over time, so later ones are ignored.
//!
//! ```text
//! [type] time elb client:port target:port 3 times status status received sent "request" "user agent" ...
//! owner bucket [time] client requester id operation key "request" status error bytes size ms ms "referer" "user agent" version id signature cipher auth host tls ...
//! ```
//!
//! The URL of a load balancer's request is absolute, as the client sent it, and includes the default port. A
//! request that could not be parsed is `- http://host:port- -`. User agents are cut at 8 KB.
//!
//! The target of S3 is as sent by the client. The key is encoded once more, and is ignored. S3 does not escape
//! quotes from clients.

use memchr::{memchr, memmem, memrchr};

use super::field::{RawField, split_token};
use super::record::{Fields, RequestFields};
use super::{reject::Reject, response::ResponseFields, time::Time};

/// The type before the time of an application load balancer's line.
const TYPES: [&[u8]; 6] = [b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"];

/// Parses a line of an application load balancer.
#[inline]
pub(crate) fn application(line: &[u8]) -> Result<Fields<'_>, Reject> {
    let space = memchr(b' ', line).ok_or(Reject::OtherFormat)?;
    if !TYPES.contains(&&line[..space]) {
        return Err(Reject::OtherFormat);
    }
    classic(&line[space + 1..])
}

/// Parses a line of a classic load balancer.
#[inline]
pub(crate) fn classic(line: &[u8]) -> Result<Fields<'_>, Reject> {
    // RFC 3339 in UTC, with a T: no other format begins like this.
    if line.get(4) != Some(&b'-') || line.get(10) != Some(&b'T') {
        return Err(Reject::OtherFormat);
    }
    let quote = memchr(b'"', line).ok_or(Reject::NoRequest)?;
    let mut columns = line[..quote].split(|&byte| byte == b' ');
    let mut column =
        || columns.next().filter(|column| !column.is_empty()).ok_or(Reject::BadColumns);
    let time = column()?;
    let _name = column()?;
    let client = column()?;
    let _target = column()?;
    let _seconds = (column()?, column()?, column()?);
    let (status, _target_status) = (column()?, column()?);
    let (_received, bytes) = (column()?, column()?);
    let (request, rest) = RawField::take_quoted(&line[quote..]).ok_or(Reject::NoRequest)?;
    // Logs from before 2014 end here.
    let user_agent = match rest {
        [] => RawField::UNSET,
        _ => {
            let field = rest.strip_prefix(b" ").and_then(RawField::take_quoted);
            field.ok_or(Reject::NoUserAgent)?.0
        }
    };
    Ok(Fields {
        client,
        time: Time::Text(time),
        request: RequestFields::OwnLine(request),
        outcome: ResponseFields::Fields { status, bytes },
        user_agent,
        ..Fields::default()
    })
}

/// Parses a line.
#[inline]
pub(crate) fn s3(line: &[u8]) -> Result<Fields<'_>, Reject> {
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
