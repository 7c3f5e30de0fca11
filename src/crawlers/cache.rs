//! Answers for user agents that were seen before.
//!
//! A log has few distinct user agents, so nearly every line takes one fingerprint and one look into
//! a small table. What waits there is the memory, and so a slot is 16 bytes and the user agents
//! themselves are not kept, except those of crawlers: they are compared byte for byte, and no
//! fingerprint makes a browser a crawler. `docs/limits.md` has the arithmetic for the others.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;

use crate::bytes::equal;
use crate::crawlers::fingerprint::{FINGERPRINTED_BYTES_MAX, FingerprintKey};
use crate::crawlers::own_names::{SharedNames, own_names};
use crate::crawlers::{identify::Identified, registry::Registry};
use crate::robots::product_token::USER_AGENT_BYTES_MAX;

/// The capacity of one cache. Logs of millions of lines have thousands of distinct user agents; a
/// flood of random ones must not use more memory.
const ENTRIES_MAX: usize = 1 << 14;

/// The capacity at first: a short log needs no more memory. A power of two.
const ENTRIES_AT_FIRST: usize = 1 << 9;

/// The longest user agent that is cached, in bytes.
const KEY_BYTES_MAX: usize = FINGERPRINTED_BYTES_MAX;

/// The size of all user agents of crawlers, live and replaced, at which the cache is cleared, in
/// bytes. [`Slot::key_at`] has as many values as there are units in it.
const KEYS_BYTES_MAX: usize = UNIT_BYTES << 16;

/// Where a kept user agent starts is a multiple of this.
const UNIT_BYTES: usize = 64;

/// The slots of one set. A lookup reads only these.
const WAYS: usize = 4;

/// A worker's cache of user agents, at most about 4.6 MiB, for one registry.
#[derive(Debug)]
pub struct UserAgentCache {
    /// The fingerprint names the set. A power of two.
    sets: Vec<Set>,
    /// The entries that were put into the sets.
    entries: usize,
    /// The user agents of crawlers.
    keys: Vec<u8>,
    fingerprints: Box<FingerprintKey>,
    /// A bit for each crawler that was met with other names; empty before the first.
    named: Vec<u64>,
    /// User agents and their other names; none before the first.
    names: Vec<(Vec<u8>, Option<SharedNames>)>,
    hasher: RandomState,
}

/// The user agents whose other names are kept, a power of two.
const NAMES: usize = 64;

/// What a processor fetches from memory at once.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Set([Slot; WAYS]);

#[derive(Clone, Copy, Debug)]
struct Slot {
    fingerprint: u64,
    /// 0 if the slot is free; the empty user agent is never looked up.
    key_len: u16,
    /// Where the user agent of a crawler starts, in units.
    key_at: u16,
    identified: Identified,
}

const FREE: Slot = Slot { fingerprint: 0, key_len: 0, key_at: 0, identified: Identified::Other };

impl Default for UserAgentCache {
    fn default() -> UserAgentCache {
        let fingerprints = Box::new(FingerprintKey::random());
        let sets = vec![Set([FREE; WAYS]); ENTRIES_AT_FIRST / WAYS];
        UserAgentCache {
            sets,
            entries: 0,
            keys: Vec::new(),
            fingerprints,
            named: Vec::new(),
            names: Vec::new(),
            hasher: RandomState::default(),
        }
    }
}

/// `registry.identify(user_agent)`, cached in `cache`.
pub fn identify_cached(
    registry: &Registry,
    user_agent: &[u8],
    cache: &mut UserAgentCache,
) -> Identified {
    if user_agent.is_empty() {
        return Identified::Empty;
    }
    if user_agent.len() > KEY_BYTES_MAX {
        let identified = registry.identify(user_agent);
        cache.note_names(registry, user_agent, identified);
        return identified;
    }
    let fingerprint = cache.fingerprints.of(user_agent);
    cache.get(fingerprint, user_agent).unwrap_or_else(|| {
        let identified = registry.identify(user_agent);
        cache.note_names(registry, user_agent, identified);
        cache.put(fingerprint, user_agent, identified);
        identified
    })
}

