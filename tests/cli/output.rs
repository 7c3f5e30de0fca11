//! The end of a run: reports in one step, exit codes, equal bytes.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::chunks::{self, Setting};
use super::nightly::bytes;
use super::program::{Sandbox, gzip, line};
use crate::random::Random;
use crate::stoppable::stoppable;

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(1, "/private", 200, BINGBOT));
    sandbox
}

#[test]
fn without_robots_txt_it_says_what_to_write() {
    let ran = sandbox().run("audit access.log").exits(2);
    ran.complains("--robots robots.txt --origin https://example.com access.log.gz");
}

#[test]
fn without_arguments_it_explains_how_to_start() {
    let ran = Sandbox::new().run("").exits(2);
    assert!(ran.stderr.contains("Usage: botaudit [OPTIONS] <COMMAND>"), "{}", ran.stderr);
    let help = Sandbox::new().run("audit --help").exits(0);
    assert!(help.stdout.contains("Examples:") && help.stdout.contains("Exit codes:"));
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    let sandbox = sandbox();
    let check = |arguments: &str, what: &str| {
        sandbox
            .run(&format!("audit --robots robots.txt {arguments} access.log"))
            .exits(2)
            .complains(what);
        assert!(!sandbox.path("botaudit-report").exists(), "{arguments}");
    };
    check("--log-format sendmail", "unknown log format 'sendmail'; the formats are ");
    check("--origin example.com", "not a valid origin; write one as https://example.com");
    check(
        "--timezone Europe/Atlantis",
        "'Europe/Atlantis' for '--timezone <ZONE>': unknown time zone",
    );
    check("--crawlers gone.csv", "gone.csv");
    check("-o access.log", "access.log");
    check("--evidence gone/evidence.csv", "cannot write --evidence gone/evidence.csv");
    sandbox.run("audit --robots gone access.log").exits(2).complains("cannot read --robots gone");
}

#[test]
fn exit_codes_show_how_a_run_ended() {
    let sandbox = sandbox();
    sandbox.run("audit --robots robots.txt access.log").exits(0);
    sandbox.run("audit --robots robots.txt --fail-on-violations access.log").exits(1);
    sandbox.write("good.log", line(1, "/", 200, BINGBOT));
    sandbox.run("audit --robots robots.txt --fail-on-violations good.log").exits(0);
}

