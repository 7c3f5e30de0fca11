//! Who judges: whoever is free. As many threads as were asked for, one of which reads as well; the
//! caller's writes, so that nobody who could judge waits for a disk.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError};

use crate::error::{Error, Result};
use crate::merge::Merge;

use super::batch::{BatchContext, BatchMemory, judge};
use super::input_format::InputFormat;
use super::rows::InputRows;
use super::summary::{CountedUrls, Summary, VerdictCounts};
use super::{ClassifyProgress, Render};

/// Buffers of a batch; there are only so many.
#[derive(Debug, Default)]
pub struct Buffers {
    pub text: Vec<u8>,
    pub out: Vec<u8>,
}

/// A batch on its way to whoever is free.
pub struct Work {
    pub sequence: u64,
    pub form: Arc<InputFormat>,
    pub buffers: Buffers,
}

/// A batch on its way out.
pub struct Done {
    sequence: u64,
    buffers: Buffers,
    counts: VerdictCounts,
    rows: u64,
    counted: Option<CountedUrls>,
}

/// What was written, or summed up instead.
#[derive(Debug)]
pub struct Written {
    pub rows: u64,
    pub counts: VerdictCounts,
    pub summary: Summary,
}

/// One thread, and what it remembers.
pub struct Hand<'a> {
    pub context: &'a BatchContext<'a>,
    pub work: &'a Receiver<Work>,
    pub done: Sender<Done>,
    pub has_failed: &'a AtomicBool,
    pub progress: &'a ClassifyProgress,
    /// `None` where nothing is written but a summary.
    pub render: Option<&'a Render<'a>>,
    /// Whether to count by origin and rule.
    pub counts: bool,
    pub memory: BatchMemory,
}

impl Hand<'_> {
    /// Works until nothing more comes.
    pub fn work(mut self) {
        while let Ok(work) = self.work.recv() {
            self.judge(work);
        }
    }

    /// Puts `work` where others take it. As long as enough waits there already, what waits longest
    /// is done here.
    pub fn hand_on(&mut self, mut work: Work, queue: &Sender<Work>) {
        while let Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) =
            queue.try_send(work)
        {
            work = back;
            self.judge_what_waits();
        }
    }

    /// The next buffers that are free. Until some are, works on what waits.
    pub fn buffers(&mut self, free: &Receiver<Buffers>) -> Buffers {
        loop {
            match free.try_recv() {
                Ok(buffers) => return buffers,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => {
                    if !self.judge_what_waits() {
                        // All are with others, who give them back.
                        return free.recv().unwrap_or_default();
                    }
                }
            }
        }
    }

    /// Whether anything waited.
    fn judge_what_waits(&mut self) -> bool {
        self.work.try_recv().map(|work| self.judge(work)).is_ok()
    }

    /// Judges a batch and writes what can be written.
    pub fn judge(&mut self, work: Work) {
        let Work { sequence, form, buffers: Buffers { text, mut out } } = work;
        let rows = InputRows::read(&form, text);
        let judged = judge(self.context, &form, rows, &mut self.memory);
        self.tell_progress(judged.rows.len());
        let counted = self.counts.then(|| CountedUrls::of(&judged, self.context.askers));
        if let Some(render) = self.render {
            (render.write)(&judged, &form, &mut out);
        }
        let (counts, rows) = (judged.counts(), judged.rows.len() as u64);
        let buffers = Buffers { text: judged.rows.into_buffer(), out };
        let done = Done { sequence, buffers, counts, rows, counted };
        self.done.send(done).expect("the writer takes all");
    }

    /// Whether nobody wants more batches.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    fn tell_progress(&mut self, rows: usize) {
        let ClassifyProgress { rows: all_rows, origins_opened, origins_found, .. } = self.progress;
        let sites = &mut self.memory.sites;
        all_rows.fetch_add(rows as u64, Ordering::Relaxed);
        origins_opened.fetch_add(std::mem::take(&mut sites.opened), Ordering::Relaxed);
        origins_found.fetch_add(std::mem::take(&mut sites.found), Ordering::Relaxed);
    }
}

/// Writes batches as soon as all before them are written, until no hand is left, and adds up what was
/// counted: in one place, so that what is counted as others does not depend on how many hands there
/// are. What cannot be written any more is still taken, so that nobody waits for room; `has_failed`
/// tells the reader.
///
/// # Errors
/// Where something could not be written.
pub fn write_in_order(
    done: &Receiver<Done>,
    free: &Sender<Buffers>,
    has_failed: &AtomicBool,
    out: &mut dyn Write,
    summary: Summary,
) -> Result<Written> {
    let (mut waiting, mut next) = (BTreeMap::new(), 0);
    let mut written = Written { rows: 0, counts: VerdictCounts::default(), summary };
    let mut failure = None;
    for batch in done {
        waiting.insert(batch.sequence, batch);
        while let Some(mut batch) = waiting.remove(&next) {
            if failure.is_none()
                && let Err(err) = out.write_all(&batch.buffers.out)
            {
                failure = Some(Error::io("cannot write", Path::new("the verdicts"), err));
                has_failed.store(true, Ordering::Relaxed);
            }
            batch.buffers.out.clear();
            written.rows += batch.rows;
            written.counts.absorb(batch.counts);
            batch.counted.into_iter().for_each(|counted| written.summary.add(counted));
            next += 1;
            // Once all is read nobody wants them.
            let _ = free.send(batch.buffers);
        }
    }
    failure.map_or(Ok(written), Err)
}
