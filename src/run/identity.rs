//! The sources of identities: address ranges and DNS.

use std::path::{Path, PathBuf};

use crate::audit::dns_names::{ArchivedNames, DnsCandidates};
use crate::audit::identities::{Identities, Names};
use crate::config::audit_config::AuditConfig;
use crate::crawlers::registry::Registry;
use crate::crawlers::{bundled_ranges::BundledRanges, key_archive::KeyArchive, ranges::Ranges};
use crate::error::{Error, Result};
use crate::net::{dns::Resolver, dns_archive::DnsArchive, dns_cache::DnsCache};
use crate::time::UtcTime;

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
