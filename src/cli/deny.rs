//! `botaudit deny`: writes rules for a server that refuse crawlers of a report.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::audit::damaged_file::name_damaged;
use crate::audit::model::ReportModel;
use crate::audit::tally::merge::merge_files;
use crate::crawlers::{ranges::Ranges, registry::Registry};
use crate::deny::form::{DenyBy, Form};
use crate::deny::pattern::HEADER;
use crate::deny::replay::Replay;
use crate::deny::rules::{DenyRules, MARK, agent_groups, network_groups};
use crate::deny::selection::{DEFAULT_CONDITION, DenySelection};
use crate::error::{Error, Result};
use crate::input::source::{Source, expand};
use crate::logs::detect::Hints;
use crate::report::outputs::{OutputContent, Outputs};
use crate::report::threshold::Threshold;
use crate::run::notes::note_formats;
use crate::run::outcome::RunOutcome;
use crate::run::output::write_output;
use crate::run::sandbox::access_rights::TcpUse;
use crate::run::setup::hints;
use crate::staged::replace;
use crate::time::{UtcTime, Zone};

use super::config_flags::FormatFlags;
use super::confinement::confine;
use super::console::console;
use super::help::short;
use super::progress::Show;
use super::shared::{ForceArg, MemoryArg, name_tallies, note, refusal, registry, say, timed, warn};
use super::value_names::{DENY_BY, DENY_FORMS, one_of};

const HELP: &str = include_str!("help/deny.txt");

/// Operators change names and addresses.
const REVIEW_DAYS: u32 = 90;

/// Write rules that refuse crawlers, for a server or a firewall.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "deny"), after_long_help = HELP)]
pub struct DenyArgs {
    /// Report directory, or tally.
    #[arg(value_name = "REPORT|TALLY", default_value = "botaudit-report")]
    report: PathBuf,

    /// Program that reads the rules.
    #[arg(long = "for", value_name = "FORM", value_parser = one_of(&DENY_FORMS),
        hide_possible_values = true)]
    form: Form,

    /// Crawlers to refuse: a condition on the columns of summary.csv, as for audit --fail-on.
    #[arg(long = "where", value_name = "CONDITION", default_value = DEFAULT_CONDITION)]
    condition: String,

    /// What a request is recognised by [default: user-agent, or address for nftables and crowdsec]
    #[arg(long, value_name = "WHAT", value_parser = one_of(&DENY_BY), hide_possible_values = true)]
    by: Option<DenyBy>,

    /// Directory of the address lists of operators, for --by address.
    #[arg(long, value_name = "DIR", help_heading = "Crawlers")]
    ip_ranges: Option<PathBuf>,

    /// CSV file with more crawlers; a row with a built-in name replaces that crawler.
    #[arg(long, value_name = "FILE", help_heading = "Crawlers", hide_short_help = true)]
    crawlers: Option<PathBuf>,

    /// Logs to try the rules on, before they are written.
    #[arg(long, value_name = "LOG", num_args = 1.., help_heading = "Trial")]
    replay: Vec<OsString>,

    #[command(flatten)]
    format: FormatFlags,

    /// File to write [default: standard output]
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "-",
        hide_default_value = true,
        help_heading = "Output"
    )]
    output: PathBuf,

    #[command(flatten)]
    force: ForceArg,

    #[command(flatten)]
    memory: MemoryArg,
}

