//! Verdicts on lists of URLs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{ffi::OsString, thread::available_parallelism, time::Instant};

use crate::archive::Store;
use crate::audit::probe::examine;
use crate::classify;
use crate::classify::answer::{Detail, VerdictWord};
use crate::classify::batch::BatchContext;
use crate::classify::input_format::{
    CrawlerSource, InputFormat, ListSyntax, WantedColumns, writing_of,
};
use crate::classify::options::{
    Classified, ClassifyOptions, ClassifyProgress, Render, SummaryBytes,
};
use crate::classify::summary::{SortedSummary, Summary, VerdictCounts, write_summary};
use crate::classify::verdicts::{Layout, Verdicts, Width};
use crate::config::setting::THREADS_MAX;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::compression::Compression;
use crate::input::source::{Location, Source, expand, unread_directories};
use crate::judge::{Judge, messages::failure_messages, profile::CrawlerProfile};
use crate::logs::format::Hints;
use crate::numbers::{counted, grouped};
use crate::report::output::OutputFile;
use crate::report::outputs::{OutputContent, Outputs, Overwrite};
use crate::staged::is_stdout;
use crate::url::path::Dialect;

use super::console::{RunOutcome, STDOUT_NAME, SharedConsole, Watched};
use super::{crawlers::NamedCrawlers, sandbox::access_rights::TcpUse};

/// Lists of URLs that are ready to be classified.
#[derive(Debug)]
pub(crate) struct ClassifyRun {
    /// Files, directories, patterns, or - for standard input.
    pub lists: Vec<OsString>,
    /// The robots.txt file, directory or archive to judge by.
    pub robots: PathBuf,
    /// The crawlers, if no column names one for each row.
    pub crawlers: NamedCrawlers,
    /// The format of the lists; `None` if their names say it.
    pub writing: Option<ListSyntax>,
    /// Where in a row the URL is, and perhaps its crawler and time.
    pub wanted: WantedColumns<String>,
    /// The scheme of URLs without one.
    pub default_scheme: Option<String>,
    /// The file to write; `None` and - are standard output.
    pub output: Option<PathBuf>,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// The format of the output; `None` if its name says it.
    pub layout: Option<Layout>,
    /// What is written.
    pub written: WrittenVerdicts,
    /// Whether a disallowed URL is a failure.
    pub fails_on_disallowed: bool,
    /// How percent-encodings and wildcards are compared.
    pub dialect: Dialect,
    /// About how many bytes of memory are used.
    pub memory_bytes: usize,
    /// The number of threads; 0 means one per core.
    pub threads: usize,
    /// Who follows the run.
    pub console: SharedConsole,
}

/// What is written of the verdicts.
#[derive(Clone, Debug)]
pub(crate) enum WrittenVerdicts {
    /// A row for each verdict, or for each URL.
    Rows {
        /// Which of both.
        width: Width,
        /// The columns, in order; `None` means all.
        columns: Option<Vec<String>>,
        /// The verdicts; empty means all.
        only: Vec<String>,
    },
    /// Only counts, by crawler, origin and rule.
    Summary,
}

/// Eighths of the memory for robots.txt files and policies, for batches in progress, and for cached
/// origins. Counts get half of the memory that batches would otherwise have, and when that is full,
/// most of that for robots.txt files.
const CACHE_EIGHTHS: usize = 4;
const BATCHES_EIGHTHS: usize = 3;
const ORIGINS_EIGHTHS: usize = 1;

/// The largest batch in bytes. More rows per origin make a batch faster: with 10,000 origins and
/// batches of 75,000 shuffled rows, each origin occurs seven times.
const BATCH_BYTES_MAX: usize = 8 << 20;

/// Each thread gets so many batches, or fewer if they would be smaller than this: nothing is read beside the first ones,
/// and nothing is judged beside the writing of the last ones.
const ROUNDS: u64 = 4;
const BATCH_BYTES_MIN: u64 = 1 << 20;

/// A list that is shorter has one batch.
const SHORT_LIST_BYTES: u64 = 64 << 10;

