//! The configuration file: named sites, each with its logs and any settings of an audit.
//!
//! ```toml
//! reports = "reports"          # the directory of the reports of all sites
//! keep_days = 400              # older reports are removed
//! state = "state.sqlite"       # what a nightly job remembers
//! keep_state_days = 400        # older days are forgotten
//!
//! [defaults]                   # for all sites that do not say otherwise
//! ip_ranges = "ranges"
//!
//! [sites.shop]
//! logs = ["/var/log/nginx/shop.access.log*"]
//! robots = "robots/shop.txt"
//! fail_on = ["violations > 0 where identity = 'verified'"]
//! ```
//!
//! A key is a flag without its dashes, with `_` or `-` between words. All mistakes are reported,
//! not only the first one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, de::IgnoredAny};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::error::{Error, Result};

use super::audit_config::AuditConfig;
use super::setting::{Days, Fault, KeyTable, Scalar, settings};

/// The content of a configuration file.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    /// The days whose reports are kept, including the day of the run; `None` means all.
    pub keep_days: Option<Days>,
    /// The reports directory of sites without their own.
    pub reports: PathBuf,
    /// The state file of `nightly`.
    pub state: PathBuf,
    /// The days kept in the state, including the day of the run; `None` means all.
    pub keep_state_days: Option<Days>,
    /// When something is news; a 0 means never.
    pub news: NewsLimits,
    /// The sites, sorted by name.
    pub sites: Vec<SiteConfig>,
}

/// From which numbers on something is an event of a night.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewsLimits {
    /// Lines of a day before one without any.
    pub silent_lines: u64,
    /// Lines of an earlier day that come late.
    pub late_lines: u64,
    /// Days since the newest address list was fetched.
    pub lists_days: u64,
    /// How many times the median of its two weeks before a crawler's requests or violations of a day are; 0 means never.
    pub volume_times: u64,
    /// The least requests of such a day.
    pub volume_requests: u64,
}

/// A site.
#[derive(Clone, Debug)]
pub struct SiteConfig {
    /// The name, which is valid as the name of a directory.
    pub name: String,
    /// The first line of its table, from 1.
    pub line: u64,
    /// The directory of its daily reports.
    pub reports: PathBuf,
    /// Files, directories and patterns.
    pub logs: Vec<String>,
    /// Its settings, combined with the defaults of the file.
    pub audit: AuditConfig,
    positions: KeyPositions,
}

/// The positions of the keys of a table.
type KeyPositions = BTreeMap<&'static str, KeyPosition>;

#[derive(Clone, Debug)]
struct KeyPosition {
    line: u64,
    /// The key with its table.
    path: String,
}

/// A mistake in a file.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ConfigError {
    /// The line number, from 1.
    pub line: u64,
    /// The key with its table; empty if the mistake has no key.
    pub key: String,
    /// What is wrong, and what to write.
    pub why: String,
}

settings! {
    /// The keys outside of tables.
    pub(crate) struct TopKeys {
        /// The directory of the reports.
        pub reports: PathBuf,
        /// The days whose reports are kept.
        pub keep_days: Days,
        /// The state file of `nightly`.
        pub state: PathBuf,
        /// The days kept in the state.
        pub keep_state_days: Days,
        /// The least lines of a day before one without any, for the event that a log is silent.
        pub silent_lines: usize,
        /// The least lines that come late, for the event that an earlier day has changed.
        pub late_lines: usize,
        /// The age of all address lists, in days, for the event that they are old.
        pub lists_days: usize,
        pub volume_times: usize,
        pub volume_requests: usize,
    }
}

settings! {
    /// The keys that exist only for a site.
    pub(crate) struct SiteKeys {
        /// Files, directories and patterns.
        pub logs: Vec<String>,
        /// The directory of its reports.
        pub output: PathBuf,
    }
}

/// The top-level tables.
const TABLES: [&str; 2] = ["defaults", "sites"];

/// The letters of a key per wrong letter that is tolerated in a proposal.
const LETTERS_PER_SLIP: usize = 3;

