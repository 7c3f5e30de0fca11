//! `botaudit evidence`: writes a folder about one crawler at one origin, for a complaint.

use std::path::PathBuf;

use clap::Args;

use crate::abuse_report::reporter::Reporter;
use crate::error::Result;
use crate::run::{evidence::EvidenceRun, outcome::RunOutcome};

use super::console::console;
use super::help::short;
use super::progress::Show;
use super::shared::{MemoryArg, origin};

const HELP: &str = include_str!("help/evidence.txt");

/// Write a folder of evidence about one crawler, for a complaint.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "evidence"), after_long_help = HELP,
    override_usage = "botaudit evidence --crawler NAME --origin URL -o DIR [REPORT]")]
pub(crate) struct EvidenceArgs {
    /// Report directory, or tally.
    #[arg(value_name = "REPORT", default_value = "botaudit-report")]
    report: PathBuf,

    /// Crawler that broke rules.
    #[arg(long, value_name = "NAME", help_heading = "Subject")]
    crawler: String,

    /// Origin whose rules it broke.
    #[arg(long, value_name = "URL", help_heading = "Subject")]
    origin: String,

    /// File of `audit --evidence` [default: the one in the report directory]
    #[arg(long, value_name = "FILE", help_heading = "Subject")]
    requests_file: Option<PathBuf>,

    /// E-mail address for answers.
    #[arg(long, value_name = "EMAIL", help_heading = "Sender", value_parser = email)]
    contact: Option<String>,

    /// Name of the sender [default: the host of --origin]
    #[arg(long, value_name = "NAME", help_heading = "Sender")]
    organisation: Option<String>,

    /// Directory to create.
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: PathBuf,

    #[command(flatten)]
    memory: MemoryArg,
}

impl EvidenceArgs {
    /// Writes the folder.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let origin = origin(&self.origin)?;
        let organisation = self.organisation.unwrap_or_else(|| origin.host().to_owned());
        let run = EvidenceRun {
            report: self.report,
            crawler: self.crawler,
            origin,
            requests_file: self.requests_file,
            reporter: Reporter { organisation, contact: self.contact },
            output: self.output,
            limits: self.memory.limits(),
            console: console(Show::OnTerminal),
        };
        run.run()
    }
}

fn email(text: &str) -> std::result::Result<String, String> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_".contains(&byte))
    };
    match text.split_once('@') {
        Some((name, host)) if is_plain(name) && is_plain(host) => Ok(text.to_owned()),
        _ => Err("write an address such as abuse@example.com".to_owned()),
    }
}