impl UserAgentCache {
    /// The [other names](own_names) in `user_agent`, which `identified` sent; `None` if it has none. Nearly all crawlers
    /// never have any, and then the user agent is not looked at.
    #[inline]
    pub(crate) fn other_names(
        &mut self,
        registry: &Registry,
        identified: Identified,
        user_agent: &[u8],
    ) -> Option<SharedNames> {
        if let Identified::Crawler(crawler) = identified {
            let bits = self.named.get(crawler.index() / 64).copied().unwrap_or_default();
            if bits & 1 << (crawler.index() % 64) == 0 {
                return None;
            }
        }
        self.kept_names(registry, identified, user_agent)
    }

    #[inline(never)]
    fn kept_names(
        &mut self,
        registry: &Registry,
        identified: Identified,
        user_agent: &[u8],
    ) -> Option<SharedNames> {
        let user_agent = &user_agent[..user_agent.len().min(USER_AGENT_BYTES_MAX)];
        if self.names.is_empty() {
            self.names.resize_with(NAMES, Default::default);
        }
        let place = self.hasher.hash_one(user_agent) as usize % NAMES;
        let (known, names) = &mut self.names[place];
        if known != user_agent {
            known.clear();
            known.extend_from_slice(user_agent);
            let found = own_names(tokens_of(registry, identified), user_agent);
            *names = (!found.is_empty()).then(|| found.into());
        }
        names.clone()
    }

    /// Takes note that a crawler was met with other names.
    fn note_names(&mut self, registry: &Registry, user_agent: &[u8], identified: Identified) {
        let Identified::Crawler(crawler) = identified else { return };
        if !own_names(tokens_of(registry, identified), user_agent).is_empty() {
            let word = crawler.index() / 64;
            self.named.resize(self.named.len().max(word + 1), 0);
            self.named[word] |= 1 << (crawler.index() % 64);
        }
    }

    #[inline]
    fn get(&self, fingerprint: u64, key: &[u8]) -> Option<Identified> {
        let Set(set) = &self.sets[self.set_of(fingerprint)];
        // All are compared, because a processor cannot foresee where a search would end.
        let mut same = 0_u32;
        for (way, slot) in set.iter().enumerate() {
            same |= u32::from(slot.fingerprint == fingerprint) << way;
        }
        let slot = set.get(same.trailing_zeros() as usize)?;
        let is_same = match slot.identified {
            Identified::Crawler(_) => equal(self.key(slot), key),
            _ => usize::from(slot.key_len) == key.len(),
        };
        is_same.then_some(slot.identified)
    }

    /// Of a crawler's slot.
    #[inline]
    fn key(&self, slot: &Slot) -> &[u8] {
        &self.keys[usize::from(slot.key_at) * UNIT_BYTES..][..usize::from(slot.key_len)]
    }

    #[cold]
    fn put(&mut self, fingerprint: u64, key: &[u8], identified: Identified) {
        let key_len = u16::try_from(key.len()).expect("keys are at most KEY_BYTES_MAX long");
        let mut key_at = 0;
        if matches!(identified, Identified::Crawler(_)) {
            if self.keys.len() + key.len() > KEYS_BYTES_MAX {
                self.keys.clear();
                self.sets.fill(Set([FREE; WAYS]));
            }
            let units = self.keys.len() / UNIT_BYTES;
            key_at = u16::try_from(units).expect("keys start below KEYS_BYTES_MAX");
            self.keys.extend_from_slice(key);
            self.keys.resize(self.keys.len().next_multiple_of(UNIT_BYTES), 0);
        }
        if self.entries >= self.sets.len() * WAYS / 2 && self.sets.len() < ENTRIES_MAX / WAYS {
            self.grow();
        }
        self.entries += 1;
        self.put_slot(Slot { fingerprint, key_len, key_at, identified });
    }

    fn put_slot(&mut self, slot: Slot) {
        let at = self.set_of(slot.fingerprint);
        let Set(set) = &mut self.sets[at];
        let free = set.iter().position(|slot| slot.key_len == 0);
        // In a full set any slot will do; these bits did not name the set.
        let way = free.unwrap_or((slot.fingerprint >> 24) as usize % WAYS);
        set[way] = slot;
    }

