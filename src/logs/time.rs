//! The time of a line.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use crate::time::UtcTime;

/// RFC 3339 with a fraction takes less than this.
const RFC3339_BYTES_MAX: usize = 40;

/// Reads `17/Apr/2025:05:10:56 +0100`, or RFC 3339. `None` for what is no time of
/// the calendar. A leap second counts as the second before it.
pub fn parse(text: &[u8]) -> Option<UtcTime> {
    match text.get(2) {
        Some(b'/') => parse_clf(text.try_into().ok()?),
        _ => parse_rfc3339(text),
    }
}

/// The form of the common log format has fixed positions.
fn parse_clf(text: &[u8; 26]) -> Option<UtcTime> {
    let marks = [text[2], text[6], text[11], text[14], text[17], text[20]];
    if marks != *b"//::: " {
        return None;
    }
    let year = i16::from(two_digits(text, 7)?) * 100 + i16::from(two_digits(text, 9)?);
    let date = Date::new(year, month([text[3], text[4], text[5]])?, two_digits(text, 0)?).ok()?;
    let second = match two_digits(text, 18)? {
        60 => 59,
        second => second,
    };
    let time = Time::new(two_digits(text, 12)?, two_digits(text, 15)?, second, 0).ok()?;
    let timestamp = offset(text)?.to_timestamp(date.to_datetime(time)).ok()?;
    Some(UtcTime::from(timestamp))
}

fn parse_rfc3339(text: &[u8]) -> Option<UtcTime> {
    if text.len() > RFC3339_BYTES_MAX {
        return None;
    }
    let timestamp: Timestamp = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(UtcTime::from(timestamp))
}

fn offset(text: &[u8; 26]) -> Option<Offset> {
    let (hours, minutes) = (i32::from(two_digits(text, 22)?), i32::from(two_digits(text, 24)?));
    let seconds = hours * 3600 + minutes * 60;
    let sign = match text[21] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    if minutes < 60 { Offset::from_seconds(sign * seconds).ok() } else { None }
}

/// By its English name in any case.
fn month(name: [u8; 3]) -> Option<i8> {
    let number = match &name.map(|byte| byte.to_ascii_lowercase()) {
        b"jan" => 1,
        b"feb" => 2,
        b"mar" => 3,
        b"apr" => 4,
        b"may" => 5,
        b"jun" => 6,
        b"jul" => 7,
        b"aug" => 8,
        b"sep" => 9,
        b"oct" => 10,
        b"nov" => 11,
        b"dec" => 12,
        _ => return None,
    };
    Some(number)
}

#[inline]
fn two_digits(text: &[u8; 26], at: usize) -> Option<i8> {
    match (text[at], text[at + 1]) {
        (tens @ b'0'..=b'9', ones @ b'0'..=b'9') => {
            Some(((tens - b'0') * 10 + (ones - b'0')) as i8)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = parse(text.as_bytes()).map(|time| time.to_string());
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn common_log_format() {
        check("17/Apr/2025:05:10:56 +0100", Some("2025-04-17T04:10:56Z"));
        check("29/feb/2024:00:00:00 +0000", Some("2024-02-29T00:00:00Z"));
        check("31/DEC/2023:23:59:60 -0330", Some("2024-01-01T03:29:59Z"));
        check("01/Jan/2025:00:00:00 +1400", Some("2024-12-31T10:00:00Z"));
        check("01/Jan/0000:00:00:00 +0000", Some("0000-01-01T00:00:00Z"));
    }

    #[test]
    fn no_time_of_the_calendar() {
        for text in [
            "",
            "-",
            "29/Feb/2025:00:00:00 +0000",
            "00/Apr/2025:00:00:00 +0000",
            "17/Foo/2025:00:00:00 +0000",
            "17/Apr/2025:24:00:00 +0000",
            "17/Apr/2025:00:60:00 +0000",
            "17/Apr/2025:00:00:61 +0000",
            "17/Apr/2025:00:00:00 +9900",
            "17/Apr/2025:00:00:00 +0160",
            "17/Apr/2025:00:00:00 00000",
            "17/Apr/2025:00:00:00",
            "17/Apr/2025 00:00:00 +0000",
            "+7/Apr/2025:00:00:00 +0000",
            "November 23, 2021T00:18:22 +0000",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn rfc3339() {
        check("2025-04-17T05:10:56+01:00", Some("2025-04-17T04:10:56Z"));
        check("2025-04-17T05:10:56.999Z", Some("2025-04-17T05:10:56Z"));
        check("2025-04-17T05:10:56", None);
        check(&format!("2025-04-17T05:10:56.{}Z", "0".repeat(1000)), None);
    }
}
