//! Which addresses are on lists that change, and when.
//!
//! The addresses are cut wherever a list begins or ends to contain one. Each piece knows when its addresses
//! are on a list. So a lookup is one search among the pieces, however many versions a list had: nearly all
//! are on a list once, from one time until another. The few that come back share lists of times.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use crate::time::DAY_SECONDS;

use super::identity::CONTRADICTING_DAYS;
use super::networks::{Network, Networks};

/// The most times that the pieces of all addresses may have together, and the most steps to find
/// them. The lists of an operator have changed some thousand times at most.
const WORK_MAX: usize = 1 << 25;
const TIMES_MAX: usize = 1 << 22;

/// Addresses from the first to the last, which were on a list from one time until before another.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Stay<T> {
    pub first: T,
    pub last: T,
    pub from: i64,
    pub until: i64,
}

/// The stays of addresses of both families.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Stays {
    pub v4: Vec<Stay<u32>>,
    pub v6: Vec<Stay<u128>>,
}

/// The lists change too often, or overlap too much, for the memory that they may take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TooManyChanges;

/// Addresses by the times at which they are on a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressTimes {
    v4: Pieces<u32>,
    v6: Pieces<u128>,
    /// The first halves of the starts in `v6`.
    v6_highs: Box<[u64]>,
    /// Where the times of each number begin in `times`, and where the last ones end.
    offsets: Box<[u32]>,
    /// Alternately, from when the addresses are on a list, and from when they are no longer.
    times: Box<[i64]>,
    /// All addresses that were on a list at any time.
    ever: Networks,
}

/// Whether an address is on a list at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimesAnswer {
    pub is_on_list: bool,
    /// Whether it is, and is on the newest version of a list, too.
    pub stays: bool,
    /// The times around that time with the same answer.
    pub period: Period,
}

/// Pieces of addresses in ascending order; each ends where the next one begins.
#[derive(Clone, Debug, Default)]
struct Pieces<T> {
    starts: Box<[T]>,
    /// What is known of each piece.
    pieces: Box<[Piece]>,
}

/// When the addresses of a piece are on a list.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// For the first time.
    from: i64,
    until: i64,
    /// The number of all times, if there are more; or else 0.
    number: u32,
}

impl AddressTimes {
    /// The addresses of all `stays`.
    ///
    /// # Errors
    /// If they are too many to be kept.
    pub(crate) fn new(stays: &Stays) -> Result<AddressTimes, TooManyChanges> {
        let mut numbers = Numbers::default();
        // Addresses that are never on a list.
        numbers.of(Vec::new())?;
        let v4 = Pieces::new(&stays.v4, &mut numbers, |last| last.checked_add(1))?;
        let v6 = Pieces::new(&stays.v6, &mut numbers, |last| last.checked_add(1))?;
        let (mut offsets, mut times) = (vec![0], Vec::new());
        for of_number in numbers.in_order {
            times.extend(of_number);
            offsets.push(u32::try_from(times.len()).map_err(|_| TooManyChanges)?);
        }
        let v4_ever = stays.v4.iter().map(|stay| Network::V4(stay.first, stay.last));
        let v6_ever = stays.v6.iter().map(|stay| Network::V6(stay.first, stay.last));
        let ever = Networks::new(v4_ever.chain(v6_ever));
        let v6_highs = v6.starts.iter().map(|&start| high(start)).collect();
        Ok(AddressTimes { v4, v6, v6_highs, offsets: offsets.into(), times: times.into(), ever })
    }

    /// Whether `address` is on a list at `time`, in seconds since the epoch.
    #[inline]
    pub(crate) fn contain(&self, address: IpAddr, time: i64) -> bool {
        self.answer(address, time).is_on_list
    }

    /// The same, and the times around `time` with the same answer.
    #[inline]
    pub(crate) fn answer(&self, address: IpAddr, time: i64) -> TimesAnswer {
        let never = |period| TimesAnswer { is_on_list: false, stays: false, period };
        let piece = match address.to_canonical() {
            IpAddr::V4(address) => self.v4.of(address.to_bits()),
            IpAddr::V6(address) => self.v6_of(address.to_bits()),
        };
        let Some(piece) = piece else { return never(Period::ALWAYS) };
        if piece.number != 0 && time >= piece.from {
            return self.answer_again(piece.number, time);
        }
        if time < piece.from {
            never(Period { until: piece.from, ..Period::ALWAYS })
        } else if time < piece.until {
            let period = Period { from: piece.from, until: piece.until };
            TimesAnswer { is_on_list: true, stays: piece.until == i64::MAX, period }
        } else {
            never(Period { from: piece.until, ..Period::ALWAYS })
        }
    }

