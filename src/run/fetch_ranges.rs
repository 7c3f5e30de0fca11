//! Downloads of the address lists of operators into a directory.

use std::path::{Path, PathBuf};
use std::{collections::BTreeSet, fs};

use crate::crawlers::manifest::{MANIFEST, ManifestEntry};
use crate::crawlers::range_archive::RangeArchive;
use crate::crawlers::range_files::{LIST_BYTES_MAX, file_name};
use crate::crawlers::range_list::{Filter, RangeList};
use crate::error::{Error, Result};
use crate::net::{download::download, settings::Settings};
use crate::report::outputs::{OutputContent, Outputs, Overwrite, check_directory_name};

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
        let mut archive = RangeArchive::open(directory)?;
        let lists = registry.iter().flat_map(|(_, crawler)| &crawler.ip_list_urls);
        let urls: BTreeSet<&str> = lists.map(String::as_str).collect();
        self.check_files(archive.newest(), &urls)?;
        let mut missed = 0;
        for url in &urls {
            match list(url, &settings) {
                Err(err) => {
                    missed += 1;
                    self.console.warn(&err.to_string());
                }
                Ok(list) => {
                    let used = registry.iter().map(|(_, crawler)| crawler);
                    let used =
                        used.filter(|crawler| crawler.ip_list_urls.iter().any(|of| of == url));
                    let filters: Vec<Option<Filter<'_>>> =
                        used.map(|crawler| Filter::of_format(&crawler.ip_list_format)).collect();
                    archive.put_newest(url, &list, jiff::Timestamp::now().into(), &filters)?;
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
