//! `botaudit man` and `botaudit completions`: manual pages, and shell completions with the possible values of flags.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::{Arg, Args, Command, builder::PossibleValuesParser};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::classify::answer::VerdictWord;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::lint::catalogue::LINTS;
use crate::logs::registry::ENTRIES;
use crate::report::outputs::{OutputContent, Outputs, check_directory_name};
use crate::report::{json_lines::name, tables::TABLES};
use crate::run::console::RunOutcome;
use crate::staged::replace;

use super::help::{EXAMPLES, EXIT_CODES, FILES, sections, short};
use super::shared::{ForceArg, print};
use super::signals;

const HELP: &str = include_str!("help/man.txt");

/// The date in the header of the pages: when their texts last changed.
const PAGES_DATE: &str = "2026-11-22";

/// Print the manual page, or write the pages of all commands.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "man"), after_long_help = HELP)]
pub(crate) struct ManArgs {
    /// Directory for the pages [default: print the main page]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArg,
}

impl ManArgs {
    /// Prints or writes the pages of `program`.
    pub(crate) fn run(self, program: Command) -> Result<RunOutcome> {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        let Some(directory) = self.directory else {
            print(&page(&program)?)?;
            return Ok(RunOutcome::Done);
        };
        signals::handle();
        check_directory_name("DIR", &directory)?;
        let pages = pages(&program);
        let mut outputs = Outputs::new(self.force.overwrite());
        for command in &pages {
            outputs.file("DIR", &directory.join(file_name(command)), OutputContent::Manual)?;
        }
        fs::create_dir_all(&directory)
            .map_err(|err| Error::io("cannot create", &directory, err))?;
        for command in pages {
            let path = directory.join(file_name(command));
            replace(&path, page(command)?.as_bytes())?;
        }
        Ok(RunOutcome::Done)
    }
}

/// `command` and all its subcommands.
fn pages(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(command).chain(below.flat_map(pages)).collect()
}

/// The name of a page without its section, such as `botaudit-robots-fetch`.
fn title(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn file_name(command: &Command) -> String {
    format!("{}.1", title(command))
}

/// The page of `command` in roff.
fn page(command: &Command) -> Result<String> {
    let mut text = Vec::new();
    render(command, &mut text)
        .map_err(|err| Error::io("cannot write", Path::new("a manual page"), err))?;
    Ok(tidied(&String::from_utf8_lossy(&text)))
}

fn render(command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    // clap_mangen leaves out the text of options that -h hides.
    let command = &command.clone().mut_args(|arg| arg.hide_short_help(false));
    let man = Man::new(command.clone())
        .title(title(command).to_uppercase())
        .date(PAGES_DATE)
        .source(concat!("botaudit ", env!("CARGO_PKG_VERSION")))
        .manual("botaudit manual");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    help_sections(command, out)?;
    see_also(command, out)
}

/// Writes the sections of the help text, and those that every manual page has at the end.
fn help_sections(command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let mut sections = sections(&text);
    let last = [EXIT_CODES, FILES, EXAMPLES];
    sections.sort_by_key(|section| last.iter().position(|heading| *heading == section.heading));
    for section in sections {
        let heading = match section.heading {
            EXIT_CODES => "EXIT STATUS".to_owned(),
            heading => heading.to_uppercase(),
        };
        let mut roff = Roff::default();
        roff.control("SH", [heading.as_str()]);
        roff.control("nf", []);
        for line in section.body.lines() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        roff.control("fi", []);
        roff.to_writer(out)?;
    }
    Ok(())
}

/// Writes references to the pages of the parent command and the subcommands.
fn see_also(command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    let above = title(command).rsplit_once('-').map(|(above, _)| above.to_owned());
    let below = command.get_subcommands().map(|command| title(command).to_owned());
    let names: Vec<String> = above.into_iter().chain(below).map(|name| name + "(1)").collect();
    let mut roff = Roff::default();
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman(names.join(", "))]);
    roff.to_writer(out)
}

/// `page` without repeated preambles, trailing spaces and blank lines, which manual pages should
/// not have.
fn tidied(page: &str) -> String {
    let mut text = String::new();
    let mut lines = page.lines().map(str::trim_end).peekable();
    let mut is_break = false;
    while let Some(line) = lines.next() {
        // Next to a line break, another one or vertical space has no effect.
        let is_repeated = match line {
            "" | ".br" => is_break || lines.peek() == Some(&".br"),
            _ => is_preamble(line) && text.contains(line),
        };
        is_break = line == ".br" || (line.is_empty() && is_break);
        match line {
            _ if is_repeated => {}
            "" => text += ".sp\n",
            _ => text += &format!("{line}\n"),
        }
    }
    text
}

/// Whether `line` is the apostrophe definition at the start of each part of a page.
fn is_preamble(line: &str) -> bool {
    line.starts_with(".ie ") || line.starts_with(".el ")
}

const COMPLETIONS_HELP: &str = include_str!("help/completions.txt");

/// Print completions for a shell.
///
/// They complete commands, options, and names of crawlers, tables, log formats and lint codes.
#[derive(Args, Debug)]
#[command(after_help = short(COMPLETIONS_HELP, "completions"), after_long_help = COMPLETIONS_HELP)]
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
