//! How much of a log is read, and how far it was read.

use memchr::memrchr;

use crate::error::Error;
use crate::input::checkpoint::{Checkpoint, Prefix};
use crate::input::{chunks::Chunk, source::FileId};
use crate::logs::format::Format;
use crate::time::Day;

use super::input_end::InputEnd;

/// A log to be read.
#[derive(Clone, Debug)]
pub struct ReadRange {
    /// Its place among all sources.
    pub file: FileId,
    /// How much of it.
    pub extent: Extent,
}

/// How much of a log is read.
#[derive(Clone, Debug)]
pub enum Extent {
    /// All.
    Whole,
    /// Whole lines, from where it was read so far; all of them if it was not.
    Rest {
        /// How far it was read.
        reached: Option<Checkpoint>,
        /// The day of the last line with a time before that.
        last_day: Option<Day>,
    },
}

/// How a log ended, as its reader saw it.
#[derive(Clone, Debug)]
pub struct ReadRangeEnd {
    /// Which log.
    pub file: FileId,
    /// What is to be told of it.
    pub input: InputEnd,
    /// How far it is read by now; `None` where it is not what it was when that was asked last.
    pub reached: Option<Checkpoint>,
}

impl ReadRangeEnd {
    /// Of a log that could not be opened.
    pub fn unopened(file: FileId, err: &Error) -> ReadRangeEnd {
        ReadRangeEnd { file, input: InputEnd::unopened(err), reached: None }
    }
}

/// What is known of a log while its rest is read.
pub(super) struct Following {
    from: Option<Checkpoint>,
    prefix: Prefix,
    is_changed: bool,
}

/// What is left of a chunk.
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
    /// `None` where a log is read whole.
    pub fn new(extent: &Extent) -> Option<Following> {
        let Extent::Rest { reached, .. } = extent else { return None };
        Some(Following { from: reached.clone(), prefix: Prefix::new(), is_changed: false })
    }

    /// Takes from `chunk`, the next one, what was read before and a line that has no end yet.
    pub fn narrow(&mut self, chunk: &mut Chunk, format: &mut Format) -> Narrowed {
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
        self.prefix.absorb(&chunk.bytes);
        Narrowed::Read
    }

    /// How far it was read; `None` where it is not what was read before.
    pub fn reached(self) -> Option<Checkpoint> {
        let reached = self.prefix.reached();
        let is_short = self.from.is_some_and(|from| reached.bytes < from.bytes);
        (!self.is_changed && !is_short).then_some(reached)
    }
}
