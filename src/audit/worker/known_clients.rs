//! Identities of clients that were seen before.
//!
//! Clients send many requests, and to parse an address and to search lists for it takes longer than to find it in a
//! small table. An answer is kept with the times for which it is right.

use ipnet::IpNet;

use crate::audit::client::{client, client_address, is_forwarded};
use crate::audit::identities::Identities;
use crate::crawlers::address_times::Period;
use crate::crawlers::crawler::CrawlerId;
use crate::crawlers::identity::{Identity, IdentityAnswer, Proof};
use crate::logs::record::Record;

/// The most pairs of slots for short names, nearly all addresses of IPv4; a power of two. A worker needs a megabyte
/// for them.
const SHORT_PAIRS_MAX: usize = 1 << 14;

/// The most pairs of slots for other names, a power of two.
const NAME_PAIRS_MAX: usize = 1 << 10;

/// The pairs of a table at first: a short log needs no more memory. A power of two.
const PAIRS_AT_FIRST: usize = 1 << 8;

/// By how much a table grows that is full, a power of two.
const GROWTH: usize = 8;

/// The longest name that is kept: the longest address of IPv6 without brackets.
const NAME_BYTES_MAX: usize = 40;

/// A multiplier that spreads all bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The answers about clients of a worker, for the same sources.
#[derive(Debug, Default)]
pub(super) struct KnownClients {
    short: Table<[u64; 2]>,
    names: Table<Name>,
}

/// A client as it is logged, with zeros at its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Name {
    bytes: [u8; NAME_BYTES_MAX],
    length: u8,
}

impl Default for Name {
    fn default() -> Name {
        Name { bytes: [0; NAME_BYTES_MAX], length: 0 }
    }
}

/// Each client has a pair of slots. Empty until the first client.
#[derive(Debug, Default)]
struct Table<K> {
    pairs: Vec<Pair<K>>,
    /// The answers that were put into `pairs`.
    answers: usize,
}

/// What a processor fetches from memory at once, if names are short.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Pair<K>([Slot<K>; 2]);

/// The answer about a client that claims to be a crawler.
#[derive(Clone, Copy, Debug)]
struct Slot<K> {
    key: K,
    /// The first second of the times of the answer, and the first after them. No time if the slot is free.
    from: u32,
    until: u32,
    crawler: CrawlerId,
    answer: IdentityAnswer,
}

impl KnownClients {
    /// Whether the client of `record`, which claims to be `crawler`, is it.
    #[inline]
    pub(super) fn identity(
        &mut self,
        (identities, trusted_proxies): (&Identities, &[IpNet]),
        crawler: CrawlerId,
        record: &Record<'_>,
    ) -> IdentityAnswer {
        if !identities.need_address(crawler) {
            return identities.of(crawler, None, record.time);
        }
        // Before 1970 and after 2105 each is asked again.
        let Ok(time) = u32::try_from(record.time.unix_seconds()) else {
            return ask((identities, trusted_proxies), crawler, record).0;
        };
        // As it is logged, a list of addresses is not the same as one of them.
        let name = match trusted_proxies {
            [] => record.client,
            _ => client(record, trusted_proxies),
        };
        let ask = || ask((identities, trusted_proxies), crawler, record);
        if let Some(key) = packed(name) {
            let bits = key[0].wrapping_mul(SPREAD).rotate_left(32) ^ key[1];
            return self.short.answer(SHORT_PAIRS_MAX, (key, bits), (crawler, time), ask);
        }
        let mut key = Name::default();
        let Some(bytes) = key.bytes.get_mut(..name.len()) else { return ask().0 };
        bytes.copy_from_slice(name);
        key.length = name.len() as u8;
        // Addresses differ in their last bytes.
        let last = name.last_chunk().map_or(0, |last| u64::from_le_bytes(*last));
        self.names.answer(NAME_PAIRS_MAX, (key, last), (crawler, time), ask)
    }
}

impl<K: Copy + Eq + Default> Table<K> {
    /// The answer about the client of a key with these bits.
    #[inline]
    fn answer(
        &mut self,
        pairs_max: usize,
        (key, bits): (K, u64),
        (crawler, time): (CrawlerId, u32),
        ask: impl FnOnce() -> (IdentityAnswer, Period),
    ) -> IdentityAnswer {
        let mixed = (bits ^ (crawler.index() as u64) << 40).wrapping_mul(SPREAD);
        let place_in = |pairs: usize| (mixed >> 40) as usize & pairs.wrapping_sub(1);
        if let Some(Pair(pair)) = self.pairs.get(place_in(self.pairs.len())) {
            for slot in pair {
                let is_of_time = (slot.from..slot.until).contains(&time);
                if slot.key == key && slot.crawler == crawler && is_of_time {
                    return slot.answer;
                }
            }
        }
        let (answer, Period { from, until }) = ask();
        if self.answers >= 2 * self.pairs.len() && self.pairs.len() < pairs_max {
            self.grow(pairs_max);
        }
        self.answers += 1;
        let second = |time: i64| u32::try_from(time.max(0)).unwrap_or(u32::MAX);
        let place = place_in(self.pairs.len());
        let Pair(pair) = &mut self.pairs[place];
        pair[1] = pair[0];
        pair[0] = Slot { key, from: second(from), until: second(until), crawler, answer };
        answer
    }

