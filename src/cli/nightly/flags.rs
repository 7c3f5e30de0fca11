//! The keys of a configuration as flags of an audit, and mistakes in them by the key.

use std::ffi::OsString;
use std::path::Path;

use clap::{ArgAction, CommandFactory, Parser};

use crate::nightly::config::{Key, Mistake, Site, Takes, Value};
use crate::time::Day;

use super::super::audit::AuditArgs;

/// Flags of an audit that the job itself decides, or cannot have.
const NOT_KEYS: [&str; 11] = [
    "output",
    "since",
    "until",
    "quiet",
    "help",
    "version",
    "requests",
    "force",
    "simulate",
    "simulate-for",
    "log-evidence",
];

/// The flags of an audit as a command of their own.
#[derive(Debug, Parser)]
#[command(name = "site", no_binary_name = true, disable_help_flag = true)]
struct SiteArgs {
    #[command(flatten)]
    audit: AuditArgs,
}

/// The flags of an audit that may stand in the file.
pub fn keys() -> Vec<Key> {
    let command = SiteArgs::command();
    let flags = command.get_arguments().filter_map(|argument| {
        let name = argument.get_long().filter(|name| !NOT_KEYS.contains(name))?;
        let takes = match argument.get_action() {
            ArgAction::SetTrue => Takes::Switch,
            ArgAction::Append => Takes::Many,
            _ => Takes::One,
        };
        let takes = (!argument.is_hide_set()).then_some(takes)?;
        Some(Key { name: name.replace('-', "_"), takes })
    });
    flags.collect()
}

/// The flags of `site`, and the first day of which its lines are read.
pub fn site_args(
    site: &Site,
    since: Option<Day>,
    is_quiet: bool,
) -> std::result::Result<AuditArgs, Vec<Mistake>> {
    let report = &site.reports;
    let mut words: Vec<OsString> = Vec::new();
    let mut flag = |name: &str, value: &Path| {
        let mut word = OsString::from(format!("--{name}="));
        word.push(value);
        words.push(word);
    };
    flag("output", report);
    if let Some(since) = since {
        flag("since", Path::new(&since.to_string()));
    }
    words.extend(is_quiet.then(|| OsString::from("--quiet")));
    for (key, setting) in &site.settings {
        words.extend(flag_words(key, &setting.value));
    }
    words.push("--".into());
    // The job itself names the logs.
    words.push("-".into());
    let checked = SiteArgs::try_parse_from(words)
        .map_err(|err| told(&err))
        .and_then(|args| args.audit.check().map_err(|err| err.to_string()).map(|()| args.audit));
    checked.map_err(|why| vec![mistake(site, why)])
}

/// `key` as flags.
fn flag_words(key: &str, value: &Value) -> Vec<OsString> {
    let flag = key.replace('_', "-");
    match value {
        Value::Switch(is_on) => is_on.then(|| format!("--{flag}").into()).into_iter().collect(),
        Value::Words(values) => {
            values.iter().map(|value| format!("--{flag}={value}").into()).collect()
        }
    }
}

/// `why` the flags of `site` cannot be meant, at the key that is to blame: that which is wrong by
/// itself, or else that which the message names.
fn mistake(site: &Site, why: String) -> Mistake {
    let is_wrong_alone = |key: &str, value: &Value| {
        let mut words = flag_words(key, value);
        words.push("-".into());
        let parsed = SiteArgs::try_parse_from(words);
        parsed.is_err_and(|err| err.kind() != clap::error::ErrorKind::MissingRequiredArgument)
    };
    let mut settings = site.settings.iter();
    let alone = settings.find(|(key, setting)| is_wrong_alone(key, &setting.value));
    let named = || {
        let is_named = |key: &str| why.contains(&format!("--{} ", key.replace('_', "-")));
        site.settings.iter().find(|(key, _)| is_named(key))
    };
    let quoted = || {
        site.settings.iter().find(|(_, setting)| match &setting.value {
            Value::Words(words) => words.iter().any(|word| why.starts_with(word.as_str())),
            Value::Switch(_) => false,
        })
    };
    let (line, key) = match alone.or_else(named).or_else(quoted) {
        Some((key, setting)) => (setting.line, format!("sites.{}.{key}", site.name)),
        None => (site.line, format!("sites.{}", site.name)),
    };
    Mistake { line, key, why }
}

/// The first lines of what clap says, without its advice on a command line that nobody wrote.
fn told(err: &clap::Error) -> String {
    let text = err.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("For more")).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}
