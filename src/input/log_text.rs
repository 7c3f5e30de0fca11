//! The text of a log: UTF-8, with lines that end in LF or CR LF.
//!
//! Almost every log is such a text and is given as it is. Three kinds are not, and are changed while
//! they are read. A log that begins with the byte order mark of UTF-16 is decoded. A WARC file gets a
//! line for each record, see `src/input/warc_lines.rs`. And a log whose lines end in CR alone gets LF
//! instead: one whose first [`HEAD_BYTES_MAX`] bytes have a CR and no LF. If LF follow in such a log,
//! they end lines, too. In all other logs, a CR ends no line.

use memchr::{memchr, memchr_iter};

use super::{open::Opened, raw_reader::ReadError, utf16::Utf16, warc_lines::WarcLines};

/// How far an LF is looked for.
const HEAD_BYTES_MAX: usize = 256 << 10;

/// The bytes that are read at once from a log that is changed.
const STEP_BYTES: usize = 64 << 10;

/// A log as a text, read front to back.
pub(crate) struct LogText {
    opened: Opened,
    form: Form,
    /// Read from the source, before any change.
    bytes_read: u64,
    /// Text that was not given on before `start`.
    ready: Vec<u8>,
    start: usize,
    /// How the source ended, which is given after `ready`.
    end: Option<Result<(), ReadError>>,
}

/// What is changed in a log.
enum Form {
    /// Not known before the first bytes.
    Unknown,
    /// Nothing.
    Plain,
    /// The encoding, the line ends, or both.
    Changed(Change),
    /// Records become lines.
    Warc(Box<WarcLines>),
}

#[derive(Default)]
struct Change {
    utf16: Option<Utf16>,
    /// `None` if line ends stay.
    line_ends: Option<LineEnds>,
}

/// Turns each CR into LF, but not before an LF.
#[derive(Default)]
struct LineEnds {
    /// Whether the last byte so far was a CR; the next one decides.
    has_cr: bool,
}

impl LogText {
    /// The text of a log.
    pub(crate) fn of_log(opened: Opened) -> LogText {
        LogText { form: Form::Unknown, ..LogText::unchanged(opened) }
    }

    /// The bytes as they are.
    pub(crate) fn unchanged(opened: Opened) -> LogText {
        let (ready, form) = (Vec::new(), Form::Plain);
        LogText { opened, form, bytes_read: 0, ready, start: 0, end: None }
    }

