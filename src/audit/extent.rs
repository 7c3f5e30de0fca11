//! Which part of a log is read, how far it was read, and how it ended, as its reader saw it.

use memchr::memrchr;

use crate::error::Error;
use crate::input::chunks::{Chunk, Chunks, Ending};
use crate::input::content_hash::{Checkpoint, ContentSketch, Prefix};
use crate::input::source::FileId;
use crate::logs::{detect::Detection, format::Format};
use crate::time::Day;

use super::tally::header::{FormatUsed, InputSummary};

/// A log to be read.
#[derive(Clone, Debug)]
pub struct ReadRange {
    /// Its place among all sources.
    pub file: FileId,
    /// The part to read.
    pub extent: Extent,
}

/// The part of a log to read.
#[derive(Clone, Debug)]
pub enum Extent {
    /// All.
    Whole,
    /// Whole lines after those that were read before; all of them if there are none.
    Rest {
        /// How far it was read.
        reached: Option<Checkpoint>,
        /// The day of the last line with a time before that position.
        last_day: Option<Day>,
    },
}

impl Extent {
    /// The lines that were read before.
    pub(crate) fn lines_before(&self) -> u64 {
        match self {
            Extent::Rest { reached: Some(reached), .. } => reached.lines,
            Extent::Rest { reached: None, .. } | Extent::Whole => 0,
        }
    }
}

/// How a log ended, as its reader saw it.
#[derive(Clone, Debug)]
pub(crate) struct ReadRangeEnd {
    /// The log.
    pub file: FileId,
    /// Its end, for reports.
    pub input: InputEnd,
    /// How far it was read; `None` if its content changed.
    pub reached: Option<Checkpoint>,
}

impl ReadRangeEnd {
    /// The end of a log that could not be opened.
    pub(crate) fn unopened(file: FileId, err: &Error) -> ReadRangeEnd {
        ReadRangeEnd { file, input: InputEnd::unopened(err), reached: None }
    }
}

/// The state of a log while its new lines are read.
pub(super) struct Following {
    from: Option<Checkpoint>,
    prefix: Prefix,
    /// Text after the prefix.
    waiting: Vec<u8>,
    is_changed: bool,
}

/// The rest of a chunk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Narrowed {
    /// Lines to be read.
    Read,
    /// Nothing: it was read before, or no line in it is whole.
    ReadBefore,
    /// Nothing: the log is not the one that was read before.
    Changed,
}

impl Following {
    /// `None` if the whole log is read.
    pub(crate) fn new(extent: &Extent) -> Option<Following> {
        let Extent::Rest { reached, .. } = extent else { return None };
        let (prefix, waiting) = (Prefix::new(), Vec::new());
        Some(Following { from: reached.clone(), prefix, waiting, is_changed: false })
    }

    /// Removes the lines that were read before, and an unfinished last line, from the next `chunk`.
    pub(crate) fn narrow(&mut self, chunk: &mut Chunk, format: &mut Format) -> Narrowed {
        chunk.bytes.truncate(memrchr(b'\n', &chunk.bytes).map_or(0, |lf| lf + 1));
        if let Some(from) = self.from.as_ref().filter(|from| self.prefix.bytes() < from.bytes) {
            let missing = usize::try_from(from.bytes - self.prefix.bytes()).unwrap_or(usize::MAX);
            let known = missing.min(chunk.bytes.len());
            self.prefix.absorb(&chunk.bytes[..known]);
            format.advance(&chunk.bytes[..known]);
            if self.prefix.bytes() == from.bytes && self.prefix.hash() != from.hash {
                self.is_changed = true;
                return Narrowed::Changed;
            }
            chunk.bytes.drain(..known);
            chunk.first_line = self.prefix.lines() + 1;
        }
        if chunk.bytes.is_empty() {
            return Narrowed::ReadBefore;
        }
        Narrowed::Read
    }

