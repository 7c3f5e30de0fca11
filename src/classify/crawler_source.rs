//! The crawlers for which a list is classified.

use crate::crawlers::cache::{UserAgentCache, identify_cached};
use crate::crawlers::{crawler::CrawlerId, identify::Identified, registry::Registry};

/// The crawlers of a list. The judge's crawlers are those named here, in this order.
#[derive(Debug)]
pub enum CrawlerSource<'a> {
    /// The same for each URL.
    Fixed(Vec<String>),
    /// Each row names its crawler. The crawlers of the judge are those of the registry.
    PerRow(&'a Registry),
}

/// How a row names its crawler.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CrawlerValue<'a> {
    /// The name of a crawler.
    Crawler(&'a [u8]),
    /// A User-Agent header.
    UserAgent(&'a [u8]),
}

impl CrawlerSource<'_> {
    /// The name of a crawler; empty if there is none.
    pub(crate) fn name(&self, crawler: Option<u16>) -> &str {
        let Some(crawler) = crawler else { return "" };
        match self {
            CrawlerSource::Fixed(names) => &names[usize::from(crawler)],
            CrawlerSource::PerRow(registry) if CrawlerId(crawler) == registry.generic() => "*",
            CrawlerSource::PerRow(registry) => &registry.crawler(CrawlerId(crawler)).name,
        }
    }

    /// Answers for each row.
    pub fn per_row(&self) -> usize {
        match self {
            CrawlerSource::Fixed(names) => names.len(),
            CrawlerSource::PerRow(_) => 1,
        }
    }
}

/// The crawler that a row names. An unknown user agent is judged by `*`; an unknown name is not
/// judged.
pub(crate) fn crawler_of_row(
    registry: &Registry,
    crawler_value: CrawlerValue<'_>,
    cache: &mut UserAgentCache,
) -> Option<CrawlerId> {
    match crawler_value {
        CrawlerValue::Crawler(name) => registry.find(std::str::from_utf8(name).ok()?),
        CrawlerValue::UserAgent(user_agent) => {
            Some(match identify_cached(registry, user_agent, cache) {
                Identified::Crawler(crawler) => crawler,
                Identified::Generic | Identified::Other | Identified::Empty => registry.generic(),
            })
        }
    }
}
