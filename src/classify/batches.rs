//! Splits lists into batches of whole records, and judges them in threads.

use std::iter::Enumerate;
use std::mem::take;
use std::slice::Iter;
use std::sync::{Arc, Mutex, atomic::Ordering};

use crate::error::Result;
use crate::input::chunks::{Chunk, Chunks, HEAD_BYTES_MAX};
use crate::input::open::open;
use crate::input::source::{FileId, Source};
use crate::mutex::lock;

use super::batch::{BatchContext, BatchMemory, judge};
use super::input_format::{
    InputFormat, ListSyntax, is_quote_open, record_reader, whole_records, writing_of,
};
use super::options::{BeginRows, ClassifyOptions, ClassifyProgress, Render};
use super::rows::InputRows;
use super::summary::{CountedUrls, VerdictCounts};

/// The longest record. A longer one ends where the bytes of its batch end.
const RECORD_BYTES_MAX: usize = 1 << 20;

/// Buffers of earlier batches. Texts keep what they have, so that they are not filled again.
#[derive(Debug, Default)]
pub(crate) struct SpareBuffers {
    texts: Mutex<Vec<Vec<u8>>>,
    rows: Mutex<Vec<Vec<u8>>>,
}

impl SpareBuffers {
    /// Takes back a buffer whose rows are written.
    pub(crate) fn put_rows(&self, mut rows: Vec<u8>) {
        rows.clear();
        lock(&self.rows).push(rows);
    }
}

/// Opens, decompresses and splits lists, one after the other.
pub(crate) struct BatchReader<'a> {
    options: &'a ClassifyOptions,
    progress: &'a ClassifyProgress,
    spare: &'a SpareBuffers,
    lists: Enumerate<Iter<'a, Source>>,
    /// The list that is read now.
    list: Option<List<'a>>,
    /// Until the first list is open.
    begin: Option<BeginRows<'a>>,
    /// The header of the first list, until a batch has it.
    head: Vec<u8>,
    is_over: bool,
    /// A sentence for each list that could not be read.
    pub damages: Vec<String>,
}

/// A list that is read.
struct List<'a> {
    name: &'a str,
    chunks: Chunks,
    form: Arc<InputFormat>,
    /// The first bytes that are no rows: those of them that are not read yet.
    skip: usize,
    carry: Carry,
}

impl<'a> BatchReader<'a> {
    /// Reads `sources`; `begin` returns the header of what is written.
    pub(crate) fn new(
        sources: &'a [Source],
        options: &'a ClassifyOptions,
        progress: &'a ClassifyProgress,
        begin: Option<BeginRows<'a>>,
        spare: &'a SpareBuffers,
    ) -> BatchReader<'a> {
        let lists = sources.iter().enumerate();
        let (list, head, is_over, damages) = Default::default();
        BatchReader { options, progress, spare, lists, list, begin, head, is_over, damages }
    }

    /// The next batch; `None` after the last one.
    ///
    /// # Errors
    /// If a list lacks a column.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>> {
        while let Some(source) = self.list.is_none().then(|| self.lists.next()).flatten() {
            self.list = self.opened(source)?;
        }
        let mut text = lock(&self.spare.texts).pop().unwrap_or_default();
        let (form, is_last) = match &mut self.list {
            Some(list) => (Arc::clone(&list.form), list.next_batch(&mut text)),
            // Lists without rows have a header, too.
            None if !self.is_over => {
                self.is_over = true;
                self.begin(&InputFormat::Lines)?;
                text.clear();
                (Arc::new(InputFormat::Lines), false)
            }
            None => return Ok(None),
        };
        if !text.is_empty() {
            self.begin(&form)?;
        }
        if is_last && let Some(list) = self.list.take() {
            self.damages.extend(list.damages());
        }
        Ok(Some(Batch { form, head: take(&mut self.head), text }))
    }

    /// Opens a list, unless it is damaged.
    fn opened(&mut self, (index, source): (usize, &'a Source)) -> Result<Option<List<'a>>> {
        let opened = match open(source, &self.progress.bytes_read) {
            Ok(opened) => opened,
            Err(err) => {
                self.damages.push(err.to_string());
                return Ok(None);
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
        if has_rows {
            self.begin(&form)?;
        }
        let (name, form) = (&*source.name, Arc::new(form));
        Ok(Some(List { name, chunks, form, skip, carry: Carry::default() }))
    }

    /// Once, for the first list that has rows.
    fn begin(&mut self, form: &InputFormat) -> Result<()> {
        if let Some(begin) = self.begin.take() {
            self.head = begin(form)?;
        }
        Ok(())
    }
}

impl List<'_> {
    /// Fills `text` with whole records; returns whether they are the last.
    fn next_batch(&mut self, text: &mut Vec<u8>) -> bool {
        let delimiter = match *self.form {
            InputFormat::Delimited { delimiter, .. } => Some(delimiter),
            _ => None,
        };
        let Some(Chunk { bytes, first_line, .. }) = self.chunks.next_chunk(take(text)) else {
            delimiter.into_iter().for_each(|delimiter| self.carry.note_open_quote(delimiter));
            *text = take(&mut self.carry.text);
            return true;
        };
        *text = bytes;
        // The skipped bytes may be longer than a small first batch.
        let skipped = self.skip.min(text.len());
        self.skip -= skipped;
        let line = first_line + count_lines(&text[..skipped]);
        text.drain(..skipped);
        delimiter.into_iter().for_each(|delimiter| self.carry.cut(text, line, delimiter));
        false
    }

    /// What was wrong with the list, once it is read.
    fn damages(&self) -> impl Iterator<Item = String> {
        let open_quote = self.carry.open_quote.map(|line| unclosed(self.name, line));
        let damage = self.chunks.ending().damage;
        open_quote.into_iter().chain(damage.map(|damage| format!("{}: {damage}", self.name)))
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
    memchr::memchr_iter(b'\n', text).count() as u64
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

/// Whole records of a list.
pub(crate) struct Batch {
    form: Arc<InputFormat>,
    /// The header of what is written, in the first batch.
    head: Vec<u8>,
    text: Vec<u8>,
}

/// A batch whose verdicts can be written.
pub(crate) struct RenderedBatch {
    pub out: Vec<u8>,
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
    pub spare: &'a SpareBuffers,
}

impl BatchWorker<'_> {
    fn count_progress(&mut self, rows: u64) {
        let ClassifyProgress { rows: all_rows, origins_opened, origins_found, .. } = self.progress;
        let origins = &mut self.memory.origins;
        all_rows.fetch_add(rows, Ordering::Relaxed);
        origins_opened.fetch_add(std::mem::take(&mut origins.opened), Ordering::Relaxed);
        origins_found.fetch_add(std::mem::take(&mut origins.found), Ordering::Relaxed);
    }

    /// Judges a batch, and writes its rows to a buffer.
    pub(crate) fn judged(&mut self, batch: Batch) -> RenderedBatch {
        let Batch { form, mut head, text } = batch;
        let mut out = lock(&self.spare.rows).pop().unwrap_or_default();
        out.append(&mut head);
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
        lock(&self.spare.texts).push(judged.rows.into_buffer());
        RenderedBatch { out, counts, rows, damaged, counted }
    }
}
