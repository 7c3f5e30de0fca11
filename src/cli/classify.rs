//! `botaudit classify`: verdicts on lists of URLs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{ffi::OsString, thread::available_parallelism, time::Instant};

use clap::Args;

use crate::archive::Store;
use crate::classify;
use crate::classify::input_format::{
    CrawlerColumn, InputFormat, ListSyntax, WantedColumns, writing_of,
};
use crate::classify::options::{
    Classified, ClassifyOptions, ClassifyProgress, Render, SummaryBytes,
};
use crate::classify::summary::{SortedSummary, Summary};
use crate::classify::{
    answer::VerdictWord, batch::BatchContext, crawler_source::CrawlerSource, outcome::Detail,
};
use crate::config::setting::THREADS_MAX;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::{Source, expand};
use crate::judge::{Judge, messages::failure_messages, profile::CrawlerProfile};
use crate::numbers::{counted, grouped};
use crate::report::outputs::{OutputContent, Outputs};
use crate::report::verdicts::{Layout, Verdicts, Width};
use crate::report::{classified::write_summary, output::OutputFile};
use crate::run::outcome::RunOutcome;
use crate::run::output::STDOUT_NAME;
use crate::run::sandbox::access_rights::TcpUse;
use crate::staged::is_stdout;
use crate::url::dialect::Dialect;

use super::confinement::confine;
use super::help::short;
use super::progress::{Show, follow};
use super::shared::{ForceArg, or_token, registry, say, stdout_file, timed, unknown_crawler, warn};
use super::size::bytes;
use super::value_names::{DIALECTS, LAYOUTS, LIST_SYNTAXES, one_of};

const HELP: &str = include_str!("help/classify.txt");

/// Classify URLs in bulk: which crawlers may request them.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "classify"), after_long_help = HELP)]
pub struct ClassifyArgs {
    /// Lists of URLs: files, directories, patterns, or -.
    ///
    /// - is standard input. gzip, zstd, bzip2 and xz are detected by content, not by file name.
    #[arg(required = true, value_name = "LIST")]
    lists: Vec<OsString>,

    /// robots.txt file, directory of such files, or archive.
    ///
    /// A file applies to all URLs. A directory has one file per host, as for `botaudit check`.
    #[arg(long, value_name = "PATH", help_heading = "Rules")]
    robots: PathBuf,

    /// Known crawler, such as GPTBot; repeatable.
    #[arg(long, value_name = "NAME", help_heading = "Crawler")]
    crawler: Vec<String>,

    /// Any crawler with this product token; repeatable.
    ///
    /// A version after it is ignored: GPTBot/1.2.
    #[arg(long, value_name = "TOKEN", help_heading = "Crawler")]
    token: Vec<String>,

    /// Crawler that sends this whole User-Agent header; repeatable.
    ///
    /// If the registry does not know it, the first product counts: FooBot in `FooBot/1.0 (+http://foo.example)` and in
    /// `Mozilla/5.0 (compatible; FooBot/1.0)`.
    #[arg(long, value_name = "HEADER", help_heading = "Crawler", hide_short_help = true)]
    user_agent: Vec<OsString>,

