//! The audit of logs: files in, one checked tally out. Of logs that grow, the lines that were read before are skipped,
//! and the others are counted by day.
//!
//! Threads open files, decompress them and split them into chunks of whole lines. Threads without a file
//! count chunks of others, and the sums are merged. Only finished sums leave a worker, so reports do not
//! depend on the number of threads or the size of chunks.

mod cells;
pub mod client;
pub mod client_rows;
pub mod collected_file;
pub mod conduct;
pub mod coverage;
pub mod crawler_row;
pub mod day_counters;
pub mod distinct;
pub(crate) mod dns_names;
pub mod draft;
pub mod evidence;
pub mod extent;
pub mod hours;
pub mod identities;
mod identity_warnings;
pub mod input_tally;
pub mod log_outages;
mod log_reader;
pub mod memory_limit;
pub mod model;
mod nothing_judged;
pub mod options;
pub mod origin_key;
pub mod origin_options;
pub mod own_site;
mod packed;
pub mod parse_rate;
pub mod path_rows;
pub mod prepass;
pub mod prior_fetches;
pub mod probe;
pub mod progress;
pub mod promises;
pub mod quotes;
pub mod reaction_rows;
pub mod referral_rows;
pub mod refetches;
pub mod reject_tally;
pub mod repeated_content;
pub mod same_requests;
pub mod sample_tally;
pub mod sessions;
pub(crate) mod shares;
pub mod sites;
pub mod snapshots;
pub mod tally;
pub mod unknown;
mod warnings;
pub mod worker;

use std::collections::BTreeMap;

use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::open::open;
use crate::input::source::{FileId, Source};
use crate::judge::Judge;
use crate::merge::Merge;
use crate::pipeline::files;
use crate::time::Day;

use day_counters::{DayKey, FileDays};
use evidence::EvidenceSink;
use extent::{Extent, InputEnd, ReadRange, ReadRangeEnd};
use identities::Identities;
use log_reader::{LogReader, LogWorker, SpareBuffers};
use options::Options;
use own_site::OwnSite;
use prepass::{Collected, FirstPass};
use progress::Progress;
use sessions::Sessions;
use sites::Sites;
use tally::build::{self, Run};
use tally::{Tally, counter::Counter, header};
use worker::{Context, Pass, Worker, WorkerCounts};

/// Audits `sources`. Damage to a source ends only that source. `record` has the options for the
/// tally.
///
/// # Errors
/// If the evidence cannot be written, sums that must hold do not, or the audit was stopped.
#[expect(clippy::too_many_arguments, reason = "each is a thing of its own; all are needed")]
pub fn run(
    sources: &[Source],
    options: &Options,
    record: &header::ReportedOptions,
    judge: &Judge,
    registry: &Registry,
    identities: &Identities,
    progress: &Progress,
    evidence: Option<&EvidenceSink<'_>>,
) -> Result<Tally> {
    let mut context = context(sources, options, judge, registry, identities, Pass::Judge);
    context.sessions = options.session_minutes.map(Sessions::new);
    let ranges = whole(sources);
    let (mut counted, ends) = add_up(sources, &ranges, &context, progress, evidence)?;
    let mut counter = counted.counters.take(DayKey::AllDays).unwrap_or_else(|| context.counter());
    context.sessions.into_iter().for_each(|sessions| counter.add_sessions(sessions.into_counts()));
    let ends = ends.into_iter().map(|end| end.input).collect();
    let draft = options.draft.as_ref().map(|draft| (draft.summary(), draft.robots()));
    let before_first = options.before_first;
    let day = None;
    let run = Run { options: record, registry, judge, day, before_first, identities, draft };
    build::tally(counter, sources, ends, run)
}

/// Collects what `first` needs from the `ranges` of `sources` before [`run`], and returns how each
/// of them ended. Reads each once.
///
/// # Errors
/// If threads cannot be started, or the audit was stopped.
pub fn collect(
    sources: &[Source],
    ranges: &[ReadRange],
    options: &Options,
    first: &FirstPass<'_>,
    progress: &Progress,
) -> Result<(Collected, Vec<InputEnd>)> {
    let FirstPass { judge, registry, identities, wanted, client_key } = *first;
    let mut context = context(sources, options, judge, registry, identities, Pass::Collect(wanted));
    context.client_key = Some(client_key);
    let (counted, ends) = add_up(sources, ranges, &context, progress, None)?;
    Ok((counted.collected, ends.into_iter().map(|end| end.input).collect()))
}

fn context<'a>(
    sources: &[Source],
    options: &'a Options,
    judge: &'a Judge,
    registry: &'a Registry,
    identities: &'a Identities,
    pass: Pass,
) -> Context<'a> {
    let from_path = options.naming.from_path.as_ref();
    let captured = |source: &Source| from_path.and_then(|pattern| pattern.captured(&source.name));
    Context {
        registry,
        judge,
        options,
        is_by_day: false,
        from_paths: sources.iter().map(captured).collect(),
        identities,
        pass,
        ranks: registry.ranks().into(),
        own_site: OwnSite::new(registry),
        client_key: None,
        sessions: None,
    }
}

/// The whole of each source.
pub fn whole(sources: &[Source]) -> Vec<ReadRange> {
    let files = (0..sources.len()).map(FileId::from_index);
    files.map(|file| ReadRange { file, extent: Extent::Whole }).collect()
}

fn add_up(
    sources: &[Source],
    ranges: &[ReadRange],
    context: &Context<'_>,
    progress: &Progress,
    evidence: Option<&EvidenceSink<'_>>,
) -> Result<(WorkerCounts, Vec<ReadRangeEnd>)> {
    let Options { threads, chunk_bytes, ref hints, .. } = *context.options;
    let spare = &SpareBuffers::default();
    let worker = || {
        let sites = Sites::new(context.judge, &context.options.naming);
        LogWorker { worker: Worker::new(context, sites), lines: &progress.lines, evidence, spare }
    };
    let sessions = context.sessions.as_ref();
    let reader = LogReader { chunk_bytes, hints, evidence, sessions, progress, spare };
    let (counted, ends) = files::run(threads, ranges, worker, |range, push| {
        progress.check()?;
        let opened = open(&sources[range.file.index()], &progress.bytes_read);
        reader.read(range, opened, push)
    })?;
    let mut sums = WorkerCounts::new(context);
    counted.into_iter().for_each(|counted| sums.absorb(counted));
    Ok((sums, ends))
}

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
    let (counted, ends) = add_up(sources, ranges, &context, progress, None)?;
    let mut last_days = BTreeMap::new();
    let mut lines_before = BTreeMap::new();
    for range in ranges {
        if let Extent::Rest { last_day, .. } = &range.extent {
            last_days.extend(last_day.map(|day| (range.file, day)));
            lines_before.insert(range.file, range.extent.lines_before());
        }
    }
    let (days, mut files) = counted.counters.into_days(&last_days);
    let ends = ends.into_iter().map(|end| {
        let of_file = files.remove(&end.file).unwrap_or_default();
        let before = lines_before.get(&end.file).copied().unwrap_or(0);
        let read = end.reached.as_ref().map_or(0, |reached| reached.lines - before);
        if read != of_file.tally.lines() {
            let name = &sources[end.file.index()].name;
            let lines = of_file.tally.lines();
            let what = format!("{name}: {read} lines read, {lines} accounted for");
            return Err(Error::inconsistent(what));
        }
        Ok((end, of_file))
    });
    Ok(IncrementalTally { ends: ends.collect::<Result<_>>()?, days })
}
