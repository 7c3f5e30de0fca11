//! The names of the files of a report.

use crate::audit::{model::ReportModel, tally::file::TALLY};

use super::tables::tables_of;

/// The HTML page.
pub(crate) const PAGE: &str = "report.html";

/// The file that identifies a directory as a report.
pub(crate) const RUN_JSON: &str = "run.json";

/// The files of a report besides `run.json`. `evidence` is the name of the evidence file, if it is
/// in the report.
pub(crate) fn files_of<'a>(
    audit: &ReportModel,
    evidence: Option<&'a str>,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let tables: Vec<&'static str> = tables_of(audit).map(|table| table.schema.file).collect();
    tables.into_iter().chain([PAGE, TALLY]).chain(evidence)
}
