//! What crawlers do after a change of robots.txt: `reactions.csv`, the page and the summary.

use std::fmt::Write;

use super::program::Sandbox;

const OLD: &str = "User-agent: *\nDisallow: /old\n";
const NEW: &str = "# changed\nUser-agent: *\nDisallow: /shop\nDisallow: /cart\n";

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const SEARCHBOT: &str = "Mozilla/5.0; compatible; OAI-SearchBot/1.0; +https://openai.com/searchbot";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const CLAUDEBOT: &str = "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)";
const CCBOT: &str = "CCBot/2.0 (https://commoncrawl.org/faq/)";

/// The rules change between the 9th and the 10th of March, 00:00.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("old.txt", OLD);
    sandbox.write("new.txt", NEW);
    let manifest = "origin,fetched_at,status,path,max_age\n\
                    https://a.example,2026-03-01,200,old.txt,\n\
                    https://a.example,2026-03-09,200,old.txt,\n\
                    https://a.example,2026-03-10,200,new.txt,\n\
                    https://a.example,2026-03-11,503,,\n\
                    https://a.example,2026-03-20,200,new.txt,\n";
    sandbox.write("manifest.csv", manifest);
    sandbox.run("robots import -q -a db manifest.csv").exits(0);
    sandbox
}

/// One line a day at `hour`.
fn daily(days: std::ops::RangeInclusive<u32>, hour: u32, path: &str, agent: &str) -> String {
    days.fold(String::new(), |mut log, day| {
        writeln!(
            log,
            "192.0.2.1 - - [{day:02}/Mar/2026:{hour:02}:00:00 +0000] \"GET {path} HTTP/1.1\" 200 0 \
             \"-\" \"{agent}\""
        )
        .unwrap();
        log
    })
}

fn log() -> String {
    [
        // Obeys its operator's fetch.
        daily(1..=9, 12, "/shop/1", GPTBOT),
        daily(10..=10, 2, "/shop/2", GPTBOT),
        daily(1..=30, 13, "/about", GPTBOT),
        daily(10..=10, 6, "/robots.txt", SEARCHBOT),
        daily(12..=12, 6, "/robots.txt", GPTBOT),
        daily(20..=20, 6, "/old/1", GPTBOT),
        // Goes on.
        daily(1..=30, 12, "/cart?a", BINGBOT),
        daily(10..=10, 7, "/robots.txt", BINGBOT),
        // Does not fetch the new rules.
        daily(1..=12, 12, "/cart?a", CLAUDEBOT),
        daily(1..=1, 1, "/robots.txt", CLAUDEBOT),
        // Comes no more.
        daily(1..=8, 12, "/shop", CCBOT),
    ]
    .concat()
}

const AUDIT: &str = "audit --robots db --origin https://a.example -o out";

const ROWS: &str = "crawler direction rule_lines days_before requests_before requests_uncertain \
                    first_fetch_utc fetched_by requests_until_fetch requests_after_fetch \
                    promised_hours requests_after_promise last_request_utc other_requests_after \
                    reaction reaction_hours_min reaction_hours_max";

#[test]
fn each_change_has_the_reaction_of_each_crawler() {
    let sandbox = sandbox();
    sandbox.write("access.log", log());
    let ran = sandbox.run(&format!("{AUDIT} access.log")).exits(0);
    let table = sandbox.table("out/reactions.csv");
    let mut rows = table.cells(ROWS);
    rows.retain(|row| !row.contains("newly-allowed") || row.starts_with("GPTBot"));
    let expected = [
        "CCBot | newly-disallowed | 3 | 7.958333 | 8 | 0 |  |  | 0 | 0 |  |  | \
         2026-03-08T12:00:00Z |  | gone |  | ",
        "ClaudeBot | newly-disallowed | 4 | 7.958333 | 8 | 1 |  |  | 3 | 0 |  |  | \
         2026-03-12T12:00:00Z |  | never-fetched |  | ",
        "GPTBot | newly-disallowed | 3 | 7.958333 | 8 | 1 | 2026-03-10T06:00:00Z | operator | 1 | 0 \
         | 24 | 0 | 2026-03-10T02:00:00Z | 23 | obeyed-at-once | 2.000000 | 30.000000",
        "GPTBot | newly-allowed | 2 | 7.958333 | 0 | 0 | 2026-03-10T06:00:00Z | operator | 0 | 1 | 24 \
         | 1 | 2026-03-20T06:00:00Z | 22 | found | 246.000000 | 270.000000",
        "OAI-SearchBot | newly-disallowed |  | 7.958333 | 0 | 0 | 2026-03-10T06:00:00Z | own | 0 | 0 \
         | 24 | 0 |  | 0 | too-few-requests |  | ",
        "bingbot | newly-disallowed | 4 | 7.958333 | 8 | 1 | 2026-03-10T07:00:00Z | own | 0 | 21 |  \
         |  | 2026-03-30T12:00:00Z | 0 | still-requesting |  | ",
    ];
    assert_eq!(rows, expected);
    let times = "changed_after_utc changed_before_utc old_digest new_digest";
    let changed = &table.cells(times)[0];
    assert!(
        changed.starts_with("2026-03-09T00:00:00Z | 2026-03-10T00:00:00Z | sha256:"),
        "{changed}"
    );
    let said = "1 crawler still requested what a change of robots.txt disallowed (bingbot 21)";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    let page = sandbox.text("out/report.html");
    for drawn in [
        "Reactions to changes of robots.txt",
        "bingbot (unverified) at https://a.example",
        "robots.txt changed between 2026-03-09T00:00:00Z and 2026-03-10T00:00:00Z",
        "fetched at 2026-03-10T07:00:00Z",
        "2026-03-30, newly disallowed: 1",
        // The rule is looked up as it was at the time of a violation.
        "--crawler bingbot --robots db --at 2026-03-20T12:00:00Z",
    ] {
        assert!(page.contains(drawn), "{drawn}");
    }
}

