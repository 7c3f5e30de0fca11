//! The times of lines: parsed, and those of successive lines, most of which are in the minute of the line before.

use jiff::civil::{Date, DateTime, Time as TimeOfDay};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, fmt::strtime};
use memchr::memchr;

use crate::time::{UtcTime, Zone};

/// RFC 3339 with a fraction is shorter.
const RFC3339_BYTES_MAX: usize = 40;

/// The longest text of a time with a pattern.
const PATTERN_BYTES_MAX: usize = 100;

/// A time as written in the line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Time<'a> {
    /// With its own zone, or a number since the epoch.
    Text(&'a [u8]),
    /// The same; a date in digits has the month first.
    MonthFirst(&'a [u8]),
    /// Without a zone, it is in this one.
    Local(&'a [u8], &'a Zone),
    /// Two columns, `2026-01-31` and `23:59:59`.
    Columns(&'a [u8], &'a [u8], &'a Zone),
    /// With this strftime pattern; without a zone, it is in this one.
    Pattern(&'a [u8], &'a str, &'a Zone),
}

impl Default for Time<'_> {
    fn default() -> Self {
        Time::Text(b"-")
    }
}

impl Time<'_> {
    /// `None` if it is not a time of the calendar.
    #[inline]
    pub(crate) fn read(self) -> Option<UtcTime> {
        match self {
            Time::Text(text) => parse(text),
            Time::MonthFirst(text) => match numeric_date(text) {
                Some(_) => parse_in_digits(text, true),
                None => parse(text),
            },
            Time::Local(text, zone) => parse(text).or_else(|| zone.time_of(parse_civil(text)?)),
            Time::Columns(date, time, zone) => {
                let mut text = [b'T'; RFC3339_BYTES_MAX];
                let length = date.len() + 1 + time.len();
                text.get_mut(..date.len())?.copy_from_slice(date);
                text.get_mut(date.len() + 1..length)?.copy_from_slice(time);
                zone.time_of(parse_civil(&text[..length])?)
            }
            Time::Pattern(text, pattern, zone) => parse_pattern(text, pattern, zone),
        }
    }
}

/// The time with which patterns are tested.
const SAMPLE: Timestamp = Timestamp::constant(1_744_863_056, 0);

/// Whether times with this strftime pattern can be parsed.
pub(crate) fn can_read(pattern: &str) -> bool {
    written(pattern).is_some_and(|text| {
        parse_pattern(text.as_bytes(), pattern, &Zone::UTC) == Some(UtcTime::from(SAMPLE))
    })
}

/// A time written with this strftime pattern; `None` if the pattern is invalid.
pub(crate) fn written(pattern: &str) -> Option<String> {
    strtime::format(pattern, &SAMPLE.to_zoned(TimeZone::UTC)).ok()
}

fn parse_pattern(text: &[u8], pattern: &str, zone: &Zone) -> Option<UtcTime> {
    if text.len() > PATTERN_BYTES_MAX {
        return None;
    }
    let parsed = strtime::parse(pattern, text).ok()?;
    match parsed.to_timestamp() {
        Ok(timestamp) => Some(timestamp.into()),
        Err(_) => zone.time_of(parsed.to_datetime().ok()?),
    }
}

/// Parses `17/Apr/2025:05:10:56 +0100`, RFC 3339, or a number since 1970. `None` if it is not a
/// time of the calendar. A leap second counts as the second before it.
#[inline]
pub(super) fn parse(text: &[u8]) -> Option<UtcTime> {
    match text.get(2) {
        Some(b'/') => match text.try_into() {
            Ok(text) => parse_clf(text),
            Err(_) => parse_clf_with_fraction(text).or_else(|| parse_in_digits(text, false)),
        },
        _ => match text.get(4) {
            Some(b'-') => parse_rfc3339(text),
            _ => parse_epoch(text),
        },
    }
}

/// `17/Apr/2025:05:10:56.123 +0100`; the fraction is dropped.
fn parse_clf_with_fraction(text: &[u8]) -> Option<UtcTime> {
    let fraction =
        text.get(20..)?.strip_prefix(b".").filter(|_| text.len() <= RFC3339_BYTES_MAX)?;
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut whole = [0; 26];
    whole[..20].copy_from_slice(&text[..20]);
    let zone: [u8; 6] = fraction[digits..].try_into().ok()?;
    whole[20..].copy_from_slice(&zone);
    parse_clf(&whole)
}

/// `17/04/2025:05:10:56 +0000`
pub(crate) const NUMERIC_TIME_BYTES: usize = 25;

/// The first two numbers of a time with its date in digits.
pub(crate) fn numeric_date(text: &[u8]) -> Option<(i8, i8)> {
    let text: &[u8; NUMERIC_TIME_BYTES] = text.try_into().ok()?;
    let is_date = text[2] == b'/' && text[5] == b'/' && text[10] == b':';
    is_date.then_some((two_digits(text, 0)?, two_digits(text, 3)?))
}

/// `17/04/2025:05:10:56 +0000`, as the common log format orders it, or cPanel's `04/17/2025:05:10:56 -0000`, with
/// the month first.
fn parse_in_digits(text: &[u8], is_month_first: bool) -> Option<UtcTime> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let (first, second) = numeric_date(text)?;
    let (month, day_at) = if is_month_first { (first, 3) } else { (second, 0) };
    let month = usize::try_from(month.checked_sub(1)?).ok()?;
    let mut whole = [0; 26];
    whole[..2].copy_from_slice(&text[day_at..day_at + 2]);
    whole[2] = b'/';
    whole[3..6].copy_from_slice(MONTHS.chunks_exact(3).nth(month)?);
    whole[6..].copy_from_slice(&text[5..]);
    parse_clf(&whole)
}

