//! The lists and DNS names that identities were verified with, for reports.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::merge::{Merge, merge_fields};
use crate::time::UtcTime;

/// How identities were verified.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct IdentitySources {
    /// Published address ranges, if given.
    pub ranges: Option<RangeSources>,
    /// Address lists that come with the program, unless they were switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bundled: Option<BundledSources>,
    /// DNS, if used.
    pub names: Option<NameSources>,
    /// Keys of agents that sign requests, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<KeySources>,
    /// Names in DNS that earlier runs confirmed, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) archived_names: Option<ArchivedNameSources>,
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

/// Address lists that come with the program.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct BundledSources {
    /// When each list of crawlers with rows was like this, by URL.
    pub lists: BTreeMap<String, UtcTime>,
    /// The URLs of lists, by the name of the crawler.
    pub of_crawlers: BTreeMap<String, BTreeSet<String>>,
}

/// The day of `times`, or the first and the last one.
pub(crate) fn days_of(times: impl Iterator<Item = UtcTime>) -> Option<String> {
    let days: BTreeSet<String> = times.map(day).collect();
    let (first, last) = (days.first()?, days.last()?);
    Some(if first == last { first.clone() } else { format!("{first} to {last}") })
}

/// The day of `time`, in UTC.
pub(crate) fn day(time: UtcTime) -> String {
    time.to_string().chars().take(10).collect()
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
    /// Its versions, if there are earlier ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<ListVersions>,
}

/// The versions of a list.
#[derive(Clone, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct ListVersions {
    /// How many there are.
    pub count: usize,
    /// When the first one was seen.
    pub first: Option<UtcTime>,
    /// When the last one was seen.
    pub last: Option<UtcTime>,
    /// How many could not be read whole.
    pub faulty: usize,
    /// Why not, for the first of them.
    pub first_fault: Option<String>,
}

/// An archive of keys.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct KeySources {
    /// How many directories of keys there are.
    pub directories: usize,
    /// When the first one was seen.
    pub first: Option<UtcTime>,
    /// When the last one was seen.
    pub last: Option<UtcTime>,
    /// How many files could not be read.
    pub faulty: usize,
    /// Why not, for the first of them.
    pub first_fault: Option<String>,
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

/// An archive of names in DNS.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct ArchivedNameSources {
    /// How many names there are, those with a long time between lookups once for each.
    pub names: usize,
    /// The time of the first lookup.
    pub first: Option<UtcTime>,
    /// The time of the last lookup.
    pub last: Option<UtcTime>,
}

merge_fields!(IdentitySources { ranges, bundled, names, keys, archived_names });

/// Of two that differ, the sum has the smaller one: machines may have other copies of the same archive, and several
/// runs of the same lookups may differ in times, numbers and failures.
macro_rules! keep_smaller {
    ($($name:ident)*) => { $(
        impl Merge for $name {
            fn absorb(&mut self, other: $name) {
                if other < *self {
                    *self = other;
                }
            }
        }
    )* };
}
keep_smaller!(ArchivedNameSources KeySources NameSources);

impl Merge for BundledSources {
    fn absorb(&mut self, other: BundledSources) {
        let BundledSources { lists, of_crawlers } = other;
        for (url, at) in lists {
            // Builds of the same version may have other lists.
            let ours = self.lists.entry(url).or_insert(at);
            *ours = at.min(*ours);
        }
        for (crawler, urls) in of_crawlers {
            self.of_crawlers.entry(crawler).or_default().extend(urls);
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> UtcTime {
        UtcTime::from_unix_seconds(seconds).unwrap()
    }

    #[test]
    fn lists_of_all_parts_are_named_once_and_in_order() {
        let part = |crawler: &str, unused: &[&str]| RangeSources {
            of_crawlers: BTreeMap::from([(crawler.to_owned(), vec![format!("{crawler}.json")])]),
            unused: unused.iter().map(|&file| file.to_owned()).collect(),
            ..RangeSources::default()
        };
        let mut sum = part("GPTBot", &["b", "c"]);
        sum.absorb(part("bingbot", &["a", "b"]));
        let crawlers: Vec<&String> = sum.of_crawlers.keys().collect();
        assert_eq!(crawlers, ["GPTBot", "bingbot"]);
        assert_eq!(sum.unused, ["a", "b", "c"]);
    }

    /// Machines may have other copies of a list; the order of merging never shows.
    #[test]
    fn the_same_of_two_copies_stays_in_any_order() {
        let with = |fetched_at: i64| {
            let list = RangeListSummary { fetched_at: Some(at(fetched_at)), ..Default::default() };
            let lists = BTreeMap::from([("https://example.com/bots.json".to_owned(), list)]);
            RangeSources { lists, ..RangeSources::default() }
        };
        let looked_up = |asked_at: i64| NameSources {
            asked_at: at(asked_at),
            looked_up: 1,
            passed_over: 0,
            unanswered: 0,
            failure: None,
        };
        let keys_of = |last: i64| KeySources {
            directories: 1,
            first: Some(at(0)),
            last: Some(at(last)),
            faulty: 0,
            first_fault: None,
        };
        let names_of =
            |last: i64| ArchivedNameSources { names: 1, first: Some(at(0)), last: Some(at(last)) };
        for (first, second) in [(1, 2), (2, 1)] {
            let mut keys = keys_of(first);
            keys.absorb(keys_of(second));
            assert_eq!(keys, keys_of(1));
            let mut archived = names_of(first);
            archived.absorb(names_of(second));
            assert_eq!(archived, names_of(1));
            let mut ranges = with(first);
            ranges.absorb(with(second));
            assert_eq!(ranges, with(1));
            let mut names = looked_up(first);
            names.absorb(looked_up(second));
            assert_eq!(names, looked_up(1));
        }
    }
}
