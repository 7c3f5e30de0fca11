//! The tables of a report: written as files, and as values, for applications.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::audit::tally::{Tally, file::TALLY};
use crate::audit::{input_tally::Input, model::ReportModel};
use crate::crawlers::{crawler::Crawler, identity::Identity};
use crate::error::Result;
use crate::pipeline::parallel::both;
use crate::report::json_lines::{json_document, json_lines, name};
use crate::report::run::{EvidenceFile, run_json};
use crate::report::summary_table::SummaryView;
use crate::report::table::{Audited, Table};
use crate::report::tables::{PAGE, RUN_JSON, TABLES, tables_of};
use crate::report::{directory::Staging, html::page, page_model::PageModel, summary::summary_text};
use crate::table::csv::EachRow;
use crate::table::escape::visible;
use crate::table::schema::{Cell, Column};
use crate::time::UtcTime;

use super::console::{Console, RunOutcome, cannot_print};

/// A written report.
#[derive(Debug)]
pub(crate) struct WrittenReport {
    /// The audit of the report.
    pub audit: ReportModel,
    /// The summary.
    pub summary: String,
    /// The text of `run.json`.
    pub run_json: Vec<u8>,
}

impl WrittenReport {
    /// The outcome of a run that only reads tallies: what their audits failed for, it fails for.
    pub(super) fn outcome(&self, console: &dyn Console) -> RunOutcome {
        warn_of_audit(&self.audit, console);
        if self.audit.is_sufficient() { RunOutcome::Done } else { RunOutcome::Incomplete }
    }
}

/// Names damaged inputs, and all warnings of an audit.
pub(super) fn warn_of_audit(audit: &ReportModel, console: &dyn Console) {
    warn_of_damage(&audit.inputs, console);
    audit.warnings.iter().for_each(|warning| console.warn(warning));
}

/// Names damaged inputs.
pub(super) fn warn_of_damage(inputs: &[Input], console: &dyn Console) {
    for input in inputs {
        match &input.summary.damage {
            Some(damage) if input.summary.size_bytes == 0 => console.warn(damage),
            Some(damage) => {
                let (name, lines) = (&input.summary.name, input.tally.lines());
                console.warn(&format!("{name}: {damage}; lines before it were counted: {lines}"));
            }
            None => {}
        }
    }
}

/// The format of the result on standard output.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ResultFormat {
    /// A summary for people.
    Text,
    /// One object: the content of run.json, and all tables as arrays of objects.
    Json,
    /// One object per line and row of a table, with the name of the table.
    Jsonl,
}

impl ResultFormat {
    /// Whether the output is for programs.
    pub(crate) fn is_data(self) -> bool {
        self != ResultFormat::Text
    }

    /// Prints the data of `audit` with the text of its `run.json`.
    pub(crate) fn print(
        self,
        audit: &ReportModel,
        run_json: &[u8],
        console: &dyn Console,
    ) -> Result<()> {
        if !self.is_data() {
            return Ok(());
        }
        let mut out = BufWriter::with_capacity(1 << 16, console.stdout()?);
        match self {
            ResultFormat::Text => {}
            ResultFormat::Json => json_document(audit, run_json, &mut out)?,
            ResultFormat::Jsonl => {
                json_lines(audit, TABLES, &mut out)?;
            }
        }
        out.flush().map_err(cannot_print)
    }
}

/// Writes all files of the report on `tally` to `output`, except the `evidence`, which exists already.
/// `view` applies to the summary.
pub(crate) fn write_report(
    staging: &Staging,
    output: &Path,
    tally: Tally,
    evidence: EvidenceFile<'_>,
    view: &SummaryView,
) -> Result<WrittenReport> {
    let write =
        |name: &'static str, bytes: &[u8]| staging.write(name, |file| file.write_all(bytes));
    let encoded = tally.encoded();
    let write_others = || -> Result<WrittenReport> {
        let audit = ReportModel::new(tally)?;
        let model = PageModel::of(&audit, evidence.name).written_to(output);
        let write_page = || write(PAGE, page(&model).as_bytes());
        let (page, tables) = both(write_page, || write_tables(staging, &audit));
        page.and(tables)?;
        let run_json = run_json_now(&audit, evidence);
        write(RUN_JSON, &run_json)?;
        let summary = summary_text(&model, view);
        Ok(WrittenReport { audit, summary, run_json })
    };
    let (tally, written) = both(|| write(TALLY, &encoded.packed()), write_others);
    tally?;
    staging.prepare()?;
    written
}

fn write_tables(staging: &Staging, audit: &ReportModel) -> Result<()> {
    let of = Audited { audit };
    tables_of(audit)
        .try_for_each(|table| staging.write(table.schema.file, |file| table.write(of, file)))
}

