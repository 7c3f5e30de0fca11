//! The command line: arguments to configurations, results to exit codes.
//!
//! The only module that knows clap, indicatif, the terminal and signals.

mod audit;
mod check;
mod classify;
mod console;
mod crawlers;
mod deny;
mod evidence;
mod formats;
mod help;
mod lint;
mod manual;
mod merge;
mod nightly;
mod option_flags;
mod report;
mod robots;
pub mod shared;
mod signals;
mod terminal;

use std::{ffi::OsString, path::Path, process::ExitCode};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::{Error, Result};
use crate::run::console::RunOutcome;
use crate::table::escape::{has_hidden, visible};

use help::{dense, short_of_program};
use shared::{SummaryFlags, error};
use terminal::{OutputStream, TerminalArgs, color_of};

const HELP: &str = include_str!("help/start.txt");

/// Report which crawlers broke which rules of robots.txt, how often and when.
#[derive(Debug, Parser)]
#[command(name = "botaudit", version, arg_required_else_help = true, max_term_width = 100,
    disable_help_flag = true, after_help = short_of_program(HELP), after_long_help = HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    terminal: TerminalArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Audit(Box<audit::AuditArgs>),
    Report(report::ReportArgs),
    Merge(merge::MergeArgs),
    Deny(deny::DenyArgs),
    Evidence(evidence::EvidenceArgs),
    Check(check::CheckArgs),
    Formats(formats::FormatsArgs),
    Crawlers(crawlers::CrawlersArgs),
    Classify(classify::ClassifyArgs),
    Lint(lint::LintArgs),
    Nightly(nightly::NightlyArgs),
    Init(nightly::InitArgs),
    Robots(robots::RobotsArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    run(std::env::args_os().collect()).into()
}

/// Parses `arguments`, the name of the program and its arguments, runs the command, and returns the
/// exit code; `help/start.txt` lists them.
pub fn run(arguments: Vec<OsString>) -> u8 {
    let color = color_of(arguments.iter().cloned());
    let program = Cli::command().color(color);
    let program = program.mut_subcommand("report", SummaryFlags::shown);
    let mut program = program.mut_subcommand("merge", SummaryFlags::shown);
    let is_of_crawlers = arguments.get(1).is_some_and(|word| word == "crawlers");
    let parsed = program.try_get_matches_from_mut(arguments);
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    let Cli { command, terminal } = match parsed {
        Ok(cli) => cli,
        Err(err) if err.kind() == ErrorKind::DisplayHelp => {
            let (text, is_colored) = (err.render(), OutputStream::Stdout.is_colored(color));
            let text = if is_colored { text.ansi().to_string() } else { text.to_string() };
            return exit_code(shared::print(&dense(&text)).map(|()| RunOutcome::Done));
        }
        Err(err) => match misplaced(&err, is_of_crawlers) {
            Some(why) => return exit_code(Err(Error::usage(why))),
            None => escaped(err).exit(),
        },
    };
    terminal.begin();
    signals::block();
    let result = match command {
        Command::Audit(args) => args.run(),
        Command::Report(args) => args.run(),
        Command::Merge(args) => args.run(),
        Command::Deny(args) => args.run(),
        Command::Evidence(args) => args.run(),
        Command::Check(args) => args.run(),
        Command::Formats(args) => args.run(),
        Command::Crawlers(args) => args.run(),
        Command::Classify(args) => args.run(),
        Command::Lint(args) => args.run(),
        Command::Nightly(args) => args.run(),
        Command::Init(args) => args.run(),
        Command::Robots(args) => args.run(),
        Command::Completions(args) => args.run(Cli::command()),
        Command::Man(args) => args.run(Cli::command()),
    };
    exit_code(result)
}

/// The same error, which repeats nothing from the command line that a terminal would act on, or that
/// hides or reverses text.
fn escaped(mut err: clap::Error) -> clap::Error {
    let is_escaped = err.context().any(|(_, value)| match value {
        ContextValue::String(text) => has_hidden(text),
        ContextValue::Strings(texts) => texts.iter().any(|text| has_hidden(text)),
        _ => false,
    });
    if !is_escaped {
        return err;
    }
    let escape = |text: &String| visible(text.as_bytes());
    let escape = |(kind, value): (ContextKind, &ContextValue)| match value {
        ContextValue::String(text) => Some((kind, ContextValue::String(escape(text)))),
        ContextValue::Strings(texts) => {
            Some((kind, ContextValue::Strings(texts.iter().map(escape).collect())))
        }
        // Tips repeat the argument, between marks for a terminal.
        ContextValue::StyledStrs(_) => Some((kind, ContextValue::None)),
        _ => None,
    };
    let values: Vec<(ContextKind, ContextValue)> = err.context().filter_map(escape).collect();
    values.into_iter().for_each(|(kind, value)| {
        err.insert(kind, value);
    });
    err
}

/// What to say of a log without a command, of a crawler in place of a subcommand, of `--version`
/// after a command, and of `-r`.
fn misplaced(err: &clap::Error, is_of_crawlers: bool) -> Option<String> {
    let text = |kind| match err.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match err.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = text(ContextKind::InvalidSubcommand)?;
            if is_of_crawlers {
                let run = format!("botaudit crawlers show '{name}'");
                return Some(format!("'{name}' is not a command; to show a crawler, run: {run}"));
            }
            let is_path = name.contains(['.', '/']) || Path::new(name).exists();
            is_path.then(|| {
                format!(
                    "'{name}' is not a command; to audit a log, run: botaudit audit --robots \
                     robots.txt {name}"
                )
            })
        }
        ErrorKind::UnknownArgument => match text(ContextKind::InvalidArg)? {
            "--version" | "-V" => {
                Some("commands have no --version; run: botaudit --version".to_owned())
            }
            "-r" => Some("-r is not an option; write --robots robots.txt".to_owned()),
            _ => None,
        },
        _ => None,
    }
}

/// Prints the error of `result`, if it is one, and returns the exit code.
pub(crate) fn exit_code(result: Result<RunOutcome>) -> u8 {
    match result {
        Ok(outcome) => outcome.code(),
        // The reader of the output closed it (`| head`).
        Err(err) if err.is_broken_pipe() => 0,
        Err(err) => {
            error(&err.to_string());
            RunOutcome::Undecided.code()
        }
    }
}
