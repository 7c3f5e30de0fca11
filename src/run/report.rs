//! Writes or prints a report again without the logs.

use std::fs::{self, File};
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::audit::model::ReportModel;
use crate::audit::shares::{CHANGES, COMPARE_AT};
use crate::audit::tally::merge::{merge_files, name_damaged};
use crate::audit::tally::{Tally, counter::TallyLimits, file::TALLY, header::Header};
use crate::error::{Error, Result};
use crate::report::json_lines::{json_lines, name};
use crate::report::outputs::{Outputs, Overwrite};
use crate::report::table::Table;
use crate::report::tables::{PAGE, RUN_JSON, TABLES};
use crate::report::{directory::Staging, run::EvidenceFile, summary_table::SummaryView};
use crate::table::escape::visible;
use crate::time::Day;

use super::console::{RunOutcome, SharedConsole};
use super::sandbox::access_rights::TcpUse;
use super::written::{ResultFormat, unwritten_report, write_report};
use super::{crawlers::view_of_tally, files::name_tallies, notes::note_formats};

/// The most days in a range.
const DAYS_MAX: usize = 36_600;

/// The most days without a report that are named.
const DAYS_NAMED_MAX: usize = 5;

/// The longest run.json that is read. It has a few lines for each input and warning.
const RUN_JSON_BYTES_MAX: u64 = 256 << 20;

/// A report that is ready to be made of others.
#[derive(Debug)]
pub(crate) struct ReportRun {
    /// Report directories, or tallies.
    pub paths: Vec<PathBuf>,
    /// The first and the last day, if the only path has one report per day.
    pub days: Option<(Day, Day)>,
    /// What is made.
    pub form: ReportForm,
    /// The directory of the report; without it, a single report is replaced.
    pub output: Option<PathBuf>,
    /// The display options of the summary.
    pub view: SummaryView,
    /// What is compared instead of what a single report compares.
    pub comparison: Option<ComparisonChange>,
    /// The names of the tables to print; empty means all.
    pub tables: Vec<String>,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// The memory that tallies may take.
    pub limits: TallyLimits,
    /// Who follows the run.
    pub console: SharedConsole,
}

/// What is made of the tallies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ReportForm {
    /// A report directory; the summary is printed.
    Directory,
    /// Only the result, printed.
    Printed(ResultFormat),
}

/// A comparison in place of that of a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ComparisonChange {
    /// Before and since this day.
    At(Day),
    /// Before and since changes of robots.txt.
    AtChanges,
    /// None.
    Removed,
}

