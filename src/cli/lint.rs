//! `botaudit lint`: checks robots.txt files for mistakes.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::lint::catalogue::Lint;
use crate::lint::findings::{lint_text, lints_text};
use crate::run::console::RunOutcome;
use crate::run::lint::{FindingsForm, LintRun};
use crate::url::path::Dialect;

use super::console::{Show, console};
use super::help::short;
use super::shared::{dialect, print};

const HELP: &str = include_str!("help/lint.txt");

/// Check robots.txt files for mistakes.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "lint"), after_long_help = HELP)]
pub(crate) struct LintArgs {
    /// robots.txt files, directories of them, or - for standard input.
    #[arg(required_unless_present_any = ["list", "explain"], value_name = "FILE")]
    files: Vec<OsString>,

    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    format: Format,

    /// How percent-encodings and wildcards are compared.
    #[arg(long, value_name = "DIALECT", value_parser = dialect(), default_value = "google",
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
    /// Checks all files, or explains codes.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        if self.list {
            return print(&lints_text()).map(|()| RunOutcome::Done);
        }
        if let Some(code) = &self.explain {
            return explain(code);
        }
        let run = LintRun {
            files: self.files,
            form: match self.format {
                Format::Text => FindingsForm::Text,
                Format::Json => FindingsForm::Json,
                Format::Github => FindingsForm::Github,
                Format::Sarif => FindingsForm::Sarif,
                Format::Junit => FindingsForm::Junit,
            },
            dialect: self.dialect,
            is_strict: self.strict,
            crawlers: self.crawlers,
            wanted: self.warn,
            console: console(Show::OnTerminal),
        };
        run.run()
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
