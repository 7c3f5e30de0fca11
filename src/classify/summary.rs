//! Counts instead of rows: by crawler, by origin, by rule; and these counts as CSV.

use std::collections::BTreeMap;

use crate::bounded::StableHash;
use crate::error::Result;
use crate::merge::Merge;
use crate::table::csv::CsvTable;

use super::answer::{Outcome, Outcomes, VerdictWord};
use super::input_format::CrawlerSource;

/// The size of a counted origin or rule without its key, in bytes: its place in a map of which two
/// thirds are in use, and in the list that is sorted at the end.
const ENTRY_BYTES: usize = 136 + size_of::<KeyCounts>();

/// An origin or a rule with its counts.
pub(crate) type KeyCounts = (Vec<u8>, VerdictCounts);

/// How often each verdict was given, in the order of [`VerdictWord::ALL`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct VerdictCounts(pub [u64; VerdictWord::ALL.len()]);

/// What is counted besides crawlers. The first byte of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(crate) enum By {
    /// By crawler and origin: `crawler NUL origin`.
    Origin = b'o',
    /// By crawler, origin and deciding rule: `crawler NUL origin NUL line NUL directive NUL pattern`.
    Rule = b'r',
}

/// The counts of a whole list, within a memory limit.
///
/// What does not fit is added up. The keys with the smallest stable hashes stay, as many as fit, so
/// the result depends neither on their order nor on the number of threads.
#[derive(Debug)]
pub(crate) struct Summary {
    /// By crawler.
    pub crawlers: BTreeMap<Option<u16>, VerdictCounts>,
    kept: BTreeMap<(u64, Vec<u8>), VerdictCounts>,
    bytes: usize,
    bytes_max: usize,
    /// The smallest key that was given up. It and all larger ones are added up.
    first_other: Option<(u64, Vec<u8>)>,
    origins: Option<VerdictCounts>,
    rules: Option<VerdictCounts>,
}

/// The origins, or the rules, that did not fit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Others {
    /// How many are counted one by one.
    pub kept: u64,
    /// About how many are not.
    pub about: u64,
    /// Their counts.
    pub counts: VerdictCounts,
}

/// A summary in the order in which it is written.
#[derive(Debug)]
pub(crate) struct SortedSummary {
    /// By crawler.
    pub crawlers: BTreeMap<Option<u16>, VerdictCounts>,
    /// Origins, and then rules, by their keys.
    pub kept: Vec<KeyCounts>,
    /// The other origins, if there are any.
    pub other_origins: Option<Others>,
    /// The other rules, if there are any.
    pub other_rules: Option<Others>,
}

impl VerdictCounts {
    /// The count of `word`.
    pub(crate) fn of(&self, word: VerdictWord) -> u64 {
        self.0[word as usize]
    }

    /// Adds `count` to the count of `word`.
    pub(crate) fn add(&mut self, word: VerdictWord, count: u64) {
        self.0[word as usize] += count;
    }
}

impl Merge for VerdictCounts {
    fn absorb(&mut self, other: VerdictCounts) {
        self.0.absorb(other.0);
    }
}

impl By {
    /// What `key` counts.
    pub(crate) fn of(key: &[u8]) -> By {
        if key.first() == Some(&(By::Rule as u8)) { By::Rule } else { By::Origin }
    }
}

impl Summary {
    /// Empty counts. Origins and rules that do not fit into `bytes_max` are counted as others.
    pub(crate) fn new(bytes_max: usize) -> Summary {
        Summary {
            crawlers: BTreeMap::new(),
            kept: BTreeMap::new(),
            bytes: 0,
            bytes_max,
            first_other: None,
            origins: None,
            rules: None,
        }
    }

    /// The approximate size in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the counts of a batch.
    pub(crate) fn add(&mut self, counted: CountedUrls) {
        self.crawlers.absorb(counted.crawlers);
        for (key, hash, counts) in counted.keys {
            self.add_key((hash, key), counts);
        }
    }

    fn add_key(&mut self, key: (u64, Vec<u8>), counts: VerdictCounts) {
        if let Some(sum) = self.kept.get_mut(&key) {
            return sum.absorb(counts);
        }
        if self.first_other.as_ref().is_some_and(|first| *first <= key) {
            return self.add_to_others(By::of(&key.1), counts);
        }
        self.bytes += entry_bytes(&key.1);
        self.kept.insert(key, counts);
        while self.bytes > self.bytes_max
            && let Some((key, counts)) = self.kept.pop_last()
        {
            self.bytes -= entry_bytes(&key.1);
            self.add_to_others(By::of(&key.1), counts);
            self.first_other = Some(key);
        }
    }

    fn add_to_others(&mut self, by: By, counts: VerdictCounts) {
        let others = match by {
            By::Origin => &mut self.origins,
            By::Rule => &mut self.rules,
        };
        others.get_or_insert_default().absorb(counts);
    }

