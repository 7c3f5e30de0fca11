//! Joins the pieces of lines that a container runtime cut, usually after 16 KiB.
//!
//! The thread that reads a log joins them before it hands on a chunk, because the next piece may be in a later chunk.
//! The first piece becomes the whole line, and the others become empty pieces, so that all lines keep their numbers.
//! What cannot be joined stays a piece, which readers reject: a line over the limit, or one whose last piece is
//! missing or too far away.

use std::ops::Range;

use memchr::{memchr, memmem};

use super::LINE_BYTES_MAX;
use super::envelope::{EnvelopeContent, EnvelopeKind};

/// The most text that waits for the last piece of a line: the line, and lines of the other stream in between.
const HELD_BYTES_MAX: usize = 4 * LINE_BYTES_MAX;

/// A text and the number of its first line.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct NumberedText {
    /// Whole lines.
    pub bytes: Vec<u8>,
    /// From 1.
    pub first_line: u64,
}

/// Joins the pieces in one log.
#[derive(Debug)]
pub(crate) struct Pieces {
    kind: EnvelopeKind,
    /// Lines as they were read, from the first piece on of a line that is not whole.
    held: Vec<u8>,
    /// The number of the first of them.
    first_line: u64,
    /// One for each stream.
    lines: [CutLine; 2],
    /// Lines in `held` that change.
    changes: Vec<(Range<usize>, Vec<u8>)>,
}

/// A line of which not all pieces were read.
#[derive(Debug, Default)]
struct CutLine {
    /// Its pieces, as places in the text that is held.
    pieces: Vec<Range<usize>>,
    /// Their length without envelopes.
    bytes: usize,
    /// Whether the next pieces, up to the last one, are those of a line that cannot be joined.
    is_lost: bool,
}

impl Pieces {
    /// Of a log whose lines have this envelope.
    pub(super) fn new(kind: EnvelopeKind) -> Pieces {
        let lines = <[CutLine; 2]>::default();
        Pieces { kind, held: Vec::new(), first_line: 1, lines, changes: Vec::new() }
    }

    /// Changes the next lines of the log into those that are whole; the rest waits for the lines after it.
    pub(crate) fn join(&mut self, next: &mut NumberedText) {
        let is_waiting = !self.held.is_empty() || self.lines.iter().any(|line| line.is_lost);
        if !is_waiting && !self.may_have_pieces(&next.bytes) {
            return;
        }
        if self.held.is_empty() {
            self.first_line = next.first_line;
        }
        let mut start = self.held.len();
        self.held.append(&mut next.bytes);
        next.first_line = self.first_line;
        let (mut whole, mut count) = (0, 0);
        while start < self.held.len() {
            let end =
                memchr(b'\n', &self.held[start..]).map_or(self.held.len(), |lf| start + lf + 1);
            self.take(start..end);
            if end - whole > HELD_BYTES_MAX {
                self.lines.iter_mut().for_each(CutLine::lose);
            }
            start = end;
            if self.lines.iter().all(|line| line.pieces.is_empty()) {
                count += memchr::memchr_iter(b'\n', &self.held[whole..end]).count() as u64;
                whole = end;
            }
        }
        next.bytes = self.release(whole);
        self.first_line += count;
    }

    /// The lines that still wait, once nothing follows them.
    pub(crate) fn end(mut self) -> Option<NumberedText> {
        let (bytes, first_line) = (self.release(self.held.len()), self.first_line);
        (!bytes.is_empty()).then_some(NumberedText { bytes, first_line })
    }

    /// The lines of a text that nothing follows.
    pub(crate) fn join_all(mut self, bytes: Vec<u8>) -> Vec<u8> {
        let mut text = NumberedText { bytes, first_line: 1 };
        self.join(&mut text);
        text.bytes.extend(self.end().into_iter().flat_map(|rest| rest.bytes));
        text.bytes
    }

