//! One robots.txt, its rules for one crawler, and its mistakes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use botaudit::archive::writer::KEPT_BYTES_MAX;
use botaudit::digest::Digest;
use botaudit::judge::{crawl_delay::AskedDelay, profile::CrawlerProfile};
use botaudit::lint::catalogue::LINTS;
use botaudit::lint::known_tokens::KnownTokens;
use botaudit::robots::foreign::foreign;
use botaudit::robots::model::{Group, Rule};
use botaudit::robots::parse::{cut, parse_body};
use botaudit::table::escape::visible;
use botaudit::{Decision, Dialect, Registry, StarGroups};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyType};

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

/// The body of a robots.txt. The name of a file would be a body without rules, which allows
/// everything, so it is refused; `instead` says what reads a file.
fn body_of(value: &Bound<'_, PyAny>, instead: &str) -> PyResult<Vec<u8>> {
    let is_path = !value.is_instance_of::<PyString>() && value.hasattr("__fspath__")?;
    if is_path {
        let why = format!("body is a path, not the text of a robots.txt; use {instead}");
        return Err(PyTypeError::new_err(why));
    }
    let body = bytes_of(value, "body")?;
    if !value.is_instance_of::<PyString>() || body.iter().any(|byte| b"\r\n".contains(byte)) {
        return Ok(body);
    }
    let text = String::from_utf8_lossy(&body);
    let ends_as_one = text.to_ascii_lowercase().ends_with("robots.txt");
    let is_name = ends_as_one || Path::new(&*text).exists();
    // Such as `Sitemap: /robots.txt`.
    if !is_name || foreign(&parse_body(&body)).is_none() {
        return Ok(body);
    }
    let (text, use_) = (
        visible(&body),
        match text.contains("://") {
            true => "pybotaudit.fetch, or pass the text of the file",
            false => instead,
        },
    );
    Err(PyValueError::new_err(format!(
        "body '{text}' is a name, not the text of a robots.txt; use {use_}"
    )))
}

fn dialect_of(name: &str) -> PyResult<Dialect> {
    name.parse().map_err(|why| PyValueError::new_err(format!("dialect '{name}': {why}")))
}

/// A parsed robots.txt.
#[pyclass(frozen, module = "pybotaudit")]
pub struct RobotsTxt {
    robots: botaudit::RobotsTxt,
    dialect: Dialect,
}

#[pymethods]
impl RobotsTxt {
    #[new]
    #[pyo3(signature = (body, dialect="google"))]
    fn new(body: &Bound<'_, PyAny>, dialect: &str) -> PyResult<RobotsTxt> {
        let (body, dialect) = (body_of(body, "RobotsTxt.from_file")?, dialect_of(dialect)?);
        Ok(RobotsTxt::of_body(body, dialect))
    }

    /// The robots.txt in the file at `path`.
    #[staticmethod]
    #[pyo3(signature = (path, dialect="google"))]
    fn from_file(path: PathBuf, dialect: &str) -> PyResult<RobotsTxt> {
        let dialect = dialect_of(dialect)?;
        let unreadable =
            |err: io::Error| io::Error::new(err.kind(), format!("{}: {err}", path.display()));
        let mut body = Vec::new();
        let file = File::open(&path).map_err(unreadable)?;
        file.take(KEPT_BYTES_MAX as u64).read_to_end(&mut body).map_err(unreadable)?;
        Ok(RobotsTxt::of_body(body, dialect))
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

    /// The Crawl-delay in seconds for the crawler with this product token, or the sender of this
    /// User-Agent header; `None` if there is none that is a number.
    #[pyo3(signature = (product_token=None, *, user_agent=None))]
    fn crawl_delay(
        &self,
        product_token: Option<String>,
        user_agent: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<f64>> {
        let profile = match self.sender(&product_token, "product_token", user_agent)? {
            Sender::Tokens => {
                let token = product_token.unwrap_or_default();
                let token = Registry::kept().checked_token(&token, "user_agent=");
                CrawlerProfile::of_token(token.map_err(exception)?.to_owned())
            }
            Sender::Header(header) => CrawlerProfile::of_sender(Registry::kept(), &header).1,
        };
        let text = self.robots.parsed();
        let delay = AskedDelay::new(text, Digest::of(&text.body), &profile);
        Ok(delay.and_then(|delay| delay.milliseconds).map(|delay| delay as f64 / 1000.0))
    }

    /// The groups, as `pybotaudit.Group`.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pybotaudit._robots_txt")?.call_method1("groups", (self.group_parts(),))
    }

    /// The rules of all groups, as `pybotaudit.Rule`.
    #[getter]
    fn rules<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rules: RuleParts = self
            .robots
            .parsed()
            .groups
            .iter()
            .flat_map(|group| &group.rules)
            .map(rule_parts)
            .collect();
        py.import("pybotaudit._robots_txt")?.call_method1("rules", (rules,))
    }

