//! `botaudit completions` and `botaudit man`: what shells and manuals know of the flags.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use crate::error::{Error, Result};
use crate::report::outputs::{OutputContent, Outputs};

use super::shared::{ForceArg, print};
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

    #[command(flatten)]
    force: ForceArg,
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
                let mut outputs = Outputs::new(self.force.overwrite());
                for name in page_names(&Cli::command(), "") {
                    outputs.file("DIR", &directory.join(name), OutputContent::Manual)?;
                }
                fs::create_dir_all(&directory)
                    .map_err(|err| Error::io("cannot write to", &directory, err))?;
                clap_mangen::generate_to(Cli::command(), &directory)
                    .map_err(|err| Error::io("cannot write to", &directory, err))?;
            }
        }
        Ok(Outcome::Done)
    }
}

/// The files of `command` and all commands below it, as they are generated.
fn page_names(command: &Command, parent: &str) -> Vec<String> {
    let name = format!("{parent}{}", command.get_name());
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    let below = below.flat_map(|command| page_names(command, &format!("{name}-")));
    std::iter::once(format!("{name}.1")).chain(below).collect()
}

/// The page of `command` itself, in roff.
fn page(command: Command) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(|err| Error::io("cannot write", Path::new("a manual page"), err))?;
    Ok(text)
}
