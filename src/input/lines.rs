//! Bytes to lines, the same lines wherever the bytes were cut into chunks.

use memchr::memchr;

/// The longest line that is parsed. Servers limit request lines to some kilobytes; longer lines are
/// rejected.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// The lines of `bytes`, without LF and without one CR before it. A line over
/// the limit is given cut to one byte more than the limit.
pub fn lines(bytes: &[u8]) -> LineReader<'_> {
    LineReader { rest: bytes }
}

/// See [`lines`].
#[derive(Clone, Debug)]
pub struct LineReader<'a> {
    rest: &'a [u8],
}

impl<'a> LineReader<'a> {
    /// The text of the lines that were not given yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for LineReader<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = match memchr(b'\n', self.rest) {
            Some(lf) => (&self.rest[..lf], &self.rest[lf + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        Some(shorten(line))
    }
}

/// The bytes of `bytes` that [`lines`] leaves out, because their lines are over the limit.
pub(crate) fn excess_bytes(bytes: &[u8]) -> u64 {
    let length = |line: &[u8]| line.len().saturating_sub(LINE_BYTES_MAX + 1) as u64;
    bytes.split(|&byte| byte == b'\n').map(length).sum()
}

/// A line as it is given, from all that is before its LF. A line so long that even without CR it is over the limit is cut before its
/// CR is looked for, as its end may be missing from the chunk.
#[inline]
pub(crate) fn shorten(line: &[u8]) -> &[u8] {
    if line.len() > LINE_BYTES_MAX + 1 {
        return &line[..LINE_BYTES_MAX + 1];
    }
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &[&[u8]]) {
        assert_eq!(lines(bytes).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn ends_lines_at_lf_and_drops_one_cr() {
        check(b"", &[]);
        check(b"\n", &[b""]);
        check(b"a\nb", &[b"a", b"b"]);
        check(b"a\r\n\r\n\r\r\nb\rc\n", &[b"a", b"", b"\r", b"b\rc"]);
        check(b"a\r", &[b"a"]);
    }

    #[test]
    fn cuts_only_lines_over_the_limit() {
        let line = |length: usize, end: &str| [&vec![b'x'; length][..], end.as_bytes()].concat();
        let length = |bytes: &[u8]| lines(bytes).map(<[u8]>::len).collect::<Vec<_>>();
        assert_eq!(length(&line(LINE_BYTES_MAX, "\r\n")), [LINE_BYTES_MAX]);
        assert_eq!(length(&line(LINE_BYTES_MAX + 1, "\r\n")), [LINE_BYTES_MAX + 1]);
        assert_eq!(length(&line(LINE_BYTES_MAX, "\rx\n")), [LINE_BYTES_MAX + 1]);
        assert_eq!(length(&line(3 * LINE_BYTES_MAX, "\n")), [LINE_BYTES_MAX + 1]);
        assert_eq!(excess_bytes(&line(LINE_BYTES_MAX + 1, "\n")), 0);
        let three = [line(LINE_BYTES_MAX + 3, "\n"), line(9, "\n"), line(LINE_BYTES_MAX + 2, "")];
        assert_eq!(excess_bytes(&three.concat()), 3);
    }
}
