//! `--infer-outages`: hours in which robots.txt failed for all clients, from the logs.

use std::fmt::Write;

use super::chunks::{self, Setting};
use super::program::Sandbox;

const CRAWLER: &str = "GPTBot/1.2";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// A line from `day hour:minute client status target`; the user agent is a crawler for a page.
fn line(text: &str) -> String {
    let parts: Vec<&str> = text.split(' ').collect();
    let [day, time, client, status, target] = parts[..] else { panic!("{text}") };
    let user_agent = if target.starts_with("/robots.txt") { BROWSER } else { CRAWLER };
    format!(
        "192.0.2.{client} - - [{day}/Mar/2026:{time}:00 +0000] \"GET {target} HTTP/1.1\" {status} 5 \"-\" \"{user_agent}\"\n"
    )
}

/// In the hour from 10, three clients fail to get robots.txt; from 12, two do; from 14, a fourth
/// one succeeds. There is a request in each hour.
pub const DAY: &[&str] = &[
    "05 09:59 9 200 /x",
    "05 10:00 1 503 /robots.txt",
    "05 10:10 9 200 /x",
    "05 10:20 2 429 /robots.txt",
    "05 10:30 9 200 /open",
    "05 10:59 3 500 /robots.txt",
    "05 11:00 9 200 /x",
    "05 12:00 1 503 /robots.txt",
    "05 12:10 9 200 /x",
    "05 12:20 2 503 /robots.txt",
    "05 12:30 1 503 /robots.txt",
    "05 14:00 1 503 /robots.txt",
    "05 14:01 2 503 /robots.txt",
    "05 14:02 3 503 /robots.txt",
    "05 14:10 9 200 /x",
    "05 14:30 4 304 /robots.txt",
];

const VERDICTS: &str = "allowed violations grace unreachable unknown robots_txt_requests";

pub fn log(lines: &[&str]) -> String {
    lines.iter().fold(String::new(), |mut log, text| {
        write!(log, "{}", line(text)).unwrap();
        log
    })
}

fn sandbox(lines: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /x\n");
    sandbox.write("access.log", log(lines));
    sandbox
}

/// An archive with the rows `time,status`.
fn with_archive(lines: &[&str], rows: &[&str]) -> Sandbox {
    let sandbox = sandbox(lines);
    let rows = rows.iter().map(|row| {
        let path = if row.ends_with(",200") { "robots.txt" } else { "" };
        format!("https://a.example,{row},{path}\n")
    });
    let rows: String = rows.collect();
    sandbox.write("manifest.csv", format!("origin,fetched_at,status,path\n{rows}"));
    sandbox.run("robots import -q -a db manifest.csv").exits(0);
    sandbox
}

#[track_caller]
fn check(sandbox: &Sandbox, flags: &str, expected: &str) {
    let command = format!("audit -q --origin https://a.example -o out {flags} access.log");
    // Requests that are unreachable or unknown are not judged.
    let code = if expected.starts_with("0 | 0 | 0 | ") { 3 } else { 0 };
    sandbox.run(&command).exits(code);
    assert_eq!(sandbox.table("out/summary.csv").cells(VERDICTS), [expected], "{flags}");
}

#[test]
fn an_hour_in_which_three_clients_asked_in_vain_is_unreachable() {
    let sandbox = sandbox(DAY);
    check(&sandbox, "--robots robots.txt", "1 | 5 | 0 | 0 | 0 | 0");
    let all = "--robots robots.txt --infer-outages --evidence out/all.csv";
    check(&sandbox, all, "0 | 4 | 0 | 2 | 0 | 0");
    assert_eq!(sandbox.table("out/all.csv").cells("line"), ["1", "7", "9", "15"]);
    assert_eq!(sandbox.table("out/violations.csv").sum("requests"), 4);
    let run = sandbox.json("out/run.json");
    assert_eq!(run["options"]["infer_outages"], true);
    let evidence = &run["log_evidence"];
    assert_eq!((&evidence["hours"], &evidence["origins"]), (&1.into(), &1.into()));
    assert_eq!(evidence["requests_unreachable"], 2);
    let expected = "outages from logs: hours in which all robots.txt fetches failed: 1 (origins: 1); \
                requests counted as unreachable: 2";
    let audit = "audit --robots robots.txt --origin https://a.example -o out --infer-outages";
    let ran = sandbox.run(&format!("{audit} access.log")).exits(0);
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    sandbox.write("calm.log", log(&DAY[..1]));
    let ran = sandbox.run(&format!("{audit} calm.log")).exits(0);
    let expected = "outages from logs: no hour in which all robots.txt fetches failed";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
}

