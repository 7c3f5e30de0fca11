//! Verdicts on lists of URLs: lists in, rows out in the same order.
//!
//! One thread reads and decompresses. All threads judge, one batch at a time. The caller's thread
//! writes. A batch is judged origin by origin. The number of batches in progress is limited, and
//! their buffers are reused, so memory does not grow with the length of a list.

pub mod answer;
pub mod batch;
pub mod by_origin;
pub mod classifier;
pub mod crawler_source;
pub mod input_format;
mod json_fields;
pub mod known_origin;
pub mod options;
pub mod origin_cache;
pub mod outcome;
pub mod record_boundary;
pub mod rows;
pub mod summary;
pub mod url_parts;

mod batch_reader;
mod batch_worker;

use std::io::Write;
use std::path::Path;

use crate::crawlers::cache::UserAgentCache;
use crate::error::{Error, Result};
use crate::input::source::Source;
use crate::merge::Merge;
use crate::pipeline::{in_order::run_in_order, queue::QueueLimits};

use batch::{BatchContext, BatchMemory};
use batch_reader::BatchReader;
use batch_worker::{BatchWorker, RenderedBatch};
use options::{Classified, ClassifyOptions, ClassifyProgress, Render};
use origin_cache::OriginCache;
use summary::Summary;

/// Batches under way besides one for each thread: on the way from the reader and to the writer.
const BATCHES_ON_THE_WAY: usize = 2;

/// Batches that are in memory at once.
pub fn batches_under_way(threads: usize) -> usize {
    threads + BATCHES_ON_THE_WAY
}

/// Classifies the URLs of `sources`, in that order; `render` writes a batch to `out`. Damage to a
/// source ends that source alone.
///
/// # Errors
/// If a list lacks a column, or `out` cannot be written.
pub fn run(
    sources: &[Source],
    options: &ClassifyOptions,
    context: &BatchContext<'_>,
    progress: &ClassifyProgress,
    render: &Render<'_>,
    out: &mut dyn Write,
) -> Result<Classified> {
    let limits = QueueLimits {
        threads: options.threads,
        waiting_max: options.threads,
        buffers_max: batches_under_way(options.threads),
    };
    let render = options.summary_bytes.is_none().then_some(render);
    let begin = render.map(|render| render.begin);
    let summary = options.summary_bytes.map(Summary::new);
    let mut classified = Classified { summary, ..Classified::default() };
    // One place counts all batches, so that the entry for others does not depend on the number of
    // threads.
    let write = |batch: RenderedBatch| {
        let RenderedBatch { mut buffers, counts, rows, counted } = batch;
        let written = out.write_all(&buffers.out);
        written.map_err(|err| Error::io("cannot write", Path::new("the verdicts"), err))?;
        buffers.out.clear();
        classified.rows += rows;
        classified.counts.absorb(counts);
        let sums = classified.summary.as_mut().zip(counted);
        sums.into_iter().for_each(|(summary, counted)| summary.add(counted));
        Ok(buffers)
    };
    let worker = |results| {
        let origins = OriginCache::new(options.origins_bytes);
        let memory = BatchMemory { origins, user_agents: UserAgentCache::default() };
        BatchWorker { context, progress, render, memory, results }
    };
    // The lists are one source: one thread reads one after the other.
    let (_, damages) = run_in_order(
        limits,
        &[sources],
        worker,
        |sources, queue| {
            let reader = BatchReader { options, progress, begin, head: Vec::new(), sequence: 0 };
            reader.read_all(sources, queue)
        },
        write,
    )?;
    Ok(Classified { damages: damages.concat(), ..classified })
}
