//! Conduct of crawlers besides violations: fetches of robots.txt, delays.

use super::chunks::{self, Setting};
use super::program::{Sandbox, line};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const SEARCHBOT: &str =
    "Mozilla/5.0 (compatible; OAI-SearchBot/1.0; +https://openai.com/searchbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const CLAUDEBOT: &str = "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)";
const ADSBOT: &str = "AdsBot-Google (+http://www.google.com/adsbot.html)";
const CHATGPT_USER: &str = "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)";
const PRIVATE: &str = "User-agent: *\nDisallow: /private\n";

const AWARENESS: &str = "crawler prior_fetch_own prior_fetch_operator prior_fetch_none prior_fetch_unknown \
                         prior_fetch_failed last_fetch_200 last_fetch_304";

/// Audits the lines in order, and in reverse order in several files; both must have the same
/// result.
fn audited(robots: &str, lines: &[String], arguments: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", robots);
    sandbox.write("all.log", lines.concat());
    for (at, part) in lines.rchunks(2).enumerate() {
        let backwards: Vec<String> = part.iter().rev().cloned().collect();
        sandbox.write(&format!("parts/{at}.log"), backwards.concat());
    }
    let robots = "--robots robots.txt --origin https://example.com";
    sandbox.run(&format!("audit {robots} -o report {arguments} all.log")).exits(0);
    sandbox.run(&format!("audit {robots} -o parted --threads 3 {arguments} parts")).exits(0);
    let setting =
        Setting { robots: "robots.txt", origin: Some("https://example.com"), ..Setting::default() };
    chunks::never_show(&sandbox, &setting, &["parts"]);
    for table in ["robots-fetches.csv", "crawl-delay.csv", "unknown-crawlers.csv", "summary.csv"] {
        let [whole, parted] =
            ["report", "parted"].map(|report| sandbox.text(&format!("{report}/{table}")));
        assert_eq!(whole, parted, "{table}");
    }
    sandbox
}

#[test]
fn counts_who_had_fetched_robots_txt_before_each_violation() {
    let lines = [
        // Nobody had fetched robots.txt yet.
        line(0, "/private/1", 200, GPTBOT),
        line(60, "/robots.txt", 404, GPTBOT),
        // Its fetch had failed.
        line(70, "/private/2", 200, GPTBOT),
        line(150, "/robots.txt", 304, SEARCHBOT),
        line(130, "/private/3", 200, GPTBOT),
        // 20 seconds before the fetch of the other crawler, but in the same minute.
        line(300, "/private/4", 200, GPTBOT),
        line(659, "/robots.txt", 200, GPTBOT),
        line(600, "/private/5", 200, GPTBOT),
        line(3_600, "/private/6", 200, GPTBOT),
        // Crawlers of another operator do not have that copy.
        line(3_600, "/private/7", 200, BINGBOT),
    ];
    let sandbox = audited(PRIVATE, &lines, "");
    let columns =
        format!("{AWARENESS} fetch_age_minutes_min fetch_age_minutes_median fetch_age_minutes_max");
    let expected = [
        "GPTBot | 2 | 2 | 2 | 0 | 1 | 2 | 2 | 0 | 0 | 50",
        "bingbot | 0 | 0 | 1 | 0 | 0 | 0 | 0 |  |  | ",
    ];
    assert_eq!(sandbox.table("report/violations.csv").cells(&columns), expected);
    assert_eq!(sandbox.table("parted/violations.csv").cells(&columns), expected);
    let columns = format!("{AWARENESS} violations successful_fetches");
    assert_eq!(
        sandbox.table("report/robots-fetches.csv").cells(&columns),
        [
            "GPTBot | 2 | 2 | 2 | 0 | 1 | 2 | 2 | 6 | 1",
            "OAI-SearchBot | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1",
            "bingbot | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 1 | 0",
        ]
    );
    // Own fetches, and those of another crawler of the operator.
    assert_eq!(
        sandbox.table("report/summary.csv").cells("crawler violations violations_after_fetch"),
        ["GPTBot | 6 | 4", "OAI-SearchBot | 0 | 0", "bingbot | 1 | 0"]
    );
    let deny = "deny report --for caddy --where";
    let denied = sandbox.command(deny).arg("violations_after_fetch > 3").output().unwrap();
    let refused = String::from_utf8(denied.stderr).unwrap();
    assert!(
        refused.contains("refused: GPTBot") && !refused.contains("refused: bingbot"),
        "{refused}"
    );
}

