//! Finds inputs that have the same requests, such as the logs of a CDN and of the server behind it. Each of their
//! requests counts once for each of them.
//!
//! Of each input some requests of crawlers are kept as hashes of minute, user agent and target: those with the
//! smallest hashes. What is kept does not depend on the order of lines, and two inputs with the same requests keep the
//! same ones. The first bits of a hash are those of its minute, so that in a long log most requests end with a look at
//! their time.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::logs::record::Record;
use crate::merge::Merge;
use crate::time::UtcTime;
use crate::url::path::PathQuery;

/// The most hashes that are kept of an input.
const HASHES_MAX: usize = 128;

/// The first bits of a hash, which are those of the minute.
const MINUTE_BITS: u32 = 8;

/// Fewer common requests may be chance.
const COMMON_MIN: usize = 20;

/// The most inputs that are compared one by one.
const COMPARED_MAX: usize = 256;

/// Hashes of requests, each once: the smallest ones, in order.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RequestSketch(Vec<u64>);

impl RequestSketch {
    /// No larger hash will be kept.
    pub(crate) fn largest(&self) -> u64 {
        self.0.get(HASHES_MAX - 1).copied().unwrap_or(u64::MAX)
    }

    fn tidy(&mut self) {
        self.0.sort_unstable();
        self.0.dedup();
        self.0.truncate(HASHES_MAX);
    }

    /// How many hashes are compared and how many of them are in both. Of each input, those are compared that are
    /// smaller than the largest one of each that has lost some; of them, as many as the shorter one has.
    fn common(&self, other: &RequestSketch) -> (usize, usize) {
        let limit = self.largest().min(other.largest());
        let compared =
            |sketch: &RequestSketch| sketch.0.iter().filter(|hash| **hash <= limit).count();
        let is_common = |hash: &&u64| other.0.binary_search(hash).is_ok();
        (compared(self).min(compared(other)), self.0.iter().filter(is_common).count())
    }
}

impl Merge for RequestSketch {
    fn absorb(&mut self, other: RequestSketch) {
        self.0.extend(other.0);
        self.tidy();
    }
}

/// Adds requests to a sketch.
#[derive(Debug)]
pub(crate) struct RequestSampler {
    /// Larger hashes are not needed.
    largest: u64,
    /// The last minute and the first bits of its hashes.
    minute: (i64, u64),
    sketch: RequestSketch,
}

impl Default for RequestSampler {
    fn default() -> RequestSampler {
        RequestSampler {
            largest: u64::MAX,
            minute: (i64::MIN, 0),
            sketch: RequestSketch::default(),
        }
    }
}

impl RequestSampler {
    /// Goes on with an input of which `before` is kept.
    pub(crate) fn continue_with(&mut self, before: Option<&RequestSketch>) {
        self.largest = before.map_or(u64::MAX, RequestSketch::largest);
    }

    /// Counts `record`, if it has a path that is compared.
    #[inline(always)]
    pub(crate) fn count(&mut self, record: &Record<'_>, path: Option<PathQuery<'_>>) {
        if let Some(path) = path {
            self.add(record.time, record.user_agent, path.as_bytes());
        }
    }

    /// Adds a request.
    #[inline(always)]
    fn add(&mut self, time: UtcTime, user_agent: &[u8], target: &[u8]) {
        let minute = time.unix_minute();
        if self.minute.0 != minute {
            let bits = xxh3_64(&minute.to_le_bytes()) >> (u64::BITS - MINUTE_BITS);
            self.minute = (minute, bits << (u64::BITS - MINUTE_BITS));
        }
        if self.minute.1 <= self.largest {
            self.add_hash(user_agent, target);
        }
    }

    #[inline(never)]
    fn add_hash(&mut self, user_agent: &[u8], target: &[u8]) {
        let (minute, bits) = self.minute;
        let of_user_agent = xxh3_64_with_seed(user_agent, minute.cast_unsigned());
        let hash = bits | xxh3_64_with_seed(target, of_user_agent) >> MINUTE_BITS;
        if hash > self.largest {
            return;
        }
        self.sketch.0.push(hash);
        if self.sketch.0.len() >= 4 * HASHES_MAX {
            self.sketch.tidy();
            self.largest = self.sketch.largest().min(self.largest);
        }
    }

