//! The sample data gives the expected reports.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::program::{Sandbox, Table, repository};

/// Compares each file of a report with the expected one, byte for byte.
#[track_caller]
fn check(expected: &str, arguments: &str) {
    let sandbox = Sandbox::new();
    let expected = repository().join("sample-data/expected").join(expected);
    let report = sandbox.path("report");
    let mut command = sandbox.command(&format!("{arguments} -q -o {}", report.display()));
    // Run as by a user, so that the paths in the reports are those of the README.
    let status = command.current_dir(repository()).status().unwrap();
    assert!(status.success());
    for name in names(&expected) {
        let read = |directory: &Path| fs::read(directory.join(&name)).unwrap_or_default();
        let (ours, theirs) = (read(&report), read(&expected));
        let (ours, theirs) =
            if name == "run.json" { (timeless(&ours), timeless(&theirs)) } else { (ours, theirs) };
        assert!(
            ours == theirs,
            "{name} is not as expected; if it should not be, run scripts/update-expected\n{}",
            String::from_utf8_lossy(&ours)
        );
    }
    // The page is drawn from the tally, and its design may change in any version; the tally has no
    // other data.
    let names_but: Vec<String> = names(&report)
        .into_iter()
        .filter(|name| name != "report.html" && name != "report.tally")
        .collect();
    assert_eq!(names_but, names(&expected));
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The file without the fields that change with the time or the version.
fn timeless(json: &[u8]) -> Vec<u8> {
    let mut json: serde_json::Value = serde_json::from_slice(json).unwrap();
    json["made_at_utc"].take();
    json["version"].take();
    json.to_string().into_bytes()
}

#[test]
fn many_origins() {
    check("many", "audit --robots sample-data/robots sample-data/logs");
}

/// The rows of a crawler at all origins add up to its row.
#[test]
fn compliance_at_origins_adds_up() {
    for report in ["many", "single"] {
        let read = |name: &str| {
            let path = repository().join("sample-data/expected").join(report).join(name);
            Table::parse(&fs::read_to_string(path).unwrap())
        };
        let sums = |rows: Vec<String>| {
            let mut sums: BTreeMap<String, [u64; 2]> = BTreeMap::new();
            for row in rows {
                let cells: Vec<&str> = row.rsplitn(3, " | ").collect();
                let sum = sums.entry(cells[2].to_owned()).or_default();
                sum[0] += cells[1].parse::<u64>().unwrap();
                sum[1] += cells[0].parse::<u64>().unwrap();
            }
            sums
        };
        let mut of_crawlers =
            read("compliance.csv").cells("scope name directive group requests kept");
        of_crawlers.retain(|row| row.starts_with("crawler | "));
        let crawlers = of_crawlers.iter().map(|row| row.replacen("crawler | ", "", 1)).collect();
        let origins = read("origin-compliance.csv").cells("crawler directive group requests kept");
        assert!(origins.len() > 3, "{report}: {origins:?}");
        assert_eq!(sums(origins), sums(crawlers), "{report}");
    }
}

#[test]
fn one_site() {
    check(
        "single",
        "audit --robots sample-data/single/robots.txt --origin https://example.com sample-data/single/access.log.gz",
    );
}