impl ReportRun {
    /// Runs it.
    ///
    /// # Errors
    /// If a setting does not fit the others, a tally is damaged, or the output cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let console = &*self.console;
        self.check_settings()?;
        let asked = self.asked()?;
        let (paths, note) = self.days()?;
        let output = match self.form {
            ReportForm::Directory => self.destination(&paths),
            ReportForm::Printed(_) => None,
        };
        self.check_files(&paths, output)?;
        let limits = self.limits;
        let damaged = |err| name_damaged(err, &paths, limits);
        let read = || merge_files(&paths, limits);
        let mut tally = console.timed("tallies read", read).map_err(damaged)?;
        self.set_comparison(paths.len(), &mut tally.header)?;
        note_formats(&tally.header, console);
        note.iter().for_each(|note| console.warn(note));
        let view = view_of_tally(self.view.clone(), &tally)?;
        let form = match self.form {
            ReportForm::Directory => {
                let why = "no directory for the report; add -o report/";
                let output = output.ok_or_else(|| Error::usage(why))?;
                return self.write(tally, output, &view, damaged);
            }
            ReportForm::Printed(form) => form,
        };
        let report = unwritten_report(tally, &view).map_err(damaged)?;
        match form {
            ResultFormat::Text => console.print(&report.summary)?,
            ResultFormat::Json => form.print(&report.audit, &report.run_json, console)?,
            ResultFormat::Jsonl => {
                self.check_tables(&report.audit, &asked)?;
                json_lines(&report.audit, &asked, &mut BufWriter::new(console.stdout()?))?;
            }
        }
        Ok(report.outcome(console))
    }

    fn check_settings(&self) -> Result<()> {
        if self.form != ReportForm::Printed(ResultFormat::Jsonl) && !self.tables.is_empty() {
            return Err(Error::usage("--table needs --format jsonl"));
        }
        if self.form != ReportForm::Directory && self.output.is_some() {
            let why = "-o needs --format html; write other formats to a file with >";
            return Err(Error::usage(why));
        }
        Ok(())
    }

    /// Sets what is compared. Without the option, a report that is drawn again keeps its comparison.
    fn set_comparison(&self, reports: usize, header: &mut Header) -> Result<()> {
        let options = &mut header.options.0;
        match self.comparison {
            Some(ComparisonChange::AtChanges) if !header.rulings.know_changes() => {
                return Err(Error::usage(format!(
                    "--compare-at {CHANGES} needs a report that knows when robots.txt changed: \
                     audit with --robots and an archive (see docs/archive.md), or give a day"
                )));
            }
            Some(ComparisonChange::Removed) => drop(options.remove(COMPARE_AT)),
            Some(ComparisonChange::AtChanges) => {
                options.insert(COMPARE_AT.to_owned(), CHANGES.into());
            }
            Some(ComparisonChange::At(day)) => {
                options.insert(COMPARE_AT.to_owned(), day.to_string().into());
            }
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

    /// Checks the output, and begins with the files of this run.
    fn check_files(&self, paths: &[PathBuf], output: Option<&PathBuf>) -> Result<()> {
        let mut outputs = Outputs::new(self.overwrite);
        let others: Vec<PathBuf> =
            paths.iter().filter(|path| Some(*path) != output).cloned().collect();
        name_tallies(&others, &mut outputs);
        output.map_or(Ok(()), |output| outputs.directory("-o", output))?;
        self.console.begin_with(&outputs, TcpUse::None);
        Ok(())
    }

    fn write(
        &self,
        tally: Tally,
        output: &Path,
        view: &SummaryView,
        damaged: impl FnOnce(Error) -> Error,
    ) -> Result<RunOutcome> {
        let console = &*self.console;
        let staging = Staging::open(output)?;
        let kept = evidence_of(output);
        // The evidence belongs to the tally, so it stays with it.
        let is_same = matches!(&self.paths[..], [path] if path == output) && self.days.is_none();
        let digest = evidence_digest(output).filter(|_| is_same);
        if let Some(name) = &kept {
            let staged = staging.staged(name.as_ref());
            fs::hard_link(output.join(name), &staged)
                .or_else(|_| fs::copy(output.join(name), &staged).map(drop))
                .map_err(|err| Error::io("cannot copy", &output.join(name), err))?;
        }
        let evidence = EvidenceFile { name: kept.as_deref(), digest: digest.as_deref() };
        let write = || write_report(&staging, output, tally, evidence, view);
        let report = console.timed("report written", write).map_err(damaged)?;
        staging.commit()?;
        let outcome = report.outcome(console);
        let path = visible(output.display().to_string().as_bytes());
        console.print(&format!("{}\nreport: {path}\n", report.summary))?;
        Ok(outcome)
    }

    /// The reports of the days to merge, and a note on days without a report.
    fn days(&self) -> Result<(Vec<PathBuf>, Option<String>)> {
        let Some((from, to)) = self.days else { return Ok((self.paths.clone(), None)) };
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
pub(crate) fn evidence_digest(directory: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Run {
        evidence_digest: String,
    }
    let run = fs::read(directory.join(RUN_JSON)).ok()?;
    serde_json::from_slice(&run).ok().map(|run: Run| run.evidence_digest)
}

/// The name of the evidence file in the report at `directory`.
pub(crate) fn evidence_of(directory: &Path) -> Option<String> {
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
