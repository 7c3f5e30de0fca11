//! From a user agent to a crawler.
//!
//! The result is that of trying each row's regex in order. To try only a few, the user agent is
//! searched for the literals that the regexes require. Only rows with a literal that was found, and
//! before the best row so far, are tried, each at most once.

use std::sync::OnceLock;

use crate::robots::product_token::USER_AGENT_BYTES_MAX;

use super::{browser::BrowserParts, crawler::CrawlerId, needles::Needles, table::Test};

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
    index: OnceLock<NeedleIndex>,
}

#[derive(Debug)]
struct NeedleIndex {
    /// The parts of browsers, named by their numbers, and the needles of rows. The name of one is its place in
    /// `owners`, after the last of those.
    needles: Needles,
    /// The number of parts of browsers.
    parts: usize,
    /// By needle: its row, and which needle of the row it is.
    owners: Vec<(u16, u16)>,
    /// Rows without a needle, in order: these may always match.
    rows_without: Vec<u16>,
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
        // Needles are in lower case.
        let folded = user_agent.to_ascii_lowercase();
        let index = self.index.get_or_init(|| NeedleIndex::new(&self.tests));
        index.needles.find(&folded, |name, rest| {
            let Some(owner) = (name as usize).checked_sub(index.parts) else {
                return parts.add(name as usize, rest);
            };
            let (row, index) = index.owners[owner];
            if search.may_improve(row) && rest.starts_with(self.needle(row, index)) {
                search.ask(row);
            }
        });
        index.rows_without.iter().for_each(|&row| search.ask(row));
        match search.best {
            None if parts.are_of_browser(user_agent) => Identified::Other,
            None => Identified::Generic,
            Some(row) if usize::from(row) + 1 == self.tests.len() => Identified::Generic,
            Some(row) => Identified::Crawler(CrawlerId(row)),
        }
    }

    fn needle(&self, row: u16, index: u16) -> &[u8] {
        let test = self.tests[usize::from(row)].as_ref();
        &test.expect("a row with a needle has a test").include.needles[usize::from(index)]
    }
}

impl NeedleIndex {
    fn new(tests: &[Option<Test>]) -> NeedleIndex {
        let mut needles = Needles::new();
        (0..).zip(BrowserParts::all()).for_each(|(name, part)| needles.add(part, name));
        let parts = BrowserParts::all().count();
        let owners = Vec::with_capacity(2 * tests.len());
        let mut index = NeedleIndex { needles, parts, owners, rows_without: Vec::new() };
        for (test, row) in tests.iter().zip(0_u16..) {
            let Some(test) = test else { continue };
            for (needle, which) in test.include.needles.iter().zip(0_u16..) {
                let name = u32::try_from(parts + index.owners.len());
                let name = name.expect("a list is below 16 MiB");
                index.needles.add(needle, name);
                index.owners.push((row, which));
            }
            if test.include.needles.is_empty() {
                index.rows_without.push(row);
            }
        }
        index
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

    /// Tries `row` if it is before the best one.
    fn ask(&mut self, row: u16) {
        if self.may_improve(row) && self.is_first_time(row) && self.is_match(row) {
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

    fn is_match(&self, row: u16) -> bool {
        let Some(test) = &self.tests[usize::from(row)] else { return false };
        test.include.is_confirmed(self.user_agent)
            && !test.exclude.as_ref().is_some_and(|exclude| exclude.is_match(self.user_agent))
    }
}
