//! The library as an application sees it: only what the page of the crate names.

use std::fs;
use std::path::{Path, PathBuf};

use botaudit::{
    Audit, AuditConfig, AuditReport, Cell, Column, ErrorKind, Identity, ReportTable, Result,
    UtcTime,
};

const ROBOTS: &str = "User-agent: GPTBot\nDisallow: /private/\n";

const LOG: &str = "192.0.2.1 - - [01/Nov/2026:00:00:00 +0000] \"GET /private/diary HTTP/1.1\" 200 512 \"-\" \"GPTBot/1.2\"\n\
    192.0.2.2 - - [02/Nov/2026:10:00:00 +0000] \"GET /private/a,b HTTP/1.1\" 404 10 \"-\" \"GPTBot/1.2\"\n\
    192.0.2.2 - - [02/Nov/2026:11:00:00 +0000] \"GET / HTTP/1.1\" 200 10 \"-\" \"GPTBot/1.2\"\n";

/// A directory with a robots.txt and a log.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        let files = Files(tempfile::tempdir().unwrap());
        fs::write(files.path("robots.txt"), ROBOTS).unwrap();
        fs::write(files.path("access.log"), LOG).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn config(&self) -> AuditConfig {
        let mut config = AuditConfig::default();
        config.robots = Some(self.path("robots.txt"));
        config.origin = Some("https://example.com".parse().unwrap());
        config
    }

    fn audit(&self, config: AuditConfig) -> Result<AuditReport> {
        Audit::new(config).run([self.path("access.log")])
    }
}

