//! Logs that grow: what was read before is passed over, and the rest is added up by day.

use std::collections::BTreeMap;

use memchr::memrchr;

use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::checkpoint::{Checkpoint, Prefix};
use crate::input::chunks::Chunk;
use crate::input::source::{FileId, Source};
use crate::judge::Judge;
use crate::logs::format::Format;
use crate::time::Day;

use super::by_day::FileDays;
use super::identities::Identities;
use super::input_end::InputEnd;
use super::suspects::Suspects;
use super::tally::counter::Counter;
use super::worker::{Pass, Split};
use super::{Options, Progress, add_up, context};

/// A log to be read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Its place among all sources.
    pub file: FileId,
    /// How much of it.
    pub extent: Extent,
}

/// How much of a log is read.
#[derive(Clone, Debug)]
pub enum Extent {
    /// All.
    Whole,
    /// Whole lines, from where it was read so far; all of them if it was not.
    Rest {
        /// How far it was read.
        reached: Option<Checkpoint>,
        /// The day of the last line with a time before that.
        last_day: Option<Day>,
    },
}

/// How a log ended, as its reader saw it.
#[derive(Clone, Debug)]
pub struct ReadingEnd {
    /// Which log.
    pub file: FileId,
    /// What is to be told of it.
    pub input: InputEnd,
    /// How far it is read by now; `None` where it is not what it was when that was asked last.
    pub reached: Option<Checkpoint>,
}

/// What was added to some logs.
#[derive(Debug)]
pub struct Followed {
    /// Its sums by day. They hold no line of a log in which no day is known yet.
    pub days: BTreeMap<Day, Counter>,
    /// In the order of the readings.
    pub ends: Vec<(ReadingEnd, FileDays)>,
}

/// Adds up by day what `readings` of `sources` ask for. All sources are named, also those that are
/// not read: examples are told in their order.
///
/// # Errors
/// Where sums that must hold do not.
pub fn follow(
    sources: &[Source],
    readings: &[Reading],
    options: &Options,
    (judge, registry): (&Judge, &Registry),
    identities: &Identities,
    progress: &Progress,
) -> Result<Followed> {
    let mut context = context(sources, options, judge, registry, identities, Pass::Judge);
    context.split = Split::ByDay;
    let (counted, ends) = add_up(sources, readings, options, &context, progress, None)?;
    let mut last_days = BTreeMap::new();
    let mut lines_before = BTreeMap::new();
    for reading in readings {
        if let Extent::Rest { reached, last_day } = &reading.extent {
            last_days.extend(last_day.map(|day| (reading.file, day)));
            lines_before.insert(reading.file, reached.as_ref().map_or(0, |reached| reached.lines));
        }
    }
    let (days, files) = counted.by_day.into_days(&last_days);
    let ends = ends.into_iter().map(|end| {
        let of_file = files.get(&end.file).copied().unwrap_or_default();
        let before = lines_before.get(&end.file).copied().unwrap_or(0);
        let read = end.reached.as_ref().map_or(0, |reached| reached.lines - before);
        if read != of_file.lines {
            let name = &sources[end.file.index()].name;
            let lines = of_file.lines;
            let what = format!("{name}: {read} lines read, {lines} accounted for");
            return Err(Error::inconsistent(what));
        }
        Ok((end, of_file))
    });
    Ok(Followed { ends: ends.collect::<Result<_>>()?, days })
}

/// As [`suspects`](super::suspects()), of what `readings` ask for.
///
/// # Errors
/// Where threads cannot be started.
pub fn suspects_of(
    sources: &[Source],
    readings: &[Reading],
    options: &Options,
    (judge, registry): (&Judge, &Registry),
    identities: &Identities,
    progress: &Progress,
) -> Result<Suspects> {
    let context = context(sources, options, judge, registry, identities, Pass::CollectSuspects);
    let (counted, _) = add_up(sources, readings, options, &context, progress, None)?;
    Ok(Suspects::new(counted.collected.suspects))
}

impl ReadingEnd {
    /// Of a log that could not be opened.
    pub fn unopened(file: FileId, err: &Error) -> ReadingEnd {
        ReadingEnd { file, input: InputEnd::unopened(err), reached: None }
    }
}

/// What is known of a log while its rest is read.
pub(super) struct Following {
    from: Option<Checkpoint>,
    prefix: Prefix,
    is_changed: bool,
}

/// What is left of a chunk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Narrowed {
    /// Lines to be read.
    Read,
    /// Nothing: it was read before, or no line in it is whole.
    ReadBefore,
    /// Nothing: the log is not the one that was read before.
    Changed,
}

impl Following {
    /// `None` where a log is read whole.
    pub fn new(extent: &Extent) -> Option<Following> {
        let Extent::Rest { reached, .. } = extent else { return None };
        Some(Following { from: reached.clone(), prefix: Prefix::new(), is_changed: false })
    }

    /// Takes from `chunk`, the next one, what was read before and a line that has no end yet.
    pub fn narrow(&mut self, chunk: &mut Chunk, format: &mut Format) -> Narrowed {
        chunk.bytes.truncate(memrchr(b'\n', &chunk.bytes).map_or(0, |lf| lf + 1));
        if let Some(from) = self.from.as_ref().filter(|from| self.prefix.bytes() < from.bytes) {
            let missing = usize::try_from(from.bytes - self.prefix.bytes()).unwrap_or(usize::MAX);
            let known = missing.min(chunk.bytes.len());
            self.prefix.absorb(&chunk.bytes[..known]);
            format.advance(&chunk.bytes[..known]);
            if self.prefix.bytes() == from.bytes && self.prefix.hash() != from.hash {
                self.is_changed = true;
                return Narrowed::Changed;
            }
            chunk.bytes.drain(..known);
            chunk.first_line = self.prefix.lines() + 1;
        }
        if chunk.bytes.is_empty() {
            return Narrowed::ReadBefore;
        }
        self.prefix.absorb(&chunk.bytes);
        Narrowed::Read
    }

    /// How far it was read; `None` where it is not what was read before.
    pub fn reached(self) -> Option<Checkpoint> {
        let reached = self.prefix.reached();
        let is_short = self.from.is_some_and(|from| reached.bytes < from.bytes);
        (!self.is_changed && !is_short).then_some(reached)
    }
}