    /// Adds the `next` lines to what was read, but for the last bytes of them, and of those before, that wait for lines
    /// after them.
    pub(crate) fn absorb(&mut self, next: &[u8], waiting_bytes: usize) {
        self.waiting.extend_from_slice(next);
        let end = self.waiting.len().saturating_sub(waiting_bytes);
        self.prefix.absorb(&self.waiting[..end]);
        self.waiting.drain(..end);
    }

    /// How far it was read; `None` if it is not the log that was read before.
    pub(crate) fn reached(self) -> Option<Checkpoint> {
        let reached = self.prefix.reached();
        let is_short = self.from.is_some_and(|from| reached.bytes < from.bytes);
        (!self.is_changed && !is_short).then_some(reached)
    }
}

/// How one input ended.
#[derive(Clone, Debug)]
pub struct InputEnd {
    /// The log format; `None` if there was no line to detect it by.
    pub format: Option<FormatUsed>,
    /// Why its rest could not be read.
    pub failure: Option<String>,
    /// How its bytes ended.
    pub ending: Ending,
    /// A sketch of its content; `None` if it has none.
    pub sketch: Option<ContentSketch>,
    lines_tried: usize,
}

impl InputEnd {
    /// The end of an input that was read.
    pub(crate) fn new(detected: &Detection, chunks: &Chunks) -> InputEnd {
        let lines_tried = detected.lines_tried;
        let format = detected.format.as_ref().map(|format| FormatUsed {
            name: format.name().to_owned(),
            limitations: format.limitations().to_vec(),
        });
        let ending = chunks.ending();
        let failure = ending.damage.map(|damage| damage.to_string());
        InputEnd { format, lines_tried, failure, ending, sketch: chunks.sketch() }
    }

    /// The end of an input that could not be opened.
    pub(crate) fn unopened(err: &Error) -> InputEnd {
        let failure = Some(err.to_string());
        let ending = Ending::default();
        InputEnd { format: None, lines_tried: 0, failure, ending, sketch: None }
    }

