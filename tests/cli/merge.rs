//! Merged tallies of parts give the report of one audit of all the logs, byte for byte.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;

use botaudit::archive::Store;
use botaudit::audit;
use botaudit::audit::identities::Identities;
use botaudit::audit::options::Options;
use botaudit::audit::progress::Progress;
use botaudit::audit::tally::counter::TallyLimits;
use botaudit::audit::tally::merge::merge_files;
use botaudit::audit::tally::rows::RowLimits;
use botaudit::audit::tally::{Tally, header};
use botaudit::crawlers::registry::Registry;
use botaudit::input::source::expand;
use botaudit::judge::Judge;
use botaudit::url::path::Dialect;

use super::identity::GOOGLEBOT;
use super::names::{NameServer, Udp, ZONE};
use super::nightly::{bytes, on};
use super::program::{Sandbox, gzip, line, repository};
use crate::random::Random;

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const AGENTS: [&str; 7] = [
    BINGBOT,
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; OAI-SearchBot/1.0; +https://openai.com/searchbot)",
    "ChatGPT-User/1.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "AcmeCrawler/0.1 (+http://acme.example/bot)",
    "AdsBot-Google (+http://www.google.com/adsbot.html)",
];
const TARGETS: [&str; 8] = [
    "/private/a",
    "/",
    "/robots.txt",
    "/b?c=d",
    "*",
    "http://foreign.test/x",
    "/private%2f",
    "/private/b",
];

/// A line of a log of many hosts, or an invalid line.
fn log_line(random: &mut Random) -> String {
    match random.below(40) {
        0 => "no record at all\n".to_owned(),
        1 => " \n".to_owned(),
        _ => {
            let second = random.below(200_000) as u32;
            let (target, agent) = (TARGETS[random.below(8)], AGENTS[random.below(7)]);
            let status = [200, 200, 304, 404, 503][random.below(5)];
            let host = ["a.example", "b.example", "c.example", "stranger.example"][random.below(4)];
            format!("{host}:443 {}", line(second % 86_400, target, status, agent))
        }
    }
}

/// The flags of every run here.
const FLAGS: &str = "--min-parse-rate 0 --log-format vhost_combined --robots robots --alias www.a.example=a.example";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let rules = "User-agent: *\nCrawl-delay: 30\nDisallow: /private\n";
    sandbox.write("robots/a.example", rules);
    sandbox
        .write("robots/b.example", "User-agent: gptbot\nDisallow: /b\nUser-agent: *\nAllow: /\n");
    sandbox.write("draft.txt", "User-agent: *\nDisallow: /b\n");
    sandbox
}

/// Random lines in `parts` files below `logs/`; some are compressed, and some are empty.
fn write_logs(sandbox: &Sandbox, random: &mut Random, parts: usize) -> Vec<String> {
    let mut names = Vec::new();
    for part in 0..parts {
        let lines = if part % 5 == 4 { 0 } else { 40 + random.below(120) };
        let text: String = (0..lines).map(|_| log_line(random)).collect();
        let name = format!("logs/{part:02}.log{}", if part % 3 == 2 { ".gz" } else { "" });
        match part % 3 {
            2 => sandbox.write_gz(&name, &text),
            _ => sandbox.write(&name, &text),
        }
        names.push(name);
    }
    names
}

/// Merges `tallies` in random order, and returns the name of the result.
fn merged(sandbox: &Sandbox, random: &mut Random, mut tallies: Vec<String>) -> String {
    let mut next = 0;
    while tallies.len() > 1 {
        let count = 2 + random.below(3).min(tallies.len() - 2);
        let merged_tallies: Vec<String> =
            (0..count).map(|_| tallies.swap_remove(random.below(tallies.len()))).collect();
        let name = format!("sum-{next}.tally");
        next += 1;
        sandbox.run(&format!("merge {} -o {name} --force", merged_tallies.join(" "))).exits(0);
        tallies.push(name);
    }
    tallies.remove(0)
}

