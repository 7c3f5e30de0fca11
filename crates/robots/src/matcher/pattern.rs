//! The pattern of a rule as read in a dialect.

use std::borrow::Cow;

use crate::robots::model::{Directive, Rule};
use crate::url::path::{Dialect, decode_unreserved};

/// Where a path may end.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum End {
    /// Anywhere after the match.
    Open,
    /// Only at the end of the pattern.
    Anchored,
}

/// The pattern that is compared with paths. Its length is the rule's priority, including wildcards
/// and `$`.
pub fn prepare(rule: &Rule, dialect: Dialect) -> Cow<'_, [u8]> {
    match dialect {
        Dialect::Google => Cow::Borrowed(&rule.pattern),
        Dialect::Rfc9309 => decode_unreserved(&rule.pattern),
    }
}

/// The second pattern of an Allow rule that ends in an index page.
///
/// Google reads `/a/index.html` also as `/a/$`, if the rule as written does not match. Only the
/// text after the last slash counts, so `/index.htmlx` and `/index.htm?x` are index pages, too.
pub fn of_directory_index(rule: &Rule, dialect: Dialect) -> Option<Vec<u8>> {
    if dialect != Dialect::Google || rule.directive != Directive::Allow {
        return None;
    }
    let slash = memchr::memrchr(b'/', &rule.pattern)?;
    let (directory, page) = rule.pattern.split_at(slash + 1);
    page.starts_with(b"index.htm").then(|| [directory, b"$"].concat())
}

/// The bytes at the start of a pattern that stand for one literal `*` or `$`, and that literal.
/// `%2A` and `%24` have this meaning only in RFC 9309 section 2.2.3.
pub fn encoded_special(pattern: &[u8], dialect: Dialect) -> Option<(&'static [u8; 3], u8)> {
    match (dialect, pattern) {
        (Dialect::Rfc9309, [b'%', b'2', b'A', ..]) => Some((b"%2A", b'*')),
        (Dialect::Rfc9309, [b'%', b'2', b'4', ..]) => Some((b"%24", b'$')),
        _ => None,
    }
}
