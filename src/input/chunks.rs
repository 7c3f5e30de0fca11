//! Splits decompressed bytes into chunks of whole lines, in bounded memory.
//!
//! A worker owns a chunk. Any chunk size gives the same lines.

use memchr::{memchr, memrchr};

use super::content_hash::{ContentSketch, Sketcher};
use super::lines::{LINE_BYTES_MAX, excess_bytes};
use super::{log_text::LogText, open::Opened, raw_reader::ReadError, source::FileId};

/// The bytes at the beginning of a file that usually show its format.
pub const HEAD_BYTES_MAX: usize = 256 << 10;

/// The kept bytes of a line: enough to see that it is too long, with or without a CR at its end.
const LINE_BYTES_KEPT: usize = LINE_BYTES_MAX + 2;

/// The smallest read if a line is longer than a chunk.
const STEP_BYTES: usize = 64 << 10;

/// How many bytes are looked at first to detect a format.
const HEAD_STEP_BYTES: usize = 16 << 10;

/// Whole lines of one file.
#[derive(Debug)]
pub struct Chunk {
    /// Lines with their LF; only the last line of a file may lack it. A line over the limit is
    /// always the last line of its chunk.
    pub bytes: Vec<u8>,
    /// The file of the lines.
    pub file: FileId,
    /// The number of the first line, from 1.
    pub first_line: u64,
    /// 0 for the first chunk of the file, then 1, and so on.
    pub sequence: u64,
}

/// How a file ended.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Ending {
    /// Lines in the chunks that were given.
    pub lines: u64,
    /// Decompressed bytes that were read, lines or not.
    pub bytes: u64,
    /// Bytes that were read, as they lie on disk.
    pub size_bytes: u64,
    /// The damage that ended the read; `None` if the file is whole.
    pub damage: Option<ReadError>,
    /// Whether damage cut a line in two. Its first half is in no chunk and not
    /// in `lines`.
    pub partial_line: bool,
    /// Whether the file is undamaged, but lacks the empty block that ends blocked gzip.
    pub may_be_cut: bool,
    /// Bytes of lines over the limit that [`lines`](crate::input::lines::lines) does not give.
    pub cut_bytes: u64,
}

/// The chunks of one file, in order.
pub struct Chunks {
    file: FileId,
    ahead: Ahead,
    chunk_bytes: usize,
    /// The start of an unfinished line.
    carry: Vec<u8>,
    next_line: u64,
    sequence: u64,
    partial_line: bool,
    cut_bytes: u64,
}

impl Chunks {
    /// Chunks of about `chunk_bytes`; more where a line is longer. Lines end in LF.
    pub fn new(file: FileId, opened: Opened, chunk_bytes: usize) -> Chunks {
        Chunks::of_text(file, LogText::unchanged(opened), chunk_bytes)
    }

    /// Those of a log, whose lines may also end in CR alone, or be encoded in UTF-16: see
    /// `src/input/log_text.rs`.
    pub(crate) fn of_log(file: FileId, opened: Opened, chunk_bytes: usize) -> Chunks {
        Chunks::of_text(file, LogText::of_log(opened), chunk_bytes)
    }

    fn of_text(file: FileId, text: LogText, chunk_bytes: usize) -> Chunks {
        Chunks {
            file,
            ahead: Ahead::new(text),
            chunk_bytes: chunk_bytes.max(1),
            carry: Vec::new(),
            next_line: 1,
            sequence: 0,
            partial_line: false,
            cut_bytes: 0,
        }
    }

    /// The whole lines in the first bytes of the file, at most so many, to detect its format. Call it before the
    /// first chunk; it consumes nothing.
    pub fn head(&mut self, bytes_max: usize) -> &[u8] {
        let ended = self.ahead.extend_to(bytes_max);
        let bytes = self.ahead.unread();
        let bytes = &bytes[..bytes.len().min(bytes_max)];
        let ended = ended.filter(|_| bytes.len() == self.ahead.unread().len());
        match ended {
            Some(Ok(())) => bytes,
            _ => &bytes[..memrchr(b'\n', bytes).map_or(0, |lf| lf + 1)],
        }
    }

