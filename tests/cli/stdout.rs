//! Standard output as an output: `-` in the place of a file.

use super::nightly::GPTBOT;
use super::program::{Ran, Sandbox, Table, line, repository};
use serde_json::Value;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(1, "/private/x", 200, GPTBOT).repeat(3));
    sandbox
}

/// The bytes that `arguments` write to standard output.
fn bytes(sandbox: &Sandbox, arguments: &str) -> Vec<u8> {
    let output = sandbox.command(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn evidence_goes_to_standard_output_and_the_summary_to_standard_error() {
    let sandbox = sandbox();
    let audit = "audit --robots robots.txt --origin https://a.example access.log";
    let Ran { stdout, stderr, .. } = sandbox.run(&format!("{audit} --evidence -")).exits(0);
    assert_eq!(Table::parse(&stdout).rows.len(), 3);
    assert!(stderr.contains("3 violations") && stderr.contains("report: "), "{stderr}");
    sandbox.run(&format!("{audit} --evidence evidence.csv")).exits(0);
    assert_eq!(stdout, sandbox.text("evidence.csv"));
    assert!(!sandbox.path("-").exists());
    let quiet = sandbox.run(&format!("{audit} --evidence - -q")).exits(0);
    assert!(!quiet.stderr.contains("3 violations"), "{}", quiet.stderr);
}

/// More rows than fit in a pipe; the reader takes only the first ones.
#[cfg(unix)]
#[test]
fn the_report_is_written_though_nobody_reads_all_evidence() {
    let sandbox = sandbox();
    sandbox.write("access.log", line(1, "/private/x", 200, GPTBOT).repeat(3000));
    let program = env!("CARGO_BIN_EXE_botaudit");
    let audit = "audit --robots robots.txt --origin https://a.example access.log --evidence -";
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(format!("{program} {audit} | head -n 1")).current_dir(sandbox.path("."));
    assert!(
        String::from_utf8(shell.output().unwrap().stdout).unwrap().starts_with("\"file\",\"line\"")
    );
    assert_eq!(sandbox.table("botaudit-report/violations.csv").cells("requests"), ["3000"]);
}

#[test]
fn tallies_and_collected_files_go_to_standard_output() {
    let sandbox = sandbox();
    let audit = "audit --robots robots.txt --origin https://a.example access.log";
    let collect = "--infer-outages --client-key 0123456789abcdef --collect";
    for (arguments, name) in
        [(format!("{audit} --partial"), "a"), (format!("{audit} {collect}"), "b")]
    {
        sandbox.run(&format!("{arguments} {name}.out")).exits(0);
        let file = std::fs::read(sandbox.path(&format!("{name}.out"))).unwrap();
        assert!(bytes(&sandbox, &format!("{arguments} -")) == file, "{arguments}");
        assert!(bytes(&sandbox, &format!("merge {name}.out -o -")) == file, "{arguments}");
    }
    sandbox
        .run(&format!("{audit} --partial - --evidence -"))
        .exits(2)
        .complains("-: cannot be both --partial and --evidence; use another --evidence");
}

#[test]
fn a_configuration_goes_to_standard_output() {
    let sandbox = sandbox();
    sandbox.write("root/var/log/nginx/access.log", "");
    let ran = sandbox.run("init --root root -").exits(0).complains("standard output: 1 site\n");
    sandbox.run("init --root root new.toml").exits(0);
    assert_eq!(ran.stdout, sandbox.text("new.toml"));
    assert!(!sandbox.path("-").exists());
}

#[test]
fn a_directory_cannot_be_standard_output() {
    let sandbox = sandbox();
    sandbox
        .run("robots import -a robots.db --origin https://a.example --at 2025-01-01 robots.txt")
        .exits(0);
    let audit = "audit --robots robots.txt access.log";
    sandbox.run(audit).exits(0);
    for (arguments, flag) in [
        (format!("{audit} -o -").as_str(), "-o"),
        ("report -o -", "-o"),
        ("robots export -a robots.db -", "DIRECTORY"),
        ("crawlers fetch-ranges -", "DIR"),
        ("man -", "DIR"),
    ] {
        let why = format!("{flag} is a directory and cannot be written to standard output (-)");
        sandbox.run(arguments).exits(2).complains(&why);
    }
    let cache = "--verify-dns --dns-cache -";
    sandbox.run(&format!("{audit} {cache}")).exits(2).complains("is also an input");
    assert!(!sandbox.path("-").exists());
}

/// The audit of the sample data with more arguments.
fn sample_audit(sandbox: &Sandbox, arguments: &str) -> Ran {
    let (robots, logs) = ("sample-data/robots", "sample-data/logs");
    let mut command = sandbox.command(&format!("audit --robots {robots} {logs} {arguments}"));
    let output = command.current_dir(repository()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    Ran { code: 0, stdout, stderr }
}

/// CSV cells in JSON: numbers are JSON numbers, text is as people read it.
#[test]
fn json_is_run_json_and_all_tables() {
    let sandbox = Sandbox::new();
    let report = sandbox.path("report");
    let ran = sample_audit(&sandbox, &format!("--format json -o {}", report.display()));
    assert!(ran.stderr.contains("167 violations"), "{}", ran.stderr);
    let mut json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let tables = json.as_object_mut().unwrap().remove("tables").unwrap();
    assert_eq!(json, sandbox.json("report/run.json"));
    let jsonl = sandbox.run("report report --format jsonl").exits(0).stdout;
    let mut expected = serde_json::Map::new();
    for name in sandbox.names("report").iter().filter_map(|name| name.strip_suffix(".csv")) {
        expected.insert(name.to_owned(), Value::Array(Vec::new()));
    }
    for line in jsonl.lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let table = row.as_object_mut().unwrap().remove("table").unwrap();
        expected[table.as_str().unwrap()].as_array_mut().unwrap().push(row);
    }
    assert_eq!(tables, Value::Object(expected));
    assert_eq!(tables["summary"][0]["requests"].as_u64(), Some(5));
    // The other commands and formats give the same.
    assert_eq!(sample_audit(&sandbox, "--format jsonl -q").stdout, jsonl);
    let again = sandbox.run("report report --format json").exits(0).stdout;
    let without_time = |text: &str| {
        text.lines().filter(|line| !line.contains("made_at_utc")).map(str::to_owned).collect()
    };
    let (again, first): (Vec<_>, Vec<_>) = (without_time(&again), without_time(&ran.stdout));
    assert_eq!(again, first);
}

#[test]
fn without_o_json_writes_no_report_but_still_fails_on_conditions() {
    let sandbox = sandbox();
    let audit = "audit --robots robots.txt --origin https://a.example access.log";
    for format in ["json", "jsonl"] {
        let ran = sandbox.run(&format!("{audit} --format {format} --fail-on-violations")).exits(1);
        assert!(ran.stdout.contains("\"violations\":3"), "{}", ran.stdout);
        assert!(!ran.stderr.contains("report:"), "{}", ran.stderr);
    }
    assert_eq!(sandbox.names("."), ["access.log", "robots.txt"]);
    let two = sandbox.run(&format!("{audit} --format json --evidence -")).exits(2);
    two.complains("-: cannot be both --format and --evidence");
    sandbox.run(&format!("{audit} --format json --partial x")).exits(2).complains("cannot be used");
    sandbox.run(&format!("{audit} --format json --evidence e.csv")).exits(0);
    assert_eq!(sandbox.table("e.csv").rows.len(), 3);
    sandbox.run(&format!("{audit} --format text")).exits(0);
    assert!(sandbox.path("botaudit-report/run.json").exists());
}

#[test]
fn evidence_without_a_directory_for_its_temporary_file_names_the_directory() {
    let sandbox = sandbox();
    let mut command = sandbox.command("audit --robots robots.txt --evidence - access.log");
    let ran = command.env("TMPDIR", sandbox.path("gone")).output().unwrap();
    let message = String::from_utf8(ran.stderr).unwrap();
    assert!(message.contains("set TMPDIR to another directory than "), "{message}");
    assert!(message.contains("gone: No such file"), "{message}");
}
