//! Audits: from log lines and rules to cells of tables.

use super::program::{Sandbox, line};

const GPTBOT: &str = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const ROBOTS: &str =
    "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nAllow: /open\nDisallow: /\n";

fn audited(robots: &str, log: &str, arguments: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", robots);
    sandbox.write_gz("access.log.gz", log);
    sandbox.run(&format!("audit --robots robots.txt -o report {arguments} access.log.gz")).exits(0);
    sandbox
}

#[test]
fn says_who_broke_which_rule_how_often_and_when() {
    let log = [
        line(10, "/open/x", 200, GPTBOT),
        line(20, "/secret", 200, GPTBOT),
        line(30, "/secret?b", 403, GPTBOT),
        line(40, "/private/x", 301, BINGBOT),
        line(50, "/secret", 200, BROWSER),
    ];
    let sandbox = audited(ROBOTS, &log.concat(), "--origin https://Example.com:443/");
    let columns = "origin crawler operator purpose stated_policy identity requests allowed violations violation_rate";
    assert_eq!(
        sandbox.table("report/summary.csv").cells(columns),
        [
            "https://example.com | GPTBot | OpenAI | ai-training | follows | unverified | 3 | 1 | 2 | 0.666667",
            "https://example.com | bingbot | Microsoft | search | follows | unverified | 1 | 0 | 1 | 1.000000",
        ]
    );
    let columns = "crawler rule_line directive pattern group requests status_2xx status_3xx status_4xx \
                   first_seen_utc last_seen_utc example_target example_file example_line";
    assert_eq!(
        sandbox.table("report/violations.csv").cells(columns),
        [
            "GPTBot | 6 | disallow | / | GPTBot | 2 | 1 | 0 | 1 | 2026-03-01T00:00:20Z | 2026-03-01T00:00:30Z \
             | /secret | access.log.gz | 2",
            "bingbot | 2 | disallow | /private/ | * | 1 | 0 | 1 | 0 | 2026-03-01T00:00:40Z | 2026-03-01T00:00:40Z \
             | /private/x | access.log.gz | 4",
        ]
    );
}

/// GPTBot's group has no rules of its own: it continues over Crawl-delay, down to bingbot's.
#[test]
fn says_where_a_verdict_depends_on_a_group_that_continues() {
    let robots = "User-agent: GPTBot\nCrawl-delay: 10\n\nUser-agent: bingbot\nDisallow: /\n";
    let log =
        [line(10, "/a", 200, GPTBOT), line(20, "/b", 200, GPTBOT), line(30, "/c", 200, BINGBOT)];
    let sandbox = audited(robots, &log.concat(), "--evidence evidence.csv");
    let columns = "crawler group continued_over_line";
    let rows = sandbox.table("report/violations.csv").cells(columns);
    assert_eq!(rows, ["GPTBot | GPTBot | 2", "bingbot | bingbot | "]);
    let requests = sandbox.table("evidence.csv").cells(columns);
    assert_eq!(requests, ["GPTBot | GPTBot | 2", "GPTBot | GPTBot | 2", "bingbot | bingbot | "]);
    let note = "2 violations of rules in groups that continue after another field";
    assert!(sandbox.json("report/run.json")["notes"][0].as_str().unwrap().starts_with(note));
    let page = sandbox.text("report/report.html");
    assert!(page.contains(note));
    assert!(page.contains("continues after another field on line 2, which does not end it"));
    let summary = sandbox.run("report report --format text").exits(0).stdout;
    assert!(summary.contains(note), "{summary}");
    let check = |crawler: &str, format: &str| {
        let words = format!("check --robots robots.txt --crawler {crawler} {format} /a");
        sandbox.run(&words).exits(1).stdout
    };
    let continued = "the field on line 2 does not end the group";
    assert!(check("GPTBot", "").contains(continued));
    assert!(!check("bingbot", "").contains(continued));
    assert!(check("GPTBot", "--format json").contains("\"continued_over_lines\":[2]"));
}

