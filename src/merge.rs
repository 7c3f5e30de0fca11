//! Adding up what was added up apart.
//!
//! Merging is associative and commutative: neither the number of threads nor
//! the order of files can show in a report.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Sums that add up.
pub trait Merge {
    /// Adds `other` to these sums.
    fn absorb(&mut self, other: Self);
}

impl Merge for () {
    fn absorb(&mut self, (): ()) {}
}

impl<V: Merge> Merge for Option<V> {
    fn absorb(&mut self, other: Option<V>) {
        match (self.as_mut(), other) {
            (Some(sum), Some(other)) => sum.absorb(other),
            (None, other) => *self = other,
            (Some(_), None) => {}
        }
    }
}

impl<K: Ord, V: Merge> Merge for BTreeMap<K, V> {
    fn absorb(&mut self, other: BTreeMap<K, V>) {
        for (key, value) in other {
            match self.entry(key) {
                Entry::Occupied(mut sum) => sum.get_mut().absorb(value),
                Entry::Vacant(place) => {
                    place.insert(value);
                }
            }
        }
    }
}
