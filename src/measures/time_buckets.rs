//! Counts by minute or by hour, packed.
//!
//! Logs come in any order, so counts that depend on order are kept by the minute and resolved after
//! merging. A bucket is the distance to the bucket before and the count, both as variable-length
//! integers: two bytes for neighbours, at most twenty. The latest additions are not packed yet.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_bytes::ByteBuf;

use crate::merge::{Merge, sum};

/// The unpacked additions that are always allowed: 256 bytes.
const WAITING_MIN: usize = 16;

/// The unpacked additions, as a part of the packed buckets. So packing is cheap in any order of
/// buckets.
const WAITING_PART: usize = 8;

/// The size of a packed bucket with near neighbours, in bytes.
const BUCKET_BYTES_USUAL: usize = 2;

/// The last second of `minute`.
pub(crate) fn last_second(minute: i64) -> i64 {
    minute.saturating_mul(60).saturating_add(59)
}

/// Counts by time bucket.
#[derive(Clone, Debug, Default)]
pub struct TimeBuckets {
    /// Distance to the bucket before (the first: its zigzag value), then the count; ascending.
    packed: Vec<u8>,
    /// Buckets that are packed.
    packed_count: usize,
    /// The last bucket that is packed.
    packed_last: i64,
    /// In the order of arrival; buckets may repeat, also packed ones.
    waiting: Vec<(i64, u64)>,
}

impl TimeBuckets {
    /// Adds `count` to `bucket`.
    pub(crate) fn add(&mut self, bucket: i64, count: u64) {
        if let Some((last, sum)) = self.waiting.last_mut()
            && *last == bucket
        {
            sum.absorb(count);
            return;
        }
        self.waiting.push((bucket, count));
        if self.waiting.len() >= WAITING_MIN.max(self.packed_count / WAITING_PART) {
            self.pack();
        }
    }

    /// The sums of these counts, in any order; buckets may repeat.
    pub(crate) fn of(buckets: Vec<(i64, u64)>) -> TimeBuckets {
        let mut series = TimeBuckets { waiting: buckets, ..TimeBuckets::default() };
        series.pack();
        series
    }

    /// The buckets that hold anything, ascending, each once.
    pub(crate) fn buckets(&self) -> Buckets<'_> {
        if self.waiting.is_empty() {
            return Buckets::Packed(self.packed_buckets());
        }
        let mut waiting = self.waiting.clone();
        waiting.sort_unstable_by_key(|&(bucket, _)| bucket);
        let mut all = Vec::with_capacity(self.packed_count + waiting.len());
        add_up(self.packed_buckets(), waiting.into_iter(), &mut all);
        Buckets::Unpacked(all.into_iter())
    }

    /// The number of buckets with counts. Frees unused memory.
    pub(crate) fn len(&mut self) -> usize {
        self.pack();
        self.waiting = Vec::new();
        self.packed.shrink_to_fit();
        self.packed_count
    }

    /// The number of buckets with counts, or more.
    pub(crate) fn len_at_most(&self) -> usize {
        self.packed_count + self.waiting.len()
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.packed_count == 0 && self.waiting.is_empty()
    }

    /// The sum of all counts.
    pub(crate) fn total(&self) -> u64 {
        sum(self.packed_buckets().chain(self.waiting.iter().copied()).map(|(_, count)| count))
    }

    /// The bucket that this share of the counts reaches, in percent; `None` without counts.
    pub(crate) fn percentile(&self, percent: u64) -> Option<i64> {
        let rank = (u128::from(self.total()) * u128::from(percent)).div_ceil(100);
        let mut sum = 0;
        let mut buckets = self.buckets();
        let reached = buckets.find(|(_, count)| {
            sum += u128::from(*count);
            sum >= rank
        });
        reached.map(|(bucket, _)| bucket)
    }

    /// Drops the buckets from `bucket` on.
    pub(crate) fn forget_from(&mut self, bucket: i64) {
        if self.waiting.len() > WAITING_MIN {
            self.pack();
        }
        self.waiting.retain(|&(waiting, _)| waiting < bucket);
        if self.packed_count > 0 && self.packed_last >= bucket {
            let kept: Vec<_> = self.packed_buckets().take_while(|kept| kept.0 < bucket).collect();
            self.repack(&kept);
        }
    }

    /// The buckets that are packed, ascending.
    fn packed_buckets(&self) -> Packed<'_> {
        Packed { rest: &self.packed, last: None }
    }

    fn pack(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        // Most logs are in order.
        if !waiting.is_sorted_by_key(|&(bucket, _)| bucket) {
            waiting.sort_unstable_by_key(|&(bucket, _)| bucket);
        }
        let is_later = self.packed_count == 0 || waiting[0].0 > self.packed_last;
        if is_later {
            self.packed.reserve(waiting.len() * BUCKET_BYTES_USUAL);
            for same in waiting.chunk_by(|left, right| left.0 == right.0) {
                self.push(same[0].0, sum(same.iter().map(|(_, count)| *count)));
            }
            waiting.clear();
        } else {
            let mut all = Vec::with_capacity(self.packed_count + waiting.len());
            add_up(self.packed_buckets(), waiting.drain(..), &mut all);
            self.repack(&all);
        }
        // The buffer is reused, unless it is much too large.
        waiting.shrink_to(WAITING_MIN.max(self.packed_count / WAITING_PART));
        self.waiting = waiting;
    }

    fn repack(&mut self, buckets: &[(i64, u64)]) {
        self.packed.clear();
        self.packed_count = 0;
        buckets.iter().for_each(|&(bucket, count)| self.push(bucket, count));
    }

    /// `bucket` is later than all that are packed.
    fn push(&mut self, bucket: i64, count: u64) {
        let distance = match self.packed_count {
            0 => ((bucket << 1) ^ (bucket >> 63)) as u64,
            _ => bucket.abs_diff(self.packed_last),
        };
        write_number(distance, &mut self.packed);
        write_number(count, &mut self.packed);
        self.packed_last = bucket;
        self.packed_count += 1;
    }
}

