//! Detects the format of a file from some of its lines; and error logs, which lie beside access logs, but have
//! no requests.

use crate::numbers::counted;
use crate::time::Zone;

use super::envelope::{Envelope, EnvelopeKind};
use super::format::{Explained, Format, Hints};
use super::registry::{BuiltinFormat, ENTRIES};
use super::{parser::LineParser, pieces, record::Scratch, reject::Limitation, shown::Shown};

/// The number of lines that are tried first, from all places that are known.
const LINES_AT_FIRST: usize = 100;

/// The number of lines that are tried if no format can read any of the first.
const LINES_MAX: usize = 2_000;

/// The deepest nesting of envelopes.
const WRAPPERS_MAX: usize = 2;

impl Detection {
    /// The format by which the lines are read.
    pub(crate) fn reading_format(&self) -> Format {
        let of_none = || if self.lines_tried == 0 { Format::combined() } else { Format::unknown() };
        self.format.clone().unwrap_or_else(of_none)
    }
}

/// The result of detection.
#[derive(Clone, Debug)]
pub struct Detection {
    /// `None` if no format can read any line, and the file declares none; or if it is not certain.
    pub format: Option<Format>,
    /// The number of lines that were tried; 0 if there are only blank lines.
    pub lines_tried: usize,
    /// How many of them `format` can read.
    pub lines_parsed: usize,
    /// The reason for the choice, as text.
    pub why: String,
}

/// The built-in format `name`, with the layout that it has without a file.
pub fn named(name: &str, hints: &Hints) -> Option<Format> {
    let entry = ENTRIES.iter().find(|entry| entry.name == name)?;
    builtin(entry, &[], hints)
}

/// The format of `entry`, if a file that begins with `head` may have it.
fn builtin(entry: &BuiltinFormat, head: &[&[u8]], hints: &Hints) -> Option<Format> {
    let parser = (entry.parser)(head, hints)?;
    let format = Format::new(entry.name, parser, hints.zone.clone());
    Some(format.with_limitations(entry.limitations))
}

/// Tries all formats on some of `lines`, and chooses the one that reads most of them; of
/// several, the one that explains most of a line. A format in `hints` is always chosen. Lines may
/// have an envelope, see `envelope.rs`.
pub fn detect<'a>(lines: impl IntoIterator<Item = &'a [u8]>, hints: &Hints) -> Detection {
    let is_blank = |line: &&[u8]| line.trim_ascii_start().is_empty();
    let lines: Vec<&[u8]> = lines.into_iter().filter(|line| !is_blank(line)).collect();
    let joined = pieces::joined(&lines);
    let lines = match &joined {
        Some(joined) => joined.split(|byte| *byte == b'\n').collect(),
        None => lines,
    };
    let lines = || lines.iter().copied();
    let some = some_of(lines(), LINES_AT_FIRST);
    let detection = detect_among(&some, hints);
    // A stream may begin with startup messages of its server.
    match detection.lines_parsed {
        0 if some.len() == LINES_AT_FIRST => detect_among(&some_of(lines(), LINES_MAX), hints),
        _ => detection,
    }
}

/// At most `count_max` of `lines`: half of them the first, the others from all places.
fn some_of<'a>(lines: impl Iterator<Item = &'a [u8]> + Clone, count_max: usize) -> Vec<&'a [u8]> {
    let first = count_max / 2;
    let others = lines.clone().count().saturating_sub(first);
    let wanted = others.min(count_max - first);
    let mut some: Vec<&[u8]> = lines.clone().take(first).collect();
    // The last one of each part, so that the end of the lines is among them.
    let is_last = |at: &usize| (at + 1) * wanted / others > at * wanted / others;
    let spread = (0..others).zip(lines.skip(first)).filter(|(at, _)| is_last(at));
    some.extend(spread.map(|(_, line)| line));
    some
}

