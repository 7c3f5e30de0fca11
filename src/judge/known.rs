//! What a judge knows about origins: their histories in the store, and outages from logs.

use std::{path::Path, sync::Arc};

use bytes::Bytes;

use crate::archive::snapshot::{BodyKey, HistoryEntry};
use crate::archive::{Store, kept::KeptFiles};
use crate::error::{Error, Result};
use crate::mutex::lock;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::outages::{KnownOutages, OutageHours, Outages};
use super::{HostSource, Judge, origin_history::OriginHistory, robots::Robots, timeline::History};

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
        loaded.file_histories.clear();
        drop(loaded);
        self.single_file = single_file.map(|snapshot| self.load(snapshot));
        Ok(())
    }

    /// The same judge, which also knows earlier versions of the files of its store: each request is judged by the
    /// version of its time.
    #[must_use]
    pub(crate) fn with_kept_files(self, kept_files: Option<KeptFiles>) -> Judge {
        Judge { kept_files, ..self }
    }

    /// The history of [`Judge::unnamed`].
    pub(crate) fn unnamed_known(&self) -> Option<Arc<OriginHistory>> {
        self.with_outages(None, self.unnamed_of_store())
    }

    fn unnamed_of_store(&self) -> Option<Arc<OriginHistory>> {
        self.unnamed().and_then(|robots| self.history_of_file(self.source(None), robots))
    }

    /// The history of the file for `origin`, or for requests without one, if other versions of it are kept.
    pub(crate) fn file_history(&self, origin: Option<&Origin>) -> Option<Arc<OriginHistory>> {
        if self.has_history() || self.kept_files.is_none() {
            return None;
        }
        let known = match origin {
            Some(origin) => self.known_of_store(origin, HostSource::Own),
            None => self.unnamed_of_store(),
        };
        known.filter(|known| known.snapshot_count() > 0)
    }

    /// The history of the file `source`, which is `robots` now: that of its versions, if others are kept.
    fn history_of_file(
        &self,
        source: Option<String>,
        robots: Arc<Robots>,
    ) -> Option<Arc<OriginHistory>> {
        let Some((kept, source)) = self.kept_files.as_ref().zip(source) else {
            return Some(Arc::new(OriginHistory::always(robots)));
        };
        if let Some(known) = lock(&self.loaded).file_histories.get(&source) {
            return Some(Arc::clone(known));
        }
        let read = kept.history(&source).and_then(|entries| {
            // The file may have changed again since it was seen.
            let is_present = |key: BodyKey| key.digest == robots.digest;
            let history = match entries.iter().all(|entry| entry.body.is_some_and(is_present)) {
                true => OriginHistory::always(robots),
                false => self.history_of(&entries, |key| kept.body(key))?.of_files(),
            };
            Ok(history)
        });
        let mut loaded = lock(&self.loaded);
        let history = read.map_err(|err| loaded.fail(err.to_string())).ok()?;
        let known = loaded.file_histories.entry(source);
        Some(Arc::clone(known.or_insert_with(|| Arc::new(history))))
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
            let robots = self.site(origin, host_source)?;
            return self.history_of_file(self.source(Some(origin)), robots);
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
        let history = self.history_of(&entries, |key| {
            let body = self.store.body(origin, key);
            body.map_err(|err| Error::archive(Path::new(origin.as_str()), err.to_string()))
        })?;
        if let (Some(newest), Some(source)) = (history.last_version(), self.store.source(origin)) {
            lock(&self.loaded).note(&source, newest);
        }
        Ok(Some(history))
    }

    /// The history with the snapshots `entries`, whose bodies `read` reads.
    fn history_of(
        &self,
        entries: &[HistoryEntry],
        read: impl Fn(BodyKey) -> Result<Bytes>,
    ) -> Result<OriginHistory> {
        let History { timeline, bodies, sightings } = History::new(entries);
        let versions = bodies.iter().map(|key| {
            if let Some(known) = lock(&self.loaded).by_digest.get(&key.digest) {
                return Ok(Arc::clone(known));
            }
            let robots = self.version_of(key.digest, &read(*key)?);
            self.keep(0);
            Ok(robots)
        });
        Ok(OriginHistory::new(timeline, versions.collect::<Result<_>>()?, sightings))
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
