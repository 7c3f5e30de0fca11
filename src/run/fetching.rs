//! Fetches robots.txt files into an archive: origins from logs and the user, and a summary.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, Weak, atomic::Ordering};
use std::time::{Duration, Instant};
use std::{mem, path::Path};

use crate::archive::writer::{Writer, snapshot_of};
use crate::archive::{Store, directory::Directory, reader::Archive, refuse_url};
use crate::audit::origin_options::OriginOptions;
use crate::audit::prepass::{AskedOrigins, FirstPass, Wanted};
use crate::audit::{client::ClientKey, identities::Identities, options::Options};
use crate::config::{audit_config::AuditConfig, setting::Seconds};
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::Source;
use crate::judge::Judge;
use crate::mutex::lock;
use crate::net::host_queue::{FetchBatch, FetchProgress, fetch_all};
use crate::net::settings::{Ports, Reach, Settings, USUAL_PORTS};
use crate::net::{fetch::Fetched, outcome::FetchOutcome};
use crate::numbers::{counted, grouped};
use crate::url::origin::{Origin, default_port};
use crate::url::path::Dialect;

use super::console::{Console, SharedConsole, Watched};
use super::first_pass::{check_can_be_read_twice, first_pass};

/// The most origins and the most problems that are listed.
pub(crate) const LISTED_MAX: usize = 20;

/// The most origins without a usable answer that a warning names.
const FAILURES_NAMED_MAX: usize = 3;

/// The most ports of one host name that are asked because logs name them.
const HOST_PORTS_MAX: usize = 4;

/// The default number of parallel fetches.
pub(crate) const JOBS: usize = 16;

/// The longest time until a fetched file is on disk.
const FLUSH_INTERVAL: Duration = Duration::from_secs(2);

/// The origins to fetch from.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// Named by the user; private addresses are allowed.
    pub named: BTreeSet<Origin>,
    /// Named only by logs. Any client can write any host into a log.
    pub logged: BTreeSet<Origin>,
}

/// The limits of fetches from origins that only logs name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedLimits {
    /// The allowed addresses.
    pub reach: Reach,
    /// The allowed ports.
    pub ports: Ports,
    /// The time for all of them together.
    pub budget: Duration,
}

/// The outcomes of all fetches.
#[derive(Debug, Default)]
pub(crate) struct FetchSummary {
    lines: Vec<(Origin, String)>,
    by_outcome: BTreeMap<String, u64>,
    /// Origins whose answer says what is allowed.
    fetched: u64,
    /// The first origins that gave no such answer, with their outcomes.
    failed: BTreeSet<(Origin, String)>,
    /// All of them.
    failures: u64,
    /// Origins whose answer was not awaited, because the time was over.
    given_up: u64,
    /// The time for origins of logs.
    budget: Duration,
}

/// The origins in `sources` that crawlers requested, with `known` robots.txt files, and the
/// problems with reading `sources`.
pub(crate) fn origins_asked(
    sources: &[Source],
    options: &Options,
    known: Store,
    registry: &Registry,
    console: &dyn Console,
) -> Result<(BTreeSet<Origin>, Vec<String>)> {
    let judge = &Judge::new(known, registry, Dialect::Google)?;
    let wanted = Wanted { origins: true, ..Wanted::default() };
    let (identities, client_key) = (&Identities::default(), &ClientKey::random()?);
    let first = FirstPass { judge, registry, identities, wanted, client_key };
    let (collected, ends) = first_pass(sources, options, &first, console)?;
    let damages = sources.iter().zip(ends).filter_map(|(source, end)| {
        let damage = end.failure?;
        Some(format!("{}: {damage}", source.name))
    });
    let origins = collected.origins.map(AskedOrigins::into_set).unwrap_or_default();
    Ok((origins, damages.collect()))
}

/// Whether an origin can have a robots.txt.
pub(crate) fn is_fetchable(origin: &Origin) -> bool {
    matches!(origin.scheme(), "http" | "https" | "ftp")
}

