//! Files that are something other than a robots.txt.

use memchr::memmem::find;

use crate::named_enum;

use super::lines::{self, FieldKind, byte_order_mark_bytes};
use super::model::ParsedRobotsTxt;
use super::parse::{FindingKind, listen};

/// Bytes at the beginning of a file that show what it is.
const HEAD_BYTES_MAX: usize = 1024;

named_enum! {
    /// What a file is instead of a robots.txt.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
    pub enum Foreign {
        /// A page, often an error page.
        Html = "an HTML page",
        /// Lines of a web server.
        Log = "an access log",
        /// No byte, though the file was given alone, to judge everything by.
        Empty = "an empty file",
        /// Anything else, such as "Not Found".
        Text = "other text without a User-agent line",
    }
}

/// What was read instead of a robots.txt. A file of comments alone is a robots.txt, and so is one
/// whose rules bind nobody.
pub fn foreign(robots: &ParsedRobotsTxt) -> Option<Foreign> {
    let has_urls = !robots.sitemaps.is_empty() || !robots.licenses.is_empty();
    if !robots.groups.is_empty() || has_urls {
        return None;
    }
    let text = &*robots.body;
    let (mut is_known, mut is_other) = (false, false);
    listen(robots.body.clone(), &mut |_, kind| match kind() {
        FindingKind::NoField
        | FindingKind::UnknownField(_)
        | FindingKind::MissingColon(FieldKind::Unknown)
        | FindingKind::Nul => is_other = true,
        FindingKind::RuleOutsideGroup(_)
        | FindingKind::UnusedField(_)
        | FindingKind::AcceptedTypo(..)
        | FindingKind::MissingColon(_) => is_known = true,
        FindingKind::ByteOrderMark(_) | FindingKind::LineTooLong(_) => {}
    });
    let is_log = || find(&text[..text.len().min(HEAD_BYTES_MAX)], b"HTTP/").is_some();
    match is_other && !is_known {
        false => None,
        true if is_page(text) => Some(Foreign::Html),
        true if is_log() => Some(Foreign::Log),
        true => Some(Foreign::Text),
    }
}

/// Whether `text` begins as a page does.
pub fn is_page(text: &[u8]) -> bool {
    let text = &text[byte_order_mark_bytes(text)..];
    let start = text[..text.len().min(HEAD_BYTES_MAX)].to_ascii_lowercase();
    let has = |tag: &[u8]| find(&start, tag).is_some();
    lines::strip(&start).starts_with(b"<") && (has(b"<html") || has(b"<!doctype"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::parse::parse_body;

    #[test]
    fn pages_logs_and_texts_are_foreign() {
        let check = |text: &str, expected: Option<Foreign>| {
            let text = text.as_bytes();
            assert_eq!(foreign(&parse_body(text)), expected, "{}", text.escape_ascii());
        };
        check("\u{feff}\n<!DOCTYPE html>\n<html>\n", Some(Foreign::Html));
        check("x - - [t] \"GET / HTTP/1.1\" 200 5\n", Some(Foreign::Log));
        check("Not Found\n", Some(Foreign::Text));
        check("\0\u{1}", Some(Foreign::Text));
        for text in ["", "# all\n", "Sitemap: /x\n", "what\nDisallow: /\n", "<html>\nUser-agent: a"]
        {
            check(text, None);
        }
    }
}
