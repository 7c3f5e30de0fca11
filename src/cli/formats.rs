//! `botaudit formats`: the log formats, and which of them a log has.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::audit::probe::examine;
use crate::error::Result;
use crate::input::source::expand;
use crate::logs::detect::Hints;
use crate::report::formats_text::{examined_text, formats_text};

use super::shared::{complain, print, refusal};
use super::{config_flags::FormatFlags, exit_status::ExitStatus, setup::hints};

const EXAMPLES: &str = include_str!("help/formats.txt");

/// List the log formats, or tell which one a log has.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit formats --help")]
pub struct FormatsArgs {
    #[command(subcommand)]
    command: Option<FormatsCommand>,
}

#[derive(Debug, Subcommand)]
enum FormatsCommand {
    /// List all formats with a sample (what is done without a command).
    #[command(after_help = "Example:\n  botaudit formats list")]
    List,
    /// Tell the format of logs from their first 256 KiB, and show lines that are none of it.
    #[command(after_help = "Example:\n  botaudit formats detect /var/log/nginx/*.log")]
    Detect {
        /// Access logs: files, directories, patterns, or - for standard input.
        #[arg(required = true, value_name = "FILE")]
        logs: Vec<OsString>,

        #[command(flatten)]
        hints: FormatFlags,
    },
}

impl FormatsArgs {
    /// Lists, or looks at logs.
    pub fn run(self) -> Result<ExitStatus> {
        match self.command {
            None | Some(FormatsCommand::List) => print(&formats_text()).map(|()| ExitStatus::Done),
            Some(FormatsCommand::Detect { logs, hints: args }) => {
                let mut faults = Vec::new();
                let hints = hints(&args.config(), &mut faults);
                match faults.is_empty() {
                    true => detect(&logs, &hints),
                    false => Err(refusal(&faults)),
                }
            }
        }
    }
}

/// A log that cannot be read keeps none from being looked at.
fn detect(logs: &[OsString], hints: &Hints) -> Result<ExitStatus> {
    let mut outcome = ExitStatus::Done;
    for source in expand(logs) {
        match examine(&source, hints) {
            Ok(examined) => {
                if examined.detection.format.is_none() && examined.rejected_lines() > 0
                    || examined.damage.is_some()
                {
                    outcome = ExitStatus::Undecided;
                }
                print(&examined_text(&source.name, &examined))?;
            }
            Err(err) => {
                complain(&err.to_string());
                outcome = ExitStatus::Undecided;
            }
        }
    }
    Ok(outcome)
}
