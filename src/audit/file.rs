//! What became of the lines of one input.

use crate::logs::reject::{Reject, Skip};

use crate::merge::Merge;

/// Bytes of a rejected line that are kept as a sample.
pub const SAMPLE_BYTES_MAX: usize = 512;

/// Lines of one input: `lines = crawler + other + rejected + skipped`.
#[derive(Clone, Debug, Default)]
pub struct FileTally {
    /// Requests of crawlers.
    pub crawler: u64,
    /// Lines of user agents that are no known crawler's.
    pub other: u64,
    /// Lines that are no record, by reason.
    pub rejected: [RejectTally; Reject::ALL.len()],
    /// Bytes of its lines, with one for the end of each; counted where days are told apart.
    pub bytes: u64,
    /// Lines that are not meant to be records, by reason.
    pub skipped: [u64; Skip::ALL.len()],
}

/// Lines that are no record, for one reason.
#[derive(Clone, Debug, Default)]
pub struct RejectTally {
    /// How many.
    pub lines: u64,
    /// The first of them: its number, and its first `SAMPLE_BYTES_MAX` bytes.
    pub sample: Option<(u64, Box<[u8]>)>,
}

impl FileTally {
    /// Counts a line that is no record.
    pub fn reject(&mut self, reason: Reject, line_number: u64, line: &[u8]) {
        let tally = &mut self.rejected[reason as usize];
        tally.lines += 1;
        if tally.sample.as_ref().is_none_or(|&(earliest, _)| line_number < earliest) {
            tally.sample = Some((line_number, line[..line.len().min(SAMPLE_BYTES_MAX)].into()));
        }
    }

    /// Counts a line that is not meant to be a record.
    pub fn skip(&mut self, reason: Skip) {
        self.skipped[reason as usize] += 1;
    }

    /// Lines that are no record, for any reason.
    pub fn rejected_lines(&self) -> u64 {
        self.rejected.iter().map(|tally| tally.lines).sum()
    }

    /// Lines that are not meant to be records, for any reason.
    pub fn skipped_lines(&self) -> u64 {
        self.skipped.iter().sum()
    }

    /// Lines that are records, as far as they were read.
    pub fn parsed_lines(&self) -> u64 {
        self.crawler + self.other
    }

    /// All lines that were looked at.
    pub fn lines(&self) -> u64 {
        self.crawler + self.other + self.rejected_lines() + self.skipped_lines()
    }
}

impl Merge for FileTally {
    fn absorb(&mut self, other: FileTally) {
        self.crawler += other.crawler;
        self.other += other.other;
        self.bytes += other.bytes;
        for (sum, other) in self.skipped.iter_mut().zip(other.skipped) {
            *sum += other;
        }
        for (sum, other) in self.rejected.iter_mut().zip(other.rejected) {
            sum.absorb(other);
        }
    }
}

impl Merge for RejectTally {
    fn absorb(&mut self, other: RejectTally) {
        self.lines += other.lines;
        let is_earlier = match (&self.sample, &other.sample) {
            (Some((ours, _)), Some((theirs, _))) => theirs < ours,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if is_earlier {
            self.sample = other.sample;
        }
    }
}
