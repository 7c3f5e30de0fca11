//! Checks robots.txt files for mistakes.
//!
//! The parser finds facts. Lint turns them into messages with advice, and adds checks that need the
//! registry of crawlers or the dialects. Any bytes give findings, limited in number, in time
//! proportional to the size of the file.
//!
//! Only certain or probable mistakes are reported: a missed mistake is better than a false alarm.

pub mod catalogue;
pub mod diagnostic;
pub mod findings;
pub mod known_tokens;

mod case;
mod fields;
mod groups;
mod lines;
mod patterns;
mod plain;
mod redundancy;
mod tokens;
mod whole_file;

use bytes::Bytes;

use crate::matcher::pattern;
use crate::robots::model::{ParsedRobotsTxt, Rule};
use crate::robots::{foreign::foreign, parse};
use crate::url::path::Dialect;

use catalogue::{Code, Severity};
use diagnostic::{Diagnostics, quoting};
use known_tokens::KnownTokens;
use whole_file::FileContent;

/// The findings on `body`, the bytes of a robots.txt. Whether rules are equal, cover others or
/// never decide is checked in `dialect`; differences between the dialects are always reported.
///
/// ```
/// use botaudit::crawlers::registry::Registry;
/// use botaudit::lint::{catalogue::Code, lint, known_tokens::KnownTokens};
/// use botaudit::url::path::Dialect;
/// let registry = Registry::builtin();
/// let body = b"User-agent: *\nDisallow: private\n";
/// let diagnostics = lint(body, &KnownTokens::new(&registry), Dialect::Google);
/// assert_eq!((diagnostics.kept()[0].line, diagnostics.kept()[0].code), (2, Code::NeverMatches));
/// ```
pub fn lint(body: &[u8], names: &KnownTokens<'_>, dialect: Dialect) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    if whole_file::diagnose(body, &mut diagnostics) == FileContent::Text {
        let text = parse::cut(body);
        let robots = parse::parse_body(text);
        let before = diagnostics.clone();
        lines::diagnose(text, &mut diagnostics);
        if let Some(what) = foreign(&robots)
            && is_unread(&diagnostics)
        {
            diagnostics = before;
            whole_file::diagnose_foreign(what, &mut diagnostics);
            return diagnostics;
        }
        diagnose_encoding(&robots, &mut diagnostics);
        tokens::diagnose(&robots, names, &mut diagnostics);
        fields::diagnose_usage(&robots, &mut diagnostics);
        groups::diagnose(text, &robots, names, &mut diagnostics);
        redundancy::diagnose(&read_in(robots, dialect), dialect, &mut diagnostics);
    }
    diagnostics.sort();
    diagnostics.join_runs();
    diagnostics
}

/// The errors in the lines of `text`, a robots.txt of at most 500 KiB: those that need neither the
/// names of crawlers nor a comparison of rules. Takes a small part of the time of [`lint`].
pub fn line_errors(text: &[u8]) -> Diagnostics {
    let mut diagnostics = Diagnostics::of(Severity::Error);
    if !plain::is_plain(text) {
        lines::diagnose(text, &mut diagnostics);
        diagnostics.sort();
    }
    diagnostics
}

/// Whether no line looks like robots.txt.
fn is_unread(diagnostics: &Diagnostics) -> bool {
    let of_any_text =
        [Code::UnreadLine, Code::NulByte, Code::LongLine, Code::UnknownField, Code::TooLarge];
    diagnostics.count(Code::UnreadLine) + diagnostics.count(Code::NulByte) > 0
        && diagnostics.kept().iter().all(|found| of_any_text.contains(&found.code))
}

/// The rules with their patterns as `dialect` compares them.
fn read_in(mut robots: ParsedRobotsTxt, dialect: Dialect) -> ParsedRobotsTxt {
    for group in &mut robots.groups {
        let rules = std::mem::take(&mut group.rules);
        let read = |rule: Rule| {
            let pattern = Bytes::copy_from_slice(&pattern::prepare(&rule, dialect));
            rule.compared_by(pattern)
        };
        group.rules = rules.into_iter().map(read).collect();
    }
    robots
}

/// Rules that are not UTF-8. Comments may have any bytes.
fn diagnose_encoding(robots: &ParsedRobotsTxt, diagnostics: &mut Diagnostics) {
    let rules = robots.groups.iter().flat_map(|group| &group.rules);
    for rule in rules.filter(|rule| std::str::from_utf8(rule.written()).is_err()) {
        diagnostics.add(rule.line, Code::NotUtf8, || {
            let message = quoting("{} is not UTF-8, but URLs are", rule.written());
            (message, "Save the file as UTF-8, or write the path as the server logs it, with %XX.")
        });
    }
}