#[test]
fn thresholds_decide_and_are_options() {
    let sandbox = sandbox();
    sandbox.write("access.log", log());
    let reactions = |flags: &str| {
        sandbox.run(&format!("{AUDIT} -q {flags} access.log")).exits(0);
        let rows =
            sandbox.table("out/reactions.csv").cells("crawler direction days_before reaction");
        rows.into_iter().find(|row| row.starts_with("GPTBot | newly-dis")).unwrap()
    };
    let row =
        |days: &str, reaction: &str| format!("GPTBot | newly-disallowed | {days} | {reaction}");
    assert_eq!(reactions(""), row("7.958333", "obeyed-at-once"));
    assert_eq!(reactions("--reaction-requests 50"), row("7.958333", "too-few-requests"));
    assert_eq!(reactions("--reaction-days 2"), row("2.000000", "obeyed-at-once"));
    // No request is expected before the end of the logs.
    assert_eq!(reactions("--until 2026-03-11"), row("7.958333", "too-few-requests"));
}

#[test]
fn one_robots_txt_has_no_changes() {
    let sandbox = sandbox();
    sandbox.write("access.log", log());
    sandbox.run("audit -q --robots old.txt -o out access.log").exits(0);
    assert_eq!(sandbox.text("out/reactions.csv").lines().count(), 1);
    assert!(!sandbox.text("out/report.html").contains("Reactions to changes"), "a section");
}

/// An audit of all lines at once, of small chunks, and of parts that are merged give the same bytes.
#[test]
fn parts_give_the_same_reactions_in_any_order() {
    let sandbox = sandbox();
    let log = log();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    sandbox.write("access.log", &log);
    sandbox.run(&format!("{AUDIT} -q access.log")).exits(0);
    let whole = sandbox.text("out/reactions.csv");
    for part in 0..3 {
        let lines: Vec<&str> = lines.iter().rev().skip(part).step_by(3).copied().collect();
        sandbox.write(&format!("{part}.log"), lines.concat());
        let arguments = "audit -q --robots db --origin https://a.example";
        sandbox.run(&format!("{arguments} --partial {part}.tally {part}.log")).exits(0);
    }
    for order in ["0.tally 1.tally 2.tally", "2.tally 1.tally 0.tally"] {
        sandbox.run(&format!("merge -o merged.tally {order}")).exits(0);
        sandbox.run("report -o merged merged.tally").exits(0);
        assert_eq!(sandbox.text("merged/reactions.csv"), whole);
    }
}

/// The archive of a nightly job grows, so earlier tallies do not know a change.
#[test]
fn a_change_that_some_logs_were_read_without_is_unknown() {
    let sandbox = sandbox();
    sandbox.write(
        "first.csv",
        "origin,fetched_at,status,path,max_age\n\
                                https://a.example,2026-03-01,200,old.txt,\n",
    );
    sandbox.run("robots import -q -a early first.csv").exits(0);
    sandbox.write("1.log", daily(1..=9, 12, "/shop", BINGBOT));
    sandbox.write("2.log", daily(10..=30, 12, "/shop", BINGBOT));
    for (number, archive) in [(1, "early"), (2, "db")] {
        let arguments = format!("audit -q --robots {archive} --origin https://a.example");
        sandbox.run(&format!("{arguments} --partial {number}.tally {number}.log")).exits(0);
    }
    sandbox.run("merge -o merged.tally 1.tally 2.tally").exits(0);
    let merged = sandbox.run("report -o merged merged.tally").exits(0);
    let cells = "crawler direction requests_before reaction";
    let rows = sandbox.table("merged/reactions.csv").cells(cells);
    assert_eq!(rows[0], "bingbot | newly-disallowed | 0 | unknown");
    merged.complains("audit these logs again");
}

