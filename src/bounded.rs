//! A map with a limited number of keys, for foreign strings.
//!
//! It keeps the keys with the smallest stable hashes and adds up the others in one value. Which
//! keys stay depends only on the set of keys, not on their order or on the distribution over
//! workers. So two such maps merge exactly: a key that one of them dropped has enough smaller keys
//! before it.

use std::{borrow::Borrow, collections::BTreeMap};

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::digest::sha256;
use crate::merge::Merge;

/// A hash that orders keys, equal on every machine and in every version.
pub(crate) trait StableHash {
    /// The first eight bytes of a cryptographic hash, so that nobody can choose which keys stay.
    fn stable_hash(&self) -> u64;
}

impl StableHash for [u8] {
    fn stable_hash(&self) -> u64 {
        let digest = sha256(&[self]);
        u64::from_be_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
    }
}

/// At most `keys_max` keys, and the sum of the others.
#[derive(Clone, Debug)]
pub struct Bounded<K, V> {
    keys_max: usize,
    kept: BTreeMap<(u64, K), V>,
    others: Option<V>,
}

impl<K: Ord + Clone, V: Merge> Bounded<K, V> {
    /// Keeps at most `keys_max` keys.
    pub(crate) fn new(keys_max: usize) -> Bounded<K, V> {
        Bounded { keys_max, kept: BTreeMap::new(), others: None }
    }

    /// Adds `value` to the sum of `key`.
    pub(crate) fn add<Q>(&mut self, key: &Q, value: V)
    where
        Q: StableHash + ToOwned<Owned = K> + ?Sized,
        K: Borrow<Q>,
    {
        self.add_hashed(key.stable_hash(), key.to_owned(), value);
    }

    /// The sum of `key` for updates: its own, or that of the others.
    pub(crate) fn entry(&mut self, hash: u64, key: &K) -> &mut V
    where
        V: Default,
    {
        let key = (hash, key.clone());
        if !self.kept.contains_key(&key) {
            if !self.makes_room_for(&key) {
                return self.others.get_or_insert_default();
            }
            self.kept.insert(key.clone(), V::default());
            self.give_up_the_last();
        }
        self.kept.get_mut(&key).expect("it was there, or was inserted and is not the last")
    }

    /// Adds `value` to the sum of the others.
    pub(crate) fn add_to_others(&mut self, value: V) {
        merge_into(&mut self.others, value);
    }

    /// The kept keys in the order of their hashes, and the sum of the others.
    pub(crate) fn into_parts(self) -> (impl Iterator<Item = (K, V)>, Option<V>) {
        (self.kept.into_iter().map(|((_, key), value)| (key, value)), self.others)
    }

    /// Adds `value` to the sum of `key`, whose stable hash is known.
    pub(crate) fn add_hashed(&mut self, hash: u64, key: K, value: V) {
        let key = (hash, key);
        if let Some(sum) = self.kept.get_mut(&key) {
            sum.absorb(value);
        } else if self.makes_room_for(&key) {
            self.kept.insert(key, value);
            self.give_up_the_last();
        } else {
            merge_into(&mut self.others, value);
        }
    }

    fn makes_room_for(&self, key: &(u64, K)) -> bool {
        self.kept.len() < self.keys_max
            || self.kept.last_key_value().is_some_and(|(last, _)| key < last)
    }

    fn give_up_the_last(&mut self) {
        if self.kept.len() > self.keys_max
            && let Some((_, value)) = self.kept.pop_last()
        {
            merge_into(&mut self.others, value);
        }
    }
}

impl<K: Ord + Clone, V: Merge> Merge for Bounded<K, V> {
    fn absorb(&mut self, other: Self) {
        let Bounded { kept, others, keys_max: _ } = other;
        for ((hash, key), value) in kept {
            self.add_hashed(hash, key, value);
        }
        if let Some(others) = others {
            merge_into(&mut self.others, others);
        }
    }
}

/// Recent keys that are added to before they are hashed.
const RECENT_MAX: usize = 1024;

