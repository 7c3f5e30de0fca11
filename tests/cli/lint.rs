//! `botaudit lint`.

use botaudit::lint::catalogue::LINTS;

use super::program::{Ran, Sandbox, line};

const CLEAN: &[u8] = b"User-agent: *\nDisallow: /admin/\n";
const INFO: &[u8] = b"User-agent: *\nDisallow: /a\nDisallow: /a\n";
const WARNING: &[u8] = b"User-agent: *\nDisalow: /a\n";
const ERROR: &[u8] = b"User-agent: *\nDisallow: a\n";

/// Runs lint in a directory with the files `clean`, `info`, `warning` and `error`.
fn lint(args: &[&str], input: &[u8]) -> Ran {
    let sandbox = Sandbox::new();
    for (name, text) in [("clean", CLEAN), ("info", INFO), ("warning", WARNING), ("error", ERROR)] {
        sandbox.write(name, text);
    }
    sandbox.run_words(&[&["lint"], args].concat(), input)
}

#[test]
fn exit_codes() {
    let cases: [(&[&str], i32); 11] = [
        (&["clean"], 0),
        (&["info"], 0),
        (&["warning"], 0),
        (&["error"], 1),
        (&["clean", "error", "info"], 1),
        (&["--strict", "info"], 0),
        (&["--strict", "warning"], 1),
        (&["missing"], 2),
        (&["error", "missing"], 2),
        (&["."], 2),
        (&[], 2),
    ];
    for (args, code) in cases {
        for format in ["text", "json", "github", "sarif", "junit"] {
            let run = lint(&[args, &["--format", format]].concat(), b"");
            assert_eq!(run.code, code, "{args:?} {format} {run:?}");
        }
    }
}

#[test]
fn text() {
    let run = lint(&["warning", "clean"], b"");
    let expected = "warning:2: warning: 'Disalow' is a misspelling that Google accepts and many others do not [accepted-typo]
    Write 'Disallow: /a'.
warning: 1 warning
clean: no findings
";
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), (expected, ""));
}

/// The rows of a file that could not be read are missing, which SARIF says.
#[test]
fn sarif_and_junit_are_one_document_for_all_files() {
    let log = |files: &[&str]| -> serde_json::Value {
        let run = lint(&[&["--format", "sarif"], files].concat(), b"");
        serde_json::from_str(&run.stdout).unwrap()
    };
    let both = log(&["error", "warning", "missing"]);
    let run = &both["runs"][0];
    let result = |at: usize| {
        let result = &run["results"][at];
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        (uri.to_owned(), place["region"]["startLine"].as_u64().unwrap())
    };
    assert_eq!([result(0), result(1)], [("error".to_owned(), 2), ("warning".to_owned(), 2)]);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert_eq!(log(&["clean"])["runs"][0]["results"], serde_json::json!([]));

    let run = lint(&["--format", "junit", "error", "warning", "clean"], b"");
    assert_eq!(run.stdout.matches("<testsuite ").count(), 3);
    assert_eq!(run.stdout.matches("<failure ").count(), 1);
    let sandbox = Sandbox::new();
    sandbox.write("junit.xml", &run.stdout);
    let mut xmllint = std::process::Command::new("xmllint");
    match xmllint.args(["--noout", "--nonet"]).arg(sandbox.path("junit.xml")).status() {
        Ok(status) => assert!(status.success(), "{}", run.stdout),
        Err(_) => eprintln!("skipped: there is no xmllint"),
    }
}

#[test]
fn standard_input() {
    let run = lint(&["-"], b"User-agent: *\nDisallow: \x1b]0;owned\x07\n");
    assert_eq!(run.code, 1);
    assert!(
        run.stdout.starts_with("-:2: error: '\\x1B]0;owned\\x07' does not start with"),
        "{}",
        run.stdout
    );
}

#[test]
fn json() {
    let run = lint(&["--format", "json", "error", "clean"], b"");
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json[0]["path"], "error");
    assert_eq!(json[0]["errors"], 1);
    assert_eq!(json[0]["findings"][0]["line"], 2);
    assert_eq!(json[0]["findings"][0]["severity"], "error");
    assert_eq!(json[0]["findings"][0]["code"], "rule-never-matches");
    assert_eq!(json[1]["findings"], serde_json::json!([]));
}