    /// How many of the bytes that were read wait.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.held.len()
    }

    /// Whether one of the lines may be a piece of another; cheap, because nearly none is.
    fn may_have_pieces(&self, text: &[u8]) -> bool {
        let has = |tag: &[u8]| memmem::find(text, tag).is_some();
        match self.kind {
            EnvelopeKind::Cri => has(b" stdout P") || has(b" stderr P"),
            _ => text.split(|&byte| byte == b'\n').any(|line| !ends_its_line(line)),
        }
    }

    /// Looks at one line of those that are held.
    fn take(&mut self, place: Range<usize>) {
        let line = without_end(&self.held[place.clone()]);
        let Some(piece) = self.piece(line) else { return };
        let cut = &mut self.lines[piece.stream as usize];
        if !piece.is_partial && cut.pieces.is_empty() && !cut.is_lost {
            return;
        }
        cut.pieces.push(place.clone());
        cut.bytes += piece.line.raw.len();
        if cut.is_lost || cut.bytes > LINE_BYTES_MAX {
            cut.lose();
        }
        if piece.is_partial {
            return;
        }
        let cut = std::mem::take(cut);
        let joined = if cut.is_lost { None } else { self.joined(&cut.pieces) };
        match joined {
            Some(joined) => {
                let (first, others) = cut.pieces.split_first().expect("it has this piece");
                self.changes.push((first.clone(), joined));
                let empty = self.kind.empty_piece();
                self.changes.extend(others.iter().map(|place| (place.clone(), empty.to_vec())));
            }
            None => {
                // The end alone could look like a line.
                let end = self.kind.with_content(line, &[piece.line.raw], true);
                self.changes.extend(end.map(|end| (place, end)));
            }
        }
    }

    /// The content of `line`; `None` if it has no envelope.
    fn piece<'a>(&self, line: &'a [u8]) -> Option<EnvelopeContent<'a>> {
        if line.len() > LINE_BYTES_MAX {
            return None;
        }
        let mut piece = self.kind.unwrap(line)?;
        piece.is_partial &= self.kind == EnvelopeKind::Cri || !ends_its_line(line);
        Some(piece)
    }

    /// The whole line, in the envelope of its first piece; `None` if it is too long.
    fn joined(&self, pieces: &[Range<usize>]) -> Option<Vec<u8>> {
        let lines = || pieces.iter().map(|place| without_end(&self.held[place.clone()]));
        let contents: Option<Vec<&[u8]>> =
            lines().map(|line| Some(self.kind.unwrap(line)?.line.raw)).collect();
        let joined = self.kind.with_content(lines().next()?, &contents?, false)?;
        (joined.len() <= LINE_BYTES_MAX).then_some(joined)
    }

    /// The first lines that are held, up to `end`, with their changes.
    fn release(&mut self, end: usize) -> Vec<u8> {
        let mut changes = std::mem::take(&mut self.changes);
        changes.sort_unstable_by_key(|(place, _)| place.start);
        let (mut text, mut from) = (Vec::with_capacity(end), 0);
        for (place, line) in changes {
            if place.start >= end {
                self.changes.push((place.start - end..place.end - end, line));
                continue;
            }
            text.extend_from_slice(&self.held[from..place.start]);
            text.extend_from_slice(&line);
            text.extend_from_slice(line_end(&self.held[place.clone()]));
            from = place.end;
        }
        text.extend_from_slice(&self.held[from..end]);
        self.held.drain(..end);
        for place in self.lines.iter_mut().flat_map(|line| &mut line.pieces) {
            *place = place.start.saturating_sub(end)..place.end.saturating_sub(end);
        }
        text
    }
}

impl CutLine {
    /// Its pieces stay as they are; nothing happens if it has none.
    fn lose(&mut self) {
        self.is_lost |= !self.pieces.is_empty();
        self.pieces.clear();
        self.bytes = 0;
    }
}

/// The lines of `head` with their pieces joined; `None` if none was cut.
pub(super) fn joined(head: &[&[u8]]) -> Option<Vec<u8>> {
    let first = head.first()?;
    let kinds = EnvelopeKind::ALL.into_iter().filter(|kind| kind.cuts_lines());
    let pieces = Pieces::new({ kinds }.find(|kind| kind.unwrap(first).is_some())?);
    let text = head.join(&b'\n');
    pieces.may_have_pieces(&text).then(|| pieces.join_all(text))
}

/// Whether the line ends as Docker ends a line of which nothing is missing.
fn ends_its_line(line: &[u8]) -> bool {
    const END: &[u8] = b"\\n\",\"stream\":";
    /// After the text, Docker writes stream and time.
    const AFTER_BYTES_MAX: usize = 96;
    let tail = line.len().saturating_sub(AFTER_BYTES_MAX);
    let Some(end) = memmem::rfind(&line[tail..], END) else { return line.is_empty() };
    let before = line[..tail + end].iter().rev();
    before.take_while(|&&byte| byte == b'\\').count() % 2 == 0
}

