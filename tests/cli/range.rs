//! Reports of several days put together.

use crate::program::{Sandbox, line, repository};

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";

/// The sample data, audited with `arguments` into `report`.
#[track_caller]
fn audit(sandbox: &Sandbox, report: &str, arguments: &str) {
    let report = sandbox.path(report);
    let mut command = sandbox.command(&format!(
        "audit -q --min-parse-rate 0 --robots sample-data/robots {arguments} -o {} sample-data/logs",
        report.display()
    ));
    assert!(command.current_dir(repository()).status().unwrap().success());
}

/// An audit of each day of the sample data in `days/`.
fn audit_days(sandbox: &Sandbox) {
    for (day, next) in [(28, 29), (29, 30), (30, 31)] {
        let arguments = format!("--since 2026-03-{day} --until 2026-03-{next}");
        audit(sandbox, &format!("days/2026-03-{day}"), &arguments);
    }
}

/// The whole of `table` without the columns `but`.
fn without(sandbox: &Sandbox, table: &str, but: &[&str]) -> Vec<Vec<String>> {
    let text = sandbox.text(table);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let kept: Vec<usize> = (0..rows[0].len()).filter(|&at| !but.contains(&&rows[0][at])).collect();
    rows.iter().map(|row| kept.iter().map(|&at| row[at].to_owned()).collect()).collect()
}

#[test]
fn the_days_together_are_what_an_audit_of_all_tells() {
    let sandbox = Sandbox::new();
    audit(&sandbox, "all", "");
    audit_days(&sandbox);
    sandbox.run("report days/2026-03-30 days/2026-03-28 days/2026-03-29 -o some").exits(0);
    sandbox.run("report days --from 2026-03-28 --to 2026-03-30 -o range").exits(0);
    // What was read on the day before is not known to the report of a day; a line without a time
    // is read each day.
    let reading = [
        "prior_fetch_own",
        "prior_fetch_operator",
        "prior_fetch_none",
        "prior_fetch_failed",
        "last_fetch_200",
        "last_fetch_304",
        "fetch_age_minutes_min",
        "fetch_age_minutes_median",
        "fetch_age_minutes_max",
    ];
    for (table, but) in [
        ("summary.csv", &[][..]),
        ("daily.csv", &[]),
        ("hourly.csv", &[]),
        ("robots-rules.csv", &[]),
        ("unknown-crawlers.csv", &["robots_txt_naming"]),
        ("violations.csv", &reading),
        ("robots-fetches.csv", &reading),
        ("crawl-delay.csv", &[]),
        ("rejects.csv", &["lines"]),
    ] {
        let all = without(&sandbox, &format!("all/{table}"), but);
        assert_eq!(without(&sandbox, &format!("range/{table}"), but), all, "{table}");
        assert_eq!(without(&sandbox, &format!("some/{table}"), but), all, "{table}");
    }
    let (all, range) = (sandbox.json("all/run.json"), sandbox.json("range/run.json"));
    for name in ["requests", "requests_by_identity", "robots", "complete", "files"] {
        assert_eq!(range[name], all[name], "{name}");
    }
    assert_eq!(range["lines"]["crawler"], all["lines"]["crawler"]);
    assert_eq!(range["options"]["since"], "2026-03-28T00:00:00Z");
    assert_eq!(range["options"]["until"], "2026-03-31T00:00:00Z");
    assert_eq!(range["reports"].as_array().unwrap().len(), 3);
    assert!(range["warnings"].as_array().unwrap().is_empty(), "{range}");
}

