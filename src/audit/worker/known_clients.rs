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

/// The slots of the table, a power of two. A worker needs half a megabyte for them.
const SLOTS: usize = 8192;

/// The longest client that is kept: the longest address of IPv6 without brackets.
const KEY_BYTES_MAX: usize = 40;

/// A multiplier that spreads all bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The answers about clients of a worker, for the same sources.
#[derive(Debug, Default)]
pub(super) struct KnownClients {
    /// Empty until the first client.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The client as it is logged.
    key: [u8; KEY_BYTES_MAX],
    key_len: u8,
    crawler: CrawlerId,
    /// No time if the slot is free.
    period: Period,
    answer: IdentityAnswer,
}

const FREE: Slot = Slot {
    key: [0; KEY_BYTES_MAX],
    key_len: 0,
    crawler: CrawlerId(0),
    period: Period { from: 0, until: 0 },
    answer: IdentityAnswer::UNASKED,
};

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
        let time = record.time.unix_seconds();
        let Some(key_len) = u8::try_from(name.len()).ok().filter(|_| name.len() <= KEY_BYTES_MAX)
        else {
            return ask((identities, trusted_proxies), crawler, record).0;
        };
        if self.slots.is_empty() {
            self.slots = vec![FREE; SLOTS];
        }
        let slot = &mut self.slots[slot_of(name)];
        let is_same = slot.crawler == crawler
            && slot.key.get(..usize::from(slot.key_len)).is_some_and(|key| equal(key, name));
        if !is_same || !slot.period.contains(time) {
            let (answer, period) = ask((identities, trusted_proxies), crawler, record);
            slot.key[..name.len()].copy_from_slice(name);
            *slot = Slot { key: slot.key, key_len, crawler, period, answer };
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
fn slot_of(client: &[u8]) -> usize {
    // Addresses differ in their last bytes, and all of IPv4 in the first and the last eight.
    let word = |bytes: Option<&[u8; 8]>| match bytes {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => client.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    let (first, last) = (word(client.first_chunk()), word(client.last_chunk()));
    let mixed = (first.wrapping_mul(SPREAD).rotate_left(32) ^ last).wrapping_mul(SPREAD);
    (mixed >> 32) as usize % SLOTS
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
                "{{\"creationTime\": \"2026-03-{day:02}\", \"prefixes\": [\"{address}\"]}}"
            );
            fs::write(directory.path().join("gptbot.json"), text).unwrap();
        };
        list(20, "20.171.206.0/24");
        let ranges = Ranges::open(directory.path(), &registry).unwrap();
        let bundled = BundledRanges::new(&registry, Some(&ranges));
        let identities =
            Identities { ranges: Some(ranges), bundled: Some(bundled), ..Identities::default() };
        let crawlers = ["GPTBot", "bingbot", "Bytespider"].map(|name| registry.find(name).unwrap());
        let clients: [&[u8]; 10] = [
            b"20.171.206.7",
            b"20.171.206.7\0",
            b"20.171.207.7",
            b"157.55.39.1",
            b"[::ffff:157.55.39.1]:443",
            b"203.0.113.5",
            b"10.0.0.1",
            b"",
            b"-",
            b"a-name-that-is-much-too-long-to-be-an-address.example.com",
        ];
        let mut known = KnownClients::default();
        let (mut random, mut verified, mut spoofed) = (Random::new(), 0, 0);
        for _ in 0..20_000 {
            let (crawler, client) = (crawlers[random.below(3)], clients[random.below(10)]);
            // From January 2026 to October 2026.
            let time = UtcTime::from_unix_seconds(1_767_225_600 + 3600 * random.below(6500) as i64);
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