impl DenyArgs {
    /// Selects crawlers, tries the rules, and writes them.
    pub fn run(self) -> Result<RunOutcome> {
        let by = self.by()?;
        let mut faults = Vec::new();
        let hints = hints(&self.format.config(), &mut faults);
        if !faults.is_empty() {
            return Err(refusal(&faults));
        }
        let sources = expand(&self.replay);
        self.check_files(&sources)?;
        let registry = registry(self.crawlers.as_deref())?;
        let condition = Threshold::parse(&self.condition, &registry)
            .map_err(|why| Error::usage(format!("--where: \"{}\": {why}", self.condition)))?;
        let (report, limits) = (std::slice::from_ref(&self.report), self.memory.limits());
        let damaged = |err| name_damaged(err, report, limits);
        let tally = merge_files(report, limits).map_err(damaged)?;
        let console = console(Show::OnTerminal);
        note_formats(&tally.header, &*console);
        let model = ReportModel::new(tally).map_err(damaged)?;
        let selection = DenySelection::new(&model, &condition, &registry)?;
        self.tell(&selection);
        if selection.denied.is_empty() {
            let why = format!("no crawler meets \"{}\"; nothing was written", self.condition);
            return Err(Error::usage(why));
        }
        let rules = self.rules(by, &selection, &registry)?;
        if !sources.is_empty() {
            self.replay(&rules, &selection, &registry, &sources, &hints)?;
        }
        for reason in rules.reasons() {
            say(&format!("refused: {reason}"));
        }
        write_output(&self.output, self.form.text(&rules).as_bytes(), replace, &*console)?;
        Ok(RunOutcome::Done)
    }

    fn by(&self) -> Result<DenyBy> {
        let choices = self.form.choices();
        let by = self.by.unwrap_or(choices[0]);
        let form = self.form.as_str();
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
        let mut outputs = Outputs::new(self.force.overwrite());
        name_tallies(std::slice::from_ref(&self.report), &mut outputs);
        outputs.reads_sources("--replay", sources);
        self.crawlers.iter().for_each(|path| outputs.reads("--crawlers", path));
        self.ip_ranges.iter().for_each(|path| outputs.reads_files_of("--ip-ranges", path));
        outputs.file("-o", &self.output, OutputContent::Deny)?;
        confine(&outputs, TcpUse::None);
        Ok(())
    }

    /// Says who is not refused, although a row meets the condition.
    fn tell(&self, selection: &DenySelection) {
        if let Some(first) = selection.reserved.first() {
            let names = selection.reserved.join(", ");
            note(&format!(
                "not refused, although the condition is met: {names}; crawlers for search, ads and \
                 previews, and tools, must be named: --where \"crawler = '{first}'\""
            ));
        }
        if !selection.spoofed.is_empty() {
            let names = selection.spoofed.join(", ");
            note(&format!("not refused for what others did in their names: {names}"));
        }
    }

    fn rules(
        &self,
        by: DenyBy,
        selection: &DenySelection,
        registry: &Registry,
    ) -> Result<DenyRules> {
        let mut rules =
            DenyRules { head: self.head(), review_days: REVIEW_DAYS, ..DenyRules::default() };
        let directory = self.ip_ranges.as_deref().filter(|_| by == DenyBy::Address);
        let Some(directory) = directory else {
            rules.agents = agent_groups(&selection.denied, registry, self.form.anchors())?;
            return Ok(rules);
        };
        let ranges = Ranges::open(directory, registry)?;
        for crawler in &selection.denied {
            let faulty =
                ranges.lists_of(crawler.id).filter_map(|list| Some((list, list.fault.as_ref()?)));
            faulty.for_each(|(list, fault)| warn(&format!("{}: {fault}", list.url)));
        }
        let (networks, without) = network_groups(&selection.denied, &ranges);
        for name in without {
            warn(&format!(
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
        rules: &DenyRules,
        selection: &DenySelection,
        registry: &Registry,
        sources: &[Source],
        hints: &Hints,
    ) -> Result<()> {
        let groups = match rules.agents.is_empty() {
            true => Vec::new(),
            false => agent_groups(&selection.denied, registry, HEADER)?,
        };
        let exempts = self.form.exempts_robots_txt();
        let denied = &selection.denied;
        let replay = Replay::new(registry, denied, &groups, &rules.networks, exempts)?;
        let counts = timed("logs read", || replay.run(sources, hints))?;
        counts.lines().iter().for_each(|line| say(line));
        Ok(())
    }
}
