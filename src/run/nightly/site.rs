//! One site of a configuration: reads its new log lines and writes its reports.

use std::{collections::BTreeSet, ffi::OsString, path::Path, sync::Arc};

use crate::archive::Store;
use crate::audit::prepass::{FirstPass, Wanted};
use crate::audit::progress::Progress;
use crate::audit::tally::{Tally, header, identity_sources::NameSources};
use crate::audit::{client::ClientKey, collect, dns_names::DnsCandidates, identities::Identities};
use crate::config::audit_config::AuditConfig;
use crate::config::file::{ConfigError, ConfigFile, SiteConfig};
use crate::config::setting::{Days, Fault};
use crate::error::{Error, Result};
use crate::input::source::{Source, expand, unread_directories};
use crate::judge::Judge;
use crate::nightly::days::{check_reports, day_directory, point_to_latest, tidy};
use crate::nightly::ingest::{IngestProblems, SiteIngest};
use crate::nightly::log_identity::{LogFiles, LogHosts};
use crate::nightly::plan::{Plan, refused};
use crate::nightly::state::State;
use crate::numbers::counted;
use crate::report::nights::{DayResult, SiteNight};
use crate::report::outputs::{Outputs, Overwrite};
use crate::report::{directory::Staging, metrics::DayMetrics, run::EvidenceFile};
use crate::report::{summary_table::SummaryView, threshold::MetCondition};
use crate::run::audit::{conclude, outcome_of};
use crate::run::console::{MessageLevel, RunOutcome, SharedConsole, path_text};
use crate::run::files::{check_files, name_inputs};
use crate::run::setup::{Setup, Verification, unusable};
use crate::run::written::{WrittenReport, write_report};
use crate::run::{fetching::fetch_first, notes::note_formats};
use crate::table::escape::spelled_out;
use crate::time::{Day, UtcTime, Window, Zone};

use super::kept_robots::KeptRobots;

/// The attempts to read logs that are rotated each time during the read.
const ATTEMPTS_MAX: usize = 3;

/// A site that is ready to be audited.
pub(crate) struct Job<'a> {
    pub site: &'a SiteConfig,
    /// The day of the run, in the zone of the site.
    pub today: Day,
    /// The requested day.
    pub day: Day,
    /// The first day that is kept in the state.
    first_kept: Option<Day>,
    /// The versions of its robots.txt files.
    kept_robots: KeptRobots,
    audit: AuditConfig,
    console: SharedConsole,
    /// How the summary is shown.
    view: SummaryView,
    /// Whether the conditions that are met are on standard output, in the page of the night.
    is_mailed: bool,
}