impl SiteConfig {
    /// The line of the site's own or inherited `key`, if it is given.
    pub(crate) fn line_of(&self, key: &str) -> Option<u64> {
        self.positions.get(key).map(|position| position.line)
    }

    /// `fault` as a mistake in the file.
    pub fn error(&self, fault: &Fault) -> ConfigError {
        let why = fault.of_file();
        match self.positions.get(fault.key) {
            Some(KeyPosition { line, path }) => ConfigError { line: *line, key: path.clone(), why },
            None => ConfigError {
                line: self.line,
                key: format!("sites.{}.{}", self.name, fault.key),
                why,
            },
        }
    }
}

impl ConfigError {
    /// One line for the user of the file `name`.
    pub(crate) fn at(&self, name: &str) -> String {
        let ConfigError { line, key, why } = self;
        let colon = if key.is_empty() { "" } else { ": " };
        format!("{name}:{line}: {key}{colon}{why}")
    }
}

impl AuditConfig {
    /// The keys of all settings.
    #[doc(hidden)]
    pub fn keys() -> &'static [&'static str] {
        <AuditConfig as KeyTable>::keys()
    }

    /// The settings in `text`: the keys and values of the table `[defaults]` of a configuration
    /// file, in TOML.
    ///
    /// ```
    /// let config = botaudit::AuditConfig::from_toml("robots = 'robots.txt'\nreaction_days = 7")?;
    /// assert_eq!(config.reaction_days, Some(7));
    /// # Ok::<(), botaudit::Error>(())
    /// ```
    ///
    /// # Errors
    /// All unknown keys and invalid values.
    pub fn from_toml(text: &str) -> Result<AuditConfig> {
        let (table, mut reader) = parsed(text);
        let config = reader.read(table.get_ref(), "", &mut KeyPositions::new());
        reader.unknown(table.get_ref(), Table::Defaults);
        let why = reader.errors.iter().map(|ConfigError { key, why, .. }| match key.as_str() {
            "" => why.clone(),
            key => format!("{key}: {why}"),
        });
        let why: Vec<String> = why.collect();
        if why.is_empty() { Ok(config) } else { Err(Error::usage(why.join("; "))) }
    }
}

/// Parses a file. Invalid values are missing from the configuration.
pub fn parse(text: &str) -> (ConfigFile, Vec<ConfigError>) {
    let (table, mut reader) = parsed(text);
    let config = reader.config(table.get_ref());
    let mut errors = reader.errors;
    errors.sort();
    errors.dedup();
    (config, errors)
}

/// The tables in `text`, and what reads them, with the mistakes so far.
fn parsed(text: &str) -> (Spanned<DeTable<'_>>, Reader<'_>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { text, broken: BTreeSet::new(), errors: Vec::new() };
    for err in errors {
        let span = err.span().unwrap_or_default();
        let line = reader.line(span.start);
        reader.broken.insert(line);
        let why = match (err.message().trim(), text.get(span)) {
            ("duplicate key", Some(key)) => format!("duplicate key '{key}'"),
            (why, _) => why.to_owned(),
        };
        reader.errors.push(ConfigError { line, key: String::new(), why });
    }
    (table, reader)
}

struct Reader<'a> {
    text: &'a str,
    /// Lines that are not TOML.
    broken: BTreeSet<u64>,
    errors: Vec<ConfigError>,
}

