//! Merging sums.
//!
//! Merging is associative and commutative: neither the number of threads nor the order of files
//! changes a report.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

/// Sums that can be merged.
pub trait Merge {
    /// Adds `other` to these sums.
    fn absorb(&mut self, other: Self);
}

/// Merges a structure field by field, and then calls `after` on the sums. All fields must be named,
/// so that none can be forgotten.
macro_rules! merge_fields {
    ($name:ident { $($field:ident),* $(,)? } $(, $after:ident)?) => {
        impl $crate::merge::Merge for $name {
            fn absorb(&mut self, other: $name) {
                let $name { $($field),* } = other;
                $($crate::merge::Merge::absorb(&mut self.$field, $field);)*
                $(self.$after();)?
            }
        }
    };
}

pub(crate) use merge_fields;

/// The sum of `all`.
pub(crate) fn sum<T: Merge + Default>(all: impl Iterator<Item = T>) -> T {
    all.fold(T::default(), |mut sum, one| {
        sum.absorb(one);
        sum
    })
}

/// The smaller of two optional values.
pub(crate) fn least<T: Ord>(left: Option<T>, right: Option<T>) -> Option<T> {
    [left, right].into_iter().flatten().min()
}

impl Merge for () {
    fn absorb(&mut self, (): ()) {}
}

/// A count; it saturates, because a damaged file may have any value.
impl Merge for u64 {
    fn absorb(&mut self, other: u64) {
        *self = self.saturating_add(other);
    }
}

impl<T: Merge, const N: usize> Merge for [T; N] {
    fn absorb(&mut self, other: [T; N]) {
        self.iter_mut().zip(other).for_each(|(sum, other)| sum.absorb(other));
    }
}

impl<T: Merge> Merge for Box<T> {
    fn absorb(&mut self, other: Box<T>) {
        (**self).absorb(*other);
    }
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
                Entry::Vacant(vacant) => {
                    vacant.insert(value);
                }
            }
        }
    }
}

impl<K: Ord> Merge for BTreeSet<K> {
    fn absorb(&mut self, mut other: BTreeSet<K>) {
        self.append(&mut other);
    }
}
