//! The counts while lines are read, or while tallies are merged.

use std::{collections::BTreeMap, sync::Arc};

use serde_bytes::ByteBuf;

use crate::audit::hours::{HOURS_MAX, HourSums, Hours};
use crate::audit::origin_key::{OriginKey, OriginRank};
use crate::audit::sessions::{DelayedAt, SessionCounts, SessionTally};
use crate::audit::{input_tally::InputTally, memory_limit::MEMORY_DEFAULT};
use crate::bounded::{BoundedBytes, StableHash};
use crate::crawlers::identity::Actor;
use crate::error::Result;
use crate::input::source::FileId;
use crate::judge::verdict::Verdict;
use crate::logs::record::Record;
use crate::measures::{
    clients::ClientTally, crawler_tally::CrawlerTally, renumbering::Renumbering,
};
use crate::measures::{request_kind::RequestsOfKind, signatures::Signatures};
use crate::merge::Merge;
use crate::time::Hour;
use crate::url::path::PathQuery;

use super::counts::{
    Counts, OriginRows, TimesEnd, UserAgentTally, renumbered_paths, renumbered_sections,
};
use super::paths::{PathCounter, Sections};
use super::rows::{FinishedRows, OriginId, RowLimits, Rows};
use super::urls::UrlPart;

/// The most user agents of unknown crawlers; the rest is `(others)`.
pub(crate) const UNKNOWN_CRAWLERS_MAX: usize = 10_000;

/// The limits of a tally.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TallyLimits {
    /// Limits of origins, and of minutes and hours of rows.
    pub rows: RowLimits,
    /// The most hours, counted from the last one.
    pub hours_max: usize,
    /// User agents of unknown crawlers.
    pub unknown_crawlers_max: usize,
    /// The memory of tallies that are read from files, in bytes.
    pub memory_bytes: usize,
}

impl Default for TallyLimits {
    fn default() -> TallyLimits {
        TallyLimits {
            rows: RowLimits::default(),
            hours_max: HOURS_MAX,
            unknown_crawlers_max: UNKNOWN_CRAWLERS_MAX,
            memory_bytes: MEMORY_DEFAULT,
        }
    }
}

/// Counts that grow.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    /// Lines by input.
    pub files: BTreeMap<FileId, InputTally>,
    /// Requests of crawlers, by origin.
    pub rows: Rows,
    /// Requests of crawlers, by hour.
    pub hours: Hours,
    /// Requests of crawlers, by section, if they are counted.
    pub sections: Sections,
    /// The same by path, if they are counted.
    pub paths: PathCounter,
    /// Requests of unknown user agents that look automated.
    pub unknown_crawlers: BoundedBytes<UserAgentTally>,
    /// Requests of clients that the registry does not name.
    pub clients: ClientTally,
    /// Sessions of clients, if they are counted.
    pub sessions: BTreeMap<Actor, SessionTally>,
    /// Signed requests.
    pub signatures: Signatures,
}

impl Counter {
    /// An empty counter. `ranks` has the rank of each crawler's name.
    pub(crate) fn new(limits: TallyLimits, ranks: Arc<[u16]>) -> Counter {
        Counter {
            files: BTreeMap::new(),
            rows: Rows::new(limits.rows, ranks),
            hours: Hours::new(limits.hours_max),
            sections: Sections::default(),
            paths: PathCounter::default(),
            unknown_crawlers: BoundedBytes::new(
                limits.unknown_crawlers_max,
                StableHash::stable_hash,
            ),
            clients: ClientTally::default(),
            sessions: BTreeMap::new(),
            signatures: Signatures::default(),
        }
    }

    /// Adds requests of `actor` at `origin` that were counted one by one where they are not the same. Their hours
    /// are added by themselves: a day of one kind has some.
    pub(crate) fn add_requests(
        &mut self,
        origin: OriginId,
        actor: Actor,
        of_kind: &RequestsOfKind,
    ) {
        self.rows.row(origin, actor).add(of_kind);
    }

    /// Adds requests of `actor` with this verdict to their hour.
    pub(crate) fn add_hour(
        &mut self,
        hour: Hour,
        actor: Actor,
        verdict: Verdict,
        (requests, bytes): (u64, u64),
    ) {
        self.hours.add(hour, actor, HourSums::of(verdict, requests, bytes));
    }

