//! Tallies by the place that requests were addressed to.
//!
//! Places that the user named (`--origin`, files of a robots.txt directory) are
//! always kept. Strangers come from Host headers, which anybody may write, so
//! only so many of them are told apart; and only so many minutes and hours are
//! kept of when requests were made.

use std::collections::BTreeMap;

use super::place::Place;
use super::tally::{Actor, CrawlerTally};
use crate::bounded::{Bounded, StableHash};
use crate::merge::Merge;

/// Places that the user did not name and that are told apart; the rest is `(others)`.
pub const STRANGERS_MAX: usize = 10_000;

/// What crawlers did at one place.
pub type PlaceTally = BTreeMap<Actor, CrawlerTally>;

/// Whether a place may be folded into `(others)`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Standing {
    /// The user named it.
    Named,
    /// Its hash decides.
    Stranger(u64),
}

/// Minutes and hours that are kept: 34 million, at two to four bytes each (and up to 256 bytes for
/// each rule that a crawler broke). That is a year in which 60 crawlers each break a rule in every
/// single minute.
pub const TIME_BUCKETS_MAX: usize = 1 << 25;

/// Buckets of time that one request can add.
const TIME_BUCKETS_PER_REQUEST: usize = 2;

/// Tallies by place.
///
/// Minutes and hours are kept for as many crawlers, in the order of [`TimesKey`], as fit in
/// `time_buckets_max` together; the others go without. More requests can only make more buckets,
/// so whoever goes without here would also go without where all requests are known: that merges
/// exactly.
#[derive(Clone, Debug)]
pub struct Places {
    named: BTreeMap<Place, PlaceTally>,
    strangers: Bounded<Place, PlaceTally>,
    time_buckets_max: usize,
    /// No fewer than there are.
    time_buckets_at_most: usize,
    /// The first that goes without times.
    times_end: Option<TimesKey>,
}

/// What tallies by place are made of.
#[derive(Clone, Debug, Default)]
pub struct PlacesParts {
    /// Those that the user named.
    pub named: Vec<(Place, PlaceTally)>,
    /// Those that are told apart besides.
    pub strangers: Vec<(Place, PlaceTally)>,
    /// The sum of all others.
    pub others: Option<PlaceTally>,
    /// The first that goes without times.
    pub times_end: Option<TimesKey>,
}

/// Places that the user named come first, strangers in the order in which they are folded.
pub type TimesKey = (Standing, Place, Actor);

impl Default for Places {
    fn default() -> Places {
        Places::new(STRANGERS_MAX, TIME_BUCKETS_MAX)
    }
}

impl Places {
    /// Tells at most so many strangers apart, and keeps at most so many minutes and hours.
    pub fn new(strangers_max: usize, time_buckets_max: usize) -> Places {
        Places {
            named: BTreeMap::new(),
            strangers: Bounded::new(strangers_max),
            time_buckets_max,
            time_buckets_at_most: 0,
            times_end: None,
        }
    }

    /// The tally of `place`, to be added to.
    pub fn entry(&mut self, place: &Place, standing: Standing) -> &mut PlaceTally {
        match standing {
            Standing::Stranger(hash) => self.strangers.entry(hash, place),
            Standing::Named => {
                if !self.named.contains_key(place) {
                    self.named.insert(place.clone(), PlaceTally::new());
                }
                self.named.get_mut(place).expect("it was there or has just been put there")
            }
        }
    }

    /// Keeps memory in bounds after `requests` more were added.
    pub fn bound_times(&mut self, requests: u64) {
        let added = usize::try_from(requests).unwrap_or(usize::MAX);
        let added = added.saturating_mul(TIME_BUCKETS_PER_REQUEST);
        self.time_buckets_at_most = self.time_buckets_at_most.saturating_add(added);
        // Counting takes time, so that some more are let in before it is done again.
        if self.time_buckets_at_most > self.time_buckets_max + self.time_buckets_max / 4 {
            self.give_up_times();
        }
    }

    /// Gives up the times of those who must go without.
    fn give_up_times(&mut self) {
        let named = self.named.iter_mut().map(|(place, tally)| (Standing::Named, place, tally));
        let strangers = self.strangers.kept_mut();
        let strangers =
            strangers.map(|(hash, place, tally)| (Standing::Stranger(hash), place, tally));
        let mut buckets = 0;
        for (standing, place, tally) in named.chain(strangers) {
            for (&actor, tally) in tally {
                let is_past = self.times_end.as_ref().is_some_and(|(end, end_place, end_actor)| {
                    (standing, place, actor) >= (*end, end_place, *end_actor)
                });
                let more = if is_past { 0 } else { tally.time_buckets() };
                if is_past || buckets + more > self.time_buckets_max {
                    tally.give_up_times();
                    if !is_past {
                        self.times_end = Some((standing, place.clone(), actor));
                    }
                } else {
                    buckets += more;
                }
            }
        }
        for tally in self.strangers.others_mut().into_iter().flat_map(BTreeMap::values_mut) {
            tally.give_up_times();
        }
        self.time_buckets_at_most = buckets;
    }

    /// The places that are told apart.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.named.keys().chain(self.strangers.keys())
    }

    /// What they are made of, to be kept.
    pub fn into_parts(mut self) -> PlacesParts {
        self.give_up_times();
        let (all_strangers, others) = self.strangers.into_parts();
        let mut strangers = Vec::new();
        for (place, tally) in all_strangers {
            // The user may have come to name it since.
            match self.named.get_mut(&place) {
                Some(named) => named.absorb(tally),
                None => strangers.push((place, tally)),
            }
        }
        PlacesParts {
            named: self.named.into_iter().collect(),
            strangers,
            others,
            times_end: self.times_end,
        }
    }

    /// As they were before [`Places::into_parts`].
    pub fn from_parts(parts: PlacesParts) -> Places {
        let mut places = Places::default();
        for (standing, place, mut tally) in
            parts.named.into_iter().map(|(place, tally)| (Standing::Named, place, tally)).chain(
                parts
                    .strangers
                    .into_iter()
                    .map(|(place, tally)| (Standing::Stranger(place.stable_hash()), place, tally)),
            )
        {
            let buckets: usize = tally.values_mut().map(CrawlerTally::time_buckets).sum();
            places.time_buckets_at_most = places.time_buckets_at_most.saturating_add(buckets);
            places.entry(&place, standing).absorb(tally);
        }
        if let Some(others) = parts.others {
            places.strangers.add_to_others(others);
        }
        places.times_end = parts.times_end;
        places
    }

    /// All places in order, `(others)` among them if there had to be any.
    pub fn into_map(mut self) -> BTreeMap<Place, PlaceTally> {
        self.give_up_times();
        let mut all = self.named;
        let (strangers, others) = self.strangers.into_parts();
        all.absorb(strangers.collect());
        if let Some(others) = others {
            all.insert(Place::Others, others);
        }
        all
    }
}

impl Merge for Places {
    fn absorb(&mut self, other: Places) {
        self.named.absorb(other.named);
        self.strangers.absorb(other.strangers);
        self.time_buckets_at_most =
            self.time_buckets_at_most.saturating_add(other.time_buckets_at_most);
        self.times_end = match (self.times_end.take(), other.times_end) {
            (Some(ours), Some(theirs)) => Some(ours.min(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        self.bound_times(0);
    }
}

impl StableHash for Place {
    fn stable_hash(&self) -> u64 {
        self.to_string().as_bytes().stable_hash()
    }
}
