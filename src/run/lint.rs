//! Checks of robots.txt files for mistakes.

use std::path::{Path, PathBuf};
use std::{ffi::OsString, io};

use crate::archive::directory::files_in;
use crate::error::{Error, Result};
use crate::files::{read_up_to, take_up_to};
use crate::lint::catalogue::{LINTS, Lint, Severity};
use crate::lint::findings::{
    findings_github, findings_json, findings_junit, findings_sarif, findings_text,
};
use crate::lint::{diagnostic::Diagnostics, known_tokens::KnownTokens, lint};
use crate::report::outputs::{Outputs, Overwrite};
use crate::url::path::Dialect;

use super::console::{RunOutcome, SharedConsole};
use super::{crawlers::registry, sandbox::access_rights::TcpUse};

/// The largest file that is read: 32 times the part of a robots.txt that counts.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Files that are ready to be checked.
#[derive(Debug)]
pub(crate) struct LintRun {
    /// The files; - is standard input.
    pub files: Vec<OsString>,
    /// The format of the findings.
    pub form: FindingsForm,
    /// How percent-encodings and wildcards are compared.
    pub dialect: Dialect,
    /// Whether warnings are failures, too.
    pub is_strict: bool,
    /// A CSV file of crawlers.
    pub crawlers: Option<PathBuf>,
    /// Codes that are off by default and wanted.
    pub wanted: Vec<String>,
    /// Who follows the run.
    pub console: SharedConsole,
}

/// The format of findings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FindingsForm {
    /// For people.
    Text,
    /// An array with an object for each file.
    Json,
    /// Workflow commands of GitHub Actions.
    Github,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
}

impl LintRun {
    /// Checks all files; an unreadable file does not prevent the others from being checked.
    ///
    /// # Errors
    /// If a file cannot be read, or the findings cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let console = &*self.console;
        let registry = registry(self.crawlers.as_deref())?;
        let mut inputs = Outputs::new(Overwrite::Own);
        let files: Vec<PathBuf> = self.files.iter().flat_map(files_of).collect();
        files.iter().for_each(|file| inputs.reads("a robots.txt", file));
        console.begin_with(&inputs, TcpUse::None);
        let names = KnownTokens::new(&registry);
        let mut done = Vec::new();
        let (mut outcome, mut unread) = (RunOutcome::Done, None);
        for file in &files {
            match read(file) {
                Ok(body) => {
                    let remarks = self.remarks(&body, &names);
                    if self.is_failure(&remarks) {
                        outcome = RunOutcome::Violations;
                    }
                    let path = file.display().to_string();
                    match self.form {
                        FindingsForm::Text => console.print(&findings_text(&path, &remarks))?,
                        FindingsForm::Github => console.print(&findings_github(&path, &remarks))?,
                        FindingsForm::Json | FindingsForm::Sarif | FindingsForm::Junit => {
                            done.push((path, remarks));
                        }
                    }
                }
                Err(err) => {
                    if let Some(before) = unread.replace(err) {
                        console.error(&before.to_string());
                    }
                }
            }
        }
        match self.form {
            FindingsForm::Text | FindingsForm::Github => {}
            FindingsForm::Json => console.print(&findings_json(&done))?,
            FindingsForm::Sarif => console.print(&findings_sarif(&done, unread.is_none()))?,
            FindingsForm::Junit => {
                let now = jiff::Timestamp::now().into();
                console.print(&findings_junit(&done, self.is_strict, now))?;
            }
        }
        unread.map_or(Ok(outcome), Err)
    }

    fn remarks(&self, body: &[u8], names: &KnownTokens<'_>) -> Diagnostics {
        let mut remarks = lint(body, names, self.dialect);
        let is_off = |lint: &&Lint| {
            lint.code.is_optional() && !self.wanted.iter().any(|name| name == lint.name)
        };
        LINTS.iter().filter(is_off).for_each(|lint| remarks.remove(lint.code));
        remarks
    }

    fn is_failure(&self, remarks: &Diagnostics) -> bool {
        remarks.count_of(Severity::Error) > 0
            || self.is_strict && remarks.count_of(Severity::Warning) > 0
    }
}

/// The files of an argument: itself, or the robots.txt files of a directory, as `--robots` names
/// them. Files for one host may differ here, because lint is to find mistakes.
fn files_of(argument: &OsString) -> Vec<PathBuf> {
    let path = PathBuf::from(argument);
    let found = if path.is_dir() { files_in(&path) } else { Vec::new() };
    if found.is_empty() { vec![path] } else { found }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    if let Some(url) = path.to_str().filter(|text| text.contains("://") && !path.exists()) {
        let why = format!("is a URL, and lint reads files; run: curl -s {url} | botaudit lint -");
        return Err(Error::invalid_file(path, why));
    }
    if path.is_dir() {
        let why = "is a directory without robots.txt files; name them robots.txt, example.com.txt or \
                   example.com/robots.txt";
        return Err(Error::invalid_file(path, why));
    }
    let read = match path == Path::new("-") {
        true => take_up_to(io::stdin().lock(), FILE_BYTES_MAX),
        false => read_up_to(path, FILE_BYTES_MAX),
    };
    let body = read.map_err(|err| Error::io("cannot read", path, err))?;
    let why = "larger than 16 MiB, so it is not a robots.txt; name another file";
    body.ok_or_else(|| Error::invalid_file(path, why))
}