#[test]
fn never_accuses_a_client_with_a_longer_name() {
    let names = [
        "PineappleBot/1.0 (+https://pineapple.example/bot)",
        "ThankYouBot/1.0 (+https://thanks.example)",
        "ICCBot/2.0 (+https://icc.example)",
        "MyGPTBot/1.0 (+https://mygpt.example)",
        "XyzResearchBot/1.0",
        "Mozilla/5.0 (compatible; SemrushBot-FT; +http://www.semrush.com/bot.html)",
    ];
    let log: Vec<String> = (1..).zip(names).map(|(at, name)| line(at, "/a", 200, name)).collect();
    let robots = "User-agent: *\nDisallow: /\n";
    let sandbox = audited(robots, &log.concat(), "--origin https://example.com");
    assert!(sandbox.table("report/summary.csv").rows.is_empty());
    assert!(sandbox.table("report/violations.csv").rows.is_empty());
    assert_eq!(sandbox.table("report/unknown-crawlers.csv").rows.len(), names.len());
}

#[test]
fn never_accuses_whom_the_rules_do_not_bind() {
    let robots = "User-agent: *\nDisallow: /\n";
    let log = [
        line(1, "/a", 200, "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)"),
        line(
            2,
            "/a",
            200,
            "Mozilla/5.0 (compatible; Google-Safety; +http://www.google.com/bot.html)",
        ),
        line(3, "/a", 200, "AdsBot-Google (+http://www.google.com/adsbot.html)"),
        line(
            4,
            "/robots.txt",
            200,
            "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)",
        ),
    ];
    let sandbox = audited(robots, &log.concat(), "--origin https://example.com");
    let columns = "crawler requests robots_txt_requests allowed violations not_bound not_bound_disallowed not_bound_reason";
    assert_eq!(
        sandbox.table("report/summary.csv").cells(columns),
        [
            // It ignores `*`, as documented, so everything is allowed.
            "AdsBot-Google | 1 | 0 | 1 | 0 | 0 | 0 | ",
            "ChatGPT-User | 2 | 1 | 0 | 0 | 1 | 1 | user-triggered",
            // It ignores `*` too, so the rules have no verdict.
            "Google-Safety | 1 | 0 | 0 | 0 | 1 | 0 | declined",
        ]
    );
    assert!(sandbox.table("report/violations.csv").rows.is_empty());
}

#[test]
fn robots_txt_itself_is_always_allowed_and_its_fetches_are_counted() {
    let log = [
        line(60, "/a", 200, BINGBOT),
        line(120, "/robots.txt", 404, BINGBOT),
        line(180, "/b", 200, BINGBOT),
        line(240, "/robots.txt", 200, BINGBOT),
        line(250, "/c", 200, BINGBOT),
        line(300, "/robots.txt", 304, BINGBOT),
        line(90, "/Robots.txt", 200, GPTBOT),
    ];
    let sandbox =
        audited("User-agent: *\nDisallow: /\n", &log.concat(), "--origin https://example.com");
    let columns = "crawler robots_txt_requests successful_fetches status_2xx status_3xx status_4xx first_fetch_utc \
                   first_successful_fetch_utc last_successful_fetch_utc other_requests requests_before_first_fetch";
    assert_eq!(
        sandbox.table("report/robots-fetches.csv").cells(columns),
        [
            "GPTBot | 0 | 0 | 0 | 0 | 0 |  |  |  | 1 | 1",
            "bingbot | 3 | 2 | 1 | 1 | 1 | 2026-03-01T00:02:00Z | 2026-03-01T00:04:00Z | 2026-03-01T00:05:00Z | 3 | 2",
        ]
    );
    assert_eq!(sandbox.table("report/summary.csv").sum("violations"), 4);
}

