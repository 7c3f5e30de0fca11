//! Who asks: a crawler of the registry, a user agent, or a product token alone.

use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::{identify::Identified, registry::Registry};
use crate::judge::AD_HOC;

/// Who asks, and as whom the judge knows them.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// For the judge.
    pub id: CrawlerId,
    /// For people.
    pub who: Who<'a>,
}

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub enum Who<'a> {
    /// A crawler of the registry, named by the user.
    Crawler(&'a Crawler),
    /// A crawler of the registry, found by this user agent.
    FoundCrawler(&'a Crawler, &'a [u8]),
    /// No crawler of the registry, but this user agent looks automated: bound by `*`.
    Automated(&'a [u8]),
    /// Nothing that looks automated: were it a crawler, `*` would bind it.
    Unknown(&'a [u8]),
    /// A product token that need not be in any registry: bound, and obeys `*`.
    Token(&'a str),
}

impl<'a> Asker<'a> {
    /// The crawler named `name`, in any ASCII case.
    pub fn named(registry: &'a Registry, name: &str) -> Option<Asker<'a>> {
        let id = registry.find(name)?;
        Some(Asker { id, who: Who::Crawler(registry.crawler(id)) })
    }

    /// Whoever sends `user_agent`, the whole header; told as in an audit.
    pub fn by_user_agent(registry: &'a Registry, user_agent: &'a [u8]) -> Asker<'a> {
        match registry.identify(user_agent) {
            Identified::Crawler(id) => {
                Asker { id, who: Who::FoundCrawler(registry.crawler(id), user_agent) }
            }
            Identified::Generic => {
                Asker { id: registry.generic(), who: Who::Automated(user_agent) }
            }
            Identified::Other => Asker { id: registry.generic(), who: Who::Unknown(user_agent) },
        }
    }

    /// Who answers to `product_token` alone; to be put before a judge made for it.
    pub fn ad_hoc(product_token: &'a str) -> Asker<'a> {
        Asker { id: AD_HOC, who: Who::Token(product_token) }
    }
}

impl<'a> Who<'a> {
    /// The registry's row, if there is one.
    pub fn crawler(self) -> Option<&'a Crawler> {
        match self {
            Who::Crawler(crawler) | Who::FoundCrawler(crawler, _) => Some(crawler),
            Who::Automated(_) | Who::Unknown(_) | Who::Token(_) => None,
        }
    }

    /// Whether breaking a rule counts against it.
    pub fn obligation(self) -> Obligation {
        self.crawler().map_or(Obligation::Bound, Crawler::obligation)
    }
}
