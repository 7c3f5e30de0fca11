//! `audit --fetch`: first the robots.txt files of the origins that the logs name, into an archive.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::archive::Store;
use crate::archive::directory::Directory;
use crate::archive::reader::Archive;
use crate::archive::writer::Writer;
use crate::audit::Options;
use crate::audit::origin_options::OriginOptions;
use crate::audit::prepass::Wanted;
use crate::config::audit_config::AuditConfig;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::Source;
use crate::judge::Judge;
use crate::net::rate_limit::RateLimit;
use crate::net::settings::{Reach, Settings};
use crate::url::dialect::Dialect;
use crate::url::origin::Origin;

use super::fetching::{JOBS, Origins, origins_asked};
use super::first_pass::check_can_be_read_twice;
use super::progress::Show;
use super::shared::complain;

/// The archive that `config` names, to be added to, and what is known before that; `None` where
/// nothing is to be fetched.
pub fn archive_to_fill(config: &AuditConfig) -> Result<Option<(Writer, Store)>> {
    let Some(path) = config.robots.as_ref().filter(|_| config.fetch == Some(true)) else {
        return Ok(None);
    };
    let known = known_store(path)?;
    Ok(Some((Archive::writer(path)?, known)))
}

/// Fetches the robots.txt of the `logged` origins, which crawlers asked, and of those that the user
/// names.
pub fn fetch_logged(
    writer: Writer,
    config: &AuditConfig,
    naming: &OriginOptions,
    logged: BTreeSet<Origin>,
    show: Show,
) -> Result<()> {
    let mut origins = Origins { named: naming.origin.iter().cloned().collect(), logged };
    origins.retain_fetchable();
    if origins.named.is_empty() && origins.logged.is_empty() {
        complain(
            "warning: nothing was fetched: the logs name no host that a crawler asked; say \
             whose log it is with --origin https://example.com",
        );
        return Ok(());
    }
    let reach = match config.allow_private_addresses {
        Some(true) => Reach::AsAsked,
        _ => Reach::Public,
    };
    let rate_limit = RateLimit::new(Duration::ZERO);
    let told = origins.fetch(writer, &Settings::default(), &rate_limit, reach, JOBS, show)?;
    show.print(&(told.text() + "\n"))
}

/// What is known before anything is fetched into the archive at `path`, which may not be there yet.
pub fn known_store(path: &Path) -> Result<Store> {
    if !path.exists() {
        return Ok(Store::Directory(Directory::default()));
    }
    match Store::open(path)? {
        archive @ Store::Archive(_) => Ok(archive),
        Store::File(_) | Store::Directory(_) => Err(Error::usage(format!(
            "--fetch adds to an archive, and {} is none; name another with --robots",
            path.display()
        ))),
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
    let wanted = Wanted { origins: config.fetch == Some(true), ..Wanted::default() };
    check_can_be_read_twice(wanted, sources)?;
    let Some((writer, known)) = archive_to_fill(config)? else { return Ok(()) };
    let judge = Judge::new(known, registry, Dialect::Google)?;
    let (logged, _) = origins_asked(sources, options, &judge, registry, show)?;
    fetch_logged(writer, config, &options.naming, logged, show)
}
