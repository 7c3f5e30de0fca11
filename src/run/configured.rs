//! The settings of a site in a configuration file.

use std::path::{Path, PathBuf};
use std::{ffi::OsString, io::ErrorKind};

use glob::Pattern;

use crate::config::file::{ConfigError, ConfigFile, SiteConfig, parse};
use crate::config::{audit_config::AuditConfig, fault::Fault};
use crate::error::{Error, Result};
use crate::files::read_up_to;

use super::console::Console;

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
