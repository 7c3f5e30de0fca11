//! An audit as a user asks for it: settings, of which some may be in a file, and logs by name.

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use crate::audit::client::ClientKey;
use crate::config::audit_config::AuditConfig;
use crate::error::{Error, Result};
use crate::input::copies::{DistinctLogs, ShortCopies, without_copies};
use crate::input::source::{Source, expand};
use crate::report::{outputs::Overwrite, summary_table::SummaryView};

use super::audit::{AuditRun, Destination};
use super::console::{RunOutcome, SharedConsole};
use super::files::{check_outputs, tcp_use};
use super::setup::{Setup, refusal};
use super::written::ResultFormat;
use super::{collect::CollectedInput, configured::ConfiguredSite, crawlers::known_view};

/// An audit that is ready to be set up.
#[derive(Debug)]
pub(crate) struct AuditJob {
    /// The logs; none stands for those of the site.
    pub logs: Vec<OsString>,
    /// The name of the only log in reports.
    pub name: Option<String>,
    /// The site of a configuration file.
    pub site: Option<ConfiguredSite>,
    /// The settings that take precedence over those of the site.
    pub flags: AuditConfig,
    /// The destination of the result.
    pub destination: Destination,
    /// The format of the printed result.
    pub format: ResultFormat,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// The result of a first pass, and the memory that it may take.
    pub collected: Option<(PathBuf, Option<usize>)>,
    /// The key for hashes of clients in a first pass.
    pub client_key: ClientKey,
    /// The display options of the summary.
    pub view: SummaryView,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl AuditJob {
    /// Runs the audit.
    ///
    /// # Errors
    /// If a setting is not valid, an input cannot be read, or an output would replace a foreign file
    /// or cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let console = &*self.console;
        let of_site = self.site.as_ref().map(ConfiguredSite::audit).unwrap_or_default();
        let config = self.flags.clone().over(of_site);
        if self.site.is_none() && config.robots.is_none() && config.fetch.is_none() {
            return Err(no_robots());
        }
        let logs = match &self.site {
            Some(site) if self.logs.is_empty() => site.logs(),
            _ => self.logs,
        };
        let sources = named(expand(&logs), self.name)?;
        let (destination, format) = (self.destination, self.format);
        let defaults = config.clone().with_defaults();
        let collected = self.collected.as_ref().map(|(path, _)| path.as_path());
        let outputs =
            check_outputs(&defaults, &sources, collected, &destination, format, self.overwrite)?;
        console.begin_with(&outputs, tcp_use(&defaults));
        let DistinctLogs { sources, repeats } = without_copies(sources, ShortCopies::ByName);
        let setup = Setup::new(config, &[], Arc::clone(&self.console));
        let setup = setup.map_err(|faults| match &self.site {
            Some(site) => site.refusal(&faults, &self.flags, console),
            None => refusal(&faults, console),
        })?;
        let view = known_view(self.view, &[&setup.registry])?;
        let collected = self.collected.map(|(path, memory)| CollectedInput::read(&path, memory));
        let (collected, client_key) = (collected.transpose()?, self.client_key);
        let run =
            AuditRun { setup, sources, repeats, destination, collected, client_key, format, view };
        run.run()
    }
}

/// `sources`; a `name` from the user replaces the name of the only one.
fn named(mut sources: Vec<Source>, name: Option<String>) -> Result<Vec<Source>> {
    let Some(name) = name else { return Ok(sources) };
    match &mut sources[..] {
        [source] => source.name = name,
        _ => {
            let why = format!("--name needs exactly one input, but there are {}", sources.len());
            return Err(Error::usage(why));
        }
    }
    Ok(sources)
}

fn no_robots() -> Error {
    Error::usage(
        "no robots.txt given; use --robots, as in: botaudit audit --robots robots.txt --origin \
         https://example.com access.log.gz; or add --fetch",
    )
}
