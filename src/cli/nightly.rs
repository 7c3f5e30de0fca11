//! `botaudit nightly`: one day of each site of a configuration file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::{ArgAction, Args, CommandFactory, Parser};

use crate::error::{Error, Result};
use crate::input::source::{Place, Source, expand};
use crate::nightly::config::{self, Config, Key, Mistake, Site, Takes, Value};
use crate::nightly::copies::without_copies;
use crate::nightly::days::{day_directory, point_to_latest, tidy};
use crate::nightly::lock::{Locked, lock};
use crate::nightly::rotation::Standing;
use crate::time::{Day, UtcTime, Zone};

use super::Outcome;
use super::audit::AuditArgs;
use super::shared::{complain, print};

/// Flags of an audit that the job itself decides.
const NOT_KEYS: [&str; 6] = ["output", "since", "until", "quiet", "help", "version"];

/// A log that was last written to so long before a day holds nothing of it, however clocks differ.
const CLOCKS_DIFFER_MAX: Duration = Duration::from_secs(86_400);

/// How often logs are read that are rotated each time meanwhile.
const READINGS_MAX: usize = 3;

const EXAMPLES: &str = "\
Examples:
  Yesterday, for all sites of botaudit.toml in this directory:
    botaudit nightly

  What would be read, and every mistake in the file:
    botaudit nightly --config /etc/botaudit.toml --check-config

  A day again, from the logs as they are now:
    botaudit nightly --config /etc/botaudit.toml --day 2026-11-20

Exit codes (of several, the first of 4, 2, 3, 1):
  0 done   1 a threshold was met   2 the configuration is mistaken, or a site could not be audited
  3 reports written, but some input was damaged   4 another run is at work";

/// Audit one day of each site of a configuration file.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit nightly --help")]
pub struct NightlyArgs {
    /// The configuration. Paths in it are relative to the directory that it is in.
    #[arg(long, value_name = "FILE", default_value = "botaudit.toml")]
    config: PathBuf,

    /// The day to audit, as 2026-11-20; yesterday if not given, in the zone of each site.
    #[arg(long, value_name = "DAY", value_parser = day)]
    day: Option<Day>,

    /// Name every mistake and what would be read; audit nothing.
    #[arg(long)]
    check_config: bool,

    /// Say nothing but warnings, errors and which thresholds were met.
    #[arg(short, long)]
    quiet: bool,
}

/// The flags of an audit as a command of their own.
#[derive(Debug, Parser)]
#[command(name = "site", no_binary_name = true, disable_help_flag = true)]
struct SiteArgs {
    #[command(flatten)]
    audit: AuditArgs,
}

/// A site, ready to be audited.
struct Job<'a> {
    site: &'a Site,
    day: Day,
    audit: AuditArgs,
    /// What is read.
    sources: Vec<Source>,
    /// All that its names led to, and to what, when they were listed.
    listed: Vec<Source>,
    standing: Standing,
    /// Sentences on what is not.
    passed_over: Vec<String>,
}

impl NightlyArgs {
    /// Runs the job.
    pub fn run(self) -> Result<Outcome> {
        let text = fs::read_to_string(&self.config)
            .map_err(|err| Error::io("cannot read --config", &self.config, err))?;
        let name = self.config.display().to_string();
        enter_directory_of(&self.config)?;
        let (config, mut mistakes) = config::parse(&text, &keys());
        let now = UtcTime::from(jiff::Timestamp::now());
        let mut jobs = Vec::new();
        for site in &config.sites {
            match self.job(site, now) {
                Ok(job) => jobs.push(job),
                Err(more) => mistakes.extend(more),
            }
        }
        for Mistake { line, key, why } in &mistakes {
            let colon = if key.is_empty() { "" } else { ": " };
            complain(&format!("{name}:{line}: {key}{colon}{why}"));
        }
        if !mistakes.is_empty() {
            return Err(Error::usage(format!("{name} has mistakes; nothing was read")));
        }
        if self.check_config {
            return print(&described(&jobs)).map(|()| Outcome::Done);
        }
        self.audit_all(jobs, &config, now)
    }

