//! The properties of a crawler that select its rules.

use std::sync::Arc;

use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::{builtin::LazyCrawler, product_token::Sender, registry::Registry};
use crate::matcher::select::{GroupChoice, Selection, select};
use crate::robots::model::{ParsedRobotsTxt, StarGroups};

use super::by_crawler::ByCrawler;

/// The properties of a crawler that select its rules.
#[derive(Clone, Debug)]
pub struct CrawlerProfile {
    /// Whether it is a crawler of a registry, and not only product tokens.
    pub(crate) is_known: bool,
    pub(super) product_tokens: Vec<String>,
    pub(super) star: StarGroups,
    pub(super) obligation: Obligation,
}

impl CrawlerProfile {
    /// A known crawler.
    pub fn new(crawler: &Crawler) -> CrawlerProfile {
        let star = crawler.star;
        let obligation = crawler.obligation();
        let product_tokens = crawler.product_tokens.clone();
        CrawlerProfile { is_known: true, product_tokens, star, obligation }
    }

    /// The same crawler, bound by all rules, also those for `*`.
    pub(crate) fn unbound(self) -> CrawlerProfile {
        CrawlerProfile { star: StarGroups::Honoured, ..self.bound() }
    }

    /// The groups of `text` that bind it.
    pub(super) fn bound_by(&self, text: &ParsedRobotsTxt) -> GroupChoice {
        self.select(text).bound_by
    }

    /// The same with their rules.
    pub(super) fn select<'a>(&self, text: &'a ParsedRobotsTxt) -> Selection<'a> {
        select(text, &self.product_tokens, self.star)
    }

    /// The product token that `bound_by` names, or `*`.
    pub(super) fn group(&self, bound_by: GroupChoice) -> &[u8] {
        match bound_by {
            GroupChoice::Token(at) => self.product_tokens[at].as_bytes(),
            GroupChoice::Star | GroupChoice::Nothing => b"*",
        }
    }

    /// The product token whose group in `text` binds it, or `*`.
    pub(crate) fn group_in(&self, text: &ParsedRobotsTxt) -> &[u8] {
        self.group(self.bound_by(text))
    }

    /// A crawler that no registry knows: it answers to `token` and obeys `*`.
    pub fn of_token(token: String) -> CrawlerProfile {
        CrawlerProfile::of_tokens(vec![token])
    }

    /// A crawler with several product tokens, the most specific first.
    pub(crate) fn of_tokens(product_tokens: Vec<String>) -> CrawlerProfile {
        let (star, obligation) = (StarGroups::Honoured, Obligation::Bound);
        CrawlerProfile { is_known: false, product_tokens, star, obligation }
    }

    /// The sender of `user_agent`, a whole User-Agent header, and its name: that of `registry`, else
    /// its first product token, else `*`.
    pub fn of_sender(registry: &Registry, user_agent: &[u8]) -> (String, CrawlerProfile) {
        match registry.sender(user_agent) {
            Sender::Known(crawler) => (crawler.name.clone(), CrawlerProfile::new(crawler)),
            Sender::Unknown(Some(token)) => {
                (token.to_owned(), CrawlerProfile::of_token(token.to_owned()))
            }
            Sender::Unknown(None) => ("*".to_owned(), CrawlerProfile::of_tokens(Vec::new())),
        }
    }

    /// The same crawler, bound by the rules whatever is documented about it.
    pub(super) fn bound(self) -> CrawlerProfile {
        CrawlerProfile { obligation: Obligation::Bound, ..self }
    }
}

/// The profiles of the crawlers that a judge knows.
#[derive(Debug)]
pub(super) struct Profiles {
    made: ByCrawler<CrawlerProfile>,
    /// Where the others are made from.
    crawlers: Arc<[LazyCrawler]>,
    change: fn(CrawlerProfile) -> CrawlerProfile,
    /// Their number.
    pub len: usize,
    /// Control tokens among them.
    pub controls: Box<[CrawlerId]>,
}

impl Profiles {
    /// All crawlers of `registry`, each with a `change`.
    pub(crate) fn of_registry(
        registry: &Registry,
        change: fn(CrawlerProfile) -> CrawlerProfile,
    ) -> Profiles {
        let len = registry.len();
        let controls = registry.control_tokens().collect();
        Profiles { made: ByCrawler::new(len), crawlers: registry.shared(), change, len, controls }
    }

    /// The crawlers that are numbered in this order.
    pub(crate) fn of(profiles: Vec<CrawlerProfile>) -> Profiles {
        let (len, made) = (profiles.len(), ByCrawler::new(profiles.len()));
        for (profile, id) in profiles.into_iter().zip(0..) {
            made.get_or_init(CrawlerId(id), || profile);
        }
        let (crawlers, controls) = (Arc::default(), Box::default());
        Profiles { made, crawlers, change: |profile| profile, len, controls }
    }

    /// What a registry knows about `crawler`; `None` without a registry.
    pub(crate) fn facts(&self, crawler: CrawlerId) -> Option<&Crawler> {
        self.crawlers.get(crawler.index()).map(LazyCrawler::get)
    }

    pub(crate) fn get(&self, crawler: CrawlerId) -> &CrawlerProfile {
        self.made.get_or_init(crawler, || {
            let mut profile = CrawlerProfile::new(self.crawlers[crawler.index()].get());
            profile = (self.change)(profile);
            if crawler.index() + 1 == self.len {
                // Nothing is documented about clients that only look automated.
                profile.obligation = Obligation::Bound;
            }
            profile
        })
    }
}
