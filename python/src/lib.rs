//! The native half of the Python package `pybotaudit`; `python/pybotaudit` holds the other half and is
//! the interface.

mod answers;
mod audit;
mod cells;
mod classifier;
mod failure;
mod name_tables;
mod registry;
mod robots_table;
mod robots_txt;

use std::collections::HashMap;
use std::ffi::OsString;
use std::panic::catch_unwind;
use std::path::Path;

use arrow_array::{Array, Int64Array, builder::StringBuilder};
use arrow_pyarrow::ToPyArrow;
use botaudit::archive::import::warc_memory::{HOPS_MAX, robots_txt_of};
use botaudit::archive::writer::KEPT_BYTES_MAX;
use botaudit::audit::input_tally::InputTally;
use botaudit::audit::tally::Tally;
use botaudit::audit::tally::counts::Counts;
use botaudit::audit::tally::header::{Header, InputSummary};
use botaudit::classify::url_parts::UrlParts;
use botaudit::report::tables::all_schemas;
use botaudit::url::origin::Origin;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use answers::AnswerTexts;
use audit::AuditReport;
use cells::Cells;
use classifier::Classifier;
use failure::exception;
use robots_txt::{Matcher, RobotsTxt};

/// Runs the command line with `arguments`, of which the first is the name of the program, and ends
/// the process with its exit code.
#[pyfunction]
fn run(py: Python<'_>, arguments: Vec<OsString>) {
    // The program ends at a panic, and so does this.
    let code = py.detach(|| catch_unwind(|| botaudit::cli::run(arguments)));
    code.map_or_else(|_| std::process::abort(), |code| std::process::exit(code.into()))
}

/// The most origins that are remembered for one call.
const ORIGINS_KNOWN_MAX: usize = 1 << 16;

/// The canonical origin of each URL, null where it has none.
#[pyfunction]
fn origins<'py>(py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let urls = Cells::of(url)?;
    let origins = py.detach(|| {
        let mut known = HashMap::new();
        let mut origins = StringBuilder::new();
        for row in 0..urls.len() {
            let url = urls.text(row).unwrap_or_default().trim_ascii();
            let parts = UrlParts::of(url, None).ok();
            let origin = parts.and_then(|parts| {
                let key = &url[..url.len() - parts.rest.len()];
                if known.len() >= ORIGINS_KNOWN_MAX {
                    known.clear();
                }
                let origin = || Origin::from_authority(parts.scheme, parts.authority);
                known.entry(key).or_insert_with(origin).as_ref()
            });
            origins.append_option(origin.map(Origin::as_str));
        }
        origins.finish()
    });
    origins.to_data().to_pyarrow(py)
}

/// The canonical origin of the URL of a robots.txt; `None` for other URLs.
#[pyfunction]
fn robots_txt_origin(url: &str) -> Option<String> {
    robots_txt_of(url).map(|origin| origin.to_string())
}

/// The names and units of the columns of each table of a report, by the name of the file.
#[pyfunction]
fn report_columns() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let columns = all_schemas().map(|table| {
        let columns = table.columns.iter().map(|column| (column.name, column.unit));
        (table.file, columns.collect())
    });
    columns.collect()
}

/// The numbers of `rows` rows, each so many `times`.
#[pyfunction]
fn repeated(py: Python<'_>, rows: i64, times: usize) -> PyResult<Bound<'_, PyAny>> {
    let numbers = (0..rows).flat_map(|row| std::iter::repeat_n(row, times));
    Int64Array::from_iter_values(numbers).to_data().to_pyarrow(py)
}

/// The tally of an input that could not be read, made with the options of another `tally`.
#[pyfunction]
fn tally_of_unread<'py>(
    py: Python<'py>,
    tally: &[u8],
    name: String,
    why: String,
) -> PyResult<Bound<'py, PyBytes>> {
    let Tally { header, .. } = Tally::from_bytes(tally, Path::new("tally")).map_err(exception)?;
    let input = InputSummary {
        name,
        size_bytes: 0,
        decompressed_bytes: 0,
        format: None,
        lines_tried: 0,
        damage: Some(why),
        may_be_cut: false,
        sketch: None,
        cut_bytes: 0,
        proposal: None,
    };
    let header = Header { inputs: vec![input], ..header };
    let mut counts = Counts::default();
    counts.inputs.push(InputTally::default());
    Ok(PyBytes::new(py, &Tally { header, counts }.to_bytes()))
}

#[pymodule]
fn _botaudit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("COLUMNS", answers::columns())?;
    module.add("HOPS_MAX", HOPS_MAX)?;
    module.add("KEPT_BYTES_MAX", KEPT_BYTES_MAX)?;
    module.add_class::<AnswerTexts>()?;
    module.add_class::<AuditReport>()?;
    module.add_class::<Classifier>()?;
    module.add_class::<Matcher>()?;
    module.add_class::<RobotsTxt>()?;
    module.add_function(wrap_pyfunction!(audit::audit, module)?)?;
    module.add_function(wrap_pyfunction!(audit::fetch, module)?)?;
    module.add_function(wrap_pyfunction!(audit::audit_settings, module)?)?;
    module.add_function(wrap_pyfunction!(robots_txt::line_errors, module)?)?;
    module.add_function(wrap_pyfunction!(robots_txt::lint, module)?)?;
    module.add_function(wrap_pyfunction!(origins, module)?)?;
    module.add_function(wrap_pyfunction!(repeated, module)?)?;
    module.add_function(wrap_pyfunction!(report_columns, module)?)?;
    module.add_function(wrap_pyfunction!(registry::crawlers_json, module)?)?;
    module.add_function(wrap_pyfunction!(registry::identify_json, module)?)?;
    module.add_function(wrap_pyfunction!(name_tables::columns_of_restrictions, module)?)?;
    module.add_function(wrap_pyfunction!(name_tables::columns_of_rule_changes, module)?)?;
    module.add_function(wrap_pyfunction!(name_tables::restrictions, module)?)?;
    module.add_function(wrap_pyfunction!(name_tables::rule_changes, module)?)?;
    module.add_function(wrap_pyfunction!(robots_table::robots_faults, module)?)?;
    module.add_function(wrap_pyfunction!(robots_table::robots_from_warc, module)?)?;
    module.add_function(wrap_pyfunction!(robots_txt_origin, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(tally_of_unread, module)?)
}
