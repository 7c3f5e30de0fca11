//! Sums of requests that the counter does not have yet, by kind.
//!
//! A crawler sends many requests of one kind. To add one to a sum that is at hand costs much less than to
//! find its places in all measures.

use crate::audit::tally::{counter::Counter, rows::OriginId};
use crate::crawlers::identity::Actor;
use crate::logs::record::Record;
use crate::measures::request_kind::{RequestKind, RequestsOfKind};
use crate::measures::sums::Span;
use crate::merge::Merge as _;
use crate::time::{Hour, UtcTime};

/// The bits of a place, of few origins and of many.
const SLOT_BITS: [u32; 2] = [9, 13];

/// The sums that make way for others before there are more places.
const REPLACED_MAX: u32 = 1 << 11;

/// A multiplier that spreads all bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The sums of one worker. They are few, and a sum makes way for that of another kind.
#[derive(Debug, Default)]
pub(super) struct KindSums {
    /// Empty until the first request; then a power of two.
    sums: Vec<KindSum>,
    /// Of the sum in the same place.
    kinds: Vec<Option<Kind>>,
    /// The places that have sums.
    used: Vec<u16>,
    /// How many sums made way for others.
    replaced: u32,
}

/// A sum, in one line of a processor's cache. What is only read when it is added up is in [`Kind`].
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct KindSum {
    /// The number of origin and actor, and that of the kind. [`FREE`] has one that no request has.
    key: (u64, u64),
    requests: u64,
    bytes: u64,
    /// Their times.
    span: Span,
    /// Those of the hour of the last one.
    of_hour: OfHour,
}

#[derive(Clone, Copy, Debug)]
struct OfHour {
    bytes: u64,
    requests: u32,
    /// Of the day of the kind.
    hour: u8,
}

#[derive(Clone, Copy, Debug)]
struct Kind {
    origin: OriginId,
    actor: Actor,
    kind: RequestKind,
}

const FREE: KindSum = KindSum {
    key: (u64::MAX, u64::MAX),
    requests: 0,
    bytes: 0,
    span: Span { first: UtcTime::EPOCH, last: UtcTime::EPOCH },
    of_hour: OfHour { bytes: 0, requests: 0, hour: 0 },
};

impl KindSums {
    /// Adds a request of `actor` at `origin`, which was made in this hour. `counter` takes the sum that makes way for
    /// its kind.
    #[inline]
    pub(super) fn add(
        &mut self,
        (origin, actor, kind): (OriginId, Actor, RequestKind),
        (Hour { hour, .. }, record): (Hour, &Record<'_>),
        counter: &mut Counter,
    ) {
        let &Record { time, bytes, .. } = record;
        let key = (number_of(origin, actor), kind.number());
        let at = place_of(key, self.sums.len());
        if let Some(sum) = self.sums.get_mut(at)
            && sum.key == key
            && sum.of_hour.hour == hour
            && sum.of_hour.requests < u32::MAX
        {
            sum.requests += 1;
            sum.bytes = sum.bytes.saturating_add(bytes);
            sum.span.absorb(Span::at(time));
            sum.of_hour.requests += 1;
            sum.of_hour.bytes = sum.of_hour.bytes.saturating_add(bytes);
            return;
        }
        self.add_other(key, Kind { origin, actor, kind }, (time, hour, bytes), counter);
    }

    /// Adds a request of another kind or another hour than the last one of its place.
    #[inline(never)]
    fn add_other(
        &mut self,
        key: (u64, u64),
        kind: Kind,
        (time, hour, bytes): (UtcTime, u8, u64),
        counter: &mut Counter,
    ) {
        if self.sums.is_empty() {
            self.resize(SLOT_BITS[0]);
        } else if self.replaced == REPLACED_MAX {
            self.add_to(counter);
            self.resize(SLOT_BITS[1]);
            self.replaced += 1;
        }
        let at = place_of(key, self.sums.len());
        let of_hour = OfHour { bytes, requests: 1, hour };
        let sum = &mut self.sums[at];
        match &mut self.kinds[at] {
            Some(known) if sum.key == key => {
                known.add_hour(sum.of_hour, counter);
                sum.requests += 1;
                sum.bytes = sum.bytes.saturating_add(bytes);
                sum.span.absorb(Span::at(time));
                sum.of_hour = of_hour;
            }
            known => {
                match known.replace(kind) {
                    Some(before) => {
                        before.add(sum, counter);
                        self.replaced = self.replaced.saturating_add(1);
                    }
                    None => self.used.push(at as u16),
                }
                *sum = KindSum { key, requests: 1, bytes, span: Span::at(time), of_hour };
            }
        }
    }

    fn resize(&mut self, bits: u32) {
        self.sums.clear();
        self.sums.resize(1 << bits, FREE);
        self.kinds.clear();
        self.kinds.resize(1 << bits, None);
    }

    /// Adds all sums to the counter.
    pub(super) fn add_to(&mut self, counter: &mut Counter) {
        for at in self.used.drain(..).map(usize::from) {
            if let Some(kind) = self.kinds[at].take() {
                kind.add(&self.sums[at], counter);
            }
            self.sums[at] = FREE;
        }
    }
}

impl Kind {
    #[inline(never)]
    fn add(&self, sum: &KindSum, counter: &mut Counter) {
        self.add_hour(sum.of_hour, counter);
        let Kind { origin, actor, kind } = *self;
        let KindSum { requests, bytes, span, .. } = *sum;
        counter.add_requests(origin, actor, &RequestsOfKind { kind, requests, bytes, span });
    }

