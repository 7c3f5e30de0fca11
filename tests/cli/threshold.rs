//! Conditions that make a run fail.

use super::program::{Ran, Sandbox, line};

const GPTBOT: &str = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";

/// GPTBot breaks a rule once in four requests, and bingbot never does.
fn audited(arguments: &[&str]) -> Ran {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let mut lines: Vec<String> = (0..3).map(|at| line(at, "/open", 200, GPTBOT)).collect();
    lines.push(line(9, "/private", 200, GPTBOT));
    lines.push(line(9, "/open", 200, BINGBOT));
    sandbox.write("access.log", lines.concat());
    let words = ["audit", "-q", "--robots", "robots.txt", "--origin", "https://a.example"];
    let all: Vec<&str> = words.iter().chain(arguments).chain(&["access.log"]).copied().collect();
    let ran = sandbox.run_words(&all, b"");
    assert_eq!(sandbox.path("botaudit-report").exists(), ran.code != 2, "{}", ran.stderr);
    ran
}

#[test]
fn a_row_that_meets_a_condition_fails_the_run_and_is_named() {
    let condition = "violation_rate > 5% where purpose = 'ai-training'";
    let ran = audited(&["--fail-on", "violations > 5", "--fail-on", condition]).exits(1);
    let expected = "warning: 1 row meets --fail-on \"violation_rate > 5% where purpose = 'ai-training'\"\n\
         warning: GPTBot (unverified) at https://a.example, violation_rate 0.250000, purpose ai-training\n";
    assert_eq!(ran.stderr, expected);
    audited(&["--fail-on", "requests > 0"]).exits(1).complains("2 rows meet");
}

/// All requests are of 2026-03-01.
#[test]
fn the_beginning_of_a_time_is_enough() {
    for condition in ["first_seen_utc >= '2026-03'", "first_seen_utc = '2026'"] {
        audited(&["--fail-on", condition]).exits(1).complains("2 rows meet");
    }
    for condition in ["first_seen_utc > '2026-03'", "first_seen_utc < '2026'"] {
        audited(&["--fail-on", condition]).exits(0);
    }
    let advice =
        "'2026-3' is not a time; write a day such as '2026-01-31', a month such as '2026-01'";
    audited(&["--fail-on", "first_seen_utc > '2026-3'"]).exits(2).complains(advice);
}

#[test]
fn a_condition_that_no_row_meets_is_silent() {
    let ran = audited(&["--fail-on", "violations > 0 where identity = 'verified'"]).exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

#[test]
fn a_condition_that_is_not_understood_stops_the_run_before_it_begins() {
    let expected =
        "--fail-on: \"violation > 0\": at character 1, before violation > 0: unknown column";
    audited(&["--fail-on", "violation > 0"]).exits(2).complains(expected);
    audited(&["--fail-on", "purpose = 'ai'"])
        .exits(2)
        .complains("did you mean ai-search, ai-training, ai-user?");
    audited(&["--fail-on", "violation_rate > 5"]).exits(2).complains("is between 0 and 1; write");
}

/// A CSV file has `'` before `@acme`, and `\xHH` for characters that hide text.
#[test]
fn a_name_is_compared_as_the_list_of_crawlers_has_it() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write(
        "access.log",
        [line(8, "/private", 200, "acme-bot/1.0"), line(9, "/private", 200, "hidden-bot/1.0")]
            .concat(),
    );
    let rows =
        "@acme-bot,=Acme,seo,acme-bot,acme-bot\nHid\u{200b}den\\x41,Op,seo,hidden-bot,hidden-bot\n";
    sandbox.write(
        "crawlers.csv",
        format!("name,operator,purpose,user_agent_regex,product_tokens\n{rows}"),
    );
    let run = |condition: &str| {
        let words = ["audit", "-q", "--robots", "robots.txt", "--origin", "https://a.example"];
        let rest = ["--crawlers", "crawlers.csv", "--fail-on", condition, "access.log"];
        sandbox.run_words(&[&words[..], &rest].concat(), b"")
    };
    run("crawler = '@acme-bot'").exits(1).complains("warning: @acme-bot (unverified) at https://");
    run("operator = '=ACME'").exits(1).complains("1 row meets");
    run("violations > 0 where crawler != '@acme-bot'").exits(1).complains("1 row meets");
    for name in ["Hid\u{200b}den\\x41", "hid\\xE2\\x80\\x8Bden\\x5Cx41"] {
        run(&format!("crawler = '{name}'")).exits(1).complains("1 row meets");
    }
    run("crawler = \"'@acme-bot\"").exits(2).complains("unknown crawler");
    let deny = "deny botaudit-report --for nginx --crawlers crawlers.csv --where";
    let words: Vec<&str> = deny.split(' ').chain(["crawler = '@acme-bot'"]).collect();
    let rules = sandbox.run_words(&words, b"").exits(0).stdout;
    assert!(rules.contains("acme-bot") && !rules.contains("hidden-bot"), "{rules}");
}

