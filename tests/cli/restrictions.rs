//! `botaudit robots restrictions`: how far robots.txt files restrict crawlers.

use botaudit::matcher::reference;
use botaudit::matcher::select::select;
use botaudit::robots::model::StarGroups;
use botaudit::robots::parse::parse_body;
use botaudit::url::path::Dialect;

use super::program::Sandbox;

/// Three versions and an outage of one origin, and one that never answered.
fn archive() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("one.txt", "User-agent: *\nDisallow: /a\n");
    sandbox.write(
        "two.txt",
        "User-agent: GPTBot\nCrawl-delay: 5\nDisallow: /\n\nUser-agent: *\nDisallow: /a\n",
    );
    sandbox.write(
        "manifest.csv",
        "origin,fetched_at,status,path,max_age\n\
         https://a.example,2026-01-10,200,one.txt,\n\
         https://a.example,2026-02-10,200,two.txt,\n\
         https://a.example,2026-03-31T23:00:00Z,503,,\n\
         https://a.example,2026-04-30T23:00:00Z,404,,\n\
         http://b.example,2026-03-01,503,,\n",
    );
    sandbox.run("robots import -a db manifest.csv").exits(0);
    sandbox
}

const CELLS: &str = "origin snapshot_utc outcome name restriction group rule_line";

#[test]
fn the_newest_rules_of_each_origin_are_shown() {
    let sandbox = archive();
    let ran = sandbox.run("robots restrictions --robots db --token GPTBot -o now.csv").exits(0);
    assert_eq!(ran.stderr, "2 rows\n  GPTBot: 1 none, 1 unreachable\n");
    assert_eq!(
        sandbox.table("now.csv").cells(CELLS),
        [
            "http://b.example | 2026-03-01T00:00:00Z | 503 | GPTBot | unreachable |  | ",
            "https://a.example | 2026-04-30T23:00:00Z | 404 | GPTBot | none |  | ",
        ]
    );
    let at =
        "robots restrictions --robots db --at 2026-02-20 --token GPTBot --token other -qo at.csv";
    assert_eq!(sandbox.run(at).exits(0).stderr, "");
    assert_eq!(
        sandbox.table("at.csv").cells(&format!("{CELLS} crawl_delay rules")),
        [
            "http://b.example |  |  | GPTBot | unknown |  |  |  | ",
            "http://b.example |  |  | other | unknown |  |  |  | ",
            "https://a.example | 2026-02-10T00:00:00Z | 200 | GPTBot | disallow-all | own | 3 | 5 | 2",
            "https://a.example | 2026-02-10T00:00:00Z | 200 | other | disallow | star |  |  | 2",
        ]
    );
}

#[test]
fn periods_have_the_rules_at_their_ends() {
    let sandbox = archive();
    let monthly = "robots restrictions --robots db --every month --token GPTBot --json -q";
    let lines = sandbox.run(monthly).exits(0).stdout;
    let rows: Vec<String> = lines
        .lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| row[key].as_str().unwrap_or("null").to_owned();
            format!("{} {} {} {}", text("at_utc"), text("restriction"), text("group"), row["rules"])
        })
        .collect();
    assert_eq!(
        rows,
        [
            "2026-03-31T23:59:59Z none null null",
            "2026-01-31T23:59:59Z disallow star 1",
            "2026-02-28T23:59:59Z disallow-all own 2",
            "2026-03-31T23:59:59Z unreachable null null",
            "2026-04-30T23:59:59Z none null null",
        ]
    );
}

/// A crawler of the registry may ignore `*`; a token alone never does.
#[test]
fn crawlers_and_tokens_answer_different_questions() {
    let sandbox = Sandbox::new();
    sandbox.write("robots/b.example.txt", "User-agent: *\nDisallow: /\nAllow: /public\n");
    sandbox.write("robots/https_a.example_8443.txt", "<html><body>Not found</body></html>");
    let words = "--robots robots --crawler AdsBot-Google --token AdsBot-Google \
                 --user-agent FooBot/1.0";
    let ran = sandbox.run(&format!("robots restrictions {words}")).exits(0);
    sandbox.write("out.csv", &ran.stdout);
    assert_eq!(
        sandbox
            .table("out.csv")
            .cells("origin outcome restriction group reason not_robots_txt name_kind lines"),
        [
            "b.example | file | none | none | ignores-star |  | crawler | 3",
            "b.example | file | allow-list | star |  |  | token | 3",
            "b.example | file | allow-list | star |  |  | token | 3",
            "https://a.example:8443 | file | none | none |  | an HTML page | crawler | 1",
            "https://a.example:8443 | file | none | none |  | an HTML page | token | 1",
            "https://a.example:8443 | file | none | none |  | an HTML page | token | 1",
        ]
    );
}

