//! From a user agent to a crawler.
//!
//! The result is that of trying each row's regex in order. To try only a few, the user agent is
//! searched for the literals that the regexes require. Only rows with a literal that was found, and
//! before the best row so far, are tried, each at most once. A regex that is only a name is not
//! tried: it is enough that the name stands there as a whole.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, Match};

use crate::robots::product_token::USER_AGENT_BYTES_MAX;

use super::table::Test;
use super::{borders::is_whole, browser::BrowserParts, crawler::CrawlerId, pattern::Literals};

/// The result of identifying a user agent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Identified {
    /// A crawler of the registry.
    Crawler(CrawlerId),
    /// No crawler that is known, and neither a browser nor an app.
    Generic,
    /// A browser or an app.
    Other,
    /// No user agent: the header is empty, missing, or not in the log.
    Empty,
}

/// Finds the first row of a registry that matches a user agent.
#[derive(Debug)]
pub(super) struct Detector {
    /// The regex of each row; `None` matches nothing.
    tests: Vec<Option<Test>>,
    /// Built for the first user agent: some registries only name crawlers.
    index: OnceLock<LiteralIndex>,
}

/// All literals at once.
#[derive(Debug)]
struct LiteralIndex {
    /// The parts of browsers, and then the literals of rows.
    literals: AhoCorasick,
    /// The number of parts of browsers.
    parts: usize,
    /// By literal, after those parts: its row.
    owners: Vec<Owner>,
    /// Rows without a literal, in order: these may always match.
    rows_without: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    row: u16,
    /// Whether the literal is a name, and as a whole one suffices.
    is_name: bool,
}

impl Detector {
    /// A detector for `tests`, in order; there are at most `u16::MAX` of them.
    /// The last one is the test of what looks automated.
    pub(super) fn new(tests: Vec<Option<Test>>) -> Detector {
        Detector { tests, index: OnceLock::new() }
    }

    /// Identifies `user_agent`. An empty one, blanks and `-` are [`Identified::Empty`]. Some logs have `+`
    /// in place of every blank: names with blanks are found in them, too.
    pub(super) fn identify(&self, user_agent: &[u8]) -> Identified {
        if user_agent == b"-" || user_agent.iter().all(|byte| *byte == b' ') {
            return Identified::Empty;
        }
        let user_agent = &user_agent[..user_agent.len().min(USER_AGENT_BYTES_MAX)];
        let found = self.find(user_agent);
        let is_known = matches!(found, Identified::Crawler(_));
        if is_known || user_agent.contains(&b' ') || !user_agent.contains(&b'+') {
            return found;
        }
        let blank = |&byte: &u8| if byte == b'+' { b' ' } else { byte };
        self.find(&user_agent.iter().map(blank).collect::<Vec<u8>>())
    }

    fn find(&self, user_agent: &[u8]) -> Identified {
        let mut search = Search { user_agent, tests: &self.tests, best: None, asked: Vec::new() };
        let mut parts = BrowserParts::default();
        let index = self.index.get_or_init(|| LiteralIndex::new(&self.tests));
        for hit in index.literals.find_overlapping_iter(user_agent) {
            match hit.pattern().as_usize().checked_sub(index.parts) {
                None => parts.add(hit.pattern().as_usize(), &user_agent[hit.end()..]),
                Some(owner) => search.found(index.owners[owner], hit),
            }
        }
        index.rows_without.iter().for_each(|&row| search.ask(row, false));
        match search.best {
            None if parts.are_of_browser(user_agent) => Identified::Other,
            None => Identified::Generic,
            Some(row) if usize::from(row) + 1 == self.tests.len() => Identified::Generic,
            Some(row) => Identified::Crawler(CrawlerId(row)),
        }
    }
}

impl LiteralIndex {
    fn new(tests: &[Option<Test>]) -> LiteralIndex {
        let mut literals: Vec<Vec<u8>> = BrowserParts::all().map(<[u8]>::to_vec).collect();
        let (parts, mut owners, mut rows_without) = (literals.len(), Vec::new(), Vec::new());
        for (test, row) in tests.iter().zip(0_u16..) {
            let Some(test) = test else { continue };
            let (of_row, is_name) = match test.include.literals() {
                Literals::Names(names) => {
                    (names.into_iter().map(String::into_bytes).collect(), true)
                }
                Literals::Parts(parts) => (parts, false),
            };
            if of_row.is_empty() {
                rows_without.push(row);
            }
            owners.extend(of_row.iter().map(|_| Owner { row, is_name }));
            literals.extend(of_row);
        }
        let literals = AhoCorasick::builder().ascii_case_insensitive(true).build(literals);
        let literals = literals.expect("a list is below 16 MiB");
        LiteralIndex { literals, parts, owners, rows_without }
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
    /// Whether `row` is before the best one.
    fn may_improve(&self, row: u16) -> bool {
        self.best.is_none_or(|best| row < best)
    }

    fn found(&mut self, owner: Owner, hit: Match) {
        if self.may_improve(owner.row)
            && (!owner.is_name || is_whole(self.user_agent, hit.start(), hit.end()))
        {
            self.ask(owner.row, owner.is_name);
        }
    }

    /// Tries `row` if it is before the best one. `has_name` if its name was found.
    fn ask(&mut self, row: u16, has_name: bool) {
        if self.may_improve(row) && self.is_first_time(row) && self.is_match(row, has_name) {
            self.best = Some(row);
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

    fn is_match(&self, row: u16, has_name: bool) -> bool {
        let Some(test) = &self.tests[usize::from(row)] else { return false };
        (has_name || test.include.is_match(self.user_agent))
            && !test.exclude.as_ref().is_some_and(|exclude| exclude.is_match(self.user_agent))
    }
}
