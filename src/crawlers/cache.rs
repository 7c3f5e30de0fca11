//! Answers for user agents that were seen before.
//!
//! A log holds few distinct user agents, so that nearly every line is answered
//! by one hash and one comparison. The whole user agent is the key and is
//! compared exactly: an answer from here is always the registry's own.

use crate::crawlers::{identify::Identified, registry::Registry};
use foldhash::fast::RandomState;
use std::hash::BuildHasher as _;

/// User agents that one cache holds. Logs of millions of lines have thousands
/// of distinct ones; a flood of random ones must not grow it.
const ENTRIES_MAX: usize = 1 << 14;

/// Longer user agents, in bytes, are asked anew each time.
const KEY_BYTES_MAX: usize = 1024;

/// Bytes of keys, live and replaced, after which the cache starts afresh.
const KEYS_BYTES_MAX: usize = 4 << 20;

/// Places in which one user agent may stand: however many hashes an attacker
/// makes collide, a look-up reads no more than these.
const WAYS: usize = 8;

/// A worker's memory of user agents, at most about 4.5 MiB. Serves one
/// registry: answers of another would be wrong.
#[derive(Debug)]
pub struct UserAgentCache {
    /// `WAYS` neighbours make a set; the hash names the set.
    slots: Vec<Slot>,
    keys: Vec<u8>,
    hasher: RandomState,
    /// The slot that answered last: a page and what belongs to it are requested by one browser.
    last: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The high half of the key's hash; the low bits named the set.
    hash_high: u32,
    key_start: u32,
    /// 0 where the slot is free: the empty user agent is never asked for.
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

/// What `registry.identify(user_agent)` says, remembered in `cache`.
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
        (self.key(slot) == key).then_some(slot.identified)
    }

    fn get(&mut self, hash: u64, key: &[u8]) -> Option<Identified> {
        let start = set_start(hash);
        let set = &self.slots[start..][..WAYS];
        let is_it = |slot: &Slot| slot.hash_high == high(hash) && self.key(slot) == key;
        let way = set.iter().position(is_it)?;
        self.last = start + way;
        Some(self.slots[self.last].identified)
    }

    /// Empty where the slot is free.
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
