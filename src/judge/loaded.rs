//! What a judge has read so far, and its memory limit with the sizes of its files.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::digest::Digest;
use crate::robots::foreign::Foreign;
use crate::robots::model::{ParsedRobotsTxt, ProductToken, Rule};
use crate::url::origin::Origin;

use super::{origin_history::OriginHistory, robots::Robots};

/// The most failures, and the most files that are not a robots.txt, that are kept.
pub(super) const FAILURES_MAX: usize = 1000;

/// The files and histories that were read so far.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// By the name of the file; `None` if it could not be read.
    pub(super) sources: BTreeMap<String, Option<Arc<Robots>>>,
    pub(super) by_digest: HashMap<Digest, Arc<Robots>>,
    pub(super) versions: Vec<Arc<Robots>>,
    /// The histories of the origins that were looked up in an archive.
    pub(super) histories: HashMap<Origin, Arc<OriginHistory>>,
    /// By the name of the file: the histories of files whose versions are kept.
    pub(super) file_histories: HashMap<String, Arc<OriginHistory>>,
    /// By the name of the file, or the reason itself for an archive: why it could not be read.
    pub(super) failures: BTreeMap<String, String>,
    /// By the name of the file: what it is instead of a robots.txt.
    pub(super) foreign: BTreeMap<String, Foreign>,
    /// Names of files of which only a part counts.
    pub(super) cut: BTreeSet<String>,
    pub(super) dropped: Dropped,
}

/// The most files that are known to have been dropped.
const DROPPED_MAX: usize = 1 << 16;

/// The files that were dropped to save memory.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    digests: HashSet<Digest>,
    /// How often one of them was read again.
    read_again: u64,
}

impl Dropped {
    fn add(&mut self, digests: impl Iterator<Item = Digest>) {
        let left = DROPPED_MAX - self.digests.len();
        let digests: Vec<Digest> =
            digests.filter(|digest| !self.digests.contains(digest)).take(left).collect();
        self.digests.extend(digests);
    }

    /// Takes note that the file with this digest was read.
    pub(super) fn note_read(&mut self, digest: Digest) {
        self.read_again += u64::from(self.digests.contains(&digest));
    }

    /// How often files were read again; more often if there are too many files to know all.
    pub(super) fn read_again(&self) -> u64 {
        self.read_again
    }
}

impl Loaded {
    /// Notes the file `source` if it is no robots.txt, or if a part of it is ignored.
    pub(super) fn note(&mut self, source: &str, robots: &Robots) {
        if let Some(what) = robots.foreign.filter(|_| self.foreign.len() < FAILURES_MAX) {
            self.foreign.insert(source.to_owned(), what);
        }
        if robots.is_cut() && self.cut.len() < FAILURES_MAX {
            self.cut.insert(source.to_owned());
        }
    }

    /// Drops all files and histories, but not what is reported of them.
    pub(super) fn forget(&mut self) {
        let mut all = std::mem::take(self);
        all.dropped.add(all.by_digest.into_keys());
        let (failures, foreign, cut) = (all.failures, all.foreign, all.cut);
        *self = Loaded { failures, foreign, cut, dropped: all.dropped, ..Loaded::default() };
    }

    /// Of too many failures of an archive, always the same ones are reported.
    pub(super) fn fail(&mut self, why: String) {
        self.failures.insert(why.clone(), why);
        if self.failures.len() > FAILURES_MAX {
            self.failures.pop_last();
        }
    }
}

/// The approximate size of a robots.txt without its text and its crawlers, in bytes.
const FILE_BYTES: usize = 1024;

/// The approximate overhead of the name of a file, in bytes.
const NAME_BYTES: usize = 96;

/// Bytes that a rule takes besides its texts: in its group, and its line among those that bind.
const RULE_BYTES: usize = size_of::<Rule>() + size_of::<u32>();

/// The limit, and the bytes in use.
#[derive(Debug, Default)]
pub(super) struct MemoryBudget {
    /// `None`: everything.
    pub bytes_max: Option<usize>,
    /// The approximate size of files and policies.
    bytes: AtomicUsize,
    /// The part of the limit that others use.
    lent: AtomicUsize,
    forgotten: AtomicU64,
}

impl MemoryBudget {
    /// A limit of about `bytes_max` bytes.
    pub(crate) fn of(bytes_max: usize) -> MemoryBudget {
        MemoryBudget { bytes_max: Some(bytes_max), ..MemoryBudget::default() }
    }

    /// Adds `bytes`, and returns the sum.
    pub(crate) fn add(&self, bytes: usize) -> usize {
        self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes
    }

