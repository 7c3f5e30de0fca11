//! What the author of a robots.txt would want to know of it.
//!
//! The parser states facts; here they are put in words, with advice, and
//! joined with what is known of crawlers and of the dialects. Any bytes give
//! diagnostics, bounded in number, in time proportional to the size of the file.
//!
//! An author is told what is certain or likely. Where nothing is, silence is
//! better than a false alarm.

pub mod catalogue;
pub mod diagnostic;
pub mod known_tokens;

pub mod distance;

mod case;
mod fields;
mod groups;
mod lines;
mod patterns;
mod redundancy;
mod tokens;
mod whole_file;

use bytes::Bytes;

use crate::matcher::pattern;
use crate::robots::model::{ParsedRobotsTxt, Rule};
use crate::robots::{foreign::foreign, parse};
use crate::url::dialect::Dialect;

use catalogue::Code;
use diagnostic::{Diagnostics, quoting};
use known_tokens::KnownTokens;
use whole_file::FileContent;

/// Remarks on `body`, the bytes of a robots.txt as served. Which rules are equal, cover others or
/// never decide is told in `dialect`; what the dialects disagree on is told in both.
///
/// ```
/// use botaudit::crawlers::registry::Registry;
/// use botaudit::lint::{catalogue::Code, lint, known_tokens::KnownTokens};
/// use botaudit::url::dialect::Dialect;
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
        groups::diagnose(text, &robots, names, &mut diagnostics);
        redundancy::diagnose(&read_in(robots, dialect), dialect, &mut diagnostics);
    }
    diagnostics.sort();
    diagnostics
}

/// Whether no line was meant for robots.txt.
fn is_unread(diagnostics: &Diagnostics) -> bool {
    let of_any_text =
        [Code::UnreadLine, Code::NulByte, Code::LongLine, Code::UnknownField, Code::TooLarge];
    diagnostics.count(Code::UnreadLine) + diagnostics.count(Code::NulByte) > 0
        && diagnostics.kept().iter().all(|found| of_any_text.contains(&found.code))
}

/// The rules by what `dialect` compares.
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

/// Rules that are not UTF-8; what comments hold is nobody's concern.
fn diagnose_encoding(robots: &ParsedRobotsTxt, diagnostics: &mut Diagnostics) {
    let rules = robots.groups.iter().flat_map(|group| &group.rules);
    for rule in rules.filter(|rule| std::str::from_utf8(rule.written()).is_err()) {
        diagnostics.add(rule.line, Code::NotUtf8, || {
            let message = quoting("{} is not UTF-8, but URLs are", rule.written());
            (message, "Save the file as UTF-8, or write the path as the server logs it, with %XX.")
        });
    }
}
