//! The address lists that come with the program, each as it was on one day.
//!
//! They only verify. That an address is on none of them is said, and proves nothing: operators add addresses every few weeks,
//! and a log may have addresses of proxies instead of clients. A list of a directory wins where it knows more:
//! from its first version to its last one, it alone says which addresses it had.

use std::sync::{Arc, OnceLock};
use std::{collections::BTreeMap, net::IpAddr};

use crate::time::{DAY_SECONDS, UtcTime};

use super::crawler::{Crawler, CrawlerId};
use super::identity::COMPARED_DAYS;
use super::networks::{Network, Networks};
use super::registry::Registry;
use super::{address_times::Period, builtin::LazyCrawler, range_list::Filter, ranges::Ranges};

/// The lists; `scripts/refresh-ranges` makes them.
const TABLE: &str = include_str!("bundled_ranges.txt");

/// The begin of the line before each list.
const MARK: &str = "\nlist ";

/// A list that comes with the program.
#[derive(Debug)]
pub(crate) struct BundledList {
    /// The URL at which its operator publishes it.
    pub url: &'static str,
    /// When it was like this.
    pub at: UtcTime,
    /// The number of its networks.
    pub count: usize,
    lines: &'static str,
    networks: OnceLock<Networks>,
}

impl BundledList {
    /// All lists, in the order of their URLs.
    pub(crate) fn all() -> &'static [BundledList] {
        static ALL: OnceLock<Box<[BundledList]>> = OnceLock::new();
        ALL.get_or_init(|| TABLE.split(MARK).skip(1).filter_map(BundledList::read).collect())
    }

    /// The lists of `crawler` that come with the program. A selected part of a list counts as another list.
    pub(crate) fn of(crawler: &Crawler) -> impl Iterator<Item = &'static BundledList> {
        let of_url = |url: &String| BundledList::all().iter().find(|list| list.url == url);
        let is_part = Filter::of_format(&crawler.ip_list_format).is_some();
        crawler.ip_list_urls.iter().filter(move |_| !is_part).filter_map(of_url)
    }

    fn read(text: &'static str) -> Option<BundledList> {
        let (head, lines) = text.split_once('\n')?;
        let mut words = head.splitn(4, ' ');
        let (url, at, count) = (words.next()?, words.next()?, words.next()?);
        let at = at.parse::<jiff::Timestamp>().ok()?.into();
        Some(BundledList { url, at, count: count.parse().ok()?, lines, networks: OnceLock::new() })
    }

    /// Its addresses, which are read when somebody first asks for them.
    fn networks(&self) -> &Networks {
        let of_line = |line: &str| Network::parse(line.as_bytes()).ok();
        self.networks.get_or_init(|| Networks::new(self.lines.lines().filter_map(of_line)))
    }
}

/// The lists that come with the program, for the crawlers of a registry, beside those of a directory.
#[derive(Debug)]
pub struct BundledRanges {
    crawlers: Arc<[LazyCrawler]>,
    /// For each crawler, when somebody first asks for it.
    parts: Box<[OnceLock<Box<[Part]>>]>,
    /// The first and the last time of each list of the directory.
    covered: BTreeMap<String, (UtcTime, UtcTime)>,
}

/// What the lists say about an address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BundledAnswer {
    /// One of them contains it.
    Contains,
    /// All lists of the crawler are there and of the time, and none contains it.
    Lacks,
    /// Nothing.
    NoAnswer,
}

/// A list, and the times for which it counts.
#[derive(Debug)]
struct Part {
    list: &'static BundledList,
    networks: &'static Networks,
    /// It counts before this time, in seconds since the epoch.
    until: i64,
    /// It counts after this time.
    after: i64,
    /// The first time that it is of, and the first one after those times.
    is_of: (i64, i64),
}

impl BundledRanges {
    /// Those of the crawlers of `registry`, beside the lists of `directory`.
    pub(crate) fn new(registry: &Registry, directory: Option<&Ranges>) -> BundledRanges {
        let crawlers = registry.shared();
        let parts = crawlers.iter().map(|_| OnceLock::new()).collect();
        let covered = directory.into_iter().flat_map(Ranges::covered_times);
        BundledRanges {
            crawlers,
            parts,
            covered: covered.map(|(url, of)| (url.to_owned(), of)).collect(),
        }
    }

