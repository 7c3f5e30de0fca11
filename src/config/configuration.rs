//! What combines configurations, fills in defaults, and finds mistakes without reading a file.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use botaudit_robots::robots::usage::UsageSignal;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::time::{Day, UtcTime, Window};
use crate::url::origin::Origin;

use super::audit_config::{AuditConfig, OPTIONS, by_number};
use super::option::{Class, Needs, OptionEntry};
use super::setting::{AddressForm, Fault, Percent};

/// The archive of `fetch` if no other is named.
const FETCH_ARCHIVE: &str = "robots.db";

impl AuditConfig {
    /// Judges only requests from `since` on, and before `until`.
    pub fn set_window(&mut self, since: Option<UtcTime>, until: Option<UtcTime>) {
        self.since = since.map(|time| time.to_string());
        self.until = until.map(|time| time.to_string());
    }

    /// Counts requests to `alias` as requests to `origin`.
    pub fn add_alias(&mut self, alias: &Origin, origin: &Origin) {
        self.alias.get_or_insert_default().push(format!("{alias}={origin}"));
    }

    /// Trusts the X-Forwarded-For of proxies whose address has the same first `bits` bits as
    /// `address`: 32 of IPv4 and 128 of IPv6 are one proxy.
    pub fn add_trusted_proxy(&mut self, address: IpAddr, bits: u8) {
        self.trusted_proxy.get_or_insert_default().push(format!("{address}/{bits}"));
    }

    /// Does not count statements about use of this form.
    pub fn add_ignored_usage(&mut self, form: UsageSignal) {
        self.ignore_usage.get_or_insert_default().push(form.as_str().to_owned());
    }

    /// The request headers that HAProxy captures, in the order of its configuration.
    pub fn set_haproxy_captures<H: AsRef<str>>(&mut self, headers: impl IntoIterator<Item = H>) {
        let headers: Vec<H> = headers.into_iter().collect();
        let headers: Vec<&str> = headers.iter().map(AsRef::as_ref).collect();
        self.haproxy_captures = Some(headers.join(","));
    }

    /// Combines these settings with those of `base`, which have lower precedence and may become
    /// void.
    #[doc(hidden)]
    pub(crate) fn over(self, mut base: AuditConfig) -> AuditConfig {
        if self.ip.is_some_and(|form| form != AddressForm::Hash) {
            base.ip_salt = None;
        }
        if self.origin_from_path.is_some() && self.origin.is_none() {
            // An origin takes precedence over a pattern.
            base.origin = None;
        }
        self.or(base)
    }

    /// All mistakes that can be found without reading a file.
    #[doc(hidden)]
    pub fn check(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.robots.is_none() && self.fetch != Some(true) {
            let why = "missing; name a robots.txt file, a directory of such files or an archive, or \
                 use fetch";
            faults.push(Fault::new("robots", why).or_write("robots.txt"));
        }
        faults.extend(OPTIONS.iter().filter_map(|option| self.without_effect(option)));
        let [ignores_min, rarely_max] =
            [(self.ignores_min, Percent::IGNORES_MIN), (self.rarely_max, Percent::RARELY_MAX)]
                .map(|(given, default)| given.unwrap_or(default).get());
        if rarely_max >= ignores_min {
            let key = if self.rarely_max.is_some() { "rarely_max" } else { "ignores_min" };
            let why = format!(
                "the greatest share of `rarely`, {rarely_max} %, must be less than the \
                 smallest share of `ignores`, {ignores_min} %"
            );
            faults.push(Fault::new(key, why));
        }
        match (self.ip.unwrap_or_default(), &self.ip_salt) {
            (AddressForm::Hash, None) => {
                let why = "hash needs a secret, otherwise the addresses can be found by trying all of \
                     them";
                faults.push(Fault::lacks("ip", why, "ip_salt"));
            }
            (form, Some(_)) if form != AddressForm::Hash && self.ip.is_some() => {
                faults.push(Fault::new("ip_salt", "it has no effect unless ip is hash"));
            }
            _ => {}
        }
        faults.extend(self.window().err().unwrap_or_default());
        faults
    }

