//! The times of successive lines, most of which are in the minute of the line before.

use crate::time::UtcTime;

use super::time::{Time, parse, two_digits};

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
    /// Whether `time` has a usual form and is in the minute of the last such time, which it then is for
    /// the next one.
    #[inline(always)]
    pub(crate) fn is_of(&mut self, time: Time<'_>) -> bool {
        self.second_of(time).is_some()
    }

    /// The second of a `time` in that minute.
    #[inline(always)]
    fn second_of(&mut self, time: Time<'_>) -> Option<i8> {
        let (Time::Text(text) | Time::Local(text, _)) = time else { return None };
        match text.len() {
            26 => self.second_in::<26, 18>(text),
            25 => self.second_in::<25, 17>(text),
            20 => self.second_in::<20, 17>(text),
            _ => None,
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
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::time::Zone;

    /// Times of usual forms, others of the same lengths, and damaged ones, in any order.
    #[test]
    fn a_time_is_of_the_last_minute_if_nothing_but_the_second_differs() {
        let forms = [
            "17/Apr/2025:05:1M:SS +0100",
            "17/Apr/2025:05:1M:SS +0200",
            "2025-04-17T05:1M:SS+01:00",
            "2025-04-17T05:1M:SSZ",
            "2025-04-17 05:1M:SS.123456",
            "7/Apr/2025:05:1M:SS +0100",
            "Thu Apr 17 05:1M:SS 2025 ",
            "2025-04-17T05:1M:SS",
        ];
        let (mut random, mut minute) = (Random::new(), LastMinute::default());
        let (mut last, mut same) = (None, 0);
        for _ in 0..20_000 {
            let usual_or_all = [3, forms.len()][random.below(2)];
            let form = forms[random.below(usual_or_all)];
            let form = form.replace('M', ["2", "3"][random.below(2)]);
            let text = form.replace("SS", ["00", "07", "59", "60", "x1"][random.below(5)]);
            let has_minute = second_of_form(text.as_bytes()).is_some();
            let is_last = last.as_ref() == Some(&form);
            let is_same = minute.is_of(Time::Text(text.as_bytes()));
            assert_eq!(is_same, has_minute && is_last, "{last:?} {text}");
            same += u32::from(is_same);
            if matches!(text.len(), 20 | 25 | 26) && !is_last {
                last = has_minute.then_some(form);
            }
        }
        assert!(same > 400, "{same}");
    }

    #[test]
    fn a_clock_reads_what_was_written() {
        let mut clock = Clock::default();
        for text in [
            "17/Apr/2025:05:10:56 +0100",
            "17/Apr/2025:05:10:59 +0100",
            "17/Apr/2025:05:10:60 +0100",
            "17/Apr/2025:05:10:61 +0100",
            "17/Apr/2025:05:10:7x +0100",
            "17/Apr/2025:05:10:00 +0000",
            "17/Apr/2025:05:11:00 +0000",
            "17/Apr/2025:05:11:00.5 +0000",
            "31/Feb/2025:05:11:00 +0000",
            "31/Feb/2025:05:11:01 +0000",
            "17/Apr/2025:05:11:01 +0000",
            "2025-04-17T05:11:01+00:00x",
            "2025-04-17T05:11:02.0+0000",
            "2025-04-17T05:11:02.0+00:0",
            "2025-04-17T05:11:02+01:00",
            "2025-04-17T05:11:59+01:00",
            "2025-04-17T05:11:60+01:00",
            "2025-04-17T05:11:7x+01:00",
            "2025-04-17T05:11:03+01:30",
            "2025-04-17T05:11:03+01300",
            "2025-04-17T05:11:03.1234Z",
            "2025-04-17T05:11:04.1234Z",
            "2025-04-17T05:11:04.123456",
            "2025-04-17T05:12:04Z",
            "2025-04-17T05:12:05Z",
            "2025-04-17T05:12:05z",
            "2025-04-17T05:12:05 ",
            "2025-04-17T05:12:06Z\0",
            "2025-04-17T05:12+01:02:03",
            "2025-04-17T05:12+01:02:04",
            "2025-02-30T05:12:05Z",
            "2025-02-30T05:12:06Z",
            "1744863056",
        ] {
            let zone = Zone::named("Europe/Berlin").unwrap();
            for time in [Time::Text(text.as_bytes()), Time::Local(text.as_bytes(), &zone)] {
                assert_eq!(clock.read(time), time.read(), "{text}");
            }
            if let Ok(usual) = text.as_bytes().try_into() {
                assert_eq!(clock.read_text(usual), Time::Text(usual).read(), "{text}");
            }
        }
    }
}
