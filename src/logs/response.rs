//! The status and the size of an answer, as lines have them.

use super::reject::Reject;

/// The fields of status and size in a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum ResponseFields<'a> {
    /// The first two tokens.
    Tokens(&'a [u8]),
    /// Two fields; an unset size is zero.
    Fields { status: &'a [u8], bytes: &'a [u8] },
}

impl ResponseFields<'_> {
    #[inline(always)]
    pub(super) fn read(&self) -> Result<(u16, u64), Reject> {
        if let ResponseFields::Tokens(text) = self
            && let Some(usual) = usual_response(text)
        {
            return Ok(usual);
        }
        self.read_any()
    }

    #[inline(never)]
    fn read_any(&self) -> Result<(u16, u64), Reject> {
        match self {
            ResponseFields::Tokens(text) => {
                let (first, rest) = token(text);
                let status = status(first)?;
                let bytes = match token(rest).0 {
                    b"-" => 0,
                    digits => number(digits).ok_or(Reject::BadBytes)?,
                };
                Ok((status, bytes))
            }
            ResponseFields::Fields { status: text, bytes } => {
                let status = if text.is_empty() { 0 } else { status(text)? };
                let bytes = match *bytes {
                    b"" | b"-" => 0,
                    digits => number(digits).ok_or(Reject::BadBytes)?,
                };
                Ok((status, bytes))
            }
        }
    }
}

/// A status of three digits and a size of few.
#[inline(always)]
pub(super) fn usual_response(text: &[u8]) -> Option<(u16, u64)> {
    let [b' ', status_text @ .., b' '] = text.first_chunk::<5>()? else { return None };
    let status = status(status_text).ok()?;
    let mut bytes = 0;
    for (count, &byte) in text[5..].iter().enumerate() {
        match byte {
            b'0'..=b'9' if count < DIGITS_THAT_FIT => bytes = bytes * 10 + u64::from(byte - b'0'),
            b' ' if count > 0 => return Some((status, bytes)),
            _ => return None,
        }
    }
    (text.len() > 5).then_some((status, bytes))
}

/// The first token, empty if there is none, and the rest.
#[inline]
fn token(text: &[u8]) -> (&[u8], &[u8]) {
    let start = text.iter().position(|&byte| byte != b' ').unwrap_or(text.len());
    let text = &text[start..];
    text.split_at(text.iter().position(|&byte| byte == b' ').unwrap_or(text.len()))
}

/// Three digits; `-`, `0` and `-1` mean that no answer was sent.
#[inline]
fn status(text: &[u8]) -> Result<u16, Reject> {
    match *text {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            Ok(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'))
        }
        [b'-' | b'0'] | [b'-', b'1'] => Ok(0),
        _ => Err(Reject::BadStatus),
    }
}

/// A number with this many digits always fits.
const DIGITS_THAT_FIT: usize = 19;

/// `None` if it is not a number, or too large.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    if digits.len() <= DIGITS_THAT_FIT {
        let value = |sum: u64, digit: &u8| sum * 10 + u64::from(digit.wrapping_sub(b'0'));
        return digits.iter().all(u8::is_ascii_digit).then(|| digits.iter().fold(0, value));
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
        let outcome = |text| ResponseFields::Tokens(text).read();
        assert_eq!(outcome(b" 200 10353 "), Ok((200, 10353)));
        assert_eq!(outcome(b"304 - 0.005 x"), Ok((304, 0)));
        assert_eq!(outcome(b"- -"), Ok((0, 0)));
        assert_eq!(outcome(b"-1 1"), Ok((0, 1)));
        assert_eq!(outcome(b"000 18446744073709551615"), Ok((0, u64::MAX)));
        assert_eq!(outcome(b" 206 18446744073709551615"), Ok((206, u64::MAX)));
        assert_eq!(outcome(b" 206 00000000000000000000000007 "), Ok((206, 7)));
        assert_eq!(outcome(b" 206  7"), Ok((206, 7)));
        assert_eq!(outcome(b" 206 -"), Ok((206, 0)));
        for text in [&b""[..], b"20 1", b"2000 1", b"2x0 1", b"OK 1", b"-2 1"] {
            assert_eq!(outcome(text), Err(Reject::BadStatus));
        }
        for text in [
            &b"200"[..],
            b" 200 ",
            b" 200  ",
            b" 200 1x",
            b"200 1.5",
            b"200 -1",
            b"200 18446744073709551616",
        ] {
            assert_eq!(outcome(text), Err(Reject::BadBytes));
        }
    }
}