    /// The rows in order.
    pub(crate) fn into_sorted(self) -> SortedSummary {
        let (other_origins, other_rules) = (self.others(By::Origin), self.others(By::Rule));
        let mut kept = Vec::with_capacity(self.kept.len());
        kept.extend(self.kept.into_iter().map(|((_, key), counts)| (key, counts)));
        kept.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        SortedSummary { crawlers: self.crawlers, kept, other_origins, other_rules }
    }

    /// Hashes are evenly distributed: if those of the kept keys fill a tenth of all values, there
    /// are ten times as many keys.
    fn others(&self, by: By) -> Option<Others> {
        let counts = match by {
            By::Origin => self.origins?,
            By::Rule => self.rules?,
        };
        let kept = self.kept.keys().filter(|(_, key)| By::of(key) == by).count() as u64;
        let first = self.first_other.as_ref().map_or(u64::MAX, |(hash, _)| (*hash).max(1));
        let all = u128::from(kept) * (u128::from(u64::MAX) + 1) / u128::from(first);
        let about = u64::try_from(all).unwrap_or(u64::MAX).saturating_sub(kept);
        let urls: u64 = counts.0.iter().sum();
        Some(Others { kept, about: about.clamp(1, urls.max(1)), counts })
    }
}

/// The size of an entry, with the overhead of the allocator.
fn entry_bytes(key: &[u8]) -> usize {
    ENTRY_BYTES + (key.len() + 8).next_multiple_of(16).max(32)
}

/// The counts of a batch by the same keys, each with its stable hash. Keys may repeat.
#[derive(Debug, Default)]
pub(crate) struct CountedUrls {
    crawlers: BTreeMap<Option<u16>, VerdictCounts>,
    keys: Vec<(Vec<u8>, u64, VerdictCounts)>,
}

impl CountedUrls {
    /// Counts the outcomes of a batch.
    pub(crate) fn of(outcomes: &Outcomes, crawlers: &CrawlerSource<'_>) -> CountedUrls {
        let mut counted = CountedUrls::default();
        let mut origin: Option<(Vec<u8>, VerdictCounts)> = None;
        for outcome in outcomes.iter() {
            let mut counts = VerdictCounts::default();
            counts.add(outcome.word, outcome.times);
            counted.crawlers.entry(outcome.crawler).or_default().absorb(counts);
            let Some(key) = origin_key(outcome, crawlers) else { continue };
            if let Some(rule) = rule_key(outcomes, outcome, &key) {
                counted.push(rule, counts);
            }
            // The outcomes of one origin are consecutive.
            match &mut origin {
                Some((last, sum)) if *last == key => sum.absorb(counts),
                _ => {
                    let before = origin.replace((key, counts));
                    before.into_iter().for_each(|(key, counts)| counted.push(key, counts));
                }
            }
        }
        origin.into_iter().for_each(|(key, counts)| counted.push(key, counts));
        counted
    }

    fn push(&mut self, key: Vec<u8>, counts: VerdictCounts) {
        let hash = key.stable_hash();
        self.keys.push((key, hash, counts));
    }
}

fn origin_key(outcome: &Outcome, crawlers: &CrawlerSource<'_>) -> Option<Vec<u8>> {
    let origin = outcome.origin.as_ref()?;
    let crawler = crawlers.name(outcome.crawler).as_bytes();
    Some([&[By::Origin as u8], crawler, b"\0", origin.as_bytes()].concat())
}

/// Names and origins contain no NUL, and a pattern comes last.
fn rule_key(outcomes: &Outcomes, outcome: &Outcome, origin_key: &[u8]) -> Option<Vec<u8>> {
    let rule = outcomes.rule(outcome)?;
    let line = rule.line.to_string();
    let (line, directive) = (line.as_bytes(), rule.directive.as_bytes());
    let (by, origin) = (&[By::Rule as u8][..], &origin_key[1..]);
    Some([by, origin, b"\0", line, b"\0", directive, b"\0", rule.pattern].concat())
}

/// How many rows are made before they are written.
const ROWS_AT_ONCE: usize = 4096;

/// The columns before the counts.
const KEYS: [&str; 6] = ["by", "crawler", "origin", "rule_line", "directive", "pattern"];

/// Gives `put` rows by crawler, then by crawler and origin, then by crawler, origin and rule. They are
/// sorted; a row for others comes last and says about how many they are.
///
/// # Errors
/// The first error of `put`.
pub(crate) fn write_summary(
    summary: &SortedSummary,
    names: &CrawlerSource<'_>,
    mut put: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    put(summary_header().as_bytes())?;
    let crawlers = summary.crawlers.iter();
    put(&lines(crawlers.map(|(&id, counts)| (["crawler", names.name(id)].join("\0"), counts))))?;
    let end_of_origins = summary.kept.partition_point(|(key, _)| By::of(key) == By::Origin);
    let (origins, rules) = summary.kept.split_at(end_of_origins);
    write_keys("origin", origins, summary.other_origins, &mut put)?;
    write_keys("rule", rules, summary.other_rules, &mut put)
}

