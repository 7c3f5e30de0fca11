//! Points in time with a resolution of seconds, as in logs.

use std::{fmt, ops::Range};

use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// Seconds of a day.
pub(crate) const DAY_SECONDS: i64 = 86_400;

/// Seconds since 1970-01-01T00:00:00Z, between the years -9999 and 9999.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "i64")]
pub struct UtcTime(i64);

impl UtcTime {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: UtcTime = UtcTime(0);

    /// `None` outside the years that can be written.
    pub fn from_unix_seconds(seconds: i64) -> Option<UtcTime> {
        Timestamp::from_second(seconds).ok().map(|_| UtcTime(seconds))
    }

    /// Seconds since the epoch.
    pub fn unix_seconds(self) -> i64 {
        self.0
    }

    /// Whole minutes since the epoch, rounded down.
    #[doc(hidden)]
    pub fn unix_minute(self) -> i64 {
        self.0.div_euclid(60)
    }
}

impl TryFrom<i64> for UtcTime {
    type Error = &'static str;

    /// Converts seconds since the epoch.
    fn try_from(seconds: i64) -> Result<UtcTime, &'static str> {
        UtcTime::from_unix_seconds(seconds).ok_or("a time outside of the calendar")
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
        Timestamp::from_second(self.0).expect("the constructors checked the range").fmt(f)
    }
}

/// A day of the calendar, in the zone of the report.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "i32")]
pub struct Day(i32);

/// The first and the last day that can be written, in days since 1970.
const DAYS: std::ops::RangeInclusive<i32> = -4_371_587..=2_932_896;

impl Day {
    /// The days since 1970-01-01.
    #[inline]
    pub(crate) fn since_1970(self) -> i32 {
        self.0
    }
}

impl TryFrom<i32> for Day {
    type Error = &'static str;

    /// Converts days since 1970-01-01.
    fn try_from(days: i32) -> Result<Day, &'static str> {
        DAYS.contains(&days).then_some(Day(days)).ok_or("a day outside of the calendar")
    }
}

impl Day {
    /// Parses `2026-01-31`, and no other form.
    pub fn parse(text: &str) -> Option<Day> {
        let date: Date = text.parse().ok()?;
        let days = Date::constant(1970, 1, 1).until(date).ok()?.get_days();
        // The parser accepts other forms of dates, too.
        Some(Day(days)).filter(|day| day.to_string() == text)
    }

    /// The day that a text in another form means: `26.11.2026`, `11/26/2026`, `20261126`,
    /// `yesterday`. `None` if it may be two days, as `11/12/2026`.
    pub(crate) fn meant_by(text: &str) -> Option<Day> {
        let today = || Zone::default().day_of(Timestamp::now().into());
        match text.trim().to_ascii_lowercase().as_str() {
            "now" | "today" => return Some(today()),
            "yesterday" => return Some(today().plus(-1)),
            "tomorrow" => return Some(today().plus(1)),
            _ => {}
        }
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let parts: Vec<&str> = text.trim().split(['.', '/', '-', ' ']).collect();
        let (year, month, day) = match parts[..] {
            [date] if date.len() == 8 && date.is_ascii() => (&date[..4], &date[4..6], &date[6..]),
            [year, month, day] if year.len() == 4 => (year, month, day),
            [day, month, year] if year.len() == 4 && text.contains('.') => (year, month, day),
            [first, second, year] if year.len() == 4 => {
                let is_day = |part: &str| part.parse().is_ok_and(|number: u8| number > 12);
                match (is_day(first), is_day(second)) {
                    (true, false) => (year, second, first),
                    (false, true) => (year, first, second),
                    _ if first == second => (year, first, second),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let is_date = [year, month, day].iter().all(is_number);
        is_date.then(|| Day::parse(&format!("{year}-{month:0>2}-{day:0>2}"))).flatten()
    }

    /// `days` later, or earlier if it is negative; capped at the last day that can be written.
    pub(crate) fn plus(self, days: i32) -> Day {
        Day(self.0.saturating_add(days).clamp(*DAYS.start(), *DAYS.end()))
    }

    /// How many days `other` is later; negative if it is earlier.
    pub(crate) fn days_until(self, other: Day) -> i64 {
        i64::from(other.0) - i64::from(self.0)
    }
}

/// `2026-01-31`.
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Date::constant(1970, 1, 1).saturating_add(self.0.days()).fmt(f)
    }
}

/// An hour of local time; an hour that the clocks repeat is one.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Hour {
    /// The day.
    pub day: Day,
    /// 0 to 23.
    pub hour: u8,
}

