//! An audit as a user asks for it: settings, of which some may be those of a site in a configuration file, and logs by
//! name.

use std::path::{Path, PathBuf};
use std::{ffi::OsString, io::ErrorKind, sync::Arc};

use glob::Pattern;

use crate::audit::client::ClientKey;
use crate::config::file::{ConfigError, ConfigFile, SiteConfig, parse};
use crate::config::{audit_config::AuditConfig, setting::Fault};
use crate::error::{Error, Result};
use crate::files::read_up_to;
use crate::input::copies::{DistinctLogs, without_copies};
use crate::input::source::Source;
use crate::report::{outputs::Overwrite, summary_table::SummaryView};

use super::audit::{AuditRun, Destination};
use super::console::{Console, RunOutcome, SharedConsole};
use super::files::{check_outputs, tcp_use};
use super::setup::{Setup, refusal};
use super::sources::found_sources;
use super::{collect::CollectedInput, crawlers::known_view, written::ResultFormat};

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
        let sources = named(found_sources(&logs, console), self.name)?;
        let (destination, format) = (self.destination, self.format);
        let defaults = config.clone().with_defaults();
        let collected = self.collected.as_ref().map(|(path, _)| path.as_path());
        let outputs =
            check_outputs(&defaults, &sources, collected, &destination, format, self.overwrite)?;
        console.begin_with(&outputs, tcp_use(&defaults));
        let DistinctLogs { sources, repeats } = without_copies(sources);
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

/// A site of a configuration file.
#[derive(Debug)]
pub(crate) struct ConfiguredSite {
    /// The path as the user wrote it.
    file: PathBuf,
    site: SiteConfig,
}

impl ConfiguredSite {
    /// The site `name` of `file`; without a name, the only one.
    ///
    /// # Errors
    /// If the file cannot be read, has a mistake, or has not exactly this site.
    pub(crate) fn open(
        file: &Path,
        name: Option<&str>,
        console: &dyn Console,
    ) -> Result<ConfiguredSite> {
        let (config, errors) = read_config(file)?;
        report_errors(&file.display().to_string(), &errors, console)?;
        let site = chosen(config.sites, file, name)?;
        Ok(ConfiguredSite { file: file.to_owned(), site })
    }

    /// Its settings, with paths relative to the current directory.
    pub(crate) fn audit(&self) -> AuditConfig {
        self.site.audit.clone().below(self.directory())
    }

    /// Its logs, with paths relative to the current directory.
    pub(crate) fn logs(&self) -> Vec<OsString> {
        let directory = self.directory();
        let below = |log: &String| match directory.as_os_str().is_empty() {
            false if Path::new(log).is_relative() => {
                // A log may be a pattern; its directory is not.
                Path::new(&Pattern::escape(&directory.to_string_lossy())).join(log).into_os_string()
            }
            _ => OsString::from(log),
        };
        self.site.logs.iter().map(below).collect()
    }

    /// Tells all `faults` of the settings under `flags`, and returns the error.
    pub(crate) fn refusal(
        &self,
        faults: &[Fault],
        flags: &AuditConfig,
        console: &dyn Console,
    ) -> Error {
        let is_in_file =
            |fault: &&Fault| !flags.has(fault.key) && self.site.line_of(fault.key).is_some();
        for fault in faults {
            match Some(fault).filter(is_in_file) {
                Some(fault) => console.error(&self.site.error(fault).at(&self.name())),
                None => console.error(&fault.of_flags()),
            }
        }
        Error::usage(format!("site {} of {} was not audited", self.site.name, self.name()))
    }

    fn name(&self) -> String {
        self.file.display().to_string()
    }

    fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }
}

/// The largest configuration file, in bytes: room for thousands of sites.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// Reads the file `path`.
pub(crate) fn read_config(path: &Path) -> Result<(ConfigFile, Vec<ConfigError>)> {
    let bytes = read_up_to(path, CONFIG_BYTES_MAX).map_err(|err| match err.kind() {
        ErrorKind::NotFound => {
            let name = path.display();
            let why = format!(
                "the configuration file does not exist; to write one, run: botaudit init {name}; \
                 to use another, add --config FILE"
            );
            Error::invalid_file(path, why)
        }
        _ => Error::io("cannot read --config", path, err),
    })?;
    let too_long = || {
        Error::invalid_file(
            path,
            "larger than 1 MiB, so it is not a configuration file; name another file",
        )
    };
    let text = String::from_utf8(bytes.ok_or_else(too_long)?);
    let text = text.map_err(|_| Error::invalid_file(path, "not UTF-8; save the file as UTF-8"))?;
    Ok(parse(&text))
}

/// Tells all `errors` of the file `name`.
///
/// # Errors
/// If there are any.
pub(crate) fn report_errors(
    name: &str,
    errors: &[ConfigError],
    console: &dyn Console,
) -> Result<()> {
    errors.iter().for_each(|problem| console.error(&problem.at(name)));
    match errors.len() {
        0 => Ok(()),
        1 => Err(Error::usage(format!("{name} has 1 mistake; nothing was read"))),
        some => Err(Error::usage(format!("{name} has {some} mistakes; nothing was read"))),
    }
}

fn chosen(mut sites: Vec<SiteConfig>, file: &Path, site: Option<&str>) -> Result<SiteConfig> {
    let names: Vec<&str> = sites.iter().map(|site| site.name.as_str()).collect();
    let names = names.join(", ");
    let found = match site {
        Some(name) => sites.iter().position(|site| site.name == name),
        None => (sites.len() == 1).then_some(0),
    };
    let file = file.display();
    let why = match site {
        Some(name) => format!("--site {name}: unknown site; the sites of {file} are {names}"),
        None => format!("{file} has several sites; choose one with --site: {names}"),
    };
    found.map(|index| sites.swap_remove(index)).ok_or_else(|| Error::usage(why))
}