#[test]
fn mistakes_are_named() {
    let sandbox = archive();
    let run = |words: &str| sandbox.run(&format!("robots restrictions {words}")).exits(2);
    run("--robots db").complains("no crawler given; use --crawler, --token or --user-agent");
    run("--robots db --crawler GTPBot").complains("did you mean GPTBot");
    run("--robots db --token GPTBot --at yesterday").complains("not a valid time");
    run("--robots one.txt --token GPTBot --every month").complains("need an archive");
    run("--robots none.db --token GPTBot").complains("cannot read --robots none.db");
    sandbox.write("mine.csv", "mine\n");
    run("--robots one.txt --token GPTBot -o mine.csv").complains("was not written by botaudit");
    assert_eq!(sandbox.text("mine.csv"), "mine\n");
    sandbox.run("robots restrictions -q --robots one.txt --token GPTBot -o x.csv").exits(0);
    sandbox.run("robots restrictions -q --robots two.txt --token GPTBot -o x.csv").exits(0);
    assert_eq!(sandbox.table("x.csv").cells("restriction"), ["disallow-all"]);
    let damaged = sandbox.run("robots restrictions --robots two.txt --token GPTBot -o /dev/full");
    damaged.exits(2).complains("cannot write");
}

/// Beside the rules themselves: of random files, by many paths.
#[test]
fn restrictions_are_those_of_a_slow_judge() {
    let sandbox = Sandbox::new();
    let lines =
        ["Disallow: /", "Allow: /", "Disallow: /a", "Allow: /a", "Disallow: /*", "Allow: /a/b"];
    let mut files = Vec::new();
    for first in lines {
        for second in lines {
            for group in ["GPTBot", "*", "other"] {
                let text = format!("User-agent: {group}\n{first}\n{second}\n");
                let name = format!("h{:03}.example", files.len());
                sandbox.write(&format!("robots/{name}.txt"), &text);
                files.push((name, text));
            }
        }
    }
    sandbox.run("robots restrictions -q --robots robots --token GPTBot -o out.csv").exits(0);
    let rows = sandbox.table("out.csv").cells("origin restriction group");
    assert_eq!(rows.len(), files.len());
    for (row, (name, text)) in rows.iter().zip(files) {
        let parsed = parse_body(text.as_bytes());
        let selection = select(&parsed, &["GPTBot".to_owned()], StarGroups::Honoured);
        let rules = selection.rules();
        let allowed: Vec<bool> = ["/", "/x", "/a", "/ax", "/a/b", "/a/b/c", "/a/c"]
            .iter()
            .map(|path| reference::decide(&rules, Dialect::Google, path.as_bytes()).allowed())
            .collect();
        let some = |is: bool| allowed.contains(&is);
        let expected = match (some(true), some(false)) {
            (true, false) => "none",
            (false, true) => "disallow-all",
            // Most paths are like /x.
            _ if allowed[1] => "disallow",
            _ => "allow-list",
        };
        let group = match text.split_once('\n').unwrap().0 {
            "User-agent: GPTBot" => "own",
            "User-agent: *" => "star",
            _ => "none",
        };
        let group = if group == "none" { "none" } else { group };
        assert_eq!(*row, format!("{name} | {expected} | {group}"), "{text}");
    }
}

#[test]
fn files_that_are_for_no_host_are_named() {
    let sandbox = Sandbox::new();
    for name in ["a.example", "NOTES", "README"] {
        sandbox.write(&format!("robots/{name}"), "User-agent: *\nDisallow: /\n");
    }
    let why = "warning: robots/NOTES: the file name is not a host, so it was not used (and 1 more)";
    let ran = sandbox.run("robots restrictions --robots robots --token a -qo a.csv").exits(0);
    ran.complains(why);
    assert_eq!(sandbox.table("a.csv").cells("origin restriction"), ["a.example | disallow-all"]);
    sandbox.write("urls", "https://a.example/\n");
    sandbox.run("classify --robots robots --token a -qo b.csv urls").exits(0).complains(why);
}
