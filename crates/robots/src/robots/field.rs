//! One line of robots.txt read as key and value, with Google's leniencies.

use super::lines::RobotsTxtLine;

/// The content of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Content<'a> {
    /// Nothing but whitespace.
    Blank,
    /// Nothing but a comment.
    Comment,
    /// Something, but no key and value: no parser reads it.
    NoField,
    Field(Field<'a>),
}

/// A key and its value, both without whitespace around them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Field<'a> {
    /// Never empty.
    pub key: &'a [u8],
    /// As written: neither escaped nor decoded; may be empty.
    pub value: &'a [u8],
    pub kind: FieldKind,
    pub spelling: Spelling,
    pub separator: Separator,
}

/// The kind of a key. A key only has to *start* with a known name, in any case.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FieldKind {
    /// Opens a group, or adds a product token to it.
    UserAgent,
    Allow,
    Disallow,
    /// The URL of a sitemap; it belongs to no group.
    Sitemap,
    /// A field that other parsers know, without effect on a verdict (crawl-delay, host, ...).
    Unused,
    /// A field that no known parser reads.
    Unknown,
}

/// Whether a key is spelled as in the standard.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Spelling {
    /// As in the standard.
    Standard,
    /// A misspelling that Google's parser accepts.
    AcceptedTypo,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Separator {
    /// A colon, as in the standard.
    Colon,
    /// A space or tab: Google's parser accepts a missing colon if the line has exactly two words.
    Whitespace,
}

/// The names a key may start with. Order matters: the first that fits is taken.
const NAMES: [(&[u8], FieldKind, Spelling); 12] = [
    (b"user-agent", FieldKind::UserAgent, Spelling::Standard),
    (b"useragent", FieldKind::UserAgent, Spelling::AcceptedTypo),
    (b"user agent", FieldKind::UserAgent, Spelling::AcceptedTypo),
    (b"allow", FieldKind::Allow, Spelling::Standard),
    (b"disallow", FieldKind::Disallow, Spelling::Standard),
    (b"dissallow", FieldKind::Disallow, Spelling::AcceptedTypo),
    (b"dissalow", FieldKind::Disallow, Spelling::AcceptedTypo),
    (b"disalow", FieldKind::Disallow, Spelling::AcceptedTypo),
    (b"diasllow", FieldKind::Disallow, Spelling::AcceptedTypo),
    (b"disallaw", FieldKind::Disallow, Spelling::AcceptedTypo),
    (b"sitemap", FieldKind::Sitemap, Spelling::Standard),
    (b"site-map", FieldKind::Sitemap, Spelling::AcceptedTypo),
];

/// Keys that are in use, though they change no verdict. Here the whole key must be equal.
const UNUSED: [&[u8]; 12] = [
    b"clean-param",
    b"content-signal",
    b"content-usage",
    b"crawl-delay",
    b"domain",
    b"host",
    b"noarchive",
    b"nofollow",
    b"noindex",
    b"request-rate",
    b"revisit-after",
    b"visit-time",
];

/// Reads one line. A comment starts at the first `#`.
pub fn read<'a>(line: &RobotsTxtLine<'a>) -> Content<'a> {
    let comment = memchr::memchr(b'#', line.text);
    let text = strip(&line.text[..comment.unwrap_or(line.text.len())]);
    if text.is_empty() {
        return if comment.is_some() { Content::Comment } else { Content::Blank };
    }
    let (at, separator) = match memchr::memchr(b':', text) {
        Some(at) => (at, Separator::Colon),
        None => match only_gap(text) {
            Some(at) => (at, Separator::Whitespace),
            None => return Content::NoField,
        },
    };
    let (key, value) = (strip(&text[..at]), strip(&text[at + 1..]));
    if key.is_empty() {
        return Content::NoField;
    }
    let (kind, spelling) = kind(key);
    Content::Field(Field { key, value, kind, spelling, separator })
}

pub fn has_comment(line: &RobotsTxtLine<'_>) -> bool {
    memchr::memchr(b'#', line.text).is_some()
}

/// The start of the gap, if `text` has exactly two words. Only space and tab separate words.
fn only_gap(text: &[u8]) -> Option<usize> {
    let is_gap = |byte: &u8| matches!(byte, b' ' | b'\t');
    let at = text.iter().position(is_gap)?;
    let value = text[at..].iter().position(|byte| !is_gap(byte))?;
    (!text[at + value..].iter().any(is_gap)).then_some(at)
}