impl Merge for TimeBuckets {
    fn absorb(&mut self, other: TimeBuckets) {
        if self.is_empty() {
            *self = other;
            return;
        }
        let TimeBuckets { packed: _, packed_count, packed_last: _, waiting } = &other;
        for (bucket, count) in waiting.iter().copied() {
            self.add(bucket, count);
        }
        if *packed_count <= self.packed_count / WAITING_PART {
            // Few buckets wait for others, instead of packing all anew for each series.
            other.packed_buckets().for_each(|(bucket, count)| self.add(bucket, count));
        } else {
            self.pack();
            let mut all = Vec::with_capacity(self.packed_count + packed_count);
            add_up(self.packed_buckets(), other.packed_buckets(), &mut all);
            self.repack(&all);
        }
    }
}

/// Bytes: the packed buckets.
impl Serialize for TimeBuckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.waiting.is_empty() {
            return serializer.serialize_bytes(&self.packed);
        }
        let mut whole = self.clone();
        whole.pack();
        serializer.serialize_bytes(&whole.packed)
    }
}

/// Any bytes are buckets: the file may come from a stranger.
impl<'de> Deserialize<'de> for TimeBuckets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TimeBuckets, D::Error> {
        let packed = ByteBuf::deserialize(deserializer)?;
        let mut series = TimeBuckets::default();
        let buckets = Packed { rest: &packed, last: None };
        buckets.for_each(|(bucket, count)| series.add(bucket, count));
        Ok(series)
    }
}

/// Two series are equal if their buckets are.
impl PartialEq for TimeBuckets {
    fn eq(&self, other: &TimeBuckets) -> bool {
        self.buckets().eq(other.buckets())
    }
}

/// The buckets of a series, ascending, each once.
#[derive(Clone, Debug)]
pub(crate) enum Buckets<'a> {
    /// As they are kept.
    Packed(Packed<'a>),
    /// With those that waited.
    Unpacked(std::vec::IntoIter<(i64, u64)>),
}

impl Iterator for Buckets<'_> {
    type Item = (i64, u64);

    fn next(&mut self) -> Option<(i64, u64)> {
        match self {
            Buckets::Packed(packed) => packed.next(),
            Buckets::Unpacked(buckets) => buckets.next(),
        }
    }
}

/// Reads packed buckets from the first on.
#[derive(Clone, Debug)]
pub(crate) struct Packed<'a> {
    rest: &'a [u8],
    last: Option<i64>,
}

