//! The files of a report, written before they are put in their place.

use std::{io::Write, path::Path, sync::Arc};

use crate::audit::model::ReportModel;
use crate::audit::tally::{Tally, file::TALLY};
use crate::error::{Error, Result};
use crate::report::csv::CrawlerCells;
use crate::report::files::{PAGE, RUN_JSON};
use crate::report::{directory::Staging, html::page, page_model::PageModel, run::run_json};
use crate::report::{summary::summary_text, tables::tables_of};

use super::shared::note;
use super::signals;

/// Writes all files of the report on `tally` that is to stand at `output`, but for `evidence`, which
/// is there already; gives the audit, and its summary for people.
pub fn write_report(
    staging: &Staging,
    output: &Path,
    tally: Tally,
    evidence: Option<&str>,
) -> Result<(ReportModel, String)> {
    let cannot = |name: &str, err| Error::io("cannot write", &output.join(name), err);
    let bytes = tally.to_bytes();
    let audit = ReportModel::new(tally)?;
    staging.create(TALLY)?.write_all(&bytes).map_err(|err| cannot(TALLY, err))?;
    let crawlers = CrawlerCells::new(&audit.registry);
    for (table, write) in tables_of(&audit) {
        let mut file = staging.create(table.file)?;
        write(&audit, &crawlers, &mut file).map_err(|err| cannot(table.file, err))?;
    }
    let json = run_json(&audit, evidence, jiff::Timestamp::now().into());
    staging.create(RUN_JSON)?.write_all(&json).map_err(|err| cannot(RUN_JSON, err))?;
    let model = PageModel::of(&audit, evidence);
    let written = staging.create(PAGE)?.write_all(page(&model).as_bytes());
    written.map_err(|err| cannot(PAGE, err))?;
    let summary = summary_text(&model);
    Ok((audit, summary))
}

/// A run that is stopped from now on leaves the previous report as it was.
pub fn discard_when_stopped(staging: &Arc<Staging>) {
    let staging = Arc::clone(staging);
    signals::begin();
    signals::when_stopped(move || {
        if staging.discard() {
            note("stopped; an older report is unchanged");
        }
    });
}
