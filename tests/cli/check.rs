//! `botaudit check`: verdicts, exit codes, messages.

use botaudit::matcher::reference;
use botaudit::matcher::select::select;
use botaudit::robots::model::StarGroups;
use botaudit::robots::parse::parse_body;
use botaudit::url::path::Dialect;
use botaudit::url::path::prepare;

use super::program::{Ran, Sandbox, repository, run_in};

const ROBOTS: &str = "sample-data/robots";
const WWW: &str = "sample-data/robots/www.example.com.txt";

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";

fn check(arguments: &[&str], input: &str) -> Ran {
    run_in(repository(), &[&["check"], arguments].concat(), input.as_bytes())
}

#[test]
fn each_step_is_explained() {
    let url = "https://www.example.com/blog/drafts/1#top";
    let ran = check(&[url, "--crawler", "gptbot", "--robots", ROBOTS], "");
    let expected = "https://www.example.com/blog/drafts/1#top
DISALLOWED for GPTBot by line 38: Disallow: /blog/drafts/

  origin      https://www.example.com
  robots.txt  sample-data/robots/www.example.com.txt  (845 bytes)
              sha256:84e6c1373d611aef3b927e5e1cc9075f128d9becb9ac2436b028fccfdd1b8f2f
  crawler     GPTBot, of OpenAI (ai-training)
              bound: its operator says that it follows robots.txt
  token       GPTBot: named on lines 18 and 37
  group       GPTBot: 4 rules, of 2 groups merged
              the 10 rules for * do not apply to it
  path        /blog/drafts/1
              the part after # was removed: crawlers do not send it
  matches     3 of 4 rules, the strongest first:
              > line 38  length 13  Disallow: /blog/drafts/
                line 21  length 6   Allow: /blog/
                line 20  length 1   Disallow: /
  why         the longest rule decides: length 13 beats length 6 of line 21
  rfc9309     same verdict
";
    assert_eq!(ran.stdout, expected);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", 1));
}

/// A single file is for the whole run, so its automata are there before they are needed.
#[test]
fn what_was_compiled_is_said_with_verbose() {
    let sandbox = Sandbox::new();
    let rules: String = ('a'..'i').map(|letter| format!("Disallow: /{letter}*/page\n")).collect();
    sandbox.write("robots.txt", format!("User-agent: *\n{rules}Disallow: /z\n"));
    let notes = |command: &str| {
        let stderr = sandbox.run(command).stderr;
        let lines = stderr.lines().filter(|line| line.contains("compiled: ")).map(str::to_owned);
        lines.collect::<Vec<String>>()
    };
    let check = "check -v --robots robots.txt --crawler GPTBot https://a.example/a/page";
    // The answer compares both dialects.
    let [note] = &notes(check)[..] else { panic!("{:?}", notes(check)) };
    let note = note.replace("18 rules in 2 rule sets", "9 rules in 1 rule set");
    assert!(
        note.starts_with("note: compiled: 9 rules in 1 rule set; 1 DFA for wildcards, "),
        "{note}"
    );
    let bytes = note.rsplit(' ').nth(1).unwrap().replace(',', "");
    assert!(bytes.parse::<u64>().unwrap() > 500, "{note}");
    sandbox.write("log", "192.0.2.1 - - [10/Nov/2026:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 1 \"-\" \"GPTBot/1.0\"\n");
    let audit = "audit -v --robots robots.txt --origin https://a.example log -o report";
    assert_eq!(notes(audit), std::slice::from_ref(&note));
    assert_eq!(notes(&audit.replace("-v", "-q").replace("report", "quiet")), Vec::<String>::new());
}

#[test]
fn the_exit_code_is_that_of_the_worst_verdict() {
    let allowed = "https://www.example.com/x";
    let disallowed = "https://www.example.com/private/";
    let unknown = "https://unknown.example/";
    for (urls, code) in [
        (&[allowed][..], 0),
        (&[allowed, disallowed], 1),
        (&[disallowed, unknown, allowed], 2),
        (&["example.com"], 2),
        (&["/x"], 2),
        (&["/private/", "--origin", "https://www.example.com"], 1),
        (&["https://unknown.example/robots.txt"], 0),
    ] {
        let ran = check(&[urls, &["--token", "foo", "--robots", ROBOTS]].concat(), "");
        assert_eq!(ran.code, code, "{urls:?}");
    }
}

