//! `botaudit robots changes`: how the rules for crawlers changed through time.

use super::program::Sandbox;

const STAR: &str = "User-agent: *\nDisallow: /a\n";

/// An archive of `https://a.example` with these days, outcomes and texts.
fn archive(snapshots: &[(&str, u16, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut manifest = "origin,fetched_at,status,path,max_age\n".to_owned();
    for (at, (day, status, text)) in snapshots.iter().enumerate() {
        let path = if *status == 200 { format!("{at}.txt") } else { String::new() };
        if *status == 200 {
            sandbox.write(&path, text);
        }
        manifest += &format!("https://a.example,{day},{status},{path},\n");
    }
    sandbox.write("manifest.csv", &manifest);
    sandbox.run("robots import -a db manifest.csv").exits(0);
    sandbox
}

fn history() -> Sandbox {
    archive(&[
        ("2026-01-10", 200, STAR),
        ("2026-01-20", 200, "# the same\nUser-agent: *\nDisallow: /a\nDisallow: /a\n"),
        ("2026-01-25", 503, ""),
        (
            "2026-02-10",
            200,
            "User-agent: GPTBot\nCrawl-delay: 5\nDisallow: /\n\nUser-agent: *\nDisallow: /a\n",
        ),
        (
            "2026-02-20",
            200,
            "User-agent: GPTBot\nCrawl-delay: 9\nDisallow: /\nUser-agent: *\nDisallow: /ab\n",
        ),
        ("2026-03-10", 404, ""),
    ])
}

const CELLS: &str = "name changed_after_utc changed_before_utc effect old_restriction \
                     new_restriction old_group new_group rule_change rule_effect directive pattern \
                     rule_line";

#[test]
fn each_rule_that_differs_has_a_row() {
    let sandbox = history();
    let words = "robots changes --robots db --token GPTBot --token other -o out.csv";
    let ran = sandbox.run(words).exits(0);
    assert_eq!(
        ran.stderr, "5 changes\n  GPTBot: 1 loosened, 1 none, 1 tightened\n  other: 2 loosened\n",
        "the change of a comment, and the failure, are none"
    );
    let (first, last) = ("2026-02-10T00:00:00Z", "2026-02-20T00:00:00Z");
    let gone = "2026-03-10T00:00:00Z";
    assert_eq!(
        sandbox.table("out.csv").cells(CELLS),
        [
            format!(
                "GPTBot | 2026-01-20T00:00:00Z | {first} | tightened | disallow | disallow-all | star | own | removed | none | disallow | /a | 3"
            ),
            format!(
                "GPTBot | 2026-01-20T00:00:00Z | {first} | tightened | disallow | disallow-all | star | own | added | tightened | disallow | / | 3"
            ),
            format!(
                "GPTBot | {first} | {last} | none | disallow-all | disallow-all | own | own |  |  |  |  | "
            ),
            format!(
                "other | {first} | {last} | loosened | disallow | disallow | star | star | removed | loosened | disallow | /a | 6"
            ),
            format!(
                "other | {first} | {last} | loosened | disallow | disallow | star | star | added | none | disallow | /ab | 5"
            ),
            format!(
                "GPTBot | {last} | {gone} | loosened | disallow-all | none | own |  | removed | loosened | disallow | / | 3"
            ),
            format!(
                "other | {last} | {gone} | loosened | disallow | none | star |  | removed | loosened | disallow | /ab | 5"
            ),
        ]
    );
    let delays = sandbox.table("out.csv").cells("old_crawl_delay new_crawl_delay");
    assert_eq!(delays[2], "5 | 9");
    let digests = sandbox.table("out.csv").cells("old_digest new_digest");
    assert!(digests[0].starts_with("sha256:") && digests[0].contains(" | sha256:"));
    assert!(digests[5].starts_with("sha256:") && digests[5].ends_with(" | "));
}

#[test]
fn rows_are_objects_too() {
    let sandbox = history();
    let json = "robots changes --robots db --token GPTBot --json -qo out.jsonl";
    sandbox.run(json).exits(0);
    // Its own files are replaced, also by the other form.
    sandbox.run(json).exits(0);
    let rows: Vec<serde_json::Value> =
        sandbox.text("out.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[1]["rule_line"], 3);
    assert_eq!(rows[2]["rule_line"], serde_json::Value::Null);
    assert_eq!(rows[2]["new_crawl_delay"], "9");
    sandbox.run("robots changes --robots db --token GPTBot -qo out.jsonl").exits(0);
    let other = "robots restrictions --robots db --token GPTBot -o out.jsonl";
    sandbox.run(other).exits(2).complains("was not written by botaudit");
}

/// A crawler that ignores `*` sees no change of its groups.
#[test]
fn only_rules_that_bind_count() {
    let sandbox = archive(&[("2026-01-01", 200, ""), ("2026-01-02", 200, STAR)]);
    let words = "robots changes --robots db --crawler AdsBot-Google --token AdsBot-Google -o a.csv";
    let ran = sandbox.run(words).exits(0);
    assert_eq!(ran.stderr, "1 change\n  AdsBot-Google: none\n  AdsBot-Google: 1 tightened\n");
    assert_eq!(sandbox.table("a.csv").cells("old_group new_group pattern"), ["none | star | /a"]);
}

#[test]
fn mistakes_are_named() {
    let sandbox = history();
    let run = |words: &str| sandbox.run(&format!("robots changes {words}")).exits(2);
    run("--robots db").complains("no crawler given; use --crawler, --token or --user-agent");
    run("--robots 0.txt --token GPTBot").complains("--robots must be an archive");
    run("--robots . --token GPTBot").complains("--robots must be an archive");
    sandbox.write("mine.csv", "mine\n");
    run("--robots db --token GPTBot -o mine.csv").complains("was not written by botaudit");
    run("--robots db --token GPTBot -o db").complains("db");
}

/// Long patterns are cut, and thousands of rules that change take no time.
#[test]
fn large_and_hostile_files_are_compared() {
    let many = |word: &str| -> String {
        let rules: String = (0..9_000).map(|n| format!("{word}: /*{n}*a*b*c*\n")).collect();
        format!("User-agent: *\n{rules}Disallow: /{}\n", "x".repeat(3_000))
    };
    let sandbox =
        archive(&[("2026-01-01", 200, &many("Allow")), ("2026-01-02", 200, &many("Disallow"))]);
    sandbox.run("robots changes --robots db --token GPTBot -o out.csv").exits(0);
    let rows = sandbox.table("out.csv").cells("rule_change rule_effect");
    assert_eq!(rows.len(), 18_000);
    assert!(rows.iter().all(|row| row.ends_with("tightened")));
    let star = archive(&[("2026-01-01", 200, ""), ("2026-01-02", 200, &many("Allow"))]);
    star.run("robots changes --robots db --token GPTBot -o out.csv").exits(0);
    let patterns = star.table("out.csv").cells("pattern");
    assert_eq!(patterns.last().unwrap().len(), 1024 + "…".len());
}
