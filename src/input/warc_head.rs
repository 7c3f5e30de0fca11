//! Parses the head of a WARC record or of an HTTP response: a first line, and named fields.

use std::io::{self, BufRead, Read};

/// What every record begins with.
pub(crate) const RECORD_START: &[u8] = b"WARC/";

/// The fields that a record has once.
const ONCE: [&str; 4] = ["warc-type", "warc-date", "warc-record-id", "content-length"];

/// The most bytes of a head. Servers and crawlers have lower limits.
pub(super) const HEAD_BYTES_MAX: usize = 256 << 10;

/// A parsed head.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Head {
    /// `WARC/1.0`, `HTTP/1.1 200 OK`, without the line end.
    pub first: Vec<u8>,
    /// Names in lower case; trimmed values.
    fields: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Why there is no head.
#[derive(Debug)]
pub(crate) enum NoHead {
    /// It has no final blank line, or is far too long.
    Endless,
    /// It was cut: this line begins the next record.
    Cut(Vec<u8>),
    /// It was cut within a line, and goes on with the head of the next record.
    Joined,
    /// It could not be read.
    Io(io::Error),
}

impl Head {
    /// Reads the fields after the line `first`, up to the blank line.
    pub(crate) fn read(first: Vec<u8>, input: &mut impl BufRead) -> Result<Head, NoHead> {
        Head::read_until(first, input, |_| false)
    }

    /// The same of a record, whose `first` line begins with [`RECORD_START`].
    pub(crate) fn of_record(first: Vec<u8>, input: &mut impl BufRead) -> Result<Head, NoHead> {
        let head = Head::read_until(first, input, |line| line.starts_with(RECORD_START))?;
        let is_joined = ONCE.iter().any(|name| head.all(name).nth(1).is_some());
        if is_joined { Err(NoHead::Joined) } else { Ok(head) }
    }

    /// Reads up to the blank line, or to a line that `is_next` says is not of this head.
    fn read_until(
        first: Vec<u8>,
        input: &mut impl BufRead,
        is_next: impl Fn(&[u8]) -> bool,
    ) -> Result<Head, NoHead> {
        let mut head = Head { first, fields: Vec::new() };
        let mut left = HEAD_BYTES_MAX;
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = line_into(input, left, &mut line).map_err(NoHead::Io)?;
            left -= read;
            match line.strip_suffix(b"\n") {
                None => return Err(NoHead::Endless),
                Some(text) => match text.strip_suffix(b"\r").unwrap_or(text) {
                    b"" => return Ok(head),
                    text if is_next(text) => return Err(NoHead::Cut(line)),
                    text => head.add(text),
                },
            }
        }
    }

    /// The first value of the field `name`, which must be in lower case.
    pub(crate) fn field(&self, name: &str) -> Option<&[u8]> {
        let named = self.fields.iter().find(|(field, _)| field == name.as_bytes());
        named.map(|(_, value)| value.as_slice())
    }

    /// All values of the field `name`, which must be in lower case.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let named = self.fields.iter().filter(move |(field, _)| field == name.as_bytes());
        named.map(|(_, value)| value.as_slice())
    }

    /// As [`Head::field`], if it is text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.field(name)?).ok()
    }

    /// Adds a field; a line that is not a field is ignored, as in browsers.
    fn add(&mut self, line: &[u8]) {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            if let Some((_, value)) = self.fields.last_mut() {
                value.push(b' ');
                value.extend_from_slice(line.trim_ascii());
            }
            return;
        }
        if let Some(colon) = memchr::memchr(b':', line) {
            let name = line[..colon].trim_ascii().to_ascii_lowercase();
            self.fields.push((name, line[colon + 1..].trim_ascii().to_vec()));
        }
    }
}

/// Appends a line with its end to `line`, at most `limit` bytes, and returns their number.
pub(crate) fn line_into(
    input: &mut impl BufRead,
    limit: usize,
    line: &mut Vec<u8>,
) -> io::Result<usize> {
    input.by_ref().take(limit as u64).read_until(b'\n', line)
}

/// The status of `HTTP/1.1 200 OK`.
pub(crate) fn status(first: &[u8]) -> Option<u16> {
    let rest = first.strip_prefix(b"HTTP/")?;
    let mut words = rest.split(|byte| *byte == b' ').skip(1).filter(|word| !word.is_empty());
    let word = words.next()?.trim_ascii();
    let status: u16 =
        std::str::from_utf8(word).ok().filter(|word| word.len() == 3)?.parse().ok()?;
    (status >= 100).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_they_come() {
        let text = b"A: 1\r\nb : 2 \n c\r\nnonsense\r\na:3\r\nX:\xff\r\n\r\nbody";
        let head = Head::read(b"first".to_vec(), &mut &text[..]).unwrap();
        assert_eq!(head.all("a").collect::<Vec<_>>(), [b"1", b"3"]);
        assert_eq!(head.text("b"), Some("2 c"));
        assert_eq!((head.text("x"), head.field("x")), (None, Some(&b"\xff"[..])));
        assert!(matches!(Head::read(Vec::new(), &mut &b"a: b\r\n"[..]), Err(NoHead::Endless)));
        let cut = Head::of_record(Vec::new(), &mut &b"a: WARC/1.0\r\nWARC/1.1\r\nb: c\r\n\r\n"[..]);
        assert!(matches!(cut, Err(NoHead::Cut(line)) if line == b"WARC/1.1\r\n"));
        let joined = b"WARC-Type: a\r\nWARC-DaWARC/1.0\r\nWARC-Type: a\r\n\r\n";
        assert!(matches!(Head::of_record(Vec::new(), &mut &joined[..]), Err(NoHead::Joined)));
        let long = [b"a: b\r\n".repeat(1 << 17), b"\r\n".to_vec()].concat();
        assert!(matches!(Head::read(Vec::new(), &mut &long[..]), Err(NoHead::Endless)));
    }

    #[test]
    fn statuses() {
        for (line, expected) in [
            ("HTTP/1.1 200 OK", Some(200)),
            ("HTTP/1.0 404", Some(404)),
            ("HTTP/2 301 ", Some(301)),
            ("HTTP/1.1  503 x", Some(503)),
            ("HTTP/1.1 20 OK", None),
            ("HTTP/1.1 099 OK", None),
            ("HTTP/1.1 +20 OK", None),
            ("HTTP/1.1", None),
            ("ICY 200 OK", None),
            ("", None),
        ] {
            assert_eq!(status(line.as_bytes()), expected, "{line}");
        }
    }
}
