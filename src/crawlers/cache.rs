//! Answers for user agents that were seen before.
//!
//! A log has few distinct user agents, so nearly every line takes one hash and one comparison. The
//! key is the whole user agent and is compared exactly, so the cache always gives the answer of the
//! registry.

use crate::bytes::equal;
use crate::crawlers::{identify::Identified, registry::Registry};
use foldhash::fast::RandomState;
use std::hash::BuildHasher as _;

/// The capacity of one cache. Logs of millions of lines have thousands of distinct user agents; a
/// flood of random ones must not use more memory.
const ENTRIES_MAX: usize = 1 << 14;

/// The longest user agent that is cached, in bytes.
const KEY_BYTES_MAX: usize = 1024;

/// The size of all keys, live and replaced, at which the cache is cleared, in bytes.
const KEYS_BYTES_MAX: usize = 4 << 20;

/// The slots of one set. A lookup reads only these, even if an attacker makes hashes collide.
const WAYS: usize = 8;

/// A worker's cache of user agents, at most about 4.5 MiB, for one registry.
#[derive(Debug)]
pub struct UserAgentCache {
    /// `WAYS` neighbours make a set; the hash names the set.
    slots: Vec<Slot>,
    keys: Vec<u8>,
    hasher: RandomState,
    /// The slot of the last answer: one client often makes several requests in a row.
    last: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The high half of the key's hash; the low bits select the set.
    hash_high: u32,
    key_start: u32,
    /// 0 if the slot is free; the empty user agent is never looked up.
    key_len: u16,
    identified: Identified,
}

const FREE: Slot = Slot { hash_high: 0, key_start: 0, key_len: 0, identified: Identified::Other };

impl Default for UserAgentCache {
    fn default() -> UserAgentCache {
        let (slots, hasher) = (vec![FREE; ENTRIES_MAX], RandomState::default());
        UserAgentCache { slots, keys: Vec::new(), hasher, last: 0 }
    }
}

/// `registry.identify(user_agent)`, cached in `cache`.
pub fn identify_cached(
    registry: &Registry,
    user_agent: &[u8],
    cache: &mut UserAgentCache,
) -> Identified {
    if user_agent.is_empty() {
        return Identified::Other;
    }
    if user_agent.len() > KEY_BYTES_MAX {
        return registry.identify(user_agent);
    }
    if let Some(identified) = cache.get_last(user_agent) {
        return identified;
    }
    let hash = cache.hasher.hash_one(user_agent);
    cache.get(hash, user_agent).unwrap_or_else(|| {
        let identified = registry.identify(user_agent);
        cache.put(hash, user_agent, identified);
        identified
    })
}

impl UserAgentCache {
    #[inline]
    fn get_last(&self, key: &[u8]) -> Option<Identified> {
        let slot = &self.slots[self.last];
        equal(self.key(slot), key).then_some(slot.identified)
    }

    fn get(&mut self, hash: u64, key: &[u8]) -> Option<Identified> {
        let start = set_start(hash);
        let set = &self.slots[start..][..WAYS];
        let is_it = |slot: &Slot| slot.hash_high == high(hash) && equal(self.key(slot), key);
        let way = set.iter().position(is_it)?;
        self.last = start + way;
        Some(self.slots[self.last].identified)
    }

    /// Empty if the slot is free.
    #[inline]
    fn key(&self, slot: &Slot) -> &[u8] {
        &self.keys[slot.key_start as usize..][..usize::from(slot.key_len)]
    }

    fn put(&mut self, hash: u64, key: &[u8], identified: Identified) {
        if self.keys.len() + key.len() > KEYS_BYTES_MAX {
            self.keys.clear();
            self.slots.fill(FREE);
        }
        let start = set_start(hash);
        let set = &mut self.slots[start..][..WAYS];
        let free = set.iter().position(|slot| slot.key_len == 0);
        // In a full set any slot will do; these bits named neither set nor key.
        let way = free.unwrap_or((hash >> 24) as usize % WAYS);
        let key_start = u32::try_from(self.keys.len()).expect("keys end below KEYS_BYTES_MAX");
        let key_len = u16::try_from(key.len()).expect("keys are at most KEY_BYTES_MAX long");
        self.last = start + way;
        set[way] = Slot { hash_high: high(hash), key_start, key_len, identified };
        self.keys.extend_from_slice(key);
    }
}

fn high(hash: u64) -> u32 {
    (hash >> 32) as u32
}

fn set_start(hash: u64) -> usize {
    (hash as usize % (ENTRIES_MAX / WAYS)) * WAYS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_hashes_are_distinguished_by_the_key() {
        let mut cache = UserAgentCache::default();
        cache.put(7, b"one", Identified::Generic);
        assert_eq!(cache.get(7, b"one"), Some(Identified::Generic));
        assert_eq!(cache.get(7, b"two"), None);
        for number in 0..100 {
            cache.put(7, format!("key {number}").as_bytes(), Identified::Other);
        }
        assert_eq!(cache.get(7, b"key 99"), Some(Identified::Other));
        assert_eq!(cache.get_last(b"key 99"), Some(Identified::Other));
        assert_eq!(cache.get_last(b"key 98"), None);
    }

    #[test]
    fn memory_stays_bounded() {
        let mut cache = UserAgentCache::default();
        for number in 0..20_000_u64 {
            cache.put(number << 20, &[b'x'; KEY_BYTES_MAX], Identified::Other);
            assert!(cache.keys.len() <= KEYS_BYTES_MAX);
            assert_eq!(cache.get_last(&[b'x'; KEY_BYTES_MAX]), Some(Identified::Other));
            assert_eq!(cache.get_last(b"y"), None);
        }
        assert_eq!((cache.slots.len(), size_of::<Slot>()), (ENTRIES_MAX, 16));
    }
}