impl<'a> Job<'a> {
    /// The job of `site`; `day` is the requested day, if there is one.
    pub(crate) fn new(
        site: &'a SiteConfig,
        config: &ConfigFile,
        day: Option<Day>,
        now: UtcTime,
        (console, view, is_mailed): (&SharedConsole, &SummaryView, bool),
    ) -> std::result::Result<Job<'a>, Vec<ConfigError>> {
        let zone = site.audit.timezone.clone().unwrap_or_default().zone();
        let today = zone.day_of(now);
        let days = config.keep_state_days.map(Days::get);
        let first_kept = days.map(|days| today.plus(1).plus(-days));
        let audit = AuditConfig {
            since: first_kept.map(|day| day.to_string()),
            until: None,
            ..site.audit.clone()
        };
        let day = day.unwrap_or(today.plus(-1));
        let (console, view) = (Arc::clone(console), view.clone());
        let kept_robots = KeptRobots::new(config, &site.name, now, first_kept);
        let job =
            Job { site, today, day, first_kept, kept_robots, audit, console, view, is_mailed };
        let mut faults = refused(site);
        match job.setup(&[]) {
            Ok(setup) => faults.extend(setup.robots_fault()),
            Err(more) => faults.extend(more),
        }
        let errors: Vec<ConfigError> = faults.iter().map(|fault| site.error(fault)).collect();
        if errors.is_empty() { Ok(job) } else { Err(errors) }
    }

    /// The mistake if logs of the site name no host, and it has no origin: no robots.txt would apply
    /// to their requests.
    pub(crate) fn origin_error(&self) -> Option<ConfigError> {
        // Other mistakes are known.
        let setup = self.setup(&[]).ok()?;
        let log = self.hosts(&setup).unnamed.into_iter().next()?;
        Some(self.site.error(&origin_fault(&log)))
    }

    /// Whether the logs name hosts, if it matters: without an origin, and unless one robots.txt
    /// applies to all requests.
    fn hosts(&self, setup: &Setup) -> LogHosts {
        let is_one_file = || matches!(Store::open(setup.robots()), Ok(Store::File(_)));
        if setup.options.naming.origin.is_some() || (!setup.is_fetched() && is_one_file()) {
            return LogHosts::default();
        }
        let from_path = setup.options.naming.from_path.as_ref();
        let mut sources = self.sources();
        sources.retain(|source| {
            from_path.is_none_or(|pattern| pattern.captured(&source.name).is_none())
        });
        LogHosts::of(&sources, &setup.options.hints)
    }

    /// Refuses the first night of a site if none of its requests would have a robots.txt: a line
    /// is judged only once.
    fn check_origin(&self, state: &State, setup: &Setup) -> Result<()> {
        if !state.inputs(&self.site.name)?.is_empty() {
            return Ok(());
        }
        if let Some(what) = unread_directories(&self.logs()) {
            self.tell(MessageLevel::Warning, &what);
        }
        let LogHosts { unnamed, is_any_named } = self.hosts(setup);
        match unnamed.first() {
            Some(log) if !is_any_named => {
                let why = origin_fault(log).of_file();
                Err(Error::usage(format!("sites.{}.origin: {why}", self.site.name)))
            }
            _ => Ok(()),
        }
    }

    /// The setup of the site; `names` are crawlers that were known before.
    fn setup(&self, names: &[String]) -> std::result::Result<Setup, Vec<Fault>> {
        Setup::new(self.audit.clone(), names, Arc::clone(&self.console))
    }

    /// A description of what would be read and written.
    pub(crate) fn described(&self, state: &State) -> Result<String> {
        let plan = Plan::new(state, &self.site.name, self.sources())?;
        let report = day_directory(&self.site.reports, self.day);
        let report = path_text(&report);
        let mut text = format!("{} on {}, report in {report}\n", self.site.name, self.day);
        let to_read = plan.logs.iter().filter_map(|log| log.file.as_ref());
        let mut names: Vec<&str> = to_read.map(|present| present.source.name.as_str()).collect();
        names.sort_unstable();
        names.iter().for_each(|name| text += &format!("  {}\n", spelled_out(name)));
        let damages = plan.missing.iter().chain(&plan.damages);
        damages.for_each(|why| text += &format!("  {}\n", spelled_out(why)));
        let unread = unread_directories(&self.logs());
        let passed_over = plan.passed_over.iter().chain(&unread);
        passed_over.for_each(|what| text += &format!("  ({})\n", spelled_out(what)));
        let known = plan.seen.iter().collect::<BTreeSet<_>>().len();
        if known > 0 {
            text += &format!(
                "  (parts of {} were read in earlier runs)\n",
                counted(known as u64, "log")
            );
        }
        Ok(text)
    }

    /// Runs the job. Returns its exit status, and its result for the night summary.
    pub(crate) fn run(&self, config: &ConfigFile, state: &mut State) -> (RunOutcome, SiteNight) {
        let mut night =
            SiteNight { site: self.site.name.clone(), day: Some(self.day), ..SiteNight::default() };
        let outcome = self.try_run(config, state, &mut night).unwrap_or_else(|err| {
            self.tell(MessageLevel::Error, &err.to_string());
            night.notices.push(err.to_string());
            RunOutcome::Undecided
        });
        night.days.reverse();
        (outcome, night)
    }

    fn try_run(
        &self,
        config: &ConfigFile,
        state: &mut State,
        night: &mut SiteNight,
    ) -> Result<RunOutcome> {
        self.console.show(&format!("{} on {}\n", self.site.name, self.day))?;
        let setup = self.setup(&state.crawlers()?).map_err(|faults| unusable(&faults))?;
        self.check_outputs(config, &setup)?;
        self.check_origin(state, &setup)?;
        if let Some(what) = self.kept_robots.see(&setup, self.day)? {
            self.tell(MessageLevel::Warning, &what);
            night.notices.push(what);
        }
        let problems =
            self.console.timed("logs read and judged", || self.ingest_logs(state, &setup))?;
        let warnings = || problems.damages.iter().chain(&problems.alike);
        warnings().for_each(|what| self.tell(MessageLevel::Warning, what));
        problems.not_understood.iter().for_each(|what| self.tell(MessageLevel::Error, what));
        night.notices.extend(warnings().chain(&problems.not_understood).cloned());
        let outcome = self.report(config, state, &setup, night)?;
        point_to_latest(&self.site.reports, self.today)?;
        self.tidy(config, state)?;
        Ok(match outcome {
            RunOutcome::Done | RunOutcome::Violations
                if !problems.damages.is_empty() || !problems.not_understood.is_empty() =>
            {
                RunOutcome::Incomplete
            }
            outcome => outcome,
        })
    }

    /// Adds the inputs to `outputs`.
    pub(crate) fn name_inputs(&self, outputs: &mut Outputs) {
        name_inputs(&self.audit, &self.sources(), outputs);
    }

    /// The files of the site, also those that appear until they are read. What is wrong with them is
    /// reported when the site is audited.
    pub(crate) fn files(&self) -> Outputs {
        let mut files = Outputs::new(Overwrite::Own);
        let _ = check_files(&self.audit, &self.sources(), &mut files);
        let _ = files.directory("reports", &self.site.reports);
        for pattern in &self.site.logs {
            files
                .reads("logs", Path::new(pattern.split(['*', '?', '[']).next().unwrap_or(pattern)));
        }
        files
    }

    /// Checks that no output of the site is an input, and that its report replaces only reports.
    fn check_outputs(&self, config: &ConfigFile, setup: &Setup) -> Result<()> {
        // Each site is checked alone: several sites may share a fetched archive and a cache.
        let mut outputs = Outputs::new(Overwrite::Own);
        check_files(&setup.config, &self.sources(), &mut outputs)?;
        outputs.updated("state", &config.state)?;
        outputs.directory("reports", &day_directory(&self.site.reports, self.day))?;
        check_reports(&self.site.reports, &config.reports)
    }

    /// The file of added crawlers.
    pub(crate) fn crawlers(&self) -> Option<&Path> {
        self.audit.crawlers.as_deref()
    }

    /// The last complete day, or the requested day.
    pub(crate) fn last_day(&self) -> Day {
        self.day.max(self.today.plus(-1))
    }

    fn ingest_logs(&self, state: &mut State, setup: &Setup) -> Result<IngestProblems> {
        // A second attempt reports the problems of the first one again.
        let mut all = IngestProblems::default();
        for attempt in 1.. {
            let sources = self.sources();
            let files_before = LogFiles::of(&sources);
            let plan = Plan::new(state, &self.site.name, sources.clone())?;
            if attempt == 1 {
                let passed_over =
                    plan.passed_over.iter().map(|what| format!("  {}\n", spelled_out(what)));
                self.console.show(&passed_over.collect::<String>())?;
            }
            match plan.missing.first() {
                Some(why) if plan.missing.len() == sources.len() => {
                    return Err(Error::input(why.clone()));
                }
                _ => all.damages.extend(plan.missing.iter().chain(&plan.damages).cloned()),
            }
            all.alike.extend(plan.alike.iter().cloned());
            let problems = self.ingest_plan(state, &plan, setup)?;
            all.damages.extend(problems.damages);
            all.not_understood.extend(problems.not_understood);
            if !problems.is_rotated && !files_before.is_rotated(&LogFiles::of(&sources)) {
                break;
            }
            if attempt == ATTEMPTS_MAX {
                let why = "the logs were rotated while they were read; the missing lines are \
                           read in the next run";
                all.damages.insert(why.to_owned());
                break;
            }
        }
        Ok(all)
    }

    fn ingest_plan(&self, state: &mut State, plan: &Plan, setup: &Setup) -> Result<IngestProblems> {
        let files = plan.logs.iter().filter_map(|log| log.file.as_ref());
        let files: Vec<Source> = files.map(|present| present.source.clone()).collect();
        let Setup { config, options, registry, console, .. } = setup;
        let unfetched = fetch_first(config, &files, options, registry, console)?;
        let judge = self.kept_robots.judge(setup)?;
        let options_of = |day| options_of(day, setup);
        let ingest = self.ingest(setup, &judge, &options_of);
        let progress = Progress::default();
        let mut problems = ingest.run(state, plan, &progress, |sources, ranges| {
            let verification = Verification::new(config, registry)?;
            let identities = verification.identities(config, registry, |identities| {
                let wanted = Wanted { addresses: true, ..Wanted::default() };
                let (judge, client_key) = (&judge, &ClientKey::random()?);
                let first = FirstPass { judge, registry, identities, wanted, client_key };
                let (collected, _) = collect(sources, ranges, &setup.options, &first, &progress)?;
                Ok(collected.addresses.map(DnsCandidates::new).unwrap_or_default())
            })?;
            self.warn_about_names(&identities);
            Ok(identities)
        })?;
        judge.slow_message().iter().for_each(|slow| self.tell(MessageLevel::Warning, slow));
        problems.damages.extend(unfetched.filter(|_| config.allow_unjudged != Some(true)));
        Ok(problems)
    }

    /// Warns of addresses without an answer. They stay unverified, because requests are judged only
    /// once.
    fn warn_about_names(&self, identities: &Identities) {
        let sources = identities.names.as_ref().map(|names| &names.sources);
        if let Some(sources) = sources.filter(|sources| sources.unanswered > 0) {
            let NameSources { unanswered, looked_up, failure, .. } = sources;
            let why = failure.as_deref().unwrap_or("no answer");
            let what = format!(
                "--verify-dns: {unanswered} of {looked_up} addresses could not be looked up and \
                 remain unverified: {why}"
            );
            self.tell(MessageLevel::Warning, &what);
        }
    }

    fn ingest<'n>(
        &'n self,
        setup: &'n Setup,
        judge: &'n Judge,
        options_of: &'n dyn Fn(Day) -> header::ReportedOptions,
    ) -> SiteIngest<'n> {
        SiteIngest {
            site: &self.site.name,
            today: self.today,
            options: &setup.options,
            judge,
            registry: &setup.registry,
            min_parse_rate: setup.min_parse_rate(),
            privacy: &setup.privacy,
            options_of,
        }
    }

    /// Writes the report of the requested day, and of all complete days that changed.
    fn report(
        &self,
        config: &ConfigFile,
        state: &State,
        setup: &Setup,
        site_night: &mut SiteNight,
    ) -> Result<RunOutcome> {
        let judge = self.kept_robots.judge(setup)?;
        let options_of = |day| options_of(day, setup);
        let ingest = self.ingest(setup, &judge, &options_of);
        let last = self.last_day();
        let first = self.first_reported(config);
        let mut days: BTreeSet<Day> = state.due(&self.site.name)?.into_iter().collect();
        days.retain(|&day| day <= last && first.is_none_or(|first| day >= first));
        days.insert(self.day);
        let mut worst = RunOutcome::Done;
        for day in days {
            let directory = day_directory(&self.site.reports, day);
            let tally = ingest.day(state, day)?;
            let late = state.late_lines(&self.site.name, day)?.unwrap_or_default();
            let least = config.news.late_lines;
            if day != self.day && least > 0 && late >= least {
                self.tell_late(state, day, late)?;
            }
            if day == self.day {
                self.tell_old_lists(state, &tally, config.news.lists_days)?;
            }
            note_formats(&tally.header, &*self.console);
            let written =
                self.console.timed("report written", || self.report_day(tally, &directory));
            let written = written.map_err(|err| state.name_damaged(err, day))?;
            let outcome = self.conclude_day(day, &written, setup, site_night)?;
            worst = [worst, outcome].into_iter().max_by_key(|of| of.severity()).unwrap_or(worst);
            state.reported(&self.site.name, day)?;
        }
        Ok(worst)
    }

    /// Tests the conditions on the report of `day`, and adds its result to `site_night`.
    fn conclude_day(
        &self,
        day: Day,
        written: &WrittenReport,
        setup: &Setup,
        site_night: &mut SiteNight,
    ) -> Result<RunOutcome> {
        let directory = day_directory(&self.site.reports, day);
        let audit = &written.audit;
        let (outcome, met) = if day == self.day {
            site_night.notices.extend(audit.warnings.iter().cloned());
            let start = setup.options.zone.parse(&day.to_string());
            site_night.metrics = Some(DayMetrics::of(audit, start));
            conclude(written, Some(&directory), setup, "fail_on")?
        } else {
            let place = path_text(&directory);
            self.console.show(&format!("{} on {day}: {place}\n", self.site.name))?;
            outcome_of(audit, setup, "fail_on")
        };
        if !self.is_mailed {
            for line in met.iter().flat_map(MetCondition::lines) {
                match day == self.day {
                    true => self.console.warn(line),
                    false => self.console.warn(&format!("{} on {day}: {line}", self.site.name)),
                }
            }
        }
        if matches!(outcome, RunOutcome::Violations | RunOutcome::Incomplete) {
            let see = format!("{} on {day}: see {}", self.site.name, directory.display());
            self.console.tell(MessageLevel::Note, &see);
        }
        let report = directory.display().to_string();
        site_night.days.push(DayResult::of(day, report, audit, met));
        Ok(outcome)
    }

    /// Writes the report on `tally` to `output`.
    fn report_day(&self, tally: Tally, output: &Path) -> Result<WrittenReport> {
        let staging = Staging::open(output)?;
        let evidence = EvidenceFile::default();
        let written = write_report(&staging, output, tally, evidence, &self.view)?;
        staging.commit()?;
        Ok(written)
    }

    fn tidy(&self, config: &ConfigFile, state: &mut State) -> Result<()> {
        if let Some(first) = self.first_reported(config) {
            let stays = tidy(&self.site.reports, first)?;
            stays.iter().for_each(|why| self.console.warn(&format!("{}: {why}", self.site.name)));
        }
        self.first_kept.map_or(Ok(()), |first| state.tidy(&self.site.name, first))
    }

    /// The first day whose report is kept.
    fn first_reported(&self, config: &ConfigFile) -> Option<Day> {
        config.keep_days.map(|days| self.day.plus(1).plus(-days.get()))
    }

    fn sources(&self) -> Vec<Source> {
        expand(&self.logs())
    }

    fn logs(&self) -> Vec<OsString> {
        self.site.logs.iter().map(OsString::from).collect()
    }

    fn tell(&self, level: MessageLevel, what: &str) {
        self.console.tell(level, &format!("{} on {}: {what}", self.site.name, self.day));
    }
}

/// The mistake of a site without an origin, of which `log` names no host.
fn origin_fault(log: &str) -> Fault {
    let why = format!("{log} names no host, so no robots.txt applies to its requests");
    Fault::new("origin", why).or_write("https://www.example.com")
}

/// The options in the tally of `day`.
fn options_of(day: Day, setup: &Setup) -> header::ReportedOptions {
    header::ReportedOptions::of(&setup.reported_config(window(&setup.options.zone, day)))
}

/// The whole of `day`.
fn window(zone: &Zone, day: Day) -> Window {
    let start = |day: Day| zone.parse(&day.to_string());
    Window { since: start(day), until: start(day.plus(1)) }
}
