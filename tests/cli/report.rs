//! A report written again, without the logs.

use serde_json::Value;

use super::nightly::bytes;
use super::program::{Sandbox, line, repository};

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

/// Writes a report on the sample data to `report/`; returns the output.
fn audited(sandbox: &Sandbox) -> String {
    let report = sandbox.path("report");
    let mut command = sandbox.command(&format!(
        "audit --robots sample-data/robots -o {} sample-data/logs",
        report.display()
    ));
    let output = command.current_dir(repository()).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn all_files_and_the_summary_come_again_from_the_tally() {
    let sandbox = Sandbox::new();
    let printed = audited(&sandbox);
    let before = bytes(&sandbox.path("report"));
    for name in sandbox.names("report").iter().filter(|name| !name.contains("tally")) {
        if name != "run.json" {
            std::fs::remove_file(sandbox.path(&format!("report/{name}"))).unwrap();
        }
    }
    let ran = sandbox.run("report report").exits(0);
    assert!(bytes(&sandbox.path("report")) == before);
    let summary = printed.split("\nreport: ").next().unwrap();
    assert_eq!(ran.stdout, format!("{summary}\nreport: report\n"));
    assert_eq!(sandbox.run("report report --format text").exits(0).stdout, summary);
    sandbox.run("report report -o other").exits(0);
    assert!(bytes(&sandbox.path("other")) == before);
}

#[test]
fn the_evidence_in_a_report_stays_where_it_is() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(1, "/private", 200, BINGBOT));
    let audit = "audit --robots robots.txt -o report --evidence report/evidence.csv access.log";
    sandbox.run(audit).exits(0);
    let before = bytes(&sandbox.path("report"));
    sandbox.run("report report").exits(0);
    assert!(bytes(&sandbox.path("report")) == before);
}

#[test]
fn tables_as_json_lines() {
    let sandbox = Sandbox::new();
    audited(&sandbox);
    let ran = sandbox.run("report report --format jsonl").exits(0);
    let rows: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |table: &str| rows.iter().filter(|row| row["table"] == table).count();
    let is_written = |name: &String| name.ends_with(".csv");
    let tables: Vec<String> = sandbox.names("report").into_iter().filter(is_written).collect();
    assert_eq!(tables.len(), 25);
    for table in tables {
        let rows = sandbox.table(&format!("report/{table}")).rows.len();
        assert_eq!(of(table.trim_end_matches(".csv")), rows, "{table}");
    }
    let violations: Vec<u64> = rows
        .iter()
        .filter(|row| row["table"] == "summary")
        .map(|row| row["violations"].as_u64().unwrap())
        .collect();
    assert_eq!(violations.iter().sum::<u64>(), 167);
    let one = sandbox.run("report report --format jsonl --table rejects").exits(0);
    assert_eq!(one.stdout.lines().count(), sandbox.table("report/rejects.csv").rows.len());
    let formula = rows.iter().find(|row| row["token"] == "FormulaCrawler").unwrap();
    assert_eq!(formula["user_agent"], "=cmd|' /C calc'!A0 FormulaCrawler/1.0");
}

#[test]
fn mistakes_are_named() {
    let sandbox = Sandbox::new();
    audited(&sandbox);
    sandbox
        .run("report gone")
        .exits(2)
        .complains("no report in gone; to write one, run: botaudit audit ");
    sandbox.run("report report --format jsonl -o x").exits(2).complains(
        "-o needs --format html; \
         write other formats to a file with >",
    );
    sandbox.run("report report --format jsonl --table violation").exits(2).complains(
        "unknown table 'violation'; the tables are summary, answers, statuses, methods, verification, signatures, referrals, costs, sections, paths, urls, violations,",
    );
    std::fs::remove_file(sandbox.path("report/report.tally")).unwrap();
    sandbox.run("report report").exits(2).complains("report: has no report.tally");
}

#[test]
fn a_comparison_is_in_the_summary() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let mut log = String::new();
    for second in 0..100 {
        log += &line(second, if second < 50 { "/" } else { "/private" }, 200, BINGBOT);
        let later = line(second, if second < 10 { "/private" } else { "/" }, 200, BINGBOT);
        log += &later.replace("[01/Mar", "[02/Mar");
    }
    sandbox.write("access.log", &log);
    sandbox.run("audit --robots robots.txt -o report access.log").exits(0);
    let expected = "since 2026-03-02: 10.0 % of judged requests were violations, 50.0 % before \
                    (differs for 1 crawler: bingbot from 50.0 % to 10.0 %); see comparison.csv";
    for format in ["html", "text"] {
        let ran = format!("report report --compare-at 2026-03-02 --format {format}");
        let words = sandbox.run(&ran).exits(0).stdout;
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(expected), "{words}");
    }
}