fn line_end(line: &[u8]) -> &[u8] {
    &line[without_end(line).len()..]
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the log, which is read in chunks of so many lines.
    fn read(kind: EnvelopeKind, log: &str, lines_per_chunk: usize) -> String {
        let lines: Vec<&str> = log.split_inclusive('\n').collect();
        let (mut pieces, mut text, mut number) = (Pieces::new(kind), String::new(), 1);
        let mut add = |next: NumberedText| {
            let bytes = String::from_utf8(next.bytes).unwrap();
            assert!(bytes.is_empty() || next.first_line == number, "{number}: {bytes}");
            number += bytes.lines().count() as u64;
            text += &bytes;
        };
        for (chunk, at) in lines.chunks(lines_per_chunk).zip(0..) {
            let first_line = 1 + (at * lines_per_chunk) as u64;
            let mut next = NumberedText { bytes: chunk.concat().into(), first_line };
            pieces.join(&mut next);
            assert!(pieces.waiting_bytes() <= HELD_BYTES_MAX + LINE_BYTES_MAX);
            add(next);
        }
        pieces.end().into_iter().for_each(add);
        text
    }

    #[track_caller]
    fn check(kind: EnvelopeKind, log: &str, expected: &str) {
        let count = log.lines().count();
        for lines_per_chunk in (1..=count.min(12)).chain([count + 1]) {
            let found = read(kind, log, lines_per_chunk);
            assert!(found == expected, "{lines_per_chunk}: {}", &found[..found.len().min(999)]);
        }
    }

    const EMPTY: &str = "1970-01-01T00:00:00Z stdout P \n";

    fn cri(stream: &str, tag: &str, content: &str) -> String {
        format!("2026-03-01T00:00:00Z {stream} {tag} {content}\n")
    }

    #[test]
    fn pieces_of_both_streams_are_joined_in_any_chunks() {
        let whole = cri("stdout", "F", "whole stdout P");
        check(EnvelopeKind::Cri, &whole, &whole);
        let log = [
            whole.clone(),
            cri("stdout", "P", "a"),
            cri("stderr", "P", "1"),
            cri("stdout", "P:x", "b "),
            "no envelope\n".to_owned(),
            cri("stderr", "F", "2"),
            whole.clone(),
            cri("stdout", "P", "c"),
            cri("stdout", "F", ""),
        ];
        let log = log.concat().replace("whole stdout P", "");
        let expected = [
            cri("stdout", "F", ""),
            cri("stdout", "F", "ab "),
            cri("stderr", "F", "12"),
            EMPTY.to_owned(),
            "no envelope\n".to_owned(),
            EMPTY.to_owned(),
            EMPTY.to_owned(),
            cri("stdout", "F", "c"),
            EMPTY.to_owned(),
        ];
        check(EnvelopeKind::Cri, &log, &expected.concat());
    }

    #[test]
    fn pieces_of_docker_are_joined() {
        let docker =
            |log: &str| format!("{{\"log\":\"{log}\",\"stream\":\"stdout\",\"time\":\"t\"}}\r\n");
        let log = docker("a\\n") + &docker("b \\\"x") + &docker("\\\\n") + &docker("c\\r\\n");
        let empty = "{\"log\":\"\",\"stream\":\"stdout\"}\r\n";
        let expected = docker("a\\n") + &docker("b \\\"x\\\\nc\\n") + empty + empty;
        check(EnvelopeKind::DockerJson, &log, &expected);
        let spaced = |log: &str| docker(log).replace(',', ", ").replace(':', ": ");
        check(EnvelopeKind::DockerJson, &spaced("a\\n"), &spaced("a\\n"));
        check(
            EnvelopeKind::DockerJson,
            &(spaced("a") + &spaced("b\\n")),
            &(spaced("ab\\n") + empty),
        );
    }

    /// The end of a line that is not known could look like a line.
    #[test]
    fn what_cannot_be_joined_stays_a_piece() {
        let unfinished =
            cri("stdout", "P", "a") + &cri("stderr", "F", "b") + &cri("stdout", "P", "c");
        check(EnvelopeKind::Cri, &unfinished, &unfinished);
        let piece = cri("stdout", "P", &"x".repeat(LINE_BYTES_MAX / 4));
        let (line, next) = (cri("stdout", "F", "192.0.2.1"), cri("stdout", "F", "whole"));
        let lost = cri("stdout", "P", "192.0.2.1");
        let log = piece.repeat(5) + &line + &next;
        check(EnvelopeKind::Cri, &log, &(piece.repeat(5) + &lost + &next));
        // The last piece is too far away.
        let between = cri("stderr", "F", &"y".repeat(9_999));
        let between = between.repeat(HELD_BYTES_MAX / between.len() + 1);
        let log = cri("stdout", "P", "a") + &between + &line + &next;
        let found = read(EnvelopeKind::Cri, &log, 7);
        assert!(found == cri("stdout", "P", "a") + &between + &lost + &next);
        assert!(found == read(EnvelopeKind::Cri, &log, 1_000));
    }
}