    /// The addresses that were on a list at any time.
    pub(crate) fn ever(&self) -> impl Iterator<Item = Network> {
        self.ever.iter()
    }

    /// Whether any address of `network` was on a list at any time.
    #[inline]
    pub(crate) fn ever_overlap(&self, network: Network) -> bool {
        self.ever.overlaps(network)
    }

    /// The first halves of addresses are usually enough to find a piece.
    #[inline]
    fn v6_of(&self, address: u128) -> Option<&Piece> {
        let high = high(address);
        let mut after = self.v6_highs.partition_point(|&start| start <= high);
        if after > 0 && self.v6.starts[after - 1] > address {
            after = self.v6.starts[..after].partition_point(|&start| start <= address);
        }
        self.v6.pieces.get(after.wrapping_sub(1))
    }

    /// The answer about addresses with the times of this number.
    fn answer_again(&self, number: u32, time: i64) -> TimesAnswer {
        let number = number as usize;
        let Some(&[start, end]) = self.offsets.get(number..number + 2) else {
            return TimesAnswer { is_on_list: false, stays: false, period: Period::at(time) };
        };
        let times = &self.times[start as usize..end as usize];
        let after = times.partition_point(|&change| change <= time);
        let from = after.checked_sub(1).map_or(i64::MIN, |before| times[before]);
        let until = times.get(after).copied().unwrap_or(i64::MAX);
        let (is_on_list, stays) = (after % 2 == 1, times.last() == Some(&i64::MAX));
        TimesAnswer { is_on_list, stays: is_on_list && stays, period: Period { from, until } }
    }
}

fn high(bits: u128) -> u64 {
    (bits >> 64) as u64
}

impl<T: Copy + Ord> Pieces<T> {
    /// `next` is the address after one, `None` after the very last.
    fn new(
        stays: &[Stay<T>],
        numbers: &mut Numbers,
        next: impl Fn(T) -> Option<T>,
    ) -> Result<Pieces<T>, TooManyChanges> {
        let begin = stays.iter().enumerate().map(|(index, stay)| (stay.first, true, index));
        let end = stays
            .iter()
            .enumerate()
            .filter_map(|(index, stay)| next(stay.last).map(|after| (after, false, index)));
        let mut borders: Vec<(T, bool, usize)> = begin.chain(end).collect();
        borders.sort_unstable();
        let (mut starts, mut pieces, mut last) = (Vec::new(), Vec::new(), None);
        let mut present: BTreeSet<(i64, i64, usize)> = BTreeSet::new();
        for at_one in borders.chunk_by(|left, right| left.0 == right.0) {
            for &(_, is_begin, index) in at_one {
                let stay = (stays[index].from, stays[index].until, index);
                match is_begin {
                    true => present.insert(stay),
                    false => present.remove(&stay),
                };
            }
            numbers.work += present.len();
            let times = joined(&present);
            let mut piece = Piece { from: i64::MAX, until: i64::MIN, number: 0 };
            if let [from, until, ..] = times[..] {
                (piece.from, piece.until) = (from, until);
            }
            let (is_again, number) = (times.len() > 2, numbers.of(times)?);
            if is_again {
                piece.number = number;
            }
            if last != Some(number) {
                last = Some(number);
                starts.push(at_one[0].0);
                pieces.push(piece);
            }
        }
        Ok(Pieces { starts: starts.into(), pieces: pieces.into() })
    }

    #[inline]
    fn of(&self, address: T) -> Option<&Piece> {
        let after = self.starts.partition_point(|&start| start <= address);
        self.pieces.get(after.wrapping_sub(1))
    }
}

