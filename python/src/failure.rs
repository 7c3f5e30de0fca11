//! Errors of botaudit as exceptions of Python.

use std::error::Error as _;
use std::io;

use botaudit::{AuditConfig, Error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `OSError` or one of its subclasses if the operating system refused something, otherwise
/// `ValueError`.
pub fn exception(err: Error) -> PyErr {
    let text = with_calls(&err.to_string());
    match err.source().and_then(|cause| cause.downcast_ref::<io::Error>()) {
        Some(cause) => io::Error::new(cause.kind(), text).into(),
        None => PyValueError::new_err(text),
    }
}

/// `text` with what Python has in place of flags and commands. A command to run stays one, with its
/// flags: `python -m pybotaudit audit --robots robots.txt`.
fn with_calls(text: &str) -> String {
    let is_command = |rest: &str| COMMANDS.contains(&rest.split(' ').next().unwrap_or_default());
    let clauses = text.split("; ").map(|clause| match clause.split_once("botaudit ") {
        Some((before, rest)) if !before.ends_with("py") && is_command(rest) => {
            with_arguments(before) + "python -m pybotaudit " + rest
        }
        _ => with_arguments(clause),
    });
    clauses.collect::<Vec<_>>().join("; ")
}

/// Commands that messages name.
const COMMANDS: [&str; 6] = ["audit", "crawlers", "formats", "lint", "report", "robots"];

/// Flags of commands that are arguments of functions, beside those of settings.
const OTHERS: [&str; 3] = ["at", "every", "jobs"];

/// `text` with arguments of Python in place of the flags of settings: `dns_max` for `--dns-max`.
fn with_arguments(text: &str) -> String {
    let mut parts = text.split("--");
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_flag = |byte: char| byte.is_ascii_lowercase() || byte == '-';
        let flag = &part[..part.find(|byte| !is_of_flag(byte)).unwrap_or(part.len())];
        let key = flag.replace('-', "_");
        let is_setting = !changed.ends_with(|before: char| before.is_alphanumeric())
            && AuditConfig::keys().iter().chain(&OTHERS).any(|known| *known == key);
        match is_setting {
            true => changed.extend([&key, &part[flag.len()..]]),
            false => changed.extend(["--", part]),
        }
    }
    changed
}
