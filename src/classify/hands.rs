//! Who judges and who writes: whoever is free. As many threads as were asked for, one of which
//! reads as well.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError};

use crate::error::{Error, Result};
use crate::merge::Merge;

use super::batch::{Context, Memory, judge};
use super::form::Form;
use super::rows::Rows;
use super::summary::{Counts, Summary};
use super::{Progress, Render};

/// Buffers of a batch; there are only so many.
#[derive(Debug, Default)]
pub struct Buffers {
    pub text: Vec<u8>,
    pub out: Vec<u8>,
}

/// A batch on its way to whoever is free.
pub struct Work {
    pub sequence: u64,
    pub form: Arc<Form>,
    pub buffers: Buffers,
}

/// A batch on its way out.
struct Done {
    buffers: Buffers,
    counts: Counts,
    rows: u64,
}

/// One thread, and what it remembers.
pub struct Hand<'a> {
    pub context: &'a Context<'a>,
    pub work: &'a Receiver<Work>,
    pub exit: &'a Exit<'a>,
    pub progress: &'a Progress,
    /// `None` where nothing is written but a summary.
    pub render: Option<&'a Render<'a>>,
    pub summary: Option<Summary>,
    pub memory: Memory,
}

impl Hand<'_> {
    /// Works until nothing more comes, and gives what was summed up.
    pub fn work(mut self) -> Option<Summary> {
        while let Ok(work) = self.work.recv() {
            self.judge(work);
        }
        self.summary
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
        let rows = Rows::read(&form, text);
        let judged = judge(self.context, &form, rows, &mut self.memory);
        self.tell_progress(judged.rows.len());
        if let Some(summary) = &mut self.summary {
            summary.count(&judged, self.context.askers);
        }
        if let Some(render) = self.render {
            (render.write)(&judged, &form, &mut out);
        }
        let (counts, rows) = (judged.counts(), judged.rows.len() as u64);
        let buffers = Buffers { text: judged.rows.into_buffer(), out };
        self.exit.put(sequence, Done { buffers, counts, rows });
    }

    fn tell_progress(&mut self, rows: usize) {
        let Progress { rows: all_rows, origins_opened, origins_found, .. } = self.progress;
        let sites = &mut self.memory.sites;
        all_rows.fetch_add(rows as u64, Ordering::Relaxed);
        origins_opened.fetch_add(std::mem::take(&mut sites.opened), Ordering::Relaxed);
        origins_found.fetch_add(std::mem::take(&mut sites.found), Ordering::Relaxed);
    }
}

/// Where batches leave, in the order in which they were read.
pub struct Exit<'a> {
    /// Batches before which others are still to be written.
    waiting: Mutex<BTreeMap<u64, Done>>,
    writer: Mutex<Writer<'a>>,
    /// Takes back what is written.
    free: Sender<Buffers>,
    has_failed: AtomicBool,
}

/// What was written so far.
struct Writer<'a> {
    out: &'a mut (dyn Write + Send),
    /// The batch that comes next.
    next: u64,
    rows: u64,
    counts: Counts,
    failure: Option<Error>,
}

impl<'a> Exit<'a> {
    /// To `out`; buffers that are written go to `free`.
    pub fn new(out: &'a mut (dyn Write + Send), free: Sender<Buffers>) -> Exit<'a> {
        let counts = Counts::default();
        let writer = Mutex::new(Writer { out, next: 0, rows: 0, counts, failure: None });
        Exit { waiting: Mutex::default(), writer, free, has_failed: AtomicBool::new(false) }
    }

    /// Whether nobody wants more batches.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Writes the batch as soon as all before it are written. Nobody waits for who is writing:
    /// what is put here meanwhile is written by them.
    fn put(&self, sequence: u64, done: Done) {
        self.waiting().insert(sequence, done);
        loop {
            let mut writer = match self.writer.try_lock() {
                Ok(writer) => writer,
                Err(TryLockError::Poisoned(writer)) => writer.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            while let Some(done) = self.take(writer.next) {
                self.write(&mut writer, done);
            }
            let next = writer.next;
            drop(writer);
            // Put here by somebody who then saw that the writer was still busy.
            if !self.waiting().contains_key(&next) {
                return;
            }
        }
    }

    fn write(&self, writer: &mut Writer<'_>, mut done: Done) {
        if writer.failure.is_none()
            && let Err(err) = writer.out.write_all(&done.buffers.out)
        {
            let what = Path::new("the verdicts");
            writer.failure = Some(Error::io("cannot write", what, err));
            self.has_failed.store(true, Ordering::Relaxed);
        }
        done.buffers.out.clear();
        writer.rows += done.rows;
        writer.counts.absorb(done.counts);
        writer.next += 1;
        // Once all is read nobody wants them.
        let _ = self.free.send(done.buffers);
    }

    fn take(&self, sequence: u64) -> Option<Done> {
        self.waiting().remove(&sequence)
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, Done>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows that were written, and all answers; asked once all hands are idle.
    ///
    /// # Errors
    /// Where something could not be written.
    pub fn written(&self) -> Result<(u64, Counts)> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = std::mem::take(&mut writer.counts);
        writer.failure.take().map_or(Ok((writer.rows, counts)), Err)
    }
}
