//! Fingerprints of short byte strings, with a secret key.
//!
//! Two different strings of one length have the same fingerprint with a probability of at most
//! 2⁻⁶³, whoever chose them, because the key is random and never leaves the process. That is a
//! theorem and not a hope: the sum of products is NH (Black, Halevi, Krawczyk, Krovetz and Rogaway,
//! "UMAC: Fast and Secure Message Authentication", 1999), which is 2⁻⁶⁴ for words of 64 bits, and
//! what makes 64 bits of it is the multilinear family (Lemire and Kaser, "Strongly universal string
//! hashing is fast", 2014), which is 2⁻⁶⁴ again.

use std::{collections::hash_map::RandomState, hash::BuildHasher as _};

/// The longest string that has a fingerprint, in bytes.
pub(crate) const FINGERPRINTED_BYTES_MAX: usize = 1024;

const PAIR_BYTES: usize = 16;

/// A secret key.
#[derive(Clone)]
pub(crate) struct FingerprintKey {
    pairs: [(u64, u64); FINGERPRINTED_BYTES_MAX / PAIR_BYTES],
    high: u128,
    low: u128,
    added: u128,
}

impl std::fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FingerprintKey").finish_non_exhaustive()
    }
}

impl FingerprintKey {
    /// A new key, from the random numbers of the system by way of the keys of [`RandomState`].
    pub(crate) fn random() -> FingerprintKey {
        let random = RandomState::new();
        let mut numbers = (0_u64..).map(|number| random.hash_one(number));
        let mut word = || numbers.next().expect("there is always another number");
        let pairs = std::array::from_fn(|_| (word(), word()));
        let mut long = || u128::from(word()) << 64 | u128::from(word());
        FingerprintKey { pairs, high: long(), low: long(), added: long() }
    }

    /// The fingerprint of `bytes`. Strings of different lengths can have the same one.
    ///
    /// # Panics
    /// If there are more than [`FINGERPRINTED_BYTES_MAX`] bytes.
    #[inline]
    pub(crate) fn of(&self, bytes: &[u8]) -> u64 {
        assert!(bytes.len() <= FINGERPRINTED_BYTES_MAX, "too long for a fingerprint");
        let (pairs, rest) = bytes.as_chunks::<PAIR_BYTES>();
        let mut sum = 0_u128;
        for (pair, key) in pairs.iter().zip(&self.pairs) {
            sum = sum.wrapping_add(product(pair, *key));
        }
        if !rest.is_empty() {
            let mut padded = [0; PAIR_BYTES];
            // Bytes that count twice differ where the string differs.
            let last = bytes.last_chunk::<PAIR_BYTES>().unwrap_or_else(|| {
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            });
            sum = sum.wrapping_add(product(last, self.pairs[pairs.len()]));
        }
        let high = self.high.wrapping_mul(sum >> 64);
        let low = self.low.wrapping_mul(u128::from(sum as u64));
        (self.added.wrapping_add(high).wrapping_add(low) >> 64) as u64
    }
}

#[inline]
fn product(pair: &[u8; PAIR_BYTES], (first, second): (u64, u64)) -> u128 {
    let pair = u128::from_le_bytes(*pair);
    let (low, high) = (pair as u64, (pair >> 64) as u64);
    u128::from(low.wrapping_add(first)) * u128::from(high.wrapping_add(second))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_byte_and_each_key_counts() {
        let key = FingerprintKey::random();
        for length in [1, 7, 8, 9, 15, 16, 17, 130, FINGERPRINTED_BYTES_MAX] {
            let text = vec![b'a'; length];
            let mut seen = BTreeSet::from([key.of(&text)]);
            for at in 0..length {
                for byte in [0, b'b', 0xff] {
                    let mut other = text.clone();
                    other[at] = byte;
                    assert!(seen.insert(key.of(&other)), "{length} {at} {byte}");
                }
            }
            assert_eq!(key.of(&text), key.of(&text));
            assert_ne!(key.of(&text), FingerprintKey::random().of(&text));
        }
    }

    /// Swapped parts, repeated parts and zeros: what weak hashes mix up.
    #[test]
    fn parts_in_another_order_are_another_string() {
        let key = FingerprintKey::random();
        let parts = ["\0\0\0\0\0\0\0\0", "aaaaaaaa", "bbbbbbbb"];
        let all = |count| {
            (0..3_usize.pow(count)).map(move |number| {
                (0..count).map(|at| parts[number / 3_usize.pow(at) % 3]).collect::<String>()
            })
        };
        for count in 1..=6 {
            let prints: BTreeSet<u64> = all(count).map(|text| key.of(text.as_bytes())).collect();
            assert_eq!(prints.len(), 3_usize.pow(count));
        }
    }

    /// The sum and the 64 bits of it by the definitions, in slow arithmetic.
    #[test]
    fn it_is_what_the_papers_define() {
        let key = FingerprintKey::random();
        for length in [0, 1, 8, 16, 31, 32, 100] {
            let text: Vec<u8> = (0..length).map(|at: u8| at.wrapping_mul(37)).collect();
            let mut pairs = text[..text.len() / PAIR_BYTES * PAIR_BYTES].to_vec();
            if pairs.len() < text.len() {
                pairs.extend(&text[text.len().saturating_sub(PAIR_BYTES)..]);
                pairs.resize(pairs.len().next_multiple_of(PAIR_BYTES), 0);
            }
            let words: Vec<u64> = pairs
                .chunks(8)
                .map(|word| {
                    word.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
                })
                .collect();
            let mut sum = 0_u128;
            for (at, word) in words.chunks(2).enumerate() {
                let left = u128::from(word[0].wrapping_add(key.pairs[at].0));
                sum = sum.wrapping_add(left * u128::from(word[1].wrapping_add(key.pairs[at].1)));
            }
            let expected = key
                .added
                .wrapping_add(key.high.wrapping_mul(sum >> 64))
                .wrapping_add(key.low.wrapping_mul(sum & u128::from(u64::MAX)));
            assert_eq!(u128::from(key.of(&text)), expected >> 64, "{length}");
        }
    }
}
