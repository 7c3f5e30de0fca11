//! One address list through time: when it was seen with which content.
//!
//! A list is known at the times at which somebody saw it. Between two of them it may have changed at any
//! time. So an address was on the list at a time if the last sighting before it or the first one after
//! it has the address; and the list contradicts an address only if both lack it and are near. In the very second of
//! a sighting, it counts together with those before and after it.

use crate::time::DAY_SECONDS;

use super::address_times::{Absence, Moment, Stay, Stays, TooManyChanges, absence};
use super::identity::CONTRADICTING_DAYS;
use super::networks::{Network, Networks};

/// The most stays of addresses on one list.
const STAYS_MAX: usize = 1 << 21;

/// Content of a list as far as it could be read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Content {
    pub networks: Networks,
    /// Whether all of it could be read.
    pub is_whole: bool,
}

impl Content {
    /// All that was seen at one time, mostly one content.
    fn union(contents: impl Iterator<Item = Content>) -> Content {
        let join = |left: Content, right: Content| Content {
            networks: Networks::new(left.networks.iter().chain(right.networks.iter())),
            is_whole: left.is_whole && right.is_whole,
        };
        contents.reduce(join).unwrap_or_default()
    }
}

/// The list was seen at a time with the content of this number.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Sighting {
    /// In seconds since the epoch; `None` if nobody knows.
    pub at: Option<i64>,
    pub content: usize,
}

/// The sightings of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListTimes {
    /// In ascending order of times.
    moments: Vec<Moment>,
    /// Its addresses.
    pub stays: Stays,
    /// Those of the last sighting.
    pub newest: Networks,
}

/// Addresses that have been on the list since the moment of this number.
#[derive(Clone, Copy)]
struct Present<T> {
    first: T,
    last: T,
    since: usize,
}

impl ListTimes {
    /// The list with `sightings`; `read` gives a content by its number. A content is read again
    /// where others were seen between two of its sightings, so that few are in memory at a time.
    ///
    /// # Errors
    /// If it changes too often.
    pub(crate) fn new(
        mut sightings: Vec<Sighting>,
        mut read: impl FnMut(usize) -> Content,
    ) -> Result<ListTimes, TooManyChanges> {
        if sightings.iter().any(|sighting| sighting.at.is_some()) {
            sightings.retain(|sighting| sighting.at.is_some());
        }
        sightings.sort_unstable();
        sightings.dedup();
        let mut times = ListTimes::default();
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        let (mut numbers, mut newest, mut version) = (Vec::new(), Content::default(), 0);
        for at_one in sightings.chunk_by(|left, right| left.at == right.at) {
            let of_moment: Vec<usize> = at_one.iter().map(|sighting| sighting.content).collect();
            let is_first = numbers.is_empty();
            let mut is_new = is_first;
            if numbers != of_moment {
                let found = Content::union(of_moment.iter().map(|&number| read(number)));
                is_new |= found != newest;
                (numbers, newest) = (of_moment, found);
            }
            version += usize::from(is_new);
            let moment = Moment { at: at_one[0].at, version, is_whole: newest.is_whole };
            times.moments.push(moment);
            if is_new {
                let moment = times.moments.len() - 1;
                times.see(&mut v4, &mut v6, &newest.networks, moment)?;
            }
        }
        let end = times.moments.len();
        times.see(&mut v4, &mut v6, &Networks::default(), end)?;
        times.newest = newest.networks;
        Ok(times)
    }

