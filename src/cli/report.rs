//! `botaudit report`: writes or prints a report again without the logs.

use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::audit::comparison::{CHANGES, COMPARE_AT};
use crate::audit::damaged_file::name_damaged;
use crate::audit::model::ReportModel;
use crate::audit::tally::{Tally, file::TALLY, header::Header, merge::merge_files};
use crate::error::{Error, Result};
use crate::report::directory::Staging;
use crate::report::files::{PAGE, RUN_JSON};
use crate::report::json_lines::{json_lines, name};
use crate::report::table::Table;
use crate::report::tables::TABLES;
use crate::report::{outputs::Outputs, run::EvidenceFile, summary_view::SummaryView};
use crate::run::notes::note_formats;
use crate::run::outcome::RunOutcome;
use crate::run::sandbox::access_rights::TcpUse;
use crate::run::written::{ResultFormat, WrittenReport, unwritten_report, write_report};
use crate::table::escape::visible;
use crate::time::Day;

use super::confinement::confine;
use super::console::console;
use super::help::short;
use super::progress::Show;
use super::shared::{ForceArg, MemoryArg, day, name_tallies, print, timed, warn};
use super::{summary_flags::SummaryFlags, terminal::OutputStream};

const HELP: &str = include_str!("help/report.txt");

/// The most days in a range.
const DAYS_MAX: usize = 36_600;

/// The most days without a report that are named.
const DAYS_NAMED_MAX: usize = 5;

/// The longest run.json that is read. It has a few lines for each input and warning.
const RUN_JSON_BYTES_MAX: u64 = 256 << 20;

const DAYS: &str = "Several days";

/// Write a report again without the logs, or combine several reports.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "report"), after_long_help = HELP)]
pub struct ReportArgs {
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
    #[arg(long, value_enum, default_value_t = Format::Html, help_heading = "Output")]
    format: Format,

    /// Directory of the report [default: DIR itself, if there is only one]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    summary: SummaryFlags,

    /// Compare shares of requests before and since a day, or changes of robots.txt.
    ///
    /// With a day, comparison.csv has the share of disallowed requests. With the word changes,
    /// change-comparison.csv has the share of requests for paths that a change newly disallows or
    /// allows. A report that is drawn again keeps its comparison; none removes it.
    #[arg(long, value_name = "WHEN", value_parser = comparison, help_heading = "Output")]
    compare_at: Option<String>,

    #[command(flatten)]
    force: ForceArg,

    #[command(flatten)]
    memory: MemoryArg,

    /// Only this table, such as violations, for --format jsonl; repeatable.
    #[arg(long = "table", value_name = "NAME", help_heading = "Output")]
    tables: Vec<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    /// Write the report and print the summary
    Html,
    /// Print the summary
    Text,
    /// Print one object: the content of run.json, and all tables as arrays of objects
    Json,
    /// Print the tables: one object per line and row, with the name of its table
    Jsonl,
}

/// The word that removes a comparison.
const NOTHING: &str = "none";

/// A day, [`CHANGES`] or [`NOTHING`].
fn comparison(text: &str) -> std::result::Result<String, String> {
    match text {
        CHANGES | NOTHING => Ok(text.to_owned()),
        _ => day(text)
            .map(|day| day.to_string())
            .map_err(|why| format!("{why}, or {CHANGES}, or {NOTHING}")),
    }
}

