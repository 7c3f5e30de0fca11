//! Lines of clients that are no crawlers, which were read in full: all at the beginning of a log, and then a sample.
//!
//! The other lines of these clients are read up to the user agent, so they say nothing about the rest of the layout.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::logs::{reject::Reject, sample::SAMPLED_OF};
use crate::measures::sums::is_default;
use crate::merge::merge_fields;

use super::reject_tally::{RejectTally, Rejects, by_name, by_reason};

/// So many lines at the beginning of what is read of a log are read in full.
pub(crate) const LINES_AT_FIRST: u64 = 1024;

/// A line of such a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampledLine<'a> {
    /// Its number in the file.
    pub number: u64,
    /// Its text.
    pub text: &'a [u8],
    /// How many lines it stands for.
    pub weight: u64,
    /// Whether it has a user agent.
    pub has_user_agent: bool,
}

/// What became of these lines.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(from = "SampleRecord", into = "SampleRecord")]
pub struct SampleTally {
    /// The lines that could be read, by weight.
    pub read: u64,
    /// The lines that could not, by weight.
    pub unread: u64,
    /// Those of all of them that have a user agent, each once.
    pub with_user_agent: u64,
    /// The lines that could not be read, by reason.
    pub rejected: Rejects,
}

merge_fields!(SampleTally { read, unread, with_user_agent, rejected });

/// The stored form: reasons by name.
#[derive(Deserialize, Serialize)]
struct SampleRecord {
    read: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    unread: u64,
    with_user_agent: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    rejected: BTreeMap<String, RejectTally>,
}

impl From<SampleTally> for SampleRecord {
    fn from(tally: SampleTally) -> SampleRecord {
        let SampleTally { read, unread, with_user_agent, rejected } = tally;
        SampleRecord { read, unread, with_user_agent, rejected: by_name(rejected) }
    }
}

impl From<SampleRecord> for SampleTally {
    fn from(record: SampleRecord) -> SampleTally {
        let SampleRecord { read, unread, with_user_agent, rejected } = record;
        SampleTally { read, unread, with_user_agent, rejected: by_reason(rejected) }
    }
}

impl SampleTally {
    /// How many lines a line with this number stands for, if those up to `head_end` are all read; `None` if it is
    /// not read.
    pub(crate) fn weight(number: u64, head_end: u64, is_sampled: bool) -> Option<u64> {
        match (number <= head_end, is_sampled) {
            (true, _) => Some(1),
            (false, true) => Some(SAMPLED_OF),
            (false, false) => None,
        }
    }

    /// Counts a line, which could be read or not.
    pub(crate) fn count(&mut self, line: SampledLine<'_>, read: Result<(), Reject>) {
        self.with_user_agent += u64::from(line.has_user_agent);
        match read {
            Err(reason) if line.is_odd(reason) => {
                self.unread += line.weight;
                self.rejected[reason as usize].count(line.number, line.text);
            }
            _ => self.read += line.weight,
        }
    }
}

impl SampledLine<'_> {
    /// Whether this reason says that the layout may be another. A server that gets no HTTP, such as a TLS hello, logs
    /// it as a request without a user agent.
    fn is_odd(&self, reason: Reject) -> bool {
        reason != Reject::BadRequest || self.has_user_agent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampled_line_stands_for_others() {
        let mut tally = SampleTally::default();
        for (number, is_sampled, read) in [
            (1, false, Ok(())),
            (2, true, Err(Reject::BadTime)),
            (3, true, Ok(())),
            (4, false, Err(Reject::BadTime)),
            (5, true, Err(Reject::BadStatus)),
        ] {
            let Some(weight) = SampleTally::weight(number, 2, is_sampled) else { continue };
            let line = SampledLine { number, text: b"x", weight, has_user_agent: true };
            tally.count(line, read);
        }
        let (read, unread) = (1 + SAMPLED_OF, 1 + SAMPLED_OF);
        assert_eq!((tally.read, tally.unread, tally.with_user_agent), (read, unread, 4));
        let first = |why: Reject| tally.rejected[why as usize].sample.clone().unwrap().0;
        assert_eq!((first(Reject::BadTime), first(Reject::BadStatus)), (2, 5));
    }

    #[test]
    fn what_is_no_http_says_nothing_unless_it_has_a_user_agent() {
        let mut tally = SampleTally::default();
        for has_user_agent in [false, true] {
            let line = SampledLine { number: 1, text: b"x", weight: 1, has_user_agent };
            tally.count(line, Err(Reject::BadRequest));
        }
        assert_eq!((tally.read, tally.unread, tally.with_user_agent), (1, 1, 1));
    }
}