/// Most lines are shorter.
const LINE_BYTES: u64 = 1 << 10;

/// The memory of a batch per byte of input, for its rows, and for the answers and the output of
/// each crawler.
const BATCH_GROWTH: usize = 4;
const BATCH_GROWTH_PER_CRAWLER: usize = 4;

impl ClassifyRun {
    /// Classifies all lists.
    ///
    /// # Errors
    /// If a setting is not valid, robots.txt or all lists cannot be read, or the output cannot be
    /// written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        // In the order given: output rows keep the order of the input.
        let sources: Vec<Source> =
            self.lists.iter().flat_map(|list| expand(std::slice::from_ref(list))).collect();
        unread_directories(&self.lists).iter().for_each(|what| self.console.warn(what));
        self.check_files(&sources)?;
        self.check_threads()?;
        let registry = self.crawlers.registry()?;
        let (crawlers, judged) = self.crawler_source(&registry)?;
        let store = Store::open(&self.robots)?;
        let cache_bytes = self.memory_bytes / 8 * CACHE_EIGHTHS;
        let judge = Judge::of_many(store, judged, self.dialect, cache_bytes)?;
        let (width, columns, only) = match &self.written {
            WrittenVerdicts::Rows { width, columns, only } => (*width, columns.clone(), &only[..]),
            WrittenVerdicts::Summary => (Width::Long, None, &[][..]),
        };
        let only: Result<Vec<VerdictWord>> = only.iter().map(|name| verdict_word(name)).collect();
        let verdicts = Verdicts::new(self.layout(), width, columns, only?, &crawlers);
        let default_scheme = self.default_scheme.as_deref();
        let detail = if self.is_summary() { Detail::Rules } else { verdicts.detail() };
        let context = BatchContext { judge: &judge, crawlers: &crawlers, default_scheme, detail };
        let mut output = self.open_output()?;
        let classify = || self.classify(&sources, &context, &verdicts, &mut output);
        let classified = self.console.timed("lists read and classified", classify)?;
        self.finish(classified, &crawlers, &sources, output, &judge)
    }

    /// Checks the output, and begins with the files of this run.
    fn check_files(&self, sources: &[Source]) -> Result<()> {
        let mut outputs = Outputs::new(self.overwrite);
        outputs.reads_sources("a list", sources);
        outputs.reads_robots("--robots", &self.robots);
        self.crawlers.file.iter().for_each(|path| outputs.reads("--crawlers", path));
        if let Some(output) = self.output.as_deref().filter(|path| !is_stdout(path)) {
            let columns = match &self.written {
                WrittenVerdicts::Rows { columns, .. } => columns.as_deref(),
                WrittenVerdicts::Summary => None,
            };
            outputs.file("-o", output, OutputContent::Verdicts(columns))?;
        }
        self.console.begin_with(&outputs, TcpUse::None);
        Ok(())
    }

    fn classify(
        &self,
        sources: &[Source],
        context: &BatchContext<'_>,
        verdicts: &Verdicts<'_>,
        output: &mut OutputFile,
    ) -> Result<Classified> {
        let options = self.options(sources, context.crawlers);
        let (progress, begun) = (ClassifyProgress::default(), Instant::now());
        let begin = |form: &InputFormat| verdicts.begin(form);
        let write =
            |judged: &_, form: &InputFormat, out: &mut Vec<u8>| verdicts.write(judged, form, out);
        let watched = Watched::Bytes {
            total: sources.iter().map(Source::size_bytes).sum(),
            done: &|| progress.bytes_read.load(Ordering::Relaxed),
            text: &|| so_far(&progress, begun),
        };
        self.console.follow(&watched, || {
            let render = Render { begin: &begin, write: &write };
            let put = |bytes: &[u8]| output.put(bytes);
            classify::run(sources, &options, context, &progress, &render, put)
        })
    }

    fn finish(
        &self,
        classified: Classified,
        crawlers: &CrawlerSource<'_>,
        sources: &[Source],
        mut output: OutputFile,
        judge: &Judge,
    ) -> Result<RunOutcome> {
        let nothing_read = classified.rows == 0 && classified.damages.len() == sources.len();
        let not_json = damaged_message(classified.damaged_lines);
        let lists = classified.damages.into_iter().chain(not_json);
        let damages: Vec<String> = lists.chain(failure_messages(&judge.failures())).collect();
        if let Some(first) = damages.first().filter(|_| nothing_read) {
            return Err(Error::usage(first.clone()));
        }
        let summary = classified.summary.map(Summary::into_sorted);
        if let Some(summary) = &summary {
            write_summary(summary, crawlers, |row| output.put(row))?;
        }
        output.commit()?;
        let folded =
            summary.as_ref().and_then(|summary| folded_message(summary, self.memory_bytes));
        folded.iter().for_each(|message| self.console.warn(message));
        let foreign = match self.console.is_verbose() {
            true => judge.foreign_files(),
            false => judge.foreign_files_in_short(),
        };
        let notes = judge.ignored_message().into_iter().chain(foreign);
        let notes = notes.chain(judge.cut_message()).chain(judge.slow_message());
        damages.iter().cloned().chain(notes).for_each(|damage| self.console.warn(&damage));
        let totals = totals(&classified.counts, classified.rows);
        self.console.say(&totals);
        let read_again = read_again_message(judge.times_read_again(), self.memory_bytes);
        read_again.iter().for_each(|message| self.console.say(message));
        let is_judged = self.check_judged(&classified.counts, &totals, sources);
        // A page that a server sent as robots.txt, as an archive shows it, allows everything.
        let is_robots_txt = judge.has_history() || judge.foreign_files().is_empty();
        if !damages.is_empty() || !is_judged || !is_robots_txt {
            return Ok(RunOutcome::Incomplete);
        }
        let is_failure =
            self.fails_on_disallowed && classified.counts.of(VerdictWord::Disallowed) > 0;
        Ok(if is_failure { RunOutcome::Disallowed } else { RunOutcome::Done })
    }

    /// Whether any URL was judged, or the input had none. If not, this warns the user.
    fn check_judged(&self, counts: &VerdictCounts, totals: &str, sources: &[Source]) -> bool {
        let of = |words: &[VerdictWord]| words.iter().map(|word| counts.of(*word)).sum::<u64>();
        let judged = of(&[VerdictWord::Allowed, VerdictWord::Disallowed, VerdictWord::Grace]);
        if judged > 0 || of(&VerdictWord::ALL) == 0 {
            return true;
        }
        let is_invalid = of(&VerdictWord::ALL) == counts.of(VerdictWord::InvalidUrl);
        let mut logs = sources.iter().filter(|_| is_invalid).filter_map(|it| self.log_message(it));
        let why = logs.next().unwrap_or_else(|| format!("{totals}; the column reason says why"));
        self.console.warn(&format!("no URL could be judged: {why}"));
        false
    }

    /// The crawlers of the rows, and the names that the judge must know.
    fn crawler_source<'r>(
        &self,
        registry: &'r Registry,
    ) -> Result<(CrawlerSource<'r>, Vec<CrawlerProfile>)> {
        if self.wanted.crawler.is_some() {
            let crawlers =
                registry.iter().map(|(_, crawler)| CrawlerProfile::new(crawler)).collect();
            return Ok((CrawlerSource::PerRow(registry), crawlers));
        }
        let (names, crawlers) = self.crawlers.profiles(registry)?;
        if names.is_empty() {
            return Err(Error::usage(
                "no crawler given; use --crawler, --token or --user-agent, or a column with \
                 --crawler-column or --user-agent-column",
            ));
        }
        Ok((CrawlerSource::Fixed(names), crawlers))
    }

    /// What to say of `source` if it is a log.
    fn log_message(&self, source: &Source) -> Option<String> {
        let Location::File(path) = &source.location else { return None };
        if !path.is_file() {
            return None;
        }
        let probe = examine(source, &Hints::default()).ok()?;
        let format = probe.detection.format.filter(|_| probe.records > 0)?;
        Some(format!(
            "{} is an access log ({}), not a list of URLs; to audit it, run: botaudit audit --robots {} {}",
            source.name,
            format.name(),
            self.robots.display(),
            path.display()
        ))
    }

    fn check_threads(&self) -> Result<()> {
        if self.threads <= THREADS_MAX {
            return Ok(());
        }
        let why = format!(
            "--threads: {} is more than {THREADS_MAX}; use 0 for one thread per core",
            self.threads
        );
        Err(Error::usage(why))
    }

    fn options(&self, sources: &[Source], crawlers: &CrawlerSource<'_>) -> ClassifyOptions {
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = if self.threads == 0 { cores } else { self.threads };
        // For each thread a batch is read, one judged and one written. The first has no rows yet, and the last no text
        // any more: they take the memory of one together.
        let batches = 2 * threads;
        let growth = BATCH_GROWTH + BATCH_GROWTH_PER_CRAWLER * crawlers.per_row();
        let batch_bytes = self.memory_bytes / 8 * BATCHES_EIGHTHS / batches / growth;
        let origins_bytes = self.memory_bytes / 8 * ORIGINS_EIGHTHS / threads;
        let (batch_bytes, summary_bytes) = match self.is_summary() {
            true => {
                let own = self.memory_bytes / 8 * BATCHES_EIGHTHS / 2;
                let lent = self.memory_bytes / 8 * CACHE_EIGHTHS / 4 * 3;
                (batch_bytes / 2, Some(SummaryBytes { max: own + lent, own }))
            }
            false => (batch_bytes, None),
        };
        let most = batch_bytes.clamp(16 << 10, BATCH_BYTES_MAX);
        ClassifyOptions {
            threads,
            batch_bytes: list_bytes(sources).map_or(most, |list| even_batch(list, threads, most)),
            writing: self.writing,
            wanted: self.wanted.clone(),
            origins_bytes,
            summary_bytes,
        }
    }

    fn is_summary(&self) -> bool {
        matches!(self.written, WrittenVerdicts::Summary)
    }

    /// The output: a file, or standard output.
    fn open_output(&self) -> Result<OutputFile> {
        match self.output.as_deref().filter(|path| !is_stdout(path)) {
            Some(path) => OutputFile::create(path),
            None => OutputFile::stream(Path::new(STDOUT_NAME), self.console.stdout()?),
        }
    }

    fn layout(&self) -> Layout {
        let by_name = || {
            let name = self.output.as_deref().and_then(Path::to_str).unwrap_or_default();
            match writing_of(name) {
                ListSyntax::Tsv => Layout::Tsv,
                ListSyntax::JsonLines => Layout::JsonLines,
                ListSyntax::Csv | ListSyntax::Lines => Layout::Csv,
            }
        };
        self.layout.unwrap_or_else(by_name)
    }
}

