//! The rules for crawlers at sites that were met before, where they are the same at all times.

use crate::audit::sites::{SiteId, Sites};
use crate::crawlers::crawler::CrawlerId;
use crate::judge::{Judge, constant_rules::ConstantRules, profile::Asker};

/// The places, a power of two: a crawler at a site has one of them.
const SLOTS: usize = 1 << 12;

/// A multiplier that spreads all bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The rules of a worker's crawlers at its sites, at most 160 KiB, which are allocated with the first request.
#[derive(Debug, Default)]
pub(super) struct KnownRules {
    slots: Vec<Option<Slot>>,
    /// That of the sites.
    generation: u64,
}

#[derive(Clone, Debug)]
struct Slot {
    site: SiteId,
    crawler: CrawlerId,
    /// `None` if they are not the same at all times.
    rules: Option<ConstantRules>,
}

impl KnownRules {
    /// The rules for `asker` at `site`; `None` if they are not the same at all times, or if its other names matter
    /// there.
    #[inline]
    pub(super) fn of(
        &mut self,
        (site, asker): (SiteId, Asker<'_>),
        sites: &Sites<'_>,
        judge: &Judge,
    ) -> Option<&ConstantRules> {
        let crawler = asker.crawler;
        if self.generation != sites.generation || self.slots.is_empty() {
            self.forget(sites.generation);
        }
        let key = (site.index() as u64) << 16 ^ crawler.index() as u64;
        let at = (key.wrapping_mul(SPREAD) >> 40) as usize % SLOTS;
        let slot = &mut self.slots[at];
        if !slot.as_ref().is_some_and(|known| known.site == site && known.crawler == crawler) {
            *slot = Some(find((site, crawler), sites, judge));
        }
        let rules = slot.as_ref()?.rules.as_ref()?;
        let is_for_it = asker.names.is_empty() || !rules.name_another(judge, asker);
        is_for_it.then_some(rules)
    }

    #[cold]
    fn forget(&mut self, generation: u64) {
        self.generation = generation;
        self.slots.clear();
        self.slots.resize(SLOTS, None);
    }
}

#[inline(never)]
fn find((site, crawler): (SiteId, CrawlerId), sites: &Sites<'_>, judge: &Judge) -> Slot {
    let rules = judge.constant_rules(sites.get(site).known(judge), crawler);
    Slot { site, crawler, rules }
}