    /// Counts a request by its path, of which `part` makes a URL distinct.
    pub(crate) fn count_path(
        &mut self,
        (origin, (key, rank)): (OriginId, (&OriginKey, OriginRank)),
        (path, part): (PathQuery<'_>, UrlPart),
        actor: Actor,
        record: &Record<'_>,
    ) {
        let path = &*part.of(path.as_bytes());
        self.sections.count((origin, &self.rows), path, actor, record);
        self.paths.count((key, rank), path, part, actor, record);
    }

    /// Adds sessions, and gaps between requests.
    pub(crate) fn add_sessions(&mut self, counts: SessionCounts) {
        self.sessions.absorb(counts.sessions);
        for (DelayedAt { origin_key, actor, robots }, (rank, gaps)) in counts.gaps {
            let origin = self.rows.origin(&origin_key, rank);
            self.rows.row(origin, actor).paces.entry(robots).gaps.absorb(gaps);
        }
    }

    /// Adds `counts`; `numbers` maps their numbers to those here.
    ///
    /// # Errors
    /// If the counts have a number that their tally lacks.
    pub(crate) fn add(&mut self, counts: Counts, numbers: &Renumbering) -> Result<()> {
        for (tally, input) in counts.inputs.into_iter().zip(0..) {
            let input = numbers.input(FileId::from_index(input))?;
            self.files.entry(input).or_default().absorb(tally);
        }
        let mut buckets: u64 = 0;
        for OriginRows { origin_key, is_stranger, rows, visits, browsers } in counts.origins {
            let origin = self.rows.origin(&origin_key, OriginRank::new(&origin_key, is_stranger));
            self.rows.visits(origin).absorb(visits);
            self.rows.browsers(origin).absorb(browsers);
            for (actor, tally) in rows {
                let mut tally = tally.renumbered(numbers)?;
                buckets += tally.time_buckets() as u64;
                self.rows.row(origin, numbers.actor(actor)?).absorb(tally);
            }
        }
        if let Some(end) = counts.times_end {
            let crawler = numbers.crawler(end.crawler)?;
            self.rows.end_times_at_row(TimesEnd { crawler, ..end });
        }
        self.rows.bound_times(buckets.div_ceil(2));
        self.hours.absorb(counts.hours.renumbered(|actor| numbers.actor(actor))?);
        for (actor, sessions) in counts.sessions {
            self.sessions.entry(numbers.actor(actor)?).or_default().absorb(sessions);
        }
        self.sections.add(renumbered_sections(counts.sections, numbers)?);
        self.paths.add(renumbered_paths(counts.paths, numbers)?);
        self.clients.absorb(counts.clients);
        for (user_agent, tally) in counts.unknown_crawlers {
            self.unknown_crawlers.entry(&user_agent).absorb(tally);
        }
        self.signatures.add(counts.signatures);
        if let Some(others) = counts.other_unknown_crawlers {
            self.unknown_crawlers.add_to_others(others);
        }
        Ok(())
    }

    /// The ordered counts, with the numbers in `numbers`. `inputs` is the number of inputs.
    ///
    /// # Errors
    /// If `numbers` lacks one: a mistake in this program.
    pub(crate) fn finish(mut self, inputs: usize, numbers: &Renumbering) -> Result<Counts> {
        let mut files = vec![InputTally::default(); inputs];
        for (file, tally) in std::mem::take(&mut self.files) {
            files[numbers.input(file)?.index()].absorb(tally);
        }
        self.sections.settle(&self.rows);
        let FinishedRows { mut origins, times_end } = self.rows.finish();
        for OriginRows { rows, .. } in &mut origins {
            let row = |(actor, tally): (Actor, CrawlerTally)| {
                Ok((numbers.actor(actor)?, tally.renumbered(numbers)?))
            };
            *rows = std::mem::take(rows).into_iter().map(row).collect::<Result<_>>()?;
            rows.sort_unstable_by_key(|(actor, _)| *actor);
        }
        let times_end = times_end
            .map(|end| Result::Ok(TimesEnd { crawler: numbers.crawler(end.crawler)?, ..end }))
            .transpose()?;
        let hours = self.hours.renumbered(|actor| numbers.actor(actor))?;
        let sessions = self.sessions.into_iter();
        let sessions = sessions.map(|(actor, sessions)| Ok((numbers.actor(actor)?, sessions)));
        let mut sessions = sessions.collect::<Result<Vec<_>>>()?;
        sessions.sort_unstable_by_key(|(actor, _)| *actor);
        let sections = renumbered_sections(self.sections.into_counts(&origins), numbers)?;
        let paths = renumbered_paths(self.paths.into_counts(), numbers)?;
        let (unknown, other_unknown_crawlers) = self.unknown_crawlers.into_parts();
        let unknown = unknown.into_iter();
        let unknown = unknown.map(|(user_agent, tally)| (ByteBuf::from(user_agent), tally));
        let unknown_crawlers = unknown.collect();
        Ok(Counts {
            inputs: files,
            origins,
            times_end,
            hours,
            sections,
            paths,
            unknown_crawlers,
            other_unknown_crawlers,
            clients: self.clients,
            sessions,
            signatures: self.signatures.into_counts(),
        })
    }
}

impl Merge for Counter {
    fn absorb(&mut self, other: Counter) {
        let Counter {
            files,
            rows,
            hours,
            mut sections,
            paths,
            unknown_crawlers,
            clients,
            sessions,
            signatures,
        } = other;
        sections.settle(&rows);
        self.files.absorb(files);
        self.rows.absorb(rows);
        self.hours.absorb(hours);
        self.sections.absorb(sections);
        self.paths.absorb(paths);
        self.unknown_crawlers.absorb(unknown_crawlers);
        self.clients.absorb(clients);
        self.sessions.absorb(sessions);
        self.signatures.absorb(signatures);
    }
}