/// The bytes of all lists; `None` if that is not known before they are read.
fn list_bytes(sources: &[Source]) -> Option<u64> {
    let is_compressed = |source: &Source| Compression::claimed_by(source.name.as_ref()).is_some();
    let sizes = sources.iter().map(|it| it.size_bytes().filter(|_| !is_compressed(it)));
    sizes.sum()
}

/// The size of the batches of lists of `list` bytes, at most `most`, so that each thread gets as many as the
/// others: all wait for the last batch.
fn even_batch(list: u64, threads: usize, most: usize) -> usize {
    let (threads, most) = (threads as u64, most as u64);
    let share = list.div_ceil(threads);
    let rounds = share.div_ceil(most).max(ROUNDS.min(share / BATCH_BYTES_MIN)).max(1);
    // A batch ends with a whole line, and the next one begins with the rest.
    let even = (share.div_ceil(rounds) + LINE_BYTES).max(SHORT_LIST_BYTES).min(most);
    even as usize
}

/// A sentence that `lines` are damaged, if any are.
fn damaged_message(lines: u64) -> Option<String> {
    (lines > 0).then(|| {
        let lines = counted(lines, "line");
        format!("not a JSON object: {lines}, counted as invalid-url; the lists may be damaged")
    })
}

/// How many URLs got which verdict.
fn totals(counts: &VerdictCounts, rows: u64) -> String {
    let counts = VerdictWord::ALL.map(|word| (counts.of(word), word));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> =
        counts.map(|(count, word)| format!("{} {}", grouped(*count), word.as_str())).collect();
    format!("{}; {}", counted(rows, "URL"), counts.join(", "))
}

