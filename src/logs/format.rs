//! A format: a named layout, and its readers; and what the user says about the format of all files.
//!
//! A format may have state: a directive in the middle of a file changes how later lines are read.
//! Chunks of one file go to different workers. So the thread that cuts them calls
//! [`Format::advance`] for each in order, and gives every chunk a clone of the format for its first
//! line. A [`Reader`] handles changes within the chunk.

use std::sync::Arc;

use memchr::{memchr, memmem};

use crate::time::Zone;

use super::envelope::Envelope;
use super::json::{Json, own_names::OwnNames};
use super::plausible::{is_plausible, may_be_user_agent};
use super::reject::{Limitation, Reject, Skip};
use super::{LINE_BYTES_MAX, LineContent, NoRecord, parser::LineParser};
use super::{pieces::Pieces, proxies::Captures, record::Scratch, usual::UsualLayout};

/// A log format with its state at one line of a file. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Format {
    name: Arc<str>,
    limitations: Arc<[Limitation]>,
    /// From the outermost to the innermost.
    envelopes: Arc<[Envelope]>,
    parser: LineParser,
    zone: Zone,
    /// Whether dates in digits have the month first.
    is_month_first: bool,
}

impl Format {
    /// The format for files without lines to detect it by.
    pub(crate) fn combined() -> Format {
        Format::new("combined", LineParser::Combined, Zone::UTC)
    }

    /// The format for files whose lines no format explains.
    pub(crate) fn unknown() -> Format {
        Format::new("unknown", LineParser::Unknown, Zone::UTC)
    }

    /// The format `name` with the layout `parser`; times without a zone are in `zone`.
    pub(crate) fn new(name: &str, parser: LineParser, zone: Zone) -> Format {
        let (limitations, envelopes) = (parser.limitations().into(), Arc::default());
        let name = name.into();
        Format { name, limitations, envelopes, parser, zone, is_month_first: false }
    }

    /// The same, with the month first in dates in digits.
    pub(super) fn with_month_first(self) -> Format {
        Format { is_month_first: true, ..self }
    }

    /// Adds limitations.
    pub(super) fn with_limitations(self, more: &[Limitation]) -> Format {
        let mut limitations = [&self.limitations, more].concat();
        limitations.sort_unstable();
        limitations.dedup();
        Format { limitations: limitations.into(), ..self }
    }

    /// Adds an envelope.
    pub(super) fn within(self, envelope: Envelope) -> Format {
        let name = match self.name.strip_suffix(')') {
            Some(name) if !self.envelopes.is_empty() => {
                format!("{name} in {})", envelope.kind.as_str())
            }
            _ => format!("{} ({})", self.name, envelope.kind.as_str()),
        };
        let envelopes = [&[envelope], &*self.envelopes].concat().into();
        Format { name: name.into(), envelopes, ..self }
    }

    /// The name in reports. The name of a built-in format is also its name on the command line. For
    /// lines with an envelope, its name follows, as in `combined (cri)`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its lines have an envelope.
    pub(crate) fn is_wrapped(&self) -> bool {
        !self.envelopes.is_empty()
    }

    /// Whether the lines of `head` declare this format.
    pub(crate) fn is_declared_in(&self, head: &[&[u8]]) -> bool {
        let mut parser = self.parser.clone();
        let mut is_directive =
            |line: &&[u8]| line.starts_with(b"#") && parser.direct(line) == Some(Skip::Directive);
        self.parser.has_directives() && head.iter().any(&mut is_directive)
    }

    /// The layout of its usual lines; `None` if it has none.
    pub(crate) fn usual_layout(&self) -> Option<UsualLayout> {
        self.envelopes.is_empty().then(|| self.parser.usual_layout())?
    }

    /// Its limitations, in order and without duplicates.
    pub fn limitations(&self) -> &Arc<[Limitation]> {
        &self.limitations
    }

    /// A reader for the lines from the current state on.
    pub fn reader(&self) -> Reader {
        Reader { format: self.clone(), unwrapped: Vec::new() }
    }

    /// Advances the state over `lines`, which are whole lines.
    pub fn advance(&mut self, lines: &[u8]) {
        if !self.parser.has_directives() {
            return;
        }
        if self.envelopes.is_empty() {
            self.advance_over_directives(lines);
        } else {
            self.advance_over_all(lines);
        }
    }

    /// What joins the pieces of its lines; `None` if nothing cuts them.
    pub(crate) fn pieces(&self) -> Option<Pieces> {
        let outer = self.envelopes.first().filter(|envelope| envelope.kind.cuts_lines())?;
        Some(Pieces::new(outer.kind))
    }

    fn advance_over_directives(&mut self, lines: &[u8]) {
        let starts = memmem::find_iter(lines, b"\n#").map(|lf| lf + 1);
        for start in (lines.starts_with(b"#").then_some(0)).into_iter().chain(starts) {
            let end = memchr(b'\n', &lines[start..]).map_or(lines.len(), |lf| start + lf);
            let line = without_cr(&lines[start..end]);
            if line.len() <= LINE_BYTES_MAX {
                self.parser.direct(line);
            }
        }
    }

    fn advance_over_all(&mut self, lines: &[u8]) {
        let mut reader = self.reader();
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            reader.line(without_cr(line.strip_suffix(b"\n").unwrap_or(line)));
        }
        *self = reader.format;
    }
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Reads the lines of one format in order. There is one for each worker and chunk.
#[derive(Clone, Debug)]
pub struct Reader {
    format: Format,
    unwrapped: Vec<u8>,
}

