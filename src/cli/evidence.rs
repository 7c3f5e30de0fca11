//! `botaudit evidence`: writes folders about crawlers, for complaints.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::{console::RunOutcome, evidence::EvidenceRun};

use super::console::{Show, console};
use super::help::short;
use super::shared::{MemoryArg, origin};

const HELP: &str = include_str!("help/evidence.txt");

/// Write folders of evidence about crawlers, for complaints.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "evidence"), after_long_help = HELP,
    override_usage = "botaudit evidence [OPTIONS] -o DIR [REPORT]")]
pub(crate) struct EvidenceArgs {
    /// Report directory, or tally.
    #[arg(value_name = "REPORT", default_value = "botaudit-report")]
    report: PathBuf,

    /// Crawler that broke rules [default: all that ignore robots.txt]
    #[arg(long, value_name = "NAME", help_heading = "Subject")]
    crawler: Option<String>,

    /// Origin whose rules it broke [default: each, in a folder of its own]
    #[arg(long, value_name = "URL", help_heading = "Subject")]
    origin: Option<String>,

    /// File of `audit --evidence` [default: the one in the report directory]
    #[arg(long, value_name = "FILE", help_heading = "Subject")]
    requests_file: Option<PathBuf>,

    /// Keys of agents, to enclose those that verify signed requests.
    #[arg(long, value_name = "DIR", help_heading = "Subject")]
    signature_keys: Option<PathBuf>,

    /// E-mail address for answers.
    #[arg(long, value_name = "EMAIL", help_heading = "Sender", value_parser = email)]
    contact: Option<String>,

    /// Name of the sender [default: the host of the origin]
    #[arg(long, value_name = "NAME", help_heading = "Sender")]
    organisation: Option<String>,

    /// Directory to create.
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: PathBuf,

    #[command(flatten)]
    memory: MemoryArg,
}

impl EvidenceArgs {
    /// Writes the folders.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let run = EvidenceRun {
            report: self.report,
            crawler: self.crawler,
            origin: self.origin.as_deref().map(origin).transpose()?,
            requests_file: self.requests_file,
            signature_keys: self.signature_keys,
            organisation: self.organisation,
            contact: self.contact,
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
