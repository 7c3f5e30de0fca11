//! The crawler of a check: from the registry, by user agent, or by product token.

use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::{identify::Identified, registry::Registry};
use crate::judge::AD_HOC;

/// A crawler with its id in the judge.
#[derive(Clone, Copy, Debug)]
pub struct CheckedCrawler<'a> {
    /// The id in the judge.
    pub id: CrawlerId,
    /// The crawler as shown to people.
    pub kind: CrawlerKind<'a>,
}

/// How the user gave the crawler, and what is known about it.
#[derive(Clone, Copy, Debug)]
pub enum CrawlerKind<'a> {
    /// A crawler of the registry, given by name.
    Crawler(&'a Crawler),
    /// A crawler of the registry, found by this user agent.
    FoundCrawler(&'a Crawler, &'a [u8]),
    /// Not in the registry, but this user agent looks automated: bound by `*`.
    Automated(&'a [u8]),
    /// The user agent does not look automated. If it were a crawler, `*` would bind it.
    Unknown(&'a [u8]),
    /// A product token, which need not be in the registry: bound, and obeys `*`.
    Token(&'a str),
}

impl<'a> CheckedCrawler<'a> {
    /// The crawler named `name`, in any ASCII case.
    pub fn named(registry: &'a Registry, name: &str) -> Option<CheckedCrawler<'a>> {
        let id = registry.find(name)?;
        Some(CheckedCrawler { id, kind: CrawlerKind::Crawler(registry.crawler(id)) })
    }

    /// The sender of `user_agent`, the whole header; identified as in an audit.
    pub fn by_user_agent(registry: &'a Registry, user_agent: &'a [u8]) -> CheckedCrawler<'a> {
        match registry.identify(user_agent) {
            Identified::Crawler(id) => CheckedCrawler {
                id,
                kind: CrawlerKind::FoundCrawler(registry.crawler(id), user_agent),
            },
            Identified::Generic => {
                CheckedCrawler { id: registry.generic(), kind: CrawlerKind::Automated(user_agent) }
            }
            Identified::Other => {
                CheckedCrawler { id: registry.generic(), kind: CrawlerKind::Unknown(user_agent) }
            }
        }
    }

    /// The crawler with only `product_token`; for a judge made for it.
    pub fn ad_hoc(product_token: &'a str) -> CheckedCrawler<'a> {
        CheckedCrawler { id: AD_HOC, kind: CrawlerKind::Token(product_token) }
    }
}

impl<'a> CrawlerKind<'a> {
    /// The registry entry, if there is one.
    pub fn crawler(self) -> Option<&'a Crawler> {
        match self {
            CrawlerKind::Crawler(crawler) | CrawlerKind::FoundCrawler(crawler, _) => Some(crawler),
            CrawlerKind::Automated(_) | CrawlerKind::Unknown(_) | CrawlerKind::Token(_) => None,
        }
    }

    /// Whether rules bind the crawler.
    pub fn obligation(self) -> Obligation {
        self.crawler().map_or(Obligation::Bound, Crawler::obligation)
    }
}