#[test]
fn the_summary_says_what_violators_had_read() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", PRIVATE);
    let lines = [
        line(0, "/private/1", 200, GPTBOT),
        line(60, "/robots.txt", 200, GPTBOT),
        line(120, "/private/2", 200, GPTBOT),
        line(120, "/private/2", 200, GPTBOT),
    ];
    sandbox.write("access.log", lines.concat());
    let ran = sandbox.run("audit --robots robots.txt access.log").exits(0);
    let expected = "2 of 3 violations came after it had fetched robots.txt, 1 without a fetch of robots.txt in these logs\n";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
}

#[test]
fn fetches_count_for_their_origin_only() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/a.example", PRIVATE);
    sandbox.write("robots/b.example", PRIVATE);
    let lines = [
        format!("a.example:443 {}", line(1, "/robots.txt", 200, GPTBOT)),
        format!("b.example:443 {}", line(61, "/private", 200, GPTBOT)),
        format!("a.example:80 {}", line(61, "/private", 200, GPTBOT)),
        format!("a.example:443 {}", line(61, "/private", 200, GPTBOT)),
    ];
    sandbox.write("access.log", lines.concat());
    sandbox.run("audit --robots robots -o report access.log").exits(0);
    assert_eq!(
        sandbox.table("report/violations.csv").cells("origin prior_fetch_own prior_fetch_none"),
        ["http://a.example | 0 | 1", "https://a.example | 1 | 0", "https://b.example | 0 | 1"]
    );
}

#[test]
fn crawl_delays_are_compared_by_hour_and_day() {
    let robots = "User-agent: bingbot\nCrawl-delay: 900\n\n\
                  User-agent: GPTBot\nCrawl-delay: 0.5\n\n\
                  User-agent: ClaudeBot\nCrawl-delay: often\n\n\
                  User-agent: AdsBot-Google\nUser-agent: *\nDisallow: /private\n";
    let mut lines = vec![line(1, "/robots.txt", 200, BINGBOT), line(2, "*", 400, BINGBOT)];
    // Six in the first hour, of which four keep the delay, and three in the last one.
    lines.extend((0..6).map(|at| line(10 + at * 600, "/a", 200, BINGBOT)));
    lines.extend((0..3).map(|at| line(86_390 + at, "/a", 200, BINGBOT)));
    lines.extend((0..3).map(|at| line(at, "/a", 200, GPTBOT)));
    lines.push(line(5, "/a", 200, CLAUDEBOT));
    lines.push(line(5, "/a", 200, ADSBOT));
    let sandbox = audited(robots, &lines, "");
    let columns = "crawler delay_line delay delay_seconds group honours_delay requests allowed_per_hour \
                   over_hourly hours_over allowed_per_day over_daily days_over busiest_hour_utc \
                   busiest_hour_requests";
    assert_eq!(
        sandbox.table("report/crawl-delay.csv").cells(columns),
        [
            "ClaudeBot | 8 | often |  | ClaudeBot | honoured | 1 |  |  |  |  |  |  | 2026-03-01T00:00:00Z | 1",
            "GPTBot | 5 | 0.5 | 0.500 | GPTBot | unknown | 3 | 7200 | 0 | 0 | 172800 | 0 | 0 \
             | 2026-03-01T00:00:00Z | 3",
            "bingbot | 2 | 900 | 900.000 | bingbot | partly | 9 | 4 | 2 | 1 | 96 | 0 | 0 \
             | 2026-03-01T00:00:00Z | 6",
        ]
    );
}