/// A [`Bounded`] with byte strings as keys. It computes the hash of a recent key once, not for each
/// value.
#[derive(Clone, Debug)]
pub(crate) struct BoundedBytes<V> {
    recent: HashMap<Vec<u8>, V, RandomState>,
    bounded: Bounded<Vec<u8>, V>,
    hash: fn(&[u8]) -> u64,
}

impl<V: Merge + Default> BoundedBytes<V> {
    /// Keeps at most `keys_max` keys, those with the smallest `hash`.
    pub(crate) fn new(keys_max: usize, hash: fn(&[u8]) -> u64) -> BoundedBytes<V> {
        BoundedBytes { recent: HashMap::default(), bounded: Bounded::new(keys_max), hash }
    }

    /// The sum of `key`, to be added to.
    pub(crate) fn entry(&mut self, key: &[u8]) -> &mut V {
        if self.recent.len() > RECENT_MAX {
            self.settle();
        }
        self.recent.entry_ref(key).or_default()
    }

    /// Adds `value` to the sum of the others.
    pub(crate) fn add_to_others(&mut self, value: V) {
        self.bounded.add_to_others(value);
    }

    /// The kept keys, ascending, and the sum of the others.
    pub(crate) fn into_parts(mut self) -> (Vec<(Vec<u8>, V)>, Option<V>) {
        self.settle();
        let (kept, others) = self.bounded.into_parts();
        let mut kept: Vec<_> = kept.collect();
        kept.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        (kept, others)
    }

    fn settle(&mut self) {
        for (key, value) in self.recent.drain() {
            self.bounded.add_hashed((self.hash)(&key), key, value);
        }
    }
}

impl<V: Merge + Default> Merge for BoundedBytes<V> {
    fn absorb(&mut self, mut other: BoundedBytes<V>) {
        other.settle();
        let BoundedBytes { recent: _, bounded, hash: _ } = other;
        self.bounded.absorb(bounded);
    }
}

fn merge_into<V: Merge>(sum: &mut Option<V>, value: V) {
    match sum {
        Some(sum) => sum.absorb(value),
        None => *sum = Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded(keys: &[u8], keys_max: usize) -> Bounded<Vec<u8>, u64> {
        let mut bounded = Bounded::new(keys_max);
        keys.iter().for_each(|&key| bounded.add([key].as_slice(), 1));
        bounded
    }

    fn parts(bounded: Bounded<Vec<u8>, u64>) -> (Vec<(Vec<u8>, u64)>, Option<u64>) {
        let (kept, others) = bounded.into_parts();
        (kept.collect(), others)
    }

    #[test]
    fn order_and_spread_do_not_show() {
        let keys: Vec<u8> = (0..200u32).map(|i| (i * i % 61) as u8).collect();
        let backwards: Vec<u8> = keys.iter().rev().copied().collect();
        let whole = parts(bounded(&keys, 7));
        assert_eq!(parts(bounded(&backwards, 7)), whole);
        for cut in [0, 1, 50, 133, 200] {
            let mut left = bounded(&keys[..cut], 7);
            left.absorb(bounded(&keys[cut..], 7));
            assert_eq!(parts(left), whole, "cut at {cut}");
        }
        assert_eq!(whole.0.len(), 7);
        let total = whole.0.iter().map(|(_, n)| n).sum::<u64>() + whole.1.unwrap();
        assert_eq!(total, 200);
    }

    #[test]
    fn an_entry_is_what_add_would_add_to() {
        let keys = [1u8, 2, 3, 2, 9, 9, 1, 4];
        for keys_max in [0, 1, 2, 10] {
            let mut by_entry: Bounded<Vec<u8>, u64> = Bounded::new(keys_max);
            for key in keys {
                *by_entry.entry([key].as_slice().stable_hash(), &vec![key]) += 1;
            }
            assert_eq!(parts(by_entry), parts(bounded(&keys, keys_max)), "{keys_max}");
        }
    }
}
