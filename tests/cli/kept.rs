//! Files of earlier versions, which `tests/kept/make` wrote: every later version reads them.

use std::fs;
use std::path::PathBuf;

use super::program::{Sandbox, Table, repository};

/// The directory of each version.
fn versions() -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join("tests/kept")).unwrap();
    let directories: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    assert!(!directories.is_empty());
    directories
}

fn sandbox(version: &PathBuf) -> Sandbox {
    let sandbox = Sandbox::new();
    for entry in fs::read_dir(version).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        sandbox.write(&name, fs::read(entry.path()).unwrap());
    }
    sandbox
}

#[test]
fn tallies_give_the_same_report_and_merge() {
    for version in versions() {
        let sandbox = sandbox(&version);
        let columns = "origin crawler identity requests allowed violations bytes";
        let expected = Table::parse(&sandbox.text("summary.csv")).cells(columns);
        assert!(expected.len() > 10, "{expected:?}");
        sandbox.run("report report.tally -o again").exits(0);
        assert_eq!(sandbox.table("again/summary.csv").cells(columns), expected, "{version:?}");
        // A tally of this version has the same logs under other names.
        let (robots, logs) = ("sample-data/robots", "sample-data/logs");
        let path = |path: &str| repository().join(path).display().to_string();
        sandbox
            .run(&format!("audit --robots {} --partial new.tally {}", path(robots), path(logs)))
            .exits(0);
        let merged = sandbox.run("merge report.tally new.tally -o both.tally");
        if merged.code == 2 {
            // The list of crawlers has changed since then, so the two cannot be added up.
            merged.complains("the list of known crawlers is");
            continue;
        }
        merged.exits(0);
        sandbox.run("report both.tally -o both").exits(0);
        let sum = |report: &str| sandbox.table(&format!("{report}/summary.csv")).sum("requests");
        assert_eq!(sum("both"), 2 * sum("again"), "{version:?}");
    }
}

#[test]
fn nights_go_on_where_the_state_ends() {
    for version in versions() {
        let sandbox = sandbox(&version);
        let line = sandbox.text("access.log").lines().next().unwrap().replace("24/Mar", "27/Mar");
        sandbox.write("access.log", format!("{}{line}\n", sandbox.text("access.log")));
        sandbox.run("nightly --config botaudit.toml --day 2026-03-27").exits(0);
        let days = sandbox.table("reports/trend.csv").cells("day violations");
        let expected = ["2026-03-24 | 5", "2026-03-25 | 5", "2026-03-26 | 5", "2026-03-27 | 1"];
        assert_eq!(days, expected, "{version:?}");
    }
}

#[test]
fn archives_know_their_snapshots() {
    for version in versions() {
        let sandbox = sandbox(&version);
        let check = |day: &str| {
            format!(
                "check --robots robots.db --crawler GPTBot --at {day} https://shop.example/private/1"
            )
        };
        sandbox.run(&check("2026-03-01T12:00:00Z")).exits(1);
        sandbox.run(&check("2026-03-02T12:00:00Z")).exits(0);
    }
}
