//! `botaudit lint`: what is odd about a robots.txt.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::files::{read_up_to, take_up_to};
use crate::lint::catalogue::{Lint, Severity};
use crate::lint::{diagnostic::Diagnostics, known_tokens::KnownTokens, lint};
use crate::report::findings::{
    findings_github, findings_json, findings_text, lint_text, lints_text,
};
use crate::url::dialect::Dialect;

use super::exit_status::ExitStatus;
use super::shared::{complain, print, registry};
use super::value_names::{DIALECTS, one_of};

/// The largest file that is looked at: 32 times what counts of a robots.txt.
const FILE_BYTES_MAX: u64 = 16 << 20;

const EXAMPLES: &str = include_str!("help/lint.txt");

/// Say what is odd about robots.txt files, line by line, with advice.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit lint --help")]
pub struct LintArgs {
    /// Files to look at, or - for standard input.
    #[arg(required_unless_present_any = ["list", "explain"], value_name = "FILE")]
    files: Vec<OsString>,

    /// How remarks are written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// In which dialect rules are compared with each other.
    #[arg(long, value_parser = one_of(&DIALECTS), default_value = "google")]
    dialect: Dialect,

    /// Exit with 1 for warnings, too.
    #[arg(long)]
    strict: bool,

    /// CSV of crawlers that are added to the built-in ones; a row of the same name replaces one.
    #[arg(long, value_name = "FILE")]
    crawlers: Option<PathBuf>,

    /// List all codes.
    #[arg(long)]
    list: bool,

    /// Say what a code means.
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
}

/// How remarks are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    /// For people: at most 20 remarks of a kind, 5 infos.
    Text,
    /// For programs: one array, an object a file.
    Json,
    /// Workflow commands of GitHub Actions.
    Github,
}

impl LintArgs {
    /// Looks at all files; those that cannot be read do not keep the others from it.
    pub fn run(self) -> Result<ExitStatus> {
        if self.list {
            return print(&lints_text()).map(|()| ExitStatus::Done);
        }
        if let Some(code) = &self.explain {
            return explain(code);
        }
        let registry = registry(self.crawlers.as_deref())?;
        let names = KnownTokens::new(&registry);
        let mut done = Vec::new();
        let (mut outcome, mut unread) = (ExitStatus::Done, None);
        for file in &self.files {
            let path = Path::new(file);
            match read(path) {
                Ok(body) => {
                    let remarks = lint(&body, &names, self.dialect);
                    if self.is_failure(&remarks) {
                        outcome = ExitStatus::Violations;
                    }
                    let path = path.display().to_string();
                    match self.format {
                        Format::Text => print(&findings_text(&path, &remarks))?,
                        Format::Github => print(&findings_github(&path, &remarks))?,
                        Format::Json => done.push((path, remarks)),
                    }
                }
                Err(err) => {
                    if let Some(before) = unread.replace(err) {
                        complain(&before.to_string());
                    }
                }
            }
        }
        if self.format == Format::Json {
            print(&findings_json(&done))?;
        }
        unread.map_or(Ok(outcome), Err)
    }

    fn is_failure(&self, remarks: &Diagnostics) -> bool {
        remarks.count_of(Severity::Error) > 0
            || self.strict && remarks.count_of(Severity::Warning) > 0
    }
}

fn explain(code: &str) -> Result<ExitStatus> {
    let unknown =
        || Error::usage(format!("unknown code '{code}'; list all with: botaudit lint --list"));
    print(&lint_text(Lint::named(code).ok_or_else(unknown)?)).map(|()| ExitStatus::Done)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let read = match path == Path::new("-") {
        true => take_up_to(io::stdin().lock(), FILE_BYTES_MAX),
        false => read_up_to(path, FILE_BYTES_MAX),
    };
    let body = read.map_err(|err| Error::io("cannot read", path, err))?;
    let why = "over 16 MiB, which no robots.txt is; name another file";
    body.ok_or_else(|| Error::invalid_file(path, why))
}
