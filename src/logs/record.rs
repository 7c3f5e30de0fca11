//! One line in two steps: where its fields are, then what they mean.
//!
//! Most lines are browsers' and end after the first step, which looks no
//! further than the user agent needs. Only the second step validates.

use crate::logs::field::Field;
use crate::logs::reject::Reject;
use crate::logs::{request, time};
use crate::time::UtcTime;

/// The fields of a line, found but not read.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    pub(super) host: Option<&'a [u8]>,
    pub(super) port: Option<u16>,
    pub(super) client: &'a [u8],
    pub(super) time: &'a [u8],
    pub(super) request: Field<'a>,
    /// Status, size, and what else stands there, with spaces between.
    pub(super) outcome: &'a [u8],
    pub(super) user_agent: Field<'a>,
}

/// Buffers for undoing escapes; reused from line to line.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    target: Vec<u8>,
    user_agent: Vec<u8>,
}

/// One request: slices of the line, or of the scratch where escapes were undone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Record<'a> {
    /// When it was made.
    pub time: UtcTime,
    /// Address or name of who made it, as logged.
    pub client: &'a [u8],
    /// What stands in front of the line; not always the host that was asked for.
    pub host: Option<&'a [u8]>,
    /// With the host.
    pub port: Option<u16>,
    /// As sent; `-` where nothing was requested.
    pub method: &'a [u8],
    /// As sent; `None` where nothing was requested.
    pub target: Option<&'a [u8]>,
    /// 0 to 999; 0 where no answer was given.
    pub status: u16,
    /// Of the answer's body.
    pub bytes: u64,
    /// As sent; `-` where there was none, or the format has no room for it.
    pub user_agent: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The user agent as sent; `-` where there was none, or the format has no
    /// room for it.
    #[inline]
    pub fn user_agent<'s>(&self, scratch: &'s mut Scratch) -> &'s [u8]
    where
        'a: 's,
    {
        self.user_agent.value(&mut scratch.user_agent)
    }

    /// Reads all fields.
    pub fn record<'s>(&self, scratch: &'s mut Scratch) -> Result<Record<'s>, Reject>
    where
        'a: 's,
    {
        let time = time::parse(self.time).ok_or(Reject::BadTime)?;
        let (status, bytes) = outcome(self.outcome)?;
        let request = request::parse(self.request.raw)?;
        let has_escapes = self.request.has_escapes;
        let target = request.target.map(|raw| Field { raw, has_escapes });
        Ok(Record {
            time,
            client: self.client,
            host: self.host,
            port: self.port,
            method: request.method,
            target: target.map(|target| target.value(&mut scratch.target)),
            status,
            bytes,
            user_agent: self.user_agent.value(&mut scratch.user_agent),
        })
    }
}

/// Status and size, the first two tokens. Apache writes `-` for zero.
fn outcome(text: &[u8]) -> Result<(u16, u64), Reject> {
    let mut tokens = text.split(|&byte| byte == b' ').filter(|token| !token.is_empty());
    let status = match tokens.next().unwrap_or_default() {
        b"-" => 0,
        &[a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0')
        }
        _ => return Err(Reject::BadStatus),
    };
    let bytes = match tokens.next().unwrap_or_default() {
        b"-" => 0,
        digits => number(digits).ok_or(Reject::BadBytes)?,
    };
    Ok((status, bytes))
}

/// `None` where it is no number or too large for one.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, digit| match digit {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_bytes() {
        assert_eq!(outcome(b" 200 10353 "), Ok((200, 10353)));
        assert_eq!(outcome(b"304 - 0.005 x"), Ok((304, 0)));
        assert_eq!(outcome(b"- -"), Ok((0, 0)));
        assert_eq!(outcome(b"000 18446744073709551615"), Ok((0, u64::MAX)));
        for text in [&b""[..], b"20 1", b"2000 1", b"2x0 1", b"OK 1", b"-1 1"] {
            assert_eq!(outcome(text), Err(Reject::BadStatus));
        }
        for text in [&b"200"[..], b"200 1.5", b"200 -1", b"200 18446744073709551616"] {
            assert_eq!(outcome(text), Err(Reject::BadBytes));
        }
    }
}
