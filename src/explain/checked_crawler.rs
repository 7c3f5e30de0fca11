//! The crawler of a check: from the registry, by user agent, or by product token.

use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::{identify::Identified, registry::Registry};
use crate::judge::AD_HOC;
use crate::robots::product_token::first_product_token;

/// A crawler with its id in the judge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedCrawler<'a> {
    /// The id in the judge.
    pub id: CrawlerId,
    /// The crawler as shown to people.
    pub kind: CrawlerKind<'a>,
}

/// How the user gave the crawler, and what is known about it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CrawlerKind<'a> {
    /// A crawler of the registry, given by name.
    Crawler(&'a Crawler),
    /// A crawler of the registry, found by this user agent.
    FoundCrawler(&'a Crawler, &'a [u8]),
    /// Not in the registry, but this user agent looks automated: bound by the groups for its first
    /// product token, if it has one, and else by `*`.
    Automated(&'a [u8], Option<&'a str>),
    /// The user agent does not look automated. If it were a crawler, the same would bind it.
    Unknown(&'a [u8], Option<&'a str>),
    /// A product token, which need not be in the registry: bound, and obeys `*`.
    Token(&'a str),
}

impl<'a> CheckedCrawler<'a> {
    /// The crawler named `name`, in any ASCII case.
    pub(crate) fn named(registry: &'a Registry, name: &str) -> Option<CheckedCrawler<'a>> {
        let id = registry.find(name)?;
        Some(CheckedCrawler { id, kind: CrawlerKind::Crawler(registry.crawler(id)) })
    }

    /// The sender of `user_agent`, the whole header; identified as in an audit. One that is not in
    /// the registry is known by its first product token.
    pub(crate) fn by_user_agent(
        registry: &'a Registry,
        user_agent: &'a [u8],
    ) -> CheckedCrawler<'a> {
        match registry.identify(user_agent) {
            Identified::Crawler(id) => CheckedCrawler {
                id,
                kind: CrawlerKind::FoundCrawler(registry.crawler(id), user_agent),
            },
            Identified::Generic => {
                let token = first_product_token(user_agent);
                CheckedCrawler { id: AD_HOC, kind: CrawlerKind::Automated(user_agent, token) }
            }
            Identified::Other | Identified::Empty => {
                let token = first_product_token(user_agent);
                CheckedCrawler { id: AD_HOC, kind: CrawlerKind::Unknown(user_agent, token) }
            }
        }
    }

    /// The crawler with only `product_token`; for a judge made for it.
    pub(crate) fn ad_hoc(product_token: &'a str) -> CheckedCrawler<'a> {
        CheckedCrawler { id: AD_HOC, kind: CrawlerKind::Token(product_token) }
    }
}

impl<'a> CrawlerKind<'a> {
    /// The registry entry, if there is one.
    pub(crate) fn crawler(self) -> Option<&'a Crawler> {
        match self {
            CrawlerKind::Crawler(crawler) | CrawlerKind::FoundCrawler(crawler, _) => Some(crawler),
            CrawlerKind::Automated(..) | CrawlerKind::Unknown(..) | CrawlerKind::Token(_) => None,
        }
    }

    /// The product tokens of a crawler outside of the registry, for [`Judge::ad_hoc`]; `None` for
    /// one of the registry.
    ///
    /// [`Judge::ad_hoc`]: crate::judge::Judge::ad_hoc
    pub(crate) fn ad_hoc_tokens(self) -> Option<Vec<String>> {
        match self {
            CrawlerKind::Crawler(_) | CrawlerKind::FoundCrawler(..) => None,
            CrawlerKind::Token(token) => Some(vec![token.to_owned()]),
            CrawlerKind::Automated(_, token) | CrawlerKind::Unknown(_, token) => {
                Some(token.into_iter().map(str::to_owned).collect())
            }
        }
    }

    /// Whether rules bind the crawler.
    pub(crate) fn obligation(self) -> Obligation {
        self.crawler().map_or(Obligation::Bound, Crawler::obligation)
    }
}