impl Reader<'_> {
    fn config(&mut self, root: &DeTable<'_>) -> ConfigFile {
        let mut positions = KeyPositions::new();
        let top: TopKeys = self.read(root, "", &mut positions);
        self.unknown(root, Table::Top);
        let mut defaults_positions = KeyPositions::new();
        let mut defaults = AuditConfig::default();
        if let Some(value) = root.get("defaults") {
            match value.get_ref().as_table() {
                Some(table) => {
                    defaults = self.read(table, "defaults.", &mut defaults_positions);
                    self.unknown(table, Table::Defaults);
                }
                None => self.wrong(value.span().start, "defaults", "a table: [defaults]"),
            }
        }
        let reports = top.reports.unwrap_or_else(|| "reports".into());
        let mut config = ConfigFile {
            keep_days: top.keep_days,
            keep_state_days: top.keep_state_days,
            state: top.state.unwrap_or_else(|| reports.join("state.sqlite")),
            reports,
            news: NewsLimits {
                silent_lines: top.silent_lines.unwrap_or(100) as u64,
                late_lines: top.late_lines.unwrap_or(1) as u64,
                lists_days: top.lists_days.unwrap_or(14) as u64,
                volume_times: top.volume_times.unwrap_or(3) as u64,
                volume_requests: top.volume_requests.unwrap_or(100) as u64,
            },
            sites: Vec::new(),
        };
        match root.get("sites").map(|sites| (sites.span().start, sites.get_ref().as_table())) {
            Some((_, Some(sites))) if !sites.is_empty() => {
                for (name, value) in sites {
                    let site =
                        self.site(name, value, &config.reports, &defaults, &defaults_positions);
                    config.sites.extend(site);
                }
            }
            found => {
                let why = "no sites are configured; add a [sites.NAME] table";
                self.missing(found.map_or(0, |(at, _)| at), "sites", why);
            }
        }
        config.sites.sort_by(|left, right| left.name.cmp(&right.name));
        self.check_apart(&config.sites);
        config
    }

    fn site(
        &mut self,
        name: &Spanned<toml::de::DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
        reports: &Path,
        defaults: &AuditConfig,
        defaults_positions: &KeyPositions,
    ) -> Option<SiteConfig> {
        let (at, name) = (name.span().start, name.get_ref().as_ref());
        let path = format!("sites.{name}");
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.starts_with('.') || !name.bytes().all(is_of_name) {
            let why = "not a valid site name; use letters, digits, _, - and . (not first)";
            self.error(at, &path, why.to_owned());
            return None;
        }
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(at, &path, "a table");
            return None;
        };
        let within = format!("{path}.");
        let mut positions = defaults_positions.clone();
        let own: SiteKeys = self.read(table, &within, &mut positions);
        let audit: AuditConfig = self.read(table, &within, &mut positions);
        self.unknown(table, Table::Site);
        let key = format!("{within}logs");
        let logs = own.logs.unwrap_or_default();
        if logs.is_empty() && !table.iter().any(|(key, _)| spelled(key.get_ref()) == "logs") {
            self.missing(at, &key, "missing; write logs = [\"/var/log/nginx/access.log*\"]");
        } else if logs.is_empty() && positions.contains_key("logs") {
            let line = positions["logs"].line;
            let why = "expected a list of files, directories or patterns".to_owned();
            self.errors.push(ConfigError { line, key, why });
        } else if logs.iter().any(|log| log == "-") {
            let line = positions["logs"].line;
            let why = "standard input cannot be used here; name files".to_owned();
            self.errors.push(ConfigError { line, key, why });
        }
        Some(SiteConfig {
            name: name.to_owned(),
            line: self.line(at),
            reports: own.output.unwrap_or_else(|| reports.join(name)),
            logs,
            audit: audit.over(defaults.clone()),
            positions,
        })
    }

    /// Reads the keys of `table` that belong to `T`, each independently; their positions go to
    /// `positions`.
    fn read<T: KeyTable>(
        &mut self,
        table: &DeTable<'_>,
        path: &str,
        positions: &mut KeyPositions,
    ) -> T {
        let mut settings = T::default();
        let mut valid = BTreeSet::new();
        for (written, value) in table {
            let (at, name) = (written.span().start, spelled(written.get_ref()));
            let Some(&known) = T::keys().iter().find(|key| **key == name) else { continue };
            let full = format!("{path}{}", written.get_ref());
            match settings.set(known, scalar(value)) {
                Ok(()) if !valid.insert(known) => {
                    self.error(at, &full, "duplicate key".to_owned());
                }
                Ok(()) => {}
                Err(why) => self.error(at, &full, why),
            }
            positions.insert(known, KeyPosition { line: self.line(at), path: full });
        }
        settings
    }

    /// Reports unknown keys of `table`, and keys that belong to another table.
    fn unknown(&mut self, table: &DeTable<'_>, of: Table) {
        let keys = of.keys();
        for (written, _) in table {
            let (name, at) = (spelled(written.get_ref()), written.span().start);
            if keys.contains(&name.as_str()) {
                continue;
            }
            let why = format!("unknown key '{}'; ", written.get_ref());
            let why = match (nearest(&name, &keys), Table::of(&name)) {
                (_, Some(home)) => format!("'{name}' belongs {}", home.description()),
                (Some(near), None) => why + &format!("did you mean '{near}'?"),
                (None, None) => why + &format!("the keys are {}", keys.join(", ")),
            };
            self.error(at, "", why);
        }
    }

    /// Reports sites that would replace each other's reports.
    fn check_apart(&mut self, sites: &[SiteConfig]) {
        let mut by_reports: BTreeMap<PathBuf, &SiteConfig> = BTreeMap::new();
        for site in sites {
            match by_reports.get(&resolved(&site.reports)) {
                None => drop(by_reports.insert(resolved(&site.reports), site)),
                Some(other) => {
                    let (last, first) =
                        if site.line > other.line { (site, *other) } else { (*other, site) };
                    let key = format!("sites.{}.output", last.name);
                    let line = last.line_of("output").unwrap_or(last.line);
                    let why = format!(
                        "its reports would overwrite those of the site '{}', which also go to \
                         {}; use another name",
                        first.name,
                        first.reports.display()
                    );
                    self.errors.push(ConfigError { line, key, why });
                }
            }
        }
    }

    fn wrong(&mut self, at: usize, key: &str, expected: &str) {
        self.error(at, key, format!("expected {expected}"));
    }

    fn error(&mut self, at: usize, key: &str, why: String) {
        let line = self.line(at);
        if !self.broken.contains(&line) {
            self.errors.push(ConfigError { line, key: key.to_owned(), why });
        }
    }

    /// Reports a missing key, unless it may be on an unreadable line.
    fn missing(&mut self, at: usize, key: &str, why: &str) {
        if self.broken.is_empty() {
            self.error(at, key, why.to_owned());
        }
    }

    fn line(&self, at: usize) -> u64 {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        memchr::memchr_iter(b'\n', before).count() as u64 + 1
    }
}

