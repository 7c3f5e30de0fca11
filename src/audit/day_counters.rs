//! The counter of each line: one for all lines, or one for each day.
//!
//! A line belongs to the day of its time. A rejected line without a time belongs to the day of the
//! line before it, and the first lines of a log to the day of the first line with a time. So the
//! result does not depend on chunks, or on how much of a log is read at once.

use std::collections::BTreeMap;

use crate::input::source::FileId;
use crate::merge::Merge;
use crate::time::{Day, UtcTime, Window, Zone};

use super::{input_tally::InputTally, tally::counter::Counter};

/// The lines that one counter counts.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum DayKey {
    /// All lines, without days.
    AllDays,
    /// The lines of one day.
    Day(Day),
    /// The lines of days outside of the window.
    Outside,
    /// The lines of a chunk before the first one with a time.
    Leading(ChunkPosition),
}

/// A file, and the index of a chunk in it.
pub(crate) type ChunkPosition = (FileId, u64);

/// The counters, by the lines that they count.
#[derive(Clone, Debug, Default)]
pub(crate) struct DayCounters {
    counters: BTreeMap<DayKey, Counter>,
    /// The days of each chunk, if days are counted separately.
    chunks: BTreeMap<ChunkPosition, ChunkDays>,
}

/// The days of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkDays {
    position: ChunkPosition,
    /// The day of its first line with a time.
    first: Option<Day>,
    /// The day of its last line with a time so far.
    last: Option<Day>,
}

/// The counts of the lines of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FileDays {
    /// The day of its last line with a time; `None` if there is none.
    pub last: Option<Day>,
    /// The latest day of its lines, which may have any order.
    pub latest: Option<Day>,
    /// All lines.
    pub tally: InputTally,
    /// The lines of days outside of the window.
    pub outside: u64,
}

impl ChunkDays {
    /// The days of the chunk at `position`, before its first line.
    pub(crate) fn new(position: ChunkPosition) -> ChunkDays {
        ChunkDays { position, first: None, last: None }
    }

    /// The counter of the next line.
    pub(crate) fn key_of(&mut self, time: Option<UtcTime>, zone: &Zone, window: Window) -> DayKey {
        if let Some(time) = time {
            if !window.contains(time) {
                return DayKey::Outside;
            }
            let day = zone.day_of(time);
            self.first.get_or_insert(day);
            self.last = Some(day);
        }
        self.last.map_or(DayKey::Leading(self.position), DayKey::Day)
    }
}

impl DayCounters {
    /// Takes out the counter of `key`, if there is one.
    pub(crate) fn take(&mut self, key: DayKey) -> Option<Counter> {
        self.counters.remove(&key)
    }

    /// Puts back the counter of `key`, unless it has counted nothing.
    pub(crate) fn put(&mut self, key: DayKey, counter: Counter) {
        if !counter.files.is_empty() {
            self.counters.insert(key, counter);
        }
    }

    /// Adds the days of a finished chunk.
    pub(crate) fn add_chunk(&mut self, days: ChunkDays) {
        self.chunks.insert(days.position, days);
    }

    /// The counters by day, and the counts of each file. `last_days` has the last day of each file
    /// before these lines. Lines of a file without any known day are not counted.
    pub(crate) fn into_days(
        self,
        last_days: &BTreeMap<FileId, Day>,
    ) -> (BTreeMap<Day, Counter>, BTreeMap<FileId, FileDays>) {
        let DayCounters { mut counters, chunks } = self;
        let mut files: BTreeMap<FileId, FileDays> = BTreeMap::new();
        for (key, counter) in &counters {
            for (file, tally) in &counter.files {
                let of_file = files.entry(*file).or_default();
                of_file.tally.absorb(tally.clone());
                if *key == DayKey::Outside {
                    of_file.outside += tally.lines();
                }
            }
        }
        let mut days: BTreeMap<Day, Counter> = BTreeMap::new();
        let mut waiting: BTreeMap<FileId, Counter> = BTreeMap::new();
        for (position @ (file, _), ChunkDays { first, last, .. }) in chunks {
            let of_file = files.entry(file).or_default();
            of_file.last = of_file.last.or_else(|| last_days.get(&file).copied());
            let leading = counters.remove(&DayKey::Leading(position));
            waiting.absorb(leading.into_iter().map(|counter| (file, counter)).collect());
            if let Some(day) = of_file.last.or(first)
                && let Some(counter) = waiting.remove(&file)
            {
                days.absorb(BTreeMap::from([(day, counter)]));
            }
            of_file.last = last.or(of_file.last);
        }
        days.absorb(counters.into_iter().filter_map(of_day).collect());
        for (&day, counter) in &days {
            for file in counter.files.keys() {
                files.entry(*file).or_default().latest = Some(day);
            }
        }
        (days, files)
    }
}