/// The progress line: URLs, speed, looked-up origins, and the share of origins found in the cache.
fn so_far(progress: &ClassifyProgress, begun: Instant) -> String {
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (rows, opened) = (load(&progress.rows), load(&progress.origins_opened));
    let found = load(&progress.origins_found);
    let per_second = rows as f64 / begun.elapsed().as_secs_f64().max(0.001);
    let percent = found * 100 / (found + opened).max(1);
    format!("{rows} URLs, {per_second:.0}/s; {opened} origins looked up, {percent} % cache hits")
}

/// A sentence on the origins and rules that did not fit in `memory`.
fn folded_message(summary: &SortedSummary, memory: usize) -> Option<String> {
    let origins = summary.other_origins.map(|others| (others, "origins"));
    let rules = summary.other_rules.map(|others| (others, "rules"));
    let (mut kept, mut all, mut parts) = (0_u64, 0_u64, Vec::new());
    for (others, what) in origins.into_iter().chain(rules) {
        let of_kind = others.kept.saturating_add(others.about);
        (kept, all) = (kept.saturating_add(others.kept), all.saturating_add(of_kind));
        parts.push(format!("about {} of {} {what}", grouped(others.about), grouped(of_kind)));
    }
    // In proportion, with a reserve, rounded up.
    let mebibytes = memory as f64 / f64::from(1 << 20);
    let wanted = (1.2 * mebibytes * all as f64 / kept.max(1) as f64).ceil() as u64;
    let wanted = wanted.checked_next_power_of_two().unwrap_or(wanted);
    (!parts.is_empty()).then(|| {
        format!(
            "--memory is full: the counts of {} are added up as (others); for all of them, use \
             --memory {wanted}MiB",
            parts.join(" and of ")
        )
    })
}

