//! Identities of clients that were seen before.
//!
//! Clients send many requests, and to parse an address and to search lists for it takes longer than to find it in a
//! small table. An answer is kept with the times for which it is right.

use ipnet::IpNet;

use crate::bytes::equal;
use crate::crawlers::crawler::CrawlerId;
use crate::crawlers::identity::IdentityAnswer;
use crate::crawlers::moments::Period;
use crate::logs::record::Record;

use super::super::client_address::{client, client_address};
use super::super::identities::Identities;

/// The slots for short names, a power of two. A worker needs half a megabyte for them.
const SHORT_SLOTS: usize = 1 << 14;

/// The longest address of IPv4.
const SHORT_BYTES_MAX: usize = 15;

/// The slots for longer names, a power of two.
const LONG_SLOTS: usize = 1 << 11;

/// The longest client that is kept: the longest address of IPv6 without brackets.
const LONG_BYTES_MAX: usize = 40;

/// A multiplier that spreads all bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The answers about clients of a worker, for the same sources.
#[derive(Debug, Default)]
pub(super) struct KnownClients {
    short: Table<SHORT_BYTES_MAX>,
    long: Table<LONG_BYTES_MAX>,
}

/// Empty until the first client.
#[derive(Debug, Default)]
struct Table<const BYTES_MAX: usize>(Vec<Slot<BYTES_MAX>>);

/// Half of what a processor fetches from memory at once, for short names.
#[derive(Clone, Copy, Debug)]
struct Slot<const BYTES_MAX: usize> {
    /// The client as it is logged.
    key: [u8; BYTES_MAX],
    key_len: u8,
    crawler: CrawlerId,
    /// The first second of the times of the answer, and the first after them. No time if the slot is free.
    from: u32,
    until: u32,
    answer: IdentityAnswer,
}

impl<const BYTES_MAX: usize> Slot<BYTES_MAX> {
    const FREE: Slot<BYTES_MAX> = Slot {
        key: [0; BYTES_MAX],
        key_len: 0,
        crawler: CrawlerId(0),
        from: 0,
        until: 0,
        answer: IdentityAnswer::UNASKED,
    };
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
        let name = client(record, trusted_proxies);
        let ask = || ask((identities, trusted_proxies), crawler, record);
        // Before 1970 and after 2105 each is asked again.
        let Ok(time) = u32::try_from(record.time.unix_seconds()) else { return ask().0 };
        if name.len() <= SHORT_BYTES_MAX {
            self.short.answer(SHORT_SLOTS, (name, crawler, time), ask)
        } else if name.len() <= LONG_BYTES_MAX {
            self.long.answer(LONG_SLOTS, (name, crawler, time), ask)
        } else {
            ask().0
        }
    }
}

impl<const BYTES_MAX: usize> Table<BYTES_MAX> {
    /// The answer about a client of a name of at most `BYTES_MAX` bytes.
    #[inline]
    fn answer(
        &mut self,
        slots: usize,
        (name, crawler, time): (&[u8], CrawlerId, u32),
        ask: impl FnOnce() -> (IdentityAnswer, Period),
    ) -> IdentityAnswer {
        let Table(table) = self;
        if table.is_empty() {
            *table = vec![Slot::FREE; slots];
        }
        let slot = &mut table[hash(name, crawler) as usize % slots];
        let is_same = slot.crawler == crawler
            && (slot.from..slot.until).contains(&time)
            && slot.key.get(..usize::from(slot.key_len)).is_some_and(|key| equal(key, name));
        if !is_same {
            let (answer, Period { from, until }) = ask();
            slot.key[..name.len()].copy_from_slice(name);
            slot.key_len = name.len() as u8;
            slot.crawler = crawler;
            slot.from = u32::try_from(from.max(0)).unwrap_or(u32::MAX);
            slot.until = u32::try_from(until.max(0)).unwrap_or(u32::MAX);
            slot.answer = answer;
        }
        slot.answer
    }
}

#[inline(never)]
fn ask(
    (identities, trusted_proxies): (&Identities, &[IpNet]),
    crawler: CrawlerId,
    record: &Record<'_>,
) -> (IdentityAnswer, Period) {
    identities.of_period(crawler, client_address(record, trusted_proxies), record.time)
}

#[inline]
fn hash(client: &[u8], crawler: CrawlerId) -> u64 {
    // Addresses differ in their last bytes, and all of IPv4 in the first and the last eight.
    let word = |bytes: Option<&[u8; 8]>| match bytes {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => client.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    let (first, last) = (word(client.first_chunk()), word(client.last_chunk()));
    let last = last ^ (crawler.index() as u64) << 48;
    let mixed = (first.wrapping_mul(SPREAD).rotate_left(32) ^ last).wrapping_mul(SPREAD);
    mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    use crate::crawlers::bundled_ranges::BundledRanges;
    use crate::crawlers::identity::Identity;
    use crate::crawlers::ranges::Ranges;
    use crate::crawlers::registry::Registry;
    use crate::time::UtcTime;

    use std::fs;

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
        let clients: [&[u8]; 24] = [
            b"20.171.206.7",
            b"20.171.206.7\0",
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
            let (crawler, client) = (crawlers[random.below(3)], clients[random.below(24)]);
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
        assert!(verified > 1000 && spoofed > 100, "{verified} {spoofed}");
    }
}