/// The header line.
pub(crate) fn summary_header() -> String {
    let words = VerdictWord::ALL.map(|word| word.as_str().replace('-', "_"));
    format!("\"{}\",\"urls\",\"{}\"\n", KEYS.join("\",\""), words.join("\",\""))
}

fn write_keys(
    by: &str,
    kept: &[KeyCounts],
    others: Option<Others>,
    put: &mut impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    for some in kept.chunks(ROWS_AT_ONCE) {
        let key = |key: &[u8]| format!("{by}\0{}", String::from_utf8_lossy(&key[1..]));
        put(&lines(some.iter().map(|(of, counts)| (key(of), counts))))?;
    }
    let Some(Others { about, counts, .. }) = others else { return Ok(()) };
    let key = format!("{by}\0(others)\0(others)\0\0\0about {about}, more than --memory holds");
    put(&lines([(key, &counts)]))
}

/// Rows as CSV, each of its cells before the counts, with NUL between them, and its counts.
fn lines<'a>(rows: impl IntoIterator<Item = (String, &'a VerdictCounts)>) -> Vec<u8> {
    let columns = KEYS.len() + 1 + VerdictWord::ALL.len();
    let mut csv = CsvTable::without_header(Vec::new(), columns);
    let written = csv.rows(rows, |row, (keys, counts)| {
        let mut keys = keys.splitn(KEYS.len(), '\0');
        KEYS.iter().for_each(|_| _ = row.text(keys.next().unwrap_or_default()));
        let counts = VerdictWord::ALL.map(|word| counts.of(word));
        row.counts([counts.iter().sum()]).counts(counts);
    });
    written.and_then(|()| csv.finish()).expect("memory can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(word: VerdictWord) -> VerdictCounts {
        let mut counts = VerdictCounts::default();
        counts.add(word, 1);
        counts
    }

    fn key(number: usize) -> Vec<u8> {
        // A third are origins, and lengths differ.
        let by = if number.is_multiple_of(3) { "o" } else { "r" };
        format!("{by}crawler\0{}{number}", "x".repeat(number % 90)).into_bytes()
    }

    fn summary(numbers: impl Iterator<Item = usize>, bytes_max: usize) -> SortedSummary {
        let mut summary = Summary::new(bytes_max);
        for number in numbers {
            let key = key(number);
            summary.add_key((key.stable_hash(), key), one(VerdictWord::Allowed));
            assert!(summary.size_bytes() <= bytes_max);
        }
        summary.into_sorted()
    }

    /// Each number twice, in any order: what fits is the same, and nothing is lost.
    #[test]
    fn what_fits_does_not_depend_on_the_order() {
        const KEYS: usize = 5000;
        let shuffled = (0..2 * KEYS).map(|at| at * 7919 % KEYS);
        for bytes_max in [0, 500, 100_000, 600_000, 10_000_000] {
            let found = summary((0..KEYS).chain(0..KEYS), bytes_max);
            let other = summary(shuffled.clone(), bytes_max);
            assert!(found.kept == other.kept, "{bytes_max}");
            let others = [found.other_origins, found.other_rules];
            assert_eq!(others, [other.other_origins, other.other_rules], "{bytes_max}");
            let urls = |counts: &VerdictCounts| counts.of(VerdictWord::Allowed);
            let kept: u64 = found.kept.iter().map(|(_, counts)| urls(counts)).sum();
            let folded: u64 = others.iter().flatten().map(|others| urls(&others.counts)).sum();
            assert_eq!(kept + folded, 2 * KEYS as u64, "{bytes_max}");
            assert_eq!(folded == 0, bytes_max == 10_000_000, "{bytes_max}");
            assert!(found.kept.is_sorted_by(|left, right| left.0 < right.0));
            if found.kept.len() > 100 && folded > 0 {
                let all = others.iter().flatten().map(|others| others.kept + others.about);
                let (all, keys) = (all.sum::<u64>() as f64, KEYS as f64);
                assert!((all / keys - 1.0).abs() < 0.2, "{all} of {keys}, {bytes_max}");
            }
        }
    }

    /// One more key does not fit.
    #[test]
    fn as_many_keys_stay_as_fit() {
        let bytes_max = 100_000;
        let found = summary(0..5000, bytes_max);
        let bytes: usize = found.kept.iter().map(|(key, _)| entry_bytes(key)).sum();
        assert!(bytes <= bytes_max && bytes + entry_bytes(&key(89)) > bytes_max, "{bytes}");
    }
}
