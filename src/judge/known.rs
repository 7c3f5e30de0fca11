//! What a judge knows of origins: their histories in the store, and what logs show besides.

use std::sync::Arc;

use crate::archive::{Store, reader::Archive};
use crate::error::Result;
use crate::mutex::lock;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::outages::{KnownOutages, OutageHours, Outages};
use super::{HostSource, Judge, history::History, origin_history::OriginHistory};

impl Judge {
    /// What [`Judge::unnamed`] says, at all times.
    pub fn unnamed_known(&self) -> Option<Arc<OriginHistory>> {
        let known = self.unnamed().map(|robots| Arc::new(OriginHistory::always(robots)));
        self.with_outages(None, known)
    }

    /// What is known of `origin` over time, shared by all who ask; `None` where nothing is. To be
    /// asked once an origin, not once a request. What cannot be read is among the
    /// [failures](Judge::failures).
    pub fn known(&self, origin: &Origin, host_source: HostSource) -> Option<Arc<OriginHistory>> {
        let known = self.known_of_store(origin, host_source);
        match host_source {
            HostSource::Own => self.with_outages(Some(origin), known),
            // What our log shows of a foreign host is what we answered in its place.
            HostSource::Foreign => known,
        }
    }

    /// `known` of `origin`, or of a log that names no host, with what logs show besides.
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
        let Store::Archive(archive) = &self.store else {
            return self
                .site(origin, host_source)
                .map(|robots| Arc::new(OriginHistory::always(robots)));
        };
        if let Some(known) = lock(&self.loaded).histories.get(origin) {
            return Some(Arc::clone(known));
        }
        match self.archived(archive, origin) {
            // Anybody can make up origins of which nothing is known; they are not remembered.
            Ok(None) => None,
            Ok(Some(history)) => {
                let mut loaded = lock(&self.loaded);
                let known = loaded.histories.entry(origin.clone());
                Some(Arc::clone(known.or_insert_with(|| Arc::new(history))))
            }
            Err(err) => {
                lock(&self.loaded).fail(archive.path().display().to_string(), err.to_string());
                None
            }
        }
    }

    /// What an archive has of an origin about which [`Judge::known`] was asked; `None` where it has
    /// nothing, or robots.txt files have no history.
    pub fn history(&self, origin: &Origin) -> Option<Arc<OriginHistory>> {
        lock(&self.loaded).histories.get(origin).cloned()
    }

    /// What [`Judge::known`] says, read anew.
    ///
    /// # Errors
    /// Where the archive cannot be read.
    pub fn read_history(
        &self,
        origin: &Origin,
        host_source: HostSource,
    ) -> Result<Option<OriginHistory>> {
        match &self.store {
            Store::File(_) | Store::Directory(_) => {
                Ok(self.site(origin, host_source).map(OriginHistory::always))
            }
            Store::Archive(archive) => self.archived(archive, origin),
        }
    }

    fn archived(&self, archive: &Archive, origin: &Origin) -> Result<Option<OriginHistory>> {
        let entries = archive.history(origin)?;
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
                let body = archive.body(*key)?;
                let robots = self.version_of(key.digest, &body);
                self.keep(0);
                Ok(robots)
            })
            .collect::<Result<Box<[_]>>>()?;
        if let (Some(newest), Some(source)) = (versions.last(), self.store.source(origin)) {
            lock(&self.loaded).note_foreign(source, newest);
        }
        Ok(Some(OriginHistory::new(timeline, versions, sightings)))
    }

    /// From now on also judges by what logs show: in `hours` nobody got the robots.txt of an origin
    /// of ours. An archive wins that has a snapshot within a day of such an hour.
    pub fn add_outages(&mut self, hours: OutageHours) {
        let mut known_outages = KnownOutages::default();
        for (origin, hours) in hours {
            // What is known of it cannot be read, and its requests will count as unknown.
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

    /// What counts of what logs show; `None` where nobody asked for it.
    pub fn known_outages(&self) -> Option<&KnownOutages> {
        self.known_outages.as_ref()
    }

    fn snapshot_times(&self, origin: Option<&Origin>) -> Option<Vec<UtcTime>> {
        match (&self.store, origin) {
            (Store::Archive(archive), Some(origin)) => {
                let history = archive.history(origin).ok()?;
                Some(history.iter().map(|entry| entry.fetch.fetched_at).collect())
            }
            _ => Some(Vec::new()),
        }
    }
}