impl Origins {
    /// Keeps the origins that can have a robots.txt, without duplicates.
    pub(crate) fn retain_fetchable(&mut self) {
        self.named.retain(is_fetchable);
        self.logged.retain(|origin| is_fetchable(origin) && !self.named.contains(origin));
    }

    /// Removes the origins of logs with more ports of a host than are asked: any client can make
    /// up ports. Returns them.
    fn surplus_ports(&mut self, allowed: Ports) -> BTreeSet<Origin> {
        let port = |origin: &Origin| origin.port().or(default_port(origin.scheme())).unwrap_or(0);
        let mut by_host: BTreeMap<String, BTreeSet<(bool, u16)>> = BTreeMap::new();
        for origin in &self.logged {
            let of_host = by_host.entry(origin.host().to_owned()).or_default();
            of_host.insert((!USUAL_PORTS.contains(&port(origin)), port(origin)));
            if of_host.len() > HOST_PORTS_MAX {
                of_host.pop_last();
            }
        }
        let is_asked = |origin: &Origin| {
            let is_unusual = !USUAL_PORTS.contains(&port(origin));
            // Unusual ports that are not allowed have a reason of their own.
            (is_unusual && allowed == Ports::Usual)
                || by_host[origin.host()].contains(&(is_unusual, port(origin)))
        };
        let (asked, surplus) = std::mem::take(&mut self.logged).into_iter().partition(is_asked);
        self.logged = asked;
        surplus
    }

    /// Fetches from all origins, first from those that the user named, and from those of logs within
    /// `limits`. A host is asked again after `pause`. Each outcome goes to `writer`. If the run is
    /// stopped, completed fetches are kept.
    pub(crate) fn fetch(
        mut self,
        writer: Writer,
        settings: &Settings,
        pause: Duration,
        limits: LoggedLimits,
        jobs: usize,
        console: &SharedConsole,
    ) -> Result<FetchSummary> {
        let mut summary = FetchSummary { budget: limits.budget, ..FetchSummary::default() };
        for origin in self.surplus_ports(limits.ports) {
            let why = format!("more than {HOST_PORTS_MAX} ports of this host: not fetched");
            summary.take(&origin, &Fetched::not_asked(&origin, why));
        }
        let writer = Arc::new(Mutex::new(writer));
        let (kept, told) = (Arc::downgrade(&writer), Arc::clone(console));
        console.when_stopped(Box::new(move || keep(&kept, &*told)));
        let progress = FetchProgress::default();
        let total = (self.named.len() + self.logged.len()) as u64;
        let done = || progress.done.load(Ordering::Relaxed);
        let source = concat!("fetched by botaudit ", env!("CARGO_PKG_VERSION"));
        let mut flushed = Instant::now();
        let mut take = |origin: &Origin, fetched: Fetched| -> Result<()> {
            summary.take(origin, &fetched);
            if let Some(snapshot) = snapshot_of(origin, fetched, source) {
                lock(&writer).push(snapshot)?;
            }
            if flushed.elapsed() >= FLUSH_INTERVAL {
                lock(&writer).flush()?;
                flushed = Instant::now();
            }
            if console.is_stopped() {
                lock(&writer).flush()?;
                return Err(Error::system(
                    "stopped; the answers received so far are in the archive",
                ));
            }
            Ok(())
        };
        console.follow(&Watched::Items { total, done: &done }, || {
            let LoggedLimits { reach, ports, budget } = limits;
            let wary = Settings { reach, ports, ..settings.clone() };
            let until = Instant::now().checked_add(budget);
            let batches = [
                FetchBatch { origins: self.named.into_iter().collect(), settings, until: None },
                FetchBatch { origins: self.logged.into_iter().collect(), settings: &wary, until },
            ];
            fetch_all(&batches, pause, jobs, &progress, &mut take)?;
            lock(&writer).flush()
        })?;
        Ok(summary)
    }
}

/// Writes completed fetches when a run is stopped. The lock is never released, so that no other
/// write can begin and be cut off by the exit.
fn keep(writer: &Weak<Mutex<Writer>>, console: &dyn Console) {
    let Some(writer) = writer.upgrade() else { return };
    let mut held = lock(&writer);
    match held.flush() {
        Ok(()) => console.note("stopped; the answers received so far are in the archive"),
        Err(err) => console.error(&err.to_string()),
    }
    mem::forget(held);
}

