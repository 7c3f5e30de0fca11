//! Who reads and who judges: as many threads as were asked for, none of which ever waits while there
//! is something to do.
//!
//! As many of them as there are files read, and put chunks where the others take them. A reader
//! that finds enough waiting there takes what waits longest upon itself, so that the one file of a
//! run is inflated as fast as its lines are judged; once all files are read it is one of the others.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use crate::error::Result;
use crate::input::chunks::{Chunk, Chunks};
use crate::input::lines::lines;
use crate::input::open::open;
use crate::input::source::Source;
use crate::logs::detect::detect;
use crate::logs::format::Format;

use super::evidence::{Evidence, EvidenceSink};
use super::extent::{Following, Narrowed, Reading, ReadingEnd};
use super::input_end::InputEnd;
use super::worker::{Split, Worker, WorkerCounts};
use super::{Options, Progress};

/// Chunks that wait for each thread that does not read: enough that none waits for a reader, few
/// enough that memory stays small.
const CHUNKS_WAITING_PER_WORKER: usize = 2;

/// A chunk on its way to whoever is free.
struct Work {
    chunk: Chunk,
    /// As it stands at the first line of the chunk.
    format: Format,
}

/// Where chunks wait, and the buffers of those that are done.
pub struct Desk {
    work: Receiver<Work>,
    used: Mutex<Vec<Vec<u8>>>,
}

/// The right to put chunks on the desk; when all are gone nothing more comes.
pub struct Place(Sender<Work>);

/// The places of those who read.
pub struct Places(Mutex<Vec<Place>>);

impl Places {
    /// The next that is free.
    pub fn take(&self) -> Option<Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl Desk {
    /// A desk for so many threads and readings.
    pub fn new(threads: usize, readings: usize) -> (Desk, Places) {
        let readers = readings.min(threads);
        let waiting_max = (threads - readers) * CHUNKS_WAITING_PER_WORKER;
        let (sender, work) = bounded(waiting_max.max(1));
        let places = (0..readers).map(|_| Place(sender.clone())).collect();
        (Desk { work, used: Mutex::default() }, Places(Mutex::new(places)))
    }

    fn take_buffer(&self) -> Vec<u8> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// As it is: a buffer that keeps its length need not be filled again.
    fn give_back(&self, buffer: Vec<u8>) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

/// One thread, and what it adds up.
pub struct Hand<'a> {
    worker: Worker<'a>,
    desk: &'a Desk,
    readings: &'a Readings<'a>,
}

impl<'a> Hand<'a> {
    /// A hand that has done nothing yet.
    pub fn new(worker: Worker<'a>, desk: &'a Desk, readings: &'a Readings<'a>) -> Hand<'a> {
        Hand { worker, desk, readings }
    }

    /// Reads, each time the next that nobody has taken, until all are read.
    ///
    /// # Errors
    /// Where evidence cannot be written.
    #[expect(clippy::needless_pass_by_value, reason = "gone with it, so that others need not wait")]
    pub fn read(&mut self, place: Place) -> Result<()> {
        while let Some((index, reading)) = self.readings.next() {
            let end = self.read_one(reading, &place);
            self.readings.ended(index, end);
        }
        Ok(())
    }

    /// Works until nothing more comes, and gives what was added up.
    ///
    /// # Errors
    /// Where evidence cannot be written.
    pub fn work(mut self) -> Result<WorkerCounts> {
        while let Ok(work) = self.desk.work.recv() {
            self.add_up(work)?;
        }
        Ok(self.worker.into_counted())
    }

    fn read_one(&mut self, reading: &Reading, place: &Place) -> Result<ReadingEnd> {
        let Readings { sources, options, progress, .. } = *self.readings;
        let file = reading.file;
        let opened = match open(&sources[file.index()], &progress.bytes_read) {
            Ok(opened) => opened,
            Err(err) => {
                self.readings.tell(Evidence::End { input: file, chunks: 0 })?;
                return Ok(ReadingEnd::unopened(file, &err));
            }
        };
        let mut chunks = Chunks::new(file, opened, options.chunk_bytes);
        let detected = detect(lines(chunks.head()), &options.hints);
        let mut format = detected.format.clone().unwrap_or_else(Format::combined);
        let mut following = Following::new(&reading.extent);
        let mut count = 0;
        while let Some(mut chunk) = chunks.next_chunk(self.desk.take_buffer()) {
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
            if self.readings.is_stopped() {
                break;
            }
            self.hand_on(Work { chunk, format: at_chunk }, place)?;
        }
        self.readings.tell(Evidence::End { input: file, chunks: count })?;
        let input = InputEnd::new(&detected, &chunks);
        Ok(ReadingEnd { file, input, reached: following.and_then(Following::reached) })
    }

    /// Puts `work` where others take it. As long as enough waits there already, what waits longest
    /// is done here: in order, as evidence is kept until what comes before it is there.
    fn hand_on(&mut self, mut work: Work, place: &Place) -> Result<()> {
        while let Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) =
            place.0.try_send(work)
        {
            work = back;
            if let Ok(waiting) = self.desk.work.try_recv() {
                self.add_up(waiting)?;
            }
        }
        Ok(())
    }

    fn add_up(&mut self, work: Work) -> Result<()> {
        let Work { chunk, format } = work;
        let readings = self.readings;
        let mut requests = readings.evidence.map(|_| Vec::new());
        let lines = match self.worker.context.split {
            Split::Whole => self.worker.audit(&chunk, &format, requests.as_mut()),
            Split::ByDay => self.worker.audit_by_day(&chunk, &format),
        };
        readings.progress.lines.fetch_add(lines, Ordering::Relaxed);
        let Chunk { file, sequence, bytes, .. } = chunk;
        self.desk.give_back(bytes);
        requests.map_or(Ok(()), |requests| {
            readings.tell(Evidence::Chunk { input: file, sequence, requests })
        })
    }
}

/// What is to be read, and how each ended.
pub struct Readings<'a> {
    sources: &'a [Source],
    readings: &'a [Reading],
    options: &'a Options,
    progress: &'a Progress,
    evidence: Option<&'a EvidenceSink<'a>>,
    next: AtomicUsize,
    ends: Mutex<Vec<Option<Result<ReadingEnd>>>>,
    /// Set where evidence cannot be written: nothing is worth reading then.
    stop: AtomicBool,
}

impl<'a> Readings<'a> {
    /// None of them was begun.
    pub fn new(
        sources: &'a [Source],
        readings: &'a [Reading],
        options: &'a Options,
        progress: &'a Progress,
        evidence: Option<&'a EvidenceSink<'a>>,
    ) -> Readings<'a> {
        let ends = Mutex::new(readings.iter().map(|_| None).collect());
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        Readings { sources, readings, options, progress, evidence, next, ends, stop }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.readings.len()
    }

    fn next(&self) -> Option<(usize, &'a Reading)> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        Some((index, self.readings.get(index)?))
    }

    fn ended(&self, index: usize, end: Result<ReadingEnd>) {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(end);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn tell(&self, news: Evidence) -> Result<()> {
        let told = self.evidence.map_or(Ok(()), |evidence| evidence(news));
        told.inspect_err(|_| self.stop.store(true, Ordering::Relaxed))
    }

    /// How each of them ended, in their order.
    ///
    /// # Errors
    /// Where evidence could not be written.
    pub fn into_ends(self) -> Result<Vec<ReadingEnd>> {
        let ends = self.ends.into_inner().unwrap_or_else(PoisonError::into_inner);
        ends.into_iter().map(|end| end.expect("every source was taken by a reader")).collect()
    }
}
