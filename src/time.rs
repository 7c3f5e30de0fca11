//! Points in time, to the second, as logs give them.

use std::fmt;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

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

/// A day of the calendar, in the zone of the report.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Day(i32);

/// `2026-01-31`.
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = Date::constant(1970, 1, 1).saturating_add(self.0.days());
        date.fmt(f)
    }
}

/// The zone whose midnights part the days of a report.
#[derive(Clone, Debug)]
pub struct Zone(Option<TimeZone>);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Zone = Zone(None);

    /// By IANA name (`Europe/Berlin`); `None` if there is no such zone.
    pub fn named(name: &str) -> Option<Zone> {
        if name.eq_ignore_ascii_case("UTC") {
            return Some(Zone::UTC);
        }
        TimeZone::get(name).ok().map(|zone| Zone(Some(zone)))
    }

    /// When the clocks of this zone show `time`; the first time where they do so twice, and as
    /// if they had not been put forward where they never do.
    pub fn time_of(&self, time: DateTime) -> Option<UtcTime> {
        let zoned = match &self.0 {
            None => time.to_zoned(TimeZone::UTC),
            Some(zone) => time.to_zoned(zone.clone()),
        };
        zoned.ok().map(|zoned| zoned.timestamp().into())
    }

    /// The day in which `time` falls.
    pub fn day_of(&self, time: UtcTime) -> Day {
        let offset_seconds = match &self.0 {
            None => 0,
            Some(zone) => {
                let time =
                    Timestamp::from_second(time.0).expect("the constructors checked the range");
                i64::from(zone.to_offset(time).seconds())
            }
        };
        let day = (time.0 + offset_seconds).div_euclid(86_400);
        Day(i32::try_from(day).expect("20,000 years have few days"))
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
    fn days_begin_at_the_midnight_of_their_zone() {
        let check = |zone: &str, seconds: i64, expected: &str| {
            let time = UtcTime::from_unix_seconds(seconds).unwrap();
            assert_eq!(
                Zone::named(zone).unwrap().day_of(time).to_string(),
                expected,
                "{zone} {time}"
            );
        };
        check("UTC", 0, "1970-01-01");
        check("UTC", -1, "1969-12-31");
        check("UTC", 1_774_655_999, "2026-03-27");
        check("Europe/Berlin", 1_774_655_999, "2026-03-28");
        // The night in which Berlin's clocks go forward: 2026-03-29T22:30Z is half past midnight.
        check("Europe/Berlin", 1_774_823_400, "2026-03-30");
        check("America/New_York", 1_774_655_999, "2026-03-27");
        assert!(Zone::named("Europe/Atlantis").is_none());
    }

    #[test]
    fn clocks_of_a_zone_show_a_time_once_twice_or_never() {
        let check = |zone: &str, time: &str, expected: &str| {
            let found = Zone::named(zone).unwrap().time_of(time.parse().unwrap());
            assert_eq!(found.unwrap().to_string(), expected, "{zone} {time}");
        };
        check("UTC", "2026-03-28T12:00:00", "2026-03-28T12:00:00Z");
        check("Europe/Berlin", "2026-03-28T12:00:00", "2026-03-28T11:00:00Z");
        check("Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00Z");
        check("Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:30:00Z");
    }

    #[test]
    fn refuses_what_no_calendar_can_write() {
        assert_eq!(UtcTime::from_unix_seconds(i64::MAX), None);
    }
}