impl FetchSummary {
    fn take(&mut self, origin: &Origin, fetched: &Fetched) {
        let outcome = fetched.outcome.to_string();
        match fetched.outcome {
            outcome if outcome.is_ruling() => self.fetched += 1,
            FetchOutcome::NotAsked => {}
            FetchOutcome::GivenUp => self.given_up += 1,
            FetchOutcome::Status(_) | FetchOutcome::Failure(_) => {
                self.failures += 1;
                self.failed.insert((origin.clone(), named_outcome(&outcome)));
                if self.failed.len() > FAILURES_NAMED_MAX {
                    self.failed.pop_last();
                }
            }
        }
        if self.lines.len() <= LISTED_MAX {
            let more = match (fetched.note.as_str(), fetched.chain.len()) {
                ("", 0) => String::new(),
                ("", _) => format!("  from {}", fetched.final_url),
                (note, _) => format!("  {note}"),
            };
            self.lines.push((origin.clone(), format!("{outcome:<16}  {origin}{more}\n")));
        }
        *self.by_outcome.entry(outcome).or_default() += 1;
    }

    /// The number of origins with each outcome.
    pub(crate) fn by_outcome(&self) -> &BTreeMap<String, u64> {
        &self.by_outcome
    }

    /// Each origin if there are few, then the number of each outcome.
    pub(crate) fn text(mut self) -> String {
        let mut text = String::new();
        if self.lines.len() <= LISTED_MAX {
            self.lines.sort();
            text.extend(self.lines.iter().map(|(_, line)| line.as_str()));
        }
        let part = |(outcome, count): (&String, &u64)| {
            format!("{} × {}", grouped(*count), named_outcome(outcome))
        };
        let parts: Vec<String> = self.by_outcome.iter().map(part).collect();
        let colon = if parts.is_empty() { "" } else { ": " };
        text + &format!("{} fetched{colon}{}\n", self.fetched_of_all(), parts.join(", "))
    }

    /// `3 origins`, or `2 of 3 origins` if not all gave an answer that says what is allowed.
    fn fetched_of_all(&self) -> String {
        let total: u64 = self.by_outcome.values().sum();
        match self.fetched {
            fetched if fetched == total => counted(total, "origin"),
            fetched => format!("{} of {} origins", grouped(fetched), grouped(total)),
        }
    }

    /// Why the fetches are incomplete: an origin gave no answer that says what is allowed, or no
    /// origin did. Hosts of logs that must not be asked are a reason only in the second case,
    /// because any client can write them into a log.
    pub(crate) fn problem(&self) -> Option<String> {
        let missed = self.failures + self.given_up;
        if missed == 0 && (self.fetched > 0 || self.by_outcome.is_empty()) {
            return None;
        }
        let mut reasons = Vec::new();
        if self.failures > 0 {
            let named = |(origin, outcome): &(Origin, String)| format!("{origin} ({outcome})");
            let named: Vec<String> = self.failed.iter().map(named).collect();
            let more = match self.failures - named.len() as u64 {
                0 => String::new(),
                more => format!(" and {} more", grouped(more)),
            };
            reasons.push(format!(
                "no usable answer from {}{more}; check these names, and that the hosts can be \
                 reached from here",
                named.join(", ")
            ));
        }
        if self.given_up > 0 {
            reasons.push(format!(
                "the time for fetches ({} seconds) was over before {} answered; use a longer \
                 --fetch-budget, or name your hosts with --origin",
                self.budget.as_secs_f64(),
                counted(self.given_up, "origin")
            ));
        }
        if missed == 0 {
            reasons
                .push("the hosts in the logs must not be asked without further flags".to_owned());
        }
        let reasons = reasons.join("; ");
        Some(format!("the robots.txt of {} was fetched: {reasons}", self.fetched_of_all()))
    }
}

