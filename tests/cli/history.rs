//! Audits and checks with an archive: each request is judged by the ruling in force at its time.

use std::fmt::Write;

use super::chunks::{self, Setting};
use super::program::Sandbox;

const HEADER: &str = "origin,fetched_at,status,path,max_age\n";

/// An archive from the rows of a manifest; `open.txt` allows everything but `/closed`, `closed.txt`
/// nothing.
fn archive(rows: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("open.txt", "User-agent: *\nDisallow: /closed\n");
    sandbox.write("closed.txt", "User-agent: *\n\nDisallow: /\n");
    sandbox.write("manifest.csv", format!("{HEADER}{rows}"));
    sandbox.run("robots import -q -a db manifest.csv").exits(0);
    sandbox
}

/// Requests of GPTBot to `https://a.example`, as `02/Mar/2026:00:00:00 /path`.
fn log(requests: &[&str]) -> String {
    requests.iter().fold(String::new(), |mut log, request| {
        let (time, target) = request.split_once(' ').unwrap();
        writeln!(
            log,
            "192.0.2.1 - - [{time} +0000] \"GET {target} HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\""
        )
        .unwrap();
        log
    })
}

const HISTORY: &str = "https://a.example,2026-03-01,200,open.txt,\n\
                       https://a.example,2026-03-05,200,closed.txt,\n\
                       https://a.example,2026-03-10,503,,\n\
                       https://a.example,2026-03-12,200,closed.txt,\n\
                       https://a.example,2026-03-20,404,,\n\
                       https://a.example,2026-03-25,timeout,,\n";

const REQUESTS: &[&str] = &[
    "27/Feb/2026:00:00:00 /closed",
    "02/Mar/2026:00:00:00 /closed",
    "02/Mar/2026:00:00:00 /open",
    "05/Mar/2026:12:00:00 /open",
    "05/Mar/2026:12:00:00 /closed",
    "07/Mar/2026:00:00:00 /open",
    "11/Mar/2026:00:00:00 /open",
    "11/Mar/2026:00:00:00 /robots.txt",
    "13/Mar/2026:00:00:00 /open",
    "21/Mar/2026:00:00:00 /closed",
    "26/Mar/2026:00:00:00 /open",
];

const AUDIT: &str = "audit -q --robots db --origin https://a.example -o out";

const VERDICTS: &str = "allowed violations grace unreachable unknown robots_txt_requests";

#[track_caller]
fn check(more: &str, expected: &str) -> Sandbox {
    let sandbox = archive(HISTORY);
    sandbox.write("access.log", log(REQUESTS));
    sandbox.run(&format!("{AUDIT} {more} access.log")).exits(0);
    assert_eq!(sandbox.table("out/summary.csv").cells(VERDICTS), [expected], "{more}");
    sandbox
}

#[test]
fn each_request_is_judged_by_what_was_in_force_when_it_was_made() {
    let sandbox = check("--evidence out/all.csv", "2 | 5 | 1 | 2 | 0 | 1");
    let columns = "rule_line requests snapshot_fetched_utc snapshot_age_seconds";
    let mut rows = sandbox.table("out/violations.csv").cells(columns);
    rows.sort();
    let expected =
        ["2 | 2 | 2026-03-01T00:00:00Z | -172800", "3 | 3 | 2026-03-05T00:00:00Z | 43200"];
    assert_eq!(rows, expected);
    let evidence = sandbox.table("out/all.csv");
    let expected = [
        "1 | 2026-03-01T00:00:00Z | -172800",
        "2 | 2026-03-01T00:00:00Z | 86400",
        "5 | 2026-03-05T00:00:00Z | 43200",
        "6 | 2026-03-05T00:00:00Z | 172800",
        "9 | 2026-03-12T00:00:00Z | 86400",
    ];
    assert_eq!(evidence.cells("line snapshot_fetched_utc snapshot_age_seconds"), expected);
}