/// The kinds of tables in a file.
#[derive(Clone, Copy)]
enum Table {
    Top,
    Defaults,
    Site,
}

impl Table {
    /// The table of `key`, if it belongs to exactly one.
    fn of(key: &str) -> Option<Table> {
        match key {
            key if TopKeys::keys().contains(&key) => Some(Table::Top),
            key if SiteKeys::keys().contains(&key) => Some(Table::Site),
            key if AuditConfig::keys().contains(&key) => Some(Table::Defaults),
            _ => None,
        }
    }

    fn keys(self) -> Vec<&'static str> {
        match self {
            Table::Top => TopKeys::keys().iter().chain(&TABLES).copied().collect(),
            Table::Defaults => AuditConfig::keys().to_vec(),
            Table::Site => SiteKeys::keys().iter().chain(AuditConfig::keys()).copied().collect(),
        }
    }

    fn description(self) -> &'static str {
        match self {
            Table::Top => "at the top of the file, before all tables",
            Table::Defaults => "in [defaults] or in a [sites.NAME] table",
            Table::Site => "in a [sites.NAME] table",
        }
    }
}

/// The value; tables, dates and lists of other things than texts are all the same, as no key has them.
fn scalar(value: &Spanned<DeValue<'_>>) -> Scalar {
    Scalar::deserialize(ValueDeserializer::from(value.clone())).unwrap_or(Scalar::Other(IgnoredAny))
}

/// The key in its canonical spelling.
fn spelled(key: &str) -> String {
    key.replace('-', "_")
}

/// The key with a name similar to `name`.
fn nearest(name: &str, keys: &[&'static str]) -> Option<&'static str> {
    let distance = |key: &&&str| strsim::osa_distance(name, key);
    let nearest = keys.iter().min_by_key(distance)?;
    (distance(&nearest) <= name.len().div_ceil(LETTERS_PER_SLIP)).then_some(*nearest)
}

/// The path without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if resolved.file_name().is_some() => drop(resolved.pop()),
            component => resolved.push(component),
        }
    }
    resolved
}

#[cfg(test)]
mod tests;