    fn audit_all(&self, jobs: Vec<Job<'_>>, config: &Config, now: UtcTime) -> Result<Outcome> {
        let mut locks: Vec<File> = Vec::new();
        for job in &jobs {
            match lock(&job.site.reports, now)? {
                Locked::Ours(file) => locks.push(file),
                Locked::Theirs(who) => {
                    complain(&format!("another run is at work: {who}; nothing was done"));
                    return Ok(Outcome::Locked);
                }
            }
        }
        let outcomes = jobs.into_iter().map(|job| self.audit(job, config, now));
        let worst = outcomes.max_by_key(|outcome| match outcome {
            Outcome::Done => 0,
            Outcome::Violations => 1,
            Outcome::Incomplete => 2,
            _ => 3,
        });
        Ok(worst.unwrap_or(Outcome::Done))
    }

    /// One site; what goes wrong with it keeps no other from being audited.
    fn audit(&self, mut job: Job<'_>, config: &Config, now: UtcTime) -> Outcome {
        let (site, day) = (job.site, job.day);
        let tell = |what: &str| complain(&format!("{} on {day}: {what}", site.name));
        for reading in 1.. {
            let (listed, standing) = (job.listed.clone(), job.standing.clone());
            let outcome = self.audit_once(job, config).unwrap_or_else(|err| {
                tell(&err.to_string());
                Outcome::Undecided
            });
            if !standing.is_rotated(&Standing::of(&listed)) {
                if matches!(outcome, Outcome::Violations | Outcome::Incomplete) {
                    tell(&format!("see {}", day_directory(&site.reports, day).display()));
                }
                return outcome;
            }
            match self.job(site, now) {
                Ok(again) if reading < READINGS_MAX => job = again,
                _ if outcome == Outcome::Undecided => return outcome,
                _ => {
                    tell("its logs were rotated each time they were read; lines may be missing");
                    return Outcome::Incomplete;
                }
            }
            tell("its logs were rotated while they were read; reading them again");
        }
        unreachable!("there is no last reading but those above")
    }

    fn audit_once(&self, job: Job<'_>, config: &Config) -> Result<Outcome> {
        let Job { site, day, audit, passed_over, .. } = job;
        if !self.quiet {
            print(&format!("{} on {day}\n", site.name))?;
            passed_over.iter().try_for_each(|what| print(&format!("  {what}\n")))?;
        }
        let outcome = audit.run()?;
        point_to_latest(&site.reports)?;
        if let Some(days) = config.keep_days {
            let days = i32::try_from(days).unwrap_or(i32::MAX);
            let stays = tidy(&site.reports, day.plus(1).plus(-days))?;
            stays.iter().for_each(|why| complain(&format!("{}: {why}", site.name)));
        }
        Ok(outcome)
    }

    fn job<'a>(&self, site: &'a Site, now: UtcTime) -> std::result::Result<Job<'a>, Vec<Mistake>> {
        let zone = match site.settings.get("timezone").map(|setting| &setting.value) {
            Some(Value::Words(words)) => words.first().and_then(|name| Zone::named(name)),
            _ => Some(Zone::UTC),
        };
        if !site.settings.contains_key("robots") {
            let why = "missing; write robots = \"robots.txt\", a file, a directory or an archive";
            let key = format!("sites.{}.robots", site.name);
            return Err(vec![Mistake { line: site.line, key, why: why.to_owned() }]);
        }
        // A zone that is unknown is a mistake that the flags of the audit tell.
        let day = self.day.unwrap_or_else(|| zone.unwrap_or(Zone::UTC).day_of(now).plus(-1));
        let logs: Vec<OsString> = site.logs.iter().map(OsString::from).collect();
        let listed = expand(&logs);
        let standing = Standing::of(&listed);
        let (sources, mut passed_over) = written_since(listed.clone(), day);
        let (sources, copies) = without_copies(sources);
        passed_over.extend(
            copies
                .iter()
                .map(|copy| format!("{} is not read: {} holds all of it", copy.name, copy.of)),
        );
        let audit = site_args(site, day, &sources, self.quiet)?;
        Ok(Job { site, day, audit, sources, listed, standing, passed_over })
    }
}

