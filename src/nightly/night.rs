//! One night of one site: what its logs have that was not counted yet goes into the state.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::by_day::FileDays;
use crate::audit::finish::Audit;
use crate::audit::follow::{Followed, Reading, ReadingEnd, follow};
use crate::audit::identities::Identities;
use crate::audit::kept::{KeptInput, audit_of};
use crate::audit::parse_rate::falls_short;
use crate::audit::record::in_force::{InForceRecord, Version};
use crate::audit::record::{DayRecord, Ids};
use crate::audit::tally::Tally;
use crate::audit::{Options, Progress};
use crate::crawlers::registry::Registry;
use crate::error::Result;
use crate::input::source::{FileId, Source};
use crate::judge::Judge;
use crate::judge::stored_versions::KeptRobots;
use crate::merge::Merge;
use crate::time::{Day, UtcTime, Zone};

use super::log_identity::is_unfinished;
use super::plan::{Log, Plan};
use super::state::State;
use super::state::change::Change;
use super::state::inputs::Input;

/// By what a site is judged.
#[derive(Clone, Copy, Debug)]
pub struct Night<'a> {
    /// The name of the site.
    pub site: &'a str,
    /// The day of the run, in the site's zone.
    pub today: Day,
    /// How its logs are read. The window has what is still kept.
    pub options: &'a Options,
    /// What its crawlers may do.
    pub judge: &'a Judge,
    /// Who they are.
    pub registry: &'a Registry,
    /// Percent of the lines of a log that must be records.
    pub min_parse_rate: f64,
}

/// What came of reading logs.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// Why logs could not be opened, or not be read to their ends.
    pub damages: Vec<String>,
    /// Why lines were not understood.
    pub not_understood: Vec<String>,
    /// Whether a name led elsewhere when the log was opened than when it was looked at.
    pub is_rotated: bool,
}

