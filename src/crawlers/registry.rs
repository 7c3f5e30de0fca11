//! The crawlers that are known, in the order in which they are tried.

use crate::crawlers::{
    crawler::{Crawler, CrawlerId, StarGroups},
    identify::{Detector, Identified},
    table::{self, RegistryRow},
};
use crate::error::{Error, Result};
use crate::files::read_up_to;
use std::collections::HashMap;
use std::path::Path;

/// The list that comes with the program; `scripts/refresh-crawlers` makes it.
const BUILTIN: &[u8] = include_bytes!("builtin.csv");

/// The largest list that is read: 160 times the built-in one. Past it, what was
/// named is not a list of crawlers but a log.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Name of the last row, which is no crawler but the test of what looks automated.
const GENERIC_NAME: &str = "Generic bot";

/// Crawlers in matching order: the first whose test a user agent passes, is it.
///
/// The last one is "Generic bot": no crawler, but the test of what looks
/// automated. It has no product token and follows `*`.
///
/// ```
/// use botaudit::crawlers::{identify::Identified, registry::Registry};
/// let registry = Registry::builtin();
/// let header = b"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
/// let Identified::Crawler(id) = registry.identify(header) else { panic!("it is known") };
/// assert_eq!(registry.crawler(id).operator, "Microsoft");
/// assert_eq!(registry.identify(b"Unheard-of-crawler/1.0"), Identified::Generic);
/// ```
#[derive(Debug)]
pub struct Registry {
    crawlers: Vec<Crawler>,
    detector: Detector,
}

impl Registry {
    /// The registry that comes with the program.
    pub fn builtin() -> Registry {
        Registry::new(builtin_rows())
    }

    /// The built-in registry with the rows of the CSV file at `path`.
    ///
    /// A row whose name is a built-in one's, in any ASCII case, replaces that
    /// row whole, in its place. All other rows are tried before the built-in
    /// ones, in the order of the file.
    pub fn with_file(path: &Path) -> Result<Registry> {
        let text = read_file(path)?;
        let rows = merged(builtin_rows(), table::read(path, &text)?);
        if rows.len() > usize::from(u16::MAX) {
            let why =
                format!("{} crawlers with the built-in ones; at most {}", rows.len(), u16::MAX);
            return Err(Error::invalid_file(path, why));
        }
        Ok(Registry::new(rows))
    }

    /// The built-in registry with the rows of the CSV file at `path`, if one is given, and with a
    /// crawler for each of `names` that is among neither: sums that were added up when it was known
    /// name it. No user agent is its.
    ///
    /// # Errors
    /// As [`Registry::with_file`].
    pub fn with_names(path: Option<&Path>, names: &[String]) -> Result<Registry> {
        let mut rows = match path {
            None => builtin_rows(),
            Some(path) => {
                let text = read_file(path)?;
                merged(builtin_rows(), table::read(path, &text)?)
            }
        };
        for name in names {
            let is_known = rows.iter().any(|row| row.crawler.name.eq_ignore_ascii_case(name));
            if !is_known {
                let crawler = Crawler::once_known(name.clone());
                rows.insert(rows.len() - 1, RegistryRow { crawler, test: None });
            }
        }
        match rows.len() > usize::from(u16::MAX) {
            true => Err(Error::usage(format!("more than {} crawlers", u16::MAX))),
            false => Ok(Registry::new(rows)),
        }
    }

    /// A registry of `crawlers` alone, by which no user agent is identified: for what is known of
    /// crawlers that were identified before.
    pub fn of_crawlers(crawlers: Vec<Crawler>) -> Registry {
        let generic = Crawler::once_known(GENERIC_NAME.to_owned());
        let rows = crawlers.into_iter().chain([generic]);
        Registry::new(rows.map(|crawler| RegistryRow { crawler, test: None }).collect())
    }