fn kind(key: &[u8]) -> (FieldKind, Spelling) {
    // The fast path: nearly all lines have a known key.
    match key {
        b"Disallow" => return (FieldKind::Disallow, Spelling::Standard),
        b"Allow" => return (FieldKind::Allow, Spelling::Standard),
        _ => {}
    }
    let first = key.first().map(u8::to_ascii_lowercase);
    let is_start = |name: &[u8]| {
        first == name.first().copied()
            && key.get(..name.len()).is_some_and(|k| k.eq_ignore_ascii_case(name))
    };
    if let Some((_, kind, spelling)) = NAMES.iter().find(|(name, ..)| is_start(name)) {
        return (*kind, *spelling);
    }
    if UNUSED.iter().any(|name| key.eq_ignore_ascii_case(name)) {
        return (FieldKind::Unused, Spelling::Standard);
    }
    (FieldKind::Unknown, Spelling::Standard)
}

/// `text` without the ASCII whitespace around it: the six bytes of C's `isspace`.
pub fn strip(text: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| is_space(*byte);
    let start = text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// C's `isspace`: space, and 0x09 to 0x0D (Rust's `is_ascii_whitespace` lacks the vertical tab).
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0D)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::lines::lines;

    fn content(text: &str) -> Content<'_> {
        read(&lines(text.as_bytes()).next().unwrap())
    }

    #[track_caller]
    fn check(text: &str, kind: FieldKind, key: &str, value: &str) {
        let Content::Field(field) = content(text) else { panic!("{text:?} has no field") };
        assert_eq!(
            (field.kind, field.key, field.value),
            (kind, key.as_bytes(), value.as_bytes()),
            "{text:?}"
        );
    }

    #[test]
    fn keys_and_values() {
        use FieldKind::*;
        check("Disallow: /a b:c ", Disallow, "Disallow", "/a b:c");
        check("Sitemap: http://h/#x", Sitemap, "Sitemap", "http://h/");
        check("Disallow:/a#b", Disallow, "Disallow", "/a");
        check("\x0bDisallow \x0c:\t/a\x0b", Disallow, "Disallow", "/a");
        check("Disallow /wiki/Special:Search", Disallow, "Disallow /wiki/Special", "Search");
        check("Disallow http://h/a", Disallow, "Disallow http", "//h/a");
        check("User-agent foo: x", UserAgent, "User-agent foo", "x");
        check("Disallow:", Disallow, "Disallow", "");
        check("crawl-delay: 10", Unused, "crawl-delay", "10");
    }

    #[test]
    fn missing_colons() {
        check("user-agent  \tfoo", FieldKind::UserAgent, "user-agent", "foo");
        check("Disallow\t/a\x0bb", FieldKind::Disallow, "Disallow", "/a\x0bb");
        for text in ["user agent foo", "Disallow /a b", "Disallow", ": x", "  :", "Disallow\x0b/a"]
        {
            assert_eq!(content(text), Content::NoField, "{text:?}");
        }
        assert_eq!(content(" # Disallow: /"), Content::Comment);
        assert_eq!(content(" \x0b\x0c"), Content::Blank);
    }

    #[test]
    fn kinds_are_detected_by_prefix() {
        use FieldKind::*;
        for key in ["User-Agent", "user-agents", "useragent", "USER AGENT", "user-agent foo"] {
            assert_eq!(kind(key.as_bytes()).0, UserAgent, "{key}");
        }
        let typos = ["dissallow", "dissalow", "disalow", "diasllow", "disallaw"];
        for key in typos {
            assert_eq!(kind(key.as_bytes()), (Disallow, Spelling::AcceptedTypo), "{key}");
        }
        for key in ["Disallowed", "Disallow-all", "disallow /x"] {
            assert_eq!(kind(key.as_bytes()), (Disallow, Spelling::Standard), "{key}");
        }
        assert_eq!(kind(b"Allow/"), (Allow, Spelling::Standard));
        assert_eq!(kind(b"Sitemap_index"), (Sitemap, Spelling::Standard));
        assert_eq!(kind(b"site-maps"), (Sitemap, Spelling::AcceptedTypo));
        for key in ["user_agent", "desallow", "disalllow", "alow", "user  agent", "crawl-delays"] {
            assert_eq!(kind(key.as_bytes()).0, Unknown, "{key}");
        }
        assert_eq!(kind(b"Host").0, Unused);
    }
}
