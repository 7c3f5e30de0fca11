//! The same lines in several logs are counted once, and the report says which log was left out.

use std::fs;

use flate2::Compression;

use super::program::{Ran, Sandbox, gzip, line};

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox
}

/// So many violations, from second `first` on.
fn lines(first: u32, count: u32) -> String {
    (first..first + count).map(|second| line(second, "/private", 200, BINGBOT)).collect()
}

fn audit(sandbox: &Sandbox, arguments: &str) -> Ran {
    sandbox.run(&format!("audit --robots robots.txt -o report {arguments}"))
}

/// The lines, the violations and the notes of an audit with `arguments`.
fn counts(sandbox: &Sandbox, arguments: &str) -> (u64, u64, Vec<String>) {
    audit(sandbox, arguments).exits(0);
    let run = sandbox.json("report/run.json");
    let notes = run["notes"].as_array().unwrap().iter();
    let notes = notes.map(|note| note.as_str().unwrap().to_owned());
    let notes = notes.filter(|note| note.contains("was not counted")).collect();
    let lines = run["lines"]["lines"].as_u64().unwrap();
    (lines, sandbox.table("report/summary.csv").sum("violations"), notes)
}

fn note(name: &str, of: &str) -> String {
    format!("{name} was not counted: {of} contains all of it")
}

#[test]
fn a_log_and_its_compressed_copy_are_counted_once() {
    let sandbox = sandbox();
    sandbox.write("logs/access.log", lines(0, 100));
    sandbox.write_gz("logs/access.log.gz", lines(0, 100));
    let expected = |name: &str| (100, 100, vec![note(&format!("{name}.gz"), name)]);
    let log = "logs/access.log";
    for arguments in [
        "logs/access.log logs/access.log.gz",
        "logs/access.log.gz logs/access.log",
        "logs",
        "logs/*",
    ] {
        for threads in [1, 3] {
            let arguments = format!("--threads {threads} {arguments}");
            assert_eq!(counts(&sandbox, &arguments), expected(log), "{arguments}");
        }
    }
    let ran = audit(&sandbox, "logs");
    assert!(ran.stdout.contains(&note("logs/access.log.gz", log)), "{}", ran.stdout);
    assert!(sandbox.text("report/report.html").contains("was not counted: "));
    let inputs = &sandbox.json("report/run.json")["inputs"];
    assert_eq!((inputs.as_array().unwrap().len(), &inputs[0]["name"]), (1, &log.into()));
    // Other compressions, and links.
    sandbox.write("logs/access.log.zst", zstd::encode_all(lines(0, 100).as_bytes(), 1).unwrap());
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    std::io::Write::write_all(&mut bzip2, lines(0, 100).as_bytes()).unwrap();
    sandbox.write("logs/access.log.bz2", bzip2.finish().unwrap());
    #[cfg(unix)]
    std::os::unix::fs::symlink("access.log", sandbox.path("logs/linked.log")).unwrap();
    fs::hard_link(sandbox.path(log), sandbox.path("logs/hard.log")).unwrap();
    let (lines, violations, notes) = counts(&sandbox, "logs");
    assert_eq!((lines, violations, notes.len()), (100, 100, 4), "{notes:?}");
}

#[test]
fn the_beginning_of_a_log_is_counted_once_and_logs_that_begin_alike_are_two() {
    let sandbox = sandbox();
    let begun = lines(0, 60);
    // A copy that was made while the log grew, also in the middle of a line.
    sandbox.write("copied.log", &begun[..begun.len() - 30]);
    sandbox.write("grown.log", lines(0, 100));
    let expected = (100, 100, vec![note("copied.log", "grown.log")]);
    assert_eq!(counts(&sandbox, "copied.log grown.log"), expected);
    assert_eq!(counts(&sandbox, "grown.log copied.log"), expected);
    sandbox.write("other.log", begun + &lines(5_000, 10));
    let (lines, violations, notes) = counts(&sandbox, "copied.log grown.log other.log");
    assert_eq!((lines, violations, notes.len()), (170, 170, 1), "{notes:?}");
    let (lines, violations, notes) = counts(&sandbox, "grown.log other.log");
    assert_eq!((lines, violations, notes), (170, 170, Vec::new()));
}

