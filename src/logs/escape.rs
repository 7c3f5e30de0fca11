//! The escapes that servers write into quoted fields.
//!
//! Apache (since 2.0.46) writes `\"`, `\\`, `\n` and the like, and `\xhh` for
//! other bytes; nginx writes `\xHH` for all of them.

use memchr::memchr;

/// Appends `raw` to `out` with its escapes undone. What is no escape stays as it
/// is, backslash included.
pub fn unescape(mut raw: &[u8], out: &mut Vec<u8>) {
    while let Some(backslash) = memchr(b'\\', raw) {
        out.extend_from_slice(&raw[..backslash]);
        let (byte, length) = escaped_byte(&raw[backslash..]).unwrap_or((b'\\', 1));
        out.push(byte);
        raw = &raw[backslash + length..];
    }
    out.extend_from_slice(raw);
}

/// The byte that an escape at the start of `raw` means, and the escape's length.
fn escaped_byte(raw: &[u8]) -> Option<(u8, usize)> {
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

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, expected: &[u8]) {
        let mut out = Vec::new();
        unescape(raw.as_bytes(), &mut out);
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }

    #[test]
    fn escapes_of_apache_and_nginx() {
        check(r#"() { :;}; echo \"x\""#, br#"() { :;}; echo "x""#);
        check(r"\x16\x03\x01", b"\x16\x03\x01");
        check(r"\x22\x5C\xE9\xe9", b"\"\\\xe9\xe9");
        check(r"a\\nb\n\t\r\v\b\f", b"a\\nb\n\t\r\x0b\x08\x0c");
    }

    #[test]
    fn what_is_no_escape_stays() {
        check(r"\q\x4g\xg4\u0041", br"\q\x4g\xg4\u0041");
        check(r"end\", br"end\");
        check(r"end\x", br"end\x");
        check(r"end\x4", br"end\x4");
        check("", b"");
    }
}
