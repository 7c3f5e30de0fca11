//! Verdicts on lists of URLs: lists in, rows out in the same order.
//!
//! One of rayon's threads reads and inflates; it and the others judge, one batch at a time; the caller's
//! thread writes.
//! A batch is judged origin by origin. So many batches are under way at most, each with its buffers,
//! which are used again and again: memory does not grow with the length of a list.

pub mod answer;
pub mod asker;
pub mod batch;
pub mod by_origin;
pub mod input_format;
mod json_fields;
pub mod outcome;
pub mod rows;
pub mod site;
pub mod sites;
pub mod summary;
pub mod url_parts;

mod hands;
mod record_boundary;

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::crawlers::cache::UserAgentCache;
use crate::error::{Error, Result};
use crate::input::chunks::{Chunk, Chunks};
use crate::input::open::open;
use crate::input::source::{FileId, Source};

use batch::{BatchContext, BatchMemory, JudgedBatch};
use hands::{Buffers, Hand, Work, Written, write_in_order};
use input_format::{InputFormat, ListSyntax, WantedColumns};
use record_boundary::whole_records;
use rows::record_reader;
use sites::Sites;
use summary::{Summary, VerdictCounts};

/// A record over this is not waited for: its end is taken where its bytes end.
const RECORD_BYTES_MAX: usize = 1 << 20;

/// Batches under way besides one for each thread: on the way from the reader and to the writer.
const BATCHES_ON_THE_WAY: usize = 2;

/// How to classify.
#[derive(Clone, Debug)]
pub struct ClassifyOptions {
    /// Threads that read and judge; who writes comes on top of them.
    pub threads: usize,
    /// Bytes of a batch.
    pub batch_bytes: usize,
    /// How the lists are written; `None`: told from each name.
    pub writing: Option<ListSyntax>,
    /// The columns that are read, where the lists have columns.
    pub wanted: WantedColumns<String>,
    /// Bytes for what each thread remembers of origins.
    pub sites_bytes: usize,
    /// Bytes for the counts of origins and rules; `None` where rows are written instead.
    pub summary_bytes: Option<usize>,
}

/// What can be watched meanwhile.
#[derive(Debug, Default)]
pub struct ClassifyProgress {
    /// Bytes read, as they lie on disk.
    pub bytes_read: Arc<AtomicU64>,
    /// Rows judged.
    pub rows: AtomicU64,
    /// Origins that were looked up; again where they had been given up meanwhile.
    pub origins_opened: AtomicU64,
    /// Origins of batches that were still known.
    pub origins_found: AtomicU64,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Classified {
    /// Rows that were judged.
    pub rows: u64,
    /// All answers.
    pub counts: VerdictCounts,
    /// Where it was asked for.
    pub summary: Option<Summary>,
    /// What could not be read, each in a sentence.
    pub damages: Vec<String>,
}

/// Gives what stands before all rows.
type Begin<'a> = &'a (dyn Fn(&InputFormat) -> Result<Vec<u8>> + Sync);

/// How verdicts are written.
#[derive(Clone, Copy)]
pub struct Render<'a> {
    /// What stands before all rows; asked once, for the first list that can be read.
    pub begin: Begin<'a>,
    /// Puts the rows of a batch into a buffer.
    pub write: &'a (dyn Fn(&JudgedBatch, &InputFormat, &mut Vec<u8>) + Sync),
}

/// Batches that are in memory at once.
pub fn batches_under_way(threads: usize) -> usize {
    threads + BATCHES_ON_THE_WAY
}

/// How a name is usually written.
pub fn writing_of(name: &str) -> ListSyntax {
    let name = name.to_ascii_lowercase();
    let compressions = [".gz", ".zst", ".bz2", ".xz"];
    let name = compressions.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    match Path::new(name).extension().and_then(|end| end.to_str()) {
        Some("csv") => ListSyntax::Csv,
        Some("tsv" | "tab") => ListSyntax::Tsv,
        Some("jsonl" | "ndjson" | "json") => ListSyntax::JsonLines,
        _ => ListSyntax::Lines,
    }
}

/// Classifies the URLs of `sources`, in that order; `render` tells how a batch is written to `out`.
/// Damage to a source ends that source alone.
///
/// # Errors
/// Where a list lacks a column, or `out` cannot be written.
pub fn run(
    sources: &[Source],
    options: &ClassifyOptions,
    context: &BatchContext<'_>,
    progress: &ClassifyProgress,
    render: &Render<'_>,
    out: &mut dyn Write,
) -> Result<Classified> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|err| {
        Error::usage(format!("cannot start {} threads: {err}; try --threads 1", options.threads))
    })?;
    let (free_in, free) = unbounded();
    for _ in 0..batches_under_way(options.threads) {
        free_in.send(Buffers::default()).expect("the other end is here");
    }
    let (queue, work) = bounded(options.threads);
    let (done_in, done) = unbounded();
    let has_failed = AtomicBool::new(false);
    let render = options.summary_bytes.is_none().then_some(render);
    let begin = render.map(|render| render.begin);
    let reader = Reader { options, progress, free, queue, begin, head: Vec::new(), sequence: 0 };
    let reader = Mutex::new(Some(reader));
    let (work, has_failed) = (&work, &has_failed);
    let (reads, written) = thread::scope(|scope| {
        let hands = scope.spawn(move || {
            // Moved here: it is gone with the last hand.
            let done_in = done_in;
            pool.broadcast(|_| {
                let sites = Sites::new(options.sites_bytes);
                let memory = BatchMemory { sites, user_agents: UserAgentCache::default() };
                let done = done_in.clone();
                let counts = options.summary_bytes.is_some();
                let mut hand =
                    Hand { context, work, done, has_failed, progress, render, counts, memory };
                // Whoever comes first.
                let reader = reader.lock().unwrap_or_else(PoisonError::into_inner).take();
                let read = reader.map(|reader| reader.read_all(sources, &mut hand));
                hand.work();
                read
            })
        });
        let summary = Summary::new(options.summary_bytes.unwrap_or(0));
        let written = write_in_order(&done, &free_in, has_failed, out, summary);
        (hands.join().expect("no hand panics"), written)
    });
    // One of them has read.
    let damages = reads.into_iter().flatten().next().transpose()?.unwrap_or_default();
    let Written { rows, counts, summary } = written?;
    let summary = options.summary_bytes.map(|_| summary);
    Ok(Classified { rows, counts, summary, damages })
}

