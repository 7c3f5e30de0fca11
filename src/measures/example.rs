//! An example request, which can be found in the log.

use serde::{Deserialize, Serialize};

use crate::input::source::FileId;
use crate::logs::record::Record;
use crate::merge::Merge;
use crate::time::UtcTime;

/// The most bytes of a target in an example.
pub(crate) const EXAMPLE_BYTES_MAX: usize = 2048;

/// The position of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// The input that holds it.
    pub file: FileId,
    /// Its number in that file, 1-based.
    pub line: u64,
}

/// An example request: the earliest by time, then file, then line.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Example {
    /// When it was made.
    pub time: UtcTime,
    /// The input that holds it.
    pub file: FileId,
    /// Line in that file, 1-based.
    pub line: u64,
    /// The target as logged, cut to a sensible length.
    #[serde(with = "serde_bytes")]
    pub target: Box<[u8]>,
    /// When the snapshot was fetched that decided; `None` where robots.txt is a single file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<UtcTime>,
}

impl Example {
    /// The request of `record`, judged by the snapshot of this time.
    pub(crate) fn of(
        record: &Record<'_>,
        position: Position,
        snapshot: Option<UtcTime>,
    ) -> Example {
        let Position { file, line } = position;
        let target = record.target.unwrap_or_default();
        let target = target[..target.len().min(EXAMPLE_BYTES_MAX)].into();
        Example { time: record.time, file, line, target, snapshot }
    }
}

impl Merge for Example {
    /// The earliest stays.
    fn absorb(&mut self, other: Example) {
        if other < *self {
            *self = other;
        }
    }
}
