//! Requests for paths about whose use robots.txt stated a preference.
//!
//! They are *fetched under reservation* or with permission; none of this is a violation.

use crate::digest::Digest;
use crate::judge::usage::StatedPreference;

use crate::measures::answer_tally::AnswerTally;

mod oracle;

/// A preference, and the requests to which it applied.
#[derive(Clone, Debug)]
pub struct UsageRow {
    /// The digest of the robots.txt that stated it.
    pub digest: Digest,
    /// The preference.
    pub stated: StatedPreference,
    /// The requests.
    pub tally: AnswerTally,
}
