//! The work of one thread: batches in, written verdicts out.

use std::sync::{Arc, atomic::Ordering};

use crate::error::Result;
use crate::pipeline::{in_order::ResultSender, queue::QueueWorker};

use super::batch::{BatchContext, BatchMemory, judge};
use super::options::{ClassifyProgress, Render};
use super::summary::{CountedUrls, VerdictCounts};
use super::{input_format::InputFormat, rows::InputRows};

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