/// The flags of an audit that may stand in the file.
fn keys() -> Vec<Key> {
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

/// The audit of one day of `site`.
fn site_args(
    site: &Site,
    day: Day,
    sources: &[Source],
    is_quiet: bool,
) -> std::result::Result<AuditArgs, Vec<Mistake>> {
    let report = day_directory(&site.reports, day);
    let mut words: Vec<OsString> = Vec::new();
    let mut flag = |name: &str, value: &Path| {
        let mut word = OsString::from(format!("--{name}="));
        word.push(value);
        words.push(word);
    };
    flag("output", &report);
    flag("since", Path::new(&day.to_string()));
    flag("until", Path::new(&day.plus(1).to_string()));
    words.extend(is_quiet.then(|| OsString::from("--quiet")));
    for (key, setting) in &site.settings {
        words.extend(flag_words(key, &setting.value, &report));
    }
    words.push("--".into());
    words.extend(sources.iter().map(|source| match &source.place {
        Place::File(path) => path.clone().into_os_string(),
        _ => OsString::from(&source.name),
    }));
    let checked = SiteArgs::try_parse_from(words)
        .map_err(|err| told(&err))
        .and_then(|args| args.audit.check().map_err(|err| err.to_string()).map(|()| args.audit));
    checked.map_err(|why| vec![mistake(site, &report, why)])
}

/// `key` as flags. Evidence that is given a bare name stands in the report.
fn flag_words(key: &str, value: &Value, report: &Path) -> Vec<OsString> {
    let flag = key.replace('_', "-");
    match value {
        Value::Switch(is_on) => is_on.then(|| format!("--{flag}").into()).into_iter().collect(),
        Value::Words(values) => values
            .iter()
            .map(|value| {
                let mut word = OsString::from(format!("--{flag}="));
                if key == "requests" && !value.contains('/') {
                    word.push(report.join(value));
                } else {
                    word.push(value);
                }
                word
            })
            .collect(),
    }
}

/// `why` the flags of `site` cannot be meant, at the key that is to blame: that which is wrong by
/// itself, or else that which the message names.
fn mistake(site: &Site, report: &Path, why: String) -> Mistake {
    let is_wrong_alone = |key: &str, value: &Value| {
        let mut words = flag_words(key, value, report);
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

/// Leaves out the logs that were last written to well before `day`, but for the last one. What is
/// left out, in a sentence.
fn written_since(sources: Vec<Source>, day: Day) -> (Vec<Source>, Vec<String>) {
    let Some(start) = Zone::UTC.parse(&day.to_string()) else { return (sources, Vec::new()) };
    let start = u64::try_from(start.unix_seconds()).unwrap_or(0);
    let first = SystemTime::UNIX_EPOCH + Duration::from_secs(start) - CLOCKS_DIFFER_MAX;
    let written = |source: &Source| match &source.place {
        Place::File(path) => fs::metadata(path).and_then(|data| data.modified()).ok(),
        _ => None,
    };
    let is_old = |source: &Source| written(source).is_some_and(|time| time < first);
    let (old, mut recent): (Vec<Source>, Vec<Source>) = sources.into_iter().partition(is_old);
    let mut passed_over = old.len();
    if recent.is_empty() {
        let last = old.iter().max_by_key(|source| written(source));
        recent.extend(last.cloned());
        passed_over -= recent.len();
    }
    let told = format!("{passed_over} logs are not read: last written to well before {day}");
    (recent, if passed_over > 0 { vec![told] } else { Vec::new() })
}

/// What would be read and written.
fn described(jobs: &[Job<'_>]) -> String {
    let mut text = String::new();
    for Job { site, day, sources, passed_over, .. } in jobs {
        let report = day_directory(&site.reports, *day);
        text += &format!("{} on {day}, report in {}\n", site.name, report.display());
        for source in sources {
            let why = match &source.place {
                Place::Nowhere(why) => format!(": {why}"),
                _ => String::new(),
            };
            text += &format!("  {}{why}\n", source.name);
        }
        passed_over.iter().for_each(|what| text += &format!("  ({what})\n"));
    }
    text
}

/// So that paths mean the same wherever the job is started.
fn enter_directory_of(config: &Path) -> Result<()> {
    let directory = config.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Some(directory) = directory else { return Ok(()) };
    std::env::set_current_dir(directory).map_err(|err| Error::io("cannot enter", directory, err))
}

fn day(text: &str) -> std::result::Result<Day, String> {
    Day::parse(text).ok_or_else(|| "write a day as 2026-11-20".to_owned())
}
