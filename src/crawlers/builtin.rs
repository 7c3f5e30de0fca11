//! The list of crawlers that comes with the program.
//!
//! A start must not take longer for each crawler on the list. So the facts of a crawler are read when somebody first asks for
//! them: an audit meets few of a thousand.

use std::sync::OnceLock;

use super::crawler::Crawler;
use super::table::{self, Test};

/// The list; `scripts/refresh-crawlers` makes it.
const TABLE: &str = include_str!("builtin.csv");

/// The rows in matching order.
pub(crate) fn rows() -> Vec<LazyRow> {
    let records = csv::Reader::from_reader(TABLE.as_bytes()).into_records();
    let row = |record: csv::Result<csv::StringRecord>| {
        let record = record.expect("tests read each row of the built-in list");
        LazyRow { test: table::builtin_test(&record), crawler: LazyCrawler::of_record(record) }
    };
    records.map(row).collect()
}

/// The digest of the list.
pub(crate) fn digest() -> String {
    format!("xxh3:{:032x}", xxhash_rust::xxh3::xxh3_128(TABLE.as_bytes()))
}

/// A row of a registry.
#[derive(Debug)]
pub(crate) struct LazyRow {
    /// The crawler.
    pub crawler: LazyCrawler,
    /// Which user agents are this crawler's: none where it sends none.
    pub test: Option<Test>,
}

/// A crawler, or the row of the built-in list that describes it.
#[derive(Debug)]
pub(crate) struct LazyCrawler {
    record: Option<csv::StringRecord>,
    facts: OnceLock<Box<Crawler>>,
}

impl From<Crawler> for LazyCrawler {
    fn from(crawler: Crawler) -> LazyCrawler {
        LazyCrawler { record: None, facts: OnceLock::from(Box::new(crawler)) }
    }
}

impl LazyCrawler {
    /// The crawler of a row of the built-in list.
    fn of_record(record: csv::StringRecord) -> LazyCrawler {
        LazyCrawler { record: Some(record), facts: OnceLock::new() }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.record.as_ref().map_or_else(|| &*self.get().name, |record| &record[0])
    }

    /// Whether it is a row of the built-in list. No row of that list is ever removed, only replaced.
    pub(crate) fn is_builtin(&self) -> bool {
        self.record.is_some()
    }

    /// All facts.
    pub(crate) fn get(&self) -> &Crawler {
        self.facts.get_or_init(|| {
            let record = self.record.as_ref().expect("a crawler of a user's list has its facts");
            let crawler = table::read_builtin(record);
            Box::new(crawler.expect("tests read each row of the built-in list"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, path::Path};

    use crate::crawlers::{
        crawler::InformationSource, pattern::Pattern, registry::Registry, table,
    };
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
        if std::env::var_os("UPDATE_TOKENS").is_some() {
            let path =
                concat!(env!("CARGO_MANIFEST_DIR"), "/crates/robots/src/robots/unusual_tokens.txt");
            return std::fs::write(path, &expected).unwrap();
        }
        let why = "run UPDATE_TOKENS=1 cargo test --lib crawlers::builtin";
        assert_eq!(UNUSUAL_TOKENS, expected, "{why}");
    }

    #[test]
    fn the_facts_that_are_read_later_are_those_of_the_list() {
        let rows = table::read(Path::new("builtin.csv"), TABLE.as_bytes());
        let rows = rows.unwrap();
        assert_eq!(TABLE.lines().next().unwrap().replace(',', ", "), table::COLUMNS);
        assert_eq!(rows.len(), TABLE.lines().count() - 1, "a cell has a line break");
        assert_eq!(super::rows().len(), rows.len());
        for (row, lazy) in rows.iter().zip(super::rows()) {
            assert_eq!(lazy.crawler.name(), row.crawler.name);
            assert_eq!(lazy.crawler.get(), &row.crawler);
            let literals = |test: &Option<Test>| {
                let test = test.as_ref()?;
                Some((test.include.literals(), test.exclude.as_ref().map(Pattern::literals)))
            };
            assert_eq!(literals(&lazy.test), literals(&row.test), "{}", row.crawler.name);
        }
    }

    /// A policy is the operator's words only if its page is named, and a crawler is on the list only if somebody describes it.
    #[test]
    fn every_row_names_its_source() {
        // Seen in logs only: no further row may be without a page.
        const SEEN: [&str; 11] = [
            "Shellshock probe",
            "DigitalOcean Uptime Probe",
            "Twiceler",
            "Ruby",
            "OpenAI Image Downloader",
            "Google-Flights-Search-Spackle",
            "Incapsula-Monitoring",
            "DreamHost SiteMonitor",
            "TwitterFeed",
            "swagger-validator",
            "Generic bot",
        ];
        let is_page = |url: &str| url.starts_with("https://") || url.starts_with("http://");
        for crawler in Registry::builtin().crawlers() {
            let is_unverified = crawler.evidence == InformationSource::Unverified;
            let has_source = is_page(&crawler.evidence_url)
                || is_unverified
                    && (is_page(&crawler.documentation_url) || SEEN.contains(&&*crawler.name));
            assert!(has_source, "{} names no page of its evidence", crawler.name);
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
