//! Downloads of the keys with which agents sign requests.

use std::{collections::BTreeMap, fs, path::PathBuf};

use crate::crawlers::key_archive::{KEY_DIRECTORIES, are_same_keys};
use crate::crawlers::{range_archive::RangeArchive, signature_agents::SignatureAgent};
use crate::error::{Error, Result};
use crate::net::settings::Settings;
use crate::report::outputs::{Outputs, Overwrite, check_directory_name};
use crate::signatures::check::DIRECTORY_PATH;
use crate::url::origin::Origin;

use super::fetch_ranges::{check_archive, published};
use super::sandbox::access_rights::TcpUse;
use super::{console::SharedConsole, outcome::RunOutcome, output::path_text};

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
}