#[track_caller]
fn same_reports(sandbox: &Sandbox, left: &str, right: &str) {
    let (left, right) = (bytes(&sandbox.path(left)), bytes(&sandbox.path(right)));
    let names = |files: &[(String, String)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&left), names(&right));
    for ((name, left), (_, right)) in left.iter().zip(&right) {
        assert!(left == right, "{name} differs");
    }
}

#[test]
fn any_split_merged_in_any_tree_is_one_audit() {
    for (seed, parts, flags) in [
        (1, 1, ""),
        (2, 2, "--strip-query"),
        (3, 7, "--what-if draft.txt --what-if-for https://a.example --include-unbound"),
        (4, 16, "--dialect rfc9309 --ip mask"),
    ] {
        let (sandbox, random) = (sandbox(), &mut Random(seed));
        let names = write_logs(&sandbox, random, parts);
        let all = format!("audit -q {FLAGS} {flags}");
        sandbox.run(&format!("{all} -o whole logs"));
        let mut tallies = Vec::new();
        let mut rest = names;
        while !rest.is_empty() {
            let count = 1 + random.below(3).min(rest.len() - 1);
            let part: Vec<String> =
                (0..count).map(|_| rest.swap_remove(random.below(rest.len()))).collect();
            let tally = format!("part-{}.tally", tallies.len());
            let ran = sandbox.run(&format!("{all} --partial {tally} {}", part.join(" ")));
            assert!(ran.stdout.is_empty(), "{}", ran.stdout);
            tallies.push(tally);
        }
        assert!(sandbox.text("whole/violations.csv").lines().count() > 3);
        let sum = merged(&sandbox, random, tallies.clone());
        sandbox.run(&format!("report {sum} -o drawn"));
        same_reports(&sandbox, "drawn", "whole");
        sandbox.run(&format!("report {} -o together", tallies.join(" ")));
        same_reports(&sandbox, "together", "whole");
        // Written again in its own place, it is the same.
        sandbox.run("report whole");
        same_reports(&sandbox, "drawn", "whole");
    }
}

/// A line of one of several clients: at a.example, which is in the archive, at b.example, which is
/// unreachable from three to four o'clock, or at an unknown host.
fn client_line(random: &mut Random) -> String {
    let clients = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "20.171.206.9", "198.51.100.7"];
    let agents = [GOOGLEBOT, BINGBOT, AGENTS[1], AGENTS[4]];
    let second = random.below(86_400) as u32;
    let (host, target) =
        (["a.example", "b.example", "stranger.example"][random.below(3)], random.below(4));
    let is_outage = host == "b.example" && target == 2 && second / 3600 == 3;
    let status = if is_outage { 503 } else { [200, 304, 404][random.below(3)] };
    let line = line(second, TARGETS[target], status, agents[random.below(4)]);
    format!("{host}:443 {}", line.replacen("192.0.2.7", clients[random.below(5)], 1))
}

/// Snapshots of one day, each with another ruling.
const DAY: &str = "origin,fetched_at,status,path,max_age\n\
                   https://a.example,2026-03-01T02:00:00Z,200,open.txt,\n\
                   https://a.example,2026-03-01T06:00:00Z,200,closed.txt,600\n\
                   https://a.example,2026-03-01T12:00:00Z,503,,\n\
                   https://a.example,2026-03-01T18:00:00Z,404,,\n";