    /// By crawler: the rank of its name among all names.
    pub fn ranks(&self) -> Vec<u16> {
        let mut order: Vec<usize> = (0..self.crawlers.len()).collect();
        order.sort_by(|&left, &right| self.crawlers[left].name.cmp(&self.crawlers[right].name));
        let mut ranks = vec![0; order.len()];
        order.into_iter().zip(0..).for_each(|(crawler, rank)| ranks[crawler] = rank);
        ranks
    }

    /// Equal registries have equal digests.
    #[cfg(feature = "cli")]
    pub fn digest(&self) -> String {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for crawler in &self.crawlers {
            let facts = serde_json::to_vec(crawler).expect("texts and words are JSON");
            hasher.update(&facts);
            hasher.update(b"\n");
        }
        format!("xxh3:{:032x}", hasher.digest128())
    }

    pub(super) fn new(mut rows: Vec<RegistryRow>) -> Registry {
        if let Some(generic) = rows.last_mut() {
            // A user's own test of what looks automated names no crawler either.
            generic.crawler.product_tokens.clear();
            generic.crawler.star = StarGroups::Honoured;
        }
        let (crawlers, tests) = rows.into_iter().map(|row| (row.crawler, row.test)).unzip();
        Registry { crawlers, detector: Detector::new(tests) }
    }

    /// What `user_agent` is: the value of the header, unescaped. Bytes past
    /// [`USER_AGENT_BYTES_MAX`](crate::crawlers::identify::USER_AGENT_BYTES_MAX)
    /// have no say.
    pub fn identify(&self, user_agent: &[u8]) -> Identified {
        self.detector.identify(user_agent)
    }

    /// The crawler of an id that this registry gave out.
    pub fn crawler(&self, id: CrawlerId) -> &Crawler {
        &self.crawlers[id.index()]
    }

    /// All crawlers in matching order, "Generic bot" last.
    pub fn iter(&self) -> impl Iterator<Item = (CrawlerId, &Crawler)> {
        self.crawlers.iter().zip(0..).map(|(crawler, id)| (CrawlerId(id), crawler))
    }

    /// The crawler named `name`, in any ASCII case.
    pub fn find(&self, name: &str) -> Option<CrawlerId> {
        let is_named = |crawler: &Crawler| crawler.name.eq_ignore_ascii_case(name);
        self.iter().find(|(_, crawler)| is_named(crawler)).map(|(id, _)| id)
    }

    /// "Generic bot", whose rules bind whatever looks automated.
    pub fn generic(&self) -> CrawlerId {
        let last = self.crawlers.len() - 1;
        CrawlerId(u16::try_from(last).expect("a registry has at most u16::MAX rows"))
    }
}

pub(super) fn builtin_rows() -> Vec<RegistryRow> {
    let rows = table::read(Path::new("builtin.csv"), BUILTIN);
    let rows = rows.expect("the built-in list is read by every test");
    debug_assert_eq!(rows.last().map(|row| row.crawler.name.as_str()), Some(GENERIC_NAME));
    rows
}

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>> {
    let text = read_up_to(path, FILE_BYTES_MAX);
    let text = text.map_err(|error| Error::io("cannot read", path, error))?;
    let why = || format!("a list of crawlers ends below {} MiB", FILE_BYTES_MAX >> 20);
    text.ok_or_else(|| Error::invalid_file(path, why()))
}

pub(super) fn merged(mut builtin: Vec<RegistryRow>, own: Vec<RegistryRow>) -> Vec<RegistryRow> {
    let places = builtin.iter().enumerate();
    let places: HashMap<String, usize> =
        places.map(|(place, row)| (row.crawler.name.to_ascii_lowercase(), place)).collect();
    let mut rows = Vec::with_capacity(builtin.len() + own.len());
    for row in own {
        match places.get(&row.crawler.name.to_ascii_lowercase()) {
            Some(&place) => builtin[place] = row,
            None => rows.push(row),
        }
    }
    rows.append(&mut builtin);
    rows
}
