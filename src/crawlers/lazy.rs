//! Crawlers whose facts are read when somebody first asks for them: an audit meets few of a thousand.

use crate::crawlers::crawler::Crawler;
use crate::crawlers::table::{self, Test};
use std::sync::OnceLock;

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
    use crate::crawlers::registry::Registry;

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
