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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Store, directory::Directory};
    use crate::audit::{origin_options::OriginOptions, tally::rows::RowLimits};
    use crate::crawlers::registry::Registry;
    use crate::judge::Judge;
    use crate::url::path::Dialect;

    #[test]
    fn ids_are_of_the_hosts_that_are_known_now() {
        let store = Store::Directory(Directory::default());
        let judge = Judge::new(store, &Registry::builtin(), Dialect::Google).unwrap();
        let naming = OriginOptions::default();
        let limits = RowLimits { strangers_max: 1 << 20, ..RowLimits::default() };
        let (mut sites, mut rows) = (Sites::new(&judge, &naming), Rows::new(limits, [].into()));
        let mut ids = OriginIds::default();
        let mut number = 0;
        let mut host_of_next = |sites: &mut Sites<'_>| {
            number += 1;
            let host = format!("{number}.example");
            let site = sites.own(Some(host.as_bytes()), None, None);
            let id = ids.of(site, sites, &mut rows);
            assert_eq!(ids.of(site, sites, &mut rows), id);
            (rows.origin_of(id).0.host() == Some(&host), site)
        };
        let first = host_of_next(&mut sites);
        while sites.generation == 0 {
            assert!(host_of_next(&mut sites).0);
            sites.turn_to(None);
        }
        let again = host_of_next(&mut sites);
        assert!(again.0 && again.1 == first.1, "another host has the place of the first");
    }
}
