//! `botaudit classify`: verdicts on lists of URLs.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use crate::classify::input_format::{CrawlerColumn, ListSyntax, WantedColumns};
use crate::classify::verdicts::{Layout, Width};
use crate::config::amounts::{bytes, whole};
use crate::error::Result;
use crate::run::classify::{ClassifyRun, WrittenVerdicts};
use crate::run::{console::RunOutcome, memory::default_bytes};
use crate::url::path::Dialect;

use super::console::{Show, console};
use super::help::short;
use super::shared::{CrawlersArgs, ForceArg, LAYOUTS, LIST_SYNTAXES, dialect, one_of};

const HELP: &str = include_str!("help/classify.txt");

/// Classify URLs in bulk: which crawlers may request them.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "classify"), after_long_help = HELP)]
pub(crate) struct ClassifyArgs {
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

    #[command(flatten)]
    crawlers: CrawlersArgs,

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
    #[arg(long, value_name = "DIALECT", value_parser = dialect(), default_value = "google",
        help_heading = "Rules", hide_short_help = true)]
    dialect: Dialect,

    /// Approximate memory to use, such as 64MiB or 2GiB [default: a quarter of what is free]
    ///
    /// A number alone is MiB. The default is at least 256MiB. In a control group with a limit, such as that of
    /// a container, what is left below the limit is free.
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Performance",
        hide_short_help = true)]
    memory: Option<usize>,

    /// Number of threads; 0 means one per core.
    #[arg(
        long,
        value_name = "N",
        value_parser = whole,
        allow_negative_numbers = true,
        default_value_t = 0,
        help_heading = "Performance",
        hide_short_help = true
    )]
    threads: usize,

    /// Print only warnings and errors.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl ClassifyArgs {
    /// Classifies all lists.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let crawler = self.crawler_column.map(CrawlerColumn::Crawler);
        let user_agent = self.user_agent_column.map(CrawlerColumn::UserAgent);
        let of_json = self.field.as_ref().map(|_| ListSyntax::JsonLines);
        let run = ClassifyRun {
            lists: self.lists,
            robots: self.robots,
            crawlers: self.crawlers.named(),
            writing: self.input_format.or(of_json),
            wanted: WantedColumns {
                url: self.column.or(self.field).unwrap_or_else(|| "url".to_owned()),
                crawler: crawler.or(user_agent),
                time: self.time_column,
            },
            default_scheme: self.default_scheme,
            output: self.output,
            overwrite: self.force.overwrite(),
            layout: self.format,
            written: match (self.summary, self.wide) {
                (true, _) => WrittenVerdicts::Summary,
                (false, is_wide) => WrittenVerdicts::Rows {
                    width: if is_wide { Width::Wide } else { Width::Long },
                    columns: self.columns,
                    only: self.only,
                },
            },
            fails_on_disallowed: self.fail_on_disallowed,
            dialect: self.dialect,
            memory_bytes: self.memory.unwrap_or_else(default_bytes),
            threads: self.threads,
            console: console(Show::unless(self.quiet)),
        };
        run.run()
    }
}
