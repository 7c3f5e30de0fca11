//! The flags of the options of an audit, made from their table.

use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, error::ErrorKind};
use clap::{parser::ValueSource, value_parser};

use crate::config::audit_config::{AuditConfig, OPTIONS};
use crate::config::option::{FlagGroup, OptionEntry};
use crate::config::option_value::Kind;

/// The format of all logs.
pub(crate) type FormatFlags = OptionFlags<{ FlagGroup::Format as u8 }>;

/// The names of the flags, as long as clap needs them.
static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| OPTIONS.iter().map(|option| option.key.replace('_', "-")).collect());

/// The flags of a [`FlagGroup`].
#[derive(Clone, Debug)]
pub(crate) struct OptionFlags<const GROUP: u8>(Box<AuditConfig>);

impl<const GROUP: u8> OptionFlags<GROUP> {
    /// The part of the configuration that these flags set.
    pub(crate) fn config(&self) -> AuditConfig {
        AuditConfig::clone(&self.0)
    }

    /// Each option with the name of its flag.
    fn options() -> impl Iterator<Item = (&'static OptionEntry, &'static str)> {
        let named = OPTIONS.iter().zip(NAMES.iter().map(String::as_str));
        named.filter(|(option, _)| option.group as u8 == GROUP)
    }
}

impl<const GROUP: u8> Args for OptionFlags<GROUP> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::options().map(|(option, name)| arg(option, name)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const GROUP: u8> FromArgMatches for OptionFlags<GROUP> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = OptionFlags(Box::default());
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let is_given = |key| matches.value_source(key) == Some(ValueSource::CommandLine);
        let keys = Self::options().map(|(option, _)| option.key);
        for key in keys.filter(|key| is_given(key)) {
            let words = matches.get_raw(key).into_iter().flatten().map(Into::into).collect();
            let set = self.0.set_words(key, words);
            set.map_err(|why| clap::Error::raw(ErrorKind::ValueValidation, why))?;
        }
        Ok(())
    }
}

/// The flag of `option`.
fn arg(option: &'static OptionEntry, name: &'static str) -> Arg {
    let arg = Arg::new(option.key)
        .long(name)
        .help_heading(option.heading)
        .help(option.short_help())
        .hide_short_help(!option.is_in_short_help);
    let arg = match option.long_help() {
        Some(text) => arg.long_help(text),
        None => arg,
    };
    match option.kind {
        Kind::Switch => arg.action(ArgAction::SetTrue),
        kind => arg
            .action(if option.is_list { ArgAction::Append } else { ArgAction::Set })
            .value_name(option.value_name)
            .value_parser(parser(option))
            .allow_negative_numbers(matches!(kind, Kind::Whole))
            .hide_possible_values(true),
    }
}

/// What refuses values that are not valid.
fn parser(option: &'static OptionEntry) -> ValueParser {
    match option.kind {
        Kind::Path => value_parser!(std::path::PathBuf),
        Kind::Choice(names) => {
            let names = names.iter().map(|(name, help)| PossibleValue::new(*name).help(*help));
            PossibleValuesParser::new(names).into()
        }
        Kind::Switch | Kind::Whole | Kind::Text => ValueParser::from(|text: &str| {
            AuditConfig::default()
                .set_words(option.key, vec![text.into()])
                .map(|()| text.to_owned())
        }),
    }
}
