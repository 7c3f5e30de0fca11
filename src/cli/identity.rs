//! Flags that say by what crawlers are told from those who only use their names.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use clap::Args;

use crate::audit::identities::{Identities, Names};
use crate::audit::suspects::Suspects;
use crate::audit::{self, Options, Progress};
use crate::crawlers::ranges::Ranges;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::{Location, Source};
use crate::judge::Judge;
use crate::net::dns::Resolver;
use crate::net::dns_cache::DnsCache;
use crate::report::outputs::Outputs;
use crate::time::UtcTime;

/// The flags.
#[derive(Args, Debug)]
#[command(next_help_heading = "Who was really asking")]
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
    #[arg(long, value_name = "FILE", requires = "verify_dns")]
    dns_cache: Option<PathBuf>,

    /// Name server to ask, in place of those of /etc/resolv.conf.
    #[arg(long, value_name = "ADDR:PORT", requires = "verify_dns")]
    dns_server: Option<SocketAddr>,

    /// Seconds after which a question counts as not answered.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds, requires = "verify_dns")]
    dns_timeout: Duration,

    /// Addresses that are looked up, the busiest first.
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "verify_dns")]
    dns_max: usize,
}

impl IdentityArgs {
    /// By what identities are told in the audit of `sources`, which is read for it where names are
    /// to be looked up. `bytes_read` counts what is.
    pub fn identities(
        &self,
        sources: &[Source],
        options: &Options,
        judge: &Judge,
        registry: &Registry,
        bytes_read: &Arc<AtomicU64>,
    ) -> Result<Identities> {
        if self.verify_dns {
            check_can_be_read_twice("--verify-dns", sources)?;
        }
        let progress = Progress { bytes_read: Arc::clone(bytes_read), lines: AtomicU64::new(0) };
        self.identities_of(registry, |identities| {
            audit::suspects(sources, options, judge, registry, identities, &progress)
        })
    }

    /// By what identities are told, as far as nobody has to be asked.
    pub fn ranges(&self, registry: &Registry) -> Result<Identities> {
        let open = |directory: &PathBuf| Ranges::open(directory, registry);
        let ranges = self.ip_ranges.as_ref().map(open).transpose()?;
        Ok(Identities { ranges, names: None })
    }

    /// By what identities are told; `find` says whose names are to be looked up, if any are.
    pub fn identities_of(
        &self,
        registry: &Registry,
        find: impl FnOnce(&Identities) -> Result<Suspects>,
    ) -> Result<Identities> {
        let mut identities = self.ranges(registry)?;
        if !self.verify_dns {
            return Ok(identities);
        }
        let now = UtcTime::from(jiff::Timestamp::now());
        let resolver = match self.dns_server {
            Some(server) => Resolver::new(server, self.dns_timeout),
            None => Resolver::of_system(self.dns_timeout)?,
        };
        let open = |path: &PathBuf| DnsCache::open(path, now);
        let mut cache = self.dns_cache.as_ref().map(open).transpose()?.unwrap_or_default();
        let suspects = find(&identities)?;
        let names = Names::look_up(&suspects, registry, &resolver, self.dns_max, now, &mut cache);
        if let Some(path) = &self.dns_cache {
            cache.save(path)?;
        }
        identities.names = Some(names);
        Ok(identities)
    }

    /// Names the files of these flags to `outputs`.
    ///
    /// # Errors
    /// Where the cache cannot be written to as it is an input.
    pub fn check(&self, outputs: &mut Outputs) -> Result<()> {
        if let Some(directory) = &self.ip_ranges {
            outputs.reads_files_of("--ip-ranges", directory, None);
        }
        let cache = self.dns_cache.as_deref();
        cache.map_or(Ok(()), |path| outputs.updated("--dns-cache", path))
    }

    /// How often the logs are read.
    pub fn passes(&self) -> u64 {
        if self.verify_dns { 2 } else { 1 }
    }

    /// What `--ip-ranges` names.
    pub fn ip_ranges(&self) -> Option<String> {
        self.ip_ranges.as_ref().map(|path| path.display().to_string())
    }

    /// Addresses that are looked up at most; `None` where none is.
    pub fn dns_max(&self) -> Option<usize> {
        self.verify_dns.then_some(self.dns_max)
    }
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

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| (0.01..=600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "write seconds from 0.01 to 600".to_owned())
}
