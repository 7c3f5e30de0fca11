//! Statements about the use of what crawlers fetch: `usage.csv`, the page and `check`.

use std::fmt::Write;

use super::program::{Sandbox, line};

const ROBOTS: &str = "User-agent: Google-Extended\n\
                      Disallow: /essays/\n\
                      \n\
                      User-agent: *\n\
                      Disallow: /private/\n\
                      Content-Usage: train-ai=n, search=y\n\
                      Content-Signal: /open/ ai-train=yes\n";

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const AHREFSBOT: &str = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)";

fn log(day: u32) -> String {
    let mut log = String::new();
    let requests = [
        (GPTBOT, "/a", 200),
        (GPTBOT, "/open/b", 404),
        (GPTBOT, "/private/c", 200),
        (GPTBOT, "/robots.txt", 200),
        (GOOGLEBOT, "/essays/1", 200),
        (GOOGLEBOT, "/a", 304),
        (AHREFSBOT, "/a", 200),
    ];
    for (agent, path, status) in requests {
        writeln!(
            log,
            "192.0.2.1 - - [{day:02}/Mar/2026:12:00:00 +0000] \"GET {path} HTTP/1.1\" {status} 5 \
             \"-\" \"{agent}\""
        )
        .unwrap();
    }
    log
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", ROBOTS);
    sandbox.write("one.log", log(1));
    sandbox.write("two.log", log(2));
    sandbox
}

const AUDIT: &str = "audit --robots robots.txt --origin https://a.example";

const COLUMNS: &str =
    "crawler signal category preference line requests status_2xx bytes first_seen_utc";

const ROWS: [&str; 4] = [
    "GPTBot | content-usage | train-ai | reserved | 6 | 4 | 2 | 20 | 2026-03-01T12:00:00Z",
    "GPTBot | content-signal | ai-train | permitted | 7 | 2 | 0 | 10 | 2026-03-01T12:00:00Z",
    "Googlebot | product-token | ai-training | reserved | 2 | 2 | 2 | 10 | 2026-03-01T12:00:00Z",
    "Googlebot | content-usage | search | permitted | 6 | 4 | 2 | 20 | 2026-03-01T12:00:00Z",
];

#[test]
fn what_was_fetched_is_counted_by_preference() {
    let sandbox = sandbox();
    sandbox.run(&format!("{AUDIT} -q -o out one.log two.log")).exits(0);
    assert_eq!(sandbox.table("out/usage.csv").cells(COLUMNS), ROWS);
    let page = sandbox.text("out/report.html");
    assert!(page.contains("Fetched under reservation") && page.contains("2 rows fetched under"));
    // Parts give the same table in any order, and it stays out of the verdicts.
    for log in ["one", "two"] {
        sandbox.run(&format!("{AUDIT} -q --partial {log}.tally {log}.log")).exits(0);
    }
    for (order, out) in [("one.tally two.tally", "forth"), ("two.tally one.tally", "back")] {
        sandbox.run(&format!("merge {order} -o {out}.tally")).exits(0);
        sandbox.run(&format!("report {out}.tally -o {out}")).exits(0);
        let merged = sandbox.text(&format!("{out}/usage.csv"));
        assert_eq!(merged, sandbox.text("out/usage.csv"), "{order}");
    }
    assert_eq!(sandbox.table("out/violations.csv").cells("rule_line requests"), ["5 | 2"]);
}

#[test]
fn each_form_can_be_left_out() {
    let sandbox = sandbox();
    let forms = "--ignore-usage content-usage --ignore-usage product-token";
    sandbox.run(&format!("{AUDIT} -q {forms} -o out one.log two.log")).exits(0);
    assert_eq!(sandbox.table("out/usage.csv").cells(COLUMNS), ROWS[1..2]);
    let ran = sandbox.run(&format!("{AUDIT} --ignore-usage x -o out one.log")).exits(2);
    let why = "'x' is not content-usage, content-signal or product-token";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
}

#[test]
fn without_statements_nothing_is_counted() {
    let sandbox = sandbox();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private/\n");
    sandbox.run(&format!("{AUDIT} -q -o out one.log")).exits(0);
    assert!(sandbox.table("out/usage.csv").rows.is_empty());
    assert!(!sandbox.text("out/report.html").contains("under reservation"));
}

#[test]
fn check_shows_the_preference_with_its_line() {
    let sandbox = sandbox();
    let check = "check --robots robots.txt --crawler";
    let ran = sandbox.run(&format!("{check} GPTBot /open/b")).exits(0);
    let rows = "  use         train-ai is reserved by line 6 (content-usage)\n              \
                ai-train is permitted by line 7 (content-signal)\n";
    assert!(ran.stdout.ends_with(rows), "{}", ran.stdout);
    let ran = sandbox.run(&format!("{check} Googlebot --format json /essays/1")).exits(0);
    let usage =
        r#"{"signal":"product-token","category":"ai-training","preference":"reserved","line":2}"#;
    assert!(ran.stdout.contains(usage), "{}", ran.stdout);
    let ran = sandbox.run(&format!("{check} GPTBot /private/c")).exits(1);
    assert!(!ran.stdout.contains("train-ai"), "{}", ran.stdout);
}

#[test]
fn check_shows_the_licences_of_the_file() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "License: https://a.example/rsl.xml\nLicense: no\n");
    let check = "check /a --crawler GPTBot --robots robots.txt";
    let shown = sandbox.run(check).exits(0).stdout;
    assert!(shown.contains("  license     https://a.example/rsl.xml  (line 1)\n"), "{shown}");
    let shown = sandbox.run(&format!("{check} --format json")).exits(0).stdout;
    assert!(shown.contains(r#""licenses":["https://a.example/rsl.xml"]"#), "{shown}");
}

/// One robots.txt for all times: most requests are then counted by their kind, but these are not.
#[test]
fn files_beside_robots_txt_are_counted_where_rules_never_change() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\nSitemap: /map.xml\n");
    let paths = ["/", "/llms.txt", "/map.xml", "/map.xml", "/other.xml"];
    let lines = (0..).zip(paths).map(|(minute, path)| line(minute, path, 200, "GPTBot/1.0"));
    sandbox.write("access.log", lines.collect::<String>());
    sandbox.run("audit -q --robots robots.txt access.log").exits(0);
    let files = sandbox.text("botaudit-report/policy-files.csv");
    let found: Vec<&str> = files.lines().skip(1).collect();
    assert_eq!(found.len(), 2, "{files}");
    assert!(found[0].contains(",llms.txt,1,") && found[1].contains(",sitemap,2,"), "{files}");
}
