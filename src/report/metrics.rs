//! Metrics of a night in the text format of Prometheus, for the textfile collector.
//!
//! All are gauges of one run and one day, because a day that is audited again may have smaller
//! values. Paths, addresses, user agents and hosts are not labels: clients choose them, so their
//! number has no limit.

use std::{collections::BTreeMap, fmt::Write};

use crate::audit::model::ReportModel;
use crate::measures::sums::Sums;
use crate::merge::Merge;
use crate::time::UtcTime;

use super::page_model::totals::LineTotals;

/// The name of the file, in the directory of reports.
pub(crate) const METRICS_FILE: &str = "botaudit.prom";

/// The metrics with their meanings, in the order of the file.
pub const METRICS: [(&str, &str); 11] = [
    ("botaudit_build_info", "Version of the program."),
    ("botaudit_last_run_timestamp_seconds", "When the last run began."),
    ("botaudit_last_run_duration_seconds", "How long the last run took."),
    ("botaudit_last_run_exit_code", "Exit code of the last run for the site."),
    ("botaudit_last_success_timestamp_seconds", "When the last run began that audited the site."),
    ("botaudit_day_start_timestamp_seconds", "Start of the day of the other values."),
    ("botaudit_day_lines", "Lines of the day, by what they are."),
    ("botaudit_day_requests", "Requests of crawlers on the day, by verdict."),
    ("botaudit_day_judged_requests", "Requests of crawlers on the day that were judged."),
    ("botaudit_day_response_bytes", "Bytes of the responses to crawlers on the day."),
    ("botaudit_day_events", "Events that the last run reported, by kind."),
];

/// The result of a run for one site.
#[derive(Clone, Debug)]
pub(crate) struct SiteMetrics {
    /// The site.
    pub site: String,
    /// The exit code.
    pub exit_code: u8,
    /// When the last successful run began.
    pub last_success: Option<UtcTime>,
    /// The day; `None` if it could not be audited.
    pub day: Option<DayMetrics>,
    /// The events of the day, by kind.
    pub events: BTreeMap<&'static str, u64>,
}