    /// The next chunk, in `buffer`, which may be that of an earlier chunk. `None` at the end, see
    /// [`Chunks::ending`].
    pub fn next_chunk(&mut self, mut buffer: Vec<u8>) -> Option<Chunk> {
        let carried = std::mem::take(&mut self.carry);
        let mut filled = carried.len();
        // A short file needs no large buffer, which would be filled with zeros first.
        let rest = self.ahead.end.map_or(usize::MAX, |_| filled + self.ahead.unread().len() + 1);
        let mut wanted = self.chunk_bytes.min(rest).max(filled + 1);
        buffer.resize(wanted, 0);
        buffer[..filled].copy_from_slice(&carried);
        self.carry = carried;
        self.carry.clear();
        loop {
            let ended = self.ahead.fill(&mut buffer, &mut filled);
            if let Some(ended) = ended {
                return self.last_chunk(buffer, filled, ended);
            }
            if let Some(lf) = memrchr(b'\n', &buffer) {
                self.carry.extend_from_slice(&buffer[lf + 1..]);
                buffer.truncate(lf + 1);
                return Some(self.chunk(buffer));
            }
            if filled >= LINE_BYTES_KEPT {
                return self.cut_line(buffer);
            }
            wanted = (wanted * 2).max(STEP_BYTES);
            buffer.resize(wanted, 0);
        }
    }

    /// How the file ended; valid after the last chunk.
    pub fn ending(&self) -> Ending {
        Ending {
            lines: self.next_line - 1,
            bytes: self.ahead.text.bytes_read(),
            size_bytes: self.ahead.text.opened().size_bytes(),
            damage: self.ahead.end.and_then(Result::err),
            partial_line: self.partial_line,
            may_be_cut: self.ahead.text.opened().may_be_cut(),
            cut_bytes: self.cut_bytes,
        }
    }

    /// A sketch of all text that was read.
    pub(crate) fn sketch(&self) -> Option<ContentSketch> {
        self.ahead.sketcher.sketch()
    }

    fn last_chunk(
        &mut self,
        mut buffer: Vec<u8>,
        filled: usize,
        ended: Result<(), ReadError>,
    ) -> Option<Chunk> {
        buffer.truncate(filled);
        if ended.is_err() {
            let whole = memrchr(b'\n', &buffer).map_or(0, |lf| lf + 1);
            self.partial_line |= whole < filled;
            buffer.truncate(whole);
        }
        if buffer.is_empty() { None } else { Some(self.chunk(buffer)) }
    }

    /// `buffer` contains only the start of a line over the limit.
    fn cut_line(&mut self, mut buffer: Vec<u8>) -> Option<Chunk> {
        let cut_bytes = (buffer.len() - LINE_BYTES_KEPT) as u64 + self.ahead.skip_to_lf();
        buffer.truncate(LINE_BYTES_KEPT);
        if self.ahead.take_lf() {
            buffer.push(b'\n');
        } else if matches!(self.ahead.end, Some(Err(_))) {
            self.partial_line = true;
            return None;
        }
        self.cut_bytes += cut_bytes;
        Some(self.chunk(buffer))
    }

    fn chunk(&mut self, bytes: Vec<u8>) -> Chunk {
        if bytes.len() > LINE_BYTES_MAX + 1 {
            self.cut_bytes += excess_bytes(&bytes);
        }
        let lfs = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        let lines = lfs + u64::from(bytes.last() != Some(&b'\n'));
        let chunk =
            Chunk { file: self.file, first_line: self.next_line, sequence: self.sequence, bytes };
        self.next_line += lines;
        self.sequence += 1;
        chunk
    }
}

/// An opened source that can be looked into before it is read.
struct Ahead {
    text: LogText,
    /// Read from the source; before `start` also given on.
    bytes: Vec<u8>,
    start: usize,
    sketcher: Sketcher,
    /// Set once the source has ended, well or not.
    end: Option<Result<(), ReadError>>,
}

impl Ahead {
    fn new(text: LogText) -> Ahead {
        Ahead { text, bytes: Vec::new(), start: 0, sketcher: Sketcher::default(), end: None }
    }

