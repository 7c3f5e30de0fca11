//! What robots.txt files leave to crawlers, as a table.

use std::path::{Path, PathBuf};

use botaudit::archive::Store;
use botaudit::run::robots::restrictions::{restrictions_columns, restrictions_csv};
use botaudit::{Error, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::classifier::named;
use crate::failure::exception;
use crate::robots_table::{self, BadRows};

/// The bytes of a part of the table.
const PART_BYTES: usize = 4 << 20;

/// The names and units of the columns of the table.
#[pyfunction]
#[pyo3(name = "restrictions_columns")]
pub fn columns() -> Vec<(&'static str, &'static str)> {
    restrictions_columns().collect()
}

/// The table for the robots.txt files at `path`, or in the `batches` of a table. `take` gets its
/// parts as CSV. Returns why some files could not be read.
#[pyfunction]
#[pyo3(signature = (path, batches, crawlers, tokens, user_agents, at, every, take))]
#[allow(clippy::too_many_arguments)]
pub fn restrictions(
    py: Python<'_>,
    path: Option<PathBuf>,
    batches: Vec<Vec<Bound<'_, PyAny>>>,
    crawlers: Vec<String>,
    tokens: Vec<String>,
    user_agents: Vec<Vec<u8>>,
    at: Option<String>,
    every: Option<String>,
    take: Py<PyAny>,
) -> PyResult<Vec<String>> {
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
            Error::invalid_file(Path::new("restrictions"), "stopped")
        })
    };
    let failures = py.detach(|| {
        let mut part = |part| give(Some(part));
        let failures = restrictions_csv(&store, names, at.as_deref(), every.as_deref(), &mut part)?;
        give(None).map(|()| failures)
    });
    match raised {
        Some(err) => Err(err),
        None => failures.map_err(exception),
    }
}
