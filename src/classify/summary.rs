//! Counts instead of rows: by crawler, by origin, by rule.

use std::collections::BTreeMap;

use crate::bounded::{Bounded, StableHash};
use crate::merge::Merge;

use super::outcome::{Outcome, Outcomes};
use super::{answer::VerdictWord, crawler_source::CrawlerSource};

/// The approximate size of a counted origin or rule without its name, in bytes.
const ENTRY_BYTES: usize = 512;

/// How often each verdict was given, in the order of [`VerdictWord::ALL`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct VerdictCounts(pub [u64; VerdictWord::ALL.len()]);

/// The counts of a whole list.
#[derive(Debug)]
pub struct Summary {
    /// By crawler.
    pub crawlers: BTreeMap<Option<u16>, VerdictCounts>,
    /// By crawler and origin, as `crawler NUL origin`.
    pub origins: Bounded<Vec<u8>, VerdictCounts>,
    /// By crawler, origin and deciding rule, as `crawler NUL origin NUL line NUL directive NUL pattern`.
    pub rules: Bounded<Vec<u8>, VerdictCounts>,
}

impl VerdictCounts {
    /// The count of `word`.
    pub fn of(&self, word: VerdictWord) -> u64 {
        self.0[word as usize]
    }

    /// Adds `count` to the count of `word`.
    pub fn add(&mut self, word: VerdictWord, count: u64) {
        self.0[word as usize] += count;
    }
}

impl Merge for VerdictCounts {
    fn absorb(&mut self, other: VerdictCounts) {
        self.0.absorb(other.0);
    }
}

impl Summary {
    /// Empty counts. Origins and rules that do not fit into `bytes_max` are counted as others.
    pub fn new(bytes_max: usize) -> Summary {
        let entries_max = (bytes_max / ENTRY_BYTES / 2).max(1);
        Summary {
            crawlers: BTreeMap::new(),
            origins: Bounded::new(entries_max),
            rules: Bounded::new(entries_max),
        }
    }

    /// Adds the counts of a batch.
    pub fn add(&mut self, counted: CountedUrls) {
        self.crawlers.absorb(counted.crawlers);
        for (sums, counted) in
            [(&mut self.origins, counted.origins), (&mut self.rules, counted.rules)]
        {
            counted.into_iter().for_each(|(key, hash, counts)| sums.add_hashed(hash, key, counts));
        }
    }
}

/// The counts of a batch by the same keys, each with its stable hash. Keys may repeat.
#[derive(Debug, Default)]
pub struct CountedUrls {
    crawlers: BTreeMap<Option<u16>, VerdictCounts>,
    origins: Vec<(Vec<u8>, u64, VerdictCounts)>,
    rules: Vec<(Vec<u8>, u64, VerdictCounts)>,
}

impl CountedUrls {
    /// Counts the outcomes of a batch.
    pub fn of(outcomes: &Outcomes, crawlers: &CrawlerSource<'_>) -> CountedUrls {
        let mut counted = CountedUrls::default();
        for outcome in outcomes.iter() {
            let mut counts = VerdictCounts::default();
            counts.add(outcome.word, outcome.times);
            counted.crawlers.entry(outcome.crawler).or_default().absorb(counts);
            let Some(key) = origin_key(outcome, crawlers) else { continue };
            if let Some(rule) = rule_key(outcomes, outcome, &key) {
                let hash = rule.stable_hash();
                counted.rules.push((rule, hash, counts));
            }
            // The outcomes of one origin are consecutive.
            match counted.origins.last_mut() {
                Some((last, _, sum)) if *last == key => sum.absorb(counts),
                _ => {
                    let hash = key.stable_hash();
                    counted.origins.push((key, hash, counts));
                }
            }
        }
        counted
    }
}

fn origin_key(outcome: &Outcome, crawlers: &CrawlerSource<'_>) -> Option<Vec<u8>> {
    let origin = outcome.origin.as_ref()?;
    Some([crawlers.name(outcome.crawler).as_bytes(), b"\0", origin.as_bytes()].concat())
}

/// Names and origins contain no NUL, and a pattern comes last.
fn rule_key(outcomes: &Outcomes, outcome: &Outcome, origin_key: &[u8]) -> Option<Vec<u8>> {
    let rule = outcomes.rule(outcome)?;
    let line = rule.line.to_string();
    let (line, directive) = (line.as_bytes(), rule.directive.as_bytes());
    Some([origin_key, b"\0", line, b"\0", directive, b"\0", rule.pattern].concat())
}