    /// The summary for a tally.
    pub(crate) fn summary(self, name: String) -> InputSummary {
        // As the error of a file that could not be opened, that of the first byte names the file.
        let is_nameless = self.ending.damage.is_some() && self.ending.size_bytes == 0;
        let damage =
            self.failure.map(|why| if is_nameless { format!("{name}: {why}") } else { why });
        InputSummary {
            name,
            size_bytes: self.ending.size_bytes,
            decompressed_bytes: self.ending.bytes,
            format: self.format,
            lines_tried: self.lines_tried,
            damage,
            may_be_cut: self.ending.may_be_cut,
            sketch: self.sketch,
            cut_bytes: self.ending.cut_bytes,
            proposal: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::detect::detect;
    use crate::logs::format::Hints;
    use crate::logs::{LineContent, record::Scratch};

    /// A log of W3C, whose fields change in what was read before.
    #[test]
    fn lines_that_were_read_before_still_tell_the_format() {
        let first = "#Fields: date time cs-method cs-uri-stem sc-status c-ip cs(User-Agent)\n\
                     2026-03-01 12:00:00 GET / 200 192.0.2.1 curl/8\n";
        let change = "#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent)\n";
        let new = "2026-03-01 12:00:00 192.0.2.1 GET / 200 curl/8\n";
        let mut prefix = Prefix::new();
        prefix.absorb(format!("{first}{change}").as_bytes());
        let extent = Extent::Rest { reached: Some(prefix.reached()), last_day: None };
        let mut following = Following::new(&extent).unwrap();
        let detected = detect(first.lines().map(str::as_bytes), &Hints::default());
        let mut format = detected.format.unwrap();
        let is_read = |format: &Format| {
            let mut reader = format.reader();
            let line = reader.line(new.trim_end().as_bytes());
            let LineContent::Fields(fields) = line else { return false };
            fields.record(&mut Scratch::default()).is_ok()
        };
        assert!(!is_read(&format));
        let (bytes, file) = (format!("{first}{change}{new}").into(), FileId::from_index(0));
        let mut chunk = Chunk { bytes, file, first_line: 1, sequence: 0 };
        assert_eq!(following.narrow(&mut chunk, &mut format), Narrowed::Read);
        assert!(is_read(&format));
        assert_eq!((chunk.first_line, chunk.bytes), (4, new.into()));
    }

    /// What is read of `log`, in chunks of one line, after `before` was read.
    fn narrowed(before: &[u8], log: &[u8]) -> (Vec<Narrowed>, Option<u64>) {
        let mut prefix = Prefix::new();
        prefix.absorb(before);
        let extent = Extent::Rest { reached: Some(prefix.reached()), last_day: None };
        let mut following = Following::new(&extent).unwrap();
        let mut format = Format::combined();
        let chunks = log.split_inclusive(|byte| *byte == b'\n').zip(0..).map(|(line, sequence)| {
            let (bytes, file) = (line.to_vec(), FileId::from_index(0));
            let mut chunk = Chunk { bytes, file, first_line: sequence + 1, sequence };
            let narrowed = following.narrow(&mut chunk, &mut format);
            if narrowed == Narrowed::Read {
                following.absorb(&chunk.bytes, 0);
            }
            assert!(narrowed != Narrowed::Read || chunk.first_line == sequence + 1);
            narrowed
        });
        let chunks = chunks.collect();
        (chunks, following.reached().map(|reached| reached.lines))
    }

    /// The end of what was read may lie inside a chunk, and after more than one.
    #[test]
    fn a_chunk_may_begin_with_lines_that_were_read() {
        let mut prefix = Prefix::new();
        prefix.absorb(b"a\nb\nc\n");
        let extent = Extent::Rest { reached: Some(prefix.reached()), last_day: None };
        let mut following = Following::new(&extent).unwrap();
        let mut format = Format::combined();
        let file = FileId::from_index(0);
        let mut chunk = Chunk { bytes: b"a\nb\n".to_vec(), file, first_line: 1, sequence: 0 };
        assert_eq!(following.narrow(&mut chunk, &mut format), Narrowed::ReadBefore);
        let mut chunk = Chunk { bytes: b"c\nd\ne\nf".to_vec(), file, first_line: 3, sequence: 1 };
        assert_eq!(following.narrow(&mut chunk, &mut format), Narrowed::Read);
        assert_eq!((chunk.bytes.as_slice(), chunk.first_line), (&b"d\ne\n"[..], 4));
        following.absorb(&chunk.bytes, 0);
        let mut chunk = Chunk { bytes: b"f\n".to_vec(), file, first_line: 6, sequence: 2 };
        assert_eq!(following.narrow(&mut chunk, &mut format), Narrowed::Read);
        assert_eq!((chunk.bytes.as_slice(), chunk.first_line), (&b"f\n"[..], 6));
        following.absorb(&chunk.bytes, 2);
        assert_eq!(following.prefix.lines(), 5, "its line is not whole");
        following.absorb(b"", 0);
        assert_eq!(following.reached().unwrap().lines, 6);
    }

    #[test]
    fn only_new_lines_of_the_same_log_are_read() {
        use Narrowed::{Changed, Read, ReadBefore};
        assert_eq!(
            narrowed(b"a\nb\n", b"a\nb\nc\n"),
            (vec![ReadBefore, ReadBefore, Read], Some(3))
        );
        assert_eq!(narrowed(b"a\nb\n", b"a\nb\nc"), (vec![ReadBefore; 3], Some(2)));
        assert_eq!(narrowed(b"a\nb\n", b"a\nx\nc\n").0[..2], [ReadBefore, Changed]);
        assert_eq!(narrowed(b"a\nb\n", b"a\nx\nc\n").1, None);
        assert_eq!(narrowed(b"a\nb\n", b"a\n"), (vec![ReadBefore], None), "it was cut");
    }
}