#[test]
fn each_origin_is_judged_by_its_own_file_and_strangers_by_none() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/a.example", "User-agent: *\nDisallow: /a\n");
    sandbox.write("robots/b.example/robots.txt", "User-agent: *\nDisallow: /b\n");
    sandbox.write("robots/https_c.example_8443.txt", "User-agent: *\nDisallow: /c\n");
    let hosts = [
        "a.example:443",
        "A.example.:80",
        "b.example:443",
        "c.example:8443",
        "c.example:443",
        "d.example:80",
    ];
    let log: String =
        hosts.iter().map(|host| format!("{host} {}", line(1, "/a?/b", 200, BINGBOT))).collect();
    sandbox
        .write("vhosts.log", log + "a.example:443 " + &line(2, "http://d.example/a", 200, BINGBOT));
    sandbox.run("audit --robots robots -o report vhosts.log").exits(0);
    assert_eq!(
        sandbox.table("report/summary.csv").cells("origin requests allowed violations unknown"),
        [
            "http://a.example | 1 | 0 | 1 | 0",
            "http://d.example | 2 | 0 | 0 | 2",
            "https://a.example | 1 | 0 | 1 | 0",
            "https://b.example | 1 | 1 | 0 | 0",
            "https://c.example | 1 | 0 | 0 | 1",
            "https://c.example:8443 | 1 | 1 | 0 | 0",
        ]
    );
}

#[test]
fn a_single_file_governs_our_hosts_and_no_foreign_one() {
    let log = [
        line(1, "/private/x", 200, BINGBOT),
        line(2, "http://proxy.test/private/x", 404, BINGBOT),
        line(3, "//private/x", 200, BINGBOT),
        line(4, "*", 200, BINGBOT),
    ];
    let sandbox = audited(ROBOTS, &log.concat(), "");
    assert_eq!(
        sandbox
            .table("report/summary.csv")
            .cells("origin requests allowed violations unknown no_path"),
        ["- | 3 | 1 | 1 | 0 | 1", "http://proxy.test | 1 | 0 | 0 | 1 | 0"]
    );
}

#[test]
fn unknown_crawlers_are_shown_apart_and_never_accused() {
    let acme = "AcmeCrawler/0.1 (+http://acme.example/bot)";
    let broken = line(4, "/x", 200, acme).replace("01/Mar", "99/Mar");
    let log = [
        line(1, "/private/a", 200, acme),
        line(2, "/", 200, acme),
        line(3, "/robots.txt", 200, acme),
        broken,
    ];
    let sandbox = audited(ROBOTS, &log.concat(), "--origin https://example.com");
    assert!(sandbox.table("report/summary.csv").rows.is_empty());
    let columns =
        "user_agent requests robots_txt_requests allowed disallowed no_path first_seen_utc";
    assert_eq!(
        sandbox.table("report/unknown-crawlers.csv").cells(columns),
        [format!("{acme} | 4 | 1 | 1 | 1 | 1 | 2026-03-01T00:00:01Z")]
    );
    assert_eq!(sandbox.json("report/run.json")["lines"]["other"], 4);
}

#[test]
fn the_evidence_names_every_violating_request() {
    let log =
        [line(1, "/open", 200, GPTBOT), line(2, "/x,y", 200, GPTBOT), line(3, "/z", 404, GPTBOT)];
    let sandbox =
        audited(ROBOTS, &log.concat(), "--origin https://example.com --evidence evidence.csv");
    let columns = "file line time_utc origin crawler method target status bytes user_agent rule_line pattern group";
    assert_eq!(
        sandbox.table("evidence.csv").cells(columns),
        [
            format!(
                "access.log.gz | 2 | 2026-03-01T00:00:02Z | https://example.com | GPTBot | GET | /x,y | 200 | 100 | {GPTBOT} | 6 | / | GPTBot"
            ),
            format!(
                "access.log.gz | 3 | 2026-03-01T00:00:03Z | https://example.com | GPTBot | GET | /z | 404 | 100 | {GPTBOT} | 6 | / | GPTBot"
            ),
        ]
    );
}

#[test]
fn days_are_parted_in_the_zone_that_was_asked_for() {
    let log = [line(10, "/", 200, BINGBOT), line(86_390, "/", 200, BINGBOT)];
    let utc = audited(ROBOTS, &log.concat(), "");
    assert_eq!(utc.table("report/daily.csv").cells("day requests"), ["2026-03-01 | 2"]);
    let berlin = audited(ROBOTS, &log.concat(), "--timezone Europe/Berlin");
    assert_eq!(
        berlin.table("report/daily.csv").cells("day requests"),
        ["2026-03-01 | 1", "2026-03-02 | 1"]
    );
}

