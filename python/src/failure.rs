//! Errors of botaudit as exceptions of Python.

use std::error::Error as _;
use std::io;

use botaudit::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `OSError` or one of its subclasses if the operating system refused something, otherwise
/// `ValueError`.
pub fn exception(err: Error) -> PyErr {
    // Here it is an argument, not a flag.
    let text = err.to_string().replace("--robots", "robots");
    match err.source().and_then(|cause| cause.downcast_ref::<io::Error>()) {
        Some(cause) => io::Error::new(cause.kind(), text).into(),
        None => PyValueError::new_err(text),
    }
}