#[test]
fn a_copy_that_is_being_compressed_is_no_damage_but_another_damaged_copy_is() {
    let sandbox = sandbox();
    sandbox.write("access.log.1", lines(0, 1_000));
    let whole = gzip(lines(0, 1_000).as_bytes());
    sandbox.write("access.log.1.gz", &whole[..whole.len() / 2]);
    let (lines, ..) = counts(&sandbox, "access.log.1 access.log.1.gz");
    assert_eq!(lines, 1_000);
    sandbox.write("other.gz", &whole[..whole.len() / 2]);
    let ran = audit(&sandbox, "access.log.1 other.gz").exits(3);
    let expected = "other.gz was not counted: access.log.1 contains all that can be read of it \
                    (truncated gzip stream at byte ";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    assert_eq!(sandbox.json("report/run.json")["complete"], false);
}

#[test]
fn a_short_log_is_a_copy_only_by_its_name() {
    let sandbox = sandbox();
    sandbox.write("access.log", lines(0, 3));
    sandbox.write("access.log.1", lines(0, 2));
    sandbox.write_gz("access.log.1.gz", lines(0, 2));
    let (total, _, notes) = counts(&sandbox, "access.log access.log.1 access.log.1.gz");
    assert_eq!((total, notes.len()), (3, 2), "{notes:?}");
    sandbox.write("other.log", lines(0, 2));
    let ran = audit(&sandbox, "access.log other.log").exits(0);
    ran.complains("warning: other.log was counted, though access.log begins with the same lines");
    assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 5);
}

#[test]
fn a_pipe_that_repeats_a_log_is_refused() {
    let sandbox = sandbox();
    sandbox.write("access.log", lines(0, 1_000));
    let run = "audit --robots robots.txt -o report - access.log";
    let ran = sandbox.run_with_input(run, lines(0, 1_000).as_bytes()).exits(2);
    let ran = ran.complains("the input '-' begins with all lines of the input 'access.log'");
    assert!(ran.stderr.contains("leave one of the two out"), "{}", ran.stderr);
    assert_eq!(sandbox.names("."), ["access.log", "robots.txt"]);
    sandbox.run_with_input(run, lines(0, 900).as_bytes()).exits(2);
    sandbox.run_with_input(run, lines(5_000, 1_000).as_bytes()).exits(0);
}

#[test]
fn tallies_of_the_same_content_are_not_merged() {
    let sandbox = sandbox();
    let partial = |tally: &str, log: &str| {
        sandbox.run(&format!("audit --robots robots.txt --partial {tally} {log}")).exits(0)
    };
    sandbox.write("access.log", lines(0, 1_000));
    sandbox.write_gz("copy.gz", lines(0, 1_000));
    sandbox.write("grown.log", lines(0, 1_500));
    sandbox.write("other.log", lines(5_000, 1_000));
    for name in ["access.log", "copy.gz", "grown.log", "other.log"] {
        partial(&format!("{name}.tally"), name);
    }
    let merge = |tallies: &str| sandbox.run(&format!("merge {tallies} -o all.tally"));
    merge("access.log.tally other.log.tally").exits(0);
    for tallies in
        ["access.log.tally copy.gz.tally", "copy.gz.tally other.log.tally access.log.tally"]
    {
        let expected = "the input 'access.log' of access.log.tally begins with all lines of the \
                        input 'copy.gz' of copy.gz.tally, so these lines would count twice";
        merge(tallies).exits(2).complains(expected);
        let report = format!("report {tallies} -o merged");
        sandbox.run(&report).exits(2).complains(expected);
    }
    merge("grown.log.tally copy.gz.tally").exits(2).complains("the input 'grown.log' of");
    // A tally of both knows, and the report of tallies says so.
    let ran = partial("both.tally", "access.log copy.gz");
    ran.complains("note: copy.gz was not counted: access.log contains all of it");
    merge("both.tally other.log.tally").exits(0);
    sandbox.run("report all.tally -o merged").exits(0);
    assert_eq!(sandbox.table("merged/summary.csv").sum("violations"), 2_000);
    assert!(sandbox.text("merged/run.json").contains(&note("copy.gz", "access.log")));
    // Short ones by their names.
    sandbox.write("short.log", lines(0, 2));
    sandbox.write_gz("short.log.1.gz", lines(0, 2));
    sandbox.write("less.log", lines(0, 2));
    for name in ["short.log", "short.log.1.gz", "less.log"] {
        partial(&format!("{name}.tally"), name);
    }
    merge("short.log.tally short.log.1.gz.tally").exits(2).complains("count twice");
    merge("short.log.tally less.log.tally").exits(0);
    let ran = sandbox.run("report all.tally -o merged").exits(0);
    ran.complains("short.log was counted, though less.log begins with the same lines");
}

