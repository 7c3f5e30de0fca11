//! What a draft of a robots.txt would change.

use super::chunks::{self, Setting};
use super::program::{Sandbox, line};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const ADSBOT: &str = "AdsBot-Google (+http://www.google.com/adsbot.html)";
const CHATGPT_USER: &str = "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)";

const PRESENT: &str = "User-agent: *\nAllow: /private/open\nDisallow: /private\n";
const DRAFT: &str = "User-agent: GPTBot\nDisallow: /\nAllow: /private/2\n\n\
                     User-agent: *\nDisallow: /shop\n";

const RULES: &str = "crawler change draft_line draft_directive draft_pattern draft_group \
                     present_line present_directive present_pattern present_group requests";

fn lines() -> Vec<String> {
    vec![
        line(9, "/robots.txt", 200, GPTBOT),
        line(8, "/shop?a=1", 200, GPTBOT),
        line(7, "/", 200, GPTBOT),
        line(6, "/private/open", 200, GPTBOT),
        line(5, "/private/1", 200, GPTBOT),
        line(4, "/private/2", 200, GPTBOT),
        line(3, "/shop?b=2", 200, BINGBOT),
        line(2, "/private/1", 200, BINGBOT),
        line(1, "/news", 200, BINGBOT),
        line(1, "*", 400, BINGBOT),
        // `*` binds neither of them.
        line(1, "/shop", 200, ADSBOT),
        line(1, "/private", 200, CHATGPT_USER),
    ]
}

fn sandbox(lines: &[String]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", PRESENT);
    sandbox.write("draft.txt", DRAFT);
    sandbox.write("access.log", lines.concat());
    sandbox
}

#[test]
fn what_if_lists_the_changes_and_their_rules() {
    let sandbox = sandbox(&lines());
    let arguments = "--robots robots.txt --origin https://example.com --what-if draft.txt";
    let ran = sandbox.run(&format!("audit {arguments} -o report access.log")).exits(0);
    let table = sandbox.table("report/what-if.csv");
    assert_eq!(
        table.cells(RULES),
        [
            "GPTBot | newly-disallowed | 2 | disallow | / | GPTBot |  |  |  |  | 2",
            "GPTBot | newly-disallowed | 2 | disallow | / | GPTBot | 2 | allow | /private/open | * | 1",
            "GPTBot | newly-allowed | 3 | allow | /private/2 | GPTBot | 3 | disallow | /private | * | 1",
            "bingbot | newly-disallowed | 6 | disallow | /shop | * |  |  |  |  | 1",
            "bingbot | newly-allowed |  |  |  |  | 3 | disallow | /private | * | 1",
        ]
    );
    assert_eq!(
        table.cells("origin example_target example_file example_line first_seen_utc last_seen_utc")
            [0],
        "https://example.com | / | access.log | 3 | 2026-03-01T00:00:07Z | 2026-03-01T00:00:08Z"
    );
    let said = "  what if draft.txt were in force: 4 requests newly disallowed (GPTBot 3, bingbot 1), \
                2 newly allowed (GPTBot 1, bingbot 1)\n  \
                and 3 of 9 requests judged as before; see what-if.csv\n";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    let run = sandbox.json("report/run.json");
    let simulation = &run["what_if"];
    let sums = ["judged", "newly_disallowed", "newly_allowed", "unchanged"];
    assert_eq!(sums.map(|name| simulation[name].as_u64().unwrap()), [9, 4, 2, 3]);
    assert_eq!(simulation["draft"]["source"], "draft.txt");
    assert_eq!(run["options"]["what_if"], "draft.txt");
    assert!(run["files"].as_array().unwrap().contains(&"what-if.csv".into()));
    // The verdicts of the rules in force do not change.
    let simulated = sandbox.text("report/summary.csv");
    sandbox
        .run("audit --robots robots.txt --origin https://example.com -o report access.log")
        .exits(0);
    assert_eq!(sandbox.text("report/summary.csv"), simulated);
    assert!(!sandbox.names("report").contains(&"what-if.csv".to_owned()));
    assert!(sandbox.json("report/run.json").get("what_if").is_none());
}

/// Tools have rows in the table, but the headline is about crawlers.
#[test]
fn tools_are_not_in_the_headline() {
    let scanner = "Mozilla/5.0 (l9scan/2.0; +https://github.com/LeakIX/l9scan)";
    let sandbox = sandbox(&[line(1, "/shop", 200, scanner), line(2, "/shop", 200, BINGBOT)]);
    let ran =
        sandbox.run("audit --robots robots.txt --what-if draft.txt -o report access.log").exits(0);
    assert!(
        ran.stdout.contains("1 request newly disallowed (bingbot 1), 0 newly"),
        "{}",
        ran.stdout
    );
    let what_if = &sandbox.json("report/run.json")["what_if"];
    assert_eq!([&what_if["newly_disallowed"], &what_if["crawlers"]["newly_disallowed"]], [2, 1]);
    let rows = sandbox.table("report/what-if.csv").cells("crawler change requests");
    assert_eq!(rows, ["bingbot | newly-disallowed | 1", "l9explore | newly-disallowed | 1"]);
}