impl Iterator for Packed<'_> {
    type Item = (i64, u64);

    fn next(&mut self) -> Option<(i64, u64)> {
        let distance = read_number(&mut self.rest)?;
        let count = read_number(&mut self.rest)?;
        let bucket = match self.last {
            None => (distance >> 1) as i64 ^ -((distance & 1) as i64),
            Some(last) => last.wrapping_add_unsigned(distance),
        };
        self.last = Some(bucket);
        Some((bucket, count))
    }
}

/// Puts two ascending series into `all` as one, each bucket once.
fn add_up(
    left: impl Iterator<Item = (i64, u64)>,
    right: impl Iterator<Item = (i64, u64)>,
    all: &mut Vec<(i64, u64)>,
) {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(ours), Some(theirs)) if ours.0 <= theirs.0 => left.next(),
            (Some(_), None) => left.next(),
            (_, Some(_)) => right.next(),
            (None, None) => return,
        };
        let Some((bucket, count)) = next else { return };
        match all.last_mut() {
            Some((last, sum)) if *last == bucket => sum.absorb(count),
            _ => all.push((bucket, count)),
        }
    }
}

/// Seven bits a byte, the low ones first; the high bit says that more follow.
fn write_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::random::Random;

    fn number(random: &mut Random, below: u64) -> u64 {
        random.below(below as usize) as u64
    }

    #[test]
    fn any_order_and_split_give_what_a_map_gives() {
        let random = &mut Random(1);
        for (additions, width) in [(0, 1), (1, 1), (50, 5), (3_000, 100), (3_000, 1_000_000)] {
            let mut expected = BTreeMap::<i64, u64>::new();
            let mut parts = vec![TimeBuckets::default(); 3];
            for at in 0..additions {
                let bucket = match additions % 2 {
                    0 => number(random, width) as i64 - 20,
                    _ => at as i64 / 3,
                };
                let count = 1 + number(random, 300);
                *expected.entry(bucket).or_default() += count;
                parts[random.below(3)].add(bucket, count);
            }
            let mut whole = parts.remove(random.below(3));
            parts.into_iter().for_each(|part| whole.absorb(part));
            assert_eq!(whole.total(), expected.values().sum::<u64>());
            assert!(whole.len_at_most() >= expected.len());
            assert_eq!(Vec::from_iter(whole.buckets()), Vec::from_iter(expected.clone()));
            let from = number(random, width) as i64;
            whole.forget_from(from);
            expected.split_off(&from);
            assert_eq!(Vec::from_iter(whole.buckets()), Vec::from_iter(expected.clone()));
            assert_eq!(whole.len(), expected.len());
            assert_eq!(Vec::from_iter(whole.buckets()), Vec::from_iter(expected));
        }
    }

    #[test]
    fn the_ends_of_time_and_large_counts_come_back() {
        let mut series = TimeBuckets::default();
        let all = [(i64::MIN, u64::MAX), (-1, 1), (0, 128), (1, 127), (i64::MAX, 1 << 63)];
        all.iter().rev().for_each(|&(bucket, count)| series.add(bucket, count));
        assert_eq!((series.len(), Vec::from_iter(series.buckets())), (5, all.to_vec()));
        let text = serde_json::to_string(&series).unwrap();
        assert_eq!(serde_json::from_str::<TimeBuckets>(&text).unwrap(), series);
    }

    #[test]
    fn the_bucket_itself_is_forgotten_with_those_after_it() {
        for (from, expected) in [(2, &[1][..]), (3, &[1, 2]), (4, &[1, 2, 3]), (5, &[1, 2, 3])] {
            let mut packed = TimeBuckets::of(vec![(1, 7), (2, 7), (3, 7)]);
            let mut waiting = TimeBuckets::default();
            (1..=3).for_each(|bucket| waiting.add(bucket, 7));
            assert_eq!(packed, waiting);
            packed.forget_from(from);
            assert_eq!(packed.buckets().map(|of| of.0).collect::<Vec<_>>(), expected);
            assert_eq!(packed == waiting, from > 3);
            waiting.forget_from(from);
            assert_eq!(packed, waiting);
        }
    }

    #[test]
    fn a_bucket_takes_two_bytes() {
        let mut series = TimeBuckets::default();
        (29_000_000..29_525_600).for_each(|minute| series.add(minute, 7));
        assert_eq!(series.len(), 525_600);
        assert!(series.packed.len() < 2 * 525_600 + 10);
        assert_eq!((series.waiting.capacity(), series.packed.capacity()), (0, series.packed.len()));
    }
}
