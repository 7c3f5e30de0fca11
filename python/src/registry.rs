//! The crawlers that are known.

use std::path::PathBuf;

use botaudit::Registry;
use botaudit::report::crawlers::{identified_json, list_json};
use pyo3::prelude::*;

use crate::failure::exception;

/// The built-in crawlers with those of `file`, as JSON.
#[pyfunction]
pub fn crawlers_json(py: Python<'_>, file: Option<PathBuf>) -> PyResult<String> {
    py.detach(|| match file {
        Some(path) => Registry::with_file(&path).map(|registry| list_json(&registry)),
        None => Ok(list_json(Registry::kept())),
    })
    .map_err(exception)
}

/// What is known about the sender of a User-Agent header, as JSON, and whether it is a tool.
#[pyfunction]
pub fn identify_json(user_agent: Vec<u8>) -> (String, bool) {
    let registry = Registry::kept();
    let is_tool = registry.by_user_agent(&user_agent).is_some_and(|crawler| crawler.is_tool());
    (identified_json(registry, &user_agent), is_tool)
}
