//! First passes collected on several machines have the same result as one audit of all the logs.

use std::fs;

use super::infer_outages::{DAY, log};
use super::names::{NameServer, Udp, ZONE, log_of_names};
use super::program::{Ran, Sandbox};

const KEY: &str = "sixteen-letters!";
const AUDIT: &str = "audit -q --robots robots.txt --origin https://a.example";
const TABLES: [&str; 5] =
    ["summary.csv", "violations.csv", "daily.csv", "robots-fetches.csv", "hourly.csv"];

/// The hour of the outage is visible only in both logs together.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /x\n");
    sandbox.write("1.log", log(&DAY[..4]));
    sandbox.write("2.log", log(&DAY[4..]));
    sandbox
}

fn collect(sandbox: &Sandbox, machine: &str, flags: &str) -> Ran {
    sandbox.run(&format!("{AUDIT} {flags} --collect {machine}.collected {machine}.log"))
}

fn read(sandbox: &Sandbox, name: &str) -> Vec<u8> {
    fs::read(sandbox.path(name)).unwrap()
}

/// The content of both frames.
fn unpacked(sandbox: &Sandbox, name: &str) -> Vec<u8> {
    let bytes = read(sandbox, name);
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    assert!(bytes.starts_with(b"botaudit collected 1 "));
    zstd::stream::decode_all(&bytes[end + 1..]).unwrap()
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The reports of both machines together, and of one audit of both logs.
#[track_caller]
fn reports(sandbox: &Sandbox, flags: &str) {
    for machine in ["1", "2"] {
        collect(sandbox, machine, &format!("{flags} --client-key {KEY}")).exits(0);
    }
    sandbox.run("merge 2.collected 1.collected -o all.collected").exits(0);
    for machine in ["1", "2"] {
        let part = format!("--collected all.collected --partial {machine}.tally {machine}.log");
        sandbox.run(&format!("{AUDIT} {flags} {part}")).exits(0);
    }
    sandbox.run("merge 1.tally 2.tally -o all.tally").exits(0);
    sandbox.run("report all.tally -o parts");
    sandbox.run(&format!("{AUDIT} {flags} -o whole 1.log 2.log"));
    for table in TABLES {
        assert_eq!(
            read(sandbox, &format!("parts/{table}")),
            read(sandbox, &format!("whole/{table}"))
        );
    }
}

#[test]
fn outages_of_several_machines_are_those_of_one_audit() {
    let sandbox = sandbox();
    reports(&sandbox, "--infer-outages");
    assert_eq!(read(&sandbox, "all.tally"), read(&sandbox, "whole/report.tally"));
    assert_eq!(sandbox.table("whole/summary.csv").sum("unreachable"), 2);
    // Neither machine alone sees it.
    sandbox.run(&format!("{AUDIT} --infer-outages -o alone 1.log")).exits(0);
    assert_eq!(sandbox.table("alone/summary.csv").sum("unreachable"), 0);
    // With it, logs are read once.
    let piped = "--infer-outages --collected all.collected -o piped --name 1.log -";
    sandbox.run_with_input(&format!("{AUDIT} {piped}"), &read(&sandbox, "1.log")).exits(0);
    assert_eq!(sandbox.table("piped/summary.csv").sum("unreachable"), 1);
}

#[test]
fn names_of_several_machines_are_those_of_one_audit() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let sandbox = sandbox();
    let lines = log_of_names();
    sandbox.write("1.log", lines[..5].concat() + &sandbox.text("1.log"));
    sandbox.write("2.log", lines[5..].concat() + &sandbox.text("2.log"));
    let dns = format!("--verify-dns --dns-server {} --dns-timeout 0.4", server.address);
    reports(&sandbox, &format!("--infer-outages {dns}"));
    let summary = sandbox.table("parts/summary.csv").cells("crawler identity requests");
    assert!(summary.contains(&"Googlebot | spoofed | 2".to_owned()), "{summary:?}");
    assert!(summary.contains(&"bingbot | verified | 1".to_owned()), "{summary:?}");
}

#[test]
fn equal_keys_give_equal_files_that_name_no_client() {
    let sandbox = sandbox();
    let flags = "--infer-outages --client-key";
    collect(&sandbox, "1", &format!("{flags} {KEY}")).exits(0);
    let first = read(&sandbox, "1.collected");
    collect(&sandbox, "1", &format!("{flags} {KEY} --threads 1")).exits(0);
    assert_eq!(read(&sandbox, "1.collected"), first);
    let text = unpacked(&sandbox, "1.collected");
    assert!(has(&text, b"https://a.example") && has(&text, b"1.log"));
    assert!(!has(&text, KEY.as_bytes()));
    for client in 1..=9_u8 {
        assert!(!has(&text, format!("192.0.2.{client}").as_bytes()));
        assert!(!has(&text, &[192, 0, 2, client]));
    }
    collect(&sandbox, "1", &format!("{flags} another-long-key")).exits(0);
    assert_ne!(read(&sandbox, "1.collected"), first);
    collect(&sandbox, "1", "--infer-outages").exits(0);
    let random = read(&sandbox, "1.collected");
    collect(&sandbox, "1", "--infer-outages").exits(0);
    assert_ne!(read(&sandbox, "1.collected"), random);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name| fs::metadata(sandbox.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("1.collected"), 0o600);
        sandbox.run("merge 1.collected -o sum.collected").exits(0);
        assert_eq!(mode("sum.collected"), 0o600);
    }
}