/// The archive to write to, by `config`, and its content before; `None` if nothing is to be
/// fetched.
pub(crate) fn archive_to_fill(config: &AuditConfig) -> Result<Option<(Writer, Store)>> {
    let Some(path) = config.robots.as_ref().filter(|_| config.fetch == Some(true)) else {
        return Ok(None);
    };
    refuse_url(path)?;
    let known = known_store(path)?;
    Ok(Some((Archive::writer(path)?, known)))
}

/// Fetches the robots.txt of the `logged` origins, which crawlers requested, and of those that the
/// user names. Returns why files are missing, if any are.
pub(crate) fn fetch_logged(
    writer: Writer,
    config: &AuditConfig,
    naming: &OriginOptions,
    logged: BTreeSet<Origin>,
    console: &SharedConsole,
) -> Result<Option<String>> {
    let mut origins = Origins { named: naming.origin.iter().cloned().collect(), logged };
    origins.retain_fetchable();
    if origins.named.is_empty() && origins.logged.is_empty() {
        console.warn(
            "nothing was fetched: the logs name no host that a crawler requested; add --origin \
             https://example.com",
        );
        return Ok(None);
    }
    let limits = LoggedLimits {
        reach: match config.allow_private_addresses {
            Some(true) => Reach::AsAsked,
            _ => Reach::Public,
        },
        ports: if config.fetch_any_port == Some(true) { Ports::Any } else { Ports::Usual },
        budget: config.fetch_budget.unwrap_or(Seconds::OF_FETCHES).get(),
    };
    let settings = Settings::default();
    let summary = origins.fetch(writer, &settings, Duration::ZERO, limits, JOBS, console)?;
    let problem = summary.problem();
    console.show(&(summary.text() + "\n"))?;
    Ok(problem)
}

/// `timeout`, `HTTP 503`: a status needs the name of the protocol, because it is only a number.
fn named_outcome(outcome: &str) -> String {
    match outcome.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("HTTP {outcome}"),
        false => outcome.to_owned(),
    }
}

/// The content of the archive at `path`, which may not exist yet.
pub(crate) fn known_store(path: &Path) -> Result<Store> {
    if !path.exists() {
        return Ok(Store::Directory(Directory::default()));
    }
    match Store::open(path)? {
        archive @ (Store::Archive(_) | Store::Memory(_)) => Ok(archive),
        Store::File(_) | Store::Directory(_) => Err(Error::usage(format!(
            "--fetch needs an archive, but {} is not one; name another file with --robots",
            path.display()
        ))),
    }
}

/// Fetches the robots.txt files that an audit of `sources` needs, if `config` asks for it. Returns
/// why files are missing, if any are.
pub(crate) fn fetch_first(
    config: &AuditConfig,
    sources: &[Source],
    options: &Options,
    registry: &Registry,
    console: &SharedConsole,
) -> Result<Option<String>> {
    let wanted = Wanted { origins: config.fetch == Some(true), ..Wanted::default() };
    check_can_be_read_twice(wanted, sources)?;
    let Some((writer, known)) = archive_to_fill(config)? else { return Ok(None) };
    let (logged, _) = origins_asked(sources, options, known, registry, &**console)?;
    fetch_logged(writer, config, &options.naming, logged, console)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(texts: &[&str]) -> BTreeSet<Origin> {
        texts.iter().map(|text| Origin::parse(text.as_bytes()).unwrap()).collect()
    }

    #[test]
    fn four_ports_of_a_host_are_asked_the_usual_ones_first() {
        let logged = origins(&[
            "http://a.example",
            "https://a.example",
            "http://a.example:443",
            "http://a.example:1",
            "http://a.example:2",
            "http://a.example:3",
            "http://a.example:4",
            "http://b.example:1",
        ]);
        let check = |allowed: Ports, expected: &[&str]| {
            let mut all = Origins { named: BTreeSet::new(), logged: logged.clone() };
            let surplus = all.surplus_ports(allowed);
            assert_eq!(surplus, origins(expected));
            assert_eq!(all.logged.len() + surplus.len(), logged.len());
        };
        check(Ports::Any, &["http://a.example:3", "http://a.example:4"]);
        // These are refused with another reason.
        check(Ports::Usual, &[]);
    }
}