    /// Takes more pairs, up to `pairs_max`, and forgets all answers.
    #[cold]
    fn grow(&mut self, pairs_max: usize) {
        let pairs = match self.pairs.len() {
            0 => PAIRS_AT_FIRST,
            pairs => pairs_max.min(pairs * GROWTH),
        };
        let free = Slot {
            key: K::default(),
            from: 0,
            until: 0,
            crawler: CrawlerId(0),
            answer: IdentityAnswer::UNASKED,
        };
        self.pairs = vec![Pair([free; 2]); pairs];
        self.answers = 0;
    }
}

/// All bytes of a name of 8 to 15 bytes, and its length: other names are others.
#[inline]
fn packed(name: &[u8]) -> Option<[u64; 2]> {
    let bits_after = 8 * 16u32.checked_sub(name.len() as u32).filter(|bytes| *bytes > 0)?;
    let (first, last) = (name.first_chunk()?, name.last_chunk()?);
    let after_first = u64::from_le_bytes(*last).checked_shr(bits_after).unwrap_or(0);
    Some([u64::from_le_bytes(*first), after_first | (name.len() as u64) << 56])
}

#[inline(never)]
fn ask(
    (identities, trusted_proxies): (&Identities, &[IpNet]),
    crawler: CrawlerId,
    record: &Record<'_>,
) -> (IdentityAnswer, Period) {
    if is_forwarded(record, trusted_proxies) && identities.need_address(crawler) {
        return (IdentityAnswer::new(Identity::Unverified, Proof::Forwarded), Period::ALWAYS);
    }
    identities.of_period(crawler, client_address(record, trusted_proxies), record.time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    use crate::crawlers::bundled_ranges::BundledRanges;
    use crate::crawlers::ranges::Ranges;
    use crate::crawlers::registry::Registry;
    use crate::time::UtcTime;

    use std::fs;

    /// Names of all lengths with every byte changed, and with bytes more: each has its own bits.
    #[test]
    fn packed_names_are_equal_only_if_the_names_are() {
        let mut known = std::collections::BTreeMap::new();
        for length in 0..20 {
            for (at, byte) in (0..=length).flat_map(|at| [0, b'a', 0xff].map(|byte| (at, byte))) {
                let mut name = vec![b'a'; length];
                name.get_mut(at).into_iter().for_each(|at| *at = byte);
                let Some(packed) = packed(&name) else {
                    assert!(!(8..16).contains(&length));
                    continue;
                };
                assert!((8..16).contains(&length));
                assert_eq!(*known.entry(packed).or_insert_with(|| name.clone()), name);
            }
        }
    }

    /// Crawlers, clients and times in any order: the answer is always that of asking again.
    #[test]
    fn known_clients_have_the_answer_of_asking() {
        let registry = Registry::builtin();
        let directory = tempfile::tempdir().unwrap();
        let list = |day: u8, address: &str| {
            let text = format!(
                "{{\"creationTime\": \"2026-03-{day:02}\", \"prefixes\": [\"{address}\", \"20.171.207.128/25\"]}}"
            );
            fs::write(directory.path().join("gptbot.json"), text).unwrap();
        };
        list(20, "20.171.206.0/24");
        let ranges = Ranges::open(directory.path(), &registry).unwrap();
        let bundled = BundledRanges::new(&registry, Some(&ranges));
        let identities =
            Identities { ranges: Some(ranges), bundled: Some(bundled), ..Identities::default() };
        let crawlers = ["GPTBot", "bingbot", "Bytespider"].map(|name| registry.find(name).unwrap());
        let clients: [&[u8]; 26] = [
            b"20.171.206.7",
            b"20.171.206.7\0",
            b"20.171.206.7, 203.0.113.5",
            b"203.0.113.5,20.171.206.7",
            b"20.171.207.7",
            b"157.55.39.1",
            b"[::ffff:157.55.39.1]:443",
            b"203.0.113.5",
            b"20.171.206.0",
            b"20.171.206.255",
            b"20.171.206.256",
            b"20.171.206.07",
            b"20.171.206.",
            b"20.171.206.9a",
            b"20.171.207.127",
            b"20.171.207.128",
            b"168.63.129.16",
            b"168.63.129.17",
            b"::ffff:20.171.206.7",
            b"::ffff:20.171.206.300",
            b"2600:1f18:24e6:b900:1111:2222:3333:4444",
            b"2001:db8::1",
            b"10.0.0.1",
            b"",
            b"-",
            b"a-name-that-is-much-too-long-to-be-an-address.example.com",
        ];
        let mut known = KnownClients::default();
        let (mut random, mut verified, mut spoofed) = (Random::new(), 0, 0);
        for _ in 0..40_000 {
            let (crawler, client) = (crawlers[random.below(3)], clients[random.below(26)]);
            // Other clients, so many that the table grows.
            let any = format!("20.171.{}.{}", random.below(256), random.below(256));
            let client = [client, any.as_bytes()][random.below(2)];
            // From January 2026 to October 2026, and some of other centuries.
            let near = 1_767_225_600 + 3600 * random.below(6500) as i64;
            let time = [near, near, near, -5, 5_000_000_000][random.below(5)];
            let time = UtcTime::from_unix_seconds(time);
            let record = Record { client, ..Record::at(time.unwrap()) };
            let found = known.identity((&identities, &[]), crawler, &record);
            let expected = ask((&identities, &[]), crawler, &record).0;
            assert_eq!(found, expected, "{} {time:?}", String::from_utf8_lossy(client));
            verified += u32::from(found.identity == Identity::Verified);
            spoofed += u32::from(found.identity == Identity::Spoofed);
        }
        assert_eq!(known.short.pairs.len(), SHORT_PAIRS_MAX);
        assert!(verified > 1000 && spoofed > 100, "{verified} {spoofed}");
    }
}
