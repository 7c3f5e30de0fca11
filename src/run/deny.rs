//! Rules for a server that refuse crawlers of a report.

use std::{ffi::OsString, path::PathBuf};

use crate::audit::conduct::Conduct;
use crate::audit::model::ReportModel;
use crate::audit::tally::counter::TallyLimits;
use crate::audit::tally::merge::{merge_files, name_damaged};
use crate::config::audit_config::AuditConfig;
use crate::crawlers::{ranges::Ranges, registry::Registry};
use crate::deny::form::{DenyBy, Form};
use crate::deny::rules::{DenyRules, MARK, agent_groups, check_shares, network_groups};
use crate::deny::selection::{DEFAULT_CONDITION, DenySelection, Others};
use crate::deny::{pattern::Anchors, pattern::HEADER, replay::Replay};
use crate::error::{Error, Result};
use crate::input::source::Source;
use crate::logs::format::Hints;
use crate::report::outputs::{OutputContent, Outputs, Overwrite};
use crate::report::threshold::Threshold;
use crate::staged::replace;
use crate::time::{UtcTime, Zone};

use super::console::{RunOutcome, SharedConsole};
use super::sandbox::access_rights::TcpUse;
use super::setup::{hints, refusal};
use super::sources::found_sources;
use super::{crawlers::registry, files::name_tallies, notes::note_formats};

/// Operators change names and addresses.
const REVIEW_DAYS: u32 = 90;

/// The most crawlers that are named as not refused.
const OTHERS_SHOWN: usize = 5;

/// Rules that are ready to be made.
#[derive(Debug)]
pub(crate) struct DenyRun {
    /// A report directory, or a tally.
    pub report: PathBuf,
    /// The program that reads the rules; without one there are none.
    pub form: Option<Form>,
    /// A condition on the columns of summary.csv; the crawlers that meet it are refused.
    pub condition: String,
    /// What a request is recognised by; `None` if the form says it.
    pub by: Option<DenyBy>,
    /// The directory of published address ranges.
    pub ip_ranges: Option<PathBuf>,
    /// A CSV file of crawlers.
    pub crawlers: Option<PathBuf>,
    /// Logs to try the rules on.
    pub replay: Vec<OsString>,
    /// How these logs are written.
    pub format: AuditConfig,
    /// The file to write; - is standard output.
    pub output: PathBuf,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// The memory that tallies may take.
    pub limits: TallyLimits,
    /// Who follows the run.
    pub console: SharedConsole,
}

/// The option that selects the crawler `name`.
fn naming(name: &str) -> String {
    format!("--where \"crawler = '{}'\"", name.replace('\'', "''"))
}