#[test]
fn a_first_pass_reads_copies_once() {
    let sandbox = sandbox();
    sandbox.write("access.log", lines(0, 1_000));
    sandbox.write_gz("copy.gz", lines(0, 1_000));
    let collect = |to: &str, logs: &str| {
        let flags = "--robots robots.txt --infer-outages --client-key 0123456789abcdef";
        sandbox.run(&format!("audit {flags} --collect {to} {logs}")).exits(0)
    };
    let ran = collect("both", "access.log copy.gz");
    ran.complains("copy.gz was not counted: access.log contains all of it");
    let audit = "audit --robots robots.txt --infer-outages --collected both -o report";
    sandbox.run(&format!("{audit} access.log copy.gz")).exits(0);
    sandbox.run(&format!("{audit} copy.gz")).exits(0);
    collect("one", "access.log");
    collect("two", "copy.gz");
    let ran = sandbox.run("merge one two -o all").exits(2);
    ran.complains(
        "the input 'access.log' of one begins with all lines of the input 'copy.gz' of two",
    );
}

#[test]
fn levels_of_compression_make_no_other_log() {
    let sandbox = sandbox();
    let gzip_at = |level| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
        std::io::Write::write_all(&mut gzip, lines(0, 1_000).as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    sandbox.write("fast.gz", gzip_at(Compression::fast()));
    sandbox.write("best.gz", gzip_at(Compression::best()));
    let expected = (1_000, 1_000, vec![note("fast.gz", "best.gz")]);
    assert_eq!(counts(&sandbox, "fast.gz best.gz"), expected);
}

/// As a CDN, a proxy and a server log the same requests, each in its own format.
#[test]
fn logs_of_the_same_requests_are_warned_of() {
    let sandbox = sandbox();
    let numbers = || (0..60_u32).map(|at| (at * 97 % 3_000, format!("/a/{at}")));
    let server: String =
        numbers().map(|(second, target)| line(second, &target, 200, BINGBOT)).collect();
    let json = |(second, target): (u32, String)| {
        let time = format!("2026-03-01T00:{:02}:{:02}Z", second / 60, second % 60);
        format!(
            "{{\"time\":\"{time}\",\"remote_addr\":\"203.0.113.9\",\"method\":\"GET\",\"request_uri\":\"{target}\",\
             \"status\":200,\"user_agent\":\"{BINGBOT}\"}}\n"
        )
    };
    let proxy: String = numbers().map(json).collect();
    sandbox.write("server.log", &server);
    sandbox.write("proxy.log", &proxy);
    // Other requests of the same crawler, in the same minutes.
    sandbox.write("other.log", server.replace("/a/", "/b/"));
    let warnings = |arguments: &str| -> Vec<String> {
        audit(&sandbox, arguments).exits(0);
        let run = sandbox.json("report/run.json");
        let warnings = run["warnings"].as_array().unwrap().iter();
        let warnings = warnings.map(|warning| warning.as_str().unwrap().to_owned());
        warnings.filter(|warning| warning.contains("same requests")).collect()
    };
    let expected = "proxy.log and server.log have the same requests of crawlers: 60 of 60";
    for threads in ["--threads 1", "--threads 2"] {
        let found = warnings(&format!("{threads} --force server.log proxy.log other.log"));
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    }
    assert_eq!(warnings("--force server.log other.log"), [""; 0]);
    // A CDN writes many files, and each has too few requests to be compared alone.
    let parts: Vec<&str> = proxy.split_inclusive('\n').collect();
    for (part, at) in parts.chunks(10).zip(0..) {
        sandbox.write(&format!("cdn/{at}.log"), part.concat());
    }
    let found = warnings("--force server.log cdn");
    assert!(
        found[0].starts_with("the logs of the format combined and the logs of the format json")
    );
}
