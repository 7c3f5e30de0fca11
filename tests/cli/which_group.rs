//! Which group of robots.txt binds a client, and requests for which that is uncertain.

use super::program::{Sandbox, line};

const ARCHIVE: &str = "AcmeArchive (compatible; heritrix/3.4.0-20200304 +https://acme.example/faq)";
const HERITRIX: &str = "Mozilla/5.0 (compatible; heritrix/3.4.0 +https://acme.example)";
const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";

const VERDICTS: &str = "crawler requests allowed violations unknown ambiguous_group";

fn audited(robots: &str, lines: &[String], code: i32) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", robots.replace(" | ", "\n"));
    sandbox.write("access.log", lines.concat());
    let arguments = "--robots robots.txt --origin https://example.com --no-bundled-ranges";
    sandbox.run(&format!("audit {arguments} -o report access.log")).exits(code);
    sandbox
}

/// Two clients of one crawler; only the name of the first has a group of its own.
#[test]
fn a_name_in_the_user_agent_comes_before_the_row() {
    let lines = [line(1, "/a", 200, ARCHIVE), line(2, "/a", 200, HERITRIX)];
    let open = "User-agent: * | Disallow: / | User-agent: AcmeArchive | Allow: /";
    let sandbox = audited(open, &lines, 0);
    let rows = sandbox.table("report/summary.csv").cells(VERDICTS);
    assert_eq!(rows, ["heritrix | 2 | 1 | 1 | 0 | 0"]);
    assert_eq!(sandbox.table("report/violations.csv").cells("rule_line group"), ["2 | *"]);
    let closed = "User-agent: AcmeArchive | Disallow: /a";
    let sandbox = audited(closed, &lines, 0);
    let rows = sandbox.table("report/summary.csv").cells(VERDICTS);
    assert_eq!(rows, ["heritrix | 2 | 1 | 1 | 0 | 0"]);
    let rules = sandbox.table("report/violations.csv").cells("rule_line group");
    assert_eq!(rules, ["2 | AcmeArchive"]);
}

#[test]
fn an_ambiguous_group_accuses_nobody_and_is_said() {
    let robots = "User-agent: Googlebot | Disallow: / | User-agent: Googlebot-News | Allow: / | Disallow: /x";
    let lines = [
        line(1, "/a", 200, GOOGLEBOT),
        line(2, "/b", 200, GOOGLEBOT),
        line(3, "/x", 200, GOOGLEBOT),
        line(4, "/a", 200, GPTBOT),
    ];
    let sandbox = audited(robots, &lines, 0);
    let table = sandbox.table("report/summary.csv");
    let rows = table.cells(VERDICTS);
    assert_eq!(rows, ["GPTBot | 1 | 1 | 0 | 0 | 0", "Googlebot | 3 | 0 | 1 | 2 | 2"]);
    let header = sandbox.text("report/summary.csv");
    assert!(header.lines().next().unwrap().ends_with(",\"ambiguous_group\""));
    let note = "2 requests of Googlebot count as unknown (ambiguous-group)";
    let notes = sandbox.json("report/run.json")["notes"].to_string();
    assert!(notes.contains(note), "{notes}");
    let page = sandbox.text("report/report.html");
    assert!(page.contains(note) && page.contains("Ambiguous group"));
    let terminal = sandbox.run("report report --format text").exits(0).stdout;
    assert!(terminal.contains("(ambiguous-group)"), "{terminal}");
}

#[test]
fn a_log_of_which_all_is_ambiguous_is_no_all_clear() {
    let robots = "User-agent: Googlebot | Disallow: / | User-agent: Googlebot-News | Allow: /";
    let sandbox = audited(robots, &[line(1, "/a", 200, GOOGLEBOT)], 3);
    let warnings = sandbox.json("report/run.json")["warnings"].to_string();
    assert!(warnings.contains("no request could be judged: several groups"), "{warnings}");
}

