//! The audit of logs: files in, one checked tally out.
//!
//! A few threads open files, inflate them and cut them into chunks of whole
//! lines; workers turn chunks into sums; the sums merge. Nothing but finished
//! sums leaves a worker, so neither the number of threads nor the size of chunks
//! can show in a report.

pub mod awareness;
pub mod by_day;
pub mod client;
pub mod evidence;
pub mod examine;
pub mod file;
pub mod finish;
pub mod follow;
pub mod hours;
pub mod identities;
mod identity_warnings;
pub mod kept;
pub mod naming;
pub mod pace;
pub mod parse_rate;
pub mod place;
pub mod places;
pub mod readings;
pub mod record;
pub mod row;
pub mod series;
pub mod simulate;
pub mod sites;
pub mod snapshots;
pub mod sums;
pub mod suspects;
pub mod tally;
pub mod unknown;
mod warnings;
pub mod witness;
pub mod worker;

use std::hash::RandomState;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use ipnet::IpNet;

use crate::crawlers::crawler::{Binding, Crawler};
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::chunks::{Chunk, Chunks};
use crate::input::lines::lines;
use crate::input::open::open;
use crate::input::source::{FileId, Source};
use crate::judge::Judge;
use crate::judge::timeline::BeforeFirst;
use crate::logs::detect::{Hints, detect};
use crate::logs::format::Format;
use crate::time::{Window, Zone};

use crate::merge::Merge;
use by_day::ByDay;
use evidence::{Evidence, EvidenceSink};
use finish::{Audit, InForce, InputEnd};
use follow::{Extent, Following, Narrowed, Reading, ReadingEnd};
use identities::Identities;
use identity_warnings::{identity_note, identity_warnings};
use naming::Naming;
use simulate::{Draft, Simulation};
use sites::Sites;
use suspects::Suspects;
use tally::Tally;
use witness::Silent;
use worker::{Context, Pass, Split, Worker};

/// Chunks that wait for each worker: enough that none waits for a reader, few
/// enough that memory stays small.
const CHUNKS_WAITING_PER_WORKER: usize = 2;

/// Bytes of lines that a worker takes at once, where nothing else is asked for.
pub const CHUNK_BYTES: usize = 1 << 20;

/// How to audit.
#[derive(Clone, Debug)]
pub struct Options {
    /// Workers; readers come on top of them.
    pub threads: usize,
    /// Bytes of lines that a worker takes at once.
    pub chunk_bytes: usize,
    /// What is said of the formats of all files.
    pub hints: Hints,
    /// What is said of origins.
    pub naming: Naming,
    /// Proxies that are believed when they say for whom they ask.
    pub trusted_proxies: Vec<IpNet>,
    /// Where days begin.
    pub zone: Zone,
    /// Lines of other times are passed over.
    pub window: Window,
    /// Whom to hold to the rules.
    pub judged: Judged,
    /// What is made of requests from before the first snapshot of a robots.txt.
    pub before_first: BeforeFirst,
    /// A draft of a robots.txt by which requests are judged besides.
    pub draft: Option<Arc<Draft>>,
}

impl Options {
    /// Every line of every format, with nothing else said of them.
    pub fn new(threads: usize) -> Options {
        Options {
            threads,
            chunk_bytes: CHUNK_BYTES,
            hints: Hints::default(),
            naming: Naming::default(),
            trusted_proxies: Vec::new(),
            zone: Zone::UTC,
            window: Window::ALWAYS,
            judged: Judged::Bound,
            before_first: BeforeFirst::AsFirst,
            draft: None,
        }
    }
}

/// Whom to hold to the rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Judged {
    /// Crawlers that robots.txt binds; the requests of others are counted apart.
    Bound,
    /// All crawlers. The judge should then be one [of everyone](Judge::of_everyone).
    Everyone,
}

/// What can be watched while an audit runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read, as they lie on disk.
    pub bytes_read: Arc<AtomicU64>,
    /// Lines looked at.
    pub lines: AtomicU64,
}

/// A chunk on its way to a worker.
struct Work {
    chunk: Chunk,
    /// As it stands at the first line of the chunk.
    format: Format,
}

/// Audits `sources`. Damage to a source ends that source alone.
///
/// # Errors
/// Where the evidence cannot be written, or sums that must hold do not.
pub fn run(
    sources: &[Source],
    options: &Options,
    judge: &Judge,
    registry: &Registry,
    identities: &Identities,
    progress: &Progress,
    evidence: Option<&EvidenceSink<'_>>,
) -> Result<Audit> {
    let context = context(sources, options, judge, registry, identities, Pass::Judge);
    let readings = whole(sources);
    let (tally, _, ends) = add_up(sources, &readings, options, &context, progress, evidence)?;
    let ends = ends.into_iter().map(|end| end.input).collect();
    let judge = (judge, options.before_first);
    let mut audit = Audit::new(sources, ends, tally, judge, registry, InForce::OfJudge)?;
    if let Some(draft) = &options.draft {
        audit.simulation = Some(Simulation::new(&mut audit, draft, judge.0)?);
    }
    audit.warnings.extend(identity_warnings(&audit, identities, registry));
    audit.notes.extend(identity_note(identities));
    Ok(audit)
}