    /// The time window.
    ///
    /// # Errors
    /// Each bound that is not a time, or an empty window.
    #[doc(hidden)]
    pub fn window(&self) -> Result<Window, Vec<Fault>> {
        let zone = self.timezone.clone().unwrap_or_default().zone();
        let mut faults = Vec::new();
        let mut bound = |key, text: &Option<String>| {
            let text = text.as_ref()?;
            let time = zone.parse(text);
            if time.is_none() {
                let why = format!("'{text}' is not a valid time");
                let day = Day::meant_by(text).map(|day| day.to_string());
                let example = day.unwrap_or_else(|| "2026-01-31T12:00:00Z".to_owned());
                faults.push(Fault::new(key, why).or_write(example));
            }
            time
        };
        let window =
            Window { since: bound("since", &self.since), until: bound("until", &self.until) };
        if let Window { since: Some(since), until: Some(until) } = window
            && since >= until
        {
            let why = format!("{until} is not later than {since}");
            faults.push(Fault::new("until", why));
        }
        if faults.is_empty() { Ok(window) } else { Err(faults) }
    }

    /// These settings with defaults for missing keys.
    #[doc(hidden)]
    pub fn with_defaults(self) -> AuditConfig {
        let robots = self.fetch_archive();
        let is_verified = self.verify_dns == Some(true);
        let config = self.or(AuditConfig { robots, ..AuditConfig::defaults() });
        AuditConfig { dns_max: config.dns_max.filter(|_| is_verified), ..config }
    }

    /// These settings with relative paths resolved in `directory`.
    #[doc(hidden)]
    pub(crate) fn below(mut self, directory: &Path) -> AuditConfig {
        self.robots = self.robots.take().or_else(|| self.fetch_archive());
        self.with_paths_below(directory)
    }

    /// The defaults of the options that have one, but of those that a report names only if they are
    /// given.
    pub(crate) fn defaults() -> AuditConfig {
        let mut defaults = AuditConfig::all_defaults();
        for option in OPTIONS.iter().filter(|option| option.only_if_given) {
            defaults.unset(option.key);
        }
        defaults
    }

    /// Whether `key` is given.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Whether `key` is given, and not switched off.
    fn is_on(&self, key: &str) -> bool {
        self.value(key).is_some_and(|value| value != false)
    }

    /// The mistake that `option` is given without the one that it needs.
    fn without_effect(&self, option: &OptionEntry) -> Option<Fault> {
        let (other, is_there) = match option.needs? {
            Needs::Given(other) => (other, self.has(other)),
            Needs::On(other) => (other, self.is_on(other)),
        };
        (self.is_on(option.key) && !is_there).then(|| Fault::needs(option.key, other))
    }

    /// The default archive, if robots.txt files are fetched and no archive is named.
    fn fetch_archive(&self) -> Option<PathBuf> {
        (self.fetch == Some(true)).then(|| FETCH_ARCHIVE.into())
    }
}

/// As in `run.json`: what can change a report, in the order of the numbers.
impl Serialize for AuditConfig {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let reported = by_number().filter(|option| option.class != Class::Neutral);
        to.collect_map(reported.filter_map(|option| {
            let value = self.value(option.key);
            let is_plain = value.as_ref().is_none_or(|value| value == false || value == &json!([]));
            (!option.only_if_given || !is_plain).then_some((option.reported_as, value))
        }))
    }
}

/// The texts of an option that also need its default.
impl OptionEntry {
    /// The default, unless it is off or an empty list.
    fn default_text(&self) -> Option<String> {
        match AuditConfig::all_defaults().value(self.key)? {
            Value::String(text) => Some(text),
            Value::Number(number) => number.as_f64().map(|number| number.to_string()),
            _ => None,
        }
    }

    /// What the short help says.
    pub fn short_help(&self) -> String {
        let repeatable = if self.is_list { "; repeatable" } else { "" };
        let default = self.default_text().map(|text| format!(" [default: {text}]"));
        format!("{}{repeatable}{}", self.help, default.unwrap_or_default())
    }

    /// What the long help says, if that is more.
    pub fn long_help(&self) -> Option<String> {
        let short = self.short_help();
        let end = if short.ends_with(']') { "" } else { "." };
        (!self.details.is_empty()).then(|| format!("{short}{end}\n\n{}", self.details))
    }
}