/// The changes of the union of spans of time, which are in order of their beginnings.
fn joined(spans: &BTreeSet<(i64, i64, usize)>) -> Vec<i64> {
    let mut changes: Vec<i64> = Vec::new();
    for &(from, until, _) in spans {
        match changes.last_mut() {
            Some(end) if from <= *end => *end = until.max(*end),
            _ => changes.extend([from, until]),
        }
    }
    changes
}

/// Each distinct sequence of times, with its number.
#[derive(Default)]
struct Numbers {
    known: HashMap<Vec<i64>, u32>,
    in_order: Vec<Vec<i64>>,
    times: usize,
    work: usize,
}

impl Numbers {
    fn of(&mut self, times: Vec<i64>) -> Result<u32, TooManyChanges> {
        if let Some(&number) = self.known.get(&times) {
            return Ok(number);
        }
        self.times += times.len();
        if self.times > TIMES_MAX || self.work > WORK_MAX {
            return Err(TooManyChanges);
        }
        let number = u32::try_from(self.in_order.len()).map_err(|_| TooManyChanges)?;
        self.known.insert(times.clone(), number);
        self.in_order.push(times);
        Ok(number)
    }
}

/// What it says at a time about something that it does not contain then.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Absence {
    /// It was not the operator's.
    Contradicts,
    /// It may have been: no sighting is near enough.
    OfOtherTime,
    /// It may have been: part of the content could not be read.
    Undecided,
}

/// Times from one until before another, in seconds since the epoch, between which an answer does not change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Period {
    pub from: i64,
    pub until: i64,
}

impl Period {
    /// All times but the very last.
    pub(crate) const ALWAYS: Period = Period { from: i64::MIN, until: i64::MAX };

    /// This time alone.
    pub(crate) fn at(time: i64) -> Period {
        Period { from: time, until: time.saturating_add(1) }
    }

    /// The times that are in both.
    #[must_use]
    pub(crate) fn and(self, other: Period) -> Period {
        Period { from: self.from.max(other.from), until: self.until.min(other.until) }
    }

    /// The part on the side of `border` that has `time`.
    #[must_use]
    pub(crate) fn beside(self, border: i64, time: i64) -> Period {
        match border <= time {
            true => Period { from: self.from.max(border), ..self },
            false => Period { until: self.until.min(border), ..self },
        }
    }

    /// Whether `time` is in it.
    #[cfg(test)]
    pub(crate) fn contains(self, time: i64) -> bool {
        self.from <= time && time < self.until
    }
}

/// All that was seen at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// In seconds since the epoch; `None` if nobody knows.
    pub at: Option<i64>,
    /// Equal for neighbours if the same was seen.
    pub version: usize,
    /// Whether all of it could be read.
    pub is_whole: bool,
}

/// The last of `moments`, which are in order, before `time`, those of that very second, and the first one after it:
/// within the second, the change may have come before or after the request.
pub(crate) fn around(moments: &[Moment], time: i64) -> &[Moment] {
    let first = moments.partition_point(|moment| moment.at.is_none_or(|at| at < time));
    let after = moments.partition_point(|moment| moment.at.is_none_or(|at| at <= time));
    &moments[first.saturating_sub(1)..moments.len().min(after + 1)]
}

