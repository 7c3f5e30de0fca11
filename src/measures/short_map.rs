//! A sorted array of few entries: days, rules, hours of one row.
//!
//! Logs are mostly ordered by time, so the last used entry is usually the next one, too, and needs
//! no search.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::merge::Merge;

/// A map that is small nearly always.
#[derive(Clone, Debug)]
pub struct ShortMap<K, V> {
    /// Ascending, each key once.
    entries: Vec<(K, V)>,
    /// The entry that was used last.
    last: usize,
}

impl<K, V> Default for ShortMap<K, V> {
    fn default() -> ShortMap<K, V> {
        ShortMap { entries: Vec::new(), last: 0 }
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for ShortMap<K, V> {
    fn eq(&self, other: &ShortMap<K, V>) -> bool {
        self.entries == other.entries
    }
}

impl<K: Copy + Ord, V> ShortMap<K, V> {
    /// The value of `key`, created by `make` if there is none.
    #[inline]
    pub(crate) fn entry_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let is_last = self.entries.get(self.last).is_some_and(|(last, _)| *last == key);
        if !is_last {
            self.last = match self.entries.binary_search_by(|(known, _)| known.cmp(&key)) {
                Ok(at) => at,
                Err(at) => {
                    self.entries.insert(at, (key, make()));
                    at
                }
            };
        }
        &mut self.entries[self.last].1
    }

    /// The value of `key`, by default if there is none.
    #[inline]
    pub(crate) fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.entry_or_insert_with(key, V::default)
    }

    /// The value of `key`.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let is_last = self.entries.get(self.last).is_some_and(|(last, _)| last == key);
        if !is_last {
            self.last = self.entries.binary_search_by(|(known, _)| known.cmp(key)).ok()?;
        }
        Some(&mut self.entries[self.last].1)
    }
}

impl<K: Ord, V> ShortMap<K, V> {
    /// The value of `key`.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let at = self.entries.binary_search_by(|(known, _)| known.cmp(key)).ok()?;
        Some(&self.entries[at].1)
    }
}

impl<K, V> ShortMap<K, V> {
    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, ascending.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// The entries with values to change, ascending.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// The values, ordered by key.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The values, ordered by key.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Removes and returns the entry with the smallest key.
    pub(crate) fn pop_first(&mut self) -> Option<(K, V)> {
        self.last = 0;
        (!self.entries.is_empty()).then(|| self.entries.remove(0))
    }

    /// The smallest key.
    pub(crate) fn first_key(&self) -> Option<&K> {
        self.entries.first().map(|(key, _)| key)
    }
}

impl<K: Copy + Ord, V: Merge> Merge for ShortMap<K, V> {
    fn absorb(&mut self, other: ShortMap<K, V>) {
        if self.entries.is_empty() {
            *self = other;
            return;
        }
        let ShortMap { entries, last: _ } = other;
        for (key, value) in entries {
            match self.entries.binary_search_by(|(known, _)| known.cmp(&key)) {
                Ok(at) => self.entries[at].1.absorb(value),
                Err(at) => self.entries.insert(at, (key, value)),
            }
        }
    }
}

impl<K: Copy + Ord, V: Merge> FromIterator<(K, V)> for ShortMap<K, V> {
    /// Values of equal keys are merged.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> ShortMap<K, V> {
        let mut all: Vec<(K, V)> = entries.into_iter().collect();
        all.sort_by_key(|(key, _)| *key);
        let mut entries: Vec<(K, V)> = Vec::with_capacity(all.len());
        for (key, value) in all {
            match entries.last_mut() {
                Some((last, sum)) if *last == key => sum.absorb(value),
                _ => entries.push((key, value)),
            }
        }
        ShortMap { entries, last: 0 }
    }
}

impl<K, V> IntoIterator for ShortMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a ShortMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}

/// Pairs, ascending.
impl<K: Serialize, V: Serialize> Serialize for ShortMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.entries)
    }
}

/// Accepts pairs in any order, because the file may come from elsewhere.
impl<'de, K, V> Deserialize<'de> for ShortMap<K, V>
where
    K: Copy + Ord + Deserialize<'de>,
    V: Merge + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ShortMap<K, V>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_holds_what_a_tree_holds_in_any_order_and_split() {
        let keys: Vec<u64> = (0..300).map(|i: u64| i * i % 41).collect();
        let mut tree: BTreeMap<u64, u64> = BTreeMap::new();
        keys.iter().for_each(|key| *tree.entry(*key).or_default() += key + 1);
        let of = |keys: &[u64]| {
            let mut map: ShortMap<u64, u64> = ShortMap::default();
            keys.iter().for_each(|key| *map.entry(*key) += key + 1);
            map
        };
        for cut in [0, 1, 7, 150, 300] {
            let mut map = of(&keys[..cut]);
            map.absorb(of(&keys[cut..]));
            let found: Vec<(u64, u64)> = map.iter().map(|(key, value)| (*key, *value)).collect();
            assert_eq!(found, Vec::from_iter(tree.clone()), "{cut}");
            assert!(map.get_mut(&16).is_some() && map.get_mut(&1_000).is_none());
            let text = serde_json::to_string(&map).unwrap();
            assert_eq!(serde_json::from_str::<ShortMap<u64, u64>>(&text).unwrap(), map);
            *map.entry(16) += 1;
            assert_ne!(serde_json::from_str::<ShortMap<u64, u64>>(&text).unwrap(), map);
        }
        let unordered: ShortMap<u64, u64> = serde_json::from_str("[[3,1],[1,1],[3,2]]").unwrap();
        assert_eq!(Vec::from_iter(unordered), [(1, 1), (3, 3)]);
    }
}
