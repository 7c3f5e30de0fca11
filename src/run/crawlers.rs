//! What the registry knows about crawlers.

use std::{ffi::OsStr, path::Path};

use crate::crawlers::check::check;
use crate::error::Result;
use crate::numbers::{counted, grouped};
use crate::report::crawlers::{
    crawler_json, crawler_text, identified_json, identified_text, list_json, list_text,
};
use crate::report::outputs::{Outputs, Overwrite};
use crate::table::escape::visible;

use super::crawler_names::{registry, unknown_crawler};
use super::{console::Console, outcome::RunOutcome, sandbox::access_rights::TcpUse};

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
