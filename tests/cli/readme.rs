//! The README says what the program does.

use std::fs;

use botaudit::report::columns::tables::TABLES;

use crate::program::{repository, run_in};

fn readme() -> String {
    fs::read_to_string(repository().join("README.md")).unwrap()
}

#[test]
fn every_column_stands_in_the_readme_as_declared() {
    let readme = readme();
    for table in TABLES {
        assert!(readme.contains(&format!("`{}`", table.file)), "{} is missing", table.file);
        for column in table.columns {
            let row = format!("| `{}` | {} | {} |", column.name, column.unit, column.meaning);
            assert!(readme.contains(&row), "{}: missing or outdated:\n{row}", table.file);
        }
    }
}

#[test]
fn every_exit_code_is_explained() {
    let readme = readme();
    for code in ["| 0 |", "| 1 |", "| 2 |", "| 3 |"] {
        assert!(readme.contains(code), "{code}");
    }
}

/// What the first command prints.
#[test]
fn the_audit_of_the_sample_prints_what_the_readme_shows() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report").display().to_string();
    let arguments = ["audit", "--robots", "sample-data/robots", "-o", &report, "sample-data/logs"];
    let printed = run_in(repository(), &arguments, b"").stdout;
    let printed = printed.replace(&format!("report: {report}"), "report: report/");
    assert!(readme().contains(&format!("```\n{printed}```")), "{printed}");
}

/// A block that begins with `$ botaudit` shows what that prints.
#[test]
fn examples_print_what_the_readme_shows() {
    let readme = readme();
    let examples: Vec<&str> = readme.split("```\n$ botaudit ").skip(1).collect();
    assert!(examples.len() >= 2);
    for example in examples {
        let (command, rest) = example.split_once('\n').unwrap();
        let (expected, _) = rest.split_once("```").unwrap();
        let arguments: Vec<&str> = command.split(' ').collect();
        assert_eq!(run_in(repository(), &arguments, b"").stdout, expected, "{command}");
    }
}

/// A session that begins with an archive prints what it shows, command after command.
#[cfg(unix)]
#[test]
fn the_session_with_an_archive_prints_what_the_readme_shows() {
    let dir = tempfile::tempdir().unwrap();
    let sample = dir.path().join("sample-data");
    std::os::unix::fs::symlink(repository().join("sample-data"), sample).unwrap();
    let readme = readme();
    let (_, session) = readme.split_once("```console\n$ botaudit robots import ").unwrap();
    let (session, _) = session.split_once("```").unwrap();
    let session = format!("\n$ botaudit robots import {session}");
    for step in session.split("\n$ botaudit ").skip(1) {
        let (command, expected) = step.split_once('\n').unwrap();
        let arguments: Vec<&str> = command.split(' ').collect();
        let printed = run_in(dir.path(), &arguments, b"").stdout;
        assert_eq!(printed.trim_end(), expected.trim_end(), "{command}");
    }
}

/// The documentation of the library compiles its example; the README shows the same.
#[test]
fn the_library_example_is_the_tested_one() {
    let library = fs::read_to_string(repository().join("src/lib.rs")).unwrap();
    let example: String = library
        .lines()
        .skip_while(|line| *line != "//! ```")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| format!("{}\n", line.strip_prefix("//! ").unwrap_or_default()))
        .collect();
    assert!(readme().contains(&format!("```rust\n{example}```")), "{example}");
}

/// The units of the timer, as systemd itself reads them; not where there is no systemd.
#[test]
fn the_units_are_such_as_systemd_accepts() {
    let dir = tempfile::tempdir().unwrap();
    let readme = readme();
    let units = readme.split("```ini\n").skip(1).map(|unit| unit.split("```").next().unwrap());
    let mut names = Vec::new();
    for unit in units {
        let is_timer = unit.contains("[Timer]");
        let name = dir.path().join(if is_timer { "botaudit.timer" } else { "botaudit.service" });
        let program = env!("CARGO_BIN_EXE_botaudit");
        fs::write(&name, unit.replace("/usr/local/bin/botaudit", program)).unwrap();
        names.push(name);
    }
    assert_eq!(names.len(), 2);
    let mut command = std::process::Command::new("systemd-analyze");
    match command.arg("verify").args(&names).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.trim().is_empty(), "{said}");
        }
        Err(_) => eprintln!("skipped: there is no systemd-analyze"),
    }
}
