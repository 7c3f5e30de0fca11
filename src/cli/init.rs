//! `botaudit init`: writes a configuration for `botaudit nightly`.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::{console::RunOutcome, init::InitRun};
use crate::staged::is_stdout;

use super::console::{Show, console};
use super::help::short;

const HELP: &str = include_str!("help/init.txt");

/// Write a configuration for `botaudit nightly`.
///
/// It names the logs and web roots that are found on this machine.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "init"), after_long_help = HELP)]
pub(crate) struct InitArgs {
    /// File to write; an existing file is never overwritten. - is standard output.
    #[arg(value_name = "FILE", default_value = "botaudit.toml")]
    file: PathBuf,

    /// Search below DIR instead of the root of the file system.
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

impl InitArgs {
    /// Searches for logs and writes the configuration.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let show = Show::OnTerminal.beside_data(is_stdout(&self.file));
        InitRun { file: self.file, root: self.root, console: console(show) }.run()
    }
}
