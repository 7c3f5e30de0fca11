//! Turns a configuration into everything that an audit runs with, also the sources of identities: address ranges and DNS.

use std::path::{Path, PathBuf};
use std::{sync::Arc, thread::available_parallelism};

use ipnet::IpNet;

use crate::archive::Store;
use crate::audit::dns_names::{ArchivedNames, DnsCandidates};
use crate::audit::identities::{Identities, Names};
use crate::audit::options::{CHUNK_BYTES, Options};
use crate::audit::origin_options::{Aliases, FromPath, OriginOptions};
use crate::audit::tally::{counter::TallyLimits, header::DraftScope, urls::UrlPart};
use crate::audit::{draft::Draft, origin_key::OriginKey};
use crate::config::audit_config::{AuditConfig, REACTION_DAYS};
use crate::config::setting::{AddressForm, Fault, THREADS_MAX};
use crate::crawlers::network_names::{NetworkNames, network};
use crate::crawlers::registry::Registry;
use crate::crawlers::{bundled_ranges::BundledRanges, key_archive::KeyArchive, ranges::Ranges};
use crate::error::{Error, Result};
use crate::judge::{Judge, timeline::BeforeFirst};
use crate::logs::{format::Hints, json::own_names::OwnNames, own_format, proxies::Captures};
use crate::net::{dns::Resolver, dns_archive::DnsArchive, forward_confirmed::DnsCache};
use crate::report::privacy::{Addresses, Privacy, Queries};
use crate::report::threshold::Threshold;
use crate::robots::usage::UsageSignal;
use crate::time::{UtcTime, Window};
use crate::url::origin::Origin;

use super::console::{Console, SharedConsole};

