//! Identities by address ranges from a directory.

use super::program::{Ran, Sandbox, line};

pub const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
pub const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
pub const GOOGLEBOT: &str =
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
pub const BYTESPIDER: &str = "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)";

/// A line of `client` with `user_agent` for a disallowed page.
pub fn request(client: &str, user_agent: &str) -> String {
    line(10, "/private/", 200, user_agent).replacen("192.0.2.7", client, 1)
}

pub fn sandbox(log: &[String]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private/\n");
    sandbox.write("access.log", log.concat());
    sandbox
}

pub fn audit(sandbox: &Sandbox, arguments: &str) -> Ran {
    sandbox.run(&format!(
        "audit --robots robots.txt --origin https://example.com -o report {arguments} access.log"
    ))
}

pub fn identities(sandbox: &Sandbox) -> Vec<String> {
    sandbox.table("report/summary.csv").cells("crawler identity requests violations")
}

pub fn proofs(sandbox: &Sandbox) -> Vec<String> {
    sandbox.table("report/verification.csv").cells("identity proof requests")
}

/// Downloaded in the month of the log, so that there is no warning about its age.
const MANIFEST: &str = r#"{"schema_version": 1, "lists": [
    {"url": "https://openai.com/gptbot.json", "file": "gptbot.json", "fetched_at_utc": "2026-03-02T00:00:00Z", "size_bytes": 58}]}"#;
const GPTBOT_LIST: &str = r#"{"prefixes": [{"ipv4Prefix": "20.171.206.0/24"}]}         "#;

