//! The terminal: colors, width and verbosity.

use std::io::{IsTerminal, stderr, stdout};
use std::{ffi::OsString, sync::OnceLock};

use clap::{ArgAction, Args, ColorChoice, ValueEnum};
use terminal_size::{Width, terminal_size_of};

use crate::report::terminal_text::Palette;

/// The width if the output is not a terminal.
const COLUMNS: usize = 100;

/// The flags that every command has, after its own.
#[derive(Args, Debug)]
#[command(next_help_heading = "General options")]
pub(crate) struct TerminalArgs {
    /// Print more notes: log formats, rules, threads, times.
    #[arg(short, long, global = true)]
    verbose: bool,

    /// Use colors: auto, always or never [default: auto]
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto,
        hide_short_help = true, hide_possible_values = true, hide_default_value = true)]
    color: ColorChoice,

    /// Do not limit the access rights of the run.
    #[arg(long, global = true, hide_short_help = true)]
    no_sandbox: bool,

    /// Print help; -h is a summary.
    #[arg(short, long, global = true, action = ArgAction::Help, hide_short_help = true)]
    help: Option<bool>,
}

/// Set once, before the command runs.
static TERMINAL: OnceLock<TerminalArgs> = OnceLock::new();

/// An output stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OutputStream {
    Stdout,
    Stderr,
}

impl TerminalArgs {
    /// Makes these flags effective.
    pub(crate) fn begin(self) {
        // A second call would have the same command line.
        let _ = TERMINAL.set(self);
    }
}

/// The value of `--color` in `arguments`. It is read before clap runs, because the help has colors,
/// too.
pub(crate) fn color_of(arguments: impl IntoIterator<Item = OsString>) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    let mut arguments = arguments.into_iter().take_while(|argument| argument != "--");
    while let Some(argument) = arguments.next() {
        let value = match argument.to_str().and_then(|text| text.strip_prefix("--color")) {
            Some("") => arguments.next().and_then(|value| value.into_string().ok()),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        let given = value.and_then(|value| ColorChoice::from_str(&value, false).ok());
        choice = given.unwrap_or(choice);
    }
    choice
}

impl OutputStream {
    /// The colors of this stream.
    pub(crate) fn palette(self) -> Palette {
        let choice = TERMINAL.get().map_or(ColorChoice::Never, |terminal| terminal.color);
        if self.is_colored(choice) { Palette::Ansi } else { Palette::Plain }
    }

    /// Whether this stream has colors if the user chose `choice`.
    pub(crate) fn is_colored(self, choice: ColorChoice) -> bool {
        match choice {
            ColorChoice::Never => false,
            ColorChoice::Always => true,
            ColorChoice::Auto => self.is_terminal() && has_colors(),
        }
    }

    /// The width of this stream in characters.
    pub(crate) fn columns(self) -> usize {
        let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let measured = || match self {
            OutputStream::Stdout => terminal_size_of(stdout()),
            OutputStream::Stderr => terminal_size_of(stderr()),
        };
        let columns = named.or_else(|| measured().map(|(Width(columns), _)| columns.into()));
        columns.filter(|columns| *columns > 0).unwrap_or(COLUMNS)
    }

    fn is_terminal(self) -> bool {
        match self {
            OutputStream::Stdout => stdout().is_terminal(),
            OutputStream::Stderr => stderr().is_terminal(),
        }
    }
}

/// Whether the environment allows colors.
fn has_colors() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// Whether the process is to confine itself: no `--no-sandbox`.
pub(crate) fn is_confined() -> bool {
    TERMINAL.get().is_some_and(|terminal| !terminal.no_sandbox)
}

/// Whether `--verbose` is given.
pub(crate) fn is_verbose() -> bool {
    TERMINAL.get().is_some_and(|terminal| terminal.verbose)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_color_wins_wherever_it_stands() {
        for (arguments, expected) in [
            ("audit", ColorChoice::Auto),
            ("--color always audit", ColorChoice::Always),
            ("audit --help --color=never", ColorChoice::Never),
            ("audit --color always --color never", ColorChoice::Never),
            ("audit --colors=never --color pink --color", ColorChoice::Auto),
            ("audit -- --color never", ColorChoice::Auto),
        ] {
            let words = arguments.split(' ').map(OsString::from);
            assert_eq!(color_of(words), expected, "{arguments}");
        }
    }
}
