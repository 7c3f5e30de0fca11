//! Which format a file has, from its first lines.

use crate::logs::combined::continues_as_combined;
use crate::logs::{Line, LogFormat, time};

/// Lines that are tried, skipped ones not counted.
const LINES_MAX: usize = 100;

/// What the first lines say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Detection {
    /// `None` where no format reads any line.
    pub format: Option<LogFormat>,
    /// Lines that were tried; 0 where there is nothing but blanks and comments.
    pub lines_tried: usize,
    /// Of these, how many `format` reads.
    pub lines_parsed: usize,
}

/// Tries all formats on the first of `lines` and takes the one that reads most
/// of them; of several, the one that explains most of a line.
pub fn detect<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Detection {
    let tried: Vec<&[u8]> = lines
        .into_iter()
        .filter(|line| !matches!(LogFormat::Common.line(line), Line::Skip(_)))
        .take(LINES_MAX)
        .collect();
    let mut best = Detection { format: None, lines_tried: tried.len(), lines_parsed: 0 };
    for format in LogFormat::ALL {
        let lines_parsed = tried.iter().filter(|line| explains(format, line)).count();
        if lines_parsed > best.lines_parsed {
            best = Detection { format: Some(format), lines_parsed, ..best };
        }
    }
    best
}

/// Stricter than reading: a format that ignores the better part of a line does
/// not explain it.
fn explains(format: LogFormat, line: &[u8]) -> bool {
    let Line::Fields(fields) = format.line(line) else { return false };
    let is_whole = format != LogFormat::Common || !continues_as_combined(line);
    is_whole && time::parse(fields.time).is_some()
}
