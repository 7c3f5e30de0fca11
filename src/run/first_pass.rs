//! The first of two passes over the logs, for what must be known before requests are judged.

use std::sync::{Arc, atomic::Ordering};

use crate::audit;
use crate::audit::prepass::{Collected, FirstPass, Wanted};
use crate::audit::tally::header::InputSummary;
use crate::audit::{
    extent::InputEnd, log_outages::OutageHosts, options::Options, progress::Progress,
};
use crate::config::audit_config::AuditConfig;
use crate::error::{Error, Result};
use crate::input::open::open;
use crate::input::source::{Location, Source};

use super::console::{Console, Watched};

/// What the first pass collects for an audit by `config`.
pub(crate) fn wanted(config: &AuditConfig) -> Wanted {
    let is_fetched = config.fetch == Some(true);
    let hosts = match is_fetched {
        // A fetched file may make a host one that the user named.
        true => OutageHosts::All,
        false => OutageHosts::Ours,
    };
    Wanted {
        addresses: config.verify_dns == Some(true),
        outages: (config.infer_outages == Some(true)).then_some(hosts),
        origins: is_fetched,
    }
}

/// Collects what `first` needs from all of `sources`.
pub(crate) fn first_pass(
    sources: &[Source],
    options: &Options,
    first: &FirstPass<'_>,
    console: &dyn Console,
) -> Result<(Collected, Vec<InputEnd>)> {
    let collect = |progress: &Progress| {
        audit::collect(sources, &audit::whole(sources), options, first, progress)
    };
    follow_logs(console, sources, collect)
}

/// Runs `read`, which reads all of `sources`, with a progress bar.
pub(crate) fn follow_logs<T>(
    console: &dyn Console,
    sources: &[Source],
    read: impl FnOnce(&Progress) -> T,
) -> T {
    let total = sources.iter().map(Source::size_bytes).sum();
    let progress = console.pass_begins(total);
    let watched = Watched::Bytes {
        total,
        done: &|| progress.bytes_read.load(Ordering::Relaxed),
        text: &|| format!("{} lines", progress.lines.load(Ordering::Relaxed)),
    };
    console.follow(&watched, || read(&progress))
}

/// Checks that at least one of `inputs`, which are `sources`, could be opened.
pub(crate) fn check_any_opened(inputs: &[InputSummary], sources: &[Source]) -> Result<()> {
    let Some(first) = inputs.first().filter(|_| inputs.iter().all(InputSummary::is_unopened))
    else {
        return Ok(());
    };
    // Summaries have texts. The operating system gives its error again.
    let again = sources.first().map(|source| open(source, &Arc::default()));
    let again = again.and_then(Result::err);
    Err(again.unwrap_or_else(|| Error::input(first.damage.clone().unwrap_or_default())))
}

/// Checks that `sources` has no pipe if `wanted` needs two passes.
pub(crate) fn check_can_be_read_twice(wanted: Wanted, sources: &[Source]) -> Result<()> {
    let flags = [
        ("--fetch", wanted.origins),
        ("--infer-outages", wanted.outages.is_some()),
        ("--verify-dns", wanted.addresses),
    ];
    let Some((flag, _)) = flags.into_iter().find(|(_, is_wanted)| *is_wanted) else {
        return Ok(());
    };
    let is_stream = |source: &&Source| match &source.location {
        Location::Stdin => true,
        Location::File(path) => path.exists() && !path.is_file(),
        Location::Nowhere(_) => false,
    };
    match sources.iter().find(is_stream) {
        None => Ok(()),
        Some(source) => Err(Error::usage(format!(
            "{flag} reads the logs twice, but '{}' can be read only once; save it to a file first",
            source.name
        ))),
    }
}