    /// The opened source.
    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The bytes read so far, before any change.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Fills the start of `out`, which is not empty, and returns the number of bytes; 0 only at the
    /// end. After damage every further call returns the same damage.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        if let Form::Unknown = self.form {
            let count = self.read_source(out)?;
            let first = &out[..count];
            let may_change = Utf16::may_begin(first) || WarcLines::may_begin(first);
            if count == 0 || (!may_change && has_lf(first)) {
                self.form = Form::Plain;
                return Ok(count);
            }
            self.examine(first.to_vec());
        }
        loop {
            let ready = &self.ready[self.start..];
            if !ready.is_empty() {
                let count = ready.len().min(out.len());
                out[..count].copy_from_slice(&ready[..count]);
                self.start += count;
                return Ok(count);
            }
            self.ready.clear();
            self.start = 0;
            if let Some(end) = self.end {
                return end.map(|()| 0);
            }
            if matches!(self.form, Form::Unknown | Form::Plain) {
                self.ready = Vec::new();
                return self.read_source(out);
            }
            let text = self.read_text();
            self.add(&text);
        }
    }

    /// Decides what is changed, from the bytes after `first`, too.
    fn examine(&mut self, first: Vec<u8>) {
        let mut head = first;
        while (head.len() < Utf16::MARK_BYTES || WarcLines::may_become(&head)) && self.end.is_none()
        {
            head.extend(self.read_step());
        }
        if WarcLines::may_begin(&head) {
            self.form = Form::Warc(Box::default());
            self.add(&head);
            return;
        }
        let mut utf16 = Utf16::of(&head);
        if let Some(utf16) = &mut utf16 {
            let mut text = Vec::new();
            utf16.decode(&head[Utf16::MARK_BYTES..], &mut text);
            head = text;
        }
        self.form = Form::Changed(Change { utf16, line_ends: None });
        while !has_lf(&head) && head.len() < HEAD_BYTES_MAX && self.end.is_none() {
            head.extend(self.read_text());
        }
        // A CR at the end may be the first half of CR LF.
        let looked_at = head.len().min(HEAD_BYTES_MAX);
        let cr = memchr(b'\r', &head[..looked_at]).filter(|cr| cr + 1 < looked_at);
        if let Form::Changed(change) = &mut self.form {
            change.line_ends = cr.filter(|_| !has_lf(&head)).map(|_| LineEnds::default());
            if change.utf16.is_none() && change.line_ends.is_none() {
                self.form = Form::Plain;
            }
        }
        self.add(&head);
    }

    /// Adds decoded `text` to what is ready.
    fn add(&mut self, text: &[u8]) {
        match &mut self.form {
            Form::Changed(Change { line_ends: Some(line_ends), .. }) => {
                line_ends.add(text, self.end.is_some(), &mut self.ready);
            }
            Form::Warc(lines) => {
                lines.add(text, &mut self.ready);
                if let Some(end) = self.end {
                    lines.end(end.is_ok(), &mut self.ready);
                }
            }
            _ => self.ready.extend_from_slice(text),
        }
    }

    /// The next decoded text; empty at the end, and maybe before.
    fn read_text(&mut self) -> Vec<u8> {
        let bytes = self.read_step();
        let Form::Changed(Change { utf16: Some(utf16), .. }) = &mut self.form else { return bytes };
        let mut text = Vec::with_capacity(bytes.len());
        utf16.decode(&bytes, &mut text);
        if self.end == Some(Ok(())) {
            utf16.end(&mut text);
        }
        text
    }

    /// The next bytes of the source; empty at its end.
    fn read_step(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; STEP_BYTES];
        let read = self.read_source(&mut bytes);
        bytes.truncate(read.unwrap_or_default());
        match read {
            Ok(0) => self.end = Some(Ok(())),
            Ok(_) => {}
            Err(damage) => self.end = Some(Err(damage)),
        }
        bytes
    }

    fn read_source(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        let count = self.opened.read(out)?;
        self.bytes_read += count as u64;
        Ok(count)
    }
}

/// Whether a log that begins with `head` has an LF in its first bytes. More of it, as different
/// reads give, changes nothing.
fn has_lf(head: &[u8]) -> bool {
    memchr(b'\n', &head[..head.len().min(HEAD_BYTES_MAX)]).is_some()
}

impl LineEnds {
    /// Adds the next `text` to `out`; `is_end` if nothing follows.
    fn add(&mut self, text: &[u8], is_end: bool, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.has_cr) {
            out.push(b'\r');
        }
        let from = out.len().saturating_sub(1);
        out.extend_from_slice(text);
        let crs: Vec<usize> = memchr_iter(b'\r', &out[from..]).map(|at| from + at).collect();
        for cr in crs {
            match out.get(cr + 1) {
                Some(b'\n') => {}
                None if !is_end => self.has_cr = true,
                Some(_) | None => out[cr] = b'\n',
            }
        }
        if self.has_cr {
            out.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::input::compression::tests::{ALL, member};

    /// The text of `bytes`, read `step` bytes at a time.
    fn text(bytes: Vec<u8>, step: usize) -> (Vec<u8>, Option<ReadError>) {
        let opened = Opened::new(Box::new(Cursor::new(bytes)), None, &Default::default());
        let mut text = LogText::of_log(opened);
        let (mut out, mut buffer) = (Vec::new(), vec![0; step]);
        loop {
            match text.read(&mut buffer) {
                Ok(0) => return (out, None),
                Ok(count) => out.extend_from_slice(&buffer[..count]),
                Err(damage) => {
                    assert_eq!(text.read(&mut buffer), Err(damage), "damage stays");
                    return (out, Some(damage));
                }
            }
        }
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &[u8]) {
        for step in [1, 2, 3, 1000, 1 << 20] {
            let (found, damage) = text(bytes.to_vec(), step);
            assert_eq!(damage, None);
            let cut =
                |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
            assert!(found == expected, "{:?} instead of {:?}", cut(&found), cut(expected));
        }
    }

    fn utf16(text: &str, is_big_endian: bool) -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        let bytes = |unit: u16| if is_big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
        units.flat_map(bytes).collect()
    }