#[test]
fn a_snapshot_within_the_day_wins() {
    let before = "2026-03-01T00:00:00Z,200";
    let evidence = "--robots db --infer-outages";
    for (rows, expected) in [
        (&[before][..], "0 | 4 | 0 | 2 | 0 | 0"),
        // More than a day before the start of the hour, or after its end.
        (&["2026-03-04T10:00:00Z,200"], "0 | 4 | 0 | 2 | 0 | 0"),
        (&["2026-03-04T10:00:01Z,200"], "1 | 5 | 0 | 0 | 0 | 0"),
        (&[before, "2026-03-05T10:30:00Z,200"], "1 | 5 | 0 | 0 | 0 | 0"),
        (&[before, "2026-03-06T10:59:59Z,200"], "1 | 5 | 0 | 0 | 0 | 0"),
        (&[before, "2026-03-06T11:00:00Z,200"], "0 | 4 | 0 | 2 | 0 | 0"),
        // Judged by the only snapshot, which is later.
        (&["2026-04-01T00:00:00Z,200"], "0 | 4 | 0 | 2 | 0 | 0"),
        // The archive already has the failure.
        (&["2026-03-01T00:00:00Z,503"], "0 | 0 | 0 | 6 | 0 | 0"),
        (&["2026-03-01T00:00:00Z,404"], "4 | 0 | 0 | 2 | 0 | 0"),
    ] {
        let sandbox = with_archive(DAY, rows);
        check(&sandbox, evidence, expected);
    }
    let strict = with_archive(DAY, &["2026-04-01T00:00:00Z,200"]);
    check(
        &strict,
        "--robots db --infer-outages --unknown-before-first-snapshot",
        "0 | 0 | 0 | 2 | 4 | 0",
    );
    // The archive has no snapshot of this origin, but the user named it.
    strict
        .run("robots import -q -a other --origin https://b.example --at 2026-03-01 robots.txt")
        .exits(0);
    check(&strict, "--robots other --infer-outages", "0 | 0 | 0 | 2 | 4 | 0");
    let near = with_archive(DAY, &[before, "2026-03-05T10:30:00Z,200"]);
    check(&near, evidence, "1 | 5 | 0 | 0 | 0 | 0");
    let evidence = &near.json("out/run.json")["log_evidence"];
    assert_eq!((&evidence["hours"], &evidence["hours_near_a_snapshot"]), (&0.into(), &1.into()));
}

/// In the archive, a run of failures has lasted for 30 days, so the last copy counts. The same
/// failures in the log do not close the origin again.
#[test]
fn it_makes_no_run_of_failures_younger() {
    let lines: Vec<String> = DAY.iter().map(|line| line.replacen("05", "25", 1)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let rows = ["2026-02-10T00:00:00Z,200", "2026-02-12T00:00:00Z,503"];
    let sandbox = with_archive(&lines, &rows);
    check(&sandbox, "--robots db --infer-outages", "1 | 5 | 0 | 0 | 0 | 0");
}

#[test]
fn neither_order_nor_files_nor_threads_nor_chunks_show() {
    let tables = ["summary.csv", "violations.csv", "daily.csv", "robots-fetches.csv", "all.csv"];
    let sandbox = sandbox(DAY);
    let report = |flags: &str| {
        let command = format!(
            "audit -q --robots robots.txt --origin https://a.example -o out --infer-outages \
             --evidence out/all.csv {flags}"
        );
        sandbox.run(&command).exits(0);
        tables.map(|name| sandbox.text(&format!("out/{name}")))
    };
    let expected = report("access.log");
    let setting = Setting {
        robots: "robots.txt",
        origin: Some("https://a.example"),
        infer_outages: true,
        ..Setting::default()
    };
    chunks::never_show(&sandbox, &setting, &["access.log"]);
    for flags in ["--threads 1", "--threads 3"] {
        assert_eq!(report(&format!("{flags} access.log")), expected, "{flags}");
    }
    let backwards: Vec<&str> = DAY.iter().rev().copied().collect();
    for (index, lines) in backwards.chunks(3).enumerate() {
        sandbox.write(&format!("{index}.log"), log(lines));
    }
    report("0.log 1.log 2.log 3.log 4.log 5.log");
    assert_eq!(sandbox.table("out/summary.csv").cells(VERDICTS), ["0 | 4 | 0 | 2 | 0 | 0"]);
}

/// Each host counts for itself. A host only in a target, or one that nobody named, does not count.
#[test]
fn only_our_own_hosts_show_outages() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/a.example", "User-agent: *\nDisallow: /x\n");
    sandbox.write("robots/b.example", "User-agent: *\nDisallow: /x\n");
    let in_vain = ["05 10:00 1 503 /robots.txt", "05 10:01 2 503 /robots.txt"];
    let mut log = String::new();
    for (host, clients) in [("a.example:443", 3), ("b.example:443", 2), ("c.example:443", 3)] {
        let third = ["05 10:02 3 503 /robots.txt"];
        for text in in_vain.iter().chain(third.iter().filter(|_| clients == 3)) {
            write!(log, "{host} {}", line(text)).unwrap();
        }
        write!(log, "{host} {}", line("05 10:30 9 200 /x")).unwrap();
    }
    // A request through a proxy for another host.
    let proxied = "05 10:05 3 503 /robots.txt";
    let proxied = line(proxied).replace("GET /", "GET https://b.example/");
    write!(log, "a.example:443 {proxied}").unwrap();
    // A POST of robots.txt does not count.
    let posted = line("05 10:06 7 503 /robots.txt").replace("GET", "POST");
    write!(log, "b.example:443 {posted}").unwrap();
    sandbox.write("access.log", log);
    sandbox.run("audit -q --robots robots -o out --infer-outages access.log").exits(0);
    let rows = sandbox.table("out/summary.csv").cells("origin violations unreachable unknown");
    let expected = [
        "https://a.example | 0 | 1 | 0",
        "https://b.example | 1 | 0 | 0",
        "https://c.example | 0 | 0 | 1",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_pipe_cannot_be_read_twice() {
    let sandbox = sandbox(DAY);
    let command = "audit --robots robots.txt --origin https://a.example -o out --infer-outages -";
    let ran = sandbox.run_with_input(command, log(DAY).as_bytes()).exits(2);
    ran.complains("--infer-outages reads the logs twice, but '-' can be read only once");
    assert!(!sandbox.path("out").exists());
}