#[test]
fn hours_are_those_of_the_zone_and_only_so_many_are_kept() {
    let log = [line(7_300, "/private/", 200, BINGBOT), line(10, "/", 200, BINGBOT)];
    let columns = "day hour crawler requests allowed violations violation_rate bytes";
    let utc = audited("User-agent: *\nDisallow: /private\n", &log.concat(), "");
    let berlin = "--timezone Europe/Berlin";
    let berlin = audited("User-agent: *\nDisallow: /private\n", &log.concat(), berlin);
    for (sandbox, hours) in [(utc, [0, 2]), (berlin, [1, 3])] {
        let expected = [
            format!("2026-03-01 | {} | bingbot | 1 | 1 | 0 | 0.000000 | 100", hours[0]),
            format!("2026-03-01 | {} | bingbot | 1 | 0 | 1 | 1.000000 | 100", hours[1]),
        ];
        assert_eq!(sandbox.table("report/hourly.csv").cells(columns), expected);
    }
    let at = |hour: u32| {
        let (month, day) = (["Jan", "Feb", "Mar"][hour as usize / 24 / 28], hour / 24 % 28 + 1);
        let time = format!("{day:02}/{month}/2026:{:02}:00:00", hour % 24);
        line(0, "/", 200, BINGBOT).replace("01/Mar/2026:00:00:00", &time)
    };
    let long = audited(ROBOTS, &(0..1_500).rev().map(at).collect::<String>(), "");
    let table = long.table("report/hourly.csv");
    assert_eq!((table.rows.len(), table.sum("requests")), (1_488, 1_488));
    assert_eq!(table.cells("day hour")[0], "2026-01-01 | 12");
    let notes = long.json("report/run.json")["notes"].to_string();
    let expected = "hourly.csv has only the last 1488 hours with requests; counted by day only: 12 \
                    earlier requests";
    assert!(notes.contains(expected), "{notes}");
}

#[test]
fn own_crawlers_are_added_and_override() {
    let sandbox = Sandbox::new();
    sandbox.write("crawlers.csv", "name,operator,purpose,user_agent_regex,product_tokens\nAcme,Acme Inc.,seo,AcmeCrawler,acmecrawler\n");
    sandbox.write("robots.txt", "User-agent: acmecrawler\nDisallow: /\n");
    sandbox.write("access.log", line(1, "/", 200, "AcmeCrawler/0.1 (+http://acme.example/bot)"));
    sandbox.run("audit --robots robots.txt --crawlers crawlers.csv -o report access.log").exits(0);
    let cells = sandbox
        .table("report/violations.csv")
        .cells("crawler operator purpose stated_policy group");
    assert_eq!(cells, ["Acme | Acme Inc. | seo | unknown | acmecrawler"]);
}

#[test]
fn the_dialect_decides_what_an_encoded_path_means() {
    let robots = "User-agent: *\nDisallow: /~joe/\n";
    let log = line(1, "/%7Ejoe/x", 200, BINGBOT);
    assert_eq!(audited(robots, &log, "").table("report/summary.csv").sum("violations"), 0);
    assert_eq!(
        audited(robots, &log, "--dialect rfc9309").table("report/summary.csv").sum("violations"),
        1
    );
}

#[test]
fn wordpress_is_its_own_site_only_if_it_names_the_host() {
    let log = ["https://example.com", "https://b.example", "https://example.com/blog"];
    let log = log.map(|url| line(10, "/wp-cron.php", 200, &format!("WordPress/6.5; {url}")));
    for (arguments, expected) in [
        (
            "--origin https://example.com",
            &["WordPress | own-site | 2", "WordPress of another site | integration | 1"][..],
        ),
        (
            "--origin https://example.com --alias b.example=example.com",
            &["WordPress | own-site | 3"],
        ),
        ("", &["WordPress | own-site | 3"]),
    ] {
        let sandbox = audited(ROBOTS, &log.concat(), arguments);
        let rows = sandbox.table("report/summary.csv").cells("crawler purpose requests");
        assert_eq!(rows, expected);
    }
}
