//! Sums of requests that the counter does not have yet, by kind.
//!
//! A crawler sends many requests of one kind in an hour. To add one to a sum that is at hand costs much less than to
//! find its places in all measures.

use crate::audit::tally::{counter::Counter, rows::OriginId};
use crate::crawlers::identity::Actor;
use crate::measures::request_kind::{RequestKind, RequestsOfKind};
use crate::time::UtcTime;

/// The bits of a place.
const SLOT_BITS: u32 = 9;

/// A multiplier that spreads all bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The sums of one worker. They are few, and a sum makes way for that of another kind.
#[derive(Debug, Default)]
pub(super) struct KindSums {
    /// Empty until the first request.
    slots: Vec<Option<KindSum>>,
}

#[derive(Clone, Copy, Debug)]
struct KindSum {
    /// The number of origin and actor, and that of the kind.
    key: (u64, u64),
    origin: OriginId,
    actor: Actor,
    requests: RequestsOfKind,
}

impl KindSums {
    /// Adds a request of `actor` at `origin`. `counter` takes the sum that makes way for its kind.
    #[inline]
    pub(super) fn add(
        &mut self,
        (origin, actor, kind): (OriginId, Actor, RequestKind),
        (time, bytes): (UtcTime, u64),
        counter: &mut Counter,
    ) {
        if self.slots.is_empty() {
            self.slots = vec![None; 1 << SLOT_BITS];
        }
        let key = (number_of(origin, actor), kind.number());
        let mixed = (key.0.wrapping_mul(SPREAD).rotate_left(29) ^ key.1).wrapping_mul(SPREAD);
        let slot = &mut self.slots[(mixed >> (u64::BITS - SLOT_BITS)) as usize];
        match slot {
            Some(sum) if sum.key == key => sum.requests.add(time, bytes),
            _ => {
                let requests = RequestsOfKind::one(kind, time, bytes);
                let before = slot.replace(KindSum { key, origin, actor, requests });
                before.iter().for_each(|sum| add_sum(counter, sum));
            }
        }
    }

    /// Adds all sums to the counter.
    pub(super) fn add_to(&mut self, counter: &mut Counter) {
        let sums = self.slots.iter_mut().filter_map(Option::take);
        sums.for_each(|sum| add_sum(counter, &sum));
    }
}

#[inline(never)]
fn add_sum(counter: &mut Counter, sum: &KindSum) {
    counter.add_requests(sum.origin, sum.actor, &sum.requests);
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
        let at = (Zone::UTC.hour_of(time), status, method[random.below(2)]);
        let kind = RequestKind::new(at, &dated, restriction, answer);
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
            let one = RequestsOfKind::one(kind, time, bytes);
            one_by_one.add_requests(origin[0], actor, &one);
            sums.add((origin[1], actor, kind), (time, bytes), &mut by_kind);
            if random.below(5000) == 0 {
                sums.add_to(&mut by_kind);
            }
        }
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
