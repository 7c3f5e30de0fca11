//! Flags that say by what crawlers are told from those who only use their names.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::Args;

use crate::audit::identities::{Identities, Names};
use crate::audit::suspects::Suspects;
use crate::audit::{self, Options, Progress};
use crate::config::audit_config::AuditConfig;
use crate::config::setting::Timeout;
use crate::crawlers::ranges::Ranges;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::{Location, Source};
use crate::judge::Judge;
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
    /// The logs are read twice: once for the addresses, once to judge.
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

/// By what identities are told in the audit of `sources`, which is read for it where names are to be
/// looked up. `bytes_read` counts what is.
pub fn identities(
    config: &AuditConfig,
    sources: &[Source],
    options: &Options,
    judge: &Judge,
    registry: &Registry,
    bytes_read: &Arc<AtomicU64>,
) -> Result<Identities> {
    if config.verify_dns == Some(true) {
        check_can_be_read_twice("--verify-dns", sources)?;
    }
    let progress = Progress { bytes_read: Arc::clone(bytes_read), lines: AtomicU64::new(0) };
    identities_of(config, registry, |identities| {
        audit::suspects(sources, options, judge, registry, identities, &progress)
    })
}

/// By what identities are told, as far as nobody has to be asked.
pub fn ranges(config: &AuditConfig, registry: &Registry) -> Result<Identities> {
    let open = |directory: &PathBuf| Ranges::open(directory, registry);
    let ranges = config.ip_ranges.as_ref().map(open).transpose()?;
    Ok(Identities { ranges, names: None })
}

/// By what identities are told; `find` says whose names are to be looked up, if any are.
pub fn identities_of(
    config: &AuditConfig,
    registry: &Registry,
    find: impl FnOnce(&Identities) -> Result<Suspects>,
) -> Result<Identities> {
    let mut identities = ranges(config, registry)?;
    let Some(dns_max) = config.dns_max.filter(|_| config.verify_dns == Some(true)) else {
        return Ok(identities);
    };
    let now = UtcTime::from(jiff::Timestamp::now());
    let timeout = config.dns_timeout.unwrap_or_default().get();
    let resolver = match config.dns_server {
        Some(server) => Resolver::new(server, timeout),
        None => Resolver::of_system(timeout)?,
    };
    let open = |path: &PathBuf| DnsCache::open(path, now);
    let mut cache = config.dns_cache.as_ref().map(open).transpose()?.unwrap_or_default();
    let suspects = find(&identities)?;
    let names = Names::look_up(&suspects, registry, &resolver, dns_max, now, &mut cache);
    if let Some(path) = &config.dns_cache {
        cache.save(path)?;
    }
    identities.names = Some(names);
    Ok(identities)
}

/// What comes through a pipe cannot be read twice, as `flag` asks.
pub fn check_can_be_read_twice(flag: &str, sources: &[Source]) -> Result<()> {
    let is_stream = |source: &&Source| match &source.place {
        Location::Stdin => true,
        Location::File(path) => path.exists() && !path.is_file(),
        Location::Nowhere(_) => false,
    };
    match sources.iter().find(is_stream) {
        None => Ok(()),
        Some(source) => Err(Error::usage(format!(
            "{flag} reads the logs twice, and '{}' can be read once; save it to a file first",
            source.name
        ))),
    }
}