/// The result of `tally` without files.
pub(crate) fn unwritten_report(tally: Tally, view: &SummaryView) -> Result<WrittenReport> {
    let audit = ReportModel::new(tally)?;
    let run_json = run_json_now(&audit, EvidenceFile::default());
    let summary = summary_text(&PageModel::of(&audit, None), view);
    Ok(WrittenReport { audit, summary, run_json })
}

/// The text of `run.json`, made now.
pub(super) fn run_json_now(audit: &ReportModel, evidence: EvidenceFile<'_>) -> Vec<u8> {
    run_json(audit, evidence, jiff::Timestamp::now().into())
}

/// A table of a report, which is also one of its CSV files. `docs/reports.md` describes them all.
#[derive(Clone, Copy, Debug)]
pub struct ReportTable<'a> {
    table: &'static Table,
    audit: &'a ReportModel,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    columns: &'static [Column],
    cells: Vec<Cell>,
}

/// The requests of a crawler that one rule disallowed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViolationRow<'a> {
    /// The origin, or what reports write for requests without one.
    pub origin: &'a str,
    /// The crawler that the user agent names.
    pub crawler: &'a Crawler,
    /// Whether it was this crawler.
    pub identity: Identity,
    /// The line of the rule in its robots.txt, from 1.
    pub line: u32,
    /// The pattern of the rule as written; what is not visible text is `\xHH`.
    pub pattern: String,
    /// The product token through which the rule binds the crawler, or `*`.
    pub group: String,
    /// The requests.
    pub requests: u64,
    /// The bytes of the answers.
    pub bytes: u64,
    /// When the first was made.
    pub first: UtcTime,
    /// When the last was made.
    pub last: UtcTime,
    /// The requests with a valid signature of an agent.
    pub signed: u64,
    /// The earliest of the requests.
    pub example: ExampleRequest<'a>,
}

/// A request that can be found in its log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExampleRequest<'a> {
    /// The target as logged, cut to 2,048 bytes; what is not visible text is `\xHH`.
    pub target: String,
    /// The log.
    pub file: &'a str,
    /// The line in that log, from 1.
    pub line: u64,
    /// When it was made.
    pub time: UtcTime,
}

impl<'a> ReportTable<'a> {
    /// The tables that the report of `audit` has, in the order of the documentation.
    pub(super) fn all(audit: &'a ReportModel) -> impl Iterator<Item = ReportTable<'a>> {
        tables_of(audit).map(move |table| ReportTable { table, audit })
    }

    /// Its name, which is that of its file without `.csv`.
    pub fn name(&self) -> &'static str {
        name(&self.table.schema)
    }

    /// What a row stands for.
    pub fn row_meaning(&self) -> &'static str {
        self.table.schema.row
    }

    /// Its columns, in order. New ones come last.
    pub fn columns(&self) -> &'static [Column] {
        self.table.schema.columns
    }

    /// Its rows.
    pub fn rows(&self) -> Vec<TableRow> {
        let (columns, mut rows) = (self.columns(), Vec::new());
        self.each_cells(|cells| rows.push(TableRow { columns, cells }));
        rows
    }

    /// The table as the bytes of its CSV file.
    pub fn csv(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let written = self.table.write(Audited { audit: self.audit }, &mut text);
        written.expect("memory can be written");
        text
    }

    fn each_cells(&self, mut take: impl FnMut(Vec<Cell>)) {
        let of = Audited { audit: self.audit };
        let mut each = EachRow(|cells| -> io::Result<()> {
            take(cells);
            Ok(())
        });
        self.table.rows(of, &mut each).expect("what takes the rows does not fail");
    }
}

impl TableRow {
    /// The cell of the column `name`; `None` if the table does not have it.
    pub fn get(&self, name: &str) -> Option<&Cell> {
        let index = self.columns.iter().position(|column| column.name == name)?;
        self.cells.get(index)
    }

    /// Its cells, in the order of the columns.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

/// Each rule that a crawler broke at an origin, by their names.
pub(super) fn violations(audit: &ReportModel) -> impl Iterator<Item = ViolationRow<'_>> {
    audit.broken_rules().map(|(origin, (crawler, identity), broken)| {
        let (rule, tally) = (&broken.rule, &broken.tally);
        let example = &tally.example;
        ViolationRow {
            origin,
            crawler: audit.registry.crawler(crawler),
            identity,
            line: rule.line,
            pattern: visible(&rule.pattern),
            group: visible(&rule.group),
            requests: tally.requests,
            bytes: tally.bytes,
            first: tally.span.first,
            last: tally.span.last,
            signed: tally.signed,
            example: ExampleRequest {
                target: visible(&example.target),
                file: audit.input_name(example.file),
                line: example.line,
                time: example.time,
            },
        }
    })
}