/// The names of crawlers may be anybody's.
#[test]
fn who_came_and_who_went_is_in_the_summary_and_on_the_page() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let row = |number| format!("<b>Bot{number}</b>,acmebot{number}x\n");
    let rows: String = (0..9).map(row).collect();
    sandbox.write("crawlers.csv", format!("name,user_agent_regex\n{rows}"));
    let of = |day: &str, crawlers: std::ops::Range<usize>| -> String {
        let of_crawler = |number: usize| {
            let agent = format!("acmebot{number}x/1.0");
            (0..20 - number as u32).map(|at| line(at, "/", 200, &agent)).collect::<String>()
        };
        crawlers.map(of_crawler).collect::<String>().replace("01/Mar", day)
    };
    for (before, since, expected) in [
        (0..2, 0..2, None),
        (0..1, 0..2, Some("came <b>Bot1</b> 0 → 19")),
        (0..3, 2..3, Some("went <b>Bot0</b> 20 → 0, <b>Bot1</b> 19 → 0")),
        (0..1, 1..2, Some("came <b>Bot1</b> 0 → 19; went <b>Bot0</b> 20 → 0")),
        (
            8..9,
            0..9,
            Some(
                "came <b>Bot0</b> 0 → 20, <b>Bot1</b> 0 → 19, <b>Bot2</b> 0 → 18, <b>Bot3</b> 0 → 17, \
                 <b>Bot4</b> 0 → 16 and 3 more",
            ),
        ),
    ] {
        sandbox.write("access.log", of("01/Mar", before) + &of("02/Mar", since));
        sandbox
            .run("audit --robots robots.txt --crawlers crawlers.csv -o report access.log")
            .exits(0);
        let summary = sandbox.run("report report --compare-at 2026-03-02").exits(0).stdout;
        let page = sandbox.text("report/report.html");
        match expected {
            None => {
                assert!(!summary.contains("since 2026-03-02: came"), "{summary}");
                assert!(!page.contains("Since 2026-03-02: "), "{page}");
            }
            Some(expected) => {
                assert!(
                    summary.contains(&format!("  since 2026-03-02: {expected}\n")),
                    "{summary}"
                );
                let escaped = expected.replace('<', "&lt;").replace('>', "&gt;");
                let said = format!("<p>Since 2026-03-02: {escaped}.</p>");
                assert!(page.contains(&said), "{said}: {page}");
            }
        }
    }
}

#[test]
fn a_comparison_with_changes_needs_an_archive() {
    let sandbox = Sandbox::new();
    audited(&sandbox);
    let before = bytes(&sandbox.path("report"));
    sandbox
        .run("report report --compare-at changes")
        .exits(2)
        .complains("--compare-at changes needs a report that knows when robots.txt changed");
    assert!(bytes(&sandbox.path("report")) == before);
}

#[test]
fn a_table_that_the_report_lacks_is_an_error() {
    let sandbox = Sandbox::new();
    audited(&sandbox);
    for (table, needs) in [
        ("comparison", "report --compare-at DAY"),
        ("change-comparison", "report --compare-at changes"),
        ("what-if", "audit --what-if FILE"),
        ("sessions", "audit --session-minutes MINUTES"),
        ("networks", "audit --session-minutes MINUTES --networks FILE"),
        ("costs", "audit --cost-per-gb PRICE"),
        ("sections", "audit --paths"),
        ("paths", "audit --paths"),
        ("urls", "audit --paths"),
    ] {
        let ran = sandbox.run(&format!("report report --format jsonl --table {table}")).exits(2);
        ran.complains(&format!("this report has no table {table}; it needs {needs}"));
    }
    let compared = "report report --compare-at 2026-03-29 --format jsonl --table comparison";
    assert!(sandbox.run(compared).exits(0).stdout.lines().count() > 3);
}

#[test]
fn a_page_in_the_making_stands_in_no_ones_way() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(1, "/private", 200, BINGBOT));
    sandbox.run("audit --robots robots.txt -o report access.log").exits(0);
    sandbox.write("report/.report.html.botaudit-123", "half");
    sandbox.run("audit --robots robots.txt -o report access.log").exits(0);
    assert!(!sandbox.names("report").contains(&".report.html.botaudit-123".to_owned()));
}

#[test]
fn all_origins_of_a_broken_rule_are_counted() {
    let sandbox = Sandbox::new();
    let mut log = String::new();
    for at in 0..120 {
        sandbox.write(&format!("robots/h{at}.example.txt"), "User-agent: *\nDisallow: /p\n");
        log += &format!("h{at}.example:443 {}", line(at, "/p", 200, BINGBOT));
    }
    sandbox.write("access.log", log);
    let summary = sandbox.run("audit --robots robots --by rule access.log").exits(0).stdout;
    assert!(summary.contains(" disallow: /p  120 origins  bingbot 120\n"), "{summary}");
    assert!(sandbox.text("botaudit-report/report.html").contains(" and 116 more"));
}
