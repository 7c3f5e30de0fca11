//! What the registry knows about crawlers, crawlers that a user names, and what to say of a name that nobody has.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::audit::tally::Tally;
use crate::crawlers::{own_list::check, registry::Registry};
use crate::error::{Error, Result};
use crate::judge::profile::CrawlerProfile;
use crate::lint::known_tokens::{distance, slips_max};
use crate::numbers::{counted, grouped};
use crate::report::crawlers::{
    crawler_json, crawler_text, identified_json, identified_text, list_json, list_text,
};
use crate::report::outputs::{Outputs, Overwrite};
use crate::report::summary_table::SummaryView;
use crate::table::escape::visible;

use super::console::{Console, RunOutcome};
use super::sandbox::access_rights::TcpUse;

/// A question to the registry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CrawlersQuestion<'a> {
    /// All crawlers.
    List,
    /// Everything about the crawler with this name.
    Show(&'a str),
    /// The crawler that sends this User-Agent header.
    Identify(&'a OsStr),
}

/// Prints the answer of the registry, with the crawlers of the file `crawlers` if it is given: as
/// JSON, or for people.
///
/// # Errors
/// If the crawler is unknown, or a file cannot be read or written.
pub(crate) fn answer(
    question: CrawlersQuestion<'_>,
    crawlers: Option<&Path>,
    is_json: bool,
    console: &dyn Console,
) -> Result<RunOutcome> {
    begin("--crawlers", crawlers, console);
    let registry = registry(crawlers)?;
    console.print(&match (question, is_json) {
        (CrawlersQuestion::Show(name), _) => {
            let next = "to list all names, run: botaudit crawlers list";
            let id = registry.find(name).ok_or_else(|| unknown_crawler(name, &registry, next))?;
            let text = if is_json { crawler_json } else { crawler_text };
            text(registry.crawler(id))
        }
        (CrawlersQuestion::Identify(header), _) => {
            let text = if is_json { identified_json } else { identified_text };
            text(&registry, header.as_encoded_bytes())
        }
        (CrawlersQuestion::List, true) => list_json(&registry),
        (CrawlersQuestion::List, false) => list_text(&registry),
    })?;
    Ok(RunOutcome::Done)
}

/// Begins with the input `path` of `role`.
fn begin(role: &'static str, path: Option<&Path>, console: &dyn Console) {
    let mut files = Outputs::new(Overwrite::Own);
    path.into_iter().for_each(|path| files.reads(role, path));
    console.begin_with(&files, TcpUse::None);
}

/// Checks a CSV file of crawlers for mistakes, and prints what it has.
///
/// # Errors
/// If it cannot be read, or the result cannot be printed.
pub(crate) fn check_registry(file: &Path, console: &dyn Console) -> Result<RunOutcome> {
    begin("FILE", Some(file), console);
    let checked = check(file)?;
    checked.errors.iter().for_each(|problem| console.error(&problem.to_string()));
    checked.warnings.iter().for_each(|problem| console.warn(&problem.to_string()));
    console.print(&format!(
        "{}: {} ({} in place of built-in ones), {}, {}\n",
        visible(file.display().to_string().as_bytes()),
        counted(checked.rows as u64, "crawler"),
        grouped(checked.replacing as u64),
        counted(checked.errors.len() as u64, "mistake"),
        counted(checked.warnings.len() as u64, "warning"),
    ))?;
    Ok(if checked.errors.is_empty() { RunOutcome::Done } else { RunOutcome::Violations })
}

/// The built-in crawlers, with those of the file `crawlers` if it is given.
pub(crate) fn registry(crawlers: Option<&Path>) -> Result<Registry> {
    match crawlers {
        Some(path) => Registry::with_file(path),
        None => Ok(Registry::builtin()),
    }
}

/// The error for the unknown crawler `name`; `next` says what else to do.
pub(crate) fn unknown_crawler(name: &str, registry: &Registry, next: &str) -> Error {
    Error::usage(format!("{}; {next}", unknown_crawler_name(name, registry)))
}

/// The same without a proposal of what else to do.
pub fn unknown_crawler_name(name: &str, registry: &Registry) -> String {
    let near = near_names(name, registry);
    let near = if near.is_empty() { near } else { format!(" (did you mean {near}?)") };
    format!("unknown crawler '{name}'{near}")
}

/// Crawlers that the user of a command names in one of three ways.
#[derive(Debug)]
pub(crate) struct NamedCrawlers {
    /// Names of known crawlers.
    pub known: Vec<String>,
    /// Product tokens of any crawlers.
    pub tokens: Vec<String>,
    /// User-Agent headers of crawlers.
    pub user_agents: Vec<OsString>,
    /// A CSV file of crawlers.
    pub file: Option<PathBuf>,
}

impl NamedCrawlers {
    /// The crawlers that are known by name.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn registry(&self) -> Result<Registry> {
        registry(self.file.as_deref())
    }

    /// Their names and properties, in the order in which they are named.
    ///
    /// # Errors
    /// If a crawler is unknown, or a token is not valid.
    pub(crate) fn profiles(
        &self,
        registry: &Registry,
    ) -> Result<(Vec<String>, Vec<CrawlerProfile>)> {
        let (mut names, mut profiles) = (Vec::new(), Vec::new());
        for name in &self.known {
            let unknown = || unknown_crawler(name, registry, &or_token(name, registry));
            let crawler = registry.find(name).ok_or_else(unknown)?;
            names.push(registry.crawler(crawler).name.clone());
            profiles.push(CrawlerProfile::new(registry.crawler(crawler)));
        }
        for token in &self.tokens {
            if token.is_empty() {
                return Err(Error::usage("--token is empty; write --token mybot"));
            }
            let token = registry.checked_token(token, "--user-agent")?;
            names.push(token.to_owned());
            profiles.push(CrawlerProfile::of_token(token.to_owned()));
        }
        for header in &self.user_agents {
            let (name, profile) = CrawlerProfile::of_sender(registry, header.as_encoded_bytes());
            names.push(name);
            profiles.push(profile);
        }
        Ok((names, profiles))
    }
}

