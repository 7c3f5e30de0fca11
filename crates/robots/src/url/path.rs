//! Paths in the form in which they are compared: of a request target, origin-form, absolute-form, or one without a path
//! (RFC 9112 section 3.2), and in a dialect.
//!
//! Google's parser compares percent-encodings unchanged, according to its documentation and tests. RFC 9309 section
//! 2.2.2 decodes unreserved characters before the comparison, and reads `%2A` and `%24` as literal `*` and `$`.

use std::{borrow::Cow, str::FromStr};

use percent_encoding::percent_encode_byte;

use crate::bytes;
use crate::named_enum;

/// The path of robots.txt itself.
const ROBOTS_TXT: &[u8] = b"/robots.txt";

/// Path and query of a request, prepared; borrowed if nothing had to change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PathQuery<'a> {
    bytes: &'a [u8],
    is_robots_txt: bool,
}

impl<'a> PathQuery<'a> {
    /// The bytes that rules are compared with.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the target is robots.txt itself, which is always allowed: path and query are exactly
    /// `/robots.txt`. With a query, rules decide, as in Google's parser. Nothing is decoded for
    /// this test, in either dialect.
    #[inline]
    pub fn is_robots_txt(&self) -> bool {
        self.is_robots_txt
    }
}

/// Prepares the path and query of a request target.
///
/// The fragment is removed and an empty path becomes `/`; `%xx` is upper-cased; the bytes 0x00 to
/// 0x20, 0x7F and 0x80 to 0xFF are percent-encoded, no others. [`Dialect::Rfc9309`] also decodes
/// `%XX` of unreserved characters. `.`, `..` and `//` stay unchanged.
///
/// ```
/// use botaudit_robots::url::path::Dialect;
/// use botaudit_robots::url::path::prepare;
/// let mut scratch = Vec::new();
/// let path = prepare("/a%2f%7e/ツ?x#top".as_bytes(), Dialect::Google, &mut scratch);
/// assert_eq!(path.as_bytes(), b"/a%2F%7E/%E3%83%84?x");
/// ```
#[inline]
pub fn prepare<'a>(target: &'a [u8], dialect: Dialect, scratch: &'a mut Vec<u8>) -> PathQuery<'a> {
    let normal = normal_bytes(target, dialect);
    let is_rooted = !matches!(target.first(), None | Some(b'?' | b'#'));
    if is_rooted && (normal == target.len() || target[normal] == b'#') {
        let bytes = &target[..normal];
        return PathQuery { bytes, is_robots_txt: bytes == ROBOTS_TXT };
    }
    let end = memchr::memchr(b'#', target).unwrap_or(target.len());
    let target = &target[..end];
    scratch.clear();
    if !is_rooted {
        scratch.push(b'/');
    }
    scratch.extend_from_slice(&target[..normal]);
    push_normal(&target[normal..], dialect, scratch);
    // A path that had to change is another one.
    PathQuery { bytes: scratch, is_robots_txt: false }
}

/// `text` with `%XX` of unreserved characters (RFC 3986 section 2.3) decoded and other `%xx` upper-cased.
pub fn decode_unreserved(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'%', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = match encoded(rest) {
            Some(value) => {
                push_encoded(value, Dialect::Rfc9309, &mut decoded);
                &rest[3..]
            }
            None => {
                decoded.push(byte);
                after
            }
        };
    }
    Cow::Owned(decoded)
}

/// Path, parameters and query of a URL as in Google's parser: nothing is encoded, decoded or
/// resolved, and every text has a path.
pub fn of_url(url: &[u8]) -> Cow<'_, [u8]> {
    let find_start = |from: usize| {
        url[from..].iter().position(|byte| matches!(byte, b'/' | b'?' | b';')).map(|at| from + at)
    };
    let start = if url.starts_with(b"//") { 2 } else { 0 };
    let scheme_end = memchr::memmem::find(&url[start..], b"://").map(|at| start + at);
    let authority = match (scheme_end, find_start(start)) {
        (Some(scheme_end), early) if early.is_none_or(|early| early >= scheme_end) => {
            scheme_end + 3
        }
        _ => start,
    };
    let fragment = memchr::memchr(b'#', &url[start..]).map(|at| start + at);
    let end = fragment.unwrap_or(url.len());
    match find_start(authority) {
        Some(path) if path > end => Cow::Borrowed(b"/"),
        Some(path) if url[path] == b'/' => Cow::Borrowed(&url[path..end]),
        Some(path) => Cow::Owned([b"/", &url[path..end]].concat()),
        None => Cow::Borrowed(b"/"),
    }
}