    fn add_hour(&self, OfHour { bytes, requests, hour }: OfHour, counter: &mut Counter) {
        let Kind { actor, kind: RequestKind { day, verdict, .. }, .. } = *self;
        counter.add_hour(Hour { day, hour }, actor, verdict, (requests.into(), bytes));
    }
}

/// The place of a key among so many.
#[inline]
fn place_of((row, kind): (u64, u64), places: usize) -> usize {
    let mixed = (row.wrapping_mul(SPREAD).rotate_left(29) ^ kind).wrapping_mul(SPREAD);
    (mixed >> 40) as usize & places.wrapping_sub(1)
}

/// A number of its own for each row.
#[inline]
fn number_of(origin: OriginId, (crawler, identity): Actor) -> u64 {
    (origin.index() as u64) << 32 | (crawler.index() as u64) << 8 | identity as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::crawlers::crawler::CrawlerId;
    use crate::crawlers::identity::{Identity, IdentityAnswer, Proof};
    use crate::judge::restriction::{Restriction, RestrictionKind};
    use crate::judge::verdict::{DatedVerdict, RuleRef, Verdict};
    use crate::random::Random;
    use crate::time::Zone;

    use super::super::super::origin_key::{OriginKey, OriginRank};
    use super::super::super::tally::counter::TallyLimits;

    fn random_kind(random: &mut Random) -> (RequestKind, UtcTime, u64) {
        let rule = RuleRef::on_line(1 + random.below(3) as u32);
        let verdict = [
            Verdict::Allowed(None),
            Verdict::Allowed(Some(rule)),
            Verdict::AllowedIgnoringStar(rule),
            Verdict::Violation(rule),
            Verdict::NotBound(Some(rule)),
            Verdict::NotBound(None),
            Verdict::Unreachable,
            Verdict::RobotsTxt,
        ][random.below(8)];
        let dated = DatedVerdict {
            verdict,
            robots: None,
            snapshot: None,
            is_before_first: random.below(2) == 0,
            is_by_logs: random.below(2) == 0,
        };
        let restriction = (random.below(2) == 0).then_some(Restriction {
            kind: RestrictionKind::Disallow,
            is_specific: random.below(2) == 0,
        });
        let proof = [None, Some(Proof::AddressList), Some(Proof::Signature)][random.below(3)];
        let answer = IdentityAnswer {
            identity: Identity::Unverified,
            is_of_other_time: random.below(2) == 0,
            proof,
        };
        let time = UtcTime::from_unix_seconds(1_774_000_000 + 600 * random.below(100) as i64);
        let time = time.unwrap();
        let (status, method) = ([200, 404, 0][random.below(3)], [&b"GET"[..], b"x"]);
        let record = Record { status, method: method[random.below(2)], ..Record::at(time) };
        let kind = RequestKind::new((Zone::UTC.day_of(time), &record), &dated, restriction, answer);
        (kind, time, [0, 7, u64::MAX][random.below(3)])
    }

    /// Kinds that share a place drive each other out; nothing is lost, and nothing is mixed up.
    #[test]
    fn sums_are_those_of_one_request_after_the_other() {
        let ranks: Arc<[u16]> = Arc::from([0, 1, 2]);
        let counter = || Counter::new(TallyLimits::default(), Arc::clone(&ranks));
        let (mut one_by_one, mut by_kind) = (counter(), counter());
        let (mut random, mut sums) = (Random::new(), KindSums::default());
        let rank = OriginRank::Named;
        for _ in 0..30_000 {
            let key = [OriginKey::Unnamed, OriginKey::Invalid][random.below(2)].clone();
            let origin = [&mut one_by_one, &mut by_kind].map(|of| of.rows.origin(&key, rank));
            let identity = [Identity::Unverified, Identity::Verified][random.below(2)];
            let actor = (CrawlerId(random.below(3) as u16), identity);
            let (kind, time, bytes) = random_kind(&mut random);
            let hour = Zone::UTC.hour_of(time);
            one_by_one.add_hour(hour, actor, kind.verdict, (1, bytes));
            let one = RequestsOfKind { kind, requests: 1, bytes, span: Span::at(time) };
            one_by_one.add_requests(origin[0], actor, &one);
            let record = Record { bytes, ..Record::at(time) };
            sums.add((origin[1], actor, kind), (hour, &record), &mut by_kind);
            if random.below(5000) == 0 {
                sums.add_to(&mut by_kind);
            }
        }
        assert_eq!(sums.sums.len(), 1 << SLOT_BITS[1]);
        sums.add_to(&mut by_kind);
        assert_eq!(by_kind.hours, one_by_one.hours);
        let origins = [by_kind, one_by_one].map(|counter| counter.rows.finish().origins);
        let rows = origins.map(|origins| {
            let rows = origins.into_iter().flat_map(|mut origin| {
                origin.rows.sort_unstable_by_key(|(actor, _)| *actor);
                origin.rows.into_iter().map(move |row| (origin.origin_key.clone(), row))
            });
            rows.collect::<Vec<_>>()
        });
        assert_eq!(rows[0].len(), 12);
        assert!(rows[0] == rows[1], "{:?}\n{:?}", rows[0], rows[1]);
    }
}
