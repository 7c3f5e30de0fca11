//! The number of distinct texts, with limited memory.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::merge::Merge;

/// The smallest `MAX` stable hashes of texts. Fewer are all of them; from `MAX` hashes the number of
/// texts is estimated. That merges exactly.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub struct Distinct<const MAX: usize>(BTreeSet<u64>);

impl<const MAX: usize> Distinct<MAX> {
    /// Adds the text with this hash.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64) {
        if self.is_full() {
            if self.0.last().is_some_and(|last| hash < *last) && self.0.insert(hash) {
                self.0.pop_last();
            }
        } else {
            self.0.insert(hash);
        }
    }

    /// Whether there may be more texts than hashes.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MAX
    }

    /// The number of texts; an estimate if it is full. Of evenly distributed hashes, the share below
    /// the largest one that is kept is the share of texts that are kept.
    pub(crate) fn count(&self) -> u64 {
        let kept = self.0.len() as u128;
        match self.0.last() {
            Some(last) if self.is_full() => {
                let texts = ((kept - 1) << 64) / (u128::from(*last) + 1);
                u64::try_from(texts).unwrap_or(u64::MAX).max(kept as u64)
            }
            _ => kept as u64,
        }
    }
}

impl<const MAX: usize> Merge for Distinct<MAX> {
    fn absorb(&mut self, other: Distinct<MAX>) {
        other.0.into_iter().for_each(|hash| self.add(hash));
    }
}

impl<const MAX: usize> From<Vec<u64>> for Distinct<MAX> {
    fn from(hashes: Vec<u64>) -> Distinct<MAX> {
        let mut distinct = Distinct::default();
        hashes.into_iter().for_each(|hash| distinct.add(hash));
        distinct
    }
}

impl<const MAX: usize> From<Distinct<MAX>> for Vec<u64> {
    fn from(distinct: Distinct<MAX>) -> Vec<u64> {
        distinct.0.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounded::StableHash;

    fn distinct(texts: std::ops::Range<u32>) -> Distinct<1024> {
        let hashes = texts.map(|text| text.to_be_bytes().as_slice().stable_hash());
        Distinct::from(hashes.collect::<Vec<u64>>())
    }

    #[test]
    fn few_texts_are_counted_and_many_are_estimated() {
        for texts in [0, 1, 2, 1023] {
            assert_eq!(distinct(0..texts).count(), u64::from(texts));
        }
        for texts in [1024, 3000, 100_000] {
            let (found, texts) = (distinct(0..texts).count() as f64, f64::from(texts));
            assert!((found - texts).abs() < 0.1 * texts, "{found} of {texts}");
        }
        assert_eq!(Distinct::<2>::from(vec![0, 1, 2]).count(), 1 << 63);
    }

    #[test]
    fn parts_merge_to_the_whole() {
        for cut in [0, 500, 2000, 4000] {
            let mut left = distinct(0..cut);
            left.absorb(distinct(cut / 2..4000));
            assert_eq!(left, distinct(0..4000), "{cut}");
        }
    }
}