#[test]
fn quiet_is_silent_when_all_is_well() {
    let sandbox = sandbox();
    let run = "audit -q --robots robots.txt --origin https://a.example -o report access.log";
    let ran = sandbox.run(run).exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

#[test]
fn a_report_of_ours_is_replaced_and_nothing_else() {
    let sandbox = sandbox();
    sandbox.run("audit --robots robots.txt -o report access.log").exits(0);
    sandbox.run("audit --robots robots.txt -o report access.log").exits(0);
    assert_eq!(sandbox.names("."), ["access.log", "report", "robots.txt"]);
    sandbox.write("report/notes.txt", "mine");
    sandbox
        .run("audit --robots robots.txt -o report access.log")
        .exits(2)
        .complains("report/notes.txt");
    sandbox.write("photos/cat.jpg", "");
    sandbox
        .run("audit --robots robots.txt -o photos access.log")
        .exits(2)
        .complains("is not a report of botaudit");
    assert_eq!(sandbox.names("photos"), ["cat.jpg"]);
}

#[test]
fn equal_runs_differ_in_one_field_only() {
    let sandbox = sandbox();
    let runs = ["first", "second"].map(|name| {
        sandbox.run(&format!("audit --robots robots.txt -o {name} access.log")).exits(0);
        let mut run = sandbox.json(&format!("{name}/run.json"));
        run["made_at_utc"].take();
        run
    });
    assert_eq!(runs[0], runs[1]);
    let others = |name: &str| {
        let files = bytes(&sandbox.path(name)).into_iter();
        files.filter(|(name, _)| name != "run.json").collect::<Vec<_>>()
    };
    assert_eq!(others("first"), others("second"));
}

/// Lines of many kinds, out of order, in several files, gzip members and formats.
fn mixed_logs(sandbox: &Sandbox) {
    let agents = [
        BINGBOT,
        "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        "ChatGPT-User/1.0",
        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        "AcmeCrawler/0.1 (+http://acme.example/bot)",
        "AdsBot-Google (+http://www.google.com/adsbot.html)",
    ];
    let targets =
        ["/private/a", "/", "/robots.txt", "/b?c=d", "*", "http://foreign.test/x", "/private%2f"];
    let mut random = Random::new();
    let mut pick = |below: usize| random.below(below);
    for (name, count) in [("a.log", 400), ("b.log.gz", 900), ("c.log.gz", 30), ("d.log", 0)] {
        let mut log = Vec::new();
        for _ in 0..count {
            let host = ["", "one.example:443 ", "two.example:80 "][pick(3)];
            let target = targets[pick(targets.len())];
            let agent = agents[pick(agents.len())];
            log.extend(
                format!(
                    "{host}{}",
                    line(pick(86_400) as u32, target, 200 + pick(300) as u16, agent)
                )
                .into_bytes(),
            );
            if pick(20) == 0 {
                log.extend(b"garbage\r\n\n");
            }
        }
        let half = log.len() / 2;
        match name.ends_with(".gz") {
            true => sandbox.write(name, [gzip(&log[..half]), gzip(&log[half..])].concat()),
            false => sandbox.write(name, log),
        }
    }
}

#[test]
fn neither_threads_nor_chunks_nor_the_order_of_files_show() {
    let sandbox = sandbox();
    mixed_logs(&sandbox);
    let mut first: Option<Vec<(String, Vec<u8>)>> = None;
    let logs = ["a.log", "b.log.gz", "c.log.gz", "d.log"];
    let setting = Setting { robots: "robots.txt", ..Setting::default() };
    chunks::never_show(&sandbox, &setting, &logs);
    for (turn, threads) in [1, 2, 7, 1, 2, 7].into_iter().enumerate() {
        let files = if turn % 2 == 0 {
            "a.log b.log.gz c.log.gz d.log"
        } else {
            "d.log c.log.gz b.log.gz a.log"
        };
        let flags = format!("--threads {threads} --evidence evidence.csv.gz --min-parse-rate 50");
        sandbox.run(&format!("audit -q --robots robots.txt -o report {flags} {files}")).exits(0);
        let mut files: Vec<(String, Vec<u8>)> = sandbox
            .names("report")
            .into_iter()
            .filter(|name| name != "run.json")
            .map(|name| (name.clone(), fs::read(sandbox.path(&format!("report/{name}"))).unwrap()))
            .collect();
        files.push(("evidence".to_owned(), fs::read(sandbox.path("evidence.csv.gz")).unwrap()));
        let mut run = sandbox.json("report/run.json");
        run["made_at_utc"].take();
        files.push(("run.json".to_owned(), run.to_string().into_bytes()));
        let first = first.get_or_insert_with(|| files.clone());
        for (now, before) in files.iter().zip(first.iter()) {
            assert!(now == before, "{} differs with {flags}", now.0);
        }
    }
    assert!(sandbox.table("report/summary.csv").sum("violations") > 50);
}

#[test]
fn a_run_that_is_stopped_leaves_the_previous_report() {
    let sandbox = sandbox();
    sandbox.run("audit --robots robots.txt -o report access.log").exits(0);
    let before = sandbox.text("report/run.json");
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(130)), ("KILL", None)] {
        let audit =
            sandbox.command("audit --robots robots.txt -o report --evidence evidence.csv -");
        let mut audit = stoppable(&audit);
        audit.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = audit.spawn().unwrap();
        // It stays open: at the end of the log, the run might end before it sees the signal.
        let mut log = child.stdin.take().unwrap();
        log.write_all(line(1, "/private", 200, BINGBOT).as_bytes()).unwrap();
        wait_for(|| sandbox.names(".").iter().any(|name| name.starts_with(".report.botaudit-")));
        let killed =
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), code, "{signal}");
        drop(log);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(
            said.contains("stopped; unfinished outputs were removed"),
            code.is_some(),
            "{said}"
        );
        assert_eq!(sandbox.text("report/run.json"), before);
        assert!(!sandbox.path("evidence.csv").exists());
    }
    // The next run removes what the killed one left.
    sandbox.run("audit --robots robots.txt -o report access.log").exits(0);
    let left: Vec<String> =
        sandbox.names(".").into_iter().filter(|name| name.starts_with(".report")).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn wait_for(is_there: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < Duration::from_secs(30), "it did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn reads_from_a_pipe() {
    let sandbox = sandbox();
    let log = line(1, "/private", 200, BINGBOT);
    for input in [log.clone().into_bytes(), gzip(log.as_bytes())] {
        sandbox.run_with_input("audit --robots robots.txt -o report -", &input).exits(0);
        let cells =
            sandbox.table("report/violations.csv").cells("requests example_file example_line");
        assert_eq!(cells, ["1 | - | 1"]);
    }
}

