//! Writes the files of a report.

use std::io::{BufWriter, Write};
use std::path::Path;

use crate::audit::model::ReportModel;
use crate::audit::tally::{Tally, file::TALLY};
use crate::error::{Error, Result};
use crate::pipeline::parallel::both;
use crate::report::json_lines::{json_document, json_lines};
use crate::report::run::{EvidenceFile, run_json};
use crate::report::tables::{PAGE, RUN_JSON, TABLES, tables_of};
use crate::report::{directory::Staging, html::page, page_model::PageModel, summary::summary_text};
use crate::report::{summary_table::SummaryView, table::Audited};
use crate::table::csv::CrawlerCells;

use super::{console::Console, output::cannot_print};

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
    let write = |name: &'static str, bytes: &[u8]| {
        let cannot = |err| Error::io("cannot write", &output.join(name), err);
        staging.create(name)?.write_all(bytes).map_err(cannot)
    };
    let encoded = tally.encoded();
    let write_others = || -> Result<WrittenReport> {
        let audit = ReportModel::new(tally)?;
        let model = PageModel::of(&audit, evidence.name).written_to(output);
        let write_page = || write(PAGE, page(&model).as_bytes());
        let (page, tables) = both(write_page, || write_tables(staging, output, &audit));
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

fn write_tables(staging: &Staging, output: &Path, audit: &ReportModel) -> Result<()> {
    let of = Audited { audit, crawlers: &CrawlerCells::new(&audit.registry) };
    tables_of(audit).try_for_each(|table| {
        let file = table.schema.file;
        let cannot = |err| Error::io("cannot write", &output.join(file), err);
        table.write(of, &mut staging.create(file)?).map_err(cannot)
    })
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