#[test]
fn the_report_says_what_was_in_force_and_how_many_requests_came_before() {
    let sandbox = check("", "2 | 5 | 1 | 2 | 0 | 1");
    let run = sandbox.json("out/run.json");
    let archive = &run["archive"];
    assert_eq!(archive["requests_before_first_snapshot"], 1);
    let in_force = &archive["in_force"][0];
    assert_eq!(in_force["origin"], "https://a.example");
    let outcomes: Vec<&str> = in_force["earliest"]
        .as_array()
        .unwrap()
        .iter()
        .map(|snapshot| snapshot["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["200", "200", "503", "200", "404", "timeout"]);
    let sources: Vec<&str> = run["robots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|robots| robots["source"].as_str().unwrap())
        .collect();
    let expected = [
        "db: https://a.example at 2026-03-01T00:00:00Z",
        "db: https://a.example at 2026-03-05T00:00:00Z",
    ];
    assert_eq!(sources, expected);
    let expected = "requests older than the first snapshot of their robots.txt: 1; they were judged \
                by";
    sandbox.run(&format!("{AUDIT} access.log")).exits(0).complains(expected);
}

#[test]
fn nothing_is_known_before_the_first_snapshot_where_that_is_asked_for() {
    let sandbox = check("--unknown-before-first-snapshot", "2 | 4 | 1 | 2 | 1 | 1");
    let expected = "older than the first snapshot of their robots.txt: 1; they were counted as \
                unknown";
    sandbox
        .run(&format!("{AUDIT} --unknown-before-first-snapshot access.log"))
        .exits(0)
        .complains(expected);
}

#[test]
fn neither_threads_nor_chunks_show() {
    let many: Vec<String> = (0..500)
        .map(|i: u32| {
            let path = ["/closed", "/open", "/robots.txt"][i as usize % 3];
            format!("{:02}/Mar/2026:{:02}:{:02}:00 {path}/", i % 30 + 1, i % 24, i % 60)
        })
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let sandbox = archive(HISTORY);
    sandbox.write("access.log", log(&many));
    let report = |more: &str| {
        sandbox.run(&format!("{AUDIT} {more} access.log")).exits(0);
        ["summary.csv", "violations.csv", "daily.csv"]
            .map(|name| sandbox.text(&format!("out/{name}")))
    };
    let expected = report("--threads 1");
    assert_eq!(report("--threads 3"), expected);
    let setting = Setting { robots: "db", origin: Some("https://a.example"), ..Setting::default() };
    chunks::never_show(&sandbox, &setting, &["access.log"]);
}

#[test]
fn a_crawl_delay_is_that_in_force() {
    let sandbox = Sandbox::new();
    sandbox.write("old.txt", "User-agent: *\nCrawl-delay: 3600\nDisallow: /a\n");
    sandbox.write("new.txt", "User-agent: *\nDisallow: /a\n");
    sandbox.write(
        "manifest.csv",
        format!(
            "{HEADER}https://a.example,2026-03-01,200,old.txt,\n\
             https://a.example,2026-03-05,200,new.txt,\n"
        ),
    );
    sandbox.run("robots import -q -a db manifest.csv").exits(0);
    let requests = ["02/Mar/2026:00:00:00 /", "02/Mar/2026:00:00:01 /", "06/Mar/2026:00:00:00 /"];
    sandbox.write("access.log", log(&requests));
    sandbox.run(&format!("{AUDIT} access.log")).exits(0);
    let delays = sandbox.table("out/crawl-delay.csv");
    assert_eq!(delays.cells("delay_line requests over_hourly"), ["2 | 2 | 1"]);
}

#[test]
fn a_check_asks_what_was_in_force_at_a_time() {
    let sandbox = archive(HISTORY);
    let check = |url: &str, at: &str, code, expected: &[&str]| {
        let command = format!("check {url} --crawler GPTBot --robots db --at {at}");
        let ran = sandbox.run(&command).exits(code);
        for words in expected {
            assert!(ran.stdout.contains(words), "{words:?} is not in:\n{}", ran.stdout);
        }
        ran.stdout
    };
    let (open, closed) = ("https://a.example/open", "https://a.example/closed");
    let snapshot = "snapshot    200, fetched 2026-03-01T00:00:00Z  (24 hours)\n";
    check(open, "2026-03-02", 0, &["allowed for GPTBot: no rule", snapshot]);
    check(closed, "2026-03-02", 1, &["DISALLOWED for GPTBot by line 2: Disallow: /closed"]);
    let later = "fetched 2 days later; there is no older snapshot, so this one is used";
    check(closed, "2026-02-27", 1, &[later]);
    let grace = "crawlers may still use an earlier robots.txt that allows it: not a violation yet";
    check(open, "2026-03-05T12:00:00Z", 1, &["DISALLOWED", grace]);
    assert!(!check(open, "2026-03-07", 1, &["DISALLOWED"]).contains(grace));
    check(
        open,
        "2026-03-11",
        1,
        &[
            "503, fetched",
            "robots.txt could not be fetched, so \
         everything is disallowed for now",
        ],
    );
    check("https://a.example/robots.txt", "2026-03-11", 0, &["may always be requested"]);
    check(closed, "2026-03-21", 0, &["there is no robots.txt, so everything is allowed"]);
    check(
        "https://b.example/",
        "2026-03-21",
        2,
        &["the archive has no snapshot of \
         https://b.example"],
    );
    // Now: the last answer is old, and before it there was no file.
    let now = sandbox.run(&format!("check {closed} --crawler GPTBot --robots db -q")).exits(0);
    assert!(now.stdout.starts_with("allowed     -"), "{}", now.stdout);
    let json = format!(
        "check {open} --crawler GPTBot --robots db --format jsonl --at 2026-03-05T12:00:00Z"
    );
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run(&json).exits(1).stdout).unwrap();
    assert_eq!(json["in_force"]["snapshot_age_seconds"], 43_200);
    assert_eq!(json["in_force"]["grace"], true);
    let undated = "check https://a.example/ --crawler GPTBot --robots open.txt --at 2026-03-05";
    sandbox.run(undated).exits(2).complains(
        "--at needs an archive as --robots; create one with \
         botaudit robots import or fetch",
    );
}

#[test]
fn a_file_that_is_too_long_has_one_digest_in_a_directory_and_an_archive() {
    let sandbox = Sandbox::new();
    let text = "User-agent: *\nDisallow: /\n".to_owned() + &"# more\n".repeat(100_000);
    sandbox.write("robots/a.example.txt", text);
    sandbox.write("access.log", log(&["02/Mar/2026:00:00:00 /x"]));
    sandbox.run("robots import -q -a db --at 2026-03-01T00:00:00Z robots").exits(0);
    let digest = |robots: &str| {
        let audit = "--origin https://a.example -o out access.log";
        sandbox.run(&format!("audit -q --robots {robots} {audit}")).exits(0);
        sandbox.table("out/violations.csv").cells("robots_digest")[0].to_owned()
    };
    assert_eq!(digest("robots"), digest("db"));
}
