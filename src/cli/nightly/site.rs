//! One site of a configuration: what its logs have is taken in, and reports are written.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use crate::audit::Progress;
use crate::audit::finish::Audit;
use crate::audit::follow::suspects_of;
use crate::audit::identities::{Identities, Names};
use crate::audit::sums::Sums;
use crate::crawlers::identity::Identity;
use crate::error::{Error, Result};
use crate::input::source::{Source, expand};
use crate::merge::Merge;
use crate::nightly::config::{Config, Mistake, Site, Value};
use crate::nightly::days::{day_directory, point_to_latest, tidy};
use crate::nightly::night::{Night, Taken};
use crate::nightly::plan::Plan;
use crate::nightly::rotation::Standing;
use crate::nightly::state::State;
use crate::report::night_text::SiteNight;
use crate::report::outputs::{Outputs, Overwrite};
use crate::time::{Day, UtcTime, Window, Zone};

use super::super::Outcome;
use super::super::audit::{AuditArgs, Ready};
use super::super::shared::{complain, print};
use super::flags::site_args;

/// How often logs are read that are rotated each time meanwhile.
const READINGS_MAX: usize = 3;

/// A site, ready to be audited.
pub struct Job<'a> {
    pub site: &'a Site,
    /// The day of the run, in the zone of the site.
    pub today: Day,
    /// Whose report is asked for.
    pub day: Day,
    /// The first day that is remembered.
    first_kept: Option<Day>,
    args: AuditArgs,
    is_quiet: bool,
}

