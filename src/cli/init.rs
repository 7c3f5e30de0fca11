//! `botaudit init`: writes a configuration for `botaudit nightly`.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{Error, Result};
use crate::nightly::init::{DetectedFiles, LOGS};
use crate::numbers::counted;
use crate::run::outcome::RunOutcome;
use crate::run::output::STDOUT_NAME;
use crate::run::output::path_text;
use crate::staged::is_stdout;

use super::help::short;
use super::shared::{print, print_to, warn};
use super::signals;
use super::terminal::OutputStream;

const HELP: &str = include_str!("help/init.txt");

/// Write a configuration for `botaudit nightly`.
///
/// It names the logs and web roots that are found on this machine.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "init"), after_long_help = HELP)]
pub struct InitArgs {
    /// File to write; an existing file is never overwritten. - is standard output.
    #[arg(value_name = "FILE", default_value = "botaudit.toml")]
    file: PathBuf,

    /// Search below DIR instead of the root of the file system.
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

impl InitArgs {
    /// Searches for logs and writes the configuration.
    pub fn run(self) -> Result<RunOutcome> {
        signals::handle();
        let file = &self.file;
        let root = std::path::absolute(&self.root)
            .map_err(|err| Error::io("cannot search --root", &self.root, err))?;
        let found = DetectedFiles::below(&root);
        for site in &found.without_origin {
            warn(&format!(
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
            print(&found.config())?;
            return print_to(OutputStream::Stderr, &sites(Path::new(STDOUT_NAME), &found))
                .map(|()| RunOutcome::Done);
        }
        let created = OpenOptions::new().write(true).create_new(true).open(file);
        let written = created.and_then(|mut out| {
            let written = out.write_all(found.config().as_bytes());
            written.inspect_err(|_| drop(fs::remove_file(file)))
        });
        written.map_err(|err| match err.kind() {
            ErrorKind::AlreadyExists => Error::invalid_file(
                file,
                "already exists; not overwritten; name another file, or move it away",
            ),
            _ => Error::io("cannot write", file, err),
        })?;
        print(&summary(file, &found)).map(|()| RunOutcome::Done)
    }
}

fn summary(file: &Path, found: &DetectedFiles) -> String {
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
