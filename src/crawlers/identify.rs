//! From a user agent to a crawler.
//!
//! The result is that of trying each row's regex in order. To try only a few, one automaton
//! searches for the literals that the regexes require. Only rows with a literal that was found, and
//! before the best row so far, are tried, each at most once.

use crate::crawlers::{crawler::CrawlerId, table::Test};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::collections::BTreeMap;

/// The part of a user agent that counts, in bytes. Web servers cut a header line at 8 KiB, and real
/// user agents are shorter than 1 KiB; a hostile one must not take more time.
pub const USER_AGENT_BYTES_MAX: usize = 4096;

/// The result of identifying a user agent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Identified {
    /// A crawler of the registry.
    Crawler(CrawlerId),
    /// No crawler that is known, but it looks automated.
    Generic,
    /// Anything else: a browser, an app, nothing at all.
    Other,
}

/// Finds the first row of a registry that matches a user agent.
#[derive(Debug)]
pub(super) struct Detector {
    needles: AhoCorasick,
    /// For each needle, the rows that may match, in order.
    rows_by_needle: Vec<Vec<u16>>,
    /// Rows without a needle, in order: these may always match.
    rows_without: Vec<u16>,
    /// The regex of each row; `None` matches nothing.
    tests: Vec<Option<Test>>,
}

impl Detector {
    /// A detector for `tests`, in order; there are at most `u16::MAX` of them.
    /// The last one is the test of what looks automated.
    pub(super) fn new(tests: Vec<Option<Test>>) -> Detector {
        let mut rows_by_needle = BTreeMap::<&[u8], Vec<u16>>::new();
        let mut rows_without = Vec::new();
        for (test, row) in tests.iter().zip(0_u16..) {
            let Some(test) = test else { continue };
            for needle in &test.include.needles {
                rows_by_needle.entry(needle).or_default().push(row);
            }
            if test.include.needles.is_empty() {
                rows_without.push(row);
            }
        }
        // A DFA would be nearly twice as fast, but building it takes as long as about 30,000
        // searches, and a log has fewer distinct user agents.
        let needles = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(rows_by_needle.keys())
            .expect("a registry's file is far smaller than what an automaton can hold");
        let rows_by_needle = rows_by_needle.into_values().collect();
        Detector { needles, rows_by_needle, rows_without, tests }
    }

    /// Identifies `user_agent`. An empty one and `-` are [`Identified::Other`]. Some logs have `+`
    /// in place of every blank: names with blanks are found in them, too.
    pub(super) fn identify(&self, user_agent: &[u8]) -> Identified {
        if matches!(user_agent, b"" | b"-") {
            return Identified::Other;
        }
        let user_agent = &user_agent[..user_agent.len().min(USER_AGENT_BYTES_MAX)];
        let found = self.find(user_agent);
        let is_known = matches!(found, Identified::Crawler(_));
        if is_known || user_agent.contains(&b' ') || !user_agent.contains(&b'+') {
            return found;
        }
        let blank = |&byte: &u8| if byte == b'+' { b' ' } else { byte };
        match self.find(&user_agent.iter().map(blank).collect::<Vec<u8>>()) {
            known @ Identified::Crawler(_) => known,
            _ => found,
        }
    }

    fn find(&self, user_agent: &[u8]) -> Identified {
        let mut search = Search { user_agent, tests: &self.tests, best: None, asked: Vec::new() };
        // Needles are in lower case. Searching for both cases of each letter took twice as long.
        for hit in self.needles.find_overlapping_iter(&user_agent.to_ascii_lowercase()) {
            search.ask(&self.rows_by_needle[hit.pattern().as_usize()]);
        }
        search.ask(&self.rows_without);
        match search.best {
            None => Identified::Other,
            Some(row) if usize::from(row) + 1 == self.tests.len() => Identified::Generic,
            Some(row) => Identified::Crawler(CrawlerId(row)),
        }
    }
}

/// One user agent's way through the rows.
struct Search<'a> {
    user_agent: &'a [u8],
    tests: &'a [Option<Test>],
    /// The first row known to match.
    best: Option<u16>,
    /// A bit for each row that was tried; empty before the first.
    asked: Vec<u64>,
}

impl Search<'_> {
    /// Tries the `rows` before the best one; they are in ascending order.
    fn ask(&mut self, rows: &[u16]) {
        for &row in rows {
            if self.best.is_some_and(|best| best <= row) {
                return;
            }
            if self.is_first_time(row) && self.is_match(row) {
                self.best = Some(row);
            }
        }
    }

    fn is_first_time(&mut self, row: u16) -> bool {
        if self.asked.is_empty() {
            self.asked = vec![0; self.tests.len().div_ceil(64)];
        }
        let (word, bit) = (usize::from(row) / 64, 1 << (row % 64));
        let is_first = self.asked[word] & bit == 0;
        self.asked[word] |= bit;
        is_first
    }

    fn is_match(&self, row: u16) -> bool {
        let Some(test) = &self.tests[usize::from(row)] else { return false };
        test.include.is_confirmed(self.user_agent)
            && !test.exclude.as_ref().is_some_and(|exclude| exclude.is_match(self.user_agent))
    }
}