/// The number of bytes at the start of `target` that need no change; ends at a fragment.
fn normal_bytes(target: &[u8], dialect: Dialect) -> usize {
    if !bytes::any(target, may_be_special) {
        return target.len();
    }
    let mut at = 0;
    loop {
        let plain = target[at..].iter().position(|&byte| is_special(byte));
        at = plain.map_or(target.len(), |plain| at + plain);
        match (target.get(at), encoded(&target[at..])) {
            (Some(b'%'), None) => at += 1,
            (_, Some(value)) if is_normal_encoding(&target[at..at + 3], value, dialect) => at += 3,
            _ => return at,
        }
    }
}

/// The same as [`is_special`], but for `!` and `'`, which have the bits of `#` and `%`: it takes one comparison less.
#[inline]
fn may_be_special(byte: u8) -> bool {
    (byte.wrapping_sub(0x21) > 0x7E - 0x21) | (byte & !0b110 == b'!')
}

/// Whether a byte may need a change or begins an encoding.
#[inline]
fn is_special(byte: u8) -> bool {
    (byte.wrapping_sub(0x21) > 0x7E - 0x21) | (byte == b'#') | (byte == b'%')
}

fn is_normal_encoding(written: &[u8], value: u8, dialect: Dialect) -> bool {
    let is_decoded = dialect == Dialect::Rfc9309 && is_unreserved(value);
    !is_decoded && !written.iter().any(u8::is_ascii_lowercase)
}

fn push_normal(target: &[u8], dialect: Dialect, prepared: &mut Vec<u8>) {
    let mut rest = target;
    while let Some((&byte, after)) = rest.split_first() {
        let encoded = encoded(rest);
        rest = after;
        match (encoded, byte) {
            (Some(value), _) => {
                push_encoded(value, dialect, prepared);
                rest = &after[2..];
            }
            (None, 0x00..=0x20 | 0x7F..=0xFF) => prepared.extend(percent_encode_byte(byte).bytes()),
            (None, _) => prepared.push(byte),
        }
    }
}

fn push_encoded(value: u8, dialect: Dialect, prepared: &mut Vec<u8>) {
    if dialect == Dialect::Rfc9309 && is_unreserved(value) {
        prepared.push(value);
    } else {
        prepared.extend(percent_encode_byte(value).bytes());
    }
}

/// The byte of a `%xx` at the start of `text`.
pub fn encoded(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit =
        |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// Whether `byte` has the same meaning encoded and unencoded: RFC 3986 section 2.3.
pub fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

named_enum! {
    /// How percent-encodings and wildcards of a rule and a path are compared.
    #[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
    #[non_exhaustive]
    pub enum Dialect {
        /// As Google's open parser: nothing is decoded.
        #[default]
        Google = "google",
        /// As RFC 9309 section 2.2.2: unreserved characters are decoded first.
        Rfc9309 = "rfc9309",
    }
}

impl Dialect {
    /// The other one, for comparisons.
    #[doc(hidden)]
    pub fn other(self) -> Dialect {
        match self {
            Dialect::Google => Dialect::Rfc9309,
            Dialect::Rfc9309 => Dialect::Google,
        }
    }
}

impl FromStr for Dialect {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Dialect, &'static str> {
        let named = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == text);
        named.ok_or("write google or rfc9309")
    }
}

/// The longest scheme that is accepted, in bytes; the longest registered ones are shorter.
pub const SCHEME_BYTES_MAX: usize = 32;

/// The target of a request, as logged, without the escapes of the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target<'a> {
    /// Origin-form: a path and query. `//x/y` is a path, never a network-path reference.
    Path(&'a [u8]),
    /// Absolute-form, with its own origin. `path` may be empty or begin with `?` or `#`.
    Absolute {
        /// The part before `://`.
        scheme: &'a [u8],
        /// `[user@]host[:port]`.
        authority: &'a [u8],
        /// The rest.
        path: &'a [u8],
    },
    /// `*`, the authority of a CONNECT, or a text that cannot be compared with rules.
    NoPath,
}