#[test]
fn histories_identities_and_outages_of_parts_are_those_of_one_audit() {
    let server = NameServer::start(ZONE, Udp::Whole);
    let (sandbox, random) = (Sandbox::new(), &mut Random(7));
    sandbox.write("open.txt", "User-agent: *\nCrawl-delay: 60\nDisallow: /private\n");
    sandbox.write("closed.txt", "User-agent: *\nDisallow: /\n");
    sandbox.write("manifest.csv", DAY);
    sandbox.write("draft.txt", "User-agent: *\nDisallow: /b\n");
    sandbox.write(
        "ranges/gptbot.json",
        r#"{"creationTime":"2026-03-01","prefixes":[{"ipv4Prefix":"20.171.206.0/24"}]}"#,
    );
    sandbox.run("robots import -q -a db manifest.csv").exits(0);
    let mut names = Vec::new();
    for part in 0..6 {
        let text: String = (0..150).map(|_| client_line(random)).collect();
        let name = format!("logs/{part}.log");
        sandbox.write(&name, &text);
        names.push(name);
    }
    let flags = format!(
        "audit -q --log-format vhost_combined --robots db --alias www.b.example=b.example \
         --ip-ranges ranges --infer-outages --verify-dns --dns-server {} --dns-timeout 0.4 \
         --what-if draft.txt --what-if-for https://a.example --client-key sixteen-letters!",
        server.address
    );
    sandbox.run(&format!("{flags} -o whole logs")).exits(0);
    for name in &names {
        sandbox.run(&format!("{flags} --collect {name}.collected {name}")).exits(0);
    }
    let collected: Vec<String> = names.iter().map(|name| format!("{name}.collected")).collect();
    sandbox.run(&format!("merge {} -o all.collected", collected.join(" "))).exits(0);
    let mut tallies = Vec::new();
    for name in &names {
        let part = format!("--collected all.collected --partial {name}.tally {name}");
        sandbox.run(&format!("{flags} {part}")).exits(0);
        tallies.push(format!("{name}.tally"));
    }
    let sum = merged(&sandbox, random, tallies);
    sandbox.run(&format!("report {sum} -o drawn"));
    // A tally has the time of the DNS questions.
    for report in ["drawn", "whole"] {
        fs::remove_file(sandbox.path(&format!("{report}/report.tally"))).unwrap();
    }
    same_reports(&sandbox, "drawn", "whole");
    let summary = sandbox.table("whole/summary.csv");
    for column in ["violations", "grace", "unreachable", "unknown"] {
        assert!(summary.sum(column) > 0, "{column}");
    }
    let identities: BTreeSet<String> = summary.cells("identity").into_iter().collect();
    assert_eq!(Vec::from_iter(identities), ["spoofed", "unverified", "verified"]);
}

/// Small limits, so that they are reached.
fn low_limits(random: &mut Random) -> TallyLimits {
    TallyLimits {
        rows: RowLimits {
            strangers_max: random.below(6),
            time_buckets_max: [0, 10, 60, 200, 100_000][random.below(5)],
        },
        hours_max: [0, 1, 5, 100][random.below(4)],
        unknown_crawlers_max: random.below(4),
        ..TallyLimits::default()
    }
}

/// A line of one of many hosts, and of one of many unknown crawlers or of a visitor.
fn stranger_line(random: &mut Random) -> String {
    let (host, agent) = (random.below(12), random.below(12));
    let agent = match agent {
        0..=3 => AGENTS[agent].to_owned(),
        4..=8 => format!("Unheard-of-crawler-{agent}/1.0"),
        _ => AGENTS[4].to_owned(),
    };
    let referer = ["-", "https://chatgpt.com/", "https://www.bing.com/"][random.below(3)];
    let target = ["/private/a", "/robots.txt", "/"][random.below(3)];
    let second = random.below(86_400) as u32;
    let line = line(second, target, 200, &agent).replacen("\"-\"", &format!("\"{referer}\""), 1);
    format!("{host}.example:443 {line}")
}

/// All tables of the tally of `names`, which are files of the sandbox.
fn counted(sandbox: &Sandbox, names: &[String], limits: TallyLimits) -> Tally {
    let registry = Registry::builtin();
    let store = Store::open(&sandbox.path("robots")).unwrap();
    let judge = Judge::new(store, &registry, Dialect::Google).unwrap();
    let paths: Vec<OsString> = names.iter().map(|name| sandbox.path(name).into()).collect();
    let options = Options { limits, ..Options::new(2) };
    let record = header::ReportedOptions::default();
    let (nobody, progress) = (Identities::default(), Progress::default());
    let sources = expand(&paths);
    audit::run(&sources, &options, &record, &judge, &registry, &nobody, &progress, None).unwrap()
}