    /// Whether any list counts for `crawler`.
    #[inline]
    pub(crate) fn have(&self, crawler: CrawlerId) -> bool {
        !self.parts_of(crawler).is_empty()
    }

    /// Whether a list of `crawler` that counts at `time` contains `address`.
    #[inline]
    pub(crate) fn contain(&self, crawler: CrawlerId, address: IpAddr, time: UtcTime) -> bool {
        self.answer(crawler, address, time).0 == BundledAnswer::Contains
    }

    /// The same, and the times around `time` with the same answer.
    #[inline]
    pub(crate) fn answer(
        &self,
        crawler: CrawlerId,
        address: IpAddr,
        time: UtcTime,
    ) -> (BundledAnswer, Period) {
        let time = time.unix_seconds();
        let (mut is_listed, mut lacking, mut period) = (false, 0, Period::ALWAYS);
        let parts = self.parts_of(crawler);
        for part in parts {
            let counts = time < part.until || time > part.after;
            let (first, end) = part.is_of;
            is_listed |= counts && part.networks.contains(address);
            lacking += usize::from(counts && (first..end).contains(&time));
            for border in [part.until, part.after.saturating_add(1), first, end] {
                period = period.beside(border, time);
            }
        }
        let are_all = || lacking == self.crawlers[crawler.index()].get().ip_list_urls.len();
        let answer = match (is_listed, lacking) {
            (true, _) => BundledAnswer::Contains,
            (false, 1..) if are_all() => BundledAnswer::Lacks,
            (false, _) => BundledAnswer::NoAnswer,
        };
        (answer, period)
    }

    /// The lists that count for `crawler`.
    pub(crate) fn lists_of(&self, crawler: CrawlerId) -> impl Iterator<Item = &BundledList> {
        self.parts_of(crawler).iter().map(|part| part.list)
    }

    #[inline]
    fn parts_of(&self, crawler: CrawlerId) -> &[Part] {
        let Some(parts) = self.parts.get(crawler.index()) else { return &[] };
        parts.get_or_init(|| self.read_parts(crawler))
    }

    #[inline(never)]
    fn read_parts(&self, crawler: CrawlerId) -> Box<[Part]> {
        let lists = BundledList::of(self.crawlers[crawler.index()].get());
        lists.filter_map(|list| Part::new(list, self.covered.get(list.url).copied())).collect()
    }
}

