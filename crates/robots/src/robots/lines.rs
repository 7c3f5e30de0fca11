//! robots.txt cut into lines, as Google's parser cuts it.
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
}
