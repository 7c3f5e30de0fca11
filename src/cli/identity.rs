//! Flags that say by what crawlers are told from those who only use their names.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::audit::dns_candidates::DnsCandidates;
use crate::audit::identities::{Identities, Names};
use crate::config::audit_config::AuditConfig;
use crate::config::setting::Timeout;
use crate::crawlers::ranges::Ranges;
use crate::crawlers::registry::Registry;
use crate::error::Result;
use crate::net::dns::Resolver;
use crate::net::dns_cache::DnsCache;
use crate::time::UtcTime;

/// The flags.
#[derive(Args, Debug)]
#[command(next_help_heading = "Crawler verification")]
pub struct IdentityArgs {
    /// Directory of the address ranges that operators publish, a file a list.
    ///
    /// A list is in the file that manifest.json names for its URL, or in one named like the URL:
    /// https://openai.com/gptbot.json in openai.com_gptbot.json or gptbot.json.
    #[arg(long, value_name = "DIR")]
    ip_ranges: Option<PathBuf>,

    /// Ask name servers whether addresses are those of the crawlers that they say they are.
    ///
    /// An address is verified if its name is in a domain of the operator and has that address.
    /// The logs are read twice: once for the addresses, once to judge; see --collect where they lie
    /// on several machines.
    #[arg(long)]
    verify_dns: bool,

    /// Remember answers in FILE: 7 days, or 1 day that there is none.
    #[arg(long, value_name = "FILE")]
    dns_cache: Option<PathBuf>,

    /// Name server to ask, in place of those of /etc/resolv.conf.
    #[arg(long, value_name = "ADDR:PORT")]
    dns_server: Option<SocketAddr>,

    /// Seconds after which a question counts as not answered [default: 5]
    #[arg(long, value_name = "SECONDS")]
    dns_timeout: Option<Timeout>,

    /// Addresses that are looked up, the busiest first [default: 1000]
    #[arg(long, value_name = "N")]
    dns_max: Option<usize>,
}

impl IdentityArgs {
    /// Their part of a configuration.
    pub fn config(self) -> AuditConfig {
        AuditConfig {
            ip_ranges: self.ip_ranges,
            verify_dns: self.verify_dns.then_some(true),
            dns_cache: self.dns_cache,
            dns_server: self.dns_server,
            dns_timeout: self.dns_timeout,
            dns_max: self.dns_max,
            ..AuditConfig::default()
        }
    }
}

/// By what identities are told, as far as nobody has to be asked.
pub fn ranges(config: &AuditConfig, registry: &Registry) -> Result<Identities> {
    let open = |directory: &PathBuf| Ranges::open(directory, registry);
    let ranges = config.ip_ranges.as_ref().map(open).transpose()?;
    Ok(Identities { ranges, names: None })
}

/// By what identities are told, before anybody is asked.
pub struct Verification {
    /// As far as nobody has to be asked.
    pub ranges: Identities,
    lookups: Option<Lookups>,
}

/// Who is asked, and how often.
struct Lookups {
    resolver: Resolver,
    lookups_max: usize,
    now: UtcTime,
    cache: DnsCache,
}

impl Verification {
    /// Opens what `config` names.
    pub fn new(config: &AuditConfig, registry: &Registry) -> Result<Verification> {
        let ranges = ranges(config, registry)?;
        let lookups_max = config.dns_max.filter(|_| config.verify_dns == Some(true));
        let lookups =
            lookups_max.map(|lookups_max| Lookups::new(config, lookups_max)).transpose()?;
        Ok(Verification { ranges, lookups })
    }

    /// By what identities are told; `find` says whose names are to be looked up, if any are.
    pub fn identities(
        self,
        config: &AuditConfig,
        registry: &Registry,
        find: impl FnOnce(&Identities) -> Result<DnsCandidates>,
    ) -> Result<Identities> {
        let Verification { ranges: mut identities, lookups } = self;
        let Some(Lookups { resolver, lookups_max, now, mut cache }) = lookups else {
            return Ok(identities);
        };
        let suspects = find(&identities)?;
        let names = Names::look_up(&suspects, registry, &resolver, lookups_max, now, &mut cache);
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
