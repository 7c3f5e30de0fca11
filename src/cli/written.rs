//! Writes the files of a report.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;

use crate::audit::model::ReportModel;
use crate::audit::tally::{Tally, file::TALLY};
use crate::error::{Error, Result};
use crate::report::csv::CrawlerCells;
use crate::report::files::{PAGE, RUN_JSON};
use crate::report::json_lines::{json_document, json_lines};
use crate::report::tables::{TABLES, tables_of};
use crate::report::{directory::Staging, html::page, page_model::PageModel, run::run_json};
use crate::report::{summary::summary_text, summary_view::SummaryView};

use super::shared::cannot_print;

/// A written report.
#[derive(Debug)]
pub struct WrittenReport {
    /// The audit of the report.
    pub audit: ReportModel,
    /// The summary.
    pub summary: String,
    /// The text of `run.json`.
    pub run_json: Vec<u8>,
}

/// The format of the result on standard output.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ResultFormat {
    /// A summary for people
    Text,
    /// One object: the content of run.json, and all tables as arrays of objects
    Json,
    /// One object per line and row of a table, with the name of the table
    Jsonl,
}

impl ResultFormat {
    /// Whether the output is for programs.
    pub fn is_data(self) -> bool {
        self != ResultFormat::Text
    }

    /// Prints the data of `audit` with the text of its `run.json`.
    pub fn print(self, audit: &ReportModel, run_json: &[u8]) -> Result<()> {
        // Standard output flushes its own buffer at each line end.
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        match self {
            ResultFormat::Text => {}
            ResultFormat::Json => json_document(audit, run_json, &mut out)?,
            ResultFormat::Jsonl => {
                let all: Vec<_> = TABLES.iter().map(|(table, _)| table).collect();
                json_lines(audit, &all, &mut out)?;
            }
        }
        out.flush().map_err(cannot_print)
    }
}

/// Writes all files of the report on `tally` to `output`, except `evidence`, which exists already.
/// `view` applies to the summary.
pub fn write_report(
    staging: &Staging,
    output: &Path,
    tally: Tally,
    evidence: Option<&str>,
    view: &SummaryView,
) -> Result<WrittenReport> {
    let cannot = |name: &str, err| Error::io("cannot write", &output.join(name), err);
    let bytes = tally.to_bytes();
    let audit = ReportModel::new(tally)?;
    staging.create(TALLY)?.write_all(&bytes).map_err(|err| cannot(TALLY, err))?;
    let crawlers = CrawlerCells::new(&audit.registry);
    for (table, write) in tables_of(&audit) {
        let mut file = staging.create(table.file)?;
        write(&audit, &crawlers, &mut file).map_err(|err| cannot(table.file, err))?;
    }
    let run_json = run_json_now(&audit, evidence);
    staging.create(RUN_JSON)?.write_all(&run_json).map_err(|err| cannot(RUN_JSON, err))?;
    let model = PageModel::of(&audit, evidence);
    let written = staging.create(PAGE)?.write_all(page(&model).as_bytes());
    written.map_err(|err| cannot(PAGE, err))?;
    staging.prepare()?;
    let summary = summary_text(&model, view);
    Ok(WrittenReport { audit, summary, run_json })
}

/// The result of `tally` without files.
pub fn unwritten_report(tally: Tally, view: &SummaryView) -> Result<WrittenReport> {
    let audit = ReportModel::new(tally)?;
    let run_json = run_json_now(&audit, None);
    let summary = summary_text(&PageModel::of(&audit, None), view);
    Ok(WrittenReport { audit, summary, run_json })
}

fn run_json_now(audit: &ReportModel, evidence: Option<&str>) -> Vec<u8> {
    run_json(audit, evidence, jiff::Timestamp::now().into())
}
