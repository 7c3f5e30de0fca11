//! `botaudit crawlers fetch-ranges`: the address lists that operators publish, into a directory.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::crawlers::{
    manifest::{self, MANIFEST, ManifestEntry},
    range_list::RangeList,
    ranges::{LIST_BYTES_MAX, file_name},
    registry::Registry,
};
use crate::error::{Error, Result};
use crate::net::{download::download, rate_limit::RateLimit, settings::Settings};
use crate::staged::replace;

use super::Outcome;
use super::network::NetworkArgs;
use super::shared::{complain, print};

/// Download the address lists that operators publish, for --ip-ranges.
///
/// Each list is put in place whole, under a name made from its URL; manifest.json says which is
/// which, and of when. A list that cannot be had stays as it was, and does not keep the others away.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  botaudit crawlers fetch-ranges ip-ranges/")]
pub struct FetchRangesArgs {
    /// Where the lists go; made where there is none.
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    #[command(flatten)]
    network: NetworkArgs,

    /// Say nothing but problems.
    #[arg(short, long)]
    quiet: bool,
}

impl FetchRangesArgs {
    /// Downloads all lists that `registry` names.
    pub fn run(&self, registry: &Registry) -> Result<Outcome> {
        let body_bytes_max = usize::try_from(LIST_BYTES_MAX).unwrap_or(usize::MAX);
        let settings = Settings { body_bytes_max, ..self.network.settings()? };
        let rate_limit = RateLimit::new(Duration::ZERO);
        let directory = &self.directory;
        fs::create_dir_all(directory).map_err(|err| Error::io("cannot make", directory, err))?;
        let mut entries = known(directory)?;
        let crawlers = registry.iter().map(|(_, crawler)| crawler);
        let urls: BTreeSet<&str> =
            crawlers.flat_map(|crawler| &crawler.ip_list_urls).map(String::as_str).collect();
        let mut missed = 0;
        for url in &urls {
            match list(url, &settings, &rate_limit) {
                Err(err) => {
                    missed += 1;
                    complain(&err.to_string());
                }
                Ok(list) => {
                    let entry = store(directory, url, &list)?;
                    entries.retain(|known| known.url != *url);
                    entries.push(entry);
                    entries.sort_by(|left, right| left.url.cmp(&right.url));
                    // After each, so that it is true whenever this is stopped.
                    replace(&directory.join(MANIFEST), manifest::write(&entries).as_bytes())?;
                }
            }
        }
        if !self.quiet {
            let got = urls.len() - missed;
            print(&format!("{got} of {} lists in {}\n", urls.len(), directory.display()))?;
        }
        Ok(if missed > 0 { Outcome::Incomplete } else { Outcome::Done })
    }
}

/// What the manifest of an earlier run says.
fn known(directory: &Path) -> Result<Vec<ManifestEntry>> {
    let path = directory.join(MANIFEST);
    match fs::read(&path) {
        Ok(text) => manifest::read(&path, &text),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(err) => Err(Error::io("cannot read", &path, err)),
    }
}

/// The list at `url`. A page that says sorry does not take the place of a list.
fn list(url: &str, settings: &Settings, rate_limit: &RateLimit) -> Result<Vec<u8>> {
    let text = download(url, settings, rate_limit)?;
    let list = RangeList::read(&text, None);
    if list.networks.is_empty() {
        let fault = list.first_fault.unwrap_or_default();
        return Err(Error::invalid_file(Path::new(url), format!("no list of addresses: {fault}")));
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
    })
}