impl<'a> Job<'a> {
    /// The job of `site`; `day` is the day that is asked for, if one is.
    pub fn new(
        site: &'a Site,
        config: &Config,
        day: Option<Day>,
        now: UtcTime,
        is_quiet: bool,
    ) -> std::result::Result<Job<'a>, Vec<Mistake>> {
        let zone = match site.settings.get("timezone").map(|setting| &setting.value) {
            Some(Value::Words(words)) => words.first().and_then(|name| Zone::named(name)),
            _ => Some(Zone::UTC),
        };
        if !site.settings.contains_key("robots") && !site.settings.contains_key("fetch") {
            let why = "missing; write robots = \"robots.txt\", a file, a directory or an archive";
            let key = format!("sites.{}.robots", site.name);
            return Err(vec![Mistake { line: site.line, key, why: why.to_owned() }]);
        }
        // A zone that is unknown is a mistake that the flags of the audit tell.
        let today = zone.unwrap_or(Zone::UTC).day_of(now);
        let days = config.keep_state_days.map(|days| i32::try_from(days).unwrap_or(i32::MAX));
        let first_kept = days.map(|days| today.plus(1).plus(-days));
        let args = site_args(site, first_kept, is_quiet)?;
        let day = day.unwrap_or(today.plus(-1));
        Ok(Job { site, today, day, first_kept, args, is_quiet })
    }

    /// What would be read and written.
    pub fn described(&self, state: &State) -> Result<String> {
        let plan = Plan::new(state, &self.site.name, self.sources())?;
        let report = day_directory(&self.site.reports, self.day);
        let mut text =
            format!("{} on {}, report in {}\n", self.site.name, self.day, report.display());
        let to_read = plan.logs.iter().filter_map(|log| log.file.as_ref());
        let mut names: Vec<&str> = to_read.map(|present| present.source.name.as_str()).collect();
        names.sort_unstable();
        names.iter().for_each(|name| text += &format!("  {name}\n"));
        let damages = plan.missing.iter().chain(&plan.damages);
        damages.for_each(|why| text += &format!("  {why}\n"));
        plan.passed_over.iter().for_each(|what| text += &format!("  ({what})\n"));
        let known = plan.seen.iter().collect::<BTreeSet<_>>().len();
        if known > 0 {
            text += &format!("  (of {known} logs something was read before)\n");
        }
        Ok(text)
    }

    /// Runs it; what came of it is told, too, for whoever tells the night.
    pub fn run(&self, config: &Config, state: &mut State) -> (Outcome, SiteNight) {
        let mut night = SiteNight {
            site: self.site.name.clone(),
            day: Some(self.day),
            report: day_directory(&self.site.reports, self.day).display().to_string(),
            ..SiteNight::default()
        };
        let outcome = self.try_run(config, state, &mut night).unwrap_or_else(|err| {
            self.tell(&err.to_string());
            night.told.push(err.to_string());
            Outcome::Undecided
        });
        (outcome, night)
    }

    fn try_run(
        &self,
        config: &Config,
        state: &mut State,
        night: &mut SiteNight,
    ) -> Result<Outcome> {
        if !self.is_quiet {
            print(&format!("{} on {}\n", self.site.name, self.day))?;
        }
        self.check_outputs(config)?;
        let ready = self.args.ready(&state.crawlers()?)?;
        let taken = self.take_in(state, &ready)?;
        for what in taken.damages.iter().chain(&taken.not_understood) {
            self.tell(what);
            night.told.push(what.clone());
        }
        let outcome = self.report(config, state, &ready, night)?;
        point_to_latest(&self.site.reports)?;
        self.tidy(config, state)?;
        Ok(match outcome {
            _ if !taken.not_understood.is_empty() => Outcome::Undecided,
            Outcome::Done | Outcome::Violations if !taken.damages.is_empty() => Outcome::Incomplete,
            outcome => outcome,
        })
    }

    /// Names to `outputs` what is read.
    pub fn name_inputs(&self, outputs: &mut Outputs) {
        self.args.name_inputs(&self.sources(), outputs);
    }

    /// That no output of the site is an input, and that its report replaces none of others.
    fn check_outputs(&self, config: &Config) -> Result<()> {
        // Each site has its own: they may share an archive that is fetched, and a cache.
        let mut outputs = Outputs::new(Overwrite::Own);
        self.args.check_files(&self.sources(), &mut outputs)?;
        outputs.updated("state", &config.state)?;
        outputs.directory("reports", &day_directory(&self.site.reports, self.day))
    }

    /// The file of crawlers that are added to the built-in ones.
    pub fn crawlers(&self) -> Option<&Path> {
        self.args.crawlers()
    }

    /// The last day that is over, or is asked for.
    pub fn last_day(&self) -> Day {
        self.day.max(self.today.plus(-1))
    }

    fn take_in(&self, state: &mut State, ready: &Ready) -> Result<Taken> {
        let mut all = Taken::default();
        for reading in 1.. {
            let sources = self.sources();
            let standing = Standing::of(&sources);
            let plan = Plan::new(state, &self.site.name, sources.clone())?;
            if reading == 1 && !self.is_quiet {
                plan.passed_over.iter().try_for_each(|what| print(&format!("  {what}\n")))?;
            }
            match plan.missing.first() {
                Some(why) if plan.missing.len() == sources.len() => {
                    return Err(Error::usage(why.clone()));
                }
                _ => all.damages.extend(plan.missing.iter().chain(&plan.damages).cloned()),
            }
            let taken = self.take_in_planned(state, &plan, ready)?;
            all.damages.extend(taken.damages);
            all.not_understood.extend(taken.not_understood);
            if !taken.is_rotated && !standing.is_rotated(&Standing::of(&sources)) {
                break;
            }
            if reading == READINGS_MAX {
                let why = "its logs were rotated each time they were read; what is missing is read \
                           the next time";
                all.damages.push(why.to_owned());
                break;
            }
        }
        // What was told of one reading is told again of the next.
        all.damages.sort();
        all.damages.dedup();
        all.not_understood.sort();
        all.not_understood.dedup();
        Ok(all)
    }

    fn take_in_planned(&self, state: &mut State, plan: &Plan, ready: &Ready) -> Result<Taken> {
        let files = plan.logs.iter().filter_map(|log| log.file.as_ref());
        let files: Vec<Source> = files.map(|present| present.source.clone()).collect();
        self.args.fetch_first(&files, ready)?;
        let judge = self.args.judge(ready)?;
        let night = self.night(ready, &judge);
        let progress = Progress::default();
        night.take_in(state, plan, &progress, |sources, readings| {
            let identities = self.args.identities(ready, |identities| {
                let judged = (&judge, &ready.registry);
                suspects_of(sources, readings, &ready.options, judged, identities, &progress)
            })?;
            self.tell_of_names(&identities);
            Ok(identities)
        })
    }

    /// Who was not answered for stays unverified: what was judged is not judged again.
    fn tell_of_names(&self, identities: &Identities) {
        if let Some(names) = identities.names.as_ref().filter(|names| names.unanswered > 0) {
            let Names { unanswered, looked_up, failure, .. } = names;
            let why = failure.as_deref().unwrap_or("no answer");
            self.tell(&format!(
                "--verify-dns: {unanswered} of {looked_up} addresses could not be looked up and stay \
                 unverified: {why}"
            ));
        }
    }

    fn night<'n>(&'n self, ready: &'n Ready, judge: &'n crate::judge::Judge) -> Night<'n> {
        Night {
            site: &self.site.name,
            today: self.today,
            options: &ready.options,
            judge,
            registry: &ready.registry,
            min_parse_rate: self.args.min_parse_rate(),
        }
    }

    /// Writes the report of the day that is asked for, and of all others that changed and are over.
    fn report(
        &self,
        config: &Config,
        state: &State,
        ready: &Ready,
        site_night: &mut SiteNight,
    ) -> Result<Outcome> {
        let judge = self.args.judge(ready)?;
        let night = self.night(ready, &judge);
        let identities = self.args.ranges(ready)?;
        let last = self.last_day();
        let first = self.first_reported(config);
        let mut days: BTreeSet<Day> = state.due(&self.site.name)?.into_iter().collect();
        days.retain(|&day| day <= last && first.is_none_or(|first| day >= first));
        days.insert(self.day);
        let mut outcome = Outcome::Done;
        for day in days {
            let directory = day_directory(&self.site.reports, day);
            let audit = night.audit(state, day, &identities)?;
            let window = window(&ready.options.zone, day);
            let (audit, model) = self.args.report_kept(audit, &directory, window, ready)?;
            if day == self.day {
                let told = self.args.tell(&audit, &model, &directory, ready)?;
                outcome = told.outcome;
                site_night.told.extend(told.met);
                site_night.told.extend(audit.warnings.iter().cloned());
                site_night.nothing_judged = audit.nothing_judged.is_some();
                site_night.sums = Some(audit.total_not_spoofed());
                site_night.violators = violators(&audit, ready);
                if matches!(outcome, Outcome::Violations | Outcome::Incomplete) {
                    self.tell(&format!("see {}", directory.display()));
                }
            } else if !self.is_quiet {
                print(&format!("{} on {day}: {}\n", self.site.name, directory.display()))?;
            }
            state.reported(&self.site.name, day)?;
        }
        Ok(outcome)
    }

    fn tidy(&self, config: &Config, state: &mut State) -> Result<()> {
        if let Some(first) = self.first_reported(config) {
            let stays = tidy(&self.site.reports, first)?;
            stays.iter().for_each(|why| complain(&format!("{}: {why}", self.site.name)));
        }
        self.first_kept.map_or(Ok(()), |first| state.tidy(&self.site.name, first))
    }

    /// The first day whose report stays.
    fn first_reported(&self, config: &Config) -> Option<Day> {
        let days = config.keep_days.map(|days| i32::try_from(days).unwrap_or(i32::MAX));
        days.map(|days| self.day.plus(1).plus(-days))
    }

    fn sources(&self) -> Vec<Source> {
        let logs: Vec<OsString> = self.site.logs.iter().map(OsString::from).collect();
        expand(&logs)
    }

    fn tell(&self, what: &str) {
        complain(&format!("{} on {}: {what}", self.site.name, self.day));
    }
}

/// Who broke rules, most first: name, violations and judged requests of all who are not spoofed.
fn violators(audit: &Audit, ready: &Ready) -> Vec<(String, u64, u64)> {
    let mut sums: BTreeMap<&str, Sums> = BTreeMap::new();
    for (_, (crawler, identity), tally) in audit.actors() {
        if identity != Identity::Spoofed {
            let name = ready.registry.crawler(crawler).name.as_str();
            sums.entry(name).or_default().absorb(tally.total());
        }
    }
    let broke = sums.into_iter().filter(|(_, sums)| sums.violations > 0);
    let row = |(name, sums): (&str, Sums)| {
        (name.to_owned(), sums.violations, sums.allowed + sums.violations)
    };
    let mut violators: Vec<(String, u64, u64)> = broke.map(row).collect();
    violators.sort_by_key(|&(_, violations, _)| Reverse(violations));
    violators
}

/// All of `day`.
fn window(zone: &Zone, day: Day) -> Window {
    let start = |day: Day| zone.parse(&day.to_string());
    Window { since: start(day), until: start(day.plus(1)) }
}
