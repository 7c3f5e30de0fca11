//! All lines of the logs by the class of their client, and the sample of browsers.

use super::identity::{BYTESPIDER, GPTBOT};
use super::program::{Sandbox, line, repository};

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const ROBOTS: &str = "User-agent: *\nDisallow: /private\n";
const AUDIT: &str = "audit -q --robots robots.txt --origin https://example.com";

/// A line of `client`.
fn of(client: &str, second: u32, target: &str, user_agent: &str) -> String {
    line(second, target, 200, user_agent).replacen("192.0.2.7", client, 1)
}

fn sandbox(log: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", ROBOTS);
    sandbox.write("access.log", log);
    sandbox
}

/// The rows, and whether their sum is the number of lines.
#[track_caller]
fn classes(sandbox: &Sandbox, report: &str) -> Vec<String> {
    let table = sandbox.table(&format!("{report}/clients.csv"));
    let run = sandbox.json(&format!("{report}/run.json"));
    assert_eq!(table.sum("requests"), run["lines"]["lines"].as_u64().unwrap());
    table.cells("day class operator requests")
}

/// Addresses that are in no sample, so that the numbers are exact.
fn mixed() -> String {
    let next_day = of("203.0.113.9", 9, "/a", BROWSER).replace("01/Mar", "02/Mar");
    [
        of("20.171.206.7", 1, "/private", GPTBOT),
        of("203.0.113.5", 2, "/private", GPTBOT),
        of("203.0.113.5", 3, "/a", BYTESPIDER),
        of("203.0.113.6", 4, "/private", "curl/8.5.0"),
        of("203.0.113.7", 5, "/private", "PhotoAgent/1.0"),
        of("203.0.113.8", 6, "/a", "-"),
        of("20.171.206.8", 7, "/private/7", BROWSER),
        of("20.171.206.9", 8, "/a", "-"),
        // An address without its last part may be anybody's.
        of("20.171.206.0", 9, "/private", BROWSER),
        next_day,
        "\n".to_owned(),
        "what is this\n".to_owned(),
    ]
    .concat()
}

/// Among lines of a minute is one of a time in another form, in seconds since 1970.
#[test]
fn a_line_counts_for_its_day_whatever_the_time_of_the_one_before() {
    let of_day = |seconds: std::ops::Range<u32>| -> String {
        // A product has sent every other one, so that some are counted at once and others wait.
        let line = |second| of("203.0.113.8", second, "/a", BROWSER);
        let sent = |second| line(second).replacen("\"-\"", "\"https://chatgpt.com/\"", 1);
        seconds.map(|second| if second % 2 == 0 { line(second) } else { sent(second) }).collect()
    };
    let odd = |time: &str| {
        let (before, after) = ("203.0.113.8 - - [", "] \"GET /a HTTP/1.1\" 200 5 \"-\" \"");
        format!("{before}{time}{after}{BROWSER}\"\n")
    };
    let log = [
        of_day(0..10),
        odd("0"),
        of_day(10..20),
        odd("86400.5"),
        of_day(20..30),
        odd("what"),
        of_day(30..40),
        odd("02/Mar/2026:08:00:xx +0000"),
        of_day(40..50),
    ];
    let sandbox = sandbox(&log.concat());
    sandbox.run(&format!("{AUDIT} -o report --min-parse-rate 0 access.log"));
    assert_eq!(
        classes(&sandbox, "report"),
        [
            " | browser |  | 2",
            "1970-01-01 | browser |  | 1",
            "1970-01-02 | browser |  | 1",
            "2026-03-01 | browser |  | 50",
        ]
    );
}

#[test]
fn each_line_has_one_class() {
    let sandbox = sandbox(&mixed());
    sandbox.write("ranges/gptbot.json", r#"{"prefixes": [{"ipv4Prefix": "20.171.206.0/24"}]}"#);
    sandbox.write(
        "ranges/manifest.json",
        r#"{"schema_version": 1, "lists": [{"url": "https://openai.com/gptbot.json", "file": "gptbot.json",
            "fetched_at_utc": "2026-03-02T00:00:00Z", "size_bytes": 49}]}"#,
    );
    sandbox.run(&format!("{AUDIT} --ip-ranges ranges -o report access.log")).exits(0);
    let expected = [
        "2026-03-01 | crawler-verified |  | 1",
        "2026-03-01 | crawler-unverified |  | 1",
        "2026-03-01 | crawler-spoofed |  | 1",
        "2026-03-01 | tool |  | 1",
        "2026-03-01 | automated |  | 1",
        "2026-03-01 | disguised | OpenAI | 2",
        "2026-03-01 | no-user-agent |  | 1",
        "2026-03-01 | browser |  | 1",
        "2026-03-02 | browser |  | 1",
    ];
    let mut found = classes(&sandbox, "report");
    assert_eq!(found.len(), 11, "{found:?}");
    for undated in [" | rejected |  | 1", " | skipped |  | 1"] {
        let at = found.iter().position(|row| row == undated);
        found.remove(at.unwrap_or_else(|| panic!("{found:?}")));
    }
    found.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
    let table = sandbox.table("report/clients.csv");
    let judged: Vec<String> = table
        .cells("class examined paths disallowed")
        .into_iter()
        .filter(|row| row.starts_with("disguised") || row.starts_with("automated"))
        .collect();
    assert_eq!(judged, ["automated | 1 | 1 | 1", "disguised | 2 | 2 | 1"]);
    let page = sandbox.text("report/report.html");
    for words in [
        "Automated clients without a name in the registry: 1 request, 1 for paths that robots.txt disallows.",
        "browsers&#39; user agents from addresses of crawlers of OpenAI",
    ] {
        let plain = page.replace("browsers' user", "browsers&#39; user");
        assert!(plain.contains(words), "{words}");
    }
    // The lists that come with the program verify crawlers, but nobody is in disguise by them.
    sandbox.run(&format!("{AUDIT} -o plain access.log")).exits(0);
    let found = classes(&sandbox, "plain");
    assert!(found.contains(&"2026-03-01 | crawler-verified |  | 1".to_owned()), "{found:?}");
    assert!(found.contains(&"2026-03-01 | crawler-unverified |  | 2".to_owned()), "{found:?}");
    assert!(found.contains(&"2026-03-01 | browser |  | 2".to_owned()), "{found:?}");
    assert!(found.contains(&"2026-03-01 | no-user-agent |  | 2".to_owned()), "{found:?}");
}

