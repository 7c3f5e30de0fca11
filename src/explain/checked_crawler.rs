//! The crawler of a check: from the registry, by user agent, or by product token.

use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::{identify::Identified, registry::Registry};
use crate::judge::AD_HOC;
use crate::judge::profile::{Asker, CrawlerProfile};

/// A crawler with its id in the judge.
#[derive(Clone, Debug)]
pub(crate) struct CheckedCrawler<'a> {
    /// The id in the judge.
    id: CrawlerId,
    /// The names in the given user agent, where they are not just its product tokens.
    names: Vec<String>,
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
    /// Not in the registry, but this user agent looks automated: bound by the groups for its names, and else by `*`.
    Automated(&'a [u8]),
    /// The user agent does not look automated. If it were a crawler, the same would bind it.
    Unknown(&'a [u8]),
    /// A product token, which need not be in the registry: bound, and obeys `*`.
    Token(&'a str),
}

impl<'a> CheckedCrawler<'a> {
    /// The crawler named `name`, in any ASCII case.
    pub(crate) fn named(registry: &'a Registry, name: &str) -> Option<CheckedCrawler<'a>> {
        let id = registry.find(name)?;
        let kind = CrawlerKind::Crawler(registry.crawler(id));
        Some(CheckedCrawler { id, names: Vec::new(), kind })
    }

    /// The sender of `user_agent`, the whole header; identified as in an audit.
    pub(crate) fn by_user_agent(
        registry: &'a Registry,
        user_agent: &'a [u8],
    ) -> CheckedCrawler<'a> {
        let (_, names) = registry.sender(user_agent);
        let (id, kind) = match registry.identify(user_agent) {
            Identified::Crawler(id) => {
                (id, CrawlerKind::FoundCrawler(registry.crawler(id), user_agent))
            }
            Identified::Generic => (AD_HOC, CrawlerKind::Automated(user_agent)),
            Identified::Other | Identified::Empty => (AD_HOC, CrawlerKind::Unknown(user_agent)),
        };
        CheckedCrawler { id, names, kind }
    }

    /// The crawler with only `product_token`; for a judge made for it.
    pub(crate) fn ad_hoc(product_token: &'a str) -> CheckedCrawler<'a> {
        CheckedCrawler { id: AD_HOC, names: Vec::new(), kind: CrawlerKind::Token(product_token) }
    }

    /// The crawler as judges know it.
    pub(crate) fn asker(&self) -> Asker<'_> {
        Asker { crawler: self.id, names: &self.names }
    }

    /// Its first name.
    pub(crate) fn first_name(&self) -> Option<&str> {
        self.names.first().map(String::as_str)
    }

    /// The profile of a crawler outside of the registry, for [`Judge::ad_hoc`]; `None` for one of the registry.
    ///
    /// [`Judge::ad_hoc`]: crate::judge::Judge::ad_hoc
    pub(crate) fn ad_hoc_profile(&self) -> Option<CrawlerProfile> {
        match self.kind {
            CrawlerKind::Crawler(_) | CrawlerKind::FoundCrawler(..) => None,
            CrawlerKind::Token(token) => Some(CrawlerProfile::of_token(token.to_owned())),
            CrawlerKind::Automated(_) | CrawlerKind::Unknown(_) => {
                Some(CrawlerProfile::of_names(&self.names))
            }
        }
    }
}

impl<'a> CrawlerKind<'a> {
    /// The registry entry, if there is one.
    pub(crate) fn crawler(self) -> Option<&'a Crawler> {
        match self {
            CrawlerKind::Crawler(crawler) | CrawlerKind::FoundCrawler(crawler, _) => Some(crawler),
            CrawlerKind::Automated(_) | CrawlerKind::Unknown(_) | CrawlerKind::Token(_) => None,
        }
    }

    /// Whether rules bind the crawler.
    pub(crate) fn obligation(self) -> Obligation {
        self.crawler().map_or(Obligation::Bound, Crawler::obligation)
    }
}