/// A sentence that robots.txt files were read again `times`, because they did not fit in `memory`.
fn read_again_message(times: u64, memory: usize) -> Option<String> {
    // Twice as much, at least 2.
    let gibibytes = (memory >> 29).max(2).next_power_of_two();
    (times > 0).then(|| {
        format!(
            "--memory is full: robots.txt files were read and compiled again {}; to avoid it, add \
             --memory {gibibytes}GiB",
            counted(times, "time")
        )
    })
}

fn verdict_word(name: &str) -> Result<VerdictWord> {
    VerdictWord::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = VerdictWord::ALL.iter().map(|word| word.as_str()).collect();
        Error::usage(format!("--only {name}: the verdicts are {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_get_equally_many_batches() {
        for most in [16 << 10, 3 << 20, 8 << 20] {
            for threads in [1, 2, 3, 16] {
                for list in [100_000, 5_000_000, 58 << 20, 115_151_155, 3_000_000_000_u64] {
                    let bytes = even_batch(list, threads, most);
                    assert!(bytes <= most && bytes >= (16 << 10));
                    // The rest of a line stays for the next batch.
                    let batches = list.div_ceil(bytes as u64 - 100);
                    let rounds = batches.div_ceil(threads as u64);
                    let missing = rounds * threads as u64 - batches;
                    let is_short = bytes as u64 == SHORT_LIST_BYTES;
                    assert!(
                        missing == 0 || bytes == most || is_short,
                        "{list} bytes, {threads} threads: {batches} batches of {bytes}"
                    );
                }
            }
        }
        assert_eq!(even_batch(0, 2, 8 << 20), SHORT_LIST_BYTES as usize);
        assert_eq!(even_batch(u64::MAX, 2, 8 << 20), 8 << 20);
        // Seven batches of the largest size would leave one thread without work in the last round.
        assert_eq!(even_batch(56 << 20, 2, 8 << 20), (7 << 20) + 1024);
    }
}
