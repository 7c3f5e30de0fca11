//! Each call that writes fails once, or kills the process.

use std::fs;

use super::scenario::{Scenario, Stage, program, run};
use super::shim::{Fault, disturb, fired};

pub const AUDIT: Scenario = Scenario {
    before: "audit -q --robots robots.txt -o report --evidence evidence.csv.gz old.log",
    command: "audit -q --robots robots.txt -o report --evidence evidence.csv.gz new.log",
    failing: "audit -q --robots robots.txt -o report --evidence evidence.csv.gz not.log",
    outputs: &["report evidence.csv.gz"],
    view: "",
    named: &["report", "evidence.csv.gz"],
};

pub const TALLY: Scenario = Scenario {
    before: "audit -q --robots robots.txt --partial a.tally --evidence evidence.csv old.log",
    command: "audit -q --robots robots.txt --partial a.tally --evidence evidence.csv new.log",
    failing: "audit -q --robots robots.txt --partial a.tally --evidence evidence.csv not.log",
    outputs: &["a.tally evidence.csv"],
    view: "",
    named: &["a.tally", "evidence.csv"],
};

const REPORT: Scenario = Scenario {
    before: "audit -q --robots robots.txt -o report old.log\n\
             audit -q --robots robots.txt --partial new.tally new.log",
    command: "report new.tally -o report",
    failing: "",
    outputs: &["report"],
    view: "",
    named: &["report"],
};

const CLASSIFY: Scenario = Scenario {
    before: "classify -q --robots robots.txt --token a -o verdicts.csv urls.txt",
    command: "classify -q --robots draft.txt --token b -o verdicts.csv urls.txt",
    failing: "",
    outputs: &["verdicts.csv"],
    view: "",
    named: &["verdicts.csv"],
};

const ARCHIVE: Scenario = Scenario {
    before: "robots import -q -a robots.db --origin https://a.example --at 2026-01-01T00:00:00Z robots.txt",
    command: "robots import -q -a robots.db --origin https://a.example --at 2026-02-01T00:00:00Z draft.txt",
    failing: "",
    outputs: &[],
    view: "robots log -a robots.db https://a.example",
    named: &["robots.db"],
};

const NIGHTLY: Scenario = Scenario {
    before: "nightly -q --config old.toml --day 2026-03-01",
    command: "nightly -q --config new.toml --day 2026-03-01",
    failing: "",
    outputs: &["reports/shop/2026-03-01", "reports/trend.csv reports/events.csv"],
    view: "",
    named: &["reports", "state"],
};

/// Disturbs each call, one in each run.
#[track_caller]
fn disturb_all(scenario: &Scenario, fault: Fault, can_exchange: bool) {
    let stage = Stage::new(scenario);
    let calls = (1..).take_while(|at| stage.disturbed(fault, *at, can_exchange)).count();
    assert!(calls >= 4, "only {calls} calls were disturbed");
}

#[test]
fn every_call_of_an_audit_fails_once() {
    disturb_all(&AUDIT, Fault::Once, true);
}

#[test]
fn the_disk_is_full_during_an_audit() {
    disturb_all(&AUDIT, Fault::Full, true);
}

#[test]
fn an_audit_is_killed_at_every_call() {
    disturb_all(&AUDIT, Fault::Kill, true);
}

/// There, a kill between two renames leaves no report until the next run.
#[test]
fn file_systems_that_cannot_exchange_files_lose_nothing() {
    disturb_all(&AUDIT, Fault::Once, false);
    disturb_all(&AUDIT, Fault::Kill, false);
}

#[test]
fn tallies_reports_and_verdicts_are_whole() {
    disturb_all(&TALLY, Fault::Once, true);
    disturb_all(&TALLY, Fault::Once, false);
    disturb_all(&TALLY, Fault::Kill, false);
    disturb_all(&REPORT, Fault::Once, true);
    disturb_all(&CLASSIFY, Fault::Once, true);
}

#[test]
fn an_archive_is_whole() {
    disturb_all(&ARCHIVE, Fault::Once, true);
    disturb_all(&ARCHIVE, Fault::Kill, true);
}

/// What is written is on disk before its lock is released, so a run that cannot release it has succeeded.
#[test]
fn locks_of_an_archive_fail_once() {
    let stage = Stage::new(&ARCHIVE);
    let calls = (1..).take_while(|at| stage.locks_failed(*at)).count();
    assert!(calls >= 8, "only {calls} locks failed");
}

/// These two never replace anything.
#[test]
fn exports_and_configurations_are_whole_or_not_there() {
    let stage = Stage::new(&ARCHIVE);
    for command in ["robots export -q -a robots.db out", "init --root . out"] {
        for at in 1.. {
            let (directory, marks) = (stage.copy(), tempfile::tempdir().unwrap());
            let path = directory.path();
            fs::create_dir_all(path.join("var/log/nginx")).unwrap();
            fs::copy(path.join("new.log"), path.join("var/log/nginx/access.log")).unwrap();
            let mark = marks.path().join("fired");
            let mut disturbed = program(path, command);
            disturb(&mut disturbed, Fault::Once, at, &mark);
            let ran = disturbed.output().unwrap();
            let message = String::from_utf8_lossy(&ran.stderr);
            if fired(&mark).is_empty() {
                assert!(ran.status.success() && at > 2, "{command} {at}: {message}");
                break;
            }
            assert_eq!(ran.status.code(), Some(2), "{command} {at}: {message}");
            let is_named = message.contains("write out") || message.contains("robots.db");
            assert!(is_named, "{command} {at}: {message}");
            run(path, command);
        }
    }
}

#[test]
fn every_call_of_a_night_fails_once() {
    disturb_all(&NIGHTLY, Fault::Once, true);
}

#[test]
fn a_night_is_killed_at_every_call() {
    disturb_all(&NIGHTLY, Fault::Kill, true);
}
