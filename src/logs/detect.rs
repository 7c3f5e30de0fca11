//! Detects the format of a file from its first lines; and error logs, which lie beside access logs, but have
//! no requests.

use crate::numbers::counted;
use crate::time::Zone;

use super::envelope::{Envelope, EnvelopeKind};
use super::format::{Explained, Format, Hints};
use super::registry::{BuiltinFormat, ENTRIES};
use super::{LineContent, parser::LineParser, pieces, record::Scratch, reject::Limitation};

/// The number of lines that are tried first.
const LINES_AT_FIRST: usize = 100;

/// The number of lines that are tried if no format can read any of the first.
const LINES_MAX: usize = 2_000;

/// The deepest nesting of envelopes.
const WRAPPERS_MAX: usize = 2;

/// This many records without a single user agent are not a coincidence.
const RECORDS_WITHOUT_USER_AGENT_MIN: usize = 10;

/// The result of detection.
#[derive(Clone, Debug)]
pub struct Detection {
    /// `None` if no format can read any line, and the file declares none.
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

/// Tries all formats on the first of `lines`, and chooses the one that reads most of them; of
/// several, the one that explains most of a line. A format in `hints` is always chosen. Lines may
/// have an envelope, see `envelope.rs`.
pub fn detect<'a>(lines: impl IntoIterator<Item = &'a [u8]>, hints: &Hints) -> Detection {
    let lines: Vec<&[u8]> = lines
        .into_iter()
        .filter(|line| !line.trim_ascii_start().is_empty())
        .take(LINES_MAX)
        .collect();
    let joined = pieces::joined(&lines);
    let lines = match &joined {
        Some(joined) => joined.split(|byte| *byte == b'\n').collect(),
        None => lines,
    };
    // A stream may begin with startup messages of its server.
    let first = &lines[..lines.len().min(LINES_AT_FIRST)];
    let detection = detect_among(first, hints);
    match detection.lines_parsed {
        0 if lines.len() > first.len() => detect_among(&lines, hints),
        _ => detection,
    }
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
    best.why = why(&best, hints);
    best.format = best.format.map(|format| with_missing_user_agent(format, head));
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
    let mut reader = format.reader();
    let wrapped = head.iter().filter_map(|line| kind.unwrap(line));
    let mut read = wrapped
        .filter(|wrapped| reader.explains(wrapped.line.value(&mut Vec::new())) == Explained::Whole);
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
    let mut reader = format.reader();
    let explained: Vec<Explained> = head.iter().map(|line| reader.explains(line)).collect();
    let count = |kind| explained.iter().filter(|&&explained| explained == kind).count();
    (head.len() - count(Explained::Skipped), count(Explained::Whole))
}

/// Some servers write the user agent only if they are configured to.
fn with_missing_user_agent(format: Format, head: &[&[u8]]) -> Format {
    let (mut reader, mut scratch) = (format.reader(), Scratch::default());
    let mut records = 0;
    for line in head {
        if let LineContent::Fields(fields) = reader.line(line) {
            if fields.user_agent(&mut scratch) != b"-" {
                return format;
            }
            records += 1;
        }
    }
    let is_known = format.limitations().contains(&Limitation::NoCrawlUserAgent);
    if records < RECORDS_WITHOUT_USER_AGENT_MIN || is_known {
        return format;
    }
    format.with_limitations(&[Limitation::NoUserAgent])
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
