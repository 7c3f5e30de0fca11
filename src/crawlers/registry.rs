//! The known crawlers, in matching order.

use crate::crawlers::crawler::{Crawler, CrawlerId, StarGroups};
use crate::crawlers::identify::{Detector, Identified};
use crate::crawlers::table::{self, Regexes, RegistryRow};
use crate::error::{Error, Result};
use crate::files::read_up_to;
use std::{collections::HashMap, path::Path};

/// The list that comes with the program; `scripts/refresh-crawlers` makes it.
const BUILTIN: &[u8] = include_bytes!("builtin.csv");

/// The largest list that is read: 160 times the size of the built-in one. A larger file is probably
/// a log.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The name of the last row, which is not a crawler but the test for automated clients.
const GENERIC_NAME: &str = "Generic bot";

/// Known crawlers: finds the crawler of a User-Agent header.
///
/// ```
/// use botaudit::{Obligation, Registry, RobotsTxt};
///
/// let registry = Registry::builtin();
/// let header = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
/// let crawler = registry.by_user_agent(header).ok_or("not a crawler")?;
/// assert_eq!((&*crawler.name, &*crawler.operator), ("bingbot", "Microsoft"));
/// assert_eq!(crawler.obligation(), Obligation::Bound);
///
/// let robots = RobotsTxt::parse("User-agent: bingbot\nDisallow: /private/\n");
/// assert!(!robots.matcher_for(crawler).is_allowed("/private/diary"));
/// # Ok::<(), &str>(())
/// ```
///
/// Crawlers are tried in order: the first whose pattern matches a user agent is the one. The last
/// one is "Generic bot", for user agents that look automated and are not known by name. It has no
/// product token and follows `*`.
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
    /// A row with the name of a built-in crawler, in any ASCII case, replaces that crawler. All
    /// other rows are tried before the built-in ones, in the order of the file.
    ///
    /// # Errors
    /// If the file cannot be read or a row is not valid.
    pub fn with_file(path: &Path) -> Result<Registry> {
        let text = read_file(path)?;
        let rows = merged(builtin_rows(), table::read(path, &text, Regexes::Checked)?);
        if rows.len() > usize::from(u16::MAX) {
            let why = format!(
                "{} crawlers with the built-in ones, but at most {} are possible; remove \
                         some",
                rows.len(),
                u16::MAX
            );
            return Err(Error::invalid_file(path, why));
        }
        Ok(Registry::new(rows))
    }

    /// The built-in registry with the rows of the CSV file at `path`, if one is given, and with a
    /// crawler for each of `names` that is in neither, because older tallies name it. No user agent
    /// matches it.
    ///
    /// # Errors
    /// As [`Registry::with_file`].
    #[doc(hidden)]
    pub fn with_names(path: Option<&Path>, names: &[String]) -> Result<Registry> {
        let mut rows = match path {
            None => builtin_rows(),
            Some(path) => {
                let text = read_file(path)?;
                merged(builtin_rows(), table::read(path, &text, Regexes::Checked)?)
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
            true => Err(Error::usage(format!("more than {} crawlers; remove some", u16::MAX))),
            false => Ok(Registry::new(rows)),
        }
    }

    /// A registry of `crawlers` alone, which identifies no user agent: for crawlers that were
    /// identified before.
    #[doc(hidden)]
    pub fn of_crawlers(crawlers: Vec<Crawler>) -> Registry {
        let generic = Crawler::once_known(GENERIC_NAME.to_owned());
        let rows = crawlers.into_iter().chain([generic]);
        Registry::new(rows.map(|crawler| RegistryRow { crawler, test: None }).collect())
    }

    /// The rank of each crawler's name among all names.
    #[doc(hidden)]
    pub fn ranks(&self) -> Vec<u16> {
        let mut order: Vec<usize> = (0..self.crawlers.len()).collect();
        order.sort_by(|&left, &right| self.crawlers[left].name.cmp(&self.crawlers[right].name));
        let mut ranks = vec![0; order.len()];
        order.into_iter().zip(0..).for_each(|(crawler, rank)| ranks[crawler] = rank);
        ranks
    }

    /// Equal registries have equal digests.
    #[cfg(feature = "cli")]
    #[doc(hidden)]
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
            // A user's own row for automated clients is not a crawler either.
            generic.crawler.product_tokens.clear();
            generic.crawler.star = StarGroups::Honoured;
        }
        let (crawlers, tests) = rows.into_iter().map(|row| (row.crawler, row.test)).unzip();
        Registry { crawlers, detector: Detector::new(tests) }
    }

    /// Identifies `user_agent`, the unescaped value of the header. Only its first
    /// [`USER_AGENT_BYTES_MAX`](crate::crawlers::identify::USER_AGENT_BYTES_MAX) bytes count.
    #[doc(hidden)]
    pub fn identify(&self, user_agent: &[u8]) -> Identified {
        self.detector.identify(user_agent)
    }

    /// The crawler of an id of this registry.
    #[doc(hidden)]
    pub fn crawler(&self, id: CrawlerId) -> &Crawler {
        &self.crawlers[id.index()]
    }

    /// The crawler that sends `user_agent`, the value of a User-Agent header; "Generic bot" if it
    /// only looks automated, `None` for browsers and apps.
    ///
    /// Any client can send any user agent. Of a long one, the first 4,096 bytes count.
    pub fn by_user_agent(&self, user_agent: impl AsRef<[u8]>) -> Option<&Crawler> {
        match self.identify(user_agent.as_ref()) {
            Identified::Crawler(id) => Some(self.crawler(id)),
            Identified::Generic => Some(self.crawler(self.generic())),
            Identified::Other => None,
        }
    }

    /// The crawler named `name`, in any ASCII case.
    pub fn by_name(&self, name: &str) -> Option<&Crawler> {
        self.find(name).map(|id| self.crawler(id))
    }

    /// All crawlers, "Generic bot" last.
    pub fn crawlers(&self) -> impl Iterator<Item = &Crawler> {
        self.crawlers.iter()
    }

    /// All crawlers in matching order, "Generic bot" last.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = (CrawlerId, &Crawler)> {
        self.crawlers.iter().zip(0..).map(|(crawler, id)| (CrawlerId(id), crawler))
    }

    /// The crawler named `name`, in any ASCII case.
    #[doc(hidden)]
    pub fn find(&self, name: &str) -> Option<CrawlerId> {
        let is_named = |crawler: &Crawler| crawler.name.eq_ignore_ascii_case(name);
        self.iter().find(|(_, crawler)| is_named(crawler)).map(|(id, _)| id)
    }

    /// "Generic bot", which stands for all clients that look automated.
    #[doc(hidden)]
    pub fn generic(&self) -> CrawlerId {
        let last = self.crawlers.len() - 1;
        CrawlerId(u16::try_from(last).expect("a registry has at most u16::MAX rows"))
    }
}

pub(super) fn builtin_rows() -> Vec<RegistryRow> {
    let rows = table::read(Path::new("builtin.csv"), BUILTIN, Regexes::BuiltWhenAsked);
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
    let indexes = builtin.iter().enumerate();
    let indexes: HashMap<String, usize> =
        indexes.map(|(index, row)| (row.crawler.name.to_ascii_lowercase(), index)).collect();
    let mut rows = Vec::with_capacity(builtin.len() + own.len());
    for row in own {
        match indexes.get(&row.crawler.name.to_ascii_lowercase()) {
            Some(&index) => builtin[index] = row,
            None => rows.push(row),
        }
    }
    rows.append(&mut builtin);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_regex_can_be_built() {
        let rows = table::read(Path::new("builtin.csv"), BUILTIN, Regexes::Checked);
        assert!(rows.is_ok_and(|rows| rows.len() > 250));
    }
}
