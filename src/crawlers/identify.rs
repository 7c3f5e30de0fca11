//! From a user agent to a crawler.
//!
//! The result is that of trying each row's regex in order. To try only a few, the user agent is
//! searched for the literals that the regexes require. Only rows with a literal that was found, and
//! before the best row so far, are tried, each at most once.

use super::browser::is_browser;
use crate::crawlers::{crawler::CrawlerId, pattern::NEEDLE_BYTES_MIN, table::Test};
use crate::robots::product_token::USER_AGENT_BYTES_MAX;

/// The hashes of three bytes: far more than needles, so that most bytes of a user agent have none.
const HASHES: usize = 1 << 16;

/// What user agents of browsers consist of, in lower case. Needles are not searched by such parts if
/// they have others, because most user agents are those of browsers.
const BROWSER_PARTS: &[u8] = include_bytes!("browsers.txt");

/// The result of identifying a user agent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Identified {
    /// A crawler of the registry.
    Crawler(CrawlerId),
    /// No crawler that is known, and neither a browser nor an app.
    Generic,
    /// A browser, an app, or no user agent at all.
    Other,
}

/// Finds the first row of a registry that matches a user agent.
#[derive(Debug)]
pub(super) struct Detector {
    /// By the hash of three bytes: one more than the index of the first needle with them in
    /// `needles`.
    first: Vec<u32>,
    needles: Vec<Needle>,
    /// Rows without a needle, in order: these may always match.
    rows_without: Vec<u16>,
    /// The regex of each row; `None` matches nothing.
    tests: Vec<Option<Test>>,
}

/// A needle of a row, by three of its bytes.
#[derive(Debug)]
struct Needle {
    row: u16,
    /// Which needle of the row.
    index: u16,
    /// Where the three bytes stand in it.
    part_at: u32,
    /// The next needle with that hash, as in [`Detector::first`].
    next: u32,
}

impl Detector {
    /// A detector for `tests`, in order; there are at most `u16::MAX` of them.
    /// The last one is the test of what looks automated.
    pub(super) fn new(tests: Vec<Option<Test>>) -> Detector {
        let mut found = Detector {
            first: vec![0; HASHES],
            needles: Vec::with_capacity(2 * tests.len()),
            rows_without: Vec::new(),
            tests: Vec::new(),
        };
        let mut in_browsers = vec![false; HASHES];
        let parts = BROWSER_PARTS.windows(NEEDLE_BYTES_MIN);
        parts.for_each(|part| in_browsers[hash(part)] = true);
        for (test, row) in tests.iter().zip(0_u16..) {
            let Some(test) = test else { continue };
            for (needle, index) in test.include.needles.iter().zip(0_u16..) {
                found.add(needle, row, index, &in_browsers);
            }
            if test.include.needles.is_empty() {
                found.rows_without.push(row);
            }
        }
        found.tests = tests;
        found
    }

    /// Files a needle under bytes that few user agents and no other needle have, if there are any:
    /// a search compares the needles of all bytes of the user agent.
    fn add(&mut self, needle: &[u8], row: u16, index: u16, in_browsers: &[bool]) {
        let parts = needle.windows(NEEDLE_BYTES_MIN).map(hash).zip(0_u32..);
        let cost = |(part, _): &(usize, u32)| (in_browsers[*part], self.first[*part] != 0);
        let best = parts.clone().find(|part| cost(part) == (false, false));
        let Some((part, part_at)) = best.or_else(|| parts.min_by_key(cost)) else { return };
        self.needles.push(Needle { row, index, part_at, next: self.first[part] });
        self.first[part] = u32::try_from(self.needles.len()).expect("a list is below 16 MiB");
    }

    /// Identifies `user_agent`. An empty one, blanks and `-` are [`Identified::Other`]. Some logs have `+`
    /// in place of every blank: names with blanks are found in them, too.
    pub(super) fn identify(&self, user_agent: &[u8]) -> Identified {
        if user_agent == b"-" || user_agent.iter().all(|byte| *byte == b' ') {
            return Identified::Other;
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
        // Needles are in lower case.
        let folded = user_agent.to_ascii_lowercase();
        for (at, bytes) in folded.windows(NEEDLE_BYTES_MIN).enumerate() {
            let mut next = self.first[hash(bytes)];
            while let Some(needle) = self.needles.get((next as usize).wrapping_sub(1)) {
                next = needle.next;
                if search.may_improve(needle.row) && self.is_at(needle, &folded, at) {
                    search.ask(needle.row);
                }
            }
        }
        self.rows_without.iter().for_each(|&row| search.ask(row));
        match search.best {
            None if is_browser(user_agent) => Identified::Other,
            None => Identified::Generic,
            Some(row) if usize::from(row) + 1 == self.tests.len() => Identified::Generic,
            Some(row) => Identified::Crawler(CrawlerId(row)),
        }
    }

    /// Whether `needle` stands in `folded`, with its three bytes `at` this place.
    fn is_at(&self, needle: &Needle, folded: &[u8], at: usize) -> bool {
        let bytes = self.tests[usize::from(needle.row)]
            .as_ref()
            .and_then(|test| test.include.needles.get(usize::from(needle.index)));
        let from = at.checked_sub(needle.part_at as usize).and_then(|start| folded.get(start..));
        from.zip(bytes).is_some_and(|(from, bytes)| from.starts_with(bytes))
    }
}

/// An index of [`Detector::first`] for three bytes.
fn hash(bytes: &[u8]) -> usize {
    let [one, two, three] = [bytes[0], bytes[1], bytes[2]].map(usize::from);
    (one << 10 ^ two << 5 ^ three) % HASHES
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
