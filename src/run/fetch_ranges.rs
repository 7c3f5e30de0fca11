//! Downloads of the address lists of operators into a directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::crawlers::manifest::{MANIFEST, ManifestEntry};
use crate::crawlers::range_archive::{ADDRESS_LISTS, PublishedKind, RangeArchive, are_same_lists};
use crate::crawlers::range_files::{LIST_BYTES_MAX, file_name};
use crate::crawlers::{range_list::Filter, registry::Registry};
use crate::error::{Error, Result};
use crate::net::{fetch::download, settings::Settings};
use crate::numbers::counted;
use crate::report::outputs::{OutputContent, Outputs, Overwrite, check_directory_name};

use super::discover::{Discovered, discover};
use super::{console::SharedConsole, crawler_names::registry, outcome::RunOutcome};
use super::{output::path_text, sandbox::access_rights::TcpUse};

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