impl DenyRun {
    /// Selects crawlers, tries the rules, and writes them.
    ///
    /// # Errors
    /// If no crawler is selected, a setting does not fit the others, or a file cannot be read or
    /// written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let console = &*self.console;
        let form = self.form()?;
        let by = self.by(form)?;
        let mut faults = Vec::new();
        let hints = hints(&self.format, &mut faults);
        if !faults.is_empty() {
            return Err(refusal(&faults, console));
        }
        let sources = found_sources(&self.replay, console);
        self.check_files(&sources)?;
        let registry = registry(self.crawlers.as_deref())?;
        let condition = Threshold::parse(&self.condition, &registry)
            .map_err(|why| Error::usage(format!("--where: \"{}\": {why}", self.condition)))?;
        let (report, limits) = (std::slice::from_ref(&self.report), self.limits);
        let damaged = |err| name_damaged(err, report, limits);
        let tally = merge_files(report, limits).map_err(damaged)?;
        note_formats(&tally.header, console);
        let model = ReportModel::new(tally).map_err(damaged)?;
        let selection = DenySelection::new(&model, &condition, &registry)?;
        self.tell(&selection);
        if selection.denied.is_empty() {
            if self.condition == DEFAULT_CONDITION {
                return Err(Error::usage(
                    "no crawler in this report ignores robots.txt; nothing was written; to refuse \
                     others, name them with --where",
                ));
            }
            let why = format!("no crawler meets \"{}\"; nothing was written", self.condition);
            return Err(Error::usage(why));
        }
        let rules = self.rules(form, by, &selection, &registry)?;
        if !sources.is_empty() {
            self.replay(form, &rules, &selection, &registry, &sources, &hints)?;
        }
        for reason in rules.reasons() {
            console.say(&format!("refused: {reason}"));
        }
        console.write(&self.output, form.text(&rules).as_bytes(), replace)?;
        Ok(RunOutcome::Done)
    }

    /// The program, after a look for the report: a missing one is the first thing to know.
    fn form(&self) -> Result<Form> {
        if let Some(form) = self.form {
            return Ok(form);
        }
        merge_files(std::slice::from_ref(&self.report), self.limits)
            .map_err(|err| name_damaged(err, std::slice::from_ref(&self.report), self.limits))?;
        let forms: Vec<&str> = Form::ALL.iter().map(|form| form.as_str()).collect();
        let why = format!(
            "--for is missing; name the program that reads the rules: {}",
            forms.join(", ")
        );
        Err(Error::usage(why))
    }

    fn by(&self, form: Form) -> Result<DenyBy> {
        let choices = form.choices();
        let by = self.by.unwrap_or(choices[0]);
        let form = form.as_str();
        if !choices.contains(&by) {
            let why = format!("--for {form} cannot recognise requests by {}", by.as_str());
            return Err(Error::usage(format!("{why}; use --by {}", choices[0].as_str())));
        }
        if by == DenyBy::Address && self.ip_ranges.is_none() {
            return Err(Error::usage(
                "rules by address need the lists of operators: run `botaudit crawlers \
                 fetch-ranges ip-ranges/`, then add --ip-ranges ip-ranges/",
            ));
        }
        Ok(by)
    }

    fn check_files(&self, sources: &[Source]) -> Result<()> {
        let mut outputs = Outputs::new(self.overwrite);
        name_tallies(std::slice::from_ref(&self.report), &mut outputs);
        outputs.reads_sources("--replay", sources);
        self.crawlers.iter().for_each(|path| outputs.reads("--crawlers", path));
        self.ip_ranges.iter().for_each(|path| outputs.reads_files_of("--ip-ranges", path));
        outputs.file("-o", &self.output, OutputContent::Deny)?;
        self.console.begin_with(&outputs, TcpUse::None);
        Ok(())
    }

    /// Says who is not refused, although a row meets the condition.
    fn tell(&self, selection: &DenySelection) {
        if let Some(first) = selection.reserved.first() {
            let names = selection.reserved.join(", ");
            self.console.note(&format!(
                "not refused, although the condition is met: {names}; crawlers for search, ads and \
                 previews, and tools, must be named: {}",
                naming(first)
            ));
        }
        let Others { by_violations, by_name } = &selection.others;
        self.tell_others(by_violations, |_| {
            "--where \"violations > 0\" refuses them too".to_owned()
        });
        self.tell_others(by_name, |first| {
            format!(
                "they are for search, ads or previews, so they must be named: {}",
                naming(first)
            )
        });
        if !selection.spoofed.is_empty() {
            let names = selection.spoofed.join(", ");
            self.console.note(&format!(
                "not refused, because only spoofed requests meet the condition: {names}"
            ));
        }
    }

    /// Says which crawlers with violations the usual condition leaves out, and how to select them.
    fn tell_others(&self, others: &[(String, Conduct)], advice: impl FnOnce(&str) -> String) {
        let Some((name, _)) = others.first().filter(|_| self.condition == DEFAULT_CONDITION) else {
            return;
        };
        let first = others.iter().take(OTHERS_SHOWN);
        let first = first.map(|(name, conduct)| format!("{name} ({})", conduct.words()));
        let mut names = first.collect::<Vec<_>>().join(", ");
        if let Some(more @ 1..) = others.len().checked_sub(OTHERS_SHOWN) {
            names += &format!(" and {more} more");
        }
        let advice = advice(name);
        self.console.note(&format!(
            "not refused, because they do not ignore robots.txt: {names}; {advice}"
        ));
    }

    fn rules(
        &self,
        form: Form,
        by: DenyBy,
        selection: &DenySelection,
        registry: &Registry,
    ) -> Result<DenyRules> {
        let mut rules =
            DenyRules { head: self.head(), review_days: REVIEW_DAYS, ..DenyRules::default() };
        let directory = self.ip_ranges.as_deref().filter(|_| by == DenyBy::Address);
        let Some(directory) = directory else {
            rules.agents = agent_groups(&selection.denied, registry, form.anchors())?;
            return Ok(rules);
        };
        let ranges = Ranges::open(directory, registry)?;
        for crawler in &selection.denied {
            let faulty =
                ranges.lists_of(crawler.id).filter_map(|list| Some((list, list.fault.as_ref()?)));
            faulty.for_each(|(list, fault)| self.console.warn(&format!("{}: {fault}", list.url)));
        }
        check_shares(&selection.denied, &ranges)?;
        let (networks, without) = network_groups(&selection.denied, &ranges);
        for name in without {
            self.console.warn(&format!(
                "{name} has no list of addresses and is not refused; use --by user-agent"
            ));
        }
        if networks.is_empty() {
            return Err(Error::usage("no selected crawler has a list of addresses"));
        }
        rules.networks = networks;
        Ok(rules)
    }

    fn head(&self) -> Vec<String> {
        let now = UtcTime::from(jiff::Timestamp::now());
        let review = Zone::UTC.day_of(now).plus(REVIEW_DAYS.cast_signed());
        vec![
            format!("Made by {MARK} {} at {now}. Review by {review}.", env!("CARGO_PKG_VERSION")),
            format!("Report: {}", self.report.display()),
            format!("Condition: {}", self.condition),
        ]
    }

    fn replay(
        &self,
        form: Form,
        rules: &DenyRules,
        selection: &DenySelection,
        registry: &Registry,
        sources: &[Source],
        hints: &Hints,
    ) -> Result<()> {
        let groups = match rules.agents.is_empty() {
            true => Vec::new(),
            false => {
                let finds_within = form.anchors().finds_within;
                agent_groups(&selection.denied, registry, Anchors { finds_within, ..HEADER })?
            }
        };
        let exempts = form.exempts_robots_txt();
        let denied = &selection.denied;
        let replay = Replay::new(registry, denied, &groups, &rules.networks, exempts)?;
        let counts = self.console.timed("logs read", || replay.run(sources, hints))?;
        counts.lines().iter().for_each(|line| self.console.say(line));
        Ok(())
    }
}
