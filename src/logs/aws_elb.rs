//! The load balancers of AWS: Application Load Balancer and Classic Load Balancer.
//!
//! ```text
//! [type] time elb client:port target:port 3 times status status received sent "request" "user agent" ...
//! ```
//!
//! The request's URL is absolute, as the client sent it, and includes the default port. A request
//! that could not be parsed is `- http://host:port- -`. User agents are cut at 8 KB. AWS appends
//! fields over time, so later ones are ignored.

use memchr::memchr;

use super::record::{Fields, RequestFields};
use super::{field::RawField, reject::Reject, response::ResponseFields, time::Time};

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
