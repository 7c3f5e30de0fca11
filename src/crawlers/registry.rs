//! The known crawlers, in matching order.

use std::sync::{Arc, OnceLock};
use std::{collections::HashMap, path::Path};

use crate::error::{Error, Result};
use crate::files::read_up_to;
use crate::robots::model::StarGroups;

use super::builtin::{self, LazyCrawler, LazyRow};
use super::crawler::{Crawler, CrawlerId, Visibility};
use super::identify::{Detector, Identified};
use super::table::{self, GENERIC_NAME, RegistryRow};

/// The largest list that is read: 50 times the size of the built-in one. A larger file is probably
/// a log.
const FILE_BYTES_MAX: u64 = 16 << 20;

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
/// assert!(!crawler.matcher(&robots).is_allowed("/private/diary"));
/// # Ok::<(), &str>(())
/// ```
///
/// Crawlers are tried in order: the first whose pattern matches a user agent is the one. The last
/// one is "Generic bot", for user agents that look automated and are not known by name. It has no
/// product token and follows `*`.
#[derive(Debug)]
pub struct Registry {
    crawlers: Arc<[LazyCrawler]>,
    detector: Detector,
    /// The crawlers that no user agent matches.
    silent: Box<[CrawlerId]>,
}

impl Registry {
    /// The registry that comes with the program.
    pub fn builtin() -> Registry {
        Registry::new(builtin::rows())
    }