/// `2026-01-31 23`.
impl fmt::Display for Hour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:02}", self.day, self.hour)
    }
}

/// The time zone of the days of a report; by default UTC.
#[derive(Clone, Debug, Default)]
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

    /// The time at which the clocks of this zone show `time`: the first one if they show it twice,
    /// and the time without the clock change if they skip it.
    pub(crate) fn time_of(&self, time: DateTime) -> Option<UtcTime> {
        let zoned = match &self.0 {
            None => time.to_zoned(TimeZone::UTC),
            Some(zone) => time.to_zoned(zone.clone()),
        };
        zoned.ok().map(|zoned| zoned.timestamp().into())
    }

    /// Parses `2026-01-31`, midnight in this zone, `2026-01-31T12:30[:15]`, in this zone, or RFC
    /// 3339 with its own offset. A fraction of a second is rounded up, because logs have whole
    /// seconds. A time that a clock change skips is read as if the clocks had not changed yet.
    pub(crate) fn parse(&self, text: &str) -> Option<UtcTime> {
        let (time, is_past_it) = match text.parse::<Timestamp>() {
            Ok(time) => (time.into(), time.subsec_nanosecond() > 0),
            Err(_) => {
                let time: DateTime = text.parse().ok()?;
                (self.time_of(time)?, time.subsec_nanosecond() > 0)
            }
        };
        UtcTime::from_unix_seconds(time.0 + i64::from(is_past_it))
    }

    /// The day of `time`.
    pub fn day_of(&self, time: UtcTime) -> Day {
        self.hour_of(time).day
    }

    /// The hour of `time`.
    pub(crate) fn hour_of(&self, time: UtcTime) -> Hour {
        let offset_seconds = match &self.0 {
            None => 0,
            Some(zone) => {
                let time =
                    Timestamp::from_second(time.0).expect("the constructors checked the range");
                i64::from(zone.to_offset(time).seconds())
            }
        };
        let shown = time.0 + offset_seconds;
        let day = Day(i32::try_from(shown.div_euclid(86_400)).expect("20,000 years have few days"));
        let hour = shown.rem_euclid(86_400) / 3_600;
        Hour { day, hour: u8::try_from(hour).expect("a day has 24 hours") }
    }
}

/// The hour of the last time that was asked for. Most times of a log are near the one before.
#[derive(Debug)]
pub(crate) struct LastHour {
    /// In seconds since the epoch, from the first to before the last: no time at first.
    seconds: Range<i64>,
    hour: Hour,
}

impl Default for LastHour {
    fn default() -> LastHour {
        LastHour { seconds: 0..0, hour: Hour { day: Day(0), hour: 0 } }
    }
}

impl LastHour {
    /// The hour of `time` in `zone`, always the same one.
    #[inline]
    pub(crate) fn of(&mut self, zone: &Zone, time: UtcTime) -> Hour {
        if !self.seconds.contains(&time.0) {
            self.turn_to(zone, time);
        }
        self.hour
    }

    #[inline(never)]
    fn turn_to(&mut self, zone: &Zone, time: UtcTime) {
        self.hour = zone.hour_of(time);
        self.seconds = match zone.0 {
            None => {
                let start = time.0 - time.0.rem_euclid(3_600);
                start..start + 3_600
            }
            // Clocks may change at any time.
            Some(_) => time.0..time.0 + 1,
        };
    }
}

/// A time window; its start is included and its end is not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Window {
    /// `None` means no limit.
    pub since: Option<UtcTime>,
    /// `None` means no limit.
    pub until: Option<UtcTime>,
}

impl Window {
    /// All of time.
    pub(crate) const ALWAYS: Window = Window { since: None, until: None };

