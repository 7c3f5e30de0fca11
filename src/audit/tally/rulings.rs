//! Which robots.txt governed which origin, and when, for reports without the archive.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::judge::{origin_history::SnapshotHistory, timeline::BeforeFirst};
use crate::merge::Merge;

/// The robots.txt files by which the requests of a tally were judged.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Rulings {
    /// Whether one robots.txt was given for the whole log.
    pub is_single_file: bool,
    /// Whether an archive was given.
    pub is_archive: bool,
    /// Whether requests from before the first snapshot count as unknown.
    pub is_unknown_before_first: bool,
    /// Whether all crawlers were treated as bound.
    pub includes_unbound: bool,
    /// Files by name, with their digests.
    pub files: BTreeSet<(String, Digest)>,
    /// Files that could not be read, by name, and why.
    pub failures: BTreeMap<String, String>,
    /// Why robots.txt files that the run wanted to fetch are missing: a sentence for each run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub not_fetched: BTreeSet<String>,
    /// Entries of a directory whose names are not host names.
    pub ignored_names: BTreeSet<String>,
    /// For origins without a robots.txt: the file of the same host under the other scheme.
    #[serde(default)]
    pub other_schemes: BTreeMap<String, String>,
    /// The histories of an archive, by origin.
    pub histories: BTreeMap<String, SnapshotHistory>,
}

impl Rulings {
    /// Whether they know when robots.txt changed.
    pub(crate) fn know_changes(&self) -> bool {
        self.is_archive || !self.histories.is_empty()
    }

    /// How requests before the first snapshot of a robots.txt were judged.
    pub(crate) fn before_first(&self) -> BeforeFirst {
        match self.is_unknown_before_first {
            true => BeforeFirst::Unknown,
            false => BeforeFirst::AsFirst,
        }
    }
}

impl Merge for Rulings {
    fn absorb(&mut self, other: Rulings) {
        let Rulings {
            is_single_file,
            is_archive,
            is_unknown_before_first,
            includes_unbound,
            files,
            failures,
            not_fetched,
            ignored_names,
            other_schemes,
            histories,
        } = other;
        self.is_single_file |= is_single_file;
        self.is_archive |= is_archive;
        self.is_unknown_before_first |= is_unknown_before_first;
        self.includes_unbound |= includes_unbound;
        self.files.extend(files);
        self.not_fetched.extend(not_fetched);
        self.ignored_names.extend(ignored_names);
        self.other_schemes.extend(other_schemes);
        for (source, why) in failures {
            // Of several failures of one file, always the same one is reported.
            let ours = self.failures.entry(source).or_insert_with(|| why.clone());
            if why < *ours {
                *ours = why;
            }
        }
        for (origin, history) in histories {
            let ours = self.histories.entry(origin).or_default();
            if ours.source.is_empty() || history.source < ours.source {
                ours.source = history.source;
            }
            ours.snapshots.extend(history.snapshots);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rulings(why: &str, source: &str) -> Rulings {
        let history = SnapshotHistory { source: source.to_owned(), ..Default::default() };
        Rulings {
            failures: BTreeMap::from([("example.com.txt".to_owned(), why.to_owned())]),
            histories: BTreeMap::from([("https://example.com".to_owned(), history)]),
            ..Rulings::default()
        }
    }

    #[test]
    fn the_same_failure_and_source_stay_in_any_order() {
        for (first, second) in [("a", "b"), ("b", "a")] {
            let mut merged = rulings(first, first);
            merged.absorb(rulings(second, second));
            assert_eq!(merged, rulings("a", "a"));
        }
        let mut merged = rulings("a", "");
        merged.absorb(rulings("a", "b"));
        assert_eq!(merged, rulings("a", "b"), "a source that is not known gives way");
    }

    #[test]
    fn what_any_part_knows_stays() {
        let digest = Digest::of(b"");
        let full = Rulings {
            is_single_file: true,
            is_archive: true,
            is_unknown_before_first: true,
            includes_unbound: true,
            files: [("a.example".to_owned(), digest)].into(),
            not_fetched: ["no".to_owned()].into(),
            ignored_names: ["README".to_owned()].into(),
            other_schemes: [("https://a.example".to_owned(), "a.txt".to_owned())].into(),
            ..rulings("a", "b")
        };
        for [mut first, second] in
            [[full.clone(), Rulings::default()], [Rulings::default(), full.clone()]]
        {
            first.absorb(second);
            assert_eq!(first, full);
        }
    }
}
