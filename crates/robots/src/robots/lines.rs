//! robots.txt cut into lines, as Google's parser cuts it, and a line read as key and value, with Google's leniencies.
//!
//! A line ends in LF, CR or CR LF; the last one is always there, even if
//! empty. A byte-order mark in front of the first line is skipped, also a torn
//! one. Nothing here can fail: any bytes are lines.

use memchr::{memchr, memchr2};

/// Bytes of a line that are kept; the rest of the line is dropped. Google's
/// parser keeps eight times 2,083, the longest URL of an old browser, less one.
pub const LINE_BYTES_MAX: usize = 2083 * 8 - 1;

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// One line, with irregularities of its bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RobotsTxtLine<'a> {
    /// 1-based; empty lines count.
    pub number: u32,
    /// The part that parsers read: at most [`LINE_BYTES_MAX`] bytes, up to the first NUL.
    pub text: &'a [u8],
    /// The bytes of the line in the file, without its ending.
    pub length_bytes: usize,
    /// Whether a NUL cut it short.
    pub has_nul: bool,
}

impl RobotsTxtLine<'_> {
    /// Whether bytes past [`LINE_BYTES_MAX`] were dropped.
    pub fn is_too_long(&self) -> bool {
        self.length_bytes > LINE_BYTES_MAX
    }
}

pub fn lines(text: &[u8]) -> RobotsTxtLines<'_> {
    RobotsTxtLines { rest: Some(&text[byte_order_mark_bytes(text)..]), number: 0 }
}

/// How many bytes of a byte-order mark `text` starts with: 3, or 1 or 2 of a
/// torn one. All of them are skipped.
pub fn byte_order_mark_bytes(text: &[u8]) -> usize {
    text.iter().zip(BYTE_ORDER_MARK).take_while(|(byte, mark)| **byte == *mark).count()
}

/// See [`lines`].
#[derive(Clone, Debug)]
pub struct RobotsTxtLines<'a> {
    rest: Option<&'a [u8]>,
    number: u32,
}

impl<'a> Iterator for RobotsTxtLines<'a> {
    type Item = RobotsTxtLine<'a>;

    fn next(&mut self) -> Option<RobotsTxtLine<'a>> {
        let rest = self.rest?;
        let end = memchr2(b'\n', b'\r', rest);
        self.rest = end.map(|end| {
            let is_crlf = rest[end..].starts_with(b"\r\n");
            &rest[end + 1 + usize::from(is_crlf)..]
        });
        self.number = self.number.saturating_add(1);
        Some(line(self.number, &rest[..end.unwrap_or(rest.len())]))
    }
}

fn line(number: u32, whole: &[u8]) -> RobotsTxtLine<'_> {
    let kept = &whole[..whole.len().min(LINE_BYTES_MAX)];
    let nul = memchr(0, kept);
    RobotsTxtLine {
        number,
        text: &kept[..nul.unwrap_or(kept.len())],
        length_bytes: whole.len(),
        has_nul: nul.is_some(),
    }
}

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

    #[track_caller]
    fn check(text: &[u8], expected: &[&[u8]]) {
        let found: Vec<&[u8]> = lines(text).map(|line| line.text).collect();
        assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(text));
    }

    #[test]
    fn line_endings() {
        check(b"", &[b""]);
        check(b"a", &[b"a"]);
        check(b"a\n", &[b"a", b""]);
        check(b"a\rb\nc\r\nd", &[b"a", b"b", b"c", b"d"]);
        check(b"a\n\rb", &[b"a", b"", b"b"]);
        check(b"a\r\r\nb", &[b"a", b"", b"b"]);
        check(b"a\r\n\nb", &[b"a", b"", b"b"]);
        check(b"\r\n", &[b"", b""]);
        check(b"a\x0bb\x0cc\xc2\x85d\xe2\x80\xa8e", &[b"a\x0bb\x0cc\xc2\x85d\xe2\x80\xa8e"]);
    }

    #[test]
    fn byte_order_marks() {
        check(b"\xef\xbb\xbfa", &[b"a"]);
        check(b"\xefa", &[b"a"]);
        check(b"\xef\xbba", &[b"a"]);
        check(b"\xef\xbb\na", &[b"", b"a"]);
        check(b"\xbb\xbfa", &[b"\xbb\xbfa"]);
        check(b"\xef\x11\xbfa", &[b"\x11\xbfa"]);
        check(b"\xef\xbb\xbf\xef\xbb\xbfa", &[b"\xef\xbb\xbfa"]);
        check(b"a\n\xef\xbb\xbfb", &[b"a", b"\xef\xbb\xbfb"]);
    }

    #[test]
    fn long_lines_and_nul() {
        let mut text = vec![b'a'; LINE_BYTES_MAX];
        assert!(!lines(&text).next().unwrap().is_too_long());
        text.push(b'b');
        let line = lines(&text).next().unwrap();
        assert!(line.is_too_long());
        assert_eq!(line.text, &text[..LINE_BYTES_MAX]);
        text.splice(0..0, BYTE_ORDER_MARK);
        assert_eq!(lines(&text).next().unwrap().text, &text[3..3 + LINE_BYTES_MAX]);
        check(b"ab\0c\nd", &[b"ab", b"d"]);
        assert!(lines(b"a\0b").next().unwrap().has_nul);
    }

    fn content(text: &str) -> Content<'_> {
        read(&lines(text.as_bytes()).next().unwrap())
    }

    #[track_caller]
    fn check_field(text: &str, kind: FieldKind, key: &str, value: &str) {
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
        check_field("Disallow: /a b:c ", Disallow, "Disallow", "/a b:c");
        check_field("Sitemap: http://h/#x", Sitemap, "Sitemap", "http://h/");
        check_field("Disallow:/a#b", Disallow, "Disallow", "/a");
        check_field("\x0bDisallow \x0c:\t/a\x0b", Disallow, "Disallow", "/a");
        check_field("Disallow /wiki/Special:Search", Disallow, "Disallow /wiki/Special", "Search");
        check_field("Disallow http://h/a", Disallow, "Disallow http", "//h/a");
        check_field("User-agent foo: x", UserAgent, "User-agent foo", "x");
        check_field("Disallow:", Disallow, "Disallow", "");
        check_field("crawl-delay: 10", Unused, "crawl-delay", "10");
    }

    #[test]
    fn missing_colons() {
        check_field("user-agent  \tfoo", FieldKind::UserAgent, "user-agent", "foo");
        check_field("Disallow\t/a\x0bb", FieldKind::Disallow, "Disallow", "/a\x0bb");
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