#[test]
fn one_file_governs_every_url() {
    let urls = ["/private/", "http://anywhere.example:81/private/"];
    let ran = check(&[&urls[..], &["--token", "foo", "--robots", WWW, "-q"]].concat(), "");
    let expected = "disallowed  line 4      /private/\n\
                    disallowed  line 4      http://anywhere.example:81/private/\n";
    assert_eq!((ran.stdout.as_str(), ran.code), (expected, 1));
}

#[test]
fn the_crawler_can_be_given_in_three_ways() {
    let said =
        |crawler: &[&str]| check(&[&["/private/", "--robots", WWW], crawler].concat(), "").stdout;
    let user_agent = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
    assert!(said(&["--user-agent", user_agent]).contains("crawler     GPTBot, of OpenAI"));
    let unknown = said(&["--user-agent", "my-crawler/1"]);
    assert!(unknown.contains("bound by the groups for my-crawler, else by *"), "{unknown}");
    assert!(said(&["--user-agent", "+bot"]).contains("looks automated: bound by *"));
    assert!(said(&["--user-agent", "Firefox"]).contains("looks automated: bound by the groups"));
    assert!(
        said(&["--user-agent", FIREFOX]).contains("the user agent of no known crawler by line 4")
    );
    assert!(said(&["--token", "ccbot"]).contains("ccbot: named on line 19"));
    let version = said(&["--token", "GPTBot/1.2"]);
    assert!(version.contains("the product token 'GPTBot'"), "{version}");
    assert!(version.contains("GPTBot: named on lines"), "{version}");
    let not_bound = said(&["--crawler", "ChatGPT-User"]);
    assert!(not_bound.contains("would be DISALLOWED for ChatGPT-User by line 4"), "{not_bound}");
    assert!(not_bound.contains("NOT BOUND: a person triggers"), "{not_bound}");
}

/// A name that no group can have would be allowed everything.
#[test]
fn a_name_that_is_not_a_token_is_refused_and_a_header_has_its_own_flag() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robots.txt");
    let groups = "User-agent: FooBot\nUser-agent: GPTBot\nUser-agent: archive.org_bot\nUser-agent: MJ12bot\nDisallow: /\n";
    std::fs::write(&path, groups).unwrap();
    let path = path.to_str().unwrap();
    let check = |crawler: &[&str]| check(&[&["/x", "--robots", path, "-q"], crawler].concat(), "");
    let header = "Mozilla/5.0 (compatible; FooBot/1.0; +http://foo.example)";
    for crawler in [
        ["--token", "GPTBot"],
        ["--token", "GPTBot/1.2"],
        ["--token", "MJ12bot/v1.4"],
        ["--token", "archive.org_bot"],
        ["--user-agent", header],
        ["--user-agent", "FooBot"],
        ["--user-agent", "foobot/1.0 (+http://foo.example)"],
        ["--user-agent", "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"],
    ] {
        let ran = check(&crawler);
        assert_eq!(
            (ran.stdout.as_str(), ran.code),
            ("disallowed  line 5      /x\n", 1),
            "{crawler:?}"
        );
    }
    for token in [header, "Foo Bot", "FooBot/", "FooBot/x", "FooBot;", "*", "Foo.Bot", "(FooBot)"] {
        let ran = check(&["--token", token]);
        assert_eq!((ran.stdout.as_str(), ran.code), ("", 2), "{token}");
        let sentence = format!("'{token}' is not a product token");
        assert!(ran.stderr.contains(&sentence), "{}", ran.stderr);
        assert!(token == "*" || ran.stderr.contains("use --user-agent"), "{}", ran.stderr);
    }
    let ran = check(&["--crawler", header]);
    assert!(
        ran.stderr.contains("for a whole User-Agent header, use --user-agent"),
        "{}",
        ran.stderr
    );
}

