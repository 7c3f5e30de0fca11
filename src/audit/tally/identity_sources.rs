//! The lists and DNS names that identities were verified with, for reports.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::merge::{Merge, merge_fields};
use crate::time::UtcTime;

/// How identities were verified.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct IdentitySources {
    /// Published address ranges, if given.
    pub ranges: Option<RangeSources>,
    /// DNS, if used.
    pub names: Option<NameSources>,
}

/// Lists of address ranges.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RangeSources {
    /// The lists of crawlers with rows, by URL.
    pub lists: BTreeMap<String, RangeListSummary>,
    /// The URLs of lists, by the name of the crawler.
    pub of_crawlers: BTreeMap<String, Vec<String>>,
    /// Files that are not lists of a crawler, in order.
    pub unused: Vec<String>,
}

/// One list.
#[derive(Clone, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct RangeListSummary {
    /// The file in the directory; `None` if there is none.
    pub file: Option<String>,
    /// When it was made, if it says so.
    pub created: Option<UtcTime>,
    /// When it was downloaded.
    pub fetched_at: Option<UtcTime>,
    /// The part that could not be read, if any.
    pub fault: Option<String>,
}

/// The DNS lookups and their results.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct NameSources {
    /// The time of the lookups.
    pub asked_at: UtcTime,
    /// Addresses that were looked up.
    pub looked_up: usize,
    /// Those that were not, because they were too many; at least.
    pub passed_over: usize,
    /// Addresses whose lookups failed.
    pub unanswered: usize,
    /// The reason, for one of them.
    pub failure: Option<String>,
}

merge_fields!(IdentitySources { ranges, names });

impl Merge for RangeSources {
    fn absorb(&mut self, other: RangeSources) {
        let RangeSources { lists, of_crawlers, unused } = other;
        for (url, list) in lists {
            let ours = self.lists.entry(url).or_insert_with(|| list.clone());
            // Copies on several machines may differ in when they were written.
            if list < *ours {
                *ours = list;
            }
        }
        self.of_crawlers.extend(of_crawlers);
        self.unused.extend(unused);
        self.unused.sort();
        self.unused.dedup();
    }
}

impl Merge for NameSources {
    fn absorb(&mut self, other: NameSources) {
        // Merges several runs of the same lookups; their times, numbers and failures may differ.
        if other < *self {
            *self = other;
        }
    }
}