/// The archive of the second part knows that the rules changed again on the 20th, that of the first
/// part does not: it counted later requests for the change of the 10th.
#[test]
fn requests_that_were_counted_beyond_the_next_change_leave_the_reaction_unknown() {
    let sandbox = sandbox();
    let later = "origin,fetched_at,status,path,max_age\n\
                 https://a.example,2026-03-01,200,old.txt,\n\
                 https://a.example,2026-03-09,200,old.txt,\n\
                 https://a.example,2026-03-10,200,new.txt,\n\
                 https://a.example,2026-03-20,200,new.txt,\n\
                 https://a.example,2026-03-21,200,old.txt,\n";
    sandbox.write("later.csv", later);
    sandbox.run("robots import -q -a later later.csv").exits(0);
    sandbox.write("1.log", daily(1..=30, 12, "/shop", BINGBOT));
    sandbox.write("2.log", daily(11..=12, 13, "/shop", BINGBOT));
    let reaction = |archives: [&str; 2]| {
        for (number, archive) in [1, 2].into_iter().zip(archives) {
            let arguments = format!("audit -q --robots {archive} --origin https://a.example");
            sandbox.run(&format!("{arguments} --partial {number}.tally {number}.log")).exits(0);
        }
        sandbox.run("report -o merged 1.tally 2.tally").exits(0);
        let cells = "changed_before_utc direction requests_before reaction";
        sandbox.table("merged/reactions.csv").cells(cells).remove(0)
    };
    let row = |reaction| format!("2026-03-10T00:00:00Z | newly-disallowed | 8 | {reaction}");
    assert_eq!(reaction(["db", "db"]), row("never-fetched"));
    assert_eq!(reaction(["later", "later"]), row("never-fetched"));
    assert_eq!(reaction(["db", "later"]), row("unknown"));
    assert_eq!(reaction(["later", "db"]), row("never-fetched"));
}

/// A day of `nightly` is continued with another time before the change: what was counted of one time
/// is not what was counted of the other.
#[test]
fn another_number_of_days_before_a_change_leaves_the_reaction_unknown() {
    let reaction = |days: usize| {
        let sandbox = sandbox();
        let night = |days: usize, log: &str| {
            let config = format!(
                "[sites.a]\nlogs = [\"a.log\"]\nrobots = \"db\"\n\
                 origin = \"https://a.example\"\nreaction_days = {days}\n"
            );
            sandbox.write("botaudit.toml", config);
            sandbox.write("a.log", log);
            sandbox.run("nightly --config botaudit.toml -q --day 2026-03-05").exits(0)
        };
        let first = daily(5..=5, 12, "/shop", BINGBOT);
        night(7, &first);
        let ran = night(days, &(first + &daily(5..=5, 13, "/shop", BINGBOT)));
        let cells = "direction requests_before reaction";
        let rows = sandbox.table("reports/a/2026-03-05/reactions.csv").cells(cells);
        (rows[0].clone(), ran.stderr.clone())
    };
    let (row, warnings) = reaction(7);
    assert_eq!(row, "newly-disallowed | 2 | too-few-requests");
    assert!(!warnings.contains("reactions"), "{warnings}");
    let (row, warnings) = reaction(2);
    assert_eq!(row, "newly-disallowed | 1 | unknown");
    assert!(warnings.contains("with other --reaction-days"), "{warnings}");
}

#[test]
fn a_tally_of_another_version_says_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.write("report.tally", "botaudit tally 1 0123\nrest");
    let why = "is a tally of another version of botaudit; merge it with that version, or audit its \
               logs again";
    sandbox.run("report report.tally").exits(2).complains(why);
}

#[test]
fn a_part_without_the_archive_leaves_reactions_unknown() {
    let sandbox = sandbox();
    sandbox.write("one.log", daily(1..=30, 12, "/shop", BINGBOT));
    sandbox.write("two.log", daily(11..=12, 13, "/cart", BINGBOT));
    sandbox.write("three.log", daily(14..=14, 13, "/cart", BINGBOT));
    for (log, robots) in [("one", "db"), ("two", "new.txt"), ("three", "db")] {
        let audit = format!("audit -q --robots {robots} --origin https://a.example");
        sandbox.run(&format!("{audit} --partial {log}.tally {log}.log")).exits(0);
    }
    for order in ["one two three", "two three one", "three one two"] {
        let tallies: Vec<String> = order.split(' ').map(|log| format!("{log}.tally")).collect();
        let ran = sandbox.run(&format!("report {} -o out", tallies.join(" "))).exits(0);
        let rows = sandbox.table("out/reactions.csv").cells("direction reaction");
        assert_eq!(rows, ["newly-disallowed | unknown", "newly-allowed | unknown"], "{order}");
        assert!(ran.stderr.contains("read without the archive"), "{}", ran.stderr);
    }
}
