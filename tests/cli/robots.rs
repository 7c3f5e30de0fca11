//! `botaudit robots`: an archive from import to export, and the output of each command.

use super::program::{Ran, Sandbox, line};

/// An archive of one origin: a file, its successor, a day without an answer, and no file.
fn archive() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("one.txt", "User-agent: *\nDisallow: /a\nDisallow: /b\n");
    sandbox.write("two.txt", "User-agent: *\nDisallow: /a\nAllow: /c\n");
    sandbox.write(
        "manifest.csv",
        "origin,fetched_at,status,path,max_age\n\
         https://a.example,2026-01-01,200,one.txt,\n\
         https://a.example,2026-01-02,200,one.txt,\n\
         https://a.example,2026-03-01T01:00:00Z,200,two.txt,7200\n\
         https://a.example,2026-03-10,timeout,,\n\
         https://a.example,2026-05-01,404,,\n\
         http://b.example,2026-03-01,503,,\n",
    );
    let ran = sandbox.run("robots import -a db manifest.csv").exits(0);
    assert_eq!(ran.stdout, "6 snapshots added (2 new versions); 0 duplicates skipped\n");
    let again = sandbox.run("robots import -a db manifest.csv").exits(0);
    assert_eq!(again.stdout, "0 snapshots added (0 new versions); 6 duplicates skipped\n");
    sandbox
}

#[track_caller]
fn says(ran: &Ran, expected: &[&str]) {
    for words in expected {
        assert!(ran.stdout.contains(words), "{words:?} is not in:\n{}", ran.stdout);
    }
}

#[test]
fn an_archive_is_listed_and_shown() {
    let sandbox = archive();
    let listed = sandbox.run("robots list -a db").exits(0).stdout;
    let expected = "\
snapshots  versions  first                 last                  outcome           origin
        1         0  2026-03-01T00:00:00Z  2026-03-01T00:00:00Z  503               http://b.example
        5         2  2026-01-01T00:00:00Z  2026-05-01T00:00:00Z  404               https://a.example
";
    assert_eq!(listed, expected);
    let quiet = sandbox.run("robots list -qa db").exits(0);
    assert_eq!(quiet.stdout, "http://b.example\nhttps://a.example\n");
    let shown = sandbox.run("robots show -a db a.example --at 2026-02-01").exits(0);
    assert_eq!(shown.stdout, sandbox.text("one.txt"));
    let words = "https://a.example, fetched 2026-01-02T00:00:00Z: 200, 40 bytes, sha256:";
    shown.complains(words);
    let shown = sandbox.run("robots show -a db https://a.example/robots.txt").exits(0);
    assert_eq!(shown.stdout, "");
    shown.complains("fetched 2026-05-01T00:00:00Z: 404, from manifest.csv");
}

#[test]
fn versions_are_listed_with_their_changes() {
    let sandbox = archive();
    let ran = sandbox.run("robots log -a db a.example").exits(0);
    let newest_first =
        ["2026-05-01", "2026-03-10", "2026-03-01T01:00:00Z  200  37 bytes", "2026-01-01"];
    let positions: Vec<usize> = newest_first.map(|time| ran.stdout.find(time).unwrap()).to_vec();
    assert!(positions.is_sorted(), "{}", ran.stdout);
    says(
        &ran,
        &[
            "  rules   2 added, 0 removed, 0 as before\n  seen    2 times until 2026-01-02T00:00:00Z\n",
            "  rules   1 added, 1 removed, 1 as before\n  source  manifest.csv\n",
        ],
    );
    let diff = sandbox.run("robots diff -a db a.example 2026-02-01 2026-03-02").exits(0);
    let expected = "\
--- https://a.example/robots.txt\t2026-01-02T00:00:00Z
+++ https://a.example/robots.txt\t2026-03-01T01:00:00Z
@@ -1,3 +1,3 @@
 User-agent: *
 Disallow: /a
-Disallow: /b
+Allow: /c
";
    assert_eq!(diff.stdout, expected);
    assert_eq!(
        sandbox.run("robots diff -a db a.example 2026-01-01 2026-02-01").exits(0).stdout,
        ""
    );
    let diff = sandbox.run("robots diff -a db a.example 2026-03-02").exits(0);
    says(&diff, &["@@ -1,3 +0,0 @@", "-Allow: /c"]);
    diff.complains("answered 200 at 2026-03-01T01:00:00Z, and 404 at 2026-05-01T00:00:00Z");
}

