//! What a report must know of the lists and names by which identities were verified.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::merge::{Merge, merge_fields};
use crate::time::UtcTime;

/// How identities were verified.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct IdentitySources {
    /// Published address ranges, where they were given.
    pub ranges: Option<RangeSources>,
    /// DNS, where it was asked.
    pub names: Option<NameSources>,
}

/// Lists of address ranges.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RangeSources {
    /// By URL: the lists of crawlers that have rows.
    pub lists: BTreeMap<String, RangeListSummary>,
    /// By the crawler's name: the URLs of its lists.
    pub of_crawlers: BTreeMap<String, Vec<String>>,
    /// Files that are no list of any crawler, in order.
    pub unused: Vec<String>,
}

/// One list.
#[derive(Clone, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct RangeListSummary {
    /// The file in the directory; `None` if there is none.
    pub file: Option<String>,
    /// When it was made, to the day, if it says so.
    pub created: Option<UtcTime>,
    /// When it was downloaded.
    pub fetched_at: Option<UtcTime>,
    /// What could not be read, if anything.
    pub fault: Option<String>,
}

/// What DNS was asked, and answered.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct NameSources {
    /// When it was asked.
    pub asked_at: UtcTime,
    /// Addresses that were looked up.
    pub looked_up: usize,
    /// Those that were not, because they were too many; at least.
    pub passed_over: usize,
    /// Those for which something was not answered.
    pub unanswered: usize,
    /// Why, for one of them.
    pub failure: Option<String>,
}

merge_fields!(IdentitySources { ranges, names });

impl Merge for RangeSources {
    fn absorb(&mut self, other: RangeSources) {
        for (url, list) in other.lists {
            let ours = self.lists.entry(url).or_insert_with(|| list.clone());
            // Copies on several machines may differ in when they were written.
            if list < *ours {
                *ours = list;
            }
        }
        self.of_crawlers.extend(other.of_crawlers);
        self.unused.extend(other.unused);
        self.unused.sort();
        self.unused.dedup();
    }
}

impl Merge for NameSources {
    fn absorb(&mut self, other: NameSources) {
        // Of several answers to the same questions; it is when, how many and why that may differ.
        if other < *self {
            *self = other;
        }
    }
}
