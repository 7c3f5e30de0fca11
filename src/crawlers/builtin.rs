//! The list of crawlers that comes with the program.
//!
//! A start must not take longer for each crawler on the list. So its patterns are not parsed again: a
//! file beside it has what tests computed from them. And the facts of a crawler are read when somebody first asks for
//! them: an audit meets few of a thousand.

use std::sync::OnceLock;

use super::table::{self, Test};
use super::{crawler::Crawler, pattern::Pattern};

/// The list; `scripts/refresh-crawlers` makes it.
const TABLE: &str = include_str!("builtin.csv");

/// The digest of the list, and then a line for each row: the regex unless its needles suffice, the
/// exclusion, and the needles, with tabs between. A row without a user agent has an empty line.
/// `UPDATE_PATTERNS=1 cargo test --lib crawlers::builtin` writes it.
const PATTERNS: &str = include_str!("builtin.patterns");

/// The rows in matching order.
pub(crate) fn rows() -> Vec<LazyRow> {
    let (_, table) = TABLE.split_once('\n').unwrap_or_default();
    let (_, patterns) = PATTERNS.split_once('\n').unwrap_or_default();
    let mut rows = Vec::with_capacity(patterns.lines().count());
    rows.extend(table.lines().zip(patterns.lines()).map(|(line, patterns)| LazyRow {
        crawler: LazyCrawler::of_line(line),
        test: test(patterns),
    }));
    rows
}

fn test(line: &'static str) -> Option<Test> {
    let (regex, rest) = line.split_once('\t')?;
    let (exclude, needles) = rest.split_once('\t')?;
    let needles = needles.split('\t').filter(|needle| !needle.is_empty());
    let needles = needles.map(|needle| needle.as_bytes().into()).collect();
    let include = Pattern::known(needles, Some(regex).filter(|regex| !regex.is_empty()));
    let exclude = (!exclude.is_empty()).then(|| Pattern::known(Vec::new(), Some(exclude)).into());
    Some(Test { include, exclude })
}

/// The digest of the list.
pub(crate) fn digest() -> &'static str {
    PATTERNS.lines().next().unwrap_or_default()
}

/// A row of a registry.
#[derive(Debug)]
pub(crate) struct LazyRow {
    /// The crawler.
    pub crawler: LazyCrawler,
    /// Which user agents are this crawler's: none where it sends none.
    pub test: Option<Test>,
}

/// A crawler, or the line of the built-in list that describes it.
#[derive(Debug)]
pub(crate) struct LazyCrawler {
    name: &'static str,
    line: &'static str,
    facts: OnceLock<Box<Crawler>>,
}

impl From<Crawler> for LazyCrawler {
    fn from(crawler: Crawler) -> LazyCrawler {
        let facts = OnceLock::from(Box::new(crawler));
        LazyCrawler { name: "", line: "", facts }
    }
}

impl LazyCrawler {
    /// The crawler of a `line` of CSV with all columns, whose first cell is its name, without quotes.
    pub(super) fn of_line(line: &'static str) -> LazyCrawler {
        let name = line.split(',').next().unwrap_or_default();
        LazyCrawler { name, line, facts: OnceLock::new() }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.facts.get().map_or(self.name, |crawler| &crawler.name)
    }

    /// Whether it is a row of the built-in list. No row of that list is ever removed, only replaced.
    pub(crate) fn is_builtin(&self) -> bool {
        !self.name.is_empty()
    }

    /// All facts.
    pub(crate) fn get(&self) -> &Crawler {
        self.facts.get_or_init(|| {
            let crawler = table::read_line(self.line);
            Box::new(crawler.expect("tests read each line of the built-in list"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, path::Path};

    use crate::crawlers::{registry::Registry, table};
    use crate::robots::product_token::UNUSUAL_TOKENS;

    /// The parser has no registry, but must not take the names of known crawlers for mistakes.
    #[test]
    fn the_unusual_tokens_of_the_parser_are_those_of_the_list() {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let rows = table::read(Path::new("builtin.csv"), TABLE.as_bytes()).unwrap();
        let tokens = rows.iter().flat_map(|row| &row.crawler.product_tokens);
        let unusual: BTreeSet<&String> =
            tokens.filter(|token| !token.bytes().all(is_part)).collect();
        let expected: String = unusual.iter().map(|token| format!("{token}\n")).collect();
        if std::env::var_os("UPDATE_PATTERNS").is_some() {
            let path =
                concat!(env!("CARGO_MANIFEST_DIR"), "/crates/robots/src/robots/unusual_tokens.txt");
            return std::fs::write(path, &expected).unwrap();
        }
        let why = "run UPDATE_PATTERNS=1 cargo test --lib crawlers::builtin";
        assert_eq!(UNUSUAL_TOKENS, expected, "{why}");
    }

    #[test]
    fn the_patterns_are_those_of_the_list() {
        let rows = table::read(Path::new("builtin.csv"), TABLE.as_bytes());
        let rows = rows.unwrap();
        assert_eq!(TABLE.lines().next().unwrap().replace(',', ", "), table::COLUMNS);
        assert_eq!(rows.len(), TABLE.lines().count() - 1, "a cell has a line break");
        let registry = Registry::of_crawlers(rows.iter().map(|row| row.crawler.clone()).collect());
        let of_all = registry.crawlers().take(rows.len());
        let mut expected = Registry::digest_of(of_all) + "\n";
        for row in &rows {
            if let Some(test) = &row.test {
                let regex = test.include.has_regex().then_some(&*row.crawler.user_agent_regex);
                let needles = test.include.needles.iter();
                let needles = needles.map(|needle| std::str::from_utf8(needle).unwrap());
                let cells = [regex.unwrap_or_default(), &row.crawler.user_agent_exclude];
                expected += &cells.into_iter().chain(needles).collect::<Vec<_>>().join("\t");
            }
            expected += "\n";
        }
        if std::env::var_os("UPDATE_PATTERNS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/crawlers/builtin.patterns");
            return std::fs::write(path, &expected).unwrap();
        }
        assert!(PATTERNS == expected, "run UPDATE_PATTERNS=1 cargo test --lib crawlers::builtin");
        assert_eq!(super::rows().len(), rows.len());
        for (row, lazy) in rows.iter().zip(super::rows()) {
            assert_eq!(lazy.crawler.name(), row.crawler.name);
            assert_eq!(lazy.crawler.get(), &row.crawler);
        }
    }

    #[test]
    fn facts_are_read_when_they_are_asked_for() {
        let registry = Registry::builtin();
        let read = || registry.shared().iter().filter(|row| row.facts.get().is_some()).count();
        assert!(registry.find("bingbot").is_some() && !registry.digest().is_empty());
        registry.identify(b"Mozilla/5.0 (compatible; bingbot/2.0)");
        assert_eq!(read(), 0);
        assert_eq!(registry.by_user_agent("GPTBot/1.2").unwrap().operator, "OpenAI");
        assert_eq!(read(), 1);
    }
}
