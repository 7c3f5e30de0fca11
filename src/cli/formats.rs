//! `botaudit formats`: lists the log formats, or detects the format of a log.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::audit::probe::examine;
use crate::error::Result;
use crate::input::source::expand;
use crate::logs::detect::Hints;
use crate::report::formats_text::{examined_text, formats_text};
use crate::report::outputs::{Outputs, Overwrite};
use crate::run::outcome::RunOutcome;
use crate::run::sandbox::access_rights::TcpUse;
use crate::run::setup::hints;

use super::config_flags::FormatFlags;
use super::confinement::confine;
use super::help::short;
use super::shared::{error, print, refusal};

const HELP: &str = include_str!("help/formats.txt");
const LIST: &str = include_str!("help/formats-list.txt");
const DETECT: &str = include_str!("help/formats-detect.txt");

/// List the log formats, or detect the format of a log.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "formats"), after_long_help = HELP)]
pub struct FormatsArgs {
    #[command(subcommand)]
    command: Option<FormatsCommand>,
}

#[derive(Debug, Subcommand)]
enum FormatsCommand {
    /// List all formats, with samples (the default).
    #[command(after_help = short(LIST, "formats list"), after_long_help = LIST)]
    List,
    /// Detect the format of logs from their first 256 KiB; show unparsed lines.
    #[command(after_help = short(DETECT, "formats detect"), after_long_help = DETECT)]
    Detect {
        /// Access logs: files, directories, patterns, or - for standard input.
        #[arg(required = true, value_name = "FILE")]
        logs: Vec<OsString>,

        #[command(flatten)]
        hints: FormatFlags,
    },
}

impl FormatsArgs {
    /// Lists the formats, or examines logs.
    pub fn run(self) -> Result<RunOutcome> {
        match self.command {
            None | Some(FormatsCommand::List) => print(&formats_text()).map(|()| RunOutcome::Done),
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

/// An unreadable log does not prevent the others from being examined.
fn detect(logs: &[OsString], hints: &Hints) -> Result<RunOutcome> {
    let sources = expand(logs);
    let mut files = Outputs::new(Overwrite::Own);
    files.reads_sources("a log", &sources);
    confine(&files, TcpUse::None);
    let mut outcome = RunOutcome::Done;
    for source in sources {
        match examine(&source, hints) {
            Ok(examined) => {
                if examined.detection.format.is_none() && examined.rejected_lines() > 0
                    || examined.damage.is_some()
                {
                    outcome = RunOutcome::Undecided;
                }
                print(&examined_text(&source.name, &examined))?;
            }
            Err(err) => {
                error(&err.to_string());
                outcome = RunOutcome::Undecided;
            }
        }
    }
    Ok(outcome)
}
