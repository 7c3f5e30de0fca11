//! An audit without a command line, for applications.

use std::path::{Path, PathBuf};
use std::{ffi::OsString, sync::Arc};

use crate::audit::{client::ClientKey, model::ReportModel, tally::Tally};
use crate::config::audit_config::AuditConfig;
use crate::crawlers::{crawler::Crawler, identity::Identity};
use crate::error::{Error, Result};
use crate::input::copies::{DistinctLogs, without_copies};
use crate::report::threshold::{MetCondition, Threshold};
use crate::report::{directory::Staging, page_model::PageModel, run::EvidenceFile};
use crate::report::{summary::summary_text, summary_table::SummaryView};

use super::audit::{AuditRun, Destination};
use super::setup::{Setup, unusable};
use super::sources::found_sources;
use super::written::{
    ReportTable, ResultFormat, ViolationRow, run_json_now, violations, write_report,
};
use super::{audit_progress::AuditProgress, console::KeptMessages};

/// An audit of access logs: which crawler requested what robots.txt disallows.
///
/// ```
/// use botaudit::{Audit, AuditConfig, Cell};
///
/// # let directory = tempfile::tempdir()?;
/// # let (robots, log) = (directory.path().join("robots.txt"), directory.path().join("log"));
/// # let output = directory.path().join("report");
/// # std::fs::write(&robots, "User-agent: GPTBot\nDisallow: /private/\n")?;
/// # std::fs::write(&log, "192.0.2.1 - - [01/Nov/2026:00:00:00 +0000] \"GET /private/diary \
/// #     HTTP/1.1\" 200 512 \"-\" \"GPTBot/1.2\"\n")?;
/// let mut config = AuditConfig::default();
/// config.robots = Some(robots);
/// config.origin = Some("https://example.com".parse()?);
/// let report = Audit::new(config).run([&log])?;
///
/// for rule in report.violations() {
///     assert_eq!((rule.crawler.name.as_str(), rule.requests), ("GPTBot", 1));
///     assert_eq!((rule.line, rule.pattern.as_str()), (2, "/private/"));
/// }
/// // Any table of the report, as values.
/// let statuses = report.table("statuses").ok_or("no such table")?;
/// for row in statuses.rows() {
///     assert_eq!(row.get("status").and_then(Cell::count), Some(200));
/// }
/// report.write(&output)?;
/// assert!(output.join("violations.csv").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Audit {
    config: AuditConfig,
}

/// A finished audit.
#[derive(Debug)]
pub struct AuditReport {
    tally: Tally,
    /// What was wrong beside what the model knows.
    messages: Vec<String>,
    model: ReportModel,
    thresholds: Vec<Threshold>,
}

/// What one crawler did at one origin.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AuditRow<'a> {
    /// The origin, or what reports write for requests without one.
    pub origin: &'a str,
    /// The crawler that the user agent names.
    pub crawler: &'a Crawler,
    /// Whether it was this crawler.
    pub identity: Identity,
    /// All its requests.
    pub requests: u64,
    /// Requests that robots.txt allowed.
    pub allowed: u64,
    /// Requests that robots.txt disallowed, by crawlers that it binds.
    pub violations: u64,
}

impl Audit {
    /// An audit with these settings. Each key is the flag of `botaudit audit` with that name.
    ///
    /// `fail_on_violations` has no effect: ask [`AuditReport::has_violations`] instead. An audit does
    /// not fail because of `fail_on`; ask [`AuditReport::failed_conditions`].
    pub fn new(config: AuditConfig) -> Audit {
        Audit { config }
    }

    /// Reads `logs` and judges their requests. A directory stands for the files in it, and a name
    /// with `*` for the files that it matches.
    ///
    /// Damage to a log ends that log alone, and is among the [warnings](AuditReport::warnings).
    ///
    /// # Errors
    /// If a setting is not valid, robots.txt cannot be read, no log can be opened, or too few
    /// lines of a log can be parsed. `fetch` and `evidence` are refused: both are for
    /// the command line alone.
    pub fn run<L: Into<OsString>>(&self, logs: impl IntoIterator<Item = L>) -> Result<AuditReport> {
        self.run_followed(logs, &AuditProgress::default())
    }

