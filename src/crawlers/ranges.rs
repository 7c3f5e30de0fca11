//! A directory of published range lists, and the crawlers that their addresses belong to.
//!
//! A list is found by the URL at which its operator publishes it (`ip_list_urls` of the
//! registry): in the file that `manifest.json` names for it, or else in the one that is named
//! like the URL ([`file_name`]), or else in one named like the URL's last part, where no
//! other list's URL ends so. The same is tried with the URLs at which it was published before.
//! Its earlier versions are in `history/`. For a crawler without such a URL, the manifest may name a
//! list that the crawler's page links.

pub(crate) use crate::crawlers::range_files::{List, file_name};

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::{net::IpAddr, path::Path};

use crate::error::{Error, Result};
use crate::time::UtcTime;

use super::address_times::{Absence, AddressTimes, Period, Stays, TimesAnswer, TooManyChanges};
use super::networks::{Network, Networks};
use super::range_files::{Files, TOO_MANY_CHANGES};
use super::{crawler::CrawlerId, list_times::ListTimes, range_list::Filter, registry::Registry};

/// The result of looking an address up in range lists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RangeAnswer {
    /// A list of the time of the request contains the address.
    Contains,
    /// All lists of the crawler were read to the last entry, are of the time of the request, and
    /// none contains it.
    Contradicts,
    /// The same, but a list is of another time.
    LacksAtOtherTime,
    /// There is no list of this crawler, or one is missing or could not be read whole.
    NoAnswer,
}

/// The lists of all crawlers of one registry.
#[derive(Debug, Default)]
pub struct Ranges {
    /// For each crawler; `None` if its operator publishes no list.
    by_crawler: Vec<Option<usize>>,
    /// The merged addresses of each distinct set of lists.
    sets: Vec<RangeSet>,
    /// In the order of their URLs.
    lists: Vec<List>,
    /// Names in the directory that were not used, in order.
    unused: Vec<String>,
    /// All addresses of all versions.
    ever: Networks,
}

#[derive(Debug)]
struct RangeSet {
    /// Places in `lists`.
    lists: Vec<usize>,
    addresses: AddressTimes,
    /// What the lists say of other addresses from each time on, in order; the first from any time.
    absences: Box<[(i64, Absence)]>,
    /// The addresses of the newest versions.
    newest: Networks,
}

impl Ranges {
    /// Reads the lists of `registry` that are in `directory`.
    ///
    /// # Errors
    /// If the directory cannot be listed, contains no list that the registry names, or contains an
    /// invalid manifest. A list that cannot be read is not an error but a fault of that list.
    pub fn open(directory: &Path, registry: &Registry) -> Result<Ranges> {
        let files = Files::open(directory, registry)?;
        let mut ranges = Ranges::default();
        let mut indexes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut sets: HashMap<Vec<usize>, usize> = HashMap::new();
        for (_, crawler) in registry.iter() {
            let mut lists = Vec::new();
            for url in files.urls_of(crawler) {
                let index = *indexes.entry((url, &crawler.ip_list_format)).or_insert_with(|| {
                    ranges.lists.push(files.read(url, Filter::of_format(&crawler.ip_list_format)));
                    ranges.lists.len() - 1
                });
                lists.push(index);
            }
            let set = (!lists.is_empty()).then(|| {
                *sets.entry(lists).or_insert_with_key(|lists| {
                    ranges.sets.push(RangeSet::new(lists, &mut ranges.lists));
                    ranges.sets.len() - 1
                })
            });
            ranges.by_crawler.push(set);
        }
        if ranges.lists.iter().all(|list| list.file.is_none()) {
            return Err(nothing_found(directory));
        }
        ranges.lists.iter_mut().for_each(|list| list.times = ListTimes::default());
        ranges.ever = Networks::new(ranges.sets.iter().flat_map(|set| set.addresses.ever()));
        let used: BTreeSet<&str> =
            ranges.lists.iter().filter_map(|list| list.file.as_deref()).collect();
        ranges.unused = files.unused(&used);
        Ok(ranges)
    }

    /// Looks the `address` of a request at `time` up in the lists of `crawler`. If it may have been
    /// zeroed in part for privacy, it is outside only if no address that it may stand for is in any
    /// version of a list.
    ///
    /// Also gives the times around `time` with the same answer, and whether the newest version of a list
    /// has an address that is contained.
    #[inline]
    pub(crate) fn answer(
        &self,
        crawler: CrawlerId,
        address: IpAddr,
        time: UtcTime,
    ) -> (RangeAnswer, Period, bool) {
        let time = time.unix_seconds();
        let Some(set) = self.set_of(crawler) else {
            return (RangeAnswer::NoAnswer, Period::ALWAYS, false);
        };
        let TimesAnswer { is_on_list, stays, period } = set.addresses.answer(address, time);
        if is_on_list {
            return (RangeAnswer::Contains, period, stays);
        }
        let possible = Network::possibly_masked(address);
        if !possible.is_single() && set.addresses.ever_overlap(possible) {
            return (RangeAnswer::NoAnswer, period, false);
        }
        let (absence, of_absence) = set.absence(time);
        let answer = match absence {
            Absence::Contradicts => RangeAnswer::Contradicts,
            Absence::OfOtherTime => RangeAnswer::LacksAtOtherTime,
            Absence::Undecided => RangeAnswer::NoAnswer,
        };
        (answer, period.and(of_absence), false)
    }