impl Night<'_> {
    /// Counts what `plan` has to read, batch by batch. `identities_of` tells who is who in what is
    /// to be read.
    ///
    /// # Errors
    /// Where the state cannot be written, or sums that must hold do not. What was taken in before
    /// stays.
    pub fn take_in(
        &self,
        state: &mut State,
        plan: &Plan,
        progress: &Progress,
        identities_of: impl Fn(&[Source], &[Reading]) -> Result<Identities>,
    ) -> Result<Taken> {
        let mut taken = Taken::default();
        let sources = plan.sources();
        // Those that are new get their numbers as they are taken in.
        let mut numbers: BTreeMap<i64, FileId> = BTreeMap::new();
        for (place, log) in plan.logs.iter().enumerate().filter(|(_, log)| log.input.id != 0) {
            numbers.insert(log.input.id, FileId::from_index(place));
        }
        for mut batch in plan.batches() {
            while !batch.is_empty() {
                let identities = identities_of(&sources, &batch)?;
                let judged = (self.judge, self.registry);
                let followed =
                    follow(&sources, &batch, self.options, judged, &identities, progress)?;
                let wrong = self.wrong(plan, &followed, &mut taken);
                if wrong.is_empty() {
                    self.keep(state, plan, followed, &mut numbers, &mut taken)?;
                    break;
                }
                // Their lines are among the sums; so these are made again without them.
                batch.retain(|reading| !wrong.contains(&reading.file));
            }
        }
        let change = state.change(self.site)?;
        for &id in &plan.seen {
            change.saw_input(id, self.today)?;
        }
        change.commit()?;
        Ok(taken)
    }

    /// The logs that must not be taken in: not understood, or not those that were looked at.
    fn wrong(&self, plan: &Plan, followed: &Followed, taken: &mut Taken) -> BTreeSet<FileId> {
        let mut wrong = BTreeSet::new();
        for (end, of_file) in &followed.ends {
            let Log { input, file } = &plan.logs[end.file.index()];
            let Some((reached, present)) = end.reached.as_ref().zip(file.as_ref()) else {
                continue;
            };
            let parsed = input.parsed + of_file.parsed;
            let rejected = input.rejected + of_file.rejected;
            if input.id == 0 && !reached.marks.starts_with(&input.reached.marks) {
                taken.is_rotated = true;
                wrong.insert(end.file);
            } else if falls_short(parsed, rejected, self.min_parse_rate) {
                let format = end.input.format.as_ref().map_or("unknown", |format| &format.name);
                taken.not_understood.push(format!(
                    "{name}: read as {format}, {parsed} of {} lines are records; nothing more of it was \
                     counted. To see why, run: botaudit formats detect '{name}'; to say how its \
                     lines are written, use log_format; to accept it as it is, min_parse_rate",
                    parsed + rejected,
                    name = present.source.name,
                ));
                wrong.insert(end.file);
            }
        }
        wrong
    }

    fn keep(
        &self,
        state: &mut State,
        plan: &Plan,
        followed: Followed,
        numbers: &mut BTreeMap<i64, FileId>,
        taken: &mut Taken,
    ) -> Result<()> {
        let Followed { days, ends } = followed;
        let mut changed = Vec::new();
        for (day, tally) in days {
            let before = state.day(self.site, day)?.unwrap_or_default();
            self.intern(state, &before)?;
            let (in_force, versions) = self.in_force(&tally, day);
            let bodies = self.new_bodies(state, &versions)?;
            changed.push((day, tally, before, in_force, bodies));
        }
        let change = state.change(self.site)?;
        for (end, of_file) in &ends {
            let log = &plan.logs[end.file.index()];
            if let Some(id) = self.keep_input(&change, log, end, of_file, taken)? {
                numbers.insert(id, end.file);
            }
        }
        for (day, mut tally, before, mut in_force, bodies) in changed {
            let ids = Ids { registry: self.registry, judge: self.judge, files: numbers };
            in_force.absorb(before.in_force.clone());
            tally.absorb(before.tally(day, ids)?);
            change.put_day(day, &DayRecord::new(tally, in_force, ids))?;
            bodies.iter().try_for_each(|body| change.put_robots(body))?;
        }
        change.commit()
    }

    /// Remembers how far a log was read, and gives its number; `None` where nothing is to be
    /// remembered of it.
    fn keep_input(
        &self,
        change: &Change<'_>,
        Log { input: before, file }: &Log,
        end: &ReadingEnd,
        of_file: &FileDays,
        taken: &mut Taken,
    ) -> Result<Option<i64>> {
        let Some(reached) = &end.reached else {
            match &end.input.failure {
                Some(failure) => taken.damages.push(failure.clone()),
                None => taken.is_rotated = true,
            }
            return Ok(None);
        };
        let Some(present) = file else { return Ok(None) };
        let damage = end.input.ending.damage;
        let is_unfinished = damage.is_some_and(|damage| is_unfinished(&present.source, damage));
        let damage = damage.filter(|_| !is_unfinished).map(|damage| damage.to_string());
        if let Some(damage) = &damage {
            let (name, lines) = (&present.source.name, reached.lines);
            taken.damages.push(format!("{name}: {damage}; {lines} lines before it were counted"));
        }
        let last_day = of_file.last.or(before.last_day);
        // A log of which no day is known is read again as a whole.
        if before.id == 0 && last_day.is_none() && of_file.outside == 0 {
            return Ok(None);
        }
        let input = Input {
            id: before.id,
            name: before.name.clone(),
            reached: reached.clone(),
            last_day,
            latest_day: of_file.latest.max(before.latest_day),
            format: end.input.format.clone().or_else(|| before.format.clone()),
            damage,
            parsed: before.parsed + of_file.parsed,
            rejected: before.rejected + of_file.rejected,
        };
        if input.damage != before.damage {
            for day in [before.last_day, last_day].into_iter().flatten() {
                change.make_due(day)?;
            }
        }
        let id = change.put_input(&input, self.today)?;
        if let Some(fingerprint) = present.fingerprint.filter(|_| !is_unfinished) {
            change.put_file(&fingerprint, id)?;
        }
        Ok(Some(id))
    }

    /// Lets the judge know each robots.txt that `record` names.
    fn intern(&self, state: &State, record: &DayRecord) -> Result<()> {
        for digest in record.digests() {
            if self.judge.interned(digest).is_none()
                && let Some(robots) = state.robots(digest)?
            {
                self.judge.intern(&robots);
            }
        }
        Ok(())
    }

    fn in_force(&self, tally: &Tally, day: Day) -> (InForceRecord, Vec<Version>) {
        let (first, last) = bounds(&self.options.zone, day);
        InForceRecord::new(tally, self.judge, (first, last), self.options.before_first)
    }

    fn new_bodies(&self, state: &State, versions: &[Version]) -> Result<Vec<KeptRobots>> {
        let mut bodies: BTreeMap<&str, KeptRobots> = BTreeMap::new();
        for Version { origin, digest } in versions {
            if !bodies.contains_key(digest.as_str()) && state.robots(digest)?.is_none() {
                bodies.insert(digest, self.judge.body(origin.as_ref(), digest)?);
            }
        }
        Ok(bodies.into_values().collect())
    }

    /// The audit of `day`, as far as it was taken in.
    ///
    /// # Errors
    /// Where the state cannot be read, or sums that must hold do not.
    pub fn audit(&self, state: &State, day: Day, identities: &Identities) -> Result<Audit> {
        let record = state.day(self.site, day)?.unwrap_or_default();
        self.intern(state, &record)?;
        let mut inputs = state.inputs(self.site)?;
        inputs.sort_by_cached_key(|input| (input.reached.marks.clone(), input.id));
        let inputs: Vec<(i64, KeptInput)> = inputs
            .into_iter()
            .map(|input| {
                // It is told once, where the log broke off.
                let damage = input.damage.filter(|_| input.last_day == Some(day));
                (input.id, KeptInput { name: input.name, format: input.format, damage })
            })
            .collect();
        let judge = (self.judge, self.options.before_first);
        audit_of(&record, day, &inputs, judge, self.registry, identities)
    }
}

/// The first and the last second of `day`.
fn bounds(zone: &Zone, day: Day) -> (UtcTime, UtcTime) {
    let start = |day: Day| zone.parse(&day.to_string()).unwrap_or(UtcTime::EPOCH);
    let (first, next) = (start(day), start(day.plus(1)));
    (first, UtcTime::from_unix_seconds(next.unix_seconds() - 1).unwrap_or(first).max(first))
}