    /// Takes all sets that it may have.
    fn grow(&mut self) {
        let all = vec![Set([FREE; WAYS]); ENTRIES_MAX / WAYS];
        let few = std::mem::replace(&mut self.sets, all);
        let slots = few.into_iter().flat_map(|Set(slots)| slots);
        slots.filter(|slot| slot.key_len > 0).for_each(|slot| self.put_slot(slot));
    }

    #[inline]
    fn set_of(&self, fingerprint: u64) -> usize {
        fingerprint as usize & (self.sets.len() - 1)
    }
}

fn tokens_of(registry: &Registry, identified: Identified) -> &[String] {
    match identified {
        Identified::Crawler(crawler) => &registry.crawler(crawler).product_tokens,
        Identified::Generic | Identified::Other | Identified::Empty => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::crawler::CrawlerId;

    /// User agents in any order, with two crawlers that have other names in some.
    #[test]
    fn kept_names_are_those_of_their_user_agents() {
        let (registry, mut cache) = (Registry::builtin(), UserAgentCache::default());
        let mut random = crate::random::Random::new();
        let mut found = 0;
        for _ in 0..5_000 {
            let name = ["GPTBot/1.2", "bingbot/2.0", "CCBot/2.0", "acme"][random.below(4)];
            let more = ["", " Acme/1", " AcmeBot"][random.below(3)];
            let user_agent = format!("{name}{more} (compatible; x{})", random.below(60));
            let user_agent = user_agent.as_bytes();
            let who = identify_cached(&registry, user_agent, &mut cache);
            let names = cache.other_names(&registry, who, user_agent);
            let expected = own_names(tokens_of(&registry, who), user_agent);
            assert_eq!(names.as_deref().unwrap_or_default(), expected);
            found += usize::from(names.is_some());
        }
        assert!(found > 1_000, "{found}");
    }

    const CRAWLER: Identified = Identified::Crawler(CrawlerId(7));

    #[test]
    fn no_fingerprint_makes_a_browser_a_crawler() {
        let mut cache = UserAgentCache::default();
        cache.put(7, b"bot", CRAWLER);
        assert_eq!(cache.get(7, b"bot"), Some(CRAWLER));
        assert_eq!(cache.get(7, b"abc"), None);
        cache.put(8, b"one", Identified::Generic);
        assert_eq!(cache.get(8, b"four"), None, "of another length");
    }

    #[test]
    fn a_full_set_forgets_one_entry_for_another() {
        let mut cache = UserAgentCache::default();
        for number in 0..100_u64 {
            let key = format!("key {number}");
            let fingerprint = number << 24;
            cache.put(fingerprint, key.as_bytes(), CRAWLER);
            assert_eq!(cache.get(fingerprint, key.as_bytes()), Some(CRAWLER));
            let kept = (0..=number).filter(|number| {
                cache.get(number << 24, format!("key {number}").as_bytes()).is_some()
            });
            assert_eq!(kept.count(), WAYS.min(number as usize + 1));
        }
    }

    /// The first sets are half full with the entry before the last one.
    #[test]
    fn entries_are_kept_when_there_are_more_sets() {
        let mut cache = UserAgentCache::default();
        let first = ENTRIES_AT_FIRST as u64 / 2;
        for fingerprint in 0..=first {
            assert_eq!(cache.sets.len() * WAYS, ENTRIES_AT_FIRST);
            cache.put(fingerprint, b"bot", CRAWLER);
        }
        assert_eq!(cache.sets.len() * WAYS, ENTRIES_MAX);
        assert!((0..=first).all(|fingerprint| cache.get(fingerprint, b"bot") == Some(CRAWLER)));
    }

    #[test]
    fn memory_stays_bounded() {
        let mut cache = UserAgentCache::default();
        for number in 0..20_000_u64 {
            let key = format!("{number:0width$}", width = KEY_BYTES_MAX - number as usize % 70);
            cache.put(number << 20, key.as_bytes(), CRAWLER);
            assert!(cache.keys.len() <= KEYS_BYTES_MAX);
            assert_eq!(cache.get(number << 20, key.as_bytes()), Some(CRAWLER));
        }
        assert_eq!(size_of_val(&*cache.sets), ENTRIES_MAX * 16);
    }
}
