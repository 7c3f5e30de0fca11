//! The native format of IIS, which has no user agents, no hosts and no time zone.
//!
//! ```text
//! client, user, date, time, service, server, server address, duration, bytes received, bytes sent,
//! status, Windows status, method, path, query,
//! ```

use crate::time::Zone;

use super::record::{Fields, RequestFields};
use super::{field::RawField, reject::Reject, response::ResponseFields, time::Time};

const SEPARATOR: &[u8] = b", ";

/// Parses a line; its time is in `zone`.
pub(crate) fn line<'a>(line: &'a [u8], zone: &'a Zone) -> Result<Fields<'a>, Reject> {
    let mut rest = line;
    let mut columns = [&b""[..]; 14];
    for column in &mut columns {
        let end = memchr::memmem::find(rest, SEPARATOR).ok_or(Reject::OtherFormat)?;
        (*column, rest) = (&rest[..end], &rest[end + SEPARATOR.len()..]);
    }
    let [client, user, date, time, _, _, _, _, _, bytes, status, _, method, path] = columns;
    let query = rest.strip_suffix(b",").ok_or(Reject::OtherFormat)?;
    let start = client.len() + user.len() + 2 * SEPARATOR.len();
    let when = &line[start..start + date.len() + SEPARATOR.len() + time.len()];
    let [method, target, query] = [method, path, query].map(RawField::plain);
    Ok(Fields {
        client,
        time: Time::Pattern(when, "%m/%d/%Y, %H:%M:%S", zone),
        request: RequestFields::Parts { method, target, query },
        outcome: ResponseFields::Fields { status, bytes },
        ..Fields::default()
    })
}