#[test]
fn unknown_crawlers_are_looked_for_in_robots_txt_by_the_name_they_give_themselves() {
    let robots = "User-agent: acmecrawler/2\nUser-agent: ACMECRAWLER\nDisallow: /\n";
    let lines = [
        line(1, "/a", 200, "AcmeCrawler/0.1 (+http://acme.example/bot)"),
        line(2, "/a", 200, "Mozilla/5.0 (compatible; Other-Spider; +http://other.example/)"),
    ];
    let sandbox = audited(robots, &lines, "");
    assert_eq!(
        sandbox
            .table("report/unknown-crawlers.csv")
            .cells("token robots_txt_naming allowed disallowed"),
        ["AcmeCrawler | 1 | 0 | 1", "Other-Spider | 0 | 1 | 0"]
    );
}

#[test]
fn whoever_is_not_bound_is_counted_by_reason_or_judged_with_everyone() {
    let lines = [
        line(1, "/private/1", 200, CHATGPT_USER),
        line(2, "/private/2", 200, ADSBOT),
        line(3, "/open", 200, ADSBOT),
        line(4, "/private/3", 200, GPTBOT),
    ];
    let columns = "crawler stated_policy allowed allowed_ignoring_star violations not_bound not_bound_disallowed \
                   not_bound_reason";
    let sandbox = audited(PRIVATE, &lines, "");
    assert_eq!(
        sandbox.table("report/summary.csv").cells(columns),
        [
            "AdsBot-Google | follows | 2 | 1 | 0 | 0 | 0 | ",
            "ChatGPT-User | partly | 0 | 0 | 0 | 1 | 1 | user-triggered",
            "GPTBot | follows | 0 | 0 | 1 | 0 | 0 | ",
        ]
    );
    assert_eq!(sandbox.json("report/run.json")["options"]["include_unbound"], false);
    let sandbox = audited(PRIVATE, &lines, "--include-unbound");
    assert_eq!(
        sandbox.table("report/summary.csv").cells(columns),
        [
            "AdsBot-Google | follows | 1 | 0 | 1 | 0 | 0 | ",
            "ChatGPT-User | partly | 0 | 0 | 1 | 0 | 0 | user-triggered",
            "GPTBot | follows | 0 | 0 | 1 | 0 | 0 | ",
        ]
    );
    assert_eq!(
        sandbox.table("report/violations.csv").cells("crawler group not_bound_reason"),
        ["AdsBot-Google | * | ignores-star", "ChatGPT-User | * | user-triggered", "GPTBot | * | "]
    );
    assert_eq!(sandbox.json("report/run.json")["options"]["include_unbound"], true);
    // Rules that do not bind a crawler are not its directives.
    let crawlers = sandbox.table("report/compliance.csv").cells("scope name requests");
    let crawlers: Vec<&String> = crawlers
        .iter()
        .filter(|row| row.starts_with("crawler") || row.starts_with("origin"))
        .collect();
    assert_eq!(crawlers, ["crawler | GPTBot | 1", "origin | https://example.com | 1"]);
}

/// Logs of some gates lack the answers, so they do not show that a crawler has not read robots.txt.
#[test]
fn a_fetch_with_an_unknown_answer_may_have_been_read() {
    for (status, expected) in [(0, "breaks-some"), (404, "not-read"), (200, "ignores")] {
        let mut lines = vec![line(0, "/robots.txt", status, GPTBOT)];
        lines.extend((0..40).map(|at| line(60 + at, &format!("/private/{at}"), 200, GPTBOT)));
        let sandbox = audited(PRIVATE, &lines, "");
        let conduct = sandbox.table("report/summary.csv").cells("crawler conduct");
        assert_eq!(conduct, [format!("GPTBot | {expected}")], "{status}");
    }
}
