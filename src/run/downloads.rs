//! Downloads of what operators publish into a directory: address lists, also those that crawlers link from their pages,
//! and the keys with which agents sign requests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use url::Url;

use crate::crawlers::key_archive::{KEY_DIRECTORIES, SignatureAgent, are_same_keys};
use crate::crawlers::manifest::{MANIFEST, ManifestEntry};
use crate::crawlers::range_archive::{ADDRESS_LISTS, PublishedKind, RangeArchive, are_same_lists};
use crate::crawlers::range_files::{LIST_BYTES_MAX, file_name};
use crate::crawlers::{client_ranges::client_ranges, range_list::Filter, registry::Registry};
use crate::error::{Error, Result};
use crate::mutex::{lock, unpoisoned};
use crate::net::{fetch::download, settings::Settings};
use crate::numbers::counted;
use crate::report::outputs::{OutputContent, Outputs, Overwrite, check_directory_name};
use crate::signatures::check::DIRECTORY_PATH;
use crate::url::origin::Origin;

use super::console::{RunOutcome, SharedConsole, path_text};
use super::{crawlers::registry, sandbox::access_rights::TcpUse};

/// The most pages that are named because they could not be read.
const PROBLEMS_SHOWN_MAX: usize = 5;

/// Downloads that are ready to run.
#[derive(Debug)]
pub(crate) struct FetchRangesRun {
    /// The directory of the lists; it is created if it does not exist.
    pub directory: PathBuf,
    /// A CSV file of crawlers.
    pub crawlers: Option<PathBuf>,
    /// Whether the pages of crawlers without a list are searched for one.
    pub discover: bool,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// How lists are downloaded.
    pub settings: Settings,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl FetchRangesRun {
    /// Downloads all lists that the registry names. A list that changed moves to the
    /// history. If a download fails, the older list stays.
    ///
    /// # Errors
    /// If a file would be overwritten, or cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let registry = registry(self.crawlers.as_deref())?;
        let body_bytes_max = usize::try_from(LIST_BYTES_MAX).unwrap_or(usize::MAX);
        let settings = Settings { body_bytes_max, ..self.settings.clone() };
        let directory = &self.directory;
        check_directory_name("DIR", directory)?;
        fs::create_dir_all(directory).map_err(|err| Error::io("cannot create", directory, err))?;
        let mut archive = RangeArchive::open(directory, &ADDRESS_LISTS)?;
        let lists = registry.iter().flat_map(|(_, crawler)| &crawler.ip_list_urls);
        // The names of crawlers, where their pages name the list.
        let mut urls: BTreeMap<String, BTreeSet<String>> =
            lists.map(|url| (url.clone(), BTreeSet::new())).collect();
        for entry in archive.newest().iter().filter(|entry| !entry.crawlers.is_empty()) {
            urls.entry(entry.url.clone()).or_default().extend(entry.crawlers.iter().cloned());
        }
        self.check_files(&archive, &urls)?;
        if self.discover {
            self.add_discovered(&registry, archive.newest(), &mut urls);
        }
        let mut missed = 0;
        for (url, crawlers) in &urls {
            match published(url, &ADDRESS_LISTS, &settings) {
                Err(err) => {
                    missed += 1;
                    self.console.warn(&err.to_string());
                }
                Ok(list) => {
                    let used = registry.iter().map(|(_, crawler)| crawler);
                    let used = used.filter(|crawler| crawler.ip_list_urls.contains(url));
                    let mut filters: Vec<Option<Filter<'_>>> =
                        used.map(|crawler| Filter::of_format(&crawler.ip_list_format)).collect();
                    filters.extend((!crawlers.is_empty()).then_some(None));
                    let crawlers: Vec<String> = crawlers.iter().cloned().collect();
                    let now = jiff::Timestamp::now().into();
                    let are_same =
                        |left: &[u8], right: &[u8]| are_same_lists(left, right, &filters);
                    archive.put_newest(url, &list, now, &are_same, &crawlers)?;
                }
            }
        }
        let (all, got) = (urls.len(), urls.len() - missed);
        let text = format!("{got} of {all} lists downloaded to {}\n", path_text(directory));
        self.console.show(&text)?;
        Ok(if missed > 0 { RunOutcome::Incomplete } else { RunOutcome::Done })
    }

    /// Adds the lists that crawlers link from their pages. Pages that cannot be read are counted,
    /// because most of them name no list.
    fn add_discovered(
        &self,
        registry: &Registry,
        known: &[ManifestEntry],
        urls: &mut BTreeMap<String, BTreeSet<String>>,
    ) {
        let Discovered { lists, pages, problems } = discover(registry, &self.settings);
        let found = lists.len();
        for (url, crawlers) in lists {
            let name = file_name(&url);
            let path = self.directory.join(&name);
            let is_own = |entry: &ManifestEntry| entry.file == name && entry.url == url;
            let is_free = !path.exists() && !known.iter().any(|entry| entry.file == name);
            if urls.contains_key(&url) || is_free || known.iter().any(is_own) {
                urls.entry(url).or_default().extend(crawlers);
            } else {
                let why = "already has other content; not overwritten";
                self.console.warn(&Error::refused(&path, why).to_string());
            }
        }
        self.console.say(&format!(
            "{} of {} read; {} found",
            pages - problems.len(),
            counted(pages as u64, "page"),
            counted(found as u64, "list")
        ));
        problems.iter().take(PROBLEMS_SHOWN_MAX).for_each(|problem| self.console.note(problem));
    }

