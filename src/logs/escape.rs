//! The escapes that servers write into fields.
//!
//! Apache (since 2.0.46) writes `\"`, `\\`, `\n` and the like, and `\xhh` for
//! other bytes; nginx writes `\xHH` for all of them.

use memchr::memchr;

/// How a field escapes bytes that it cannot contain.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Escaping {
    /// No escapes.
    #[default]
    None,
    /// A backslash, as in nginx and Apache.
    Backslash,
    /// A backslash, as in JSON (RFC 8259 section 7). `\xHH` is read too: nginx writes it if its
    /// configuration lacks `escape=json`.
    Json,
    /// As in JSON within a string of JSON.
    JsonTwice,
    /// Within quotes, `""` for a quote (RFC 4180 section 2).
    DoubledQuotes,
    /// `+` for a space, as in W3C extended logs; a `+` from the client looks the same.
    Plus,
    /// `%XX`, in addition to the encoding by the client.
    Percent,
    /// `%XX` of `%XX`: the user agents of CloudFront.
    PercentTwice,
    /// `#XX`, as HAProxy writes it: for `"`, `#` and bytes that are not printable ASCII; in
    /// captured headers also for `{`, `|` and `}` (its source, `hdr_encode_map` and
    /// `url_encode_map`).
    Hash,
    /// `%XX` for the characters `< > " # % { } | \ ^ ~ [ ] ` '`: the paths of CloudFront. It also
    /// encodes bytes that are not visible ASCII, which mean the same in either form.
    PercentUnsafe,
}

impl Escaping {
    /// Whether `raw` may contain escapes.
    #[inline]
    pub(crate) fn is_in(self, raw: &[u8]) -> bool {
        match self {
            Escaping::None => false,
            Escaping::Backslash | Escaping::Json | Escaping::JsonTwice => {
                memchr(b'\\', raw).is_some()
            }
            Escaping::DoubledQuotes => memchr(b'"', raw).is_some(),
            Escaping::Plus => memchr(b'+', raw).is_some(),
            Escaping::Percent | Escaping::PercentTwice | Escaping::PercentUnsafe => {
                memchr(b'%', raw).is_some()
            }
            Escaping::Hash => memchr(b'#', raw).is_some(),
        }
    }

    /// Appends `raw` to `out` with its escapes undone. Invalid escapes stay unchanged. The result
    /// is never longer than `raw`.
    pub(crate) fn undo(self, raw: &[u8], out: &mut Vec<u8>) {
        match self {
            Escaping::None => out.extend_from_slice(raw),
            Escaping::Backslash => undo_each(raw, b'\\', backslashed, out),
            Escaping::Json => undo_json(raw, out),
            Escaping::JsonTwice => {
                let mut once = Vec::new();
                undo_json(raw, &mut once);
                undo_json(&once, out);
            }
            Escaping::DoubledQuotes => undo_each(raw, b'"', doubled, out),
            Escaping::Plus => {
                out.extend(raw.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }));
            }
            Escaping::Percent => undo_each(raw, b'%', percented, out),
            Escaping::Hash => undo_each(raw, b'#', percented, out),
            Escaping::PercentUnsafe => undo_each(raw, b'%', percent_unsafe, out),
            Escaping::PercentTwice => {
                let start = out.len();
                undo_each(raw, b'%', percented, out);
                if memchr(b'%', &out[start..]).is_some() {
                    let once = out.split_off(start);
                    undo_each(&once, b'%', percented, out);
                }
            }
        }
    }
}

/// Replaces each escape that begins with `mark` and that `byte` can decode.
#[inline]
fn undo_each(
    mut raw: &[u8],
    mark: u8,
    byte: impl Fn(&[u8]) -> Option<(u8, usize)>,
    out: &mut Vec<u8>,
) {
    while let Some(at) = memchr(mark, raw) {
        out.extend_from_slice(&raw[..at]);
        let (byte, length) = byte(&raw[at..]).unwrap_or((mark, 1));
        out.push(byte);
        raw = &raw[at + length..];
    }
    out.extend_from_slice(raw);
}

/// The byte of an escape at the start of `raw`, and the escape's length.
fn backslashed(raw: &[u8]) -> Option<(u8, usize)> {
    let byte = match raw.get(1)? {
        b'x' => return Some((hex(*raw.get(2)?)? << 4 | hex(*raw.get(3)?)?, 4)),
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'v' => 0x0b,
        b'b' => 0x08,
        b'f' => 0x0c,
        &byte @ (b'"' | b'\\') => byte,
        _ => return None,
    };
    Some((byte, 2))
}

fn doubled(raw: &[u8]) -> Option<(u8, usize)> {
    raw.starts_with(b"\"\"").then_some((b'"', 2))
}