#[test]
fn the_page_names_the_days() {
    let sandbox = Sandbox::new();
    audit_days(&sandbox);
    let ran = sandbox.run("report days --from 2026-03-27 --to 2026-03-29 -o range").exits(0);
    assert!(ran.stdout.ends_with("\npage: range/report.html\n"), "{}", ran.stdout);
    let page = sandbox.text("range/report.html");
    for words in [
        "<title>Crawlers and robots.txt: 7 origins, 2026-03-28 to 2026-03-29</title>",
        "in 2 reports</p>",
        "there is no report of 2026-03-27",
        "Reports that were put together",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(ran.stdout.contains("  note: there is no report of 2026-03-27\n"), "{}", ran.stdout);
    // It is a report like any other: shown again, put together again, replaced.
    sandbox.run("report range").exits(0);
    assert_eq!(sandbox.text("range/report.html"), page);
    sandbox.run("report range days/2026-03-30 -o all").exits(0);
    sandbox.run("report days --from 2026-03-28 --to 2026-03-30 -o range").exits(0);
    assert_eq!(sandbox.text("all/summary.csv"), sandbox.text("range/summary.csv"));
}

#[test]
fn equal_reports_give_equal_bytes() {
    let sandbox = Sandbox::new();
    audit_days(&sandbox);
    for name in ["one", "two"] {
        sandbox.run(&format!("report days/2026-03-28 days/2026-03-29 -o {name}")).exits(0);
    }
    for name in sandbox.names("one") {
        let read = |of: &str| sandbox.text(&format!("{of}/{name}"));
        let timeless = |text: String| -> String {
            text.lines().filter(|line| !line.contains("\"made_at_utc\"")).collect()
        };
        assert_eq!(timeless(read("one")), timeless(read("two")), "{name}");
    }
}

#[test]
fn what_cannot_be_told_from_sums_is_left_empty_or_said() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let read = line(1, "/robots.txt", 200, BINGBOT);
    sandbox.write("a.log", read + &line(600, "/private", 200, BINGBOT));
    let late = line(7_200, "/private/late", 200, BINGBOT);
    sandbox.write("b.log", line(3_600, "/private/x", 200, BINGBOT) + &late);
    sandbox.run("audit -q --robots robots.txt --origin http://a.example -o a a.log").exits(0);
    let b = "audit -q --robots robots.txt --origin http://a.example --dialect rfc9309 -o b b.log";
    sandbox.run(b).exits(0);
    let mut ran = sandbox.run("report b a -o both").exits(0);
    let table = sandbox.table("both/violations.csv");
    assert_eq!(
        table.cells(
            "requests fetch_age_minutes_median fetch_age_minutes_min example_target example_file"
        ),
        ["3 |  | 10 | /private | a.log"]
    );
    let table = sandbox.table("both/robots-fetches.csv");
    assert_eq!(
        table.cells("successful_fetches requests_before_first_fetch violations"),
        ["1 | 0 | 3"]
    );
    for words in ["several reports tell of 2026-03-01;", "different options: dialect"] {
        ran = ran.complains(words);
        assert!(sandbox.text("both/report.html").contains(words), "{words}");
    }
    let json = "report a b -o both --format json --table violations";
    let json = sandbox.run(json).exits(0).stdout;
    assert!(json.contains("\"requests\":3,") && json.contains("\"fetch_age_minutes_median\":null"));
}

#[test]
fn a_draft_is_told_of_where_all_tell_of_it() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("draft.txt", "User-agent: *\nDisallow: /\n");
    sandbox.write("a.log", line(1, "/", 200, BINGBOT));
    sandbox.write("b.log", line(50_000, "/x", 200, GPTBOT) + &line(50_001, "/y", 200, BINGBOT));
    let audit = "audit -q --robots robots.txt --origin http://a.example";
    for name in ["a", "b"] {
        sandbox.run(&format!("{audit} --what-if draft.txt -o {name} {name}.log")).exits(0);
    }
    sandbox.run(&format!("{audit} -o plain b.log")).exits(0);
    sandbox.run("report a b -o both").exits(0);
    let table = sandbox.table("both/what-if.csv");
    assert_eq!(table.cells("crawler requests"), ["GPTBot | 1", "bingbot | 2"]);
    let run = sandbox.json("both/run.json");
    assert_eq!(run["what_if"]["not_spoofed"]["newly_disallowed"], 3);
    assert!(sandbox.text("both/report.html").contains("What the draft would change"));
    sandbox.run("report a plain -o both").exits(0);
    assert!(!sandbox.names("both").contains(&"what-if.csv".to_owned()));
}

#[test]
fn mistakes_are_named_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow:\n");
    sandbox.write("a.log", line(1, "/", 200, BINGBOT));
    sandbox.run("audit -q --robots robots.txt -o days/2026-03-01 a.log").exits(0);
    let day = "days/2026-03-01";
    sandbox.run(&format!("report {day} {day}")).exits(2).complains("name its directory with -o");
    sandbox.run(&format!("report {day} ./{day} -o x")).exits(2).complains("is named twice");
    sandbox.run(&format!("report {day} gone -o x")).exits(2).complains("gone/run.json");
    let range = "report days --from 2026-04-01 --to 2026-04-03 -o x";
    sandbox.run(range).exits(2).complains("days: holds no report of 2026-04-01 to 2026-04-03");
    sandbox.run("report days --from 2026-04-01 -o x").exits(2).complains("--to");
    sandbox.run("report days --from 1.4. --to 2.4. -o x").exits(2).complains("as 2026-11-20");
    sandbox.write("mine/photo.jpg", "");
    sandbox.run(&format!("report {day} x -o mine")).exits(2).complains("will not be replaced");
    assert_eq!(sandbox.names("."), ["a.log", "days", "mine", "robots.txt"]);
}
