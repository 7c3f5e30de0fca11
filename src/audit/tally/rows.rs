//! The rows of a tally while lines are counted: one for each crawler at each origin.
//!
//! Origins, crawlers and identities are small numbers, and a row is found by one hash, or by none
//! if it was used recently. Rows are unordered until the end.
//!
//! Origins that the user named (`--origin`, files of a robots.txt directory) are always kept. Other
//! origins come from Host headers, which any client can invent. Of these, the ones with the
//! smallest stable hashes are kept, and the rest is counted as `(others)`. The names alone decide
//! which ones stay, so two tables merge exactly: an origin that one of them folded has enough
//! smaller ones before it.

use std::{collections::BTreeSet, sync::Arc};

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::audit::origin_key::{OriginKey, OriginRank};
use crate::crawlers::crawler::CrawlerId;
use crate::crawlers::identity::{Actor, Identity};
use crate::judge::robots::RobotsId;
use crate::measures::{clients::SampledPaths, crawler_tally::CrawlerTally, sums::is_default};
use crate::merge::{Merge, least};

use super::counts::{OriginRows, TimesEnd, Visits};

/// The most origins that the user did not name; the rest is `(others)`.
pub(crate) const STRANGERS_MAX: usize = 10_000;

/// The most minutes and hours: 34 million, at two to four bytes each (and up to 256 bytes for each
/// rule that a crawler broke). That is a year in which 60 crawlers each break a rule in every
/// minute.
pub(crate) const TIME_BUCKETS_MAX: usize = 1 << 25;

/// The most time buckets that one request can add.
const TIME_BUCKETS_PER_REQUEST: usize = 2;

/// An origin of one table.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct OriginId(u32);

impl OriginId {
    /// `(others)`.
    pub(crate) const OTHERS: OriginId = OriginId(0);

    /// The index in the table.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The order in which rows keep minutes and hours: named origins first, others in the order in
/// which they are folded; then crawlers by the rank of their names.
pub(crate) type TimesKey = (OriginRank, OriginKey, u16, Identity);

/// The limits of rows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RowLimits {
    /// Origins that the user did not name.
    pub strangers_max: usize,
    /// Minutes and hours.
    pub time_buckets_max: usize,
}

impl Default for RowLimits {
    fn default() -> RowLimits {
        RowLimits { strangers_max: STRANGERS_MAX, time_buckets_max: TIME_BUCKETS_MAX }
    }
}

/// Rows by origin, crawler and identity.
///
/// Minutes and hours are kept for as many rows, in the order of [`TimesKey`], as fit in
/// `time_buckets_max`. More requests only make more buckets, so a row without times here also has
/// none after merging: that merges exactly.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    limits: RowLimits,
    /// The rank of each crawler's name.
    ranks: Arc<[u16]>,
    /// By [`OriginId`].
    origins: Vec<OriginEntry>,
    ids: HashMap<OriginKey, OriginId, RandomState>,
    /// The number of other origins that are kept.
    strangers: usize,
    /// The last other origin that is kept, once some were folded.
    last_stranger: Option<(u64, OriginKey)>,
    rows: Vec<Row>,
    index: HashMap<RowKey, u32, RandomState>,
    /// A cache of recently used rows, by key: a few crawlers make most requests.
    recent: Box<[(RowKey, u32); RECENT]>,
    /// No fewer than there are.
    time_buckets_at_most: usize,
    /// The rows whose changes of robots.txt are among them.
    rows_with_known_changes: usize,
    /// The first that goes without times.
    times_end: Option<TimesKey>,
}

#[derive(Clone, Debug)]
struct OriginEntry {
    origin_key: OriginKey,
    origin_rank: OriginRank,
    /// Itself, or `(others)` once it is folded.
    counted_as: OriginId,
    /// Visits that products sent; none once it is folded.
    visits: Visits,
    /// The judged part of browsers' requests; none once it is folded.
    browsers: SampledPaths,
}

type RowKey = (OriginId, CrawlerId, Identity);

/// The size of the cache of rows, a power of two.
const RECENT: usize = 4096;

/// The slot of a row in the cache.
#[inline]
fn recent_slot((origin, crawler, identity): RowKey) -> usize {
    (origin.index() * 101 + crawler.index() * 3 + identity as usize) % RECENT
}

/// Registries are smaller.
const NO_ROW: (RowKey, u32) =
    ((OriginId::OTHERS, CrawlerId(u16::MAX), Identity::Unverified), u32::MAX);

