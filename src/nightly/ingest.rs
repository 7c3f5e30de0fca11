//! One night of one site: counts the new lines of its logs.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::extent::{ReadRange, ReadRangeEnd};
use crate::audit::parse_rate::not_understood;
use crate::audit::tally::build::{Run, in_order};
use crate::audit::tally::header::{self, InputSummary};
use crate::audit::tally::{Tally, counter::Counter, merge::continued};
use crate::audit::{IncrementalTally, day_counters::FileDays, follow, options::Options};
use crate::audit::{identities::Identities, progress::Progress};
use crate::crawlers::registry::Registry;
use crate::error::Result;
use crate::input::source::{FileId, Source};
use crate::judge::Judge;
use crate::report::privacy::Privacy;
use crate::time::Day;

use super::earlier_fetches::{days_that_know, remember};
use super::log_identity::is_unfinished;
use super::plan::{Log, Plan};
use super::state::State;
use super::state::change::{RecordedInput, StateChange};
use super::state::fetches::{DayFetch, REMEMBERED_DAYS, fetches};

/// The settings of a site for one run.
#[derive(Clone, Copy)]
pub(crate) struct SiteIngest<'a> {
    /// The name of the site.
    pub site: &'a str,
    /// The day of the run, in the site's zone.
    pub today: Day,
    /// How its logs are read. The window is the period that is kept.
    pub options: &'a Options,
    /// The judge.
    pub judge: &'a Judge,
    /// The identities of crawlers.
    pub registry: &'a Registry,
    /// The least percentage of lines that must be parsed.
    pub min_parse_rate: f64,
    /// What is kept of clients and queries.
    pub privacy: &'a Privacy,
    /// The options, as the tally of a day keeps them.
    pub options_of: &'a dyn Fn(Day) -> header::ReportedOptions,
}

/// The result of reading logs.
#[derive(Clone, Debug, Default)]
pub(crate) struct IngestProblems {
    /// Why logs could not be opened, or not be read to their ends.
    pub damages: BTreeSet<String>,
    /// Why lines were not understood.
    pub not_understood: BTreeSet<String>,
    /// A sentence for each log that is read, but may repeat another one.
    pub alike: BTreeSet<String>,
    /// Whether a name led elsewhere when the log was opened than when it was looked at.
    pub is_rotated: bool,
}

