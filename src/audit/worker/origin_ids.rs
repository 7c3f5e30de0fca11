//! The ids of sites in a counter.

use super::super::sites::{Site, SiteId, Sites};
use super::super::tally::rows::{OriginId, Rows};

/// The ids of sites in a counter, each looked up once.
#[derive(Debug, Default)]
pub(super) struct OriginIds {
    ids: Vec<Option<OriginId>>,
    generation: u64,
}

impl OriginIds {
    /// The id of `site` in `rows`.
    #[inline]
    pub(super) fn of(&mut self, site: SiteId, sites: &Sites<'_>, rows: &mut Rows) -> OriginId {
        if self.generation != sites.generation {
            self.forget();
            self.generation = sites.generation;
        }
        if let Some(Some(id)) = self.ids.get(site.index()) {
            return *id;
        }
        let Site { origin_key, origin_rank, .. } = sites.get(site);
        let id = rows.origin(origin_key, *origin_rank);
        self.ids.resize(self.ids.len().max(site.index() + 1), None);
        self.ids[site.index()] = Some(id);
        id
    }

    /// Goes on with another counter.
    pub(super) fn forget(&mut self) {
        self.ids.clear();
    }
}