/// The proposal for commands that accept any product token and any header, in place of the unknown
/// crawler `name`.
pub(crate) fn or_token(name: &str, registry: &Registry) -> String {
    match registry.product_token(name) {
        Some(token) => format!("for any product token, use --token '{token}'"),
        None => "for a whole User-Agent header, use --user-agent".to_owned(),
    }
}

/// At most five names that contain `name`, are contained in it, have it as a token, or are spelled
/// similarly; short ones first.
fn near_names(name: &str, registry: &Registry) -> String {
    let asked = name.to_ascii_lowercase();
    let is_near = |known: &str| {
        let known = known.to_ascii_lowercase();
        known.contains(&asked)
            || asked.contains(&known)
            || distance(asked.as_bytes(), known.as_bytes(), slips_max(&asked)).is_some()
    };
    let crawlers = registry.iter().map(|(_, crawler)| crawler);
    let near = crawlers.filter(|crawler| {
        is_near(&crawler.name) || crawler.product_tokens.iter().any(|token| is_near(token))
    });
    let mut names: Vec<&str> = near.map(|crawler| crawler.name.as_str()).collect();
    names.sort_by_key(|name| (!is_near(name), name.len()));
    names.truncate(5);
    names.join(", ")
}

/// `view` with the names that `registries` have for its crawlers.
///
/// # Errors
/// If a crawler is in none of them.
pub(crate) fn known_view(view: SummaryView, registries: &[&Registry]) -> Result<SummaryView> {
    let named = |name: &String| {
        let known = registries
            .iter()
            .find_map(|registry| Some(registry.crawler(registry.find(name)?).name.clone()));
        known.ok_or_else(|| Error::usage(unknown_crawler_name(name, registries[0])))
    };
    Ok(SummaryView {
        only: view.only.iter().map(named).collect::<Result<_>>()?,
        exclude: view.exclude.iter().map(named).collect::<Result<_>>()?,
        ..view
    })
}

/// As [`known_view`], for the summary of `tally`, which may have crawlers that are not built in.
pub(crate) fn view_of_tally(view: SummaryView, tally: &Tally) -> Result<SummaryView> {
    let counted = Registry::of_crawlers(tally.header.crawlers.clone());
    known_view(view, &[&Registry::builtin(), &counted])
}
