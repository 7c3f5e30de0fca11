//! The properties of a crawler that select its rules.

use std::sync::Arc;

use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::{builtin::LazyCrawler, own_names::shared_tokens, registry::Registry};
use crate::matcher::select::{GroupChoice, Selection, select};
use crate::robots::model::{ParsedRobotsTxt, StarGroups};

use super::by_crawler::ByCrawler;

/// The properties of a crawler that select its rules.
#[derive(Clone, Debug)]
pub struct CrawlerProfile {
    /// Whether it is a crawler of a registry, and not only product tokens.
    pub(crate) is_known: bool,
    /// Its own names, and then the product tokens of its row, each the most specific first.
    pub(super) product_tokens: Vec<String>,
    /// How many of these are names in its user agent.
    pub(super) own: usize,
    /// Tokens of other crawlers with its user agent.
    pub(super) shared: Vec<&'static str>,
    pub(super) star: StarGroups,
    pub(super) obligation: Obligation,
}

impl CrawlerProfile {
    /// A known crawler.
    pub fn new(crawler: &Crawler) -> CrawlerProfile {
        CrawlerProfile {
            is_known: true,
            product_tokens: crawler.product_tokens.clone(),
            own: 0,
            shared: shared_tokens(&crawler.name).collect(),
            star: crawler.star,
            obligation: crawler.obligation(),
        }
    }

    /// The same crawler with these names in its user agent.
    pub(super) fn named(&self, names: &[String]) -> CrawlerProfile {
        let tokens = names.iter().chain(&self.product_tokens[self.own..]).cloned();
        CrawlerProfile { product_tokens: tokens.collect(), own: names.len(), ..self.clone() }
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

    /// The groups of `text` that may bind it, by [the rule](super::candidates): those of [`CrawlerProfile::select`]
    /// first. They are searched one after the other; the judge keeps what it has found.
    pub(super) fn selections<'a>(&self, text: &'a ParsedRobotsTxt) -> Vec<Selection<'a>> {
        let named = |name: &str| select(text, &[name], StarGroups::Ignored);
        let is_named = |name: &str| named(name).bound_by != GroupChoice::Nothing;
        let best = self.equally_good(is_named).into_iter();
        best.map(|name| name.map_or_else(|| self.select(text), named)).collect()
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
        CrawlerProfile {
            is_known: false,
            product_tokens,
            own: 0,
            shared: Vec::new(),
            star,
            obligation,
        }
    }

    /// A crawler outside of the registry with these names in its user agent.
    pub(crate) fn of_names(names: &[String]) -> CrawlerProfile {
        CrawlerProfile::of_tokens(Vec::new()).named(names)
    }

    /// The sender of `user_agent`, a whole User-Agent header, by all its names; and its name: that of
    /// `registry`, else the first in its user agent, else `*`.
    pub fn of_sender(registry: &Registry, user_agent: &[u8]) -> (String, CrawlerProfile) {
        let (crawler, names) = registry.sender(user_agent);
        match crawler {
            Some(crawler) => (crawler.name.clone(), CrawlerProfile::new(crawler).named(&names)),
            None => {
                let name = names.first().map_or("*", String::as_str);
                (name.to_owned(), CrawlerProfile::of_names(&names))
            }
        }
    }

    /// The same crawler, bound by the rules whatever is documented about it.
    pub(super) fn bound(self) -> CrawlerProfile {
        CrawlerProfile { obligation: Obligation::Bound, ..self }
    }
}

/// The name to quote for the groups that hold the rule on `line`: `group`, which chose the groups for its crawler, if
/// they have it, or else their own. The names of one client may have chosen them.
pub(crate) fn group_of_rule(text: &ParsedRobotsTxt, line: u32, group: &[u8]) -> Box<[u8]> {
    let Some((found_in, _)) = text.rule_at(line) else { return group.into() };
    let mut tokens = found_in.product_tokens.iter();
    let is_in = tokens.any(|token| match group {
        b"*" => token.is_star(),
        name => token.names(name),
    });
    let named = found_in.product_tokens.iter().filter(|token| !token.is_star());
    let own = named.map(|token| token.interpretations()[1]).find(|name| !name.is_empty());
    match own {
        Some(own) if !is_in => own.into(),
        _ => group.into(),
    }
}

/// The sender of a request.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'n> {
    /// The crawler.
    pub(crate) crawler: CrawlerId,
    /// The [names](crate::crawlers::own_names) in its user agent; empty if the product tokens of its row alone choose
    /// the group.
    pub(crate) names: &'n [String],
}

impl<'n> From<CrawlerId> for Asker<'n> {
    fn from(crawler: CrawlerId) -> Asker<'n> {
        Asker { crawler, names: &[] }
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