#[test]
fn caps_that_are_reached_fold_the_same_in_any_split() {
    let random = &mut Random(11);
    let (mut folded, mut given_up) = (0, 0);
    for _ in 0..25 {
        let (sandbox, limits) = (sandbox(), low_limits(random));
        let names: Vec<String> = (0..2 + random.below(4)).map(|at| format!("{at}.log")).collect();
        for name in &names {
            let text: String = (0..random.below(150)).map(|_| stranger_line(random)).collect();
            sandbox.write(name, text);
        }
        let whole = counted(&sandbox, &names, limits);
        let mut paths = Vec::new();
        for name in &names {
            let path = sandbox.path(&format!("{name}.tally"));
            fs::write(&path, counted(&sandbox, std::slice::from_ref(name), limits).to_bytes())
                .unwrap();
            paths.push(path);
        }
        let middle = random.below(paths.len() + 1);
        let mut sums = Vec::new();
        for (at, part) in [&paths[..middle], &paths[middle..]].into_iter().enumerate() {
            if !part.is_empty() {
                let sum = merge_files(part, limits).unwrap();
                let path = sandbox.path(&format!("sum-{at}.tally"));
                fs::write(&path, sum.to_bytes()).unwrap();
                sums.push(path);
            }
        }
        let merged = merge_files(&sums, limits).unwrap();
        assert!(merged == whole, "{limits:?}");
        assert!(merged.to_bytes() == whole.to_bytes());
        let others = whole
            .counts
            .origins
            .iter()
            .filter(|origin| origin.origin_key.to_string() == "(others)");
        folded += others.count();
        given_up += usize::from(whole.counts.times_end.is_some());
    }
    assert!(folded > 5 && given_up > 3, "{folded} {given_up}");
}

#[test]
fn damaged_empty_and_odd_inputs_merge_too() {
    let (sandbox, random) = (sandbox(), &mut Random(9));
    let mut text = || (0..200).map(|_| log_line(random)).collect::<String>();
    let packed = gzip(text().as_bytes());
    sandbox.write("logs/cut.log.gz", &packed[..packed.len() - 40]);
    sandbox.write("logs/empty.log", "");
    sandbox.write("logs/garbage.log", b"\xff\xfe\x00 nothing\n\x1b[31m\n".as_slice());
    sandbox.write("logs/whole.log", text());
    let all = format!("audit -q {FLAGS}");
    sandbox.run(&format!("{all} -o whole logs")).exits(3);
    for (name, code) in [("cut.log.gz", 3), ("empty.log", 0), ("garbage.log", 0), ("whole.log", 0)]
    {
        sandbox.run(&format!("{all} --partial {name}.tally logs/{name}")).exits(code);
    }
    sandbox
        .run("report whole.log.tally cut.log.gz.tally garbage.log.tally empty.log.tally -o drawn");
    same_reports(&sandbox, "drawn", "whole");
}

#[test]
fn the_evidence_of_parts_in_order_is_that_of_one_audit() {
    let (sandbox, random) = (sandbox(), &mut Random(5));
    let names = write_logs(&sandbox, random, 4);
    let all = format!("audit -q {FLAGS}");
    sandbox.run(&format!("{all} --evidence all.csv -o whole logs"));
    let mut together = String::new();
    for (at, name) in names.iter().enumerate() {
        let evidence = format!("{at}.csv");
        sandbox.run(&format!("{all} --evidence {evidence} --partial {at}.tally {name}"));
        let text = sandbox.text(&evidence);
        let (header, rows) = text.split_once('\n').unwrap();
        if at == 0 {
            together = format!("{header}\n");
        }
        together += rows;
    }
    assert!(together.lines().count() > 10);
    assert_eq!(together, sandbox.text("all.csv"));
}