    /// The registry that comes with the program, made once and kept.
    #[doc(hidden)]
    pub fn kept() -> &'static Registry {
        static KEPT: OnceLock<Registry> = OnceLock::new();
        KEPT.get_or_init(Registry::builtin)
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
        Registry::of_list(path, merged(builtin::rows(), table::read(path, &text)?))
    }

    /// The registry of `rows`, some of which are in the file at `path`.
    ///
    /// # Errors
    /// If they are too many.
    pub(super) fn of_list(path: &Path, rows: Vec<LazyRow>) -> Result<Registry> {
        if rows.len() > usize::from(u16::MAX) {
            let why = format!(
                "{} crawlers with the built-in ones, but at most {} are possible; remove some",
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
    pub(crate) fn with_names(path: Option<&Path>, names: &[String]) -> Result<Registry> {
        let mut rows = match path {
            None => builtin::rows(),
            Some(path) => {
                let text = read_file(path)?;
                merged(builtin::rows(), table::read(path, &text)?)
            }
        };
        for name in names {
            let is_known = rows.iter().any(|row| row.crawler.name().eq_ignore_ascii_case(name));
            if !is_known {
                let crawler = Crawler::once_known(name.clone()).into();
                rows.insert(rows.len() - 1, LazyRow { crawler, test: None });
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
    pub(crate) fn of_crawlers(crawlers: Vec<Crawler>) -> Registry {
        let generic = Crawler::once_known(GENERIC_NAME.to_owned());
        let rows = crawlers.into_iter().chain([generic]);
        Registry::new(rows.map(|crawler| LazyRow { crawler: crawler.into(), test: None }).collect())
    }

    /// The rank of each crawler's name among all names.
    #[doc(hidden)]
    pub(crate) fn ranks(&self) -> Vec<u16> {
        let mut order: Vec<usize> = (0..self.crawlers.len()).collect();
        let names: Vec<&str> = self.crawlers.iter().map(LazyCrawler::name).collect();
        order.sort_unstable_by_key(|&crawler| names[crawler]);
        let mut ranks = vec![0; order.len()];
        order.into_iter().zip(0..).for_each(|(crawler, rank)| ranks[crawler] = rank);
        ranks
    }

    /// Equal registries have equal digests.
    #[doc(hidden)]
    pub fn digest(&self) -> String {
        match self.crawlers.iter().all(LazyCrawler::is_builtin) {
            true => builtin::digest(),
            false => Registry::digest_of(self.crawlers()),
        }
    }

    pub(super) fn digest_of<'a>(crawlers: impl Iterator<Item = &'a Crawler>) -> String {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for crawler in crawlers {
            let facts = serde_json::to_vec(crawler).expect("texts and words are JSON");
            hasher.update(&facts);
            hasher.update(b"\n");
        }
        format!("xxh3:{:032x}", hasher.digest128())
    }

    pub(super) fn new(rows: Vec<LazyRow>) -> Registry {
        let silent = rows.iter().zip(0..).filter(|(row, _)| row.test.is_none());
        let silent = silent.map(|(_, id)| CrawlerId(id)).collect();
        let (crawlers, tests): (Vec<_>, _) =
            rows.into_iter().map(|row| (row.crawler, row.test)).unzip();
        Registry { crawlers: crawlers.into(), detector: Detector::new(tests), silent }
    }

    /// The number of crawlers, with "Generic bot".
    #[doc(hidden)]
    #[expect(clippy::len_without_is_empty, reason = "\"Generic bot\" is in every registry")]
    pub fn len(&self) -> usize {
        self.crawlers.len()
    }

    /// The crawlers in matching order, to share.
    #[doc(hidden)]
    pub(crate) fn shared(&self) -> Arc<[LazyCrawler]> {
        Arc::clone(&self.crawlers)
    }

    /// The names that their operators use only in robots.txt, to reserve training.
    #[doc(hidden)]
    pub(crate) fn control_tokens(&self) -> impl Iterator<Item = CrawlerId> {
        self.silent.iter().copied().filter(|id| {
            let crawler = self.crawler(*id);
            crawler.visibility == Visibility::NoUserAgent && crawler.purpose == "ai-training"
        })
    }

    /// Identifies `user_agent`, the unescaped value of the header. Only its first
    /// [`USER_AGENT_BYTES_MAX`](crate::robots::product_token::USER_AGENT_BYTES_MAX) bytes count.
    #[doc(hidden)]
    pub fn identify(&self, user_agent: &[u8]) -> Identified {
        self.detector.identify(user_agent)
    }

    /// The crawler of an id of this registry.
    #[doc(hidden)]
    pub fn crawler(&self, id: CrawlerId) -> &Crawler {
        self.crawlers[id.index()].get()
    }

    /// The crawler that sends `user_agent`, the value of a User-Agent header; "Generic bot" if it
    /// only looks automated, `None` for browsers and apps.
    ///
    /// Any client can send any user agent. Of a long one, the first 4,096 bytes count.
    pub fn by_user_agent(&self, user_agent: impl AsRef<[u8]>) -> Option<&Crawler> {
        match self.identify(user_agent.as_ref()) {
            Identified::Crawler(id) => Some(self.crawler(id)),
            Identified::Generic => Some(self.crawler(self.generic())),
            Identified::Other | Identified::Empty => None,
        }
    }

    /// The crawler named `name`, in any ASCII case.
    pub fn by_name(&self, name: &str) -> Option<&Crawler> {
        self.find(name).map(|id| self.crawler(id))
    }

    /// All crawlers, "Generic bot" last.
    pub fn crawlers(&self) -> impl Iterator<Item = &Crawler> {
        self.crawlers.iter().map(LazyCrawler::get)
    }

    /// All crawlers in matching order, "Generic bot" last.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = (CrawlerId, &Crawler)> {
        self.crawlers().zip(0..).map(|(crawler, id)| (CrawlerId(id), crawler))
    }

    /// The crawler named `name`, in any ASCII case.
    #[doc(hidden)]
    pub fn find(&self, name: &str) -> Option<CrawlerId> {
        let is_named = |crawler: &LazyCrawler| crawler.name().eq_ignore_ascii_case(name);
        let index = self.crawlers.iter().position(is_named)?;
        u16::try_from(index).ok().map(CrawlerId)
    }

    /// "Generic bot", which stands for all clients that look automated.
    #[doc(hidden)]
    pub fn generic(&self) -> CrawlerId {
        let last = self.crawlers.len() - 1;
        CrawlerId(u16::try_from(last).expect("a registry has at most u16::MAX rows"))
    }
}

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>> {
    let text = read_up_to(path, FILE_BYTES_MAX);
    let text = text.map_err(|error| Error::io("cannot read", path, error))?;
    let why = || {
        format!(
            "larger than {} MiB, so it is not a list of crawlers; name another file",
            FILE_BYTES_MAX >> 20
        )
    };
    text.ok_or_else(|| Error::invalid_file(path, why()))
}

pub(super) fn merged(mut builtin: Vec<LazyRow>, own: Vec<RegistryRow>) -> Vec<LazyRow> {
    let indexes = builtin.iter().enumerate();
    let indexes: HashMap<String, usize> =
        indexes.map(|(index, row)| (row.crawler.name().to_ascii_lowercase(), index)).collect();
    let mut rows = Vec::with_capacity(builtin.len() + own.len());
    for RegistryRow { mut crawler, test } in own {
        let index = indexes.get(&crawler.name.to_ascii_lowercase());
        if index == Some(&(builtin.len() - 1)) {
            // A user's own row for automated clients is not a crawler either.
            crawler.product_tokens.clear();
            crawler.star = StarGroups::Honoured;
        }
        let row = LazyRow { crawler: crawler.into(), test };
        match index {
            Some(&index) => builtin[index] = row,
            None => rows.push(row),
        }
    }
    rows.append(&mut builtin);
    rows
}