/// Everything that an audit runs with.
#[derive(Debug)]
pub(crate) struct Setup {
    /// The configuration, with defaults filled in.
    pub config: AuditConfig,
    /// How logs are read and judged.
    pub options: Options,
    /// Known crawlers.
    pub registry: Registry,
    /// The privacy settings of reports.
    pub privacy: Privacy,
    /// Conditions that make the run fail.
    pub thresholds: Vec<Threshold>,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl Setup {
    /// Validates `config`. `names` are crawlers that were known before and may be missing now.
    ///
    /// # Errors
    /// All invalid values.
    pub(crate) fn new(
        config: AuditConfig,
        names: &[String],
        console: SharedConsole,
    ) -> std::result::Result<Setup, Vec<Fault>> {
        let mut faults = config.check();
        let config = config.with_defaults();
        let registry = Registry::with_names(config.crawlers.as_deref(), names);
        let registry = registry.map_err(|err| faults.push(Fault::new("crawlers", err))).ok();
        // Without a registry, names of crawlers cannot be checked.
        let by = registry.as_ref();
        let thresholds = by.map(|registry| {
            valid(&config.fail_on, &mut faults, |text| {
                let fault = |why| Fault::new("fail_on", format!("\"{text}\": {why}"));
                Threshold::parse(text, registry).map_err(fault)
            })
        });
        let options = options(&config, &mut faults);
        match (registry, thresholds) {
            (Some(registry), Some(thresholds)) if faults.is_empty() => {
                let privacy = privacy(&config);
                Ok(Setup { config, options, registry, privacy, thresholds, console })
            }
            _ => Err(faults),
        }
    }

    /// The robots.txt file, directory or archive; an archive to be fetched may not exist yet.
    pub(crate) fn robots(&self) -> &Path {
        self.config.robots.as_deref().expect("a configuration without robots is refused")
    }

    /// Whether robots.txt files are fetched first.
    pub(crate) fn is_fetched(&self) -> bool {
        self.config.fetch == Some(true)
    }

    /// The judge for `robots`.
    pub(crate) fn judge(&self) -> Result<Judge> {
        self.judge_by(Store::open(self.robots())?)
    }

    /// The judge for `store`.
    pub(crate) fn judge_by(&self, store: Store) -> Result<Judge> {
        let make = match self.config.include_unbound {
            Some(true) => Judge::of_everyone,
            _ => Judge::new,
        };
        let judge = make(store, &self.registry, self.config.dialect.unwrap_or_default())?;
        let ignored = self.config.ignore_usage.iter().flatten();
        Ok(judge.ignoring_usage(ignored.filter_map(|name| UsageSignal::named(name)).collect()))
    }

    /// The draft to test, if there is one; `is_one_file` says whether a single file applies to the
    /// whole log.
    pub(crate) fn draft(&self, is_one_file: bool) -> Result<Option<Draft>> {
        let Some(path) = &self.config.what_if else { return Ok(None) };
        let named = self.config.what_if_for.as_deref().unwrap_or_default();
        let scope = scope(named, &self.options.naming, is_one_file);
        let judge = self.judge_by(Store::File(path.clone()));
        let judge = judge.map_err(|err| Error::usage(format!("--what-if: {err}")))?;
        Draft::new(judge, scope).map(Some)
    }

    /// The error if `robots` cannot be opened, unless it need not exist yet.
    pub(crate) fn robots_fault(&self) -> Option<Fault> {
        let opened = (!self.is_fetched()).then(|| Store::open(self.robots()))?;
        opened.err().map(|err| Fault::new("robots", err))
    }

    /// The configuration as shown in a report of `window`.
    pub(crate) fn reported_config(&self, window: Window) -> AuditConfig {
        AuditConfig {
            since: window.since.map(|time| time.to_string()),
            until: window.until.map(|time| time.to_string()),
            ..self.config.clone()
        }
    }

    /// The smallest parse rate of a file, in percent.
    pub(crate) fn min_parse_rate(&self) -> f64 {
        self.config.min_parse_rate.map_or(0.0, |rate| rate.get())
    }
}

/// The error for `faults` that no line of a file caused.
pub(crate) fn unusable(faults: &[Fault]) -> Error {
    let texts: Vec<String> = faults.iter().map(Fault::of_flags).collect();
    Error::usage(texts.join("; "))
}

/// The error for all `faults` of settings that no file has; all but the last are told.
pub(crate) fn refusal(faults: &[Fault], console: &dyn Console) -> Error {
    let Some((last, others)) = faults.split_last() else {
        return Error::inconsistent("a configuration is refused that has no faults");
    };
    others.iter().for_each(|fault| console.error(&fault.of_flags()));
    Error::usage(last.of_flags())
}

/// Parses `texts` with `read`; each fault goes to `faults`.
fn valid<T>(
    texts: &Option<Vec<String>>,
    faults: &mut Vec<Fault>,
    read: impl Fn(&str) -> std::result::Result<T, Fault>,
) -> Vec<T> {
    let read = texts.iter().flatten().map(|text| read(text));
    read.filter_map(|read| read.map_err(|fault| faults.push(fault)).ok()).collect()
}

fn options(config: &AuditConfig, faults: &mut Vec<Fault>) -> Options {
    let cores = || available_parallelism().map_or(1, usize::from);
    if let Some(threads) = config.threads.filter(|&threads| threads > THREADS_MAX) {
        let why = format!("{threads} is more than {THREADS_MAX}; use 0 for one thread per core");
        faults.push(Fault::new("threads", why));
    }
    let hints = hints(config, faults);
    valid(&config.ignore_usage, faults, |text| {
        let why = format!("'{text}' is not content-usage, content-signal or product-token");
        UsageSignal::named(text)
            .ok_or_else(|| Fault::new("ignore_usage", why).or_write("content-usage"))
    });
    let networks = config.networks.as_deref().map(NetworkNames::read).transpose();
    let networks = networks.map_err(|err| faults.push(Fault::new("networks", err)));
    Options {
        threads: config.threads.filter(|&threads| threads > 0).unwrap_or_else(cores),
        chunk_bytes: CHUNK_BYTES,
        zone: hints.zone.clone(),
        hints,
        naming: naming(config, faults),
        trusted_proxies: trusted_proxies(config, faults),
        // An invalid bound is already in `faults`.
        window: config.window().unwrap_or_default(),
        before_first: match config.unknown_before_first_snapshot {
            Some(true) => BeforeFirst::Unknown,
            _ => BeforeFirst::AsFirst,
        },
        draft: None,
        reaction_days: config.reaction_days.unwrap_or(REACTION_DAYS),
        session_minutes: session_minutes(config, faults),
        paths: config.paths == Some(true),
        url_part: match config.strip_query {
            Some(true) => UrlPart::Path,
            _ => UrlPart::Whole,
        },
        networks: networks.ok().flatten().map(Arc::new),
        limits: TallyLimits::default(),
    }
}

/// The format settings of `config`; each fault goes to `faults`.
pub(crate) fn hints(config: &AuditConfig, faults: &mut Vec<Fault>) -> Hints {
    let mut of = |key, err: Error| faults.push(Fault::new(key, err));
    let captures = config.haproxy_captures.as_deref().map(Captures::parse).transpose();
    let haproxy_captures = captures.map_err(|err| of("haproxy_captures", err)).unwrap_or_default();
    let names = config.json_fields.as_deref().map(OwnNames::parse).transpose();
    let json_fields = names.map_err(|err| of("json_fields", err)).unwrap_or_default();
    let user_agent = config.user_agent.as_deref().map(|text| text.as_bytes().into());
    let zone = config.timezone.clone().unwrap_or_default().zone();
    let hints = Hints { format: None, zone, haproxy_captures, json_fields, user_agent };
    let format = config.log_format.as_deref().map(|text| own_format::parse(text, &hints));
    let format = format.transpose().map_err(|err| of("log_format", err)).unwrap_or_default();
    Hints { format, ..hints }
}

/// The origin settings of `config`; each fault goes to `faults`.
fn naming(config: &AuditConfig, faults: &mut Vec<Fault>) -> OriginOptions {
    let from_path = config.origin_from_path.as_deref().map(FromPath::parse).transpose();
    let from_path = from_path.unwrap_or_else(|why| {
        let example = r"/var/log/nginx/(?<host>[^/]+)\.access\.log";
        faults.push(Fault::new("origin_from_path", why).or_write(example));
        None
    });
    let mut aliases = Aliases::default();
    for alias in config.alias.iter().flatten() {
        if let Err(why) = aliases.add(alias) {
            let fault = Fault::new("alias", format!("'{alias}': {why}"));
            faults.push(fault.or_write("www.example.com=example.com"));
        }
    }
    OriginOptions { origin: config.origin.clone(), from_path, aliases }
}

/// After how many minutes a session ends; 0 is a fault.
fn session_minutes(config: &AuditConfig, faults: &mut Vec<Fault>) -> Option<usize> {
    if config.session_minutes == Some(0) {
        let why = "0 is not valid: each request would be a session";
        faults.push(Fault::new("session_minutes", why).or_write("5"));
    }
    config.session_minutes
}

/// The trusted proxies of `config`; each fault goes to `faults`.
fn trusted_proxies(config: &AuditConfig, faults: &mut Vec<Fault>) -> Vec<IpNet> {
    valid(&config.trusted_proxy, faults, |text| {
        let refused = |why| Fault::new("trusted_proxy", why).or_write("10.0.0.0/8");
        if text.ends_with(".0") || text.ends_with("::") {
            return Err(refused(format!(
                "'{text}' is the address of a network without its size, so it would be one proxy only"
            )));
        }
        network(text).ok_or_else(|| refused(format!("'{text}' is not an address or network")))
    })
}

/// The privacy settings of a configuration with defaults.
fn privacy(config: &AuditConfig) -> Privacy {
    let salt = || config.ip_salt.clone().unwrap_or_default();
    let addresses = match config.ip.unwrap_or_default() {
        AddressForm::None => Addresses::None,
        AddressForm::Mask => Addresses::Mask,
        AddressForm::Hash => Addresses::Hash(salt()),
        AddressForm::Full => Addresses::Full,
    };
    let queries = if config.strip_query == Some(true) { Queries::Strip } else { Queries::Keep };
    Privacy { addresses, queries }
}

fn scope(named: &[Origin], naming: &OriginOptions, is_one_file: bool) -> DraftScope {
    let resolve = |origin: &Origin| {
        OriginKey::Origin(naming.aliases.resolve(origin).unwrap_or_else(|| origin.clone()))
    };
    match (named.is_empty(), is_one_file, &naming.origin) {
        (false, _, _) => DraftScope::Origins(named.iter().map(resolve).collect()),
        (true, true, _) => DraftScope::Everything,
        (true, false, Some(origin)) => DraftScope::Origins(vec![resolve(origin)]),
        (true, false, None) => DraftScope::OnlyOrigin,
    }
}

/// The identity sources that need no network.
pub(crate) fn ranges(config: &AuditConfig, registry: &Registry) -> Result<Identities> {
    let open = |directory: &PathBuf| Ranges::open(directory, registry);
    let ranges = config.ip_ranges.as_ref().map(open).transpose()?;
    let bundled = (config.no_bundled_ranges != Some(true))
        .then(|| BundledRanges::new(registry, ranges.as_ref()));
    let keys = config.signature_keys.as_deref().map(KeyArchive::open).transpose()?;
    let archived_names = match (&config.dns_archive, config.verify_dns) {
        (Some(path), None | Some(false)) => Some(ArchivedNames::new(archive(path)?, registry)),
        _ => None,
    };
    Ok(Identities { ranges, bundled, names: None, keys, archived_names })
}

/// The archive of names at `path`, which must exist.
fn archive(path: &Path) -> Result<DnsArchive> {
    let missing = || {
        let why = "the file does not exist; an audit with --verify-dns and --dns-archive writes it";
        Error::invalid_file(path, why)
    };
    DnsArchive::open(path)?.ok_or_else(missing)
}

/// The settings of identity verification.
pub(crate) struct Verification {
    /// The sources that need no network.
    pub ranges: Identities,
    lookups: Option<Lookups>,
}

/// The name server and its cache.
struct Lookups {
    resolver: Resolver,
    lookups_max: usize,
    now: UtcTime,
    cache: DnsCache,
    /// Empty without `--dns-archive`.
    archive: DnsArchive,
}

impl Verification {
    /// Opens the files that `config` names.
    pub(crate) fn new(config: &AuditConfig, registry: &Registry) -> Result<Verification> {
        let ranges = ranges(config, registry)?;
        let lookups_max = config.dns_max.filter(|_| config.verify_dns == Some(true));
        let lookups =
            lookups_max.map(|lookups_max| Lookups::new(config, lookups_max)).transpose()?;
        Ok(Verification { ranges, lookups })
    }

