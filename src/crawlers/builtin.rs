//! The list of crawlers that comes with the program.
//!
//! A start must not take longer for each crawler on the list. So its patterns are not parsed again: a
//! file beside it has what tests computed from them.

use crate::crawlers::lazy::{LazyCrawler, LazyRow};
use crate::crawlers::{pattern::Pattern, table::Test};

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
    let row =
        |(line, patterns)| LazyRow { crawler: LazyCrawler::of_line(line), test: test(patterns) };
    table.lines().zip(patterns.lines()).map(row).collect()
}

fn test(line: &'static str) -> Option<Test> {
    let (regex, rest) = line.split_once('\t')?;
    let (exclude, needles) = rest.split_once('\t')?;
    let needles = needles.split('\t').filter(|needle| !needle.is_empty());
    let needles = needles.map(|needle| needle.as_bytes().into()).collect();
    let include = Pattern::known(needles, Some(regex).filter(|regex| !regex.is_empty()));
    let exclude = (!exclude.is_empty()).then(|| Pattern::known(Vec::new(), Some(exclude)));
    Some(Test { include, exclude })
}

/// The digest of the list.
pub(crate) fn digest() -> &'static str {
    PATTERNS.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::{registry::Registry, table};
    use crate::robots::product_token::UNUSUAL_TOKENS;
    use std::collections::BTreeSet;
    use std::path::Path;

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
        for (row, lazy) in rows.iter().zip(super::rows()) {
            assert_eq!(lazy.crawler.name(), row.crawler.name);
            assert_eq!(lazy.crawler.get(), &row.crawler);
        }
    }
}