#[test]
fn an_input_is_called_what_the_user_says() {
    let sandbox = sandbox();
    let text: String = (0..50).map(|_| log_line(&mut Random(3))).collect();
    let all = format!("audit -q {FLAGS}");
    let part = format!("{all} --partial a.tally --name s3://logs/a.gz -");
    sandbox.run_with_input(&part, text.as_bytes()).exits(0);
    sandbox.run("report a.tally -o report");
    assert_eq!(sandbox.json("report/run.json")["inputs"][0]["name"], "s3://logs/a.gz");
    sandbox.write("logs/a.log", &text);
    sandbox.write("logs/b.log", &text);
    let two = format!("{all} --partial b.tally --name x logs");
    sandbox.run(&two).exits(2).complains("--name needs exactly one input, but there are 2");
}

#[test]
fn what_does_not_fit_together_is_refused_and_copies_count_once() {
    let (sandbox, random) = (sandbox(), &mut Random(7));
    write_logs(&sandbox, random, 2);
    let all = format!("audit -q {FLAGS}");
    sandbox.run(&format!("{all} --partial a.tally logs/00.log")).exits(0);
    sandbox.run(&format!("{all} --partial b.tally logs/01.log")).exits(0);
    fs::copy(sandbox.path("a.tally"), sandbox.path("copy.tally")).unwrap();
    sandbox.run("merge a.tally b.tally copy.tally a.tally -o with.tally").exits(0);
    sandbox.run("merge b.tally a.tally -o without.tally").exits(0);
    let read = |name: &str| fs::read(sandbox.path(name)).unwrap();
    assert_eq!(read("with.tally"), read("without.tally"));

    sandbox.write("logs/00.log", "a.example:443 changed\n");
    sandbox.run(&format!("{all} --partial c.tally logs/00.log")).exits(0);
    let twice = sandbox.run("merge a.tally c.tally -o x.tally").exits(2);
    twice.complains("both contain the input 'logs/00.log'");
    sandbox.run(&format!("{all} --dialect rfc9309 --partial d.tally logs/01.log")).exits(0);
    let differ = sandbox.run("merge a.tally d.tally -o x.tally").exits(2);
    differ.complains("the option dialect is \"google\" in the first and \"rfc9309\" in the second");
    sandbox.write("crawlers.csv", "name,user_agent_regex\nAcme,acmecrawler\n");
    let with = format!("{all} --crawlers crawlers.csv --partial e.tally logs/01.log");
    sandbox.run(&with).exits(0);
    let differ = sandbox.run("merge a.tally e.tally -o x.tally").exits(2);
    differ.complains("the list of known crawlers is");

    sandbox.write("x.txt", "mine");
    sandbox.run("merge a.tally b.tally -o x.txt").exits(2).complains("was not written by botaudit");
    sandbox.run("merge a.tally b.tally -o a.tally").exits(2).complains("is an input");
    let bytes = read("a.tally");
    for cut in [0, 10, 17, 18, 40, bytes.len() / 2, bytes.len() - 1] {
        sandbox.write("cut.tally", &bytes[..cut]);
        sandbox.run("merge cut.tally b.tally -o x.tally").exits(2).complains("cut.tally: is ");
    }
    for at in (17..bytes.len()).step_by(bytes.len() / 60) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        sandbox.write("flipped.tally", &flipped);
        sandbox.run("report flipped.tally -o x").exits(2).complains("flipped.tally: is ");
    }
    sandbox.write("old/run.json", "{\"program\":\"botaudit\",\"files\":[]}");
    sandbox.run("report old -o x").exits(2).complains("old: has no report.tally");
    sandbox.run("report gone.tally -o x").exits(2).complains("cannot read the tally gone.tally");
}

