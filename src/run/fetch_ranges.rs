//! Downloads of the address lists of operators into a directory.

use std::path::{Path, PathBuf};
use std::{collections::BTreeSet, fs, io};

use crate::crawlers::manifest::{self, MANIFEST, ManifestEntry};
use crate::crawlers::range_files::{LIST_BYTES_MAX, file_name};
use crate::crawlers::range_list::RangeList;
use crate::error::{Error, Result};
use crate::net::{download::download, settings::Settings};
use crate::report::outputs::{OutputContent, Outputs, Overwrite, check_directory_name};
use crate::staged::replace;

use super::console::SharedConsole;
use super::crawler_names::registry;
use super::outcome::RunOutcome;
use super::output::path_text;
use super::sandbox::access_rights::TcpUse;

/// Downloads that are ready to run.
#[derive(Debug)]
pub(crate) struct FetchRangesRun {
    /// The directory of the lists; it is created if it does not exist.
    pub directory: PathBuf,
    /// A CSV file of crawlers.
    pub crawlers: Option<PathBuf>,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// How lists are downloaded.
    pub settings: Settings,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl FetchRangesRun {
    /// Downloads all lists that the registry names. If a download fails, the older list stays.
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
        let mut entries = known(directory)?;
        let lists = registry.iter().flat_map(|(_, crawler)| &crawler.ip_list_urls);
        let urls: BTreeSet<&str> = lists.map(String::as_str).collect();
        self.check_files(&entries, &urls)?;
        let mut missed = 0;
        for url in &urls {
            match list(url, &settings) {
                Err(err) => {
                    missed += 1;
                    self.console.warn(&err.to_string());
                }
                Ok(list) => {
                    let entry = store(directory, url, &list)?;
                    entries.retain(|known| known.url != *url);
                    entries.push(entry);
                    entries.sort_by(|left, right| left.url.cmp(&right.url));
                    // Written after each list, so that it is correct whenever the run is stopped.
                    replace(&directory.join(MANIFEST), manifest::write(&entries).as_bytes())?;
                }
            }
        }
        let (all, got) = (urls.len(), urls.len() - missed);
        let text = format!("{got} of {all} lists downloaded to {}\n", path_text(directory));
        self.console.show(&text)?;
        Ok(if missed > 0 { RunOutcome::Incomplete } else { RunOutcome::Done })
    }

    /// Checks that no file is overwritten except those in `known`, which earlier runs wrote, and
    /// other address lists: a stopped run may have written one without naming it.
    fn check_files(&self, known: &[ManifestEntry], urls: &BTreeSet<&str>) -> Result<()> {
        let mut outputs = Outputs::new(self.overwrite);
        self.crawlers.iter().for_each(|path| outputs.reads("--crawlers", path));
        outputs.updated("DIR", &self.directory.join(MANIFEST))?;
        let names: BTreeSet<String> = urls.iter().map(|url| file_name(url)).collect();
        for name in names {
            let path = self.directory.join(&name);
            match known.iter().any(|entry| entry.file == name) || is_list(&path) {
                true => outputs.updated("DIR", &path)?,
                false => outputs.file("DIR", &path, OutputContent::Foreign)?,
            }
        }
        self.console.begin_with(&outputs, TcpUse::Needed);
        Ok(())
    }
}

fn is_list(path: &Path) -> bool {
    let is_short = fs::metadata(path).is_ok_and(|data| data.len() <= LIST_BYTES_MAX);
    is_short && fs::read(path).is_ok_and(|text| !RangeList::read(&text, None).networks.is_empty())
}

/// The manifest of an earlier run.
fn known(directory: &Path) -> Result<Vec<ManifestEntry>> {
    let path = directory.join(MANIFEST);
    match fs::read(&path) {
        Ok(text) => manifest::read(&path, &text),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(err) => Err(Error::io("cannot read", &path, err)),
    }
}

/// Downloads the list at `url`. An error page does not replace a list.
fn list(url: &str, settings: &Settings) -> Result<Vec<u8>> {
    let text = download(url, settings)?;
    let list = RangeList::read(&text, None);
    if list.networks.is_empty() {
        let fault = list.first_fault.unwrap_or_default();
        return Err(Error::invalid_file(
            Path::new(url),
            format!("not a list of addresses: {fault}"),
        ));
    }
    Ok(text)
}

fn store(directory: &Path, url: &str, list: &[u8]) -> Result<ManifestEntry> {
    let file = file_name(url);
    replace(&directory.join(&file), list)?;
    Ok(ManifestEntry {
        url: url.to_owned(),
        file,
        fetched_at: jiff::Timestamp::now().into(),
        size_bytes: list.len() as u64,
        seen: Vec::new(),
    })
}