    /// All identities; `find` returns the addresses to look up, if DNS is used.
    pub(crate) fn identities(
        self,
        config: &AuditConfig,
        registry: &Registry,
        find: impl FnOnce(&Identities) -> Result<DnsCandidates>,
    ) -> Result<Identities> {
        let Verification { ranges: mut identities, lookups } = self;
        let Some(Lookups { resolver, lookups_max, now, mut cache, mut archive }) = lookups else {
            return Ok(identities);
        };
        let candidates = find(&identities)?;
        let (names, confirmed) =
            Names::look_up(&candidates, registry, &resolver, lookups_max, now, &mut cache);
        if let Some(path) = &config.dns_cache {
            cache.save(path)?;
        }
        if let Some(path) = &config.dns_archive {
            confirmed.into_iter().for_each(|name| archive.add(name));
            archive.save(path)?;
            identities.archived_names = Some(ArchivedNames::new(archive, registry));
        }
        identities.names = Some(names);
        Ok(identities)
    }
}

impl Lookups {
    fn new(config: &AuditConfig, lookups_max: usize) -> Result<Lookups> {
        let now = UtcTime::from(jiff::Timestamp::now());
        let timeout = config.dns_timeout.unwrap_or_default().get();
        let resolver = match config.dns_server {
            Some(server) => Resolver::new(server, timeout),
            None => Resolver::of_system(timeout)?,
        };
        let open = |path: &PathBuf| DnsCache::open(path, now);
        let cache = config.dns_cache.as_ref().map(open).transpose()?.unwrap_or_default();
        let open = |path: &PathBuf| DnsArchive::open(path);
        let archive = config.dns_archive.as_ref().map(open).transpose()?;
        let archive = archive.flatten().unwrap_or_default();
        Ok(Lookups { resolver, lookups_max, now, cache, archive })
    }
}