impl Reader {
    /// Finds the fields of `line`, which has no line ending.
    // The result is large: a call would copy it.
    #[inline(always)]
    pub fn line<'r>(&'r mut self, line: &'r [u8]) -> LineContent<'r> {
        if line.len() > LINE_BYTES_MAX {
            return LineContent::Reject(Reject::TooLong);
        }
        let Format { parser, zone, envelopes, is_month_first, .. } = &mut self.format;
        if envelopes.is_empty() {
            return in_order(read(line, parser, zone), *is_month_first);
        }
        if line.trim_ascii_start().is_empty() {
            return LineContent::Skip(Skip::Blank);
        }
        let opened = match open(envelopes, line, Some(&mut self.unwrapped)) {
            Ok(opened) => opened,
            Err(why) => return why.into(),
        };
        match read(opened.line, parser, zone) {
            LineContent::Reject(_) if opened.is_foreign => LineContent::Skip(Skip::NotAccess),
            line => in_order(line, *is_month_first),
        }
    }

    /// The layout of usual lines; `None` if the format has none.
    #[inline(always)]
    pub(crate) fn usual_layout(&self) -> Option<UsualLayout> {
        self.format.usual_layout()
    }

    /// The layout of objects, if lines may be read by the places of their quotes: see [`Json::find`].
    #[inline(always)]
    pub(crate) fn objects(&mut self) -> Option<(&mut Json, &Zone)> {
        let Format { parser: LineParser::Json(json), envelopes, zone, .. } = &mut self.format
        else {
            return None;
        };
        envelopes.is_empty().then_some((json, zone))
    }

    /// How well the format explains `line`; stricter than reading it.
    pub(super) fn explains(&mut self, line: &[u8], scratch: &mut Scratch) -> Explained {
        let is_request = match self.line(line) {
            LineContent::Fields(fields) => {
                let has_user_agent = may_be_user_agent(fields.user_agent(scratch));
                is_plausible(fields.record(scratch), has_user_agent)
            }
            LineContent::Skip(_) => return Explained::Skipped,
            LineContent::Reject(_) => false,
        };
        let mut unwrapped = Vec::new();
        let Format { parser, envelopes, .. } = &self.format;
        let mut is_whole = |line| {
            open(envelopes, line, Some(&mut unwrapped))
                .is_ok_and(|opened| parser.is_whole(opened.line))
        };
        if is_request && is_whole(line) { Explained::Whole } else { Explained::No }
    }
}

/// The result of trying a format on a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Explained {
    Whole,
    Skipped,
    No,
}

#[inline]
fn read<'r>(line: &'r [u8], parser: &'r mut LineParser, zone: &'r Zone) -> LineContent<'r> {
    match line.first() {
        Some(b'#') => {
            if let Some(skip) = parser.direct(line) {
                return LineContent::Skip(skip);
            }
        }
        None | Some(b' ' | b'\t'..=b'\r') if line.trim_ascii_start().is_empty() => {
            return LineContent::Skip(Skip::Blank);
        }
        _ => {}
    }
    parser.line(line, zone)
}

/// The line with its date in the order of the file.
#[inline(always)]
fn in_order(read: LineContent<'_>, is_month_first: bool) -> LineContent<'_> {
    match read {
        LineContent::Fields(fields) if is_month_first => LineContent::Fields(fields.month_first()),
        read => read,
    }
}

/// A line without its envelopes.
struct Opened<'a> {
    line: &'a [u8],
    /// Whether another program wrote it, if it cannot be parsed.
    is_foreign: bool,
}

/// Removes all envelopes. At most one of them may have escapes, because there is one buffer.
fn open<'a>(
    envelopes: &[Envelope],
    line: &'a [u8],
    buffer: Option<&'a mut Vec<u8>>,
) -> Result<Opened<'a>, NoRecord> {
    let Some((outer, inner)) = envelopes.split_first() else {
        return Ok(Opened { line, is_foreign: false });
    };
    let other = NoRecord::Reject(Reject::OtherFormat);
    let wrapped = outer.kind.unwrap(line).ok_or(other)?;
    let is_foreign = outer.is_foreign(&wrapped);
    if wrapped.is_partial {
        return Err(match (wrapped.line.raw, is_foreign) {
            (b"", _) => NoRecord::Skip(Skip::EnvelopePartial),
            (_, true) => NoRecord::Skip(Skip::NotAccess),
            (_, false) => NoRecord::Reject(Reject::Incomplete),
        });
    }
    let raw = wrapped.line.raw;
    let opened = if wrapped.line.escaping.is_in(raw) {
        let buffer = buffer.ok_or(other)?;
        buffer.clear();
        wrapped.line.escaping.undo(raw, buffer);
        open(inner, buffer, None)?
    } else {
        open(inner, raw, buffer)?
    };
    Ok(Opened { is_foreign: is_foreign || opened.is_foreign, ..opened })
}

/// The user's settings for all files.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// The format; `None` if it is detected for each file.
    pub format: Option<Format>,
    /// The zone of times without one.
    pub zone: Zone,
    /// The request headers that HAProxy captures; `None` if they are detected for each file.
    pub haproxy_captures: Option<Captures>,
    /// The keys of JSON logs.
    pub json_fields: Option<OwnNames>,
    /// The user agent of requests in crawls that do not name one.
    pub user_agent: Option<Arc<[u8]>>,
}