    /// Goes on from the addresses of the moment before to `seen` at `moment`.
    fn see(
        &mut self,
        v4: &mut Vec<Present<u32>>,
        v6: &mut Vec<Present<u128>>,
        seen: &Networks,
        moment: usize,
    ) -> Result<(), TooManyChanges> {
        let (mut new_v4, mut new_v6) = (Vec::new(), Vec::new());
        for network in seen.iter() {
            match network {
                Network::V4(first, last) => new_v4.push((first, last)),
                Network::V6(first, last) => new_v6.push((first, last)),
            }
        }
        let ListTimes { moments, stays, .. } = self;
        // On the list from the moment before until the next one, with the seconds of both: within a second, a
        // request may come before the change or after it.
        let from = |since: usize| match since.checked_sub(1).map(|before| moments[before].at) {
            Some(Some(before)) => before,
            _ => i64::MIN,
        };
        let until = moments
            .get(moment)
            .map_or(i64::MAX, |moment| moment.at.map_or(i64::MAX, |at| at.saturating_add(1)));
        let stay_v4 = |Present { first, last, since }: Present<u32>| Stay {
            first,
            last,
            from: from(since),
            until,
        };
        let stay_v6 = |Present { first, last, since }: Present<u128>| Stay {
            first,
            last,
            from: from(since),
            until,
        };
        advance(v4, &new_v4, moment, |gone| stays.v4.push(stay_v4(gone)), |at| at - 1, |at| at + 1);
        advance(v6, &new_v6, moment, |gone| stays.v6.push(stay_v6(gone)), |at| at - 1, |at| at + 1);
        let count = stays.v4.len() + stays.v6.len();
        if count > STAYS_MAX { Err(TooManyChanges) } else { Ok(()) }
    }

    /// What the list says at `time` about an address that it does not contain then.
    pub(crate) fn absence(&self, time: i64) -> Absence {
        absence(&self.moments, time)
    }

    /// The times at which `absence` may change, in no order.
    pub(crate) fn changes(&self) -> impl Iterator<Item = i64> {
        let near = CONTRADICTING_DAYS * DAY_SECONDS;
        self.moments.iter().filter_map(|moment| moment.at).flat_map(move |at| {
            let earlier = [at.saturating_sub(near), at, at.saturating_add(1)];
            earlier.into_iter().chain([at.saturating_add(near).saturating_add(1)])
        })
    }
}