/// What `moments` say at `time` about something that none of those around it contains.
pub(crate) fn absence(moments: &[Moment], time: i64) -> Absence {
    let around = around(moments, time);
    let is_near = |moment: &Moment| {
        moment.at.is_some_and(|at| at.abs_diff(time) <= (CONTRADICTING_DAYS * DAY_SECONDS) as u64)
    };
    let are_same = around.windows(2).all(|pair| pair[0].version == pair[1].version);
    if around.is_empty() || !around.iter().all(|moment| moment.is_whole) {
        Absence::Undecided
    } else if around.iter().all(is_near) || (are_same && around.iter().any(is_near)) {
        Absence::Contradicts
    } else {
        Absence::OfOtherTime
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn stay(first: u32, last: u32, from: i64, until: i64) -> Stay<u32> {
        Stay { first, last, from, until }
    }

    fn random() -> impl FnMut(u32) -> u32 {
        let mut random = Random::new();
        move |bound| random.below(bound as usize) as u32
    }

    #[test]
    fn every_answer_is_that_of_trying_each_stay() {
        let mut random = random();
        for _ in 0..200 {
            let v4: Vec<Stay<u32>> = (0..random(30))
                .map(|_| {
                    let (first, from) = (random(60), i64::from(random(40)));
                    stay(first, first + random(20), from, from + 1 + i64::from(random(20)))
                })
                .collect();
            let widened = |stay: &Stay<u32>| Stay {
                first: u128::from(stay.first) << 70,
                last: (u128::from(stay.last) << 70) | ((1 << 70) - 1),
                from: stay.from,
                until: stay.until,
            };
            let v6 = v4.iter().map(widened).collect();
            let times = AddressTimes::new(&Stays { v4: v4.clone(), v6 }).unwrap();
            for (address, time) in
                (0..90).flat_map(|address| (0..70).map(move |time| (address, time)))
            {
                let is_within = |stay: &Stay<u32>| {
                    (stay.first..=stay.last).contains(&address)
                        && (stay.from..stay.until).contains(&time)
                };
                let expected = v4.iter().any(is_within);
                let of_v4 = IpAddr::from(address.to_be_bytes());
                let TimesAnswer { is_on_list, period, .. } = times.answer(of_v4, time);
                assert_eq!(is_on_list, expected, "{address} {time}");
                assert!(period.contains(time), "{address} {time}");
                // The answer is the same at both ends of the period.
                for at in [period.from, period.until - 1] {
                    assert_eq!(times.contain(of_v4, at), expected, "{address} {time} {at}");
                }
                let of_v6 = IpAddr::from((u128::from(address) << 70 | 5).to_be_bytes());
                // The lowest addresses of IPv6 can stand for those of IPv4.
                assert!(address == 0 || times.contain(of_v6, time) == expected, "{address} {time}");
            }
        }
    }

    /// The first halves of their addresses are the same.
    #[test]
    fn networks_of_one_64_are_told_apart() {
        let begin = 0x2001_0db8 << 96;
        let stay = |first: u128, last: u128| Stay {
            first: begin + first,
            last: begin + last,
            from: 0,
            until: 9,
        };
        let v6 = vec![stay(0x10, 0x1f), stay(0x30, 0x3f), stay(0x50, 0x5f)];
        let times = AddressTimes::new(&Stays { v4: Vec::new(), v6 }).unwrap();
        for (low, expected) in [
            (0, false),
            (0x10, true),
            (0x1f, true),
            (0x20, false),
            (0x30, true),
            (0x4f, false),
            (0x50, true),
            (0x60, false),
            (1 << 64, false),
        ] {
            let address = IpAddr::from((begin + low).to_be_bytes());
            assert_eq!(times.contain(address, 5), expected, "{address}");
        }
        // The only one that begins in its /64.
        let v6 = vec![stay(0x10, (1 << 64) + 5)];
        let times = AddressTimes::new(&Stays { v4: Vec::new(), v6 }).unwrap();
        for (low, expected) in
            [(0xf, false), (0x10, true), ((1 << 64) + 5, true), ((1 << 64) + 6, false)]
        {
            let address = IpAddr::from((begin + low).to_be_bytes());
            assert_eq!(times.contain(address, 5), expected, "{address}");
        }
    }

    #[test]
    fn the_first_and_the_last_address_and_all_times() {
        let v4 = vec![stay(0, 0, i64::MIN, i64::MAX), stay(u32::MAX, u32::MAX, 5, 9)];
        let times = AddressTimes::new(&Stays { v4, v6: Vec::new() }).unwrap();
        let at = |address: &str, time| times.contain(address.parse().unwrap(), time);
        assert!(at("0.0.0.0", i64::MIN) && at("0.0.0.0", 0) && !at("0.0.0.1", 0));
        assert!(at("255.255.255.255", 5) && !at("255.255.255.255", 9) && !at("::1", 5));
        assert!(!AddressTimes::default().contain([1, 2, 3, 4].into(), 0));
    }

    /// Nested networks that all change at other times.
    #[test]
    fn lists_that_change_too_much_are_refused() {
        let v4: Vec<Stay<u32>> = (0..12_000)
            .map(|index| {
                stay(index, 1_000_000 - index, i64::from(2 * index), i64::from(2 * index + 1))
            })
            .collect();
        assert!(AddressTimes::new(&Stays { v4, v6: Vec::new() }).is_err());
    }
}