fn of_day((key, counter): (DayKey, Counter)) -> Option<(Day, Counter)> {
    match key {
        DayKey::Day(day) => Some((day, counter)),
        DayKey::AllDays | DayKey::Outside | DayKey::Leading(_) => None,
    }
}

impl Merge for DayCounters {
    fn absorb(&mut self, other: DayCounters) {
        let DayCounters { counters, chunks } = other;
        self.counters.absorb(counters);
        // A chunk has one worker.
        self.chunks.extend(chunks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tally::counter::TallyLimits;

    /// The lines of each chunk that are outside of the time window.
    const OUTSIDE: u64 = 7;

    /// The lines of one file by day. Each chunk has the days of its first and last line with a
    /// time, and the number of lines before the first.
    #[track_caller]
    fn check(
        chunks: &[(Option<(&str, &str)>, u64)],
        last_day: Option<&str>,
        expected: &[(&str, u64)],
        expected_last: Option<&str>,
    ) {
        let day = |text: &str| Day::parse(text).unwrap();
        let file = FileId::from_index(3);
        let mut whole = DayCounters::default();
        // Workers may finish in any order.
        for (sequence, (days, leading)) in chunks.iter().enumerate().rev() {
            let position = (file, sequence as u64);
            let first = days.map(|(first, _)| day(first));
            let last = days.map(|(_, last)| day(last));
            let mut counted = DayCounters::default();
            counted.add_chunk(ChunkDays { position, first, last });
            let of_days = [first, last].into_iter().flatten().map(|day| (DayKey::Day(day), 1));
            let outside = (DayKey::Outside, OUTSIDE);
            for (key, other) in of_days.chain([(DayKey::Leading(position), *leading), outside]) {
                let mut counter = counted
                    .take(key)
                    .unwrap_or_else(|| Counter::new(TallyLimits::default(), Vec::new().into()));
                if other > 0 {
                    let lines = InputTally { other, ..InputTally::default() };
                    counter.files.entry(file).or_default().absorb(lines);
                }
                counted.put(key, counter);
            }
            whole.absorb(counted);
        }
        let last_days = last_day.map(|last| (file, day(last))).into_iter().collect();
        let (days, files) = whole.into_days(&last_days);
        let found: Vec<(Day, u64)> =
            days.iter().map(|(day, counter)| (*day, counter.files[&file].lines())).collect();
        let expected: Vec<(Day, u64)> =
            expected.iter().map(|(text, lines)| (day(text), *lines)).collect();
        assert_eq!(found, expected);
        let timed = 2 * chunks.iter().flat_map(|(days, _)| days).count() as u64;
        let outside = OUTSIDE * chunks.len() as u64;
        let all = timed + outside + chunks.iter().map(|(_, leading)| leading).sum::<u64>();
        assert_eq!(files[&file].outside, outside);
        assert_eq!((files[&file].tally.lines(), files[&file].last), (all, expected_last.map(day)));
    }

    #[test]
    fn lines_without_a_time_belong_to_the_day_before_them() {
        let (first, second, third) = ("2026-03-01", "2026-03-02", "2026-03-03");
        let chunks = [(None, 2), (Some((first, second)), 3), (None, 4), (Some((third, third)), 5)];
        check(&chunks, None, &[(first, 6), (second, 10), (third, 2)], Some(third));
        check(&chunks[2..], Some(second), &[(second, 9), (third, 2)], Some(third));
        check(&chunks[..1], Some(second), &[(second, 2)], Some(second));
        check(&chunks[..1], None, &[], None);
    }
}