/// Whose names are to be looked up before [`run`], as far as lists of addresses do not say
/// already who they are. Reads all of `sources`.
///
/// # Errors
/// Where threads cannot be started.
pub fn suspects(
    sources: &[Source],
    options: &Options,
    judge: &Judge,
    registry: &Registry,
    identities: &Identities,
    progress: &Progress,
) -> Result<Suspects> {
    let context = context(sources, options, judge, registry, identities, Pass::CollectSuspects);
    let readings = whole(sources);
    let (tally, ..) = add_up(sources, &readings, options, &context, progress, None)?;
    Ok(Suspects::new(tally.suspects))
}

/// The hours in which nobody got the robots.txt of an origin of ours, as `sources` show, to be
/// [heeded](Judge::heed) before [`run`]. Reads all of `sources`.
///
/// # Errors
/// Where threads cannot be started.
pub fn silent_hours(
    sources: &[Source],
    options: &Options,
    judge: &Judge,
    registry: &Registry,
    progress: &Progress,
) -> Result<Silent> {
    let nobody = Identities::default();
    let context = context(sources, options, judge, registry, &nobody, Pass::CollectWitness);
    let readings = whole(sources);
    let (tally, ..) = add_up(sources, &readings, options, &context, progress, None)?;
    Ok(tally.witness.into_silent())
}

fn context<'a>(
    sources: &[Source],
    options: &'a Options,
    judge: &'a Judge,
    registry: &'a Registry,
    identities: &'a Identities,
    pass: Pass,
) -> Context<'a> {
    let binding = |crawler: &Crawler| match options.judged {
        Judged::Bound => crawler.binding(),
        Judged::Everyone => Binding::Bound,
    };
    let from_path = options.naming.from_path.as_ref();
    let captured = |source: &Source| from_path.and_then(|pattern| pattern.captured(&source.name));
    Context {
        registry,
        judge,
        split: Split::Whole,
        before_first: options.before_first,
        zone: &options.zone,
        window: options.window,
        from_paths: sources.iter().map(captured).collect(),
        trusted_proxies: &options.trusted_proxies,
        bindings: registry.iter().map(|(_, crawler)| binding(crawler)).collect(),
        identities,
        draft: options.draft.as_deref(),
        pass,
        client_key: RandomState::new(),
    }
}

/// All of each source.
fn whole(sources: &[Source]) -> Vec<Reading> {
    let files = (0..sources.len()).map(FileId::from_index);
    files.map(|file| Reading { file, extent: Extent::Whole }).collect()
}

fn add_up(
    sources: &[Source],
    readings: &[Reading],
    options: &Options,
    context: &Context<'_>,
    progress: &Progress,
    evidence: Option<&EvidenceSink<'_>>,
) -> Result<(Tally, ByDay, Vec<ReadingEnd>)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|err| {
        Error::usage(format!("cannot start {} threads: {err}; try --threads 1", options.threads))
    })?;
    let readers = Readers::new(sources, readings, options, progress, evidence);
    let result = thread::scope(|scope| {
        let (work_in, work) = sync_channel(options.threads * CHUNKS_WAITING_PER_WORKER);
        let (used_in, used) = channel();
        let used = Arc::new(Mutex::new(used));
        for _ in 0..readings.len().min(options.threads) {
            let (work_in, used, readers) = (work_in.clone(), Arc::clone(&used), &readers);
            scope.spawn(move || readers.read(&work_in, &used));
        }
        drop(work_in);
        let desk =
            Desk { work: Mutex::new(work), used: used_in, stop: &readers.stop, progress, evidence };
        let tallies = pool.broadcast(|_| {
            let sites = Sites::new(context.judge, &options.naming);
            desk.serve(Worker::new(context, sites))
        });
        tallies.into_iter().try_fold((Tally::default(), ByDay::default()), |mut sums, tallies| {
            let (tally, by_day) = tallies?;
            sums.0.absorb(tally);
            sums.1.absorb(by_day);
            Ok(sums)
        })
    });
    let (tally, by_day) = result?;
    Ok((tally, by_day, readers.into_ends()?))
}

/// Where workers take chunks and give back empty buffers.
struct Desk<'a> {
    work: Mutex<Receiver<Work>>,
    used: Sender<Vec<u8>>,
    stop: &'a AtomicBool,
    progress: &'a Progress,
    evidence: Option<&'a EvidenceSink<'a>>,
}

