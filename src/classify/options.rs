//! What a run of classify is given, and what comes of it.

use std::sync::{Arc, atomic::AtomicU64};

use crate::error::Result;

use super::batch::JudgedBatch;
use super::input_format::{InputFormat, ListSyntax, WantedColumns};
use super::summary::{Summary, VerdictCounts};

/// How to classify.
#[derive(Clone, Debug)]
pub struct ClassifyOptions {
    /// Threads that read and judge; who writes comes on top of them.
    pub threads: usize,
    /// Bytes of a batch.
    pub batch_bytes: usize,
    /// How the lists are written; `None`: detected from each name.
    pub writing: Option<ListSyntax>,
    /// The columns that are read, where the lists have columns.
    pub wanted: WantedColumns<String>,
    /// Bytes for what each thread remembers of origins.
    pub origins_bytes: usize,
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
pub type BeginRows<'a> = &'a (dyn Fn(&InputFormat) -> Result<Vec<u8>> + Sync);

/// How verdicts are written.
#[derive(Clone, Copy)]
pub struct Render<'a> {
    /// What stands before all rows; asked once, for the first list that can be read.
    pub begin: BeginRows<'a>,
    /// Puts the rows of a batch into a buffer.
    pub write: &'a (dyn Fn(&JudgedBatch, &InputFormat, &mut Vec<u8>) + Sync),
}
