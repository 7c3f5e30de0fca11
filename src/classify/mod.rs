//! Verdicts on lists of URLs: lists in, rows out in the same order.
//!
//! While all threads judge some batches, one reads and decompresses the next, and the caller's thread
//! writes those before. A batch is judged origin by origin. The number of batches in progress is limited, and
//! their buffers are reused, so memory does not grow with the length of a list.

pub mod answer;
pub mod batch;
pub mod batches;
pub mod classifier;
pub mod input_format;
pub mod known_origin;
pub mod options;
pub mod restrictions;
pub mod rows;
pub(crate) mod rule_changes;
pub mod summary;
pub mod url_parts;
pub mod verdicts;

use crate::crawlers::cache::UserAgentCache;
use crate::error::Result;
use crate::input::source::Source;
use crate::merge::Merge;
use crate::pipeline::batches::run_in_order;

use batch::{BatchContext, BatchMemory};
use batches::{BatchReader, BatchWorker, RenderedBatch, SpareBuffers};
use known_origin::OriginCache;
use options::{Classified, ClassifyOptions, ClassifyProgress, Render};
use summary::Summary;

/// Classifies the URLs of `sources`, in that order; `render` writes a batch, which `put` receives.
/// Damage to a source ends that source alone.
///
/// # Errors
/// If a list lacks a column, and the first error of `put`.
pub(crate) fn run(
    sources: &[Source],
    options: &ClassifyOptions,
    context: &BatchContext<'_>,
    progress: &ClassifyProgress,
    render: &Render<'_>,
    mut put: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Classified> {
    let render = options.summary_bytes.is_none().then_some(render);
    let begin = render.map(|render| render.begin);
    let summary = options.summary_bytes.map(|bytes| Summary::new(bytes.max));
    let own_bytes = options.summary_bytes.map_or(0, |bytes| bytes.own);
    let spare = &SpareBuffers::default();
    let mut classified = Classified { summary, ..Classified::default() };
    // One place counts all batches, so that the entry for others does not depend on the number of
    // threads.
    let write = |batch: RenderedBatch| {
        let RenderedBatch { out, counts, rows, damaged, counted } = batch;
        put(&out)?;
        spare.put_rows(out);
        classified.rows += rows;
        classified.damaged_lines += damaged;
        classified.counts.absorb(counts);
        let sums = classified.summary.as_mut().zip(counted);
        if let Some((summary, counted)) = sums {
            summary.add(counted);
            context.judge.lend_memory(summary.size_bytes().saturating_sub(own_bytes));
        }
        Ok(())
    };
    let worker = || {
        let origins = OriginCache::new(options.origins_bytes);
        let memory = BatchMemory { origins, user_agents: UserAgentCache::default() };
        BatchWorker { context, progress, render, memory, spare }
    };
    let mut reader = BatchReader::new(sources, options, progress, begin, spare);
    run_in_order(options.threads, worker, || reader.next(), BatchWorker::judged, write)?;
    Ok(Classified { damages: reader.damages, ..classified })
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::path::Path;
    use std::time::Duration;
    use std::{fs, thread};

    use super::*;
    use crate::archive::Store;
    use crate::error::Error;
    use crate::input::source::{Location, Source};
    use crate::judge::{Judge, profile::CrawlerProfile};
    use crate::url::path::Dialect;

    use answer::Detail;
    use batch::JudgedBatch;
    use input_format::CrawlerSource;
    use input_format::{InputFormat, WantedColumns};

    /// A disk with room for `left` more bytes.
    struct Disk {
        written: Vec<u8>,
        left: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.left);
            if count == 0 && !bytes.is_empty() {
                // All threads are done before the last write fails.
                thread::sleep(Duration::from_micros(300));
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.left -= count;
            self.written.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn write_rows(judged: &JudgedBatch, _: &InputFormat, out: &mut Vec<u8>) {
        for (row, answers) in judged.iter() {
            let words = answers.iter().map(|&at| judged.outcomes.get(at).word.as_str().as_bytes());
            out.extend([row.cell(0), b" ", &words.collect::<Vec<_>>().concat(), b"\n"].concat());
        }
    }

    /// Wherever the disk is full, the run fails, and what was written before is right.
    #[test]
    fn no_failed_write_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let [robots, list] = ["robots.txt", "list"].map(|name| dir.path().join(name));
        fs::write(&robots, "User-agent: *\nDisallow: /1\n").unwrap();
        let urls: String = (0..12).map(|number| format!("https://a.example/{number}\n")).collect();
        fs::write(&list, urls).unwrap();
        let profiles = vec![CrawlerProfile::of_token("a".to_owned())];
        let store = Store::open(&robots).unwrap();
        let judge = Judge::of_many(store, profiles, Dialect::Google, 1 << 20).unwrap();
        let crawlers = CrawlerSource::Fixed(vec!["a".to_owned()]);
        let (default_scheme, detail) = (None, Detail::Rules);
        let context = BatchContext { judge: &judge, crawlers: &crawlers, default_scheme, detail };
        let sources = [Source { name: "list".to_owned(), location: Location::File(list) }];
        let classify = |threads, left| {
            let wanted = WantedColumns { url: "url".to_owned(), crawler: None, time: None };
            let (batch_bytes, origins_bytes) = (50, 1 << 16);
            let options = ClassifyOptions {
                threads,
                batch_bytes,
                writing: None,
                wanted,
                origins_bytes,
                summary_bytes: None,
            };
            let render = Render { begin: &|_| Ok(b"url verdict\n".to_vec()), write: &write_rows };
            let mut disk = Disk { written: Vec::new(), left };
            let progress = ClassifyProgress::default();
            let put = |bytes: &[u8]| {
                let written = disk.write_all(bytes);
                written.map_err(|err| Error::io("cannot write", Path::new("verdicts"), err))
            };
            let done = run(&sources, &options, &context, &progress, &render, put);
            (done.map(|classified| classified.rows), disk.written)
        };
        let (done, whole) = classify(1, usize::MAX);
        assert!(done.unwrap() == 12 && whole.len() > 300);
        for threads in [1, 2, 8] {
            for left in 0..whole.len() {
                let (done, written) = classify(threads, left);
                assert!(done.is_err(), "{threads} threads, {left} bytes: the error was lost");
                assert_eq!(written, whole[..left], "{threads} threads");
            }
            let (done, written) = classify(threads, whole.len());
            assert_eq!((done.unwrap(), &written), (12, &whole), "{threads} threads");
        }
    }
}