    /// The values of all Sitemap lines; what is not visible text is `\xHH`.
    #[getter]
    fn sitemaps(&self) -> Vec<String> {
        self.robots.sitemaps().map(visible).collect()
    }

    /// How percent-encodings are compared.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.dialect.as_str()
    }

    /// The bytes that count.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.robots.parsed().body)
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, RobotsTxt>,
    ) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>, &'static str)) {
        let robots = slf.get();
        (slf.get_type(), (robots.body(slf.py()), robots.dialect()))
    }

    fn __repr__(&self) -> String {
        let text = self.robots.parsed();
        let rules: usize = text.groups.iter().map(|group| group.rules.len()).sum();
        format!(
            "<RobotsTxt: {} groups, {rules} rules, {} sitemaps, dialect {}>",
            text.groups.len(),
            text.sitemaps.len(),
            self.dialect.as_str()
        )
    }
}

/// Line, user agents, rules and Crawl-delay of a group.
type GroupParts = (u32, Vec<String>, RuleParts, Option<String>);

/// Line, directive and pattern of each rule.
type RuleParts = Vec<(u32, &'static str, String)>;

fn rule_parts(rule: &Rule) -> (u32, &'static str, String) {
    (rule.line, rule.directive.as_str(), visible(rule.written()))
}

/// How the crawler is named.
enum Sender {
    Tokens,
    Header(Vec<u8>),
}

impl RobotsTxt {
    fn of_body(body: Vec<u8>, dialect: Dialect) -> RobotsTxt {
        RobotsTxt { robots: botaudit::RobotsTxt::parse(body).with_dialect(dialect), dialect }
    }

    /// Groups with line, user agents, rules and Crawl-delay as written.
    fn group_parts(&self) -> Vec<GroupParts> {
        let text = self.robots.parsed();
        let of_group = |group: &Group| {
            let line = group.product_tokens.first().map_or(0, |token| token.line);
            let agents = group.product_tokens.iter().map(|token| visible(&token.written));
            let delays = text.crawl_delays.iter();
            let delay = delays
                .filter(|delay| {
                    let of = delay.product_tokens(text).first().map_or(0, |token| token.line);
                    group.product_tokens.iter().any(|token| token.line == of)
                })
                .reduce(|best, delay| if delay.is_milder_than(best) { delay } else { best });
            let delay = delay.map(|delay| visible(&delay.written));
            (line, agents.collect(), group.rules.iter().map(rule_parts).collect(), delay)
        };
        text.groups.iter().map(of_group).collect()
    }

    /// The rules for the crawler with `tokens`, the argument `name`, or for the sender of `user_agent`.
    fn of(
        &self,
        tokens: Option<Vec<String>>,
        name: &str,
        user_agent: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<botaudit::Matcher> {
        let registry = Registry::kept();
        match self.sender(&tokens, name, user_agent)? {
            Sender::Header(header) => Ok(registry.matcher(&self.robots, header)),
            Sender::Tokens => {
                let tokens = tokens.unwrap_or_default();
                let tokens =
                    tokens.iter().map(|token| registry.checked_token(token, "user_agent="));
                let tokens: Vec<_> = tokens.collect::<botaudit::Result<_>>().map_err(exception)?;
                Ok(self.robots.matcher_of(&tokens, StarGroups::Honoured))
            }
        }
    }

    /// Checks that either `tokens`, the argument `name`, or `user_agent` is given.
    fn sender<T>(
        &self,
        tokens: &Option<T>,
        name: &str,
        user_agent: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Sender> {
        match (tokens, user_agent) {
            (Some(_), None) => Ok(Sender::Tokens),
            (None, Some(header)) => Ok(Sender::Header(bytes_of(header, "user_agent")?)),
            (Some(_), Some(_)) => Err(PyTypeError::new_err(format!(
                "{name} and user_agent exclude each other; give one, and the target as target="
            ))),
            (None, None) => Err(PyTypeError::new_err(format!("give {name} or user_agent="))),
        }
    }
}

/// The rules of a robots.txt for one crawler.
#[pyclass(frozen, module = "pybotaudit")]
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
        format!("<{:?}>", self.0)
    }
}

/// Line, severity, code, message and advice of each finding.
type Findings = Vec<(u32, &'static str, &'static str, String, String)>;

/// See `pybotaudit.lint`, which gives these tuples names.
#[pyfunction]
pub fn lint(py: Python<'_>, body: &Bound<'_, PyAny>, dialect: &str) -> PyResult<Findings> {
    let instead = "pybotaudit.lint(pathlib.Path(name).read_bytes())";
    let (body, dialect) = (body_of(body, instead)?, dialect_of(dialect)?);
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
