//! The sources of identities: address ranges and DNS.

use std::path::PathBuf;

use crate::audit::dns_candidates::DnsCandidates;
use crate::audit::identities::{Identities, Names};
use crate::config::audit_config::AuditConfig;
use crate::crawlers::{ranges::Ranges, registry::Registry};
use crate::error::Result;
use crate::net::{dns::Resolver, dns_cache::DnsCache};
use crate::time::UtcTime;

/// The identity sources that need no network.
pub(crate) fn ranges(config: &AuditConfig, registry: &Registry) -> Result<Identities> {
    let open = |directory: &PathBuf| Ranges::open(directory, registry);
    let ranges = config.ip_ranges.as_ref().map(open).transpose()?;
    Ok(Identities { ranges, names: None })
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
        let Some(Lookups { resolver, lookups_max, now, mut cache }) = lookups else {
            return Ok(identities);
        };
        let candidates = find(&identities)?;
        let names = Names::look_up(&candidates, registry, &resolver, lookups_max, now, &mut cache);
        if let Some(path) = &config.dns_cache {
            cache.save(path)?;
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
        Ok(Lookups { resolver, lookups_max, now, cache })
    }
}