#[test]
fn conduct_is_a_column_and_its_limits_are_options() {
    audited(&["--fail-on", "conduct = 'ignores'"]).exits(0);
    audited(&["--fail-on", "conduct = 'not-read'"]).exits(1);
    audited(&["--fail-on", "conduct = 'ignored'"]).exits(2);
    let expected = "--rarely-max: the greatest share of `rarely`, 60 %, must be less than";
    audited(&["--rarely-max", "60"]).exits(2).complains(expected);
    audited(&["--ignores-min", "5"]).exits(2).complains("--ignores-min: ");
    audited(&["--ignores-min", "many"]).exits(2).complains("a number from 0 to 100");
}

#[test]
fn what_others_did_in_a_crawlers_name_counts_only_where_identity_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    sandbox.write("access.log", line(9, "/private", 200, GPTBOT));
    let list = r#"{"creationTime":"2026-03-01","prefixes":[{"ipv4Prefix":"198.51.100.0/24"}]}"#;
    sandbox.write("ranges/gptbot.json", list);
    let run = |condition: &str| {
        let words = ["audit", "-q", "--robots", "robots.txt", "--ip-ranges", "ranges", "--fail-on"];
        let words: Vec<&str> = words.into_iter().chain([condition, "access.log"]).collect();
        sandbox.run_words(&words, b"")
    };
    run("violations > 0").exits(0);
    run("violations > 0 and identity = 'spoofed'").exits(1).complains("GPTBot (spoofed) at -");
}

#[test]
fn tools_have_a_section_of_their_own_and_fail_a_run_only_where_they_are_named() {
    let scanner = "Mozilla/5.0 (compatible; NetcraftSurveyAgent/1.0; +info@netcraft.com)";
    let sandbox = Sandbox::new();
    sandbox.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let log = [line(8, "/open", 200, GPTBOT), line(9, "/private", 200, scanner)];
    sandbox.write("access.log", log.concat());
    let run = |flags: &[&str]| {
        let words = ["audit", "-o", "report", "--robots", "robots.txt", "access.log"];
        sandbox.run_words(&[&words[..], flags].concat(), b"")
    };
    let summary = run(&["--fail-on-violations"]).exits(0).stdout;
    let parts = [
        "2 lines, 1 request of known crawlers, 0 violations",
        "\n\nrequests  violations  tool                              purpose  operator\n",
        "\n       1           1  NetcraftSurveyAgent (unverified)  scanner  Netcraft\n",
    ];
    parts.iter().for_each(|part| assert!(summary.contains(part), "{part}: {summary}"));
    let page = sandbox.text("report/report.html");
    for part in ["no crawler broke a rule in 1 judged request", "Tools by requests"] {
        assert!(page.contains(part), "{part}");
    }
    for by in ["origin", "rule"] {
        let summary = sandbox.run(&format!("report report --by {by}")).exits(0).stdout;
        assert!(!summary.contains("violations  "), "{summary}");
    }
    for (condition, code) in [
        ("violations > 0", 0),
        ("violations > 0 where purpose != 'search'", 0),
        ("violations > 0 where operator = 'Netcraft'", 0),
        ("violations > 0 where purpose = 'scanner'", 1),
        ("violations > 0 where crawler = 'NetcraftSurveyAgent'", 1),
    ] {
        run(&["-q", "--fail-on", condition]).exits(code);
    }
}