/// Replaces the addresses in `present` by those of `seen`, keeping since when they have been there.
/// `gone` receives those that are no longer. Both are in order and have no overlaps.
fn advance<T: Copy + Ord>(
    present: &mut Vec<Present<T>>,
    seen: &[(T, T)],
    moment: usize,
    mut gone: impl FnMut(Present<T>),
    before: impl Fn(T) -> T,
    after: impl Fn(T) -> T,
) {
    let mut result: Vec<Present<T>> = Vec::with_capacity(seen.len());
    let mut old = present.iter().copied();
    let mut new = seen.iter().map(|&(first, last)| Present { first, last, since: moment });
    let (mut of_old, mut of_new) = (old.next(), new.next());
    loop {
        let (left, right) = match (of_old, of_new) {
            (None, None) => break,
            (Some(left), None) => {
                gone(left);
                of_old = old.next();
                continue;
            }
            (None, Some(right)) => {
                result.push(right);
                of_new = new.next();
                continue;
            }
            (Some(left), Some(right)) => (left, right),
        };
        if left.last < right.first {
            gone(left);
            of_old = old.next();
        } else if right.last < left.first {
            result.push(right);
            of_new = new.next();
        } else {
            if left.first < right.first {
                gone(Present { last: before(right.first), ..left });
            } else if right.first < left.first {
                result.push(Present { last: before(left.first), ..right });
            }
            let first = left.first.max(right.first);
            let last = left.last.min(right.last);
            result.push(Present { first, last, since: left.since });
            let rest =
                |of: Present<T>| (last < of.last).then(|| Present { first: after(last), ..of });
            of_old = rest(left).or_else(|| old.next());
            of_new = rest(right).or_else(|| new.next());
        }
    }
    *present = result;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn content(networks: impl Iterator<Item = u32>) -> Content {
        let single = networks.map(|address| Network::V4(2 * address, 2 * address));
        Content { networks: Networks::new(single), is_whole: true }
    }

    /// Two lists of other addresses that take turns.
    #[test]
    fn a_list_that_changes_all_the_time_is_refused() {
        let sightings = |count: i64| -> Vec<Sighting> {
            (0..count).map(|at| Sighting { at: Some(at), content: at as usize % 2 }).collect()
        };
        let both = [content(0..20_000), content(20_000..40_000)];
        let read = |number: usize| both[number].clone();
        assert_eq!(ListTimes::new(sightings(9), read).unwrap().stays.v4.len(), 9 * 20_000);
        assert!(ListTimes::new(sightings(200), read).is_err());
    }

    /// An address is on the list from the last sighting without it until the next one without it,
    /// however networks grow, shrink, split and join.
    #[test]
    fn networks_that_change_keep_the_times_of_each_address() {
        let mut generator = Random::new();
        let mut random = |below: usize| generator.below(below) as u64;
        for _ in 0..60 {
            let contents: Vec<Vec<(u32, u32)>> = (0..1 + random(5))
                .map(|_| {
                    let network = |first: u32, length: u64| (first, first + length as u32);
                    (0..random(4)).map(|_| network(random(40) as u32, random(20))).collect()
                })
                .collect();
            let wide = |address: u32| u128::from(address) << 96;
            let read = |number: usize| {
                let v4 = contents[number].iter().map(|of| Network::V4(of.0, of.1));
                let v6 =
                    contents[number].iter().map(|of| Network::V6(wide(of.0), wide(of.1 + 1) - 1));
                Content { networks: Networks::new(v4.chain(v6)), is_whole: true }
            };
            let at = |number: usize| 10 * number as i64;
            let sightings =
                (0..contents.len()).map(|content| Sighting { at: Some(at(content)), content });
            let times = ListTimes::new(sightings.collect(), read).unwrap();
            for (address, time) in (0..65).flat_map(|address| (-5..60).map(move |at| (address, at)))
            {
                let is_near = |number: usize| {
                    (number == 0 || at(number - 1) <= time)
                        && (number + 1 == contents.len() || time <= at(number + 1))
                };
                let has = |number: usize| {
                    contents[number].iter().any(|of| (of.0..=of.1).contains(&address))
                };
                let expected = (0..contents.len()).any(|number| is_near(number) && has(number));
                let is_in = |from: i64, until: i64| (from..until).contains(&time);
                let found = times.stays.v4.iter().any(|stay| {
                    (stay.first..=stay.last).contains(&address) && is_in(stay.from, stay.until)
                });
                assert_eq!(found, expected, "{address} {time} {contents:?}");
                let middle = wide(address) + 7;
                let found = times.stays.v6.iter().any(|stay| {
                    (stay.first..=stay.last).contains(&middle) && is_in(stay.from, stay.until)
                });
                assert_eq!(found, expected, "IPv6: {address} {time} {contents:?}");
            }
        }
    }

    /// What is seen again without a change is read once, and takes no memory.
    #[test]
    fn sightings_of_one_content_are_one() {
        let mut reads = 0;
        let sightings = (0..1000).map(|at| Sighting { at: Some(at * DAY_SECONDS), content: 0 });
        let times = ListTimes::new(sightings.collect(), |_| {
            reads += 1;
            content(0..3)
        });
        let times = times.unwrap();
        assert_eq!((reads, times.stays.v4.len()), (1, 3));
        assert_eq!(times.absence(500 * DAY_SECONDS + 7), Absence::Contradicts);
        assert_eq!(times.absence(-15 * DAY_SECONDS), Absence::OfOtherTime);
    }

    /// Two copies of one time: an address on either is the operator's.
    #[test]
    fn contents_of_the_same_time_count_together() {
        let at = |at, content| Sighting { at: Some(at), content };
        let lists = [content(0..3), content(2..5), content(9..10)];
        let mut sightings = vec![at(10, 0), at(10, 1), at(20, 2)];
        sightings.push(Sighting { at: None, content: 2 });
        let times = ListTimes::new(sightings, |number| lists[number].clone()).unwrap();
        let stay =
            |address: u32, from, until| Stay { first: 2 * address, last: 2 * address, from, until };
        let mut stays = times.stays.v4;
        stays.sort_unstable();
        let of_ten = (0..5).map(|address| stay(address, i64::MIN, 21));
        let expected: Vec<Stay<u32>> = of_ten.chain([stay(9, 10, i64::MAX)]).collect();
        assert_eq!(stays, expected);
    }
}