/// Seconds, or milli-, micro- or nanoseconds depending on the size; the fraction is dropped. A
/// number of seconds after the year 5138 is read as milliseconds.
fn parse_epoch(text: &[u8]) -> Option<UtcTime> {
    let whole = &text[..memchr(b'.', text).unwrap_or(text.len())];
    let fraction = text.get(whole.len() + 1..).unwrap_or_default();
    if whole.is_empty() || whole.len() > 19 || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let count = whole.iter().try_fold(0_i64, |sum, &digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })?;
    let units_per_second = match whole.len() {
        ..=11 => 1,
        12..=14 => 1_000,
        15..=17 => 1_000_000,
        _ => 1_000_000_000,
    };
    UtcTime::from_unix_seconds(count / units_per_second)
}

/// `17/Apr/2025:05:10:56`, `2025-04-17 05:10:56` or `2025/04/17 05:10:56`, each with or without a
/// fraction.
fn parse_civil(text: &[u8]) -> Option<DateTime> {
    if text.get(2) == Some(&b'/') {
        let fraction = text.get(20..)?;
        let is_fraction = match fraction {
            [] => true,
            [b'.', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        let mut whole = *b"dd/Mon/yyyy:hh:mm:ss +0000";
        whole[..20].copy_from_slice(&text[..20]);
        return if is_fraction { clf_date_time(&whole) } else { None };
    }
    if text.len() <= RFC3339_BYTES_MAX && text.get(4) == Some(&b'/') && text.get(7) == Some(&b'/') {
        let mut dashed = [0; RFC3339_BYTES_MAX];
        dashed[..text.len()].copy_from_slice(text);
        (dashed[4], dashed[7]) = (b'-', b'-');
        return parse_civil(&dashed[..text.len()]);
    }
    if text.len() > RFC3339_BYTES_MAX || text.get(4) != Some(&b'-') {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The common log format has fixed positions.
fn parse_clf(text: &[u8; 26]) -> Option<UtcTime> {
    let timestamp = offset(text)?.to_timestamp(clf_date_time(text)?).ok()?;
    Some(UtcTime::from(timestamp))
}

#[inline]
fn clf_date_time(text: &[u8; 26]) -> Option<DateTime> {
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
    let time = TimeOfDay::new(two_digits(text, 12)?, two_digits(text, 15)?, second, 0).ok()?;
    Some(date.to_datetime(time))
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

/// A month by its English name in any case.
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
pub(super) fn two_digits(text: &[u8], at: usize) -> Option<i8> {
    match (text[at], text[at + 1]) {
        (tens @ b'0'..=b'9', ones @ b'0'..=b'9') => {
            Some(((tens - b'0') * 10 + (ones - b'0')) as i8)
        }
        _ => None,
    }
}

/// Parses the times of successive lines, most of which differ only in the second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    minute: LastMinute,
    /// The start of that minute, in seconds since the epoch.
    start: i64,
}

impl Clock {
    /// The same as [`Time::read`], but faster within the same minute.
    #[inline]
    pub(crate) fn read(&mut self, time: Time<'_>) -> Option<UtcTime> {
        match self.minute.second_of(time) {
            Some(second) => UtcTime::from_unix_seconds(self.start + i64::from(second)),
            None => self.turn_to(time),
        }
    }

    /// The same for `17/Apr/2025:05:10:56 +0100`, or another text of that length.
    #[inline(always)]
    pub(crate) fn read_text(&mut self, text: &[u8; 26]) -> Option<UtcTime> {
        match self.minute.second_in::<26, 18>(text) {
            Some(second) => UtcTime::from_unix_seconds(self.start + i64::from(second)),
            None => self.turn_to(Time::Text(text)),
        }
    }

    #[inline(never)]
    fn turn_to(&mut self, time: Time<'_>) -> Option<UtcTime> {
        let (Time::Text(text) | Time::Local(text, _)) = time else { return time.read() };
        // A time in a zone of the caller is not kept: a minute of it may have two offsets.
        let Some((read, second)) = parse(text).zip(second_of_form(text)) else {
            self.minute.forget();
            return time.read();
        };
        self.start = read.unix_seconds() - i64::from(second);
        Some(read)
    }
}

/// The minute of the last line, as written, so that most lines need no more than a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastMinute {
    /// In bytes; 0 if there is none.
    length: usize,
    /// The first and the last 16 bytes, without those of the second.
    words: (u128, u128),
}

impl LastMinute {
    /// Whether `time` has a usual form and is in the minute of the time before, which it then is for
    /// the next one.
    #[inline(always)]
    pub(crate) fn is_of(&mut self, time: Time<'_>) -> bool {
        self.second_of(time).is_some()
    }

    /// The second of a `time` in that minute.
    #[inline(always)]
    fn second_of(&mut self, time: Time<'_>) -> Option<i8> {
        let (Time::Text(text) | Time::MonthFirst(text) | Time::Local(text, _)) = time else {
            return self.forget_and_none();
        };
        match text.len() {
            26 => self.second_in::<26, 18>(text),
            25 => self.second_in::<25, 17>(text),
            20 => self.second_in::<20, 17>(text),
            _ => self.forget_and_none(),
        }
    }

    /// The same for a time of this length, with its second at `SECOND_AT`.
    #[inline(always)]
    fn second_in<const LENGTH: usize, const SECOND_AT: usize>(
        &mut self,
        text: &[u8],
    ) -> Option<i8> {
        let text: &[u8; LENGTH] = text.try_into().ok()?;
        let word = |at: usize| text[at..].first_chunk().map(|bytes| u128::from_le_bytes(*bytes));
        let (first, last) = (word(0)?, word(LENGTH - 16)?);
        let words = (first, last & !(0xffff << (8 * (SECOND_AT + 16 - LENGTH))));
        if self.words != words || self.length != LENGTH {
            self.turn_to(text, words);
            return None;
        }
        two_digits(text, SECOND_AT).filter(|second| *second <= 59)
    }

    #[inline(never)]
    fn turn_to(&mut self, text: &[u8], words: (u128, u128)) {
        let length = if second_of_form(text).is_some() { text.len() } else { 0 };
        *self = LastMinute { length, words };
    }

    #[cold]
    fn forget_and_none(&mut self) -> Option<i8> {
        self.forget();
        None
    }

    /// No time is in the last minute any more.
    pub(crate) fn forget(&mut self) {
        *self = LastMinute::default();
    }
}

/// The second of `17/Apr/2025:05:10:56 +0100`, `2025-04-17T05:10:56+01:00` or `2025-04-17T04:10:56Z`; `None` in
/// other forms, and for leap seconds.
fn second_of_form(text: &[u8]) -> Option<i8> {
    let at = match (text.len(), text) {
        (26, [_, _, b'/', ..]) => 18,
        (25 | 20, [_, _, _, _, b'-', _, _, b'-', _, _, b'T', _, _, b':', _, _, b':', ..]) => 17,
        _ => return None,
    };
    two_digits(text, at).filter(|second| *second <= 59)
}

#[cfg(test)]
mod tests;