/// The byte of a mark and two hexadecimal digits, and the length of three.
fn percented(raw: &[u8]) -> Option<(u8, usize)> {
    Some((hex(*raw.get(1)?)? << 4 | hex(*raw.get(2)?)?, 3))
}

fn percent_unsafe(raw: &[u8]) -> Option<(u8, usize)> {
    percented(raw).filter(|(byte, _)| b"<>\"#%{}|\\^~[]`'".contains(byte))
}

fn undo_json(mut raw: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr(b'\\', raw) {
        out.extend_from_slice(&raw[..at]);
        raw = &raw[at..];
        let length = match raw.get(1) {
            Some(b'u') => unicode(raw).map(|(scalar, length)| {
                out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
                length
            }),
            Some(b'/') => {
                out.push(b'/');
                Some(2)
            }
            _ => backslashed(raw).map(|(byte, length)| {
                out.push(byte);
                length
            }),
        };
        let length = length.unwrap_or_else(|| {
            out.push(b'\\');
            1
        });
        raw = &raw[length..];
    }
    out.extend_from_slice(raw);
}

/// `\uXXXX`, or two of them for a surrogate pair. A lone surrogate is U+FFFD.
fn unicode(raw: &[u8]) -> Option<(char, usize)> {
    let units = [Some(unit(raw)?), unit(&raw[6..])];
    let first = char::decode_utf16(units.into_iter().flatten()).next()?;
    Some(first.map_or((char::REPLACEMENT_CHARACTER, 6), |scalar| (scalar, 6 * scalar.len_utf16())))
}

fn unit(raw: &[u8]) -> Option<u16> {
    let digits = raw.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |sum, &digit| Some(sum << 4 | u16::from(hex(digit)?)))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(escaping: Escaping, raw: &str, expected: &[u8]) {
        let mut out = b"before".to_vec();
        escaping.undo(raw.as_bytes(), &mut out);
        let out = out.strip_prefix(b"before").unwrap();
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
        assert!(out.len() <= raw.len());
        assert!(escaping.is_in(raw.as_bytes()) || out == raw.as_bytes());
    }

    #[test]
    fn escapes_of_apache_and_nginx() {
        let check = |raw, expected| check(Escaping::Backslash, raw, expected);
        check(r#"() { :;}; echo \"x\""#, br#"() { :;}; echo "x""#);
        check(r"\x16\x03\x01", b"\x16\x03\x01");
        check(r"\x22\x5C\xE9\xe9", b"\"\\\xe9\xe9");
        check(r"a\\nb\n\t\r\v\b\f", b"a\\nb\n\t\r\x0b\x08\x0c");
    }

    #[test]
    fn what_is_no_escape_stays() {
        for raw in [r"\q\x4g\xg4\u0041", r"end\", r"end\x", r"end\x4", ""] {
            check(Escaping::Backslash, raw, raw.as_bytes());
        }
        for raw in [r"\q\u00", r"\u00g0", r"end\u", r"end\"] {
            check(Escaping::Json, raw, raw.as_bytes());
        }
        for raw in ["%", "%4", "%zz", "100%"] {
            check(Escaping::Percent, raw, raw.as_bytes());
        }
    }

    #[test]
    fn escapes_of_json() {
        let check = |raw, expected| check(Escaping::Json, raw, expected);
        check(r#"\"a\\b\/c\n"#, b"\"a\\b/c\n");
        check(r"\u0041\u00e9\u20AC", "A\u{e9}\u{20ac}".as_bytes());
        check(r"\ud83d\ude00", "\u{1f600}".as_bytes());
        check(r"\ud83d\ud83d", "\u{fffd}\u{fffd}".as_bytes());
        check(r"\ude00x\ud83d", "\u{fffd}x\u{fffd}".as_bytes());
        check(r"\x22\xC3", b"\"\xc3");
    }

    #[test]
    fn the_others() {
        check(Escaping::None, "a\\n", b"a\\n");
        check(Escaping::DoubledQuotes, "a \"\"b\"\" \"", b"a \"b\" \"");
        check(Escaping::Plus, "a+b++c", b"a b  c");
        check(Escaping::Percent, "%2520%41", b"%20A");
        check(Escaping::Hash, "a#22#7Cb#zz#", b"a\"|b#zz#");
        check(Escaping::PercentTwice, "a%2520b%20c", b"a b c");
        check(Escaping::PercentUnsafe, "/a%2520b%252C%20c%2525%2C", b"/a%20b%2C%20c%25%2C");
        check(Escaping::PercentUnsafe, "/%7Ebob/%257e%5b%5D%27", b"/~bob/%7e[]'");
    }
}
