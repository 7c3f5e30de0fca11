//! `botaudit completions` and `botaudit man`: what shells and manuals know of the flags.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::{Error, Result};
use crate::report::outputs::{OutputContent, Outputs};

use super::exit_status::ExitStatus;
use super::shared::{ForceArg, print};

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
    /// Prints what `shell` needs to know of `program`.
    pub fn run(self, mut program: Command) -> Result<ExitStatus> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut program, env!("CARGO_PKG_NAME"), &mut text);
        print(&String::from_utf8_lossy(&text))?;
        Ok(ExitStatus::Done)
    }
}

impl ManArgs {
    /// Prints or writes the pages of `program`.
    pub fn run(self, program: Command) -> Result<ExitStatus> {
        match self.directory {
            None => print(&String::from_utf8_lossy(&page(program)?))?,
            Some(directory) => {
                let mut outputs = Outputs::new(self.force.overwrite());
                for name in page_names(&program, "") {
                    outputs.file("DIR", &directory.join(name), OutputContent::Manual)?;
                }
                let made = fs::create_dir_all(&directory)
                    .and_then(|()| clap_mangen::generate_to(program, &directory));
                made.map_err(|err| Error::io("cannot write to", &directory, err))?;
            }
        }
        Ok(ExitStatus::Done)
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
