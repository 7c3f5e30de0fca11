//! Splits lists into batches of whole records, and judges them in threads.

use std::sync::{Arc, atomic::Ordering};

use crate::error::Result;
use crate::input::chunks::{Chunk, Chunks, HEAD_BYTES_MAX};
use crate::input::open::open;
use crate::input::source::{FileId, Source};
use crate::pipeline::in_order::ResultSender;
use crate::pipeline::queue::{InputQueue, QueueWorker};

use super::batch::{BatchContext, BatchMemory, judge};
use super::input_format::{
    InputFormat, ListSyntax, is_quote_open, record_reader, whole_records, writing_of,
};
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
            let mut chunks = Chunks::of_log(file, opened, self.options.batch_bytes);
            let writing = self.options.writing.unwrap_or_else(|| writing_of(&source.name));
            let head = chunks.head(HEAD_BYTES_MAX);
            // An empty list has no header, and no rows that would need one.
            let has_rows = !head.is_empty();
            let writing = if has_rows { writing } else { ListSyntax::Lines };
            let form = InputFormat::new(writing, &self.options.wanted, &source.name, head)?;
            let skip = preamble_bytes(&form, head);
            let form = Arc::new(form);
            if has_rows {
                self.begin(&form)?;
            }
            let open_quote = self.read(&mut chunks, &form, skip, queue)?;
            damages.extend(open_quote.map(|line| unclosed(&source.name, line)));
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

    /// Queues the whole records of `chunks`, but for the first `skip` bytes. Returns the line of the
    /// first record with a quote that is not closed.
    fn read(
        &mut self,
        chunks: &mut Chunks,
        form: &Arc<InputFormat>,
        mut skip: usize,
        queue: &mut Queue<'_, '_>,
    ) -> Result<Option<u64>> {
        let mut carry = Carry::default();
        while let Some(mut buffers) = queue.buffer() {
            let chunk = chunks.next_chunk(std::mem::take(&mut buffers.text));
            let is_last = chunk.is_none();
            if let Some(Chunk { bytes, first_line, .. }) = chunk {
                buffers.text = bytes;
                // The skipped bytes may be longer than a small first batch.
                let skipped = skip.min(buffers.text.len());
                skip -= skipped;
                let line = first_line + count_lines(&buffers.text[..skipped]);
                buffers.text.drain(..skipped);
                if let InputFormat::Delimited { delimiter, .. } = **form {
                    carry.cut(&mut buffers.text, line, delimiter);
                }
            } else {
                if let InputFormat::Delimited { delimiter, .. } = **form {
                    carry.note_open_quote(delimiter);
                }
                buffers.text = std::mem::take(&mut carry.text);
            }
            self.push(form, buffers, queue)?;
            if is_last {
                break;
            }
        }
        Ok(carry.open_quote)
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

/// The start of a record whose end is in the next batch.
#[derive(Default)]
struct Carry {
    text: Vec<u8>,
    /// The number of its first line.
    line: u64,
    /// The line of the first record with a quote that is not closed.
    open_quote: Option<u64>,
}

impl Carry {
    /// Puts what is carried in front of `text`, which begins in `line`, and carries what follows its
    /// last whole record.
    fn cut(&mut self, text: &mut Vec<u8>, line: u64, delimiter: u8) {
        let first_line = if self.text.is_empty() { line } else { self.line };
        text.splice(..0, self.text.drain(..));
        let end = whole_records(delimiter, text);
        if end == text.len() {
            return;
        }
        self.line = first_line + count_lines(&text[..end]);
        self.text.extend_from_slice(&text[end..]);
        if self.text.len() > RECORD_BYTES_MAX {
            self.note_open_quote(delimiter);
            self.text.clear();
        } else {
            text.truncate(end);
        }
    }

    fn note_open_quote(&mut self, delimiter: u8) {
        if is_quote_open(delimiter, &self.text) {
            self.open_quote = self.open_quote.or(Some(self.line));
        }
    }
}

fn count_lines(text: &[u8]) -> u64 {
    bytecount::count(text, b'\n') as u64
}

/// The message about a quote that is not closed in the record that begins in `line`.
fn unclosed(name: &str, line: u64) -> String {
    format!(
        "{name}:{line}: a quote is not closed, so lines after it were read as a part of this row; \
         close the quote, or double it inside a cell"
    )
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
    /// Rows that should be JSON objects and are not.
    pub damaged: u64,
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
        let damaged = judged.rows.damaged;
        self.count_progress(rows);
        let counted = match self.render {
            Some(render) => {
                (render.write)(&judged, &form, &mut out);
                None
            }
            None => Some(CountedUrls::of(&judged.outcomes, self.context.crawlers)),
        };
        let buffers = BatchBuffers { text: judged.rows.into_buffer(), out };
        self.results.send(sequence, RenderedBatch { buffers, counts, rows, damaged, counted });
        Ok(None)
    }

    fn finish(self) {}
}
