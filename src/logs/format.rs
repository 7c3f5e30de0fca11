//! A format: a layout under a name, and the readers made from it.
//!
//! A format may have state: a directive in the middle of a file changes how the lines after it
//! are read. Chunks of one file go to different workers, so whoever cuts them calls
//! [`Format::advance`] for each in order and gives every chunk a clone of the format as it stands
//! at its first line. A [`Reader`] sees to what changes within the chunk.

use std::sync::Arc;

use memchr::memmem;

use crate::logs::caveat::Caveat;
use crate::logs::detect::Hints;
use crate::logs::layout::{Directive, Layout};
use crate::logs::registry::{ENTRIES, Entry};
use crate::logs::reject::{Reject, Skip};
use crate::logs::{LINE_BYTES_MAX, Line};
use crate::time::Zone;

/// A log format, as it stands at one line of a file. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Format {
    name: Arc<str>,
    caveats: Arc<[Caveat]>,
    layout: Layout,
    zone: Zone,
}

impl Format {
    /// The built-in format of that name, as far as it can be told without seeing a file.
    pub fn named(name: &str, hints: &Hints) -> Option<Format> {
        let entry = ENTRIES.iter().find(|entry| entry.name == name)?;
        let layout = (entry.layout)(&[], hints)?;
        Some(Format::of_entry(entry, layout, hints))
    }

    /// What a file is read as that no format explains.
    pub fn combined() -> Format {
        Format::own("combined", Layout::Combined, &Hints::default())
    }

    /// A format that is in no registry.
    pub fn own(name: &str, layout: Layout, hints: &Hints) -> Format {
        let caveats = layout.caveats().into();
        Format { name: name.into(), caveats, layout, zone: hints.zone.clone() }
    }

    pub(super) fn of_entry(entry: &Entry, layout: Layout, hints: &Hints) -> Format {
        let mut caveats = [entry.caveats, &layout.caveats()].concat();
        caveats.sort_unstable();
        caveats.dedup();
        let (name, caveats) = (entry.name.into(), caveats.into());
        Format { name, caveats, layout, zone: hints.zone.clone() }
    }

    /// The name in reports; that of a built-in format is also its name on the command line.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it cannot tell, in order and each once.
    pub fn caveats(&self) -> &Arc<[Caveat]> {
        &self.caveats
    }

    /// Something to read lines with, from the line on at which the format stands.
    pub fn reader(&self) -> Reader {
        Reader { layout: self.layout.clone(), zone: self.zone.clone() }
    }

    /// Goes on to the line after `lines`, which are whole.
    pub fn advance(&mut self, lines: &[u8]) {
        if !self.layout.has_directives() {
            return;
        }
        let starts = memmem::find_iter(lines, b"\n#").map(|lf| lf + 1);
        for start in (lines.starts_with(b"#").then_some(0)).into_iter().chain(starts) {
            let end = memchr::memchr(b'\n', &lines[start..]).map_or(lines.len(), |lf| start + lf);
            let line = &lines[start..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.len() <= LINE_BYTES_MAX {
                self.layout.direct(line);
            }
        }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// Reads lines of one format, in order. One for each worker and chunk.
#[derive(Clone, Debug)]
pub struct Reader {
    layout: Layout,
    zone: Zone,
}

impl Reader {
    /// Finds the fields of `line`, which has no line ending.
    #[inline]
    pub fn line<'r>(&'r mut self, line: &'r [u8]) -> Line<'r> {
        if line.len() > LINE_BYTES_MAX {
            return Line::Reject(Reject::TooLong);
        }
        match line.first() {
            Some(b'#') => {
                return Line::Skip(match self.layout.direct(line) {
                    Directive::Comment => Skip::Comment,
                    Directive::Understood => Skip::Directive,
                });
            }
            None | Some(b' ' | b'\t'..=b'\r') if line.trim_ascii_start().is_empty() => {
                return Line::Skip(Skip::Blank);
            }
            _ => {}
        }
        self.layout.line(line, &self.zone)
    }
}
