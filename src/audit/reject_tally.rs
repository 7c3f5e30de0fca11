//! Lines that could not be read, by reason.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::logs::reject::Reject;
use crate::measures::sums::is_default;
use crate::merge::{Merge, least};

/// Bytes of a rejected line that are kept as a sample.
pub(crate) const SAMPLE_BYTES_MAX: usize = 512;

/// Rejected lines of one reason.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RejectTally {
    /// The number of lines.
    pub lines: u64,
    /// Those with the user agent of a crawler.
    #[serde(default, skip_serializing_if = "is_default")]
    pub crawlers: u64,
    /// The first of them: its number, and its first `SAMPLE_BYTES_MAX` bytes.
    pub sample: Option<(u64, serde_bytes::ByteBuf)>,
}

/// Lines that could not be read, by reason.
pub type Rejects = [RejectTally; Reject::ALL.len()];

/// The reasons by name, without those that have no lines.
pub(super) fn by_name(rejects: Rejects) -> BTreeMap<String, RejectTally> {
    let rejects = Reject::ALL.into_iter().zip(rejects).filter(|(_, tally)| tally.lines > 0);
    rejects.map(|(why, tally)| (why.as_str().to_owned(), tally)).collect()
}

/// The reverse of [`by_name`]. Unknown reasons are left out.
pub(super) fn by_reason(mut rejects: BTreeMap<String, RejectTally>) -> Rejects {
    Reject::ALL.map(|why| rejects.remove(why.as_str()).unwrap_or_default())
}

impl RejectTally {
    /// Counts a line.
    pub(super) fn count(&mut self, line_number: u64, line: &[u8]) {
        self.lines += 1;
        if self.sample.as_ref().is_none_or(|&(earliest, _)| line_number < earliest) {
            let sample = line[..line.len().min(SAMPLE_BYTES_MAX)].to_vec();
            self.sample = Some((line_number, sample.into()));
        }
    }
}

impl Merge for RejectTally {
    fn absorb(&mut self, other: RejectTally) {
        let RejectTally { lines, crawlers, sample } = other;
        self.lines.absorb(lines);
        self.crawlers.absorb(crawlers);
        self.sample = least(self.sample.take(), sample);
    }
}