    /// Checks that no other files are overwritten.
    fn check_files(
        &self,
        archive: &RangeArchive,
        urls: &BTreeMap<String, BTreeSet<String>>,
    ) -> Result<()> {
        let mut outputs = Outputs::new(self.overwrite);
        self.crawlers.iter().for_each(|path| outputs.reads("--crawlers", path));
        let urls = urls.keys().map(String::as_str);
        check_archive(archive, urls, &self.directory, &mut outputs)?;
        self.console.begin_with(&outputs, TcpUse::Needed);
        Ok(())
    }
}

/// Checks that no file is overwritten in `directory` except those that earlier runs wrote into this archive,
/// and other files of its kind: a stopped run may have written one without naming it.
pub(super) fn check_archive<'a>(
    archive: &RangeArchive,
    urls: impl Iterator<Item = &'a str>,
    directory: &Path,
    outputs: &mut Outputs,
) -> Result<()> {
    outputs.updated("DIR", &directory.join(MANIFEST))?;
    let names: BTreeSet<String> = urls.map(file_name).collect();
    for name in names {
        let path = directory.join(&name);
        let is_known = archive.newest().iter().any(|entry| entry.file == name);
        match is_known || is_of_kind(&path, archive.kind()) {
            true => outputs.updated("DIR", &path)?,
            false => outputs.file("DIR", &path, OutputContent::Foreign)?,
        }
    }
    Ok(())
}

fn is_of_kind(path: &Path, kind: &PublishedKind) -> bool {
    let is_short = fs::metadata(path).is_ok_and(|data| data.len() <= LIST_BYTES_MAX);
    is_short && fs::read(path).is_ok_and(|text| (kind.read)(&text).is_ok())
}

/// Downloads what is published at `url`. An error page does not replace it.
pub(super) fn published(url: &str, kind: &PublishedKind, settings: &Settings) -> Result<Vec<u8>> {
    let text = download(url, settings)?;
    (kind.read)(&text).map_err(|fault| {
        Error::invalid_file(Path::new(url), format!("not {}: {fault}", kind.what))
    })?;
    Ok(text)
}

/// The largest directory of keys.
const DIRECTORY_BYTES_MAX: usize = 1 << 20;

/// Downloads that are ready to run.
#[derive(Debug)]
pub(crate) struct FetchKeysRun {
    /// The archive; it is created if it does not exist.
    pub directory: PathBuf,
    /// Hosts, origins or URLs of directories; if there are none, all known ones.
    pub agents: Vec<String>,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// How directories are downloaded.
    pub settings: Settings,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl FetchKeysRun {
    /// Downloads the directories. Keys that changed move to the history. If a download fails, the
    /// older directory stays.
    ///
    /// # Errors
    /// If an agent has no valid name, or a file would be overwritten or cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        // A directory that is elsewhere is not that of its URL.
        let settings = Settings {
            body_bytes_max: DIRECTORY_BYTES_MAX,
            redirects_max: 0,
            ..self.settings.clone()
        };
        let directory = &self.directory;
        check_directory_name("DIR", directory)?;
        fs::create_dir_all(directory).map_err(|err| Error::io("cannot create", directory, err))?;
        let mut archive = RangeArchive::open(directory, &KEY_DIRECTORIES)?;
        let mut urls: BTreeMap<String, Vec<String>> = match self.agents.as_slice() {
            [] => SignatureAgent::all().map(|agent| (agent.directory(), Vec::new())).collect(),
            agents => agents
                .iter()
                .map(|agent| Ok((directory_of(agent)?, Vec::new())))
                .collect::<Result<_>>()?,
        };
        for known in archive.newest() {
            match urls.get_mut(&known.url) {
                Some(crawlers) => crawlers.clone_from(&known.crawlers),
                None if self.agents.is_empty() => {
                    urls.insert(known.url.clone(), known.crawlers.clone());
                }
                None => {}
            }
        }
        let mut outputs = Outputs::new(self.overwrite);
        check_archive(&archive, urls.keys().map(String::as_str), directory, &mut outputs)?;
        self.console.begin_with(&outputs, TcpUse::Needed);
        let mut missed = 0;
        for (url, crawlers) in &urls {
            match published(url, &KEY_DIRECTORIES, &settings) {
                Err(err) => {
                    missed += 1;
                    self.console.warn(&err.to_string());
                }
                Ok(text) => {
                    let now = jiff::Timestamp::now().into();
                    archive.put_newest(url, &text, now, &are_same_keys, crawlers)?;
                }
            }
        }
        let (all, got) = (urls.len(), urls.len() - missed);
        let path = path_text(directory);
        let text = format!("{got} of {all} directories of keys downloaded to {path}\n");
        self.console.show(&text)?;
        Ok(if missed > 0 { RunOutcome::Incomplete } else { RunOutcome::Done })
    }
}