#[test]
fn a_check_names_the_groups() {
    let sandbox = Sandbox::new();
    let groups =
        "User-agent: AcmeArchive\nDisallow: /\n\nUser-agent: heritrix\nAllow: /\nDisallow: /x\n";
    sandbox.write("robots.txt", groups);
    let check = |crawler: [&str; 2], more: &[&str]| {
        let arguments = ["check", "/a", "--robots", "robots.txt", crawler[0], crawler[1]];
        sandbox.run_words(&[&arguments[..], more].concat(), b"")
    };
    let ran = check(["--user-agent", ARCHIVE], &[]).exits(2).stdout;
    let groups =
        "'AcmeArchive' on line 1 disallows it by line 2; 'heritrix' on line 4 allows it by line 5";
    assert!(ran.contains("undecided: ambiguous-group") && ran.contains(groups), "{ran}");
    let ran = check(["--user-agent", ARCHIVE], &["--format", "json"]).exits(2).stdout;
    assert!(ran.contains("\"verdict\":\"undecided\"") && ran.contains(groups), "{ran}");
    sandbox.write("robots.txt", "User-agent: AcmeArchive\nDisallow: /\n");
    let ran = check(["--user-agent", ARCHIVE], &[]).exits(1).stdout;
    assert!(ran.contains("AcmeArchive (in its user agent): named on line 1"), "{ran}");
    // By name, only the tokens of the row count.
    let ran = check(["--crawler", "heritrix"], &[]).exits(0).stdout;
    assert!(ran.contains("heritrix: named by no group"), "{ran}");
    // Tokens that share the user agent count there, too.
    let news = "User-agent: Googlebot-News\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n";
    sandbox.write("robots.txt", news);
    check(["--crawler", "Googlebot"], &[]).exits(2);
    check(["--crawler", "Googlebot-News"], &[]).exits(1);
    sandbox.write(
        "robots.txt",
        "User-agent: Googlebot-News\nDisallow: /a\nUser-agent: *\nDisallow: /a\nDisallow: /c\n",
    );
    check(["--crawler", "Googlebot"], &[]).exits(1);
}

#[test]
fn classify_asks_by_all_names() {
    let sandbox = Sandbox::new();
    let robots = "User-agent: AcmeArchive\nDisallow: /\n\nUser-agent: heritrix\nAllow: /\nUser-agent: NewBot\nDisallow: /\n";
    sandbox.write("robots/example.com", robots);
    let list = format!(
        "url,ua\nhttps://example.com/a,{ARCHIVE}\nhttps://example.com/a,AcmeArchive/1 \
         heritrix-like\nhttps://example.com/a,{HERITRIX}\nhttps://example.com/a,NewBot/1.0\n\
         https://example.com/a,OtherBot/1.0\n"
    );
    sandbox.write("urls.csv", list);
    let columns = "--column url --user-agent-column ua -o answers.csv";
    sandbox.run(&format!("classify --robots robots {columns} urls.csv")).exits(0);
    let rows = sandbox.table("answers.csv").cells("verdict reason group");
    assert_eq!(
        rows,
        [
            "unknown | ambiguous-group | ",
            "disallowed | rule | AcmeArchive",
            "allowed | rule | heritrix",
            "disallowed | rule | NewBot",
            "allowed | no-rule-matches | ",
        ]
    );
}

/// The draft closes what is open for one of two names, and opens it for the other.
#[test]
fn a_draft_that_is_ambiguous_is_not_compared() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nAllow: /\n");
    sandbox.write(
        "draft.txt",
        "User-agent: AcmeArchive\nDisallow: /\nUser-agent: heritrix\nAllow: /\n",
    );
    sandbox.write("access.log", [line(1, "/a", 200, ARCHIVE), line(2, "/a", 200, GPTBOT)].concat());
    let arguments = "--robots robots.txt --origin https://example.com --what-if draft.txt";
    sandbox.run(&format!("audit {arguments} -o report access.log")).exits(0);
    assert_eq!(sandbox.json("report/run.json")["what_if"]["judged"], 1);
    assert_eq!(sandbox.table("report/what-if.csv").cells("crawler").len(), 0);
}
