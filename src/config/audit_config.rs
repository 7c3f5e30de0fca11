//! The configuration of an audit, from flags, from a file, or from both.
//!
//! A missing key is `None`, so that configurations can be combined: flags take precedence over the
//! settings of a site, and these over the defaults of the file. `run.json` has the keys that can
//! change a report, in the order of this file.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use botaudit_robots::robots::usage::UsageSignal;
use serde::{Serialize, Serializer};

use crate::time::{UtcTime, Window};
use crate::url::{dialect::Dialect, origin::Origin};

use super::fault::Fault;
use super::money::Money;
use super::setting::{AddressForm, KeyTable, Percent, Seconds, Timeout, Timezone, settings};

/// The archive of `fetch` if no other is named.
const FETCH_ARCHIVE: &str = "robots.db";

/// The default number of looked-up addresses.
const DNS_MAX: usize = 1000;

/// The default of `reaction_days`.
pub(crate) const REACTION_DAYS: usize = 28;

/// The default of `reaction_requests`.
pub(crate) const REACTION_REQUESTS: usize = 3;

/// The default of `reaction_quiet_days`.
pub(crate) const REACTION_QUIET_DAYS: usize = 7;

/// The default of `ignores_min`, in percent.
pub(crate) const IGNORES_MIN: f64 = 50.0;

/// The default of `rarely_max`, in percent.
pub(crate) const RARELY_MAX: f64 = 5.0;

settings! {
    /// The configuration of an audit. Each key is the flag of the same name, and has its default if
    /// it is `None`. Keys that are texts on the command line can be set by typed values, too:
    ///
    /// ```
    /// use botaudit::{AddressForm, AuditConfig, Money, Percent, Timezone, UtcTime};
    ///
    /// let mut config = AuditConfig::default();
    /// config.robots = Some("robots.txt".into());
    /// config.origin = Some("https://example.com".parse()?);
    /// config.timezone = Some("Europe/Berlin".parse()?);
    /// config.ip = Some(AddressForm::Mask);
    /// config.min_parse_rate = Some(Percent::try_from(99.0)?);
    /// config.cost_per_gb = Money::new(90_000, "USD");
    /// config.set_window(UtcTime::from_unix_seconds(1_793_491_200), None);
    /// config.add_alias(&"https://www.example.com".parse()?, &"https://example.com".parse()?);
    /// config.add_trusted_proxy([10, 0, 0, 0].into(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Serialize)]
    #[non_exhaustive]
    pub struct AuditConfig {
        /// The robots.txt file, directory or archive to judge by.
        #[serde(serialize_with = "lossy")]
        pub robots: PathBuf,
        /// The origin of records that name no host.
        pub origin: Origin,
        /// A pattern that takes the host from the path of a log.
        pub origin_from_path: String,
        /// Other names of hosts and origins, as `alias=name`.
        #[serde(rename(serialize = "aliases"))]
        pub alias: Vec<String> = Vec::new(),
        /// A draft of a robots.txt.
        #[serde(serialize_with = "lossy", skip_serializing_if = "Option::is_none")]
        pub what_if: PathBuf,
        /// The origins that the draft is for.
        #[serde(skip_serializing_if = "is_empty")]
        pub what_if_for: Vec<Origin> = Vec::new(),
        /// Networks of proxies whose X-Forwarded-For is trusted.
        #[serde(rename(serialize = "trusted_proxies"))]
        pub trusted_proxy: Vec<String> = Vec::new(),
        /// The log format, as a name or a server configuration.
        pub log_format: String,
        /// Request headers that HAProxy captures.
        pub haproxy_captures: String,
        /// Keys of a JSON log.
        pub json_fields: String,
        /// The user agent of the requests of a crawl that do not name one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub user_agent: String,
        /// A CSV file of crawlers.
        #[serde(serialize_with = "lossy")]
        pub crawlers: PathBuf,
        /// The directory of published address ranges.
        #[serde(serialize_with = "lossy")]
        pub ip_ranges: PathBuf,
        /// Whether the address lists that come with the program are not used.
        #[serde(skip_serializing_if = "is_off")]
        pub no_bundled_ranges: bool = false,
        /// The directory of the keys with which agents sign requests.
        #[serde(serialize_with = "lossy", skip_serializing_if = "Option::is_none")]
        pub signature_keys: PathBuf,
        /// Whether crawlers are verified by DNS.
        pub verify_dns: bool = false,
        /// The most addresses that are looked up.
        pub dns_max: usize = DNS_MAX,
        /// The zone of days, and of times without a zone.
        pub timezone: Timezone = Timezone::default(),
        /// The start of the window.
        pub since: String,
        /// The end of the window, which is excluded.
        pub until: String,
        /// The smallest parse rate of a file.
        pub min_parse_rate: Percent = Percent::OF_RECORDS_MIN,
        /// Requests of crawlers that must be judged.
        pub min_judged_rate: Percent = Percent::OF_JUDGED_MIN,
        /// How clients' addresses are written in reports.
        pub ip: AddressForm = AddressForm::None,
        /// Whether query strings are left out of reports.
        pub strip_query: bool = false,
        /// How percent-encodings and wildcards are compared.
        pub dialect: Dialect = Dialect::Google,
        /// Whether crawlers that robots.txt does not bind are judged.
        pub include_unbound: bool = false,
        /// Whether requests before the first snapshot of an archive are unknown.
        pub unknown_before_first_snapshot: bool = false,
        /// How many days before a change of robots.txt requests count for it.
        pub reaction_days: usize = REACTION_DAYS,
        /// The expected requests below which nothing is concluded about a reaction.
        pub reaction_requests: usize = REACTION_REQUESTS,
        /// The days without requests after which a crawler has stopped.
        pub reaction_quiet_days: usize = REACTION_QUIET_DAYS,
        /// The smallest share of violations of a crawler that ignores robots.txt.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ignores_min: Percent,
        /// The greatest share of violations of a crawler that rarely breaks a rule.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rarely_max: Percent,
        /// After how many minutes without requests a session ends; sessions are counted only then.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub session_minutes: usize,
        /// A CSV file of networks by which sessions are counted.
        #[serde(serialize_with = "lossy", skip_serializing_if = "Option::is_none")]
        pub networks: PathBuf,
        /// Forms of statements about use that are not counted.
        #[serde(skip_serializing_if = "is_empty")]
        pub ignore_usage: Vec<String> = Vec::new(),
        /// Whether requests are counted by section and path.
        #[serde(skip_serializing_if = "is_off")]
        pub paths: bool = false,
        /// The price of 10^9 bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cost_per_gb: Money,
        /// Whether outages of robots.txt are inferred from the logs.
        #[serde(skip_serializing_if = "is_off")]
        pub infer_outages: bool = false,
        /// Whether robots.txt files are fetched first.
        pub fetch: bool = false,
        /// Whether robots.txt may be fetched from private addresses.
        #[serde(skip_serializing)]
        pub allow_private_addresses: bool = false,
        /// Whether robots.txt may be fetched from any port of hosts in logs.
        #[serde(skip_serializing)]
        pub fetch_any_port: bool = false,
        /// The time for fetches from hosts in logs.
        #[serde(skip_serializing)]
        pub fetch_budget: Seconds = Seconds::OF_FETCHES,
        /// The file of violating requests.
        #[serde(skip_serializing)]
        pub evidence: PathBuf,
        /// The secret for hashed addresses.
        #[serde(skip_serializing)]
        pub ip_salt: String,
        /// The cache file of DNS answers.
        #[serde(skip_serializing)]
        pub dns_cache: PathBuf,
        /// The archive of confirmed names in DNS.
        #[serde(serialize_with = "lossy", skip_serializing_if = "Option::is_none")]
        pub dns_archive: PathBuf,
        /// The name server.
        #[serde(skip_serializing)]
        pub dns_server: SocketAddr,
        /// The timeout of the name server.
        #[serde(skip_serializing)]
        pub dns_timeout: Timeout = Timeout::default(),
        /// Whether a run may end well in which nothing, or too little, was judged.
        #[serde(skip_serializing)]
        pub allow_unjudged: bool = false,
        /// Whether violations fail the run.
        #[serde(skip_serializing)]
        pub fail_on_violations: bool = false,
        /// Conditions that make the run fail.
        #[serde(skip_serializing)]
        pub fail_on: Vec<String> = Vec::new(),
        /// The number of threads; 0 for one per core.
        #[serde(skip_serializing)]
        pub threads: usize = 0,
    }
}