/// The URL of the directory of an agent: a host, an origin, or the URL itself.
fn directory_of(agent: &str) -> Result<String> {
    let url = match agent.contains("://") {
        true => agent.to_owned(),
        false => format!("https://{agent}"),
    };
    let wrong = || {
        Error::usage(format!(
            "'{agent}' is not an agent; write a host such as chatgpt.com, or the https URL of its keys"
        ))
    };
    let origin = Origin::parse(url.as_bytes()).filter(|origin| origin.scheme() == "https");
    let origin = origin.ok_or_else(wrong)?;
    let (_, rest) = url.split_once("://").ok_or_else(wrong)?;
    let path = &rest[rest.find(['/', '?', '#']).unwrap_or(rest.len())..];
    Ok(match path {
        "" | "/" => format!("{origin}{DIRECTORY_PATH}"),
        path => format!("{origin}{path}"),
    })
}

/// The largest page that is read.
const PAGE_BYTES_MAX: usize = 4 << 20;

/// The most pages that are fetched at the same time.
const PAGES_AT_ONCE: usize = 8;

/// What the pages say.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    /// The names of crawlers by the URL of their list.
    pub lists: BTreeMap<String, BTreeSet<String>>,
    /// How many pages there are.
    pub pages: usize,
    /// Why pages could not be read.
    pub problems: Vec<String>,
}

/// Fetches the pages of all crawlers in `registry` without a list, and finds the lists that they name.
pub(crate) fn discover(registry: &Registry, settings: &Settings) -> Discovered {
    let mut pages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, crawler) in registry.iter().filter(|(_, crawler)| crawler.ip_list_urls.is_empty()) {
        if crawler.documentation_url.starts_with("http") {
            pages.entry(&crawler.documentation_url).or_default().insert(&crawler.name);
        }
    }
    let settings = Settings { body_bytes_max: PAGE_BYTES_MAX, ..settings.clone() };
    let pages: Vec<(&str, BTreeSet<&str>)> = pages.into_iter().collect();
    let next = AtomicUsize::new(0);
    let discovered = Mutex::new(Discovered { pages: pages.len(), ..Discovered::default() });
    let work = || {
        while let Some((page, crawlers)) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = download(page, &settings);
            let mut discovered = lock(&discovered);
            match text {
                Err(err) => discovered.problems.push(err.to_string()),
                Ok(text) => {
                    for url in targets(page, &text) {
                        let known = discovered.lists.entry(url).or_default();
                        known.extend(crawlers.iter().map(|&name| name.to_owned()));
                    }
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..pages.len().min(PAGES_AT_ONCE) {
            // Fewer threads fetch the same.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let mut discovered = unpoisoned(discovered.into_inner());
    discovered.problems.sort();
    discovered
}

/// The URLs of the lists that a page names.
fn targets(page: &str, text: &[u8]) -> Vec<String> {
    let base = Url::parse(page).ok();
    let target = |link: String| {
        let mut url = base.as_ref()?.join(&link).ok()?;
        url.set_fragment(None);
        matches!(url.scheme(), "http" | "https").then(|| url.to_string())
    };
    client_ranges(text).into_iter().filter_map(target).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_hosts_origins_or_urls() {
        let of = |agent| directory_of(agent).ok();
        let expected = "https://chatgpt.com/.well-known/http-message-signatures-directory";
        for agent in ["chatgpt.com", "https://ChatGPT.com/", "https://chatgpt.com:443", expected] {
            assert_eq!(of(agent).as_deref(), Some(expected), "{agent}");
        }
        assert_eq!(of("a.example/k.json").as_deref(), Some("https://a.example/k.json"));
        assert_eq!((of("http://a.example"), of(""), of("https://")), (None, None, None));
    }

    #[test]
    fn links_are_relative_to_their_page() {
        let check = |link: &str, expected: &[&str]| {
            let text = format!("<link rel=client-ranges href='{link}'>");
            assert_eq!(targets("https://example.com/a/bot.html", text.as_bytes()), expected);
        };
        check("ips.json#x", &["https://example.com/a/ips.json"]);
        check("/ips.json", &["https://example.com/ips.json"]);
        check("https://example.net/ips", &["https://example.net/ips"]);
        check("ftp://example.net/ips", &[]);
        check("data:text/plain,192.0.2.1", &[]);
        check("https://[", &[]);
    }
}
