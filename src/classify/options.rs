//! The options and the result of a run of classify.

use std::sync::{Arc, atomic::AtomicU64};

use crate::error::Result;

use super::batch::JudgedBatch;
use super::input_format::{InputFormat, ListSyntax, WantedColumns};
use super::summary::{Summary, VerdictCounts};

/// How to classify.
#[derive(Clone, Debug)]
pub(crate) struct ClassifyOptions {
    /// The number of threads that read and judge; writing uses one more.
    pub threads: usize,
    /// The size of a batch in bytes.
    pub batch_bytes: usize,
    /// How the lists are written; `None`: detected from each name.
    pub writing: Option<ListSyntax>,
    /// The columns that are read, if the lists have columns.
    pub wanted: WantedColumns<String>,
    /// The memory of each thread for origins, in bytes.
    pub origins_bytes: usize,
    /// The memory for the counts of origins and rules; `None` if rows are written.
    pub summary_bytes: Option<SummaryBytes>,
}

/// The memory for counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SummaryBytes {
    /// The most bytes.
    pub max: usize,
    /// The part of them that is for counts alone. More is taken from the memory of the judge, which
    /// reads robots.txt files again when it has less.
    pub own: usize,
}

/// The progress of a run.
#[derive(Debug, Default)]
pub(crate) struct ClassifyProgress {
    /// Bytes read, as they lie on disk.
    pub bytes_read: Arc<AtomicU64>,
    /// Rows judged.
    pub rows: AtomicU64,
    /// Lookups of origins; an origin counts again if it was forgotten in between.
    pub origins_opened: AtomicU64,
    /// Origins that were still in the cache.
    pub origins_found: AtomicU64,
}

/// The result.
#[derive(Debug, Default)]
pub(crate) struct Classified {
    /// Rows that were judged.
    pub rows: u64,
    /// Rows that should be JSON objects and are not.
    pub damaged_lines: u64,
    /// All answers.
    pub counts: VerdictCounts,
    /// The summary, if it was requested.
    pub summary: Option<Summary>,
    /// A sentence for each list that could not be read.
    pub damages: Vec<String>,
}

/// Returns the header.
pub(crate) type BeginRows<'a> = &'a (dyn Fn(&InputFormat) -> Result<Vec<u8>> + Sync);

/// How verdicts are written.
#[derive(Clone, Copy)]
pub(crate) struct Render<'a> {
    /// Returns the header, once, for the first list that can be read.
    pub begin: BeginRows<'a>,
    /// Writes the rows of a batch to a buffer.
    pub write: &'a (dyn Fn(&JudgedBatch, &InputFormat, &mut Vec<u8>) + Sync),
}