#[test]
fn files_that_do_not_fit_together_are_refused_and_copies_count_once() {
    let sandbox = sandbox();
    let key = format!("--infer-outages --client-key {KEY}");
    collect(&sandbox, "1", &key).exits(0);
    collect(&sandbox, "2", &key).exits(0);
    fs::copy(sandbox.path("1.collected"), sandbox.path("copy.collected")).unwrap();
    sandbox.run("merge 1.collected 2.collected copy.collected -o with.collected").exits(0);
    sandbox.run("merge 2.collected 1.collected -o without.collected").exits(0);
    assert_eq!(read(&sandbox, "with.collected"), read(&sandbox, "without.collected"));

    let merge = |other: &str| sandbox.run(&format!("merge 1.collected {other} -o x")).exits(2);
    sandbox.run(&format!("{AUDIT} {key} --collect x.collected 1.log 2.log")).exits(0);
    merge("x.collected").complains("both contain the input '1.log'");
    collect(&sandbox, "2", "--infer-outages").exits(0);
    merge("2.collected").complains("again with the same --client-key");
    collect(&sandbox, "2", &format!("{key} --dialect rfc9309")).exits(0);
    merge("2.collected").complains("the option dialect is \"google\" in the first");
    collect(&sandbox, "2", &format!("{key} --verify-dns")).exits(0);
    merge("2.collected").complains("the option verify_dns is");
    sandbox.write("crawlers.csv", "name,user_agent_regex\nAcme,acmecrawler\n");
    collect(&sandbox, "2", &format!("{key} --crawlers crawlers.csv")).exits(0);
    merge("2.collected").complains("the list of known crawlers is");
    sandbox.run(&format!("{AUDIT} --partial 2.tally 2.log")).exits(0);
    merge("2.tally").complains("1.collected is a file of audit --collect, and 2.tally is not");
    sandbox.run("merge 1.collected -o robots.txt").exits(2).complains("not written by botaudit");
    assert!(!sandbox.path("x").exists());

    // Without outages, clients need not be distinguished.
    collect(&sandbox, "1", "--verify-dns").exits(0);
    collect(&sandbox, "2", "--verify-dns").exits(0);
    sandbox.run("merge 1.collected 2.collected -o names.collected").exits(0);
}

#[test]
fn a_file_that_does_not_fit_the_audit_is_refused() {
    let sandbox = sandbox();
    collect(&sandbox, "1", "--infer-outages").exits(0);
    let audit = |flags: &str, log: &str| {
        sandbox.run(&format!("{AUDIT} --collected 1.collected {flags} -o out {log}"))
    };
    audit("--infer-outages", "1.log").exits(0);
    // Options that are not used do not matter.
    audit("--include-unbound --min-judged-rate 0", "1.log").exits(0);
    fs::remove_dir_all(sandbox.path("out")).unwrap();
    audit("--infer-outages --dialect rfc9309", "1.log")
        .exits(2)
        .complains("1.collected and this audit cannot be merged: the option dialect is");
    audit("--infer-outages --since 2026-03-05", "1.log").exits(2).complains("the option since is");
    audit("--infer-outages", "2.log").exits(2).complains("has no data of the input '2.log'");
    audit("--verify-dns", "1.log").exits(2).complains("was collected without --verify-dns");
    sandbox.write("crawlers.csv", "name,user_agent_regex\nAcme,acmecrawler\n");
    audit("--crawlers crawlers.csv", "1.log").exits(2).complains("the list of known crawlers is");

    let bytes = read(&sandbox, "1.collected");
    for cut in [0, 10, 21, 40, bytes.len() / 2, bytes.len() - 1] {
        sandbox.write("1.collected", &bytes[..cut]);
        audit("--infer-outages", "1.log").exits(2).complains("1.collected: ");
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 40) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        sandbox.write("1.collected", &flipped);
        audit("--infer-outages", "1.log").exits(2).complains("1.collected: ");
    }
    sandbox.write("1.collected", [b"botaudit collected 2\n", &bytes[21..]].concat());
    audit("--infer-outages", "1.log").exits(2).complains("another version of botaudit");
    assert!(!sandbox.path("out").exists());
}

#[test]
fn what_cannot_be_collected_is_said() {
    let sandbox = sandbox();
    collect(&sandbox, "1", "").exits(2).complains(
        "--collect has no effect alone; add \
         --infer-outages, --verify-dns or --fetch",
    );
    let short = "--infer-outages --client-key fifteen-letters";
    collect(&sandbox, "1", short).exits(2).complains("use at least 16");
    collect(&sandbox, "1", "--infer-outages --partial x").exits(2).complains("--partial");
    collect(&sandbox, "none", "--infer-outages").exits(2).complains("none.log");
    assert!(!sandbox.path("1.collected").exists() && !sandbox.path("none.collected").exists());
}
