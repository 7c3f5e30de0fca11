//! `audit --fetch`: first the robots.txt files of the origins that the logs name, into an archive.

use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;

use crate::archive::Store;
use crate::archive::directory::Directory;
use crate::archive::reader::Archive;
use crate::audit::{Options, Progress};
use crate::config::audit_config::AuditConfig;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::Source;
use crate::judge::Judge;
use crate::net::rate_limit::RateLimit;
use crate::net::settings::{Reach, Settings};
use crate::url::dialect::Dialect;

use super::fetching::{JOBS, Origins, is_fetchable, origins_asked};
use super::identity::check_can_be_read_twice;
use super::progress::{Show, follow};
use super::shared::{complain, print};

/// The flags.
#[derive(Args, Debug)]
#[command(next_help_heading = "Fetching robots.txt")]
pub struct FetchFirstArgs {
    /// First fetch the robots.txt of each origin that crawlers asked, into the archive of --robots.
    ///
    /// The archive is made where there is none; without --robots it is robots.db. The logs are read
    /// twice: once for the origins, once to judge. Requests from before are judged by what is
    /// fetched now, and the report says how many. `botaudit robots fetch` lets you say more of how.
    #[arg(long)]
    fetch: bool,

    /// Ask hosts of the logs also at private addresses. Host names in logs are
    /// untrusted: any client can send any Host header.
    #[arg(long)]
    allow_private_addresses: bool,
}

impl FetchFirstArgs {
    /// Their part of a configuration.
    pub fn config(self) -> AuditConfig {
        AuditConfig {
            fetch: self.fetch.then_some(true),
            allow_private_addresses: self.allow_private_addresses.then_some(true),
            ..AuditConfig::default()
        }
    }
}

/// Fetches what an audit of `sources` needs into the archive that `config` names, if that is wanted.
pub fn fetch_first(
    config: &AuditConfig,
    sources: &[Source],
    options: &Options,
    registry: &Registry,
    show: Show,
) -> Result<()> {
    let path = match &config.robots {
        Some(path) if config.fetch == Some(true) => path,
        _ => return Ok(()),
    };
    check_can_be_read_twice("--fetch", sources)?;
    let known = match path.exists() {
        true => Store::open(path)?,
        false => Store::Directory(Directory::default()),
    };
    if path.exists() && !matches!(known, Store::Archive(_)) {
        let path = path.display();
        return Err(Error::usage(format!(
            "--fetch adds to an archive, and {path} is none; name another with --robots"
        )));
    }
    let writer = Archive::writer(path)?;
    let judge = Judge::new(known, registry, Dialect::Google)?;
    let progress = Progress::default();
    let bytes_total = sources.iter().map(Source::size_bytes).sum::<Option<u64>>();
    let (logged, _) = follow(
        show,
        bytes_total,
        || progress.bytes_read.load(Ordering::Relaxed),
        || progress.lines.load(Ordering::Relaxed),
        || origins_asked(sources, options, &judge, registry, &progress),
    )?;
    let mut origins = Origins { named: options.naming.origin.iter().cloned().collect(), logged };
    origins.named.retain(is_fetchable);
    origins.logged.retain(|origin| !origins.named.contains(origin));
    if origins.named.is_empty() && origins.logged.is_empty() {
        complain(
            "warning: nothing was fetched: the logs name no host that a crawler asked; say whose \
             log it is with --origin https://example.com",
        );
        return Ok(());
    }
    let reach =
        if config.allow_private_addresses == Some(true) { Reach::AsAsked } else { Reach::Public };
    let rate_limit = RateLimit::new(Duration::ZERO);
    let told = origins.fetch(writer, &Settings::default(), &rate_limit, reach, JOBS, show)?;
    match show {
        Show::Nothing => Ok(()),
        Show::OnTerminal => print(&(told.text() + "\n")),
    }
}
