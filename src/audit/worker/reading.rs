//! The state of a worker while it reads a chunk.

use crate::audit::{day_counters::ChunkDays, evidence::ViolatingRequest, input_tally::InputTally};
use crate::logs::record::Scratch;
use crate::measures::example::Position;

/// The state while a chunk is read.
pub(super) struct Reading<'e> {
    /// Of the next line.
    pub position: Position,
    /// The counts of its lines.
    pub tally: InputTally,
    /// The days of its lines, if each day has its own counter.
    pub days: Option<ChunkDays>,
    pub scratch: Scratch,
    /// The violating requests, if they are kept.
    pub evidence: Option<&'e mut Vec<ViolatingRequest>>,
}