    #[test]
    fn usual_logs_stay_as_they_are() {
        for log in ["", "a", "\n", "a\nb", "a\r\nb\r\n", "a\rb\nc\rd\n", "\r", "a\r", "\r\n"] {
            check(log.as_bytes(), log.as_bytes());
        }
        check(b"\xff", b"\xff");
        check(b"\xff\xfd\n", b"\xff\xfd\n");
        check(b"\xfe\n", b"\xfe\n");
        let long = vec![b'x'; 2 * HEAD_BYTES_MAX];
        check(&long, &long);
    }

    #[test]
    fn cr_alone_ends_the_lines_of_a_log_without_lf() {
        check(b"a\rb\rc", b"a\nb\nc");
        check(b"a\rb\r", b"a\nb\n");
        check(b"\r\ra", b"\n\na");
        let lines: Vec<String> = (0..60_000).map(|n| format!("line {n}")).collect();
        let (cr, lf) = (lines.join("\r"), lines.join("\n"));
        assert!(cr.len() > 2 * HEAD_BYTES_MAX);
        check(cr.as_bytes(), lf.as_bytes());
        // Later LF and CR LF are line ends, too.
        for end in ["\n", "\r\n"] {
            let (mixed, expected) = (format!("{cr}{end}x\ry"), format!("{lf}{end}x\ny"));
            check(mixed.as_bytes(), expected.as_bytes());
        }
        // An LF in the beginning makes it a usual log.
        let usual = format!("a\rb\n{cr}");
        check(usual.as_bytes(), usual.as_bytes());
        // Wherever it is cut, CR LF stays one line end.
        let start = format!("a\r{}", "x".repeat(HEAD_BYTES_MAX - 4));
        check(format!("{start}\r\nb\rc").as_bytes(), format!("{start}\r\nb\rc").as_bytes());
        for at in HEAD_BYTES_MAX - 1..HEAD_BYTES_MAX + 2 {
            let start = format!("a\r{}", "x".repeat(at - 2));
            let (log, text) =
                (format!("{start}\r\nb\rc"), format!("{}\r\nb\nc", start.replace('\r', "\n")));
            check(log.as_bytes(), text.as_bytes());
        }
    }

    #[test]
    fn utf16_with_a_byte_order_mark_is_decoded() {
        for is_big_endian in [false, true] {
            for log in ["", "a\nb\r\n", "caf\u{e9} \u{1f577} \u{ffff}\n", "\u{20ac}"] {
                check(&utf16(log, is_big_endian), log.as_bytes());
            }
            check(&utf16("a\rb\rc", is_big_endian), b"a\nb\nc");
            let long: String = (0..90_000).map(|n| format!("line {n} \u{1f577}\n")).collect();
            check(&utf16(&long, is_big_endian), long.as_bytes());
        }
        let long: String = (0..9_000).map(|n| format!("line {n}\n")).collect();
        for kind in ALL {
            check(&member(kind, &utf16(&long, false)), long.as_bytes());
        }
    }

    #[test]
    fn damage_comes_after_the_text_before_it() {
        let cut = |bytes: &[u8]| {
            let gz = member(ALL[0], bytes);
            text(gz[..gz.len() - 8].to_vec(), 7)
        };
        for (log, expected) in [
            (b"a\rb\rc\r".to_vec(), "a\nb\nc\n"),
            (utf16("a\nb", true), "a\nb"),
            (b"a\nb".to_vec(), "a\nb"),
        ] {
            let (text, damage) = cut(&log);
            assert_eq!((&text[..], damage.is_some()), (expected.as_bytes(), true));
        }
    }
}