/// Keys that have no effect without another one.
const NEEDS: [(&str, &str); 7] = [
    ("networks", "session_minutes"),
    ("dns_cache", "verify_dns"),
    ("dns_server", "verify_dns"),
    ("dns_timeout", "verify_dns"),
    ("dns_max", "verify_dns"),
    ("what_if_for", "what_if"),
    ("ip_salt", "ip"),
];

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
        let lonely = NEEDS.into_iter().filter(|(key, other)| self.has(key) && !self.has(other));
        faults.extend(lonely.map(|(key, other)| Fault::needs(key, other)));
        let of_fetches = [
            ("allow_private_addresses", self.allow_private_addresses == Some(true)),
            ("fetch_any_port", self.fetch_any_port == Some(true)),
            ("fetch_budget", self.fetch_budget.is_some()),
        ];
        let lonely = of_fetches.iter().filter(|(_, is_used)| *is_used && self.fetch != Some(true));
        faults.extend(lonely.map(|(key, _)| Fault::needs(key, "fetch")));
        let [ignores_min, rarely_max] =
            [(self.ignores_min, IGNORES_MIN), (self.rarely_max, RARELY_MAX)]
                .map(|(given, default)| given.map_or(default, Percent::get));
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
                faults.push(Fault::new(key, why).or_write("2026-01-31T12:00:00Z"));
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
    pub(crate) fn below(self, directory: &Path) -> AuditConfig {
        let below = |path: Option<PathBuf>| path.map(|path| directory.join(path));
        let archive = self.fetch_archive();
        AuditConfig {
            robots: below(self.robots.or(archive)),
            what_if: below(self.what_if),
            crawlers: below(self.crawlers),
            ip_ranges: below(self.ip_ranges),
            signature_keys: below(self.signature_keys),
            networks: below(self.networks),
            evidence: below(self.evidence),
            dns_cache: below(self.dns_cache),
            dns_archive: below(self.dns_archive),
            ..self
        }
    }

    /// The default archive, if robots.txt files are fetched and no archive is named.
    fn fetch_archive(&self) -> Option<PathBuf> {
        (self.fetch == Some(true)).then(|| FETCH_ARCHIVE.into())
    }
}

/// Serializes a path for display.
fn lossy<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.display().to_string()).serialize(to)
}

fn is_empty<T>(list: &Option<Vec<T>>) -> bool {
    list.as_ref().is_none_or(Vec::is_empty)
}

fn is_off(switch: &Option<bool>) -> bool {
    *switch != Some(true)
}
