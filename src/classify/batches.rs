//! Splits lists into batches of whole records, and judges them in threads.

use std::sync::{Arc, atomic::Ordering};

use crate::error::Result;
use crate::input::chunks::{Chunk, Chunks};
use crate::input::open::open;
use crate::input::source::{FileId, Source};
use crate::pipeline::in_order::ResultSender;
use crate::pipeline::queue::{InputQueue, QueueWorker};

use super::batch::{BatchContext, BatchMemory, judge};
use super::input_format::{InputFormat, ListSyntax, record_reader, whole_records, writing_of};
use super::options::{BeginRows, ClassifyOptions, ClassifyProgress, Render};
use super::rows::InputRows;
use super::summary::{CountedUrls, VerdictCounts};

/// The longest record. A longer one ends where the bytes of its batch end.
const RECORD_BYTES_MAX: usize = 1 << 20;

/// Opens, decompresses and splits lists.
pub(crate) struct BatchReader<'a> {
    pub options: &'a ClassifyOptions,
    pub progress: &'a ClassifyProgress,
    /// Until the first list is open.
    pub begin: Option<BeginRows<'a>>,
    /// The header of the first list, until it is queued.
    pub head: Vec<u8>,
    pub sequence: u64,
}

type Queue<'q, 'w> = InputQueue<'q, BatchWorker<'w>>;

impl BatchReader<'_> {
    /// Queues all batches of `sources`, and returns a sentence for each one that could not be read.
    ///
    /// # Errors
    /// If a list lacks a column.
    pub(crate) fn read_all(
        mut self,
        sources: &[Source],
        queue: &mut Queue<'_, '_>,
    ) -> Result<Vec<String>> {
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
            self.read(&mut chunks, &form, skip, queue)?;
            if queue.is_stopped() {
                return Ok(damages);
            }
            if let Some(damage) = chunks.ending().damage {
                damages.push(format!("{}: {damage}", source.name));
            }
        }
        // Lists without rows have a header, too.
        self.begin(&InputFormat::Lines)?;
        let form = Arc::new(InputFormat::Lines);
        if let Some(buffers) = queue.buffer() {
            // The buffers still have the content of an earlier batch.
            self.push(&form, BatchBuffers { text: Vec::new(), ..buffers }, queue)?;
        }
        Ok(damages)
    }

    /// Once, for the first list that has rows.
    fn begin(&mut self, form: &InputFormat) -> Result<()> {
        if let Some(begin) = self.begin.take() {
            self.head = begin(form)?;
        }
        Ok(())
    }

    /// Queues the whole records of `chunks`, but for the first `skip` bytes.
    fn read(
        &mut self,
        chunks: &mut Chunks,
        form: &Arc<InputFormat>,
        mut skip: usize,
        queue: &mut Queue<'_, '_>,
    ) -> Result<()> {
        let mut carry = Vec::new();
        while let Some(mut buffers) = queue.buffer() {
            let Some(Chunk { bytes, .. }) = chunks.next_chunk(std::mem::take(&mut buffers.text))
            else {
                buffers.text = carry;
                return self.push(form, buffers, queue);
            };
            buffers.text = bytes;
            // The skipped bytes may be longer than a small first batch.
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
            self.push(form, buffers, queue)?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        form: &Arc<InputFormat>,
        mut buffers: BatchBuffers,
        queue: &mut Queue<'_, '_>,
    ) -> Result<()> {
        if !buffers.text.is_empty() {
            self.begin(form)?;
        }
        buffers.out.append(&mut self.head);
        queue.push(Batch { sequence: self.sequence, form: Arc::clone(form), buffers });
        self.sequence += 1;
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

/// Buffers of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchBuffers {
    pub text: Vec<u8>,
    pub out: Vec<u8>,
}

/// Whole records of a list.
pub(crate) struct Batch {
    pub sequence: u64,
    pub form: Arc<InputFormat>,
    pub buffers: BatchBuffers,
}

/// A batch whose verdicts can be written.
pub(crate) struct RenderedBatch {
    pub buffers: BatchBuffers,
    pub counts: VerdictCounts,
    pub rows: u64,
    pub counted: Option<CountedUrls>,
}

/// Judges batches.
pub(crate) struct BatchWorker<'a> {
    pub context: &'a BatchContext<'a>,
    pub progress: &'a ClassifyProgress,
    /// `None` if rows are only counted by origin and rule.
    pub render: Option<&'a Render<'a>>,
    pub memory: BatchMemory,
    pub results: ResultSender<RenderedBatch>,
}

impl BatchWorker<'_> {
    fn count_progress(&mut self, rows: u64) {
        let ClassifyProgress { rows: all_rows, origins_opened, origins_found, .. } = self.progress;
        let origins = &mut self.memory.origins;
        all_rows.fetch_add(rows, Ordering::Relaxed);
        origins_opened.fetch_add(std::mem::take(&mut origins.opened), Ordering::Relaxed);
        origins_found.fetch_add(std::mem::take(&mut origins.found), Ordering::Relaxed);
    }
}

impl QueueWorker for BatchWorker<'_> {
    type Item = Batch;
    type Buffer = BatchBuffers;
    type Output = ();

    /// The writer of the verdicts returns the buffers.
    fn work(&mut self, batch: Batch) -> Result<Option<BatchBuffers>> {
        let Batch { sequence, form, buffers: BatchBuffers { text, mut out } } = batch;
        let rows = InputRows::read(&form, text);
        let judged = judge(self.context, &form, rows, &mut self.memory);
        let (counts, rows) = (judged.counts(), judged.rows.len() as u64);
        self.count_progress(rows);
        let counted = match self.render {
            Some(render) => {
                (render.write)(&judged, &form, &mut out);
                None
            }
            None => Some(CountedUrls::of(&judged.outcomes, self.context.crawlers)),
        };
        let buffers = BatchBuffers { text: judged.rows.into_buffer(), out };
        self.results.send(sequence, RenderedBatch { buffers, counts, rows, counted });
        Ok(None)
    }

    fn finish(self) {}
}