    /// Leaves `bytes` of the limit to others from now on.
    pub(crate) fn lend(&self, bytes: usize) {
        self.lent.store(bytes, Ordering::Relaxed);
    }

    /// Whether `bytes` are more than the limit without what is lent.
    pub(crate) fn is_exceeded_by(&self, bytes: usize) -> bool {
        let lent = self.lent.load(Ordering::Relaxed);
        self.bytes_max.is_some_and(|bytes_max| bytes > bytes_max.saturating_sub(lent))
    }

    /// Takes note that all is forgotten.
    pub(crate) fn forget(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.forgotten.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that was.
    pub(crate) fn times_forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }
}

/// The approximate size of the name of a file, in bytes.
pub(super) fn name_bytes(name: &str) -> usize {
    NAME_BYTES + name.len()
}

/// The approximate size of a version of a robots.txt in bytes, without its policies.
pub(super) fn file_bytes(robots: &Robots) -> usize {
    FILE_BYTES + robots.bindings.bytes_max() + text_bytes(&robots.text)
}

fn text_bytes(text: &ParsedRobotsTxt) -> usize {
    let groups = text.groups.iter().map(|group| {
        let tokens = group.product_tokens.iter();
        let tokens = tokens.map(|token| size_of::<ProductToken>() + allocated(&token.written));
        let rules = group.rules.iter().map(|rule| {
            let written = rule.written();
            // Otherwise a part of the body.
            let is_escaped = !std::ptr::eq(written, &*rule.pattern);
            RULE_BYTES + if is_escaped { allocated(&rule.pattern) } else { 0 }
        });
        size_of_val(group) + tokens.sum::<usize>() + rules.sum::<usize>()
    });
    let usage =
        text.usage.iter().map(|usage| size_of_val(usage) + 2 * size_of_val(&*usage.preferences));
    let sitemaps = text
        .sitemaps
        .iter()
        .chain(&text.licenses)
        .map(|map| size_of_val(map) + allocated(&map.url));
    let delays = text.crawl_delays.iter();
    let delays = delays.map(|delay| size_of_val(delay) + allocated(&delay.written));
    allocated(&text.body) + groups.chain(sitemaps).chain(delays).chain(usage).sum::<usize>()
}

/// The size of an allocation, with the overhead of the allocator.
fn allocated(bytes: &[u8]) -> usize {
    if bytes.is_empty() { 0 } else { (bytes.len() + 8).next_multiple_of(16).max(32) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::parse::parse;

    #[test]
    fn of_too_many_failures_the_first_by_name_stay() {
        let mut loaded = Loaded::default();
        (0..=FAILURES_MAX).rev().for_each(|number| loaded.fail(format!("{number:04}")));
        assert_eq!(loaded.failures.len(), FAILURES_MAX);
        assert_eq!(loaded.failures.last_key_value().unwrap().0, "0999");
    }

    #[test]
    fn what_is_lent_is_missing_from_the_limit() {
        let budget = MemoryBudget::of(100);
        assert_eq!((budget.add(60), budget.add(40)), (60, 100));
        assert!(!budget.is_exceeded_by(100) && budget.is_exceeded_by(101));
        budget.lend(30);
        assert!(!budget.is_exceeded_by(70) && budget.is_exceeded_by(71));
        assert_eq!(budget.times_forgotten(), 0);
        budget.forget();
        assert_eq!((budget.add(1), budget.times_forgotten()), (1, 1));
        assert!(!MemoryBudget::default().is_exceeded_by(usize::MAX), "no limit");
    }

    /// The size follows what was allocated: rules, tokens, sitemaps, statements about use.
    #[test]
    fn each_line_of_a_file_has_a_size() {
        let bytes = |text: &str| text_bytes(&parse(text.as_bytes()).0);
        let without = bytes("User-agent: a\nDisallow: /a\n");
        for line in [
            "Disallow: /b\n",
            "User-agent: b\n",
            "Crawl-delay: 5\n",
            "Sitemap: https://example.com/sitemap.xml\n",
            "Content-Usage: train-ai=n\n",
        ] {
            let with = bytes(&format!("User-agent: a\nDisallow: /a\n{line}"));
            let sizes = without + line.len()..without + line.len() + 400;
            assert!(sizes.contains(&with), "{line} {with} {without}");
        }
        // A pattern that is not as written takes memory of its own.
        let (plain, escaped) = (
            bytes("User-agent: a\nDisallow: /aaaaaa\n"),
            bytes("User-agent: a\nDisallow: /\u{e4}aaaa\n"),
        );
        assert!(escaped >= plain + 32, "{escaped} {plain}");
    }
}
