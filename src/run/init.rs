//! The first configuration for nightly audits, from what is found on this machine.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::nightly::init::{DetectedFiles, LOGS};
use crate::numbers::counted;
use crate::staged::is_stdout;

use super::console::{Access, RunOutcome, STDOUT_NAME, SharedConsole, path_text};

/// A search for logs and web roots that is ready to run.
#[derive(Debug)]
pub(crate) struct InitRun {
    /// The configuration to write, which must not exist; - is standard output.
    pub file: PathBuf,
    /// Where the root of the file system is.
    pub root: PathBuf,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl InitRun {
    /// Searches for logs and writes the configuration.
    ///
    /// # Errors
    /// If no log is found, or the file exists or cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let (file, console) = (&self.file, &*self.console);
        console.begin(Access::Any);
        let root = std::path::absolute(&self.root)
            .map_err(|err| Error::io("cannot search --root", &self.root, err))?;
        let found = DetectedFiles::below(&root);
        for site in &found.without_origin {
            console.warn(&format!(
                "site {site}: {} names no host, so no robots.txt applies to its requests; write \
                 origin = \"https://www.example.com\" in {}",
                found.logs[site].display(),
                file.display()
            ));
        }
        if found.logs.is_empty() {
            let searched: Vec<String> =
                LOGS.iter().map(|(pattern, _)| root.join(pattern).display().to_string()).collect();
            return Err(Error::usage(format!(
                "no access log found in {}; write {} yourself, as docs/nightly.md shows",
                searched.join(", "),
                file.display()
            )));
        }
        if is_stdout(file) {
            console.print(&found.config())?;
        } else {
            write(file, &found.config())?;
        }
        console.show(&summary(file, &found))?;
        Ok(RunOutcome::Done)
    }
}

fn write(file: &Path, config: &str) -> Result<()> {
    let created = OpenOptions::new().write(true).create_new(true).open(file);
    let written = created.and_then(|mut out| {
        let written = out.write_all(config.as_bytes());
        written.inspect_err(|_| drop(fs::remove_file(file)))
    });
    written.map_err(|err| match err.kind() {
        ErrorKind::AlreadyExists => Error::invalid_file(
            file,
            "already exists; not overwritten; name another file, or move it away",
        ),
        _ => Error::io("cannot write", file, err),
    })
}

fn summary(file: &Path, found: &DetectedFiles) -> String {
    if is_stdout(file) {
        return sites(Path::new(STDOUT_NAME), found);
    }
    let name = path_text(file);
    let next = "check the file, then run: botaudit nightly --check-config --config";
    sites(file, found) + &format!("{next} {name}\n")
}

fn sites(file: &Path, found: &DetectedFiles) -> String {
    let sites = counted(found.logs.len() as u64, "site");
    let mut text = format!("{}: {sites}\n", path_text(file));
    for (site, log) in &found.logs {
        text += &format!("  {site}: {}\n", path_text(log));
    }
    text
}