#[derive(Clone, Debug)]
struct Row {
    key: RowKey,
    tally: CrawlerTally,
}

/// The result of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct FinishedRows {
    /// Ascending; `(others)` among them, if there had to be any. Their rows are unordered.
    pub origins: Vec<OriginRows>,
    /// The first row that goes without times.
    pub times_end: Option<TimesEnd>,
}

impl Rows {
    /// An empty table. `ranks` has the rank of each crawler's name.
    pub(crate) fn new(limits: RowLimits, ranks: Arc<[u16]>) -> Rows {
        let others = OriginEntry {
            origin_key: OriginKey::Others,
            origin_rank: OriginRank::Named,
            counted_as: OriginId::OTHERS,
            visits: Visits::default(),
            browsers: SampledPaths::default(),
        };
        Rows {
            limits,
            ranks,
            origins: vec![others],
            ids: HashMap::default(),
            strangers: 0,
            last_stranger: None,
            rows: Vec::new(),
            index: HashMap::default(),
            recent: Box::new([NO_ROW; RECENT]),
            time_buckets_at_most: 0,
            rows_with_known_changes: 0,
            times_end: None,
        }
    }

    /// The id of `origin_key`, also without rows. It is valid as long as the table.
    pub(crate) fn origin(&mut self, origin_key: &OriginKey, origin_rank: OriginRank) -> OriginId {
        if let Some(&id) = self.ids.get(origin_key) {
            return id;
        }
        if *origin_key == OriginKey::Others {
            return OriginId::OTHERS;
        }
        if let OriginRank::Stranger(hash) = origin_rank {
            let last = self.last_stranger.as_ref();
            if last.is_some_and(|(last, last_origin_key)| {
                (hash, origin_key) > (*last, last_origin_key)
            }) {
                return OriginId::OTHERS;
            }
            self.strangers += 1;
        }
        let id = OriginId(u32::try_from(self.origins.len()).expect("strangers are bounded"));
        self.origins.push(OriginEntry {
            origin_key: origin_key.clone(),
            origin_rank,
            counted_as: id,
            visits: Visits::default(),
            browsers: SampledPaths::default(),
        });
        self.ids.insert(origin_key.clone(), id);
        // Sorting takes time, so that some more are let in before it is done again.
        if self.strangers > self.limits.strangers_max + self.limits.strangers_max / 4 {
            self.fold_strangers();
        }
        id
    }

    /// The origin with this id, and its rank.
    pub(crate) fn origin_of(&self, id: OriginId) -> (&OriginKey, OriginRank) {
        let OriginEntry { origin_key, origin_rank, .. } = &self.origins[id.0 as usize];
        (origin_key, *origin_rank)
    }

    /// The row of `crawler` and `identity` at `origin`, to be added to.
    #[inline]
    pub(crate) fn row(
        &mut self,
        origin: OriginId,
        (crawler, identity): Actor,
    ) -> &mut CrawlerTally {
        let origin = self.origins[origin.0 as usize].counted_as;
        let key = (origin, crawler, identity);
        let recent = self.recent[recent_slot(key)];
        let at = if recent.0 == key { recent.1 } else { self.find_row(key) };
        &mut self.rows[at as usize].tally
    }

    /// The visits of `origin`, to be added to.
    pub(crate) fn visits(&mut self, origin: OriginId) -> &mut Visits {
        let origin = self.origins[origin.0 as usize].counted_as;
        &mut self.origins[origin.0 as usize].visits
    }

    /// The judged part of browsers' requests at `origin`, to be added to.
    pub(crate) fn browsers(&mut self, origin: OriginId) -> &mut SampledPaths {
        let origin = self.origins[origin.0 as usize].counted_as;
        &mut self.origins[origin.0 as usize].browsers
    }

    /// The index of the row of `key`, which is created if it does not exist.
    fn find_row(&mut self, key: RowKey) -> u32 {
        let next = self.rows.len();
        let new = || u32::try_from(next).expect("origins and crawlers are bounded");
        let at = *self.index.entry(key).or_insert_with(new);
        if at as usize == next {
            self.rows.push(Row { key, tally: CrawlerTally::default() });
        }
        self.recent[recent_slot(key)] = (key, at);
        at
    }

