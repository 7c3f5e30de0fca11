//! `botaudit lint`: checks robots.txt files for mistakes.

use std::path::{Path, PathBuf};
use std::{ffi::OsString, io};

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::files::{read_up_to, take_up_to};
use crate::lint::catalogue::{LINTS, Lint, Severity};
use crate::lint::{diagnostic::Diagnostics, known_tokens::KnownTokens, lint};
use crate::report::findings::{
    findings_github, findings_json, findings_text, lint_text, lints_text,
};
use crate::report::outputs::{Outputs, Overwrite};
use crate::report::{findings_junit::findings_junit, findings_sarif::findings_sarif};
use crate::run::outcome::RunOutcome;
use crate::run::sandbox::access_rights::TcpUse;
use crate::url::dialect::Dialect;

use super::confinement::confine;
use super::help::short;
use super::shared::{error, print, registry};
use super::value_names::{DIALECTS, one_of};

/// The largest file that is read: 32 times the part of a robots.txt that counts.
const FILE_BYTES_MAX: u64 = 16 << 20;

const HELP: &str = include_str!("help/lint.txt");

/// Check robots.txt files for mistakes.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "lint"), after_long_help = HELP)]
pub struct LintArgs {
    /// robots.txt files, or - for standard input.
    #[arg(required_unless_present_any = ["list", "explain"], value_name = "FILE")]
    files: Vec<OsString>,

    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    format: Format,

    /// How percent-encodings and wildcards are compared.
    #[arg(long, value_name = "DIALECT", value_parser = one_of(&DIALECTS), default_value = "google",
        help_heading = "Rules")]
    dialect: Dialect,

    /// Exit with 1 for warnings, too.
    #[arg(long, help_heading = "Output")]
    strict: bool,

    /// CSV file with more crawlers; a row with a built-in name replaces that crawler.
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    crawlers: Option<PathBuf>,

    /// Also report findings of this code, which is off by default.
    #[arg(long, value_name = "CODE", value_parser = ["token-cut"], help_heading = "Codes")]
    warn: Vec<String>,

    /// List the codes of all findings.
    #[arg(long, help_heading = "Codes")]
    list: bool,

    /// Explain a code.
    #[arg(long, value_name = "CODE", help_heading = "Codes")]
    explain: Option<String>,
}

/// The format of findings.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    /// For people: at most 20 findings of each kind, 5 if they are infos
    Text,
    /// For programs: an array with one object per file
    Json,
    /// Workflow commands of GitHub Actions
    Github,
    /// SARIF 2.1.0, for code hosts
    Sarif,
    /// JUnit XML, for servers that show tests
    Junit,
}

impl LintArgs {
    /// Checks all files; an unreadable file does not prevent the others from being checked.
    pub fn run(self) -> Result<RunOutcome> {
        if self.list {
            return print(&lints_text()).map(|()| RunOutcome::Done);
        }
        if let Some(code) = &self.explain {
            return explain(code);
        }
        let registry = registry(self.crawlers.as_deref())?;
        let mut inputs = Outputs::new(Overwrite::Own);
        self.files.iter().for_each(|file| inputs.reads("a robots.txt", Path::new(file)));
        confine(&inputs, TcpUse::None);
        let names = KnownTokens::new(&registry);
        let mut done = Vec::new();
        let (mut outcome, mut unread) = (RunOutcome::Done, None);
        for file in &self.files {
            let path = Path::new(file);
            match read(path) {
                Ok(body) => {
                    let mut remarks = lint(&body, &names, self.dialect);
                    let is_off = |lint: &&Lint| {
                        lint.code.is_optional() && !self.warn.iter().any(|name| name == lint.name)
                    };
                    LINTS.iter().filter(is_off).for_each(|lint| remarks.remove(lint.code));
                    if self.is_failure(&remarks) {
                        outcome = RunOutcome::Violations;
                    }
                    let path = path.display().to_string();
                    match self.format {
                        Format::Text => print(&findings_text(&path, &remarks))?,
                        Format::Github => print(&findings_github(&path, &remarks))?,
                        Format::Json | Format::Sarif | Format::Junit => {
                            done.push((path, remarks));
                        }
                    }
                }
                Err(err) => {
                    if let Some(before) = unread.replace(err) {
                        error(&before.to_string());
                    }
                }
            }
        }
        match self.format {
            Format::Text | Format::Github => {}
            Format::Json => print(&findings_json(&done))?,
            Format::Sarif => print(&findings_sarif(&done, unread.is_none()))?,
            Format::Junit => {
                let now = jiff::Timestamp::now().into();
                print(&findings_junit(&done, self.strict, now))?;
            }
        }
        unread.map_or(Ok(outcome), Err)
    }

    fn is_failure(&self, remarks: &Diagnostics) -> bool {
        remarks.count_of(Severity::Error) > 0
            || self.strict && remarks.count_of(Severity::Warning) > 0
    }
}

fn explain(code: &str) -> Result<RunOutcome> {
    let unknown = || {
        Error::usage(format!(
            "unknown code '{code}'; to list all codes, run: botaudit lint \
                                 --list"
        ))
    };
    print(&lint_text(Lint::named(code).ok_or_else(unknown)?)).map(|()| RunOutcome::Done)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let read = match path == Path::new("-") {
        true => take_up_to(io::stdin().lock(), FILE_BYTES_MAX),
        false => read_up_to(path, FILE_BYTES_MAX),
    };
    let body = read.map_err(|err| Error::io("cannot read", path, err))?;
    let why = "larger than 16 MiB, so it is not a robots.txt; name another file";
    body.ok_or_else(|| Error::invalid_file(path, why))
}
