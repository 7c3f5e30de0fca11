//! Tables about the names of crawlers in robots.txt files: how far the files restrict them, and how
//! their rules changed.

use std::path::{Path, PathBuf};

use botaudit::archive::Store;
use botaudit::judge::profile::CrawlerProfile;
use botaudit::run::robots::restrictions::{restrictions_columns, restrictions_csv};
use botaudit::run::robots::restrictions::{rule_changes_columns, rule_changes_csv};
use botaudit::{Error, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::classifier::named;
use crate::failure::exception;
use crate::robots_table::{self, BadRows};

/// The bytes of a part of the table.
const PART_BYTES: usize = 4 << 20;

/// The robots.txt files at `path`, or in the `batches` of a table, and the names of crawlers.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked<'py> {
    path: Option<PathBuf>,
    batches: Vec<Vec<Bound<'py, PyAny>>>,
    crawlers: Vec<String>,
    tokens: Vec<String>,
    user_agents: Vec<Vec<u8>>,
}

/// The names and units of the columns of `restrictions`.
#[pyfunction]
#[pyo3(name = "restrictions_columns")]
pub fn columns_of_restrictions() -> Vec<(&'static str, &'static str)> {
    restrictions_columns().collect()
}

/// The names and units of the columns of `rule_changes`.
#[pyfunction]
#[pyo3(name = "rule_changes_columns")]
pub fn columns_of_rule_changes() -> Vec<(&'static str, &'static str)> {
    rule_changes_columns().collect()
}

/// How far the robots.txt files restrict the crawlers. `take` gets the parts of the table as CSV.
/// Returns why some files could not be read.
#[pyfunction]
pub fn restrictions(
    py: Python<'_>,
    asked: Asked<'_>,
    at: Option<String>,
    every: Option<String>,
    take: Py<PyAny>,
) -> PyResult<Vec<String>> {
    written(py, asked, take, |store, names, take| {
        restrictions_csv(store, names, at.as_deref(), every.as_deref(), take)
    })
}

/// How the rules for the crawlers changed, as [`restrictions`].
#[pyfunction]
pub fn rule_changes(py: Python<'_>, asked: Asked<'_>, take: Py<PyAny>) -> PyResult<Vec<String>> {
    written(py, asked, take, |store, names, take| rule_changes_csv(store, names, take))
}

/// Takes a part of a table.
type TakePart<'a> = dyn FnMut(Vec<u8>) -> botaudit::Result<()> + 'a;

/// What `table` writes for the robots.txt files and crawlers that are asked for goes to `take`.
fn written(
    py: Python<'_>,
    asked: Asked<'_>,
    take: Py<PyAny>,
    table: impl FnOnce(
        &Store,
        Vec<(String, CrawlerProfile)>,
        &mut TakePart<'_>,
    ) -> botaudit::Result<Vec<String>>
    + Send,
) -> PyResult<Vec<String>> {
    let Asked { path, batches, crawlers, tokens, user_agents } = asked;
    let (names, profiles) = named(&Registry::builtin(), crawlers, tokens, &user_agents)?;
    let names = names.into_iter().zip(profiles).collect();
    let batches: PyResult<Vec<_>> =
        batches.iter().map(|batch| robots_table::Batch::of(batch)).collect();
    let batches = batches?;
    let store = py.detach(|| match path {
        Some(path) => Store::open(&path).map_err(exception),
        None => robots_table::read(&batches, BadRows::Fail)
            .map(Store::Memory)
            .map_err(PyValueError::new_err),
    })?;
    let mut raised = None;
    let mut waiting = Vec::new();
    let mut give = |part: Option<Vec<u8>>| {
        let is_last = part.is_none();
        waiting.extend(part.unwrap_or_default());
        Python::attach(|py| {
            py.check_signals()?;
            if waiting.len() >= PART_BYTES || (is_last && !waiting.is_empty()) {
                take.call1(py, (PyBytes::new(py, &waiting),))?;
                waiting.clear();
            }
            Ok(())
        })
        .map_err(|err| {
            raised = Some(err);
            Error::invalid_file(Path::new("table"), "stopped")
        })
    };
    let failures = py.detach(|| {
        let mut part = |part| give(Some(part));
        let failures = table(&store, names, &mut part)?;
        give(None).map(|()| failures)
    });
    match raised {
        Some(err) => Err(err),
        None => failures.map_err(exception),
    }
}