#[test]
fn lists_distinguish_a_crawler_from_its_imitations() {
    let log = [
        request("20.171.206.7", GPTBOT),
        request("::ffff:20.171.206.7", GPTBOT),
        request("203.0.113.5", GPTBOT),
        request("203.0.113.6", GPTBOT),
        request("203.0.113.7", GPTBOT),
        request("10.0.0.5", GPTBOT),
        request("crawler.example", GPTBOT),
        request("203.0.113.5", BINGBOT),
    ];
    let sandbox = sandbox(&log);
    sandbox.write("ranges/gptbot.json", GPTBOT_LIST);
    sandbox.write("ranges/manifest.json", MANIFEST);
    let ran = audit(&sandbox, "--ip-ranges ranges --evidence report/evidence.csv").exits(0);
    assert_eq!(
        identities(&sandbox),
        [
            "GPTBot | verified | 2 | 2",
            "GPTBot | spoofed | 3 | 3",
            "GPTBot | unverified | 2 | 2",
            "bingbot | unverified | 1 | 1",
        ]
    );
    // What is not spoofed is one row.
    let compliance = sandbox.table("report/origin-compliance.csv");
    assert_eq!(
        compliance.cells("origin crawler operator purpose directive group requests kept"),
        [
            "https://example.com | GPTBot | OpenAI | ai-training | disallow | * | 4 | 0",
            "https://example.com | bingbot | Microsoft | search | disallow | * | 1 | 0",
        ]
    );
    let evidence = sandbox.table("report/evidence.csv").cells("line identity");
    assert_eq!(evidence[..3], ["1 | verified", "2 | verified", "3 | spoofed"]);
    // Spoofed requests are not in the sums.
    let expected = "8 lines, 5 requests of known crawlers, 5 violations (100.0 % of those judged), 0 lines rejected\n  \
                    break rules and have not read robots.txt: GPTBot 4, bingbot 1\n  \
                    verified:   2 requests, 2 violations (100.0 % of those judged)\n  \
                    unverified: 3 requests, 3 violations (100.0 % of those judged)\n  \
                    spoofed:    3 requests, 3 violations by clients that claim to be GPTBot but are not; \
                    left out of the sums above\n";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    assert!(!ran.stdout.contains("(spoofed)"), "{}", ran.stdout);
    assert_eq!(
        ran.stderr,
        "warning: --ip-ranges has no list for bingbot; missing: https://www.bing.com/toolbox/bingbot.json\n"
    );
    let run = sandbox.json("report/run.json");
    assert_eq!(run["requests_by_identity"]["spoofed"]["violations"], 3);
    let page = sandbox.text("report/report.html");
    for part in [
        "3 requests only claimed to come from crawlers: their addresses do not belong to the operators.",
        "--ip full --evidence evidence.csv",
        "id=\"by-spoofed\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(run["options"]["ip_ranges"], "ranges");
}

#[test]
fn without_lists_the_report_says_that_nobody_was_checked() {
    let sandbox = sandbox(&[request("203.0.113.5", GPTBOT)]);
    let ran = audit(&sandbox, "--no-bundled-ranges").exits(0);
    assert!(ran.stdout.contains("  note: identities were not verified"), "{}", ran.stdout);
    assert_eq!(
        (identities(&sandbox), ran.stderr.as_str()),
        (vec!["GPTBot | unverified | 1 | 1".to_owned()], "")
    );
    assert_eq!(proofs(&sandbox), [""; 0]);
    assert!(sandbox.json("report/run.json").get("requests_by_proof").is_none());
    let notes = &sandbox.json("report/run.json")["notes"];
    assert!(notes[0].as_str().unwrap().ends_with(
        "identities were not verified: any client can \
         claim to be a crawler; use --ip-ranges or --verify-dns"
    ));
}

#[test]
fn spoofed_requests_never_fail_a_run() {
    let sandbox = sandbox(&[request("203.0.113.5", GPTBOT)]);
    sandbox.write("ranges/gptbot.json", GPTBOT_LIST);
    sandbox.write("ranges/manifest.json", MANIFEST);
    audit(&sandbox, "--ip-ranges ranges --fail-on-violations").exits(0);
    audit(&sandbox, "--fail-on-violations").exits(1);
}

#[test]
fn a_broken_or_outdated_list_is_reported() {
    let log = [
        request("203.0.113.5", GPTBOT),
        request("203.0.113.5", BINGBOT),
        request("203.0.113.5", GOOGLEBOT),
    ];
    let sandbox = sandbox(&log);
    sandbox.write("ranges/gptbot.json", "20.171.206.0/24\n<html>\n");
    let bingbot = r#"{"creationTime": "2024-01-03T10:00:00.121331", "prefixes": [{"ipv4Prefix": "157.55.39.0/24"}]}"#;
    sandbox.write("ranges/bingbot.json", bingbot);
    sandbox.write("ranges/googlebot.txt", "66.249.64.0/19");
    let manifest = MANIFEST
        .replace("gptbot.json", "bingbot.json")
        .replace("openai.com", "www.bing.com/toolbox")
        .replace("2026-03-02", "2024-05-01")
        .replace("58", &bingbot.len().to_string());
    sandbox.write("ranges/manifest.json", manifest);
    let ran = audit(&sandbox, "--ip-ranges ranges --quiet").exits(0);
    assert_eq!(
        identities(&sandbox),
        [
            "GPTBot | unverified | 1 | 1",
            "Googlebot | unverified | 1 | 1",
            "bingbot | unverified | 1 | 1"
        ]
    );
    ran.complains(
        "--ip-ranges: gptbot.json is not used to find spoofed requests of GPTBot: line \
                   2: '<html>': not an address or network",
    )
    .complains("--ip-ranges: googlebot.txt is not a list of a known crawler");
    let run = sandbox.json("report/run.json");
    assert_eq!(
        run["notes"].as_array().unwrap().last().unwrap(),
        "unverified, not spoofed: 1 request of bingbot, because address lists and DNS contradict \
         only requests within 14 days of their own time (bingbot.json is of 2024-01-03); use lists \
         of the time of the logs"
    );
}

/// A list of one network, made on `day`.
fn list(day: &str, network: &str) -> String {
    format!(
        r#"{{"creationTime": "{day}T00:00:00.000000", "prefixes": [{{"ipv4Prefix": "{network}"}}]}}"#
    )
}

/// `line` on another day.
pub fn on(day: &str, line: &str) -> String {
    line.replace("01/Mar/2026", day)
}

#[test]
fn an_address_list_contradicts_requests_of_its_own_time() {
    let of_others = |last: u8| request(&format!("203.0.113.{last}"), GPTBOT);
    let log = [
        on("24/Feb/2026", &of_others(1)),
        on("26/Feb/2026", &of_others(2)),
        on("11/Mar/2026", &of_others(3)),
        on("24/Mar/2026", &of_others(4)),
        on("26/Mar/2026", &of_others(5)),
        on("25/May/2026", &of_others(6)),
        on("25/May/2026", &request("20.171.206.7", GPTBOT)),
    ];
    let sandbox = sandbox(&log);
    sandbox.write("ranges/gptbot.json", list("2026-03-11", "20.171.206.0/24"));
    // When it was fetched changes nothing.
    let size = sandbox.text("ranges/gptbot.json").len();
    let manifest = MANIFEST.replace("2026-03-02", "2026-05-25").replace("58", &size.to_string());
    sandbox.write("ranges/manifest.json", manifest);
    let ran = audit(&sandbox, "--ip-ranges ranges --fail-on-violations").exits(1);
    let expected =
        ["GPTBot | verified | 1 | 1", "GPTBot | spoofed | 3 | 3", "GPTBot | unverified | 3 | 3"];
    assert_eq!(identities(&sandbox), expected);
    let note = "unverified, not spoofed: 3 requests of GPTBot, because address lists and DNS \
                contradict only requests within 14 days of their own time (gptbot.json is of \
                2026-03-11); use lists of the time of the logs";
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined(&ran.stdout).contains(&format!("note: {note}")), "{}", ran.stdout);
    assert!(
        joined(&ran.stdout).contains(
            "spoofed: 3 requests, 3 violations by clients that claim to be GPTBot but are not"
        ),
        "{}",
        ran.stdout
    );
    assert!(sandbox.text("report/report.html").contains("not spoofed: 3 requests of GPTBot"));
    let run = sandbox.json("report/run.json");
    assert_eq!(run["requests_contradicted_at_other_time"], 3);
    assert_eq!(run["notes"].as_array().unwrap().last().unwrap(), note);

    // Parts of the log add up to the same.
    for (part, lines) in [("1", &log[..2]), ("2", &log[2..5]), ("3", &log[5..])] {
        sandbox.write(&format!("{part}.log"), lines.concat());
        sandbox
            .run(&format!(
                "audit -q --robots robots.txt --origin https://example.com --ip-ranges ranges \
                 --partial {part}.tally {part}.log"
            ))
            .exits(0);
    }
    sandbox.run("merge -q 3.tally 1.tally 2.tally -o sum.tally").exits(0);
    sandbox.run("report sum.tally -o report2").exits(0);
    let merged = sandbox.json("report2/run.json");
    for field in ["requests_contradicted_at_other_time", "notes", "requests_by_identity"] {
        assert_eq!(merged[field], run[field], "{field}");
    }
}