    /// The same, and another thread can follow the `progress` and stop the audit.
    ///
    /// # Errors
    /// As [`Audit::run`], and if the audit was stopped.
    pub fn run_followed<L: Into<OsString>>(
        &self,
        logs: impl IntoIterator<Item = L>,
        progress: &AuditProgress,
    ) -> Result<AuditReport> {
        if self.config.fetch == Some(true) || self.config.evidence.is_some() {
            return Err(Error::usage("fetch and evidence work only on the command line"));
        }
        let console = Arc::new(KeptMessages::followed_by(progress.clone()));
        let setup = Setup::new(self.config.clone(), &[], Arc::clone(&console) as _);
        let setup = setup.map_err(|faults| unusable(&faults))?;
        let logs: Vec<OsString> = logs.into_iter().map(Into::into).collect();
        let DistinctLogs { sources, repeats } = without_copies(found_sources(&logs, &*console));
        let thresholds = setup.thresholds.clone();
        let run = AuditRun {
            setup,
            sources,
            repeats,
            // Nothing is written yet.
            destination: Destination::Report(PathBuf::new()),
            collected: None,
            client_key: ClientKey::random()?,
            format: ResultFormat::Text,
            view: SummaryView::default(),
        };
        let tally = run.tally_alone()?;
        let model = ReportModel::new(tally.clone())?;
        Ok(AuditReport { tally, model, messages: console.take(), thresholds })
    }
}