#[test]
fn github() {
    let run = lint(&["--format", "github", "info", "clean"], b"");
    let expected = "::notice file=info,line=3,title=duplicate-rule::'/a' is already on line 2. Remove one of the two.\n";
    assert_eq!(run.stdout, expected);
}

#[test]
fn optional_codes_are_reported_on_request() {
    let text = b"User-agent: MJ12bot\nDisallow: /a\n";
    assert_eq!(lint(&["-"], text).stdout, "-: no findings\n");
    let run = lint(&["--warn", "token-cut", "-"], text);
    assert!(run.stdout.contains("[token-cut]"), "{}", run.stdout);
    assert_eq!(lint(&["--warn", "html", "-"], text).code, 2);
    let list = lint(&["--list"], b"").stdout;
    let off: Vec<&str> = list.lines().filter(|line| line.contains("Off by default")).collect();
    assert!(off.len() == 1 && off[0].starts_with("token-cut "), "{off:?}");
}

#[test]
fn no_advice_closes_the_site() {
    let urls = ["https://other/*", "http://other.example", "https://other/", "$", ".", ".*", "^"];
    let lines: String = urls.iter().map(|url| format!("Disallow: {url}\n")).collect();
    let run = lint(&["-"], format!("User-agent: *\n{lines}").as_bytes());
    assert_eq!(run.stdout.matches(": error: ").count(), urls.len(), "{}", run.stdout);
    assert!(!run.stdout.contains("'/"), "{}", run.stdout);
    let run = lint(&["-"], b"User-agent: *\nDisallow: https://other/a*\n");
    assert!(run.stdout.contains("Write the path alone, '/a*'"), "{}", run.stdout);
}

#[test]
fn each_code_is_explained() {
    let list = lint(&["--list"], b"");
    assert_eq!(list.code, 0);
    for lint_of_list in LINTS {
        assert!(list.stdout.contains(lint_of_list.name), "{}", lint_of_list.name);
    }
    let run = lint(&["--explain", "empty-group"], b"");
    assert!(
        run.stdout.starts_with("empty-group (warning)\n\nThe file ends with"),
        "{}",
        run.stdout
    );
    let run = lint(&["--explain", "nothing"], b"");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("botaudit lint --list"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_read_is_named_and_does_not_keep_the_rest() {
    let run = lint(&["missing", "clean"], b"");
    assert_eq!(run.stdout, "clean: no findings\n");
    assert!(run.stderr.starts_with("error: cannot read missing: "), "{}", run.stderr);
}

#[test]
fn an_audit_warns_of_errors_in_its_robots_txt() {
    let sandbox = Sandbox::new();
    let errors: String = (1..=7).map(|at| format!("Disallow: page{at}\n")).collect();
    sandbox.write("robots.txt", format!("User-agent: *\n{errors}Disalow: /x\n"));
    sandbox.write("access.log", line(1, "/page1", 200, "GPTBot/1.2"));
    let config = "[sites.a]\nlogs = [\"access.log\"]\nrobots = \"robots.txt\"\n\
                  origin = \"https://a.example\"\n";
    sandbox.write("botaudit.toml", config);
    for command in [
        "audit --robots robots.txt --origin https://a.example access.log",
        "nightly --config botaudit.toml --day 2026-03-01",
    ] {
        let ran = sandbox.run(command).exits(0);
        let said: Vec<&str> =
            ran.stderr.lines().filter(|line| line.contains("robots.txt")).collect();
        assert_eq!(said.len(), 6, "{}", ran.stderr);
        let first = "warning: robots.txt:2: 'page1' does not start with / or *, so it matches \
                     nothing [rule-never-matches]";
        assert_eq!(said[0], first);
        assert_eq!(
            said[5],
            "warning: 2 more robots.txt errors; botaudit lint robots.txt shows all"
        );
    }
}