fn detect_among(head: &[&[u8]], hints: &Hints) -> Detection {
    let lines_tried = head.len();
    let mut best = Detection { format: None, lines_tried, lines_parsed: 0, why: String::new() };
    // Formats without envelope are tried last, because some of them read an envelope as fields.
    for formats in [wrapped_candidates(head, hints, WRAPPERS_MAX), bare_candidates(head, hints)] {
        for format in formats {
            let (lines_tried, lines_parsed) = try_on(&format, head);
            if lines_parsed > best.lines_parsed {
                best = Detection { format: Some(format), lines_tried, lines_parsed, ..best };
            }
        }
        if best.lines_parsed > 0 {
            break;
        }
    }
    best.format = best.format.or_else(|| hints.format.clone()).or_else(|| declared(head, hints));
    if best.format.is_none() && is_error_log(head) {
        best.format = Some(Format::new("error-log", LineParser::ErrorLog, Zone::UTC));
    }
    if let Some(format) = best.format.as_ref().filter(|_| best.lines_parsed == 0) {
        (best.lines_tried, _) = try_on(format, head);
    }
    best.why = why(&best, hints);
    let Some(format) = &best.format else { return best };
    let shown = Shown::by(format, head);
    // What two layouts explain is not guessed.
    if let Some(doubt) = shown.doubt().filter(|_| hints.format.is_none()) {
        return Detection { format: None, why: format!("{}, {doubt}", best.why), ..best };
    }
    best.format = best.format.map(|format| shown.complete(format));
    best
}

/// The format that the file declares, even if none of its lines has it.
fn declared(head: &[&[u8]], hints: &Hints) -> Option<Format> {
    bare_candidates(head, hints).into_iter().find(|format| format.is_declared_in(head))
}

/// The formats of the content, if most lines have an envelope.
fn wrapped_candidates(head: &[&[u8]], hints: &Hints, wrappers_max: usize) -> Vec<Format> {
    let mut found = Vec::new();
    for kind in EnvelopeKind::ALL {
        let lines: Vec<Vec<u8>> = unwrapped(kind, head).collect();
        if lines.len() * 2 <= head.len() || wrappers_max == 0 {
            continue;
        }
        let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        let mut inner = wrapped_candidates(&lines, hints, wrappers_max - 1);
        inner.extend(bare_candidates(&lines, hints));
        for format in inner {
            let tag = writer(kind, &format, head).into();
            found.push(format.within(Envelope { kind, tag }));
        }
    }
    found
}

fn unwrapped<'a>(kind: EnvelopeKind, head: &[&'a [u8]]) -> impl Iterator<Item = Vec<u8>> {
    let inner =
        move |line: &&'a [u8]| Some(kind.unwrap(line)?.line.value(&mut Vec::new()).to_vec());
    head.iter().filter_map(inner)
}

/// The tag of the first line that `format` can read.
fn writer<'a>(kind: EnvelopeKind, format: &Format, head: &[&'a [u8]]) -> &'a [u8] {
    let (mut reader, mut scratch) = (format.reader(), Scratch::default());
    let wrapped = head.iter().filter_map(|line| kind.unwrap(line));
    let mut read = wrapped.filter(|wrapped| {
        let line = wrapped.line.value(&mut Vec::new()).to_vec();
        reader.explains(&line, &mut scratch) == Explained::Whole
    });
    read.next().map_or(b"", |wrapped| wrapped.tag)
}

fn bare_candidates(head: &[&[u8]], hints: &Hints) -> Vec<Format> {
    let wanted = hints.format.as_ref();
    let entries =
        ENTRIES.iter().filter(|entry| wanted.is_none_or(|wanted| wanted.name() == entry.name));
    let detected: Vec<Format> = entries.filter_map(|entry| builtin(entry, head, hints)).collect();
    match wanted {
        Some(wanted) if detected.is_empty() => vec![wanted.clone()],
        _ => detected,
    }
}

