//! Parses file names with an origin or a time.

use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use crate::time::UtcTime;
use crate::url::origin::Origin;

use crate::archive::directory::{exact_origin, looks_like_host};

/// The origins of `name`: one for `https_example.com_8443`, http and https for `example.com`, none
/// if it is not a host.
pub(crate) fn origins(name: &str) -> Vec<Origin> {
    if let Some(origin) = exact_origin(name) {
        return vec![origin];
    }
    let origin = |scheme: &[u8]| Origin::new(scheme, name.as_bytes(), None);
    let is_host = origin(b"http").is_some_and(|origin| looks_like_host(origin.host()));
    if is_host {
        [origin(b"http"), origin(b"https")].into_iter().flatten().collect()
    } else {
        vec![]
    }
}

/// Parses `2025-01-31T12:00:00Z` (with any offset), the same in UTC with `-` for `:` or without
/// separators, fourteen digits as in web archives, or a day, which means its midnight.
pub(crate) fn time(text: &str) -> Option<UtcTime> {
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Some(UtcTime::from(timestamp));
    }
    if let Ok(date) = text.parse::<Date>() {
        return utc(date.to_datetime(jiff::civil::Time::midnight()));
    }
    let digits: String = text.chars().filter(|c| !"-T".contains(*c)).collect();
    let digits = digits.strip_suffix('Z').unwrap_or(&digits);
    if digits.len() != 14 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| digits[from..to].parse::<i8>().ok();
    let date = Date::new(digits[..4].parse().ok()?, part(4, 6)?, part(6, 8)?).ok()?;
    let time = jiff::civil::Time::new(part(8, 10)?, part(10, 12)?, part(12, 14)?, 0).ok()?;
    utc(date.to_datetime(time))
}

fn utc(time: DateTime) -> Option<UtcTime> {
    Offset::UTC.to_timestamp(time).ok().map(UtcTime::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_times() {
        for text in [
            "2025-01-31T12:00:00Z",
            "2025-01-31T13:00:00+01:00",
            "2025-01-31T12:00:00.9Z",
            "2025-01-31T12-00-00Z",
            "20250131T120000Z",
            "20250131120000",
        ] {
            assert_eq!(time(text).unwrap().to_string(), "2025-01-31T12:00:00Z", "{text}");
        }
        assert_eq!(time("2025-01-31").unwrap().to_string(), "2025-01-31T00:00:00Z");
        for text in [
            "",
            "robots",
            "2025",
            "20251331120000",
            "2025-01-32",
            "2025013112000",
            "ä2025013112000",
        ] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn names_of_origins() {
        let check = |name: &str, expected: &[&str]| {
            let names: Vec<String> = origins(name).iter().map(Origin::to_string).collect();
            assert_eq!(names, expected, "{name}");
        };
        check("Example.com", &["http://example.com", "https://example.com"]);
        check("https_example.com_8443", &["https://example.com:8443"]);
        check("ftp_example.com_21", &["ftp://example.com"]);
        check("README", &[]);
        check("", &[]);
    }
}
