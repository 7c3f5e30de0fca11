//! Logs that grow: skips the lines that were read before, and counts the others by day.

use std::collections::BTreeMap;

use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::Source;
use crate::judge::Judge;
use crate::time::Day;

use super::extent::{Extent, ReadRange, ReadRangeEnd};
use super::{Options, Progress, add_up, context, day_counters::FileDays, identities::Identities};
use super::{tally::counter::Counter, worker::Pass};

/// The new lines of some logs.
#[derive(Debug)]
pub(crate) struct IncrementalTally {
    /// The sums by day, without logs that have no known day yet.
    pub days: BTreeMap<Day, Counter>,
    /// In the order of the ranges.
    pub ends: Vec<(ReadRangeEnd, FileDays)>,
}

/// Counts the lines in `ranges` of `sources` by day. `sources` has all sources, also those that are
/// not read, because their order decides between examples.
///
/// # Errors
/// If sums that must hold do not.
pub(crate) fn follow(
    sources: &[Source],
    ranges: &[ReadRange],
    options: &Options,
    (judge, registry): (&Judge, &Registry),
    identities: &Identities,
    progress: &Progress,
) -> Result<IncrementalTally> {
    let mut context = context(sources, options, judge, registry, identities, Pass::Judge);
    context.is_by_day = true;
    let (counted, ends) = add_up(sources, ranges, options, &context, progress, None)?;
    let mut last_days = BTreeMap::new();
    let mut lines_before = BTreeMap::new();
    for range in ranges {
        if let Extent::Rest { reached, last_day } = &range.extent {
            last_days.extend(last_day.map(|day| (range.file, day)));
            lines_before.insert(range.file, reached.as_ref().map_or(0, |reached| reached.lines));
        }
    }
    let (days, files) = counted.counters.into_days(&last_days);
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
    Ok(IncrementalTally { ends: ends.collect::<Result<_>>()?, days })
}