impl<'a> Target<'a> {
    /// Determines the form of `target` in a request with `method`.
    #[inline]
    pub fn of(method: &[u8], target: &'a [u8]) -> Target<'a> {
        if method == b"CONNECT" {
            return Target::NoPath;
        }
        if target.first() == Some(&b'/') {
            return Target::Path(target);
        }
        let Some((scheme, rest)) = split_scheme(target) else { return Target::NoPath };
        let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
        Target::Absolute { scheme, authority: &rest[..end], path: &rest[end..] }
    }

    /// The unprepared path and query, if there is one.
    #[inline]
    pub fn path(self) -> Option<&'a [u8]> {
        match self {
            Target::Path(path) | Target::Absolute { path, .. } => Some(path),
            Target::NoPath => None,
        }
    }
}

/// Splits `scheme://rest`; `None` if `url` does not begin with a scheme and `://`.
pub fn split_scheme(url: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = url.iter().take(SCHEME_BYTES_MAX + 1).position(|&byte| byte == b':')?;
    let (scheme, rest) = (&url[..colon], &url[colon + 1..]);
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    if is_scheme { Some((scheme, rest.strip_prefix(b"//")?)) } else { None }
}

/// The unprepared path and query of `text`, a path or a URL; may be empty or begin with `?` or `#`.
///
/// A path begins with `/` or `//`. In any other text, the part before the first `/`, `?` or `#`
/// after a scheme is a host.
pub fn path_of(text: &[u8]) -> &[u8] {
    if text.first() == Some(&b'/') {
        return text;
    }
    let rest = split_scheme(text).map_or(text, |(_, rest)| rest);
    let start = rest.iter().position(|byte| b"/?#".contains(byte));
    &rest[start.unwrap_or(rest.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dialect: Dialect, target: &[u8], expected: &str) {
        let mut scratch = b"left over".to_vec();
        let prepared = prepare(target, dialect, &mut scratch);
        assert_eq!(String::from_utf8_lossy(prepared.as_bytes()), expected);
        let mut scratch = Vec::new();
        let again = prepare(expected.as_bytes(), dialect, &mut scratch).as_bytes().as_ptr();
        let is_borrowed = again == expected.as_ptr();
        // Decoding may create a new encoding (`%%341`); everything else is stable.
        assert!(is_borrowed || expected.contains("%%"), "{expected} is not normal");
    }

    #[test]
    fn preparing_for_google() {
        let cases: [(&[u8], &str); 14] = [
            (b"/a/../b//c/./", "/a/../b//c/./"),
            (b"//wp-admin/x", "//wp-admin/x"),
            (b"/%7e%2f%c3%A9", "/%7E%2F%C3%A9"),
            (b"/\x00\x1f \x7f\x80\xff", "/%00%1F%20%7F%80%FF"),
            (b"/!\"$&'()*+,-.;<=>?@[\\]^_`{|}~", "/!\"$&'()*+,-.;<=>?@[\\]^_`{|}~"),
            (b"/a#b#c", "/a"),
            (b"/a%2f#b", "/a%2F"),
            (b"/a%23b", "/a%23b"),
            (b"", "/"),
            (b"#x", "/"),
            (b"?a=%e9", "/?a=%E9"),
            (b"/%", "/%"),
            (b"/%a/%zz%4", "/%a/%zz%4"),
            (b"/%41%%41", "/%41%%41"),
        ];
        for (target, expected) in cases {
            check(Dialect::Google, target, expected);
        }
    }

    #[test]
    fn preparing_for_rfc9309() {
        let cases: [(&[u8], &str); 6] = [
            (b"/%62%61%7A", "/baz"),
            (b"/%2d%2E%5f%7e%30", "/-._~0"),
            (b"/%2f%3F%2a%24%25%20", "/%2F%3F%2A%24%25%20"),
            (b"/%e3%83%84 ", "/%E3%83%84%20"),
            (b"/%2541", "/%2541"),
            (b"/%%341", "/%41"),
        ];
        for (target, expected) in &cases[..5] {
            check(Dialect::Rfc9309, target, expected);
        }
        let (target, expected) = cases[5];
        assert_eq!(
            prepare(target, Dialect::Rfc9309, &mut Vec::new()).as_bytes(),
            expected.as_bytes()
        );
        assert_eq!(&*decode_unreserved(b"/%62%61%7a%2f%%4"), b"/baz%2F%%4");
    }

    /// One special piece at every position of targets of every length up to a limit.
    #[test]
    fn what_stays_as_it_is_is_what_changes_nothing() {
        let pieces = [
            "a", "#", "%", "%4", "%41", "%c3", "%2F", "%%41", " ", "\x7f", "ß", "?", "~", "!",
            "#%c3", "%C3#",
        ];
        for dialect in [Dialect::Google, Dialect::Rfc9309] {
            for length in 0..=70 {
                for at in 0..=length {
                    for piece in pieces {
                        let target =
                            ["/", &"x".repeat(at), piece, &"y".repeat(length - at)].concat();
                        let end = target.find('#').unwrap_or(target.len());
                        let mut expected = Vec::new();
                        push_normal(&target.as_bytes()[..end], dialect, &mut expected);
                        let mut scratch = Vec::new();
                        let prepared = prepare(target.as_bytes(), dialect, &mut scratch);
                        assert_eq!(prepared.as_bytes(), expected, "{target}");
                    }
                }
            }
        }
    }

    #[test]
    fn robots_txt_itself() {
        for dialect in [Dialect::Google, Dialect::Rfc9309] {
            let is =
                |target: &str| prepare(target.as_bytes(), dialect, &mut Vec::new()).is_robots_txt();
            for target in ["/robots.txt", "/robots.txt#x", "/robots.txt#ツ"] {
                assert!(is(target), "{target}");
            }
            for target in ["/robots.txt?", "/robots.txt?x=ツ", "/robots.txt?x#y"] {
                assert!(!is(target), "{target}");
            }
            for target in ["/Robots.txt", "/robots.txt/", "/robots.txt;x", "//robots.txt"] {
                assert!(!is(target), "{target}");
            }
            assert!(!is("/%72obots.txt") && !is("/folder/robots.txt") && !is("/robots.txt%3F"));
        }
    }

    #[test]
    fn paths_of_urls() {
        let cases = [
            ("", "/"),
            ("a", "/"),
            ("#/x", "/"),
            ("http://h#/a", "/"),
            ("h?a", "/?a"),
            ("h;p/x", "/;p/x"),
            ("//h/p", "/p"),
            ("///p", "/p"),
            ("/a://b/c", "/a://b/c"),
            ("foo:/bar", "/bar"),
            ("http://h", "/"),
            ("http://h/a?b#c", "/a?b"),
            ("http://h?a=http://x/y", "/?a=http://x/y"),
            ("http://h/a%2f/../ツ//b", "/a%2f/../ツ//b"),
            ("//", "/"),
            ("#", "/"),
            ("http://", "/"),
        ];
        for (url, expected) in cases {
            assert_eq!(&*of_url(url.as_bytes()), expected.as_bytes(), "{url}");
        }
    }

    #[test]
    fn a_path_stays_a_path() {
        assert_eq!(Target::of(b"GET", b"//wp-admin/x"), Target::Path(b"//wp-admin/x"));
        assert_eq!(Target::of(b"GET", b"/http://a/b"), Target::Path(b"/http://a/b"));
    }

    #[test]
    fn absolute_form_carries_its_origin() {
        let expected = Target::Absolute { scheme: b"http", authority: b"u@h:81", path: b"?q" };
        assert_eq!(Target::of(b"GET", b"http://u@h:81?q"), expected);
    }

    #[test]
    fn what_has_no_path_has_none() {
        for target in [b"*".as_slice(), b"", b"example.com:443", b"x/y", b"mailto:x"] {
            assert_eq!(Target::of(b"OPTIONS", target), Target::NoPath, "{target:?}");
        }
        assert_eq!(Target::of(b"CONNECT", b"/x"), Target::NoPath);
    }

    #[test]
    fn paths_of_paths_and_urls() {
        let cases = [
            ("/a?b#c", "/a?b#c"),
            ("//a/b", "//a/b"),
            ("https://a.example/b?c", "/b?c"),
            ("HTTP://u:p@a.example:81?b=/c", "?b=/c"),
            ("http://a.example", ""),
            ("a.example/b", "/b"),
            ("?b=http://a.example/", "?b=http://a.example/"),
            ("#b", "#b"),
            ("", ""),
            ("*", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(path_of(text.as_bytes()), expected.as_bytes(), "{text}");
        }
    }
}