impl ReportArgs {
    /// Runs it.
    pub fn run(self) -> Result<RunOutcome> {
        if self.format != Format::Jsonl && !self.tables.is_empty() {
            return Err(Error::usage("--table needs --format jsonl"));
        }
        if self.format != Format::Html && self.output.is_some() {
            let why = "-o needs --format html; write other formats to a file with >";
            return Err(Error::usage(why));
        }
        let asked = self.asked()?;
        let (paths, note) = self.days()?;
        let output = match self.format {
            Format::Html => self.destination(&paths),
            Format::Text | Format::Json | Format::Jsonl => None,
        };
        self.check_files(&paths, output)?;
        let limits = self.memory.limits();
        let damaged = |err| name_damaged(err, &paths, limits);
        let read = || merge_files(&paths, limits);
        let mut tally = timed("tallies read", read).map_err(damaged)?;
        self.set_comparison(paths.len(), &mut tally.header)?;
        let console = console(Show::OnTerminal);
        note_formats(&tally.header, &*console);
        note.iter().for_each(|note| warn(note));
        let view = self.summary.view_of_tally(&tally, OutputStream::Stdout)?;
        match self.format {
            Format::Html => {
                let why = "no directory for the report; add -o report/";
                self.write(tally, output.ok_or_else(|| Error::usage(why))?, &view, damaged)?;
            }
            Format::Text => {
                print(&unwritten_report(tally, &view).map_err(damaged)?.summary)?;
            }
            Format::Json => {
                let WrittenReport { audit, run_json, .. } =
                    unwritten_report(tally, &view).map_err(damaged)?;
                ResultFormat::Json.print(&audit, &run_json, &*console)?;
            }
            Format::Jsonl => {
                let audit = ReportModel::new(tally).map_err(damaged)?;
                self.check_tables(&audit, &asked)?;
                let mut out = BufWriter::new(io::stdout().lock());
                json_lines(&audit, &asked, &mut out)?;
            }
        }
        Ok(RunOutcome::Done)
    }

    /// Sets what is compared. Without the option, a report that is drawn again keeps its comparison.
    fn set_comparison(&self, reports: usize, header: &mut Header) -> Result<()> {
        let options = &mut header.options.0;
        match self.compare_at.as_deref() {
            Some(CHANGES) if !header.rulings.is_archive => {
                return Err(Error::usage(format!(
                    "--compare-at {CHANGES} needs a report that knows when robots.txt changed: \
                     audit with --robots and an archive (see docs/archive.md), or give a day"
                )));
            }
            Some(NOTHING) => drop(options.remove(COMPARE_AT)),
            Some(at) => drop(options.insert(COMPARE_AT.to_owned(), at.into())),
            None if reports > 1 => drop(options.remove(COMPARE_AT)),
            None => {}
        }
        Ok(())
    }

    /// Refuses tables that were asked for by name and that the report of `audit` lacks.
    fn check_tables(&self, audit: &ReportModel, asked: &[&Table]) -> Result<()> {
        let lacks = |table: &&&Table| !self.tables.is_empty() && !table.is_in(audit);
        asked.iter().find(lacks).map_or(Ok(()), |table| {
            let needs = table.command().unwrap_or("another report");
            let name = name(&table.schema);
            Err(Error::usage(format!("this report has no table {name}; it needs {needs}")))
        })
    }

    /// The directory of the report. A single directory without `--output` is replaced in place.
    fn destination<'a>(&'a self, paths: &'a [PathBuf]) -> Option<&'a PathBuf> {
        match (&self.output, paths) {
            (Some(output), _) => Some(output),
            (None, [directory]) if directory.is_dir() => Some(directory),
            (None, _) => None,
        }
    }

    /// Checks the output, and confines the process to the files of this run.
    fn check_files(&self, paths: &[PathBuf], output: Option<&PathBuf>) -> Result<()> {
        let mut outputs = Outputs::new(self.force.overwrite());
        let others: Vec<PathBuf> =
            paths.iter().filter(|path| Some(*path) != output).cloned().collect();
        name_tallies(&others, &mut outputs);
        output.map_or(Ok(()), |output| outputs.directory("-o", output))?;
        confine(&outputs, TcpUse::None);
        Ok(())
    }