    /// Whether `time` is in it.
    pub(crate) fn contains(self, time: UtcTime) -> bool {
        self.since.is_none_or(|since| since <= time) && self.until.is_none_or(|until| time < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn is_written_in_rfc3339_with_z() {
        let time = UtcTime::from_unix_seconds(1_744_863_056).unwrap();
        assert_eq!(time.to_string(), "2025-04-17T04:10:56Z");
    }

    #[test]
    fn days_are_written_as_a_calendar_has_them() {
        let days = [-719_528, -1, 0, 11_016, 11_017];
        let expected = ["0000-01-01", "1969-12-31", "1970-01-01", "2000-02-29", "2000-03-01"];
        assert_eq!(days.map(|day| Day(day).to_string()), expected);
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
    fn hours_are_those_that_the_clocks_show() {
        let check = |zone: &str, seconds: i64, expected: &str| {
            let time = UtcTime::from_unix_seconds(seconds).unwrap();
            assert_eq!(Zone::named(zone).unwrap().hour_of(time).to_string(), expected, "{zone}");
        };
        check("UTC", -1, "1969-12-31 23");
        check("UTC", 1_774_655_999, "2026-03-27 23");
        check("Asia/Kolkata", 1_774_655_999, "2026-03-28 05");
        // Berlin's clocks go from 2 to 3 at 01:00Z, and in autumn from 3 back to 2.
        check("Europe/Berlin", 1_774_745_999, "2026-03-29 01");
        check("Europe/Berlin", 1_774_746_000, "2026-03-29 03");
        check("Europe/Berlin", 1_792_888_200, "2026-10-25 02");
        check("Europe/Berlin", 1_792_891_800, "2026-10-25 02");
    }

    /// In any order, over nights in which clocks change, and in zones that are not whole hours away.
    #[test]
    fn the_last_hour_is_that_of_each_time() {
        let mut random = Random::new();
        for name in ["UTC", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe"] {
            let (zone, mut last) = (Zone::named(name).unwrap(), LastHour::default());
            for start in [-7_200, 1_774_738_800, 1_774_745_100, 1_792_887_300] {
                for _ in 0..2_000 {
                    let time = UtcTime::from_unix_seconds(start + random.below(9_000) as i64);
                    let time = time.unwrap();
                    assert_eq!(last.of(&zone, time), zone.hour_of(time), "{name} {time}");
                }
            }
        }
    }

    #[test]
    fn days_in_other_forms_are_recognised_if_they_are_one_day() {
        let check = |text: &str, expected: Option<&str>| {
            let found = Day::meant_by(text).map(|day| day.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        for text in [
            "26.11.2026",
            "26/11/2026",
            "11/26/2026",
            "26-11-2026",
            "2026/11/26",
            "2026.11.26",
            "20261126",
            " 26 11 2026 ",
        ] {
            check(text, Some("2026-11-26"));
        }
        check("1.2.2026", Some("2026-02-01"));
        check("2026-2-1", Some("2026-02-01"));
        check("11/11/2026", Some("2026-11-11"));
        for text in ["", "11/12/2026", "31.02.2026", "soon", "1.2.26", "+1.02.2026", "é.é.2026"] {
            check(text, None);
        }
        let days = ["yesterday", "Today", "tomorrow"].map(|text| Day::meant_by(text).unwrap());
        assert_eq!((days[0].plus(1), days[1].plus(1)), (days[1], days[2]));
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
    fn is_read_in_its_zone_unless_it_names_another() {
        let check = |zone: &str, text: &str, expected: Option<&str>| {
            let found = Zone::named(zone).unwrap().parse(text).map(|time| time.to_string());
            assert_eq!(found.as_deref(), expected, "{text} in {zone}");
        };
        check("UTC", "2026-01-31", Some("2026-01-31T00:00:00Z"));
        check("Europe/Berlin", "2026-01-31", Some("2026-01-30T23:00:00Z"));
        check("Europe/Berlin", "2026-07-31", Some("2026-07-30T22:00:00Z"));
        check("Europe/Berlin", "2026-01-31T12:30", Some("2026-01-31T11:30:00Z"));
        check("Europe/Berlin", "2026-01-31 12:30:15", Some("2026-01-31T11:30:15Z"));
        check("Europe/Berlin", "2026-01-31T12:30:15-08:00", Some("2026-01-31T20:30:15Z"));
        check("Europe/Berlin", "2026-01-31T12:30:15.2Z", Some("2026-01-31T12:30:16Z"));
        // The clocks skip this time.
        check("Europe/Berlin", "2026-03-29T02:30", Some("2026-03-29T01:30:00Z"));
        for text in ["", "yesterday", "2026-02-30", "31/Jan/2026", "12:30", "1769860800"] {
            check("UTC", text, None);
        }
    }

    #[test]
    fn a_window_holds_its_start_and_not_its_end() {
        let time = |seconds| UtcTime::from_unix_seconds(seconds);
        let window = Window { since: time(10), until: time(20) };
        let held: Vec<i64> = (5..25).filter(|&at| window.contains(time(at).unwrap())).collect();
        assert_eq!(held, (10..20).collect::<Vec<_>>());
        assert!(Window::ALWAYS.contains(time(-1).unwrap()));
    }

    #[test]
    fn refuses_what_no_calendar_can_write() {
        assert_eq!(UtcTime::from_unix_seconds(i64::MAX), None);
    }
}
