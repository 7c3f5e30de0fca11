//! The way of a log through the pipeline: one thread reads it, and all that are free audit its chunks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::input::chunks::{Chunk, Chunks};
use crate::input::{open::Opened, source::FileId};
use crate::logs::format::{Format, Hints};
use crate::logs::pieces::{NumberedText, Pieces};
use crate::mutex::lock;
use crate::pipeline::files::{ChunkWorker, Push};

use super::evidence::{Evidence, EvidenceSink};
use super::extent::InputEnd;
use super::extent::{Following, Narrowed, ReadRange, ReadRangeEnd};
use super::probe::detected_format;
use super::progress::Progress;
use super::sample_tally::LINES_AT_FIRST;
use super::sessions::Sessions;
use super::worker::{Worker, WorkerCounts};

/// A chunk, with the state of the format at its first line.
pub(crate) struct FormattedChunk {
    chunk: Chunk,
    format: Format,
    /// The last line of the beginning of the file.
    head_end: u64,
}

/// Buffers of chunks that were audited. The last one is used first, because it may still be in the
/// processor's cache; it keeps its length, so that it is not filled again.
pub(crate) type SpareBuffers = Mutex<Vec<Vec<u8>>>;

/// Audits the chunks of logs.
pub(crate) struct LogWorker<'a> {
    pub worker: Worker<'a>,
    /// The lines of all workers.
    pub lines: &'a AtomicU64,
    pub evidence: Option<&'a EvidenceSink<'a>>,
    pub spare: &'a SpareBuffers,
}

impl ChunkWorker for LogWorker<'_> {
    type Chunk = FormattedChunk;
    type Counts = WorkerCounts;

    fn work(&mut self, chunk: FormattedChunk) -> Result<()> {
        let FormattedChunk { chunk, format, head_end } = chunk;
        let mut requests = self.evidence.map(|_| Vec::new());
        let lines = self.worker.audit(&chunk, (&format, head_end), requests.as_mut());
        self.lines.fetch_add(lines, Ordering::Relaxed);
        let Chunk { file, sequence, bytes, .. } = chunk;
        lock(self.spare).push(bytes);
        if let Some((evidence, requests)) = self.evidence.zip(requests) {
            evidence(Evidence::Chunk { input: file, sequence, requests })?;
        }
        Ok(())
    }

    fn finish(self) -> WorkerCounts {
        self.worker.into_counted()
    }
}

/// Reads logs into chunks.
pub(crate) struct LogReader<'a> {
    pub chunk_bytes: usize,
    pub hints: &'a Hints,
    pub evidence: Option<&'a EvidenceSink<'a>>,
    /// Sessions, if they are counted.
    pub sessions: Option<&'a Sessions>,
    /// The progress, which says whether to go on.
    pub progress: &'a Progress,
    pub spare: &'a SpareBuffers,
}

impl LogReader<'_> {
    /// Pushes the chunks of a log, if it could be `opened`.
    ///
    /// # Errors
    /// If evidence cannot be written, or the audit was stopped.
    pub(crate) fn read(
        &self,
        range: &ReadRange,
        opened: Result<Opened>,
        push: Push<'_, FormattedChunk>,
    ) -> Result<ReadRangeEnd> {
        let file = range.file;
        let opened = match opened {
            Ok(opened) => opened,
            Err(err) => {
                self.end(file, 0)?;
                return Ok(ReadRangeEnd::unopened(file, &err));
            }
        };
        let mut chunks = Chunks::of_log(file, opened, self.chunk_bytes);
        let detected = detected_format(&mut chunks, self.hints);
        let mut format = detected.reading_format();
        let mut following = Following::new(&range.extent);
        let head_end = range.extent.lines_before() + LINES_AT_FIRST;
        let mut pieces = format.pieces();
        let mut count = 0;
        while let Some(mut chunk) = chunks.next_chunk(self.buffer()) {
            self.progress.check()?;
            count += 1;
            if let Some(following) = &mut following {
                match following.narrow(&mut chunk, &mut format) {
                    Narrowed::Read => {}
                    Narrowed::ReadBefore => continue,
                    Narrowed::Changed => break,
                }
            }
            join(&mut chunk, pieces.as_mut(), following.as_mut());
            let at_chunk = format.clone();
            format.advance(&chunk.bytes);
            if !push(FormattedChunk { chunk, format: at_chunk, head_end }) {
                break;
            }
        }
        // Of a log that grows, the last piece may come later.
        let pieces = pieces.filter(|_| following.is_none());
        if let Some(NumberedText { bytes, first_line }) = pieces.and_then(Pieces::end) {
            let chunk = Chunk { bytes, file, first_line, sequence: count };
            push(FormattedChunk { chunk, format: format.clone(), head_end });
            count += 1;
        }
        self.end(file, count)?;
        let input = InputEnd::new(&detected, &chunks);
        Ok(ReadRangeEnd { file, input, reached: following.and_then(Following::reached) })
    }

    fn buffer(&self) -> Vec<u8> {
        lock(self.spare).pop().unwrap_or_default()
    }

    fn end(&self, input: FileId, chunks: u64) -> Result<()> {
        self.sessions.iter().for_each(|sessions| sessions.end(input, chunks));
        self.evidence.map_or(Ok(()), |evidence| evidence(Evidence::End { input, chunks }))
    }
}

/// Joins the pieces of lines in `chunk`. Those of a line that is not whole yet are not read as far as `following` is
/// concerned.
fn join(chunk: &mut Chunk, pieces: Option<&mut Pieces>, following: Option<&mut Following>) {
    let Some(pieces) = pieces else {
        following.into_iter().for_each(|following| following.absorb(&chunk.bytes, 0));
        return;
    };
    let read = following.map(|following| (following, chunk.bytes.clone()));
    let bytes = std::mem::take(&mut chunk.bytes);
    let mut text = NumberedText { bytes, first_line: chunk.first_line };
    pieces.join(&mut text);
    NumberedText { bytes: chunk.bytes, first_line: chunk.first_line } = text;
    if let Some((following, read)) = read {
        following.absorb(&read, pieces.waiting_bytes());
    }
}