impl Desk<'_> {
    fn serve(&self, mut worker: Worker<'_>) -> Result<(Tally, ByDay)> {
        loop {
            let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(Work { chunk, format }) = work else { return Ok(worker.into_tallies()) };
            let mut requests = self.evidence.map(|_| Vec::new());
            let lines = match worker.context.split {
                Split::Whole => worker.audit(&chunk, &format, requests.as_mut()),
                Split::ByDay => worker.audit_by_day(&chunk, &format),
            };
            self.progress.lines.fetch_add(lines, Ordering::Relaxed);
            let Chunk { file, sequence, bytes, .. } = chunk;
            // As it is: a buffer that keeps its length need not be filled again. Where all
            // readers are done nobody wants it.
            let _ = self.used.send(bytes);
            if let (Some(evidence), Some(requests)) = (self.evidence, requests) {
                let told = evidence(Evidence::Chunk { input: file, sequence, requests });
                told.inspect_err(|_| self.stop.store(true, Ordering::Relaxed))?;
            }
        }
    }
}

/// The threads that open, inflate and cut: each takes the next source that nobody has taken.
struct Readers<'a> {
    sources: &'a [Source],
    readings: &'a [Reading],
    options: &'a Options,
    progress: &'a Progress,
    evidence: Option<&'a EvidenceSink<'a>>,
    next: AtomicUsize,
    ends: Mutex<Vec<Option<Result<ReadingEnd>>>>,
    stop: AtomicBool,
}

impl<'a> Readers<'a> {
    fn new(
        sources: &'a [Source],
        readings: &'a [Reading],
        options: &'a Options,
        progress: &'a Progress,
        evidence: Option<&'a EvidenceSink<'a>>,
    ) -> Readers<'a> {
        let ends = Mutex::new(readings.iter().map(|_| None).collect());
        Readers {
            sources,
            readings,
            options,
            progress,
            evidence,
            next: AtomicUsize::new(0),
            ends,
            stop: AtomicBool::new(false),
        }
    }

    fn read(&self, work: &SyncSender<Work>, used: &Mutex<Receiver<Vec<u8>>>) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(reading) = self.readings.get(index) else { return };
            let end = self.read_source(reading, work, used);
            self.ends.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(end);
        }
    }

    fn read_source(
        &self,
        reading: &Reading,
        work: &SyncSender<Work>,
        used: &Mutex<Receiver<Vec<u8>>>,
    ) -> Result<ReadingEnd> {
        let file = reading.file;
        let mut opened = match open(&self.sources[file.index()], &self.progress.bytes_read) {
            Ok(opened) => opened,
            Err(err) => {
                self.tell(Evidence::End { input: file, chunks: 0 })?;
                return Ok(ReadingEnd::unopened(file, &err));
            }
        };
        opened.inflate_with(self.helpers_per_reader());
        let mut chunks = Chunks::new(file, opened, self.options.chunk_bytes);
        let detected = detect(lines(chunks.head()), &self.options.hints);
        let mut format = detected.format.clone().unwrap_or_else(Format::combined);
        let mut following = Following::new(&reading.extent);
        let mut count = 0;
        loop {
            let buffer =
                used.lock().unwrap_or_else(PoisonError::into_inner).try_recv().unwrap_or_default();
            let Some(mut chunk) = chunks.next_chunk(buffer) else { break };
            count += 1;
            if let Some(following) = &mut following {
                match following.narrow(&mut chunk, &mut format) {
                    Narrowed::Read => {}
                    Narrowed::ReadBefore => continue,
                    Narrowed::Changed => break,
                }
            }
            let at_chunk = format.clone();
            format.advance(&chunk.bytes);
            let work_item = Work { chunk, format: at_chunk };
            if self.stop.load(Ordering::Relaxed) || work.send(work_item).is_err() {
                break;
            }
        }
        self.tell(Evidence::End { input: file, chunks: count })?;
        let input = InputEnd::new(&detected, &chunks);
        Ok(ReadingEnd { file, input, reached: following.and_then(Following::reached) })
    }

    /// Threads that a reader may start besides: none as long as there is a file for each thread.
    fn helpers_per_reader(&self) -> usize {
        let threads = self.options.threads.max(1);
        let helpers = threads / self.readings.len().clamp(1, threads);
        if helpers > 1 { helpers } else { 0 }
    }

    fn tell(&self, news: Evidence) -> Result<()> {
        self.evidence.map_or(Ok(()), |evidence| evidence(news))
    }

    fn into_ends(self) -> Result<Vec<ReadingEnd>> {
        let ends = self.ends.into_inner().unwrap_or_else(PoisonError::into_inner);
        ends.into_iter().map(|end| end.expect("every source was taken by a reader")).collect()
    }
}
