//! The counts of the lines of one input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::logs::reject::{Limitation, Reject, Skip};
use crate::merge::{merge_fields, sum};

use super::reject_tally::{RejectTally, Rejects, by_name, by_reason};
use super::sample_tally::SampleTally;
use super::{same_requests::RequestSketch, tally::header::InputSummary};
use crate::measures::sums::is_default;

/// The longest line that can be a comment; one that is longer is something else that begins like it.
const COMMENT_BYTES_MAX: usize = 4 << 10;

/// Lines of one input: `lines = crawler + other + rejected + skipped`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(from = "FileRecord", into = "FileRecord")]
pub struct InputTally {
    /// Requests of crawlers.
    pub crawler: u64,
    /// Requests of other user agents.
    pub other: u64,
    /// Those of clients that are not crawlers, in a format with a Referer field.
    pub with_referer: u64,
    /// Rejected lines, by reason.
    pub rejected: Rejects,
    /// The bytes of its lines with line ends; counted if days are counted separately.
    pub bytes: u64,
    /// Skipped lines, by reason.
    pub skipped: [u64; Skip::ALL.len()],
    /// The bytes of lines that should be records and are not, with line ends. Of lines over the limit,
    /// only the part that is kept.
    pub unread_bytes: u64,
    /// Those of the other requests whose lines were read in full.
    pub sample: SampleTally,
    /// Some requests of crawlers, by which inputs with the same ones are found.
    pub requests: RequestSketch,
}

/// One input with its counts.
#[derive(Debug)]
pub struct Input {
    /// The summary by its reader.
    pub summary: InputSummary,
    /// Its lines.
    pub tally: InputTally,
}

impl Input {
    /// Whether its format has this limitation. The first lines of a log may lack user agents that later ones have.
    pub(crate) fn has_limitation(&self, limitation: Limitation) -> bool {
        let InputTally { crawler, sample, .. } = &self.tally;
        let is_refuted =
            limitation == Limitation::NoUserAgent && (*crawler > 0 || sample.with_user_agent > 0);
        let format = self.summary.format.as_ref();
        !is_refuted && format.is_some_and(|format| format.limitations.contains(&limitation))
    }

    /// The reasons of rejected lines, with counts.
    pub(crate) fn rejects(&self) -> impl Iterator<Item = (Reject, &RejectTally)> {
        Reject::ALL.iter().copied().zip(&self.tally.rejected).filter(|(_, reject)| reject.lines > 0)
    }

    /// The reasons of skipped lines, with counts.
    pub(crate) fn skips(&self) -> impl Iterator<Item = (Skip, u64)> {
        Skip::ALL.iter().copied().zip(self.tally.skipped).filter(|&(_, lines)| lines > 0)
    }
}

/// The stored form: reasons by name.
#[derive(Deserialize, Serialize)]
struct FileRecord {
    crawler: u64,
    other: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    with_referer: u64,
    bytes: u64,
    rejected: BTreeMap<String, RejectTally>,
    skipped: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    unread_bytes: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    sample: SampleTally,
    #[serde(default, skip_serializing_if = "is_default")]
    requests: RequestSketch,
}

impl From<InputTally> for FileRecord {
    fn from(tally: InputTally) -> FileRecord {
        let InputTally { crawler, other, with_referer, rejected, bytes, skipped, .. } = tally;
        let skipped = Skip::ALL.into_iter().zip(skipped).filter(|(_, lines)| *lines > 0);
        FileRecord {
            crawler,
            other,
            with_referer,
            bytes,
            rejected: by_name(rejected),
            skipped: skipped.map(|(why, lines)| (why.as_str().to_owned(), lines)).collect(),
            unread_bytes: tally.unread_bytes,
            sample: tally.sample,
            requests: tally.requests,
        }
    }
}

/// Unknown reasons are left out. The sums of the input then do not agree, which is checked later.
impl From<FileRecord> for InputTally {
    fn from(record: FileRecord) -> InputTally {
        let FileRecord { crawler, other, with_referer, bytes, rejected, .. } = record;
        let mut skipped = record.skipped;
        InputTally {
            crawler,
            other,
            with_referer,
            rejected: by_reason(rejected),
            bytes,
            skipped: Skip::ALL.map(|why| skipped.remove(why.as_str()).unwrap_or_default()),
            unread_bytes: record.unread_bytes,
            sample: record.sample,
            requests: record.requests,
        }
    }
}

impl InputTally {
    /// The counts of all lines that could not be read, with their samples.
    pub(crate) fn rejects_mut(&mut self) -> impl Iterator<Item = &mut RejectTally> {
        self.rejected.iter_mut().chain(&mut self.sample.rejected)
    }

    /// Counts a rejected line.
    pub(crate) fn reject(&mut self, reason: Reject, line_number: u64, line: &[u8]) {
        self.rejected[reason as usize].count(line_number, line);
        self.unread_bytes += line.len() as u64 + 1;
    }

    /// Counts a rejected line with the user agent of a crawler.
    pub(crate) fn reject_crawler(&mut self, reason: Reject, line_number: u64, line: &[u8]) {
        self.reject(reason, line_number, line);
        self.rejected[reason as usize].crawlers += 1;
    }

    /// Counts a skipped line; `is_wrapped` says whether lines of its format have an envelope. Some
    /// lines that are skipped may be records that could not be read.
    pub(crate) fn skip(&mut self, reason: Skip, line: &[u8], is_wrapped: bool) {
        self.skipped[reason as usize] += 1;
        let is_unread = match reason {
            // The text of other programs, or of a format that is not known.
            Skip::NotAccess => is_wrapped,
            Skip::Partial => true,
            Skip::Blank | Skip::Comment | Skip::Directive => line.len() > COMMENT_BYTES_MAX,
            // Its text is in the line of its first piece.
            Skip::EnvelopePartial | Skip::Subrequest | Skip::OutsideTime => false,
        };
        if is_unread {
            self.unread_bytes += line.len() as u64 + 1;
        }
    }

    /// All rejected lines.
    pub(crate) fn rejected_lines(&self) -> u64 {
        sum(self.rejected.iter().map(|tally| tally.lines))
    }

    /// All skipped lines.
    pub(crate) fn skipped_lines(&self) -> u64 {
        sum(self.skipped.iter().copied())
    }

    /// Parsed lines.
    pub(crate) fn parsed_lines(&self) -> u64 {
        self.crawler.saturating_add(self.other)
    }

    /// All lines.
    pub(crate) fn lines(&self) -> u64 {
        sum([self.parsed_lines(), self.rejected_lines(), self.skipped_lines()].into_iter())
    }
}

merge_fields!(InputTally {
    crawler,
    other,
    with_referer,
    rejected,
    bytes,
    skipped,
    unread_bytes,
    sample,
    requests
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_not_read_counts_with_its_end() {
        let mut tally = InputTally::default();
        tally.reject(Reject::NoTime, 1, b"1234");
        assert_eq!(tally.unread_bytes, 5);
        tally.skip(Skip::Partial, b"123", false);
        assert_eq!(tally.unread_bytes, 9);
        // The texts of other programs were meant to be skipped, unless each line has an envelope.
        tally.skip(Skip::NotAccess, b"12", false);
        assert_eq!(tally.unread_bytes, 9);
        tally.skip(Skip::NotAccess, b"12", true);
        assert_eq!(tally.unread_bytes, 12);
    }
}