#[test]
fn evidence_may_stand_in_the_report_directory() {
    let sandbox = sandbox();
    for _ in 0..2 {
        sandbox
            .run("audit --robots robots.txt -o report --evidence report/evidence.csv access.log")
            .exits(0);
        assert_eq!(sandbox.table("report/evidence.csv").rows.len(), 1);
    }
}

/// Some readers, such as DuckDB, detect the format of CSV from the first rows.
#[test]
fn csv_has_a_header_in_quotes_and_lf() {
    let sandbox = sandbox();
    let run = "audit --robots robots.txt -o report --evidence evidence.csv access.log";
    sandbox.run(run).exits(0);
    sandbox.write("urls", "https://a.example/private\n");
    let classify = "classify --robots robots.txt --token a urls";
    sandbox.run(&format!("{classify} -o verdicts.csv")).exits(0);
    sandbox.run(&format!("{classify} --summary -o counts.csv")).exits(0);
    let tables = sandbox.names("report").into_iter().filter(|name| name.ends_with(".csv"));
    let tables: Vec<String> = tables.map(|name| format!("report/{name}")).collect();
    assert!(tables.len() > 8, "{tables:?}");
    let others = ["evidence.csv", "verdicts.csv", "counts.csv"].map(str::to_owned);
    for name in tables.into_iter().chain(others) {
        let text = sandbox.text(&name);
        let header = text.lines().next().unwrap();
        assert!(
            header.split(',').all(|cell| cell.starts_with('"') && cell.ends_with('"')),
            "{name}"
        );
        assert!(!text.contains('\r') && text.ends_with('\n'), "{name}");
    }
    // This form and that of earlier versions are recognised, and replaced.
    let verdicts = sandbox.text("verdicts.csv");
    let again = "classify --robots robots.txt --token a --columns url,verdict -o again.csv";
    for text in [verdicts.clone(), verdicts.replace('"', "").replace('\n', "\r\n")] {
        sandbox.write("list.csv", &text);
        sandbox.run(&format!("{again} --column url list.csv")).exits(0);
        let cells = sandbox.table("again.csv").cells("url verdict");
        assert_eq!(cells, ["https://a.example/private | disallowed"]);
        sandbox.write("verdicts.csv", &text);
        sandbox.run(&format!("{classify} -o verdicts.csv")).exits(0);
    }
    let old = sandbox.text("evidence.csv").replace('"', "").replace('\n', "\r\n");
    sandbox.write("evidence.csv", old);
    sandbox.run(run).exits(0);
}
