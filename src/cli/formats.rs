//! `botaudit formats`: lists the log formats, or detects the format of a log.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::error::Result;
use crate::report::formats_text::formats_text;
use crate::run::{console::RunOutcome, formats::detect};

use super::console::{Show, console};
use super::{help::short, option_flags::FormatFlags, shared::print};

const HELP: &str = include_str!("help/formats.txt");
const LIST: &str = include_str!("help/formats-list.txt");
const DETECT: &str = include_str!("help/formats-detect.txt");

/// List the log formats, or detect the format of a log.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "formats"), after_long_help = HELP)]
pub(crate) struct FormatsArgs {
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
    pub(crate) fn run(self) -> Result<RunOutcome> {
        match self.command {
            None | Some(FormatsCommand::List) => print(&formats_text()).map(|()| RunOutcome::Done),
            Some(FormatsCommand::Detect { logs, hints }) => {
                detect(&logs, &hints.config(), &*console(Show::OnTerminal))
            }
        }
    }
}