/// One day of one site.
#[derive(Clone, Debug)]
pub(crate) struct DayMetrics {
    start: Option<UtcTime>,
    lines: [(&'static str, u64); 4],
    judged: u64,
    /// By crawler and identity, over all origins.
    crawlers: BTreeMap<(String, &'static str), Sums>,
}

impl DayMetrics {
    /// The day of `audit`, which begins at `start`.
    pub(crate) fn of(audit: &ReportModel, start: Option<UtcTime>) -> DayMetrics {
        let LineTotals { crawler, other, rejected, skipped, .. } = LineTotals::of(&audit.inputs);
        let lines =
            [("crawler", crawler), ("other", other), ("rejected", rejected), ("skipped", skipped)];
        let mut crawlers: BTreeMap<_, Sums> = BTreeMap::new();
        for (_, (id, identity), tally) in audit.actors() {
            let name = audit.registry.crawler(id).name.clone();
            crawlers.entry((name, identity.as_str())).or_default().absorb(tally.total());
        }
        DayMetrics { start, lines, judged: audit.coverage.judged(), crawlers }
    }
}

/// A metric in progress: the samples by name.
#[derive(Default)]
struct Samples(BTreeMap<&'static str, String>);

impl Samples {
    fn add(&mut self, metric: &'static str, labels: &[(&str, &str)], value: impl ToString) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let samples = self.0.entry(metric).or_default();
        writeln!(samples, "{metric}{labels} {}", value.to_string())
            .expect("writing to a string cannot fail");
    }

    fn site(&mut self, of: &SiteMetrics) {
        let site = ("site", of.site.as_str());
        self.add("botaudit_last_run_exit_code", &[site], of.exit_code);
        if let Some(time) = of.last_success {
            self.add("botaudit_last_success_timestamp_seconds", &[site], time.unix_seconds());
        }
        for (event, count) in &of.events {
            self.add("botaudit_day_events", &[site, ("event", event)], count);
        }
        let Some(day) = &of.day else { return };
        if let Some(time) = day.start {
            self.add("botaudit_day_start_timestamp_seconds", &[site], time.unix_seconds());
        }
        for (outcome, lines) in day.lines {
            self.add("botaudit_day_lines", &[site, ("outcome", outcome)], lines);
        }
        self.add("botaudit_day_judged_requests", &[site], day.judged);
        for ((crawler, identity), sums) in &day.crawlers {
            let who = [site, ("crawler", crawler.as_str()), ("identity", identity)];
            self.add("botaudit_day_response_bytes", &who, sums.bytes);
            for (verdict, count) in verdicts(sums).into_iter().filter(|(_, count)| *count > 0) {
                let labels = [&who[..], &[("verdict", verdict)]].concat();
                self.add("botaudit_day_requests", &labels, count);
            }
        }
    }
}

/// The parts of all requests.
fn verdicts(sums: &Sums) -> [(&'static str, u64); 8] {
    [
        ("robots_txt", sums.robots_txt_requests),
        ("allowed", sums.allowed),
        ("violation", sums.violations),
        ("grace", sums.grace),
        ("unreachable", sums.unreachable),
        ("unknown", sums.unknown),
        ("not_bound", sums.not_bound),
        ("no_path", sums.no_path),
    ]
}

/// The text of the file: a run that began at `begun` and took `seconds`.
pub(crate) fn metrics_text(begun: UtcTime, seconds: f64, sites: &[SiteMetrics]) -> String {
    let mut samples = Samples::default();
    samples.add("botaudit_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    samples.add("botaudit_last_run_timestamp_seconds", &[], begun.unix_seconds());
    samples.add("botaudit_last_run_duration_seconds", &[], format!("{seconds:.3}"));
    sites.iter().for_each(|site| samples.site(site));
    let metric = |(name, help): &(&str, &str)| {
        let samples = samples.0.get(name)?;
        Some(format!("# HELP {name} {help}\n# TYPE {name} gauge\n{samples}"))
    };
    METRICS.iter().filter_map(metric).collect()
}

/// The value of a label.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_end_no_line() {
        let time = UtcTime::from_unix_seconds(1_772_323_200);
        let who = ("a\"} 1\nb\\".to_owned(), "verified");
        let sums = Sums { requests: 2, violations: 2, bytes: 7, ..Sums::default() };
        let day = DayMetrics {
            start: time,
            lines: [("crawler", 2), ("other", 0), ("rejected", 0), ("skipped", 0)],
            judged: 2,
            crawlers: BTreeMap::from([(who, sums)]),
        };
        let site = SiteMetrics {
            site: "shop".to_owned(),
            exit_code: 1,
            last_success: time,
            day: Some(day),
            events: BTreeMap::from([("robots-changed", 1)]),
        };
        let failed = SiteMetrics {
            site: "x".to_owned(),
            exit_code: 2,
            last_success: None,
            day: None,
            ..site.clone()
        };
        let text = metrics_text(time.unwrap(), 1.5, &[site, failed]);
        let expected = "botaudit_day_requests{site=\"shop\",crawler=\"a\\\"} 1\\nb\\\\\",identity=\"verified\",verdict=\"violation\"} 2\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.ends_with("\n") && !text.contains("\n\n"));
        check_by_promtool(&text);
        let mut seen = std::collections::BTreeSet::new();
        let mut names = Vec::new();
        for line in text.lines() {
            let name = line.trim_start_matches("# HELP ").trim_start_matches("# TYPE ");
            let name = name.split([' ', '{']).next().unwrap().to_owned();
            assert!(seen.insert(line.rsplit_once(' ').unwrap().0.to_owned()), "twice: {line}");
            names.push(name);
        }
        names.dedup();
        assert_eq!(names, METRICS.map(|(name, _)| name));
    }

    fn check_by_promtool(text: &str) {
        use std::process::{Command, Stdio};
        let mut promtool = Command::new("promtool");
        promtool.args(["check", "metrics"]).stdin(Stdio::piped());
        let Ok(mut child) = promtool.spawn() else {
            return eprintln!("skipped: there is no promtool");
        };
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{text}");
    }
}
