//! One robots.txt, its rules for one crawler, and its mistakes.

use botaudit::lint::catalogue::LINTS;
use botaudit::lint::known_tokens::KnownTokens;
use botaudit::robots::foreign::foreign;
use botaudit::robots::parse::{cut, parse_body};
use botaudit::table::escape::visible;
use botaudit::{Decision, Dialect, Registry, StarGroups};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::exception;

/// Bytes, or a text that stands for its UTF-8 bytes.
fn bytes_of<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Vec<u8>> {
    let bytes = value.extract::<Vec<u8>>();
    let text = || value.extract::<String>().map(String::into_bytes);
    bytes.or_else(|_| text()).map_err(|_| {
        let kind = value.get_type();
        PyTypeError::new_err(format!("{name} must be str or bytes, not {kind}"))
    })
}

fn dialect_of(name: &str) -> PyResult<Dialect> {
    name.parse().map_err(|why| PyValueError::new_err(format!("dialect '{name}': {why}")))
}

/// A parsed robots.txt.
#[pyclass(frozen, module = "botaudit")]
pub struct RobotsTxt(botaudit::RobotsTxt);

#[pymethods]
impl RobotsTxt {
    #[new]
    #[pyo3(signature = (body, dialect="google"))]
    fn new(body: &Bound<'_, PyAny>, dialect: &str) -> PyResult<RobotsTxt> {
        let body = bytes_of(body, "body")?;
        Ok(RobotsTxt(botaudit::RobotsTxt::parse(body).with_dialect(dialect_of(dialect)?)))
    }

    /// As the constructor.
    #[staticmethod]
    #[pyo3(signature = (body, dialect="google"))]
    fn parse(body: &Bound<'_, PyAny>, dialect: &str) -> PyResult<RobotsTxt> {
        RobotsTxt::new(body, dialect)
    }

    /// Whether the crawler with this product token, or the sender of this User-Agent header, may
    /// request the target: a path or a URL.
    #[pyo3(signature = (product_token=None, target=None, *, user_agent=None))]
    fn is_allowed(
        &self,
        product_token: Option<String>,
        target: Option<&Bound<'_, PyAny>>,
        user_agent: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let missing = || PyTypeError::new_err("target is missing; give a path or a URL");
        let target = bytes_of(target.ok_or_else(missing)?, "target")?;
        let matcher =
            self.of(product_token.map(|token| vec![token]), "product_token", user_agent)?;
        Ok(matcher.is_allowed(target))
    }

    /// The rules for a crawler with these product tokens, the most specific first, or for the sender
    /// of this User-Agent header.
    #[pyo3(signature = (product_tokens=None, *, user_agent=None))]
    fn matcher(
        &self,
        product_tokens: Option<Vec<String>>,
        user_agent: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Matcher> {
        self.of(product_tokens, "product_tokens", user_agent).map(Matcher)
    }

    /// The values of all Sitemap lines.
    #[getter]
    fn sitemaps<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.0.sitemaps().map(|url| PyBytes::new(py, url)).collect()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

impl RobotsTxt {
    /// The rules for the crawler with `tokens`, the argument `name`, or for the sender of `user_agent`.
    fn of(
        &self,
        tokens: Option<Vec<String>>,
        name: &str,
        user_agent: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<botaudit::Matcher> {
        match (tokens, user_agent) {
            (Some(tokens), None) => {
                let registry = Registry::kept();
                let tokens =
                    tokens.iter().map(|token| registry.checked_token(token, "user_agent="));
                let tokens: Vec<_> = tokens.collect::<botaudit::Result<_>>().map_err(exception)?;
                Ok(self.0.matcher_of(&tokens, StarGroups::Honoured))
            }
            (None, Some(header)) => {
                Ok(Registry::kept().matcher(&self.0, bytes_of(header, "user_agent")?))
            }
            (Some(_), Some(_)) => Err(PyTypeError::new_err(format!(
                "{name} and user_agent exclude each other; give one, and the target as target="
            ))),
            (None, None) => Err(PyTypeError::new_err(format!("give {name} or user_agent="))),
        }
    }
}

/// The rules of a robots.txt for one crawler.
#[pyclass(frozen, module = "botaudit")]
pub struct Matcher(botaudit::Matcher);

#[pymethods]
impl Matcher {
    /// Whether the crawler may request the target: a path or a URL.
    fn is_allowed(&self, target: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.is_allowed(bytes_of(target, "target")?))
    }

    /// Whether the crawler may request the target, and the line of the deciding rule or None.
    fn decide(&self, target: &Bound<'_, PyAny>) -> PyResult<(bool, Option<u32>)> {
        let Decision { allowed, line } = self.0.decide(bytes_of(target, "target")?);
        Ok((allowed, line))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Line, severity, code, message and advice of each finding.
type Findings = Vec<(u32, &'static str, &'static str, String, String)>;

/// See `botaudit.lint`, which gives these tuples names.
#[pyfunction]
pub fn lint(py: Python<'_>, body: &Bound<'_, PyAny>, dialect: &str) -> PyResult<Findings> {
    let (body, dialect) = (bytes_of(body, "body")?, dialect_of(dialect)?);
    Ok(py.detach(|| {
        let registry = Registry::builtin();
        let mut found = botaudit::lint::lint(&body, &KnownTokens::new(&registry), dialect);
        let optional = LINTS.iter().filter(|lint| lint.code.is_optional());
        optional.for_each(|lint| found.remove(lint.code));
        let finding = |found: &botaudit::lint::diagnostic::Diagnostic| {
            let (lint, message) = (found.code.lint(), visible(&found.message));
            (found.line, lint.severity.as_str(), lint.name, message, visible(&found.advice))
        };
        found.kept().iter().map(finding).collect()
    }))
}

/// Line, message and code of each error in the lines of a robots.txt; empty for other files.
#[pyfunction]
pub fn line_errors(py: Python<'_>, body: &[u8]) -> Vec<(u32, String, &'static str)> {
    py.detach(|| {
        if foreign(&parse_body(body)).is_some() {
            return Vec::new();
        }
        let found = botaudit::lint::line_errors(cut(body));
        let error = |found: &botaudit::lint::diagnostic::Diagnostic| {
            (found.line, visible(&found.message), found.code.lint().name)
        };
        found.kept().iter().map(error).collect()
    })
}