    /// Column with the name of the crawler of each row.
    #[arg(long, value_name = "COLUMN", help_heading = "Crawler", hide_short_help = true,
        conflicts_with_all = ["crawler", "token", "user_agent", "user_agent_column"])]
    crawler_column: Option<String>,

    /// Column with the User-Agent header of each row.
    ///
    /// A header that the registry does not know is judged by the groups for *.
    #[arg(long, value_name = "COLUMN", help_heading = "Crawler", hide_short_help = true,
        conflicts_with_all = ["crawler", "token", "user_agent"])]
    user_agent_column: Option<String>,

    /// CSV file with more crawlers; a row with a built-in name replaces that crawler.
    #[arg(long, value_name = "FILE", help_heading = "Crawler", hide_short_help = true)]
    crawlers: Option<PathBuf>,

    /// Format of the lists [default: by file name: .csv, .tsv, .jsonl, otherwise lines]
    #[arg(long, value_parser = one_of(&LIST_SYNTAXES), value_name = "FORMAT", help_heading = "Input",
        hide_short_help = true)]
    input_format: Option<ListSyntax>,

    /// Column of the URL in CSV or TSV, by name or number.
    #[arg(long, value_name = "COLUMN", help_heading = "Input", conflicts_with = "field")]
    column: Option<String>,

    /// Key of the URL in JSON objects.
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    field: Option<String>,

    /// Column with the time to judge each row at [default: the newest robots.txt counts]
    ///
    /// A time is RFC 3339, a date (UTC), or seconds since 1970.
    #[arg(long, value_name = "COLUMN", help_heading = "Input", hide_short_help = true)]
    time_column: Option<String>,

    /// Scheme of URLs without a scheme, such as https.
    #[arg(long, value_name = "SCHEME", help_heading = "Input", hide_short_help = true)]
    default_scheme: Option<String>,

    /// Output file (also .gz or .zst); - is standard output [default: -]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArg,

    /// Format of the output [default: by file name]
    ///
    /// A name that ends in .tsv or .jsonl (also compressed) decides; all others mean csv.
    #[arg(long, value_parser = one_of(&LAYOUTS), value_name = "FORMAT", help_heading = "Output")]
    format: Option<Layout>,

    /// Write one row per URL with a column for each crawler.
    #[arg(long, help_heading = "Output")]
    wide: bool,

    /// Columns to write, in this order, separated by commas.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Output",
        hide_short_help = true
    )]
    columns: Option<Vec<String>>,

    /// Write only these verdicts, separated by commas.
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', help_heading = "Output")]
    only: Vec<String>,

    /// Write only counts, by crawler, origin and rule.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["wide", "columns", "only", "format"])]
    summary: bool,

    /// Exit with 1 if a URL is disallowed.
    #[arg(long, help_heading = "Output")]
    fail_on_disallowed: bool,

    /// How percent-encodings and wildcards are compared.
    #[arg(long, value_name = "DIALECT", value_parser = one_of(&DIALECTS), default_value = "google",
        help_heading = "Rules", hide_short_help = true)]
    dialect: Dialect,

    /// Approximate memory to use, such as 64MiB or 2GiB; a number alone is MiB.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = bytes,
        help_heading = "Performance", hide_short_help = true)]
    memory: usize,

    /// Number of threads; 0 means one per core.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        help_heading = "Performance",
        hide_short_help = true
    )]
    threads: usize,

    /// Print only warnings and errors.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
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

/// The memory of a batch per byte of input, for its rows, and for the answers and the output of
/// each crawler.
const BATCH_GROWTH: usize = 4;
const BATCH_GROWTH_PER_CRAWLER: usize = 4;

impl ClassifyArgs {
    /// Classifies all lists.
    pub fn run(self) -> Result<RunOutcome> {
        // In the order given: output rows keep the order of the input.
        let sources: Vec<Source> =
            self.lists.iter().flat_map(|list| expand(std::slice::from_ref(list))).collect();
        self.check_files(&sources)?;
        self.check_threads()?;
        let registry = registry(self.crawlers.as_deref())?;
        let (crawlers, judged) = self.crawler_source(&registry)?;
        let store = Store::open(&self.robots)?;
        let cache_bytes = self.memory / 8 * CACHE_EIGHTHS;
        let judge = Judge::of_many(store, judged, self.dialect, cache_bytes)?;
        let only: Result<Vec<VerdictWord>> =
            self.only.iter().map(|name| verdict_word(name)).collect();
        let width = if self.wide { Width::Wide } else { Width::Long };
        let verdicts = Verdicts::new(self.layout(), width, self.columns.clone(), only?, &crawlers);
        let default_scheme = self.default_scheme.as_deref();
        let detail = if self.summary { Detail::Rules } else { verdicts.detail() };
        let context = BatchContext { judge: &judge, crawlers: &crawlers, default_scheme, detail };
        let mut output = open_output(self.output.as_deref())?;
        let classify = || self.classify(&sources, &context, &verdicts, &mut output);
        let classified = timed("lists read and classified", classify)?;
        self.finish(classified, &crawlers, sources.len(), output, &judge)
    }