    /// What was added.
    pub(crate) fn take(&mut self) -> RequestSketch {
        self.sketch.tidy();
        std::mem::take(&mut self.sketch)
    }
}

/// A warning if `inputs`, each with its name and its format, have the same requests in large part. All inputs of a format
/// together are also compared with those of another one, because a CDN may write a file for each hour.
pub(super) fn same_requests<'a>(
    inputs: impl Iterator<Item = (&'a str, &'a str, &'a RequestSketch)>,
) -> Option<String> {
    let mut one_by_one = Vec::new();
    let mut formats: BTreeMap<&str, RequestSketch> = BTreeMap::new();
    for (name, format, requests) in inputs {
        formats.entry(format).or_default().absorb(requests.clone());
        if one_by_one.len() < COMPARED_MAX {
            one_by_one.push((name.to_owned(), requests));
        }
    }
    let formats = formats.iter();
    let formats: Vec<(String, &RequestSketch)> = formats
        .map(|(name, requests)| (format!("the logs of the format {name}"), requests))
        .collect();
    warning(&one_by_one).or_else(|| warning(&formats))
}

fn warning(named: &[(String, &RequestSketch)]) -> Option<String> {
    let pairs = (0..named.len()).flat_map(|at| (0..at).map(move |before| (before, at)));
    let same = pairs.filter_map(|(one, other)| {
        let (compared, common) = named[one].1.common(named[other].1);
        (common >= COMMON_MIN && 2 * common >= compared).then_some((one, other, common, compared))
    });
    let same: Vec<_> = same.collect();
    let &(one, other, common, compared) = same.first()?;
    let all: BTreeSet<usize> = same.iter().flat_map(|&(one, other, ..)| [one, other]).collect();
    let more = match all.len() - 2 {
        0 => String::new(),
        more => format!(", and so on for {more} more"),
    };
    let (one, other) = (&named[one].0, &named[other].0);
    Some(format!(
        "{one} and {other} have the same requests of crawlers: {common} of {compared} that were compared are in both, \
         with the same minute, user agent and target{more}; if these logs are of one site, such as those of a CDN and \
         of the server behind it, each request counts more than once; leave all but one of them out"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn request(number: u64) -> (UtcTime, String) {
        let time = UtcTime::from_unix_seconds(1_700_000_000 + number as i64 * 7).unwrap();
        (time, format!("/{number}"))
    }

    /// The sketch of some requests, which several threads read in chunks.
    fn sketch(numbers: impl Iterator<Item = u64>, random: &mut Random) -> RequestSketch {
        let mut threads = [RequestSketch::default(), RequestSketch::default()];
        let (mut sampler, mut thread) = (RequestSampler::default(), 0);
        for number in numbers {
            let (time, target) = request(number);
            sampler.add(time, b"x", target.as_bytes());
            if random.below(200) == 0 {
                threads[thread].absorb(sampler.take());
                thread = random.below(2);
                sampler.continue_with(Some(&threads[thread]));
            }
        }
        threads[thread].absorb(sampler.take());
        let [mut all, other] = threads;
        all.absorb(other);
        all
    }

    #[test]
    fn neither_order_nor_threads_change_a_sketch() {
        let random = &mut Random(7);
        for count in [5, 100, 9_000] {
            let expected = sketch(0..count, random);
            assert_eq!(expected.0.len(), HASHES_MAX.min(count as usize));
            assert_eq!(sketch((0..count).rev(), random), expected);
            assert_eq!(sketch((0..count).chain(0..count), random), expected);
        }
    }

    #[test]
    fn common_requests_are_estimated() {
        let random = &mut Random(7);
        let whole = sketch(0..9_000, random);
        let (compared, common) = whole.common(&whole);
        assert_eq!((compared, common), (HASHES_MAX, HASHES_MAX));
        // A third of the requests, half of which are in the other input.
        let (compared, common) = whole.common(&sketch(7_500..10_500, random));
        assert!(
            compared > 25 && (3 * compared..=7 * compared).contains(&(10 * common)),
            "{common} {compared}"
        );
        assert_eq!(whole.common(&sketch(9_000..20_000, random)).1, 0);
        assert_eq!(whole.common(&RequestSketch::default()), (0, 0));
        let (compared, common) = sketch(0..30, random).common(&sketch(5..40, random));
        assert_eq!((compared, common), (30, 25));
    }
}