#[test]
fn queries_and_those_who_are_not_bound_are_treated_as_everywhere() {
    let sandbox = sandbox(&lines());
    let arguments = "--robots robots.txt --what-if draft.txt -o report";
    sandbox.run(&format!("audit {arguments} --strip-query access.log")).exits(0);
    let targets = sandbox.table("report/what-if.csv").cells("crawler example_target");
    assert!(targets.contains(&"bingbot | /shop?".to_owned()), "{targets:?}");
    sandbox.run(&format!("audit {arguments} --include-unbound access.log")).exits(0);
    let table = sandbox.table("report/what-if.csv");
    let others: Vec<String> = table
        .cells(RULES)
        .into_iter()
        .filter(|row| row.starts_with("AdsBot") || row.starts_with("ChatGPT"))
        .collect();
    assert_eq!(
        others,
        [
            "AdsBot-Google | newly-disallowed | 6 | disallow | /shop | * |  |  |  |  | 1",
            "ChatGPT-User | newly-allowed |  |  |  |  | 3 | disallow | /private | * | 1",
        ]
    );
}

#[test]
fn threads_and_parts_do_not_show() {
    let lines = lines();
    let sandbox = sandbox(&lines);
    for (at, part) in lines.rchunks(2).enumerate() {
        let backwards: Vec<String> = part.iter().rev().cloned().collect();
        sandbox.write(&format!("parts/{at}.log"), backwards.concat());
    }
    let arguments = "audit --robots robots.txt --what-if draft.txt";
    sandbox.run(&format!("{arguments} -o one --threads 1 parts")).exits(0);
    sandbox.run(&format!("{arguments} -o three --threads 3 parts")).exits(0);
    assert_eq!(sandbox.text("one/what-if.csv"), sandbox.text("three/what-if.csv"));
    assert_eq!(sandbox.table("one/what-if.csv").sum("requests"), 6);
    let setting = Setting { robots: "robots.txt", draft: Some("draft.txt"), ..Setting::default() };
    chunks::never_show(&sandbox, &setting, &["parts"]);
}

#[test]
fn the_draft_is_for_the_origins_that_are_named() {
    let sandbox = Sandbox::new();
    for name in ["a.example", "b.example"] {
        sandbox.write(&format!("robots/{name}"), PRESENT);
    }
    sandbox.write("draft.txt", DRAFT);
    let of = |host: &str| format!("{host}:443 {}", line(1, "/shop", 200, BINGBOT));
    let hosts = ["a.example", "b.example", "c.example"];
    sandbox.write("access.log", hosts.map(of).concat());
    sandbox.write("a.log", of("a.example") + &of("c.example"));
    let origins = |arguments: &str| {
        let arguments = format!("audit --robots robots --what-if draft.txt {arguments} -o report");
        let ran = sandbox.run(&arguments).exits(0);
        (sandbox.table("report/what-if.csv").cells("origin requests"), ran)
    };
    let (a, b) = ("https://a.example | 1".to_owned(), "https://b.example | 1".to_owned());
    let (named, _) = origins("--what-if-for https://b.example access.log");
    assert_eq!(named, std::slice::from_ref(&b));
    let (named, _) =
        origins("--what-if-for https://b.example --what-if-for https://a.example:443/ access.log");
    assert_eq!(named, [a.clone(), b.clone()]);
    let (named, _) = origins("--origin https://b.example access.log");
    assert_eq!(named, [b]);
    let (only, _) = origins("a.log");
    assert_eq!(only, [a]);
    let (none, ran) = origins("--what-if-for https://c.example access.log");
    assert!(none.is_empty());
    ran.complains("--what-if-for https://c.example: the rules in force decided no request");
    let ran = sandbox.run("audit --robots robots --what-if draft.txt -o new access.log").exits(2);
    ran.complains("2 origins with their own robots.txt (https://a.example, https://b.example)")
        .complains("--what-if-for https://a.example");
    assert!(!sandbox.path("new").exists());
}

#[test]
fn one_file_for_all_hosts_is_replaced_for_all_of_them() {
    let sandbox = sandbox(&[]);
    let of = |host: &str| format!("{host}:80 {}", line(1, "/shop", 200, BINGBOT));
    sandbox.write("access.log", ["a.example", "b.example"].map(of).concat());
    sandbox.run("audit --robots robots.txt --what-if draft.txt -o report access.log").exits(0);
    assert_eq!(
        sandbox.table("report/what-if.csv").cells("origin requests"),
        ["http://a.example | 1", "http://b.example | 1"]
    );
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let sandbox = sandbox(&lines());
    let run = |arguments: &str| {
        sandbox.run(&format!("audit --robots robots.txt {arguments} access.log")).exits(2)
    };
    for (name, text, what) in [
        ("page.html", "<!DOCTYPE html>\n<html></html>\n", "an HTML page"),
        ("empty.txt", "", "an empty file"),
    ] {
        sandbox.write(name, text);
        run(&format!("--what-if {name}"))
            .complains(&format!("--what-if: {name} is {what}, not a robots.txt; a draft that"));
    }
    run("--what-if access.log")
        .complains("--what-if: access.log is an access log, not a robots.txt");
    run("--what-if missing.txt").complains("cannot read robots.txt missing.txt");
    run("--what-if-for https://a.example")
        .complains("--what-if-for: it has no effect without --what-if");
    run("--what-if draft.txt --what-if-for /a")
        .complains("not a valid origin; write one as https://example.com");
}