    /// Checks the output, and confines the process to the files of this run.
    fn check_files(&self, sources: &[Source]) -> Result<()> {
        let mut outputs = Outputs::new(self.force.overwrite());
        outputs.reads_sources("a list", sources);
        outputs.reads_robots("--robots", &self.robots);
        self.crawlers.iter().for_each(|path| outputs.reads("--crawlers", path));
        if let Some(output) = self.output.as_deref().filter(|path| !is_stdout(path)) {
            outputs.file("-o", output, OutputContent::Verdicts(self.columns.as_deref()))?;
        }
        confine(&outputs, TcpUse::None);
        Ok(())
    }

    fn classify(
        &self,
        sources: &[Source],
        context: &BatchContext<'_>,
        verdicts: &Verdicts<'_>,
        output: &mut OutputFile,
    ) -> Result<Classified> {
        let options = self.options(context.crawlers);
        let (progress, begun) = (ClassifyProgress::default(), Instant::now());
        let begin = |form: &InputFormat| verdicts.begin(form);
        let write =
            |judged: &_, form: &InputFormat, out: &mut Vec<u8>| verdicts.write(judged, form, out);
        follow(
            Show::unless(self.quiet),
            sources.iter().map(Source::size_bytes).sum(),
            || progress.bytes_read.load(Ordering::Relaxed),
            || so_far(&progress, begun),
            || {
                let render = Render { begin: &begin, write: &write };
                let put = |bytes: &[u8]| output.put(bytes);
                classify::run(sources, &options, context, &progress, &render, put)
            },
        )
    }

    fn finish(
        &self,
        classified: Classified,
        crawlers: &CrawlerSource<'_>,
        sources: usize,
        mut output: OutputFile,
        judge: &Judge,
    ) -> Result<RunOutcome> {
        let nothing_read = classified.rows == 0 && classified.damages.len() == sources;
        let damages = [classified.damages, failure_messages(&judge.failures())].concat();
        if let Some(first) = damages.first().filter(|_| nothing_read) {
            return Err(Error::usage(first.clone()));
        }
        let summary = classified.summary.map(Summary::into_sorted);
        if let Some(summary) = &summary {
            write_summary(summary, crawlers, |row| output.put(row))?;
        }
        output.commit()?;
        let folded = summary.as_ref().and_then(|summary| folded_message(summary, self.memory));
        folded.iter().for_each(|message| warn(message));
        let notes = judge.foreign_files().into_iter().chain(judge.slow_message());
        damages.iter().cloned().chain(notes).for_each(|damage| warn(&damage));
        if !self.quiet {
            let counts = VerdictWord::ALL.map(|word| (classified.counts.of(word), word));
            let counts = counts.iter().filter(|(count, _)| *count > 0);
            let counts: Vec<String> = counts
                .map(|(count, word)| format!("{} {}", grouped(*count), word.as_str()))
                .collect();
            say(&format!("{}; {}", counted(classified.rows, "URL"), counts.join(", ")));
        }
        if !damages.is_empty() {
            return Ok(RunOutcome::Incomplete);
        }
        let is_failure =
            self.fail_on_disallowed && classified.counts.of(VerdictWord::Disallowed) > 0;
        Ok(if is_failure { RunOutcome::Disallowed } else { RunOutcome::Done })
    }

