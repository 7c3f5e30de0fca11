//! What a judge knows about origins: their histories in the store, and outages from logs.

use std::{path::Path, sync::Arc};

use crate::archive::Store;
use crate::error::{Error, Result};
use crate::mutex::lock;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::outages::{KnownOutages, OutageHours, Outages};
use super::{HostSource, Judge, origin_history::OriginHistory, timeline::History};

impl Judge {
    /// Judges by `store` from now on. Compiled rules stay, up to the limit of [`Judge::of_many`].
    ///
    /// # Errors
    /// If the single robots.txt file cannot be read.
    pub fn set_store(&mut self, store: Store) -> Result<()> {
        let single_file = store.single_file()?;
        self.store = store;
        let mut loaded = lock(&self.loaded);
        loaded.sources.clear();
        loaded.histories.clear();
        drop(loaded);
        self.single_file = single_file.map(|snapshot| self.load(snapshot));
        Ok(())
    }

    /// The robots.txt of [`Judge::unnamed`], in force at all times.
    pub(crate) fn unnamed_known(&self) -> Option<Arc<OriginHistory>> {
        let known = self.unnamed().map(|robots| Arc::new(OriginHistory::always(robots)));
        self.with_outages(None, known)
    }

    /// The history of `origin`, shared by all callers; `None` if there is none. Call it once per
    /// origin, not once per request. Files that cannot be read are among the
    /// [failures](Judge::failures).
    pub fn known(&self, origin: &Origin, host_source: HostSource) -> Option<Arc<OriginHistory>> {
        let known = self.known_of_store(origin, host_source);
        match host_source {
            HostSource::Own => self.with_outages(Some(origin), known),
            // For a foreign host, the log only shows the answers of this server.
            HostSource::Foreign => known,
        }
    }

    /// Adds outages from logs to `known`, the history of `origin` or of a log without hosts.
    fn with_outages(
        &self,
        origin: Option<&Origin>,
        known: Option<Arc<OriginHistory>>,
    ) -> Option<Arc<OriginHistory>> {
        let Some(outages) =
            self.known_outages().and_then(|known_outages| known_outages.outages(origin))
        else {
            return known;
        };
        let known = known.map_or_else(OriginHistory::default, |known| (*known).clone());
        Some(Arc::new(known.with_outages(Arc::clone(outages))))
    }

    fn known_of_store(
        &self,
        origin: &Origin,
        host_source: HostSource,
    ) -> Option<Arc<OriginHistory>> {
        if !self.has_history() {
            return self
                .site(origin, host_source)
                .map(|robots| Arc::new(OriginHistory::always(robots)));
        }
        if let Some(known) = lock(&self.loaded).histories.get(origin) {
            return Some(Arc::clone(known));
        }
        match self.archived(origin) {
            // Unknown origins are not cached, because clients can invent any number of them.
            Ok(None) => None,
            Ok(Some(history)) => {
                let mut loaded = lock(&self.loaded);
                let known = loaded.histories.entry(origin.clone());
                Some(Arc::clone(known.or_insert_with(|| Arc::new(history))))
            }
            // It is among the failures.
            Err(_) => None,
        }
    }

    /// The history of an origin in the archive, after a call of [`Judge::known`]; `None` if there
    /// is none.
    pub(crate) fn history(&self, origin: &Origin) -> Option<Arc<OriginHistory>> {
        lock(&self.loaded).histories.get(origin).cloned()
    }

    /// Reads the history for [`Judge::known`].
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub(crate) fn read_history(
        &self,
        origin: &Origin,
        host_source: HostSource,
    ) -> Result<Option<OriginHistory>> {
        match &self.store {
            Store::File(_) | Store::Directory(_) => {
                Ok(self.site(origin, host_source).map(OriginHistory::always))
            }
            Store::Archive(_) | Store::Memory(_) => self.archived(origin),
        }
    }

    /// The history of `origin` in the archive. An error is also among the failures.
    fn archived(&self, origin: &Origin) -> Result<Option<OriginHistory>> {
        let read = self.read_archived(origin);
        read.inspect_err(|err| lock(&self.loaded).fail(err.to_string()))
    }

    fn read_archived(&self, origin: &Origin) -> Result<Option<OriginHistory>> {
        let entries = self.store.history(origin)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let History { timeline, bodies, sightings } = History::new(&entries);
        let versions = bodies
            .iter()
            .map(|key| {
                if let Some(known) = lock(&self.loaded).by_digest.get(&key.digest) {
                    return Ok(Arc::clone(known));
                }
                let body = self.store.body(origin, *key);
                let body = body
                    .map_err(|err| Error::archive(Path::new(origin.as_str()), err.to_string()))?;
                let robots = self.version_of(key.digest, &body);
                self.keep(0);
                Ok(robots)
            })
            .collect::<Result<Box<[_]>>>()?;
        if let (Some(newest), Some(source)) = (versions.last(), self.store.source(origin)) {
            lock(&self.loaded).note(&source, newest);
        }
        Ok(Some(OriginHistory::new(timeline, versions, sightings)))
    }

    /// Also judges by outages from logs: in `hours`, all robots.txt fetches of an origin failed. A
    /// snapshot of an archive within a day of such an hour takes precedence.
    pub fn add_outages(&mut self, hours: OutageHours) {
        let mut known_outages = KnownOutages::default();
        for (origin, hours) in hours {
            // Its robots.txt cannot be read, so its requests are unknown.
            let Some(snapshots) = self.snapshot_times(origin.as_ref()) else { continue };
            let outages = Outages::new(&hours, &snapshots);
            let counted_hours = outages.hours();
            known_outages.hours_passed_over += hours.len() as u64 - counted_hours;
            if counted_hours == 0 {
                continue;
            }
            known_outages.hours += counted_hours;
            known_outages.origins += 1;
            match origin {
                Some(origin) => drop(known_outages.by_origin.insert(origin, Arc::new(outages))),
                None => known_outages.unnamed = Some(Arc::new(outages)),
            }
        }
        self.known_outages = Some(known_outages);
    }

    /// Outages from logs, if they are used.
    pub(crate) fn known_outages(&self) -> Option<&KnownOutages> {
        self.known_outages.as_ref()
    }

    fn snapshot_times(&self, origin: Option<&Origin>) -> Option<Vec<UtcTime>> {
        let Some(origin) = origin else { return Some(Vec::new()) };
        let history = self.store.history(origin).ok()?;
        Some(history.iter().map(|entry| entry.fetch.fetched_at).collect())
    }
}
