//! Which group of a robots.txt binds a client.
//!
//! The candidates are the names in the client's own user agent, then the product tokens of its row in the registry, then
//! `*`. RFC 9309, section 2.2.1, asks a crawler for one product token, which its user agent should contain, and Google
//! lets the most specific group win. So a group that names the client's own product wins over one that names its row. Two
//! of its own names are equally good, unless one is more specific: it is the other name with more after a `-` or `_`, or
//! the row has it first. A token of another crawler that sends the same user agent, such as `Googlebot-News`, is as good
//! as whatever binds the client. Where groups that are equally good decide differently, nobody can know which of them
//! the client follows: the verdict is [`Verdict::Ambiguous`](super::verdict::Verdict::Ambiguous).

use std::{ops::Deref, sync::Arc};

use crate::crawlers::{crawler::CrawlerId, own_names::is_more_specific};
use crate::matcher::decision::Decision;
use crate::matcher::select::GroupChoice;

use super::Judge;
use super::profile::{Asker, CrawlerProfile};
use super::robots::{Binding, BoundRules, Robots};

/// A binding that was kept, or one for the names of one client.
pub(super) enum FoundBinding<'r> {
    Kept(&'r Binding),
    OfNames(Binding),
}

impl Deref for FoundBinding<'_> {
    type Target = Binding;

    fn deref(&self) -> &Binding {
        match self {
            FoundBinding::Kept(binding) => binding,
            FoundBinding::OfNames(binding) => binding,
        }
    }
}

impl Binding {
    /// The decision of all groups that may bind the client; `None` if they decide differently. `decide` gives that of
    /// one.
    #[inline]
    pub(super) fn decision(
        &self,
        mut decide: impl FnMut(&BoundRules) -> Decision,
    ) -> Option<Decision> {
        let first = decide(&self.rules);
        let agrees = |other: &Arc<BoundRules>| decide(other).allowed == first.allowed;
        (self.others.is_empty() || self.others.iter().all(agrees)).then_some(first)
    }
}

impl CrawlerProfile {
    /// The names of groups that may bind it, if a group has at least one of its own names or of those that share its
    /// user agent. The first is `None` if its other tokens choose the group.
    pub(super) fn equally_good(&self, is_named: impl Fn(&str) -> bool) -> Vec<Option<&str>> {
        let (own, tokens) = self.product_tokens.split_at(self.own);
        let named: Vec<&str> =
            own.iter().map(String::as_str).filter(|name| is_named(name)).collect();
        let is_best =
            |name: &&str| !named.iter().any(|other| is_more_specific(other, name, tokens));
        let mut best: Vec<Option<&str>> = named.iter().copied().filter(is_best).map(Some).collect();
        if best.is_empty() {
            best.push(None);
        }
        let shared = self.shared.iter().copied().filter(|token| is_named(token)).map(Some);
        best.extend(shared);
        best
    }
}

impl Judge {
    /// The groups of `robots` that bind `asker`.
    #[inline]
    pub(super) fn binding<'r>(&self, robots: &'r Robots, asker: Asker<'_>) -> FoundBinding<'r> {
        match self.is_named_in(robots, asker) {
            false => FoundBinding::Kept(self.kept_binding(robots, asker.crawler)),
            true => {
                let profile = self.profiles.get(asker.crawler).named(asker.names);
                FoundBinding::OfNames(self.bind(robots, &profile))
            }
        }
    }

    /// The groups that bind `crawler`, whose user agent has no other names.
    #[inline]
    pub(super) fn kept_binding<'r>(&self, robots: &'r Robots, crawler: CrawlerId) -> &'r Binding {
        let bind = || self.bind(robots, self.profiles.get(crawler));
        robots.bindings.get_or_init(crawler, bind)
    }

    /// Whether a group of `robots` has one of the other names of `asker`.
    #[inline]
    pub(crate) fn is_named_in(&self, robots: &Robots, asker: Asker<'_>) -> bool {
        asker.names.iter().any(|name| robots.by_name.has(&robots.text, name.as_bytes()))
    }

    /// The profile by which `robots` binds `asker`.
    pub(super) fn with_profile<T>(
        &self,
        robots: &Robots,
        asker: Asker<'_>,
        of: impl FnOnce(&CrawlerProfile) -> T,
    ) -> T {
        let profile = self.profiles.get(asker.crawler);
        match self.is_named_in(robots, asker) {
            false => of(profile),
            true => of(&profile.named(asker.names)),
        }
    }

    /// The groups of `robots` that bind the crawler of `profile`: see [the module](self).
    pub(super) fn bind(&self, robots: &Robots, profile: &CrawlerProfile) -> Binding {
        // Not by the kept names, which a file with few requests never needs.
        let has = |name: &str| {
            let mut tokens = robots.text.groups.iter().flat_map(|group| &group.product_tokens);
            tokens.any(|token| token.names(name.as_bytes()))
        };
        let mut is_named = true;
        let rules_of = |name: Option<&str>| match name {
            Some(name) => self.rules_named(robots, name.as_bytes()).map(Arc::clone),
            None => {
                let selection = profile.select(&robots.text);
                is_named = matches!(selection.bound_by, GroupChoice::Token(_));
                Some(robots.share(&selection, || self.compile(&selection, self.dialect)))
            }
        };
        let all: Vec<Arc<BoundRules>> =
            profile.equally_good(has).into_iter().filter_map(rules_of).collect();
        let (rules, others) = all.split_first().expect("the first candidate always has rules");
        let differs = |other: &&Arc<BoundRules>| !Arc::ptr_eq(&other.policy, &rules.policy);
        let others = others.iter().filter(differs).cloned().collect();
        Binding { is_named, rules: Arc::clone(rules), others }
    }
}

#[cfg(test)]
mod tests;