#[test]
fn rulings_are_explained() {
    let sandbox = archive();
    let at = |time: &str| sandbox.run(&format!("robots at -a db a.example {time}")).exits(0);
    says(&at("2026-02-01"), &["ruling    the rules of sha256:", "(40 bytes)", "age       30 days"]);
    says(
        &at("2026-03-01T12:00:00Z"),
        &[
            "(37 bytes)",
            "age       11 hours",
            "held      crawlers may still use: the rules of",
            "(40 bytes)",
        ],
    );
    assert!(!at("2026-03-02T01:00:01Z").stdout.contains("held"));
    says(
        &at("2026-04-09"),
        &["ruling    unreachable", "since 2026-03-10T00:00:00Z, 30 days: everything is disallowed"],
    );
    says(
        &at("2026-04-10"),
        &[
            "ruling    the rules of",
            "(37 bytes)",
            "after 30 days the last copy is in force \
             again, if there is one",
        ],
    );
    says(
        &at("2026-05-02"),
        &["ruling    everything allowed: there is no robots.txt", "404, from manifest.csv"],
    );
    says(&at("2025-01-01"), &["(40 bytes)", "fetched 365 days later"]);
    let strict = "robots at -a db a.example 2025-01-01 --unknown-before-first-snapshot";
    says(
        &sandbox.run(strict).exits(2),
        &["\n  unknown: no snapshot at or before this time (the first is from"],
    );
    let unreachable = sandbox.run("robots at -a db http://b.example 2026-04-01").exits(0);
    says(
        &unreachable,
        &["everything allowed: unreachable for more than 30 days, without an older copy"],
    );
}

#[test]
fn what_is_exported_is_imported_back() {
    let sandbox = archive();
    let ran = sandbox.run("robots export -a db out").exits(0);
    assert_eq!(ran.stdout, "6 snapshots written to out\n");
    assert_eq!(sandbox.names("out"), ["https_a.example_443", "manifest.csv"]);
    sandbox.run("robots import -a db2 out/manifest.csv").exits(0);
    let log = |db: &str| sandbox.run(&format!("robots log -a {db} a.example")).exits(0).stdout;
    assert_eq!(log("db"), log("db2"));
    sandbox.run("robots import -a db3 out").exits(0);
    assert_eq!(log("db3"), log("db"));
    // The names of its folders and files are sufficient, too.
    std::fs::remove_file(sandbox.path("out/manifest.csv")).unwrap();
    sandbox.run("robots import -a db4 out").exits(0);
    let shown = sandbox.run("robots show -a db4 a.example").exits(0);
    assert_eq!(shown.stdout, sandbox.text("two.txt"));
}

#[test]
fn every_robots_option_accepts_an_archive() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /a\n");
    let import = "robots import -qa db --origin https://a.example --at 2026-01-01 robots.txt";
    sandbox.run(import).exits(0);
    let checked = sandbox.run("check https://a.example/a --token x --robots db").exits(1);
    says(&checked, &["DISALLOWED", "db: https://a.example"]);
    sandbox.run("check https://b.example/a --token x --robots db").exits(2);
    sandbox.write("access.log", line(0, "/a", 200, "GPTBot/1.0"));
    sandbox.run("audit --robots db --origin https://a.example access.log").exits(0);
    let violations = sandbox.table("botaudit-report/violations.csv");
    assert_eq!(violations.cells("origin requests"), ["https://a.example | 1"]);
}