impl SiteIngest<'_> {
    /// Counts the lines in `plan`, batch by batch. `identities_of` returns the identities of
    /// crawlers in a batch.
    ///
    /// # Errors
    /// If the state cannot be written, or sums that must hold do not. Batches before that stay.
    pub(crate) fn run(
        &self,
        state: &mut State,
        plan: &Plan,
        progress: &Progress,
        identities_of: impl Fn(&[Source], &[ReadRange]) -> Result<Identities>,
    ) -> Result<IngestProblems> {
        let mut problems = IngestProblems::default();
        let sources = plan.sources();
        for mut batch in plan.batches() {
            while !batch.is_empty() {
                let identities = identities_of(&sources, &batch)?;
                let judged = (self.judge, self.registry);
                let followed =
                    follow(&sources, &batch, self.options, judged, &identities, progress)?;
                let wrong = self.wrong(plan, &followed, &mut problems);
                if wrong.is_empty() {
                    self.keep(state, plan, followed, &identities, &mut problems)?;
                    break;
                }
                // Their lines are among the sums; so these are made again without them.
                batch.retain(|range| !wrong.contains(&range.file));
            }
        }
        let change = state.change(self.site)?;
        for &id in &plan.seen {
            change.saw_input(id, self.today)?;
        }
        change.commit()?;
        Ok(problems)
    }

    /// The logs that must not be taken in: not understood, or not those that were looked at.
    fn wrong(
        &self,
        plan: &Plan,
        followed: &IncrementalTally,
        problems: &mut IngestProblems,
    ) -> BTreeSet<FileId> {
        let mut wrong = BTreeSet::new();
        for (end, of_file) in &followed.ends {
            let Log { input, file } = &plan.logs[end.file.index()];
            let Some((reached, present)) = end.reached.as_ref().zip(file.as_ref()) else {
                continue;
            };
            let log = (&*present.source.name, end.input.format.as_ref());
            if input.id == 0 && !reached.marks.starts_with(&input.reached.marks) {
                problems.is_rotated = true;
                wrong.insert(end.file);
            } else if let Some(why) =
                not_understood(&of_file.tally, log, input.parsed, self.min_parse_rate)
            {
                problems.not_understood.insert(why);
                wrong.insert(end.file);
            }
        }
        wrong
    }

    fn keep(
        &self,
        state: &mut State,
        plan: &Plan,
        followed: IncrementalTally,
        identities: &Identities,
        problems: &mut IngestProblems,
    ) -> Result<()> {
        let IncrementalTally { days, ends } = followed;
        let mut changed = Vec::new();
        for (day, counter) in days {
            let later = self.tally(plan, &ends, counter, day, identities)?;
            let tally = match state.day(self.site, day)? {
                Some(earlier) => continued(earlier, later, self.options.limits)
                    .map_err(|err| state.name_damaged(err, day))?,
                None => later,
            };
            changed.push((day, tally));
        }
        let mut stale = BTreeSet::new();
        for (day, tally) in &changed {
            stale.extend(self.stale_days(state, *day, tally)?);
        }
        let change = state.change(self.site)?;
        for (end, of_file) in &ends {
            let log = &plan.logs[end.file.index()];
            self.keep_input(&change, log, end, of_file, problems)?;
        }
        changed.iter().try_for_each(|(day, tally)| change.put_day(*day, tally))?;
        stale.into_iter().try_for_each(|day| change.make_due(day))?;
        change.commit()
    }

    /// Later days whose reports have to know which fetches `day` has now, with the new `tally`.
    fn stale_days(&self, state: &State, day: Day, tally: &Tally) -> Result<BTreeSet<Day>> {
        let (next, last) = (day.plus(1), day.plus(REMEMBERED_DAYS));
        let known: BTreeSet<DayFetch> =
            state.fetches_before(self.site, day, next)?.into_iter().collect();
        let now = fetches(tally);
        let differing: Vec<&DayFetch> = known.symmetric_difference(&now).collect();
        if differing.is_empty() {
            return Ok(BTreeSet::new());
        }
        let later = state.actors_between(self.site, next, last)?;
        Ok(days_that_know(&differing, &later, self.registry))
    }

    /// The tally of `day`. Several files of one log that was rotated in between are one input.
    fn tally(
        &self,
        plan: &Plan,
        ends: &[(ReadRangeEnd, FileDays)],
        counter: Counter,
        day: Day,
        identities: &Identities,
    ) -> Result<Tally> {
        let mut inputs: BTreeMap<&str, InputSummary> = BTreeMap::new();
        let ends: BTreeMap<FileId, &ReadRangeEnd> =
            ends.iter().map(|(end, _)| (end.file, end)).collect();
        for (&file, tally) in &counter.files {
            let log = &plan.logs[file.index()].input;
            let end = ends.get(&file);
            let format = end.and_then(|end| end.input.format.clone());
            let input = inputs.entry(&log.name).or_insert_with(|| InputSummary {
                name: log.name.clone(),
                size_bytes: 0,
                decompressed_bytes: 0,
                format: format.or_else(|| log.format.clone()),
                lines_tried: 0,
                damage: None,
                may_be_cut: false,
                sketch: None,
                cut_bytes: 0,
                proposal: None,
            });
            input.may_be_cut |= end.is_some_and(|end| end.input.ending.may_be_cut);
            input.size_bytes += tally.bytes;
            input.decompressed_bytes += tally.bytes;
        }
        let numbers: BTreeMap<&str, FileId> =
            inputs.keys().enumerate().map(|(at, name)| (*name, FileId::from_index(at))).collect();
        let number_of = |log: &Log| numbers.get(log.input.name.as_str()).copied();
        let numbers = plan.logs.iter().map(number_of).collect();
        let inputs = inputs.into_values().collect();
        let mut tally = self.built(counter, inputs, numbers, day, identities)?;
        self.privacy.apply(&mut tally);
        Ok(tally)
    }

    fn built(
        &self,
        counter: Counter,
        inputs: Vec<InputSummary>,
        numbers: Vec<Option<FileId>>,
        day: Day,
        identities: &Identities,
    ) -> Result<Tally> {
        let run = Run {
            options: &(self.options_of)(day),
            registry: self.registry,
            judge: self.judge,
            day: Some(day),
            before_first: self.options.before_first,
            identities,
            draft: None,
        };
        in_order(counter, inputs, numbers, run)
    }

    /// Stores how far a log was read, if any of it was.
    fn keep_input(
        &self,
        change: &StateChange<'_>,
        Log { input: before, file }: &Log,
        end: &ReadRangeEnd,
        of_file: &FileDays,
        problems: &mut IngestProblems,
    ) -> Result<()> {
        let Some(reached) = &end.reached else {
            match &end.input.failure {
                Some(failure) => drop(problems.damages.insert(failure.clone())),
                None => problems.is_rotated = true,
            }
            return Ok(());
        };
        let Some(present) = file else { return Ok(()) };
        let damage = end.input.ending.damage;
        let is_unfinished = damage.is_some_and(|damage| is_unfinished(&present.source, damage));
        let damage = damage.filter(|_| !is_unfinished).map(|damage| damage.to_string());
        if let Some(damage) = &damage {
            let (name, lines) = (&present.source.name, reached.lines);
            problems
                .damages
                .insert(format!("{name}: {damage}; lines before it were counted: {lines}"));
        }
        let last_day = of_file.last.or(before.last_day);
        // A log without a known day is read again as a whole.
        if before.id == 0 && last_day.is_none() && of_file.outside == 0 {
            return Ok(());
        }
        let input = RecordedInput {
            id: before.id,
            name: before.name.clone(),
            reached: reached.clone(),
            last_day,
            latest_day: of_file.latest.max(before.latest_day),
            format: end.input.format.clone().or_else(|| before.format.clone()),
            damage,
            parsed: before.parsed + of_file.tally.parsed_lines(),
            rejected: before.rejected + of_file.tally.rejected_lines(),
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
        Ok(())
    }

    /// The tally of `day`. It knows who fetched robots.txt on earlier days.
    ///
    /// # Errors
    /// If the state cannot be read, or sums that must hold do not.
    pub(crate) fn day(&self, state: &State, day: Day) -> Result<Tally> {
        let Some(mut tally) = state.day(self.site, day)? else {
            let counter = Counter::new(self.options.limits, self.registry.ranks().into());
            return self.built(counter, Vec::new(), Vec::new(), day, &Identities::default());
        };
        // Damage is reported once.
        for (name, damage) in state.damages(self.site, day)? {
            let known = tally.header.inputs.iter_mut().find(|known| known.name == name);
            if let Some(known) = known {
                known.damage = Some(damage);
            }
        }
        let fetches = state.fetches_before(self.site, day.plus(-REMEMBERED_DAYS), day)?;
        remember(&mut tally, &fetches, self.registry);
        Ok(tally)
    }
}
