//! The way of a log through the pipeline: one thread reads it, and free threads audit its chunks.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::input::chunks::{Chunk, Chunks};
use crate::input::{open::Opened, source::FileId};
use crate::logs::format::{Format, Hints};
use crate::logs::pieces::{NumberedText, Pieces};
use crate::pipeline::queue::{InputQueue, QueueLimits, QueueWorker};

use super::evidence::{Evidence, EvidenceSink};
use super::extent::InputEnd;
use super::extent::{Following, Narrowed, ReadRange, ReadRangeEnd};
use super::probe::detected_format;
use super::progress::Progress;
use super::sample_tally::LINES_AT_FIRST;
use super::sessions::Sessions;
use super::worker::{Worker, WorkerCounts};

/// Chunks that wait for each thread that does not read: enough that none waits for a reader, few
/// enough that memory stays small.
const CHUNKS_WAITING_PER_WORKER: usize = 2;

/// The limits of chunks in progress. Buffers need no limit: each thread has two at most.
pub(crate) fn limits(threads: usize, ranges: usize) -> QueueLimits {
    let workers = threads.saturating_sub(ranges);
    let waiting_max = workers * CHUNKS_WAITING_PER_WORKER;
    QueueLimits { threads, waiting_max, buffers_max: usize::MAX }
}

/// A chunk, with the state of the format at its first line.
pub(crate) struct FormattedChunk {
    chunk: Chunk,
    format: Format,
    /// The last line of the beginning of the file.
    head_end: u64,
}

/// Audits chunks.
pub(crate) struct ChunkWorker<'a> {
    pub worker: Worker<'a>,
    /// The lines of all workers.
    pub lines: &'a AtomicU64,
    pub evidence: Option<&'a EvidenceSink<'a>>,
}

impl QueueWorker for ChunkWorker<'_> {
    type Item = FormattedChunk;
    type Buffer = Vec<u8>;
    type Output = WorkerCounts;

    fn work(&mut self, item: FormattedChunk) -> Result<Option<Vec<u8>>> {
        let FormattedChunk { chunk, format, head_end } = item;
        let mut requests = self.evidence.map(|_| Vec::new());
        let lines = self.worker.audit(&chunk, (&format, head_end), requests.as_mut());
        self.lines.fetch_add(lines, Ordering::Relaxed);
        let Chunk { file, sequence, bytes, .. } = chunk;
        if let Some((evidence, requests)) = self.evidence.zip(requests) {
            evidence(Evidence::Chunk { input: file, sequence, requests })?;
        }
        // Unchanged: a buffer that keeps its length is not filled again.
        Ok(Some(bytes))
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
}

impl LogReader<'_> {
    /// Queues the chunks of a log, if it could be `opened`.
    ///
    /// # Errors
    /// If evidence cannot be written, or the audit was stopped.
    pub(crate) fn read(
        &self,
        range: &ReadRange,
        opened: Result<Opened>,
        queue: &mut InputQueue<'_, ChunkWorker<'_>>,
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
        while let Some(mut chunk) = queue.buffer().and_then(|buffer| chunks.next_chunk(buffer)) {
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
            queue.push(FormattedChunk { chunk, format: at_chunk, head_end });
        }
        // Of a log that grows, the last piece may come later.
        let pieces = pieces.filter(|_| following.is_none());
        if let Some(NumberedText { bytes, first_line }) = pieces.and_then(Pieces::end) {
            let chunk = Chunk { bytes, file, first_line, sequence: count };
            queue.push(FormattedChunk { chunk, format: format.clone(), head_end });
            count += 1;
        }
        self.end(file, count)?;
        let input = InputEnd::new(&detected, &chunks);
        Ok(ReadRangeEnd { file, input, reached: following.and_then(Following::reached) })
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
