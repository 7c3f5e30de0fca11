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
    let year = i16::try_from(number(&text[7..11])?).ok()?;
    let date = Date::new(year, month(&text[3..6])?, number_i8(&text[0..2])?).ok()?;
    let second = match number_i8(&text[18..20])? {
        60 => 59,
        second => second,
    };
    let hour = number_i8(&text[12..14])?;
    let time = Time::new(hour, number_i8(&text[15..17])?, second, 0).ok()?;
    let timestamp = offset(&text[21..26])?.to_timestamp(date.to_datetime(time)).ok()?;
    Some(UtcTime::from(timestamp))
}

fn parse_rfc3339(text: &[u8]) -> Option<UtcTime> {
    if text.len() > RFC3339_BYTES_MAX {
        return None;
    }
    let timestamp: Timestamp = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(UtcTime::from(timestamp))
}

fn offset(text: &[u8]) -> Option<Offset> {
    let (hours, minutes) = (number(&text[1..3])?, number(&text[3..5])?);
    let seconds = hours * 3600 + minutes * 60;
    let sign = match text[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    if minutes < 60 { Offset::from_seconds(sign * seconds).ok() } else { None }
}

fn month(name: &[u8]) -> Option<i8> {
    const NAMES: [&[u8; 3]; 12] = [
        b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
        b"dec",
    ];
    (1..).zip(NAMES).find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(number, _)| number)
}

fn number_i8(digits: &[u8]) -> Option<i8> {
    i8::try_from(number(digits)?).ok()
}

/// Of at most four digits.
fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |sum, digit| {
        digit.is_ascii_digit().then(|| sum * 10 + i32::from(digit - b'0'))
    })
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