/// Lines of browsers; the paths of one in ten are disallowed.
fn browsers(count: u32) -> Vec<String> {
    let target =
        |at: u32| if at.is_multiple_of(10) { format!("/private/{at}") } else { format!("/{at}") };
    (0..count).map(|at| of("203.0.113.9", at % 86_000, &target(at), BROWSER)).collect()
}

#[test]
fn the_sample_is_the_same_in_any_order_and_in_parts() {
    let lines = browsers(6_400);
    let sandbox = sandbox(&lines.concat());
    let backwards: Vec<&str> = lines.iter().rev().map(String::as_str).collect();
    sandbox.write("backwards.log", backwards.concat());
    for (at, part) in backwards.chunks(1_700).enumerate() {
        sandbox.write(&format!("parts/{at}.log"), part.concat());
        let partial = format!("{AUDIT} --partial {at}.tally parts/{at}.log");
        sandbox.run(&partial).exits(0);
    }
    sandbox.run(&format!("{AUDIT} -o report --threads 1 access.log")).exits(0);
    sandbox.run(&format!("{AUDIT} -o threads --threads 3 parts")).exits(0);
    sandbox.run(&format!("{AUDIT} -o backwards --threads 2 backwards.log")).exits(0);
    sandbox.run("merge 3.tally 0.tally 2.tally 1.tally -o all.tally").exits(0);
    sandbox.run("report all.tally -o merged");
    let expected = sandbox.text("report/clients.csv");
    for report in ["threads", "backwards", "merged"] {
        assert_eq!(sandbox.text(&format!("{report}/clients.csv")), expected, "{report}");
    }
    assert_eq!(classes(&sandbox, "report"), ["2026-03-01 | browser |  | 6400"]);
    let table = sandbox.table("report/clients.csv");
    // Within five standard deviations of 100, and of a tenth.
    let examined = table.sum("examined");
    assert!((50..=150).contains(&examined), "{examined}");
    let disallowed = table.sum("disallowed");
    assert!(disallowed > 0 && disallowed * 4 < examined, "{disallowed} of {examined}");
    let shares = table.cells("disallowed_share disallowed_share_low disallowed_share_high");
    let shares: Vec<f64> = shares[0].split(" | ").map(|share| share.parse().unwrap()).collect();
    assert!(shares[1] < 0.1 && 0.1 < shares[2] && shares[1] < shares[0] && shares[0] < shares[2]);
}

/// A crawler that meets disallowed paths as often as browsers do does not know the rules.
#[test]
fn browsers_show_what_ignoring_the_rules_is() {
    let crawler: Vec<String> = (0..400)
        .map(|at| of("203.0.113.5", at + 61, if at % 10 == 0 { "/private" } else { "/a" }, GPTBOT))
        .collect();
    let crawler = of("203.0.113.5", 1, "/robots.txt", GPTBOT) + &crawler.concat();
    let sandbox = sandbox(&crawler);
    sandbox.write("browsers.log", browsers(32_000).concat());
    let conduct = |logs: &str| {
        sandbox.run(&format!("{AUDIT} -o report {logs}")).exits(0);
        sandbox.table("report/summary.csv").cells("crawler violations conduct")
    };
    assert_eq!(conduct("access.log"), ["GPTBot | 40 | breaks-some"]);
    assert_eq!(conduct("access.log browsers.log"), ["GPTBot | 40 | ignores"]);
    let page = sandbox.text("report/report.html");
    assert!(page.contains("estimated from a sample of"), "{page}");
}

/// Tallies of earlier versions have neither days nor a sample of browsers.
#[test]
fn kept_tallies_have_all_their_lines() {
    let directory = repository().join("tests/kept/0.1.0");
    let mut tallies = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "tally") {
            let sandbox = Sandbox::new();
            sandbox.write("kept.tally", std::fs::read(&path).unwrap());
            sandbox.run("report kept.tally -o report");
            assert!(!classes(&sandbox, "report").is_empty());
            tallies += 1;
        }
    }
    assert!(tallies > 0);
}

/// The rules of `*` disallow the path, though they do not bind this crawler.
#[test]
fn what_a_crawler_that_ignores_star_asks_for_is_disallowed() {
    let adsbot = "AdsBot-Google (+http://www.google.com/adsbot.html)";
    let lines = [("/private", 1), ("/a", 2), ("/robots.txt", 3)];
    let sandbox = sandbox(&lines.map(|(target, at)| line(at, target, 200, adsbot)).concat());
    sandbox.run(&format!("{AUDIT} access.log")).exits(0);
    let table = sandbox.table("botaudit-report/clients.csv");
    let expected = ["crawler-unverified | 3 | 2 | 1 | 0.500000"];
    assert_eq!(table.cells("class requests paths disallowed disallowed_share"), expected);
}
