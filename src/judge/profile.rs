//! The properties of a crawler that select its rules.

use crate::crawlers::crawler::{Crawler, Obligation};
use crate::matcher::select::{GroupChoice, Star, select};
use crate::robots::model::ParsedRobotsTxt;

/// The properties of a crawler that select its rules.
#[derive(Clone, Debug)]
pub struct CrawlerProfile {
    pub(super) product_tokens: Vec<String>,
    pub(super) star: Star,
    pub(super) obligation: Obligation,
}

impl CrawlerProfile {
    /// A known crawler.
    pub fn new(crawler: &Crawler) -> CrawlerProfile {
        let star = crawler.star.into();
        let obligation = crawler.obligation();
        CrawlerProfile { product_tokens: crawler.product_tokens.clone(), star, obligation }
    }

    /// The same crawler, bound by all rules, also those for `*`.
    pub fn unbound(self) -> CrawlerProfile {
        CrawlerProfile { star: Star::Honoured, ..self.bound() }
    }

    /// The groups of `text` that bind it.
    pub(super) fn bound_by(&self, text: &ParsedRobotsTxt) -> GroupChoice {
        select(text, &self.product_tokens, self.star).bound_by
    }

    /// The product token that `bound_by` names, or `*`.
    pub(super) fn group(&self, bound_by: GroupChoice) -> &[u8] {
        match bound_by {
            GroupChoice::Token(at) => self.product_tokens[at].as_bytes(),
            GroupChoice::Star | GroupChoice::Nothing => b"*",
        }
    }

    /// The product token whose group in `text` binds it, or `*`.
    pub fn group_in(&self, text: &ParsedRobotsTxt) -> &[u8] {
        self.group(self.bound_by(text))
    }

    /// A crawler that no registry knows: it answers to `token` and obeys `*`.
    pub fn of_token(token: String) -> CrawlerProfile {
        CrawlerProfile::of_tokens(vec![token])
    }

    /// A crawler with several product tokens, the most specific first.
    pub fn of_tokens(product_tokens: Vec<String>) -> CrawlerProfile {
        let (star, obligation) = (Star::Honoured, Obligation::Bound);
        CrawlerProfile { product_tokens, star, obligation }
    }

    /// The same crawler, bound by the rules whatever is documented about it.
    pub(super) fn bound(self) -> CrawlerProfile {
        CrawlerProfile { obligation: Obligation::Bound, ..self }
    }
}
