//! `botaudit completions` and `botaudit man`: what shells and manuals know of the flags.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use crate::error::{Error, Result};

use super::shared::print;
use super::{Cli, Outcome};

/// Print completions for a shell.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  \
    botaudit completions bash > ~/.local/share/bash-completion/completions/botaudit")]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write one for each command.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  botaudit man ~/.local/share/man/man1 && man botaudit-audit")]
pub struct ManArgs {
    /// Where to write the pages; without it the first one is printed.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl CompletionsArgs {
    /// Runs it.
    pub fn run(self) -> Result<Outcome> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut text);
        print(&String::from_utf8_lossy(&text))?;
        Ok(Outcome::Done)
    }
}

impl ManArgs {
    /// Runs it.
    pub fn run(self) -> Result<Outcome> {
        match self.directory {
            None => print(&String::from_utf8_lossy(&page(Cli::command())?))?,
            Some(directory) => {
                fs::create_dir_all(&directory)
                    .map_err(|err| Error::io("cannot write to", &directory, err))?;
                clap_mangen::generate_to(Cli::command(), &directory)
                    .map_err(|err| Error::io("cannot write to", &directory, err))?;
            }
        }
        Ok(Outcome::Done)
    }
}

/// The page of `command` itself, in roff.
fn page(command: Command) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(|err| Error::io("cannot write", Path::new("a manual page"), err))?;
    Ok(text)
}