/// What opens, inflates and cuts.
struct Reader<'a> {
    options: &'a ClassifyOptions,
    progress: &'a ClassifyProgress,
    free: Receiver<Buffers>,
    queue: Sender<Work>,
    /// Until the first list is open.
    begin: Option<Begin<'a>>,
    /// What that gave, until it is sent.
    head: Vec<u8>,
    sequence: u64,
}

/// Why reading ends early.
enum Stop {
    /// Nobody wants more batches.
    Unwanted,
    Failed(Error),
}

impl Reader<'_> {
    fn read_all(mut self, sources: &[Source], hand: &mut Hand<'_>) -> Result<Vec<String>> {
        let mut damages = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            let opened = match open(source, &self.progress.bytes_read) {
                Ok(opened) => opened,
                Err(err) => {
                    damages.push(err.to_string());
                    continue;
                }
            };
            let file = FileId::from_index(index);
            let mut chunks = Chunks::new(file, opened, self.options.batch_bytes);
            let writing = self.options.writing.unwrap_or_else(|| writing_of(&source.name));
            let head = chunks.head();
            // An empty list has no header, and no rows that would need one.
            let has_rows = !head.is_empty();
            let writing = if has_rows { writing } else { ListSyntax::Lines };
            let form = InputFormat::new(writing, &self.options.wanted, &source.name, head)?;
            let skip = preamble_bytes(&form, head);
            let form = Arc::new(form);
            if has_rows {
                self.begin(&form)?;
            }
            match self.read(&mut chunks, &form, skip, hand) {
                Err(Stop::Failed(err)) => return Err(err),
                Err(Stop::Unwanted) => return Ok(damages),
                Ok(()) => {}
            }
            if let Some(damage) = chunks.ending().damage {
                damages.push(format!("{}: {damage}", source.name));
            }
        }
        // Lists without rows have a header, too.
        self.begin(&InputFormat::Lines)?;
        let form = Arc::new(InputFormat::Lines);
        // Whoever had them last left them as they were.
        let buffers = Buffers { text: Vec::new(), ..hand.buffers(&self.free) };
        let _ = self.send(&form, buffers, hand);
        Ok(damages)
    }

    /// Once, for the first list that has rows.
    fn begin(&mut self, form: &InputFormat) -> Result<()> {
        if let Some(begin) = self.begin.take() {
            self.head = begin(form)?;
        }
        Ok(())
    }

    /// Sends the whole records of `chunks`, but for the first `skip` bytes.
    fn read(
        &mut self,
        chunks: &mut Chunks,
        form: &Arc<InputFormat>,
        mut skip: usize,
        hand: &mut Hand<'_>,
    ) -> std::result::Result<(), Stop> {
        let mut carry = Vec::new();
        loop {
            let mut buffers = hand.buffers(&self.free);
            let Some(Chunk { bytes, .. }) = chunks.next_chunk(std::mem::take(&mut buffers.text))
            else {
                buffers.text = carry;
                return self.send(form, buffers, hand);
            };
            buffers.text = bytes;
            // What is skipped may be more than a small first batch.
            let skipped = skip.min(buffers.text.len());
            skip -= skipped;
            buffers.text.drain(..skipped);
            if let InputFormat::Delimited { delimiter, .. } = **form {
                buffers.text.splice(..0, carry.drain(..));
                let end = match whole_records(delimiter, &buffers.text) {
                    end if buffers.text.len() - end > RECORD_BYTES_MAX => buffers.text.len(),
                    end => end,
                };
                carry.extend_from_slice(&buffers.text[end..]);
                buffers.text.truncate(end);
            }
            self.send(form, buffers, hand)?;
        }
    }

    fn send(
        &mut self,
        form: &Arc<InputFormat>,
        mut buffers: Buffers,
        hand: &mut Hand<'_>,
    ) -> std::result::Result<(), Stop> {
        if hand.has_failed() {
            return Err(Stop::Unwanted);
        }
        if !buffers.text.is_empty() {
            self.begin(form).map_err(Stop::Failed)?;
        }
        buffers.out.append(&mut self.head);
        let work = Work { sequence: self.sequence, form: Arc::clone(form), buffers };
        self.sequence += 1;
        if self.options.threads == 1 {
            // Nobody else will: what was read of a slow pipe is not to wait for more.
            hand.judge(work);
        } else {
            hand.hand_on(work, &self.queue);
        }
        Ok(())
    }
}

/// A byte-order mark and a header.
fn preamble_bytes(form: &InputFormat, head: &[u8]) -> usize {
    let mark = if head.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let InputFormat::Delimited { delimiter, .. } = form else { return mark };
    let mut reader = record_reader(*delimiter, &head[mark..]);
    reader.read_byte_record(&mut csv::ByteRecord::new()).expect("bytes in memory are always read");
    mark + usize::try_from(reader.position().byte()).expect("a header is no longer than its file")
}