#[test]
fn former_names_of_lists_are_accepted() {
    let log = [request("66.249.64.5", GOOGLEBOT), request("203.0.113.5", GOOGLEBOT)];
    let sandbox = sandbox(&log);
    sandbox.write("ranges/googlebot.json", list("2026-03-01", "66.249.64.0/24"));
    let ran = audit(&sandbox, "--ip-ranges ranges").exits(0);
    let expected = ["Googlebot | verified | 1 | 1", "Googlebot | spoofed | 1 | 1"];
    assert_eq!(
        (identities(&sandbox), ran.stderr.as_str()),
        (expected.map(str::to_owned).into(), "")
    );
}

#[test]
fn a_directory_that_is_none_stops_the_run() {
    let sandbox = sandbox(&[request("203.0.113.5", GPTBOT)]);
    audit(&sandbox, "--ip-ranges nowhere").exits(2).complains("cannot list --ip-ranges nowhere");
    sandbox.write("ranges/x", "");
    audit(&sandbox, "--ip-ranges ranges")
        .exits(2)
        .complains("contains no list of a known crawler; name each file like the URL of its list:");
    sandbox.write("ranges/manifest.json", "{");
    audit(&sandbox, "--ip-ranges ranges").exits(2).complains("manifest.json: EOF while parsing");
}

#[test]
fn the_log_of_a_proxy_is_noticed() {
    let log = [
        request("203.0.113.5", GPTBOT),
        request("203.0.113.5", BINGBOT),
        request("203.0.113.5", GOOGLEBOT),
    ];
    let sandbox = sandbox(&log);
    for name in ["gptbot.json", "bingbot.json", "common-crawlers.json"] {
        sandbox.write(&format!("ranges/{name}"), list("2026-03-01", "66.249.64.0/19"));
    }
    audit(&sandbox, "--ip-ranges ranges")
        .exits(0)
        .complains("3 crawlers look spoofed and none is verified");
}