    fn write(
        &self,
        tally: Tally,
        output: &Path,
        view: &SummaryView,
        damaged: impl FnOnce(Error) -> Error,
    ) -> Result<()> {
        let staging = Staging::open(output)?;
        let kept = evidence_of(output);
        // The evidence belongs to the tally, so it stays with it.
        let is_same = matches!(&self.paths[..], [path] if path == output) && self.from.is_none();
        let digest = evidence_digest(output).filter(|_| is_same);
        if let Some(name) = &kept {
            let staged = staging.staged(name.as_ref());
            std::fs::hard_link(output.join(name), &staged)
                .or_else(|_| std::fs::copy(output.join(name), &staged).map(drop))
                .map_err(|err| Error::io("cannot copy", &output.join(name), err))?;
        }
        let evidence = EvidenceFile { name: kept.as_deref(), digest: digest.as_deref() };
        let write = || write_report(&staging, output, tally, evidence, view);
        let WrittenReport { audit, summary, .. } =
            timed("report written", write).map_err(damaged)?;
        staging.commit()?;
        audit.warnings.iter().for_each(|warning| warn(warning));
        let path = visible(output.display().to_string().as_bytes());
        print(&format!("{summary}\nreport: {path}\n"))
    }

    /// The reports of the days to merge, and a note on days without a report.
    fn days(&self) -> Result<(Vec<PathBuf>, Option<String>)> {
        let (Some(from), Some(to)) = (self.from, self.to) else {
            return Ok((self.paths.clone(), None));
        };
        let [parent] = &self.paths[..] else {
            return Err(Error::usage(
                "--from and --to need exactly one DIR, with one report per day",
            ));
        };
        let days: Vec<Day> = std::iter::successors(Some(from), |day| Some(day.plus(1)))
            .take_while(|day| *day <= to)
            .take(DAYS_MAX)
            .collect();
        let (there, gone): (Vec<Day>, Vec<Day>) =
            days.into_iter().partition(|day| parent.join(day.to_string()).join(TALLY).is_file());
        if there.is_empty() {
            let why = format!("has no report from {from} to {to}");
            return Err(Error::invalid_file(parent, why));
        }
        let gone: Vec<String> = gone.iter().map(Day::to_string).collect();
        let note = gone.first().map(|first| match gone.len() {
            1..=DAYS_NAMED_MAX => format!("no report found for {}", gone.join(", ")),
            count => format!("no reports found for {count} days, the first is {first}"),
        });
        Ok((there.iter().map(|day| parent.join(day.to_string())).collect(), note))
    }

    /// The requested tables, or all.
    fn asked(&self) -> Result<Vec<&'static Table>> {
        let names: Vec<&str> = TABLES.iter().map(|table| name(&table.schema)).collect();
        if let Some(unknown) = self.tables.iter().find(|asked| !names.contains(&asked.as_str())) {
            return Err(Error::usage(format!(
                "unknown table '{unknown}'; the tables are {}",
                names.join(", ")
            )));
        }
        let is_asked = |table: &&Table| {
            self.tables.is_empty() || self.tables.iter().any(|asked| asked == name(&table.schema))
        };
        Ok(TABLES.iter().copied().filter(is_asked).collect())
    }
}

/// The digest of the evidence file that was made with the report at `directory`, wherever that file
/// is.
pub fn evidence_digest(directory: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Run {
        evidence_digest: String,
    }
    let run = std::fs::read(directory.join(RUN_JSON)).ok()?;
    serde_json::from_slice(&run).ok().map(|run: Run| run.evidence_digest)
}

/// The name of the evidence file in the report at `directory`.
pub fn evidence_of(directory: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Run {
        files: Vec<String>,
    }
    let mut run = Vec::new();
    let file = File::open(directory.join(RUN_JSON)).ok()?;
    file.take(RUN_JSON_BYTES_MAX).read_to_end(&mut run).ok()?;
    let Run { files } = serde_json::from_slice(&run).ok()?;
    let is_ours = |name: &String| {
        [RUN_JSON, PAGE, TALLY].contains(&name.as_str())
            || TABLES.iter().any(|table| table.schema.file == name)
    };
    let mut others = files.into_iter().filter(|name| !is_ours(name) && !name.contains('/'));
    others.find(|name| directory.join(name).is_file())
}