    /// Whether there is a list of `crawler`.
    #[inline]
    pub(crate) fn have(&self, crawler: CrawlerId) -> bool {
        self.set_of(crawler).is_some()
    }

    /// Whether a list of `crawler` contained `address` at `time`.
    pub(crate) fn contain(&self, crawler: CrawlerId, address: IpAddr, time: UtcTime) -> bool {
        let contains = |set: &RangeSet| set.addresses.contain(address, time.unix_seconds());
        self.set_of(crawler).is_some_and(contains)
    }

    /// Whether any version of any list contains `address`.
    #[inline]
    pub(crate) fn ever_contain(&self, address: IpAddr) -> bool {
        self.ever.contains(address)
    }

    /// The first crawler in the registry with a list that contained `address` at `time`. An address that may
    /// have been zeroed in part for privacy is none's.
    pub(crate) fn crawler_with(&self, address: IpAddr, time: UtcTime) -> Option<CrawlerId> {
        if !self.ever_contain(address) || !Network::possibly_masked(address).is_single() {
            return None;
        }
        let crawlers = (0..self.by_crawler.len()).filter_map(|at| u16::try_from(at).ok());
        crawlers.map(CrawlerId).find(|&crawler| self.contain(crawler, address, time))
    }

    /// All networks of the newest lists of `crawler`, as far as they could be read.
    pub(crate) fn networks_of(&self, crawler: CrawlerId) -> impl Iterator<Item = Network> {
        self.set_of(crawler).into_iter().flat_map(|set| set.newest.iter())
    }

    /// The lists of `crawler`, found or not; none where its operator publishes none.
    pub(crate) fn lists_of(&self, crawler: CrawlerId) -> impl Iterator<Item = &List> {
        let set = self.set_of(crawler).into_iter();
        set.flat_map(|set| set.lists.iter().map(|&list| &self.lists[list]))
    }

    /// The first and the last time at which each list was seen, with its URL.
    pub(crate) fn covered_times(&self) -> impl Iterator<Item = (&str, (UtcTime, UtcTime))> {
        self.lists.iter().filter_map(|list| Some((&*list.url, list.seen?)))
    }

    fn set_of(&self, crawler: CrawlerId) -> Option<&RangeSet> {
        let set = self.by_crawler.get(crawler.index()).copied().flatten()?;
        Some(&self.sets[set])
    }

    /// Files of the directory that are not lists of a crawler, in order.
    pub(crate) fn unused(&self) -> &[String] {
        &self.unused
    }
}

impl RangeSet {
    fn new(indexes: &[usize], lists: &mut [List]) -> RangeSet {
        let mut stays = Stays::default();
        for &index in indexes {
            stays.v4.extend(&lists[index].times.stays.v4);
            stays.v6.extend(&lists[index].times.stays.v6);
        }
        let chosen = || indexes.iter().map(|&index| &lists[index]);
        let newest = Networks::new(chosen().flat_map(|list| list.times.newest.iter()));
        let times: Vec<&ListTimes> = chosen().map(|list| &list.times).collect();
        let (addresses, absences) = match AddressTimes::new(&stays) {
            Ok(addresses) => (addresses, absences(&times)),
            Err(TooManyChanges) => {
                let fault = || Some(TOO_MANY_CHANGES.to_owned());
                indexes.iter().for_each(|&index| lists[index].fault = fault());
                (AddressTimes::default(), absences(&[]))
            }
        };
        RangeSet { lists: indexes.to_vec(), addresses, absences, newest }
    }

    #[inline]
    fn absence(&self, time: i64) -> (Absence, Period) {
        let after = self.absences.partition_point(|&(from, _)| from <= time);
        let (from, absence) = self.absences[after.saturating_sub(1)];
        let until = self.absences.get(after).map_or(i64::MAX, |&(until, _)| until);
        (absence, Period { from, until })
    }
}

/// What all of `lists` together say of addresses that none contains, from each time on.
fn absences(lists: &[&ListTimes]) -> Box<[(i64, Absence)]> {
    let of_all = |time| lists.iter().map(|list| list.absence(time)).max();
    let mut times: Vec<i64> = lists.iter().flat_map(|list| list.changes()).collect();
    times.push(i64::MIN);
    times.sort_unstable();
    let mut absences: Vec<(i64, Absence)> =
        times.into_iter().map(|time| (time, of_all(time).unwrap_or(Absence::Undecided))).collect();
    absences.dedup_by_key(|(_, absence)| *absence);
    absences.into()
}

fn nothing_found(directory: &Path) -> Error {
    let url = "https://openai.com/gptbot.json";
    let why = format!(
        "contains no list of a known crawler; name each file like the URL of its list: {url} is \
         {} or gptbot.json",
        file_name(url)
    );
    Error::invalid_file(directory, why)
}

#[cfg(test)]
mod tests;