/// The number of lines that are not skipped, and how many of them are explained.
fn try_on(format: &Format, head: &[&[u8]]) -> (usize, usize) {
    let (mut reader, mut scratch) = (format.reader(), Scratch::default());
    let explained = |line: &&[u8]| reader.explains(line, &mut scratch);
    let explained: Vec<Explained> = head.iter().map(explained).collect();
    let count = |kind| explained.iter().filter(|&&explained| explained == kind).count();
    (head.len() - count(Explained::Skipped), count(Explained::Whole))
}

fn why(detection: &Detection, hints: &Hints) -> String {
    let Detection { lines_tried, lines_parsed, .. } = detection;
    let lines = counted(*lines_tried as u64, "line");
    match &detection.format {
        Some(format) if hints.format.is_some() => {
            format!("set by --log-format: {} parses {lines_parsed} of {lines}", format.name())
        }
        Some(format) if format.limitations().contains(&Limitation::ErrorLog) => {
            "most lines are lines of an error log".to_owned()
        }
        Some(format) if *lines_parsed == 0 => {
            format!("named in the file: {} parses 0 of {lines}", format.name())
        }
        Some(format) => {
            format!("{} parses {lines_parsed} of {lines}", format.name())
        }
        None if *lines_tried == 0 => "the file has no lines".to_owned(),
        None => format!("no format parses any of {lines}"),
    }
}

/// Whether most of `head`, the first lines of a file, are lines of an error log.
pub(super) fn is_error_log(head: &[&[u8]]) -> bool {
    let count = head.iter().filter(|line| is_nginx(line) || is_apache(line)).count();
    count * 2 > head.len()
}

/// `2026/03/02 10:11:12 [error] 123#123: *45 ...`; from PHP-FPM or lighttpd, without the process.
fn is_nginx(line: &[u8]) -> bool {
    let Some((time, rest)) = line.split_at_checked(b"2026/03/02 10:11:12".len()) else {
        return false;
    };
    is_like(time, b"0000/00/00 00:00:00") && rest.starts_with(b" [") && rest.contains(&b':')
}

/// `[Mon Mar 02 10:11:12.123456 2026] [core:error] [pid 12] ...`; older ones without the fraction.
fn is_apache(line: &[u8]) -> bool {
    let Some((time, rest)) = line.split_at_checked(b"[Mon Mar 02 10:11:12".len()) else {
        return false;
    };
    is_like(&time[9..], b"00 00:00:00")
        && time[0] == b'['
        && rest.windows(3).take(16).any(|part| part == b"] [")
}

/// Whether `text` has digits where `pattern` has, and otherwise the same bytes.
fn is_like(text: &[u8], pattern: &[u8]) -> bool {
    text.iter().zip(pattern).all(|(byte, like)| match like {
        b'0' => byte.is_ascii_digit(),
        _ => byte == like,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_logs_are_known_by_their_lines() {
        for line in [
            "2026/03/02 10:11:12 [error] 123#123: *45 open() \"/x\" failed (2: No such file)",
            "[Mon Mar 02 10:11:12.123456 2026] [core:error] [pid 12:tid 34] AH00037: link",
            "[Mon Mar 02 10:11:12 2026] [error] [client 192.0.2.1] File does not exist: /x",
        ] {
            assert!(is_error_log(&[line.as_bytes()]), "{line}");
            assert!(is_error_log(&[line.as_bytes(), line.as_bytes(), b"\tat PHP"]), "{line}");
            assert!(!is_error_log(&[line.as_bytes(), b"x"]), "{line}");
            (0..line.len()).for_each(|end| {
                is_error_log(&[&line.as_bytes()[..end]]);
            });
        }
        let access = "192.0.2.1 - - [02/Mar/2026:10:11:12 +0000] \"GET / HTTP/1.1\" 200 5";
        assert!(!is_error_log(&[access.as_bytes()]) && !is_error_log(&[]));
    }
}