#[test]
fn errors_say_what_to_do() {
    let sandbox = archive();
    sandbox.write("robots.txt", "User-agent: *\n");
    sandbox.write(
        "bad.csv",
        "origin,fetched_at,status,path\nhttps://c.example,2026-01-01,404,\nx,y,z,\n",
    );
    for (arguments, code, expected) in [
        ("robots show -a db c.example", 2, "db has no snapshot of https://c.example"),
        ("robots show -a db b.example", 2, "it has http://b.example"),
        ("robots show -a db a.example --at 2025-01-01", 2, "the first is from 2026-01-01"),
        (
            "robots show -a db a.example --at soon",
            2,
            "'soon' is not a valid time; write 2025-01-31T12:00:00Z",
        ),
        ("robots show -a db a_b://x/", 2, "' is not a valid origin; write https://example.com"),
        ("robots list -a gone", 2, "cannot read gone: "),
        (
            "robots list -a robots.txt",
            2,
            "robots.txt: is not an archive; create one with: botaudit robots import",
        ),
        (
            "robots import -a robots.txt manifest.csv",
            2,
            "robots.txt: is not an archive; not overwritten",
        ),
        ("robots import -a new robots.txt", 2, "add --origin https://example.com"),
        ("robots import -a new --origin a.example robots.txt", 2, "add --at 2025-01-31"),
        ("robots import -a new gone", 2, "cannot read gone: "),
        ("robots import -a new bad.csv", 3, "bad.csv:3: 'x' is not a valid origin"),
        ("robots import -a new --git robots.txt", 2, "--origin"),
        ("robots export -a db .", 2, "is not empty"),
    ] {
        sandbox.run(arguments).exits(code).complains(expected);
    }
    assert_eq!(sandbox.run("robots list -qa new").stdout, "https://c.example\n");
    assert_eq!(sandbox.text("robots.txt"), "User-agent: *\n");
}

/// A program that is killed during an import loses at most one batch.
#[test]
fn a_killed_import_leaves_whole_batches() {
    let sandbox = Sandbox::new();
    let mut manifest = "origin,fetched_at,status,path\n".to_owned();
    for n in 0..60_000 {
        manifest.push_str(&format!("https://{n}.example,2026-01-01,404,\n"));
    }
    sandbox.write("manifest.csv", manifest);
    for pause in [30, 100, 300] {
        let mut child = sandbox.command("robots import -qa db manifest.csv").spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
        if sandbox.path("db").exists() {
            // If it is killed before the first write, the file is empty.
            let counted = sandbox.run("robots list -qa db");
            let is_empty = std::fs::metadata(sandbox.path("db")).unwrap().len() == 0;
            let rows = counted.stdout.lines().count();
            assert_eq!(counted.code, if is_empty { 2 } else { 0 }, "{}", counted.stderr);
            assert!(rows == 0 || rows == 60_000, "{rows}");
        }
    }
    sandbox.run("robots import -qa db manifest.csv").exits(0);
    assert_eq!(sandbox.run("robots list -qa db").exits(0).stdout.lines().count(), 60_000);
}

#[test]
fn an_archive_in_a_directory_that_does_not_exist_is_refused() {
    let sandbox = archive();
    let import = "robots import -a gone/db --origin https://a.example --at 2026-01-01 one.txt";
    sandbox.write("one.txt", "User-agent: *\nDisallow: /a\n");
    let why = "gone/db: cannot open the archive: its directory does not exist; create it first";
    sandbox.run(import).exits(2).complains(why);
}

#[test]
fn a_warc_file_that_is_damaged_from_the_start_is_no_robots_txt() {
    let sandbox = Sandbox::new();
    for (name, content, why) in [
        ("a.warc", "<html>", "a.warc: no record starts at byte 0"),
        ("b.warc.gz", "\x1f\u{8}\u{8}\0damaged", "b.warc.gz: "),
    ] {
        sandbox.write(name, content);
        let ran = sandbox.run(&format!("robots import -a db --origin https://a.example {name}"));
        assert!(ran.exits(3).complains(why).stdout.starts_with("0 snapshots added"));
    }
}
