//! The sums of each day apart, for whoever keeps them.
//!
//! A line belongs to the day of its time. A line without one, which is no record, belongs to the day
//! of the line before it; the first lines of a log belong to that of the first line that has one. So
//! it does not show where chunks were cut, or how much of a log was read at once.

use std::collections::BTreeMap;

use crate::input::chunks::Chunk;
use crate::input::lines::lines;
use crate::input::source::FileId;
use crate::logs::LineContent;
use crate::logs::format::Format;
use crate::merge::Merge;
use crate::time::{Day, UtcTime};

use super::input_tally::InputTally;
use super::tally::counter::Counter;
use super::tally::example::Position;
use super::worker::Worker;

/// What workers added up, by day.
#[derive(Clone, Debug, Default)]
pub struct ByDay {
    days: BTreeMap<Day, Counter>,
    /// Of each chunk, by its place in its file.
    edges: BTreeMap<(FileId, u64), Edge>,
    /// Lines of days that are not asked for.
    outside: BTreeMap<FileId, u64>,
}

/// What is known of a chunk's days.
#[derive(Clone, Debug, Default)]
struct Edge {
    /// Its lines before the first that has a time.
    leading: Option<Box<Counter>>,
    /// The day of that line.
    first: Option<Day>,
    /// The day of its last line that has a time.
    last: Option<Day>,
}

/// What became of the lines of one file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FileDays {
    /// The day of its last line that has a time; `None` where none has.
    pub last: Option<Day>,
    /// The latest day of any of its lines, which may come in any order.
    pub latest: Option<Day>,
    /// Lines that were looked at.
    pub lines: u64,
    /// Those of days that are not asked for.
    pub outside: u64,
    /// Those that are records, as far as they were read.
    pub parsed: u64,
    /// Those that are none.
    pub rejected: u64,
}

impl Merge for ByDay {
    fn absorb(&mut self, other: ByDay) {
        self.days.absorb(other.days);
        // A chunk has one worker.
        self.edges.extend(other.edges);
        for (file, lines) in other.outside {
            *self.outside.entry(file).or_default() += lines;
        }
    }
}

impl ByDay {
    /// The sums by day, and what became of each file; `last_days` has the days that the lines
    /// before these had. The lines of a file in which no day is known are in no sum.
    pub fn into_days(
        self,
        last_days: &BTreeMap<FileId, Day>,
    ) -> (BTreeMap<Day, Counter>, BTreeMap<FileId, FileDays>) {
        let ByDay { mut days, edges, outside } = self;
        let mut known: BTreeMap<FileId, FileDays> = BTreeMap::new();
        let mut waiting: BTreeMap<FileId, Counter> = BTreeMap::new();
        for (&file, &lines) in &outside {
            let of_file = known.entry(file).or_default();
            of_file.lines += lines;
            of_file.outside += lines;
        }
        for ((file, _), Edge { leading, first, last }) in edges {
            let of_file = known.entry(file).or_default();
            of_file.last = of_file.last.or_else(|| last_days.get(&file).copied());
            if let Some(leading) = leading {
                absorb_into(&mut waiting, file, *leading);
            }
            if let Some(day) = of_file.last.or(first)
                && let Some(tally) = waiting.remove(&file)
            {
                absorb_into(&mut days, day, tally);
            }
            of_file.last = last.or(of_file.last);
        }
        for (file, tally) in days.values().chain(waiting.values()).flat_map(|tally| &tally.files) {
            let of_file = known.entry(*file).or_default();
            of_file.lines += tally.lines();
            of_file.parsed += tally.parsed_lines();
            of_file.rejected += tally.rejected_lines();
        }
        for (&day, tally) in &days {
            for file in tally.files.keys() {
                known.entry(*file).or_default().latest = Some(day);
            }
        }
        days.retain(|_, tally| !tally.files.is_empty());
        (days, known)
    }
}

fn absorb_into<K: Ord>(counters: &mut BTreeMap<K, Counter>, key: K, counter: Counter) {
    match counters.get_mut(&key) {
        Some(known) => known.absorb(counter),
        None => drop(counters.insert(key, counter)),
    }
}

impl Worker<'_> {
    /// Adds up the lines of `chunk` by day, and gives how many there were.
    pub fn audit_by_day(&mut self, chunk: &Chunk, format: &Format) -> u64 {
        let mut reader = format.reader();
        self.turn_to(chunk.file);
        let mut position = Position { file: chunk.file, line: chunk.first_line };
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut edge = Edge::default();
        let mut tally = InputTally::default();
        let mut outside = 0;
        for line in lines(&chunk.bytes) {
            let read = reader.line(line);
            match self.day_of(&read) {
                Some(Err(OutsideTime)) => {
                    outside += 1;
                    position.line += 1;
                    continue;
                }
                Some(Ok(day)) if edge.last != Some(day) => {
                    self.put(&mut edge, &mut tally, chunk.file);
                    edge.first.get_or_insert(day);
                    edge.last = Some(day);
                    let known = self.by_day.days.remove(&day);
                    self.counter = known.unwrap_or_else(|| self.context.counter());
                    self.origins.forget();
                }
                Some(Ok(_)) | None => {}
            }
            tally.bytes += line.len() as u64 + 1;
            self.audit_line(line, &read, &mut scratch, position, &mut tally, None);
            position.line += 1;
        }
        self.put(&mut edge, &mut tally, chunk.file);
        self.scratch = scratch;
        self.by_day.edges.insert((chunk.file, chunk.sequence), edge);
        if outside > 0 {
            *self.by_day.outside.entry(chunk.file).or_default() += outside;
        }
        position.line - chunk.first_line
    }

    /// Puts away what was added up since the last change of days.
    fn put(&mut self, edge: &mut Edge, tally: &mut InputTally, file: FileId) {
        let tally = std::mem::take(tally);
        let mut sums = std::mem::replace(&mut self.counter, self.context.counter());
        self.origins.forget();
        sums.rows.bound_times(tally.crawler);
        let has_lines = tally.lines() > 0;
        if has_lines {
            sums.files.entry(file).or_default().absorb(tally);
        }
        match edge.last {
            Some(day) => drop(self.by_day.days.insert(day, sums)),
            None => edge.leading = has_lines.then(|| Box::new(sums)),
        }
    }

    /// `None` where the line has no time.
    fn day_of(&self, line: &LineContent<'_>) -> Option<Result<Day, OutsideTime>> {
        let LineContent::Fields(fields) = line else { return None };
        let time: UtcTime = fields.time()?;
        if !self.context.window.contains(time) {
            return Some(Err(OutsideTime));
        }
        Some(Ok(self.context.zone.day_of(time)))
    }
}

/// Nobody asked for the day of a line.
#[derive(Clone, Copy, Debug)]
struct OutsideTime;