#[test]
fn the_sample_data_log_by_log_is_the_sample_data() {
    let sandbox = Sandbox::new();
    let audit = |arguments: &str| {
        let mut command = sandbox.command(&format!(
            "audit -q --min-parse-rate 0 --robots sample-data/robots {arguments}"
        ));
        assert!(command.current_dir(repository()).status().unwrap().success());
    };
    let path = |name: &str| sandbox.path(name).display().to_string();
    audit(&format!("-o {} sample-data/logs", path("whole")));
    for log in ["access.log", "access.log.1.gz", "access.log.2.gz"] {
        audit(&format!("--partial {} sample-data/logs/{log}", path(&format!("{log}.tally"))));
    }
    let tallies = "access.log.2.gz.tally access.log.tally access.log.1.gz.tally";
    let ran = sandbox.run(&format!("report {tallies} -o drawn")).exits(0);
    assert!(ran.stdout.ends_with("\nreport: drawn\n"), "{}", ran.stdout);
    same_reports(&sandbox, "drawn", "whole");
    let json = sandbox.run("report drawn --format jsonl --table violations").exits(0).stdout;
    let rows = sandbox.text("drawn/violations.csv").lines().count() - 1;
    assert_eq!(json.lines().count(), rows);
    assert!(json.starts_with("{\"table\":\"violations\",\"origin\":"), "{json}");
    let text = sandbox.run("report drawn --format text").exits(0).stdout;
    assert!(text.contains("requests of known crawlers"), "{text}");
}

/// Three days of a site, one run each.
fn nights(sandbox: &Sandbox) {
    let config = "[sites.shop]\nlogs = [\"shop.log\"]\nrobots = \"robots.txt\"\norigin = \"https://shop.example\"\n";
    sandbox.write("botaudit.toml", config);
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let day = |day: &str, requests: u32| -> String {
        let targets = ["/open", "/private", "/robots.txt"];
        (0..requests).map(|at| on(day, 60 * at, targets[at as usize % 3])).collect()
    };
    let log = [day("28/Feb/2026", 5), day("01/Mar/2026", 8), day("02/Mar/2026", 4)].concat();
    sandbox.write("shop.log", log + "not a record\n");
    for day in ["2026-02-28", "2026-03-01", "2026-03-02"] {
        sandbox.run(&format!("nightly -q --day {day}"));
    }
}

#[test]
fn the_nights_of_a_range_are_one_audit_of_their_lines() {
    let sandbox = Sandbox::new();
    nights(&sandbox);
    let range = "report reports/shop --from 2026-02-27 --to 2026-03-02 -o range";
    sandbox.run(range).exits(0).complains("no report found for 2026-02-27");
    let audit = "audit -q --config botaudit.toml --site shop --since 2026-02-28 --until 2026-03-03";
    sandbox.run(&format!("{audit} -o whole")).exits(0);
    // An audit does not count days separately.
    let but_tally = |name: &str| -> Vec<(String, String)> {
        let files = bytes(&sandbox.path(name)).into_iter();
        files.filter(|(name, _)| name != "report.tally").collect()
    };
    assert_eq!(but_tally("range"), but_tally("whole"));
    let one = "audit -q --config botaudit.toml --site shop --since 2026-02-28 --until 2026-03-01";
    sandbox.write(
        "only.log",
        sandbox.text("shop.log").lines().take(5).collect::<Vec<_>>().join("\n") + "\n",
    );
    sandbox.run(&format!("{one} --name shop.log -o one only.log")).exits(0);
    assert_eq!(but_tally("one"), {
        let files = bytes(&sandbox.path("reports/shop/2026-02-28")).into_iter();
        files.filter(|(name, _)| name != "report.tally").collect::<Vec<_>>()
    });
}

#[test]
fn mistakes_are_named_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    nights(&sandbox);
    let range = "report reports/shop --from 2026-04-01 --to 2026-04-03 -o x";
    let none = "reports/shop: has no report from 2026-04-01 to 2026-04-03";
    sandbox.run(range).exits(2).complains(none);
    sandbox.run("report reports/shop --from 2026-04-01 -o x").exits(2).complains("--to");
    let day = "reports/shop/2026-03-01";
    sandbox.run(&format!("report {day} reports/shop/2026-03-02")).exits(2).complains("-o report/");
    let partial = "audit --partial a.tally --fail-on-violations --robots robots.txt shop.log";
    sandbox.run(partial).exits(2).complains("--fail-on-violations");
    assert!(!sandbox.path("x").exists() && !sandbox.path("a.tally").exists());
}