impl Part {
    /// `list` beside versions of the same list of these times: it counts before the first one if it is
    /// older, and after the last one if it is newer. `None` if it never counts.
    fn new(list: &'static BundledList, covered: Option<(UtcTime, UtcTime)>) -> Option<Part> {
        let (until, after) = match covered {
            None => (i64::MAX, i64::MIN),
            Some((first, _)) if list.at < first => (first.unix_seconds(), i64::MAX),
            Some((_, last)) if list.at > last => (i64::MIN, last.unix_seconds()),
            Some(_) => return None,
        };
        let (at, days) = (list.at.unix_seconds(), COMPARED_DAYS * DAY_SECONDS);
        let is_of = (at.saturating_sub(days), at.saturating_add(days + 1));
        Some(Part { list, networks: list.networks(), until, after, is_of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::BTreeSet;
    use std::fs;

    use crate::crawlers::range_files::file_name;

    /// The size that a release may have more by the lists. A wheel has them compressed.
    const BYTES_MAX: usize = 100_000;

    /// Lists of clouds, whose customers send requests from the same addresses.
    const CLOUDS: [&str; 3] = [
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers.json",
        "https://www.cloudflare.com/ips-v4/",
        "https://www.cloudflare.com/ips-v6/",
    ];

    fn at(text: &str) -> UtcTime {
        text.parse::<jiff::Timestamp>().unwrap().into()
    }

    /// Every line is read, in order and once, and what it says is so.
    #[test]
    fn the_lists_are_whole() {
        assert!(TABLE.len() <= BYTES_MAX && TABLE.is_ascii() && TABLE.ends_with('\n'));
        let lists = BundledList::all();
        let registry = Registry::builtin();
        let known: BTreeSet<&String> =
            registry.iter().flat_map(|(_, crawler)| &crawler.ip_list_urls).collect();
        let (mut lines, mut urls) = (0, BTreeSet::new());
        for list in lists {
            assert!(known.contains(&list.url.to_owned()), "{} is not of the registry", list.url);
            assert!(urls.insert(list.url) && urls.last() == Some(&list.url), "{}", list.url);
            assert!((at("2026-01-01T00:00:00Z")..at("2100-01-01T00:00:00Z")).contains(&list.at));
            let of_list: Vec<&str> = list.lines.lines().filter(|line| !line.is_empty()).collect();
            let networks: Vec<Network> =
                of_list.iter().map(|line| Network::parse(line.as_bytes()).unwrap()).collect();
            assert!(!networks.is_empty() && networks.len() == list.count, "{}", list.url);
            let order = |network: &Network| match *network {
                Network::V4(first, last) => (0, u128::from(first), u128::from(last)),
                Network::V6(first, last) => (1, first, last),
            };
            let is_after = |pair: &[Network]| {
                let ((left, _, last), (right, first, _)) = (order(&pair[0]), order(&pair[1]));
                left < right || last < first
            };
            assert!(networks.windows(2).all(is_after), "{}", list.url);
            assert_eq!(list.networks(), &Networks::new(networks), "{}", list.url);
            lines += of_list.len();
        }
        assert!(lists.len() >= 10, "{}", lists.len());
        let is_network =
            |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("list ");
        assert_eq!(TABLE.lines().filter(is_network).count(), lines);
        assert_eq!(TABLE.lines().filter(|line| line.starts_with("list ")).count(), lists.len());
    }

    /// Any client can rent an address of a cloud.
    #[test]
    fn no_list_of_a_cloud_verifies_a_crawler() {
        let registry = Registry::builtin();
        for (_, crawler) in registry.iter() {
            let lists = BundledList::of(crawler);
            let is_of_cloud = crawler.ip_list_format.contains(" where ");
            for list in lists {
                assert!(!is_of_cloud && !CLOUDS.contains(&list.url), "{}", crawler.name);
            }
        }
        for url in CLOUDS {
            let is_its = |crawler: &Crawler| crawler.ip_list_urls.iter().any(|of| of == url);
            assert!(registry.iter().any(|(_, crawler)| is_its(crawler)), "{url}");
        }
        // A tenth of all addresses of IPv4 would be much more than operators have.
        let v4 = BundledList::all().iter().flat_map(|list| list.networks().iter());
        let addresses = v4.filter_map(|network| match network {
            Network::V4(first, last) => Some(u64::from(last - first) + 1),
            Network::V6(..) => None,
        });
        assert!(addresses.sum::<u64>() < 1 << 20);
    }

    /// What the lists verify is what they verify as files of a directory.
    #[test]
    fn an_address_is_verified_as_by_a_directory() {
        let registry = Registry::builtin();
        let directory = tempfile::tempdir().unwrap();
        for list in BundledList::all() {
            fs::write(directory.path().join(file_name(list.url)), list.lines).unwrap();
        }
        let ranges = Ranges::open(directory.path(), &registry).unwrap();
        let bundled = BundledRanges::new(&registry, None);
        let neighbours = |network: Network| -> [IpAddr; 4] {
            match network {
                Network::V4(first, last) => {
                    [first, last, first - 1, last + 1].map(|bits| bits.to_be_bytes().into())
                }
                Network::V6(first, last) => {
                    [first, last, first - 1, last + 1].map(|bits| bits.to_be_bytes().into())
                }
            }
        };
        let addresses: Vec<IpAddr> = BundledList::all()
            .iter()
            .flat_map(|list| list.networks().iter())
            .step_by(7)
            .flat_map(neighbours)
            .collect();
        let (mut yes, mut no) = (0, 0);
        for (id, crawler) in registry.iter() {
            let has_list = BundledList::of(crawler).next().is_some();
            assert_eq!(bundled.have(id), has_list, "{}", crawler.name);
            for &address in addresses.iter().filter(|_| has_list) {
                for time in ["2020-01-01T00:00:00Z", "2026-11-01T00:00:00Z"].map(at) {
                    let found = bundled.contain(id, address, time);
                    let expected = ranges.contain(id, address, time);
                    assert_eq!(found, expected, "{} {address}", crawler.name);
                    *(if found { &mut yes } else { &mut no }) += 1;
                }
            }
        }
        assert!(yes > 1000 && no > 1000, "{yes} {no}");
    }

    /// A list of the directory wins from its first version to its last one.
    #[test]
    fn a_directory_wins_where_it_knows_more() {
        let registry = Registry::builtin();
        let gptbot = registry.find("GPTBot").unwrap();
        let list = BundledList::of(registry.crawler(gptbot)).next().unwrap();
        let Some(Network::V4(first, _)) = list.networks().iter().next() else { panic!("no IPv4") };
        let address: IpAddr = first.to_be_bytes().into();
        let day =
            |days: i64| UtcTime::from_unix_seconds(list.at.unix_seconds() + days * 86_400).unwrap();
        let with_list = |days: &[i64]| {
            let directory = tempfile::tempdir().unwrap();
            let seen: Vec<String> = days.iter().map(|&of| format!("\"{}\"", day(of))).collect();
            let manifest = format!(
                r#"{{"schema_version": 1, "lists": [{{"url": "{}", "file": "x.txt",
                    "fetched_at_utc": "{}", "size_bytes": 9, "seen_utc": [{}]}}]}}"#,
                list.url,
                day(0),
                seen.join(", ")
            );
            fs::write(directory.path().join("manifest.json"), manifest).unwrap();
            fs::write(directory.path().join("x.txt"), "192.0.2.7").unwrap();
            BundledRanges::new(&registry, Some(&Ranges::open(directory.path(), &registry).unwrap()))
        };
        let check = |days: &[i64], cases: &[(i64, bool)]| {
            let bundled = with_list(days);
            for &(at, expected) in cases {
                let (found, period) = bundled.answer(gptbot, address, day(at));
                assert_eq!(found == BundledAnswer::Contains, expected, "{days:?} {at}");
                assert!(period.contains(day(at).unix_seconds()), "{days:?} {at}");
                for end in [period.from.max(0), period.until.min(1 << 32) - 1] {
                    let end = UtcTime::from_unix_seconds(end).unwrap();
                    assert_eq!(bundled.contain(gptbot, address, end), expected, "{days:?} {end}");
                }
            }
            assert_eq!(bundled.have(gptbot), cases.iter().any(|(_, is_verified)| *is_verified));
            let other = registry.find("bingbot").unwrap();
            assert!(bundled.have(other), "of a list that the directory lacks");
        };
        check(&[10, 20], &[(-900, true), (0, true), (9, true), (10, false), (30, false)]);
        check(&[-20, -10], &[(-30, false), (-10, false), (-9, true), (0, true), (900, true)]);
        check(&[-10, 10], &[(-30, false), (-1, false), (0, false), (1, false), (30, false)]);
        check(&[0], &[(-1, false), (0, false), (1, false)]);
        let alone = BundledRanges::new(&registry, None);
        assert!([-900, 0, 900].iter().all(|&of| alone.contain(gptbot, address, day(of))));
        // What an address is not on is said near the time of the list only.
        for (of, expected) in [
            (-93, BundledAnswer::NoAnswer),
            (-92, BundledAnswer::Lacks),
            (92, BundledAnswer::Lacks),
            (93, BundledAnswer::NoAnswer),
        ] {
            let (found, period) = alone.answer(gptbot, [8, 8, 8, 8].into(), day(of));
            assert_eq!(found, expected, "{of}");
            let (time, other) = (day(of), day(-200 * of.signum()));
            assert!(period.contains(time.unix_seconds()), "{of}");
            assert!(!period.contains(other.unix_seconds()), "{of}");
        }
        let (found, _) = with_list(&[-10, 10]).answer(gptbot, [8, 8, 8, 8].into(), day(0));
        assert_eq!(found, BundledAnswer::NoAnswer, "the list of the directory counts");
        let outside = alone.contain(gptbot, [192, 0, 2, 7].into(), day(0));
        let of_others = registry.find("Bytespider").unwrap();
        assert!(!outside && !alone.contain(of_others, address, day(0)) && !alone.have(of_others));
    }
}