impl AuditReport {
    /// Each crawler at each origin, by the names of both.
    pub fn rows(&self) -> impl Iterator<Item = AuditRow<'_>> {
        self.model.actors().map(|(origin, (crawler, identity), tally)| {
            let sums = tally.total();
            AuditRow {
                origin,
                crawler: self.model.registry.crawler(crawler),
                identity,
                requests: sums.requests,
                allowed: sums.allowed,
                violations: sums.violations,
            }
        })
    }

    /// Each rule that a crawler broke, by origin, crawler, robots.txt and line: the rows of
    /// `violations.csv`.
    pub fn violations(&self) -> impl Iterator<Item = ViolationRow<'_>> {
        violations(&self.model)
    }

    /// The tables of the report, in the order of `docs/reports.md`. Some need a setting, such as
    /// `sections` the setting `paths`.
    pub fn tables(&self) -> impl Iterator<Item = ReportTable<'_>> {
        ReportTable::all(&self.model)
    }

    /// The table `name`, such as `statuses`; `None` if the report has no such table.
    pub fn table(&self, name: &str) -> Option<ReportTable<'_>> {
        self.tables().find(|table| table.name() == name)
    }

    /// Whether a crawler broke a rule; requests that only claimed to be from it do not count,
    /// nor do those of tools.
    pub fn has_violations(&self) -> bool {
        self.model.has_violations()
    }

    /// The conditions of `fail_on` that rows of `summary.csv` meet, each with some of the rows.
    pub fn failed_conditions(&self) -> Vec<String> {
        let met = self.thresholds.iter().filter_map(|one| one.met(&self.model, "fail_on"));
        met.map(|MetCondition { message, rows }| format!("{message}: {}", rows.join("; ")))
            .collect()
    }

    /// Why no request of a crawler was judged, or too few were, and what to do next; `None` if
    /// enough were judged, or there was nothing to judge.
    pub fn unjudged(&self) -> Option<&str> {
        self.model.coverage.failure()
    }

    /// Whether all logs and robots.txt files could be read to their ends.
    pub fn is_complete(&self) -> bool {
        self.model.is_complete()
    }

    /// What to know before anybody acts on the report: damaged logs first.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let damaged = self
            .model
            .inputs
            .iter()
            .map(|input| &input.summary)
            .filter_map(|input| Some(format!("{}: {}", input.name, input.damage.as_ref()?)));
        damaged.chain(self.model.warnings.iter().chain(&self.messages).cloned())
    }

    /// The text of `run.json`: what was read, how it was judged, and all settings.
    pub fn run_json(&self) -> String {
        let text = run_json_now(&self.model, EvidenceFile::default());
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The summary that `botaudit audit` prints.
    pub fn summary(&self) -> String {
        summary_text(&PageModel::of(&self.model, None), &SummaryView::default())
    }

    /// Writes the report directory that `botaudit audit` writes: tables, page and tally. A report
    /// that stands at `directory` is replaced in one step.
    ///
    /// # Errors
    /// If anything but a report stands at `directory`, or it cannot be written.
    pub fn write(&self, directory: impl AsRef<Path>) -> Result<()> {
        let directory = directory.as_ref();
        let staging = Staging::open(directory)?;
        let (evidence, view) = (EvidenceFile::default(), SummaryView::default());
        write_report(&staging, directory, self.tally.clone(), evidence, &view)?;
        staging.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_the_run_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let (robots, log) = (directory.path().join("robots.txt"), directory.path().join("log"));
        std::fs::write(&robots, "User-agent: *\nDisallow: /a\n").unwrap();
        std::fs::write(&log, "").unwrap();
        let config = AuditConfig {
            robots: Some(robots),
            since: Some("2999-01-01".to_owned()),
            ..AuditConfig::default()
        };
        let report = Audit::new(config).run([&log]).unwrap();
        let warnings: Vec<String> = report.warnings().collect();
        let is_there = warnings.iter().any(|text| text.ends_with("is in the future"));
        assert!(is_there, "{warnings:?}");
    }

    #[test]
    fn an_audit_can_be_followed_and_stopped() {
        let directory = tempfile::tempdir().unwrap();
        let (robots, log) = (directory.path().join("robots.txt"), directory.path().join("log"));
        std::fs::write(&robots, "User-agent: *\nDisallow: /a\n").unwrap();
        let line = "192.0.2.1 - - [01/Nov/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \
                    \"GPTBot/1.2\"\n";
        std::fs::write(&log, line.repeat(1000)).unwrap();
        let fail_on = Some(vec!["violations > 0".to_owned(), "violations > 1000".to_owned()]);
        let audit =
            Audit::new(AuditConfig { robots: Some(robots), fail_on, ..AuditConfig::default() });
        let bytes = 1000 * line.len() as u64;

        let progress = AuditProgress::default();
        assert_eq!(progress.bytes(), (0, None));
        let report = audit.run_followed([&log], &progress).unwrap();
        assert_eq!(progress.bytes(), (bytes, Some(bytes)));
        assert_eq!(
            report.failed_conditions(),
            ["1 row meets fail_on \"violations > 0\": GPTBot (not-on-list) at -, violations 1000"]
        );

        progress.stop();
        let error = audit.run_followed([&log], &progress).unwrap_err();
        assert_eq!(error.to_string(), "the audit was stopped");
    }

    #[test]
    fn settings_are_checked() {
        let check = |change: fn(&mut AuditConfig), expected: &str| {
            let mut config = AuditConfig::default();
            change(&mut config);
            let error = Audit::new(config).run(["access.log"]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(|_| {}, "robots");
        check(
            |config| config.fail_on = Some(vec!["nothing > 0".to_owned()]),
            "--fail-on: \"nothing > 0\"",
        );
        check(
            |config| config.fetch = Some(true),
            "fetch and evidence work only on the command line",
        );
        check(|config| config.evidence = Some("x".into()), "fetch and evidence work only");
        check(|config| config.robots = Some("/nowhere/robots.txt".into()), "/nowhere/robots.txt");
    }
}
