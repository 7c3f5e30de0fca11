//! Tallies by the place that requests were addressed to.
//!
//! Places that the user named (`--origin`, files of a robots.txt directory) are
//! always kept. Strangers come from Host headers, which anybody may write, so
//! only so many of them are told apart.

use std::collections::BTreeMap;

use super::bounded::{Bounded, StableHash};
use super::merge::Merge;
use super::place::Place;
use super::tally::{Actor, CrawlerTally};

/// Places that the user did not name and that are told apart; the rest is `(others)`.
pub const STRANGERS_MAX: usize = 10_000;

/// What crawlers did at one place.
pub type PlaceTally = BTreeMap<Actor, CrawlerTally>;

/// Whether a place may be folded into `(others)`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// The user named it.
    Named,
    /// Its hash decides.
    Stranger(u64),
}

/// Tallies by place.
#[derive(Clone, Debug)]
pub struct Places {
    named: BTreeMap<Place, PlaceTally>,
    strangers: Bounded<Place, PlaceTally>,
}

impl Default for Places {
    fn default() -> Places {
        Places { named: BTreeMap::new(), strangers: Bounded::new(STRANGERS_MAX) }
    }
}

impl Places {
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

    /// All places in order, `(others)` among them if there had to be any.
    pub fn into_map(self) -> BTreeMap<Place, PlaceTally> {
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
    }
}

impl StableHash for Place {
    fn stable_hash(&self) -> u64 {
        self.to_string().as_bytes().stable_hash()
    }
}
