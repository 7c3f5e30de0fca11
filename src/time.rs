//! Points in time, to the second, as logs give them.

use std::fmt;

use jiff::Timestamp;

/// Seconds since 1970-01-01T00:00:00Z, between the years -9999 and 9999.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct UtcTime(i64);

impl UtcTime {
    /// `None` outside the years that can be written.
    pub fn from_unix_seconds(seconds: i64) -> Option<UtcTime> {
        Timestamp::from_second(seconds).ok().map(|_| UtcTime(seconds))
    }

    /// Seconds since the epoch.
    pub fn unix_seconds(self) -> i64 {
        self.0
    }

    /// Whole minutes since the epoch, rounded down.
    pub fn unix_minute(self) -> i64 {
        self.0.div_euclid(60)
    }
}

impl From<Timestamp> for UtcTime {
    fn from(time: Timestamp) -> UtcTime {
        UtcTime(time.as_second())
    }
}

/// RFC 3339 with `Z`, to the second: `2026-01-31T23:59:59Z`.
impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = Timestamp::from_second(self.0).expect("the constructors checked the range");
        time.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_in_rfc3339_with_z() {
        let time = UtcTime::from_unix_seconds(1_744_863_056).unwrap();
        assert_eq!(time.to_string(), "2025-04-17T04:10:56Z");
    }

    #[test]
    fn refuses_what_no_calendar_can_write() {
        assert_eq!(UtcTime::from_unix_seconds(i64::MAX), None);
    }
}
