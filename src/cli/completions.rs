//! `botaudit completions`: shell completions with the possible values of flags.

use clap::{Arg, Args, Command, builder::PossibleValuesParser};
use clap_complete::Shell;

use crate::classify::answer::VerdictWord;
use crate::crawlers::registry::Registry;
use crate::error::Result;
use crate::lint::catalogue::LINTS;
use crate::logs::registry::ENTRIES;
use crate::report::{json_lines::name, tables::TABLES};
use crate::run::console::RunOutcome;

use super::{help::short, shared::print};

const HELP: &str = include_str!("help/completions.txt");

/// Print completions for a shell.
///
/// They complete commands, options, and names of crawlers, tables, log formats and lint codes.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "completions"), after_long_help = HELP)]
pub(crate) struct CompletionsArgs {
    /// Shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the completions for `program`.
    pub(crate) fn run(self, program: Command) -> Result<RunOutcome> {
        let mut program = with_names(program, self.shell);
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut program, env!("CARGO_PKG_NAME"), &mut text);
        print(&String::from_utf8_lossy(&text))?;
        Ok(RunOutcome::Done)
    }
}

/// Adds possible values to the arguments of `command` and its subcommands. When arguments are
/// parsed, other values are valid too, such as crawlers from a file.
fn with_names(command: Command, shell: Shell) -> Command {
    let of = command.get_name().to_owned();
    let named = |arg: Arg| match names(&of, arg.get_id().as_str(), shell) {
        Some(names) => arg.value_parser(PossibleValuesParser::new(names)),
        None => arg,
    };
    command.mut_args(named).mut_subcommands(|below| with_names(below, shell))
}

/// The possible values of the argument `id` of the command `of`; `None` if they are not known.
fn names(of: &str, id: &str, shell: Shell) -> Option<Vec<&'static str>> {
    Some(match (of, id) {
        ("classify", "only") => VerdictWord::ALL.map(VerdictWord::as_str).to_vec(),
        (_, "only" | "exclude" | "crawler") | ("show", "name") => {
            let registry = Registry::builtin();
            // In bash, a space separates two words, even inside quotes.
            let fits = |name: &&str| shell != Shell::Bash || !name.contains(' ');
            let names = registry.crawlers().map(|crawler| crawler.name.as_str()).filter(fits);
            // clap needs them until the program ends, which is soon.
            names.map(|name| &*name.to_owned().leak()).collect()
        }
        (_, "tables") => TABLES.iter().map(|table| name(&table.schema)).collect(),
        (_, "log_format") => ENTRIES.iter().map(|entry| entry.name).collect(),
        ("lint", "explain") => LINTS.iter().map(|lint| lint.name).collect(),
        _ => return None,
    })
}