#[test]
fn callers_can_tell_what_failed() {
    let files = Files::new();
    #[track_caller]
    fn check(result: Result<impl std::fmt::Debug>, kind: ErrorKind, text: &str) {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    let with = |change: fn(&mut AuditConfig)| {
        let mut config = files.config();
        change(&mut config);
        files.audit(config)
    };
    check(with(|config| config.fetch = Some(true)), ErrorKind::Configuration, "command line");
    check(with(|config| config.since = Some("x".to_owned())), ErrorKind::Configuration, "since");
    check(with(|config| config.robots = Some("/nowhere".into())), ErrorKind::Io, "/nowhere");
    let nothing = Audit::new(files.config()).run([files.path("missing.log")]);
    check(nothing, ErrorKind::Io, "missing.log");
    fs::write(files.path("poem.txt"), "no request\n".repeat(9)).unwrap();
    let poem = Audit::new(files.config()).run([files.path("poem.txt")]).unwrap();
    assert!(!poem.is_complete() && poem.unjudged().is_some(), "a report says what is missing");
    // The head of an SQLite file, and nothing behind it.
    fs::write(files.path("robots.db"), b"SQLite format 3\0").unwrap();
    let mut config = files.config();
    config.robots = Some(files.path("robots.db"));
    check(files.audit(config), ErrorKind::Archive, "robots.db");
    let report = files.audit(files.config()).unwrap();
    let foreign = files.path("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("letter.txt"), "mine").unwrap();
    check(report.write(&foreign), ErrorKind::Refused, "foreign");
    assert!(Path::new(&foreign).join("letter.txt").exists());
}

/// An audit of the sample logs that makes all tables but those of a comparison.
fn sample() -> AuditReport {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data");
    let draft = tempfile::NamedTempFile::new().unwrap();
    fs::write(&draft, "User-agent: *\nDisallow: /\n").unwrap();
    let networks = tempfile::NamedTempFile::new().unwrap();
    fs::write(&networks, "prefix,network\n0.0.0.0/1,low\n128.0.0.0/1,high\n").unwrap();
    let (robots, more) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    for host in ["blog.example.org", "www.example.com.txt"] {
        fs::copy(samples.join("robots").join(host), robots.path().join(host)).unwrap();
    }
    let reserved = "User-agent: *\nContent-Usage: train-ai=n\n";
    fs::write(robots.path().join("policy.example"), reserved).unwrap();
    let requests = ["/llms.txt", "/a", "/=formula", "/'quoted'", "/\\x00"].map(|path| {
        let line = LOG.lines().next().unwrap().replace("/private/diary", path);
        format!("policy.example:443 {line}\n")
    });
    fs::write(&more, requests.concat()).unwrap();
    let mut config = AuditConfig::default();
    config.robots = Some(robots.path().to_owned());
    config.what_if = Some(draft.path().to_owned());
    config.what_if_for = Some(vec!["https://www.example.com".parse().unwrap()]);
    config.networks = Some(networks.path().to_owned());
    config.session_minutes = Some(5);
    config.paths = Some(true);
    config.cost_per_gb = Some("0.09USD".parse().unwrap());
    Audit::new(config).run([samples.join("logs"), more.path().to_owned()]).unwrap()
}

/// The lines of `file` as cells, the header first.
fn csv(file: &Path) -> Vec<Vec<String>> {
    let mut lines = csv::ReaderBuilder::new().has_headers(false).from_path(file).unwrap();
    lines.records().map(|line| line.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The typed rows of each table are the rows of its file.
#[test]
fn tables_have_the_cells_of_their_files() {
    let report = sample();
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().join("report");
    report.write(&directory).unwrap();
    let mut files: Vec<String> = fs::read_dir(&directory)
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .into_string()
                .unwrap()
                .strip_suffix(".csv")
                .map(str::to_owned)
        })
        .collect();
    files.sort();
    let mut names: Vec<&str> = report.tables().map(|table| table.name()).collect();
    names.sort();
    assert_eq!(names, files);
    let mut empty = Vec::new();
    for table in report.tables() {
        let mut lines = csv(&directory.join(format!("{}.csv", table.name()))).into_iter();
        let header: Vec<String> = lines.next().unwrap();
        assert!(
            table.columns().iter().map(|column| column.name).eq(header.iter().map(String::as_str))
        );
        let rows = table.rows();
        assert_eq!(rows.len(), lines.len(), "{}", table.name());
        if rows.is_empty() {
            empty.push(table.name());
        }
        for (row, line) in rows.iter().zip(lines) {
            for ((cell, column), text) in row.cells().iter().zip(table.columns()).zip(&line) {
                // A formula, or a text that begins with `'`, has one more in the file.
                let text = text.strip_prefix('\'').unwrap_or(text);
                assert_eq!(cell.to_string(), text, "{}: {}", table.name(), column.name);
                assert!(is_of_unit(cell, column), "{}: {column:?}: {cell:?}", table.name());
                assert_eq!(row.get(column.name), Some(cell));
            }
            assert_eq!(row.cells().len(), line.len());
        }
    }
    // These need signed requests, and an archive.
    assert_eq!(empty, ["signatures", "reactions"]);
}

/// Whether the documented unit of a column says what kind of cells it has.
fn is_of_unit(cell: &Cell, column: &Column) -> bool {
    match (cell, column.unit) {
        (Cell::Empty, _) => true,
        (Cell::Decimal { decimals, .. }, unit) => unit.ends_with(&format!("{decimals} decimals")),
        (Cell::Time(_), unit) => unit == "RFC 3339, UTC",
        (Cell::Day(_), unit) => unit == "YYYY-MM-DD",
        (Cell::Difference(_), unit) => unit == "seconds",
        (Cell::Count(_), unit) => {
            let units = ["count", "bytes", "minutes", "seconds", "hours", "0 to 23", "HTTP status"];
            units.contains(&unit) || unit == "line number from 1"
        }
        (_, unit) => {
            let others = ["count", "bytes", "RFC 3339, UTC", "YYYY-MM-DD", "line number from 1"];
            !others.contains(&unit) && !unit.ends_with("decimals")
        }
    }
}

#[test]
fn a_table_that_a_report_lacks_is_none() {
    let files = Files::new();
    let report = files.audit(files.config()).unwrap();
    for name in ["statistics", "statuses.csv", "", "sections", "what-if"] {
        assert!(report.table(name).is_none(), "{name}");
    }
    let statuses = report.table("statuses").unwrap();
    assert_eq!(statuses.name(), "statuses");
    assert!(statuses.row_meaning().contains("HTTP status"));
    let rows = statuses.rows();
    assert!(rows[0].get("no_such_column").is_none());
    let statuses: Vec<Option<u64>> =
        rows.iter().map(|row| row.get("status").and_then(Cell::count)).collect();
    assert_eq!(statuses, [Some(200), Some(404)]);
    let share = rows[1].get("share").unwrap();
    assert_eq!((share.number(), share.to_string().as_str()), (Some(0.333_333), "0.333333"));
    assert_eq!((share.count(), share.text(), share.is_empty()), (None, None, false));
}

#[test]
fn each_broken_rule_is_a_row() {
    let files = Files::new();
    let report = files.audit(files.config()).unwrap();
    let rules: Vec<_> = report.violations().collect();
    let [rule] = &rules[..] else { panic!("{rules:?}") };
    assert_eq!((rule.origin, rule.crawler.name.as_str()), ("https://example.com", "GPTBot"));
    assert_eq!(rule.identity, Identity::NotOnList);
    assert_eq!((rule.line, rule.pattern.as_str(), rule.group.as_str()), (2, "/private/", "GPTBot"));
    assert_eq!((rule.requests, rule.bytes), (2, 522));
    let first = UtcTime::from_unix_seconds(1_793_491_200).unwrap();
    assert_eq!((rule.first, rule.last.to_string().as_str()), (first, "2026-11-02T10:00:00Z"));
    let example = &rule.example;
    assert_eq!((example.target.as_str(), example.line), ("/private/diary", 1));
    assert_eq!(example.time, first);
    assert_eq!(Path::new(example.file), files.path("access.log"));
}

/// What violations say as fields is what their table says as cells.
#[test]
fn violations_are_the_rows_of_their_table() {
    let report = sample();
    let rows = report.table("violations").as_ref().map(ReportTable::rows).unwrap();
    assert!(rows.len() > 1);
    let violations: Vec<_> = report.violations().collect();
    assert_eq!(rows.len(), violations.len());
    for (rule, row) in violations.iter().zip(&rows) {
        for (column, value) in [
            ("origin", rule.origin.to_owned()),
            ("crawler", rule.crawler.name.clone()),
            ("identity", rule.identity.to_string()),
            ("rule_line", rule.line.to_string()),
            ("pattern", rule.pattern.clone()),
            ("group", rule.group.clone()),
            ("requests", rule.requests.to_string()),
            ("bytes", rule.bytes.to_string()),
            ("signed", rule.signed.to_string()),
            ("first_seen_utc", rule.first.to_string()),
            ("last_seen_utc", rule.last.to_string()),
            ("example_target", rule.example.target.clone()),
            ("example_file", rule.example.file.to_owned()),
            ("example_line", rule.example.line.to_string()),
        ] {
            assert_eq!(row.get(column).map(Cell::to_string), Some(value), "{column}");
        }
    }
}
