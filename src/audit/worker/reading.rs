//! The state of a worker while it reads a chunk.

use crate::logs::record::Scratch;
use crate::measures::example::Position;

use super::super::day_counters::ChunkDays;
use super::super::evidence::ViolatingRequest;
use super::super::input_tally::InputTally;

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