    /// The origins of the table, unordered.
    pub(crate) fn origin_keys(&self) -> impl Iterator<Item = &OriginKey> {
        let distinct = self.origins.iter().enumerate().skip(1);
        distinct
            .filter(|(at, entry)| entry.counted_as.0 as usize == *at)
            .map(|(_, entry)| &entry.origin_key)
    }

    /// The crawlers that have rows, ascending, each once.
    pub(crate) fn crawlers(&self) -> BTreeSet<CrawlerId> {
        self.rows.iter().map(|row| row.key.1).collect()
    }

    /// The versions of robots.txt that rows quote.
    pub(crate) fn quoted_robots(&self) -> BTreeSet<RobotsId> {
        let mut quoted = BTreeSet::new();
        let mut quote = |robots| {
            quoted.insert(robots);
        };
        self.rows.iter().for_each(|row| row.tally.quoted_robots(&mut quote));
        quoted
    }

    /// Keeps memory in bounds after `requests` more were added.
    pub(crate) fn bound_times(&mut self, requests: u64) {
        let added = usize::try_from(requests).unwrap_or(usize::MAX);
        let added = added.saturating_mul(TIME_BUCKETS_PER_REQUEST);
        let new = &self.rows[self.rows_with_known_changes.min(self.rows.len())..];
        let reactions = new.iter().filter_map(|row| row.tally.reactions.as_ref());
        let changes: usize = reactions.map(|reactions| reactions.time_buckets()).sum();
        self.rows_with_known_changes = self.rows.len();
        self.time_buckets_at_most =
            self.time_buckets_at_most.saturating_add(added).saturating_add(changes);
        // Counting takes time, so that some more are let in before it is done again.
        let max = self.limits.time_buckets_max;
        if self.time_buckets_at_most > max + max / 4 {
            self.give_up_times();
        }
    }

    /// Takes over the limit at which another table dropped times.
    pub(crate) fn end_times_at_row(&mut self, end: TimesEnd) {
        let TimesEnd { is_stranger, origin_key, crawler, identity } = end;
        let origin_rank = OriginRank::new(&origin_key, is_stranger);
        let end = (origin_rank, origin_key, self.ranks[crawler.index()], identity);
        self.times_end = least(self.times_end.take(), Some(end));
    }

    /// Everything in order.
    pub(crate) fn finish(mut self) -> FinishedRows {
        self.fold_strangers();
        self.give_up_times();
        let mut by_origin: Vec<Vec<(Actor, CrawlerTally)>> = vec![Vec::new(); self.origins.len()];
        for Row { key: (origin, crawler, identity), mut tally } in self.rows {
            tally.robots_fetches.settle();
            tally.reactions.iter_mut().for_each(|reactions| reactions.settle());
            by_origin[origin.0 as usize].push(((crawler, identity), tally));
        }
        let mut origins: Vec<OriginRows> = Vec::with_capacity(self.origins.len());
        for (at, (entry, rows)) in self.origins.into_iter().zip(by_origin).enumerate() {
            let is_distinct = entry.counted_as.0 as usize == at;
            let is_empty =
                rows.is_empty() && entry.visits.is_empty() && is_default(&entry.browsers);
            if is_distinct && (at > 0 || !is_empty) {
                let OriginEntry { origin_key, origin_rank, visits, browsers, .. } = entry;
                let is_stranger = origin_rank != OriginRank::Named;
                origins.push(OriginRows { origin_key, is_stranger, rows, visits, browsers });
            }
        }
        origins.sort_by(|left, right| left.origin_key.cmp(&right.origin_key));
        let crawler_of = |rank: u16| {
            let at = self.ranks.iter().position(|known| *known == rank);
            CrawlerId(at.and_then(|at| u16::try_from(at).ok()).expect("ranks are of crawlers"))
        };
        let times_end = self.times_end.map(|(origin_rank, origin_key, rank, identity)| {
            let is_stranger = origin_rank != OriginRank::Named;
            TimesEnd { is_stranger, origin_key, crawler: crawler_of(rank), identity }
        });
        FinishedRows { origins, times_end }
    }

