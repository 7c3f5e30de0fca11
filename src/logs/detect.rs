//! Which format a file has, from its first lines.

use crate::logs::Line;
use crate::logs::format::Format;
use crate::logs::registry::ENTRIES;
use crate::time::Zone;

/// Lines that are tried at once, skipped ones not counted.
const LINES_MAX: usize = 100;

/// What the user says of all files.
#[derive(Clone, Debug)]
pub struct Hints {
    /// Their format; `None` where it is to be told from each file.
    pub format: Option<Format>,
    /// The zone of times that name none.
    pub zone: Zone,
}

impl Default for Hints {
    /// The user says nothing.
    fn default() -> Hints {
        Hints { format: None, zone: Zone::UTC }
    }
}

/// What the first lines say.
#[derive(Clone, Debug)]
pub struct Detection {
    /// `None` where no format reads any line.
    pub format: Option<Format>,
    /// Lines that were tried; 0 where there is nothing but blanks and comments.
    pub lines_tried: usize,
    /// Of these, how many `format` reads.
    pub lines_parsed: usize,
    /// How the format was chosen, in words.
    pub why: String,
}

/// Tries all formats on the first of `lines` and takes the one that reads most
/// of them; of several, the one that explains most of a line. Where `hints` name a format, it is
/// that one, however little it reads.
pub fn detect<'a>(lines: impl IntoIterator<Item = &'a [u8]>, hints: &Hints) -> Detection {
    let head = head(lines);
    let lines_tried = head.iter().filter(|line| !line.starts_with(b"#")).count();
    let mut best = Detection { format: None, lines_tried, lines_parsed: 0, why: String::new() };
    for format in candidates(&head, hints) {
        let lines_parsed = lines_explained(&format, &head);
        if lines_parsed > best.lines_parsed || (hints.format.is_some() && best.format.is_none()) {
            best = Detection { format: Some(format), lines_parsed, ..best };
        }
    }
    best.why = why(&best, hints);
    best
}

/// The first lines that are not blank, with the directives among them.
fn head<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Vec<&'a [u8]> {
    let mut records = 0;
    lines
        .into_iter()
        .filter(|line| !line.trim_ascii_start().is_empty())
        .take_while(|line| {
            records += usize::from(!line.starts_with(b"#"));
            records <= LINES_MAX
        })
        .collect()
}

/// What the file may be.
fn candidates(head: &[&[u8]], hints: &Hints) -> Vec<Format> {
    let wanted = hints.format.as_ref();
    let entries =
        ENTRIES.iter().filter(|entry| wanted.is_none_or(|wanted| wanted.name() == entry.name));
    let told: Vec<Format> = entries
        .filter_map(|entry| Some(Format::of_entry(entry, (entry.layout)(head, hints)?, hints)))
        .collect();
    match wanted {
        Some(wanted) if told.is_empty() => vec![wanted.clone()],
        _ => told,
    }
}

fn lines_explained(format: &Format, head: &[&[u8]]) -> usize {
    let mut reader = format.reader();
    head.iter()
        .filter(|line| match reader.line(line) {
            Line::Fields(fields) => fields.has_time() && format.layout().is_whole(line),
            _ => false,
        })
        .count()
}

fn why(detection: &Detection, hints: &Hints) -> String {
    let Detection { lines_tried, lines_parsed, .. } = detection;
    match &detection.format {
        Some(format) if hints.format.is_some() => {
            format!(
                "{} was asked for; it reads {lines_parsed} of {lines_tried} lines",
                format.name()
            )
        }
        Some(format) => {
            format!("{} reads {lines_parsed} of {lines_tried} lines", format.name())
        }
        None if *lines_tried == 0 => "there is no line to tell it from".to_owned(),
        None => format!("no format reads any of {lines_tried} lines"),
    }
}