    fn unread(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Reads until `buffer` is full; returns how the source ended, if it ended before.
    fn fill(&mut self, buffer: &mut [u8], filled: &mut usize) -> Option<Result<(), ReadError>> {
        let count = self.unread().len().min(buffer.len() - *filled);
        buffer[*filled..*filled + count].copy_from_slice(&self.unread()[..count]);
        self.start += count;
        *filled += count;
        if self.unread().is_empty() {
            self.bytes = Vec::new();
            self.start = 0;
        }
        while *filled < buffer.len() {
            if self.end.is_some() {
                return self.end;
            }
            *filled += self.read(&mut buffer[*filled..]);
        }
        None
    }

    /// Looks as far as `bytes_max`; gives how the source ended, if it did.
    fn extend_to(&mut self, bytes_max: usize) -> Option<Result<(), ReadError>> {
        let mut end = self.bytes.len();
        let mut bytes = std::mem::take(&mut self.bytes);
        while self.end.is_none() && end < bytes_max {
            if end == bytes.len() {
                // Step by step: a short file needs no large buffer, which is filled with zeros first.
                bytes.resize((2 * end).clamp(HEAD_STEP_BYTES, bytes_max), 0);
            }
            end += self.read(&mut bytes[end..]);
        }
        bytes.truncate(end);
        self.bytes = bytes;
        self.end
    }

    /// Drops bytes up to the next LF or the end and gives how many.
    fn skip_to_lf(&mut self) -> u64 {
        let mut skipped = 0;
        loop {
            if let Some(lf) = memchr(b'\n', self.unread()) {
                self.start += lf;
                return skipped + lf as u64;
            }
            skipped += self.unread().len() as u64;
            self.bytes.clear();
            self.start = 0;
            self.extend_to(STEP_BYTES);
            if self.bytes.is_empty() {
                return skipped;
            }
        }
    }

    fn take_lf(&mut self) -> bool {
        let is_lf = self.unread().first() == Some(&b'\n');
        self.start += usize::from(is_lf);
        is_lf
    }

    fn read(&mut self, out: &mut [u8]) -> usize {
        match self.text.read(out) {
            Ok(0) => self.end = Some(Ok(())),
            Ok(count) => {
                self.sketcher.absorb(&out[..count]);
                return count;
            }
            Err(damage) => self.end = Some(Err(damage)),
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor, Read};

    use super::*;
    use crate::input::compression::tests::{ALL, member};
    use crate::input::lines::lines;
    use crate::input::raw_reader::ReadErrorCause;

    const SIZES: [usize; 6] = [1, 2, 7, 64, 1 << 20, 16 << 20];

    /// All data of a file except the boundaries of its chunks.
    #[derive(Debug, Eq, PartialEq)]
    struct ReadContent {
        lines: Vec<(u64, Vec<u8>)>,
        ending: Ending,
    }

    fn chunks(reader: impl Read + Send + 'static, chunk_bytes: usize) -> Chunks {
        let opened = Opened::new(Box::new(reader), None, &Default::default());
        Chunks::new(FileId::from_index(0), opened, chunk_bytes)
    }

    /// Also checks that the numbers of the chunks are consistent.
    fn read_content(mut chunks: Chunks) -> ReadContent {
        let mut seen = Vec::new();
        let (mut buffer, mut sequence) = (Vec::new(), 0);
        while let Some(chunk) = chunks.next_chunk(buffer) {
            assert_eq!(chunk.sequence, sequence);
            assert_eq!(chunk.first_line, seen.len() as u64 + 1);
            seen.extend((chunk.first_line..).zip(lines(&chunk.bytes).map(<[u8]>::to_vec)));
            sequence += 1;
            buffer = chunk.bytes;
        }
        let ending = chunks.ending();
        assert_eq!(ending.lines, seen.len() as u64);
        ReadContent { lines: seen, ending }
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &[&[u8]]) {
        for size in SIZES {
            let mut chunks = chunks(Cursor::new(bytes.to_vec()), size);
            if size % 2 == 0 {
                chunks.head(HEAD_BYTES_MAX); // must change nothing
            }
            let seen = read_content(chunks);
            let found: Vec<&[u8]> = seen.lines.iter().map(|(_, line)| &line[..]).collect();
            assert!(found == expected, "chunks of {size} bytes");
            assert_eq!(seen.ending.bytes, bytes.len() as u64);
            assert_eq!(seen.ending.damage, None);
        }
    }

    #[test]
    fn any_size_gives_the_same_lines() {
        check(b"", &[]);
        check(b"\n", &[b""]);
        check(b"one", &[b"one"]);
        check(b"one\n\ntwo\r\nthree", &[b"one", b"", b"two", b"three"]);
        let text: Vec<u8> =
            (0..3000).flat_map(|n| format!("{n}{}\n", "x".repeat(n % 97)).into_bytes()).collect();
        check(&text, &lines(&text).collect::<Vec<_>>());
    }

    #[test]
    fn a_line_over_the_limit_is_cut_and_the_next_is_whole() {
        for end in ["\n", "\r\n"] {
            for over in [0, 1, 2, 3, 2 * LINE_BYTES_MAX] {
                let long = "x".repeat(LINE_BYTES_MAX + over);
                let cut = &long.as_bytes()[..long.len().min(LINE_BYTES_MAX + 1)];
                let text = format!("a{end}{long}{end}b{end}c");
                check(text.as_bytes(), &[b"a", cut, b"b", b"c"]);
            }
        }
        let long = "x".repeat(3 * LINE_BYTES_MAX);
        check(long.as_bytes(), &[&long.as_bytes()[..LINE_BYTES_MAX + 1]]);
    }

    #[test]
    fn the_bytes_that_are_cut_off_are_counted() {
        let overs = [0, 2, 3, 2 * LINE_BYTES_MAX];
        for (over, size) in overs.into_iter().flat_map(|over| SIZES.map(|size| (over, size))) {
            let text = format!("a\n{}\nb\n", "x".repeat(LINE_BYTES_MAX + over));
            let mut chunks = chunks(Cursor::new(text.clone()), size);
            let mut given = 0;
            while let Some(chunk) = chunks.next_chunk(Vec::new()) {
                given += lines(&chunk.bytes).map(|line| line.len() + 1).sum::<usize>();
            }
            assert_eq!(chunks.ending().cut_bytes, (text.len() - given) as u64, "{over} {size}");
            assert_eq!(chunks.sketch().map(|sketch| sketch.bytes), Some(text.len() as u64));
        }
    }

    #[test]
    fn the_head_is_whole_lines_and_takes_nothing_away() {
        let head = |text: &str, size| {
            chunks(Cursor::new(text.to_owned()), size).head(HEAD_BYTES_MAX).to_vec()
        };
        assert_eq!(head("a\nb", 1), b"a\nb");
        assert_eq!(head("", 1), b"");
        let long = "0123456789\n".repeat(100_000);
        let seen = head(&long, 64);
        assert!(seen.len() <= HEAD_BYTES_MAX && seen.len() > HEAD_BYTES_MAX - 11);
        assert!(seen.ends_with(b"9\n"));
    }

    /// Gives some bytes and then fails, as a disk does.
    struct Failing(Cursor<Vec<u8>>);

    impl Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out)? {
                0 => Err(io::ErrorKind::TimedOut.into()),
                count => Ok(count),
            }
        }
    }

    #[test]
    fn what_was_read_before_damage_is_inflated_to_its_end() {
        let text = "x\n".repeat(10_000);
        for kind in ALL {
            let member = member(kind, text.as_bytes());
            for cut in [4, 8, 9, 12, 20] {
                let bytes = &member[..member.len() - cut];
                let whole = read_content(chunks(Failing(Cursor::new(bytes.into())), 16 << 20));
                for size in SIZES {
                    let seen = read_content(chunks(Failing(Cursor::new(bytes.into())), size));
                    assert!(seen == whole, "{kind:?}: chunks of {size} bytes, {cut} cut off");
                }
            }
        }
    }

    #[test]
    fn half_a_line_before_damage_is_no_line() {
        let long = format!("a\nb\n{}", "x".repeat(2 * LINE_BYTES_MAX));
        for (text, partial_line) in [("a\nb\n", false), ("a\nb\nc", true), (&long, true)] {
            for size in SIZES {
                let seen = read_content(chunks(Failing(Cursor::new(text.into())), size));
                let cause =
                    ReadErrorCause::Unreadable(io::Error::from(io::ErrorKind::TimedOut).into());
                let damage = Some(ReadError { offset_bytes: text.len() as u64, cause });
                let bytes = text.len() as u64;
                assert_eq!(seen.lines, [(1, b"a".to_vec()), (2, b"b".to_vec())]);
                let size_bytes = seen.ending.size_bytes;
                assert_eq!(
                    seen.ending,
                    Ending {
                        lines: 2,
                        bytes,
                        size_bytes,
                        damage,
                        partial_line,
                        may_be_cut: false,
                        cut_bytes: 0,
                    }
                );
            }
        }
    }
}
