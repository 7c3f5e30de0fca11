//! Squid's native format, which has no user agents.
//!
//! ```text
//! time duration client result/status bytes method URL user hierarchy/server type
//! ```

use super::record::{Fields, RequestFields};
use super::{field::RawField, reject::Reject, response::ResponseFields, time::Time};

/// Parses a line. Durations are padded with spaces.
pub(crate) fn line(line: &[u8]) -> Result<Fields<'_>, Reject> {
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