    /// The crawlers of the rows, and the names that the judge must know.
    fn crawler_source<'r>(
        &self,
        registry: &'r Registry,
    ) -> Result<(CrawlerSource<'r>, Vec<CrawlerProfile>)> {
        if self.crawler_column.is_some() || self.user_agent_column.is_some() {
            let crawlers =
                registry.iter().map(|(_, crawler)| CrawlerProfile::new(crawler)).collect();
            return Ok((CrawlerSource::PerRow(registry), crawlers));
        }
        let mut names = Vec::new();
        let mut crawlers = Vec::new();
        for name in &self.crawler {
            let unknown = || unknown_crawler(name, registry, &or_token(name, registry));
            let crawler = registry.find(name).ok_or_else(unknown)?;
            names.push(registry.crawler(crawler).name.clone());
            crawlers.push(CrawlerProfile::new(registry.crawler(crawler)));
        }
        for token in &self.token {
            if token.is_empty() {
                return Err(Error::usage("--token is empty; write --token mybot"));
            }
            let token = registry.checked_token(token, "--user-agent")?;
            names.push(token.to_owned());
            crawlers.push(CrawlerProfile::of_token(token.to_owned()));
        }
        for header in &self.user_agent {
            let (name, crawler) = CrawlerProfile::of_sender(registry, header.as_encoded_bytes());
            names.push(name);
            crawlers.push(crawler);
        }
        if names.is_empty() {
            return Err(Error::usage(
                "no crawler given; use --crawler, --token or --user-agent, or a column with \
                 --crawler-column or --user-agent-column",
            ));
        }
        Ok((CrawlerSource::Fixed(names), crawlers))
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

    fn options(&self, crawlers: &CrawlerSource<'_>) -> ClassifyOptions {
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = if self.threads == 0 { cores } else { self.threads };
        let batches = classify::batches_under_way(threads);
        let growth = BATCH_GROWTH + BATCH_GROWTH_PER_CRAWLER * crawlers.per_row();
        let batch_bytes = self.memory / 8 * BATCHES_EIGHTHS / batches / growth;
        let origins_bytes = self.memory / 8 * ORIGINS_EIGHTHS / threads;
        let (batch_bytes, summary_bytes) = match self.summary {
            true => {
                let own = self.memory / 8 * BATCHES_EIGHTHS / 2;
                let lent = self.memory / 8 * CACHE_EIGHTHS / 4 * 3;
                (batch_bytes / 2, Some(SummaryBytes { max: own + lent, own }))
            }
            false => (batch_bytes, None),
        };
        ClassifyOptions {
            threads,
            batch_bytes: batch_bytes.clamp(16 << 10, BATCH_BYTES_MAX),
            writing: self.input_format.or(self.field.as_ref().map(|_| ListSyntax::JsonLines)),
            wanted: self.wanted(),
            origins_bytes,
            summary_bytes,
        }
    }

    fn wanted(&self) -> WantedColumns<String> {
        let url = self.column.as_ref().or(self.field.as_ref());
        let crawler = self.crawler_column.clone().map(CrawlerColumn::Crawler);
        let user_agent = self.user_agent_column.clone().map(CrawlerColumn::UserAgent);
        WantedColumns {
            url: url.map_or_else(|| "url".to_owned(), String::clone),
            crawler: crawler.or(user_agent),
            time: self.time_column.clone(),
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
        self.format.unwrap_or_else(by_name)
    }
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

fn verdict_word(name: &str) -> Result<VerdictWord> {
    VerdictWord::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = VerdictWord::ALL.iter().map(|word| word.as_str()).collect();
        Error::usage(format!("--only {name}: the verdicts are {}", names.join(", ")))
    })
}

/// The output: `path`, or standard output.
fn open_output(path: Option<&Path>) -> Result<OutputFile> {
    let Some(path) = path.filter(|path| !is_stdout(path)) else {
        return OutputFile::stream(Path::new(STDOUT_NAME), stdout_file()?);
    };
    OutputFile::create(path)
}