#[test]
fn errors_say_what_to_do() {
    for (arguments, expected) in [
        (&["/x", "--robots", WWW][..], "--crawler <NAME>"),
        (&["/x", "--robots", WWW, "--token", "a", "--crawler", "b"], "cannot be used with"),
        (&["/x", "--robots", WWW, "--token", ""], "--token mybot"),
        (&["/x", "--robots", WWW, "--crawler", "gpt"], "did you mean GPTBot"),
        (&["/x", "--robots", "gone", "--token", "a"], "cannot read --robots gone: "),
        (&["/x", "--robots", WWW, "--token", "a", "--origin", "b"], "'b': not a valid origin"),
    ] {
        let ran = check(arguments, "");
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert_eq!((ran.stdout.as_str(), ran.code), ("", 2));
    }
}

#[test]
fn strangers_bytes_never_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robots.txt");
    let text = b"user-agent: a\x1b[2J\xff\ndisallow: /\xe2\x80\xae\xe9\n";
    std::fs::write(&path, text).unwrap();
    let robots = path.to_str().unwrap();
    let url = "/\u{202e}%E9\u{1b}]0;x\u{7}";
    for (form, rule) in [
        (&[][..], "Disallow: /\\xE2\\x80\\xAE\\xE9\n"),
        (&["--format", "jsonl"], r#""pattern":"/\\xE2\\x80\\xAE\\xE9","#),
        (&["-q"], "/\\xE2\\x80\\xAE%E9\\x1B]0;x\\x07\n"),
    ] {
        let ran = check(&[&["-", "--token", "a", "--robots", robots], form].concat(), url);
        let hidden = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!ran.stdout.contains(hidden), "{}", ran.stdout);
        assert!(ran.stdout.contains(rule), "{}", ran.stdout);
        assert_eq!(ran.code, 1);
    }
}

/// Lists, JSON, both dialects, and the verdicts of the reference matcher.
#[test]
fn verdicts_are_those_of_the_reference() {
    let text = std::fs::read(WWW).unwrap();
    let robots = parse_body(&text);
    let names = ["search", "private/", "blog/", "drafts/", "x.pdf", "caf\u{e9}/", "%63af%c3%a9/"];
    let names = names.into_iter().chain(["archive/", "print", "?sort=", "tmp/", "draft", ""]);
    let names: Vec<&str> = names.collect();
    let paths = names.iter().flat_map(|a| names.iter().map(move |b| format!("/{a}{b}")));
    let paths: Vec<String> = paths.collect();
    for (dialect, flag) in [(Dialect::Google, "google"), (Dialect::Rfc9309, "rfc9309")] {
        for token in ["GPTBot", "MJ12bot", "foo", "AhrefsBot"] {
            let arguments =
                ["-", "--format", "jsonl", "--robots", WWW, "--token", token, "--dialect", flag];
            let ran = check(&arguments, &paths.join("\r\n"));
            assert_eq!(ran.stdout.lines().count(), paths.len());
            let selection = select(&robots, &[token], StarGroups::Honoured);
            for (path, line) in paths.iter().zip(ran.stdout.lines()) {
                let answer: serde_json::Value = serde_json::from_str(line).unwrap();
                let mut scratch = Vec::new();
                let prepared = prepare(path.as_bytes(), dialect, &mut scratch).as_bytes();
                let decision = reference::decide(&selection.rules(), dialect, prepared);
                let expected = selection.decision(decision);
                assert_eq!(answer["verdict"] == "allowed", expected.allowed, "{token} {path}");
                assert_eq!(answer["line"].as_u64(), expected.line.map(u64::from), "{token} {path}");
                assert_eq!(answer["matches"][0]["line"], answer["line"], "{token} {path}");
                assert_eq!(answer["url"], path.as_str());
            }
        }
    }
}

#[test]
fn json_keeps_its_fields() {
    let ran =
        check(&["/x", "example.com", "--format", "jsonl", "--robots", WWW, "--token", "foo"], "");
    let fields = [
        "url",
        "verdict",
        "bound",
        "line",
        "reason",
        "reason_text",
        "dialect",
        "origin",
        "robots",
        "crawler",
        "group",
        "path",
        "path_changes",
        "matches",
        "matches_total",
        "in_force",
        "other_dialect",
        "usage",
        "undecided",
    ];
    for line in ran.stdout.lines() {
        let answer: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        assert_eq!(answer.len(), fields.len());
        assert!(fields.iter().all(|field| answer.contains_key(*field)), "{line}");
    }
    assert!(ran.stdout.lines().nth(1).unwrap().contains("\"verdict\":\"undecided\""));
}