    /// Folds the origins with the largest hashes into `(others)`, if there are too many.
    fn fold_strangers(&mut self) {
        if self.strangers <= self.limits.strangers_max {
            return;
        }
        let mut strangers: Vec<(u64, &OriginKey, usize)> = Vec::with_capacity(self.strangers);
        for (at, entry) in self.origins.iter().enumerate() {
            match entry.origin_rank {
                OriginRank::Stranger(hash) if entry.counted_as.0 as usize == at => {
                    strangers.push((hash, &entry.origin_key, at));
                }
                _ => {}
            }
        }
        strangers.sort_unstable();
        let kept = self.limits.strangers_max;
        // With room for none, no key is small enough.
        let last = kept.checked_sub(1).map_or((0, OriginKey::Unnamed), |last| {
            let (hash, origin_key, _) = strangers[last];
            (hash, origin_key.clone())
        });
        let folded: Vec<usize> = strangers[kept..].iter().map(|(_, _, at)| *at).collect();
        self.last_stranger = Some(last);
        self.strangers = kept;
        for at in folded {
            self.origins[at].counted_as = OriginId::OTHERS;
            let visits = std::mem::take(&mut self.origins[at].visits);
            self.visits(OriginId::OTHERS).absorb(visits);
            let browsers = std::mem::take(&mut self.origins[at].browsers);
            self.browsers(OriginId::OTHERS).absorb(browsers);
            self.ids.remove(&self.origins[at].origin_key);
        }
        self.fold_rows();
    }

    /// Merges the rows of folded origins.
    fn fold_rows(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        self.rows_with_known_changes = 0;
        self.index.clear();
        self.recent.fill(NO_ROW);
        for Row { key: (origin, crawler, identity), tally } in rows {
            self.row(origin, (crawler, identity)).absorb(tally);
        }
    }

    /// Drops the times of rows beyond the limit, and those of `(others)`.
    fn give_up_times(&mut self) {
        let Rows { limits, ranks, origins, rows, times_end, .. } = self;
        let max = limits.time_buckets_max;
        let (others, distinct): (Vec<&mut Row>, Vec<&mut Row>) =
            rows.iter_mut().partition(|row| row.key.0 == OriginId::OTHERS);
        others.into_iter().for_each(|row| row.tally.give_up_times());
        if self.time_buckets_at_most <= max && times_end.is_none() {
            return;
        }
        let key_of = |row: &Row| {
            let (origin, crawler, identity) = row.key;
            let OriginEntry { origin_key, origin_rank, .. } = &origins[origin.0 as usize];
            (*origin_rank, origin_key, ranks[crawler.index()], identity)
        };
        let mut in_order: Vec<_> = distinct.into_iter().map(|row| (key_of(row), row)).collect();
        in_order.sort_unstable_by_key(|(key, _)| *key);
        let mut buckets = 0;
        for (key @ (origin_rank, origin_key, rank, identity), row) in in_order {
            let is_past = times_end.as_ref().is_some_and(|(end, origin_key, rank, identity)| {
                key >= (*end, origin_key, *rank, *identity)
            });
            let more = if is_past { 0 } else { row.tally.time_buckets() };
            if !is_past && buckets + more <= max {
                buckets += more;
                continue;
            }
            if !is_past {
                *times_end = Some((origin_rank, origin_key.clone(), rank, identity));
            }
            row.tally.give_up_times();
        }
        self.time_buckets_at_most = buckets;
    }
}

impl Merge for Rows {
    fn absorb(&mut self, other: Rows) {
        let Rows {
            limits: _,
            ranks: _,
            origins,
            ids: _,
            strangers: _,
            last_stranger,
            rows,
            index: _,
            recent: _,
            time_buckets_at_most,
            rows_with_known_changes: _,
            times_end,
        } = other;
        // The other table has as many as the limit allows, all up to its last one.
        self.last_stranger = least(self.last_stranger.take(), last_stranger);
        let mut ids = Vec::with_capacity(origins.len());
        for (at, entry) in origins.into_iter().enumerate() {
            let id = match entry.counted_as.0 as usize == at && at > 0 {
                true => self.origin(&entry.origin_key, entry.origin_rank),
                false => OriginId::OTHERS,
            };
            self.visits(id).absorb(entry.visits);
            self.browsers(id).absorb(entry.browsers);
            ids.push(id);
        }
        for Row { key: (origin, crawler, identity), tally } in rows {
            self.row(ids[origin.0 as usize], (crawler, identity)).absorb(tally);
        }
        self.time_buckets_at_most = self.time_buckets_at_most.saturating_add(time_buckets_at_most);
        self.times_end = least(self.times_end.take(), times_end);
        self.bound_times(0);
    }
}

#[cfg(test)]
mod tests;
