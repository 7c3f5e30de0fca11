//! `botaudit report`: writes or prints a report again without the logs.

use std::path::PathBuf;

use clap::Args;

use crate::audit::shares::CHANGES;
use crate::error::Result;
use crate::run::console::RunOutcome;
use crate::run::report::{ComparisonChange, ReportForm, ReportRun};
use crate::time::Day;

use super::console::{Show, console};
use super::shared::{ForceArg, MemoryArg, REPORT_FORMS, SummaryFlags, day, one_of};
use super::{help::short, terminal::OutputStream};

const HELP: &str = include_str!("help/report.txt");

const DAYS: &str = "Several days";

/// Rewrite a report without the logs, or combine several reports.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "report"), after_long_help = HELP)]
pub(crate) struct ReportArgs {
    /// Report directories, or tallies (`audit --partial`, `merge`).
    ///
    /// Several become one report, the same as that of one audit of all their logs.
    #[arg(value_name = "DIR|TALLY", default_value = "botaudit-report")]
    paths: Vec<PathBuf>,

    /// First day, with --to: DIR holds one report per day, as written by `botaudit nightly`.
    #[arg(long, value_name = "DAY", value_parser = day, requires = "to", help_heading = DAYS)]
    from: Option<Day>,

    /// Last day.
    #[arg(long, value_name = "DAY", value_parser = day, requires = "from", help_heading = DAYS)]
    to: Option<Day>,

    /// Format of the output.
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&REPORT_FORMS), default_value = "html",
        help_heading = "Output")]
    format: ReportForm,

    /// Directory of the report [default: DIR itself, if there is only one]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    summary: SummaryFlags,

    /// Compare shares of requests before and since a day, or changes of robots.txt.
    ///
    /// With a day, comparison.csv has the share of disallowed requests. With the word changes,
    /// change-comparison.csv has the share of requests for paths that a change newly disallows or
    /// allows. Without this option, a report keeps its comparison; the word none removes it.
    #[arg(long, value_name = "WHEN", value_parser = comparison, help_heading = "Output")]
    compare_at: Option<ComparisonChange>,

    #[command(flatten)]
    force: ForceArg,

    #[command(flatten)]
    memory: MemoryArg,

    /// Only this table, such as violations, for --format jsonl; repeatable.
    #[arg(long = "table", value_name = "NAME", help_heading = "Output")]
    tables: Vec<String>,
}

/// The word that removes a comparison.
const NOTHING: &str = "none";

/// A day, [`CHANGES`] or [`NOTHING`].
fn comparison(text: &str) -> std::result::Result<ComparisonChange, String> {
    match text {
        CHANGES => Ok(ComparisonChange::AtChanges),
        NOTHING => Ok(ComparisonChange::Removed),
        _ => day(text)
            .map(ComparisonChange::At)
            .map_err(|why| format!("{why}, or {CHANGES}, or {NOTHING}")),
    }
}

impl ReportArgs {
    /// Makes the report.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let run = ReportRun {
            paths: self.paths,
            days: self.from.zip(self.to),
            form: self.format,
            output: self.output,
            view: self.summary.view(OutputStream::Stdout),
            comparison: self.compare_at,
            tables: self.tables,
            overwrite: self.force.overwrite(),
            limits: self.memory.limits(),
            console: console(Show::OnTerminal),
        };
        run.run()
    }
}
